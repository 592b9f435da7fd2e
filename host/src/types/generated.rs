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

/// A piece of the output, as byte offsets into the text as it was given, in UTF-8. In JSON it is `[start,end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Where it begins.
    pub start: u32,
    /// Where it ends, exclusive.
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

/// What became of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Disposition {
    /// The document is valid: `report.output` is it.
    Accepted,
    /// Some items were kept and some quarantined, the text had to be repaired, or another document in it was left out:
    /// look before use.
    Partial,
    /// Nothing is emitted: `report.error` says why.
    Rejected,
    /// The producer declined to answer. A first-class outcome, not a failure.
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

/// Why the producer stopped, as its API said. On the wire and in the hosts' libraries, the words of the common APIs
/// stand for these: `schemas/request.schema.json` has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finish {
    /// It came to an end by itself.
    Stop,
    /// It was cut off at a length limit.
    Length,
    /// It declined.
    Refusal,
    /// A filter withheld its text.
    ContentFilter,
    /// It stopped to call a tool. Its text is judged as after `stop`.
    ToolCall,
    /// Not known. The default where a caller has nothing to say.
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

/// The values that one named list allows (`allow` in the contract names the list).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedList {
    /// As `allow` names it.
    pub name: String,
    /// What it allows.
    pub values: Vec<String>,
}

impl From<types::NamedList> for NamedList {
    fn from(given: types::NamedList) -> Self {
        NamedList { name: given.name, values: given.values }
    }
}

abi::record!(NamedList { name: String, values: Vec<String> });

/// How sure one may be of what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Confidence {
    /// Little: it is stale, or nobody says more.
    Low,
    /// Something: a part of it was seen.
    Medium,
    /// As sure as its source is.
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

/// What the producer saw of one result, for claims to cite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observation {
    /// What claims cite it by: 1 to 256 bytes, and no other has it.
    pub id: String,
    /// The kinds of evidence that it is.
    pub kinds: Vec<String>,
    /// What the producer saw of it, byte for byte: at most 1 MiB.
    pub text: String,
    /// What is known of it. `stale`: claims on it may state low confidence, and none of absence. `sampled`, `partial`,
    /// `truncated`: medium, and none of absence. `empty`: the result held nothing. Others mean nothing here.
    pub labels: Vec<String>,
    /// The most that its source allows a claim to state.
    pub confidence: Confidence,
    /// Whether all of the result was seen, so that what is not in it is not there.
    pub complete: bool,
    /// Codes of what limits it. Each claim that cites it must repeat them.
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

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// Where in the document, as a JSONPath (RFC 9535) of names and indices: `$.citations[0].url`.
    pub path: String,
    /// The keyword of the schema that is not met (`type`, `required`, …), or the check of the gate that is not: `json`,
    /// `utf8`, `extract`, `duplicate_member`, `lone_surrogate`, `number_range`, `caps.depth`, `caps.bytes`,
    /// `caps.string_bytes`, `caps.array_items`, `caps.object_members`, `allow`, `items` (none of them is valid),
    /// `items.max`; or `evidence.claim` (a claim has no text or cites nothing), `evidence.id`, `evidence.quote`,
    /// `evidence.value` (what stands at a pointer), `evidence.compute` (a figure that follows from others),
    /// `evidence.number` (a figure of the claim), `evidence.confidence`, `evidence.limitations`, `evidence.absence`,
    /// `evidence.kind`.
    pub keyword: String,
    /// What would be right, short.
    pub expected: String,
    /// What was there instead, cut to 256 bytes; what cannot be seen is escaped as JSON strings escape it.
    pub received: String,
    /// One sentence for a person.
    pub message: String,
    /// The same place as a JSON Pointer (RFC 6901); empty for the whole document.
    pub pointer: String,
    /// The keyword's place in the schema as a JSON Pointer; as a URI with a pointer for its fragment where the keyword
    /// stands in one of `resources`. Empty where no keyword is concerned.
    pub schema_path: String,
    /// The piece of the output concerned, where there is one.
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

/// Which of the three stages rejected the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// JSON was found and read, and is not what the contract asks for.
    OutputValidationFailed,
    /// No candidate was found, or several where the contract allows one.
    ExtractionFailed,
    /// A candidate was found that is not JSON; the violation says where it stops being so.
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

/// The canonical error of a rejected output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputError {
    /// Which stage rejected it.
    pub error: ErrorKind,
    /// The schema's `$id`, where it has one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub schema_id: Option<String>,
    /// The agent whose output it is.
    pub agent_id: String,
    /// At most 100, in document order, then in the order of the schema; `notes` says where there were more.
    pub violations: Vec<Violation>,
    /// The output, cut to 4,096 bytes at a character boundary; the cut says how much is left out.
    pub raw_output: String,
    /// Whether another attempt by the same producer can help.
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

