//! A step: the result of an event, as the kernel returns it and as the journal stores it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    journal::{Artifact, Chain, EventLine, Line, without_prompt},
    words::{Action, Record},
};
use crate::{digest::digest, json::json, types::fault::Fault};

/// The kernel's answer to an event.
pub(super) enum Answered {
    /// The event led to a step.
    Step(Step),
    /// The step needs the artifacts with these digests first.
    Need(Vec<String>),
}

/// The step that an event led to.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) number: u64,
    /// The state after it, as JSON text.
    pub(super) state: String,
    pub(super) digest: String,
    pub(super) wake_at: Option<u64>,
    /// The actions, each as JSON text.
    pub(super) actions: Vec<String>,
    /// The records, each as JSON text.
    pub(super) records: Vec<String>,
}

/// The content of a step's `state` line, which is its last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) step: u64,
    pub(super) digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wake_at: Option<u64>,
}

/// A step as lines of a journal.
pub(super) struct Written {
    pub(super) lines: Vec<String>,
    /// The artifacts that the lines reference, except those of the event's line.
    pub(super) prompts: Vec<Artifact>,
}

impl Answered {
    /// Reads the kernel's answer. A component that is not built in may return anything.
    pub(super) fn read(answer: &str) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        struct Raw {
            step: Option<u64>,
            state: Option<Box<RawValue>>,
            #[serde(default)]
            records: Vec<Box<RawValue>>,
            #[serde(default)]
            actions: Vec<Box<RawValue>>,
            wake_at: Option<u64>,
            #[serde(default)]
            need: Vec<String>,
        }
        let raw: Raw = serde_json::from_str(answer)
            .map_err(|error| trap(&format!("it is none from column {} on", error.column())))?;
        if !raw.need.is_empty() {
            return Ok(Answered::Need(raw.need));
        }
        let (Some(number), Some(state)) = (raw.step, raw.state) else {
            return Err(trap("it lacks step or state"));
        };
        if answer.contains('\n') {
            return Err(trap("it has a line end"));
        }
        Ok(Answered::Step(Step {
            number,
            digest: digest(state.get().as_bytes()),
            state: state.get().to_owned(),
            wake_at: raw.wake_at,
            actions: texts(raw.actions),
            records: texts(raw.records),
        }))
    }
}

fn trap(message: &str) -> Fault {
    Fault::Trap { message: format!("invalid step: {message}") }
}

fn texts(values: Vec<Box<RawValue>>) -> Vec<String> {
    values.into_iter().map(|value| Box::<str>::from(value).into_string()).collect()
}

/// Reads the actions of a step.
///
/// # Errors
///
/// A component that is not built in returned an action that does not match `schemas/action.schema.json`.
pub(super) fn read_actions(texts: &[String]) -> Result<Vec<Action>, Fault> {
    let read = |text: &String| Action::from_json(text).map_err(|error| trap(&format!("an action: {error}")));
    texts.iter().map(read).collect()
}

/// Reads the records of a step.
///
/// # Errors
///
/// A component that is not built in returned a record that does not match `schemas/record.schema.json`.
pub(super) fn read_records(texts: &[String]) -> Result<Vec<Record>, Fault> {
    let read = |text: &String| Record::from_json(text).map_err(|error| trap(&format!("a record: {error}")));
    texts.iter().map(read).collect()
}

impl Step {
    pub(super) fn end(&self) -> End {
        End { step: self.number, digest: self.digest.clone(), wake_at: self.wake_at }
    }

    /// Writes the lines of the step after those of a chain.
    pub(super) fn write(&self, event: &EventLine, chain: &mut Chain) -> Written {
        let mut lines = vec![Line::Event(&event.line).write(chain)];
        lines.extend(self.records.iter().map(|record| Line::Record(record).write(chain)));
        let mut prompts = Vec::new();
        for action in &self.actions {
            let (line, prompt) = without_prompt(action);
            lines.push(Line::Action(&line).write(chain));
            prompts.extend(prompt);
        }
        lines.push(Line::State(&json(&self.end())).write(chain));
        Written { lines, prompts }
    }
}
