//! The words of a run, which `schemas/` states and documents.
//!
//! Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::value::{Json, Large, present, tag, unknown, write};
use crate::types::{Confidence, Finish, Span, Violation};

/// A fact from outside that `advance` applies. The host sets its time. An event that does not fit the run is recorded,
/// and changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When, in milliseconds since 1970. The run's time is the greatest one seen.
    pub at: u64,
    /// What happened.
    pub kind: EventKind,
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            EventKind::Started(body) => write(serializer, Some(self.at), "started", body),
            EventKind::ToolsListed(body) => write(serializer, Some(self.at), "tools_listed", body),
            EventKind::ModelOutput(body) => write(serializer, Some(self.at), "model_output", body),
            EventKind::ModelFailed(body) => write(serializer, Some(self.at), "model_failed", body),
            EventKind::Call(body) => write(serializer, Some(self.at), "call", body),
            EventKind::ToolStarted(body) => write(serializer, Some(self.at), "tool_started", body),
            EventKind::ToolResult(body) => write(serializer, Some(self.at), "tool_result", body),
            EventKind::ToolFailed(body) => write(serializer, Some(self.at), "tool_failed", body),
            EventKind::Job(body) => write(serializer, Some(self.at), "job", body),
            EventKind::Approval(body) => write(serializer, Some(self.at), "approval", body),
            EventKind::Input(body) => write(serializer, Some(self.at), "input", body),
            EventKind::UserMessage(body) => write(serializer, Some(self.at), "user_message", body),
            EventKind::Said(body) => write(serializer, Some(self.at), "said", body),
            EventKind::Stores(body) => write(serializer, Some(self.at), "stores", body),
            EventKind::Context(body) => write(serializer, Some(self.at), "context", body),
            EventKind::Resolution(body) => write(serializer, Some(self.at), "resolution", body),
            EventKind::Mode(body) => write(serializer, Some(self.at), "mode", body),
            EventKind::Profile(body) => write(serializer, Some(self.at), "profile", body),
            EventKind::ChildResult(body) => write(serializer, Some(self.at), "child_result", body),
            EventKind::CallCancelled(body) => write(serializer, Some(self.at), "call_cancelled", body),
            EventKind::Cancelled(body) => write(serializer, Some(self.at), "cancelled", body),
            EventKind::Message(body) => write(serializer, Some(self.at), "message", body),
            EventKind::Tick(body) => write(serializer, Some(self.at), "tick", body),
            EventKind::Resumed(body) => write(serializer, Some(self.at), "resumed", body),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct At {
            at: u64,
        }
        let text = Json::deserialize(deserializer)?;
        let At { at } = text.read().map_err(D::Error::custom)?;
        let kind = EventKind::from_json(text.as_str()).map_err(D::Error::custom)?;
        Ok(Event { at, kind })
    }
}

/// What happened.
#[expect(clippy::large_enum_variant, reason = "an event is made, sent and dropped: nothing keeps many")]
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A run starts. This is the first event, and the only one of its kind.
    Started(StartedEvent),
    /// The tools that servers list now.
    ToolsListed(ToolsListedEvent),
    /// The output of the model.
    ModelOutput(ModelOutputEvent),
    /// The model returned no output.
    ModelFailed(ModelFailedEvent),
    /// One call from outside a loop, for profiles without a loop.
    Call(CallEvent),
    /// The host is about to send a call. It writes this event to the journal first.
    ToolStarted(ToolStartedEvent),
    /// The result of a tool: see result.schema.json.
    ToolResult(ToolResultEvent),
    /// A call ended without a result.
    ToolFailed(ToolFailedEvent),
    /// A call continues elsewhere. Its result comes later.
    Job(JobEvent),
    /// A person's decision about one ask. `edited` replaces the call's arguments with `arguments`. The call is then judged
    /// again, and needs a new ask if it requires approval.
    Approval(ApprovalEvent),
    /// A person's answer to a question.
    Input(InputEvent),
    /// A message that a person sent unasked.
    UserMessage(UserMessageEvent),
    /// A text that a person said elsewhere, which can prove `origins`. The model does not receive it.
    Said(SaidEvent),
    /// Labels that other runs gave to data in stores, in addition to those that the run knows.
    Stores(StoresEvent),
    /// A declared context value changed.
    Context(ContextEvent),
    /// A person states the outcome of an uncertain call.
    Resolution(ResolutionEvent),
    /// A person changes the mode.
    Mode(ModeEvent),
    /// The profile was edited. Until the run ends, a call must satisfy both the edited profile and the one with which the
    /// run started. A later event of this kind replaces the edited profile.
    Profile(ProfileEvent),
    /// The end of a child, as in its action `finish`.
    ChildResult(ChildResultEvent),
    /// The host cancelled a call.
    CallCancelled(CallCancelledEvent),
    /// A person ends the run.
    Cancelled(CancelledEvent),
    /// A message between a client and a tool server that is not a tool call.
    Message(MessageEvent),
    /// Time has passed.
    Tick(TickEvent),
    /// The host restarts after an interruption.
    Resumed(ResumedEvent),
}

impl EventKind {
    /// Returns its `type`.
    pub fn word(&self) -> &'static str {
        match self {
            EventKind::Started(_) => "started",
            EventKind::ToolsListed(_) => "tools_listed",
            EventKind::ModelOutput(_) => "model_output",
            EventKind::ModelFailed(_) => "model_failed",
            EventKind::Call(_) => "call",
            EventKind::ToolStarted(_) => "tool_started",
            EventKind::ToolResult(_) => "tool_result",
            EventKind::ToolFailed(_) => "tool_failed",
            EventKind::Job(_) => "job",
            EventKind::Approval(_) => "approval",
            EventKind::Input(_) => "input",
            EventKind::UserMessage(_) => "user_message",
            EventKind::Said(_) => "said",
            EventKind::Stores(_) => "stores",
            EventKind::Context(_) => "context",
            EventKind::Resolution(_) => "resolution",
            EventKind::Mode(_) => "mode",
            EventKind::Profile(_) => "profile",
            EventKind::ChildResult(_) => "child_result",
            EventKind::CallCancelled(_) => "call_cancelled",
            EventKind::Cancelled(_) => "cancelled",
            EventKind::Message(_) => "message",
            EventKind::Tick(_) => "tick",
            EventKind::Resumed(_) => "resumed",
        }
    }

    /// Reads the members of an event, without its time, without a copy of the whole.
    ///
    /// # Errors
    ///
    /// The text is not JSON, is of another version, or lacks a member.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        match &*tag(text)? {
            "started" => serde_json::from_str(text).map(EventKind::Started),
            "tools_listed" => serde_json::from_str(text).map(EventKind::ToolsListed),
            "model_output" => serde_json::from_str(text).map(EventKind::ModelOutput),
            "model_failed" => serde_json::from_str(text).map(EventKind::ModelFailed),
            "call" => serde_json::from_str(text).map(EventKind::Call),
            "tool_started" => serde_json::from_str(text).map(EventKind::ToolStarted),
            "tool_result" => serde_json::from_str(text).map(EventKind::ToolResult),
            "tool_failed" => serde_json::from_str(text).map(EventKind::ToolFailed),
            "job" => serde_json::from_str(text).map(EventKind::Job),
            "approval" => serde_json::from_str(text).map(EventKind::Approval),
            "input" => serde_json::from_str(text).map(EventKind::Input),
            "user_message" => serde_json::from_str(text).map(EventKind::UserMessage),
            "said" => serde_json::from_str(text).map(EventKind::Said),
            "stores" => serde_json::from_str(text).map(EventKind::Stores),
            "context" => serde_json::from_str(text).map(EventKind::Context),
            "resolution" => serde_json::from_str(text).map(EventKind::Resolution),
            "mode" => serde_json::from_str(text).map(EventKind::Mode),
            "profile" => serde_json::from_str(text).map(EventKind::Profile),
            "child_result" => serde_json::from_str(text).map(EventKind::ChildResult),
            "call_cancelled" => serde_json::from_str(text).map(EventKind::CallCancelled),
            "cancelled" => serde_json::from_str(text).map(EventKind::Cancelled),
            "message" => serde_json::from_str(text).map(EventKind::Message),
            "tick" => serde_json::from_str(text).map(EventKind::Tick),
            "resumed" => serde_json::from_str(text).map(EventKind::Resumed),
            other => Err(unknown(other)),
        }
    }
}

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        EventKind::from_json(Json::deserialize(deserializer)?.as_str()).map_err(D::Error::custom)
    }
}

