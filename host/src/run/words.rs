//! The words of a run, which `schemas/` states and documents.
//!
//! Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::value::{Json, Large, present, tag, unknown, write};
use crate::types::{Confidence, Finish, Span, Violation};

/// A fact from outside that `advance` takes. Its time is the host's. An event that does not fit the run is recorded,
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
    /// A run starts. It is the first event, and the only one of its kind.
    Started(StartedEvent),
    /// What servers list now.
    ToolsListed(ToolsListedEvent),
    /// What the model wrote.
    ModelOutput(ModelOutputEvent),
    /// The model gave no output.
    ModelFailed(ModelFailedEvent),
    /// One call from outside of a loop, for profiles that have none.
    Call(CallEvent),
    /// The host is about to send a call. It journals this before it sends.
    ToolStarted(ToolStartedEvent),
    /// What a tool returned: see result.schema.json.
    ToolResult(ToolResultEvent),
    /// A call came to no result.
    ToolFailed(ToolFailedEvent),
    /// A call goes on elsewhere. Its result comes later.
    Job(JobEvent),
    /// What a person decided about one ask. `edited` puts `arguments` in place of those of the call, which is then judged
    /// again: if it needs approval, that is a new ask.
    Approval(ApprovalEvent),
    /// What a person answered.
    Input(InputEvent),
    /// What a person says by themselves.
    UserMessage(UserMessageEvent),
    /// What a person said elsewhere, by which `origins` are proven. The model is not told it.
    Said(SaidEvent),
    /// Labels that other runs gave to data in stores. They add to those that the run knows.
    Stores(StoresEvent),
    /// A declared value changed.
    Context(ContextEvent),
    /// A person says what became of an uncertain call.
    Resolution(ResolutionEvent),
    /// A person changes the mode.
    Mode(ModeEvent),
    /// The profile was edited. Until the run ends, a call must pass the edited profile as well as the one with which the
    /// run started; a later event of this kind replaces the edited one.
    Profile(ProfileEvent),
    /// How a child ended, as its action `finish` has it.
    ChildResult(ChildResultEvent),
    /// The host cancelled a call.
    CallCancelled(CallCancelledEvent),
    /// A person ends the run.
    Cancelled(CancelledEvent),
    /// A message between a client and a server of tools that is no call of a tool.
    Message(MessageEvent),
    /// Time has passed.
    Tick(TickEvent),
    /// The host starts again after it was interrupted.
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

/// A run starts. It is the first event, and the only one of its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartedEvent {
    /// The run's id.
    pub run: String,
    /// For whom the agent works.
    pub principal: String,
    /// A secret of the run, random. The marks around data from outside are made from it.
    pub nonce: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// One of the profile's modes. Default: its first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The task. Free text where the profile says `frame`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub task: Option<Json>,
    /// Values by the names that the profile's `context` has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Json>,
    /// Lists that `scope` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<BTreeMap<String, Vec<String>>>,
    /// What servers list now, as `tools_listed` has it. Without it, all tools of the profile are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed: Option<Json>,
    /// Labels of data that the client has read before, in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// What a parent allows, as its action `delegate` has it.
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

/// What servers list now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolsListedEvent {
    /// In the format of lock files, see lock.schema.json.
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

/// What the model wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelOutputEvent {
    /// The key of the action `ask_model` that it answers.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Large<String>>,
    /// The calls that the model asks for, in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<ModelCall>>,
    /// The provider's message. It comes back unchanged in later prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Json>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// Tokens. Without it they are estimated from bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The artifacts that the step asked for under `need`: texts by their digests.
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

/// The model gave no output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFailedEvent {
    /// The key of a call, as its action has it.
    pub key: String,
    pub message: String,
    /// Whether another attempt may help. Default: no, it failed for good.
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

/// One call from outside of a loop, for profiles that have none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEvent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    pub arguments: Json,
    /// Digests of calls that an equal call may join, as `same` of their decisions has them. A call that joins one is not
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

/// The host is about to send a call. It journals this before it sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolStartedEvent {
    /// The key of a call, as its action has it.
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

