//! Parses single values of a text, and finds the end of strings without parsing them.

use super::{Document, Parser, Span, suspicious::may_be_suspicious};
use crate::{caps::Caps, scan};

/// Parses values of a text. Each document reuses the memory of the previous one.
pub(crate) struct Parts<'t, 'c>(Parser<'t, 'c>);

impl<'t, 'c> Parts<'t, 'c> {
    /// Creates a parser. `end` is the end of the text.
    pub(crate) fn new(text: &'t str, end: usize, caps: &'c Caps) -> Self {
        Parts(Parser::new(text, Span::new(0, end), caps, 64))
    }

    /// Parses the value at an offset and a depth. Returns the offset after it. `None` if the value is invalid JSON,
    /// exceeds a cap, or needs a note.
    pub(crate) fn read(&mut self, at: usize, depth: usize) -> Option<usize> {
        let parser = &mut self.0;
        parser.document.nodes.clear();
        parser.document.decoded.clear();
        parser.stack.clear();
        (parser.at, parser.depth) = (at, depth);
        parser.value().ok()?;
        (parser.findings.is_empty() && !parser.document.is_suspicious).then_some(parser.at)
    }

    /// Returns the last value.
    pub(crate) fn document(&self) -> &Document<'t> {
        &self.0.document
    }
}

/// Returns the offset of a string's closing quote. `at` is the offset of its first escape, or of the quote. `None` if
/// the string is invalid JSON, or if its escapes need a note.
pub(crate) fn end_of_string(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at..)? {
            [b'"', ..] => return Some(at),
            [b'\\', b'u', rest @ ..] => {
                let unit = hexadecimal(rest)?;
                at += 6;
                if (0xd800..0xe000).contains(&unit) {
                    let low = rest.get(4..)?.strip_prefix(b"\\u").and_then(hexadecimal)?;
                    if unit >= 0xdc00 || !(0xdc00..0xe000).contains(&low) {
                        return None;
                    }
                    at += 6;
                }
            }
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                if may_be_suspicious(text, at + 1) {
                    return None;
                }
                at += 2;
            }
            _ => return None,
        }
        at += scan::plain(&text[at..]);
    }
}

/// Appends the decoded content of a string, which is given without its quotes. The string's end must have been found by
/// [`end_of_string`]. `None` for any other string.
pub(crate) fn decode(text: &str, decoded: &mut String) -> Option<()> {
    let mut rest = text;
    loop {
        let at = scan::plain(rest.as_bytes());
        decoded.push_str(rest.get(..at)?);
        let Some(escape) = rest.as_bytes().get(at + 1..) else { return Some(()) };
        let (character, length) = match escape.first()? {
            b'u' => {
                let unit = hexadecimal(&escape[1..])?;
                match char::from_u32(unit) {
                    Some(character) => (character, 6),
                    None => {
                        let low = hexadecimal(escape.get(7..)?)?;
                        let pair = 0x10000 + ((unit - 0xd800) << 10) + low.checked_sub(0xdc00)?;
                        (char::from_u32(pair)?, 12)
                    }
                }
            }
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            byte => (char::from(*byte), 2),
        };
        decoded.push(character);
        rest = rest.get(at + length..)?;
    }
}

/// Parses four hexadecimal digits.
fn hexadecimal(text: &[u8]) -> Option<u32> {
    let digits = text.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + (*digit as char).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse::parse, random::Random};

    #[test]
    fn strings_end_where_the_parser_says() {
        const PIECES: [&str; 18] = [
            "a",
            "é",
            r"\n",
            r"\f",
            r"\b",
            "\\\"",
            r"\\",
            r"\/",
            r"\u0041",
            r"\ud83d",
            r"\ude00",
            r"\uD83D\uDE00",
            r"\u12",
            r"\x",
            "rac",
            "\n",
            r"\t",
            r"C:\t",
        ];
        let mut state = Random(1);
        let mut random = |below: usize| state.below(below);
        let mut ends = 0;
        for _ in 0..50_000 {
            let mut text = "\"".to_owned();
            for _ in 0..random(6) {
                text.push_str(PIECES[random(PIECES.len())]);
            }
            if random(8) > 0 {
                text.push('"');
            }
            let parsed = parse(&text, Span::new(0, text.len()), &Caps::default()).ok();
            let parsed = parsed.filter(|parsed| parsed.findings.is_empty() && !parsed.document.is_suspicious());
            let end = end_of_string(text.as_bytes(), 1 + scan::plain(&text.as_bytes()[1..]));
            if let Some(parsed) = &parsed {
                let mut decoded = String::new();
                assert!(decode(&text[1..text.len() - 1], &mut decoded).is_some(), "{text}");
                assert_eq!(decoded, parsed.document.string(Document::ROOT), "{text}");
            }
            let expected = parsed.map(|_| text.len() - 1);
            // The text after the string is not read.
            assert!(end == expected || end.is_some_and(|end| end + 1 < text.len()), "{text}: {end:?} {expected:?}");
            ends += usize::from(end.is_some());
        }
        assert!(ends > 10_000, "{ends}");
    }
}