impl From<StartedEvent> for EventKind {
    fn from(body: StartedEvent) -> Self {
        EventKind::Started(body)
    }
}

impl From<ToolsListedEvent> for EventKind {
    fn from(body: ToolsListedEvent) -> Self {
        EventKind::ToolsListed(body)
    }
}

impl From<ModelOutputEvent> for EventKind {
    fn from(body: ModelOutputEvent) -> Self {
        EventKind::ModelOutput(body)
    }
}

impl From<ModelFailedEvent> for EventKind {
    fn from(body: ModelFailedEvent) -> Self {
        EventKind::ModelFailed(body)
    }
}

impl From<CallEvent> for EventKind {
    fn from(body: CallEvent) -> Self {
        EventKind::Call(body)
    }
}

impl From<ToolStartedEvent> for EventKind {
    fn from(body: ToolStartedEvent) -> Self {
        EventKind::ToolStarted(body)
    }
}

impl From<ToolResultEvent> for EventKind {
    fn from(body: ToolResultEvent) -> Self {
        EventKind::ToolResult(body)
    }
}

impl From<ToolFailedEvent> for EventKind {
    fn from(body: ToolFailedEvent) -> Self {
        EventKind::ToolFailed(body)
    }
}

impl From<JobEvent> for EventKind {
    fn from(body: JobEvent) -> Self {
        EventKind::Job(body)
    }
}

impl From<ApprovalEvent> for EventKind {
    fn from(body: ApprovalEvent) -> Self {
        EventKind::Approval(body)
    }
}

impl From<InputEvent> for EventKind {
    fn from(body: InputEvent) -> Self {
        EventKind::Input(body)
    }
}

impl From<UserMessageEvent> for EventKind {
    fn from(body: UserMessageEvent) -> Self {
        EventKind::UserMessage(body)
    }
}

impl From<SaidEvent> for EventKind {
    fn from(body: SaidEvent) -> Self {
        EventKind::Said(body)
    }
}

impl From<StoresEvent> for EventKind {
    fn from(body: StoresEvent) -> Self {
        EventKind::Stores(body)
    }
}

impl From<ContextEvent> for EventKind {
    fn from(body: ContextEvent) -> Self {
        EventKind::Context(body)
    }
}

impl From<ResolutionEvent> for EventKind {
    fn from(body: ResolutionEvent) -> Self {
        EventKind::Resolution(body)
    }
}

impl From<ModeEvent> for EventKind {
    fn from(body: ModeEvent) -> Self {
        EventKind::Mode(body)
    }
}

impl From<ProfileEvent> for EventKind {
    fn from(body: ProfileEvent) -> Self {
        EventKind::Profile(body)
    }
}

impl From<ChildResultEvent> for EventKind {
    fn from(body: ChildResultEvent) -> Self {
        EventKind::ChildResult(body)
    }
}

impl From<CallCancelledEvent> for EventKind {
    fn from(body: CallCancelledEvent) -> Self {
        EventKind::CallCancelled(body)
    }
}

impl From<CancelledEvent> for EventKind {
    fn from(body: CancelledEvent) -> Self {
        EventKind::Cancelled(body)
    }
}

impl From<MessageEvent> for EventKind {
    fn from(body: MessageEvent) -> Self {
        EventKind::Message(body)
    }
}

impl From<TickEvent> for EventKind {
    fn from(body: TickEvent) -> Self {
        EventKind::Tick(body)
    }
}

impl From<ResumedEvent> for EventKind {
    fn from(body: ResumedEvent) -> Self {
        EventKind::Resumed(body)
    }
}

/// A run starts. This is the first event, and the only one of its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartedEvent {
    /// The run's id.
    pub run: String,
    /// The person or system that the agent works for.
    pub principal: String,
    /// A random secret of the run, from which the marks around data from outside are derived.
    pub nonce: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// One of the profile's modes. Default: the first mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The task. Free text if the profile has `frame`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub task: Option<Json>,
    /// Values, by the names in the profile's `context`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Json>,
    /// The lists that `scope` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<BTreeMap<String, Vec<String>>>,
    /// The tools that servers list now, as in `tools_listed`. Without this member, all tools of the profile are available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Json>,
    /// The labels of data that the client has read in earlier runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// The limits that a parent sets, as in its action `delegate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Bounds>,
}

