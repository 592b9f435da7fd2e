//! Plays a recorded run again under another profile, and compares the decisions about its calls.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

use seamgate::{
    Action, ApprovalAnswer, ApprovalEvent, Ask, AskApprovalAction, Blob, CallCancelledEvent, DecisionRecord, EventKind,
    Gate, Journal, JournalError, Json, Lines, Permit, PossibleEffect, Record, Run, StepError, ToolFailedEvent,
};
use seamgate_text::tool_name;

use crate::{
    error::TraceError,
    format::cut,
    steps::{Step, Steps, asked_of, call_of},
};

/// The longest reason and the longest name of a tool, in bytes.
const MAX_TEXT: usize = 300;
/// The token of approvals in a replay. The host of a run verifies tokens before it sends them, and a replay has nothing
/// to protect.
const TOKEN: &str = "replay";
/// The maximum number of approvals of one call, because each group of approvers may have to approve it.
const MAX_APPROVALS: usize = 64;

/// The decisions about the calls of a run, both as recorded and under another profile.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Replay {
    /// The calls, in their order.
    pub calls: Vec<ReplayedCall>,
    /// Notes on events that the other profile does not accept, one sentence each.
    pub notes: Vec<String>,
    /// The faults of the journal, one sentence each.
    pub faults: Vec<String>,
}

/// One call of a run, with its first decision before and after the change of the profile.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReplayedCall {
    /// The key of the call in the recorded run: c1, c2, ….
    pub key: String,
    /// The tool, with its server.
    pub tool: String,
    /// The recorded decision.
    pub before: Permit,
    /// The decision of the other profile. `None` if the replay did not reach the call.
    pub after: Option<Permit>,
    /// The first reason of the stricter one of two different decisions. It may contain untrusted text.
    pub reason: String,
}

impl ReplayedCall {
    /// Returns whether the profiles decide differently.
    pub fn differs(&self) -> bool {
        self.after.as_ref() != Some(&self.before)
    }
}

/// The reason why a run cannot be replayed under another profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotReplayed {
    /// The run cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Another agent made the run.
    #[error("it is a run of {0:?}")]
    OtherAgent(String),
    /// A parent bounds the run by its own profile.
    #[error("it is the run of a child, whose parent's rules hold, too")]
    Child,
    /// The other profile does not accept the start of the run.
    #[error("the profile does not take its start: {0}")]
    Start(StepError),
}

/// Replays the run in a folder under the profile that `gate` has for `agent`. Nothing is executed, and nothing is
/// written.
///
/// The actions of tools, models and people come from the recording. If the profile requires approval of a call that ran
/// in the recording, the call is approved. A call that did not run then, but would run now, ends without a result.
///
/// # Errors
///
/// The run cannot be read, or the profile does not accept its start.
pub fn replay(folder: &Path, gate: &Gate, agent: &str) -> Result<Replay, NotReplayed> {
    let mut steps = Steps::open(folder)?;
    if steps.about.agent != agent {
        return Err(NotReplayed::OtherAgent(steps.about.agent));
    }
    let recorded: Vec<Step> = steps.by_ref().collect();
    let mut replay = Replay { faults: steps.fault().map(str::to_owned).into_iter().collect(), ..Replay::default() };
    let mut recorded = recorded.into_iter();
    let Some(first) = recorded.next() else { return Ok(replay) };
    if matches!(first.event(), Some(EventKind::Started(started)) if started.parent.is_some()) {
        return Err(NotReplayed::Child);
    }
    let started = steps.event(&first).map_err(|error| NotReplayed::Start(error.into()))?;
    let journal = Scratch { steps: &steps, lines: Vec::new(), blobs: HashMap::new() };
    let (run, actions) = Run::start_json(gate, journal, agent, &started).map_err(NotReplayed::Start)?;
    let recorded: Vec<Step> = recorded.collect();
    let ran = recorded.iter().filter_map(Step::event).filter(|event| has_run(event)).filter_map(call_of);
    let asked = recorded.iter().flat_map(Step::actions).filter_map(|action| match action {
        Action::AskApproval(action) => Some(action.call.clone()),
        _ => None,
    });
    let mut again = Again {
        run,
        ran: ran.map(str::to_owned).collect(),
        asked: asked.collect(),
        asks: HashMap::new(),
        known: HashSet::new(),
        keys: HashMap::new(),
        recorded: Recorded::default(),
        model_key: None,
        at: first.at,
    };
    again.act(actions);
    again.recorded.take(&first);
    for step in &recorded {
        again.at = step.at;
        again.step(&steps, step, &mut replay);
    }
    Ok(replay)
}

/// Returns whether a principal can decide about a request only with a signed token.
fn needs_token(ask: &Ask, principal: &str) -> bool {
    ask.keys.as_ref().is_some_and(|keys| keys.contains_key(principal))
}

