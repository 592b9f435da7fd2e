//! A program that runs alongside this process, and exchanges lines with it.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Sender},
    },
    time::{Duration, Instant},
};

use super::{
    GRACE, KILL_AFTER, REMOVAL,
    confine::{Paths, confine},
    environment::Inherited,
    errors::tell_errors,
    group,
    line_writer::LineWriter,
    lines::{Wrote, read_lines},
    spawn,
    until_exit::{Exits, UntilExit, exit_pair},
};
use crate::secrets::Secrets;

/// The interval at which the exit of a program is checked on systems that do not report it.
#[cfg(not(unix))]
const TICK: Duration = Duration::from_millis(5);

/// A program that runs alongside this process.
pub struct Program<'a> {
    /// The program and its arguments. Not empty.
    pub command: &'a [String],
    /// The part of this process's environment that the program inherits.
    pub inherited: Inherited<'a>,
    /// Variables that are added to the program's environment.
    pub environment: &'a BTreeMap<String, String>,
    /// The folder that the program runs in.
    pub folder: &'a Path,
    /// The name that precedes each line of the program's standard error.
    pub told_as: &'a str,
    /// The paths that the program may access. `None` for all that this user may access.
    pub paths: Option<&'a Paths>,
    /// The secrets that are hidden in the program's output.
    pub secrets: &'a Arc<Secrets>,
}

impl Program<'_> {
    /// Returns the program's name, for messages.
    pub fn name(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }
}

/// A program that reads and writes lines until this is dropped. Its group is terminated then, or as soon as the program
/// exits.
pub struct Service {
    process: Arc<Process>,
    /// Keeps the thread alive that started the program, because Linux kills the program when that thread ends.
    _keeper: Sender<()>,
    /// The lines that wait for the program to read them.
    input: Arc<LineWriter>,
}

impl Service {
    /// Starts a program. `take` receives its output, and [`Wrote::End`] at its end. It returns whether it accepts more.
    ///
    /// The end comes when the output ends or the program exits, because a process that the program leaves behind may
    /// hold the output open forever.
    pub fn start(program: &Program, take: impl FnMut(Wrote) -> bool + Send + 'static) -> io::Result<Self> {
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let mut command = program.inherited.command(name.as_ref());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir(program.folder);
        command.envs(program.environment);
        group::prepare(&mut command);
        let (exits, exited) = exit_pair()?;
        let (keeper, mut child) = spawn_on_own_thread(command, program.paths.cloned())?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = match stdin {
            Some(stdin) => LineWriter::start(stdin),
            None => LineWriter::start(io::sink()),
        };
        let input = input.unwrap_or_default();
        let process = Arc::new(Process { state: Mutex::new(State::Running(child)), changed: Condvar::new() });
        process.watch(&input, exits)?;
        // From here on, dropping the service terminates the child.
        let service = Service { process, _keeper: keeper, input };
        tell_errors(stderr, program.told_as, program.secrets)?;
        if let Some(stdout) = stdout {
            spawn(move || read_lines(UntilExit::new(stdout, exited), take))?;
        }
        Ok(service)
    }

    /// Terminates the program and its group. The program has [`GRACE`] to exit by itself.
    pub fn end(&self) {
        self.end_after(GRACE);
    }

    /// Terminates the program and its group. Closes the program's input, and waits up to `grace` for it to exit by
    /// itself. Then sends SIGTERM to the group, and SIGKILL after [`KILL_AFTER`]. Returns as soon as the program has
    /// exited.
    pub fn end_after(&self, grace: Duration) {
        Service::end_all(&[self], grace);
    }

    /// Terminates several programs at once, as [`end_after`](Service::end_after) does for one. They share one `grace`.
    pub fn end_all(services: &[&Service], grace: Duration) {
        let wait = |time: Duration| {
            let start = Instant::now();
            services.iter().for_each(|service| service.process.wait(time.saturating_sub(start.elapsed())));
        };
        services.iter().for_each(|service| service.input.close());
        wait(grace);
        services.iter().for_each(|service| service.process.signal(group::terminate));
        wait(KILL_AFTER);
        services.iter().for_each(|service| service.process.signal(group::kill));
        wait(REMOVAL);
    }

