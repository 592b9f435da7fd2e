//! The reasons why a trace cannot be created.

use std::{error::Error, io, path::PathBuf};

use seamgate::{Fault, FileError, JournalError, LoadError};
use seamgate_text::also;

/// The reason why a trace cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The folder has no journal, or the journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A journal of attempts cannot be read.
    #[error("cannot read {}", path.display())]
    #[non_exhaustive]
    Unreadable {
        /// The journal's file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not a journal of attempts.
    #[error("{}: its first line is not a line of a journal: name the folder of a run, or a journal of 'seamgate run'", path.display())]
    #[non_exhaustive]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The journal has no complete line.
    #[error("{}: the run has not begun, as its journal has no whole line", folder.display())]
    #[non_exhaustive]
    NotBegun {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// The first line of the journal does not identify the run.
    #[error("{}", folder.display())]
    #[non_exhaustive]
    NoRun {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// The first line of the journal cannot be read by this version.
    #[error("{}, line 1: {message}", folder.display())]
    #[non_exhaustive]
    FirstLine {
        /// The folder of the run.
        folder: PathBuf,
        /// A description of the error in the line.
        message: String,
    },
    /// No profile is given, and the folder of the run names none.
    #[error("there is no -p PROFILE, and {} names no profiles", plan.display())]
    #[non_exhaustive]
    NoProfile {
        /// The file that should name profiles.
        plan: PathBuf,
        /// The reason why that file cannot be read.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file of a profile cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The sandbox that reads profiles cannot be set up.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A profile cannot be used.
    #[error("{}: {}", path.display(), described(fault))]
    #[non_exhaustive]
    Profile {
        /// The file of the profile.
        path: PathBuf,
        /// A description of the error.
        fault: Fault,
    },
    /// The run began with another profile.
    #[error("the run began with the profile {expected}: {}", others.join(", "))]
    #[non_exhaustive]
    OtherProfile {
        /// The fingerprint of the profile that the run began with.
        expected: String,
        /// The profiles that were found, each as `PATH is FINGERPRINT`.
        others: Vec<String>,
    },
    /// Writing the text of a trace failed.
    #[error("cannot write the trace: {0}")]
    Write(io::Error),
    /// The journal is damaged, and [`why`](crate::why()) needs all of it.
    #[error("{}: {fault}", folder.display())]
    #[non_exhaustive]
    Damaged {
        /// The folder of the run.
        folder: PathBuf,
        /// A description of the damage.
        fault: String,
    },
    /// The profile does not define where claims are.
    #[error("the profile of {} says nothing of claims: its final contract has no `evidence`", folder.display())]
    #[non_exhaustive]
    NoClaims {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// The run has no final document.
    #[error("{}: the run has no final document", folder.display())]
    #[non_exhaustive]
    NoDocument {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// The text identifies no claim, or more than one. The message lists the existing claims.
    #[error("{0}")]
    Claim(String),
}

/// Describes a fault with all its violations, one per line.
fn described(fault: &Fault) -> String {
    let others = fault.violations().iter().skip(1).map(|one| format!("{} {}", one.path, one.message));
    also(&fault.to_string(), others)
}
