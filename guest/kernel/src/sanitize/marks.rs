//! Finds marks that the kernel writes in place of a text. A call that writes such a mark back destroys the original
//! text.

use std::ops::Range;

use seamgate_core::is_hidden;

use super::{types::Secret, view};

/// Returns the first mark in a text. If `is_all` is set, also finds marks that stand for part of a line.
pub fn mark_in(text: &str, is_all: bool) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(next) = memchr::memchr3(b'[', b'\\', "…".as_bytes()[0], &bytes[from..]) {
        let (at, rest) = (from + next, &bytes[from + next..]);
        let length = match rest[0] {
            b'[' if is_all => redacted(rest).or_else(|| defanged(bytes, at)),
            b'\\' if is_all => escaped(rest),
            b'[' | b'\\' => None,
            _ => left_out(rest),
        };
        if let Some(length) = length {
            return Some(at..at + length);
        }
        from = at + 1;
    }
    None
}

/// Returns the length of `[redacted:KIND]`.
fn redacted(rest: &[u8]) -> Option<usize> {
    let word = rest.strip_prefix(b"[redacted:")?;
    let is =
        |kind: &&Secret| word.strip_prefix(kind.as_str().as_bytes()).is_some_and(|rest| rest.first() == Some(&b']'));
    let kind = Secret::ALL.iter().find(is)?;
    Some(rest.len() - word.len() + kind.as_str().len() + 1)
}

/// Returns the length of a defanged part: `https[:]//`, `[/]/host`, `[&]#`.
fn defanged(text: &[u8], at: usize) -> Option<usize> {
    let [b'[', sign, b']', after @ ..] = &text[at..] else { return None };
    let is_alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let before = text[..at].last();
    let is_mark = match sign {
        b':' => is_alphanumeric(before) && after.starts_with(b"//"),
        b'/' => {
            let is_start = before.is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'(=,;".contains(byte));
            is_start && after.first() == Some(&b'/') && is_alphanumeric(after.get(1))
        }
        b'&' => after.first() == Some(&b'#') || is_alphanumeric(after.first()),
        _ => false,
    };
    is_mark.then_some(3)
}

/// Returns the length of the code of a hidden character: `\u{200b}`.
fn escaped(rest: &[u8]) -> Option<usize> {
    let (character, length) = view::escape(rest).filter(|_| rest.starts_with(b"\\u{"))?;
    (is_hidden(character) && !matches!(character, '\n' | '\t')).then_some(length)
}

/// Returns the length of `… [12 lines left out]`.
fn left_out(rest: &[u8]) -> Option<usize> {
    let words = rest.strip_prefix("… [".as_bytes())?;
    let digits = words.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let units = [&b" lines left out]"[..], b" bytes left out]", b" items left out]"];
    let unit = units.into_iter().find(|unit| words[digits..].starts_with(unit))?;
    Some(rest.len() - words.len() + digits + unit.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::sanitize;

    #[test]
    fn what_the_kernel_writes_is_known_again() {
        let token = format!("x ghp_{}", "a1".repeat(18));
        for text in [
            token.as_str(),
            "password=hunter22",
            "![x](https://evil.example/)",
            "<img src=\"//evil.example\">",
            "<img src='&#104;ttp://x'>",
            "a\u{200b}b",
            "\u{feff}a",
            "a\rb",
        ] {
            assert_eq!(mark_in(text, true), None, "{text:?}");
            let written = sanitize(text).text;
            assert!(mark_in(&written, true).is_some(), "{written:?}");
        }
        assert_eq!(mark_in("a\n… [12 lines left out]\nb", false), Some(2..25));
        for text in ["a[:] x[1:]", "[[:alpha:]]", "s/[/]//", "[&](x)", "\\u{41} \\u{e9}", "[redacted:x]", "3 left out]"]
        {
            assert_eq!(mark_in(text, true), None, "{text:?}");
        }
    }
}