    /// Describes how the program ended, such as "exited with status 1". Returns `None` while it runs.
    pub fn exit(&self) -> Option<String> {
        self.process.wait(Duration::ZERO);
        match &*self.process.lock() {
            State::Running(_) => None,
            State::Exited(status) => Some(status.map_or_else(|| "ended".to_owned(), describe)),
        }
    }

    /// Returns the writer for the program's standard input. Closing it closes that input.
    pub fn input(&self) -> &Arc<LineWriter> {
        &self.input
    }

    /// Writes a line. The line is lost if the program has ended or does not read.
    pub fn write(&self, line: String) {
        let _ = self.input.push(line);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

/// The process of a service.
struct Process {
    state: Mutex<State>,
    /// Notified when the process has exited.
    changed: Condvar,
}

enum State {
    /// The child is not reaped yet, so no other group has its number.
    Running(Child),
    /// The child was reaped. `None` if the system did not report how it ended.
    Exited(Option<ExitStatus>),
}

impl Process {
    /// Reaps the process when it exits, terminates the rest of its group, closes its input, and drops `exits`.
    fn watch(self: &Arc<Self>, input: &Arc<LineWriter>, exits: Exits) -> io::Result<()> {
        let (process, input) = (Arc::clone(self), Arc::clone(input));
        let watched = match &*self.lock() {
            State::Running(child) => group::watch(child, move |_| {
                process.reap();
                input.close();
                drop(exits);
            }),
            State::Exited(_) => Ok(()),
        };
        watched.inspect_err(|_| self.reap())
    }

    /// Kills the group, and reaps the process.
    fn reap(&self) {
        let mut state = self.lock();
        if let State::Running(child) = &mut *state {
            group::kill(child);
            *state = State::Exited(child.wait().ok());
        }
        self.changed.notify_all();
    }

    /// Sends a signal to the group, unless the process has exited.
    fn signal(&self, send: impl Fn(&mut Child)) {
        if let State::Running(child) = &mut *self.lock() {
            send(child);
        }
    }

    /// Waits until the process has exited, but no longer than `time`.
    fn wait(&self, time: Duration) {
        let start = Instant::now();
        #[cfg(not(unix))]
        while !self.has_exited() && start.elapsed() < time {
            std::thread::sleep(TICK);
        }
        let is_running = |state: &mut State| matches!(state, State::Running(_));
        let left = time.saturating_sub(start.elapsed());
        drop(self.changed.wait_timeout_while(self.lock(), left, is_running));
    }

    /// Returns whether the process has exited. Reaps it in this case, because nothing else watches it on this system.
    #[cfg(not(unix))]
    fn has_exited(&self) -> bool {
        let has_exited = match &mut *self.lock() {
            State::Running(child) => group::has_exited(child),
            State::Exited(_) => return true,
        };
        if has_exited {
            self.reap();
        }
        has_exited
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Describes how a process ended, as the end of a sentence about it.
fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = signal_hook::low_level::signal_name(signal);
        return format!("was ended by {}", name.map_or_else(|| format!("signal {signal}"), str::to_owned));
    }
    status.code().map_or_else(|| "ended".to_owned(), |code| format!("exited with status {code}"))
}

/// Starts a program on a separate thread, which lives until the returned sender is dropped.
fn spawn_on_own_thread(mut command: Command, paths: Option<Paths>) -> io::Result<(Sender<()>, Child)> {
    let (keeper, kept) = mpsc::channel::<()>();
    let (sender, started) = mpsc::channel();
    spawn(move || {
        let confined = paths.as_ref().map_or(Ok(false), confine);
        let _ = sender.send(confined.and_then(|_| command.spawn()));
        // An error means that the service has ended.
        let _ = kept.recv();
    })?;
    let child = started.recv().map_err(io::Error::other)??;
    Ok((keeper, child))
}

// `setsid` is a Linux command.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::Receiver;

    use super::*;

    /// Starts a shell script, and returns its output line by line. `None` marks the end.
    fn start(script: &str) -> (Service, Receiver<Option<String>>) {
        let command = ["sh", "-c", script].map(str::to_owned);
        let (sender, wrote) = mpsc::channel();
        let program = Program {
            command: &command,
            inherited: Inherited::All,
            environment: &BTreeMap::new(),
            folder: Path::new("/"),
            told_as: "script",
            paths: None,
            secrets: &Arc::default(),
        };
        let service = Service::start(&program, move |wrote| {
            let line = match wrote {
                Wrote::Line(line) | Wrote::NotText(line) | Wrote::Unended(line) => Some(line),
                Wrote::TooLong | Wrote::End => None,
            };
            sender.send(line).is_ok()
        });
        (service.expect("a process"), wrote)
    }

    /// Returns all lines up to the end, which must come within this time.
    fn lines(wrote: &Receiver<Option<String>>, time: Duration) -> Vec<String> {
        let start = Instant::now();
        let next = || wrote.recv_timeout(time.saturating_sub(start.elapsed())).expect("an end in time");
        std::iter::from_fn(next).collect()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn output_ends_with_the_program_while_a_child_holds_the_pipe() {
        // A child in the group is killed. A child that leads a session of its own cannot be terminated, and may write
        // forever.
        for left in ["sleep 60 &", "setsid sleep 60 &", "setsid sh -c 'while :; do echo late; sleep 0.01; done' &"] {
            let (service, wrote) = start(&format!("{left} echo first; echo last; exit 3"));
            let mut lines = lines(&wrote, 2 * SECOND);
            lines.retain(|line| line != "late");
            assert_eq!(lines, ["first", "last"], "{left}");
            assert_eq!(service.exit().as_deref(), Some("exited with status 3"), "{left}");
            assert!(service.input().push("x".to_owned()).is_err(), "{left}");
        }
    }

    #[test]
    fn everything_that_was_written_before_the_exit_is_read() {
        let (_service, wrote) =
            start("sleep 60 & i=0; while [ $i -lt 5000 ]; do echo $i; i=$((i + 1)); done; printf end");
        let lines = lines(&wrote, 20 * SECOND);
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (5001, Some("end")));
    }

    #[test]
    fn program_ends_by_itself_within_its_grace() {
        let (service, wrote) = start("trap 'echo asked' TERM; while read line; do :; done; sleep 0.5; echo saved");
        let start = Instant::now();
        service.end_after(20 * SECOND);
        assert!(start.elapsed() < 10 * SECOND, "{:?}", start.elapsed());
        assert_eq!(lines(&wrote, SECOND), ["saved"]);
        assert_eq!(service.exit().as_deref(), Some("exited with status 0"));
    }

    #[test]
    fn program_that_ignores_the_end_of_its_input_is_terminated_then_killed() {
        let (service, wrote) = start("trap 'echo asked; exit 4' TERM; echo ready; while :; do sleep 0.05; done");
        assert_eq!(wrote.recv(), Ok(Some("ready".to_owned())));
        service.end_after(SECOND / 5);
        assert_eq!(
            (lines(&wrote, SECOND), service.exit().as_deref()),
            (vec!["asked".to_owned()], Some("exited with status 4"))
        );
        let (service, wrote) = start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
        assert_eq!(wrote.recv(), Ok(Some("ready".to_owned())));
        assert_eq!(service.exit(), None);
        let start = Instant::now();
        service.end_after(Duration::ZERO);
        assert!(start.elapsed() >= KILL_AFTER, "{:?}", start.elapsed());
        assert_eq!(service.exit().as_deref(), Some("was ended by SIGKILL"));
    }

    #[test]
    fn many_programs_end_within_one_grace() {
        let all: Vec<_> = (0..8).map(|_| start("sleep 60")).collect();
        let start = Instant::now();
        Service::end_all(&all.iter().map(|(service, _)| service).collect::<Vec<_>>(), SECOND);
        assert!(start.elapsed() < 2 * SECOND, "{:?}", start.elapsed());
        assert!(all.iter().all(|(service, _)| service.exit().as_deref() == Some("was ended by SIGTERM")));
    }
}
