//! Describes how a step of another component differs from the step in a journal.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// The longest name or value in a description, in characters.
const MAX_SHOWN: usize = 80;

/// The members of a step's line that a description needs.
#[derive(Deserialize)]
struct StepLine {
    #[serde(default)]
    event: Option<Box<RawValue>>,
    #[serde(default)]
    record: Option<Box<RawValue>>,
    #[serde(default)]
    action: Option<Box<RawValue>>,
    #[serde(default)]
    state: Option<Box<RawValue>>,
}

/// Describes a step as a person finds it in a trace: its number, the type of its event, and the tool and key of the
/// event.
pub(super) fn step(number: u64, event: &str) -> String {
    let members = members(event);
    let kind = word(&members, "type").unwrap_or_else(|| "unknown event".to_owned());
    let tool = word(&members, "tool");
    let key = word(&members, "call").or_else(|| word(&members, "key"));
    let more: Vec<String> = tool.into_iter().chain(key).collect();
    let more = if more.is_empty() { String::new() } else { format!(" {}", more.join(", ")) };
    format!("step {number} (`{kind}`{more})")
}

/// Returns the index of the first line that differs between two steps. `None` if they are the same.
pub(super) fn first(one: &[String], other: &[String]) -> Option<usize> {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    (same < one.len().max(other.len())).then_some(same)
}

/// Describes how the lines that a component makes for a step differ from those of the run.
pub(super) fn lines(run: &[String], made: &[String]) -> String {
    let place = first(run, made).unwrap_or(run.len());
    let part = |lines: &[String]| lines.get(place).and_then(|line| Part::of(line));
    match (part(run), part(made)) {
        (Some(run), Some(made)) if run.kind == made.kind && run.name == made.name => run.against(&made),
        (Some(run), Some(made)) => format!("the run has {run}, this component makes {made}"),
        _ => "this component makes other lines".to_owned(),
    }
}

/// One record, one action or the state of a step.
struct Part {
    /// `event`, `record`, `action` or `state`.
    kind: &'static str,
    /// The type of the part, and the call or key that it names.
    name: String,
    members: BTreeMap<String, Value>,
}

impl Part {
    fn of(line: &str) -> Option<Self> {
        let StepLine { event, record, action, state } = serde_json::from_str(line).ok()?;
        let kinds = [("event", event), ("record", record), ("action", action), ("state", state)];
        let (kind, value) = kinds.into_iter().find_map(|(kind, value)| Some((kind, value?)))?;
        let members = members(value.get());
        let words = [word(&members, "type"), word(&members, "call").or_else(|| word(&members, "key"))];
        let name = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Some(Part { kind, name, members })
    }

    /// Compares this part with another one of the same kind and name.
    fn against(&self, made: &Part) -> String {
        if self.kind == "state" {
            return "this component comes to another state after it".to_owned();
        }
        let permit = |part: &Part| {
            let permit = word(&part.members, "permit")?;
            let reason = part.members.get("reasons").and_then(|reasons| reasons.get(0));
            let code = reason.and_then(|reason| shown(reason.get("code")?.as_str()?));
            Some(code.map_or_else(|| format!("`{permit}`"), |code| format!("`{permit}` ({code})")))
        };
        if let (Some(run), Some(own)) = (permit(self), permit(made))
            && run != own
        {
            let call: Vec<String> = ["call", "tool"].into_iter().filter_map(|name| word(&self.members, name)).collect();
            return format!("the run has {run} for the call {}, this component decides {own}", call.join(" "));
        }
        let names = self.members.keys().chain(made.members.keys());
        let value = |part: &Part, name: &str| part.members.get(name).map_or_else(|| "nothing".to_owned(), cut);
        match names.into_iter().find(|name| self.members.get(*name) != made.members.get(*name)) {
            Some(name) => {
                let (run, own) = (value(self, name), value(made, name));
                let name = shown(name).unwrap_or_default();
                format!("`{name}` of {self} is {run} in the run, and {own} by this component")
            }
            None => format!("this component writes {self} differently"),
        }
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.kind {
            "state" => formatter.write_str("the end of the step"),
            kind => write!(formatter, "the {kind} `{}`", self.name),
        }
    }
}

fn members(json: &str) -> BTreeMap<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Returns a string member, truncated, if the object has it.
fn word(members: &BTreeMap<String, Value>, name: &str) -> Option<String> {
    members.get(name).and_then(Value::as_str).and_then(shown)
}

/// Returns a name, truncated. `None` if it is empty.
fn shown(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| truncated(text))
}

/// Returns a value as JSON text, truncated.
fn cut(value: &Value) -> String {
    truncated(&value.to_string())
}

fn truncated(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
