//! A text in words, as secrets and instructions are looked for: each word folded, hashed, and looked up once.

use super::{
    blocks::{BLOCK, Marks, below},
    unicode::{Folded, fold, fold_letter},
    vocabulary::VOCABULARY,
};

/// A word that the vocabulary has, or that may begin a secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What the vocabulary says of it.
    pub(super) roles: u64,
    /// Its place in steps: a word is two, an ideograph is one, and what separates sentences is some.
    pub(super) place: u32,
}

const SEED: u32 = 0x811c_9dc5;
/// For two ideographs, which are looked up as one word.
const IDEOGRAPHS: u32 = 0x3c6e_f372;

const fn step(hash: u32, letter: u32) -> u32 {
    (hash.rotate_left(5) ^ letter).wrapping_mul(0x9e37_79b1)
}

/// What a byte of ASCII is.
const LETTER: u8 = 0xff;
const OTHER: u8 = 0xfe;
/// How many steps a byte that is in no word takes, or [`LETTER`], or [`OTHER`] for what is not ASCII.
const STEPS: [u8; 256] = {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        steps[byte] = match byte as u8 {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => LETTER,
            0x80.. => OTHER,
            b'{' | b'}' | b'=' | b'|' | b';' | b'<' | b'>' | b'[' | b']' => 6,
            b'\n' | b'"' | b':' => 1,
            _ => 0,
        };
        byte += 1;
    }
    steps
};

/// Letters and digits of ASCII in lower case.
const LOWER: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        lower[byte] = (byte as u8).to_ascii_lowercase();
        byte += 1;
    }
    lower
};

/// Tell each word that has a role, or that `is_wanted` for where it begins and ends. Who wants a word wants one that begins with `A`,
/// `d` or `e`, that `~` or `:` follows, or that is right after `|`.
pub(super) fn each(text: &str, is_wanted: impl Fn(&[u8], usize, usize) -> bool, take: impl FnMut(Word)) {
    Words { bytes: text.as_bytes(), at: 0, place: 0, ideograph: None, is_wanted, take }.all();
}

/// So many bytes are there for a block.
const AHEAD: usize = BLOCK + 4;

/// Fewer bytes of a block are looked at one after the other.
const LEAST: u32 = 16;

struct Words<'t, W, T> {
    bytes: &'t [u8],
    at: usize,
    /// In steps.
    place: u32,
    /// The ideograph before, and where it starts.
    ideograph: Option<(u32, usize)>,
    is_wanted: W,
    take: T,
}

