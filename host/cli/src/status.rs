//! Exit statuses, on which scripts may rely.

use seamgate::{Attempts, Disposition, Fault, Stop};
use seamgate_runner::Error;
use seamgate_text::count;

use crate::error::{FaultError, NoVerdict, Unwritten};

pub(crate) const HELP: &str = "\
Exit status: 0 accepted, 1 rejected, 2 usage or contract error, 3 partial, 4 refused, 5 fault: no verdict,
6 waits for a person";

/// The outcome of a command.
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
            // An unknown word of a later version does not count as success.
            _ => Status::Rejected,
        }
    }
}

impl Status {
    /// Returns the status of `seamgate run`.
    pub(crate) fn of_run(stop: Stop, attempts: &Attempts) -> Self {
        match attempts.exit_status(stop) {
            0 => Status::Accepted,
            1 => Status::Rejected,
            3 => Status::Partial,
            4 => Status::Refused,
            _ => Status::Fault,
        }
    }

    /// Returns the status of a command that a signal ended.
    pub(crate) fn of_signal(signal: i32) -> Self {
        Status::Signal(u8::try_from(signal).unwrap_or(127))
    }

    /// Returns the number of the exit status.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Accepted => 0,
            Status::Rejected => 1,
            Status::Usage => 2,
            Status::Partial => 3,
            Status::Refused => 4,
            Status::Fault => 5,
            Status::Waits => 6,
            // A shell shows the same number for a program that SIGPIPE ended.
            Status::BrokenPipe => 141,
            Status::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }

    fn of_fault(fault: &Fault) -> Self {
        match fault {
            Fault::BadContract { .. }
            | Fault::BadProfile { .. }
            | Fault::UnknownAgent { .. }
            | Fault::Sealed { .. } => Status::Usage,
            _ => Status::Fault,
        }
    }

    /// Returns the status for an error.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref() {
            Some(Error::Fault(fault) | Error::Profile { fault, .. }) => return Status::of_fault(fault),
            Some(Error::NoVerdict(_)) => return Status::Fault,
            _ => {}
        }
        if let Some(FaultError(fault)) = error.downcast_ref() {
            return Status::of_fault(fault);
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

/// The number of verdicts of each kind.
#[derive(Default)]
pub(crate) struct Sum([usize; 5]);

impl Sum {
    /// The kinds from the best to the worst, with a word for each.
    const KINDS: [(Status, &str); 5] = [
        (Status::Accepted, "accepted"),
        (Status::Refused, "refused"),
        (Status::Partial, "partial"),
        (Status::Rejected, "rejected"),
        (Status::Fault, "no verdict"),
    ];

    /// Creates the sum from numbers in the order of `KINDS`.
    pub(crate) fn of(numbers: [usize; 5]) -> Self {
        Sum(numbers)
    }

    pub(crate) fn add(&mut self, status: Status) {
        // Anything else has no verdict.
        let kind = Self::KINDS.iter().position(|(kind, _)| *kind == status).unwrap_or(Self::KINDS.len() - 1);
        self.0[kind] += 1;
    }

    /// Returns the status for all verdicts together.
    pub(crate) fn worst(&self) -> Status {
        let kinds = Self::KINDS.iter().zip(self.0).rev();
        kinds.into_iter().find(|(_, number)| *number > 0).map_or(Status::Accepted, |((kind, _), _)| *kind)
    }

    /// Describes the numbers in words. Omits those that are zero.
    pub(crate) fn told(&self, noun: &str) -> String {
        let all = count(self.0.iter().sum(), noun);
        let kinds = Self::KINDS.iter().zip(self.0).filter(|(_, number)| *number > 0);
        let kinds: Vec<String> = kinds.map(|((_, word), number)| format!("{number} {word}")).collect();
        if kinds.is_empty() { all } else { format!("{all}: {}", kinds.join(", ")) }
    }
}
