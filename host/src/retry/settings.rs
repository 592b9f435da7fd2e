//! Where a run records its attempts, and the notices of the journal.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Receives the notices of a journal.
type OnNotice = Arc<dyn Fn(&RetryNotice) + Send + Sync>;

/// The file in which a run records its attempts and decisions. [`Attempts::journalled`](crate::Attempts::journalled) has an
/// example.
///
/// The file holds one JSON line for each attempt and each decision, and may hold several runs. Its format is
/// `schemas/journal.schema.json`; `seamgate run --journal` writes the same.
#[derive(Clone)]
pub struct RetryJournal {
    pub(super) path: PathBuf,
    pub(super) resume: bool,
    pub(super) keep_outputs: bool,
    pub(super) producer: Vec<String>,
    pub(super) prompt: Vec<u8>,
    on_notice: OnNotice,
}

impl RetryJournal {
    /// Creates a journal in this file, which is created if it does not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        RetryJournal {
            path: path.into(),
            resume: false,
            keep_outputs: false,
            producer: Vec::new(),
            prompt: Vec::new(),
            on_notice: Arc::new(|notice| match notice {
                RetryNotice::Resumed { .. } => tracing::info!("{notice}"),
                _ => tracing::warn!("{notice}"),
            }),
        }
    }

    /// Sets whether to continue the last run in the file, if there is one, without repeating its attempts. The default is to
    /// start a new run.
    ///
    /// A run can be resumed only with the same agent, contract, component, producer, prompt, lists and evidence.
    #[must_use]
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Sets whether to keep each raw output in a file beside the journal, readable only by its owner. The journal itself
    /// holds only digests of outputs. Default: no.
    #[must_use]
    pub fn keep_outputs(mut self, keep: bool) -> Self {
        self.keep_outputs = keep;
        self
    }

    /// Sets the words that identify the producer: for a program, its command; for a model, its name and settings. A run
    /// is resumed only with the same producer. Default: none.
    #[must_use]
    pub fn producer<T: Into<String>>(mut self, words: impl IntoIterator<Item = T>) -> Self {
        self.producer = words.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the prompt of the first attempt. The journal holds its digest, and a run is resumed only with the same prompt.
    /// Default: empty.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<Vec<u8>>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// Sets the function that receives notices about the journal, such as a removed line. Default: `tracing` events, at
    /// level `info` for a resumed run and `warn` for all others.
    #[must_use]
    pub fn on_notice(mut self, receive: impl Fn(&RetryNotice) + Send + Sync + 'static) -> Self {
        self.on_notice = Arc::new(receive);
        self
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn notify(&self, notice: &RetryNotice) {
        (self.on_notice)(notice);
    }
}

impl fmt::Debug for RetryJournal {
    /// Omits the prompt, which may be long and confidential.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RetryJournal")
            .field("path", &self.path)
            .field("resume", &self.resume)
            .field("keep_outputs", &self.keep_outputs)
            .field("producer", &self.producer)
            .finish_non_exhaustive()
    }
}

/// A problem that a journal reports although the run continues.
///
/// The texts of skipped and incomplete lines come from the file, so anybody may have written them. `Display` escapes
/// these texts, but not paths: escape a notice before you print it to a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryNotice {
    /// The run continues with attempts from the journal.
    #[non_exhaustive]
    Resumed {
        /// The journal.
        path: PathBuf,
        /// The number of attempts that the journal holds.
        attempts: usize,
        /// The largest number of attempts that the contract allows.
        most: u32,
    },
    /// Other users could read or write the journal. Now only its owner can.
    #[non_exhaustive]
    Restricted {
        /// The journal.
        path: PathBuf,
    },
    /// Another program changed the journal. The run continues after that program's text.
    #[non_exhaustive]
    Changed {
        /// The journal.
        path: PathBuf,
        /// The length of the file after the last line that this run wrote, in bytes.
        expected: u64,
        /// The length of the file now, in bytes.
        found: u64,
    },
    /// A line belongs to no run, and is skipped.
    #[non_exhaustive]
    SkippedLine {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The beginning of the line.
        text: String,
    },
    /// The last line is incomplete, and is removed. The run repeats that step.
    #[non_exhaustive]
    IncompleteLine {
        /// The journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The beginning of the line.
        text: String,
    },
    /// The number of further skipped or removed lines, beyond those that were reported one by one.
    #[non_exhaustive]
    MoreLines {
        /// The journal.
        path: PathBuf,
        /// The number of further lines.
        lines: usize,
    },
}

impl fmt::Display for RetryNotice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RetryNotice::Resumed { attempts, most, .. } => {
                write!(formatter, "the journal has {attempts} of at most {most} attempts")
            }
            RetryNotice::Restricted { path } => {
                let path = path.display();
                write!(formatter, "other users could read or write the journal {path}; now only its owner can")
            }
            RetryNotice::Changed { path, expected, found } => write!(
                formatter,
                "another program changed the journal {} from {expected} to {found} bytes; the run continues after that",
                path.display()
            ),
            RetryNotice::SkippedLine { path, line, text } => {
                let path = path.display();
                write!(formatter, "the journal {path}: line {line} belongs to no run, and is skipped: {text:?}")
            }
            RetryNotice::IncompleteLine { path, line, text } => {
                write!(formatter, "the journal {}: line {line} is incomplete, and removed: {text:?}", path.display())
            }
            RetryNotice::MoreLines { path, lines } => {
                write!(formatter, "the journal {}: … and {lines} more lines", path.display())
            }
        }
    }
}
