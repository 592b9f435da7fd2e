//! Messages of the protocol: only the envelope is read, and what is not judged keeps its bytes.
//!
//! <https://www.jsonrpc.org/specification>

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Errors of the protocol.
pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL_ERROR: i64 = -32603;

/// The envelope of a message. A member that comes twice is an error: two readers could take different ones.
#[derive(Deserialize)]
struct Envelope<'l> {
    #[serde(borrow)]
    jsonrpc: Cow<'l, str>,
    #[serde(borrow, default)]
    id: Option<&'l RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    params: Option<&'l RawValue>,
    #[serde(borrow, default)]
    result: Option<&'l RawValue>,
    #[serde(borrow, default)]
    error: Option<&'l RawValue>,
}

/// A message. Ids are JSON text, as they are written.
pub(super) enum Message<'l> {
    Request { id: &'l str, method: Cow<'l, str>, params: Option<&'l RawValue> },
    Notification { method: Cow<'l, str>, params: Option<&'l RawValue> },
    Answer { id: &'l str, answer: Answer<'l> },
}

/// What answers a request.
#[derive(Clone, Copy)]
pub(super) enum Answer<'l> {
    Result(&'l RawValue),
    Error(&'l RawValue),
}

impl<'l> Message<'l> {
    /// Read a line. An error says what is wrong with it.
    pub(super) fn read(line: &'l str) -> Result<Self, String> {
        let envelope: Envelope =
            serde_json::from_str(line).map_err(|error| match line.trim_start().starts_with('[') {
                true => "the message is a list: this protocol has no batches".to_owned(),
                false => format!("the line is no message: {error}"),
            })?;
        let Envelope { jsonrpc, id, method, params, result, error } = envelope;
        if jsonrpc != "2.0" {
            return Err("the message must have \"jsonrpc\": \"2.0\"".to_owned());
        }
        let id = id.map(RawValue::get);
        if id.is_some_and(|id| !id.starts_with(['"', '-']) && !id.starts_with(|first: char| first.is_ascii_digit())) {
            return Err("the id must be a string or a number".to_owned());
        }
        match (method, id, result, error) {
            (Some(method), Some(id), None, None) => Ok(Message::Request { id, method, params }),
            (Some(method), None, None, None) => Ok(Message::Notification { method, params }),
            (None, Some(id), Some(result), None) => Ok(Message::Answer { id, answer: Answer::Result(result) }),
            (None, Some(id), None, Some(error)) => Ok(Message::Answer { id, answer: Answer::Error(error) }),
            _ => Err("the message must have a method, or an id with a result or an error".to_owned()),
        }
    }
}

/// The members of an object, in their order.
pub(super) struct Members<'l>(pub(super) Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[derive(Deserialize)]
struct Name<'l>(#[serde(borrow)] Cow<'l, str>);

impl<'l> Members<'l> {
    /// The members of an object. None where the value is none.
    pub(super) fn of(value: &'l str) -> Option<Self> {
        serde_json::from_str(value).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'l RawValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// The text of a member that is a string.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'l, str>> {
        self.get(name).and_then(|value| serde_json::from_str(value.get()).map(|Name(text)| text).ok())
    }

    /// The object in which members have other values, or are left out.
    pub(super) fn with(&self, mut change: impl FnMut(&str, &'l RawValue) -> Change) -> String {
        let mut out = String::from("{");
        for (name, value) in &self.0 {
            let value = match change(name, value) {
                Change::Keep => value.get().to_owned(),
                Change::Drop => continue,
                Change::To(value) => value,
            };
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&json(name));
            out.push(':');
            out.push_str(&value);
        }
        out.push('}');
        out
    }

    /// The object in which a member has this value: in its place, else at the end.
    pub(super) fn set(&self, member: &str, value: &str) -> String {
        let mut text = self.with(|name, _| if name == member { Change::To(value.to_owned()) } else { Change::Keep });
        if self.get(member).is_none() {
            text.pop();
            let comma = if self.0.is_empty() { "" } else { "," };
            text.push_str(&format!("{comma}{}:{value}}}", json(member)));
        }
        text
    }

    /// Whether two members have the same name: two readers could take different ones.
    pub(super) fn has_doubles(&self) -> bool {
        self.0.iter().enumerate().any(|(place, (name, _))| self.0[..place].iter().any(|(other, _)| other == name))
    }
}

/// What becomes of a member.
pub(super) enum Change {
    Keep,
    Drop,
    /// This JSON text.
    To(String),
}

/// A text as JSON.
pub(super) fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A message in which one member has another value.
pub(super) fn with_member(message: &str, member: &str, value: &str) -> String {
    let members = Members::of(message);
    members.map_or_else(
        || message.to_owned(),
        |members| members.with(|name, _| if name == member { Change::To(value.to_owned()) } else { Change::Keep }),
    )
}

/// A request of our own.
pub(super) fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let (method, params) = (json(method), params.map(|params| format!(",\"params\":{params}")).unwrap_or_default());
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}{params}}}")
}