impl StartedEvent {
    /// Makes one with the members that it must have.
    pub fn new(run: impl Into<String>, principal: impl Into<String>, nonce: impl Into<String>) -> Self {
        StartedEvent {
            run: run.into(),
            principal: principal.into(),
            nonce: nonce.into(),
            session: None,
            turn: None,
            mode: None,
            task: None,
            context: None,
            lists: None,
            listed: None,
            labels: None,
            parent: None,
        }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The tools that servers list now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolsListedEvent {
    /// The list, in the format of lock files: see lock.schema.json.
    pub listed: Json,
}

impl ToolsListedEvent {
    /// Makes one with the members that it must have.
    pub fn new(listed: Json) -> Self {
        ToolsListedEvent { listed }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The output of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelOutputEvent {
    /// The key of the action `ask_model` that this event answers.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Large<String>>,
    /// The calls that the model requests, in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<ModelCall>>,
    /// The provider's message. Later prompts contain it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Json>,
    /// The reason for which the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// The number of tokens. If it is missing, it is estimated from bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The artifacts that the step requested under `need`: texts by their digests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<BTreeMap<String, String>>,
}

impl ModelOutputEvent {
    /// Makes one with the members that it must have.
    pub fn new(key: impl Into<String>) -> Self {
        ModelOutputEvent {
            key: key.into(),
            text: None,
            calls: None,
            message: None,
            finish: None,
            usage: None,
            artifacts: None,
        }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The model returned no output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFailedEvent {
    /// The key of a call, as in its action.
    pub key: String,
    pub message: String,
    /// Whether another attempt may help. Default: false, a permanent failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
}

impl ModelFailedEvent {
    /// Makes one with the members that it must have.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        ModelFailedEvent { key: key.into(), message: message.into(), retry: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// One call from outside a loop, for profiles without a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEvent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    pub arguments: Json,
    /// The digests of calls that an equal call may join, as in `same` of their decisions. A call that joins another is not
    /// decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joinable: Option<Vec<String>>,
}

impl CallEvent {
    /// Makes one with the members that it must have.
    pub fn new(tool: impl Into<String>, arguments: Json) -> Self {
        CallEvent { id: None, server: None, tool: tool.into(), arguments, joinable: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The host is about to send a call. It writes this event to the journal first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolStartedEvent {
    /// The key of a call, as in its action.
    pub call: String,
}

impl ToolStartedEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>) -> Self {
        ToolStartedEvent { call: call.into() }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The result of a tool: see result.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResultEvent {
    /// The key of a call, as in its action.
    pub call: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// `error`: the tool reports a failure. The result is then sanitized, and not validated against the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ResultStatus>,
    /// Any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Json>,
    /// A whole result of the Model Context Protocol, which itself says whether the tool failed. Its `structuredContent` is
    /// validated against the schema. Without that, its only text is validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Json>,
    /// Text. If the profile has a schema or items for the result, it is parsed as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Large<String>>,
    /// The beginning of a text that is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The end of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
    /// The length of the whole text in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The digest of the whole result, under which the host keeps it. Beside `returned`, the host states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl ToolResultEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>) -> Self {
        ToolResultEvent {
            call: call.into(),
            duration_ms: None,
            status: None,
            result: None,
            returned: None,
            text: None,
            head: None,
            tail: None,
            length: None,
            digest: None,
        }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A call ended without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFailedEvent {
    /// The key of a call, as in its action.
    pub call: String,
    pub message: String,
    /// Whether the call may have had an effect. Default: unknown, if it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<PossibleEffect>,
}

impl ToolFailedEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>, message: impl Into<String>) -> Self {
        ToolFailedEvent { call: call.into(), message: message.into(), effect: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A call continues elsewhere. Its result comes later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    /// The key of a call, as in its action.
    pub call: String,
    /// The maximum time until then, in seconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
}

impl JobEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>) -> Self {
        JobEvent { call: call.into(), ttl_s: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A person's decision about one ask. `edited` replaces the call's arguments with `arguments`. The call is then judged
/// again, and needs a new ask if it requires approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalEvent {
    /// The key of a call, as in its action.
    pub key: String,
    pub digest: String,
    pub decision: ApprovalAnswer,
    pub principal: String,
    /// The new arguments as they would be sent: the text of a JSON object. Only with `edited`, and only in a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The approval also covers further calls of this run: those of the same tool with the same arguments except some, as
    /// long as they need approval for no other reason. Not allowed with a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<ApprovalRemember>,
    /// The reason, in the person's words. The model reads it if the call is rejected or edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The facts that the host verified before it appended this event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl ApprovalEvent {
    /// Makes one with the members that it must have.
    pub fn new(
        key: impl Into<String>,
        digest: impl Into<String>,
        decision: ApprovalAnswer,
        principal: impl Into<String>,
    ) -> Self {
        ApprovalEvent {
            key: key.into(),
            digest: digest.into(),
            decision,
            principal: principal.into(),
            arguments: None,
            remember: None,
            reason: None,
            token: None,
        }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputEvent {
    /// The key of the action `ask_input`.
    pub key: String,
    pub text: Large<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

impl InputEvent {
    /// Makes one with the members that it must have.
    pub fn new(key: impl Into<String>, text: impl Into<Large<String>>) -> Self {
        InputEvent { key: key.into(), text: text.into(), principal: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A message that a person sent unasked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessageEvent {
    pub text: Large<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

impl UserMessageEvent {
    /// Makes one with the members that it must have.
    pub fn new(text: impl Into<Large<String>>) -> Self {
        UserMessageEvent { text: text.into(), principal: None, turn: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A text that a person said elsewhere, which can prove `origins`. The model does not receive it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SaidEvent {
    pub text: Large<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

impl SaidEvent {
    /// Makes one with the members that it must have.
    pub fn new(text: impl Into<Large<String>>) -> Self {
        SaidEvent { text: text.into(), principal: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// Labels that other runs gave to data in stores, in addition to those that the run knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoresEvent {
    pub stores: Vec<Stored>,
}

impl StoresEvent {
    /// Makes one with the members that it must have.
    pub fn new(stores: Vec<Stored>) -> Self {
        StoresEvent { stores }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A declared context value changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextEvent {
    pub name: String,
    pub value: Json,
}

impl ContextEvent {
    /// Makes one with the members that it must have.
    pub fn new(name: impl Into<String>, value: Json) -> Self {
        ContextEvent { name: name.into(), value }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A person states the outcome of an uncertain call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolutionEvent {
    /// The key of a call, as in its action.
    pub call: String,
    pub outcome: ResolutionOutcome,
    pub principal: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Large<String>>,
}

impl ResolutionEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>, outcome: ResolutionOutcome, principal: impl Into<String>) -> Self {
        ResolutionEvent { call: call.into(), outcome, principal: principal.into(), text: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A person changes the mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModeEvent {
    pub mode: String,
    pub principal: String,
}

impl ModeEvent {
    /// Makes one with the members that it must have.
    pub fn new(mode: impl Into<String>, principal: impl Into<String>) -> Self {
        ModeEvent { mode: mode.into(), principal: principal.into() }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The profile was edited. Until the run ends, a call must satisfy both the edited profile and the one with which the
/// run started. A later event of this kind replaces the edited profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileEvent {
    /// The edited profile: see profile.schema.json.
    pub profile: Json,
}

impl ProfileEvent {
    /// Makes one with the members that it must have.
    pub fn new(profile: Json) -> Self {
        ProfileEvent { profile }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The end of a child, as in its action `finish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildResultEvent {
    /// The key of a call, as in its action.
    pub call: String,
    pub status: RunStatus,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub document: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The budget that the child used. A missing member counts as zero. Without this object, the child counts as having
    /// used its whole budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ChildUse>,
    /// The parts of the parent's context that the child requested and was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<Json>>,
    /// Calls whose effect is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertain: Option<Vec<UncertainCall>>,
}

impl ChildResultEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>, status: RunStatus) -> Self {
        ChildResultEvent {
            call: call.into(),
            status,
            document: None,
            kinds: None,
            labels: None,
            confidence: None,
            used: None,
            requests: None,
            uncertain: None,
        }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The host cancelled a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallCancelledEvent {
    /// The key of a call, as in its action.
    pub call: String,
    /// Whether the call may have had an effect. Default: unknown, if it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<PossibleEffect>,
}

impl CallCancelledEvent {
    /// Makes one with the members that it must have.
    pub fn new(call: impl Into<String>) -> Self {
        CallCancelledEvent { call: call.into(), effect: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A person ends the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CancelledEvent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CancelledEvent {
    /// Makes one with the members that it must have.
    pub fn new() -> Self {
        CancelledEvent { principal: None, reason: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// A message between a client and a tool server that is not a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageEvent {
    /// An id that distinguishes equal messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The method of the message, or of the request that it answers.
    pub method: String,
    #[serde(rename = "from")]
    pub from_: Party,
    /// The content of the message. Without it, only the method is checked.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub document: Option<Json>,
}

impl MessageEvent {
    /// Makes one with the members that it must have.
    pub fn new(method: impl Into<String>, from_: Party) -> Self {
        MessageEvent { id: None, server: None, method: method.into(), from_, document: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// Time has passed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TickEvent {}

impl TickEvent {
    /// Makes one with the members that it must have.
    pub fn new() -> Self {
        TickEvent {}
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The host restarts after an interruption.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResumedEvent {
    /// The tools that servers list now, as in `tools_listed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Json>,
}

impl ResumedEvent {
    /// Makes one with the members that it must have.
    pub fn new() -> Self {
        ResumedEvent { listed: None }
    }

    /// Returns it as an event at a time, in milliseconds since 1970.
    pub fn at(self, at: u64) -> Event {
        Event { at, kind: self.into() }
    }
}

/// The next action of the host. `advance` decides it, and the host performs it. Each action has its own key.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Call the model, and send its output as `model_output`.
    AskModel(AskModelAction),
    /// Send a call. Append `tool_started` before sending it. If that event is ignored, do not send the call.
    Execute(ExecuteAction),
    /// Ask a person, and send the decision as `approval`.
    AskApproval(AskApprovalAction),
    /// Ask a person a question, and send the answer as `input`. For an uncertain call, send it as `resolution`.
    AskInput(AskInputAction),
    /// Start or continue the run of another agent. The run's name is fixed. Append `tool_started` first.
    Delegate(DelegateAction),
    /// Cancel a call that was sent or is about to be sent.
    Cancel(CancelAction),
    /// The run has ended.
    Finish(FinishAction),
}

impl Action {
    /// Returns its `type`.
    pub fn word(&self) -> &'static str {
        match self {
            Action::AskModel(_) => "ask_model",
            Action::Execute(_) => "execute",
            Action::AskApproval(_) => "ask_approval",
            Action::AskInput(_) => "ask_input",
            Action::Delegate(_) => "delegate",
            Action::Cancel(_) => "cancel",
            Action::Finish(_) => "finish",
        }
    }

    /// Reads JSON text, without a copy of the whole.
    ///
    /// # Errors
    ///
    /// The text is not JSON, is of another version, or lacks a member.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        match &*tag(text)? {
            "ask_model" => serde_json::from_str(text).map(Action::AskModel),
            "execute" => serde_json::from_str(text).map(Action::Execute),
            "ask_approval" => serde_json::from_str(text).map(Action::AskApproval),
            "ask_input" => serde_json::from_str(text).map(Action::AskInput),
            "delegate" => serde_json::from_str(text).map(Action::Delegate),
            "cancel" => serde_json::from_str(text).map(Action::Cancel),
            "finish" => serde_json::from_str(text).map(Action::Finish),
            other => Err(unknown(other)),
        }
    }

    /// Returns its key. No other action of the run has the same.
    pub fn key(&self) -> &str {
        match self {
            Action::AskModel(body) => &body.key,
            Action::Execute(body) => &body.key,
            Action::AskApproval(body) => &body.key,
            Action::AskInput(body) => &body.key,
            Action::Delegate(body) => &body.key,
            Action::Cancel(body) => &body.key,
            Action::Finish(body) => &body.key,
        }
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Action::AskModel(body) => write(serializer, None, "ask_model", body),
            Action::Execute(body) => write(serializer, None, "execute", body),
            Action::AskApproval(body) => write(serializer, None, "ask_approval", body),
            Action::AskInput(body) => write(serializer, None, "ask_input", body),
            Action::Delegate(body) => write(serializer, None, "delegate", body),
            Action::Cancel(body) => write(serializer, None, "cancel", body),
            Action::Finish(body) => write(serializer, None, "finish", body),
        }
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Action::from_json(Json::deserialize(deserializer)?.as_str()).map_err(D::Error::custom)
    }
}

impl From<AskModelAction> for Action {
    fn from(body: AskModelAction) -> Self {
        Action::AskModel(body)
    }
}

impl From<ExecuteAction> for Action {
    fn from(body: ExecuteAction) -> Self {
        Action::Execute(body)
    }
}

impl From<AskApprovalAction> for Action {
    fn from(body: AskApprovalAction) -> Self {
        Action::AskApproval(body)
    }
}

impl From<AskInputAction> for Action {
    fn from(body: AskInputAction) -> Self {
        Action::AskInput(body)
    }
}

impl From<DelegateAction> for Action {
    fn from(body: DelegateAction) -> Self {
        Action::Delegate(body)
    }
}

impl From<CancelAction> for Action {
    fn from(body: CancelAction) -> Self {
        Action::Cancel(body)
    }
}

impl From<FinishAction> for Action {
    fn from(body: FinishAction) -> Self {
        Action::Finish(body)
    }
}

/// Call the model, and send its output as `model_output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskModelAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The purpose of the request. `frame`: turn free text into a task. `step`: continue. `final`: answer without tools.
    pub purpose: Purpose,
    /// The request to the model.
    pub prompt: Large<ModelPrompt>,
    /// Later answers are ignored.
    pub expires: u64,
}

/// Send a call. Append `tool_started` before sending it. If that event is ignored, do not send the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecuteAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// The server of the tool. Missing if the host itself offers the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The name of the tool in the child.
    pub tool: String,
    pub effect: Effect,
    /// The exact text to send.
    pub arguments: String,
    /// The digest of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The idempotency key, which stays the same however often the call is sent.
    pub idempotency_key: String,
    /// Later results of a read are ignored. An effect is then uncertain.
    pub expires: u64,
    /// The approval that the call uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The secrets whose values the host inserts into the arguments, in the order of the arguments. A host without secrets
    /// must not send the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
}

/// Ask a person, and send the decision as `approval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskApprovalAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// The request for approval that a person sees.
    pub ask: Ask,
}

/// Ask a person a question, and send the answer as `input`. For an uncertain call, send it as `resolution`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskInputAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The question, without invisible characters.
    pub question: String,
    /// The uncertain call whose outcome somebody must state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// In milliseconds since 1970.
    pub expires: u64,
}

/// Start or continue the run of another agent. The run's name is fixed. Append `tool_started` first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DelegateAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// The id of the child's run.
    pub run: String,
    /// The child's agent.
    pub agent: String,
    /// The digest of the child's profile.
    pub profile: String,
    /// The model's reason for the delegation.
    pub reason: String,
    /// The task of the child: everything that it receives.
    pub task: Json,
    /// The digest of this task.
    pub digest: String,
    /// The limits that the parent sets. They go unchanged into the child's event `started` as `parent`: see
    /// event.schema.json.
    pub parent: Bounds,
}

/// Cancel a call that was sent or is about to be sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CancelAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
}

/// The run has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    pub status: RunStatus,
    /// The final answer. For a partial one, its parts: `asked`, `found`, `missing`, `why`, `plan`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub document: Option<Json>,
    /// The reason for which the run had to end. Empty if the answer is final.
    pub reasons: Vec<StopReason>,
    /// The kinds of evidence that are missing.
    pub missing: Vec<String>,
    /// Effects whose outcome is unknown.
    pub uncertain: Vec<UncertainCall>,
    /// The kinds of evidence that were found.
    pub kinds: Vec<String>,
    /// The labels of everything that the model has read.
    pub labels: Vec<String>,
    /// The lowest confidence of all observations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The used budget.
    pub used: RunUse,
    pub requests: Vec<ContextRequest>,
}

/// A decision of a step. It is in the journal beside the event.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An event that does not fit the run. It changed nothing.
    Ignored(IgnoredRecord),
    /// Data from outside that the model does not get, or only in part.
    LeftOut(LeftOutRecord),
    /// The tools that servers list now.
    Surface(SurfaceRecord),
    /// The kind of the model's output. An output with calls has a decision for each call instead.
    Output(OutputRecord),
    /// The decision whether a call may run. See decision.schema.json.
    Decision(DecisionRecord),
    /// A call that equals a call of the event's `joinable`. It was not decided. The host answers it with the result of the
    /// other call.
    Joined(JoinedRecord),
    /// The part of a result that the model may read. See observation.schema.json.
    Observation(ObservationRecord),
    /// A call that ended without a result.
    Settled(SettledRecord),
    /// The content that was removed from the prompt or the state to make it fit.
    Cut(CutRecord),
    /// The reason for which the run ended.
    Stop(StopRecord),
    /// A child requested part of its parent's context and was denied. Recorded in its own run, and in its parent's run.
    ContextRequest(ContextRequestRecord),
    /// The used budget when the run ended.
    Used(UsedRecord),
    /// The decision whether a message between a client and a server may pass, and in which form.
    Message(MessageRecord),
}

impl Record {
    /// Returns its `type`.
    pub fn word(&self) -> &'static str {
        match self {
            Record::Ignored(_) => "ignored",
            Record::LeftOut(_) => "left_out",
            Record::Surface(_) => "surface",
            Record::Output(_) => "output",
            Record::Decision(_) => "decision",
            Record::Joined(_) => "joined",
            Record::Observation(_) => "observation",
            Record::Settled(_) => "settled",
            Record::Cut(_) => "cut",
            Record::Stop(_) => "stop",
            Record::ContextRequest(_) => "context_request",
            Record::Used(_) => "used",
            Record::Message(_) => "message",
        }
    }

    /// Reads JSON text, without a copy of the whole.
    ///
    /// # Errors
    ///
    /// The text is not JSON, is of another version, or lacks a member.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        match &*tag(text)? {
            "ignored" => serde_json::from_str(text).map(Record::Ignored),
            "left_out" => serde_json::from_str(text).map(Record::LeftOut),
            "surface" => serde_json::from_str(text).map(Record::Surface),
            "output" => serde_json::from_str(text).map(Record::Output),
            "decision" => serde_json::from_str(text).map(Record::Decision),
            "joined" => serde_json::from_str(text).map(Record::Joined),
            "observation" => serde_json::from_str(text).map(Record::Observation),
            "settled" => serde_json::from_str(text).map(Record::Settled),
            "cut" => serde_json::from_str(text).map(Record::Cut),
            "stop" => serde_json::from_str(text).map(Record::Stop),
            "context_request" => serde_json::from_str(text).map(Record::ContextRequest),
            "used" => serde_json::from_str(text).map(Record::Used),
            "message" => serde_json::from_str(text).map(Record::Message),
            other => Err(unknown(other)),
        }
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Record::Ignored(body) => write(serializer, None, "ignored", body),
            Record::LeftOut(body) => write(serializer, None, "left_out", body),
            Record::Surface(body) => write(serializer, None, "surface", body),
            Record::Output(body) => write(serializer, None, "output", body),
            Record::Decision(body) => write(serializer, None, "decision", body),
            Record::Joined(body) => write(serializer, None, "joined", body),
            Record::Observation(body) => write(serializer, None, "observation", body),
            Record::Settled(body) => write(serializer, None, "settled", body),
            Record::Cut(body) => write(serializer, None, "cut", body),
            Record::Stop(body) => write(serializer, None, "stop", body),
            Record::ContextRequest(body) => write(serializer, None, "context_request", body),
            Record::Used(body) => write(serializer, None, "used", body),
            Record::Message(body) => write(serializer, None, "message", body),
        }
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Record::from_json(Json::deserialize(deserializer)?.as_str()).map_err(D::Error::custom)
    }
}

impl From<IgnoredRecord> for Record {
    fn from(body: IgnoredRecord) -> Self {
        Record::Ignored(body)
    }
}

impl From<LeftOutRecord> for Record {
    fn from(body: LeftOutRecord) -> Self {
        Record::LeftOut(body)
    }
}

impl From<SurfaceRecord> for Record {
    fn from(body: SurfaceRecord) -> Self {
        Record::Surface(body)
    }
}

impl From<OutputRecord> for Record {
    fn from(body: OutputRecord) -> Self {
        Record::Output(body)
    }
}

impl From<DecisionRecord> for Record {
    fn from(body: DecisionRecord) -> Self {
        Record::Decision(body)
    }
}

impl From<JoinedRecord> for Record {
    fn from(body: JoinedRecord) -> Self {
        Record::Joined(body)
    }
}

impl From<ObservationRecord> for Record {
    fn from(body: ObservationRecord) -> Self {
        Record::Observation(body)
    }
}

impl From<SettledRecord> for Record {
    fn from(body: SettledRecord) -> Self {
        Record::Settled(body)
    }
}

impl From<CutRecord> for Record {
    fn from(body: CutRecord) -> Self {
        Record::Cut(body)
    }
}

impl From<StopRecord> for Record {
    fn from(body: StopRecord) -> Self {
        Record::Stop(body)
    }
}

impl From<ContextRequestRecord> for Record {
    fn from(body: ContextRequestRecord) -> Self {
        Record::ContextRequest(body)
    }
}

impl From<UsedRecord> for Record {
    fn from(body: UsedRecord) -> Self {
        Record::Used(body)
    }
}

impl From<MessageRecord> for Record {
    fn from(body: MessageRecord) -> Self {
        Record::Message(body)
    }
}

/// An event that does not fit the run. It changed nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IgnoredRecord {
    pub code: IgnoredCode,
    /// The text for people.
    pub message: String,
}

/// Data from outside that the model does not get, or only in part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOutRecord {
    pub what: LeftOutWhat,
    /// The digest of the value.
    pub name: String,
    pub code: LeftOutCode,
    /// The text for people.
    pub message: String,
}

/// The tools that servers list now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurfaceRecord {
    /// The tools that the model may see.
    pub tools: Vec<String>,
    pub hidden: Vec<HiddenName>,
}

/// The kind of the model's output. An output with calls has a decision for each call instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputRecord {
    pub kind: OutputKind,
    /// The text for the model, or the model's question.
    pub message: String,
}

/// The decision whether a call may run. See decision.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    pub permit: Permit,
    /// The server of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments as the model gave them, truncated.
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The digest of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The arguments as the model wrote them, truncated to 4 KiB.
    pub arguments: String,
    /// The digest of the whole.
    pub arguments_digest: String,
    /// The digest that equal calls share: calls of the same tool with equal arguments, however these are written.
    pub same: String,
    /// The text for the model.
    pub message: String,
    pub reasons: Vec<Reason>,
    /// The approval that the call uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The origins of values of the arguments. See decision.schema.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The secrets that the call takes. See decision.schema.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
}

/// A call that equals a call of the event's `joinable`. It was not decided. The host answers it with the result of the
/// other call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JoinedRecord {
    /// The digest that equal calls share: calls of the same tool with equal arguments, however these are written.
    pub same: String,
}

/// The part of a result that the model may read. See observation.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservationRecord {
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// The server of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The name of the tool in the child.
    pub tool: String,
    pub status: ObservationStatus,
    /// The id that claims cite.
    pub id: String,
    /// The text for the prompt.
    pub message: String,
    /// The kinds of evidence that it provides.
    pub kinds: Vec<String>,
    /// The labels of the data from its source.
    pub labels: Vec<String>,
    pub confidence: Confidence,
    /// True if it contains the complete result.
    pub complete: bool,
    pub limitations: Vec<Limitation>,
    /// The result that replaces a result of the Model Context Protocol. If it is missing, that result is passed on
    /// unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Json>,
    /// The digest of the whole result.
    pub artifact: String,
    /// The length of the whole result.
    pub bytes: u64,
    /// The findings in the whole result, and their treatment.
    pub found: Found,
    /// The value that the host states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    pub arguments_digest: String,
    /// The text for the audience `ui`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui: Option<String>,
    /// The text for the audience `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A call that ended without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettledRecord {
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// The name of the tool, truncated.
    pub tool: String,
    pub code: SettledCode,
    /// The text for people.
    pub message: String,
}

/// The content that was removed from the prompt or the state to make it fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutRecord {
    #[serde(rename = "from")]
    pub from_: CutFrom,
    /// Calls whose observations lost their text.
    pub calls: Vec<String>,
    /// The number of oldest messages that were left out.
    pub entries: u64,
}

/// The reason for which the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopRecord {
    pub code: StopCode,
    /// The text for people.
    pub message: String,
}

/// A child requested part of its parent's context and was denied. Recorded in its own run, and in its parent's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextRequestRecord {
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// In the parent's run: as in the child's end.
    pub request: Json,
}

/// The used budget when the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsedRecord {
    /// The number of calls of the model.
    pub steps: u64,
    /// The used budget: see facts.schema.json.
    pub budgets: BudgetUse,
}

/// The decision whether a message between a client and a server may pass, and in which form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageRecord {
    pub server: String,
    pub method: String,
    #[serde(rename = "from")]
    pub from_: Party,
    pub permit: Permit,
    /// The sanitized message. If it is missing, the message passes unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub document: Option<Json>,
    /// The findings in the message, and their treatment.
    pub found: Found,
}

/// The decision whether a call may run.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The call may run.
    Allow(AllowedDecision),
    /// The call must not run.
    Deny(DeniedDecision),
    /// A person must decide first. The caller then asks again, with the approval in the facts.
    Approval(ApprovalDecision),
}

