//! The types of `wit/` as the core has them, documented there.
//!
//! Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

use serde::{Serialize, Serializer};

use crate::json::{json, json_text, json_texts, list, object};

/// See `span` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Serialize for Span {
    /// `[start,end]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.start, self.end).serialize(serializer)
    }
}

/// See `disposition` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    Accepted,
    Partial,
    Rejected,
    Refused,
}

impl Disposition {
    /// All of them, in their order.
    pub const ALL: [Disposition; 4] =
        [Disposition::Accepted, Disposition::Partial, Disposition::Rejected, Disposition::Refused];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Disposition::Accepted => "accepted",
            Disposition::Partial => "partial",
            Disposition::Rejected => "rejected",
            Disposition::Refused => "refused",
        }
    }
}

/// See `violation` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    pub path: String,
    pub keyword: String,
    pub expected: String,
    pub received: String,
    pub message: String,
    pub pointer: String,
    pub schema_path: String,
    pub span: Option<Span>,
}

/// See `error-kind` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    OutputValidationFailed,
    ExtractionFailed,
    MalformedJson,
}

impl ErrorKind {
    /// All of them, in their order.
    pub const ALL: [ErrorKind; 3] =
        [ErrorKind::OutputValidationFailed, ErrorKind::ExtractionFailed, ErrorKind::MalformedJson];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::OutputValidationFailed => "output_validation_failed",
            ErrorKind::ExtractionFailed => "extraction_failed",
            ErrorKind::MalformedJson => "malformed_json",
        }
    }
}

/// See `output-error` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputError {
    pub error: ErrorKind,
    pub schema_id: Option<String>,
    pub agent_id: String,
    pub violations: Vec<Violation>,
    pub raw_output: String,
    pub retryable: bool,
}

/// See `quarantine-reason` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Malformed,
    Schema,
    Guardrail,
    AllowList,
    Evidence,
    OverLimit,
}

impl Reason {
    /// All of them, in their order.
    pub const ALL: [Reason; 6] =
        [Reason::Malformed, Reason::Schema, Reason::Guardrail, Reason::AllowList, Reason::Evidence, Reason::OverLimit];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Malformed => "malformed",
            Reason::Schema => "schema",
            Reason::Guardrail => "guardrail",
            Reason::AllowList => "allow_list",
            Reason::Evidence => "evidence",
            Reason::OverLimit => "over_limit",
        }
    }
}

/// See `quarantined` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quarantined {
    pub index: u32,
    pub path: String,
    pub pointer: String,
    pub reason: Reason,
    pub span: Option<Span>,
    pub snippet: String,
    pub violations: Vec<Violation>,
}

/// See `item` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub index: u32,
    pub path: String,
    pub span: Option<Span>,
    pub value: String,
}

impl Item {
    /// As JSON text: members in the order of the format, no optional white space. The same bytes in every
    /// runtime.
    pub fn to_json(&self) -> String {
        object(&[
            ("index", &json(&self.index)),
            ("path", &json_text(&self.path)),
            ("span", &json(&self.span)),
            ("value", &self.value),
        ])
    }
}

/// See `change-kind` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Closed,
    ClosedString,
    Dropped,
    CommaAdded,
    CommaRemoved,
    ColonAdded,
    Comment,
    Space,
    Quotes,
    Quoted,
    Escaped,
    Literal,
    Punctuation,
    Unescaped,
    Wrapped,
    Stray,
    Around,
    ItemRemoved,
    MemberRemoved,
    Stripped,
    Coerced,
    Unwrapped,
}

impl ChangeKind {
    /// All of them, in their order.
    pub const ALL: [ChangeKind; 22] = [
        ChangeKind::Closed,
        ChangeKind::ClosedString,
        ChangeKind::Dropped,
        ChangeKind::CommaAdded,
        ChangeKind::CommaRemoved,
        ChangeKind::ColonAdded,
        ChangeKind::Comment,
        ChangeKind::Space,
        ChangeKind::Quotes,
        ChangeKind::Quoted,
        ChangeKind::Escaped,
        ChangeKind::Literal,
        ChangeKind::Punctuation,
        ChangeKind::Unescaped,
        ChangeKind::Wrapped,
        ChangeKind::Stray,
        ChangeKind::Around,
        ChangeKind::ItemRemoved,
        ChangeKind::MemberRemoved,
        ChangeKind::Stripped,
        ChangeKind::Coerced,
        ChangeKind::Unwrapped,
    ];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Closed => "closed",
            ChangeKind::ClosedString => "closed_string",
            ChangeKind::Dropped => "dropped",
            ChangeKind::CommaAdded => "comma_added",
            ChangeKind::CommaRemoved => "comma_removed",
            ChangeKind::ColonAdded => "colon_added",
            ChangeKind::Comment => "comment",
            ChangeKind::Space => "space",
            ChangeKind::Quotes => "quotes",
            ChangeKind::Quoted => "quoted",
            ChangeKind::Escaped => "escaped",
            ChangeKind::Literal => "literal",
            ChangeKind::Punctuation => "punctuation",
            ChangeKind::Unescaped => "unescaped",
            ChangeKind::Wrapped => "wrapped",
            ChangeKind::Stray => "stray",
            ChangeKind::Around => "around",
            ChangeKind::ItemRemoved => "item_removed",
            ChangeKind::MemberRemoved => "member_removed",
            ChangeKind::Stripped => "stripped",
            ChangeKind::Coerced => "coerced",
            ChangeKind::Unwrapped => "unwrapped",
        }
    }
}

