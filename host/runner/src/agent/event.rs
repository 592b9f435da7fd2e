//! The parts of events that a host creates: the time, answers of models, and the ends of results that are too large to
//! pass on.

use std::time::{SystemTime, UNIX_EPOCH};

use seamgate::{Finish, Json, ModelCall, ModelOutputEvent, TokenUsage, ToolResultEvent};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

/// The most bytes at each end of a result that is too large to pass on as a whole.
pub const MAX_END: usize = 64 * 1024;

/// Creates a result event with only the beginning and the end of a text, which do not overlap. `digest` is that of the
/// whole text, which the journal keeps.
pub fn result_ends(call: &str, text: &str, digest: String) -> ToolResultEvent {
    let end = MAX_END.min(text.len() / 2);
    let mut event = ToolResultEvent::new(call);
    event.head = Some(text[..text.floor_char_boundary(end)].to_owned());
    event.tail = Some(text[text.ceil_char_boundary(text.len() - end)..].to_owned());
    event.length = Some(text.len() as u64);
    event.digest = Some(digest);
    event
}

/// An answer of a model, as a program writes it: the members of the event `model_output`, except those that the host
/// adds. Unknown members are ignored, as they are in answers of a model server.
#[derive(Debug, Default, Deserialize)]
pub struct Answer {
    /// The text of the answer.
    #[serde(default)]
    pub text: Option<String>,
    /// The calls that the model makes.
    #[serde(default, deserialize_with = "calls")]
    pub calls: Option<Vec<ModelCall>>,
    /// The message as the model's server wrote it.
    #[serde(default)]
    pub message: Option<Json>,
    /// The reason why the answer ended.
    #[serde(default)]
    pub finish: Option<Finish>,
    /// The tokens that were used.
    #[serde(default)]
    pub usage: Option<TokenUsage>,
}

/// Returns the arguments of a call. An object and a string with its JSON text are equivalent, and a call without
/// arguments gets an empty object.
///
/// # Errors
///
/// A value cannot be written as JSON.
pub(super) fn arguments(given: Option<&Value>) -> Result<Json, serde_json::Error> {
    let none = || Json::of(&Value::Object(serde_json::Map::new()));
    match given {
        None | Some(Value::Null) => none(),
        Some(Value::String(text)) if text.trim().is_empty() => none(),
        Some(value @ (Value::String(_) | Value::Object(_))) => Json::of(value),
        // The kernel reports what is wrong with them.
        Some(other) => Json::of(&other.to_string()),
    }
}

/// Reads calls. Their arguments may have any form that model servers use.
fn calls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<ModelCall>>, D::Error> {
    #[derive(Deserialize)]
    struct Call {
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        server: Option<String>,
        tool: String,
        #[serde(default)]
        arguments: Option<Value>,
    }
    let call = |Call { id, server, tool, arguments }| {
        let arguments = self::arguments(arguments.as_ref()).map_err(D::Error::custom)?;
        Ok(ModelCall { id, server, tool, arguments })
    };
    let calls: Option<Vec<Call>> = Deserialize::deserialize(deserializer)?;
    calls.map(|calls| calls.into_iter().map(call).collect()).transpose()
}

impl Answer {
    /// Reads the answer of a program.
    ///
    /// # Errors
    ///
    /// The text is not a JSON object, or a member has another type.
    pub(super) fn read(json: &[u8]) -> serde_json::Result<Self> {
        // serde also accepts a list in place of an object.
        match json.trim_ascii_start().first() {
            Some(b'[') => Err(serde_json::Error::custom("must be an object")),
            _ => serde_json::from_slice(json),
        }
    }

    /// Returns the event for the answer to the action with this key.
    pub(super) fn into_event(self, key: &str) -> ModelOutputEvent {
        let Answer { text, calls, message, finish, usage } = self;
        let mut event = ModelOutputEvent::new(key);
        event.text = text.map(Into::into);
        event.calls = calls;
        event.message = message;
        event.finish = finish;
        event.usage = usage;
        event
    }
}

/// Returns the milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_may_say_more_and_give_no_arguments() {
        let answer = r#"{"text":null,"model":"m","calls":[{"tool":"a"},{"tool":"b","arguments":null,"x":1},
            {"id":"7","tool":"c","server":"s","arguments":""},{"tool":"d","arguments":{"n":1.50}},{"tool":"e","arguments":"{"}],
            "usage":{"input":1,"output":2,"cached":3}}"#;
        let calls = Answer::read(answer.as_bytes()).expect("an answer").calls.expect("calls");
        let arguments: Vec<&str> = calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, ["{}", "{}", "{}", r#"{"n":1.50}"#, r#""{""#]);
        for wrong in [r#"{"calls":[{"arguments":{}}]}"#, r#"{"calls":{}}"#, "[]", "3"] {
            assert!(Answer::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
