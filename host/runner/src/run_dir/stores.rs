//! The file with the labels of data in stores that outlive a run. All runs in one folder share it. It has a line with
//! labels for each store and key. Lines are only ever added, and survive a crash before the call that writes to the
//! store is sent.

use std::{
    fs::{File, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use seamgate::{Stored, StoresEvent, sync_folder};
use serde::Deserialize;

use crate::error::{Error, Result};

/// The name of the file.
const NAME: &str = "stores.ndjson";
/// The most entries of one event.
const MAX_ENTRIES: usize = 1024;
/// The longest time to wait for another process that adds lines.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The file, as far as one run knows it.
pub struct Stores {
    path: PathBuf,
    is_synced: bool,
    /// The number of bytes that were read, all in complete lines.
    read: u64,
    /// The entries in the file.
    filed: Vec<Stored>,
    /// `true` if the run may not know some of the entries yet.
    is_news: bool,
}

/// The part of a run's state that contains the entries.
#[derive(Deserialize)]
struct State {
    facts: Facts,
}

#[derive(Deserialize)]
struct Facts {
    #[serde(default)]
    stores: Vec<Stored>,
}

impl Stores {
    /// Returns the file for a folder that contains the folders of runs. `is_synced` makes its lines survive a crash of
    /// the machine.
    pub fn of(folder: &Path, is_synced: bool) -> Self {
        Stores { path: folder.join(NAME), is_synced, read: 0, filed: Vec::new(), is_news: false }
    }

    /// Returns the same file, for another run.
    pub(crate) fn again(&self) -> Self {
        Stores { path: self.path.clone(), is_synced: self.is_synced, read: 0, filed: Vec::new(), is_news: false }
    }

    /// Returns the events that inform a run of the labels that other runs added, except those that its state already
    /// has.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has an invalid line.
    pub fn news(&mut self, state: &str) -> Result<Vec<StoresEvent>> {
        self.read()?;
        if !std::mem::take(&mut self.is_news) {
            return Ok(Vec::new());
        }
        let known = entries_of(state)?;
        let new: Vec<Stored> = self.filed.iter().filter_map(|entry| lacking(&known, entry)).collect();
        Ok(new.chunks(MAX_ENTRIES).map(|entries| StoresEvent::new(entries.to_vec())).collect())
    }

    /// Adds the labels that a run's state has and the file lacks. Call this before an effect that the run permitted.
    ///
    /// # Errors
    ///
    /// The file cannot be written, so the effect must not happen.
    pub fn keep(&mut self, state: &str) -> Result<()> {
        // Most runs have no stores.
        if !state.contains("\"stores\":[") {
            return Ok(());
        }
        let own = entries_of(state)?;
        let new: Vec<Stored> = own.iter().filter_map(|entry| lacking(&self.filed, entry)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let lines: Result<Vec<String>, _> = new.iter().map(serde_json::to_string).collect();
        let text = lines?.join("\n") + "\n";
        self.append(text.as_bytes()).map_err(|error| self.failed("write", &error))?;
        self.filed.extend(new);
        Ok(())
    }

    /// Reads the lines that were added since the last time.
    fn read(&mut self) -> Result<()> {
        let length = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(self.failed("read", &error)),
        };
        if length < self.read {
            // A person removed lines. The run continues with the labels that it knows.
            (self.read, self.filed) = (0, Vec::new());
        }
        if length == self.read {
            return Ok(());
        }
        let mut text = Vec::new();
        File::open(&self.path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(self.read))?;
                file.read_to_end(&mut text)
            })
            .map_err(|error| self.failed("read", &error))?;
        // A line without an end is still being written, or its writer was interrupted before the effect.
        text.truncate(whole(&text));
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let entry = serde_json::from_slice(line).map_err(|error| {
                let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                Error::NoVerdict(format!(
                    "{}: invalid line {line:?}: {error}; expected {{\"store\":NAME,\"key\":KEY,\"labels\":[LABEL]}}",
                    self.path.display()
                ))
            })?;
            self.filed.extend(lacking(&self.filed, &entry));
        }
        self.read += text.len() as u64;
        self.is_news |= !text.is_empty();
        Ok(())
    }

    fn append(&self, text: &[u8]) -> io::Result<()> {
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let is_new = !self.path.exists();
        let mut file = options.open(&self.path)?;
        lock(&file)?;
        // An incomplete line of another process is removed.
        let mut all = Vec::new();
        file.read_to_end(&mut all)?;
        let end = whole(&all) as u64;
        if end < all.len() as u64 {
            file.set_len(end)?;
        }
        file.seek(SeekFrom::Start(end))?;
        file.write_all(text)?;
        if self.is_synced {
            file.sync_data()?;
            if is_new {
                sync_folder(self.path.parent().unwrap_or(Path::new("")))?;
            }
        }
        Ok(())
    }

    fn failed(&self, doing: &str, error: &io::Error) -> Error {
        Error::NoVerdict(format!("cannot {doing} the labels of stores in {}: {error}", self.path.display()))
    }
}

