//! JSON text without white space between values.

use std::borrow::Cow;

/// Removes the white space between the values of a JSON text, and escapes the characters in its strings at which some readers end a line:
/// Node's `readline` does so at U+2028 and U+2029, Python's `str.splitlines` at U+0085 as well. Nothing is left then that a reader could take
/// for the end of a line, because JSON has CR and LF only as white space (RFC 8259, section 2).
pub(super) fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.push_str(&text[copied..at]);
                at += 1;
                copied = at;
            }
            b'"' => at = end_of_string(text, at + 1, &mut copied, &mut out),
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns the place after the string whose first character is at `at`.
fn end_of_string(text: &str, mut at: usize, copied: &mut usize, out: &mut String) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let escape = match byte {
            b'"' => return at + 1,
            b'\\' => {
                at += 2;
                continue;
            }
            0xc2 if bytes.get(at + 1) == Some(&0x85) => "\\u0085",
            0xe2 if bytes.get(at + 1..at + 3) == Some(&[0x80, 0xa8]) => "\\u2028",
            0xe2 if bytes.get(at + 1..at + 3) == Some(&[0x80, 0xa9]) => "\\u2029",
            _ => {
                at += 1;
                continue;
            }
        };
        out.push_str(&text[*copied..at]);
        out.push_str(escape);
        at += if byte == 0xc2 { 2 } else { 3 };
        *copied = at;
    }
    at
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
