//! The words of the WIT package as Rust types, and as the JSON that is the same everywhere.

use serde::{Serialize, Serializer, ser::SerializeStruct};

pub use crate::bindings::exports::seamgate::validator::stream::{Completed, Completeness, DeadEnd, Progress};
pub use crate::bindings::exports::seamgate::validator::types::{
    Candidate, Change, ContractInfo, Disposition, ErrorKind, Finish, Item, NamedList, OutputError, QuarantineReason,
    Quarantined, Report, Source, Span, Violation, Warning,
};

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

    /// What is wrong with a rejected output; empty for others.
    pub fn violations(&self) -> &[Violation] {
        self.error.as_ref().map_or(&[], |error| &error.violations)
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
    )*};
}

records! {
    Violation { path, keyword, expected, received, message, pointer, schema_path, span }
    OutputError { error, schema_id, agent_id, violations, raw_output, retryable }
    Quarantined { index, path, reason, span, snippet, violations }
    Change { kind, path, span, before, after }
    Candidate { source, marker, span, chosen }
    ContractInfo { agent, version, schema_id, contract, retry_limit }
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
    Finish {
        Stop => "stop",
        Length => "length",
        Refusal => "refusal",
        ContentFilter => "content_filter",
        Unknown => "unknown"
    }
}

impl Serialize for Span {
    /// `[start,end]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.start, self.end).serialize(serializer)
    }
}
