//! The Python half of `seamgate check --parquet` and `seamgate runs export --parquet`.

use std::path::Path;

use pyo3::{
    exceptions::{PyKeyboardInterrupt, PyStopIteration},
    prelude::*,
};
use seamgate_cli::parquet::{Ended, Job, NextRows, Progress};

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

/// Writes rows with a Python generator, which takes NDJSON until it is sent `None`. If it is closed, it writes no file.
pub(crate) fn write(rows: &Py<PyAny>, file: &Path, next: NextRows<'_>) -> Result<(), Ended> {
    Python::attach(|py| sent(rows.bind(py), file, next).map_err(|error| ended(py, &error)))
}

fn sent(rows: &Bound<PyAny>, file: &Path, next: NextRows<'_>) -> PyResult<()> {
    let writer = rows.call1((file,))?;
    writer.call_method0("__next__")?;
    loop {
        let Ok(text) = next() else {
            writer.call_method0("close")?;
            return Ok(());
        };
        let is_last = text.is_none();
        match writer.call_method1("send", (text,)) {
            Err(error) if is_last && error.is_instance_of::<PyStopIteration>(rows.py()) => return Ok(()),
            sent => sent?,
        };
    }
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
