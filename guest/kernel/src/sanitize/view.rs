//! A view of a text for matching: without hidden characters, and with JSON escapes decoded.
//!
//! Findings are reported by their positions in the given text. Nothing is stored for each hidden character, because a
//! hostile text may consist of them. Both conversions read the text again, with the same result.

use std::{borrow::Cow, ops::Range};

use seamgate_core::{is_hidden, kernel_api::sort_by_key};

use super::{blocks, unicode::is_ordinary};

/// A piece of the text that the view does not contain in its original form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is: Is,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// A hidden character; with ESC, also the ASCII text of a terminal sequence.
    Hidden(char),
    /// An escape in the form of JSON, JavaScript or Rust, with the character that it stands for.
    Escape(char),
}

impl Gap {
    /// Returns the character that replaces the gap in the view.
    fn shows(self) -> Option<char> {
        match self.is {
            Is::Escape(character) if !is_skipped(character) => Some(character),
            // It ends a line for some readers.
            Is::Hidden('\r') => Some('\r'),
            _ => None,
        }
    }
}

/// Returns whether the view always omits a character.
fn is_skipped(character: char) -> bool {
    is_hidden(character) && !matches!(character, '\n' | '\t' | '\r')
}

/// The gaps of a piece of a text, in order.
pub(super) struct Gaps<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Gaps<'t> {
    pub(super) fn new(text: &'t str, piece: Range<usize>) -> Self {
        Gaps { text, at: piece.start, end: piece.end }
    }
}

impl Iterator for Gaps<'_> {
    type Item = Gap;

    fn next(&mut self) -> Option<Gap> {
        let bytes = self.text.as_bytes();
        loop {
            // The last one may end after the piece.
            let start = self.at + plain(bytes.get(self.at..self.end)?);
            let first = *bytes[..self.end].get(start)?;
            if first == b'\\' {
                self.at = start + 1;
                if let Some((character, length)) = escape(&bytes[start..]) {
                    let end = start + length;
                    self.at = match character {
                        '\u{1b}' | '\u{9b}' => end + sequence(character, &bytes[end..]),
                        _ => end,
                    };
                    return Some(Gap { start, end: self.at, is: Is::Escape(character) });
                }
                continue;
            }
            let (before, after) = self.text.split_at(start);
            let mut characters = after.chars();
            let character = characters.next()?;
            let after = characters.as_str();
            self.at = start + character.len_utf8();
            if !is_hidden(character) || is_ordinary(before, character, after) {
                continue;
            }
            match character {
                '\n' | '\t' => continue,
                '\r' if after.starts_with('\n') => continue,
                '\u{1b}' | '\u{9b}' => self.at += sequence(character, &bytes[self.at..]),
                _ => {}
            }
            return Some(Gap { start, end: self.at, is: Is::Hidden(character) });
        }
    }
}

/// `true` for each byte that can begin a hidden character or an escape.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = byte != b'\n' as usize && byte != b'\t' as usize;
        byte += 1;
    }
    // The first bytes of the characters of `is_hidden`: a test compares them.
    let first = [0x7f, b'\\', 0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3];
    let mut index = 0;
    while index < first.len() {
        special[first[index] as usize] = true;
        index += 1;
    }
    special
};

/// Returns the number of bytes before the first that may be special.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    // Special bytes are often close together.
    const NEAR: usize = 8;
    const CHUNK: usize = 32;
    if let Some(place) = bytes.iter().take(NEAR).position(|&byte| SPECIAL[usize::from(byte)]) {
        return place;
    }
    let mut at = bytes.len().min(NEAR);
    loop {
        at += blocks::plain(&bytes[at..]);
        let near = &bytes[at..bytes.len().min(at + CHUNK)];
        match near.iter().position(|&byte| SPECIAL[usize::from(byte)]) {
            Some(place) => return at + place,
            None if near.len() < CHUNK => return bytes.len(),
            None => at += CHUNK,
        }
    }
}