impl Decision {
    /// Returns whether the call may run now.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allow(_))
    }

    /// Returns the member of this name.
    pub fn key(&self) -> &str {
        match self {
            Decision::Allow(body) => &body.key,
            Decision::Deny(body) => &body.key,
            Decision::Approval(body) => &body.key,
        }
    }

    /// Returns the member of this name.
    pub fn server(&self) -> Option<&str> {
        match self {
            Decision::Allow(body) => body.server.as_deref(),
            Decision::Deny(body) => body.server.as_deref(),
            Decision::Approval(body) => body.server.as_deref(),
        }
    }

    /// Returns the member of this name.
    pub fn tool(&self) -> &str {
        match self {
            Decision::Allow(body) => &body.tool,
            Decision::Deny(body) => &body.tool,
            Decision::Approval(body) => &body.tool,
        }
    }

    /// The text that the model may read. Empty if the call may run.
    pub fn message(&self) -> &str {
        match self {
            Decision::Allow(body) => &body.message,
            Decision::Deny(body) => &body.message,
            Decision::Approval(body) => &body.message,
        }
    }

    /// The reasons for which the call may not run, or needs approval.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Decision::Allow(body) => &body.reasons,
            Decision::Deny(body) => &body.reasons,
            Decision::Approval(body) => &body.reasons,
        }
    }

    /// The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
    /// values are listed.
    pub fn origins(&self) -> Option<&Vec<Proof>> {
        match self {
            Decision::Allow(body) => body.origins.as_ref(),
            Decision::Deny(body) => body.origins.as_ref(),
            Decision::Approval(body) => body.origins.as_ref(),
        }
    }

    /// The members of the facts that changed.
    pub fn facts(&self) -> &Json {
        match self {
            Decision::Allow(body) => &body.facts,
            Decision::Deny(body) => &body.facts,
            Decision::Approval(body) => &body.facts,
        }
    }
}

