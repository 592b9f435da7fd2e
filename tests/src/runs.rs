//! Run tests: a test is a folder with a profile, the events of a run, and their results.
//!
//! `tests/runs/GROUP/NAME/` contains:
//!
//! - `events.ndjson`: the events, one per line.
//! - `profile.json`: the profile. If it is missing, the case uses the group's profile. `patch.json` changes the profile
//!   (RFC 7396).
//! - `must.txt`: a line for each event. In each line, a person states the result of the event, in the words of
//!   [`summary`].
//! - `journal.ndjson` and `state.json`: the expected journal and state, which `cargo xtask bless` writes.
//! - `views.ndjson` (the view of each audience) and `prompt.json` (the last prompt): optional expected results. To have
//!   such a file written, create an empty file with its name.
//!
//! An event without `at` happens one second after the event before. Some words in an event are placeholders for values
//! that only the run knows: `$model` for the key of the last `ask_model`, `$input` for the key of the last `ask_input`,
//! `$digest` for the digest of the last ask, and `$digest:c2` for the digest of the last ask for this call. A line
//! `{"again": 3}` repeats the third event (the first is 1). `{"state": {…}, "event": {…}}` is an event for a state in
//! which these members were changed. `{"$text": "x", "$times": 66000}` is a long text. Lines of blessed files that are
//! longer than 8 KiB are truncated, and end with the digest of the whole line.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate_core::kernel_api::digest;
use serde_json::{Value, json};

use crate::{suite::folders, wire::ID};

/// The time of the first event, if the event has no `at`.
const START: u64 = 1_790_000_000_000;

/// The audiences that may see parts of a run.
pub const AUDIENCES: [&str; 5] = ["model", "ui", "user", "audit", "eval"];

/// One run, read from its folder.
#[derive(Debug, Clone)]
pub struct RunCase {
    /// `GROUP/NAME`.
    pub name: String,
    /// The folder of its files.
    pub folder: PathBuf,
    /// `profile.json`.
    pub profile: String,
    /// The lines of `events.ndjson`.
    pub events: Vec<Value>,
    /// The lines of `must.txt`.
    pub must: Vec<String>,
}

/// An event as it was sent, and its result: a step, or a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// The event, with its placeholders replaced.
    pub event: String,
    /// The state before the event.
    pub state: Option<String>,
    /// A step or a fault, as JSON text.
    pub step: Result<String, String>,
}

/// Returns all cases, sorted by name.
///
/// # Errors
///
/// Returns an error if a file is missing or cannot be read.
pub fn run_cases() -> Result<Vec<RunCase>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs");
    let mut cases = Vec::new();
    for group in folders(&root)? {
        for folder in folders(&group)? {
            let name = folder.strip_prefix(&root)?.to_string_lossy().into_owned();
            cases.push(read(&group, folder, &name).with_context(|| name.clone())?);
        }
    }
    Ok(cases)
}

fn read(group: &Path, folder: PathBuf, name: &str) -> Result<RunCase> {
    let own = |name: &str| fs::read_to_string(folder.join(name)).with_context(|| name.to_owned());
    let lines = |text: String| text.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect();
    let events: Vec<String> = lines(own("events.ndjson")?);
    let event = |(index, line): (usize, &String)| {
        serde_json::from_str(line).with_context(|| format!("events.ndjson, line {}", index + 1))
    };
    let mut profile = own("profile.json").or_else(|_| {
        let shared = group.join("profile.json");
        fs::read_to_string(&shared).with_context(|| shared.display().to_string())
    })?;
    if let Ok(patch) = own("patch.json") {
        let mut whole: Value = serde_json::from_str(&profile).context("profile.json")?;
        merge(&mut whole, serde_json::from_str(&patch).context("patch.json")?);
        profile = whole.to_string();
    }
    Ok(RunCase {
        name: name.to_owned(),
        profile,
        events: events.iter().enumerate().map(event).collect::<Result<_>>()?,
        must: own("must.txt").map(lines).unwrap_or_default(),
        folder,
    })
}

/// Applies a patch (RFC 7396): members of the patch replace those of the document, and null removes a member.
fn merge(whole: &mut Value, patch: Value) {
    match patch {
        Value::Object(patch) => {
            if !whole.is_object() {
                *whole = json!({});
            }
            for (name, value) in patch {
                match (whole.as_object_mut(), value) {
                    (Some(members), Value::Null) => drop(members.remove(&name)),
                    (Some(members), value) => merge(members.entry(name).or_insert(Value::Null), value),
                    (None, _) => {}
                }
            }
        }
        value => *whole = value,
    }
}