/// Returns the total length of the complete lines in a text.
fn whole(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}

fn lock(file: &File) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begin.elapsed() < MAX_WAIT => thread::sleep(Duration::from_millis(1)),
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another process has locked it")),
        }
    }
}

fn entries_of(state: &str) -> Result<Vec<Stored>> {
    let State { facts } = serde_json::from_str(state)?;
    Ok(facts.stores)
}

/// Returns the entry with only the labels that no known entry has. Returns `None` if all labels are known.
fn lacking(known: &[Stored], entry: &Stored) -> Option<Stored> {
    let covers = |one: &Stored| one.store == entry.store && (one.key.is_none() || one.key == entry.key);
    let is_new = |label: &&String| !known.iter().any(|one| covers(one) && one.labels.contains(label));
    let labels: Vec<String> = entry.labels.iter().filter(is_new).cloned().collect();
    (!labels.is_empty()).then(|| Stored { labels, ..entry.clone() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn state(entries: &str) -> String {
        format!("{{\"facts\":{{\"stores\":[{entries}]}},\"step\":1}}")
    }

    fn news(stores: &mut Stores, state: &str) -> String {
        serde_json::to_string(&stores.news(state).expect("news")).expect("JSON")
    }

    const A: &str = r#"{"store":"notes","key":"a","labels":["untrusted"]}"#;
    const B: &str = r#"{"store":"notes","key":"b","labels":["private"]}"#;

    #[test]
    fn runs_of_one_folder_share_labels() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut one, mut other) = (Stores::of(folder.path(), true), Stores::of(folder.path(), true));
        let none = state("");
        assert_eq!(news(&mut other, &none), "[]");
        one.keep(&state(A)).expect("kept");
        one.keep(&state(A)).expect("kept");
        assert_eq!(fs::read_to_string(folder.path().join(NAME)).expect("a file"), format!("{A}\n"));
        assert_eq!(news(&mut other, &none), format!(r#"[{{"stores":[{A}]}}]"#));
        assert_eq!(news(&mut other, &none), "[]");
        other.keep(&state(&format!("{A},{B}"))).expect("kept");
        assert_eq!(news(&mut one, &state(A)), format!(r#"[{{"stores":[{B}]}}]"#));
        // A run that continues in another process knows the labels in its state.
        assert_eq!(news(&mut Stores::of(folder.path(), true), &state(&format!("{A},{B}"))), "[]");
    }

    #[test]
    fn labels_of_the_whole_store_are_not_repeated_for_keys() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut stores = Stores::of(folder.path(), false);
        let whole = r#"{"store":"notes","labels":["untrusted"]}"#;
        stores.keep(&state(whole)).expect("kept");
        stores.keep(&state(A)).expect("kept");
        assert_eq!(fs::read_to_string(folder.path().join(NAME)).expect("a file"), format!("{whole}\n"));
    }

    #[test]
    fn unfinished_lines_are_replaced_and_invalid_ones_end_the_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(NAME);
        fs::write(&path, format!("{A}\n{{\"store\":\"no")).expect("written");
        let mut stores = Stores::of(folder.path(), true);
        assert_eq!(news(&mut stores, &state("")), format!(r#"[{{"stores":[{A}]}}]"#));
        stores.keep(&state(&format!("{A},{B}"))).expect("kept");
        assert_eq!(fs::read_to_string(&path).expect("a file"), format!("{A}\n{B}\n"));
        fs::write(&path, "{}\n").expect("written");
        let error = Stores::of(folder.path(), true).news(&state("")).expect_err("an error");
        assert!(error.to_string().contains("invalid line \"{}\""), "{error}");
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("a folder");
        Stores::of(folder.path(), true).keep(&state(A)).expect_err("an error");
    }
}
