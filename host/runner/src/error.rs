//! The errors of this crate.

use std::{error::Error as StdError, io, path::PathBuf};

use seamgate::{Fault, FileError, JournalError, LoadError, StepError};

/// An error of a run, of a program that a run starts, or of a file in a run's folder.
///
/// The chain of [sources](std::error::Error::source) contains the whole message: each error adds to the message of its
/// source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The sandbox gave no verdict, or the kernel does not accept the event.
    #[error("{}", lines(.0))]
    Fault(Fault),
    /// A profile cannot be used.
    #[error("{}", path.display())]
    Profile {
        /// The profile's file.
        path: PathBuf,
        /// The error in the profile.
        fault: Fault,
    },
    /// The run cannot continue now, and the caller is not the cause.
    #[error("{0}")]
    NoVerdict(String),
    /// The caller named something that cannot be used.
    #[error("{message}")]
    Invalid {
        /// A description of the error, or of its place.
        message: String,
        /// The error at that place.
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// A profile cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The component cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A journal cannot be created, opened or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A JSON text does not have the expected form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The system denied an operation.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns an error about something that the caller named.
    pub fn invalid(message: impl Into<String>) -> Self {
        Error::Invalid { message: message.into(), source: None }
    }

    /// Returns an error about something that the caller named, with the cause.
    pub fn caused(message: impl Into<String>, source: impl StdError + Send + Sync + 'static) -> Self {
        Error::Invalid { message: message.into(), source: Some(Box::new(source)) }
    }

    /// Returns the whole chain on one line, as the command line prints it. The code of a fault precedes its message.
    pub fn report(&self) -> String {
        let mut chain = self.to_string();
        let mut next = self.source();
        while let Some(source) = next {
            chain.push_str(&format!(": {source}"));
            next = source.source();
        }
        match self {
            Error::Fault(fault) => format!("error[{}]: {chain}", fault.code()),
            Error::Profile { fault, .. } => format!("error[{}]: {chain}: {}", fault.code(), lines(fault)),
            _ => chain,
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Fault(fault)
    }
}

impl From<StepError> for Error {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Fault(fault) => Error::Fault(fault),
            StepError::Journal(error) => Error::NoVerdict(error.to_string()),
            error => Error::Invalid { message: error.to_string(), source: None },
        }
    }
}

/// Describes a fault and all its violations, one per line.
fn lines(fault: &Fault) -> String {
    let more = fault.violations().iter().skip(1);
    let more = more.map(|violation| format!("\n  also: {} {}", violation.path, violation.message));
    std::iter::once(fault.to_string()).chain(more).collect()
}

/// Returns an error about something that the caller named.
macro_rules! bail {
    ($($message:tt)*) => {
        return Err($crate::error::Error::invalid(format!($($message)*)))
    };
}

pub(crate) use bail;

/// Adds the place or operation to an error.
pub(crate) trait AddContext<T> {
    /// Prepends a message to that of an error.
    fn context(self, message: &str) -> Result<T>;

    /// Prepends a message to that of an error. The message is created only if there is an error.
    fn with_context(self, message: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: StdError + Send + Sync + 'static> AddContext<T> for Result<T, E> {
    fn context(self, message: &str) -> Result<T> {
        self.with_context(|| message.to_owned())
    }

    fn with_context(self, message: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error::caused(message(), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_has_every_context_once() {
        let error: Result<()> = Err(io::Error::other("no disk")).context("inner");
        let error = error.with_context(|| "outer".to_owned()).expect_err("an error");
        assert_eq!((error.to_string(), error.report()), ("outer".to_owned(), "outer: inner: no disk".to_owned()));
        assert_eq!(Error::invalid("alone").report(), "alone");
    }
}
