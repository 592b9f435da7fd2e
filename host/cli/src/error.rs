//! The errors that decide the exit status.

use std::{fmt, io};

use seamgate::Fault;

/// A fault as a person reads it: with everything that is wrong, a line each.
#[derive(Debug)]
pub(crate) struct FaultError(pub(crate) Fault);

impl fmt::Display for FaultError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.0)?;
        for violation in self.0.violations().iter().skip(1) {
            write!(formatter, "\n  also: {} {}", violation.path, violation.message)?;
        }
        Ok(())
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

/// An error as a person is told of it. A fault has its code before it, whichever command met it.
pub(crate) fn told(error: &anyhow::Error) -> String {
    match (error.downcast_ref::<FaultError>(), error.downcast_ref::<Hint>()) {
        (Some(fault), Some(hint)) => format!("error[{}]: {fault}\n{hint}", fault.0.code()),
        (Some(FaultError(fault)), None) => format!("error[{}]: {error:#}", fault.code()),
        (None, _) => format!("{error:#}"),
    }
}

/// Standard output cannot be written. Nobody has the verdict.
#[derive(Debug)]
pub(crate) struct Unwritten(io::Error);

impl Unwritten {
    /// Whether the reader of standard output has closed it.
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
