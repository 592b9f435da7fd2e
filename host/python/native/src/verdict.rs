//! A verdict, of which Python reads what it asks for.

use pyo3::{pyclass, pymethods};
use seamgate::{Report, Usage};

/// A verdict on one output.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Verdict {
    report: Report,
    usage: Usage,
}

impl From<seamgate::Verdict> for Verdict {
    fn from(verdict: seamgate::Verdict) -> Self {
        Verdict { report: verdict.report, usage: verdict.usage }
    }
}

#[pymethods]
impl Verdict {
    /// The report as JSON text.
    fn json(&self) -> String {
        self.report.to_json()
    }

    #[getter]
    fn disposition(&self) -> &'static str {
        self.report.disposition.as_str()
    }

    /// The validated document as JSON text.
    #[getter]
    fn output(&self) -> Option<&str> {
        self.report.output.as_deref()
    }

    #[getter]
    fn feedback(&self) -> &str {
        &self.report.feedback
    }

    /// What the call took: fuel, memory, seconds, and the component's digest.
    fn usage(&self) -> (u64, usize, f64, &str) {
        let Usage { fuel, memory, elapsed, component, .. } = &self.usage;
        (*fuel, *memory, elapsed.as_secs_f64(), component)
    }
}
