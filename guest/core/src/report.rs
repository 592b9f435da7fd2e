//! The verdict: a report with its members in a fixed order, and the same bytes in every runtime.

use crate::{
    contract::Contract,
    extract::{Candidates, MAX_KEPT},
    feedback,
    judgement::{Judgement, Outcome, Rejection},
    parse::minified,
    request::{Finish, Request},
    text,
    types::{Disposition, JudgedCandidate, OutputError, Quarantined, Report, Source, Span, Wanted},
};

/// The length to which `error.raw_output` is truncated, in bytes.
const MAX_RAW_OUTPUT: usize = 4096;

/// A verdict. Most need no full report.
pub enum Verdict<'v> {
    Accepted(Accepted<'v>),
    Report(Box<Report>),
}

/// An output with one valid document and no other candidate. Its report contains nothing else.
pub struct Accepted<'v> {
    pub contract: &'v Contract,
    pub source: Source,
    /// The marker of its block, if it has one.
    pub marker: Option<&'v str>,
    pub notes: Vec<String>,
    /// The output, and the span of the document in it.
    pub output: &'v str,
    pub span: Span,
}

impl From<Verdict<'_>> for Report {
    fn from(verdict: Verdict<'_>) -> Self {
        match verdict {
            Verdict::Report(report) => *report,
            Verdict::Accepted(Accepted { contract, source, marker, notes, output, span }) => {
                let candidate = JudgedCandidate { source, marker: marker.map(str::to_owned), span, chosen: true };
                let report = Report::new(Disposition::Accepted, contract, (vec![candidate], notes));
                Report { output: Some(minified(span.of(output))), ..report }
            }
        }
    }
}

impl Report {
    pub(crate) fn refused(contract: &Contract, found: Found) -> Self {
        Report {
            feedback: "You declined to answer, and that was noted. There is nothing to correct.".to_owned(),
            ..Report::new(Disposition::Refused, contract, found.listed())
        }
    }

    pub(crate) fn of(contract: &Contract, request: &Request, judgement: Judgement, found: Found) -> Self {
        let Judgement { outcome, repaired, broken, items, quarantined, wanting, changes, notes } = judgement;
        let mut report = match outcome {
            Outcome::Refusal => return Report::refused(contract, found),
            Outcome::Document(output) => {
                let whole = quarantined.is_empty() && broken.is_none();
                let disposition = if whole && !repaired { Disposition::Accepted } else { Disposition::Partial };
                let mut report = Report::new(disposition, contract, found.listed());
                report.output = Some(output);
                report.review_required = disposition == Disposition::Partial;
                if !whole {
                    let wanted = contract.items().filter(|_| wanting);
                    (report.wanted, report.feedback) =
                        feedback::partial(request.output, broken.as_ref(), &quarantined, wanted);
                } else if repaired {
                    (report.wanted, report.feedback) =
                        feedback::repaired(changes.iter().filter(|change| change.kind.is_repair()));
                }
                report
            }
            Outcome::Rejection(mut rejection) => {
                // Reports the original problem first: the text was invalid JSON, and could not be repaired completely.
                if let Some(broken) = broken {
                    rejection.violations.add_first(broken);
                }
                Report::rejected(contract, request, rejection, found.listed(), &quarantined)
            }
        };
        report.notes.extend(notes);
        Report { items, quarantined, changes, ..report }
    }

    /// Returns the report on an output that is completely rejected, with the listed candidates and notes.
    pub(crate) fn rejected(
        contract: &Contract,
        request: &Request,
        rejection: Rejection,
        found: (Vec<JudgedCandidate>, Vec<String>),
        quarantined: &[Quarantined],
    ) -> Self {
        let mut report = Report::new(Disposition::Rejected, contract, found);
        report.notes.extend(rejection.violations.note());
        (report.wanted, report.feedback) = feedback::rejected(request.output, &rejection, quarantined);
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

    fn new(
        disposition: Disposition,
        contract: &Contract,
        (candidates, notes): (Vec<JudgedCandidate>, Vec<String>),
    ) -> Self {
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
            wanted: Wanted::Nothing,
            merged: Vec::new(),
        }
    }
}

/// The candidates that were found, the one that was judged, and further notes.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Candidates,
    pub(crate) chosen: Option<usize>,
    pub(crate) notes: Vec<String>,
}

impl Found {
    /// Returns the candidates that fit a report, always including the selected one. Adds a note if some do not fit.
    fn listed(self) -> (Vec<JudgedCandidate>, Vec<String>) {
        let total = self.candidates.len();
        let end = self.candidates.end();
        let first = 0..total.min(MAX_KEPT);
        let chosen = self.chosen.filter(|chosen| !first.contains(chosen));
        let judged = |index: usize| {
            let candidate = self.candidates.get(index)?;
            let (source, marker, span) = (candidate.source, candidate.marker.clone(), candidate.span);
            Some(JudgedCandidate { source, marker, span, chosen: self.chosen == Some(index) })
        };
        let listed: Vec<JudgedCandidate> = first.chain(chosen).filter_map(judged).collect();
        let more = total - listed.len();
        // The candidates that are not listed begin after the last listed one at the front.
        let from = self.candidates.get(MAX_KEPT - 1).map_or(0, |last| last.span.end);
        let note = (more > 0).then(|| format!("candidates: {more} more are not listed, in bytes {from} to {end}"));
        (listed, note.into_iter().chain(self.notes).collect())
    }
}
