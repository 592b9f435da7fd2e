//! Runs a program once: writes its whole input, and enforces its time limit.

use std::{
    ffi::OsString,
    io::{self, ErrorKind, Read, Write},
    path::Path,
    process::{Child, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    time::{Duration, Instant},
};

use super::{
    KILL_AFTER, REMOVAL,
    confine::{Paths, confine},
    environment::Inherited,
    errors::tell_errors,
    group,
    signals::Signals,
    spawn,
};
use crate::secrets::Secrets;

/// How long a run waits for the end of output after the child has exited and its group was killed.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a run then waits for the end of standard error.
const TELL: Duration = Duration::from_millis(200);
/// The longest time between two calls of `progress`.
const TICK: Duration = Duration::from_millis(100);

/// One run of a program.
pub struct Run<'a> {
    /// The program and its arguments. Not empty.
    pub command: &'a [OsString],
    /// The part of this process's environment that the child inherits.
    pub inherited: Inherited<'a>,
    /// Variables that are added to its environment.
    pub environment: &'a [(&'a str, OsString)],
    /// The bytes of the child's standard input. The child need not read them.
    pub input: &'a [u8],
    /// The longest time that the child may run.
    pub timeout: Duration,
    /// The limit on output, in bytes. A child that writes more is terminated.
    pub limit: usize,
    /// The folder that the child runs in. `None` for that of this process.
    pub folder: Option<&'a Path>,
    /// Terminates the child before its time limit.
    pub stop: Stop,
    /// The name that precedes each line of the child's standard error. If `None`, the child writes to that of this
    /// process.
    pub told_as: Option<&'a str>,
    /// The paths that the child may access. `None` for all that this process may access. Otherwise, the thread must end
    /// after the run, because it is confined, too.
    pub paths: Option<&'a Paths>,
    /// The secrets that are hidden in the child's standard error.
    pub secrets: Arc<Secrets>,
}

/// Stops one run from another thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<Stopped>>);

#[derive(Default)]
struct Stopped {
    is_asked: bool,
    run: Option<Sender<RunEvent>>,
}

impl Stop {
    /// Stops the run. If the run has not begun, it is stopped as soon as it begins.
    pub fn stop(&self) {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.is_asked = true;
        if let Some(run) = &stopped.run {
            // If the run has already ended, there is nothing to stop.
            let _ = run.send(RunEvent::Stop);
        }
    }

    /// Returns whether the run was asked to stop.
    pub fn is_asked(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_asked
    }

    fn tell(&self, run: &Sender<RunEvent>) {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stopped.is_asked {
            let _ = run.send(RunEvent::Stop);
        }
        stopped.run = Some(run.clone());
    }
}

/// The way in which a run ended. If several apply, the order of precedence is `Interrupted`, `Stopped`, `TooLong`,
/// `TimedOut`.
pub enum Ended {
    /// The child exited with status 0.
    Exited {
        /// The bytes that it wrote.
        output: Vec<u8>,
    },
    /// The child exited with another status, or by a signal that this process did not send.
    Failed {
        /// Its status.
        status: ExitStatus,
        /// The bytes that it wrote.
        output: Vec<u8>,
    },
    /// The child ran for too long.
    TimedOut {
        /// `true` if the child had closed its output, but had not exited.
        closed: bool,
        /// The bytes that it wrote.
        output: Vec<u8>,
    },
    /// The child wrote more bytes than the limit.
    TooLong {
        /// The bytes up to the limit.
        output: Vec<u8>,
    },
    /// The child could not be started.
    NotStarted(io::Error),
    /// Another thread stopped the run.
    Stopped,
    /// This process got this signal: SIGINT, SIGTERM or SIGHUP. The caller should exit with 128 plus its number.
    Interrupted(i32),
}

/// A message from another thread to the thread of the run.
enum RunEvent {
    /// The child wrote these bytes. No bytes mean the end of output.
    Output(io::Result<Vec<u8>>),
    /// The child has exited. It is not reaped yet.
    Exited(io::Result<()>),
    /// This process got this signal.
    Signal(i32),
    /// Another thread stops the run.
    Stop,
}