/// What a tool returned: see result.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResultEvent {
    /// The key of a call, as its action has it.
    pub call: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// `error`: the tool says that it failed. Then the result is cleaned, and not held to the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ResultStatus>,
    /// Any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Json>,
    /// A result of the Model Context Protocol, whole. It says itself whether the tool failed. Its `structuredContent` is
    /// held to the schema, or without one its only text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Json>,
    /// Text. Where the profile has a schema or items for the result, it is read as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Large<String>>,
    /// The beginning of a text that is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
    /// Its length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The digest of the whole, under which the host keeps it. Beside `returned` it is the host's word.
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

/// A call came to no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFailedEvent {
    /// The key of a call, as its action has it.
    pub call: String,
    pub message: String,
    /// Whether the call may have had an effect. Default: unknown, where it was started.
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

/// A call goes on elsewhere. Its result comes later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    /// The key of a call, as its action has it.
    pub call: String,
    /// Until then, at most, in seconds from now.
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

/// What a person decided about one ask. `edited` puts `arguments` in place of those of the call, which is then judged
/// again: if it needs approval, that is a new ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalEvent {
    /// The key of a call, as its action has it.
    pub key: String,
    pub digest: String,
    pub decision: ApprovalAnswer,
    pub principal: String,
    /// The new arguments as they would be sent: the text of a JSON object. Only with `edited`, and only in a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The approval covers further calls of this run, too: those of the same tool with the same arguments but for some, as
    /// long as they need approval for no other reason. Not with a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<ApprovalRemember>,
    /// Why, in the person's words. The model reads it if the call is rejected or edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the host verified before it appended this.
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

/// What a person answered.
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

/// What a person says by themselves.
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

/// What a person said elsewhere, by which `origins` are proven. The model is not told it.
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

/// Labels that other runs gave to data in stores. They add to those that the run knows.
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

/// A declared value changed.
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

/// A person says what became of an uncertain call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolutionEvent {
    /// The key of a call, as its action has it.
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

/// The profile was edited. Until the run ends, a call must pass the edited profile as well as the one with which the
/// run started; a later event of this kind replaces the edited one.
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

/// How a child ended, as its action `finish` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildResultEvent {
    /// The key of a call, as its action has it.
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
    /// What it used. A member that is missing is nothing; without this, it used all that it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ChildUse>,
    /// What it asked of the parent's context, and was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<Json>>,
    /// Calls of which nobody knows whether they had their effect.
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
    /// The key of a call, as its action has it.
    pub call: String,
    /// Whether the call may have had an effect. Default: unknown, where it was started.
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

/// A message between a client and a server of tools that is no call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageEvent {
    /// Tells equal messages apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its method, or that of the request that it answers.
    pub method: String,
    #[serde(rename = "from")]
    pub from_: Party,
    /// What it says. Without it, only whether the method exists is decided.
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

/// The host starts again after it was interrupted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResumedEvent {
    /// What servers list now, as `tools_listed` has it.
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

/// What the host must do next: decided by `advance`, done by the host. Each has a key of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Ask the model, and send what it writes as `model_output`.
    AskModel(AskModelAction),
    /// Send a call. Append `tool_started` before it is sent; if that event is ignored, do not send it.
    Execute(ExecuteAction),
    /// Ask a person, and send the decision as `approval`.
    AskApproval(AskApprovalAction),
    /// Ask a person, and send the answer as `input`; about an uncertain call, as `resolution`.
    AskInput(AskInputAction),
    /// Start the run of another agent, or go on with it: its run has one name. Append `tool_started` before.
    Delegate(DelegateAction),
    /// Cancel a call that was sent or is about to be.
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

/// Ask the model, and send what it writes as `model_output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskModelAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// `frame`: make a task of free text. `step`: go on. `final`: answer, without tools.
    pub purpose: Purpose,
    /// What the model is asked.
    pub prompt: Large<ModelPrompt>,
    /// Later answers do not count.
    pub expires: u64,
}

/// Send a call. Append `tool_started` before it is sent; if that event is ignored, do not send it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecuteAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// Where it runs. None: the host itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its name there.
    pub tool: String,
    pub effect: Effect,
    /// Exactly the text to be sent.
    pub arguments: String,
    /// Of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The same one however often the call is sent.
    pub idempotency_key: String,
    /// Later results of a read do not count; an effect is then uncertain.
    pub expires: u64,
    /// The approval that it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The secrets whose values the host puts into the arguments, in the order of the arguments. A host that has no secrets
    /// must not send the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
}

