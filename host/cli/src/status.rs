//! Exit statuses: promises to scripts.

use std::{
    fmt,
    io::{self, Write},
    process::ExitCode,
};

use seamgate::{Disposition, Fault};

use crate::gate::Told;

pub(crate) const HELP: &str = "\
Exit status: 0 accepted, 1 rejected, 2 usage or contract error, 3 partial, 4 refused, 5 fault: no verdict";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Accepted,
    Rejected,
    Usage,
    Partial,
    Refused,
    Fault,
    /// Standard output was closed by its reader.
    BrokenPipe,
    /// A signal asked for the end.
    Signal(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status.code())
    }
}

impl Status {
    /// What a script sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Accepted => 0,
            Status::Rejected => 1,
            Status::Usage => 2,
            Status::Partial => 3,
            Status::Refused => 4,
            Status::Fault => 5,
            // As a shell says it of a program that the signal SIGPIPE ended.
            Status::BrokenPipe => 141,
            Status::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }
}

impl From<Disposition> for Status {
    fn from(disposition: Disposition) -> Self {
        match disposition {
            Disposition::Accepted => Status::Accepted,
            Disposition::Partial => Status::Partial,
            Disposition::Rejected => Status::Rejected,
            Disposition::Refused => Status::Refused,
        }
    }
}

impl Status {
    /// What an error means to a script.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if let Some(Told(fault)) = error.downcast_ref() {
            return match fault {
                Fault::BadContract { .. } | Fault::UnknownAgent { .. } | Fault::Sealed { .. } => Status::Usage,
                _ => Status::Fault,
            };
        }
        if error.is::<NoVerdict>() {
            return Status::Fault;
        }
        match error.downcast_ref() {
            Some(Unwritten(error)) if error.kind() == io::ErrorKind::BrokenPipe => Status::BrokenPipe,
            Some(Unwritten(_)) => Status::Fault,
            None => Status::Usage,
        }
    }
}

/// Standard output could not be written: whatever the verdict was, nobody has it.
#[derive(Debug)]
pub(crate) struct Unwritten(io::Error);

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Unwritten(error)
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "standard output: {}", self.0)
    }
}

impl std::error::Error for Unwritten {}

/// There is nothing to judge, or no record of it can be kept.
#[derive(Debug)]
pub(crate) struct NoVerdict(pub(crate) String);

impl fmt::Display for NoVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NoVerdict {}

/// Tell a person something on standard error. Where that cannot be written, there is nobody to tell.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
