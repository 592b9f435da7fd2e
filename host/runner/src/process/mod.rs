//! Runs untrusted programs, and terminates them in all cases.
//!
//! On Unix, a program leads a session of its own, so that its helpers are terminated with it, and no terminal can stop
//! it. A helper that leaves the session's group (a daemon) cannot be terminated. If this process dies by SIGKILL, Linux
//! kills the program, but not its helpers.

mod confine;
mod environment;
mod errors;
mod exchange_dir;
mod group;
mod harden;
mod line_writer;
mod lines;
mod run;
mod service;
mod signals;
mod until_exit;

use std::{io, thread, time::Duration};

pub use self::{
    confine::{Paths, is_supported as can_confine},
    environment::Inherited,
    exchange_dir::{ExchangeDir, remove_left_over},
    harden::{harden, keep_descriptors},
    line_writer::{LineWriter, Refused},
    lines::{MAX_LINE, Wrote, read_lines},
    run::{Ended, Run, Stop, run},
    service::{Program, Service},
    signals::{Listening, Signals},
};

/// The default time for a program to exit by itself after its input is closed.
pub const GRACE: Duration = Duration::from_secs(10);
/// The time for a program's group to exit after SIGTERM. SIGKILL follows.
pub const KILL_AFTER: Duration = Duration::from_secs(2);
/// The time for the kernel to remove a process after SIGKILL. It is long because freeing a lot of memory takes time.
const REMOVAL: Duration = Duration::from_secs(10);

/// Starts a thread. Unlike `thread::spawn`, it returns an error instead of panicking if no more threads can be started.
fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}