/// Returns the character that an escape at the start of some bytes stands for, and its length: `\u0041`, a pair of
/// surrogates, or `\u{41}`.
pub(super) fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let digits = bytes.strip_prefix(b"\\u")?;
    if let Some(digits) = digits.strip_prefix(b"{") {
        let length = digits.iter().take(7).position(|&byte| byte == b'}')?;
        return Some((char::from_u32(hex(&digits[..length])?)?, length + 4));
    }
    let first = hex(digits.get(..4)?)?;
    if let 0xd800..0xdc00 = first {
        let second = hex(bytes.get(6..)?.strip_prefix(b"\\u")?.get(..4)?)?;
        let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        return Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?, 12));
    }
    Some((char::from_u32(first)?, 6))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}

/// Returns the length of a terminal sequence after ESC or its C1 form, in bytes: colors and the like. Any other
/// sequence stays, because it may be part of a link or a secret.
fn sequence(character: char, bytes: &[u8]) -> usize {
    let parameters = match (character, bytes.first()) {
        // Redacted text is not a sequence.
        _ if bytes.starts_with(b"[redacted:") => return 0,
        ('\u{9b}', _) => bytes,
        (_, Some(b'[')) => &bytes[1..],
        _ => return 0,
    };
    let length = parameters.iter().take_while(|byte| matches!(byte, 0x30..=0x3f)).count();
    // Colors, and sequences that programs write to show progress. The letter of any other sequence might be the first
    // of a secret.
    let is_known = match parameters.get(length) {
        Some(b'm' | b'K' | b'J' | b'H' | b'B'..=b'F') => true,
        Some(b'h' | b'l') => parameters.first() == Some(&b'?'),
        _ => false,
    };
    bytes.len() - parameters.len() + length + usize::from(is_known)
}

/// A text in the form in which it is matched.
pub(super) struct View<'t> {
    given: &'t str,
    pub(super) text: Cow<'t, str>,
}

impl<'t> View<'t> {
    /// Reads a text, and passes each gap to `each`.
    pub(super) fn new(given: &'t str, mut each: impl FnMut(Gap)) -> Self {
        let mut text = String::new();
        let mut from = 0;
        for gap in Gaps::new(given, 0..given.len()) {
            each(gap);
            if from == 0 {
                text.reserve(given.len());
            }
            text.push_str(&given[from..gap.start]);
            text.extend(gap.shows());
            from = gap.end;
        }
        if from == 0 {
            return View { given, text: Cow::Borrowed(given) };
        }
        text.push_str(&given[from..]);
        View { given, text: Cow::Owned(text) }
    }

    /// Converts positions in the view to positions in the given text. Each position is the start or the end of a span.
    pub(super) fn locate<'s>(&self, places: impl Iterator<Item = (&'s mut usize, Edge)>) {
        if matches!(self.text, Cow::Borrowed(_)) {
            return;
        }
        let mut places: Vec<(&mut usize, Edge)> = places.collect();
        sort_by_key(&mut places, |(place, edge)| (**place, *edge));
        let mut cursor = Cursor { gaps: Gaps::new(self.given, 0..self.given.len()).peekable(), shown: 0, given: 0 };
        for (place, edge) in places {
            *place = cursor.seek(*place, edge);
        }
    }
}

/// The edge of a span that a place marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    End,
    Start,
}

/// Goes through a text and its view together.
struct Cursor<'t> {
    gaps: std::iter::Peekable<Gaps<'t>>,
    /// The same place, in the view and in the text.
    shown: usize,
    given: usize,
}

impl Cursor<'_> {
    /// Returns the position in the text for a position in the view: after the gaps there for the start of a span, or
    /// before them for its end.
    fn seek(&mut self, place: usize, edge: Edge) -> usize {
        while let Some(gap) = self.gaps.peek() {
            let until = self.shown + (gap.start - self.given);
            let width = gap.shows().map_or(0, char::len_utf8);
            if until + width > place || until + width == place && width == 0 && edge == Edge::End {
                break;
            }
            (self.shown, self.given) = (until + width, gap.end);
            self.gaps.next();
        }
        self.given + (place - self.shown)
    }
}
