//! The harness step: the attempts of one producer, their journal, and the verdict on all of them together.

use std::{path::PathBuf, sync::Arc, time::Duration};

use pyo3::prelude::*;
use seamgate::{Finish, Gate, Produced, Report, Request};
use seamgate_cli::recorded::{Error, Kept, Recorded, Step};
use self_cell::self_cell;

use crate::{
    call::Output,
    fault::{JournalFault, Unfit, raised},
    turns::Turns,
    verdict::Verdict,
};

self_cell!(
    struct Begun {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Recorded,
    }
);

/// The attempts so far.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Attempts(Turns<Begun>);

/// Where attempts are written down: a path, whether to resume, whether to keep outputs, the producer, the prompt.
pub(crate) type Given = (PathBuf, bool, bool, String, String);

impl Attempts {
    pub(crate) fn begin(
        gate: Arc<Gate>,
        request: &Request,
        allow_partial: bool,
        journal: Option<Given>,
        most: Duration,
    ) -> Result<Self, Error> {
        let kept = journal.map(|(path, resume, keep_outputs, producer, prompt)| Kept {
            path,
            resume,
            keep_outputs,
            producer,
            prompt,
        });
        let begun = Begun::try_new(gate, |gate| Recorded::begin(gate, request, allow_partial, kept.as_ref()))?;
        Ok(Attempts(Turns::new("run", most, begun)))
    }

    /// Work without Python: other threads of it go on.
    fn apart<T: Send>(
        &self,
        py: Python,
        work: impl for<'g> FnOnce(&mut Recorded<'g>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.with(py, work)?.map_err(failed)
    }

    fn with<T: Send>(&self, py: Python, work: impl for<'g> FnOnce(&mut Recorded<'g>) -> T + Send) -> PyResult<T> {
        self.0.with(py, |begun| begun.with_dependent_mut(|_, attempts| work(attempts)))
    }
}

/// Why a run cannot go on, as an exception.
pub(crate) fn failed(error: Error) -> PyErr {
    match error {
        Error::Fault(fault) => raised(&fault),
        Error::Journal(error) => JournalFault::new_err(("failed", format!("{error:#}"))),
    }
}

#[pymethods]
impl Attempts {
    /// Why to stop, or nothing; and then the feedback on the last output, if there was one. Both are written down.
    fn next(&self, py: Python) -> PyResult<(Option<&'static str>, Option<String>)> {
        self.apart(py, |attempts| {
            Ok(match attempts.step()? {
                Step::Stop(stop) => (Some(stop.as_str()), None),
                Step::Ask(feedback) => (None, feedback),
            })
        })
    }

    /// Judge the next output: the verdict on it alone.
    fn judge(&self, py: Python, output: Output, finish: &str) -> PyResult<Verdict> {
        let finish: Finish = finish.parse().map_err(|_| Unfit::new_err("finish"))?;
        let produced = Produced::from(output.bytes()).finish(finish);
        self.apart(py, |attempts| attempts.judge(&produced)).map(Verdict::from)
    }

    /// Write down that the producer failed.
    fn failed(&self, py: Python, message: &str) -> PyResult<()> {
        self.apart(py, |attempts| attempts.failed(message))
    }

    /// The verdict on all attempts together, as JSON text.
    fn report(&self, py: Python) -> PyResult<Option<String>> {
        self.with(py, |attempts| attempts.report().map(Report::to_json))
    }

    #[getter]
    fn count(&self, py: Python) -> PyResult<u32> {
        self.with(py, |attempts| attempts.count())
    }
}
