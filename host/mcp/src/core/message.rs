//! Messages of the protocol. The gate parses each message completely before it decides anything, and writes a new one
//! from the parts that pass.
//!
//! <https://www.jsonrpc.org/specification>

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

pub(crate) use seamgate_runner::jsonrpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
};

use super::{compact::compact, names};

/// The members of an envelope. All other members are dropped.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// JSON text without white space between values, and without characters that a reader could mistake for a line end.
pub(crate) type Raw = Box<RawValue>;

/// The id of a request: a string or a number, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

/// A message.
#[derive(Clone, Debug)]
pub enum Message {
    /// A request.
    Request {
        /// The id of the request.
        id: Id,
        /// The method of the request.
        method: String,
        /// The parameters, which are an object.
        params: Option<Raw>,
    },
    /// A notification.
    Notification {
        /// The method of the notification.
        method: String,
        /// The parameters, which are an object.
        params: Option<Raw>,
    },
    /// The answer to a request.
    Answer {
        /// The id of the request. `None` if this answers a line whose id cannot be read.
        id: Option<Id>,
        /// The answer.
        answer: Answer,
    },
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The result, of any type.
    Result(Raw),
    /// The error, which is an object.
    Error(Raw),
}

/// Describes why a line is not a message.
#[derive(Debug)]
pub struct Malformed {
    /// The id for the answer, if the line is a request whose envelope can be read.
    id: Option<Id>,
    /// The error code of the protocol.
    code: i64,
    /// The description.
    pub why: String,
}

impl Malformed {
    /// Returns the error message that answers the line.
    pub fn answer(self) -> Message {
        Message::error(self.id, self.code, &self.why)
    }
}

impl Id {
    /// Creates an id from a number.
    pub(crate) fn number(number: u64) -> Self {
        Id(number.to_string())
    }

    /// Creates an id from a text.
    pub(crate) fn text(text: &str) -> Self {
        Id(json(text))
    }