/// Why an item is in quarantine: the first check that it failed, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// It is not JSON.
    Malformed,
    /// The schema does not allow it.
    Schema,
    /// It passes a cap, has a member twice, or holds text that is not Unicode.
    Guardrail,
    /// A value is not in its list.
    AllowList,
    /// What it claims is not supported by what it cites.
    Evidence,
    /// It is valid, and `items.max` others are kept.
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

/// One item that was kept out of `output`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quarantined {
    /// Its place among the items as the producer wrote them, from 0.
    pub index: u32,
    /// Where it stood in the document, as a JSONPath.
    pub path: String,
    /// The same place as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The first check that it failed.
    pub reason: QuarantineReason,
    /// The piece of the output, where it stood in this one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
    /// Its text, cut to 256 bytes.
    pub snippet: String,
    /// What is wrong by the check that it failed: at most 10, and 1,000 for all items together; `notes` says where
    /// there were more.
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

/// One item that is valid, of a document that is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// Its place among the items as the producer wrote them, from 0.
    pub index: u32,
    /// Where it stood in the document, as a JSONPath.
    pub path: String,
    /// The piece of the output.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
    /// The item. JSON text without optional white space.
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

/// What a change did: first what puts right what is only syntax, then what leaves out what could not be put right, then
/// what the contract asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Brackets that were missing were added.
    Closed,
    /// The missing quote was added to a text that was cut off, where the contract's `keep_cut_off` names it.
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
    /// White space that is not JSON's was replaced, such as a literal `\n` between values.
    Space,
    /// Quotes were made double.
    Quotes,
    /// Quotes were put around a member name.
    Quoted,
    /// A character that must be escaped in a string was escaped, or a backslash that JSON does not know there was
    /// removed.
    Escaped,
    /// A literal of Python's was made JSON's.
    Literal,
    /// A full-width comma or colon between values was made JSON's.
    Punctuation,
    /// A backslash was removed from JSON that was escaped once too often.
    Unescaped,
    /// Documents in a row were put into a list.
    Wrapped,
    /// Brackets and marks that belong to nothing were removed.
    Stray,
    /// Text around the JSON was removed.
    Around,
    /// An item was removed: it is in quarantine.
    ItemRemoved,
    /// A member that could not be put right was removed.
    MemberRemoved,
    /// A member that the schema forbids was removed, as the contract asks.
    Stripped,
    /// A value was written as the schema wants it, as the contract asks: what a string holds, a word in another case,
    /// or nothing in place of `null`.
    Coerced,
    /// The envelope around the document was removed, or the one that it lacked was added, as the contract asks.
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

/// One change that was made to the text before it was validated. Applied in order to the candidate that was chosen, the
/// changes give exactly the text that was validated; they do not overlap, and several may insert at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// What it did.
    pub kind: ChangeKind,
    /// The innermost value concerned, as far as it is there.
    pub path: String,
    /// The piece of the output concerned.
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<Span>,
    /// What stood there, cut to 256 bytes.
    pub before: String,
    /// What stands there instead, whole.
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

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// In a fenced block with one of the contract's markers, or, where there is none, without an info string.
    Block,
    /// As the whole output, or one of its documents with the text around it.
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

/// A piece of the output that could be the JSON asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// How it was found.
    pub source: Source,
    /// The contract's marker that the block bears; none for a block without an info string, and for other sources.
    #[serde(deserialize_with = "Option::deserialize")]
    pub marker: Option<String>,
    /// The piece of the output.
    pub span: Span,
    /// Whether this one was judged.
    pub chosen: bool,
}

impl From<types::Candidate> for Candidate {
    fn from(given: types::Candidate) -> Self {
        Candidate { source: given.source.into(), marker: given.marker, span: given.span.into(), chosen: given.chosen }
    }
}

abi::record!(Candidate { source: Source, marker: Option<String>, span: Span, chosen: bool });

/// What the feedback asks the producer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wanted {
    /// Nothing: the output is accepted, the producer declined, or nothing is missing of an output whose syntax was
    /// repaired.
    Nothing,
    /// The items that it names, and nothing else: `merge` puts them in their places.
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

/// What `merge` did with a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MergeOutcome {
    /// It took the place of what was before it.
    Replaced,
    /// It gave items.
    GaveItems,
    /// None of its items was used.
    GaveNone,
    /// It was not needed, or has no items: it is not used.
    Unused,
    /// It is not used: with it, the whole would not be valid.
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

/// What became of one report that was put together with those before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MergeStep {
    /// Its place in the list that `merge` was given, from 0.
    pub report: u32,
    /// What was done with it.
    pub outcome: MergeOutcome,
    /// The numbers of the items that it gave.
    pub items: Vec<u32>,
    /// The numbers of its own items that match no item that was asked for: they are not used.
    pub unknown: Vec<u32>,
}

