//! Follows the journal of a run: reads the lines that were appended since the last time, step by step.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use seamgate::{Action, Event, Record};
use seamgate_trace::JOURNAL;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most bytes that are read at once. Every line is shorter.
const MAX_PIECE: u64 = 64 * 1024 * 1024;

/// The identity of a run, from the first line of its journal.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct About {
    pub(crate) run: String,
    pub(crate) agent: String,
}

/// The parts of a step that this version can read.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) event: Option<Event>,
    pub(crate) records: Vec<Record>,
    pub(crate) actions: Vec<Action>,
}

/// A line of a journal. Its content is parsed later, because this version may not know a word in it.
#[derive(Deserialize)]
struct Line {
    n: u64,
    run: Option<About>,
    event: Option<Box<RawValue>>,
    record: Option<Box<RawValue>>,
    action: Option<Box<RawValue>>,
    state: Option<Box<RawValue>>,
}

/// The position up to which a journal has been read.
#[derive(Default)]
pub(crate) struct Follower {
    about: Option<About>,
    /// The offset of the end of the last step that was read.
    offset: u64,
    /// The number of the next line that was not read yet. If a step is appended again after a failure, it is processed
    /// only once.
    next: u64,
}

impl Follower {
    /// Returns the identity of the run, once the first line has been read.
    pub(crate) fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Reads the new steps, and passes each to `take`. A step that is not complete yet is left for the next time.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or a line is invalid in a journal. Nothing after it is read.
    pub(crate) fn read(&mut self, folder: &Path, mut take: impl FnMut(&About, Step)) -> io::Result<()> {
        loop {
            let mut file = File::open(folder.join(JOURNAL))?;
            let length = file.metadata()?.len();
            if length < self.offset {
                // A step was removed again because of a disk failure. The lines that replace it have numbers that were
                // already read.
                self.offset = 0;
            }
            if length == self.offset {
                return Ok(());
            }
            file.seek(SeekFrom::Start(self.offset))?;
            let mut piece = Vec::new();
            file.take(MAX_PIECE).read_to_end(&mut piece)?;
            if self.steps(&piece, &mut take)? == 0 {
                let is_longer = piece.len() as u64 == MAX_PIECE;
                return if is_longer { Err(wrong(self.next, "its step is too long")) } else { Ok(()) };
            }
        }
    }

    /// Processes the complete steps at the beginning of a piece. Returns the number of their bytes.
    fn steps(&mut self, piece: &[u8], take: &mut impl FnMut(&About, Step)) -> io::Result<u64> {
        let (mut read, mut at) = (0, 0);
        let mut step = Step::default();
        let mut next = self.next;
        while let Some(length) = piece[at..].iter().position(|byte| *byte == b'\n') {
            let line: Line =
                serde_json::from_slice(&piece[at..at + length]).map_err(|error| wrong(next, &error.to_string()))?;
            at += length + 1;
            next = next.max(line.n + 1);
            if let Some(about) = line.run {
                self.about = Some(about);
                read = at;
                self.next = next;
                continue;
            }
            // An unknown word of a later version is skipped.
            step.event = line.event.and_then(|json| serde_json::from_str(json.get()).ok()).or(step.event);
            step.records.extend(line.record.and_then(|json| Record::from_json(json.get()).ok()));
            step.actions.extend(line.action.and_then(|json| Action::from_json(json.get()).ok()));
            if line.state.is_none() {
                continue;
            }
            let is_new = line.n >= self.next;
            let whole = std::mem::take(&mut step);
            if let (true, Some(about)) = (is_new, &self.about) {
                take(about, whole);
            }
            read = at;
            self.next = self.next.max(line.n + 1);
        }
        let read = read as u64;
        self.offset += read;
        Ok(read)
    }
}

/// Returns the length of the journal in a folder, in bytes. Returns 0 if there is no journal.
pub(crate) fn length(folder: &Path) -> u64 {
    folder.join(JOURNAL).metadata().map_or(0, |file| file.len())
}

fn wrong(line: u64, message: &str) -> io::Error {
    io::Error::other(format!("line {line} of the journal: {message}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn steps_are_read_once_however_the_file_grows() {
        let folder = std::env::temp_dir().join(format!("seamgate-follow-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let mut all = String::from(r#"{"n":0,"before":"","run":{"run":"r","agent":"a","journal":1}}"#) + "\n";
        for step in 0..5 {
            let n = 1 + 2 * step;
            all.push_str(&format!("{{\"n\":{n},\"before\":\"\",\"event\":{{\"type\":\"tick\",\"at\":{step}}}}}\n"));
            all.push_str(&format!("{{\"n\":{},\"before\":\"\",\"state\":{{\"step\":{step}}}}}\n", n + 1));
        }
        for cut in 1..all.len() {
            let mut follower = Follower::default();
            let mut times = Vec::new();
            // The second text is shorter: the last step was removed, and is appended again.
            for text in [&all[..cut], &all[..cut / 2], &all[..]] {
                fs::write(folder.join(JOURNAL), text).expect("written");
                let take =
                    |about: &About, step: Step| times.push((about.agent.clone(), step.event.map(|event| event.at)));
                follower.read(&folder, take).expect("read");
            }
            let expected: Vec<_> = (0..5).map(|at| ("a".to_owned(), Some(at))).collect();
            assert_eq!(times, expected, "{cut}");
        }
        fs::write(folder.join(JOURNAL), "no journal\n").expect("written");
        assert!(Follower::default().read(&folder, |_, _| {}).is_err());
        fs::remove_dir_all(&folder).expect("removed");
    }
}