/// See `change` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub kind: ChangeKind,
    pub path: String,
    pub span: Option<Span>,
    pub before: String,
    pub after: String,
}

/// See `source` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Block,
    Raw,
    Embedded,
}

impl Source {
    /// All of them, in their order.
    pub const ALL: [Source; 3] = [Source::Block, Source::Raw, Source::Embedded];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Block => "block",
            Source::Raw => "raw",
            Source::Embedded => "embedded",
        }
    }
}

/// See `candidate` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedCandidate {
    pub source: Source,
    pub marker: Option<String>,
    pub span: Span,
    pub chosen: bool,
}

/// See `wanted` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    Nothing,
    Items,
    Whole,
}

impl Wanted {
    /// All of them, in their order.
    pub const ALL: [Wanted; 3] = [Wanted::Nothing, Wanted::Items, Wanted::Whole];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Wanted::Nothing => "nothing",
            Wanted::Items => "items",
            Wanted::Whole => "whole",
        }
    }
}

/// See `merge-outcome` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeOutcome {
    Replaced,
    GaveItems,
    GaveNone,
    Unused,
    Invalid,
}

impl MergeOutcome {
    /// All of them, in their order.
    pub const ALL: [MergeOutcome; 5] = [
        MergeOutcome::Replaced,
        MergeOutcome::GaveItems,
        MergeOutcome::GaveNone,
        MergeOutcome::Unused,
        MergeOutcome::Invalid,
    ];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            MergeOutcome::Replaced => "replaced",
            MergeOutcome::GaveItems => "gave_items",
            MergeOutcome::GaveNone => "gave_none",
            MergeOutcome::Unused => "unused",
            MergeOutcome::Invalid => "invalid",
        }
    }
}

/// See `merge-step` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergeStep {
    pub report: u32,
    pub outcome: MergeOutcome,
    pub items: Vec<u32>,
    pub unknown: Vec<u32>,
}

/// See `report` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub disposition: Disposition,
    pub agent: String,
    pub schema_id: Option<String>,
    pub contract: String,
    pub output: Option<String>,
    pub error: Option<OutputError>,
    pub items: Vec<Item>,
    pub quarantined: Vec<Quarantined>,
    pub changes: Vec<Change>,
    pub candidates: Vec<JudgedCandidate>,
    pub notes: Vec<String>,
    pub review_required: bool,
    pub feedback: String,
    pub wanted: Wanted,
    pub merged: Vec<MergeStep>,
}

impl Report {
    /// As JSON text: members in the order of the format, no optional white space. The same bytes in every
    /// runtime.
    pub fn to_json(&self) -> String {
        object(&[
            ("disposition", &json(&self.disposition)),
            ("agent", &json_text(&self.agent)),
            ("schema_id", &json(&self.schema_id)),
            ("contract", &json_text(&self.contract)),
            ("output", self.output.as_deref().unwrap_or("null")),
            ("error", &json(&self.error)),
            ("items", &list(&self.items, Item::to_json)),
            ("quarantined", &json(&self.quarantined)),
            ("changes", &json(&self.changes)),
            ("candidates", &json(&self.candidates)),
            ("notes", &json_texts(&self.notes)),
            ("review_required", &json(&self.review_required)),
            ("feedback", &json_text(&self.feedback)),
            ("wanted", &json(&self.wanted)),
            ("merged", &json(&self.merged)),
        ])
    }
}

/// See `contract-info` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContractInfo {
    pub agent: String,
    pub version: String,
    pub schema_id: Option<String>,
    pub contract: String,
    pub retry_limit: u32,
    pub lists: Vec<String>,
}

/// See `level` in `wit/types.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Error,
    Warning,
    Hint,
}

impl Level {
    /// All of them, in their order.
    pub const ALL: [Level; 3] = [Level::Error, Level::Warning, Level::Hint];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Hint => "hint",
        }
    }
}

/// See `warning` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub path: String,
    pub code: String,
    pub message: String,
    pub pointer: String,
    pub level: Level,
    pub span: Option<Span>,
}

/// See `completeness` in `wit/stream.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    InFlight,
    SoftComplete,
    HardComplete,
}

impl Completeness {
    /// All of them, in their order.
    pub const ALL: [Completeness; 3] = [Completeness::InFlight, Completeness::SoftComplete, Completeness::HardComplete];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Completeness::InFlight => "in_flight",
            Completeness::SoftComplete => "soft_complete",
            Completeness::HardComplete => "hard_complete",
        }
    }
}

/// See `completed` in `wit/stream.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Completed {
    pub candidate: u32,
    pub index: u32,
    pub span: Span,
}

/// See `dead-end` in `wit/stream.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeadEnd {
    pub keyword: &'static str,
    pub message: String,
    pub at: u32,
}

/// See `progress` in `wit/stream.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub completeness: Completeness,
    pub items: Vec<Completed>,
    pub dead_end: Option<DeadEnd>,
}
