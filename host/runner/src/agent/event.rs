//! Events that a host sends to a run: see `schemas/event.schema.json`.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::Result;

/// The most bytes of each end of a result that is too large to be handed on.
pub const MAX_END: usize = 64 * 1024;

/// The beginning and the end of a text.
#[derive(Serialize)]
pub struct Ends<'e> {
    head: &'e str,
    tail: &'e str,
    /// The length of the whole.
    length: usize,
}

impl<'e> Ends<'e> {
    /// Returns the ends of a text. They do not overlap.
    pub fn of(text: &'e str) -> Self {
        let end = MAX_END.min(text.len() / 2);
        Ends {
            head: &text[..text.floor_char_boundary(end)],
            tail: &text[text.ceil_char_boundary(text.len() - end)..],
            length: text.len(),
        }
    }
}

/// An event, without its time.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'e> {
    /// The run starts.
    Started(Started<'e>),
    /// The servers list their tools.
    ToolsListed {
        /// The tools, in the format of lock files.
        listed: &'e RawValue,
    },
    /// The model answered.
    ModelOutput {
        /// The key of the action that asked.
        key: &'e str,
        /// The answer.
        #[serde(flatten)]
        answer: &'e Answer,
    },
    /// The model gave no answer that can be used.
    ModelFailed {
        /// The key of the action that asked.
        key: &'e str,
        /// The reason.
        message: &'e str,
        /// Whether the model may be asked again.
        retry: bool,
    },
    /// A call is sent to its tool now.
    ToolStarted {
        /// The call's key.
        call: &'e str,
    },
    /// A call goes on elsewhere.
    Job {
        /// The call's key.
        call: &'e str,
        /// How long it may take, in seconds.
        ttl_s: u64,
    },
    /// A tool answered.
    ToolResult {
        /// The call's key.
        call: &'e str,
        /// How long the call took, in milliseconds.
        duration_ms: u64,
        /// `ok` or `error`.
        status: &'e str,
        /// The result, if it is JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'e RawValue>,
        /// The result, if it is text.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'e str>,
    },
    /// A tool answered with a result that is too large to be handed on.
    #[serde(rename = "tool_result")]
    ResultEnds {
        /// The call's key.
        call: &'e str,
        /// How long the call took, in milliseconds.
        duration_ms: u64,
        /// `ok` or `error`.
        status: &'e str,
        /// The two ends of the result.
        #[serde(flatten)]
        ends: Ends<'e>,
        /// The digest of the whole, which the journal keeps.
        digest: &'e str,
    },
    /// A client calls a tool.
    Call {
        /// The event's id.
        id: &'e str,
        /// The server that has the tool. Empty: the host.
        #[serde(skip_serializing_if = "str::is_empty")]
        server: &'e str,
        /// The tool's name.
        tool: &'e str,
        /// The arguments, as JSON text.
        arguments: &'e str,
    },
    /// A tool answered with a result of the Model Context Protocol.
    #[serde(rename = "tool_result")]
    Returned {
        /// The call's key.
        call: &'e str,
        /// How long the call took, in milliseconds.
        duration_ms: u64,
        /// The result.
        returned: &'e RawValue,
    },
    /// A client or a server sends a message that is not a call.
    Message {
        /// The event's id.
        id: &'e str,
        /// The server that sends or gets it.
        server: &'e str,
        /// The message's method.
        method: &'e str,
        /// `client` or `server`.
        from: &'e str,
        /// The text to judge.
        #[serde(skip_serializing_if = "Option::is_none")]
        document: Option<&'e RawValue>,
    },
    /// The run was cancelled.
    Cancelled {
        /// The reason.
        reason: &'e str,
    },
    /// A call has no result.
    ToolFailed {
        /// The call's key.
        call: &'e str,
        /// The reason.
        message: &'e str,
        /// `none` if the call had no effect, and `unknown` if it may have had one.
        effect: &'e str,
    },
    /// A call was cancelled.
    CallCancelled {
        /// The call's key.
        call: &'e str,
    },
    /// Somebody decided about a call.
    Approval {
        /// The call's key.
        key: &'e str,
        /// The digest of the action that was shown.
        digest: &'e str,
        /// `approved` or `rejected`.
        decision: &'e str,
        /// The principal who decided.
        principal: &'e str,
        /// The signed token that says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<&'e str>,
    },
    /// Somebody answered a question of the model.
    Input {
        /// The question's key.
        key: &'e str,
        /// The answer.
        text: &'e str,
        /// The principal who answered.
        principal: &'e str,
    },
    /// Somebody said what became of an uncertain call.
    Resolution {
        /// The call's key.
        call: &'e str,
        /// `done` or `not_done`.
        outcome: &'e str,
        /// The principal who said it.
        principal: &'e str,
    },
    /// The run of a child ended.
    ChildResult {
        /// The key of the call that delegated.
        call: &'e str,
        /// How the child's run ended.
        status: &'e str,
        /// The other members.
        #[serde(flatten)]
        rest: &'e BTreeMap<String, Box<RawValue>>,
    },
    /// Time has passed.
    Tick,
    /// The run goes on in another process.
    Resumed {
        /// The tools that are there, in the format of lock files.
        listed: &'e RawValue,
    },
}

/// The members of the event that starts a run.
#[derive(Serialize)]
pub struct Started<'e> {
    /// The run's id.
    pub run: &'e str,
    /// The principal that the agent works for.
    pub principal: &'e str,
    /// Random text, from which the marks around observations are made.
    pub nonce: &'e str,
    /// The mode to begin with. `None`: the profile's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'e str>,
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<&'e RawValue>,
    /// The values that the profile's `context` names.
    pub context: &'e BTreeMap<String, Box<RawValue>>,
    /// The lists that the profile's `scope` names.
    pub lists: &'e BTreeMap<String, Vec<String>>,
    /// The tools that are there, in the format of lock files.
    pub listed: &'e RawValue,
    /// The run that delegated this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'e RawValue>,
}

/// An answer of a model: its members of the event `model_output`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The text of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The calls that the model makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Box<RawValue>>,
    /// The message as the model's server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<RawValue>>,
    /// The reason for which the answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The tokens that were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<RawValue>>,
}

impl Event<'_> {
    /// Returns the event as JSON text, at this moment.
    pub fn now(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Timed<'e> {
            at: u64,
            #[serde(flatten)]
            event: &'e Event<'e>,
        }
        Ok(serde_json::to_string(&Timed { at: now(), event: self })?)
    }
}

/// Returns the milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
