//! Ensures that only one process at a time continues a run.

use std::{
    fs::{File, TryLockError},
    io::{self, Seek, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use seamgate::open_regular;

use crate::error::{AddContext, Error, Result};

/// How long to wait for an owner that may be about to end.
const ENDS: Duration = Duration::from_secs(1);
/// How long to wait after the owner has ended. If a process is killed while it starts a program, the child holds the
/// lock until the program is executed, which takes long on a busy machine.
const STARTS: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(10);

/// The name of the lock file in the folder of a run.
const NAME: &str = "agent.lock";

/// Keeps other processes from continuing a run, until this is dropped. The system releases it when the process ends, no
/// matter how.
pub struct Lock(#[expect(dead_code, reason = "it is held")] File);

impl Lock {
    /// Locks the folder of a run. The file `agent.lock` contains the number of the process that holds the lock.
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
                // On a file system without locks, the journal still rejects a second writer.
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
    /// The lock file cannot be opened.
    pub fn try_take(run: &Path) -> io::Result<Option<Self>> {
        let file = open(run)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // On a file system without locks, the journal still rejects a second writer.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Lock(file))),
        }
    }

    /// Returns whether a process holds the lock of a run. Writes nothing.
    pub fn is_held(run: &Path) -> bool {
        let file = open_regular(File::options().read(true), &run.join(NAME));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// Opens the lock file, and creates it if it is missing.
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
