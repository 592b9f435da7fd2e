//! The calls of a run and their outcomes. This answers questions about a call that no longer waits.

use std::{collections::HashMap, path::Path};

use seamgate::{
    Action, ApprovalAnswer, DecisionRecord, EventKind, ObservationRecord, ObservationStatus, Permit, PossibleEffect,
    Record, SettledCode, SettledRecord,
};
use seamgate_text::tool_name;

use crate::{
    error::TraceError,
    format::{cut, many, when},
    steps::{Step, Steps},
};

/// The longest name of a tool and the longest reason, in bytes.
const MAX_TEXT: usize = 300;

/// A call of a run, and its outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallOutcome {
    /// The key of the call: c1, c2, ….
    pub key: String,
    /// The tool, with its server.
    pub tool: String,
    /// `true` if a person was asked to approve it.
    pub was_asked: bool,
    /// The outcome, in words on one line. The text may come from untrusted sources: escape it for a terminal.
    pub outcome: String,
}

/// Returns the calls of a run in their order, each with its outcome at the time `now`, in milliseconds since 1970.
///
/// If the journal is damaged, returns the calls before the damage.
///
/// # Errors
///
/// The folder holds no run that can be read.
pub fn calls(folder: &Path, now: u64) -> Result<Vec<CallOutcome>, TraceError> {
    let mut steps = Steps::open(folder)?;
    let mut calls = Calls::default();
    for step in &mut steps {
        calls.step(&step);
    }
    Ok(calls.all.into_iter().map(|call| call.told(now)).collect())
}

/// The calls up to a step.
#[derive(Default)]
pub(crate) struct Calls {
    all: Vec<Tracked>,
    by_key: HashMap<String, usize>,
    has_client: bool,
}

/// A call up to a step.
struct Tracked {
    key: String,
    tool: String,
    was_asked: bool,
    /// The person who approved it, and the time.
    approved: Option<String>,
    state: State,
}

enum State {
    /// A person is asked for approval, until this time.
    Asked { by: String, until: u64 },
    /// The call may run since this time, or is running.
    UnderWay { since: u64, is_sent: bool },
    /// The call has ended, with this outcome.
    Ended(String),
}

impl Calls {
    /// Returns the number of calls.
    pub(crate) fn count(&self) -> u64 {
        self.all.len() as u64
    }

    /// Returns the number of calls that wait for a person at a time, in milliseconds since 1970.
    pub(crate) fn waiting(&self, now: u64) -> u64 {
        let waits = |call: &&Tracked| matches!(call.state, State::Asked { until, .. } if until > now);
        self.all.iter().filter(waits).count() as u64
    }

    /// Processes the next step.
    pub(crate) fn step(&mut self, step: &Step) {
        let event = step.event();
        self.has_client |= matches!(event, Some(EventKind::Call(_)));
        for record in step.records() {
            match record {
                Record::Decision(record) => self.decided(record, event, step.at),
                Record::Observation(record) => {
                    let result = result(record);
                    self.change(&record.call, |call| call.state = State::Ended(format!("{result}, {}", when(step.at))));
                }
                Record::Settled(record) => {
                    let has_client = self.has_client;
                    self.change(&record.call, |call| {
                        call.state = State::Ended(settled(record, event, &call.state, (step.at, has_client)));
                    });
                }
                _ => {}
            }
        }
        if let Some(EventKind::ToolStarted(event)) = event {
            self.change(&event.call, |call| {
                if let State::UnderWay { is_sent: is_sent @ false, since } = &mut call.state {
                    (*is_sent, *since) = (true, step.at);
                }
            });
        }
        for action in step.actions() {
            if let Action::AskApproval(action) = action {
                let (by, until) = (action.ask.by.join(" or "), action.ask.expires);
                self.change(&action.call, |call| {
                    call.was_asked = true;
                    call.state = State::Asked { by, until };
                });
            }
        }
    }

