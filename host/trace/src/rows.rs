//! The calls of a run as rows of a table, for archives.

use std::{collections::HashMap, path::Path};

use seamgate::{Action, DecisionRecord, EventKind, Permit, Record};
use serde::Serialize;

use crate::{
    error::TraceError,
    format::cut,
    steps::{Step, Steps},
};

/// The longest message of a row, in bytes. The arguments of a record have at most 4 KiB.
const MAX_TEXT: usize = 1024;

/// The latest time of a row, which is the end of the year 9999, and the largest number of a row, which is the largest
/// that all JSON parsers represent exactly.
const MAX_TIME: u64 = 253_402_300_799_999;
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// A call of a run: the decisions about it, its approver, and its outcome. Times are in milliseconds since 1970.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CallRow {
    /// The id of the run.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// The digest of the profile with which the run began.
    pub profile: String,
    /// The digest of the component that made the first decision about the call.
    pub component: String,
    /// The principal of the run.
    pub principal: String,
    /// The key of the call: c1, c2, ….
    pub call: String,
    /// The server of the tool. `None` if the tool has none.
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// The effect that the profile gives the tool. `None` for an unknown tool.
    pub effect: Option<String>,
    /// The time of the first decision.
    pub decided_at: u64,
    /// The first decision: `allow`, `approval` or `deny`.
    pub decision: String,
    /// The last decision. It differs from the first one if a person decided, or if a later check denied the call.
    pub last_decision: String,
    /// The codes of the reasons of the last decision.
    pub reasons: Vec<String>,
    /// The first message of these reasons, truncated.
    pub message: Option<String>,
    /// The arguments as the model wrote them, truncated to 4 KiB.
    pub arguments: String,
    /// The digest of the complete arguments.
    pub arguments_digest: String,
    /// The time when a person was asked for approval. `None` if nobody was asked.
    pub asked_at: Option<u64>,
    /// The person who approved or rejected the call.
    pub approver: Option<String>,
    /// The time of that decision.
    pub approved_at: Option<u64>,
    /// The time when the call was sent to its tool.
    pub started_at: Option<u64>,
    /// The time of the result, or the time when the call ended without a result.
    pub ended_at: Option<u64>,
    /// The outcome: `ok`, `error` or `invalid` for a result; `denied`; or the reason why there is no result, such as
    /// `expired`, `rejected`, `cancelled` or `uncertain`. `None` while the call is in flight.
    pub outcome: Option<String>,
    /// The length of the result in bytes.
    pub result_bytes: Option<u64>,
    /// How long the tool took, as the host measured it.
    pub duration_ms: Option<u64>,
}

/// Returns the calls of a run in their order, and a description of its journal's damage. If the journal is damaged,
/// returns the calls before the damage. The texts are untrusted.
///
/// # Errors
///
/// The folder holds no run that can be read.
pub fn rows(folder: &Path) -> Result<(Vec<CallRow>, Option<String>), TraceError> {
    let mut steps = Steps::open(folder)?;
    let about = &steps.about;
    let mut rows = Rows {
        run: about.run.clone(),
        agent: about.agent.clone(),
        profile: about.profile.clone(),
        component: about.component.clone(),
        ..Rows::default()
    };
    for step in &mut steps {
        rows.step(&step);
    }
    let fault = steps.fault().filter(|_| !steps.is_torn()).map(str::to_owned);
    Ok((rows.all, fault))
}

/// The rows up to a step.
#[derive(Default)]
struct Rows {
    run: String,
    agent: String,
    profile: String,
    component: String,
    principal: String,
    all: Vec<CallRow>,
    by_key: HashMap<String, usize>,
}

impl Rows {
    fn step(&mut self, step: &Step) {
        if let Some(change) = &step.change {
            self.component.clone_from(&change.to);
        }
        let at = step.at.min(MAX_TIME);
        let event = step.event();
        match event {
            Some(EventKind::Started(event)) => self.principal.clone_from(&event.principal),
            Some(EventKind::ToolStarted(event)) => {
                self.change(&event.call, |row| _ = row.started_at.get_or_insert(at));
            }
            _ => {}
        }
        for record in step.records() {
            match record {
                Record::Decision(record) => {
                    self.decided(record, at);
                    if let Some(EventKind::Approval(event)) = event
                        && event.key == record.call
                    {
                        self.change(&record.call, |row| {
                            row.approver = Some(cut(&event.principal, MAX_TEXT));
                            row.approved_at = Some(at);
                        });
                    }
                }
                Record::Observation(record) => self.change(&record.call, |row| {
                    row.end(record.status.as_str(), at);
                    row.result_bytes = Some(record.bytes.min(MAX_NUMBER));
                    row.duration_ms = record.duration_ms.map(|ms| ms.min(MAX_NUMBER));
                }),
                Record::Settled(record) => self.change(&record.call, |row| row.end(record.code.as_str(), at)),
                _ => {}
            }
        }
        for action in step.actions() {
            if let Action::AskApproval(action) = action {
                self.change(&action.call, |row| _ = row.asked_at.get_or_insert(at));
            }
        }
    }

    fn decided(&mut self, record: &DecisionRecord, at: u64) {
        let permit = record.permit.as_str().to_owned();
        let index = *self.by_key.entry(record.call.clone()).or_insert_with(|| {
            self.all.push(CallRow {
                run: self.run.clone(),
                agent: self.agent.clone(),
                profile: self.profile.clone(),
                component: self.component.clone(),
                principal: self.principal.clone(),
                call: record.call.clone(),
                server: record.server.clone(),
                tool: record.tool.clone(),
                effect: record.effect.map(|effect| effect.as_str().to_owned()),
                decided_at: at,
                decision: permit.clone(),
                last_decision: String::new(),
                reasons: Vec::new(),
                message: None,
                arguments: String::new(),
                arguments_digest: String::new(),
                asked_at: None,
                approver: None,
                approved_at: None,
                started_at: None,
                ended_at: None,
                outcome: None,
                result_bytes: None,
                duration_ms: None,
            });
            self.all.len() - 1
        });
        let row = &mut self.all[index];
        row.last_decision = permit;
        row.reasons = record.reasons.iter().map(|reason| reason.code.as_str().to_owned()).collect();
        row.message = record.reasons.first().map(|reason| cut(&reason.message, MAX_TEXT));
        row.arguments.clone_from(&record.arguments);
        row.arguments_digest.clone_from(&record.arguments_digest);
        if let Some(approval) = &record.approval {
            row.approver = Some(approval.principal.clone());
            row.approved_at = Some(approval.at.min(MAX_TIME));
        }
        if record.permit == Permit::Deny {
            row.end("denied", at);
        }
    }

    fn change(&mut self, key: &str, change: impl FnOnce(&mut CallRow)) {
        if let Some(index) = self.by_key.get(key) {
            change(&mut self.all[*index]);
        }
    }
}

impl CallRow {
    fn end(&mut self, outcome: &str, at: u64) {
        self.outcome = Some(outcome.to_owned());
        self.ended_at = Some(at);
    }
}
