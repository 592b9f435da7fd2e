//! One run of a program: it gets its whole input, and ends within its time.

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

/// The time that a run waits for the end of output once the child has exited and its group was killed.
const DRAIN: Duration = Duration::from_secs(1);
/// The time that a run then waits for the end of standard error.
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
    /// All bytes that the child gets on standard input. It need not read them.
    pub input: &'a [u8],
    /// The longest time that the child may run.
    pub timeout: Duration,
    /// The limit on output, in bytes. A child that writes more is ended.
    pub limit: usize,
    /// The folder that the child runs in. `None`: that of this process.
    pub folder: Option<&'a Path>,
    /// Ends the child before its time.
    pub stop: Stop,
    /// The name before each line of its standard error. `None`: the child writes to that of this process.
    pub told_as: Option<&'a str>,
    /// The paths that the child may reach. `None`: all that this process may. Otherwise the thread must end after the run,
    /// because it is confined, too.
    pub paths: Option<&'a Paths>,
    /// The secrets that are hidden in its standard error.
    pub secrets: Arc<Secrets>,
}

/// Ends one run from another thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<Stopped>>);

#[derive(Default)]
struct Stopped {
    is_asked: bool,
    run: Option<Sender<RunEvent>>,
}

impl Stop {
    /// Ends the run, or the one that begins later.
    pub fn stop(&self) {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.is_asked = true;
        if let Some(run) = &stopped.run {
            // A run that has ended needs no end.
            let _ = run.send(RunEvent::Stop);
        }
    }

    /// Returns whether the run was asked to end.
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

/// How a run ended. If several fit, `Interrupted` goes first, then `Stopped`, `TooLong`, `TimedOut`.
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
        /// `true` if it had closed its output and lived on.
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
    /// Another thread ended it.
    Stopped,
    /// This process got this signal: SIGINT, SIGTERM or SIGHUP. The caller should exit with 128 plus its number.
    Interrupted(i32),
}

/// A message of another thread to the thread of the run.
enum RunEvent {
    /// The child wrote these bytes. No bytes mean the end of output.
    Output(io::Result<Vec<u8>>),
    /// The child has exited. It is not reaped yet.
    Exited(io::Result<()>),
    /// This process got this signal.
    Signal(i32),
    /// Another thread ends the run.
    Stop,
}

/// Runs the child until it exits or has to be ended, and returns how it ended.
///
/// `progress` gets the bytes of output so far, at each chunk and at least every 100 ms. It must not block.
/// An error means that the child could not be watched or, as another user's process, could not be ended.
/// Linux kills the child when the thread that started it ends: that is the thread that this runs on.
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
    // Before the start, so that no signal ends this process by default while there is a child.
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
        // The group is dead. What still holds the output open is out of reach and may do so for ever.
        supervised.wait(DRAIN, |supervised| supervised.closed || stop(supervised))?;
    } else {
        supervised.wait(REMOVAL, |supervised| supervised.exited)?;
    }
    if !supervised.exited {
        return Err(io::Error::other("the process does not end"));
    }
    supervised.reaped = true;
    let status = supervised.child.wait()?;

    // Its last output is read before its end is reported.
    if let Ok(told) = told {
        let _ = told.recv_timeout(TELL);
    }

    // From here on a signal ends this process by default. One that came before is in the channel.
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
    /// The end of output was read.
    closed: bool,
    exited: bool,
    /// The first signal that this process got.
    signal: Option<i32>,
    /// Another thread ended it.
    stopped: bool,
    /// The number of the child may belong to another process now.
    reaped: bool,
}

impl Supervised<'_> {
    /// Starts the threads that write the input, read the output and wait for the exit.
    ///
    /// Nobody joins them, because a pipe that something holds open for ever must not block us.
    fn start_threads(&mut self, run: &Run, sender: &Sender<RunEvent>) -> io::Result<()> {
        if let Some(mut stdin) = self.child.stdin.take() {
            let input = run.input.to_vec();
            // The child need not read all of it, so an error does not matter. The end of the thread closes the pipe.
            spawn(move || drop(stdin.write_all(&input)))?;
        }
        if let Some(stdout) = self.child.stdout.take() {
            let most = u64::try_from(run.limit).unwrap_or(u64::MAX).saturating_add(1);
            let sender = sender.clone();
            spawn(move || read(stdout.take(most), &sender))?;
        }
        let sender = sender.clone();
        // Nobody listens any more if the child could not be ended.
        group::watch(&self.child, move |result| drop(sender.send(RunEvent::Exited(result))))
    }

    /// Takes events until `done`, or until this time has passed.
    fn wait(&mut self, time: Duration, done: impl Fn(&Self) -> bool) -> io::Result<()> {
        let start = Instant::now();
        while !done(self) {
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() {
                break;
            }
            // An error is the end of a tick: `run` holds a sender, so the channel stays open.
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

    /// Takes one event.
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
    /// Ends the child if `run` is left by an error or a panic.
    fn drop(&mut self) {
        if !self.reaped {
            group::kill(&mut self.child);
        }
    }
}

/// Sends all that can be read, in chunks, then an empty chunk or an error.
fn read(mut source: impl Read, sender: &Sender<RunEvent>) {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let bytes = match source.read(&mut chunk) {
            Ok(count) => Ok(chunk[..count].to_vec()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = bytes.as_ref().map_or(true, Vec::is_empty);
        // Nobody listens any more once the run is over.
        if sender.send(RunEvent::Output(bytes)).is_err() || last {
            return;
        }
    }
}