impl<W: Fn(&[u8], usize, usize) -> bool, T: FnMut(Word)> Words<'_, W, T> {
    fn all(&mut self) {
        // Where a block was of no use, none is looked at for some bytes.
        let mut slow = 0;
        while self.at < self.bytes.len() {
            if self.at >= slow {
                if self.block() {
                    continue;
                }
                slow = self.at + BLOCK / 2;
            }
            self.next();
        }
    }

    /// Take the words of a block of ASCII, as far as they are whole. Gives whether that was worth it.
    fn block(&mut self) -> bool {
        let from = self.at;
        // The first letters of each word are there, also of a short one at the end.
        let Some(ahead) = self.bytes.get(from..).and_then(<[u8]>::first_chunk::<AHEAD>) else { return false };
        let Some(block) = ahead.first_chunk::<BLOCK>() else { return false };
        let marks = Marks::of(block);
        let limit = marks.other.trailing_zeros();
        let inside = below(limit);
        // A word may go on after the last byte, and a sentence may end there.
        let last = inside & !(inside >> 1);
        let end = if marks.letters & last != 0 {
            u64::BITS - (inside & !marks.letters).leading_zeros()
        } else {
            limit - u32::from(marks.ends & last != 0)
        };
        if end < LEAST {
            return false;
        }
        self.ideograph = None;
        let inside = below(end);
        let letters = marks.letters & inside;
        let starts = letters & !(letters << 1);
        let mut stops = !letters & letters << 1;
        let (mut six, one) = (marks.six & inside, marks.one & inside);
        let mut ends = marks.ends & inside;
        while ends != 0 {
            let next = ends.trailing_zeros() + 1;
            if block.get(next as usize).is_some_and(u8::is_ascii_whitespace) {
                six |= ends & ends.wrapping_neg();
            }
            ends &= ends - 1;
        }
        let place =
            |upto: u64| 2 * (starts & upto).count_ones() + 6 * (six & upto).count_ones() + (one & upto).count_ones();
        let after = six << 1 | 1;
        let mut left = starts;
        while left != 0 {
            let (first, stop) = (left.trailing_zeros(), stops.trailing_zeros());
            left &= left - 1;
            stops &= stops - 1;
            let (start, end) = (from + first as usize, from + stop as usize);
            let at = first as usize & (BLOCK - 1);
            let letters = [ahead[at], ahead[at + 1], ahead[at + 2], ahead[at + 3]];
            let roles = if may_have_role(letters, stop - first) { roles_of(&self.bytes[start..end]) } else { 0 };
            let is_looked_at =
                (after >> first | marks.one >> stop) & 1 == 1 || matches!(letters[0], b'A' | b'd' | b'e');
            if roles != 0 || is_looked_at && (self.is_wanted)(self.bytes, start, end) {
                let place = self.place.saturating_add(place(below(first + 1)));
                (self.take)(Word { start, end, roles, place });
            }
        }
        self.place = self.place.saturating_add(place(inside));
        self.at = from + end as usize;
        true
    }

    /// Take what comes next: a word, or what is none.
    fn next(&mut self) {
        let bytes = self.bytes;
        let Some(&byte) = bytes.get(self.at) else { return };
        let mut at = self.at;
        let steps = STEPS[usize::from(byte)];
        if steps < OTHER {
            at += 1;
            self.place = self.place.saturating_add(match byte {
                b'.' | b'!' | b'?' if bytes.get(at).is_none_or(u8::is_ascii_whitespace) => 6,
                // An escape of a line end or tab is none of a letter.
                b'\\' if matches!(bytes.get(at), Some(b'n' | b'r' | b't')) => {
                    at += 1;
                    1
                }
                _ => u32::from(steps),
            });
            self.ideograph = None;
            self.at = at;
            return;
        }
        let start = at;
        let mut hash = SEED;
        let mut is_word = false;
        let before = self.ideograph.take();
        loop {
            while let Some(&byte) = bytes.get(at)
                && STEPS[usize::from(byte)] == LETTER
            {
                hash = step(hash, u32::from(LOWER[usize::from(byte)]));
                at += 1;
            }
            is_word |= at > start;
            if bytes.get(at).is_none_or(u8::is_ascii) {
                break;
            }
            let (code, length) = decode(bytes, at);
            match fold(code) {
                Folded::Nothing => at += length,
                Folded::Letter(letter) => {
                    hash = step(hash, letter);
                    at += length;
                    is_word = true;
                }
                Folded::Ideograph(_) | Folded::Gap(_) if is_word => break,
                Folded::Gap(steps) => {
                    at += length;
                    self.place = self.place.saturating_add(u32::from(steps));
                    break;
                }
                Folded::Ideograph(code) => {
                    at += length;
                    self.place = self.place.saturating_add(1);
                    self.ideograph = Some((code, start));
                    if let Some((first, start)) = before {
                        let roles = roles(step(step(IDEOGRAPHS, first), code));
                        if roles != 0 {
                            (self.take)(Word { start, end: at, roles, place: self.place });
                        }
                    }
                    break;
                }
            }
        }
        self.at = at;
        if is_word {
            self.place = self.place.saturating_add(2);
            let roles = roles(hash);
            if roles != 0 || (self.is_wanted)(bytes, start, at) {
                (self.take)(Word { start, end: at, roles, place: self.place });
            }
        }
    }
}

/// How many bits [`MAY_HAVE_ROLE`] has, as a power of two.
const FEW: u32 = 15;