    fn decided(&mut self, record: &DecisionRecord, event: Option<&EventKind>, at: u64) {
        let state = match (&record.permit, event) {
            (Permit::Deny, Some(EventKind::Approval(event)))
                if event.decision == ApprovalAnswer::Rejected && event.key == record.call =>
            {
                State::Ended(format!("rejected by {}, {}", event.principal, when(at)))
            }
            (Permit::Deny, _) => {
                let reason = record.reasons.first().map_or(&record.message, |reason| &reason.message);
                State::Ended(format!("denied, {}: {reason}", when(at)))
            }
            (Permit::Approval, _) => State::Asked { by: "a person".to_owned(), until: u64::MAX },
            (Permit::Allow, _) => State::UnderWay { since: at, is_sent: false },
        };
        let index = *self.by_key.entry(record.call.clone()).or_insert_with(|| {
            let tool = tool_name(record.server.as_deref().unwrap_or_default(), &record.tool);
            let (key, state) = (record.call.clone(), State::UnderWay { since: at, is_sent: false });
            self.all.push(Tracked { key, tool, was_asked: false, approved: None, state });
            self.all.len() - 1
        });
        let call = &mut self.all[index];
        call.state = state;
        if let Some(approval) = &record.approval {
            call.approved = Some(format!("approved by {}, {}", approval.principal, when(approval.at)));
        }
    }

    fn change(&mut self, key: &str, change: impl FnOnce(&mut Tracked)) {
        if let Some(index) = self.by_key.get(key) {
            change(&mut self.all[*index]);
        }
    }
}

impl Tracked {
    fn told(self, now: u64) -> CallOutcome {
        let state = match self.state {
            State::Asked { until, .. } if until <= now => format!("expired, {}: nobody decided in time", when(until)),
            State::Asked { by, until: u64::MAX } => format!("waits for approval by {by}"),
            State::Asked { by, until } => format!("waits for approval by {by} until {}", when(until)),
            State::UnderWay { since, is_sent: true } => format!("under way since {}", when(since)),
            State::UnderWay { since, is_sent: false } => format!("allowed, {}, and not sent yet", when(since)),
            State::Ended(how) => how,
        };
        let approved = self.approved.map(|approved| format!("{approved}; ")).unwrap_or_default();
        let outcome = one_line(&format!("{approved}{state}"));
        CallOutcome { key: self.key, tool: one_line(&self.tool), was_asked: self.was_asked, outcome }
    }
}

fn result(record: &ObservationRecord) -> String {
    let bytes = many(record.bytes, "byte");
    match record.status {
        ObservationStatus::Ok => format!("ended with a result of {bytes}"),
        ObservationStatus::Error => format!("failed with a message of {bytes}"),
        ObservationStatus::Invalid => format!("ended with an invalid result of {bytes}"),
    }
}

/// Describes why a call has no result.
fn settled(record: &SettledRecord, event: Option<&EventKind>, state: &State, (at, has_client): (u64, bool)) -> String {
    let was_asked = matches!(state, State::Asked { .. });
    match (record.code, event) {
        (SettledCode::Expired, _) => {
            let at = if let State::Asked { until, .. } = state { (*until).min(at) } else { at };
            format!("expired, {}: nobody decided in time", when(at))
        }
        (SettledCode::Cancelled, Some(EventKind::CallCancelled(event))) => {
            let by = if has_client { " by the client" } else { "" };
            let effect = match event.effect {
                _ if was_asked => ", before anybody decided",
                Some(PossibleEffect::None) => ", without an effect",
                _ => "",
            };
            format!("cancelled{by}{effect}, {}", when(at))
        }
        (SettledCode::Cancelled, _) => {
            let before = if was_asked { "before anybody decided" } else { "before a result came" };
            format!("cancelled, {}: the run ended {before}", when(at))
        }
        (SettledCode::Rejected, _) => format!("denied, {}: {}", when(at), record.message),
        (SettledCode::NotSent, _) => format!("not sent, {}: {}", when(at), record.message),
        (SettledCode::Uncertain, _) => {
            format!("no result, {}: {}; nobody knows whether it had its effect", when(at), record.message)
        }
    }
}

fn one_line(text: &str) -> String {
    cut(&text.replace(['\n', '\r'], " "), MAX_TEXT)
}
