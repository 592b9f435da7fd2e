//! The verdict: one report, in one order of members, in the same bytes everywhere.

use serde::Serialize;

use crate::{
    change::Change,
    contract::Contract,
    extract::{Candidates, MAX_KEPT, Source},
    feedback,
    items::{Item, Quarantined},
    json::json,
    judgement::{ErrorKind, Judgement, Outcome},
    parse::Span,
    request::{Finish, Request},
    text,
    violation::Violation,
};

/// `error.raw_output` holds this many bytes of the output.
const MAX_RAW_OUTPUT: usize = 4096;

/// What became of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    Accepted,
    Partial,
    Rejected,
    Refused,
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
pub struct JudgedCandidate {
    pub source: Source,
    pub marker: Option<String>,
    pub span: Span,
    pub chosen: bool,
}

/// The verdict on one output. See `report` in `wit/types.wit` for what each member says.
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
}

impl Report {
    pub(crate) fn refused(contract: &Contract, found: Found) -> Self {
        Report {
            feedback: "You declined to answer, and that was noted. There is nothing to correct.".to_owned(),
            ..Report::new(Disposition::Refused, contract, found)
        }
    }

    pub(crate) fn of(contract: &Contract, request: &Request, judgement: Judgement, found: Found) -> Self {
        let Judgement { outcome, repaired, broken, items, quarantined, wanting, changes, notes } = judgement;
        let mut report = match outcome {
            Outcome::Refusal => return Report::refused(contract, found),
            Outcome::Document(output) => {
                let whole = quarantined.is_empty() && broken.is_none();
                let disposition = if whole && !repaired { Disposition::Accepted } else { Disposition::Partial };
                let mut report = Report::new(disposition, contract, found);
                report.output = Some(output);
                report.review_required = disposition == Disposition::Partial;
                if !whole {
                    let wanted = contract.items().filter(|_| wanting);
                    report.feedback = feedback::partial(request.output, broken.as_ref(), &quarantined, wanted);
                } else if repaired {
                    report.feedback = feedback::repaired();
                }
                report
            }
            Outcome::Rejection(mut rejection) => {
                // What came first is said first: the text was not even JSON, and not all of it could be put right.
                if let Some(broken) = broken {
                    rejection.violations.add_first(broken);
                }
                let mut report = Report::new(Disposition::Rejected, contract, found);
                report.notes.extend(rejection.violations.note());
                report.feedback = feedback::rejected(request.output, &rejection, &quarantined);
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
        };
        report.notes.extend(notes);
        Report { items, quarantined, changes, ..report }
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
            items: Vec::new(),
            quarantined: Vec::new(),
            changes: Vec::new(),
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
}

/// The candidates that were found, which of them was judged, and what else there is to say of it.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Candidates,
    pub(crate) chosen: Option<usize>,
    pub(crate) notes: Vec<String>,
}

impl Found {
    /// Those that fit a report, always with the chosen one, and a note where some do not.
    fn listed(self) -> (Vec<JudgedCandidate>, Vec<String>) {
        let total = self.candidates.len();
        let first = 0..total.min(MAX_KEPT);
        let chosen = self.chosen.filter(|chosen| !first.contains(chosen));
        let judged = |index: usize| {
            let candidate = self.candidates.get(index)?;
            let (source, marker, span) = (candidate.source, candidate.marker.clone(), candidate.span);
            Some(JudgedCandidate { source, marker, span, chosen: self.chosen == Some(index) })
        };
        let listed: Vec<JudgedCandidate> = first.chain(chosen).filter_map(judged).collect();
        let more = total - listed.len();
        let note = (more > 0).then(|| format!("candidates: {more} more are not listed"));
        (listed, note.into_iter().chain(self.notes).collect())
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
