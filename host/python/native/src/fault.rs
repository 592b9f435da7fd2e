//! Rust's errors as Python exceptions. Their arguments are texts, from which Python builds the exceptions that users
//! see.

use std::error::Error;

use pyo3::{PyErr, create_exception, exceptions::PyException};

create_exception!(seamgate._native, Fault, PyException, "No verdict: the JSON text of a fault.");
create_exception!(seamgate._native, LoadFault, PyException, "A gate cannot be made: why.");
create_exception!(seamgate._native, FileFault, PyException, "A file cannot be read: why.");
create_exception!(seamgate._native, JournalFault, PyException, "A journal failed: the kind of failure, and why.");
create_exception!(seamgate._native, Unfit, PyException, "An argument is none that fits. The component can say why.");

/// Returns a fault as the exception that it is.
pub(crate) fn raised(fault: &seamgate::Fault) -> PyErr {
    Fault::new_err(fault.to_json())
}

/// Returns the fault `busy`, which this module has reasons of its own for.
pub(crate) fn busy(message: &str) -> PyErr {
    Fault::new_err(serde_json::json!({"fault": "busy", "message": message, "detail": {}}).to_string())
}

/// Returns why a gate cannot be made.
pub(crate) fn load(error: &dyn Error) -> PyErr {
    LoadFault::new_err(chain(error))
}

/// Returns an error with its sources. Those of Wasmtime repeat what is above them.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}