impl<'de> Deserialize<'de> for Decision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Told {
            permit: Permit,
        }
        let text = Json::deserialize(deserializer)?;
        let Told { permit } = text.read().map_err(D::Error::custom)?;
        match permit {
            Permit::Allow => text.read().map(Decision::Allow),
            Permit::Deny => text.read().map(Decision::Deny),
            Permit::Approval => text.read().map(Decision::Approval),
        }
        .map_err(D::Error::custom)
    }
}

/// The call may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllowedDecision {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    pub effect: Effect,
    /// The exact text to send. Missing if the call is denied.
    pub arguments: String,
    /// The digest of the action. The approval covers this action, and no other.
    pub digest: String,
    /// The text that the model may read. Empty if the call may run.
    pub message: String,
    /// The reasons for which the call may not run, or needs approval.
    pub reasons: Vec<Reason>,
    /// The approval that the call uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
    /// values are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The secrets that the call takes, in the order of its arguments. A host without secrets must not send the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
    /// The members of the facts that changed.
    pub facts: Json,
}

/// The call must not run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeniedDecision {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The digest of the action. The approval covers this action, and no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The text that the model may read. Empty if the call may run.
    pub message: String,
    /// The reasons for which the call may not run, or needs approval.
    pub reasons: Vec<Reason>,
    /// If the call is denied, the tools that are allowed.
    pub allowed: Vec<String>,
    /// The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
    /// values are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The members of the facts that changed.
    pub facts: Json,
}

