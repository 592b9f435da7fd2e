//! Folders, files and locks that survive a crash, a full disk and other processes.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::JournalError;
use crate::file;

/// The longest wait for another process that reads or appends.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// Waits for a lock, which is released when the file is closed.
pub(super) fn lock(
    file: &File,
    path: &Path,
    attempt: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<(), JournalError> {
    let begin = Instant::now();
    loop {
        match attempt(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
            Err(TryLockError::WouldBlock) if begin.elapsed() < MAX_WAIT => thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => {
                return Err(JournalError::Busy { journal: path.display().to_string(), seconds: MAX_WAIT.as_secs() });
            }
        }
    }
}

/// Creates a folder that only its owner can read, and its parents, and syncs their names.
pub(super) fn make_folder(folder: &Path) -> Result<(), JournalError> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_folder(parent)?;
    let mut builder = DirBuilder::new();
    // Another process may create it at the same time.
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed("make the folder", folder))?;
    sync_folder(parent)
}

/// Syncs the names in a folder.
pub(super) fn sync_folder(folder: &Path) -> Result<(), JournalError> {
    file::sync_folder(folder).map_err(failed("write", folder))
}

/// Writes a file atomically: it exists either completely or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8], is_synced: bool) -> io::Result<()> {
    // Another process or thread may write the same file.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let part = path.with_extension(format!("part-{}-{count}", std::process::id()));
    // An earlier process with the same id may have left this file.
    let _ = fs::remove_file(&part);
    let mut options = File::options();
    private(options.write(true).create_new(true));
    let written = options
        .open(&part)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            if is_synced { file.sync_all() } else { Ok(()) }
        })
        .and_then(|()| fs::rename(&part, path));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}

/// Sets that a created file can be read only by its owner.
pub(super) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Returns a function that adds the operation and the file to a system error.
pub(super) fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Io { doing, path: path.clone(), source }
}
