//! The errors that decide the exit status, and those that are drawn.

use std::{fmt, io, path::Path};

use anyhow::Error;
use seamgate::{ContractSource, Fault, FileError, Gate};
use seamgate_authoring::{
    Finding,
    contract_errors::{ContractError, ContractErrorCause},
    fuel,
};
use seamgate_text::also;

use crate::format::drawn;

/// A fault for a person, with all its violations, one per line.
#[derive(Debug)]
pub(crate) struct FaultError(pub(crate) Fault);

impl fmt::Display for FaultError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let others = self.0.violations().iter().skip(1).map(|one| format!("{} {}", one.path, one.message));
        formatter.write_str(&also(&self.0.to_string(), others))
    }
}

impl std::error::Error for FaultError {}

/// A hint about a fault, on a line of its own after the fault.
#[derive(Debug)]
pub(crate) struct Hint(pub(crate) String);

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "hint: {}", self.0)
    }
}

/// Formats an error for a person. The code of a fault comes first, in every command.
pub(crate) fn told(error: &Error) -> String {
    if let Some(seamgate_runner::Error::Fault(fault)) = error.downcast_ref() {
        return format!("error[{}]: {error:#}", fault.code());
    }
    match (error.downcast_ref::<FaultError>(), error.downcast_ref::<Hint>()) {
        (Some(fault), Some(hint)) => format!("error[{}]: {fault}\n{hint}", fault.0.code()),
        (Some(FaultError(fault)), None) => format!("error[{}]: {error:#}", fault.code()),
        (None, _) => format!("{error:#}"),
    }
}

/// Returns the error for a missing verdict. If all its fuel was used, a hint names the keyword that used the most.
///
/// `judge` repeats the failed call on another gate, and returns the fuel that it used.
pub(crate) fn no_verdict(fault: Fault, contract: Option<&str>, judge: impl Fn(&Gate) -> Option<u64>) -> Error {
    let hint = fuel::hint(&fault, contract, judge);
    let error = Error::from(FaultError(fault));
    match hint {
        Some(hint) => error.context(Hint(hint)),
        None => error,
    }
}

/// The errors of a contract, with their places in its files. A person sees a drawing of them instead of a message.
#[derive(Debug)]
pub(crate) struct Located {
    /// The file, for messages on one line.
    pub(crate) file: String,
    pub(crate) findings: Vec<Finding>,
}

impl Located {
    pub(crate) fn drawing(&self) -> String {
        self.findings.iter().map(drawn).collect::<Vec<_>>().join("\n\n")
    }
}

impl fmt::Display for Located {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.file)
    }
}

/// Returns the error of a contract that cannot be used.
pub(crate) fn unusable(fault: Fault, source: &ContractSource, path: &Path) -> Error {
    with_places(ContractError::of_contract(fault, source, path))
}

/// Returns the error of a profile that cannot be used.
pub(crate) fn unusable_profile(fault: Fault, path: &Path) -> Error {
    with_places(ContractError::of_profile(fault, path))
}

/// Returns the error of a file that cannot be read.
pub(crate) fn unreadable(error: FileError, path: &Path) -> Error {
    with_places(ContractError::of_file(error, path))
}

fn with_places(error: ContractError) -> Error {
    let cause = match error.cause {
        ContractErrorCause::Fault(fault) => Error::from(FaultError(fault)),
        ContractErrorCause::File(error) => error.into(),
        cause => cause.into(),
    };
    let ContractError { file, findings, .. } = error;
    if findings.is_empty() { cause } else { cause.context(Located { file, findings }) }
}

/// Standard output cannot be written, so nobody receives the verdict.
#[derive(Debug)]
pub(crate) struct Unwritten(io::Error);

impl Unwritten {
    /// Returns whether the reader of standard output has closed it.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Unwritten(error)
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "cannot write standard output: {}", self.0)
    }
}

impl std::error::Error for Unwritten {}

/// There is no output to judge, or the journal cannot be written.
#[derive(Debug)]
pub(crate) struct NoVerdict(pub(crate) String);

impl fmt::Display for NoVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NoVerdict {}

/// Converts a library's error about an unusable profile to the error that commands print. Other errors are unchanged.
pub(crate) fn of_library(error: Error) -> Error {
    if !matches!(error.downcast_ref(), Some(seamgate_runner::Error::Profile { .. })) {
        return error;
    }
    match error.downcast() {
        Ok(seamgate_runner::Error::Profile { path, fault }) => unusable_profile(fault, &path),
        Ok(other) => other.into(),
        Err(error) => error,
    }
}
