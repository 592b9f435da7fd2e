//! Runs of the kernel, and journals: in a folder, or an object of Python.

use std::{path::PathBuf, sync::Arc, time::Duration};

use pyo3::{prelude::*, types::PyIterator};
use seamgate::{Blob, FileJournal, Gate, Journal, JournalError, Lines, StepError};
use self_cell::self_cell;

use crate::{
    fault::{JournalFault, chain, raised},
    turns::{Turns, detached},
};

type Kept = Box<dyn Journal + Send>;
type Going<'g> = seamgate::Run<'g, Kept>;

self_cell!(
    struct Begun {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Going,
    }
);

/// The life of one task, step by step.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Run(Turns<Begun>);

impl Run {
    pub(crate) fn start(
        py: Python,
        gate: Arc<Gate>,
        most: Duration,
        journal: Bound<PyAny>,
        agent: &str,
        started: &str,
    ) -> PyResult<(Self, Vec<String>)> {
        let journal = keeper(&journal, FileJournal::create)?;
        let mut actions = Vec::new();
        let begun: Result<_, StepError> = detached(py, || {
            Begun::try_new(gate, |gate| {
                let (run, first) = seamgate::Run::start_json(gate, journal, agent, started)?;
                actions = first;
                Ok(run)
            })
        })?;
        Ok((Run::new(most, begun)?, actions))
    }

    pub(crate) fn open(py: Python, gate: Arc<Gate>, most: Duration, journal: Bound<PyAny>) -> PyResult<Self> {
        let journal = keeper(&journal, FileJournal::open)?;
        let begun = detached(py, || Begun::try_new(gate, |gate| seamgate::Run::open(gate, journal)))?;
        Run::new(most, begun)
    }

    pub(crate) fn restore(
        py: Python,
        gate: Arc<Gate>,
        most: Duration,
        journal: Bound<PyAny>,
        snapshot: &str,
    ) -> PyResult<Self> {
        let journal = keeper(&journal, FileJournal::open)?;
        let begun = detached(py, || Begun::try_new(gate, |gate| seamgate::Run::restore(gate, journal, snapshot)))?;
        Run::new(most, begun)
    }

    fn new(most: Duration, begun: Result<Begun, StepError>) -> PyResult<Self> {
        Ok(Run(Turns::new("run", most, begun.map_err(failed)?)))
    }

    // Detached: another thread that is at work may wait for Python, to write in its journal.
    fn with<T: Send>(&self, py: Python, work: impl for<'g> FnOnce(&mut Going<'g>) -> T + Send) -> PyResult<T> {
        self.0.with(py, |begun| begun.with_dependent_mut(|_, run| work(run)))
    }
}

#[pymethods]
impl Run {
    /// Sends an event. Returns the actions that it leads to, as JSON texts.
    fn send(&self, py: Python, event: &str) -> PyResult<Vec<String>> {
        self.with(py, |run| run.send_json(event))?.map_err(failed)
    }

    /// Keeps a text that an event names by its digest.
    fn keep(&self, py: Python, text: &str) -> PyResult<String> {
        self.with(py, |run| run.keep(text))?.map_err(|error| failed(error.into()))
    }

    fn records(&self, py: Python) -> PyResult<Vec<String>> {
        self.with(py, |run| run.records_json().to_vec())
    }

    #[getter]
    fn wake_at(&self, py: Python) -> PyResult<Option<u64>> {
        self.with(py, |run| run.wake_at())
    }

    #[getter]
    fn state(&self, py: Python) -> PyResult<String> {
        self.with(py, |run| run.state().to_owned())
    }

    #[getter]
    fn snapshot(&self, py: Python) -> PyResult<String> {
        self.with(py, |run| run.snapshot())
    }

    #[getter]
    fn step(&self, py: Python) -> PyResult<u64> {
        self.with(py, |run| run.step())
    }

    #[getter]
    fn id(&self, py: Python) -> PyResult<String> {
        self.with(py, |run| run.id().to_owned())
    }

    #[getter]
    fn agent(&self, py: Python) -> PyResult<String> {
        self.with(py, |run| run.agent().to_owned())
    }
}

/// Returns the exception for a step that failed. An exception that a Python journal raised is raised unchanged.
fn failed(error: StepError) -> PyErr {
    match error {
        StepError::Fault(fault) => raised(&fault),
        StepError::Journal(JournalError::Failed(source)) => match source.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(source) => JournalFault::new_err(("failed", chain(&*source))),
        },
        StepError::Journal(error) => JournalFault::new_err((kind(&error), chain(&error))),
        error => JournalFault::new_err(("failed", chain(&error))),
    }
}

/// Returns the word for a failure of a journal.
fn kind(error: &JournalError) -> &'static str {
    match error {
        JournalError::Conflict { .. } => "conflict",
        JournalError::Busy { .. } => "busy",
        JournalError::Empty { .. } => "empty",
        JournalError::Exists { .. } => "exists",
        JournalError::Newer { .. } => "newer",
        JournalError::Other { .. } | JournalError::Differs { .. } => "other",
        JournalError::NotAJournal { .. } | JournalError::Line { .. } | JournalError::Artifact { .. } => "damaged",
        _ => "failed",
    }
}

/// Returns the journal in a folder, or an object that is one.
fn keeper(
    given: &Bound<PyAny>,
    in_folder: impl FnOnce(PathBuf) -> Result<FileJournal, JournalError>,
) -> PyResult<Kept> {
    match given.extract::<PathBuf>() {
        Ok(folder) => Ok(Box::new(in_folder(folder).map_err(|error| failed(error.into()))?)),
        Err(_) => Ok(Box::new(Object { name: given.get_type().name()?.to_string(), object: given.clone().unbind() })),
    }
}

/// An object of Python that keeps the lines.
struct Object {
    name: String,
    object: Py<PyAny>,
}

impl Object {
    /// Calls a method. What it raises is kept whole.
    fn call<T>(&self, call: impl FnOnce(&Bound<PyAny>) -> PyResult<T>) -> Result<T, JournalError> {
        Python::attach(|py| call(self.object.bind(py))).map_err(|error| JournalError::Failed(Box::new(error)))
    }
}

fn word(blob: Blob) -> &'static str {
    match blob {
        Blob::Checkpoint => "checkpoint",
        _ => "artifact",
    }
}

impl Journal for Object {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn count(&self) -> u64 {
        // The trait has no error here. A run that begins on a wrong count ends in a conflict.
        self.call(|object| object.call_method0("count")?.extract()).unwrap_or_default()
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        let iterator =
            self.call(|object| Ok(PyIterator::from_object(&object.call_method1("lines", (from,))?)?.unbind()))?;
        let next = move || {
            let next =
                Python::attach(|py| iterator.clone_ref(py).into_bound(py).next().map(|line| line?.extract::<String>()));
            next.map(|line| line.map_err(|error| JournalError::Failed(Box::new(error))))
        };
        Ok(Box::new(std::iter::from_fn(next)))
    }

    fn append(&mut self, expected: u64, lines: &[String]) -> Result<(), JournalError> {
        let appended: bool = self.call(|object| object.call_method1("append", (expected, lines))?.extract())?;
        match appended {
            true => Ok(()),
            false => Err(JournalError::Conflict { journal: self.name(), lines: expected }),
        }
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError> {
        self.call(|object| object.call_method1("put", (word(blob), digest, text)).map(drop))
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        self.call(|object| object.call_method1("get", (word(blob), digest))?.extract())
    }
}
