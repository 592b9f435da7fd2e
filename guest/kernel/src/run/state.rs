//! The state of a run: the accumulated result of its events, as a document that the host stores.

use std::collections::BTreeMap;

use seamgate_core::{
    Confidence, Fault, FaultCode,
    kernel_api::{Json, quote},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    document::{CAPS, text},
    facts::Kept,
    profile::Profile,
    tool::Effect,
};

/// The version of this format. A state in another version is a fault.
const FORMAT: u32 = 1;

/// The version of the kernel. A state continues only in the version that created it.
const COMPONENT: &str = env!("CARGO_PKG_VERSION");

/// The maximum number in a state, which every JSON parser represents exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// The state of a run. See `schemas/run-state.schema.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    format: u32,
    component: String,
    profile: String,
    /// The number of events that were applied.
    pub(crate) step: u64,
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn: Option<String>,
    pub(crate) facts: Kept,
    /// The number of calls of the model.
    pub(crate) steps: u64,
    /// The number of consecutive outputs without a call, a question or a valid answer.
    pub(crate) strikes: u64,
    /// The number of consecutive failures of the model.
    pub(crate) failures: u64,
    /// The number of calls that were made.
    pub(crate) calls_made: u64,
    /// The free text that the model turns into a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<Question>,
    /// The calls, in the order in which they were requested.
    pub(crate) calls: Vec<CallState>,
    pub(crate) history: Vec<Entry>,
    /// The first calls whose results had a label, by labels, as KEY TOOL.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) origins: BTreeMap<String, Vec<String>>,
    /// The number of entries of the history that were left out.
    pub(crate) left_out: u64,
    /// The number of times that each denial occurred, by a digest of call and reason.
    pub(crate) denials: BTreeMap<String, u64>,
    /// The last call of each digest of equal calls that may need approval, and its outcome.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) ran: BTreeMap<String, Ran>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<String>,
    /// `true` if the model was asked for a final answer without tools.
    pub(crate) is_final_asked: bool,
    /// The reason why the run must end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<Stop>,
    /// The requests of this run for its parent's context, which were denied.
    pub(crate) requests: Vec<ContextRequest>,
    /// Uncertain calls that children left behind.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) uncertain: Vec<Uncertain>,
    /// Digests of the last events. A repeated event changes nothing.
    pub(crate) seen: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Running,
    /// A person must act.
    Waiting,
    Final,
    FinalPartial,
    Failed,
    Cancelled,
}

impl Status {
    pub(crate) fn is_finished(self) -> bool {
        !matches!(self, Status::Running | Status::Waiting)
    }
}

/// The purpose of a request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// Turn free text into a task.
    Frame,
    Step,
    /// The final answer, without tools.
    Final,
}

/// A request to the model that it has not answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelCall {
    pub(crate) key: String,
    pub(crate) purpose: Purpose,
    /// The size of the prompt, from which tokens are estimated.
    pub(crate) bytes: u64,
    pub(crate) expires: u64,
}

/// A question to a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) expires: u64,
}

/// The phase in the life of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// A person must approve it. Or a person has approved it, and it waits for its turn.
    Asked,
    /// It may run, and waits for its turn, because the model requested another effect before it.
    Held,
    /// The host was told to send it.
    Dispatched,
    /// The host is sending it, or has sent it.
    Started,
    /// It may have had its effect. A person must state whether it did.
    Uncertain,
    Done,
    Denied,
    /// It was never sent.
    Cancelled,
}

impl Phase {
    /// Returns whether the call is in flight, so that the host must report on it.
    pub(crate) fn is_under_way(self) -> bool {
        matches!(self, Phase::Dispatched | Phase::Started)
    }

    /// Returns whether a person must decide about it.
    pub(crate) fn is_with_a_person(self) -> bool {
        matches!(self, Phase::Asked | Phase::Uncertain)
    }

    /// Returns whether the host must still report on it, or a person must decide about it.
    pub(crate) fn is_open(self) -> bool {
        self.is_under_way() || self.is_with_a_person() || self == Phase::Held
    }
}

/// A call and its outcome.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallState {
    /// The run's key.
    pub(crate) key: String,
    /// The model's ID, which may repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    /// The arguments as they are sent. Removed from the state when the call is settled.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub(crate) arguments: String,
    pub(crate) effect: Effect,
    pub(crate) phase: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// The principals who may decide about it now.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) by: Vec<String>,
    /// The time at which waiting for it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<u64>,
    /// The budget that was given to a child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) carved: Option<Carved>,
    /// The text that says who changed the arguments, and to what. The model reads it before `told`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edited: Option<String>,
    /// The text for the model, without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) told: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<Seen>,
}

/// The last of several equal calls that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ran {
    /// Its key.
    pub(crate) call: String,
    /// The time at which it ended.
    pub(crate) at: u64,
    pub(crate) outcome: Outcome,
    /// The number of equal calls that ended.
    pub(crate) times: u64,
}

/// The outcome of a call that the host was told to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Result,
    /// The result does not match its schema.
    Invalid,
    Error,
    /// It may have had its effect.
    Uncertain,
    /// A person said that it had its effect.
    Confirmed,
    Cancelled,
}

/// The budget of a child.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Carved {
    /// Its share of the limit of equal calls, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_call: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}

