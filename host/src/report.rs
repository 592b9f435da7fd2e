//! The words of the WIT package as Rust types, and as the JSON that is the same everywhere.

use std::collections::BTreeMap;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _, IgnoredAny},
    ser::SerializeStruct,
};
use serde_json::value::RawValue;

pub use crate::bindings::exports::seamgate::validator::stream::{Completed, Completeness, DeadEnd, Progress};
pub use crate::bindings::exports::seamgate::validator::types::{
    Candidate, Change, ContractInfo, Disposition, ErrorKind, Finish, Item, NamedList, OutputError, QuarantineReason,
    Quarantined, Report, Source, Span, Violation, Warning,
};

/// How feedback ends that asks for nothing.
const NOTHING_WANTED: &str = "Nothing needs to be sent again.";

impl Report {
    /// The report as JSON text: members in the order of the format (`schemas/report.schema.json`), no optional white
    /// space. The same bytes as in every other runtime.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(512 + self.output.as_ref().map_or(0, String::len));
        let mut member = |name: &str, value: &str| {
            out.push(if out.is_empty() { '{' } else { ',' });
            out.push('"');
            out.push_str(name);
            out.push_str("\":");
            out.push_str(value);
        };
        member("disposition", &json(&self.disposition));
        member("agent", &json(&self.agent));
        member("schema_id", &json(&self.schema_id));
        member("contract", &json(&self.contract));
        // JSON already.
        member("output", self.output.as_deref().unwrap_or("null"));
        member("error", &json(&self.error));
        member("items", &items(&self.items));
        member("quarantined", &json(&self.quarantined));
        member("changes", &json(&self.changes));
        member("candidates", &json(&self.candidates));
        member("notes", &json(&self.notes));
        member("review_required", &json(&self.review_required));
        member("feedback", &json(&self.feedback));
        out.push('}');
        out
    }

    /// Read what [`to_json`](Report::to_json) wrote.
    ///
    /// # Errors
    ///
    /// It is no report.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// What is wrong with a report that a component gave, where its type does not tell: a component need not be a good
    /// one, and who writes a report beside others counts on its lines.
    pub(crate) fn unsound(&self) -> Option<&'static str> {
        let emits = matches!(self.disposition, Disposition::Accepted | Disposition::Partial);
        if self.output.is_some() != emits {
            return Some("`output` is there where nothing is emitted, or not where something is");
        }
        if self.error.is_some() != (self.disposition == Disposition::Rejected) {
            return Some("`error` is there where nothing is rejected, or not where something is");
        }
        if !self.output.iter().chain(self.items.iter().map(|item| &item.value)).all(|text| is_json(text)) {
            return Some("a document in it is not JSON on one line");
        }
        None
    }

    /// Whether the verdict is partial only because the output's syntax was repaired: nothing of it is missing, and nothing
    /// is asked for again.
    pub fn is_repaired(&self) -> bool {
        // The last line is never the producer's own text.
        self.disposition == Disposition::Partial && self.feedback.lines().last() == Some(NOTHING_WANTED)
    }

    /// What is wrong with a rejected output; empty for others.
    pub fn violations(&self) -> &[Violation] {
        self.error.as_ref().map_or(&[], |error| &error.violations)
    }
}

impl Progress {
    /// What is known as JSON text, members in the order of the WIT record.
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// Items, whose values are JSON already.
fn items(items: &[Item]) -> String {
    let item = |item: &Item| {
        let (path, span) = (json(&item.path), json(&item.span));
        format!("{{\"index\":{},\"path\":{path},\"span\":{span},\"value\":{}}}", item.index, item.value)
    };
    format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(","))
}

/// Whether a text is one value of JSON, without line ends between its words.
pub(crate) fn is_json(text: &str) -> bool {
    !text.as_bytes().contains(&b'\n') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A value of ours as JSON. Strings, numbers, lists and records: nothing in them can fail to be written.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Records are objects whose members are the fields, in order.
macro_rules! records {
    ($($name:ident { $($field:ident),* })*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let fields = [$(stringify!($field)),*].len();
                let mut record = serializer.serialize_struct(stringify!($name), fields)?;
                $(record.serialize_field(stringify!($field), &self.$field)?;)*
                record.end()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut members = Members::deserialize(deserializer)?;
                Ok($name { $($field: members.take(stringify!($field))?),* })
            }
        }
    )*};
}

/// The members of a record, each as its text, until they are taken.
#[derive(Deserialize)]
struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    fn take<T: DeserializeOwned, E: serde::de::Error>(&mut self, name: &'static str) -> Result<T, E> {
        let member = self.0.remove(name).ok_or_else(|| E::missing_field(name))?;
        serde_json::from_str(member.get()).map_err(|error| E::custom(format!("{name}: {error}")))
    }

    /// A member as JSON text.
    fn source<E: serde::de::Error>(&mut self, name: &'static str) -> Result<String, E> {
        self.0.remove(name).map(|member| member.get().to_owned()).ok_or_else(|| E::missing_field(name))
    }
}

impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        let disposition = members.take("disposition")?;
        let has_output = matches!(disposition, Disposition::Accepted | Disposition::Partial);
        Ok(Report {
            disposition,
            agent: members.take("agent")?,
            schema_id: members.take("schema_id")?,
            contract: members.take("contract")?,
            output: if has_output { Some(members.source("output")?) } else { None },
            error: members.take("error")?,
            items: members.take("items")?,
            quarantined: members.take("quarantined")?,
            changes: members.take("changes")?,
            candidates: members.take("candidates")?,
            notes: members.take("notes")?,
            review_required: members.take("review_required")?,
            feedback: members.take("feedback")?,
        })
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        let (index, path, span) = (members.take("index")?, members.take("path")?, members.take("span")?);
        Ok(Item { index, path, span, value: members.source("value")? })
    }
}

records! {
    Violation { path, keyword, expected, received, message, pointer, schema_path, span }
    OutputError { error, schema_id, agent_id, violations, raw_output, retryable }
    Quarantined { index, path, reason, span, snippet, violations }
    Change { kind, path, span, before, after }
    Candidate { source, marker, span, chosen }
    ContractInfo { agent, version, schema_id, contract, retry_limit, lists }
    Completed { candidate, index, span }
    DeadEnd { keyword, message, at }
    Progress { completeness, items, dead_end }
    Warning { path, code, message, pointer }
}

/// Enumerations are strings.
macro_rules! words {
    ($($name:ident { $($variant:ident => $word:literal),* })*) => {$(
        impl $name {
            /// The word for it on the wire.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word),*
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                let known = [$($name::$variant),*].into_iter().find(|known| known.word() == word);
                known.ok_or_else(|| D::Error::unknown_variant(&word, &[$($word),*]))
            }
        }
    )*};
}

words! {
    Disposition { Accepted => "accepted", Partial => "partial", Rejected => "rejected", Refused => "refused" }
    ErrorKind {
        OutputValidationFailed => "output_validation_failed",
        ExtractionFailed => "extraction_failed",
        MalformedJson => "malformed_json"
    }
    QuarantineReason {
        Malformed => "malformed",
        Schema => "schema",
        Guardrail => "guardrail",
        AllowList => "allow_list",
        OverLimit => "over_limit"
    }
    Source { Block => "block", Raw => "raw", Embedded => "embedded" }
    Completeness { InFlight => "in_flight", SoftComplete => "soft_complete", HardComplete => "hard_complete" }
}

impl Serialize for Finish {
    /// Our word.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Finish {
    /// Any word that is read.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
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
