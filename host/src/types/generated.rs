//! The types of `wit/` as the library has them.
//!
//! Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{abi, document::Document};
use crate::{
    bindings::exports::seamgate::validator::{stream, types},
    json::{self, Members, UnknownWord, json, json_text, json_texts, list, object},
};

/// A piece of the output, as byte offsets into the given UTF-8 text. In JSON, it is `[start,end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The offset at which it begins.
    pub start: u32,
    /// The offset at which it ends, exclusive.
    pub end: u32,
}

impl Serialize for Span {
    /// `[start,end]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.start, self.end).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (start, end) = Deserialize::deserialize(deserializer)?;
        Ok(Span { start, end })
    }
}

impl From<types::Span> for Span {
    fn from(given: types::Span) -> Self {
        Span { start: given.start, end: given.end }
    }
}

abi::record!(Span { start: u32, end: u32 });

/// The outcome for an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Disposition {
    /// The document is valid and is in `report.output`.
    Accepted,
    /// Some items were kept and others quarantined, the text was repaired, or another document in it was left out.
    /// Review it before use.
    Partial,
    /// The output is not used. `report.error` says why.
    Rejected,
    /// The producer declined to answer. This is a normal outcome, not a failure.
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

impl FromStr for Disposition {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Disposition::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("disposition", Disposition::ALL.map(Disposition::as_str)))
    }
}

impl fmt::Display for Disposition {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Disposition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Disposition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::Disposition> for Disposition {
    fn from(given: types::Disposition) -> Self {
        match given {
            types::Disposition::Accepted => Disposition::Accepted,
            types::Disposition::Partial => Disposition::Partial,
            types::Disposition::Rejected => Disposition::Rejected,
            types::Disposition::Refused => Disposition::Refused,
        }
    }
}

abi::cases!(Disposition { Accepted, Partial, Rejected, Refused });

/// The reason for which the producer stopped, as its API reports it. In JSON and in the host libraries, the words of
/// the common APIs are also accepted: `schemas/request.schema.json` has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finish {
    /// It finished by itself.
    Stop,
    /// It reached a length limit.
    Length,
    /// It declined to answer.
    Refusal,
    /// A filter withheld its text.
    ContentFilter,
    /// It stopped to call a tool. Its text is judged as after `stop`.
    ToolCall,
    /// Unknown. The default if a caller does not state the reason.
    Unknown,
}

impl fmt::Display for Finish {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Finish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Finish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::Finish> for Finish {
    fn from(given: types::Finish) -> Self {
        match given {
            types::Finish::Stop => Finish::Stop,
            types::Finish::Length => Finish::Length,
            types::Finish::Refusal => Finish::Refusal,
            types::Finish::ContentFilter => Finish::ContentFilter,
            types::Finish::ToolCall => Finish::ToolCall,
            types::Finish::Unknown => Finish::Unknown,
        }
    }
}

abi::cases!(Finish { Stop, Length, Refusal, ContentFilter, ToolCall, Unknown });

/// The values that a named list allows. `allow` in the contract refers to the list by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedList {
    /// The name that `allow` refers to.
    pub name: String,
    /// The allowed values.
    pub values: Vec<String>,
}

impl From<types::NamedList> for NamedList {
    fn from(given: types::NamedList) -> Self {
        NamedList { name: given.name, values: given.values }
    }
}

abi::record!(NamedList { name: String, values: Vec<String> });

/// The confidence in an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Confidence {
    /// Low: the observation is stale, or nothing else is known.
    Low,
    /// Medium: part of the result was seen.
    Medium,
    /// High: as reliable as its source.
    High,
}

impl Confidence {
    /// All of them, in their order.
    pub const ALL: [Confidence; 3] = [Confidence::Low, Confidence::Medium, Confidence::High];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

impl FromStr for Confidence {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Confidence::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("confidence", Confidence::ALL.map(Confidence::as_str)))
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Confidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::Confidence> for Confidence {
    fn from(given: types::Confidence) -> Self {
        match given {
            types::Confidence::Low => Confidence::Low,
            types::Confidence::Medium => Confidence::Medium,
            types::Confidence::High => Confidence::High,
        }
    }
}

abi::cases!(Confidence { Low, Medium, High });

/// The part of a result that the producer saw. Claims cite it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observation {
    /// The id by which claims cite it: 1 to 256 bytes, unique in the request.
    pub id: String,
    /// The kinds of evidence that it provides.
    pub kinds: Vec<String>,
    /// The text that the producer saw, byte for byte: at most 1 MiB.
    pub text: String,
    /// Labels of the observation. `stale`: claims based on it may state low confidence, and no absence. `sampled`,
    /// `partial`, `truncated`: medium confidence, and no absence. `empty`: the result contained nothing. Other labels
    /// have no effect here.
    pub labels: Vec<String>,
    /// The highest confidence that its source allows a claim to state.
    pub confidence: Confidence,
    /// True if the whole result was seen, so that anything it does not contain does not exist.
    pub complete: bool,
    /// Codes of its limitations. Each claim that cites it must repeat them.
    pub limitations: Vec<String>,
}