/// A person must decide first. The caller then asks again, with the approval in the facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    pub effect: Effect,
    /// The exact text to send. Missing if the call is denied.
    pub arguments: String,
    /// The digest of the action. The approval covers this action, and no other.
    pub digest: String,
    /// The text that the model may read. Empty if the call may run.
    pub message: String,
    /// The reasons for which the call may not run, or needs approval.
    pub reasons: Vec<Reason>,
    /// The request for approval that a person sees.
    pub ask: Ask,
    /// The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
    /// values are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The secrets that the call takes, in the order of its arguments. A host without secrets must not send the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
    /// The members of the facts that changed.
    pub facts: Json,
}

/// The rules of one agent above a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParentRules {
    /// The part of the agent's profile that judges calls of the tools that were handed on: see profile.schema.json.
    pub profile: Json,
    /// The agent's task, if a scope or an origin names it. The child's model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub task: Option<Json>,
    /// The values of the agent's context that a scope or an origin names. The child's model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Json>,
    /// The lists that a scope or an origin names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<BTreeMap<String, Vec<String>>>,
    /// The texts that people said to the agent, if an origin needs them. The child's model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Vec<String>>,
    /// Values of the agent's results that an origin names: see facts.schema.json. The child's model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Vec<Json>>,
    /// The number of times that each call was permitted in the agent's run and below it before the child started, if the
    /// agent's budget has `same_call`. A call that waits for approval counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// The times of the last permitted calls of each tool with a `rate`, in the agent's run and below it, before the child
    /// started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
    /// The number of times that other children, which run at the same time, may make each call that is not only a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
}

/// The budget of the child.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChildBudget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_call: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_bytes: Option<u64>,
}

/// The bounds of a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    pub run: String,
    /// The key of a call, as in its action.
    pub call: String,
    /// The tools that were handed on.
    pub tools: Vec<String>,
    /// The rules of the agents above, beginning with the parent. Each of them judges each call of the child, in addition to
    /// the child's own profile.
    pub rules: Vec<ParentRules>,
    /// The labels of the data that the parent has read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// The budget of the child.
    pub budget: ChildBudget,
    /// The time of the event, in milliseconds since 1970. The time of the run is the greatest time so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
    /// True if the last of the rules is the run's own profile after an edit. In a run without a parent, it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The model's own id. It may repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    /// An object, or the text as the model wrote it.
    pub arguments: Json,
}

/// The number of tokens. If it is missing, it is estimated from bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

/// The approval also covers further calls of this run: those of the same tool with the same arguments except some, as
/// long as they need approval for no other reason. Not allowed with a token.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ApprovalRemember {
    /// The names of the arguments that may differ or be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any: Option<Vec<String>>,
    /// The number of further calls that it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The time for which it is valid, in seconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
}

/// The labels of the data below one key of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// The name of the store.
    pub store: String,
    /// The key. If it is missing, the whole store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub labels: Vec<String>,
}

/// The budget that the child used. A missing member counts as zero. Without this object, the child counts as having
/// used its whole budget.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChildUse {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// The number of times that each call was permitted. The parent counts them as its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// The times of the last permitted calls of each tool with a `rate`. The parent counts them as its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UncertainCall {
    /// The child that made the call. Missing if the run itself made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The key of a call, as in its action.
    pub call: String,
    /// The server of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The name of the tool in the child.
    pub tool: String,
    /// The arguments that were sent. Those of a child are truncated to 1 KiB.
    pub arguments: String,
}

/// A call that the model requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// The run's own key for a call: c1, c2, ….
    pub call: String,
    /// The model's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The server of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments as the model gave them.
    pub tool: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
}

