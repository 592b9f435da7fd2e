//! The Python half of `seamgate check --parquet`.

use pyo3::{exceptions::PyKeyboardInterrupt, prelude::*};
use seamgate_cli::parquet::{Ended, Job, Progress};

/// Judges with a Python generator, which yields its progress: the rows of the file, and how many are of each kind.
pub(crate) fn judge(judge: &Py<PyAny>, job: &Job, told: &mut dyn FnMut(&Progress)) -> Result<(), Ended> {
    Python::attach(|py| steps(judge.bind(py), job, told).map_err(|error| ended(py, &error)))
}

fn steps(judge: &Bound<PyAny>, job: &Job, told: &mut dyn FnMut(&Progress)) -> PyResult<()> {
    let Job { input, output, contract, column, finish, lists, threads } = job;
    for step in judge.call1((input, output, contract, column, finish, lists.clone(), threads))?.try_iter()? {
        let (rows, kinds) = step?.extract()?;
        told(&Progress { rows, kinds });
    }
    Ok(())
}

fn ended(py: Python, error: &PyErr) -> Ended {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        // The number of the signal, where the handler says it.
        let number = error.value(py).getattr("args").and_then(|arguments| arguments.get_item(0)?.extract());
        return Ended::Signal(number.unwrap_or(SIGINT));
    }
    Ended::Failed(error.value(py).to_string())
}

const SIGINT: u8 = 2;