impl From<types::Observation> for Observation {
    fn from(given: types::Observation) -> Self {
        Observation {
            id: given.id,
            kinds: given.kinds,
            text: given.text,
            labels: given.labels,
            confidence: given.confidence.into(),
            complete: given.complete,
            limitations: given.limitations,
        }
    }
}

abi::record!(Observation { id: String, kinds: Vec<String>, text: String, labels: Vec<String>, confidence: Confidence, complete: bool, limitations: Vec<String> });

/// A requirement that is not met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// The location in the document as a JSONPath (RFC 9535) of names and indices: `$.citations[0].url`.
    pub path: String,
    /// The violated keyword of the schema (`type`, `required`, …), or the failed check of the gate: `json`, `utf8`,
    /// `extract`, `duplicate_member`, `lone_surrogate`, `number_range`, `caps.depth`, `caps.bytes`,
    /// `caps.string_bytes`, `caps.array_items`, `caps.object_members`, `allow`, `items` (no item is valid),
    /// `items.max`; or `evidence.claim` (a claim has no text or cites nothing), `evidence.id`, `evidence.quote`,
    /// `evidence.value` (the value at a pointer), `evidence.compute` (a figure computed from others), `evidence.number`
    /// (a figure of the claim), `evidence.confidence`, `evidence.limitations`, `evidence.absence`, `evidence.kind`.
    pub keyword: String,
    /// A short description of what would be right.
    pub expected: String,
    /// The received value, truncated to 256 bytes. Invisible characters are escaped as in JSON strings.
    pub received: String,
    /// One sentence for people.
    pub message: String,
    /// The same location as a JSON Pointer (RFC 6901). Empty for the whole document.
    pub pointer: String,
    /// The location of the keyword in the schema as a JSON Pointer. If the keyword is in one of `resources`, a URI with
    /// a pointer as its fragment. Empty if no keyword is involved.
    pub schema_path: String,
    /// The affected piece of the output, if there is one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
}

impl From<types::Violation> for Violation {
    fn from(given: types::Violation) -> Self {
        Violation {
            path: given.path,
            keyword: given.keyword,
            expected: given.expected,
            received: given.received,
            message: given.message,
            pointer: given.pointer,
            schema_path: given.schema_path,
            span: given.span.map(Into::into),
        }
    }
}

abi::record!(Violation { path: String, keyword: String, expected: String, received: String, message: String, pointer: String, schema_path: String, span: Option<Span> });

/// The stage that rejected the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The JSON was parsed, and does not match the contract.
    OutputValidationFailed,
    /// No candidate was found, or several were found and the contract allows one.
    ExtractionFailed,
    /// The candidate is invalid JSON. The violation says where.
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

impl FromStr for ErrorKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = ErrorKind::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("error kind", ErrorKind::ALL.map(ErrorKind::as_str)))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::ErrorKind> for ErrorKind {
    fn from(given: types::ErrorKind) -> Self {
        match given {
            types::ErrorKind::OutputValidationFailed => ErrorKind::OutputValidationFailed,
            types::ErrorKind::ExtractionFailed => ErrorKind::ExtractionFailed,
            types::ErrorKind::MalformedJson => ErrorKind::MalformedJson,
        }
    }
}

abi::cases!(ErrorKind { OutputValidationFailed, ExtractionFailed, MalformedJson });

/// The error of a rejected output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputError {
    /// The stage that rejected it.
    pub error: ErrorKind,
    /// The schema's `$id`, if it has one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub schema_id: Option<String>,
    /// The agent that produced the output.
    pub agent_id: String,
    /// At most 100 violations, in document order and then in schema order. `notes` says if there were more.
    pub violations: Vec<Violation>,
    /// The output, truncated to 4,096 bytes at a character boundary. The end says how much was left out.
    pub raw_output: String,
    /// True if another attempt by the same producer can help.
    pub retryable: bool,
}

impl From<types::OutputError> for OutputError {
    fn from(given: types::OutputError) -> Self {
        OutputError {
            error: given.error.into(),
            schema_id: given.schema_id,
            agent_id: given.agent_id,
            violations: given.violations.into_iter().map(Into::into).collect(),
            raw_output: given.raw_output,
            retryable: given.retryable,
        }
    }
}

abi::record!(OutputError { error: ErrorKind, schema_id: Option<String>, agent_id: String, violations: Vec<Violation>, raw_output: String, retryable: bool });

/// The reason for which an item is in quarantine: the first check that it failed, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// It is invalid JSON.
    Malformed,
    /// The schema does not allow it.
    Schema,
    /// It exceeds a cap, has a duplicate member, or contains text that is not Unicode.
    Guardrail,
    /// A value is not on its list.
    AllowList,
    /// Its claims are not supported by what they cite.
    Evidence,
    /// It is valid, but `items.max` other items are already kept.
    OverLimit,
}