impl From<types::MergeStep> for MergeStep {
    fn from(given: types::MergeStep) -> Self {
        MergeStep { report: given.report, outcome: given.outcome.into(), items: given.items, unknown: given.unknown }
    }
}

abi::record!(MergeStep { report: u32, outcome: MergeOutcome, items: Vec<u32>, unknown: Vec<u32> });

/// The verdict on one output. Data, never an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What became of the output.
    pub disposition: Disposition,
    /// The agent whose output it is.
    pub agent: String,
    /// The schema's `$id`, where it has one.
    pub schema_id: Option<String>,
    /// The digest of the contract, `sha256:` and 64 hexadecimal digits.
    pub contract: String,
    /// The validated document as JSON text without optional white space, numbers with the digits they were written
    /// with. None unless something was accepted.
    pub output: Option<Document>,
    /// None unless violations rejected the output.
    pub error: Option<OutputError>,
    /// The items that are valid, where the output is rejected: nothing of worth is lost with it. Empty otherwise.
    pub items: Vec<Item>,
    /// At most 1,000, in the order of the items; `notes` says where there were more.
    pub quarantined: Vec<Quarantined>,
    /// What was changed in the text before it was validated.
    pub changes: Vec<Change>,
    /// Those found, chosen or not: the first 64 and the chosen one; `notes` says where there were more.
    pub candidates: Vec<Candidate>,
    /// What else a caller should know: limits that were reached, checks that were inert, the span of each piece of the
    /// output that was left out as reasoning or as prose, and whether JSON was taken from prose.
    pub notes: Vec<String>,
    /// Whether a person should look before the output is used: it is partial.
    pub review_required: bool,
    /// At most 2,048 bytes to send back to the producer: what was wrong and where. Empty when accepted. Where some
    /// items were kept and others are still wanted, it asks for those alone: `merge` puts the answers together.
    pub feedback: String,
    /// What `feedback` asks for.
    pub wanted: Wanted,
    /// Where `merge` made this report: what it did with each report after the one that it built on. Empty otherwise.
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

/// Why no verdict could be given.
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

/// The validator could not give a verdict. A mistake of the caller, never of the producer.
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
    /// Its version.
    pub version: String,
    /// The schema's `$id`, where it has one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub schema_id: Option<String>,
    /// As in `report.contract`.
    pub contract: String,
    /// How often the producer may be asked again.
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

/// How bad it is what `lint` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// It does not do what it says: a keyword is misspelled, limits contradict each other, a member is required and
    /// forbidden.
    Error,
    /// It works, and is likely a mistake.
    Warning,
    /// A matter of style: what could be said more narrowly, or described.
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

/// Something in a contract that can be used and is likely a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// Where in the contract, as a JSONPath.
    pub path: String,
    /// Which kind: a word that a program can compare.
    pub code: String,
    /// What to do about it.
    pub message: String,
    /// The same place as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// How bad it is. The same for all of a code.
    pub level: Level,
    /// The piece of the contract concerned, where there is one: of a keyword that is not known, its name.
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

/// How far a document has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Completeness {
    /// None is complete.
    InFlight,
    /// What has come is a whole document, and more may come.
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

/// An item that is complete, as the text stands. It is not judged: that is for `finish`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Completed {
    /// Where the candidate begins that it is in. An output may hold several; the contract chooses at the end.
    pub candidate: u32,
    /// Its place among the items of that candidate, from 0.
    pub index: u32,
    /// Its text in the output.
    pub span: Span,
}

impl From<stream::Completed> for Completed {
    fn from(given: stream::Completed) -> Self {
        Completed { candidate: given.candidate, index: given.index, span: given.span.into() }
    }
}

abi::record!(Completed { candidate: u32, index: u32, span: Span });

/// Why the candidate that is being read can no longer become right, whatever comes. It is told only where nothing can
/// be taken instead but what is still to come (a later block, where the contract takes the last), as far as the text up
/// to here tells where candidates are: the verdict is `finish`'s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeadEnd {
    /// The check that it fails: `json`, `extract`, `caps.bytes`, `caps.depth`, `caps.string_bytes`, `caps.array_items`
    /// or `caps.object_members`.
    pub keyword: String,
    /// One sentence for a person.
    pub message: String,
    /// Where in the output that came to light.
    pub at: u32,
}

impl From<stream::DeadEnd> for DeadEnd {
    fn from(given: stream::DeadEnd) -> Self {
        DeadEnd { keyword: given.keyword, message: given.message, at: given.at }
    }
}

abi::record!(DeadEnd { keyword: String, message: String, at: u32 });

/// What is known after a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// How far the document has come.
    pub completeness: Completeness,
    /// Those that were completed by this chunk, in order.
    pub items: Vec<Completed>,
    /// Why it can no longer become right, where it cannot.
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
