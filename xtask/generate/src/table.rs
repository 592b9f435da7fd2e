//! Facts about the types that WIT cannot express. Only this table is maintained beside it.

/// Members whose text is a JSON document: it stands as it is in JSON, not as a string.
pub(super) const DOCUMENTS: [&str; 2] = ["report.output", "item.value"];

/// Records that will never have another member, so that callers may construct them.
pub(super) const CLOSED: [&str; 2] = ["span", "named-list"];

/// Bounds of members, as keywords of JSON Schema.
pub(super) const BOUNDS: &[(&str, &[(&str, &str)])] = &[
    ("report.contract", &[("pattern", r#""^sha256:[0-9a-f]{64}$""#)]),
    ("report.candidates", &[("maxItems", "65")]),
    ("report.feedback", &[("maxLength", "2048")]),
    ("violation.path", &[PATH]),
    ("violation.keyword", &[("minLength", "1")]),
    ("violation.expected", &[("maxLength", "256")]),
    ("violation.received", &[("maxLength", "256")]),
    ("violation.message", &[("minLength", "1"), ("maxLength", "512")]),
    ("violation.pointer", &[POINTER]),
    ("output-error.violations", &[("minItems", "1"), ("maxItems", "100")]),
    ("quarantined.path", &[PATH]),
    ("quarantined.pointer", &[POINTER]),
    ("quarantined.snippet", &[("maxLength", "256")]),
    ("quarantined.violations", &[("maxItems", "10")]),
    ("item.path", &[PATH]),
    ("change.path", &[PATH]),
    ("change.before", &[("maxLength", "256")]),
];

const PATH: (&str, &str) = ("pattern", r#""^\\$""#);
const POINTER: (&str, &str) = ("pattern", r#""^(/|$)""#);

/// The rules between the members of a report.
pub(super) const REPORT_RULES: &str = include_str!("report-rules.json");

/// Types that the core has under another name.
pub(super) const CORE_NAMES: [(&str, &str); 2] = [("candidate", "JudgedCandidate"), ("quarantine-reason", "Reason")];

/// Types that are handwritten in the core because it computes with them.
pub(super) const CORE_BY_HAND: [&str; 7] =
    ["finish", "named-list", "observation", "confidence", "request", "fault-code", "fault"];

/// Members that are a `&'static str` in the core.
pub(super) const CORE_STATIC: [&str; 1] = ["dead-end.keyword"];

/// The words of the faults that a host adds to the component's.
pub(super) const HOST_FAULTS: [&str; 7] =
    ["out_of_fuel", "out_of_memory", "stack_overflow", "timeout", "busy", "input_too_large", "trap"];