impl QuarantineReason {
    /// All of them, in their order.
    pub const ALL: [QuarantineReason; 6] = [
        QuarantineReason::Malformed,
        QuarantineReason::Schema,
        QuarantineReason::Guardrail,
        QuarantineReason::AllowList,
        QuarantineReason::Evidence,
        QuarantineReason::OverLimit,
    ];

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            QuarantineReason::Malformed => "malformed",
            QuarantineReason::Schema => "schema",
            QuarantineReason::Guardrail => "guardrail",
            QuarantineReason::AllowList => "allow_list",
            QuarantineReason::Evidence => "evidence",
            QuarantineReason::OverLimit => "over_limit",
        }
    }
}

impl FromStr for QuarantineReason {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = QuarantineReason::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("quarantine reason", QuarantineReason::ALL.map(QuarantineReason::as_str)))
    }
}

impl fmt::Display for QuarantineReason {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for QuarantineReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for QuarantineReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::QuarantineReason> for QuarantineReason {
    fn from(given: types::QuarantineReason) -> Self {
        match given {
            types::QuarantineReason::Malformed => QuarantineReason::Malformed,
            types::QuarantineReason::Schema => QuarantineReason::Schema,
            types::QuarantineReason::Guardrail => QuarantineReason::Guardrail,
            types::QuarantineReason::AllowList => QuarantineReason::AllowList,
            types::QuarantineReason::Evidence => QuarantineReason::Evidence,
            types::QuarantineReason::OverLimit => QuarantineReason::OverLimit,
        }
    }
}

abi::cases!(QuarantineReason { Malformed, Schema, Guardrail, AllowList, Evidence, OverLimit });

/// An item that was left out of `output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quarantined {
    /// The index among the items as the producer wrote them, from 0.
    pub index: u32,
    /// The item's location in the document, as a JSONPath.
    pub path: String,
    /// The same location as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The first check that it failed.
    pub reason: QuarantineReason,
    /// The piece of the output, if the item is in this output.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
    /// The item's text, truncated to 256 bytes.
    pub snippet: String,
    /// The violations of the failed check: at most 10, and 1,000 for all items together. `notes` says if there were
    /// more.
    pub violations: Vec<Violation>,
}

impl From<types::Quarantined> for Quarantined {
    fn from(given: types::Quarantined) -> Self {
        Quarantined {
            index: given.index,
            path: given.path,
            pointer: given.pointer,
            reason: given.reason.into(),
            span: given.span.map(Into::into),
            snippet: given.snippet,
            violations: given.violations.into_iter().map(Into::into).collect(),
        }
    }
}

abi::record!(Quarantined { index: u32, path: String, pointer: String, reason: QuarantineReason, span: Option<Span>, snippet: String, violations: Vec<Violation> });

/// A valid item of an invalid document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// The index among the items as the producer wrote them, from 0.
    pub index: u32,
    /// The item's location in the document, as a JSONPath.
    pub path: String,
    /// The piece of the output.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
    /// The item as JSON text without optional white space.
    #[serde(with = "json::document")]
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

impl From<types::Item> for Item {
    fn from(given: types::Item) -> Self {
        Item { index: given.index, path: given.path, span: given.span.map(Into::into), value: given.value }
    }
}

abi::record!(Item { index: u32, path: String, span: Option<Span>, value: String });

/// The kind of a change. Kinds that repair syntax come first, then kinds that remove what could not be repaired, then
/// kinds that the contract asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Missing brackets were added.
    Closed,
    /// The missing quote was added to a string that was cut off. The contract's `keep_cut_off` names it.
    ClosedString,
    /// The unfinished end of a text that was cut off was removed: a name without a value, or part of a string, a
    /// number, a literal or an escape.
    Dropped,
    /// A comma was added.
    CommaAdded,
    /// A comma was removed.
    CommaRemoved,
    /// A colon was added.
    ColonAdded,
    /// A comment was removed.
    Comment,
    /// White space that JSON does not allow was replaced, such as a literal ` ` between values.
    Space,
    /// Other quotes were replaced with double quotes.
    Quotes,
    /// Quotes were added around a member name.
    Quoted,
    /// A character in a string was escaped because JSON requires it, or a backslash that begins no JSON escape was
    /// removed.
    Escaped,
    /// A Python literal was replaced with the JSON literal.
    Literal,
    /// A full-width comma or colon between values was replaced with the JSON character.
    Punctuation,
    /// A backslash was removed from JSON that was escaped once too often.
    Unescaped,
    /// Consecutive documents were put into a list.
    Wrapped,
    /// Brackets and marks that belong to nothing were removed.
    Stray,
    /// Text around the JSON was removed.
    Around,
    /// An item was removed: it is in quarantine.
    ItemRemoved,
    /// A member that could not be repaired was removed.
    MemberRemoved,
    /// A member that the schema forbids was removed, because the contract asks for it.
    Stripped,
    /// A value was rewritten to match the schema, because the contract asks for it: the value inside a string, a word
    /// in another case, or a removed `null`.
    Coerced,
    /// The envelope around the document was removed, or a missing envelope was added, because the contract asks for it.
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

