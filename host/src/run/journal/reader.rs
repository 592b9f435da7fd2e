//! Read-only access to the folder of a run.

use std::{fs::File, path::Path};

use super::{
    Blob, FileJournal, Journal, JournalError, Line, Torn,
    file::{NAME, not_there},
    fs::lock,
    restore,
    scan::Scan,
};
use crate::{digest::digest, file::open_regular};

/// The longest step, in bytes: 256 MiB. A step is read as a whole.
const MAX_STEP: usize = 256 * 1024 * 1024;

/// The kind of a [`JournalLine`] (`schemas/run-journal.schema.json`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineKind {
    /// The first line, which describes the run.
    Run,
    /// An event. It begins a step.
    Event,
    /// A decision of the step.
    Record,
    /// An action that the host must perform next.
    Action,
    /// The end of a step.
    State,
    /// The change to another component. It precedes the event of the first step that the new component decided.
    Component,
}

/// A line of a journal that follows the line before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalLine {
    /// The number of the line, from 0.
    pub n: u64,
    /// The kind of its content.
    pub kind: LineKind,
    /// Its content as JSON text: the event, the record, and so on.
    pub json: String,
}

/// Reads the complete steps of a run's journal, without its profile: the first line alone, then the lines of each step
/// together. Each line is checked against the line before it. A damaged line ends the iteration with an error that
/// names it. A step that a crash truncated is omitted; [`torn`](JournalReader::torn) returns it. Lines that are
/// appended after `open` are not read.
///
/// ```no_run
/// let mut reader = seamgate::JournalReader::open("runs/r1".as_ref())?;
/// while let Some(lines) = reader.next() {
///     for line in lines? {
///         println!("{} {}", line.n, line.json);
///     }
/// }
/// # Ok::<(), seamgate::JournalError>(())
/// ```
pub struct JournalReader {
    /// The journal, for reading artifacts.
    journal: FileJournal,
    /// `None` after the last line.
    scan: Option<Scan>,
    torn: Option<Torn>,
}

impl JournalReader {
    /// Opens the folder of a run. Reads no lines yet.
    ///
    /// # Errors
    ///
    /// The folder has no journal; it cannot be read; or another process has held its lock for 10 seconds.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(NAME);
        let file = open_regular(File::options().read(true), &path).map_err(|error| not_there(folder, error))?;
        // The lock ensures that nobody is appending, so the file has no step that is only partly written. These lines
        // never change after that, so a slow reader does not block writers.
        lock(&file, &path, File::try_lock_shared)?;
        let scan = Scan::new(&file, &path)?;
        // If unlocking fails, the lock lasts as long as the scan, and writers wait until then. Under Wine, it reports a
        // failure.
        let _ = file.unlock();
        Ok(JournalReader { journal: FileJournal::at(folder), scan: Some(scan), torn: None })
    }

    /// Returns the remains of a step that a crash truncated. Call it after the last line.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// Returns an artifact: a complete result or a prompt. `None` if the folder has none with this digest, because
    /// small values are in their lines.
    ///
    /// # Errors
    ///
    /// [`JournalError::Artifact`] if the artifact has been changed; or it cannot be read, for example because it has
    /// more than 64 MiB.
    pub fn artifact(&self, expected: &str) -> Result<Option<String>, JournalError> {
        match self.journal.get(Blob::Artifact, expected)? {
            Some(text) if digest(text.as_bytes()) != expected => Err(self.wrong(expected, "is changed")),
            text => Ok(text),
        }
    }

    /// Returns an event as it was sent, with its artifacts restored.
    ///
    /// # Errors
    ///
    /// An artifact is missing or changed, or cannot be read.
    pub fn whole(&self, event: &str) -> Result<String, JournalError> {
        restore(event, |digest| self.artifact(digest)?.ok_or_else(|| self.wrong(digest, "is missing")))
    }

    fn wrong(&self, digest: &str, message: &str) -> JournalError {
        let digest = digest.chars().take(80).collect();
        JournalError::Artifact { journal: self.journal.name(), digest, message: message.to_owned() }
    }

    /// Returns the lines up to the end of a step, or the first line.
    fn step(&mut self) -> Result<Option<Vec<JournalLine>>, JournalError> {
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while let Some((n, line)) = scan.next()? {
            let (kind, json) = match line {
                Line::Run(json) => (LineKind::Run, json),
                Line::Event(json) => (LineKind::Event, json),
                Line::Record(json) => (LineKind::Record, json),
                Line::Action(json) => (LineKind::Action, json),
                Line::State(json) => (LineKind::State, json),
                Line::Component(json) => (LineKind::Component, json),
            };
            bytes += json.len();
            if bytes > MAX_STEP {
                let message = format!("its step has more than {MAX_STEP} bytes");
                return Err(JournalError::Line { journal: self.journal.name(), line: n, message });
            }
            lines.push(JournalLine { n, kind, json: json.to_owned() });
            if matches!(kind, LineKind::Run | LineKind::State) {
                return Ok(Some(lines));
            }
        }
        self.torn = self.scan.take().and_then(|scan| scan.end().1);
        Ok(None)
    }
}

impl Iterator for JournalReader {
    type Item = Result<Vec<JournalLine>, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.scan = None;
        }
        step.transpose()
    }
}
