//! Reads the journal of a run from its files.

use std::{fs, path::Path};

use serde_json::Value;

/// The lines of a journal, in order.
pub(super) struct Lines(pub(super) Vec<Value>);

impl Lines {
    /// Reads complete lines only, because a process may be writing.
    pub(super) fn read(run: &Path) -> Self {
        let text = fs::read_to_string(run.join("journal.ndjson")).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        Lines(whole.map(|line| serde_json::from_str(line).expect("JSON")).collect())
    }

    /// Removes the last step if it is incomplete.
    pub(super) fn whole(mut self) -> Self {
        let steps = self.0.iter().rposition(|line| line.get("state").is_some()).map_or(0, |last| last + 1);
        self.0.truncate(steps);
        self
    }

    /// Returns the lines of one kind (`event`, `record`, `action`) and type, with their numbers.
    pub(super) fn of<'l>(&'l self, kind: &'l str, of_type: &'l str) -> impl Iterator<Item = (usize, &'l Value)> {
        let lines = self.0.iter().enumerate().filter_map(move |(number, line)| Some((number, line.get(kind)?)));
        lines.filter(move |(_, line)| line["type"] == of_type)
    }

    /// Returns the calls that events of a type name.
    pub(super) fn calls<'l>(&'l self, of_type: &'l str) -> impl Iterator<Item = &'l str> {
        self.of("event", of_type).filter_map(|(_, event)| event["call"].as_str())
    }

    /// Returns the decisions about a tool, in order.
    pub(super) fn decisions<'l>(&'l self, tool: &'l str) -> impl Iterator<Item = &'l Value> {
        self.of("record", "decision").map(|(_, decision)| decision).filter(move |decision| decision["tool"] == tool)
    }

    /// Returns the prompts that the model received, in order.
    pub(super) fn prompts(&self, run: &Path) -> Vec<String> {
        self.of("action", "ask_model").map(|(_, action)| artifact(run, &action["prompt"]["artifact"])).collect()
    }
}

/// Returns the text of an artifact, by its digest.
pub(super) fn artifact(run: &Path, digest: &Value) -> String {
    let hex = digest.as_str().and_then(|digest| digest.strip_prefix("sha256:")).expect("a digest");
    fs::read_to_string(run.join("artifacts").join(hex)).expect("an artifact")
}

/// Returns all strings of a JSON text, unescaped.
pub(super) fn unescaped(json: &str) -> String {
    fn texts(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                all.push_str(name);
                texts(value, all);
            }),
            _ => {}
        }
    }
    let mut all = String::new();
    texts(&serde_json::from_str(json).expect("JSON"), &mut all);
    all
}
