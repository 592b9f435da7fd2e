//! The parts of JSON-RPC 2.0 that every side needs: error codes, and messages of one line.
//!
//! <https://www.jsonrpc.org/specification>

use serde::Deserialize;
use serde_json::value::RawValue;

/// The text is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON text is not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The server failed.
pub const INTERNAL_ERROR: i64 = -32603;

/// An error that answers a request (section 5.1).
#[derive(Debug, Deserialize)]
pub struct RpcError {
    /// The kind of the error.
    pub code: i64,
    /// A description.
    pub message: String,
    /// More about it, whose form depends on the code.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// Returns an error that says no more than a description.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }
}

/// Rewrites a JSON text so that no reader finds a line end in it. A message is a line, and readers differ: Python's text streams and Node's
/// `readline` end a line at a lone CR as well, Node's at U+2028 and U+2029, and `str.splitlines` at U+0085. CR and LF are white space between
/// values, where a space means the same; the others can only stand in strings, where an escape means the same.
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