/// Ask a person, and send the decision as `approval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskApprovalAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// What a person is asked.
    pub ask: Ask,
}

/// Ask a person, and send the answer as `input`; about an uncertain call, as `resolution`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskInputAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// Without what cannot be seen.
    pub question: String,
    /// The uncertain call of which somebody must say what became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// In milliseconds since 1970.
    pub expires: u64,
}

/// Start the run of another agent, or go on with it: its run has one name. Append `tool_started` before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DelegateAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// The child's run.
    pub run: String,
    /// Its agent.
    pub agent: String,
    /// Of its profile.
    pub profile: String,
    /// Why, as the model says.
    pub reason: String,
    /// All that it is given.
    pub task: Json,
    /// Of the task as it stands here.
    pub digest: String,
    /// What the parent allows. It goes into the child's event `started` as `parent`, as it is: see event.schema.json.
    pub parent: Bounds,
}

/// Cancel a call that was sent or is about to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CancelAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
}

/// The run has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishAction {
    /// RUN/STEP/N: the N-th action of a step.
    pub key: String,
    pub status: RunStatus,
    /// The final answer, or what a partial one is made of: `asked`, `found`, `missing`, `why`, `plan`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub document: Option<Json>,
    /// Why it had to end. Empty where the answer is final.
    pub reasons: Vec<StopReason>,
    /// The kinds of evidence that are missing.
    pub missing: Vec<String>,
    /// Effects of which nobody knows.
    pub uncertain: Vec<UncertainCall>,
    /// The kinds of evidence that were found.
    pub kinds: Vec<String>,
    /// Of all that the model has read.
    pub labels: Vec<String>,
    /// The weakest of all observations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How much was used.
    pub used: RunUse,
    pub requests: Vec<ContextRequest>,
}

/// What a step decided. It goes into the journal beside the event.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An event that does not fit the run. It changed nothing.
    Ignored(IgnoredRecord),
    /// Something from outside that the model does not get, or not whole.
    LeftOut(LeftOutRecord),
    /// What servers list now.
    Surface(SurfaceRecord),
    /// What the model's output was. An output with calls has a decision for each instead.
    Output(OutputRecord),
    /// Whether a call may run. See decision.schema.json.
    Decision(DecisionRecord),
    /// A call that equals a call of the event's `joinable`. It was not decided: the host answers it by the other one's
    /// result.
    Joined(JoinedRecord),
    /// What the model may read of a result. See observation.schema.json.
    Observation(ObservationRecord),
    /// A call that came to no result.
    Settled(SettledRecord),
    /// What left the prompt or the state, so that it fits.
    Cut(CutRecord),
    /// Why the run ended.
    Stop(StopRecord),
    /// A child asked for its parent's context, and was denied: in its own run, and in its parent's.
    ContextRequest(ContextRequestRecord),
    /// How much was used when the run ended.
    Used(UsedRecord),
    /// Whether a message between a client and a server may pass, and as what.
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
    /// For people.
    pub message: String,
}

/// Something from outside that the model does not get, or not whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOutRecord {
    pub what: LeftOutWhat,
    /// Of the value.
    pub name: String,
    pub code: LeftOutCode,
    /// For people.
    pub message: String,
}

/// What servers list now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurfaceRecord {
    /// Those that the model may see.
    pub tools: Vec<String>,
    pub hidden: Vec<HiddenName>,
}

/// What the model's output was. An output with calls has a decision for each instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputRecord {
    pub kind: OutputKind,
    /// What the model is told, or what it asked.
    pub message: String,
}

/// Whether a call may run. See decision.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    pub permit: Permit,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// As the model gave it, cut.
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// As the model wrote them, cut to 4 KiB.
    pub arguments: String,
    /// Of the whole.
    pub arguments_digest: String,
    /// The digest that equal calls share: calls of the same tool with equal arguments, however these are written.
    pub same: String,
    /// What the model is told.
    pub message: String,
    pub reasons: Vec<Reason>,
    /// The approval that it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Where values of the arguments come from. See decision.schema.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The secrets that the call takes. See decision.schema.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
}

