//! Invariants of every step, for any state and event.

use std::collections::BTreeMap;

use seamgate_core::FaultCode;
use seamgate_kernel::{Profile, advance, project};
use serde_json::{Value, value::RawValue};

const AUDIENCES: [&str; 5] = ["model", "ui", "user", "audit", "eval"];

/// The state of a run, and the values that its events may refer to.
#[derive(Clone, Default)]
pub struct State {
    /// A state from a step, or any text.
    pub text: Option<String>,
    is_hostile: bool,
    at: u64,
}

impl State {
    /// Creates a state that comes from no step.
    pub fn hostile(text: String) -> Self {
        State { text: Some(text), is_hostile: true, at: 1 }
    }

    /// Returns an event with its time, and with its placeholders replaced. Only the run knows the values of `$model`,
    /// `$input` and `$digest`.
    fn event(&self, line: &str) -> String {
        let known: Value = self.text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let words = [
            ("$model", &known["model"]["key"]),
            ("$input", &known["question"]["key"]),
            ("$digest", &known["facts"]["asks"][0]["digest"]),
        ];
        let mut event = line.to_owned();
        for (word, known) in words {
            event = event.replace(word, known.as_str().unwrap_or("none"));
        }
        match event.strip_prefix('{') {
            Some(members) if !event.contains("\"at\"") => format!("{{\"at\":{},{members}", self.at + 1000),
            _ => event,
        }
    }
}

/// Applies an event. Returns whether there was a step.
///
/// # Panics
///
/// Panics on a fault other than `bad_request`, or if the step is not sound.
pub fn apply(profile: &Profile, state: &mut State, line: &str) -> bool {
    let event = state.event(line);
    let step = match advance(profile, state.text.as_deref(), &event) {
        Ok(step) => step,
        Err(fault) => {
            assert_eq!(fault.code, FaultCode::BadRequest, "{}", fault.to_json());
            assert!(!fault.message.is_empty());
            return false;
        }
    };
    let members: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(&step).unwrap_or_else(|error| panic!("{error}"));
    if members.contains_key("need") {
        assert_eq!(members.len(), 1, "{step}");
        return true;
    }
    let text = members["state"].get();
    let whole: Value = serde_json::from_str(&step).unwrap_or_else(|error| panic!("{error}"));
    let again = advance(profile, state.text.as_deref(), &event).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    assert_eq!(again, step, "the same state and event give two steps");
    assert_sound(profile, &whole, &event, state.is_hostile);
    // The state in a step is valid, whatever the step was made from.
    let tick = format!("{{\"type\":\"tick\",\"at\":{}}}", whole["state"]["facts"]["at"]);
    advance(profile, Some(text), &tick).unwrap_or_else(|fault| panic!("{}: {text}", fault.to_json()));
    state.at = whole["state"]["facts"]["at"].as_u64().unwrap_or_default();
    state.text = Some(text.to_owned());
    true
}

fn assert_sound(profile: &Profile, step: &Value, event: &str, is_hostile: bool) {
    let items = |name: &str| step[name].as_array().unwrap_or_else(|| panic!("no {name}")).iter();
    let project = |line: &str| {
        for audience in AUDIENCES {
            let view = project(profile, line, audience).unwrap_or_else(|fault| panic!("{}: {line}", fault.to_json()));
            serde_json::from_str::<Value>(&view).unwrap_or_else(|error| panic!("{error}"));
        }
    };
    project(&format!("{{\"event\":{event}}}"));
    let run = step["state"]["facts"]["run"].as_str().unwrap_or_default();
    for record in items("records") {
        assert!(record["type"].is_string(), "{record}");
        project(&format!("{{\"record\":{record}}}"));
    }
    for (place, action) in items("actions").enumerate() {
        assert_eq!(action["key"], format!("{run}/{}/{place}", step["step"]), "{action}");
        project(&format!("{{\"action\":{action}}}"));
        if action["type"] == "execute" {
            let allows = |record: &Value| record["permit"] == "allow" && record["call"] == action["call"];
            let is_read = action["effect"] != "effectful";
            assert!(is_read || items("records").any(allows), "nothing allows {action}");
        }
    }
    if is_hostile {
        return;
    }
    let state = &step["state"];
    let waits = |call: &Value| ["asked", "dispatched", "started"].iter().any(|phase| call["phase"] == *phase);
    let waits = state["model"].is_object()
        || state["question"].is_object()
        || state["calls"].as_array().is_some_and(|calls| calls.iter().any(waits));
    let is_open = state["status"] == "running" || state["status"] == "waiting";
    assert!(!waits || is_open, "{state}");
    assert!(!waits || step["wake_at"].is_u64(), "it waits without an end: {state}");
}
