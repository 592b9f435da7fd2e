//! A journal in memory.

use std::collections::HashMap;

use seamgate::{Blob, Journal, JournalError, Lines};

/// The lines and texts of one run.
#[derive(Default)]
pub(crate) struct Memory {
    lines: Vec<String>,
    blobs: HashMap<(Blob, String), String>,
}

impl Journal for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        Ok(Box::new(self.lines.iter().skip(from).cloned().map(Ok)))
    }

    fn append(&mut self, _: u64, lines: &[String]) -> Result<(), JournalError> {
        self.lines.extend_from_slice(lines);
        Ok(())
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError> {
        self.blobs.insert((blob, digest.to_owned()), text.to_owned());
        Ok(())
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        Ok(self.blobs.get(&(blob, digest.to_owned())).cloned())
    }
}
