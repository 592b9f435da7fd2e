//! The harness step: attempts, what to do next, and their journal.

use std::{path::Path, sync::Arc, time::Instant};

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use seamgate::{Attempts, Disposition, Gate, Next, Produced, Stop, digest};
use seamgate_cli::journal::{About, Decision, Journal};
use self_cell::self_cell;

use crate::{
    error::{Result, fault, harness, usage},
    gate::Judged,
    options,
};

self_cell!(
    struct Kept {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Attempts,
    }
);

/// Where the attempts are written down.
#[napi(object)]
pub struct NativeJournal {
    pub path: String,
    /// Whether to go on with its last run.
    pub resume: bool,
    pub keep_outputs: bool,
    /// What the producer is, for `resume` to hold it to.
    pub producer: String,
    pub prompt: String,
}

/// What to do next.
#[napi(object)]
pub struct NativeNext {
    /// Why it is over; none where the producer is to be asked.
    pub stop: Option<String>,
    /// What to tell the producer; none in its first attempt.
    pub feedback: Option<String>,
    pub attempt: u32,
}

/// The attempts of one run.
#[napi]
pub struct NativeAttempts {
    kept: Kept,
    journal: Option<Journal>,
    start: Instant,
}

impl NativeAttempts {
    pub(crate) fn begin(
        gate: Arc<Gate>,
        agent: &str,
        extras: Option<&str>,
        allow_partial: bool,
        journal: Option<NativeJournal>,
    ) -> Result<Self> {
        let request = options::request(agent, b"", extras)?;
        let component = gate.component().digest().to_owned();
        let kept = Kept::try_new(gate, |gate| {
            gate.attempts(&request).map(|attempts| attempts.allow_partial(allow_partial)).map_err(fault)
        })?;
        let mut this = NativeAttempts { kept, journal: None, start: Instant::now() };
        if let Some(journal) = journal {
            this.open(component, &journal)?;
        }
        Ok(this)
    }

    fn open(&mut self, component: String, given: &NativeJournal) -> Result<()> {
        let json = |value: serde_json::Result<Vec<u8>>| value.map_err(|error| usage(error.to_string()));
        let about = self.kept.with_dependent(|_, attempts| -> Result<About> {
            Ok(About {
                agent: attempts.contract().agent.clone(),
                contract: attempts.contract().contract.clone(),
                component,
                command: vec![given.producer.clone()],
                prompt: digest(given.prompt.as_bytes()),
                lists: digest(&json(serde_json::to_vec(attempts.lists()))?),
                evidence: attempts
                    .evidence()
                    .map(|evidence| json(serde_json::to_vec(evidence)).map(|evidence| digest(&evidence)))
                    .transpose()?,
            })
        })?;
        let opened = Journal::open(Path::new(&given.path), about, given.resume, given.keep_outputs);
        let (journal, reports) = opened.map_err(|error| harness(&error))?;
        for report in reports {
            self.kept.with_dependent_mut(|_, attempts| attempts.replay(report)).map_err(fault)?;
        }
        self.journal = Some(journal);
        Ok(())
    }
}

#[napi]
impl NativeAttempts {
    /// What to do next. Writes the decision down, and that the attempt starts.
    #[napi]
    pub fn next(&mut self) -> Result<NativeNext> {
        let (next, count, disposition) = self.kept.with_dependent(|_, attempts| {
            (attempts.next(), attempts.count(), attempts.report().map(|report| report.disposition))
        });
        let (stop, feedback) = match next {
            Next::Ask(feedback) => (None, feedback),
            Next::Stop(stop) => (Some(stop), None),
            other => return Err(usage(format!("unknown step {other:?}"))),
        };
        if let Some(journal) = &mut self.journal {
            if count > 0 {
                let status = stop.map(|stop| status(stop, disposition));
                let decision = Decision { decision: stop.map_or("ask_again", Stop::as_str), status };
                journal.decided(count, &decision).map_err(|error| harness(&error))?;
            }
            if stop.is_none() {
                journal.start(count + 1).map_err(|error| harness(&error))?;
            }
        }
        if stop.is_some() {
            // Others may write it now.
            self.journal = None;
        }
        self.start = Instant::now();
        Ok(NativeNext { stop: stop.map(|stop| stop.as_str().to_owned()), feedback, attempt: count + 1 })
    }

    /// Judge what the producer gave. Gives the report of this attempt.
    #[napi]
    pub fn judge(&mut self, output: Uint8Array, finish: Option<String>) -> Result<Judged> {
        let elapsed_ms = self.start.elapsed().as_millis();
        let finish = options::finish(finish.as_deref())?;
        let produced = Produced::from(output.to_vec()).finish(finish);
        let (judged, count) = self.kept.with_dependent_mut(|_, attempts| (attempts.judge(&produced), attempts.count()));
        let written = match (&mut self.journal, &judged) {
            (None, _) => Ok(()),
            (Some(journal), Ok(verdict)) => journal.judged(count, &produced, elapsed_ms, verdict),
            (Some(journal), Err(error)) => {
                journal.failed(count + 1, &produced.output, elapsed_ms, (Some(0), &error.to_string()))
            }
        };
        if judged.is_err() || written.is_err() {
            self.journal = None;
        }
        let judged = judged.map_err(fault)?;
        written.map_err(|error| harness(&error))?;
        Ok(Judged::of(judged))
    }

    /// Write down that the producer failed.
    #[napi]
    pub fn failed(&mut self, message: String) -> Result<()> {
        let elapsed_ms = self.start.elapsed().as_millis();
        let attempt = self.kept.with_dependent(|_, attempts| attempts.count()) + 1;
        match self.journal.take() {
            Some(mut journal) => {
                journal.failed(attempt, b"", elapsed_ms, (None, &message)).map_err(|error| harness(&error))
            }
            None => Ok(()),
        }
    }

    /// The report on all attempts together, as JSON text.
    #[napi]
    pub fn report(&self) -> Option<String> {
        self.kept.with_dependent(|_, attempts| attempts.report().map(seamgate::Report::to_json))
    }

    #[napi(getter)]
    pub fn count(&self) -> u32 {
        self.kept.with_dependent(|_, attempts| attempts.count())
    }
}

/// The exit status of `seamgate run` for the same end.
fn status(stop: Stop, disposition: Option<Disposition>) -> u8 {
    match (stop, disposition) {
        (Stop::Accepted | Stop::Partial, _) => 0,
        (Stop::Refused, _) | (_, Some(Disposition::Refused)) => 4,
        (_, Some(Disposition::Partial)) => 3,
        _ => 1,
    }
}
