//! The parts of JSON-RPC 2.0 that both sides need: error codes, and messages on one line.
//!
//! <https://www.jsonrpc.org/specification>

use serde::Deserialize;
use serde_json::value::RawValue;

/// The text is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON text is not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The server failed.
pub const INTERNAL_ERROR: i64 = -32603;

/// An error in response to a request (section 5.1).
#[derive(Debug, Deserialize)]
pub struct RpcError {
    /// The kind of the error.
    pub code: i64,
    /// A description.
    pub message: String,
    /// More details, whose form depends on the code.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// Creates an error that has only a code and a description.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }
}

/// Rewrites JSON text so that no reader finds a line end in it. Each message is one line, and readers differ: Python's
/// text streams and Node's `readline` also end a line at a lone CR, Node's at U+2028 and U+2029, and `str.splitlines`
/// at U+0085. CR and LF occur as white space between values, where a space is equivalent. The others can only occur in
/// strings, where an escape is equivalent.
pub fn one_line(text: String) -> String {
    const ENDS: [char; 5] = ['\r', '\n', '\u{85}', '\u{2028}', '\u{2029}'];
    if !text.contains(ENDS) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for next in text.chars() {
        match next {
            '\r' | '\n' => out.push(' '),
            '\u{85}' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(next))),
            _ => out.push(next),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reader_finds_a_line_end_in_a_line() {
        assert_eq!(
            one_line("{\"a\":\r\n1,\r\"b\":\"\u{2028}\u{85}é\u{2029}\"}".to_owned()),
            r#"{"a":  1, "b":"\u2028\u0085é\u2029"}"#
        );
        assert_eq!(one_line("é\t".to_owned()), "é\t");
    }
}
