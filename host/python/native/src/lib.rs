//! The native half of seamgate's package for Python: the Rust library and its command line, as the module
//! `seamgate._native`. It takes texts and bytes, and returns texts, bytes and verdicts. `host/python/src/seamgate` has
//! what Python's users see.

mod call;
mod document;
mod fault;
mod gate;
mod harness;
mod journal;
mod parquet;
mod session;
mod turns;
mod verdict;

#[pyo3::pymodule]
mod _native {
    use std::{ffi::OsString, path::Path};

    use pyo3::{
        exceptions::{PyImportError, PyValueError},
        prelude::*,
        types::{PyBytes, PyType},
    };
    use seamgate::{BakeError, Component};
    use seamgate_cli::parquet::{Job, Library, NextRows, Progress};
    use seamgate_receipt::{Authority, Evidence, Expected, Trusted, verify};
    use seamgate_runner::run_dir::public_key;

    use crate::{
        document,
        fault::{load, raised},
        gate::limits,
        turns::{self, detached},
        verdict::Classes,
    };
    #[pymodule_export]
    use crate::{
        fault::{Fault, FileFault, JournalFault, LoadFault, Unfit},
        gate::{Gate, Instance},
        harness::Attempts,
        journal::Run,
        session::Session,
        verdict::{Held, Output},
    };

    /// Refuses a second interpreter in the process: types of this module would be shared with the first.
    #[pymodule_init]
    fn init(module: &Bound<PyModule>) -> PyResult<()> {
        // SAFETY: Python holds `module` for this thread, so there is an interpreter, and both functions only read of it.
        let interpreter = unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) };
        if interpreter != 0 {
            let name = module.name()?;
            return Err(PyImportError::new_err(format!(
                "{name} does not support subinterpreters: use the main one, or processes"
            )));
        }
        turns::install();
        Ok(())
    }

    /// Keeps what verdicts are made with: the classes of verdicts, reports and dispositions, and a reader of JSON text.
    #[pyfunction]
    fn classes(verdict: Py<PyType>, report: Py<PyType>, disposition: Bound<PyType>, parse: Py<PyAny>) -> PyResult<()> {
        Classes::set(verdict, report, &disposition, parse)
    }

    /// Returns the value of a JSON text, as the document of a verdict is read. `None` where Python's own reader is
    /// asked.
    #[pyfunction]
    fn parsed<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
        document::read(py, text)
    }

    /// Returns the keys that are trusted: all, if there is no list.
    fn trusted(keys: Option<Vec<String>>) -> PyResult<Trusted> {
        let read =
            |key: String| public_key(&key).ok_or_else(|| PyValueError::new_err(format!("no Ed25519 key: {key:?}")));
        Ok(match keys {
            None => Trusted::Any,
            Some(keys) => Trusted::Keys(keys.into_iter().map(read).collect::<PyResult<_>>()?),
        })
    }

    /// Verifies the receipt of a run, and the evidence: a time stamp and the certificates of its authority, and a
    /// statement of a witness and its keys. Returns the report as JSON text. Without keys, any key is taken. A text that
    /// is no key, or no certificate, is an error.
    #[pyfunction]
    fn verify_receipt(
        py: Python<'_>,
        file: Vec<u8>,
        keys: Option<Vec<String>>,
        profile: Option<String>,
        component: Option<Vec<u8>>,
        time_stamp: Option<(Vec<u8>, Vec<u8>)>,
        witness: Option<(Vec<u8>, Option<Vec<String>>)>,
    ) -> PyResult<String> {
        let keys = trusted(keys)?;
        let mut evidence = Evidence::default();
        if let Some((stamp, certificates)) = time_stamp {
            seamgate_release::install_cryptography();
            let authority = Authority::read(&certificates);
            let authority = authority.map_err(|error| PyValueError::new_err(format!("the authority: {error}")))?;
            evidence.time_stamp = Some((stamp, authority));
        }
        if let Some((statement, keys)) = witness {
            evidence.witness = Some((statement, trusted(keys)?));
        }
        let gate = detached(py, || {
            let component = component.map_or_else(Component::builtin, Component::from_bytes);
            seamgate::Gate::with(seamgate::Options::default().component(component))
        })?;
        let gate = gate.map_err(|error| load(&error))?;
        let report = detached(py, || {
            let mut report = verify(&file, gate, &Expected { keys, profile });
            evidence.check(&file, &mut report.ok, &mut report.checks);
            report
        })?;
        serde_json::to_string(&report).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Bakes contracts and profiles into a component. Returns its bytes.
    #[pyfunction]
    fn bake<'py>(
        py: Python<'py>,
        component: Option<Vec<u8>>,
        contracts: Vec<String>,
        profiles: Vec<String>,
        limits: limits::Given,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let limits = limits::limits(&limits);
        let baked = detached(py, || {
            let component = component.map_or_else(Component::builtin, Component::from_bytes);
            component.bake_with(&contracts, &profiles, &limits)
        })?;
        match baked {
            Ok(baked) => Ok(PyBytes::new(py, baked.as_bytes())),
            Err(BakeError::Contract { fault, .. } | BakeError::Profile { fault, .. }) => Err(raised(&fault)),
            Err(error) => Err(load(&error)),
        }
    }

    /// Runs the command line. Returns its exit status. The first argument is the name that it was started by. `parquet`
    /// judges the outputs of a Parquet file, and `rows` writes rows of calls to one.
    #[pyfunction]
    fn main(py: Python, arguments: Vec<OsString>, parquet: Py<PyAny>, rows: Py<PyAny>) -> u8 {
        py.detach(|| {
            let judge = |job: &Job, told: &mut dyn FnMut(&Progress)| crate::parquet::judge(&parquet, job, told);
            let write = |file: &Path, next: NextRows<'_>| crate::parquet::write(&rows, file, next);
            let status = seamgate_cli::status_with(arguments, Some(&Library { judge: &judge, write: &write }));
            // The standard library does this only where it began the process.
            let _ = std::io::Write::flush(&mut std::io::stdout());
            status
        })
    }
}
