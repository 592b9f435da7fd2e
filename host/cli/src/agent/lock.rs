//! One process at a time goes on with a run.

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use anyhow::{Context, Result};

use crate::error::NoVerdict;

/// As long as this lives, no other process goes on with the run. It ends with the process, however that ends.
pub(crate) struct Lock(#[expect(dead_code, reason = "it is held")] File);

impl Lock {
    /// Lock the folder of a run.
    pub(crate) fn take(run: &Path) -> Result<Self> {
        let path = run.join("agent.lock");
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            // On a file system without locks, the journal still refuses a second writer.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process goes on with the run {}: wait for it, or end it", run.display());
                Err(NoVerdict(message).into())
            }
        }
    }
}
