//! Hints: if the likely cause of a syntax error is known, the message ends with advice.

use super::Broken;

impl Broken {
    /// Returns a hint for the position at which a text stops being JSON.
    pub(crate) fn hint(&self, text: &str) -> Option<&'static str> {
        let at = self.at.min(text.len());
        let (before, after) = (text[..at].trim_ascii_end(), &text[at..]);
        let is_word = |word: &str| {
            after
                .strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        };
        let next = after.chars().next().filter(|_| !self.cut_off)?;
        Some(match next {
            _ if self.is_escape() => "a backslash is written \\\\",
            '\n' | '\r' if self.is_in_string() => "a line break in a string is written \\n",
            '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '«' => "strings stand between straight double quotes",
            '\\' if is_escaped(after) => "it is escaped once too often: send it without these backslashes",
            '：' => "write ':'",
            '，' => "write ','",
            '/' => "JSON has no comments",
            '#' if begins_line(text, at) || self.expected.starts_with("','") => "JSON has no comments",
            '}' | ']' if before.ends_with(',') => "no comma stands before a closing bracket",
            '(' => "write a list in square brackets",
            '+' if before.ends_with('"') => "send one string: JSON does not join them",
            '0'..='9' if is_grouped(before, after) => "a number has no separators between its digits",
            '{' | '[' if self.is_after_value() => "send one document",
            _ if is_word("True") => "write true",
            _ if is_word("False") => "write false",
            _ if is_word("None") || is_word("undefined") || is_word("NaN") => "write null, or leave the member out",
            _ => return None,
        })
    }
}

fn begins_line(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).ends_with('\n')
}

/// Returns whether quotes or line breaks are escaped as if they were inside a string.
fn is_escaped(text: &str) -> bool {
    let text = text.trim_start_matches(['\\', 'n', 'r', 't', ' ']);
    text.starts_with(['"', '{', '[', '}', ']', '-']) || text.starts_with(|next: char| next.is_ascii_digit())
}

/// Returns whether a comma and three digits continue a number: `1,000`.
fn is_grouped(before: &str, after: &str) -> bool {
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let number =
        before.strip_suffix(',').map(|number| number.trim_end_matches(|digit: char| digit.is_ascii_digit()).len());
    digits == 3 && number.is_some_and(|start| (1..=3).contains(&(before.len() - 1 - start)))
}

#[cfg(test)]
mod tests {
    use crate::{
        caps::Caps,
        parse::{Span, parse},
    };

    #[test]
    fn the_cause_of_broken_syntax_is_named() {
        for (text, expected) in [
            (r#"{"a": "\*"}"#, Some("backslash is written")),
            ("{\"a\": \"x\ny\"}", Some("line break")),
            ("{'a': 1}", Some("straight double quotes")),
            ("{\"a\": “x”}", Some("straight double quotes")),
            (r#"{\"a\": 1}"#, Some("escaped once too often")),
            (r#"{"a": \n[1]}"#, Some("escaped once too often")),
            ("{\"a\"：1}", Some("write ':'")),
            ("{\"a\":1，\"b\":2}", Some("write ','")),
            ("{\"a\":1} // end", Some("no comments")),
            ("{\"a\":1,}", Some("no comma")),
            ("[(1, 2)]", Some("square brackets")),
            ("[\"a\" + \"b\"]", Some("join")),
            ("{\"a\": 1,000}", Some("separators")),
            ("{\"a\": 1, 23}", None),
            ("{} {}", Some("one document")),
            ("{\"a\": True}", Some("write true")),
            ("{\"a\": undefined}", Some("write null")),
            ("{\"a\": Nonesuch}", None),
            ("{\"a\": [1", None),
        ] {
            let broken = parse(text, Span::new(0, text.len()), &Caps::default()).map(|_| ()).expect_err(text);
            let hint = broken.hint(text);
            assert_eq!(hint.is_some(), expected.is_some(), "{text}: {hint:?}");
            assert!(hint.unwrap_or_default().contains(expected.unwrap_or_default()), "{text}: {hint:?}");
        }
    }
}
