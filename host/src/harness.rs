//! The harness step: ask a producer, judge what it gives, tell it what was wrong, ask again up to a limit.

use crate::{
    fault::Fault,
    gate::{Gate, Verdict},
    limits::Usage,
    report::{ContractInfo, Disposition, Finish, NamedList, QuarantineReason, Report},
    request::Request,
};

/// What a producer gave: its raw text, and why it stopped.
#[derive(Debug, Clone)]
pub struct Produced {
    /// The raw output, prose and fences included; whether it is UTF-8 is for the verdict.
    pub output: Vec<u8>,
    /// Why the producer stopped. Default: [`Finish::Unknown`].
    pub finish: Finish,
}

impl<T: Into<Vec<u8>>> From<T> for Produced {
    fn from(output: T) -> Self {
        Produced { output: output.into(), finish: Finish::Unknown }
    }
}

/// Why no more is asked of a producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The output is accepted.
    Accepted,
    /// A part of it is, which is enough for this caller.
    Partial,
    /// The producer declined.
    Refused,
    /// Another attempt by the same producer cannot help: a filter withheld the output, it was cut off at a length limit,
    /// nothing can match the schema, or nothing is missing of an output whose syntax was repaired.
    NotRetryable,
    /// The same was wrong twice in a row.
    Repeated,
    /// The contract's `retry.limit`.
    Limit,
}

impl Stop {
    /// The word for it in journals.
    pub fn word(self) -> &'static str {
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

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask the producer; with the feedback, where it has answered before.
    Ask(Option<String>),
    /// It is done.
    Stop(Stop),
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What all attempts together gave.
    pub report: Report,
    /// How many there were.
    pub attempts: u32,
    /// Why there were no more.
    pub stop: Stop,
}

impl Outcome {
    /// The validated document, as JSON text: there is one only if it may be used.
    pub fn output(&self) -> Option<&str> {
        self.report.output.as_deref().filter(|_| matches!(self.stop, Stop::Accepted | Stop::Partial))
    }
}

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// There is no verdict on an output.
    #[error("{0}")]
    Fault(Fault),
    /// The producer failed by itself.
    #[error("the producer failed: {0}")]
    Producer(E),
}

impl Gate {
    /// Ask a producer until what it gives is accepted, or there is a reason to stop: up to the contract's `retry.limit`
    /// more times than once. `request` names the agent and the lists; its output is not looked at.
    ///
    /// `produce` is given the feedback on what it gave before, and gives its next output. Where some items of an output
    /// were valid, the feedback may ask for the others alone: what comes is put together with what was kept.
    ///
    /// ```
    /// use seamgate::{Gate, Produced, Request, Stop};
    ///
    /// let mut gate = Gate::new()?;
    /// gate.register(r#"{"agent": "greeter", "schema": {"required": ["greeting"]}}"#)?;
    /// let outcome = gate.run(&Request::new("greeter", ""), |feedback| {
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
    /// A fault (for a list that is missing, or an agent that is not known, before `produce` is called), or what `produce`
    /// gave for an error. Nothing that was not validated comes out of this.
    pub fn run<E>(
        &self,
        request: &Request,
        mut produce: impl FnMut(Option<&str>) -> Result<Produced, E>,
    ) -> Result<Outcome, RunError<E>> {
        let mut attempts = self.attempts(request).map_err(RunError::Fault)?;
        loop {
            let feedback = match (attempts.next(), attempts.report()) {
                (Next::Stop(stop), Some(report)) => {
                    return Ok(Outcome { report: report.clone(), attempts: attempts.count(), stop });
                }
                (Next::Ask(feedback), _) => feedback,
                (Next::Stop(_), None) => None,
            };
            let produced = produce(feedback.as_deref()).map_err(RunError::Producer)?;
            attempts.judge(&produced).map_err(RunError::Fault)?;
        }
    }

    /// The same step by step, for callers that keep a record of it.
    ///
    /// # Errors
    ///
    /// [`Fault::UnknownAgent`]; [`Fault::BadRequest`] where a list is missing that the contract asks for, so that nobody is
    /// asked in vain; or a limit was passed.
    pub fn attempts(&self, request: &Request) -> Result<Attempts<'_>, Fault> {
        let contract = self.contract(request.agent())?;
        // Nothing is to be streamed: this is where the component looks at the lists before there is an output.
        self.instance().open(request)?;
        Ok(Attempts {
            gate: self,
            contract,
            lists: request.lists().to_vec(),
            allow_partial: false,
            reports: Vec::new(),
            merged: None,
            states: Vec::new(),
        })
    }
}