impl FromStr for ChangeKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = ChangeKind::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("change kind", ChangeKind::ALL.map(ChangeKind::as_str)))
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ChangeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::ChangeKind> for ChangeKind {
    fn from(given: types::ChangeKind) -> Self {
        match given {
            types::ChangeKind::Closed => ChangeKind::Closed,
            types::ChangeKind::ClosedString => ChangeKind::ClosedString,
            types::ChangeKind::Dropped => ChangeKind::Dropped,
            types::ChangeKind::CommaAdded => ChangeKind::CommaAdded,
            types::ChangeKind::CommaRemoved => ChangeKind::CommaRemoved,
            types::ChangeKind::ColonAdded => ChangeKind::ColonAdded,
            types::ChangeKind::Comment => ChangeKind::Comment,
            types::ChangeKind::Space => ChangeKind::Space,
            types::ChangeKind::Quotes => ChangeKind::Quotes,
            types::ChangeKind::Quoted => ChangeKind::Quoted,
            types::ChangeKind::Escaped => ChangeKind::Escaped,
            types::ChangeKind::Literal => ChangeKind::Literal,
            types::ChangeKind::Punctuation => ChangeKind::Punctuation,
            types::ChangeKind::Unescaped => ChangeKind::Unescaped,
            types::ChangeKind::Wrapped => ChangeKind::Wrapped,
            types::ChangeKind::Stray => ChangeKind::Stray,
            types::ChangeKind::Around => ChangeKind::Around,
            types::ChangeKind::ItemRemoved => ChangeKind::ItemRemoved,
            types::ChangeKind::MemberRemoved => ChangeKind::MemberRemoved,
            types::ChangeKind::Stripped => ChangeKind::Stripped,
            types::ChangeKind::Coerced => ChangeKind::Coerced,
            types::ChangeKind::Unwrapped => ChangeKind::Unwrapped,
        }
    }
}

abi::cases!(ChangeKind {
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
    Unwrapped
});

/// One change that was made to the text before validation. Applied in order to the chosen candidate, the changes
/// produce exactly the text that was validated. They do not overlap, and several may insert text at the same position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The path of the innermost affected value, as far as it exists.
    pub path: String,
    /// The affected piece of the output.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
    /// The replaced text, truncated to 256 bytes.
    pub before: String,
    /// The complete replacement.
    pub after: String,
}

impl From<types::Change> for Change {
    fn from(given: types::Change) -> Self {
        Change {
            kind: given.kind.into(),
            path: given.path,
            span: given.span.map(Into::into),
            before: given.before,
            after: given.after,
        }
    }
}

abi::record!(Change { kind: ChangeKind, path: String, span: Option<Span>, before: String, after: String });

/// The way in which a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// In a fenced block with one of the contract's markers or, without such a block, in one without an info string.
    Block,
    /// As the whole output, or as one of its documents with the text around it.
    Raw,
    /// As a bare object or array in prose.
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

impl FromStr for Source {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Source::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("source", Source::ALL.map(Source::as_str)))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::Source> for Source {
    fn from(given: types::Source) -> Self {
        match given {
            types::Source::Block => Source::Block,
            types::Source::Raw => Source::Raw,
            types::Source::Embedded => Source::Embedded,
        }
    }
}

abi::cases!(Source { Block, Raw, Embedded });

/// A piece of the output that could be the requested JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The way in which it was found.
    pub source: Source,
    /// The contract's marker on the block. None for a block without an info string, and for other sources.
    #[serde(deserialize_with = "Option::deserialize")]
    pub marker: Option<String>,
    /// The piece of the output.
    pub span: Span,
    /// True if this candidate was judged.
    pub chosen: bool,
}

impl From<types::Candidate> for Candidate {
    fn from(given: types::Candidate) -> Self {
        Candidate { source: given.source.into(), marker: given.marker, span: given.span.into(), chosen: given.chosen }
    }
}

abi::record!(Candidate { source: Source, marker: Option<String>, span: Span, chosen: bool });

/// The content that the feedback requests from the producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wanted {
    /// Nothing: the output is accepted, the producer declined, or the syntax was repaired and nothing is missing.
    Nothing,
    /// Only the items that it names. `merge` puts them in their places.
    Items,
    /// The whole output again.
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

impl FromStr for Wanted {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Wanted::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("wanted", Wanted::ALL.map(Wanted::as_str)))
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Wanted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Wanted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::Wanted> for Wanted {
    fn from(given: types::Wanted) -> Self {
        match given {
            types::Wanted::Nothing => Wanted::Nothing,
            types::Wanted::Items => Wanted::Items,
            types::Wanted::Whole => Wanted::Whole,
        }
    }
}

abi::cases!(Wanted { Nothing, Items, Whole });

/// The use that `merge` made of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MergeOutcome {
    /// It replaced the document before it.
    Replaced,
    /// It provided items.
    GaveItems,
    /// None of its items was used.
    GaveNone,
    /// It is not used, because it was not needed or has no items.
    Unused,
    /// It is not used, because the merged document would be invalid.
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

impl FromStr for MergeOutcome {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = MergeOutcome::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("merge outcome", MergeOutcome::ALL.map(MergeOutcome::as_str)))
    }
}