    /// Reads the JSON text of an id: a string of Unicode, or an integer that every reader represents exactly, up to
    /// 2^53 - 1. A fraction of zero is dropped. Returns `None` for anything else.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.starts_with('"') {
            // Readers disagree about lone surrogates.
            return serde_json::from_str::<String>(text).ok().map(|_| Id(text.to_owned()));
        }
        let digits = text.strip_suffix(".0").unwrap_or(text);
        let number: i64 = digits.parse().ok()?;
        let is_exact = number.unsigned_abs() < 1 << 53 && number.to_string() == digits;
        is_exact.then(|| Id(digits.to_owned()))
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number in an id of the gate. Some servers repeat it as a string, or with a fraction of zero.
    pub(super) fn as_number(&self) -> Option<u64> {
        let digits = self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&self.0);
        digits.parse().ok()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Message {
    /// Parses a line.
    ///
    /// # Errors
    ///
    /// The line is not JSON or not a JSON-RPC 2.0 message; its parameters or its error are not an object; or an object
    /// in it, other than data, has two names that readers could mistake for each other.
    pub fn read(line: &str) -> Result<Self, Malformed> {
        let refused = |code: i64, why: String| Malformed { id: None, code, why };
        let members: Members =
            serde_json::from_str(line).map_err(|error| match line.trim_start().starts_with('[') {
                true => refused(INVALID_REQUEST, "the message is a list: this protocol has no batches".to_owned()),
                false if serde_json::from_str::<IgnoredAny>(line).is_ok() => {
                    refused(INVALID_REQUEST, format!("the line is no message: {error}"))
                }
                false => refused(PARSE_ERROR, format!("the line is no message: {error}")),
            })?;
        Self::of(&members)
    }

    fn of(members: &Members) -> Result<Self, Malformed> {
        let refused = |why: String| Malformed { id: None, code: INVALID_REQUEST, why };
        if let Some((one, other)) = names::alike(members.0.iter().map(|(name, _)| &**name)) {
            return Err(refused(names::wrong(&one, &other)));
        }
        if let Some((name, _)) = members.0.iter().find(|(name, _)| is_misspelt(name)) {
            return Err(refused(format!("the member {name:?} must be written {:?}", names::folded(name))));
        }
        if members.text("jsonrpc").as_deref() != Some("2.0") {
            return Err(refused("the message must have \"jsonrpc\": \"2.0\"".to_owned()));
        }
        let id =
            match members.get("id") {
                Some(id) => Some(Id::read(id.get()).ok_or_else(|| {
                    refused("the id must be a string or a whole number of at most 2^53 - 1".to_owned())
                })?),
                None => None,
            };
        let given = |name: &str| members.get(name).filter(|value| value.get() != "null");
        let method = match given("method") {
            Some(_) => {
                let text = members.text("method");
                Some(text.ok_or_else(|| refused("the method must be a string".to_owned()))?.into_owned())
            }
            None => None,
        };
        // Some servers write `"error": null` beside a result.
        let (params, result, error) = (given("params"), members.get("result"), given("error"));
        let own = id.clone().filter(|_| method.is_some());
        let message = match (method, id, result, error) {
            (Some(method), Some(id), None, None) => Message::Request { id, method, params: params.map(document) },
            (Some(method), None, None, None) => Message::Notification { method, params: params.map(document) },
            (None, Some(id), Some(result), None) => {
                Message::Answer { id: Some(id), answer: Answer::Result(document(result)) }
            }
            (None, Some(id), None, Some(error)) => {
                Message::Answer { id: Some(id), answer: Answer::Error(document(error)) }
            }
            _ => {
                let why = "the message must have a method, or an id with a result or an error";
                return Err(refused(why.to_owned()));
            }
        };
        let of_params = |why: String| match own.is_some() {
            true => Malformed { id: own.clone(), code: INVALID_PARAMS, why: format!("Invalid params: {why}") },
            false => refused(why),
        };
        let (held, name) = match &message {
            Message::Request { params, .. } | Message::Notification { params, .. } => (params.as_ref(), "params"),
            Message::Answer { answer: Answer::Error(error), .. } => (Some(error), "error"),
            Message::Answer { answer: Answer::Result(result), .. } => (Some(result), "result"),
        };
        let Some(held) = held else { return Ok(message) };
        if name != "result" && !held.get().starts_with('{') {
            return Err(of_params(format!("{name:?} must be an object")));
        }
        match names::check(held) {
            Ok(()) => Ok(message),
            Err(why) => Err(of_params(why)),
        }
    }

    /// Creates a request.
    pub(super) fn request(id: Id, method: &str, params: Option<String>) -> Self {
        Message::Request { id, method: method.to_owned(), params: params.map(raw) }
    }

    /// Creates a notification.
    pub(crate) fn notification(method: &str, params: Option<String>) -> Self {
        Message::Notification { method: method.to_owned(), params: params.map(raw) }
    }

    /// Creates the notification that cancels a request.
    pub(crate) fn cancelled(id: &Id, reason: Option<&str>) -> Self {
        let reason = reason.map(|reason| format!(",\"reason\":{}", json(reason))).unwrap_or_default();
        Self::notification("notifications/cancelled", Some(format!("{{\"requestId\":{id}{reason}}}")))
    }

    /// Creates an answer with a result.
    pub(crate) fn result(id: Id, result: Raw) -> Self {
        Message::Answer { id: Some(id), answer: Answer::Result(result) }
    }

    /// Creates an answer with an error of the gate.
    pub(crate) fn error(id: Option<Id>, code: i64, message: &str) -> Self {
        let error = format!("{{\"code\":{code},\"message\":{}}}", json(message));
        Message::Answer { id, answer: Answer::Error(raw(error)) }
    }

    /// Creates an answer with an error that is already an object.
    pub(super) fn failure(id: Id, error: String) -> Self {
        Message::Answer { id: Some(id), answer: Answer::Error(raw(error)) }
    }

    /// Writes the message, with only the members that were parsed.
    pub fn to_line(&self) -> String {
        match self {
            Message::Request { id, method, params } => {
                let (method, params) = (json(method), member_of("params", params.as_deref()));
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}{params}}}")
            }
            Message::Notification { method, params } => {
                let (method, params) = (json(method), member_of("params", params.as_deref()));
                format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}{params}}}")
            }
            Message::Answer { id, answer } => {
                let id = id.as_ref().map_or("null", Id::as_str);
                let (name, document) = match answer {
                    Answer::Result(result) => ("result", result.get()),
                    Answer::Error(error) => ("error", error.get()),
                };
                // A result can be long, so it is copied only once, even if a line end follows.
                let mut line = String::with_capacity(document.len() + id.len() + 64);
                line.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
                line.push_str(id);
                line.push_str(",\"");
                line.push_str(name);
                line.push_str("\":");
                line.push_str(document);
                line.push('}');
                line
            }
        }
    }
}

