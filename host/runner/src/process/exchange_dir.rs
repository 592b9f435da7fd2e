//! The folder in which an agent and this process exchange files. Each attempt has its own, which is removed afterwards.
//!
//! A run that is killed cannot remove its folder. So each run locks its folder, and the next run removes folders that
//! are not locked.

use std::{io, path::Path};

use tempfile::TempDir;

use super::signals::Signals;

const PREFIX: &str = "seamgate-run-";

/// A temporary folder. It is removed when this is dropped, or when a signal ends this process.
pub struct ExchangeDir<'a> {
    folder: TempDir,
    signals: &'a Signals,
    _lock: os::Lock,
}

impl<'a> ExchangeDir<'a> {
    /// Creates the folder.
    pub fn new(signals: &'a Signals) -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
            // Before the lock was taken, another run may have removed the folder as left over.
            if let Some(lock) = os::lock(folder.path())? {
                signals.remove_at_end(Some(folder.path()));
                return Ok(ExchangeDir { folder, signals, _lock: lock });
            }
        }
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for ExchangeDir<'_> {
    fn drop(&mut self) {
        self.signals.remove_at_end(None);
    }
}

/// Removes the folders of killed runs. A folder that cannot be removed stays, which does no harm.
pub fn remove_left_over() {
    for entry in std::env::temp_dir().read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            os::remove_left_over(&entry.path());
        }
    }
}

#[cfg(unix)]
mod os {
    use std::{
        fs::{self, File, TryLockError},
        io,
        os::unix::fs::{MetadataExt, OpenOptionsExt},
        path::Path,
    };

    use rustix::fs::OFlags;

    pub(super) type Lock = File;

    /// Locks a folder. Returns `None` if the folder no longer exists.
    pub(super) fn lock(path: &Path) -> io::Result<Option<Lock>> {
        let Ok(folder) = open(path) else {
            return Ok(None);
        };
        // On a file system without locks, no other run gets one either.
        let _ = folder.lock();
        let (own, there) = (folder.metadata()?, fs::symlink_metadata(path));
        Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())).then_some(folder))
    }

    /// Removes a folder that belongs to this user and is not locked by any run.
    pub(super) fn remove_left_over(path: &Path) {
        let Ok(folder) = open(path) else {
            return;
        };
        let is_own = folder.metadata().is_ok_and(|it| it.uid() == rustix::process::geteuid().as_raw());
        match is_own.then(|| folder.try_lock()) {
            Some(Ok(())) => match fs::remove_dir_all(path) {
                Ok(()) => tracing::info!(path = %path.display(), "removed the folder of a killed run"),
                Err(error) => {
                    tracing::warn!(path = %path.display(), "cannot remove the folder of a killed run: {error}")
                }
            },
            Some(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | None => {}
        }
    }

    /// Opens a folder. Does not follow links.
    fn open(path: &Path) -> io::Result<File> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        File::options().read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
    }
}

#[cfg(not(unix))]
mod os {
    use std::{io, path::Path};

    pub(super) struct Lock;

    pub(super) fn lock(_: &Path) -> io::Result<Option<Lock>> {
        Ok(Some(Lock))
    }

    /// Does nothing, because without locks on folders, left-over folders cannot be recognized.
    pub(super) fn remove_left_over(_: &Path) {}
}
