//! One process at a time goes on with a run.

use std::{
    fs::{File, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::error::NoVerdict;

/// How long the lock is waited for. Where a process was killed while it started another one, that one has the lock a moment longer.
const LEFT: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(10);

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
        let start = Instant::now();
        loop {
            match file.try_lock() {
                // On a file system without locks, the journal still refuses a second writer.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < LEFT => thread::sleep(TICK),
                Err(TryLockError::WouldBlock) => {
                    let message =
                        format!("another process goes on with the run {}: wait for it, or end it", run.display());
                    return Err(NoVerdict(message).into());
                }
            }
        }
    }
}
