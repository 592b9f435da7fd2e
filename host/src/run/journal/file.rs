//! A journal in a folder: `journal.ndjson`, with `artifacts` and `states` beside it.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::{
    Blob, Journal, JournalError, Lines,
    fs::{failed, lock, make_folder, private, sync_folder, write_whole},
    line::MAX_LINE,
    scan::{Texts, Torn, Whole, scan},
};
use crate::{
    digest::digest,
    file::{open_regular, read_regular_to},
};

pub(super) const NAME: &str = "journal.ndjson";

/// The longest artifact and the longest state, in bytes: 64 MiB.
const MAX_BLOB: usize = 64 * 1024 * 1024;

/// The most states that are kept. A run begins from the last state before its last step.
const MAX_CHECKPOINTS: usize = 4;

/// The journal of one run, in a folder of its own. `journal.ndjson` has the lines, `artifacts` has whole results and
/// prompts, and `states` has a state every few steps. Only this user can read the files that it writes.
///
/// Several processes may open the same folder. Each step is appended under a lock, and only if no other writer has
/// appended since.
///
/// A crash can leave an incomplete step, which [`torn`](FileJournal::torn) returns. Its bytes are not part of the
/// journal, and the next step replaces them.
///
/// ```
/// use seamgate::{FileJournal, Journal};
///
/// let folder = std::env::temp_dir().join(format!("seamgate-doc-{}", std::process::id()));
/// let mut journal = FileJournal::create(&folder)?;
/// let lines = [r#"{"n":0,"before":"","run":{"journal":1}}"#.to_owned()];
/// journal.append(0, &lines)?;
/// assert_eq!(journal.count(), 1);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileJournal {
    folder: PathBuf,
    /// The complete steps in the file.
    whole: Whole,
    torn: Option<Torn>,
    /// Folders whose new entries a crash may lose.
    unsynced: Vec<PathBuf>,
    is_synced: bool,
}

impl FileJournal {
    /// Creates a journal for a new run. Creates the folder if it is missing. The file exists after the first step.
    ///
    /// # Errors
    ///
    /// [`JournalError::Exists`] if the folder has a run; the errors of [`open`](FileJournal::open); or the folder
    /// cannot be created.
    pub fn create(folder: impl AsRef<Path>) -> Result<Self, JournalError> {
        let folder = folder.as_ref();
        make_folder(folder)?;
        if fs::symlink_metadata(folder.join(NAME)).is_ok() {
            let journal = FileJournal::open(folder)?;
            return match journal.whole.lines {
                0 => Ok(journal),
                _ => Err(JournalError::Exists { journal: journal.name() }),
            };
        }
        Ok(FileJournal::at(folder))
    }

