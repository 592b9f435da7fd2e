//! The output of one event: the actions of the host, and the records for the journal.

use std::collections::BTreeMap;

use seamgate_core::Confidence;
use serde::Serialize;
use serde_json::value::RawValue;

use super::state::{ContextRequest, Purpose, Status, Stop, Uncertain};
use crate::{
    decision::{AskView, Reason, Secret, Used},
    facts::Used as Budgets,
    proof::Proof,
    rate::Recent,
};

/// The next action of the host. See `schemas/action.schema.json`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Action {
    AskModel {
        key: String,
        purpose: Purpose,
        prompt: Box<RawValue>,
        expires: u64,
    },
    Execute {
        key: String,
        call: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        tool: String,
        effect: &'static str,
        /// The exact text to send.
        arguments: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        idempotency_key: String,
        expires: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<Used>,
        /// The secrets whose values the host inserts.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        secrets: Vec<Secret>,
    },
    AskApproval {
        key: String,
        call: String,
        ask: AskView,
    },
    AskInput {
        key: String,
        question: String,
        /// The uncertain call that a person must resolve.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        expires: u64,
    },
    Delegate {
        key: String,
        call: String,
        /// The child's run.
        run: String,
        agent: String,
        profile: String,
        reason: String,
        task: Box<RawValue>,
        /// The digest of the task.
        digest: String,
        parent: Box<RawValue>,
    },
    Cancel {
        key: String,
        call: String,
    },
    Finish {
        key: String,
        status: Status,
        #[serde(skip_serializing_if = "Option::is_none")]
        document: Option<Box<RawValue>>,
        reasons: Vec<Stop>,
        missing: Vec<String>,
        uncertain: Vec<Uncertain>,
        kinds: Vec<String>,
        labels: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        confidence: Option<Confidence>,
        used: Spent,
        requests: Vec<ContextRequest>,
    },
}

/// The amounts used by a run and the runs below it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Spent {
    pub(crate) steps: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tokens: u64,
    /// The number of times that each call was permitted, for the agents above.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) calls: BTreeMap<String, u64>,
    /// The times of the last permitted calls of tools with a rate, for the agents above.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) recent: Recent,
}

impl Action {
    pub(super) fn key_mut(&mut self) -> &mut String {
        match self {
            Action::AskModel { key, .. }
            | Action::Execute { key, .. }
            | Action::AskApproval { key, .. }
            | Action::AskInput { key, .. }
            | Action::Delegate { key, .. }
            | Action::Cancel { key, .. }
            | Action::Finish { key, .. } => key,
        }
    }
}

/// A record of a decision. See `schemas/record.schema.json`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record {
    /// An event that does not fit the run.
    Ignored { code: &'static str, message: String },
    /// Data from outside that the model does not get.
    LeftOut { what: &'static str, name: String, code: &'static str, message: String },
    /// The tools that the model sees, and the reasons why it does not see others.
    Surface { tools: Vec<String>, hidden: Vec<Hidden> },
    /// The kind of the model's output.
    Output { kind: &'static str, message: String },
    Decision {
        call: String,
        permit: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        tool: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        effect: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// The arguments as the model wrote them, truncated.
        arguments: String,
        arguments_digest: String,
        /// The digest that equal calls share.
        same: String,
        message: String,
        reasons: Vec<Reason>,
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<Used>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        origins: Vec<Proof>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        secrets: Vec<Secret>,
    },
    /// The host answers a call with the result of an equal one.
    Joined { same: String },
    Observation {
        call: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        tool: String,
        status: &'static str,
        id: String,
        message: String,
        kinds: Vec<String>,
        labels: Vec<String>,
        confidence: Confidence,
        complete: bool,
        limitations: Vec<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        returned: Option<Box<RawValue>>,
        artifact: String,
        bytes: u64,
        found: serde_json::Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        arguments_digest: String,
        /// The texts for audiences, if the profile has any.
        #[serde(skip_serializing_if = "Option::is_none")]
        ui: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<String>,
    },
    /// A decision whether a message between a client and a server may pass, and in which form.
    Message {
        server: String,
        method: String,
        from: &'static str,
        permit: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        document: Option<Box<RawValue>>,
        found: serde_json::Value,
    },
    /// The outcome of a call without a result.
    Settled { call: String, tool: String, code: &'static str, message: String },
    /// The parts that were removed from the prompt or the state to make it fit.
    Cut { from: &'static str, calls: Vec<String>, entries: u64 },
    /// The reason why the run has to end.
    Stop { code: String, message: String },
    /// A child requested its parent's context.
    ContextRequest { call: String, request: Box<RawValue> },
    /// The amounts that were used when the run ended.
    Used { steps: u64, budgets: Budgets },
}

/// A tool that the model does not see.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Hidden {
    pub(crate) tool: String,
    pub(crate) code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}
