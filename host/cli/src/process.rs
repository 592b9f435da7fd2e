//! Runs one child process that is not trusted to behave, and ends it in every case.
//!
//! On Unix the child leads a session of its own, so that its helpers are ended with it, and no terminal can stop it. A
//! helper that leaves the session's group (a daemon) is out of reach. If we die by SIGKILL, Linux kills the child, but no
//! helpers.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use seamgate_text::{escape_terminal, say};

pub(crate) use os::Signals;

use crate::{
    confine::{Paths, confine},
    outbox::Outbox,
};

/// How long the group may take to end by itself after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How long we wait for the end of output once the child has exited and its group was killed.
const DRAIN: Duration = Duration::from_secs(1);
/// How long we wait for the end of standard error then.
const TELL: Duration = Duration::from_millis(200);
/// The longest line of standard error to tell, in bytes.
const MAX_TOLD: u64 = 2048;
/// How long the kernel may take to remove the child after SIGKILL. It is long, as freeing much memory takes time.
const REMOVAL: Duration = Duration::from_secs(10);
/// The longest time between two calls of `progress`.
const TICK: Duration = Duration::from_millis(100);

/// One run of a program.
pub(crate) struct Run<'a> {
    /// The program and its arguments. Not empty.
    pub(crate) command: &'a [OsString],
    /// What the child gets of our own environment.
    pub(crate) inherited: Inherited<'a>,
    /// Variables that are added to it.
    pub(crate) environment: &'a [(&'a str, OsString)],
    /// All bytes that the child gets on standard input. It need not read them.
    pub(crate) input: &'a [u8],
    /// How long the child may run.
    pub(crate) timeout: Duration,
    /// The limit on output, in bytes. A child that writes more is ended.
    pub(crate) limit: usize,
    /// Where the child runs. None: where we run.
    pub(crate) folder: Option<&'a Path>,
    /// What ends the child before its time.
    pub(crate) stop: Stop,
    /// What begins each line of its standard error. None: that is passed on as it is.
    pub(crate) told_as: Option<&'a str>,
    /// What the child may reach. None: all that we may. Else this thread must end after the run, for it is confined, too.
    pub(crate) paths: Option<&'a Paths>,
}

/// Ends one run from another thread.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<Mutex<Stopped>>);

#[derive(Default)]
struct Stopped {
    is_asked: bool,
    run: Option<Sender<Event>>,
}

impl Stop {
    /// End the run, or the one that begins later.
    pub(crate) fn stop(&self) {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.is_asked = true;
        if let Some(run) = &stopped.run {
            // A run that has ended needs no end.
            let _ = run.send(Event::Stop);
        }
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_asked
    }

    fn tell(&self, run: &Sender<Event>) {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stopped.is_asked {
            let _ = run.send(Event::Stop);
        }
        stopped.run = Some(run.clone());
    }
}

/// How a run ended. If several fit, `Interrupted` goes first, then `Stopped`, `TooLong`, `TimedOut`.
pub(crate) enum Ended {
    /// The child exited with status 0. Gives the bytes that it wrote.
    Exited { output: Vec<u8> },
    /// The child exited with another status or by a signal that was not ours. Gives the bytes that it wrote.
    Failed { status: ExitStatus, output: Vec<u8> },
    /// The child ran for too long. Gives the bytes that it wrote, and whether it had closed its output and lived on.
    TimedOut { closed: bool, output: Vec<u8> },
    /// The child wrote more bytes than the limit. Gives those up to it.
    TooLong { output: Vec<u8> },
    /// The child could not be started.
    NotStarted(io::Error),
    /// Another thread ended it.
    Stopped,
    /// We got this signal: SIGINT, SIGTERM or SIGHUP. The caller should exit with 128 plus its number.
    Interrupted(i32),
}

/// The variables of our own environment that a program gets.
#[derive(Clone, Copy)]
pub(crate) enum Inherited<'a> {
    /// All of them.
    All,
    /// Those with these names.
    Only(&'a [String]),
}

impl Inherited<'_> {
    /// Starts to build a command whose environment is what it inherits.
    fn command(self, program: &OsStr) -> Command {
        let Inherited::Only(names) = self else { return Command::new(program) };
        // The program is found by our own path, whether or not it gets that.
        let mut command = Command::new(found(program).unwrap_or_else(|| program.into()));
        command.env_clear().envs(names.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command
    }
}