/// A call that equals a call of the event's `joinable`. It was not decided: the host answers it by the other one's
/// result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JoinedRecord {
    /// The digest that equal calls share: calls of the same tool with equal arguments, however these are written.
    pub same: String,
}

/// What the model may read of a result. See observation.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservationRecord {
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// Where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its name there.
    pub tool: String,
    pub status: ObservationStatus,
    /// What claims cite.
    pub id: String,
    /// What goes into the prompt.
    pub message: String,
    /// The kinds of evidence that it is.
    pub kinds: Vec<String>,
    /// What is known of the data by where it came from.
    pub labels: Vec<String>,
    pub confidence: Confidence,
    /// Whether it is everything that there is.
    pub complete: bool,
    pub limitations: Vec<Limitation>,
    /// The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Json>,
    /// Of the whole result.
    pub artifact: String,
    /// Its length.
    pub bytes: u64,
    /// What was found in the whole result, and what was done about it.
    pub found: Found,
    /// As the host says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    pub arguments_digest: String,
    /// What `ui` is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui: Option<String>,
    /// What `user` is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A call that came to no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettledRecord {
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// Its name, cut.
    pub tool: String,
    pub code: SettledCode,
    /// For people.
    pub message: String,
}

/// What left the prompt or the state, so that it fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutRecord {
    #[serde(rename = "from")]
    pub from_: CutFrom,
    /// Calls whose observations lost their text.
    pub calls: Vec<String>,
    /// How many of the oldest messages were left out.
    pub entries: u64,
}

/// Why the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopRecord {
    pub code: StopCode,
    /// For people.
    pub message: String,
}

/// A child asked for its parent's context, and was denied: in its own run, and in its parent's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextRequestRecord {
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// In the run of the parent: as the child's end has it.
    pub request: Json,
}

/// How much was used when the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsedRecord {
    /// How often the model was asked.
    pub steps: u64,
    /// The use of budgets: see facts.schema.json.
    pub budgets: BudgetUse,
}

/// Whether a message between a client and a server may pass, and as what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageRecord {
    pub server: String,
    pub method: String,
    #[serde(rename = "from")]
    pub from_: Party,
    pub permit: Permit,
    /// What it says, cleaned. Without it, it passes as it is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub document: Option<Json>,
    /// What was found in it, and what was done about it.
    pub found: Found,
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The call may run.
    Allow(AllowedDecision),
    /// The call must not run.
    Deny(DeniedDecision),
    /// A person must decide first. Then ask again, with the approval in the facts.
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

    /// What the model may be told. Empty where the call may run.
    pub fn message(&self) -> &str {
        match self {
            Decision::Allow(body) => &body.message,
            Decision::Deny(body) => &body.message,
            Decision::Approval(body) => &body.message,
        }
    }

    /// Why it may not run, or needs approval.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Decision::Allow(body) => &body.reasons,
            Decision::Deny(body) => &body.reasons,
            Decision::Approval(body) => &body.reasons,
        }
    }

    /// Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
    /// are listed.
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
    /// The text to send, byte for byte. None where the call is denied.
    pub arguments: String,
    /// The digest of the action: what is approved is this, and nothing else.
    pub digest: String,
    /// What the model may be told. Empty where the call may run.
    pub message: String,
    /// Why it may not run, or needs approval.
    pub reasons: Vec<Reason>,
    /// The approval that the call uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
    /// are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The secrets that the call takes, in the order of its arguments. A host that has no secrets must not send such a
    /// call.
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
    /// The digest of the action: what is approved is this, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What the model may be told. Empty where the call may run.
    pub message: String,
    /// Why it may not run, or needs approval.
    pub reasons: Vec<Reason>,
    /// Where it is denied: the tools that are not.
    pub allowed: Vec<String>,
    /// Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
    /// are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The members of the facts that changed.
    pub facts: Json,
}

/// A person must decide first. Then ask again, with the approval in the facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    pub effect: Effect,
    /// The text to send, byte for byte. None where the call is denied.
    pub arguments: String,
    /// The digest of the action: what is approved is this, and nothing else.
    pub digest: String,
    /// What the model may be told. Empty where the call may run.
    pub message: String,
    /// Why it may not run, or needs approval.
    pub reasons: Vec<Reason>,
    /// What a person is asked.
    pub ask: Ask,
    /// Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
    /// are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<Proof>>,
    /// The secrets that the call takes, in the order of its arguments. A host that has no secrets must not send such a
    /// call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<Secret>>,
    /// The members of the facts that changed.
    pub facts: Json,
}

