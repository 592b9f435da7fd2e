//! Lines of a server that are not messages. Programs write logs, banners and pretty-printed JSON to their standard
//! output.

use serde::de::IgnoredAny;

use super::message::{Id, Members};

/// A line that is not a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Noise {
    /// The malformed answer to the request with this id.
    Answer(u64),
    /// Something else.
    Other,
}

/// Classifies a line that is not a message. `is_asked` returns whether the server has yet to answer a request with this
/// id.
///
/// A line is a malformed answer only if it identifies itself as a JSON-RPC message and names a request in flight. A log
/// line that quotes a message does not.
pub(super) fn read(line: &str, is_asked: impl Fn(u64) -> bool) -> Noise {
    let line = line.trim_start();
    let id = match Members::of(line) {
        Some(members) if members.get("jsonrpc").is_some() => {
            members.get("id").and_then(|id| Id::read(id.get())).and_then(|id| id.as_number())
        }
        Some(_) => None,
        None if serde_json::from_str::<IgnoredAny>(line).is_ok() => None,
        // The line is truncated, or is not JSON. Text before an inner object belongs to the outer one.
        None => line.strip_prefix('{').and_then(|inner| {
            let own = &inner[..inner.find('{').unwrap_or(inner.len())];
            own.contains("\"jsonrpc\"").then(|| seeming_id(own)).flatten()
        }),
    };
    match id.filter(|id| is_asked(*id)) {
        Some(id) => Noise::Answer(id),
        None => Noise::Other,
    }
}

/// Returns the id that a truncated message seems to have.
fn seeming_id(own: &str) -> Option<u64> {
    let rest = own.split_once("\"id\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    let rest = rest.strip_prefix('"').unwrap_or(rest);
    let end = rest.find(|next: char| !next.is_ascii_digit())?;
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_answer_names_its_request() {
        for line in [
            r#"{"jsonrpc":"2.0","id": 12,"result":{"a"#,
            r#" {"id":12,"jsonrpc":"2.0","result":{"#,
            r#"{"jsonrpc":"2.0","id":"12","result":{"#,
            r#"{"jsonrpc":"2.0","id":12,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":12,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":12,"error":"no"}"#,
        ] {
            assert_eq!(read(line, |id| id == 12), Noise::Answer(12), "{line}");
            assert_eq!(read(line, |_| false), Noise::Other, "{line}");
        }
    }

    #[test]
    fn logs_answer_nothing() {
        for line in [
            "",
            "{",
            "[INFO] id 12",
            r#"{"level":30,"id":12,"msg":"x"}"#,
            r#"{"msg":"got","request":{"jsonrpc":"2.0","id":12,"method":"tools/call"}}"#,
            r#"{"msg":"got {\"jsonrpc\":\"2.0\",\"id\":12}""#,
            r#"{"msg":"got","request":{"jsonrpc":"2.0","id":12"#,
            r#"  "id": 12,"#,
            r#"{'jsonrpc': '2.0', 'id': 12}"#,
            r#"{"jsonrpc":"2.0","id"#,
            r#"{"jsonrpc":"2.0","id":12"#,
            "12",
            "[12]",
        ] {
            assert_eq!(read(line, |_| true), Noise::Other, "{line}");
        }
    }
}