/// A program that runs beside us.
pub(crate) struct Program<'a> {
    /// The program and its arguments. Not empty.
    pub(crate) command: &'a [String],
    /// What it gets of our own environment.
    pub(crate) inherited: Inherited<'a>,
    /// Variables that are added to it.
    pub(crate) environment: &'a BTreeMap<String, String>,
    /// Where it runs.
    pub(crate) folder: &'a Path,
    /// What begins each line of its standard error.
    pub(crate) told_as: &'a str,
    /// What it may reach. None: all that we may.
    pub(crate) paths: Option<&'a Paths>,
}

impl Program<'_> {
    /// What errors call it.
    pub(crate) fn name(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }
}

/// A program that reads lines and writes lines until it is dropped. Its group is ended then.
pub(crate) struct Service {
    /// `None` once it has been ended.
    child: Mutex<Option<Child>>,
    /// Keeps the thread that started it: Linux kills the program with it.
    _keeper: Sender<()>,
    /// What it reads.
    input: Arc<Outbox>,
}

/// The longest line of a service, in bytes. A service that writes a longer one has ended.
pub(crate) const MAX_LINE: u64 = 64 * 1024 * 1024;

/// What a service, or a client, wrote.
pub(crate) enum Wrote {
    /// A line, without its end.
    Line(String),
    /// A line that is not UTF-8: its beginning, as far as it can be shown.
    NotText(String),
    /// Its last line, which has no end.
    Unended(String),
    /// More than a line may have. Nothing follows.
    TooLong,
    /// Nothing follows.
    End,
}

/// Read lines until `take` says that they are enough, or there are no more.
pub(crate) fn read_lines(input: impl Read, mut take: impl FnMut(Wrote) -> bool) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line);
        let is_whole = line.ends_with(b"\n");
        let wrote = match read {
            Ok(length) if length as u64 == MAX_LINE && !is_whole => {
                take(Wrote::TooLong);
                Wrote::End
            }
            Ok(length) if length > 0 => {
                while line.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
                    line.pop();
                }
                match String::from_utf8(line) {
                    Ok(line) if is_whole => Wrote::Line(line),
                    Ok(line) => Wrote::Unended(line),
                    Err(error) => {
                        let bytes = error.as_bytes();
                        Wrote::NotText(String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned())
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            _ => Wrote::End,
        };
        let is_end = matches!(wrote, Wrote::End);
        if !take(wrote) || is_end {
            return;
        }
    }
}

impl Service {
    /// Start a program. `take` gets what it writes, and [`Wrote::End`] at its end. It gives whether it takes more.
    pub(crate) fn start(program: &Program, take: impl FnMut(Wrote) -> bool + Send + 'static) -> io::Result<Self> {
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let mut command = program.inherited.command(name.as_ref());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir(program.folder);
        command.envs(program.environment);
        os::prepare(&mut command);
        let (keeper, mut child) = spawn_on_own_thread(command, program.paths.cloned())?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = match stdin {
            Some(stdin) => Outbox::start(stdin),
            None => Outbox::start(io::sink()),
        };
        // From here on, dropping the service ends the child.
        let child = Mutex::new(Some(child));
        let service = Service { child, _keeper: keeper, input: input.unwrap_or_default() };
        tell_errors(stderr, program.told_as)?;
        if let Some(stdout) = stdout {
            spawn(move || read_lines(stdout, take))?;
        }
        Ok(service)
    }

    /// End the program and its group.
    pub(crate) fn end(&self) {
        self.end_after(GRACE);
    }

    /// The same, when it has had so long to end by itself after SIGTERM.
    pub(crate) fn end_after(&self, grace: Duration) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = child.take() else { return };
        self.input.close();
        let start = Instant::now();
        os::terminate(&child);
        while start.elapsed() < grace && !os::has_exited(&mut child) {
            thread::sleep(Duration::from_millis(5));
        }
        os::kill(&mut child);
        let _ = child.wait();
    }

    /// What it reads. Who closes it ends the program's input.
    pub(crate) fn input(&self) -> &Arc<Outbox> {
        &self.input
    }

    /// Write a line. It is lost if the program has ended, or reads nothing.
    pub(crate) fn write(&self, line: String) {
        let _ = self.input.push(line);
    }
}