/// The rules of one agent above a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParentRules {
    /// The part of its profile that judges calls of the tools that were handed on: see profile.schema.json.
    pub profile: Json,
    /// Its task, if a scope or an origin names it. The child's model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub task: Option<Json>,
    /// The values of its context that a scope or an origin names. The child's model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Json>,
    /// The lists that a scope or an origin names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<BTreeMap<String, Vec<String>>>,
    /// What people said to it, if an origin needs it. The child's model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Vec<String>>,
    /// Values of its results that an origin names: see facts.schema.json. The child's model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Vec<Json>>,
    /// How often each call was permitted in its run and below it before the child started, where its budget has
    /// `same_call`. A call that waits for approval counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// When the last calls of each tool with a `rate` were permitted in its run and below it before the child started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
    /// How often other children, which run at the same time, may make each call that does more than read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
}

/// What the child may use.
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
    /// The key of a call, as its action has it.
    pub call: String,
    /// The tools that were handed on.
    pub tools: Vec<String>,
    /// The rules of the agents above, the parent's first. Each call of the child is judged by all of them, and by its own
    /// profile.
    pub rules: Vec<ParentRules>,
    /// What the parent has read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// What the child may use.
    pub budget: ChildBudget,
    /// When, in milliseconds since 1970. The run's time is the greatest one seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
    /// Whether the last of the rules is the run's own profile after an edit. Without a parent it is the only one.
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

/// Tokens. Without it they are estimated from bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

/// The approval covers further calls of this run, too: those of the same tool with the same arguments but for some, as
/// long as they need approval for no other reason. Not with a token.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ApprovalRemember {
    /// The names of the arguments that may differ or be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any: Option<Vec<String>>,
    /// How many further calls it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// How long it holds, in seconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
}

/// The labels of the data below one key of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// The name of the store.
    pub store: String,
    /// The key. Without it: the whole store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub labels: Vec<String>,
}

/// What it used. A member that is missing is nothing; without this, it used all that it had.
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
    /// How often each call was permitted. The parent counts them as its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// When the last calls of each tool with a `rate` were permitted. The parent counts them as its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UncertainCall {
    /// The child's, where a child made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The key of a call, as its action has it.
    pub call: String,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its name there.
    pub tool: String,
    /// What was sent; of a child's, cut to 1 KiB.
    pub arguments: String,
}

/// A call that the model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// The run's own key of a call: c1, c2, ….
    pub call: String,
    /// The model's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// As the model gave it.
    pub tool: String,
    /// The text as the model wrote it.
    pub arguments: String,
}

/// One message. Messages stand in a fixed order: role, rules, task, context, what was said and what came of it, and
/// last what to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptMessage {
    pub role: Role,
    /// What it says. Data from outside stands between marks that it cannot know.
    pub text: String,
    /// The calls of an assistant's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<RequestedCall>>,
    /// The call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The model's own id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider's message, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Json>,
}

/// A tool that the model sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VisibleTool {
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its name.
    pub tool: String,
    pub effect: Effect,
    pub permit: Permit,
    /// As its server lists it, cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Json>,
}

/// What the model is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelPrompt {
    pub messages: Vec<PromptMessage>,
    /// The surface: the tools that it may call now.
    pub tools: Vec<VisibleTool>,
}

/// The approval that it uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Who approved.
    pub principal: String,
    /// In milliseconds since 1970.
    pub at: u64,
    /// True if a person gave it for another call of the run, and it covers this one, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<bool>,
}

