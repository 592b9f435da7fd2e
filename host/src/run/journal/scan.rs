//! Reads the file with the lines to its end, and tells complete steps from truncated ones.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Take},
    ops::Range,
    path::{Path, PathBuf},
};

use super::{Checked, JournalError, Line, fs::failed, line::MAX_LINE};
use crate::digest::digest;

/// The bytes after the last complete step of a journal: the remains of a step that a crash truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torn {
    /// The number of bytes.
    pub bytes: u64,
    /// The numbers of the lines that the bytes begin. The last line may be incomplete.
    pub lines: Range<u64>,
}

/// The lines of complete steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Whole {
    pub(super) lines: u64,
    pub(super) bytes: u64,
    /// The length of the last line, including its line end, and the digest of the line.
    pub(super) last: (u64, String),
}

/// Reads the lines of a file.
pub(super) struct Texts {
    input: Take<BufReader<File>>,
    path: PathBuf,
    n: u64,
}

impl Texts {
    /// Creates a reader for this many bytes.
    pub(super) fn new(file: File, path: &Path, bytes: u64) -> Self {
        Texts { input: BufReader::new(file).take(bytes), path: path.to_owned(), n: 0 }
    }

    /// Skips the lines before this one.
    pub(super) fn from(mut self, n: u64) -> Result<Self, JournalError> {
        let mut line = Vec::new();
        while self.n < n && self.read(&mut line)? {
            self.n += 1;
        }
        Ok(self)
    }

    /// Reads the next line. Returns whether there was one.
    fn read(&mut self, line: &mut Vec<u8>) -> Result<bool, JournalError> {
        line.clear();
        let most = MAX_LINE as u64;
        (&mut self.input).take(most).read_until(b'\n', line).map_err(failed("read", &self.path))?;
        if line.len() == MAX_LINE && line.last() != Some(&b'\n') {
            return Err(self.wrong(&format!("it has more than {MAX_LINE} bytes")));
        }
        Ok(!line.is_empty())
    }

    fn wrong(&self, message: &str) -> JournalError {
        JournalError::Line { journal: self.path.display().to_string(), line: self.n, message: message.to_owned() }
    }
}

impl Iterator for Texts {
    type Item = Result<String, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        match self.read(&mut line) {
            Ok(false) => return None,
            Ok(true) => {}
            Err(error) => return Some(Err(error)),
        }
        if line.pop() != Some(b'\n') {
            return Some(Err(self.wrong("it has no end: the file is shorter than it was")));
        }
        let text = String::from_utf8(line).map_err(|_| self.wrong("it is changed: it is not UTF-8"));
        self.n += 1;
        Some(text)
    }
}

/// Reads and checks the lines of a file, up to its end or to a line that a crash truncated.
pub(super) struct Scan {
    lines: Texts,
    checked: Checked,
    name: String,
    /// The length of the file when the scan began. Lines appended later are not read.
    length: u64,
    /// The last line that was read, including its line end.
    bytes: Vec<u8>,
    read: u64,
    whole: Whole,
}

impl Scan {
    /// Creates a scan from the file's beginning.
    pub(super) fn new(file: &File, path: &Path) -> Result<Self, JournalError> {
        let length = file.metadata().map_err(failed("read", path))?.len();
        let clone = file.try_clone().map_err(failed("read", path))?;
        Ok(Scan {
            lines: Texts::new(clone, path, length),
            checked: Checked::default(),
            name: path.display().to_string(),
            length,
            bytes: Vec::new(),
            read: 0,
            whole: Whole::default(),
        })
    }

    /// Returns the next line and its number.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Line<'_>)>, JournalError> {
        let Scan { lines, checked, name, bytes, .. } = self;
        if !lines.read(bytes)? {
            return Ok(None);
        }
        let n = lines.n;
        if bytes.last() != Some(&b'\n') {
            if !checked.chain.is_cut(bytes) {
                return Err(match n {
                    0 => not_a_journal(name.clone()),
                    _ => lines.wrong("it is changed: it is the last line, and neither whole nor the beginning of one"),
                });
            }
            lines.n += 1;
            return Ok(None);
        }
        self.read += bytes.len() as u64;
        let text = str::from_utf8(&bytes[..bytes.len() - 1]).map_err(|_| match n {
            0 => not_a_journal(name.clone()),
            _ => lines.wrong("it is changed: it is not UTF-8"),
        })?;
        lines.n += 1;
        let next = || lines.next().and_then(Result::ok);
        let line = checked.take(name, text, next).map_err(|error| match error {
            JournalError::Line { line: 0, journal, .. } if n == 0 => not_a_journal(journal),
            error => error,
        })?;
        if let Line::State(_) = line {
            self.whole = Whole { lines: n + 1, bytes: self.read, last: (bytes.len() as u64, digest(bytes)) };
        }
        Ok(Some((n, line)))
    }

    /// Returns the complete steps, and the remains that a crash left after them. Call it after the last line.
    pub(super) fn end(self) -> (Whole, Option<Torn>) {
        let Scan { lines, length, whole, .. } = self;
        let torn = (length > whole.bytes).then(|| Torn { bytes: length - whole.bytes, lines: whole.lines..lines.n });
        (whole, torn)
    }
}

/// Reads a journal to its end. Returns the complete steps, and the remains that a crash left after them.
pub(super) fn scan(file: &File, path: &Path) -> Result<(Whole, Option<Torn>), JournalError> {
    let mut scan = Scan::new(file, path)?;
    while scan.next()?.is_some() {}
    Ok(scan.end())
}

fn not_a_journal(journal: String) -> JournalError {
    let message = "its first line is changed, or it is not the journal of a run: name the folder of a run".to_owned();
    JournalError::NotAJournal { journal, message }
}
