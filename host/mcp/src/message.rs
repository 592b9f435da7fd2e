//! Messages of the protocol. A line is read whole before anything is decided, and what is sent on is written anew from what was read. A value
//! that is not judged, and data, keep their bytes.
//!
//! <https://www.jsonrpc.org/specification>

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

pub(super) use seamgate_runner::jsonrpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
};

use super::names;

/// The members of an envelope. Others are dropped.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// A message. Ids are JSON text, as they are written.
pub(super) enum Message<'l> {
    Request { id: &'l str, method: Cow<'l, str>, params: Option<&'l RawValue> },
    Notification { method: Cow<'l, str>, params: Option<&'l RawValue> },
    Answer { id: &'l str, answer: Answer<'l> },
}

/// The answer to a request.
#[derive(Clone, Copy)]
pub(super) enum Answer<'l> {
    Result(&'l RawValue),
    Error(&'l RawValue),
}

/// Says why a line is no message.
pub(super) struct Malformed<'l> {
    /// The id to answer under, where the line is a request whose envelope can be read.
    pub(super) id: Option<&'l str>,
    pub(super) why: String,
}

impl Malformed<'_> {
    /// Writes the error that answers the line.
    pub(super) fn answer(&self, line: &str) -> String {
        match self.id {
            Some(id) => error(id, INVALID_PARAMS, &format!("Invalid params: {}", self.why)),
            None if serde_json::from_str::<IgnoredAny>(line).is_ok() => error("null", INVALID_REQUEST, &self.why),
            None => error("null", PARSE_ERROR, &self.why),
        }
    }
}

impl<'l> Message<'l> {
    /// Reads a line from outside. No object of it but data has two names that a reader could take for one another: see [`names`].
    pub(super) fn read(line: &'l str) -> Result<Self, Malformed<'l>> {
        let message = Self::of_own(line).map_err(|why| Malformed { id: None, why })?;
        let (id, document) = match &message {
            Message::Request { id, params, .. } => (Some(*id), *params),
            Message::Notification { params, .. } => (None, *params),
            Message::Answer { answer: Answer::Result(document) | Answer::Error(document), .. } => {
                (None, Some(*document))
            }
        };
        match document.map_or(Ok(()), names::check) {
            Ok(()) => Ok(message),
            Err(why) => Err(Malformed { id, why }),
        }
    }

    /// Reads a line that the gate wrote itself, of which only the envelope can be wrong. An error says what is.
    pub(super) fn of_own(line: &'l str) -> Result<Self, String> {
        let members: Members =
            serde_json::from_str(line).map_err(|error| match line.trim_start().starts_with('[') {
                true => "the message is a list: this protocol has no batches".to_owned(),
                false => format!("the line is no message: {error}"),
            })?;
        if let Some((one, other)) = names::alike(members.0.iter().map(|(name, _)| &**name)) {
            return Err(names::wrong(&one, &other));
        }
        if let Some((name, _)) = members.0.iter().find(|(name, _)| is_misspelt(name)) {
            return Err(format!("the member {name:?} must be written {:?}", names::folded(name)));
        }
        if members.text("jsonrpc").as_deref() != Some("2.0") {
            return Err("the message must have \"jsonrpc\": \"2.0\"".to_owned());
        }
        let id = members.get("id").map(RawValue::get);
        if id.is_some_and(|id| !id.starts_with(['"', '-']) && !id.starts_with(|first: char| first.is_ascii_digit())) {
            return Err("the id must be a string or a number".to_owned());
        }
        let given = |name: &str| members.get(name).filter(|value| value.get() != "null");
        let method = match given("method") {
            Some(_) => Some(members.text("method").ok_or("the method must be a string")?),
            None => None,
        };
        // Some servers write `"error": null` beside a result.
        let (params, result, error) = (given("params"), members.get("result"), given("error"));
        match (method, id, result, error) {
            (Some(method), Some(id), None, None) => Ok(Message::Request { id, method, params }),
            (Some(method), None, None, None) => Ok(Message::Notification { method, params }),
            (None, Some(id), Some(result), None) => Ok(Message::Answer { id, answer: Answer::Result(result) }),
            (None, Some(id), None, Some(error)) => Ok(Message::Answer { id, answer: Answer::Error(error) }),
            _ => Err("the message must have a method, or an id with a result or an error".to_owned()),
        }
    }

    /// Writes the message anew: the members that were read, and no others.
    pub(super) fn to_line(&self) -> String {
        match self {
            Message::Request { id, method, params } => request(id, method, params.map(RawValue::get)),
            Message::Notification { method, params } => notification(method, params.map(RawValue::get)),
            Message::Answer { id, answer: Answer::Result(result) } => self::result(id, result.get()),
            Message::Answer { id, answer: Answer::Error(error) } => failure(id, error.get()),
        }
    }
}

/// Returns whether a decoder that ignores case takes a name for a member of the envelope.
fn is_misspelt(name: &str) -> bool {
    !ENVELOPE.contains(&name) && ENVELOPE.contains(&names::folded(name).as_str())
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

    /// Returns whether two members have the same name, so that two readers could take different ones.
    pub(super) fn has_doubles(&self) -> bool {
        self.0.iter().enumerate().any(|(place, (name, _))| self.0[..place].iter().any(|(other, _)| other == name))
    }
}

/// A change of a member.
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

/// A request.
pub(super) fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let (method, params) = (json(method), member_of("params", params));
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}{params}}}")
}