/// Returns whether an event reports that a call was sent, or how it ended.
fn has_run(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::ToolStarted(_)
            | EventKind::ToolResult(_)
            | EventKind::ToolFailed(_)
            | EventKind::ChildResult(_)
            | EventKind::CallCancelled(_)
    )
}

/// Returns the first decision about each call that is not yet known.
fn first_decisions<'r>(records: impl Iterator<Item = &'r Record>, known: &HashSet<String>) -> Vec<&'r DecisionRecord> {
    let mut first: Vec<&DecisionRecord> = Vec::new();
    for record in records {
        if let Record::Decision(record) = record
            && !known.contains(&record.call)
            && !first.iter().any(|other| other.call == record.call)
        {
            first.push(record);
        }
    }
    first
}

/// A run that is being replayed.
struct Again<'r> {
    run: Run<'r, Scratch<'r>>,
    /// The recorded keys of the calls that ran.
    ran: HashSet<String>,
    /// The recorded keys of the calls that people were asked about. Their decisions are recorded, too.
    asked: HashSet<String>,
    /// The requests for approval in the replay, by the replay's key of the call.
    asks: HashMap<String, Ask>,
    /// The recorded keys of the calls so far.
    known: HashSet<String>,
    /// The key of each call in the replay, by its recorded key.
    keys: HashMap<String, String>,
    recorded: Recorded,
    /// The key of the replay's request to the model.
    model_key: Option<String>,
    /// The time of the last step, in milliseconds since 1970.
    at: u64,
}

/// The last requests of the recorded run. An event that answers anything else had no effect then, and has none now.
#[derive(Default)]
struct Recorded {
    /// The key of the request to the model.
    model_key: Option<String>,
    /// The digest of each request for approval, by the recorded key of the call.
    asks: HashMap<String, String>,
}

impl Recorded {
    fn take(&mut self, step: &Step) {
        for action in step.actions() {
            match action {
                Action::AskModel(action) => self.model_key = Some(action.key.clone()),
                Action::AskApproval(action) => {
                    self.asks.insert(action.call.clone(), action.ask.digest.clone());
                }
                _ => {}
            }
        }
    }
}

