//! Faults, and the status of each.

use std::any::Any;

use seamgate::{Fault, FileError, LoadError};
use serde::Serialize;

use crate::status::Status;

/// A fault, with its status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library has no verdict.
    Fault(Fault),
    /// A fault that only this package can meet.
    Here(Status, String),
}

impl Failure {
    /// Returns the failure for an invalid argument of the caller, with the name of the argument.
    pub(crate) fn argument(name: &str, what: &str) -> Self {
        Failure::Here(Status::BadArgument, format!("{name}: {what}"))
    }

    /// Returns the failure for an invalid document of the caller.
    pub(crate) fn request(name: &str, what: impl std::fmt::Display) -> Self {
        Failure::Fault(Fault::BadRequest { message: format!("{name}: {what}"), violations: Vec::new() })
    }

    /// Returns the failure for a panic, from its payload.
    pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "a panic without a message".to_owned(),
        };
        // Another payload could panic when it is dropped.
        std::mem::forget(payload);
        Failure::Here(Status::Internal, format!("the library has a bug: {message}"))
    }

    pub(crate) fn status(&self) -> Status {
        match self {
            Failure::Fault(fault) => Status::of(fault),
            Failure::Here(status, _) => *status,
        }
    }

    /// Returns the JSON text, in the form of [`Fault::to_json`].
    pub(crate) fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Wire<'f> {
            fault: &'f str,
            message: &'f str,
            detail: Detail,
        }
        #[derive(Serialize)]
        struct Detail {}
        match self {
            Failure::Fault(fault) => fault.to_json(),
            Failure::Here(status, message) => {
                // Two texts cannot fail to be written.
                serde_json::to_string(&Wire { fault: status.code(), message, detail: Detail {} }).unwrap_or_default()
            }
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Fault(fault) => Failure::Fault(fault),
            error => Failure::Here(Status::LoadError, chain(&error)),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::Here(Status::FileError, chain(&error))
    }
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
