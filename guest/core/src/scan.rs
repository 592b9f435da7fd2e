//! Scans bytes: eight at a time, or sixteen on WebAssembly.

/// Returns the number of bytes before a quote, a backslash or a control character.
#[inline(always)]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    before_first(bytes, is_special, |byte| matches!(byte, b'"' | b'\\' | 0..0x20))
}

/// Returns the number of leading printable ASCII bytes, including spaces.
#[inline(always)]
pub(crate) fn printable(bytes: &[u8]) -> usize {
    before_first(bytes, is_not_printable, |byte| !matches!(byte, b' '..=b'~'))
}

/// Returns the number of leading bytes that are displayed unchanged, apart from quotes and backslashes.
#[inline(always)]
pub(crate) fn shown(bytes: &[u8]) -> usize {
    let marks = |wide| or(is_special(wide), is_not_printable(wide));
    before_first(bytes, marks, |byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\'))
}

/// Returns the number of bytes before the first marked one. `marks` tests many bytes at a time, and `is_marked` tests
/// one.
#[inline(always)]
fn before_first(bytes: &[u8], marks: impl Fn(Wide) -> Wide, is_marked: impl Fn(u8) -> bool) -> usize {
    // Usually, one of the first few bytes is marked. These are checked without a loop, because the sandbox checks its
    // fuel in each loop.
    if let Some(chunk) = bytes.first_chunk::<CHUNK>() {
        let at = first(marks(wide(chunk)));
        if at < CHUNK {
            return at;
        }
    }
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    for (index, chunk) in chunks.iter().enumerate().skip(1) {
        let at = first(marks(wide(chunk)));
        if at < CHUNK {
            return index * CHUNK + at;
        }
    }
    bytes.len() - rest.len() + rest.iter().take_while(|byte| !is_marked(**byte)).count()
}

use wide::{CHUNK, Wide, first, is_no_space, is_not_printable, is_not_white, is_special, or, separators, wide};

/// Eight bytes in a word, each marked by its highest bit. Bytes after the first marked one may be marked incorrectly.
#[cfg(not(target_arch = "wasm32"))]
mod wide {
    use super::is_separator;

    pub(super) const CHUNK: usize = 8;

    pub(super) type Wide = u64;

    const EACH: u64 = u64::MAX / 0xff;

    const HIGH: u64 = EACH * 0x80;

    /// Returns the highest bit of each byte that is below `bound`, which is at most 0x80. The borrow can mark later
    /// bytes incorrectly.
    #[inline(always)]
    fn below(word: u64, bound: u64) -> u64 {
        word.wrapping_sub(EACH * bound) & !word & HIGH
    }

    #[inline(always)]
    pub(super) fn wide(chunk: &[u8; CHUNK]) -> Wide {
        u64::from_le_bytes(*chunk)
    }

    /// Returns the number of bytes before the first marked one.
    #[inline(always)]
    pub(super) fn first(marked: Wide) -> usize {
        marked.trailing_zeros() as usize / 8
    }

    #[inline(always)]
    pub(super) fn or(a: u64, b: u64) -> u64 {
        a | b
    }

    /// Marks quotes, backslashes and control characters.
    #[inline(always)]
    pub(super) fn is_special(word: u64) -> u64 {
        below(word, 0x20) | below(word ^ (EACH * u64::from(b'"')), 1) | below(word ^ (EACH * u64::from(b'\\')), 1)
    }

    /// Returns the number of separators. Each piece is short enough for its count to fit one byte, so that the compiler
    /// can vectorize the loop.
    pub(super) fn separators(bytes: &[u8]) -> usize {
        let counted = |piece: &[u8]| piece.iter().map(|byte| u8::from(is_separator(*byte))).sum::<u8>();
        bytes.chunks(240).map(|piece| usize::from(counted(piece))).sum()
    }

    /// Marks bytes other than spaces.
    #[inline(always)]
    pub(super) fn is_no_space(word: u64) -> u64 {
        // A nonzero byte has at least one bit set.
        word ^ (EACH * u64::from(b' '))
    }

    /// Marks bytes other than white space.
    #[inline(always)]
    pub(super) fn is_not_white(word: u64) -> u64 {
        // The sum of the lower bits carries into the highest bit of each nonzero byte, and no further.
        let other = |byte: u8| {
            let differs = word ^ (EACH * u64::from(byte));
            ((differs & !HIGH) + !HIGH) | differs
        };
        other(b' ') & other(b'\n') & other(b'\r') & other(b'\t') & HIGH
    }

    /// Marks bytes that are not printable ASCII.
    #[inline(always)]
    pub(super) fn is_not_printable(word: u64) -> u64 {
        below(word, 0x20) | below(word ^ (EACH * 0x7f), 1) | word & HIGH
    }
}

/// Sixteen bytes in a vector, each marked by all of its bits.
#[cfg(target_arch = "wasm32")]
mod wide {
    use core::arch::wasm32::{
        i8x16_lt, u8x16_bitmask, u8x16_eq, u8x16_le, u8x16_splat, u64x2, v128, v128_not, v128_or as either,
    };

    use super::is_separator;

    pub(super) const CHUNK: usize = 16;

    pub(super) type Wide = v128;

    #[inline(always)]
    pub(super) fn wide(chunk: &[u8; CHUNK]) -> Wide {
        let [low, high] = [0, 1].map(|half| chunk.as_chunks::<8>().0[half]).map(u64::from_le_bytes);
        u64x2(low, high)
    }

    /// Returns the number of bytes before the first marked one.
    #[inline(always)]
    pub(super) fn first(marked: Wide) -> usize {
        (u32::from(u8x16_bitmask(marked)) | 1 << CHUNK).trailing_zeros() as usize
    }

    #[inline(always)]
    pub(super) fn or(a: v128, b: v128) -> v128 {
        either(a, b)
    }

    /// Marks quotes, backslashes and control characters.
    #[inline(always)]
    pub(super) fn is_special(bytes: v128) -> v128 {
        let is = |byte: u8| u8x16_eq(bytes, u8x16_splat(byte));
        or(u8x16_le(bytes, u8x16_splat(0x1f)), or(is(b'"'), is(b'\\')))
    }

    /// Returns the number of separators. The opening brackets differ in a single bit.
    // Vectorized by hand, because the compiler does not do it when it optimizes for size.
    pub(super) fn separators(bytes: &[u8]) -> usize {
        let (chunks, rest) = bytes.as_chunks::<CHUNK>();
        let is = |bytes: v128, byte: u8| u8x16_eq(bytes, u8x16_splat(byte));
        let counted = |chunk: &[u8; CHUNK]| {
            let bytes = wide(chunk);
            let opens = is(or(bytes, u8x16_splat(0x20)), b'{');
            u8x16_bitmask(or(opens, or(is(bytes, b','), is(bytes, b':')))).count_ones() as usize
        };
        chunks.iter().map(counted).sum::<usize>() + rest.iter().filter(|byte| is_separator(**byte)).count()
    }

    /// Marks bytes other than spaces.
    #[inline(always)]
    pub(super) fn is_no_space(bytes: v128) -> v128 {
        v128_not(u8x16_eq(bytes, u8x16_splat(b' ')))
    }

    /// Marks bytes other than white space.
    #[inline(always)]
    pub(super) fn is_not_white(bytes: v128) -> v128 {
        let is = |byte: u8| u8x16_eq(bytes, u8x16_splat(byte));
        v128_not(or(or(is(b' '), is(b'\n')), or(is(b'\r'), is(b'\t'))))
    }

    /// Marks bytes that are not printable ASCII. Read as signed bytes, those outside ASCII are negative.
    #[inline(always)]
    pub(super) fn is_not_printable(bytes: v128) -> v128 {
        or(i8x16_lt(bytes, u8x16_splat(0x20)), u8x16_eq(bytes, u8x16_splat(0x7f)))
    }
}

/// Returns the number of leading white space bytes.
#[inline(always)]
pub(crate) fn white_space(bytes: &[u8]) -> usize {
    // Usually there is no white space, one space, or a line break and spaces. These cases need no loop, in which the
    // sandbox would check its fuel.
    match bytes {
        [b'!'..=u8::MAX, ..] => 0,
        [b' ', b'!'..=u8::MAX, ..] => 1,
        [b' ' | b'\n', rest @ ..] => {
            let at = 1 + rest.first_chunk().map_or(0, |chunk| first(is_no_space(wide(chunk))));
            if let Some(b'!'..) = bytes.get(at) { at } else { much_white_space(bytes) }
        }
        _ => much_white_space(bytes),
    }
}

/// Continues after the first bytes.
#[inline(never)]
fn much_white_space(bytes: &[u8]) -> usize {
    before_first(bytes, is_not_white, |byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Compares two slices of the same length. Optimized for names, which are short.
#[inline(always)]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    let ((a_words, a_rest), (b_words, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let word = |word: &[u8; 8]| u64::from_le_bytes(*word);
    a_words.iter().zip(b_words).all(|(a, b)| word(a) == word(b)) && a_rest.iter().zip(b_rest).all(|(a, b)| a == b)
}

/// Returns a hash of a few bytes at both ends and the length. Used for names, which are short. Names with equal hashes
/// are compared. Whoever chooses the names can provoke any number of collisions.
#[inline(always)]
pub(crate) fn hash(bytes: &[u8]) -> u32 {
    let word = |piece: Option<&[u8; 8]>| piece.map(|piece| u64::from_le_bytes(*piece));
    let mixed = match (word(bytes.first_chunk()), word(bytes.last_chunk())) {
        (Some(first), Some(last)) => first ^ last.rotate_left(29),
        _ => match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
            }
            _ => bytes.iter().fold(0, |mixed, &byte| mixed << 8 | u64::from(byte)),
        },
    };
    let product = (mixed ^ (bytes.len() as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product >> 32) as u32 ^ product as u32 >> 16
}

/// The size of a text above which its values are counted, in bytes.
const LARGE: usize = 64 * 1024;

/// Returns the capacity to reserve for the values of a text. For a large text, this is an upper bound, so that the
/// buffer is never copied. For a small text, it is an estimate.
pub(super) fn likely_nodes(bytes: &[u8]) -> usize {
    if bytes.len() < LARGE {
        return bytes.len() / 12 + 4;
    }
    // Each value except the first follows a separator.
    separators(bytes) + 1
}

/// Returns whether a byte is a comma, a colon or an opening bracket.
fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'[' | b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_what_reading_byte_by_byte_skips() {
        let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
        let is_white = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        for other in 0..=255 {
            for fill in [b' ', b'a', 0xc3, 0x1f, 0x20, 0x21, 0x22, 0x5c, 0x7f, 0x80, b'\n'] {
                for place in 0..20 {
                    let mut bytes = [fill; 20];
                    bytes[place] = other;
                    bytes[(place + 1) % 20] = bytes[(place + 1) % 20].wrapping_sub(1);
                    let bytes = &bytes[..17 + place % 4];
                    assert_eq!(plain(bytes), bytes.iter().take_while(|&byte| is_plain(byte)).count(), "{bytes:?}");
                    let is_printable = |byte: &&u8| matches!(byte, b' '..=b'~');
                    assert_eq!(printable(bytes), bytes.iter().take_while(is_printable).count(), "{bytes:?}");
                    assert_eq!(
                        separators(bytes),
                        bytes.iter().filter(|byte| is_separator(**byte)).count(),
                        "{bytes:?}"
                    );
                    let is_shown = |byte: &&u8| is_printable(byte) && is_plain(byte);
                    assert_eq!(shown(bytes), bytes.iter().take_while(is_shown).count(), "{bytes:?}");
                    assert_eq!(
                        white_space(bytes),
                        bytes.iter().take_while(|&byte| is_white(byte)).count(),
                        "{bytes:?}"
                    );
                }
            }
        }
    }
}
