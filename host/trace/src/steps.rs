//! Reads a run's folder as typed steps. This needs no profile, because the journal contains everything.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use seamgate::{
    Action, AskModelAction, Event, EventKind, JournalError, JournalLine, JournalReader, Json, Large, LineKind, Record,
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::error::TraceError;

/// The identity of a run, from the first line of its journal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    pub(crate) run: String,
    pub(crate) agent: String,
    pub(crate) profile: String,
    pub(crate) component: String,
}

/// A part of a run, if this version can read it.
pub(crate) type Word<T> = Result<T, Unread>;

/// An event, a record or an action that this version cannot read.
#[derive(Debug)]
pub(crate) struct Unread {
    /// The type of the part.
    pub(crate) word: String,
    /// The time of an event.
    at: u64,
    /// The JSON text of the part.
    pub(crate) json: String,
    /// Describes why the part cannot be read.
    pub(crate) error: String,
}

/// The components between which a run changed, by their digests.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ComponentChange {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// An event and its results.
#[derive(Debug)]
pub(crate) struct Step {
    /// The number of the step, from 1.
    pub(crate) number: u64,
    /// The run's time, in milliseconds since 1970, which is the latest one so far.
    pub(crate) at: u64,
    pub(crate) event: Word<Event>,
    pub(crate) records: Vec<Word<Record>>,
    pub(crate) actions: Vec<Word<Action>>,
    /// The change of the component before the step, if there was one.
    pub(crate) change: Option<ComponentChange>,
    /// The lines of the step as they are in the journal, for projections.
    pub(crate) lines: Vec<JournalLine>,
}

impl Step {
    /// Returns the event, if this version can read it.
    pub(crate) fn event(&self) -> Option<&EventKind> {
        self.event.as_ref().ok().map(|event| &event.kind)
    }

    /// Returns the records that this version can read.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().flatten()
    }

    /// Returns the actions that this version can read.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter().flatten()
    }

    /// Returns a member of the event as it is written in its line, because hosts may write the members of objects in
    /// any order.
    pub(crate) fn member(&self, name: &str) -> Option<Json> {
        let line = self.lines.iter().find(|line| line.kind == LineKind::Event)?;
        serde_json::from_str::<BTreeMap<String, Json>>(&line.json).ok()?.remove(name)
    }
}

/// Returns the key of the call that an event belongs to.
pub(crate) fn call_of(event: &EventKind) -> Option<&str> {
    match event {
        EventKind::ToolStarted(event) => Some(&event.call),
        EventKind::ToolResult(event) => Some(&event.call),
        EventKind::ToolFailed(event) => Some(&event.call),
        EventKind::Job(event) => Some(&event.call),
        EventKind::Resolution(event) => Some(&event.call),
        EventKind::ChildResult(event) => Some(&event.call),
        EventKind::CallCancelled(event) => Some(&event.call),
        _ => None,
    }
}

/// Returns the key of the `ask_model` that an event answers.
pub(crate) fn asked_of(event: &EventKind) -> Option<&str> {
    match event {
        EventKind::ModelOutput(event) => Some(&event.key),
        EventKind::ModelFailed(event) => Some(&event.key),
        _ => None,
    }
}

/// Returns the digest of a prompt. `None` if the line contains the prompt itself, which does not occur in journals.
pub(crate) fn prompt_of(action: &AskModelAction) -> Option<&str> {
    match &action.prompt {
        Large::Artifact(digest) => Some(digest),
        Large::Whole(_) => None,
    }
}

/// Iterates over the steps of a run. Damage ends the iteration, and [`fault`](Steps::fault) then describes it.
pub(crate) struct Steps {
    pub(crate) folder: PathBuf,
    pub(crate) about: About,
    reader: JournalReader,
    number: u64,
    at: u64,
    fault: Option<String>,
}

impl Steps {
    /// Opens the folder of a run. Returns an error if the run has no complete line.
    pub(crate) fn open(folder: &Path) -> Result<Self, TraceError> {
        let mut reader = JournalReader::open(folder)?;
        let folder = folder.to_owned();
        let Some(lines) = reader.next() else {
            return Err(TraceError::NotBegun { folder });
        };
        let Some(first) = lines?.into_iter().next().filter(|line| line.kind == LineKind::Run) else {
            return Err(TraceError::NoRun { folder });
        };
        match read(&first) {
            Ok(about) => Ok(Steps { folder, about, reader, number: 0, at: 0, fault: None }),
            Err(message) => Err(TraceError::FirstLine { folder, message }),
        }
    }

    /// Returns the damage of the journal. Call it after the last step.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Returns whether a crash truncated the next step, and there is no other damage. Call it after the last step.
    pub(crate) fn is_torn(&self) -> bool {
        self.reader.torn().is_some()
    }