/// An answer with a result.
pub(super) fn result(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// An answer with an error.
pub(super) fn error(id: &str, code: i64, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}", json(message))
}

/// A result of a tool: a text.
pub(super) fn succeeded(text: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(text))
}

/// A result of a tool that failed, for the model to read.
pub(super) fn failed(message: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", json(message))
}

/// The type of a result, if it says one. Versions without a session have several: see [`super::legs`] and [`super::tasks`].
pub(super) fn result_type(result: &str) -> Option<Cow<'_, str>> {
    // Most results are long, and say none. A name can be written with escapes.
    if !result.contains("resultType") && !result.contains("\\u") {
        return None;
    }
    Members::of(result)?.text("resultType")
}

/// The id that a line seems to have which is no message: the server may have broken the answer to that request.
pub(super) fn seeming_id(line: &str) -> Option<&str> {
    let rest = line.split_once("\"id\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.strip_prefix('"') {
        Some(text) => text.find('"')? + 2,
        None => rest.find(|next: char| !next.is_ascii_digit() && next != '-')?,
    };
    rest.get(..end).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let kind = |line: &str| match Message::read(line) {
            Ok(Message::Request { id, method, .. }) => format!("request {id} {method}"),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Answer { id, answer: Answer::Result(result) }) => format!("result {id} {}", result.get()),
            Ok(Message::Answer { id, answer: Answer::Error(error) }) => format!("error {id} {}", error.get()),
            Err(message) => format!("wrong: {message}"),
        };
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "request 1 a"),
            (r#"{"jsonrpc":"2.0","id":"1","method":"a\/b"}"#, r#"request "1" a/b"#),
            (r#"{"jsonrpc":"2.0","id":1.0,"result":{ "x": 1.50 }}"#, r#"result 1.0 { "x": 1.50 }"#),
            (r#"{"jsonrpc":"2.0","id":-7,"error":{}}"#, "error -7 {}"),
            (r#"{"jsonrpc":"2.0","method":"n"}"#, "notification n"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
        for line in [
            "",
            "hello",
            "1",
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#,
            r#"{"id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        ] {
            assert!(kind(line).starts_with("wrong"), "{line}: {}", kind(line));
        }
    }

    #[test]
    fn members_keep_their_bytes() {
        let text = r#"{ "b" : 1.50e3, "\u0061":{"x": [ ]},"name":"t" }"#;
        let members = Members::of(text).expect("an object");
        assert_eq!(members.get("a").map(RawValue::get), Some(r#"{"x": [ ]}"#));
        let changed = members.with(|name, _| match name {
            "name" => Change::To("\"u\"".to_owned()),
            "b" => Change::Drop,
            _ => Change::Keep,
        });
        assert_eq!(changed, r#"{"a":{"x": [ ]},"name":"u"}"#);
        assert_eq!(with_member("[]", "a", "1"), "[]");
        assert_eq!(members.set("b", "0"), r#"{"b":0,"a":{"x": [ ]},"name":"t"}"#);
        assert_eq!(members.set("c", "0"), r#"{"b":1.50e3,"a":{"x": [ ]},"name":"t","c":0}"#);
        assert_eq!(Members(Vec::new()).set("c", "0"), r#"{"c":0}"#);
        assert!(!members.has_doubles());
        assert!(Members::of(r#"{"a":1,"\u0061":2}"#).expect("an object").has_doubles());
    }

    #[test]
    fn a_result_says_its_type_however_it_is_written() {
        assert_eq!(result_type(r#"{"content":[]}"#), None);
        assert_eq!(result_type(r#"{"content":[{"resultType":"task"}]}"#), None);
        assert_eq!(result_type(r#"{"content":[],"resultType":"complete"}"#).as_deref(), Some("complete"));
        assert_eq!(result_type(r#"{"\u0072esultType":"input_\u0072equired"}"#).as_deref(), Some("input_required"));
        assert_eq!(result_type(r#"{"resultType":1}"#), None);
    }

    #[test]
    fn a_broken_answer_tells_whose_it_is() {
        assert_eq!(seeming_id(r#"{"jsonrpc":"2.0","id": 12,"result":{"a"#), Some("12"));
        assert_eq!(seeming_id(r#"{"jsonrpc":"2.0","id":"a-1","result":{"#), Some("\"a-1\""));
        for line in ["", "{", r#"{"id"#, r#"{"id":"#, r#"{"id":"x"#, r#"{"id":null}"#, r#"{"id":12"#] {
            assert_eq!(seeming_id(line), None, "{line}");
        }
    }
}
