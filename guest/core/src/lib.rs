//! The pipeline of seamgate: contract and output in, report out.
//!
//! A plain library without I/O, clock or randomness: the same request gives the same report, natively and in the
//! sandbox. [`validate`] is the whole of it; each module is one stage, and takes only what the stage before made.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the words are documented once, in wit/types.wit")]

mod check;
mod contract;
mod extract;
mod fault;
mod parse;
mod place;
mod registry;
mod report;
mod request;
mod screen;
mod text;
mod violation;
mod wire;

pub use contract::{Contract, Warning};
pub use extract::Source;
pub use fault::{Fault, FaultCode};
pub use parse::Span;
pub use registry::{ContractInfo, Registry};
pub use report::{Disposition, ErrorKind, Judged, OutputError, Report};
pub use request::{Finish, NamedList, Request};
pub use violation::Violation;
pub use wire::call;

use contract::Select;
use extract::Candidate;
use parse::parse;
use place::Place;
use report::{Found, Rejection};
use screen::{Screened, screen, screen_size};
use violation::Violations;

/// Longer texts have offsets that a span does not hold.
pub(crate) const MAX_TEXT: usize = u32::MAX as usize - 1;

/// Judge one output by a contract.
///
/// Whatever the output is, the verdict is a report. The stages: find the candidates, choose one, parse it, screen it,
/// check it against the schema.
///
/// # Errors
///
/// `bad_request` where the request contradicts the contract or itself.
pub fn validate(contract: &Contract, request: &Request) -> Result<Report, Fault> {
    request.check(contract)?;
    if let Some(at) = request.invalid_utf8 {
        let found = Found::default();
        if request.finish == Finish::Refusal {
            return Ok(Report::refused(contract, found));
        }
        // One replacement at the very end: the text was cut inside a character.
        let cut_off = request.output.get(at as usize..) == Some("\u{fffd}");
        return Ok(Report::rejected(contract, request, malformed(not_utf8(at), cut_off), found));
    }
    let candidates = extract::extract(request.output, contract.extract(), contract.caps());
    let choice = choose(contract, request.output, &candidates);
    let found = Found { candidates, chosen: choice.as_ref().ok().map(|(index, _)| *index) };
    if request.finish == Finish::Refusal {
        return Ok(Report::refused(contract, found));
    }
    let judged = choice.and_then(|(_, judged)| judged);
    Ok(match judged {
        Ok(screened) if contract.is_refusal(screened.document()) => Report::refused(contract, found),
        Ok(screened) if contract.checker().is_valid(&screened) => {
            Report::accepted(contract, screened.document().minified(), found)
        }
        Ok(screened) => {
            let rejection = Rejection {
                error: ErrorKind::OutputValidationFailed,
                violations: contract.checker().violations(&screened),
                cut_off: false,
            };
            Report::rejected(contract, request, rejection, found)
        }
        Err(rejection) => Report::rejected(contract, request, rejection, found),
    })
}

/// A candidate that was read: a document, or why it is none.
type Read<'t> = Result<Screened<'t>, Rejection>;

/// Choose the candidate to judge, as the contract's `select` says, and read it.
fn choose<'t>(contract: &Contract, output: &'t str, candidates: &[Candidate]) -> Result<(usize, Read<'t>), Rejection> {
    let last = candidates.len().checked_sub(1).ok_or_else(|| none_found(output, contract))?;
    let read = |index: usize| (index, read(contract, output, &candidates[index]));
    let valid = |index: &usize| {
        let (_, judged) = read(*index);
        judged.is_ok_and(|screened| contract.checker().is_valid(&screened))
    };
    match contract.extract().select {
        Select::First => Ok(read(0)),
        Select::Last => Ok(read(last)),
        Select::Only if last == 0 => Ok(read(0)),
        Select::Only => Err(several_found(candidates)),
        Select::FirstValid => Ok(read((0..=last).find(valid).unwrap_or(0))),
        Select::LastValid => Ok(read((0..=last).rev().find(valid).unwrap_or(last))),
    }
}

/// Parse a candidate and screen it.
fn read<'t>(contract: &Contract, output: &'t str, candidate: &Candidate) -> Read<'t> {
    let refused = |violations| Rejection { error: ErrorKind::OutputValidationFailed, violations, cut_off: false };
    screen_size(candidate.span, contract.caps()).map_err(refused)?;
    let parsed = parse(output, candidate.span, contract.caps()).map_err(|broken| {
        // A block that was closed was not cut off, however its content ends.
        let at_end = output[candidate.span.end as usize..].trim().is_empty();
        malformed(screen::malformed(output, &broken), broken.cut_off && at_end)
    })?;
    screen(parsed, contract.caps()).map_err(refused)
}

fn malformed(violation: Violation, cut_off: bool) -> Rejection {
    Rejection { error: ErrorKind::MalformedJson, violations: violation.into(), cut_off }
}

fn not_utf8(at: u32) -> Violation {
    Violation::new(
        &Place::root(),
        "utf8",
        "UTF-8",
        &format!("a byte at {at} that is not UTF-8"),
        &format!("must be UTF-8: the byte at {at} is not"),
    )
    .spanning(Span { start: at, end: at })
}

fn extraction_failed(expected: &str, received: &str, message: &str, span: Option<Span>) -> Rejection {
    let mut violation = Violation::new(&Place::root(), "extract", expected, received, message);
    violation.span = span;
    Rejection {
        error: ErrorKind::ExtractionFailed,
        violations: Violations::from(violation),
        // Of a text that was cut, the JSON may not have begun.
        cut_off: span.is_none(),
    }
}

fn none_found(output: &str, contract: &Contract) -> Rejection {
    let options = contract.extract();
    let mut places: Vec<String> =
        options.markers.iter().map(|marker| format!("a fenced block marked {}", text::quote(marker, 64))).collect();
    if options.raw_json {
        places.push("JSON and nothing else".to_owned());
    }
    if options.embedded {
        places.push("an object or array in prose".to_owned());
    }
    let expected = places.join(", or ");
    let message = format!("must contain JSON: expected {expected}");
    let received = match output.trim() {
        "" => "nothing".to_owned(),
        text => text::quote(text, 64),
    };
    extraction_failed(&expected, &received, &message, None)
}

fn several_found(candidates: &[Candidate]) -> Rejection {
    let found = text::count(candidates.len(), "candidate");
    let message = format!("must contain one piece of JSON, contains {}", candidates.len());
    extraction_failed("one candidate", &found, &message, candidates.get(1).map(|candidate| candidate.span))
}

impl Request<'_> {
    /// Refuse a request that contradicts itself or the contract.
    fn check(&self, contract: &Contract) -> Result<(), Fault> {
        let wrong = |name: &str, expected: &str, received: &str, message: &str| {
            let violation = Violation::new(&Place::root().name(name), "request", expected, received, message);
            Err(Fault::wrong(FaultCode::BadRequest, "request", vec![violation]))
        };
        if !self.agent.is_empty() && self.agent != contract.agent() {
            let message = format!("must be the contract's agent, {}", text::quote(contract.agent(), 128));
            return wrong("agent", contract.agent(), &self.agent, &message);
        }
        if self.output.len() > MAX_TEXT {
            let limit = text::count(MAX_TEXT, "byte");
            return wrong(
                "output",
                &limit,
                &text::count(self.output.len(), "byte"),
                &format!("must be at most {limit}"),
            );
        }
        let mut names: Vec<&str> = self.lists.iter().map(|list| list.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => wrong("lists", "each name once", pair[0], "must name each list once"),
            None => Ok(()),
        }
    }
}