/// One message. The messages have a fixed order: role, rules, task, context, history, and last what to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptMessage {
    pub role: Role,
    /// The text of the message. Data from outside is between marks that the data cannot know.
    pub text: String,
    /// The calls of an assistant's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<RequestedCall>>,
    /// The call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The model's own id for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider's message, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Json>,
}

/// A tool that the model sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VisibleTool {
    /// The server of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The name of the tool.
    pub tool: String,
    pub effect: Effect,
    pub permit: Permit,
    /// The definition as the server lists it, sanitized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Json>,
}

/// The request to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelPrompt {
    pub messages: Vec<PromptMessage>,
    /// The surface: the tools that the model may call now.
    pub tools: Vec<VisibleTool>,
}

/// The approval that the call uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The principal who approved.
    pub principal: String,
    /// In milliseconds since 1970.
    pub at: u64,
    /// True if a person gave the approval for another call of the run and it also covers this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<bool>,
}

/// A secret. The host replaces a reference with its value when it sends the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    /// A JSON Pointer into the arguments. The value there is the text `secret:NAME`.
    pub at: String,
    /// The name of the tool.
    pub name: String,
}

/// The request for approval that a person sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The run's own key for a call: c1, c2, ….
    pub key: String,
    /// The digest of the action. The approval covers this action, and no other.
    pub digest: String,
    /// The principals who may decide. One of them is enough.
    pub by: Vec<String>,
    /// The public keys of the principals that have keys. Such a principal's decision counts only with a token that one of
    /// these keys signed, whichever profile lists the key. If the profiles of a child and of the agents above it list
    /// different keys for one principal, the list is empty, and the principal cannot decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<BTreeMap<String, Vec<String>>>,
    /// The time at which the ask and any approval of it expire.
    pub expires: u64,
    /// The whole call as it would be sent, with invisible characters escaped, and the equal calls that ran before.
    pub view: String,
}

/// The reason for which the run must end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopReason {
    pub code: StopCode,
    /// The text for people.
    pub message: String,
}

/// The used budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunUse {
    pub steps: u64,
    pub tool_calls: u64,
    pub tokens: u64,
    /// The number of times that each call was permitted, by a digest of the call. For the parent of a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// The times of the last permitted calls of each tool with a `rate`. For the parent of a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
}

/// The part of its parent's context that a child requested and was denied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextRequest {
    /// The child's reason for the request.
    pub reason: String,
    /// The digest of the task that it received.
    pub packet: String,
    /// The tools that its profile names.
    pub tools: Vec<String>,
}

/// A tool that the model does not see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HiddenName {
    /// NAME or SERVER/NAME.
    pub tool: String,
    pub code: HiddenToolCode,
    /// The error in the tool's definition, and its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The reasons for which the call may not run, or needs approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    pub code: ReasonCode,
    /// The text for people.
    pub message: String,
    pub violations: Vec<Violation>,
}

/// The place of the name of the value's item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamePlace {
    /// `user` or `task`.
    pub origin: String,
    /// The number of the text among the texts that people said, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// A JSON Pointer into the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A range of bytes in the text there: the first byte, and the one after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// The origin of a value of a call, or the places where it was sought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// A JSON Pointer into the arguments.
    pub pointer: String,
    /// `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as in the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The number of the text among the texts that people said, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// The call whose result contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// A JSON Pointer into the task, the value of the context, the list or the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A range of bytes in the text there: the first byte, and the one after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The place of the name of the value's item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<NamePlace>,
    /// The places where a value without an origin was sought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sought: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    pub kind: String,
    /// The place in the result.
    pub path: String,
    /// The range of bytes in the text there: the first byte, and the one after the last.
    pub span: Span,
}

/// The findings in the whole result, and their treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The number of links and images that were defanged.
    pub defanged: u64,
    /// The number of hidden characters of each kind that were escaped.
    pub escaped: BTreeMap<String, u64>,
    /// Passages that read like an instruction. They are kept.
    pub instructions: Vec<Instruction>,
    /// The number of further ones.
    pub instructions_left_out: u64,
    /// The number of secrets of each kind that were left out.
    pub redacted: BTreeMap<String, u64>,
}

/// The used budget: see facts.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetUse {
    pub tool_calls: u64,
    pub tokens: u64,
    pub ms: u64,
    /// The number of times that each call was permitted, by a digest of the call.
    pub calls: BTreeMap<String, u64>,
    /// The times of the last permitted calls of each tool with a `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
}

/// The truncation: the number of items or lines that are shown, and the total number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub unit: ShownUnit,
    pub head: u64,
    pub tail: u64,
    pub of: u64,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Provenance {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// The time up to which the data extends, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    pub lag_s: u64,
    pub stale: bool,
}

/// The part of a result that the model may read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolObservation {
    /// The id that claims cite: the tool's name, `#`, and the key of the call.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    /// `error`: the tool reports a failure. `invalid`: the result does not match its schema, and none of it is shown.
    pub status: ObservationStatus,
    /// The text for the prompt: the source of the data, its problems, and the data between marks.
    pub message: String,
    /// The data: truncated to the profile's `max_bytes`, and sanitized.
    pub text: String,
    /// The kinds of evidence that it provides.
    pub kinds: Vec<String>,
    pub labels: Vec<String>,
    pub confidence: Confidence,
    /// True if it contains the complete result.
    pub complete: bool,
    pub limitations: Vec<Limitation>,
    /// The result that replaces a result of the Model Context Protocol. If it is missing, that result is passed on
    /// unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Json>,
    /// The digest of the whole result, under which the host keeps it.
    pub artifact: String,
    /// The length of the whole result.
    pub bytes: u64,
    /// The truncation: the number of items or lines that are shown, and the total number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    pub provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// The findings in the whole result, and their treatment.
    pub found: Found,
    /// The places at which it does not match its schema.
    pub violations: Vec<Violation>,
    /// The members of the facts that changed.
    pub facts: Json,
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    Ok,
    Error,
}

impl ResultStatus {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ResultStatus::Ok => "ok",
            ResultStatus::Error => "error",
        }
    }
}

impl fmt::Display for ResultStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PossibleEffect {
    None,
    Unknown,
}

impl PossibleEffect {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            PossibleEffect::None => "none",
            PossibleEffect::Unknown => "unknown",
        }
    }
}

impl fmt::Display for PossibleEffect {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    Approved,
    Rejected,
    Edited,
}

impl ApprovalAnswer {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalAnswer::Approved => "approved",
            ApprovalAnswer::Rejected => "rejected",
            ApprovalAnswer::Edited => "edited",
        }
    }
}

impl fmt::Display for ApprovalAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionOutcome {
    Done,
    NotDone,
}

impl ResolutionOutcome {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ResolutionOutcome::Done => "done",
            ResolutionOutcome::NotDone => "not_done",
        }
    }
}

impl fmt::Display for ResolutionOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Final,
    FinalPartial,
    Failed,
    Cancelled,
}

impl RunStatus {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Final => "final",
            RunStatus::FinalPartial => "final_partial",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    Client,
    Server,
}

impl Party {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Party::Client => "client",
            Party::Server => "server",
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Frame,
    Step,
    Final,
}

impl Purpose {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::Frame => "frame",
            Purpose::Step => "step",
            Purpose::Final => "final",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Role {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Idempotent,
    Effectful,
}

impl Effect {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Idempotent => "idempotent",
            Effect::Effectful => "effectful",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    Allow,
    Deny,
    Approval,
}

impl Permit {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Permit::Allow => "allow",
            Permit::Deny => "deny",
            Permit::Approval => "approval",
        }
    }
}