impl fmt::Display for MergeOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for MergeOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for MergeOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::MergeOutcome> for MergeOutcome {
    fn from(given: types::MergeOutcome) -> Self {
        match given {
            types::MergeOutcome::Replaced => MergeOutcome::Replaced,
            types::MergeOutcome::GaveItems => MergeOutcome::GaveItems,
            types::MergeOutcome::GaveNone => MergeOutcome::GaveNone,
            types::MergeOutcome::Unused => MergeOutcome::Unused,
            types::MergeOutcome::Invalid => MergeOutcome::Invalid,
        }
    }
}

abi::cases!(MergeOutcome { Replaced, GaveItems, GaveNone, Unused, Invalid });

/// The outcome for one merged report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MergeStep {
    /// The index in the list that `merge` received, from 0.
    pub report: u32,
    /// The use that `merge` made of the report.
    pub outcome: MergeOutcome,
    /// The numbers of the items that it provided.
    pub items: Vec<u32>,
    /// The numbers of its items that match no requested item. They are not used.
    pub unknown: Vec<u32>,
}

impl From<types::MergeStep> for MergeStep {
    fn from(given: types::MergeStep) -> Self {
        MergeStep { report: given.report, outcome: given.outcome.into(), items: given.items, unknown: given.unknown }
    }
}

abi::record!(MergeStep { report: u32, outcome: MergeOutcome, items: Vec<u32>, unknown: Vec<u32> });

/// The verdict on one output. It is data, never an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The outcome for the output.
    pub disposition: Disposition,
    /// The agent that produced the output.
    pub agent: String,
    /// The schema's `$id`, if it has one.
    pub schema_id: Option<String>,
    /// The digest of the contract: `sha256:` and 64 hexadecimal digits.
    pub contract: String,
    /// The validated document as JSON text without optional white space. Numbers keep their digits. None if nothing was
    /// accepted.
    pub output: Option<Document>,
    /// The error. None unless violations rejected the output.
    pub error: Option<OutputError>,
    /// The valid items, if the output is rejected, so that they are not lost. Empty otherwise.
    pub items: Vec<Item>,
    /// At most 1,000 quarantined items, in the order of the items. `notes` says if there were more.
    pub quarantined: Vec<Quarantined>,
    /// The changes that were made to the text before validation.
    pub changes: Vec<Change>,
    /// The candidates that were found: the first 64 and the chosen one. `notes` says if there were more.
    pub candidates: Vec<Candidate>,
    /// Further information for the caller: limits that were reached, checks that never applied, the span of each piece
    /// of the output that was left out as reasoning or as prose, and whether JSON was taken from prose.
    pub notes: Vec<String>,
    /// True if a person should review the output before it is used, because it is partial.
    pub review_required: bool,
    /// At most 2,048 bytes to send back to the producer: what was wrong and where. Empty if the output is accepted. If
    /// some items were kept and others are still wanted, it requests only those, and `merge` combines the answers.
    pub feedback: String,
    /// The content that `feedback` requests.
    pub wanted: Wanted,
    /// If `merge` made this report, the use that it made of each report after the base. Empty otherwise.
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

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::text(&self.to_json(), serializer)
    }
}

impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        let disposition: Disposition = members.take("disposition")?;
        Ok(Report {
            disposition,
            agent: members.take("agent")?,
            schema_id: members.take("schema_id")?,
            contract: members.take("contract")?,
            output: members.document("output", disposition.emits())?.map(Into::into),
            error: members.take("error")?,
            items: members.take("items")?,
            quarantined: members.take("quarantined")?,
            changes: members.take("changes")?,
            candidates: members.take("candidates")?,
            notes: members.take("notes")?,
            review_required: members.take("review_required")?,
            feedback: members.take("feedback")?,
            wanted: members.take("wanted")?,
            merged: members.take("merged")?,
        })
    }
}

impl From<types::Report> for Report {
    fn from(given: types::Report) -> Self {
        Report {
            disposition: given.disposition.into(),
            agent: given.agent,
            schema_id: given.schema_id,
            contract: given.contract,
            output: given.output.map(Into::into),
            error: given.error.map(Into::into),
            items: given.items.into_iter().map(Into::into).collect(),
            quarantined: given.quarantined.into_iter().map(Into::into).collect(),
            changes: given.changes.into_iter().map(Into::into).collect(),
            candidates: given.candidates.into_iter().map(Into::into).collect(),
            notes: given.notes,
            review_required: given.review_required,
            feedback: given.feedback,
            wanted: given.wanted.into(),
            merged: given.merged.into_iter().map(Into::into).collect(),
        }
    }
}

abi::record!(Report { disposition: Disposition, agent: String, schema_id: Option<String>, contract: String, output: Option<Document>, error: Option<OutputError>, items: Vec<Item>, quarantined: Vec<Quarantined>, changes: Vec<Change>, candidates: Vec<Candidate>, notes: Vec<String>, review_required: bool, feedback: String, wanted: Wanted, merged: Vec<MergeStep> });