impl Again<'_> {
    /// Replays a recorded step, and compares its first decisions about calls.
    fn step(&mut self, steps: &Steps, step: &Step, replay: &mut Replay) {
        let before: Vec<DecisionRecord> = first_decisions(step.records(), &self.known).into_iter().cloned().collect();
        self.known.extend(before.iter().map(|record| record.call.clone()));
        let note = |why: &str| {
            let word = step.event().map_or("an unknown event", EventKind::word);
            format!("step {}, {word}: {}", step.number, cut(why, MAX_TEXT))
        };
        let sent = match step.event() {
            // This is the profile that is being replaced.
            Some(EventKind::Profile(_)) => return,
            None => Err("this version cannot read it".to_owned()),
            Some(event) => self.event(steps, step, event).and_then(|event| self.send(&event)),
        };
        let actions = sent.unwrap_or_else(|why| {
            replay.notes.push(note(&why));
            Vec::new()
        });
        let records = self.run.records().unwrap_or_default();
        let replayed: HashSet<String> = self.keys.values().cloned().collect();
        let after = first_decisions(records.iter(), &replayed);
        for (number, record) in before.iter().enumerate() {
            let now = after.get(number);
            if let Some(now) = now {
                self.keys.insert(record.call.clone(), now.call.clone());
            }
            replay.calls.push(compared(record, now.copied()));
        }
        self.act(actions);
        self.recorded.take(step);
    }

    /// Returns a recorded event with the replay's keys of calls and of the request to the model.
    fn event(&self, steps: &Steps, step: &Step, event: &EventKind) -> Result<String, String> {
        let text = steps.event(step).map_err(|error| error.to_string())?;
        let mut ask = None;
        let (name, key) = match event {
            EventKind::Approval(event) => {
                let key = self.keys.get(&event.key).cloned();
                let is_answer = self.recorded.asks.get(&event.key) == Some(&event.digest);
                ask = key.as_ref().filter(|_| is_answer).and_then(|key| self.asks.get(key));
                ("key", key)
            }
            EventKind::ModelOutput(_) | EventKind::ModelFailed(_) => {
                let is_answer = asked_of(event) == self.recorded.model_key.as_deref();
                ("key", self.model_key.clone().filter(|_| is_answer))
            }
            event => ("call", call_of(event).and_then(|call| self.keys.get(call)).cloned()),
        };
        let Some(key) = key else { return Ok(text) };
        let mut members: BTreeMap<String, Json> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let text = |text: &String| Json::of(text).map_err(|error| error.to_string());
        members.insert(name.to_owned(), text(&key)?);
        if let (Some(ask), EventKind::Approval(event)) = (ask, event) {
            members.insert("digest".to_owned(), text(&ask.digest)?);
            // If the profile has a key for the principal, it accepts only signed decisions, each of which is about one
            // call.
            if needs_token(ask, &event.principal) && event.token.is_none() {
                members.insert("token".to_owned(), text(&TOKEN.to_owned())?);
                members.remove("remember");
            }
        }
        serde_json::to_string(&members).map_err(|error| error.to_string())
    }

    fn send(&mut self, event: &str) -> Result<Vec<String>, String> {
        self.run.send_json(event).map_err(|error| error.to_string())
    }

    /// Performs the replay's actions: approves calls that ran in the recording, and ends calls that did not.
    fn act(&mut self, actions: Vec<String>) {
        let mut actions: Vec<Action> = read(&actions);
        for _ in 0..MAX_APPROVALS {
            let mut next = Vec::new();
            for action in std::mem::take(&mut actions) {
                next.extend(self.answer(action));
            }
            if next.is_empty() {
                break;
            }
            actions = read(&next);
        }
    }

    /// Returns the actions that follow from the answer to an action.
    fn answer(&mut self, action: Action) -> Vec<String> {
        let event = match action {
            Action::AskModel(action) => {
                self.model_key = Some(action.key);
                return Vec::new();
            }
            Action::AskApproval(action) => {
                let AskApprovalAction { call, ask, .. } = action;
                self.asks.insert(call.clone(), ask.clone());
                if !self.has_run(&call) || self.is_recorded(&call, &self.asked) {
                    return Vec::new();
                }
                let principal = ask.by.first().cloned().unwrap_or_default();
                let token = needs_token(&ask, &principal).then(|| TOKEN.to_owned());
                let mut event = ApprovalEvent::new(ask.key, ask.digest, ApprovalAnswer::Approved, principal);
                event.token = token;
                event.at(self.at)
            }
            Action::Delegate(action) if !self.has_run(&action.call) => CallCancelledEvent::new(action.call).at(self.at),
            Action::Execute(action) if !self.has_run(&action.call) => {
                let mut event = ToolFailedEvent::new(action.call, "the recorded run has no result of this call");
                event.effect = Some(PossibleEffect::None);
                event.at(self.at)
            }
            _ => return Vec::new(),
        };
        let sent = serde_json::to_string(&event).map_err(|error| error.to_string());
        sent.and_then(|event| self.send(&event)).unwrap_or_default()
    }

    /// Returns whether a call of the replay ran in the recording.
    fn has_run(&self, call: &str) -> bool {
        self.is_recorded(call, &self.ran)
    }

    /// Returns whether a set of recorded keys contains that of a call of the replay.
    fn is_recorded(&self, call: &str, recorded: &HashSet<String>) -> bool {
        self.keys.iter().any(|(key, replayed)| replayed == call && recorded.contains(key))
    }
}

fn read(actions: &[String]) -> Vec<Action> {
    actions.iter().filter_map(|action| serde_json::from_str(action).ok()).collect()
}

/// Compares two decisions about a call.
fn compared(before: &DecisionRecord, after: Option<&DecisionRecord>) -> ReplayedCall {
    let stricter = match after {
        Some(after) if strictness(&after.permit) >= strictness(&before.permit) => after,
        _ => before,
    };
    let reason = stricter.reasons.first().map_or(&stricter.message, |reason| &reason.message);
    ReplayedCall {
        key: before.call.clone(),
        tool: cut(&tool_name(before.server.as_deref().unwrap_or_default(), &before.tool), MAX_TEXT),
        before: before.permit,
        after: after.map(|after| after.permit),
        reason: cut(&reason.replace(['\n', '\r'], " "), MAX_TEXT),
    }
}

fn strictness(permit: &Permit) -> u8 {
    match permit {
        Permit::Allow => 0,
        Permit::Approval => 1,
        Permit::Deny => 2,
    }
}

/// The journal of a replay, in memory. It also has the artifacts of the recorded run.
struct Scratch<'s> {
    steps: &'s Steps,
    lines: Vec<String>,
    blobs: HashMap<(Blob, String), String>,
}

impl Journal for Scratch<'_> {
    fn name(&self) -> String {
        "the replay".to_owned()
    }

    fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        Ok(Box::new(self.lines.iter().skip(from).cloned().map(Ok)))
    }

    fn append(&mut self, _: u64, lines: &[String]) -> Result<(), JournalError> {
        self.lines.extend_from_slice(lines);
        Ok(())
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError> {
        self.blobs.insert((blob, digest.to_owned()), text.to_owned());
        Ok(())
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        match self.blobs.get(&(blob, digest.to_owned())) {
            Some(text) => Ok(Some(text.clone())),
            None if blob == Blob::Artifact => self.steps.artifact(digest),
            None => Ok(None),
        }
    }
}
