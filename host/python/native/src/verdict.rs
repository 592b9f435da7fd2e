//! Verdicts as users see them: records of the package around what this module holds. Python reads of it what it asks
//! for.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::{IntoPyObjectExt, exceptions::PyRuntimeError, ffi, intern, prelude::*, types::PyType};
use seamgate::{Disposition, Report, Usage};

use crate::document;

/// A verdict on one output, without the records around it.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Held {
    report: Report,
    usage: Usage,
    /// The output as the caller gave it.
    given: Py<PyAny>,
}

#[pymethods]
impl Held {
    /// Returns the report as JSON text.
    fn json(&self) -> String {
        self.report.to_json()
    }

    /// Returns the validated document.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(text) = self.report.output.as_deref() else {
            return Ok(None);
        };
        match document::read(py, text) {
            Some(value) => Ok(Some(value)),
            None => Classes::get()?.parse.bind(py).call1((text,)).map(Some),
        }
    }

    /// Returns the validated document as JSON text.
    #[getter]
    fn output(&self) -> Option<&str> {
        self.report.output.as_deref()
    }

    #[getter]
    fn feedback(&self) -> &str {
        &self.report.feedback
    }

    #[getter]
    fn given<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.given.bind(py)
    }

    /// Returns the usage of the call: fuel, memory, seconds, and the component's digest.
    fn usage(&self) -> (u64, usize, f64, &str) {
        let Usage { fuel, memory, elapsed, component, .. } = &self.usage;
        (*fuel, *memory, elapsed.as_secs_f64(), component)
    }
}

/// The package's part of each verdict.
pub(crate) struct Classes {
    verdict: Py<PyType>,
    report: Py<PyType>,
    dispositions: Vec<(Disposition, Py<PyAny>)>,
    /// Makes the value of a JSON text.
    parse: Py<PyAny>,
}

static CLASSES: Mutex<Option<Arc<Classes>>> = Mutex::new(None);

impl Classes {
    fn get() -> PyResult<Arc<Classes>> {
        CLASSES.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(missing)
    }

    /// Keeps the last that are given: a package that is imported again has classes of its own.
    pub(crate) fn set(
        verdict: Py<PyType>,
        report: Py<PyType>,
        disposition: &Bound<PyType>,
        parse: Py<PyAny>,
    ) -> PyResult<()> {
        let member = |known: Disposition| Ok((known, disposition.call1((known.as_str(),))?.unbind()));
        let dispositions = Disposition::ALL.into_iter().map(member).collect::<PyResult<_>>()?;
        let classes = Arc::new(Classes { verdict, report, dispositions, parse });
        let before = CLASSES.lock().unwrap_or_else(PoisonError::into_inner).replace(classes);
        // Without the lock: this may run code of Python.
        drop(before);
        Ok(())
    }
}

fn missing() -> PyErr {
    PyRuntimeError::new_err("`classes` must be called first")
}

/// Returns a verdict on an output as users see it.
pub(crate) fn shown<'py>(py: Python<'py>, verdict: seamgate::Verdict, given: Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let classes = Classes::get()?;
    let of_it = |(known, _): &&(Disposition, Py<PyAny>)| *known == verdict.report.disposition;
    let (_, disposition) = classes.dispositions.iter().find(of_it).ok_or_else(missing)?;
    let handle = Held { report: verdict.report, usage: verdict.usage, given };
    let report = record(classes.report.bind(py))?;
    set(&report, intern!(py, "_handle"), &handle.into_bound_py_any(py)?)?;
    set(&report, intern!(py, "disposition"), disposition.bind(py))?;
    let made = record(classes.verdict.bind(py))?;
    set(&made, intern!(py, "report"), &report)?;
    Ok(made)
}

/// The member `output` of a report: read when somebody asks for it, and kept in the report.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Output;

#[pymethods]
impl Output {
    #[new]
    fn new() -> Self {
        Output
    }

    fn __get__<'py>(
        this: Bound<'py, Self>,
        report: Bound<'py, PyAny>,
        _owner: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if report.is_none() {
            return Ok(this.into_any());
        }
        let py = report.py();
        let handle = report.getattr(intern!(py, "_handle"))?;
        let document = handle.cast::<Held>()?.get().document(py)?.into_bound_py_any(py)?;
        set(&report, intern!(py, "output"), &document)?;
        Ok(document)
    }
}

/// Returns a record without members.
fn record<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class and all above it but `object` are written in Python, so this function makes its instances. It
    // returns a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(class.py(), ffi::PyType_GenericAlloc(class.as_type_ptr(), 0)) }
}

/// Sets a member of a record, which refuses that to others.
fn set<'py>(record: &Bound<'py, PyAny>, name: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
    // SAFETY: all three are objects that live.
    match unsafe { ffi::PyObject_GenericSetAttr(record.as_ptr(), name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(record.py())),
    }
}