/// The reason for which there is no verdict.
#[derive(Clone, Copy)]
pub(crate) enum FaultCode {
    BadRequest,
    BadContract,
    BadProfile,
    UnknownAgent,
    Sealed,
}

impl From<types::FaultCode> for FaultCode {
    fn from(given: types::FaultCode) -> Self {
        match given {
            types::FaultCode::BadRequest => FaultCode::BadRequest,
            types::FaultCode::BadContract => FaultCode::BadContract,
            types::FaultCode::BadProfile => FaultCode::BadProfile,
            types::FaultCode::UnknownAgent => FaultCode::UnknownAgent,
            types::FaultCode::Sealed => FaultCode::Sealed,
        }
    }
}

abi::cases!(FaultCode { BadRequest, BadContract, BadProfile, UnknownAgent, Sealed });

/// The reason for which the validator gave no verdict. It is an error of the caller, never of the producer.
pub(crate) struct WitFault {
    pub(crate) code: FaultCode,
    pub(crate) message: String,
    pub(crate) violations: Vec<Violation>,
    pub(crate) agents: Vec<String>,
}

impl From<types::Fault> for WitFault {
    fn from(given: types::Fault) -> Self {
        WitFault {
            code: given.code.into(),
            message: given.message,
            violations: given.violations.into_iter().map(Into::into).collect(),
            agents: given.agents,
        }
    }
}

abi::record!(WitFault { code: FaultCode, message: String, violations: Vec<Violation>, agents: Vec<String> });

/// A registered contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContractInfo {
    /// The agent whose outputs it judges.
    pub agent: String,
    /// The version of the contract.
    pub version: String,
    /// The schema's `$id`, if it has one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub schema_id: Option<String>,
    /// See `report.contract`.
    pub contract: String,
    /// The number of times that the producer may be asked again.
    pub retry_limit: u32,
    /// The lists that its `allow` names, in ascending order of their bytes.
    pub lists: Vec<String>,
}

impl From<types::ContractInfo> for ContractInfo {
    fn from(given: types::ContractInfo) -> Self {
        ContractInfo {
            agent: given.agent,
            version: given.version,
            schema_id: given.schema_id,
            contract: given.contract,
            retry_limit: given.retry_limit,
            lists: given.lists,
        }
    }
}

abi::record!(ContractInfo { agent: String, version: String, schema_id: Option<String>, contract: String, retry_limit: u32, lists: Vec<String> });

/// The severity of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Something does not do what it says: a keyword is misspelled, limits contradict each other, or a member is both
    /// required and forbidden.
    Error,
    /// It works, but is probably a mistake.
    Warning,
    /// A matter of style: something could be narrower, or described.
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

impl FromStr for Level {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Level::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("level", Level::ALL.map(Level::as_str)))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<types::Level> for Level {
    fn from(given: types::Level) -> Self {
        match given {
            types::Level::Error => Level::Error,
            types::Level::Warning => Level::Warning,
            types::Level::Hint => Level::Hint,
        }
    }
}

abi::cases!(Level { Error, Warning, Hint });

/// A likely mistake in a valid contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// The location in the contract, as a JSONPath.
    pub path: String,
    /// The kind of warning, as a word that programs can compare.
    pub code: String,
    /// The likely mistake, and how to correct it.
    pub message: String,
    /// The same location as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The severity, which is the same for all warnings with this code.
    pub level: Level,
    /// The affected piece of the contract, if there is one. For an unknown keyword, its name.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
}

impl From<types::Warning> for Warning {
    fn from(given: types::Warning) -> Self {
        Warning {
            path: given.path,
            code: given.code,
            message: given.message,
            pointer: given.pointer,
            level: given.level.into(),
            span: given.span.map(Into::into),
        }
    }
}

abi::record!(Warning { path: String, code: String, message: String, pointer: String, level: Level, span: Option<Span> });

/// The progress of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Completeness {
    /// No document is complete.
    InFlight,
    /// The text so far is a complete document, and more may follow.
    SoftComplete,
    /// The producer has stopped: `finish` was called.
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

impl FromStr for Completeness {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Completeness::ALL.into_iter().find(|known| known.as_str() == word);
        known.ok_or_else(|| UnknownWord::new("completeness", Completeness::ALL.map(Completeness::as_str)))
    }
}

