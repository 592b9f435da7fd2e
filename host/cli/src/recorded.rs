//! The harness step of the packages for other languages: the attempts of one run, each written down before the run goes on.

use std::{path::PathBuf, time::Instant};

use seamgate::{Attempts, Fault, Gate, Next, Produced, Report, Request, Stop, Verdict, digest};

use crate::{
    journal::{About, Decision, Journal},
    status::Status,
};

/// Where attempts are written down, and what for.
pub struct Kept {
    pub path: PathBuf,
    /// Whether to go on with the last run of the file.
    pub resume: bool,
    pub keep_outputs: bool,
    /// What the producer is, for `resume` to hold it to.
    pub producer: String,
    /// What it is asked, in the same way.
    pub prompt: String,
}

/// Why a run cannot go on.
pub enum Error {
    Fault(Fault),
    /// The journal cannot be read or written, or is of another run.
    Journal(anyhow::Error),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Fault(fault)
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Error::Journal(error)
    }
}

/// What to do next.
pub enum Step {
    /// Ask the producer, with feedback but for the first time.
    Ask(Option<String>),
    Stop(Stop),
}

/// The attempts of one run.
pub struct Recorded<'g> {
    attempts: Attempts<'g>,
    journal: Option<Journal>,
    asked: Instant,
}

impl<'g> Recorded<'g> {
    /// Begin a run, or go on with the last one of a journal.
    pub fn begin(gate: &'g Gate, request: &Request, allow_partial: bool, kept: Option<&Kept>) -> Result<Self, Error> {
        let mut attempts = gate.attempts(request)?.allow_partial(allow_partial);
        let mut journal = None;
        if let Some(kept) = kept {
            let evidence = attempts.evidence().map(json).transpose()?;
            let about = About {
                agent: attempts.contract().agent.clone(),
                contract: attempts.contract().contract.clone(),
                component: gate.component().digest().to_owned(),
                command: vec![kept.producer.clone()],
                prompt: digest(kept.prompt.as_bytes()),
                lists: digest(&json(attempts.lists())?),
                evidence: evidence.map(|evidence| digest(&evidence)),
            };
            let (opened, reports) = Journal::open(&kept.path, about, kept.resume, kept.keep_outputs)?;
            for report in reports {
                attempts.replay(report)?;
            }
            journal = Some(opened);
        }
        Ok(Recorded { attempts, journal, asked: Instant::now() })
    }

    /// What to do next. Writes the decision down, and that the attempt starts.
    pub fn step(&mut self) -> Result<Step, Error> {
        let count = self.count();
        let (stop, feedback) = match self.attempts.next() {
            Next::Ask(feedback) => (None, feedback),
            Next::Stop(stop) => (Some(stop), None),
            other => return Err(anyhow::anyhow!("unknown step {other:?}").into()),
        };
        if let Some(journal) = &mut self.journal {
            if count > 0 {
                let status = stop.map(|stop| Status::of_run(stop, &self.attempts).code());
                journal.decided(count, &Decision { decision: stop.map_or("ask_again", Stop::as_str), status })?;
            }
            if stop.is_none() {
                journal.start(count + 1)?;
            }
        }
        self.asked = Instant::now();
        match stop {
            // Others may write it now.
            Some(stop) => {
                self.journal = None;
                Ok(Step::Stop(stop))
            }
            None => Ok(Step::Ask(feedback)),
        }
    }

    /// Judge what the producer gave.
    pub fn judge(&mut self, produced: &Produced) -> Result<Verdict, Error> {
        let elapsed_ms = self.asked.elapsed().as_millis();
        let judged = self.attempts.judge(produced);
        let count = self.count();
        // After an error, nothing more is written.
        if let Some(mut journal) = self.journal.take() {
            match &judged {
                Ok(verdict) => {
                    journal.judged(count, produced, elapsed_ms, verdict)?;
                    self.journal = Some(journal);
                }
                Err(fault) => {
                    journal.failed(count + 1, &produced.output, elapsed_ms, (Some(0), &fault.to_string()))?;
                }
            }
        }
        Ok(judged?)
    }

    /// Write down that the producer failed.
    pub fn failed(&mut self, message: &str) -> Result<(), Error> {
        let elapsed_ms = self.asked.elapsed().as_millis();
        let attempt = self.count() + 1;
        match self.journal.take() {
            Some(mut journal) => Ok(journal.failed(attempt, b"", elapsed_ms, (None, message))?),
            None => Ok(()),
        }
    }

    /// The report on all attempts together.
    pub fn report(&self) -> Option<&Report> {
        self.attempts.report()
    }

    pub fn count(&self) -> u32 {
        self.attempts.count()
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> anyhow::Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}
