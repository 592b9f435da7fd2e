//! Looking over bytes: eight at a time, or sixteen where the processor is WebAssembly's.

/// How many bytes stand for themselves in a string, before a quote, a backslash or a control character.
#[inline(always)]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    before_first(bytes, is_special, |byte| matches!(byte, b'"' | b'\\' | 0..0x20))
}

/// How many bytes are ASCII that is seen, the space among it.
#[inline(always)]
pub(crate) fn printable(bytes: &[u8]) -> usize {
    before_first(bytes, is_not_printable, |byte| !matches!(byte, b' '..=b'~'))
}

/// How many bytes are the same but for quotes and backslashes.
#[inline(always)]
pub(crate) fn shown(bytes: &[u8]) -> usize {
    let marks = |wide| or(is_special(wide), is_not_printable(wide));
    before_first(bytes, marks, |byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\'))
}

/// How many bytes come before the first that is marked: `marks` says so of many at a time, `is_marked` of one.
#[inline(always)]
fn before_first(bytes: &[u8], marks: impl Fn(Wide) -> Wide, is_marked: impl Fn(u8) -> bool) -> usize {
    // Mostly it is in the first few: those are no loop, in which the sandbox looks at its fuel.
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

/// Eight bytes in a word, each marked by its highest bit. Bytes after the first may be marked wrongly.
#[cfg(not(target_arch = "wasm32"))]
mod wide {
    use super::is_separator;

    pub(super) const CHUNK: usize = 8;

    pub(super) type Wide = u64;

    const EACH: u64 = u64::MAX / 0xff;

    const HIGH: u64 = EACH * 0x80;

    /// The highest bit of each byte that is below `bound`, which is at most 0x80. Bytes after the first may be marked
    /// wrongly, for the borrow that it takes.
    #[inline(always)]
    fn below(word: u64, bound: u64) -> u64 {
        word.wrapping_sub(EACH * bound) & !word & HIGH
    }

    #[inline(always)]
    pub(super) fn wide(chunk: &[u8; CHUNK]) -> Wide {
        u64::from_le_bytes(*chunk)
    }

    /// How many bytes come before the first that is marked.
    #[inline(always)]
    pub(super) fn first(marked: Wide) -> usize {
        marked.trailing_zeros() as usize / 8
    }

    #[inline(always)]
    pub(super) fn or(a: u64, b: u64) -> u64 {
        a | b
    }

    /// What does not stand for itself in a string.
    #[inline(always)]
    pub(super) fn is_special(word: u64) -> u64 {
        below(word, 0x20) | below(word ^ (EACH * u64::from(b'"')), 1) | below(word ^ (EACH * u64::from(b'\\')), 1)
    }

    /// How many separators there are. In pieces whose count a byte holds, the compiler counts many at a time.
    pub(super) fn separators(bytes: &[u8]) -> usize {
        let counted = |piece: &[u8]| piece.iter().map(|byte| u8::from(is_separator(*byte))).sum::<u8>();
        bytes.chunks(240).map(|piece| usize::from(counted(piece))).sum()
    }

    /// What is no space.
    #[inline(always)]
    pub(super) fn is_no_space(word: u64) -> u64 {
        // A byte that is not zero has a bit in itself.
        word ^ (EACH * u64::from(b' '))
    }

    /// What is no white space.
    #[inline(always)]
    pub(super) fn is_not_white(word: u64) -> u64 {
        // The sum of the lower bits reaches the highest one in each byte that is not zero, and no further.
        let other = |byte: u8| {
            let differs = word ^ (EACH * u64::from(byte));
            ((differs & !HIGH) + !HIGH) | differs
        };
        other(b' ') & other(b'\n') & other(b'\r') & other(b'\t') & HIGH
    }

    /// What is not seen, or is not ASCII.
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

    /// How many bytes come before the first that is marked.
    #[inline(always)]
    pub(super) fn first(marked: Wide) -> usize {
        (u32::from(u8x16_bitmask(marked)) | 1 << CHUNK).trailing_zeros() as usize
    }

    #[inline(always)]
    pub(super) fn or(a: v128, b: v128) -> v128 {
        either(a, b)
    }

    /// What does not stand for itself in a string.
    #[inline(always)]
    pub(super) fn is_special(bytes: v128) -> v128 {
        let is = |byte: u8| u8x16_eq(bytes, u8x16_splat(byte));
        or(u8x16_le(bytes, u8x16_splat(0x1f)), or(is(b'"'), is(b'\\')))
    }

    /// How many separators there are. The opening brackets differ in one bit.
    // The compiler counts one at a time where the whole is made small.
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

    /// What is no space.
    #[inline(always)]
    pub(super) fn is_no_space(bytes: v128) -> v128 {
        v128_not(u8x16_eq(bytes, u8x16_splat(b' ')))
    }

    /// What is no white space.
    #[inline(always)]
    pub(super) fn is_not_white(bytes: v128) -> v128 {
        let is = |byte: u8| u8x16_eq(bytes, u8x16_splat(byte));
        v128_not(or(or(is(b' '), is(b'\n')), or(is(b'\r'), is(b'\t'))))
    }

    /// What is not seen, or is not ASCII: that is negative.
    #[inline(always)]
    pub(super) fn is_not_printable(bytes: v128) -> v128 {
        or(i8x16_lt(bytes, u8x16_splat(0x20)), u8x16_eq(bytes, u8x16_splat(0x7f)))
    }
}

/// How many bytes are white space, before the first that is not.
#[inline(always)]
pub(crate) fn white_space(bytes: &[u8]) -> usize {
    // Mostly there is none, or one space, or a line break and spaces. None of these needs a loop, in which the sandbox looks at
    // its fuel.
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

/// The same, where there is more of it.
#[inline(never)]
fn much_white_space(bytes: &[u8]) -> usize {
    before_first(bytes, is_not_white, |byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
}

/// Whether two pieces of the same length are the same. For names, which are short.
#[inline(always)]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    let ((a_words, a_rest), (b_words, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let word = |word: &[u8; 8]| u64::from_le_bytes(*word);
    a_words.iter().zip(b_words).all(|(a, b)| word(a) == word(b)) && a_rest.iter().zip(b_rest).all(|(a, b)| a == b)
}

/// A hash of a few bytes at either end and the length, for names: they are short, and those whose hashes are the same
/// are compared. Whoever chooses names can have as many of one hash as he likes.
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

/// Text from this length on is worth a look at how many values it holds.
const LARGE: usize = 64 * 1024;

/// For how many values there should be room: in a large text as many as there can be, so that the buffer is never
/// copied; in a small one about as many as there are.
pub(super) fn likely_nodes(bytes: &[u8]) -> usize {
    if bytes.len() < LARGE {
        return bytes.len() / 12 + 4;
    }
    // Each value but the first comes after one.
    separators(bytes) + 1
}

/// Whether a byte is a comma, a colon or an opening bracket.
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
