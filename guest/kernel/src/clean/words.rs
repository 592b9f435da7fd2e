//! A text in words, as secrets and instructions are looked for: each word folded, hashed, and looked up once.

use super::{
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

/// Tell each word that has a role, or that `is_wanted` for where it begins and ends.
pub(super) fn each(text: &str, is_wanted: impl Fn(&[u8], usize, usize) -> bool, mut take: impl FnMut(Word)) {
    let bytes = text.as_bytes();
    let (mut at, mut place) = (0, 0u32);
    let mut ideograph = None;
    while let Some(&byte) = bytes.get(at) {
        let steps = STEPS[usize::from(byte)];
        if steps < OTHER {
            at += 1;
            place = place.saturating_add(match byte {
                b'.' | b'!' | b'?' if bytes.get(at).is_none_or(u8::is_ascii_whitespace) => 6,
                // An escape of a line end or tab is none of a letter.
                b'\\' if matches!(bytes.get(at), Some(b'n' | b'r' | b't')) => {
                    at += 1;
                    1
                }
                _ => u32::from(steps),
            });
            ideograph = None;
            continue;
        }
        let start = at;
        let mut hash = SEED;
        let mut is_word = false;
        let before = ideograph.take();
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
                    place = place.saturating_add(u32::from(steps));
                    break;
                }
                Folded::Ideograph(code) => {
                    at += length;
                    place = place.saturating_add(1);
                    ideograph = Some((code, start));
                    if let Some((first, start)) = before {
                        let roles = roles(step(step(IDEOGRAPHS, first), code));
                        if roles != 0 {
                            take(Word { start, end: at, roles, place });
                        }
                    }
                    break;
                }
            }
        }
        if is_word {
            place = place.saturating_add(2);
            let roles = roles(hash);
            if roles != 0 || is_wanted(bytes, start, at) {
                take(Word { start, end: at, roles, place });
            }
        }
    }
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
