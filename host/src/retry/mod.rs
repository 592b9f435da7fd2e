//! The retry loop: ask a producer, judge its output, send back the mistakes, and ask again up to a limit.

mod error;
mod journal;
mod journalled;
mod settings;

use std::{collections::BTreeMap, error::Error, fmt, str::FromStr};

use serde::Serialize;

pub use self::{
    error::RetryJournalError,
    journalled::JournalledAttempts,
    settings::{RetryJournal, RetryNotice},
};
use crate::{
    gate::{Gate, verdict::Verdict},
    json::json,
    types::{
        ContractInfo, Disposition, Finish, NamedList, Observation, QuarantineReason, Report, Violation, Wanted,
        fault::Fault, limits::Usage, request::Request,
    },
};

/// The output of a producer, and why the producer stopped.
///
/// ```
/// use seamgate::{Finish, Produced};
///
/// let produced = Produced::from("4").finish(Finish::Stop);
/// assert_eq!((produced.output.as_slice(), produced.finish), (b"4".as_slice(), Finish::Stop));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Produced {
    /// The raw output, including prose and fences. It need not be UTF-8; if it is not, the verdict reports that.
    pub output: Vec<u8>,
    /// The reason why the producer stopped. Default: [`Finish::Unknown`].
    pub finish: Finish,
}

impl Produced {
    /// Sets [`finish`](Produced::finish).
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }
}

impl<T: Into<Vec<u8>>> From<T> for Produced {
    fn from(output: T) -> Self {
        Produced { output: output.into(), finish: Finish::Unknown }
    }
}

/// The reason why a run stops asking its producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The output is accepted.
    Accepted,
    /// Part of the output is valid, and the caller accepts that.
    Partial,
    /// The producer declined.
    Refused,
    /// Another attempt by the same producer cannot help: a filter withheld the output, it was truncated at a length
    /// limit, no value matches the schema, or the output is complete and only its syntax was repaired.
    NotRetryable,
    /// Two attempts in a row had the same violations.
    Repeated,
    /// The run made as many attempts as the contract's `retry.limit` allows.
    Limit,
}

impl Stop {
    /// Every reason.
    const ALL: [Stop; 6] =
        [Stop::Accepted, Stop::Partial, Stop::Refused, Stop::NotRetryable, Stop::Repeated, Stop::Limit];

    /// Returns the word for this reason in journals.
    pub fn as_str(self) -> &'static str {
        match self {
            Stop::Accepted => "accepted",
            Stop::Partial => "partial",
            Stop::Refused => "refused",
            Stop::NotRetryable => "not_retryable",
            Stop::Repeated => "repeated",
            Stop::Limit => "limit",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Stop {
    type Err = UnknownStop;

    /// Parses the word that [`as_str`](Stop::as_str) returns.
    fn from_str(word: &str) -> Result<Self, UnknownStop> {
        Stop::ALL.into_iter().find(|stop| stop.as_str() == word).ok_or(UnknownStop)
    }
}

/// The text is not a word for [`Stop`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be accepted, partial, refused, not_retryable, repeated or limit")]
pub struct UnknownStop;

/// The next step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Ask the producer. The text is the feedback on its last output, if there was one.
    Ask(Option<String>),
    /// End the run.
    Stop(Stop),
}

/// The outcome of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The verdict on all attempts together.
    pub report: Report,
    /// The number of attempts.
    pub attempts: u32,
    /// The reason why the run made no more attempts.
    pub stop: Stop,
}

impl Outcome {
    /// Returns the validated document as JSON text. `None` if the caller must not use it.
    pub fn output(&self) -> Option<&str> {
        self.report.output.as_deref().filter(|_| matches!(self.stop, Stop::Accepted | Stop::Partial))
    }
}

