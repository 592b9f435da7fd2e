//! The retry loop: the attempts of one producer, their journal, and the verdict on all of them together.

use std::{path::PathBuf, sync::Arc, time::Duration};

use pyo3::prelude::*;
use seamgate::{Finish, Gate, JournalledAttempts, Next, Produced, Report, Request, RetryJournal, RunError};
use seamgate_cli::print_warning;
use self_cell::self_cell;

use crate::{
    call::Output,
    fault::{JournalFault, Unfit, chain, raised},
    turns::Turns,
    verdict::shown,
};

self_cell!(
    struct Begun {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: JournalledAttempts,
    }
);

/// The attempts so far.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Attempts(Turns<Begun>);

/// The journal of the attempts: its path, whether to resume, whether to keep outputs, the producer, the
/// prompt.
pub(crate) type Given = (PathBuf, bool, bool, String, String);

impl Attempts {
    pub(crate) fn begin(
        gate: Arc<Gate>,
        request: &Request,
        allow_partial: bool,
        journal: Option<Given>,
        most: Duration,
    ) -> Result<Self, RunError> {
        let journal = journal.map(|(path, resume, keep_outputs, producer, prompt)| {
            let journal = RetryJournal::new(path).resume(resume).keep_outputs(keep_outputs);
            journal.producer([producer]).prompt(prompt).on_notice(print_warning)
        });
        let begun = Begun::try_new(gate, |gate| {
            let attempts = gate.attempts(request)?.allow_partial(allow_partial);
            match &journal {
                Some(journal) => attempts.journalled(journal),
                None => Ok(attempts.into()),
            }
        })?;
        Ok(Attempts(Turns::new("run", most, begun)))
    }

    /// Works without Python, so that its other threads continue.
    fn apart<T: Send>(
        &self,
        py: Python,
        work: impl for<'g> FnOnce(&mut JournalledAttempts<'g>) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        self.with(py, work)?.map_err(failed)
    }

    fn with<T: Send>(
        &self,
        py: Python,
        work: impl for<'g> FnOnce(&mut JournalledAttempts<'g>) -> T + Send,
    ) -> PyResult<T> {
        self.0.with(py, |begun| begun.with_dependent_mut(|_, attempts| work(attempts)))
    }
}

/// Returns why a run cannot continue, as an exception.
pub(crate) fn failed(error: RunError) -> PyErr {
    match error {
        RunError::Fault(fault) => raised(&fault),
        error => JournalFault::new_err(("failed", chain(&error))),
    }
}

#[pymethods]
impl Attempts {
    /// Returns why to stop, or nothing; and then the feedback on the last output, if there was one. Both are written
    /// down.
    fn next(&self, py: Python) -> PyResult<(Option<&'static str>, Option<String>)> {
        match self.apart(py, |attempts| attempts.next_step())? {
            Next::Stop(stop) => Ok((Some(stop.as_str()), None)),
            Next::Ask(feedback) => Ok((None, feedback)),
            other => Err(JournalFault::new_err(("failed", format!("unknown step {other:?}")))),
        }
    }

    /// Judges the next output. Returns the verdict on it alone.
    fn judge<'py>(&self, py: Python<'py>, output: Output, finish: &str) -> PyResult<Bound<'py, PyAny>> {
        let finish: Finish = finish.parse().map_err(|_| Unfit::new_err("finish"))?;
        let produced = Produced::from(output.bytes()).finish(finish);
        let verdict = self.apart(py, |attempts| attempts.judge(&produced))?;
        drop(produced);
        shown(py, verdict, output.given)
    }

    /// Writes down that the producer failed.
    fn failed(&self, py: Python, message: &str) -> PyResult<()> {
        self.apart(py, |attempts| attempts.failed(message, b"", None))
    }

    /// Returns the verdict on all attempts together, as JSON text.
    fn report(&self, py: Python) -> PyResult<Option<String>> {
        self.with(py, |attempts| attempts.attempts().report().map(Report::to_json))
    }

    #[getter]
    fn count(&self, py: Python) -> PyResult<u32> {
        self.with(py, |attempts| attempts.attempts().count())
    }
}
