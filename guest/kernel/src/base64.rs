//! Detects and counts Base64-encoded bytes in JSON.

use seamgate_core::kernel_api::{Document, Kind, NodeId};

/// The minimum length at which a string counts as Base64 by its characters alone. Shorter strings can be words.
const MIN: usize = 1024;

/// Returns whether a text is Base64, judging by its characters. Accepts both alphabets, and `data:` URIs.
pub(crate) fn is_bytes(text: &str) -> bool {
    text.len() >= MIN && is_run(payload(text))
}

/// Returns whether a text contains Base64 anywhere.
pub(crate) fn has_bytes(text: &str) -> bool {
    text.len() >= MIN && text.split(|character| !is_digit(character)).any(|run| run.len() >= MIN && is_run(run))
}

/// Returns the strings below a node that are Base64, in document order.
pub(crate) fn strings(document: &Document, below: NodeId) -> impl Iterator<Item = NodeId> {
    let is_of_bytes = |at: &NodeId| document.kind(*at) == Kind::String && is_bytes(document.string(*at));
    (below..document.next(below)).filter(is_of_bytes)
}

/// Returns the number of bytes that a Base64 text encodes.
pub(crate) fn decoded(text: &str) -> usize {
    let digits = payload(text).trim_end_matches('=').len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

/// Returns the digits of a `data:` URI in Base64, or the whole text.
fn payload(text: &str) -> &str {
    match text.strip_prefix("data:").and_then(|uri| uri.split_once(";base64,")) {
        Some((kind, payload)) if kind.len() <= 256 => payload,
        _ => text,
    }
}

fn is_digit(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '-' | '_' | '=')
}

/// Returns whether a text has digits and letters of both cases. Long words and hexadecimal numbers do not.
fn is_run(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    text.chars().all(is_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_known_by_their_characters() {
        let digits = "aB3+/9Zz".repeat(200);
        assert!(is_bytes(&digits) && is_bytes(&format!("data:image/png;base64,{digits}==")));
        assert!(is_bytes(&digits.replace(['+', '/'], "_")));
        assert!(has_bytes(&format!("{{\"data\": \"{digits}\"}}")) && !is_bytes(&format!("{digits} ")));
        for text in ["x".repeat(4000), "0123456789abcdef".repeat(100), "aB3 ".repeat(400), digits[..1000].to_owned()] {
            assert!(!is_bytes(&text) && !has_bytes(&text), "{text}");
        }
    }

    #[test]
    fn decoded_sizes_are_exact() {
        for (text, bytes) in [("", 0), ("QQ==", 1), ("QUE=", 2), ("QUFB", 3), ("QUFBQQ", 4), ("data:;base64,QUFB", 3)] {
            assert_eq!(decoded(text), bytes, "{text}");
        }
    }
}