/// Returns a member's value in the form in which the gate keeps it.
fn document(value: &RawValue) -> Raw {
    match compact(value.get()) {
        // Some values are long, so a value that was parsed is not parsed again.
        Cow::Borrowed(_) => value.to_owned(),
        Cow::Owned(compact) => checked(compact),
    }
}

/// Wraps JSON text that the gate wrote.
pub(crate) fn raw(text: String) -> Raw {
    let text = match compact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(compact) => compact,
    };
    checked(text)
}

/// Parses JSON text. The gate only writes JSON; if it did not, none of the text would be sent.
fn checked(text: String) -> Raw {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns whether a decoder that ignores case would accept a name as a member of the envelope.
fn is_misspelt(name: &str) -> bool {
    !ENVELOPE.contains(&name) && ENVELOPE.contains(&names::folded(name).as_str())
}

/// The members of an object, in their order.
pub(crate) struct Members<'l>(pub(crate) Vec<(Cow<'l, str>, &'l RawValue)>);

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
    /// Returns the members of an object. `None` if the value is not an object.
    pub(crate) fn of(value: &'l str) -> Option<Self> {
        serde_json::from_str(value).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'l RawValue> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// Returns the text of a member that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'l, str>> {
        self.get(name).and_then(|value| serde_json::from_str(value.get()).map(|Name(text)| text).ok())
    }

    /// Returns the object with some members changed or removed.
    pub(crate) fn with(&self, mut change: impl FnMut(&str, &'l RawValue) -> Change) -> String {
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

    /// Returns the object with a member set to this value: in its place if it exists, otherwise at the end.
    pub(crate) fn set(&self, member: &str, value: &str) -> String {
        let mut text = self.with(|name, _| if name == member { Change::To(value.to_owned()) } else { Change::Keep });
        if self.get(member).is_none() {
            text.pop();
            let comma = if self.0.is_empty() { "" } else { "," };
            text.push_str(&format!("{comma}{}:{value}}}", json(member)));
        }
        text
    }

    /// Returns whether two members have the same name, so that readers could disagree about which one applies.
    pub(crate) fn has_doubles(&self) -> bool {
        self.0.iter().enumerate().any(|(place, (name, _))| self.0[..place].iter().any(|(other, _)| other == name))
    }
}

/// A change of a member.
pub(crate) enum Change {
    Keep,
    Drop,
    /// This JSON text.
    To(String),
}

/// Returns a text as JSON.
pub(crate) fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Returns an object with one member changed, if the member exists.
pub(crate) fn with_member(object: &str, member: &str, value: &str) -> String {
    let members = Members::of(object);
    members.map_or_else(
        || object.to_owned(),
        |members| members.with(|name, _| if name == member { Change::To(value.to_owned()) } else { Change::Keep }),
    )
}

/// Writes a member after others, if it has a value.
fn member_of(name: &str, value: Option<&RawValue>) -> String {
    value.map(|value| format!(",\"{name}\":{}", value.get())).unwrap_or_default()
}

/// Creates the result of a tool that succeeded, from a text.
pub(super) fn succeeded(text: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(text))
}

/// Creates the result of a tool that failed, for the model to read.
pub(super) fn failed(message: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", json(message))
}

/// Returns the type of a result, if it has one. Versions without a session have several types: see
/// [`super::round_trips`] and [`super::tasks`].
pub(super) fn result_type(result: &str) -> Option<Cow<'_, str>> {
    // Most results are long, and have no type. A name can be written with escapes.
    if !result.contains("resultType") && !result.contains("\\u") {
        return None;
    }
    Members::of(result)?.text("resultType")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> String {
        match Message::read(line) {
            Ok(Message::Request { id, method, .. }) => format!("request {id} {method}"),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Answer { id, answer }) => {
                let id = id.expect("an id");
                match answer {
                    Answer::Result(result) => format!("result {id} {}", result.get()),
                    Answer::Error(error) => format!("error {id} {}", error.get()),
                }
            }
            Err(Malformed { why, .. }) => format!("wrong: {why}"),
        }
    }

    #[test]
    fn messages_are_told_apart() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "request 1 a"),
            (r#"{"jsonrpc":"2.0","id":"1","method":"a\/b"}"#, r#"request "1" a/b"#),
            (r#"{"jsonrpc":"2.0","id":1.0,"result":{ "x": 1.50 }}"#, r#"result 1 {"x":1.50}"#),
            (r#"{"jsonrpc":"2.0","id":-7,"error":{}}"#, "error -7 {}"),
            (r#"{"jsonrpc":"2.0","method":"n"}"#, "notification n"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null,"error":null}"#, "request 1 a"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#, "result 1 null"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn lines_with_two_readings_are_refused() {
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
            r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#,
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
    fn refusal_answers_under_the_id_if_the_envelope_can_be_read() {
        for (line, answer) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":[]}"#, r#""id":7,"error":{"code":-32602,"#),
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","Method":"b"}"#, r#""id":null,"error":{"code":-32600,"#),
            ("[]", r#""id":null,"error":{"code":-32600,"#),
            ("1", r#""id":null,"error":{"code":-32600,"#),
            ("{", r#""id":null,"error":{"code":-32700,"#),
        ] {
            let told = Message::read(line).expect_err("a refusal").answer().to_line();
            assert!(told.contains(answer), "{line}: {told}");
        }
    }

    #[test]
    fn what_is_written_anew_has_what_was_read_and_no_more() {
        for (line, expected) in [
            (
                r#" {"params": { "a" : 1.50 } , "x": {"method":"b"}, "method":"a\/b" ,"id": "1","jsonrpc":"2.0"} "#,
                r#"{"jsonrpc":"2.0","id":"1","method":"a/b","params":{"a":1.50}}"#,
            ),
            (r#"{"method":"n","params":null,"jsonrpc":"2.0","y":1}"#, r#"{"jsonrpc":"2.0","method":"n"}"#),
            (r#"{"id":1,"note":"n","result":{},"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            (r#"{"id":1,"error":{"code": 1},"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#),
        ] {
            let message = Message::read(line).unwrap_or_else(|wrong| panic!("{line}: {}", wrong.why));
            assert_eq!(message.to_line(), expected);
        }
    }

    #[test]
    fn servers_repeat_ids_in_several_ways() {
        for text in ["12", "\"12\"", "12.0"] {
            assert_eq!(Id::read(text).and_then(|id| id.as_number()), Some(12), "{text}");
        }
        for text in ["-12", "\"a\"", "\"\""] {
            assert_eq!(Id::read(text).and_then(|id| id.as_number()), None, "{text}");
        }
        for text in ["null", "1.5", "1e3", "-0", "01", "9007199254740992", "99999999999999999999", r#""\ud800""#, "{}"]
        {
            assert_eq!(Id::read(text), None, "{text}");
        }
        assert!(Id::read("9007199254740991").is_some() && Id::read("-9007199254740991").is_some());
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
}