/// The reason why a run has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no verdict on an output.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The journal cannot be read or written, or holds another run.
    #[error(transparent)]
    Journal(#[from] RetryJournalError),
    /// The producer failed with this error. `downcast_ref` returns its original type.
    #[error("the producer failed")]
    Producer(#[source] Box<dyn Error + Send + Sync>),
}

impl Gate {
    /// Asks a producer until its output is accepted, or there is a reason to stop. The contract's `retry.limit` says how
    /// often to ask again. `request` names the agent, the lists and the evidence; its output is ignored.
    ///
    /// `produce` receives the feedback on its last output, and returns the next one. If some items of an output were valid,
    /// the feedback may ask only for the others. The loop then merges the new items with the valid ones.
    ///
    /// In Python and JavaScript, this method is `Gate.run`. To record the attempts, see [`Attempts::journalled`].
    ///
    /// ```
    /// use seamgate::{Gate, Produced, Request, Stop};
    ///
    /// let mut gate = Gate::new()?;
    /// gate.register(r#"{"agent": "greeter", "schema": {"required": ["greeting"]}}"#)?;
    /// let outcome = gate.retry(&Request::new("greeter", ""), |feedback| {
    ///     let output = match feedback {
    ///         None => r#"{"greting": "hi"}"#,
    ///         Some(feedback) => {
    ///             assert!(feedback.contains("must have member \"greeting\""));
    ///             r#"{"greeting": "hi"}"#
    ///         }
    ///     };
    ///     Ok::<_, std::io::Error>(Produced::from(output))
    /// })?;
    /// assert_eq!((outcome.stop, outcome.attempts), (Stop::Accepted, 2));
    /// assert_eq!(outcome.output(), Some(r#"{"greeting":"hi"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A fault, or the error or text that `produce` returned. If a list is missing or the agent is unknown, the
    /// fault comes before the first call of `produce`. No error carries output that was not validated.
    pub fn retry<E>(
        &self,
        request: &Request,
        produce: impl FnMut(Option<&str>) -> Result<Produced, E>,
    ) -> Result<Outcome, RunError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        JournalledAttempts::from(self.attempts(request)?).retry(produce)
    }

    /// Starts the same loop step by step, for callers that ask the producer themselves.
    ///
    /// ```
    /// use seamgate::{Gate, Next, Produced, Request, Stop};
    ///
    /// let mut gate = Gate::new()?;
    /// gate.register(r#"{"agent": "counter", "schema": {"type": "integer"}}"#)?;
    /// let mut attempts = gate.attempts(&Request::new("counter", ""))?;
    /// let mut outputs = ["four", "4"].into_iter();
    /// while let Next::Ask(_feedback) = attempts.next() {
    ///     attempts.judge(&Produced::from(outputs.next().unwrap()))?;
    /// }
    /// assert_eq!((attempts.next(), attempts.count()), (Next::Stop(Stop::Accepted), 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Fault::UnknownAgent`]; [`Fault::BadRequest`] before the first attempt if a list is missing; or a fault for a
    /// limit.
    pub fn attempts(&self, request: &Request) -> Result<Attempts<'_>, Fault> {
        let contract = self.contract(request.agent())?;
        // The session serves only to have the component check the lists before there is any output.
        self.once().open(request)?;
        Ok(Attempts {
            gate: self,
            contract,
            sent: request.without_output(),
            allow_partial: false,
            reports: Vec::new(),
            merged: None,
            findings: Vec::new(),
        })
    }
}

/// The attempts of one run, and the verdict on all of them together. [`Gate::attempts`] has an example.
pub struct Attempts<'g> {
    gate: &'g Gate,
    contract: ContractInfo,
    /// The request without an output: the lists and the evidence.
    sent: Request<'static>,
    allow_partial: bool,
    reports: Vec<Report>,
    merged: Option<Report>,
    /// The findings after each attempt, for comparing them.
    findings: Vec<Findings>,
}

/// The mistakes after an attempt. They contain no spans, so that two texts with the same mistakes have equal findings.
#[derive(PartialEq, Eq)]
struct Findings {
    wrong: Vec<Violation>,
    missing: Vec<(u32, QuarantineReason)>,
    wanted: Wanted,
}

