//! Ensures that one process at a time continues a run.

use std::{
    fs::{File, TryLockError},
    io::{self, Seek, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use seamgate::open_regular;

use crate::error::{AddContext, Error, Result};

/// The time to wait for an owner that may be about to end.
const ENDS: Duration = Duration::from_secs(1);
/// The time to wait after the owner has gone. A killed process leaves the lock to a program that it was starting, until
/// that runs, and this takes long on a busy machine.
const STARTS: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(10);

/// The file of the lock in the folder of a run.
const NAME: &str = "agent.lock";

/// Keeps other processes from going on with a run, until this is dropped. It ends with the process, however that ends.
pub struct Lock(#[expect(dead_code, reason = "it is held")] File);

impl Lock {
    /// Locks the folder of a run. The file `agent.lock` has the number of the process that has the lock.
    pub fn take(run: &Path) -> Result<Self> {
        let context = || format!("cannot write {}", run.join(NAME).display());
        let mut file = open(run).with_context(context)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    write_owner(&mut file).with_context(context)?;
                    return Ok(Lock(file));
                }
                // On a file system without locks, the journal still refuses a second writer.
                Err(TryLockError::Error(_)) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) => {}
            }
            let longest = if is_owner_alive(&mut file) { ENDS } else { STARTS };
            if start.elapsed() >= longest {
                let message = format!("another process goes on with the run {}: wait for it, or end it", run.display());
                return Err(Error::NoVerdict(message));
            }
            thread::sleep(TICK);
        }
    }
}

impl Lock {
    /// Locks the folder of a run without waiting. `None` if another process has the lock.
    ///
    /// # Errors
    ///
    /// The file of the lock cannot be opened.
    pub fn try_take(run: &Path) -> io::Result<Option<Self>> {
        let file = open(run)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // On a file system without locks, the journal still refuses a second writer.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Lock(file))),
        }
    }

    /// Returns whether a process has the lock of a run. Writes nothing.
    pub fn is_held(run: &Path) -> bool {
        let file = open_regular(File::options().read(true), &run.join(NAME));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// Opens the file of the lock, which it creates if it is missing.
fn open(run: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open_regular(&mut options, &run.join(NAME))
}

fn write_owner(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

/// Returns whether the process that took the lock may still exist.
#[cfg(unix)]
fn is_owner_alive(file: &mut File) -> bool {
    use std::io::Read;

    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(32).read_to_string(&mut text));
    let owner = read.ok().and_then(|_| text.parse().ok()).and_then(rustix::process::Pid::from_raw);
    owner.is_none_or(|owner| rustix::process::test_kill_process(owner) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_owner_alive(_: &mut File) -> bool {
    true
}