impl fmt::Display for Completeness {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl Serialize for Completeness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Completeness {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl From<stream::Completeness> for Completeness {
    fn from(given: stream::Completeness) -> Self {
        match given {
            stream::Completeness::InFlight => Completeness::InFlight,
            stream::Completeness::SoftComplete => Completeness::SoftComplete,
            stream::Completeness::HardComplete => Completeness::HardComplete,
        }
    }
}

abi::cases!(Completeness { InFlight, SoftComplete, HardComplete });

/// An item that is complete in the text so far. It is not judged before `finish`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Completed {
    /// The offset at which the item's candidate begins. An output may have several candidates, and the contract selects
    /// one at the end.
    pub candidate: u32,
    /// The index among the items of that candidate, from 0.
    pub index: u32,
    /// The item's text in the output.
    pub span: Span,
}

impl From<stream::Completed> for Completed {
    fn from(given: stream::Completed) -> Self {
        Completed { candidate: given.candidate, index: given.index, span: given.span.into() }
    }
}

abi::record!(Completed { candidate: u32, index: u32, span: Span });

/// The reason for which the current candidate can no longer become valid, whatever follows. Reported only if nothing
/// but later text could be taken instead, such as a later block if the contract takes the last one. This is judged by
/// the candidates in the text so far. The verdict is that of `finish`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeadEnd {
    /// The check that the candidate fails: `json`, `extract`, `caps.bytes`, `caps.depth`, `caps.string_bytes`,
    /// `caps.array_items` or `caps.object_members`.
    pub keyword: String,
    /// One sentence for people.
    pub message: String,
    /// The offset in the output at which the failure was detected.
    pub at: u32,
}

impl From<stream::DeadEnd> for DeadEnd {
    fn from(given: stream::DeadEnd) -> Self {
        DeadEnd { keyword: given.keyword, message: given.message, at: given.at }
    }
}

abi::record!(DeadEnd { keyword: String, message: String, at: u32 });

/// The state after a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// The progress of the document.
    pub completeness: Completeness,
    /// The items that this chunk completed, in order.
    pub items: Vec<Completed>,
    /// The reason for which the candidate can no longer become valid, if so.
    #[serde(deserialize_with = "Option::deserialize")]
    pub dead_end: Option<DeadEnd>,
}

impl From<stream::Progress> for Progress {
    fn from(given: stream::Progress) -> Self {
        Progress {
            completeness: given.completeness.into(),
            items: given.items.into_iter().map(Into::into).collect(),
            dead_end: given.dead_end.map(Into::into),
        }
    }
}

abi::record!(Progress { completeness: Completeness, items: Vec<Completed>, dead_end: Option<DeadEnd> });

impl From<Span> for types::Span {
    fn from(given: Span) -> Self {
        types::Span { start: given.start, end: given.end }
    }
}

impl From<Disposition> for types::Disposition {
    fn from(given: Disposition) -> Self {
        match given {
            Disposition::Accepted => types::Disposition::Accepted,
            Disposition::Partial => types::Disposition::Partial,
            Disposition::Rejected => types::Disposition::Rejected,
            Disposition::Refused => types::Disposition::Refused,
        }
    }
}

impl From<Finish> for types::Finish {
    fn from(given: Finish) -> Self {
        match given {
            Finish::Stop => types::Finish::Stop,
            Finish::Length => types::Finish::Length,
            Finish::Refusal => types::Finish::Refusal,
            Finish::ContentFilter => types::Finish::ContentFilter,
            Finish::ToolCall => types::Finish::ToolCall,
            Finish::Unknown => types::Finish::Unknown,
        }
    }
}

impl From<NamedList> for types::NamedList {
    fn from(given: NamedList) -> Self {
        types::NamedList { name: given.name, values: given.values }
    }
}

impl From<Confidence> for types::Confidence {
    fn from(given: Confidence) -> Self {
        match given {
            Confidence::Low => types::Confidence::Low,
            Confidence::Medium => types::Confidence::Medium,
            Confidence::High => types::Confidence::High,
        }
    }
}

impl From<Observation> for types::Observation {
    fn from(given: Observation) -> Self {
        types::Observation {
            id: given.id,
            kinds: given.kinds,
            text: given.text,
            labels: given.labels,
            confidence: given.confidence.into(),
            complete: given.complete,
            limitations: given.limitations,
        }
    }
}

impl From<Violation> for types::Violation {
    fn from(given: Violation) -> Self {
        types::Violation {
            path: given.path,
            keyword: given.keyword,
            expected: given.expected,
            received: given.received,
            message: given.message,
            pointer: given.pointer,
            schema_path: given.schema_path,
            span: given.span.map(Into::into),
        }
    }
}

impl From<ErrorKind> for types::ErrorKind {
    fn from(given: ErrorKind) -> Self {
        match given {
            ErrorKind::OutputValidationFailed => types::ErrorKind::OutputValidationFailed,
            ErrorKind::ExtractionFailed => types::ErrorKind::ExtractionFailed,
            ErrorKind::MalformedJson => types::ErrorKind::MalformedJson,
        }
    }
}

impl From<OutputError> for types::OutputError {
    fn from(given: OutputError) -> Self {
        types::OutputError {
            error: given.error.into(),
            schema_id: given.schema_id,
            agent_id: given.agent_id,
            violations: given.violations.into_iter().map(Into::into).collect(),
            raw_output: given.raw_output,
            retryable: given.retryable,
        }
    }
}

impl From<QuarantineReason> for types::QuarantineReason {
    fn from(given: QuarantineReason) -> Self {
        match given {
            QuarantineReason::Malformed => types::QuarantineReason::Malformed,
            QuarantineReason::Schema => types::QuarantineReason::Schema,
            QuarantineReason::Guardrail => types::QuarantineReason::Guardrail,
            QuarantineReason::AllowList => types::QuarantineReason::AllowList,
            QuarantineReason::Evidence => types::QuarantineReason::Evidence,
            QuarantineReason::OverLimit => types::QuarantineReason::OverLimit,
        }
    }
}