impl Attempts<'_> {
    /// Sets whether the run may end with a partial verdict. While attempts are left, it still asks for invalid items.
    /// Default: no.
    #[must_use]
    pub fn allow_partial(mut self, allow: bool) -> Self {
        self.allow_partial = allow;
        self
    }

    /// Returns the contract that applies.
    pub fn contract(&self) -> &ContractInfo {
        &self.contract
    }

    /// Returns the lists that allowed values come from.
    pub fn lists(&self) -> &[NamedList] {
        self.sent.lists()
    }

    /// Returns the observations that the producer saw, if the request has them.
    pub fn evidence(&self) -> Option<&[Observation]> {
        self.sent.observations()
    }

    /// Returns the number of attempts so far.
    pub fn count(&self) -> u32 {
        u32::try_from(self.reports.len()).unwrap_or(u32::MAX)
    }

    /// Returns the maximum number of attempts.
    pub fn most(&self) -> u32 {
        self.contract.retry_limit.saturating_add(1)
    }

    /// Returns the verdict on all attempts together. `None` before the first.
    pub fn report(&self) -> Option<&Report> {
        self.merged.as_ref()
    }

    /// Returns the exit status of `seamgate run` for this stop, which journals record: 0 accepted, 1 rejected, 3
    /// partial, 4 refused, 5 no verdict.
    pub fn exit_status(&self, stop: Stop) -> u8 {
        match (stop, self.report().map(|report| report.disposition)) {
            (Stop::Accepted | Stop::Partial, _) => 0,
            (Stop::Refused, _) => 4,
            (_, None) => 5,
            (_, Some(Disposition::Accepted)) => 0,
            (_, Some(Disposition::Rejected)) => 1,
            (_, Some(Disposition::Partial)) => 3,
            (_, Some(Disposition::Refused)) => 4,
        }
    }

    /// Judges the next output. The verdict is on that output alone.
    ///
    /// # Errors
    ///
    /// The faults of [`Gate::validate`]. After a fault, the output does not count as an attempt.
    pub fn judge(&mut self, produced: &Produced) -> Result<Verdict, Fault> {
        let request = self.sent.for_output(&produced.output).finish(produced.finish);
        let verdict = self.gate.validate(&request)?;
        let usage = self.take(verdict.report.clone())?;
        let usage = match usage {
            Some(usage) => verdict.usage.and(usage),
            None => verdict.usage,
        };
        Ok(Verdict { usage, report: verdict.report })
    }

    /// Returns the request to judge an output, as [`judge`](Self::judge) does, as JSON text for [`Gate::call`]
    /// (`schemas/request.schema.json`).
    pub fn request_json(&self, produced: &Produced) -> String {
        self.sent.for_output(&produced.output).finish(produced.finish).to_json()
    }

    /// Returns the request that merges the attempts so far, as JSON text for [`Gate::call`]. `None` before the second
    /// attempt.
    pub fn merge_json(&self) -> Option<String> {
        #[derive(Serialize)]
        struct Merge<'r> {
            op: &'static str,
            agent: &'r str,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            lists: BTreeMap<&'r str, &'r [String]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            evidence: Option<&'r [Observation]>,
            reports: &'r [Report],
        }
        let reports = Some(self.reports.as_slice()).filter(|reports| reports.len() > 1)?;
        let (agent, lists, evidence) = (self.sent.agent(), self.sent.lists_by_name(), self.evidence());
        Some(json(&Merge { op: "merge", agent, lists, evidence, reports }))
    }

    /// Adds a recorded attempt, given its report.
    ///
    /// # Errors
    ///
    /// The report's output is invalid, or the report cannot be merged with those before; see [`Gate::merge`].
    pub fn replay(&mut self, report: Report) -> Result<(), Fault> {
        if report.output.is_some() {
            // A record is not trusted. Merging a report with itself judges its output again, and changes nothing.
            let again = self.gate.merge(&[report.clone(), report.clone()], &self.sent)?;
            if again.report.output != report.output {
                return Err(Fault::BadRequest {
                    message: "the record of an earlier attempt has an invalid output".to_owned(),
                    violations: again.report.violations().to_vec(),
                });
            }
        }
        self.take(report).map(drop)
    }

    fn take(&mut self, report: Report) -> Result<Option<Usage>, Fault> {
        self.reports.push(report.clone());
        let merged = match self.reports.as_slice() {
            [_] => Ok((report, None)),
            several => self.gate.merge(several, &self.sent).map(|verdict| (verdict.report, Some(verdict.usage))),
        };
        match merged {
            Ok((merged, usage)) => {
                self.findings.push(self.findings(&merged));
                self.merged = Some(merged);
                Ok(usage)
            }
            Err(fault) => {
                self.reports.pop();
                Err(fault)
            }
        }
    }

    /// Returns the mistakes in the last output and in all attempts together, and what is still missing.
    fn findings(&self, merged: &Report) -> Findings {
        let last = self.reports.last().map(Report::violations).unwrap_or_default();
        let mut wrong = [last, merged.violations()].concat();
        wrong.extend(merged.quarantined.iter().flat_map(|item| item.violations.clone()));
        wrong.iter_mut().for_each(|violation| violation.span = None);
        let missing = merged.quarantined.iter().map(|item| (item.index, item.reason)).collect();
        Findings { wrong, missing, wanted: merged.wanted }
    }

    /// Returns the next step.
    pub fn next(&self) -> Next {
        let (Some(merged), Some(last)) = (&self.merged, self.reports.last()) else {
            return Next::Ask(None);
        };
        let is_missing = |reason: QuarantineReason| reason != QuarantineReason::OverLimit;
        let missing = merged.quarantined.iter().any(|item| is_missing(item.reason));
        let stop = match merged.disposition {
            Disposition::Accepted => Some(Stop::Accepted),
            Disposition::Refused => Some(Stop::Refused),
            Disposition::Partial if self.allow_partial && !missing => Some(Stop::Partial),
            Disposition::Partial if merged.is_repaired() => Some(Stop::NotRetryable),
            _ => self.give_up(last),
        };
        match stop {
            Some(_) if self.allow_partial && merged.disposition == Disposition::Partial => Next::Stop(Stop::Partial),
            Some(stop) => Next::Stop(stop),
            None => Next::Ask(Some(feedback(merged, last))),
        }
    }

    /// Returns the reason not to ask the producer again, if there is one.
    fn give_up(&self, last: &Report) -> Option<Stop> {
        let refused = last.disposition == Disposition::Refused;
        let same = self.findings.len() > 1 && self.findings.last() == self.findings.get(self.findings.len() - 2);
        if refused || last.error.as_ref().is_some_and(|error| !error.retryable) {
            Some(Stop::NotRetryable)
        } else if same {
            Some(Stop::Repeated)
        } else {
            (self.count() >= self.most()).then_some(Stop::Limit)
        }
    }
}

/// Returns the feedback for the producer. If the last output added nothing to the attempts before, it also says why.
fn feedback(merged: &Report, last: &Report) -> String {
    let useless =
        merged.output.is_some() && last.disposition == Disposition::Rejected && last.feedback != merged.feedback;
    match last.violations().first().filter(|_| useless) {
        Some(Violation { path, message, .. }) => {
            format!("The last answer could not be used as it was:\n- at {path}: {message}.\n{}", merged.feedback)
        }
        None => merged.feedback.clone(),
    }
}
