//! The reasons why a journal cannot be read or written.

use std::{error::Error, io, path::PathBuf};

/// The reason why a journal cannot be read or written. None of its content is lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another writer appended to the journal. The step that was to be appended has not happened.
    #[error(
        "{journal}: another writer has changed it after line {lines}; open the run again, then send the event again"
    )]
    Conflict {
        /// The journal's name.
        journal: String,
        /// The number of lines that the journal was expected to have.
        lines: u64,
    },
    /// Another process has held the journal's lock for so long that it seems to hang.
    #[error("{journal}: another process has held its lock for {seconds} s; end that process, or try again")]
    #[non_exhaustive]
    Busy {
        /// The journal's name.
        journal: String,
        /// The time that this process waited.
        seconds: u64,
    },
    /// There is no journal, or the file is not a journal.
    #[error("{journal}: {message}")]
    #[non_exhaustive]
    NotAJournal {
        /// The name of the file or folder.
        journal: String,
        /// One sentence for a person.
        message: String,
    },
    /// The journal has no complete step, so its run has not begun.
    #[error("{journal}: the run has not begun, as no step is whole; start it")]
    #[non_exhaustive]
    Empty {
        /// The journal's name.
        journal: String,
    },
    /// A run cannot start in this journal because the journal already has one.
    #[error("{journal}: it has a run already; open that one, or start in another place")]
    #[non_exhaustive]
    Exists {
        /// The journal's name.
        journal: String,
    },
    /// A later version of seamgate wrote the journal.
    #[error(
        "{journal}: it has format {version}, and this seamgate knows up to {}; use a later version of seamgate",
        super::VERSION
    )]
    #[non_exhaustive]
    Newer {
        /// The journal's name.
        journal: String,
        /// The version of its format.
        version: u64,
    },
    /// The run belongs to another profile. Or it belongs to another component and cannot be replayed.
    #[error("{journal}: the run has the {what} {expected}, and the gate has {found}; {advice}")]
    #[non_exhaustive]
    Other {
        /// The journal's name.
        journal: String,
        /// `profile` or `component`.
        what: &'static str,
        /// The digest in the journal.
        expected: String,
        /// The gate's digest.
        found: String,
        /// Advice for the user, without a full stop.
        advice: &'static str,
    },
    /// The run belongs to another component, and the gate's component decides one of its steps differently.
    #[error(
        "{journal}: {difference}; the run has the component {expected}, and the gate has {found}: go on with the \
         seamgate that has the run's component (`seamgate replay` shows which calls this one decides differently)"
    )]
    #[non_exhaustive]
    Differs {
        /// The journal's name.
        journal: String,
        /// The number of the step, from 1.
        step: u64,
        /// The step, and how it differs, for a person.
        difference: String,
        /// The digest of the component in the journal.
        expected: String,
        /// The digest of the gate's component.
        found: String,
    },
    /// A line has changed since it was written, or cannot be written.
    #[error("{journal}, line {} (\"n\":{line}): {message}", line + 1)]
    #[non_exhaustive]
    Line {
        /// The journal's name.
        journal: String,
        /// The number of the line, from 0.
        line: u64,
        /// One sentence for a person.
        message: String,
    },
    /// An artifact is missing, or has changed since it was written.
    #[error("{journal}: the artifact {digest} {message}")]
    #[non_exhaustive]
    Artifact {
        /// The journal's name.
        journal: String,
        /// The digest under which the artifact was looked up.
        digest: String,
        /// One sentence for a person, without its subject.
        message: String,
    },
    /// The system denies reading or writing the journal.
    #[error("cannot {doing} {}{}", path.display(), advice(source))]
    #[non_exhaustive]
    Io {
        /// The operation that failed: `read`, `append to` …
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A journal of another kind failed.
    #[error("the journal failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

/// Returns advice for the user about a system error.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; no step was added: make room, then send the event again"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; this user needs the right to do so, or another folder"
        }
        _ => "",
    }
}