    /// Returns an artifact of the folder: a complete result or a prompt.
    pub(crate) fn artifact(&self, digest: &str) -> Result<Option<String>, JournalError> {
        self.reader.artifact(digest)
    }

    /// Returns the text of a member, even if it is an artifact.
    pub(crate) fn text(&self, text: &Large<String>) -> String {
        match text {
            Large::Whole(text) => text.clone(),
            Large::Artifact(digest) => self.kept(digest),
        }
    }

    /// Returns the text of a member that is a string, even if it is an artifact. Returns the JSON of any other value.
    pub(crate) fn value(&self, value: &Json) -> String {
        if let Ok(text) = value.read::<String>() {
            return text;
        }
        match value.read::<Large<Json>>() {
            Ok(Large::Artifact(digest)) => self.kept(&digest),
            _ => value.to_string(),
        }
    }

    /// Returns the text of an artifact, or a message that it is missing.
    fn kept(&self, digest: &str) -> String {
        match self.artifact(digest) {
            Ok(Some(text)) => text,
            Ok(None) => format!("(the artifact {digest} is missing)"),
            Err(error) => format!("({error})"),
        }
    }

    /// Returns the text of a step's event as it was sent, with its artifacts restored.
    ///
    /// # Errors
    ///
    /// An artifact is missing or changed, or cannot be read.
    pub(crate) fn event(&self, step: &Step) -> Result<String, JournalError> {
        let line = step.lines.iter().find(|line| line.kind == LineKind::Event);
        line.map_or_else(|| Ok(String::new()), |line| self.reader.whole(&line.json))
    }

    /// Returns a line with its event as it was sent, which is the form that projections read.
    pub(crate) fn whole(&self, line: &JournalLine) -> Result<String, JournalError> {
        let kind = match line.kind {
            LineKind::Event => return Ok(format!("{{\"event\":{}}}", self.reader.whole(&line.json)?)),
            LineKind::Record => "record",
            LineKind::Action => "action",
            _ => "state",
        };
        Ok(format!("{{\"{kind}\":{}}}", line.json))
    }

    fn typed(&mut self, lines: Vec<JournalLine>) -> Result<Step, String> {
        let (mut event, mut change) = (None, None);
        let (mut records, mut actions) = (Vec::new(), Vec::new());
        for line in &lines {
            match line.kind {
                LineKind::Event => event = Some(word(line)?),
                LineKind::Record => records.push(word(line)?),
                LineKind::Action => actions.push(word(line)?),
                LineKind::Component => change = Some(read(line)?),
                _ => {}
            }
        }
        let event: Word<Event> = event.ok_or("a step has no event")?;
        self.number += 1;
        self.at = self.at.max(event.as_ref().map_or_else(|unread| unread.at, |event| event.at));
        Ok(Step { number: self.number, at: self.at, event, records, actions, change, lines })
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.fault.is_some() {
            return None;
        }
        let Some(lines) = self.reader.next() else {
            self.fault = self.reader.torn().map(|torn| {
                format!(
                    "the last step is torn, and no part of the run: {} bytes, lines {} to {} (\"n\")",
                    torn.bytes,
                    torn.lines.start,
                    torn.lines.end.max(torn.lines.start + 1) - 1
                )
            });
            return None;
        };
        match lines.map_err(|error| error.to_string()).and_then(|lines| self.typed(lines)) {
            Ok(step) => Some(step),
            Err(message) => {
                self.fault = Some(message);
                None
            }
        }
    }
}

/// Reads a line with an event, a record or an action. Returns an error if the line does not even have a type.
fn word<T: DeserializeOwned>(line: &JournalLine) -> Result<Word<T>, String> {
    #[derive(Deserialize)]
    struct Tag {
        r#type: String,
        #[serde(default)]
        at: u64,
    }
    let error = match serde_json::from_str(&line.json) {
        Ok(word) => return Ok(Ok(word)),
        Err(error) => error.to_string(),
    };
    let Tag { r#type, at } = read(line)?;
    Ok(Err(Unread { word: r#type, at, json: line.json.clone(), error }))
}

/// Deserializes a line as a type.
fn read<T: DeserializeOwned>(line: &JournalLine) -> Result<T, String> {
    serde_json::from_str(&line.json)
        .map_err(|error| format!("line {} (\"n\":{}): this version cannot read it: {error}", line.n + 1, line.n))
}

/// Returns the folder of a child in its parent's, given the call that started it. `None` if the call's key is invalid.
pub(crate) fn child_folder(parent: &Path, call: &str) -> Option<PathBuf> {
    let number = call.strip_prefix('c')?;
    let is_number = !number.is_empty() && number.len() <= 20 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| parent.join("children").join(call))
}