    /// Opens the journal of a run that has begun. Reads all lines once, and checks that each follows the line before
    /// it. Writes nothing, so the folder may be read-only as long as nothing is appended.
    ///
    /// # Errors
    ///
    /// The folder has no journal; a line has been changed; a later version wrote the journal; or it cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, JournalError> {
        let folder = folder.as_ref();
        let path = folder.join(NAME);
        let file = open_regular(File::options().read(true), &path).map_err(|error| not_there(folder, error))?;
        lock(&file, &path, File::try_lock_shared)?;
        let (whole, torn) = scan(&file, &path)?;
        if let Some(Torn { bytes, lines }) = &torn {
            tracing::warn!(
                path = %path.display(),
                "the last step is not whole, and no part of the journal: {bytes} bytes, lines {} to {} (\"n\")",
                lines.start,
                lines.end - 1
            );
        }
        Ok(FileJournal { whole, torn, ..FileJournal::at(folder) })
    }

    /// Returns the position of the journal's end, as text for [`open_at`](FileJournal::open_at).
    pub fn position(&self) -> String {
        let Whole { lines, bytes, last: (length, digest) } = &self.whole;
        format!("{lines} {bytes} {length} {digest}")
    }

    /// Opens the journal of a run that has begun, as it was at a [position](FileJournal::position), without reading its
    /// lines. This is for short-lived processes that continue a run from a [snapshot](crate::Run::snapshot) of the same
    /// position.
    ///
    /// Whoever can write the position can also forge the run, because the lines before the last one are not checked. If
    /// another writer appended since, [`is_behind`](FileJournal::is_behind) returns `true`, and appending fails with
    /// [`JournalError::Conflict`].
    ///
    /// # Errors
    ///
    /// [`JournalError::NotAJournal`] if the text is not a valid position.
    pub fn open_at(folder: impl AsRef<Path>, position: &str) -> Result<Self, JournalError> {
        let mut words = position.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let numbers = (number(), number(), number());
        let (Some(lines), Some(bytes), Some(length), Some(digest)) = (numbers.0, numbers.1, numbers.2, words.next())
        else {
            return Err(JournalError::NotAJournal {
                journal: folder.as_ref().display().to_string(),
                message: "the position of its end is changed".to_owned(),
            });
        };
        let whole = Whole { lines, bytes, last: (length.min(bytes), digest.to_owned()) };
        Ok(FileJournal { whole, ..FileJournal::at(folder.as_ref()) })
    }

    /// Returns the journal without syncing: the system decides when to write it. This is for a journal that need not
    /// survive a crash of the machine, such as one in a temporary folder.
    #[must_use]
    pub fn without_sync(mut self) -> Self {
        self.is_synced = false;
        self
    }

    /// Sets whether appended lines are synced. Returns the previous setting.
    pub(crate) fn set_synced(&mut self, is_synced: bool) -> bool {
        std::mem::replace(&mut self.is_synced, is_synced)
    }

    /// Syncs everything that was appended, so that it survives a crash.
    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        if self.is_synced {
            let path = self.path();
            File::open(&path).and_then(|file| file.sync_data()).map_err(failed("write", &path))?;
            for folder in &self.unsynced {
                sync_folder(folder)?;
            }
            self.unsynced.clear();
        }
        Ok(())
    }

    /// Returns whether another writer has appended to the file or replaced it.
    pub fn is_behind(&self) -> bool {
        fs::metadata(self.path()).is_ok_and(|metadata| metadata.len() != self.length())
    }

    /// Opens the current content of the same journal.
    pub(crate) fn again(&self) -> Result<Self, JournalError> {
        Ok(FileJournal { is_synced: self.is_synced, ..FileJournal::open(&self.folder)? })
    }

    /// Creates a journal in a folder, before any line is read.
    pub(super) fn at(folder: &Path) -> Self {
        FileJournal {
            folder: folder.to_owned(),
            whole: Whole::default(),
            torn: None,
            unsynced: Vec::new(),
            is_synced: true,
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the remains of a step that a crash truncated. They stay in the file until the next step replaces them.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// Returns the length of the file as this journal knows it.
    fn length(&self) -> u64 {
        self.whole.bytes + self.torn.as_ref().map_or(0, |torn| torn.bytes)
    }

    /// Returns whether the file is as this journal left or found it, so no other writer has changed it.
    fn is_own(&self, file: &mut File) -> io::Result<bool> {
        if file.metadata()?.len() != self.length() {
            return Ok(false);
        }
        let (length, digest_of_last) = &self.whole.last;
        file.seek(SeekFrom::Start(self.whole.bytes - length))?;
        let mut last = Vec::new();
        file.take(*length).read_to_end(&mut last)?;
        Ok(last.is_empty() || digest(&last) == *digest_of_last)
    }

    /// Returns the file of a blob. `None` if the text is not a digest, because no file can have it.
    fn blob(&self, blob: Blob, digest: &str) -> Option<PathBuf> {
        let hex = digest.strip_prefix("sha256:").filter(|hex| hex.len() == 64)?;
        let is_hex = hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then(|| self.folder.join(folder_of(blob)).join(hex))
    }
}

impl Journal for FileJournal {
    fn name(&self) -> String {
        self.path().display().to_string()
    }

    fn count(&self) -> u64 {
        self.whole.lines
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        if self.whole.lines == 0 {
            return Ok(Box::new(std::iter::empty()));
        }
        let path = self.path();
        let file = open_regular(File::options().read(true), &path).map_err(failed("read", &path))?;
        Ok(Box::new(Texts::new(file, &path, self.whole.bytes).from(from)?))
    }

    fn append(&mut self, expected: u64, lines: &[String]) -> Result<(), JournalError> {
        let (path, name) = (self.path(), self.name());
        let conflict = || JournalError::Conflict { journal: name.clone(), lines: expected };
        if expected != self.whole.lines {
            return Err(conflict());
        }
        let Some(last) = lines.last() else {
            return Ok(());
        };
        let bytes = bytes(&name, expected, lines)?;
        // Sync everything that the lines reference before the lines themselves.
        if self.is_synced {
            for folder in &self.unsynced {
                sync_folder(folder)?;
            }
            self.unsynced.clear();
        }
        let is_new = self.length() == 0;
        let mut options = File::options();
        private(options.read(true).append(true).create(is_new));
        let mut file = open_regular(&mut options, &path).map_err(failed("append to", &path))?;
        if is_new {
            sync_folder(&self.folder)?;
        }
        lock(&file, &path, File::try_lock)?;
        if !self.is_own(&mut file).map_err(failed("read", &path))? {
            return Err(conflict());
        }
        if self.torn.is_some() {
            file.set_len(self.whole.bytes).map_err(failed("append to", &path))?;
            self.torn = None;
        }
        let written = file.write_all(&bytes).and_then(|()| if self.is_synced { file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // Remove the remains of the step. If they cannot be removed, the next step finds them.
            let _ = file.set_len(self.whole.bytes);
            let left = file.metadata().map_or(0, |metadata| metadata.len()).saturating_sub(self.whole.bytes);
            self.torn = (left > 0).then(|| Torn { bytes: left, lines: expected..expected + 1 });
            return Err(failed("append to", &path)(error));
        }
        self.whole = Whole {
            lines: expected + lines.len() as u64,
            bytes: self.whole.bytes + bytes.len() as u64,
            last: (last.len() as u64 + 1, digest(format!("{last}\n").as_bytes())),
        };
        Ok(())
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError> {
        let wrong = |message| JournalError::Artifact { journal: self.name(), digest: digest.to_owned(), message };
        let path = self.blob(blob, digest).ok_or_else(|| wrong("has no digest: `sha256:` and 64 digits".to_owned()))?;
        if text.len() > MAX_BLOB {
            return Err(wrong(format!("has {} bytes; the limit is {MAX_BLOB}", text.len())));
        }
        let folder = self.folder.join(folder_of(blob));
        make_folder(&folder)?;
        if !self.unsynced.contains(&folder) {
            self.unsynced.push(folder.clone());
        }
        match read_regular_to(&path, MAX_BLOB) {
            Ok(bytes) if bytes == text.as_bytes() => Ok(()),
            // A damaged file is replaced: its name determines its content.
            _ => write_whole(&path, text.as_bytes(), self.is_synced).map_err(failed("write", &path)),
        }?;
        match blob {
            // Lines that reference the artifact follow. Its name is synced here, while the kernel judges.
            Blob::Artifact if self.is_synced => {
                sync_folder(&folder)?;
                self.unsynced.retain(|other| *other != folder);
            }
            Blob::Artifact => {}
            Blob::Checkpoint => keep_newest(&folder, &path),
        }
        Ok(())
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        let Some(path) = self.blob(blob, digest) else {
            return Ok(None);
        };
        match read_regular_to(&path, MAX_BLOB) {
            // Text that is not UTF-8 gets another digest here, so the caller detects the change.
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path)(error)),
        }
    }
}

/// Removes all states but the newest. A state contains all calls of its run, so keeping every state of a long run would
/// take space quadratic in its length. A state that cannot be removed stays, which does no harm: it is only a place to
/// begin from.
fn keep_newest(folder: &Path, last: &Path) {
    let Ok(files) = fs::read_dir(folder) else {
        return;
    };
    let time = |file: fs::DirEntry| Some((file.metadata().ok()?.modified().ok()?, file.path()));
    let mut files: Vec<_> = files.flatten().filter_map(time).filter(|(_, path)| path != last).collect();
    files.sort();
    for (_, path) in files.iter().rev().skip(MAX_CHECKPOINTS - 1) {
        let _ = fs::remove_file(path);
    }
}

/// Returns the reason why the lines of a folder cannot be opened.
pub(super) fn not_there(folder: &Path, error: io::Error) -> JournalError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => JournalError::NotAJournal {
            journal: folder.display().to_string(),
            message: format!("it has no {NAME}: name the folder of a run"),
        },
        _ => failed("read", &folder.join(NAME))(error),
    }
}

/// Returns lines as a file stores them. The first one has the number `n`.
fn bytes(journal: &str, n: u64, lines: &[String]) -> Result<Vec<u8>, JournalError> {
    let mut bytes = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for (line, text) in (n..).zip(lines) {
        let wrong = |message| Err(JournalError::Line { journal: journal.to_owned(), line, message });
        if text.len() >= MAX_LINE {
            return wrong(format!("it would have {} bytes; a line has less than {MAX_LINE}", text.len()));
        }
        if text.contains('\n') {
            return wrong("it has a line end".to_owned());
        }
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
    }
    Ok(bytes)
}

fn folder_of(blob: Blob) -> &'static str {
    match blob {
        Blob::Artifact => "artifacts",
        Blob::Checkpoint => "states",
    }
}