/// A program by its name alone, where our path has it.
fn found(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Start a program on a thread of its own, which lives until what comes with the child is dropped.
fn spawn_on_own_thread(mut command: Command, paths: Option<Paths>) -> io::Result<(Sender<()>, Child)> {
    let (keeper, kept) = mpsc::channel::<()>();
    let (sender, started) = mpsc::channel();
    spawn(move || {
        let confined = paths.as_ref().map_or(Ok(false), confine);
        let _ = sender.send(confined.and_then(|_| command.spawn()));
        // An error is the end of the service.
        let _ = kept.recv();
    })?;
    let child = started.recv().map_err(io::Error::other)??;
    Ok((keeper, child))
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

/// What other threads tell the main thread.
#[cfg_attr(not(unix), expect(dead_code, reason = "only output is watched on a thread there"))]
enum Event {
    /// The child wrote these bytes. No bytes mean the end of output.
    Output(io::Result<Vec<u8>>),
    /// The child has exited. It is not reaped yet.
    Exited(io::Result<()>),
    /// We got this signal.
    Signal(i32),
    /// Another thread ends the run.
    Stop,
}

/// Runs the child until it exits or has to be ended, and gives how it ended.
///
/// `progress` gets the bytes of output so far, at each chunk and at least every 100 ms. It must not block.
/// An error means that the child could not be watched or, as another user's process, could not be ended.
/// Linux kills the child when the thread that started it ends: that is the thread that this runs on.
pub(crate) fn run(run: &Run, signals: &Signals, progress: &mut dyn FnMut(usize)) -> io::Result<Ended> {
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
    os::prepare(&mut command);

    let (sender, events) = mpsc::channel();
    // Before the start, so that no signal ends us by default while there is a child.
    let listener = sender.clone();
    let listening = signals.listen(move |signal| listener.send(Event::Signal(signal)).is_ok());
    run.stop.tell(&sender);
    let confined = run.paths.map_or(Ok(false), confine);
    let mut child = match confined.and_then(|_| command.spawn()) {
        Ok(child) => child,
        Err(error) => return Ok(Ended::NotStarted(error)),
    };
    let told = tell_errors(child.stderr.take(), run.told_as.unwrap_or_default());
    let mut agent = Agent {
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
    agent.start_threads(run, &sender)?;

    let too_long = |agent: &Agent| agent.output.len() > run.limit;
    let stop = |agent: &Agent| agent.signal.is_some() || agent.stopped || too_long(agent);
    agent.wait(run.timeout, |agent| agent.exited || stop(agent))?;
    let (by_itself, closed) = (agent.exited, agent.closed);
    if !by_itself {
        os::terminate(&agent.child);
        agent.wait(GRACE, |agent| agent.exited)?;
    }
    os::kill(&mut agent.child);
    if by_itself {
        // The group is dead. What still holds the output open is out of reach and may do so for ever.
        agent.wait(DRAIN, |agent| agent.closed || stop(agent))?;
    } else {
        agent.wait(REMOVAL, |agent| agent.exited)?;
    }
    if !agent.exited {
        return Err(io::Error::other("the process does not end"));
    }
    agent.reaped = true;
    let status = agent.child.wait()?;

    // What it said last is read before its end is told.
    if let Ok(told) = told {
        let _ = told.recv_timeout(TELL);
    }

    // From here on a signal ends us by default. One that was told before is in the channel.
    drop(listening);
    while let Ok(event) = agent.events.try_recv() {
        agent.take(event)?;
    }
    let too_long = too_long(&agent);
    let mut output = std::mem::take(&mut agent.output);
    Ok(match agent.signal {
        Some(signal) => Ended::Interrupted(signal),
        None if agent.stopped => Ended::Stopped,
        None if too_long => {
            output.truncate(run.limit);
            Ended::TooLong { output }
        }
        None if !by_itself => Ended::TimedOut { closed, output },
        None if status.success() => Ended::Exited { output },
        None => Ended::Failed { status, output },
    })
}

/// A started child and what is known of it.
struct Agent<'a> {
    child: Child,
    events: Receiver<Event>,
    progress: &'a mut dyn FnMut(usize),
    output: Vec<u8>,
    /// The end of output was read.
    closed: bool,
    exited: bool,
    /// The first signal that we got.
    signal: Option<i32>,
    /// Another thread ended it.
    stopped: bool,
    /// The number of the child may belong to another process now.
    reaped: bool,
}

impl Agent<'_> {
    /// Starts the threads that write the input, read the output and wait for the exit.
    ///
    /// Nobody joins them, because a pipe that something holds open for ever must not block us.
    fn start_threads(&mut self, run: &Run, sender: &Sender<Event>) -> io::Result<()> {
        if let Some(mut stdin) = self.child.stdin.take() {
            let input = run.input.to_vec();
            // The child need not read all of it, so an error is no matter. The end of the thread closes the pipe.
            spawn(move || drop(stdin.write_all(&input)))?;
        }
        if let Some(stdout) = self.child.stdout.take() {
            let most = u64::try_from(run.limit).unwrap_or(u64::MAX).saturating_add(1);
            let sender = sender.clone();
            spawn(move || read(stdout.take(most), &sender))?;
        }
        os::watch(&self.child, sender)
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
    fn take(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Output(bytes) => {
                let bytes = bytes?;
                self.closed = bytes.is_empty();
                self.output.extend(bytes);
            }
            Event::Exited(result) => {
                result?;
                self.exited = true;
            }
            Event::Signal(signal) => self.signal = self.signal.or(Some(signal)),
            Event::Stop => self.stopped = true,
        }
        Ok(())
    }
}

impl Drop for Agent<'_> {
    /// Ends the child if `run` is left by an error or a panic.
    fn drop(&mut self) {
        if !self.reaped {
            os::kill(&mut self.child);
        }
    }
}

