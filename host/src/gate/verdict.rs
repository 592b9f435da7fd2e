//! The answers of a gate, and the events that it logs.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use crate::types::{Disposition, Report, document::Document, fault::Fault, limits::Usage};

/// The verdict on one output, and its usage.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verdict {
    /// The report.
    pub report: Report,
    /// The usage. It is not part of the report because reports are the same bytes everywhere, and times are not.
    pub usage: Usage,
}

/// The answer to a request that is JSON text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// The answer as JSON text: `{"id":…,"report":{…}}`, or `{"id":…,"fault":{…}}`.
    pub json: String,
    /// The usage.
    pub usage: Usage,
}

impl Verdict {
    /// Logs and returns the verdict of a component. The built-in component is trusted to return sound reports. A report
    /// of another component is checked first, which parses its documents again. A document that is a piece of the
    /// output is instead checked when it is read.
    pub(crate) fn of(
        is_trusted: bool,
        agent: &str,
        judged: Result<(Box<Report>, Usage), Fault>,
    ) -> Result<Self, Fault> {
        let sound = |(mut report, usage): (Box<Report>, Usage)| {
            if is_trusted {
                report.output.iter_mut().for_each(Document::trust);
            } else if let Some(why) = report.contradiction() {
                return Err(Fault::Trap { message: format!("invalid report: {why}") });
            }
            Ok((report, usage))
        };
        match judged.and_then(sound) {
            Ok((report, usage)) => {
                log(&report, &usage);
                Ok(Verdict { report: *report, usage })
            }
            Err(fault) => {
                tracing::warn!(agent, fault = fault.code(), "{fault}");
                Err(fault)
            }
        }
    }
}

impl Answer {
    /// Returns the answer of a component. Callers that write one answer per line depend on its line ends.
    pub(crate) fn of(is_trusted: bool, json: String, usage: Usage) -> Result<Self, Fault> {
        if !is_trusted && !is_answer(&json) {
            return Err(Fault::Trap { message: "invalid answer: expected one line of JSON".to_owned() });
        }
        Ok(Answer { json, usage })
    }

    /// Returns a document that a component created: a decision, an observation or a surface.
    pub(crate) fn document(is_trusted: bool, json: String, usage: Usage) -> Result<Self, Fault> {
        let is_document = || serde_json::from_str::<BTreeMap<&str, IgnoredAny>>(&json).is_ok();
        if !is_trusted && (json.as_bytes().contains(&b'\n') || !is_document()) {
            return Err(Fault::Trap { message: "invalid answer: expected a JSON object on one line".to_owned() });
        }
        Ok(Answer { json, usage })
    }
}

/// Returns whether a text is a one-line answer of the form that `wire` describes.
fn is_answer(json: &str) -> bool {
    let members = serde_json::from_str::<BTreeMap<&str, IgnoredAny>>(json).unwrap_or_default();
    let names: Vec<&str> = members.into_keys().collect();
    !json.as_bytes().contains(&b'\n') && matches!(names[..], ["fault", "id"] | ["id", "report" | "result"])
}

fn log(report: &Report, usage: &Usage) {
    let agent = report.agent.as_str();
    let contract = report.contract.as_str();
    if report.disposition == Disposition::Rejected {
        let first = report.violations().first();
        tracing::info!(
            agent,
            contract,
            error = report.error.as_ref().map(|error| error.error.as_str()),
            violations = report.violations().len(),
            path = first.map(|violation| violation.path.as_str()),
            keyword = first.map(|violation| violation.keyword.as_str()),
            "output failed validation"
        );
    }
    tracing::debug!(
        agent,
        contract,
        disposition = report.disposition.as_str(),
        fuel = usage.fuel,
        memory = usage.memory,
        elapsed = ?usage.elapsed,
        "verdict"
    );
}