/// Runs the child until it exits or has to be terminated, and returns how it ended.
///
/// Calls `progress` with the number of bytes of output so far, for each chunk and at least every 100 ms. It must not
/// block. An error means that the child could not be watched, or could not be terminated, for example because it runs
/// as another user. Linux kills the child when the thread that started it ends, which is the calling thread.
pub fn run(run: &Run, signals: &Signals, progress: &mut dyn FnMut(usize)) -> io::Result<Ended> {
    let Some((program, arguments)) = run.command.split_first() else {
        return Ok(Ended::NotStarted(ErrorKind::InvalidInput.into()));
    };
    let mut command = run.inherited.command(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    if run.told_as.is_some() {
        command.stderr(Stdio::piped());
    }
    command.envs(run.environment.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = run.folder {
        command.current_dir(folder);
    }
    group::prepare(&mut command);

    let (sender, events) = mpsc::channel();
    // Listen before the start, so that no signal ends this process by default while there is a child.
    let listener = sender.clone();
    let listening = signals.listen(move |signal| listener.send(RunEvent::Signal(signal)).is_ok());
    run.stop.tell(&sender);
    let confined = run.paths.map_or(Ok(false), confine);
    let mut child = match confined.and_then(|_| command.spawn()) {
        Ok(child) => child,
        Err(error) => return Ok(Ended::NotStarted(error)),
    };
    let told = tell_errors(child.stderr.take(), run.told_as.unwrap_or_default(), &run.secrets);
    let mut supervised = Supervised {
        child,
        events,
        progress,
        output: Vec::new(),
        closed: false,
        exited: false,
        signal: None,
        stopped: false,
        reaped: false,
    };
    supervised.start_threads(run, &sender)?;

    let too_long = |supervised: &Supervised| supervised.output.len() > run.limit;
    let stop = |supervised: &Supervised| supervised.signal.is_some() || supervised.stopped || too_long(supervised);
    supervised.wait(run.timeout, |supervised| supervised.exited || stop(supervised))?;
    let (by_itself, closed) = (supervised.exited, supervised.closed);
    if !by_itself {
        group::terminate(&mut supervised.child);
        supervised.wait(KILL_AFTER, |supervised| supervised.exited)?;
    }
    group::kill(&mut supervised.child);
    if by_itself {
        // The group is dead. A process that still holds the output open cannot be terminated, and may hold it forever.
        supervised.wait(DRAIN, |supervised| supervised.closed || stop(supervised))?;
    } else {
        supervised.wait(REMOVAL, |supervised| supervised.exited)?;
    }
    if !supervised.exited {
        return Err(io::Error::other("the process does not end"));
    }
    supervised.reaped = true;
    let status = supervised.child.wait()?;

    // The last lines of standard error are read before the end is reported.
    if let Ok(told) = told {
        let _ = told.recv_timeout(TELL);
    }

    // From here on, a signal ends this process by default. Earlier signals are in the channel.
    drop(listening);
    while let Ok(event) = supervised.events.try_recv() {
        supervised.take(event)?;
    }
    let too_long = too_long(&supervised);
    let mut output = std::mem::take(&mut supervised.output);
    Ok(match supervised.signal {
        Some(signal) => Ended::Interrupted(signal),
        None if supervised.stopped => Ended::Stopped,
        None if too_long => {
            output.truncate(run.limit);
            Ended::TooLong { output }
        }
        None if !by_itself => Ended::TimedOut { closed, output },
        None if status.success() => Ended::Exited { output },
        None => Ended::Failed { status, output },
    })
}

/// A started child and its state.
struct Supervised<'a> {
    child: Child,
    events: Receiver<RunEvent>,
    progress: &'a mut dyn FnMut(usize),
    output: Vec<u8>,
    /// `true` if the end of output was read.
    closed: bool,
    exited: bool,
    /// The first signal that this process received.
    signal: Option<i32>,
    /// `true` if another thread stopped the run.
    stopped: bool,
    /// `true` if the child was reaped. Its number may now belong to another process.
    reaped: bool,
}

impl Supervised<'_> {
    /// Starts the threads that write the input, read the output and wait for the exit.
    ///
    /// The threads are not joined, because a pipe that some process holds open forever must not block the run.
    fn start_threads(&mut self, run: &Run, sender: &Sender<RunEvent>) -> io::Result<()> {
        if let Some(mut stdin) = self.child.stdin.take() {
            let input = run.input.to_vec();
            // The child need not read all of it, so an error does not matter. When the thread ends, the pipe is closed.
            spawn(move || drop(stdin.write_all(&input)))?;
        }
        if let Some(stdout) = self.child.stdout.take() {
            let most = u64::try_from(run.limit).unwrap_or(u64::MAX).saturating_add(1);
            let sender = sender.clone();
            spawn(move || read(stdout.take(most), &sender))?;
        }
        let sender = sender.clone();
        // If the child could not be terminated, nobody receives this.
        group::watch(&self.child, move |result| drop(sender.send(RunEvent::Exited(result))))
    }

    /// Processes events until `done` returns `true`, or until this time has passed.
    fn wait(&mut self, time: Duration, done: impl Fn(&Self) -> bool) -> io::Result<()> {
        let start = Instant::now();
        while !done(self) {
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() {
                break;
            }
            // An error means the end of a tick: `run` holds a sender, so the channel stays open.
            if let Ok(event) = self.events.recv_timeout(left.min(TICK)) {
                self.take(event)?;
            }
            #[cfg(not(unix))]
            {
                self.exited = self.child.try_wait()?.is_some();
            }
            (self.progress)(self.output.len());
        }
        Ok(())
    }

    /// Processes one event.
    fn take(&mut self, event: RunEvent) -> io::Result<()> {
        match event {
            RunEvent::Output(bytes) => {
                let bytes = bytes?;
                self.closed = bytes.is_empty();
                self.output.extend(bytes);
            }
            RunEvent::Exited(result) => {
                result?;
                self.exited = true;
            }
            RunEvent::Signal(signal) => self.signal = self.signal.or(Some(signal)),
            RunEvent::Stop => self.stopped = true,
        }
        Ok(())
    }
}

impl Drop for Supervised<'_> {
    /// Terminates the child if `run` exits because of an error or a panic.
    fn drop(&mut self) {
        if !self.reaped {
            group::kill(&mut self.child);
        }
    }
}

/// Sends everything that can be read, in chunks, then an empty chunk or an error.
fn read(mut source: impl Read, sender: &Sender<RunEvent>) {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let bytes = match source.read(&mut chunk) {
            Ok(count) => Ok(chunk[..count].to_vec()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = bytes.as_ref().map_or(true, Vec::is_empty);
        // Once the run is over, nobody receives this.
        if sender.send(RunEvent::Output(bytes)).is_err() || last {
            return;
        }
    }
}