/// Tells a person what a program writes to its standard error: escaped, so that it cannot change what else the terminal shows.
/// Gives what hangs up at its end.
fn tell_errors(stderr: Option<impl Read + Send + 'static>, name: &str) -> io::Result<Receiver<()>> {
    let (at_end, ended) = mpsc::channel();
    if let Some(stderr) = stderr {
        let name = escape_terminal(name);
        spawn(move || {
            let _at_end = at_end;
            let mut input = BufReader::new(stderr);
            let mut line = Vec::new();
            while matches!((&mut input).take(MAX_TOLD).read_until(b'\n', &mut line), Ok(length) if length > 0) {
                say(&format!("{name}: {}", escape_terminal(String::from_utf8_lossy(&line).trim_end())));
                line.clear();
            }
        })?;
    }
    Ok(ended)
}

/// Sends all that can be read, in chunks, then an empty chunk or an error.
fn read(mut source: impl Read, sender: &Sender<Event>) {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let bytes = match source.read(&mut chunk) {
            Ok(count) => Ok(chunk[..count].to_vec()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = bytes.as_ref().map_or(true, Vec::is_empty);
        // Nobody listens any more once the run is over.
        if sender.send(Event::Output(bytes)).is_err() || last {
            return;
        }
    }
}

/// Starts a thread. Unlike `thread::spawn` it gives an error, not a panic, if there can be no more threads.
fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

#[cfg(unix)]
mod os {
    use std::{
        io,
        os::unix::process::CommandExt,
        path::{Path, PathBuf},
        process::{Child, Command},
        sync::{Arc, Mutex, PoisonError, mpsc::Sender},
    };

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, setsid, waitid};
    use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

    use super::{Event, spawn};

    /// Gives SIGINT, SIGTERM and SIGHUP to all who listen. If nobody does, they end us as by default.
    #[derive(Clone)]
    pub(crate) struct Signals(Arc<Shared>);

    #[derive(Default)]
    struct Shared {
        listeners: Mutex<Listeners>,
        /// The folder to remove before a signal ends us.
        folder: Mutex<Option<PathBuf>>,
    }

    impl Signals {
        /// Catches the signals from now on. Call this once, at start.
        pub(crate) fn install() -> io::Result<Self> {
            // A parent can make us ignore SIGCHLD. Then the kernel reaps the child itself: its status is lost, and its
            // number may go to another process. To catch the signal undoes that.
            let ends = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored() >> (signal - 1) & 1 == 0);
            let mut caught = signal_hook::iterator::Signals::new(ends.chain([SIGCHLD]))?;
            let signals = Self(Arc::default());
            let listener = signals.clone();
            spawn(move || {
                for signal in caught.forever().filter(|signal| *signal != SIGCHLD) {
                    if !listener.tell(signal) {
                        if let Some(folder) = &*listener.0.folder.lock().unwrap_or_else(PoisonError::into_inner) {
                            let _ = std::fs::remove_dir_all(folder);
                        }
                        // This ends the process.
                        drop(signal_hook::low_level::emulate_default_handler(signal));
                    }
                }
            })?;
            Ok(signals)
        }

        /// Tells later signals to a listener, until what this gives is dropped. The listener gives whether somebody heard it.
        pub(crate) fn listen(&self, listener: impl Fn(i32) -> bool + Send + 'static) -> Listening {
            let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.last += 1;
            let number = listeners.last;
            listeners.all.push((number, Box::new(listener)));
            Listening { signals: self.clone(), number }
        }

        /// From now on this folder, or none, is removed before a signal ends us.
        pub(crate) fn remove_at_end(&self, folder: Option<&Path>) {
            *self.0.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder.map(Path::to_owned);
        }

        /// Tells all listeners, and gives whether somebody heard it.
        fn tell(&self, signal: i32) -> bool {
            let listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.all.iter().fold(false, |is_heard, (_, listener)| listener(signal) || is_heard)
        }
    }

    /// Is told of a signal, and gives whether it heard it.
    type Listener = Box<dyn Fn(i32) -> bool + Send>;

    #[derive(Default)]
    struct Listeners {
        last: u64,
        /// By their numbers.
        all: Vec<(u64, Listener)>,
    }

    /// As long as this lives, a listener is told of signals.
    pub(crate) struct Listening {
        signals: Signals,
        number: u64,
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            let mut listeners = self.signals.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.all.retain(|(number, _)| *number != self.number);
        }
    }

    /// The signals that we ignored at start, as bits: they stay ignored, as `nohup` wants it of SIGHUP. None elsewhere
    /// than on Linux, where that is not told.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }

    /// Makes the child the leader of a new session and, on Linux, ties its life to ours.
    pub(super) fn prepare(command: &mut Command) {
        #[cfg(target_os = "linux")]
        let parent = rustix::process::getpid();
        let lead = move || {
            setsid()?;
            #[cfg(target_os = "linux")]
            {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                // If we died before that call, no signal will come, so the child ends itself. To return an error would
                // not do: there is nobody left who takes it.
                if rustix::process::getppid() != Some(parent) {
                    kill_process(rustix::process::getpid(), Signal::KILL)?;
                }
            }
            Ok(())
        };
        // SAFETY: Another thread may have held any lock at the fork, so until the exec the child may only do what is
        // async-signal-safe. `lead` makes a few system calls and compares two numbers. It takes no lock, allocates
        // nothing (an `io::Error` of an error number is a plain value), cannot panic, and uses no memory but its own
        // copy of `parent`.
        unsafe { command.pre_exec(lead) };
    }

    /// Waits on a thread for the exit. It does not reap, so that the number of the group stays taken.
    pub(super) fn watch(child: &Child, sender: &Sender<Event>) -> io::Result<()> {
        let (pid, sender) = (Pid::from_child(child), sender.clone());
        spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let result = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            // Nobody listens any more if the child could not be ended.
            drop(sender.send(Event::Exited(result.map(drop).map_err(io::Error::from))));
        })
    }

    /// Whether the child has exited. It is not reaped.
    pub(super) fn has_exited(child: &mut Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(Some(_)) | Err(_))
    }

    /// Asks the group to end. An error is no matter, because `kill` follows.
    pub(super) fn terminate(child: &Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }

    /// Kills the group. The child must not be reaped yet. An error is no matter: the caller waits for the exit.
    pub(super) fn kill(child: &mut Child) {
        let pid = Pid::from_child(child);
        let _ = kill_process_group(pid, Signal::KILL);
        // The child may have moved to another group.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
mod os {
    use super::{Child, Command, Event, Sender, io};

    /// No signals are caught here.
    #[derive(Clone)]
    pub(crate) struct Signals;

    pub(crate) struct Listening;

    impl Signals {
        /// Does nothing.
        pub(crate) fn install() -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn listen(&self, _: impl Fn(i32) -> bool + Send + 'static) -> Listening {
            Listening
        }

        pub(crate) fn remove_at_end(&self, _: Option<&std::path::Path>) {}
    }

    pub(super) fn prepare(_: &mut Command) {}

    /// Does nothing: `Agent::wait` looks for the exit at each tick.
    pub(super) fn watch(_: &Child, _: &Sender<Event>) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn has_exited(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub(super) fn terminate(_: &Child) {}

    /// Kills the child. An error is no matter: the caller waits for the exit.
    pub(super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}