/// A notification.
pub(super) fn notification(method: &str, params: Option<&str>) -> String {
    let (method, params) = (json(method), member_of("params", params));
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}{params}}}")
}

/// A notification that nobody waits for the answer to a request any more.
pub(super) fn cancelled(id: &str, reason: Option<&str>) -> String {
    let reason = member_of("reason", reason.map(json).as_deref());
    notification("notifications/cancelled", Some(&format!("{{\"requestId\":{id}{reason}}}")))
}

/// A member that follows others, if it has a value.
fn member_of(name: &str, value: Option<&str>) -> String {
    value.map(|value| format!(",\"{name}\":{value}")).unwrap_or_default()
}

/// An answer with a result.
pub(super) fn result(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// An answer with an error.
pub(super) fn error(id: &str, code: i64, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}", json(message))
}

/// An answer with an error that is an object already.
pub(super) fn failure(id: &str, error: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
}

/// A result of a tool: a text.
pub(super) fn succeeded(text: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(text))
}

/// A result of a tool that failed, for the model to read.
pub(super) fn failed(message: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", json(message))
}

/// The type of a result, if it says one. Versions without a session have several: see [`super::round_trips`] and [`super::tasks`].
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
            Err(Malformed { why, .. }) => format!("wrong: {why}"),
        };
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "request 1 a"),
            (r#"{"jsonrpc":"2.0","id":"1","method":"a\/b"}"#, r#"request "1" a/b"#),
            (r#"{"jsonrpc":"2.0","id":1.0,"result":{ "x": 1.50 }}"#, r#"result 1.0 { "x": 1.50 }"#),
            (r#"{"jsonrpc":"2.0","id":-7,"error":{}}"#, "error -7 {}"),
            (r#"{"jsonrpc":"2.0","method":"n"}"#, "notification n"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null,"error":null}"#, "request 1 a"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#, "result 1 null"),
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
            r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","METHOD":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"Method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","param\u017f":{}}"#,
            r#"{"jsonrpc":"2.0","ID":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"X":2}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"b","Name":"c"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{},"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"Content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"Code":2}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#,
        ] {
            assert!(kind(line).starts_with("wrong"), "{line}: {}", kind(line));
        }
    }

    #[test]
    fn what_is_written_anew_has_what_was_read_and_no_more() {
        for (line, expected) in [
            (
                r#" {"params": { "a" : 1.50 } , "x": {"method":"b"}, "method":"a\/b" ,"id": "1","jsonrpc":"2.0"} "#,
                r#"{"jsonrpc":"2.0","id":"1","method":"a/b","params":{ "a" : 1.50 }}"#,
            ),
            (r#"{"method":"n","params":null,"jsonrpc":"2.0","y":1}"#, r#"{"jsonrpc":"2.0","method":"n"}"#),
            (r#"{"id":1,"note":"n","result":{},"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            (r#"{"id":1,"error":{"code": 1},"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code": 1}}"#),
        ] {
            let message = Message::read(line).unwrap_or_else(|wrong| panic!("{line}: {}", wrong.why));
            assert_eq!(message.to_line(), expected);
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
