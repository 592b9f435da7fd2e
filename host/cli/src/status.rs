//! Exit statuses: promises to scripts.

use seamgate::{Disposition, Fault};

use crate::error::{FaultError, NoVerdict, Unwritten};

pub(crate) const HELP: &str = "\
Exit status: 0 accepted, 1 rejected, 2 usage or contract error, 3 partial, 4 refused, 5 fault: no verdict,
6 waits for a person";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Accepted,
    Rejected,
    Usage,
    Partial,
    Refused,
    Fault,
    /// A run waits for a person.
    Waits,
    /// The reader of standard output closed it.
    BrokenPipe,
    /// A signal ended the command.
    Signal(u8),
}

impl From<Disposition> for Status {
    fn from(disposition: Disposition) -> Self {
        match disposition {
            Disposition::Accepted => Status::Accepted,
            Disposition::Partial => Status::Partial,
            Disposition::Refused => Status::Refused,
            // A word of a later version is no success.
            _ => Status::Rejected,
        }
    }
}

impl Status {
    /// The number that a script sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Accepted => 0,
            Status::Rejected => 1,
            Status::Usage => 2,
            Status::Partial => 3,
            Status::Refused => 4,
            Status::Fault => 5,
            Status::Waits => 6,
            // A shell shows the same for a program that SIGPIPE ended.
            Status::BrokenPipe => 141,
            Status::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }

    /// The status for an error.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if let Some(FaultError(fault)) = error.downcast_ref() {
            return match fault {
                Fault::BadContract { .. }
                | Fault::BadProfile { .. }
                | Fault::UnknownAgent { .. }
                | Fault::Sealed { .. } => Status::Usage,
                _ => Status::Fault,
            };
        }
        if error.is::<NoVerdict>() {
            return Status::Fault;
        }
        match error.downcast_ref::<Unwritten>() {
            Some(unwritten) if unwritten.is_broken_pipe() => Status::BrokenPipe,
            Some(_) => Status::Fault,
            None => Status::Usage,
        }
    }
}
