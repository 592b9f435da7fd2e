//! The definitions that a profile pins, and how those that a server lists differ from them.

use std::collections::{BTreeMap, BTreeSet};

use seamgate_text::{tool_name, truncate};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::core::{READ_ARTIFACT, name_of};

/// The longest piece of a definition that a difference shows, in bytes.
const MAX_SHOWN: usize = 300;

/// The definitions that a profile pins.
#[derive(Deserialize)]
pub struct Pins {
    tools: Vec<Pin>,
}

#[derive(Deserialize)]
struct Pin {
    name: String,
    #[serde(default)]
    server: String,
    definition: Option<Value>,
}

impl Pins {
    /// Reads the whole text of a profile.
    pub fn of(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Describes how what a server lists differs from what is pinned, one or more lines for each difference.
    pub fn differences(&self, server: &str, listed: &[Box<RawValue>]) -> Vec<String> {
        let mut lines = Vec::new();
        let listed: BTreeMap<String, Value> = listed
            .iter()
            .filter_map(|tool| Some((name_of(tool.get())?, serde_json::from_str(tool.get()).ok()?)))
            .collect();
        let full = |name: &str| tool_name(server, name);
        let pinned: Vec<&Pin> = self.tools.iter().filter(|tool| tool.server == server).collect();
        for tool in &pinned {
            let own = server.is_empty() && tool.name == READ_ARTIFACT;
            match (listed.get(&tool.name), &tool.definition) {
                (None, _) if own => {}
                (None, _) => lines.push(format!("missing  {}: the server does not list it", full(&tool.name))),
                (Some(_), None) => lines.push(format!("unpinned {}: the lock file lacks it", full(&tool.name))),
                (Some(now), Some(then)) if now == then => {}
                (Some(now), Some(then)) => {
                    lines.push(format!("changed  {}", full(&tool.name)));
                    differences("", then, now, &mut lines);
                }
            }
        }
        for (name, definition) in &listed {
            if !pinned.iter().any(|tool| tool.name == *name) {
                let description = definition["description"].as_str().unwrap_or_default();
                lines.push(format!("new      {}: {}", full(name), truncate(description, MAX_SHOWN)));
            }
        }
        lines
    }
}

/// Describes where two definitions differ, a line each.
fn differences(path: &str, then: &Value, now: &Value, lines: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
            for name in names {
                let path = format!("{path}/{name}");
                match (then.get(name), now.get(name)) {
                    (Some(then), Some(now)) if then == now => {}
                    (Some(then), Some(now)) => differences(&path, then, now, lines),
                    (Some(then), None) => lines.push(format!("         {path}: was {}, and is gone", short(then))),
                    (None, Some(now)) => lines.push(format!("         {path}: new: {}", short(now))),
                    (None, None) => {}
                }
            }
        }
        _ => lines.push(format!("         {path}: was {}\n         {path}: is  {}", short(then), short(now))),
    }
}

fn short(value: &Value) -> String {
    truncate(&value.to_string(), MAX_SHOWN)
}
