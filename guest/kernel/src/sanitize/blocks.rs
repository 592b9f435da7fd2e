//! Examines many bytes of a text at once.

/// The number of bytes in a block.
pub(super) const BLOCK: usize = 64;

/// The classes of the bytes in a block, as bit sets. The lowest bit is the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    /// Letters and digits of ASCII.
    pub(super) letters: u64,
    /// Bytes that may begin an escape, may end a secret, or are not ASCII.
    pub(super) other: u64,
    /// Bytes that count as six steps, wherever they occur.
    pub(super) six: u64,
    /// Bytes that count as one step.
    pub(super) one: u64,
    /// The bytes of `one` that may occur in an address.
    pub(super) colons: u64,
    /// The letters that some secrets begin with.
    pub(super) begins: u64,
    /// Bytes that end a sentence if white space follows.
    pub(super) ends: u64,
}

/// Returns a mask of the lowest bits.
#[inline]
pub(super) fn below(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}

#[cfg(target_arch = "wasm32")]
mod wide {
    use core::arch::wasm32::{
        i8x16_lt, i8x16_sub, u8x16_bitmask, u8x16_eq, u8x16_le, u8x16_splat, u64x2, v128, v128_andnot, v128_any_true,
        v128_or as or,
    };

    use super::{BLOCK, Marks};

    const CHUNK: usize = 16;

    #[inline(always)]
    fn wide(chunk: &[u8; CHUNK]) -> v128 {
        let [low, high] = [0, 1].map(|half| chunk.as_chunks::<8>().0[half]).map(u64::from_le_bytes);
        u64x2(low, high)
    }

    #[inline(always)]
    fn is(bytes: v128, byte: u8) -> v128 {
        u8x16_eq(bytes, u8x16_splat(byte))
    }

    /// Returns a mask of the bytes in a range.
    #[inline(always)]
    fn among(bytes: v128, first: u8, last: u8) -> v128 {
        u8x16_le(i8x16_sub(bytes, u8x16_splat(first)), u8x16_splat(last - first))
    }

    impl Marks {
        #[inline(always)]
        pub(in super::super) fn of(block: &[u8; BLOCK]) -> Self {
            let mut marks = Marks { letters: 0, other: 0, six: 0, one: 0, colons: 0, begins: 0, ends: 0 };
            for (index, chunk) in block.as_chunks::<CHUNK>().0.iter().enumerate() {
                let bytes = wide(chunk);
                let low = or(bytes, u8x16_splat(0x20));
                let put = |of: &mut u64, marked: v128| *of |= u64::from(u8x16_bitmask(marked)) << (index * CHUNK);
                put(&mut marks.letters, or(among(low, b'a', b'z'), among(bytes, b'0', b'9')));
                // A non-ASCII byte has its highest bit set.
                put(&mut marks.other, or(bytes, or(is(bytes, b'\\'), is(bytes, b'~'))));
                // Square and curly brackets differ in a single bit.
                put(&mut marks.six, or(among(low, b'{', b'}'), among(bytes, b';', b'>')));
                let colons = is(bytes, b':');
                put(&mut marks.one, or(colons, or(is(bytes, b'\n'), is(bytes, b'"'))));
                put(&mut marks.colons, colons);
                put(&mut marks.begins, or(is(bytes, b'A'), among(bytes, b'd', b'e')));
                put(&mut marks.ends, or(is(bytes, b'.'), or(is(bytes, b'!'), is(bytes, b'?'))));
            }
            marks
        }
    }

    /// Returns the number of bytes, in whole chunks, before one that may be hidden, escape, or not ASCII.
    #[inline]
    pub(in super::super) fn plain(bytes: &[u8]) -> usize {
        let (chunks, _) = bytes.as_chunks::<CHUNK>();
        let is_special = |chunk: &&[u8; CHUNK]| {
            let bytes = wide(chunk);
            let lines = or(is(bytes, b'\n'), is(bytes, b'\t'));
            let special = v128_andnot(i8x16_lt(bytes, u8x16_splat(0x20)), lines);
            v128_any_true(or(special, or(is(bytes, b'\\'), is(bytes, 0x7f))))
        };
        chunks.iter().position(|chunk| is_special(&chunk)).unwrap_or(chunks.len()) * CHUNK
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod wide {
    use super::{BLOCK, Marks};

    impl Marks {
        #[inline(always)]
        pub(in super::super) fn of(block: &[u8; BLOCK]) -> Self {
            Marks {
                letters: mark(block, |byte| (byte | 0x20).wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10),
                other: mark(block, |byte| byte >= 0x80 || byte == b'\\' || byte == b'~'),
                six: mark(block, |byte| (byte | 0x20).wrapping_sub(b'{') < 3 || byte.wrapping_sub(b';') < 4),
                one: mark(block, |byte| byte == b'\n' || byte == b'"' || byte == b':'),
                colons: mark(block, |byte| byte == b':'),
                begins: mark(block, |byte| byte == b'A' || byte == b'd' || byte == b'e'),
                ends: mark(block, |byte| byte == b'.' || byte == b'!' || byte == b'?'),
            }
        }
    }

    /// Returns the mask of the bytes for which `is` holds. Compiles to a few instructions on many bytes at once.
    #[inline(always)]
    fn mark(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
        let marked = block.map(|byte| u8::from(is(byte)));
        // The lowest bits of eight bytes, together in the highest byte.
        let bits = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let (eights, _) = marked.as_chunks::<8>();
        eights.iter().rev().fold(0, |mask, eight| mask << 8 | bits(eight))
    }

    /// Returns the number of bytes, in whole chunks, before one that may be hidden, escape, or not ASCII.
    #[inline]
    pub(in super::super) fn plain(bytes: &[u8]) -> usize {
        const CHUNK: usize = 32;
        let (chunks, _) = bytes.as_chunks::<CHUNK>();
        let is_special = |chunk: &[u8; CHUNK]| {
            // Compiled to a few instructions on all at once.
            let mut special = false;
            for &byte in chunk {
                special |= byte < 0x20 && byte != b'\n' && byte != b'\t' || byte == b'\\' || byte >= 0x7f;
            }
            special
        };
        chunks.iter().position(is_special).unwrap_or(chunks.len()) * CHUNK
    }
}

pub(super) use wide::plain;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_its_marks() {
        for byte in 0..=255_u8 {
            for place in [0, 7, 8, 31, 63] {
                let mut block = [b' '; BLOCK];
                block[place] = byte;
                let marks = Marks::of(&block);
                let bit = |is: bool| if is { 1 << place } else { 0 };
                assert_eq!(marks.letters, bit(byte.is_ascii_alphanumeric()));
                assert_eq!(marks.other, bit(!byte.is_ascii() || byte == b'\\' || byte == b'~'));
                assert_eq!(marks.six & !marks.other, bit(b"{}=|;<>[]".contains(&byte)));
                assert_eq!(marks.one, bit(b"\n\":".contains(&byte)));
                assert_eq!(marks.colons, bit(byte == b':'));
                assert_eq!(marks.begins, bit(b"Ade".contains(&byte)));
                assert_eq!(marks.ends, bit(b".!?".contains(&byte)));
            }
        }
        assert_eq!([below(0), below(1), below(63), below(64)], [0, 1, u64::MAX >> 1, u64::MAX]);
    }
}
