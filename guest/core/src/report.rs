//! The verdict: one report, in one order of members, in the same bytes everywhere.

use serde::{Serialize, Serializer};

use crate::{
    contract::Contract,
    extract::{Candidate, Source},
    parse::Span,
    request::{Finish, Request},
    text,
    violation::{Violation, Violations},
};

/// `error.raw_output` holds this many bytes of the output.
const MAX_RAW_OUTPUT: usize = 4096;

/// `feedback` is at most this long.
const MAX_FEEDBACK: usize = 2048;

/// A report lists this many candidates at the most, and says how many more there were.
const MAX_CANDIDATES: usize = 64;

/// What became of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    Accepted,
    Partial,
    Rejected,
    Refused,
}

/// Which stage rejected the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    OutputValidationFailed,
    ExtractionFailed,
    MalformedJson,
}

/// The canonical error of a rejected output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputError {
    pub error: ErrorKind,
    pub schema_id: Option<String>,
    pub agent_id: String,
    pub violations: Vec<Violation>,
    pub raw_output: String,
    pub retryable: bool,
}

/// A candidate, and whether it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    pub source: Source,
    pub marker: Option<String>,
    pub span: Span,
    pub chosen: bool,
}

/// The verdict on one output. See `report` in `wit/types.wit` for what each member says.
///
/// Items are not judged one by one yet and nothing is repaired, so `quarantined` and `changes` are always empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub disposition: Disposition,
    pub agent: String,
    pub schema_id: Option<String>,
    pub contract: String,
    pub output: Option<String>,
    pub error: Option<OutputError>,
    pub candidates: Vec<Judged>,
    pub notes: Vec<String>,
    pub review_required: bool,
    pub feedback: String,
}

/// Why an output is rejected.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) error: ErrorKind,
    pub(crate) violations: Violations,
    /// The text ends before the document does.
    pub(crate) cut_off: bool,
}

impl Report {
    pub(crate) fn accepted(contract: &Contract, output: String, found: Found) -> Self {
        Report { output: Some(output), ..Report::new(Disposition::Accepted, contract, found) }
    }

    pub(crate) fn refused(contract: &Contract, found: Found) -> Self {
        Report {
            feedback: "You declined to answer, and that was noted. There is nothing to correct.".to_owned(),
            ..Report::new(Disposition::Refused, contract, found)
        }
    }

    pub(crate) fn rejected(contract: &Contract, request: &Request, rejection: Rejection, found: Found) -> Self {
        let mut report = Report::new(Disposition::Rejected, contract, found);
        report.notes.extend(rejection.violations.note());
        report.feedback = feedback(request.output, &rejection);
        report.error = Some(OutputError {
            retryable: !(contract.is_unsatisfiable()
                || request.finish == Finish::ContentFilter
                || (request.finish == Finish::Length && rejection.cut_off)),
            error: rejection.error,
            schema_id: contract.schema_id().map(str::to_owned),
            agent_id: contract.agent().to_owned(),
            violations: rejection.violations.listed,
            raw_output: text::cut_at(request.output, MAX_RAW_OUTPUT),
        });
        report
    }

    fn new(disposition: Disposition, contract: &Contract, found: Found) -> Self {
        let (candidates, notes) = found.listed();
        Report {
            disposition,
            agent: contract.agent().to_owned(),
            schema_id: contract.schema_id().map(str::to_owned),
            contract: contract.digest().to_owned(),
            output: None,
            error: None,
            candidates,
            notes,
            review_required: false,
            feedback: String::new(),
        }
    }

    /// The report as JSON text: members in the order of the format, no optional white space.
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
        member("quarantined", "[]");
        member("changes", "[]");
        member("candidates", &json(&self.candidates));
        member("notes", &json(&self.notes));
        member("review_required", &json(&self.review_required));
        member("feedback", &json(&self.feedback));
        out.push('}');
        out
    }
}

/// The candidates that were found, and which of them was judged.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) chosen: Option<usize>,
}

impl Found {
    /// Those that fit a report, always with the chosen one, and a note where some do not.
    fn listed(self) -> (Vec<Judged>, Vec<String>) {
        let total = self.candidates.len();
        let listed: Vec<Judged> = self
            .candidates
            .into_iter()
            .enumerate()
            .filter(|(index, _)| *index < MAX_CANDIDATES || self.chosen == Some(*index))
            .map(|(index, candidate)| Judged {
                source: candidate.source,
                marker: candidate.marker,
                span: candidate.span,
                chosen: self.chosen == Some(index),
            })
            .collect();
        let more = total - listed.len();
        let note = (more > 0).then(|| format!("candidates: {more} more are not listed"));
        (listed, note.into_iter().collect())
    }
}

/// What the producer is told: what was wrong and where, its own text quoted as data.
fn feedback(output: &str, rejection: &Rejection) -> String {
    let head = match rejection.error {
        ErrorKind::ExtractionFailed => "No usable JSON was found in the output.",
        ErrorKind::MalformedJson => "The output is not well-formed JSON.",
        ErrorKind::OutputValidationFailed => "The output does not match what was asked for.",
    };
    let tail = "Send the whole corrected output again.";
    let mut out = format!("{head}\n");
    let mut listed = 0;
    for violation in &rejection.violations.listed {
        let received = match violation.span.map(|span| span.of(output)) {
            Some(text) if !text.is_empty() => format!(" Received: {}", text::quote(text, 80)),
            _ => String::new(),
        };
        let place = text::visible(&text::cut(&violation.path, 160));
        let line = format!("- at {place}: {}.{received}\n", text::cut(&violation.message, 300));
        // Room for the line that says how many are left out, and for the tail.
        if out.len() + line.len() + 48 + tail.len() > MAX_FEEDBACK {
            break;
        }
        out.push_str(&line);
        listed += 1;
    }
    let more = rejection.violations.total - listed;
    if more > 0 {
        out.push_str(&format!("- and {more} more.\n"));
    }
    out.push_str(tail);
    out
}

/// A value of ours as JSON. Strings, numbers, lists and records: nothing in them can fail to be written.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl Serialize for Span {
    /// `[start,end]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.start, self.end).serialize(serializer)
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Source::Block => "block",
            Source::Raw => "raw",
            Source::Embedded => "embedded",
        })
    }
}