/// The values that only a run knows, for the placeholders in its events.
#[derive(Default)]
struct Known {
    at: u64,
    words: BTreeMap<String, String>,
    /// The texts of results, by their digests.
    artifacts: BTreeMap<String, String>,
}

impl Known {
    /// Returns an event with its time, and with its placeholders replaced.
    fn event(&mut self, event: &Value) -> Result<Value> {
        let mut event = self.replaced(event)?;
        let members = event.as_object_mut().context("an event is an object")?;
        let next = if self.at == 0 { START } else { self.at + 1000 };
        let at = members.entry("at").or_insert_with(|| next.into());
        self.at = self.at.max(at.as_u64().unwrap_or_default());
        for name in ["result", "text", "document", "message"] {
            let text = match &event[name] {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            self.artifacts.insert(digest(&text), text);
        }
        Ok(event)
    }

    fn replaced(&self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) if text.starts_with('$') && !text.starts_with("$.") => match self.words.get(text) {
                Some(known) => Value::String(known.clone()),
                None => bail!("{text} stands for nothing yet"),
            },
            Value::Array(items) => items.iter().map(|item| self.replaced(item)).collect::<Result<_>>()?,
            Value::Object(members) if members.contains_key("$times") => {
                let (text, times) = (members["$text"].as_str().unwrap_or_default(), members["$times"].as_u64());
                Value::String(text.repeat(times.unwrap_or_default() as usize))
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| Ok((name.clone(), self.replaced(value)?)));
                Value::Object(members.collect::<Result<_>>()?)
            }
            value => value.clone(),
        })
    }

    fn learn(&mut self, step: &Value) {
        for action in step["actions"].as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let mut learn = |word: String, value: &Value| self.words.insert(word, text(value));
            match action["type"].as_str() {
                Some("ask_model") => drop(learn("$model".to_owned(), &action["key"])),
                Some("ask_input") => drop(learn("$input".to_owned(), &action["key"])),
                Some("ask_approval") => {
                    learn("$digest".to_owned(), &action["ask"]["digest"]);
                    learn(format!("$digest:{}", text(&action["call"])), &action["ask"]["digest"]);
                }
                _ => {}
            }
        }
    }
}

impl Played {
    /// Returns the same step on the wire, with the profile.
    pub fn wire_request(&self, profile: &str) -> String {
        let state = self.state.as_ref().map(|state| format!(",\"state\":{state}")).unwrap_or_default();
        let event = &self.event;
        format!("{{\"id\":{ID},\"op\":\"advance\",\"profile\":{profile}{state},\"event\":{event}}}").replace('\n', " ")
    }
}

impl RunCase {
    /// Sends each event, together with the artifacts that its step requests. `advance` takes a state and an event, and
    /// returns a step or a fault.
    ///
    /// # Errors
    ///
    /// Returns an error if a placeholder of an event has no value, or if a step is not JSON.
    pub fn play(&self, mut advance: impl FnMut(Option<&str>, &str) -> Result<String, String>) -> Result<Vec<Played>> {
        let mut known = Known::default();
        let mut state: Option<String> = None;
        let mut sent: Vec<Value> = Vec::new();
        let mut played = Vec::new();
        for line in &self.events {
            let mut event = match (line["again"].as_u64(), &line["event"]) {
                (Some(line), _) => sent.get(line as usize - 1).context("nothing to send again")?.clone(),
                (None, Value::Null) => known.event(line)?,
                (None, event) => known.event(event)?,
            };
            sent.push(event.clone());
            let mut before = state.clone();
            if let (Some(state), Value::Object(_)) = (&mut before, &line["state"]) {
                let mut whole: Value = serde_json::from_str(state)?;
                merge(&mut whole, line["state"].clone());
                *state = whole.to_string();
            }
            loop {
                let text = event.to_string();
                let step = advance(before.as_deref(), &text);
                played.push(Played { event: text, state: before.clone(), step: step.clone() });
                let Ok(step) = step else { break };
                let whole: Value = serde_json::from_str(&step).context("a step is JSON")?;
                if let Some(need) = whole["need"].as_array() {
                    let digests = need.iter().filter_map(Value::as_str);
                    let found = digests
                        .filter_map(|digest| Some((digest.to_owned(), known.artifacts.get(digest)?.clone().into())));
                    let found: serde_json::Map<String, Value> = found.collect();
                    if found.is_empty() || !event["artifacts"].is_null() {
                        break;
                    }
                    event["artifacts"] = Value::Object(found);
                    continue;
                }
                known.learn(&whole);
                state = Some(member(&step, "state")?);
                break;
            }
        }
        Ok(played)
    }
}

