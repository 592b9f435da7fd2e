//! The journal of a run: what happened, in order, and nothing else. The state of the run follows from it.

mod artifacts;
mod error;
mod file;
mod fs;
mod line;
mod reader;
mod scan;

pub(crate) use artifacts::{Artifact, EventLine, Reference, inline, restore, without_prompt};
pub use error::JournalError;
pub use file::FileJournal;
pub(crate) use line::{Chain, Checked, Line};
pub use reader::{JournalLine, JournalReader, LineKind};
pub use scan::Torn;

/// The version of the format. Journals of version 1 do not record which version of the kernel made their states.
pub(crate) const VERSION: u64 = 2;

/// The kind of a blob that is kept beside the lines, under the digest of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blob {
    /// A complete result or prompt. Lines reference it, so the journal is incomplete without it.
    Artifact,
    /// The state after a step. [`Run::open`](crate::Run::open) begins from the last one. If there is none, it begins
    /// from the first event.
    Checkpoint,
}

/// The lines of a journal, in order. A line has no line end.
pub type Lines<'j> = Box<dyn Iterator<Item = Result<String, JournalError>> + 'j>;

/// A store of the lines of one run. [`FileJournal`] keeps them in a folder. A database can keep them too: [`Run`] makes
/// and checks the lines, so that a journal only has to keep texts.
///
/// [`Run`]: crate::Run
pub trait Journal {
    /// Returns the name of this journal for errors, such as a path.
    fn name(&self) -> String;

    /// Returns the number of lines that this journal knows of. Another writer may have added more.
    fn count(&self) -> u64;

    /// Returns the lines from a number on. The first line has the number 0. Returns only the lines that
    /// [`count`](Journal::count) counts.
    ///
    /// # Errors
    ///
    /// The lines cannot be read.
    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError>;

    /// Adds these lines if the journal has exactly `expected` lines, and makes them survive a crash before this
    /// returns. Adds all lines or none. Blobs that were [put](Journal::put) before survive a crash from then on, too.
    ///
    /// # Errors
    ///
    /// [`JournalError::Conflict`] if the number of lines differs because another writer appended. Any other error means
    /// that the lines were not added, or that a crash may remove them.
    fn append(&mut self, expected: u64, lines: &[String]) -> Result<(), JournalError>;

    /// Keeps a text under its digest: `sha256:` and 64 hexadecimal digits. Keeping the same text again is not an error.
    ///
    /// # Errors
    ///
    /// The text cannot be kept.
    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError>;

    /// Returns the text under a digest, if there is one. The caller compares it with the digest.
    ///
    /// # Errors
    ///
    /// The text cannot be read.
    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError>;
}

impl<J: Journal + ?Sized> Journal for Box<J> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn count(&self) -> u64 {
        (**self).count()
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        (**self).lines(from)
    }

    fn append(&mut self, expected: u64, lines: &[String]) -> Result<(), JournalError> {
        (**self).append(expected, lines)
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError> {
        (**self).put(blob, digest, text)
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        (**self).get(blob, digest)
    }
}
