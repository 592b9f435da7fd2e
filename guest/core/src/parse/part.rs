//! Single values of a text, read one after the other, and strings that are not read at all.

use super::{Document, Parser, Span, suspicious::may_be_suspicious};
use crate::{caps::Caps, scan};

/// Reads values of a text, each into a document of its own in the same memory.
pub(crate) struct Parts<'t, 'c>(Parser<'t, 'c>);

impl<'t, 'c> Parts<'t, 'c> {
    /// `end` is where the text ends.
    pub(crate) fn new(text: &'t str, end: usize, caps: &'c Caps) -> Self {
        Parts(Parser::new(text, Span::new(0, end), caps, 64))
    }

    /// Reads the value that begins at an offset, inside so many containers. Returns where it ends; `None` if it is not JSON, or if
    /// there is anything to say of it.
    pub(crate) fn read(&mut self, at: usize, depth: usize) -> Option<usize> {
        let parser = &mut self.0;
        parser.document.nodes.clear();
        parser.document.decoded.clear();
        parser.stack.clear();
        (parser.at, parser.depth) = (at, depth);
        parser.value().ok()?;
        (parser.findings.is_empty() && !parser.document.is_suspicious).then_some(parser.at)
    }

    /// The value that was read last.
    pub(crate) fn document(&self) -> &Document<'t> {
        &self.0.document
    }
}

/// Returns where a string ends, from the byte on that does not stand for itself; `None` if the string is not JSON, or if there is
/// anything to say of its escapes.
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

/// The number that four hexadecimal digits write.
fn hexadecimal(text: &[u8]) -> Option<u32> {
    let digits = text.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + (*digit as char).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

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
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
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
            let expected = parsed.map(|_| text.len() - 1);
            // What stands after the string is not looked at.
            assert!(end == expected || end.is_some_and(|end| end + 1 < text.len()), "{text}: {end:?} {expected:?}");
            ends += usize::from(end.is_some());
        }
        assert!(ends > 10_000, "{ends}");
    }
}
