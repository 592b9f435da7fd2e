//! The retry loop: attempts, what to do next, and their journal.

use std::sync::Arc;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use seamgate::{Gate, JournalledAttempts, Next, Produced, Report, RetryJournal};
use seamgate_cli::print_warning;
use self_cell::self_cell;

use crate::{
    error::{Result, fault, retry, usage},
    options,
    verdict::Judged,
};

self_cell!(
    struct Begun {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: JournalledAttempts,
    }
);

/// The journal that records the attempts.
#[napi(object)]
pub struct NativeJournal {
    pub path: String,
    /// `true` to continue the last run of the journal.
    pub resume: bool,
    pub keep_outputs: bool,
    /// The identity of the producer, which `resume` compares.
    pub producer: String,
    pub prompt: String,
}

/// The next thing to do.
#[napi(object)]
pub struct NativeNext {
    /// The reason why the attempts are over; `None` if the producer is to be asked.
    pub stop: Option<String>,
    /// The feedback for the producer; `None` in its first attempt.
    pub feedback: Option<String>,
    pub attempt: u32,
}

/// The attempts of one run.
#[napi]
pub struct NativeAttempts(Begun);

impl NativeAttempts {
    pub(crate) fn begin(
        gate: Arc<Gate>,
        agent: &str,
        extras: Option<&str>,
        allow_partial: bool,
        journal: Option<NativeJournal>,
    ) -> Result<Self> {
        let request = options::request(agent, b"", extras)?;
        let journal = journal.map(|NativeJournal { path, resume, keep_outputs, producer, prompt }| {
            let journal = RetryJournal::new(path).resume(resume).keep_outputs(keep_outputs);
            journal.producer([producer]).prompt(prompt).on_notice(print_warning)
        });
        let begun = Begun::try_new(gate, |gate| {
            let attempts = gate.attempts(&request).map_err(fault)?.allow_partial(allow_partial);
            match &journal {
                Some(journal) => attempts.journalled(journal).map_err(retry),
                None => Ok(attempts.into()),
            }
        });
        begun.map(NativeAttempts)
    }
}

#[napi]
impl NativeAttempts {
    /// Returns what to do next. Journals the decision, and that the attempt starts.
    #[napi]
    pub fn next(&mut self) -> Result<NativeNext> {
        let (step, count) =
            self.0.with_dependent_mut(|_, attempts| (attempts.next_step(), attempts.attempts().count()));
        let (stop, feedback) = match step.map_err(retry)? {
            Next::Ask(feedback) => (None, feedback),
            Next::Stop(stop) => (Some(stop.as_str().to_owned()), None),
            other => return Err(usage(format!("unknown step {other:?}"))),
        };
        Ok(NativeNext { stop, feedback, attempt: count + 1 })
    }

    /// Judges what the producer returned. Returns the report of this attempt.
    #[napi]
    pub fn judge(&mut self, output: Uint8Array, finish: Option<String>) -> Result<Judged> {
        let produced = Produced::from(output.to_vec()).finish(options::finish(finish.as_deref())?);
        self.0.with_dependent_mut(|_, attempts| attempts.judge(&produced)).map(Judged::of).map_err(retry)
    }

    /// Writes down that the producer failed.
    #[napi]
    pub fn failed(&mut self, message: String) -> Result<()> {
        self.0.with_dependent_mut(|_, attempts| attempts.failed(&message, b"", None)).map_err(retry)
    }

    /// Returns the report on all attempts together, as JSON text.
    #[napi]
    pub fn report(&self) -> Option<String> {
        self.0.with_dependent(|_, attempts| attempts.attempts().report().map(Report::to_json))
    }

    #[napi(getter)]
    pub fn count(&self) -> u32 {
        self.0.with_dependent(|_, attempts| attempts.attempts().count())
    }
}
