//! Compacts JSON text by removing white space between values.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr2, memmem};

/// The characters that may occur in strings and that some readers treat as line ends, with their escapes.
const LINE_ENDS: [(&str, &str); 3] = [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")];

/// Removes the white space between the values of a JSON text, and escapes the characters in its strings that some
/// readers treat as line ends: Node's `readline` does so at U+2028 and U+2029, Python's `str.splitlines` also at
/// U+0085. The result contains nothing that a reader could mistake for a line end, because JSON has CR and LF only as
/// white space (RFC 8259, section 2).
pub(super) fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    // Most texts contain none of them, and then only quotes and escapes matter.
    let has_line_ends = LINE_ENDS.iter().any(|(end, _)| memmem::find(bytes, end.as_bytes()).is_some());
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.push_str(&text[copied..at]);
                at += 1;
                copied = at;
            }
            b'"' => {
                let end = end_of_string(bytes, at + 1);
                if has_line_ends {
                    escape_line_ends(text, at..end, &mut copied, &mut out);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns the position after the string whose first character is at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// Escapes the line ends of a string.
fn escape_line_ends(text: &str, string: Range<usize>, copied: &mut usize, out: &mut String) {
    let bytes = &text.as_bytes()[..string.end];
    let mut at = string.start;
    while let Some(found) = memchr2(0xc2, 0xe2, &bytes[at..]) {
        at += found;
        match LINE_ENDS.iter().find(|(end, _)| bytes[at..].starts_with(end.as_bytes())) {
            Some((end, escape)) => {
                out.push_str(&text[*copied..at]);
                out.push_str(escape);
                at += end.len();
                *copied = at;
            }
            None => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_values_goes() {
        for (text, expected) in [
            (r#"{"a b":" c\" d ",  "e" : [ 1.50 , null ] }"#, r#"{"a b":" c\" d ","e":[1.50,null]}"#),
            ("{\"a\":\r\n1,\r\"b\":\"\u{2028}\u{85}é\u{2029}\"}", r#"{"a":1,"b":"\u2028\u0085é\u2029"}"#),
            (" \"\\\\\" ", "\"\\\\\""),
            ("[ ]", "[]"),
            ("", ""),
        ] {
            assert_eq!(compact(text), expected, "{text}");
        }
        assert!(matches!(compact("{\"a\":[1,\"x y\"]}"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_that_is_not_json_does_not_panic() {
        for text in ["\"", "\"\\", "\"\u{2028}", "\\\"é", "\"a\\\u{85}"] {
            let _ = compact(text);
        }
    }
}