/// By the first letters and the length of a word of ASCII: whether the vocabulary may have it.
static MAY_HAVE_ROLE: [u64; (1 << FEW) / 64] = {
    let mut bits = [0; (1 << FEW) / 64];
    let mut group = 0;
    while group < VOCABULARY.len() {
        let text = VOCABULARY[group].1.as_bytes();
        let mut at = 0;
        while at < text.len() {
            if text[at] == b' ' {
                at += 1;
                continue;
            }
            let (mut letters, mut length) = (0, 0);
            let mut is_ascii = true;
            while at < text.len() && text[at] != b' ' {
                let (code, bytes) = decode(text, at);
                let letter = fold_letter(code);
                is_ascii &= letter < 0x80;
                if length < 4 {
                    letters |= letter << (8 * length);
                }
                length += 1;
                at += bytes;
            }
            if is_ascii {
                let bit = beginning(letters, length);
                bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        group += 1;
    }
    bits
};

/// The bit of words with these first letters, in lower case, and of this length.
const fn beginning(letters: u32, length: u32) -> usize {
    ((letters ^ length << 26).wrapping_mul(0x9e37_79b1) >> (u32::BITS - FEW)) as usize
}

/// Whether the vocabulary may have a word of this length that begins so. What is after a short one is not looked at.
#[inline(always)]
fn may_have_role(letters: [u8; 4], length: u32) -> bool {
    let letters = (u32::from_le_bytes(letters) | 0x2020_2020) & below(8 * length.min(4)) as u32;
    let bit = beginning(letters, length);
    MAY_HAVE_ROLE[bit / 64] >> (bit % 64) & 1 == 1
}

const WORDS: usize = {
    let (mut count, mut group) = (0, 0);
    while group < VOCABULARY.len() {
        let text = VOCABULARY[group].1.as_bytes();
        let mut at = 0;
        while at < text.len() {
            if text[at] != b' ' && (at == 0 || text[at - 1] == b' ') {
                count += 1;
            }
            at += 1;
        }
        group += 1;
    }
    count
};

/// The hash of each word with what it is, in the order of the hashes.
const TABLE: ([u32; WORDS], [u64; WORDS]) = {
    let (mut hashes, mut roles) = ([0; WORDS], [0; WORDS]);
    let (mut count, mut group) = (0, 0);
    while group < VOCABULARY.len() {
        let text = VOCABULARY[group].1.as_bytes();
        let mut at = 0;
        while at < text.len() {
            if text[at] == b' ' {
                at += 1;
                continue;
            }
            let mut hash = SEED;
            let mut is_first = true;
            while at < text.len() && text[at] != b' ' {
                let (code, length) = decode(text, at);
                if is_first && matches!(code, 0x3041..=0x30ff | 0x3400..=0x9fff) {
                    hash = IDEOGRAPHS;
                }
                is_first = false;
                hash = step(hash, fold_letter(code));
                at += length;
            }
            hashes[count] = hash;
            roles[count] = VOCABULARY[group].0;
            count += 1;
        }
        group += 1;
    }
    // Shell sort.
    let mut gap = WORDS / 2;
    while gap > 0 {
        let mut next = gap;
        while next < WORDS {
            let (hash, role) = (hashes[next], roles[next]);
            let mut at = next;
            while at >= gap && hashes[at - gap] > hash {
                hashes[at] = hashes[at - gap];
                roles[at] = roles[at - gap];
                at -= gap;
            }
            hashes[at] = hash;
            roles[at] = role;
            next += 1;
        }
        gap /= 2;
    }
    (hashes, roles)
};
static HASHES: [u32; WORDS] = TABLE.0;
static ROLES: [u64; WORDS] = TABLE.1;

const BITS: u32 = 10;

/// Where the hashes begin that start with some bits.
static STARTS: [u16; (1 << BITS) + 1] = {
    let mut starts = [0; (1 << BITS) + 1];
    let (mut prefix, mut at) = (0, 0);
    while prefix < starts.len() {
        while at < WORDS && ((HASHES[at] >> (32 - BITS)) as usize) < prefix {
            at += 1;
        }
        starts[prefix] = at as u16;
        prefix += 1;
    }
    starts
};

/// What the vocabulary says of a word. Its hash alone is compared: who finds another word of that hash has found one more
/// way to be flagged.
#[inline]
fn roles(hash: u32) -> u64 {
    let prefix = (hash >> (32 - BITS)) as usize;
    let mut roles = 0;
    for at in usize::from(STARTS[prefix])..usize::from(STARTS[prefix + 1]) {
        if HASHES[at] == hash {
            roles |= ROLES[at];
        }
    }
    roles
}

/// What the vocabulary says of a word of ASCII.
pub(super) fn roles_of(word: &[u8]) -> u64 {
    roles(word.iter().fold(SEED, |hash, &byte| step(hash, u32::from(LOWER[usize::from(byte)]))))
}

/// A character of UTF-8, and its length.
#[inline]
const fn decode(text: &[u8], at: usize) -> (u32, usize) {
    const fn more(text: &[u8], at: usize) -> u32 {
        (text[at] & 0x3f) as u32
    }
    let first = text[at] as u32;
    match first {
        0..0x80 => (first, 1),
        0x80..0xe0 => ((first & 0x1f) << 6 | more(text, at + 1), 2),
        0xe0..0xf0 => ((first & 0xf) << 12 | more(text, at + 1) << 6 | more(text, at + 2), 3),
        _ => ((first & 7) << 18 | more(text, at + 1) << 12 | more(text, at + 2) << 6 | more(text, at + 3), 4),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::secrets::may_begin, *};

    fn words(text: &str, is_slow: bool) -> (Vec<(usize, usize, u64, u32)>, u32) {
        let mut found = Vec::new();
        let is_wanted = |text: &[u8], start, end| {
            may_begin(text, start, end) || super::super::instructions::opens_mark(text, start)
        };
        let take = |word: Word| found.push((word.start, word.end, word.roles, word.place));
        let mut words = Words { bytes: text.as_bytes(), at: 0, place: 0, ideograph: None, is_wanted, take };
        if is_slow {
            while words.at < text.len() {
                words.next();
            }
        } else {
            words.all();
        }
        let place = words.place;
        (found, place)
    }

    #[test]
    fn words_are_the_same_in_blocks_and_one_by_one() {
        let vocabulary: Vec<&str> = VOCABULARY.iter().flat_map(|(_, words)| words.split(' ')).collect();
        let other = [
            "eyJhbGci",
            "AKIA",
            "dapi0123456789abcdef0123456789abcdef",
            "x~",
            "Q~",
            "https://",
            "<|im_start|>",
            "\\n",
            "\\u0041",
            "é",
            "漢字",
            "a\u{301}",
            "1234567890",
            "the quick brown fox",
            "supercalifragilisticexpialidocious",
            "\u{200b}",
            "ＡＢ",
            "IGNORE",
        ];
        let separators = [
            " ", "  ", ". ", ".", "!\n", "? ", "\n", "\r\n", "\"", ":", ": ", "{", "}=", "|", ";<", ">[", "]", "_",
            "-", "/", "\t", "\\", "~", "",
        ];
        let mut random = 1_u32;
        let mut next = |count: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % count
        };
        let mut looked_at = 0;
        for _ in 0..3000 {
            let mut text = String::new();
            // Words of other scripts are rare in some texts.
            let (rare, length) = (1 + next(40), next(400));
            while text.len() < length {
                let word = match next(rare) {
                    0 => other[next(other.len())],
                    _ => vocabulary[next(vocabulary.len() / 4)],
                };
                text.push_str(if next(3) == 0 { &word[..word.floor_char_boundary(next(6))] } else { word });
                text.push_str(separators[next(separators.len())]);
            }
            let slowly = words(&text, true);
            assert_eq!(words(&text, false), slowly, "{text:?}");
            looked_at += slowly.0.len();
        }
        assert!(looked_at > 10_000, "{looked_at}");
    }
}
