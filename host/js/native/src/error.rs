//! Errors of the library as errors of JavaScript. Their `code` says which kind they are; the message of a fault is its JSON text.

use napi::Error;
use seamgate::{BakeError, Fault, FileError, JournalError, LoadError, RunError, StepError};

/// The result of a function that JavaScript calls.
pub(crate) type Result<T> = napi::Result<T, &'static str>;

/// Returns the error for a fault.
pub(crate) fn fault(fault: Fault) -> Error<&'static str> {
    Error::new("SeamgateFault", fault.to_json())
}

/// Returns the error for a gate that cannot be made.
pub(crate) fn load(error: LoadError) -> Error<&'static str> {
    match error {
        LoadError::Fault(given) => fault(given),
        error => Error::new("LoadError", chain(&error)),
    }
}

pub(crate) fn bake(error: BakeError) -> Error<&'static str> {
    match error {
        BakeError::Contract { fault: given, .. } | BakeError::Profile { fault: given, .. } => fault(given),
        BakeError::Load(error) => load(error),
        error => Error::new("LoadError", chain(&error)),
    }
}

/// Returns the error for a file that cannot be read.
pub(crate) fn file(error: FileError) -> Error<&'static str> {
    Error::new("FileError", chain(&error))
}

/// Returns the error for a journal that cannot be read or written, or was changed.
pub(crate) fn journal(error: JournalError) -> Error<&'static str> {
    Error::new("JournalError", chain(&error))
}

pub(crate) fn step(error: StepError) -> Error<&'static str> {
    match error {
        StepError::Fault(given) => fault(given),
        StepError::Journal(error) => journal(error),
        error => Error::new("JournalError", chain(&error)),
    }
}

/// Returns the error of a promise: there, a code is one of napi's own. It stands on the first line of the message.
pub(crate) fn told(error: Error<&'static str>) -> Error {
    Error::from_reason(format!("{}\n{}", error.status, error.reason))
}

/// Returns why a run of attempts cannot continue.
pub(crate) fn retry(error: RunError) -> Error<&'static str> {
    match error {
        RunError::Fault(given) => fault(given),
        error => Error::new("JournalError", chain(&error)),
    }
}

/// Returns the error for a mistake of the caller.
pub(crate) fn usage(message: impl Into<String>) -> Error<&'static str> {
    Error::new("TypeError", message.into())
}

/// Returns an error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
