//! The reasons why the journal of a run of attempts cannot be used.

use std::{io, path::PathBuf};

/// The reason why the journal of a run of attempts cannot be read or written. The attempts that it already holds are
/// not lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetryJournalError {
    /// The system denies opening or reading the journal.
    #[error("the journal {}", path.display())]
    #[non_exhaustive]
    Open {
        /// The journal.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Another run is writing the journal.
    #[error("another run is writing the journal {}", path.display())]
    #[non_exhaustive]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// The file is not a journal.
    #[error("the journal {}: line 1 is not a line of a journal", path.display())]
    #[non_exhaustive]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A line of a run is invalid.
    #[error("the journal {}: line {line} is not a line of a journal", path.display())]
    #[non_exhaustive]
    Line {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// A description of the error.
        #[source]
        source: serde_json::Error,
    },
    /// Lines of a run are missing.
    #[error(
        "the journal {}: line {line} is not a line of a journal: run {run}, attempt {attempt}: \
         the lines before it are missing",
        path.display()
    )]
    #[non_exhaustive]
    MissingLines {
        /// The journal.
        path: PathBuf,
        /// The number of the line that follows the missing ones, from 1.
        line: u64,
        /// The run that the line belongs to, from 1.
        run: u32,
        /// The attempt that the line belongs to, from 1.
        attempt: u32,
    },
    /// The run to resume differs from this one.
    #[error("the journal {}: its last run had another {what}; start a new run without --resume", path.display())]
    #[non_exhaustive]
    OtherRun {
        /// The journal.
        path: PathBuf,
        /// The part that differs: `agent`, `contract`, `command`, `standard input`, `lists` or `evidence`. The command is the
        /// producer, and standard input the prompt.
        what: &'static str,
    },
    /// Another component judged the run to resume. It may give other verdicts.
    #[error(
        "the journal {}: its last run used another component, {expected:?}, and not {found:?}; \
         start a new run without --resume",
        path.display()
    )]
    #[non_exhaustive]
    OtherComponent {
        /// The journal.
        path: PathBuf,
        /// The digest of the component in the journal.
        expected: String,
        /// The digest of the gate's component.
        found: String,
    },
    /// The system denies writing the journal.
    #[error("cannot write the journal {}", path.display())]
    #[non_exhaustive]
    Write {
        /// The journal.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The system denies writing a raw output beside the journal.
    #[error("cannot write {}", path.display())]
    #[non_exhaustive]
    WriteOutput {
        /// The file of the output.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}