/// A secret whose value the host puts in place of a reference when it sends the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    /// A JSON Pointer into the arguments. The value there is the text `secret:NAME`.
    pub at: String,
    /// Its name.
    pub name: String,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The run's own key of a call: c1, c2, ….
    pub key: String,
    /// Of the action: what is approved is this, and nothing else.
    pub digest: String,
    /// The principals who may decide: one of them is enough.
    pub by: Vec<String>,
    /// The public keys of those who have one: their decision counts only with a token that one of these keys signed,
    /// whoever's profile has it. Where the profiles of a child and of the agents above it have different keys for one
    /// principal, the list is empty, and the principal cannot decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<BTreeMap<String, Vec<String>>>,
    /// From then on, neither the ask nor an approval holds.
    pub expires: u64,
    /// What would be sent, whole, with what cannot be seen escaped, and equal calls that ran before.
    pub view: String,
}

/// Why the run has to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopReason {
    pub code: StopCode,
    /// For people.
    pub message: String,
}

/// How much was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunUse {
    pub steps: u64,
    pub tool_calls: u64,
    pub tokens: u64,
    /// How often each call was permitted, by a digest of the call: for the parent of a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// When the last calls of each tool with a `rate` were permitted: for the parent of a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
}

/// What a child asked of its parent's context, and was denied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextRequest {
    /// Why it asked, as it says.
    pub reason: String,
    /// Of the task that it was given.
    pub packet: String,
    /// The tools that its profile names.
    pub tools: Vec<String>,
}

/// A tool that it does not see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HiddenName {
    /// NAME or SERVER/NAME.
    pub tool: String,
    pub code: HiddenToolCode,
    /// What is wrong with its definition, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Why it may not run, or needs approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    pub code: ReasonCode,
    /// For people.
    pub message: String,
    pub violations: Vec<Violation>,
}

/// Where the name of its item stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamePlace {
    /// `user` or `task`.
    pub origin: String,
    /// The number of the text among those that people said, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// A JSON Pointer into the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A part of the text there, in bytes: the first byte, and the one after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

/// Where a value of a call comes from, or where it was looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// A JSON Pointer into the arguments.
    pub pointer: String,
    /// `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as the rule has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The number of the text among those that people said, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// The call whose result has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// A JSON Pointer into the task, the value of the context, the list or the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A part of the text there, in bytes: the first byte, and the one after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Where the name of its item stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<NamePlace>,
    /// Where a value without an origin was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sought: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    pub kind: String,
    /// Its place in the result.
    pub path: String,
    /// Where it is in the text there: the first byte, and the one after the last.
    pub span: Span,
}

/// What was found in the whole result, and what was done about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// How many links and images are defanged.
    pub defanged: u64,
    /// How many hidden characters of each kind are escaped.
    pub escaped: BTreeMap<String, u64>,
    /// Passages that read like an instruction. They stay.
    pub instructions: Vec<Instruction>,
    /// How many more there are.
    pub instructions_left_out: u64,
    /// How many secrets of each kind are left out.
    pub redacted: BTreeMap<String, u64>,
}

/// The use of budgets: see facts.schema.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetUse {
    pub tool_calls: u64,
    pub tokens: u64,
    pub ms: u64,
    /// How often each call was permitted, by a digest of the call.
    pub calls: BTreeMap<String, u64>,
    /// When the last calls of each tool with a `rate` were permitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<BTreeMap<String, Vec<u64>>>,
}

/// Where it was cut: how many items or lines of how many are shown.
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
    /// Until when the data goes, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    pub lag_s: u64,
    pub stale: bool,
}

/// What the model may read of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolObservation {
    /// What claims cite: the tool's name, `#`, and the key of the call.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub tool: String,
    /// `error`: the tool says that it failed. `invalid`: the result is not what its schema asks for, and none of it is
    /// shown.
    pub status: ObservationStatus,
    /// What goes into the prompt: where the data comes from, what is wrong with it, and the text between marks.
    pub message: String,
    /// The data: cut, cleaned, at most `max_bytes` of the profile.
    pub text: String,
    /// The kinds of evidence that it is.
    pub kinds: Vec<String>,
    pub labels: Vec<String>,
    pub confidence: Confidence,
    /// Whether it is everything that there is.
    pub complete: bool,
    pub limitations: Vec<Limitation>,
    /// The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Json>,
    /// The digest of the whole result, under which the host keeps it.
    pub artifact: String,
    /// The length of the whole result.
    pub bytes: u64,
    /// Where it was cut: how many items or lines of how many are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    pub provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// What was found in the whole result, and what was done about it.
    pub found: Found,
    /// Where it does not match its schema.
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