impl fmt::Display for Permit {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCode {
    Budget,
    SameCall,
    SameDenial,
    Rejected,
    Surface,
    Unresolved,
    NoAnswer,
    Prompt,
    StateBytes,
    Cancelled,
    Task,
    Context,
    Model,
}

impl StopCode {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            StopCode::Budget => "budget",
            StopCode::SameCall => "same_call",
            StopCode::SameDenial => "same_denial",
            StopCode::Rejected => "rejected",
            StopCode::Surface => "surface",
            StopCode::Unresolved => "unresolved",
            StopCode::NoAnswer => "no_answer",
            StopCode::Prompt => "prompt",
            StopCode::StateBytes => "state_bytes",
            StopCode::Cancelled => "cancelled",
            StopCode::Task => "task",
            StopCode::Context => "context",
            StopCode::Model => "model",
        }
    }
}

impl fmt::Display for StopCode {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IgnoredCode {
    Finished,
    Repeated,
    Started,
    Loop,
    NoLoop,
    Late,
    NotDispatched,
    NotUnderWay,
    NotUncertain,
    NoAsk,
    BeforeAsk,
    Digest,
    Approver,
    Arguments,
    Token,
    NotAsked,
    Mode,
}

impl IgnoredCode {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            IgnoredCode::Finished => "finished",
            IgnoredCode::Repeated => "repeated",
            IgnoredCode::Started => "started",
            IgnoredCode::Loop => "loop",
            IgnoredCode::NoLoop => "no_loop",
            IgnoredCode::Late => "late",
            IgnoredCode::NotDispatched => "not_dispatched",
            IgnoredCode::NotUnderWay => "not_under_way",
            IgnoredCode::NotUncertain => "not_uncertain",
            IgnoredCode::NoAsk => "no_ask",
            IgnoredCode::BeforeAsk => "before_ask",
            IgnoredCode::Digest => "digest",
            IgnoredCode::Approver => "approver",
            IgnoredCode::Arguments => "arguments",
            IgnoredCode::Token => "token",
            IgnoredCode::NotAsked => "not_asked",
            IgnoredCode::Mode => "mode",
        }
    }
}

impl fmt::Display for IgnoredCode {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutWhat {
    Context,
    Output,
}

impl LeftOutWhat {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            LeftOutWhat::Context => "context",
            LeftOutWhat::Output => "output",
        }
    }
}

impl fmt::Display for LeftOutWhat {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutCode {
    Undeclared,
    Invalid,
    TooLarge,
}

impl LeftOutCode {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            LeftOutCode::Undeclared => "undeclared",
            LeftOutCode::Invalid => "invalid",
            LeftOutCode::TooLarge => "too_large",
        }
    }
}

impl fmt::Display for LeftOutCode {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenToolCode {
    Absent,
    Changed,
    Unknown,
    Permit,
    Deny,
    Mode,
    Parent,
    InvalidDefinition,
}

impl HiddenToolCode {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            HiddenToolCode::Absent => "absent",
            HiddenToolCode::Changed => "changed",
            HiddenToolCode::Unknown => "unknown",
            HiddenToolCode::Permit => "permit",
            HiddenToolCode::Deny => "deny",
            HiddenToolCode::Mode => "mode",
            HiddenToolCode::Parent => "parent",
            HiddenToolCode::InvalidDefinition => "invalid_definition",
        }
    }
}

impl fmt::Display for HiddenToolCode {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    Answer,
    NoAnswer,
    Question,
    Plan,
    Refusal,
    Task,
    NoTask,
    Calls,
    Failure,
}

impl OutputKind {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            OutputKind::Answer => "answer",
            OutputKind::NoAnswer => "no_answer",
            OutputKind::Question => "question",
            OutputKind::Plan => "plan",
            OutputKind::Refusal => "refusal",
            OutputKind::Task => "task",
            OutputKind::NoTask => "no_task",
            OutputKind::Calls => "calls",
            OutputKind::Failure => "failure",
        }
    }
}

impl fmt::Display for OutputKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    UnknownTool,
    AmbiguousTool,
    Mode,
    Parent,
    Surface,
    Malformed,
    TooLarge,
    Definition,
    Arguments,
    Deny,
    Mark,
    Secret,
    Scope,
    Origin,
    Flow,
    Budget,
    SameCall,
    Rate,
    StateBytes,
    Permit,
    Rejected,
    Expired,
    Approver,
    Digest,
    BeforeAsk,
    InvalidDefinition,
}

impl ReasonCode {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ReasonCode::UnknownTool => "unknown_tool",
            ReasonCode::AmbiguousTool => "ambiguous_tool",
            ReasonCode::Mode => "mode",
            ReasonCode::Parent => "parent",
            ReasonCode::Surface => "surface",
            ReasonCode::Malformed => "malformed",
            ReasonCode::TooLarge => "too_large",
            ReasonCode::Definition => "definition",
            ReasonCode::Arguments => "arguments",
            ReasonCode::Deny => "deny",
            ReasonCode::Mark => "mark",
            ReasonCode::Secret => "secret",
            ReasonCode::Scope => "scope",
            ReasonCode::Origin => "origin",
            ReasonCode::Flow => "flow",
            ReasonCode::Budget => "budget",
            ReasonCode::SameCall => "same_call",
            ReasonCode::Rate => "rate",
            ReasonCode::StateBytes => "state_bytes",
            ReasonCode::Permit => "permit",
            ReasonCode::Rejected => "rejected",
            ReasonCode::Expired => "expired",
            ReasonCode::Approver => "approver",
            ReasonCode::Digest => "digest",
            ReasonCode::BeforeAsk => "before_ask",
            ReasonCode::InvalidDefinition => "invalid_definition",
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationStatus {
    Ok,
    Error,
    Invalid,
}

impl ObservationStatus {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ObservationStatus::Ok => "ok",
            ObservationStatus::Error => "error",
            ObservationStatus::Invalid => "invalid",
        }
    }
}

impl fmt::Display for ObservationStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limitation {
    Contradictory,
    Error,
    Format,
    Invalid,
    InvalidItems,
    Partial,
    Sampled,
    Stale,
    Truncated,
    Undated,
    Unchecked,
}

impl Limitation {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Limitation::Contradictory => "contradictory",
            Limitation::Error => "error",
            Limitation::Format => "format",
            Limitation::Invalid => "invalid",
            Limitation::InvalidItems => "invalid_items",
            Limitation::Partial => "partial",
            Limitation::Sampled => "sampled",
            Limitation::Stale => "stale",
            Limitation::Truncated => "truncated",
            Limitation::Undated => "undated",
            Limitation::Unchecked => "unchecked",
        }
    }
}

impl fmt::Display for Limitation {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledCode {
    Expired,
    NotSent,
    Rejected,
    Cancelled,
    Uncertain,
}

impl SettledCode {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            SettledCode::Expired => "expired",
            SettledCode::NotSent => "not_sent",
            SettledCode::Rejected => "rejected",
            SettledCode::Cancelled => "cancelled",
            SettledCode::Uncertain => "uncertain",
        }
    }
}

impl fmt::Display for SettledCode {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutFrom {
    Prompt,
    State,
}

impl CutFrom {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            CutFrom::Prompt => "prompt",
            CutFrom::State => "state",
        }
    }
}

impl fmt::Display for CutFrom {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownUnit {
    Items,
    Lines,
    Members,
    Bytes,
    Parts,
}

impl ShownUnit {
    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ShownUnit::Items => "items",
            ShownUnit::Lines => "lines",
            ShownUnit::Members => "members",
            ShownUnit::Bytes => "bytes",
            ShownUnit::Parts => "parts",
        }
    }
}

impl fmt::Display for ShownUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
