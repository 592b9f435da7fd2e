//! The harness step: the attempts of one producer, and the verdict on all of them together.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use seamgate::{Fault, Finish, Gate, Next, Produced, Request};
use self_cell::self_cell;

use crate::{
    call::{Output, apart},
    fault::Unfit,
    verdict::Verdict,
};

type Made<'g> = seamgate::Attempts<'g>;

self_cell!(
    struct Begun {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Made,
    }
);

/// The attempts so far.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Attempts(Mutex<Begun>);

impl Attempts {
    pub(crate) fn begin(gate: Arc<Gate>, request: &Request, allow_partial: bool) -> Result<Self, Fault> {
        let attempts =
            Begun::try_new(gate, |gate| gate.attempts(request).map(|attempts| attempts.allow_partial(allow_partial)))?;
        Ok(Attempts(Mutex::new(attempts)))
    }

    fn with<T>(&self, work: impl for<'g> FnOnce(&mut seamgate::Attempts<'g>) -> T) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).with_dependent_mut(|_, attempts| work(attempts))
    }
}

#[pymethods]
impl Attempts {
    /// Why to stop, or nothing; and then the feedback on the last output, if there was one.
    fn next(&self) -> (Option<&'static str>, Option<String>) {
        match self.with(|attempts| attempts.next()) {
            Next::Stop(stop) => (Some(stop.as_str()), None),
            Next::Ask(feedback) => (None, feedback),
            _ => (None, None),
        }
    }

    /// Judge the next output: the verdict on it alone.
    fn judge(&self, py: Python, output: Output, finish: &str) -> PyResult<Verdict> {
        let finish: Finish = finish.parse().map_err(|_| Unfit::new_err("finish"))?;
        apart(py, || {
            let produced = Produced::from(output.bytes()).finish(finish);
            self.with(|attempts| attempts.judge(&produced))
        })
        .map(Verdict::from)
    }

    /// Add the report of an attempt from a record of it.
    fn replay(&self, py: Python, report: &str) -> PyResult<()> {
        let report = seamgate::Report::from_json(report);
        let report = report.map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        apart(py, || self.with(|attempts| attempts.replay(report)))
    }

    /// The verdict on all attempts together, as JSON text.
    fn report(&self) -> Option<String> {
        self.with(|attempts| attempts.report().map(seamgate::Report::to_json))
    }

    #[getter]
    fn count(&self) -> u32 {
        self.with(|attempts| attempts.count())
    }

    #[getter]
    fn contract(&self) -> String {
        self.with(|attempts| attempts.contract().contract.clone())
    }
}
