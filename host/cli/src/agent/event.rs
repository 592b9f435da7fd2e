//! Events that this host sends to a run: see `schemas/event.schema.json`.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How much of each end of a result that is too large to be handed on, in bytes.
pub(crate) const MAX_END: usize = 64 * 1024;

/// Both ends of a text.
#[derive(Serialize)]
pub(crate) struct Ends<'e> {
    head: &'e str,
    tail: &'e str,
    /// Of the whole.
    length: usize,
}

impl<'e> Ends<'e> {
    pub(crate) fn of(text: &'e str) -> Self {
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
pub(crate) enum Event<'e> {
    Started(Started<'e>),
    ToolsListed {
        listed: &'e RawValue,
    },
    ModelOutput {
        key: &'e str,
        #[serde(flatten)]
        answer: &'e Answer,
    },
    ModelFailed {
        key: &'e str,
        message: &'e str,
        retry: bool,
    },
    ToolStarted {
        call: &'e str,
    },
    /// A call goes on elsewhere.
    Job {
        call: &'e str,
        ttl_s: u64,
    },
    ToolResult {
        call: &'e str,
        duration_ms: u64,
        status: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'e RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'e str>,
    },
    /// The two ends of a result that is too large to be handed on.
    #[serde(rename = "tool_result")]
    ResultEnds {
        call: &'e str,
        duration_ms: u64,
        status: &'e str,
        #[serde(flatten)]
        ends: Ends<'e>,
        digest: &'e str,
    },
    Call {
        id: &'e str,
        #[serde(skip_serializing_if = "str::is_empty")]
        server: &'e str,
        tool: &'e str,
        arguments: &'e str,
    },
    /// A result of the Model Context Protocol.
    #[serde(rename = "tool_result")]
    Returned {
        call: &'e str,
        duration_ms: u64,
        returned: &'e RawValue,
    },
    Message {
        id: &'e str,
        server: &'e str,
        method: &'e str,
        from: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        document: Option<&'e RawValue>,
    },
    Cancelled {
        reason: &'e str,
    },
    ToolFailed {
        call: &'e str,
        message: &'e str,
        effect: &'e str,
    },
    CallCancelled {
        call: &'e str,
    },
    Approval {
        key: &'e str,
        digest: &'e str,
        decision: &'e str,
        principal: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<&'e str>,
    },
    Input {
        key: &'e str,
        text: &'e str,
        principal: &'e str,
    },
    Resolution {
        call: &'e str,
        outcome: &'e str,
        principal: &'e str,
    },
    ChildResult {
        call: &'e str,
        status: &'e str,
        #[serde(flatten)]
        rest: &'e BTreeMap<String, Box<RawValue>>,
    },
    Tick,
    Resumed {
        listed: &'e RawValue,
    },
}

/// How a run starts.
#[derive(Serialize)]
pub(crate) struct Started<'e> {
    pub(crate) run: &'e str,
    pub(crate) principal: &'e str,
    pub(crate) nonce: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<&'e RawValue>,
    pub(crate) context: &'e BTreeMap<String, Box<RawValue>>,
    pub(crate) lists: &'e BTreeMap<String, Vec<String>>,
    /// The tools that are there.
    pub(crate) listed: &'e RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<&'e RawValue>,
}

/// What a model wrote: the members of the event `model_output` that are its own.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Box<RawValue>>,
}

impl Event<'_> {
    /// The event as JSON text, at this moment.
    pub(crate) fn now(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Timed<'e> {
            at: u64,
            #[serde(flatten)]
            event: &'e Event<'e>,
        }
        Ok(serde_json::to_string(&Timed { at: now(), event: self })?)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