impl From<Quarantined> for types::Quarantined {
    fn from(given: Quarantined) -> Self {
        types::Quarantined {
            index: given.index,
            path: given.path,
            pointer: given.pointer,
            reason: given.reason.into(),
            span: given.span.map(Into::into),
            snippet: given.snippet,
            violations: given.violations.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Item> for types::Item {
    fn from(given: Item) -> Self {
        types::Item { index: given.index, path: given.path, span: given.span.map(Into::into), value: given.value }
    }
}

impl From<ChangeKind> for types::ChangeKind {
    fn from(given: ChangeKind) -> Self {
        match given {
            ChangeKind::Closed => types::ChangeKind::Closed,
            ChangeKind::ClosedString => types::ChangeKind::ClosedString,
            ChangeKind::Dropped => types::ChangeKind::Dropped,
            ChangeKind::CommaAdded => types::ChangeKind::CommaAdded,
            ChangeKind::CommaRemoved => types::ChangeKind::CommaRemoved,
            ChangeKind::ColonAdded => types::ChangeKind::ColonAdded,
            ChangeKind::Comment => types::ChangeKind::Comment,
            ChangeKind::Space => types::ChangeKind::Space,
            ChangeKind::Quotes => types::ChangeKind::Quotes,
            ChangeKind::Quoted => types::ChangeKind::Quoted,
            ChangeKind::Escaped => types::ChangeKind::Escaped,
            ChangeKind::Literal => types::ChangeKind::Literal,
            ChangeKind::Punctuation => types::ChangeKind::Punctuation,
            ChangeKind::Unescaped => types::ChangeKind::Unescaped,
            ChangeKind::Wrapped => types::ChangeKind::Wrapped,
            ChangeKind::Stray => types::ChangeKind::Stray,
            ChangeKind::Around => types::ChangeKind::Around,
            ChangeKind::ItemRemoved => types::ChangeKind::ItemRemoved,
            ChangeKind::MemberRemoved => types::ChangeKind::MemberRemoved,
            ChangeKind::Stripped => types::ChangeKind::Stripped,
            ChangeKind::Coerced => types::ChangeKind::Coerced,
            ChangeKind::Unwrapped => types::ChangeKind::Unwrapped,
        }
    }
}

impl From<Change> for types::Change {
    fn from(given: Change) -> Self {
        types::Change {
            kind: given.kind.into(),
            path: given.path,
            span: given.span.map(Into::into),
            before: given.before,
            after: given.after,
        }
    }
}

impl From<Source> for types::Source {
    fn from(given: Source) -> Self {
        match given {
            Source::Block => types::Source::Block,
            Source::Raw => types::Source::Raw,
            Source::Embedded => types::Source::Embedded,
        }
    }
}

impl From<Candidate> for types::Candidate {
    fn from(given: Candidate) -> Self {
        types::Candidate {
            source: given.source.into(),
            marker: given.marker,
            span: given.span.into(),
            chosen: given.chosen,
        }
    }
}

impl From<Wanted> for types::Wanted {
    fn from(given: Wanted) -> Self {
        match given {
            Wanted::Nothing => types::Wanted::Nothing,
            Wanted::Items => types::Wanted::Items,
            Wanted::Whole => types::Wanted::Whole,
        }
    }
}

impl From<MergeOutcome> for types::MergeOutcome {
    fn from(given: MergeOutcome) -> Self {
        match given {
            MergeOutcome::Replaced => types::MergeOutcome::Replaced,
            MergeOutcome::GaveItems => types::MergeOutcome::GaveItems,
            MergeOutcome::GaveNone => types::MergeOutcome::GaveNone,
            MergeOutcome::Unused => types::MergeOutcome::Unused,
            MergeOutcome::Invalid => types::MergeOutcome::Invalid,
        }
    }
}

impl From<MergeStep> for types::MergeStep {
    fn from(given: MergeStep) -> Self {
        types::MergeStep {
            report: given.report,
            outcome: given.outcome.into(),
            items: given.items,
            unknown: given.unknown,
        }
    }
}

impl From<Report> for types::Report {
    fn from(given: Report) -> Self {
        types::Report {
            disposition: given.disposition.into(),
            agent: given.agent,
            schema_id: given.schema_id,
            contract: given.contract,
            output: given.output.map(Into::into),
            error: given.error.map(Into::into),
            items: given.items.into_iter().map(Into::into).collect(),
            quarantined: given.quarantined.into_iter().map(Into::into).collect(),
            changes: given.changes.into_iter().map(Into::into).collect(),
            candidates: given.candidates.into_iter().map(Into::into).collect(),
            notes: given.notes,
            review_required: given.review_required,
            feedback: given.feedback,
            wanted: given.wanted.into(),
            merged: given.merged.into_iter().map(Into::into).collect(),
        }
    }
}