/// The attempts of one run, and what they gave together.
pub struct Attempts<'g> {
    gate: &'g Gate,
    contract: ContractInfo,
    lists: Vec<NamedList>,
    allow_partial: bool,
    reports: Vec<Report>,
    merged: Option<Report>,
    /// What was wrong after each attempt, to be compared.
    states: Vec<String>,
}

impl Attempts<'_> {
    /// Whether a partial verdict is enough in the end. While attempts are left, items that are bad are asked for even so.
    /// Default: it is not.
    #[must_use]
    pub fn allow_partial(mut self, allow: bool) -> Self {
        self.allow_partial = allow;
        self
    }

    /// The contract that applies.
    pub fn contract(&self) -> &ContractInfo {
        &self.contract
    }

    /// The lists that values are held to.
    pub fn lists(&self) -> &[NamedList] {
        &self.lists
    }

    /// How many there were.
    pub fn count(&self) -> u32 {
        u32::try_from(self.reports.len()).unwrap_or(u32::MAX)
    }

    /// How many there can be.
    pub fn most(&self) -> u32 {
        self.contract.retry_limit.saturating_add(1)
    }

    /// What all of them together gave, once there was one.
    pub fn report(&self) -> Option<&Report> {
        self.merged.as_ref()
    }

    /// Judge the next output. The verdict is on that output alone.
    ///
    /// # Errors
    ///
    /// As for [`Gate::validate`]: then it was no attempt.
    pub fn judge(&mut self, produced: &Produced) -> Result<Verdict, Fault> {
        let mut request = Request::from_bytes(&self.contract.agent, &produced.output).finish(produced.finish);
        for list in &self.lists {
            request = request.list(&list.name, &list.values);
        }
        let verdict = self.gate.validate(&request)?;
        let usage = self.take(verdict.report.clone())?;
        let usage = match usage {
            Some(usage) => verdict.usage.and(usage),
            None => verdict.usage,
        };
        Ok(Verdict { usage, report: verdict.report })
    }

    /// Take the verdict on an output that was judged before, from a record of it.
    ///
    /// # Errors
    ///
    /// Its output is not valid, or it cannot be put together with those before; see [`Gate::merge`].
    pub fn replay(&mut self, report: Report) -> Result<(), Fault> {
        if report.output.is_some() {
            // Put together with itself, it is judged again, and stays what it is: what a record says is believed of no
            // output.
            let again = self.gate.merge(&[report.clone(), report.clone()], &self.lists)?;
            if again.report.output != report.output {
                return Err(Fault::BadRequest {
                    message: "the record of an earlier attempt holds an output that is not valid".to_owned(),
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
            several => self.gate.merge(several, &self.lists).map(|verdict| (verdict.report, Some(verdict.usage))),
        };
        match merged {
            Ok((merged, usage)) => {
                self.states.push(self.state(&merged));
                self.merged = Some(merged);
                Ok(usage)
            }
            Err(fault) => {
                self.reports.pop();
                Err(fault)
            }
        }
    }

    /// What is wrong with the last output and with all together, and what is still missing: without spans, for texts
    /// differ where it does not matter.
    fn state(&self, merged: &Report) -> String {
        let last = self.reports.last().map(Report::violations).unwrap_or_default();
        let mut wrong = [last, merged.violations()].concat();
        let mut missing = merged.quarantined.clone();
        missing.iter_mut().for_each(|item| {
            item.span = None;
            wrong.append(&mut item.violations);
        });
        wrong.iter_mut().for_each(|violation| violation.span = None);
        let missing: Vec<_> = missing.iter().map(|item| (item.index, item.reason)).collect();
        // Some items alone, or everything: the feedback's last line.
        let asked = merged.feedback.lines().last();
        format!("{wrong:?} {missing:?} {asked:?}")
    }

    /// What is to be done next.
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

    /// Why the producer is not asked again.
    fn give_up(&self, last: &Report) -> Option<Stop> {
        let refused = last.disposition == Disposition::Refused;
        let same = self.states.len() > 1 && self.states.last() == self.states.get(self.states.len() - 2);
        if refused || last.error.as_ref().is_some_and(|error| !error.retryable) {
            Some(Stop::NotRetryable)
        } else if same {
            Some(Stop::Repeated)
        } else {
            (self.count() >= self.most()).then_some(Stop::Limit)
        }
    }
}

/// What the producer is told: what is asked for, and, where its last answer was of no use beside what it gave before, why.
fn feedback(merged: &Report, last: &Report) -> String {
    let useless =
        merged.output.is_some() && last.disposition == Disposition::Rejected && last.feedback != merged.feedback;
    // The first line says which kind of thing was wrong, the second where.
    match last.feedback.lines().nth(1).filter(|_| useless) {
        Some(line) => format!("The last answer could not be used as it was:\n{line}\n{}", merged.feedback),
        None => merged.feedback.clone(),
    }
}
