//! A step: what an event led to, as the kernel says it and as the journal has it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    digest::digest,
    fault::Fault,
    journal::{Artifact, Chain, Event, Line, without_prompt},
    json::json,
};

/// What the host must do next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// What to do: `ask_model`, `execute`, `ask_approval`, `ask_input`, `delegate`, `cancel` or `finish`.
    pub kind: String,
    /// Its key. No other action of the run has the same.
    pub key: String,
    /// The whole action as JSON text.
    pub json: String,
}

/// What the kernel answers to an event.
pub(super) enum Answered {
    /// The event led to a step.
    Step(Step),
    /// The step needs the artifacts with these digests first.
    Need(Vec<String>),
}

/// What an event led to.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) number: u64,
    /// The state after it, as JSON text.
    pub(super) state: String,
    pub(super) digest: String,
    pub(super) wake_at: Option<u64>,
    pub(super) actions: Vec<Action>,
    pub(super) records: Vec<Box<RawValue>>,
}

/// The `state` line of a step: its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub(super) step: u64,
    pub(super) digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wake_at: Option<u64>,
}

/// A step as it is appended.
pub(super) struct Written {
    pub(super) lines: Vec<String>,
    /// What they name, beside what the event's line does.
    pub(super) prompts: Vec<Artifact>,
}

impl Answered {
    /// Read the kernel's answer. Components of others may answer anything.
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
        #[derive(Deserialize)]
        struct Named {
            r#type: String,
            key: String,
        }
        let trap = |message: &str| Fault::Trap { message: format!("invalid step: {message}") };
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
        let action = |action: Box<RawValue>| {
            let named: Named = serde_json::from_str(action.get()).map_err(|_| trap("an action lacks type or key"))?;
            Ok(Action { kind: named.r#type, key: named.key, json: action.get().to_owned() })
        };
        Ok(Answered::Step(Step {
            number,
            digest: digest(state.get().as_bytes()),
            state: state.get().to_owned(),
            wake_at: raw.wake_at,
            actions: raw.actions.into_iter().map(action).collect::<Result<_, Fault>>()?,
            records: raw.records,
        }))
    }
}

impl Step {
    pub(super) fn end(&self) -> End {
        End { step: self.number, digest: self.digest.clone(), wake_at: self.wake_at }
    }

    /// Its lines, after those that a chain has.
    pub(super) fn write(&self, event: &Event, chain: &mut Chain) -> Written {
        let mut lines = vec![Line::Event(&event.line).write(chain)];
        lines.extend(self.records.iter().map(|record| Line::Record(record.get()).write(chain)));
        let mut prompts = Vec::new();
        for action in &self.actions {
            let (line, prompt) = without_prompt(&action.json);
            lines.push(Line::Action(&line).write(chain));
            prompts.extend(prompt);
        }
        lines.push(Line::State(&json(&self.end())).write(chain));
        Written { lines, prompts }
    }
}