/// The part of an observation that the state keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) kinds: Vec<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) confidence: Confidence,
    pub(crate) complete: bool,
    pub(crate) limitations: Vec<String>,
    pub(crate) artifact: String,
    pub(crate) form: Form,
    /// `true` if the tool reported a failure.
    pub(crate) is_error: bool,
    /// The text that the model reads between the marks. `None` if it was removed from the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

impl CallState {
    /// Returns the reason that the model gave in the arguments, or an empty text.
    pub(crate) fn reason(&self) -> String {
        let arguments = Json::read(&self.arguments, &CAPS).ok();
        arguments.and_then(|arguments| text(&arguments, "reason").map(str::to_owned)).unwrap_or_default()
    }
}

impl Seen {
    /// Returns whether none of it is shown, because it does not match its schema.
    pub(crate) fn is_invalid(&self) -> bool {
        self.limitations.iter().any(|code| code == "invalid")
    }
}

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    Json,
    Text,
    /// A result of the Model Context Protocol.
    Returned,
    /// Its beginning and its end, because the whole was too large.
    Pieces,
    /// A text of the kernel itself, which no artifact contains.
    Told,
}

/// One entry of the history: an output of the model, or a text to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub(crate) text: String,
    /// The provider's message, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Box<RawValue>>,
    /// The keys of its calls.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) calls: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryKind {
    /// A text of a person.
    User,
    /// An output of the model.
    Output,
    /// A remark of the kernel about an output.
    Feedback,
}

/// The reason why a run must end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stop {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// A call that may have had its effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uncertain {
    /// The run of the child, if a child made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    pub(crate) call: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) arguments: String,
}

/// A child's request for its parent's context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextRequest {
    pub(crate) reason: String,
    /// The digest of the task that the child received.
    pub(crate) packet: String,
    pub(crate) tools: Vec<String>,
}

impl State {
    pub(crate) fn new(profile: &Profile, facts: Kept) -> Self {
        State {
            format: FORMAT,
            component: COMPONENT.to_owned(),
            profile: profile.digest.clone(),
            step: 0,
            status: Status::Running,
            session: None,
            turn: None,
            facts,
            steps: 0,
            strikes: 0,
            failures: 0,
            calls_made: 0,
            frame: None,
            model: None,
            question: None,
            calls: Vec::new(),
            history: Vec::new(),
            origins: BTreeMap::new(),
            left_out: 0,
            denials: BTreeMap::new(),
            ran: BTreeMap::new(),
            plan: None,
            is_final_asked: false,
            stop: None,
            requests: Vec::new(),
            uncertain: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Reads a state that [`crate::advance`] returned.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the state is invalid, or belongs to another version or another profile.
    pub(crate) fn read(profile: &Profile, text: &str) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        struct Made {
            format: u32,
            component: String,
            profile: String,
        }
        let bad = |message: String| Fault::new(FaultCode::BadRequest, format!("state: {message}"));
        let none = |error: serde_json::Error| {
            let message = quote(&error.to_string(), 256);
            bad(format!("must be a state as a step gave it, unchanged: {message}"))
        };
        let state = match serde_json::from_str::<State>(text) {
            Ok(state) if state.is_of(profile) && state.is_bounded() => return Ok(state),
            Ok(state) if state.is_of(profile) => return Err(bad("it has a number that no run comes to".to_owned())),
            other => other,
        };
        let made: Made = serde_json::from_str(text).map_err(none)?;
        if (made.format, made.component.as_str()) != (FORMAT, COMPONENT) {
            let component = quote(&made.component, 64);
            return Err(bad(format!(
                "seamgate {component} made it, in format {}; this is {COMPONENT}, with format {FORMAT}: finish the run with that version, or replay its journal",
                made.format
            )));
        }
        if made.profile != profile.digest {
            let (other, own) = (quote(&made.profile, 80), &profile.digest);
            return Err(bad(format!("it belongs to the profile {other}; the agent's profile is {own}")));
        }
        state.map_err(none)
    }

    fn is_of(&self, profile: &Profile) -> bool {
        (self.format, self.component.as_str(), &self.profile) == (FORMAT, COMPONENT, &profile.digest)
    }

    /// Returns whether its numbers are within bounds.
    fn is_bounded(&self) -> bool {
        let counts = [self.step, self.steps, self.strikes, self.failures, self.calls_made, self.left_out];
        let bytes = self.model.iter().map(|asked| asked.bytes);
        let ran = self.ran.values().flat_map(|ran| [ran.at, ran.times]);
        counts
            .into_iter()
            .chain(bytes)
            .chain(ran)
            .chain(self.denials.values().copied())
            .all(|number| number <= MAX_NUMBER)
    }

    pub(crate) fn call(&self, key: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.key == key)
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.model.is_some() || self.calls.iter().any(|call| call.phase.is_under_way())
    }

    pub(crate) fn is_with_a_person(&self) -> bool {
        self.question.is_some() || self.calls.iter().any(|call| call.phase.is_with_a_person())
    }

    pub(crate) fn say(&mut self, kind: EntryKind, text: String) {
        self.history.push(Entry { kind, text, message: None, calls: Vec::new() });
    }

    /// Marks the run to end. If it is already marked, the first reason stays.
    pub(crate) fn end(&mut self, code: &str, message: impl Into<String>) {
        self.stop.get_or_insert_with(|| Stop { code: code.to_owned(), message: message.into() });
    }
}
