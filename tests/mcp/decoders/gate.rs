//! The gate, for one message at a time: the rewritten line, and what was judged.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use seamgate::Party;
use seamgate_kernel::Profile;
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

/// Allows the tool `note`, and no other tool.
const PROFILE: &str = include_str!("note.profile.json");

/// Facts of a run that has just started.
const FACTS: &str = r#"{"run":"run-1","at":1700000000000,"principal":"nobody","nonce":"00112233445566778899aabbccddeeff","surface":["note"]}"#;

/// A profile that decides calls, natively.
pub(crate) struct Gate {
    profile: Profile,
}

/// A message that the gate lets through.
pub(crate) struct Passed {
    pub(crate) line: String,
    /// The message as the gate read it, in the notation of the readers.
    pub(crate) judged: Value,
}

/// The reason why a message does not pass.
pub(crate) enum Refused {
    /// The gate refuses the line.
    Malformed,
    /// The profile denies the call.
    Denied,
}

/// The members of an object, by their names.
type Members<'l> = BTreeMap<String, &'l RawValue>;

#[derive(Deserialize)]
struct Call<'l> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
}

impl Gate {
    pub(crate) fn new() -> Result<Self> {
        let profile = Profile::compile(PROFILE).map_err(|fault| anyhow!("note.profile.json: {}", fault.message))?;
        Ok(Self { profile })
    }

    /// Passes a line on, if it is a message and the profile allows its call.
    pub(crate) fn pass(&self, line: &[u8], from: Party) -> Result<Passed, Refused> {
        let text = std::str::from_utf8(line).map_err(|_| Refused::Malformed)?;
        // The gate's reader of lines strips these.
        let text = text.trim_end_matches(['\r', '\n']);
        let out = seamgate_mcp::core::rewrite(text, from).map_err(|_| Refused::Malformed)?;
        let message: Members = serde_json::from_str(&out).map_err(|_| Refused::Malformed)?;
        let text = |name: &str| message.get(name).map(|value| value.get());
        let method: Option<String> = text("method").and_then(|method| serde_json::from_str(method).ok());
        let kind = match (&method, text("id"), text("error")) {
            (Some(_), Some(_), _) => "request",
            (Some(_), None, _) => "notification",
            (None, _, Some(_)) => "error",
            (None, _, None) => "result",
        };
        let mut judged = Map::new();
        judged.insert("kind".to_owned(), json!(kind));
        for name in ["id", "method", "params", "result", "error"] {
            judged.extend(text(name).map(|value| (name.to_owned(), noted_text(value))));
        }
        if (kind, method.as_deref()) != ("request", Some("tools/call")) {
            return Ok(Passed { line: out, judged: Value::Object(judged) });
        }
        let call = text("params").and_then(|params| serde_json::from_str(params).ok());
        let call: Call = call.ok_or(Refused::Malformed)?;
        let arguments = self.permitted(&call)?;
        judged.insert("name".to_owned(), json!(call.name));
        judged.insert("arguments".to_owned(), noted_text(&arguments));
        // The gate chooses the other members.
        judged.remove("params");
        let line = sent(text("id").unwrap_or_default(), &call.name, &arguments);
        Ok(Passed { line, judged: Value::Object(judged) })
    }

    /// Returns the arguments with which a call may run.
    fn permitted(&self, call: &Call) -> Result<String, Refused> {
        let arguments = call.arguments.map_or("{}", RawValue::get);
        let asked = json!({ "key": "c1", "tool": call.name, "arguments": arguments });
        let decision =
            seamgate_kernel::permit(&self.profile, FACTS, &asked.to_string()).map_err(|_| Refused::Denied)?;
        let decision: Value = serde_json::from_str(&decision).map_err(|_| Refused::Denied)?;
        match (decision["permit"].as_str(), decision["arguments"].as_str()) {
            (Some("allow"), Some(arguments)) => Ok(arguments.to_owned()),
            _ => Err(Refused::Denied),
        }
    }
}

/// Writes the request of a call as the server gets it: the arguments are those that were judged.
fn sent(id: &str, name: &str, arguments: &str) -> String {
    let name = json!(name);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
    )
}

/// Writes a value in the notation of the readers: lists and objects begin with `a` and `o`, numbers with `n` and their digits.
///
/// A [`Value`] would take some objects for numbers. Text that is not valid Unicode, which only opaque data may have, is
/// `?`.
fn noted_text(text: &str) -> Value {
    noted(text).unwrap_or_else(|| json!(["?"]))
}

fn noted(text: &str) -> Option<Value> {
    match text.as_bytes().first()? {
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            std::iter::once(Some(json!("a"))).chain(items.iter().map(|item| noted(item.get()))).collect()
        }
        b'{' => {
            let members: Members = serde_json::from_str(text).ok()?;
            let members = members.iter().flat_map(|(name, value)| [Some(json!(name)), noted(value.get())]);
            std::iter::once(Some(json!("o"))).chain(members).collect()
        }
        b'"' => Some(Value::String(serde_json::from_str(text).ok()?)),
        b'n' => Some(Value::Null),
        b't' | b'f' => Some(json!(text == "true")),
        _ => Some(json!(["n", text])),
    }
}
