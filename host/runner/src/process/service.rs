//! A program that reads and writes lines beside this process.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    GRACE,
    confine::{Paths, confine},
    environment::Inherited,
    errors::tell_errors,
    group,
    line_writer::LineWriter,
    lines::{Wrote, read_lines},
    spawn,
};

/// A program that runs beside this process.
pub struct Program<'a> {
    /// The program and its arguments. Not empty.
    pub command: &'a [String],
    /// The part of this process's environment that it inherits.
    pub inherited: Inherited<'a>,
    /// Variables that are added to its environment.
    pub environment: &'a BTreeMap<String, String>,
    /// The folder that it runs in.
    pub folder: &'a Path,
    /// The name before each line of its standard error.
    pub told_as: &'a str,
    /// The paths that it may reach. `None`: all that this process may.
    pub paths: Option<&'a Paths>,
}

impl Program<'_> {
    /// Returns the program's name, for messages.
    pub fn name(&self) -> &str {
        self.command.first().map(String::as_str).unwrap_or_default()
    }
}

/// A program that reads lines and writes lines until it is dropped. Its group is ended then.
pub struct Service {
    /// `None` once it has been ended.
    child: Mutex<Option<Child>>,
    /// Keeps the thread that started it: Linux kills the program with it.
    _keeper: Sender<()>,
    /// The lines that wait to be read by it.
    input: Arc<LineWriter>,
}

impl Service {
    /// Starts a program. `take` gets what it writes, and [`Wrote::End`] at its end. It returns whether it takes more.
    pub fn start(program: &Program, take: impl FnMut(Wrote) -> bool + Send + 'static) -> io::Result<Self> {
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let mut command = program.inherited.command(name.as_ref());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir(program.folder);
        command.envs(program.environment);
        group::prepare(&mut command);
        let (keeper, mut child) = spawn_on_own_thread(command, program.paths.cloned())?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = match stdin {
            Some(stdin) => LineWriter::start(stdin),
            None => LineWriter::start(io::sink()),
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

    /// Ends the program and its group.
    pub fn end(&self) {
        self.end_after(GRACE);
    }

    /// Ends the program and its group. The program has `grace` to end by itself after SIGTERM.
    pub fn end_after(&self, grace: Duration) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = child.take() else { return };
        self.input.close();
        let start = Instant::now();
        group::terminate(&child);
        while start.elapsed() < grace && !group::has_exited(&mut child) {
            thread::sleep(Duration::from_millis(5));
        }
        group::kill(&mut child);
        let _ = child.wait();
    }

    /// Returns what writes to the program's standard input. Closing it ends that input.
    pub fn input(&self) -> &Arc<LineWriter> {
        &self.input
    }

    /// Writes a line. It is lost if the program has ended, or reads nothing.
    pub fn write(&self, line: String) {
        let _ = self.input.push(line);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a program on a thread of its own, which lives until the returned sender is dropped.
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