/// Returns the wire request for an audience's view of a line of the journal, with the profile.
pub fn view_request(profile: &str, line: &str, audience: &str) -> String {
    format!("{{\"id\":{ID},\"op\":\"project\",\"profile\":{profile},\"line\":{line},\"audience\":\"{audience}\"}}")
        .replace('\n', " ")
}

/// Returns a member of an object, exactly as it is written.
///
/// # Errors
///
/// Returns an error if the text is not an object with this member.
pub fn member(json: &str, name: &str) -> Result<String> {
    let members: BTreeMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(json)?;
    Ok(members.get(name).with_context(|| format!("no member {name}"))?.get().to_owned())
}

/// Returns a text for a file, with each long line replaced by its beginning and its digest.
pub fn cut(text: &str) -> String {
    let line = |line: &str| match line.len() {
        0..=8192 => format!("{line}\n"),
        bytes => format!("{}… [{bytes} bytes, {}]\n", &line[..line.floor_char_boundary(1024)], digest(line)),
    };
    text.lines().map(line).collect()
}

/// Returns a summary of a step: the decisions, followed by the actions of the host.
pub fn summary(step: &Result<String, String>) -> String {
    let step: Value = match step {
        Ok(step) => serde_json::from_str(step).unwrap_or_default(),
        Err(fault) => {
            let fault: Value = serde_json::from_str(fault).unwrap_or_default();
            return format!("fault:{}", fault["fault"].as_str().unwrap_or("?"));
        }
    };
    if step["need"].is_array() {
        return "need".to_owned();
    }
    let mut words = Vec::new();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for record in step["records"].as_array().into_iter().flatten() {
        words.push(match word(&record["type"]).as_str() {
            "decision" if record["permit"] == "deny" => format!("deny:{}", word(&record["reasons"][0]["code"])),
            "observation" => format!("observe:{}", word(&record["status"])),
            kind @ ("ignored" | "left_out" | "settled" | "stop") => format!("{kind}:{}", word(&record["code"])),
            "output" => format!("output:{}", word(&record["kind"])),
            "cut" => format!("cut:{}", word(&record["from"])),
            "message" if record["document"].is_null() => format!("message:{}", word(&record["permit"])),
            "message" => format!("message:{}:changed", word(&record["permit"])),
            kind @ ("surface" | "context_request" | "joined") => kind.to_owned(),
            _ => continue,
        });
    }
    for action in step["actions"].as_array().into_iter().flatten() {
        words.push(match word(&action["type"]).as_str() {
            "ask_model" => format!("ask_model:{}", word(&action["purpose"])),
            "execute" => format!("execute:{}", word(&action["tool"])),
            "delegate" => format!("delegate:{}", word(&action["agent"])),
            "finish" => format!("finish:{}", word(&action["status"])),
            kind @ ("ask_approval" | "cancel") => format!("{kind}:{}", word(&action["call"])),
            kind => kind.to_owned(),
        });
    }
    if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
}

/// Returns the lines of a run's journal, without their chain. Prompts are represented by their digests.
pub fn journal(played: &[Played]) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for one in played {
        let step = match &one.step {
            Ok(step) => step,
            Err(fault) => {
                lines.push(format!("{{\"fault\":{fault}}}"));
                continue;
            }
        };
        let whole: Value = serde_json::from_str(step)?;
        if whole["need"].is_array() {
            lines.push(step.clone());
            continue;
        }
        lines.push(format!("{{\"event\":{}}}", one.event));
        for (members, kind) in [("records", "record"), ("actions", "action")] {
            let texts: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(&member(step, members)?)?;
            for (index, text) in texts.iter().enumerate() {
                let prompt = &whole[members][index]["prompt"];
                let text = if prompt.is_null() {
                    text.get().to_owned()
                } else {
                    let prompt = member(text.get(), "prompt")?;
                    text.get().replace(&prompt, &format!("\"{}\"", digest(&prompt)))
                };
                lines.push(format!("{{\"{kind}\":{text}}}"));
            }
        }
        let digest = digest(&member(step, "state")?);
        let state = json!({"step": whole["step"], "digest": digest, "wake_at": whole["wake_at"]});
        lines.push(format!("{{\"state\":{state}}}"));
    }
    Ok(lines)
}
