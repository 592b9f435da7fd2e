//! Asks a person on the terminal. What was typed before a question was on the screen never answers it.
//!
//! Two things ensure that. Right before each question, all that was typed so far is thrown away, whole lines and the beginning of
//! one: no line comes from a queue. And an answer that decides about a call has to repeat a code, which is drawn after that. Text
//! that arrives later cannot contain it, whether it is the rest of a paste, comes over a slow network, or was written by a model.

use std::{
    io::{self, IsTerminal},
    sync::{Mutex, TryLockError},
    thread,
    time::Duration,
};

use seamgate_text::say;

use crate::error::{Error, Result};

/// How often a signal and the time are looked at while a person thinks.
const TICK: Duration = Duration::from_millis(100);
/// The longest line, in bytes. Only the end of a longer one is read.
#[cfg(unix)]
const MAX_LINE: usize = 64 * 1024;
/// The letters of codes: consonants that are not mistaken for each other. They make no words.
const LETTERS: &[u8; 16] = b"bcdfghjkmprtvwxz";
/// The fewest columns of a terminal that lines are fitted to.
const MIN_COLUMNS: usize = 20;

/// The terminal, on which one question is asked at a time.
#[derive(Default)]
pub struct Terminal {
    input: Mutex<os::Input>,
}

/// What was read.
enum Typed {
    /// A line, without its end.
    Line(String),
    /// No whole line yet.
    Nothing,
    /// The end of input, or of the terminal.
    End,
}

/// A question and what answers it.
pub struct TerminalPrompt<'q, T> {
    /// Shows what is asked about.
    pub show: &'q dyn Fn(),
    /// Says what to type. Gets the code that answers can repeat.
    pub prompt: &'q dyn Fn(&str) -> String,
    /// Takes an answer: a line, and the code. Otherwise, the question is asked again, with another code.
    pub take: &'q dyn Fn(&str, &str) -> Option<T>,
    /// What to say of a line that is no answer.
    pub invalid: &'q str,
    /// Ends the wait.
    pub over: &'q dyn Fn() -> Option<T>,
}

/// Returns whether a person can be asked.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl Terminal {
    /// Asks when its turn has come, until there is an answer. Returns `None` at the end of input.
    pub fn ask<T>(&self, question: &TerminalPrompt<T>) -> Result<Option<T>> {
        let mut input = loop {
            match self.input.try_lock() {
                Ok(input) => break input,
                Err(TryLockError::Poisoned(input)) => break input.into_inner(),
                Err(TryLockError::WouldBlock) => thread::sleep(TICK),
            }
            if let Some(end) = (question.over)() {
                return Ok(Some(end));
            }
        };
        (question.show)();
        loop {
            if let Err(error) = input.flush() {
                // Nobody is there: what was typed earlier must not answer.
                say(&format!("seamgate: cannot ask on the terminal: {error}"));
                return Ok(None);
            }
            let code = code()?;
            say(&(question.prompt)(&code));
            let line = loop {
                if let Some(end) = (question.over)() {
                    return Ok(Some(end));
                }
                match input.read(TICK) {
                    Typed::Line(line) => break line,
                    Typed::Nothing => {}
                    Typed::End => return Ok(None),
                }
            };
            if let Some(answer) = (question.take)(line.trim(), &code) {
                return Ok(Some(answer));
            }
            say(question.invalid);
        }
    }
}

/// Draws a code that nobody can have typed before.
fn code() -> Result<String> {
    let mut random = [0; 4];
    getrandom::fill(&mut random)
        .map_err(|error| Error::NoVerdict(format!("the system gives no random bytes: {error}")))?;
    Ok(random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 16)])).collect())
}

/// Says a text of others, which is [escaped](seamgate_text::escape_terminal). `first` marks the beginning of each of its lines, and `next` that of
/// each further row which such a line takes on the terminal: nothing in the text can stand where text of ours stands.
pub fn say_marked(text: &str, first: &str, next: &str) {
    let columns = os::columns().map(|columns| columns.max(MIN_COLUMNS));
    for line in text.trim_end().split('\n') {
        let room = columns.map_or(usize::MAX, |columns| columns - first.len().max(next.len()));
        for (number, row) in rows(line, room).into_iter().enumerate() {
            say(&format!("{}{row}", if number == 0 { first } else { next }));
        }
    }
}

/// Cuts a line into rows of so many columns, behind spaces if there are any.
fn rows(line: &str, room: usize) -> Vec<&str> {
    let (mut rows, mut rest) = (Vec::new(), line);
    loop {
        let (mut columns, mut space, mut end) = (0, None, None);
        for (at, character) in rest.char_indices() {
            // No character takes more than two.
            columns += if character.is_ascii() { 1 } else { 2 };
            if columns > room {
                end = Some(at);
                break;
            }
            if character == ' ' {
                space = Some(at + 1);
            }
        }
        let Some(end) = end else {
            rows.push(rest);
            return rows;
        };
        let (row, others) = rest.split_at(space.unwrap_or(end));
        rows.push(row);
        rest = others;
    }
}

#[cfg(unix)]
mod os {
    use std::{io, time::Duration};

    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        io::Errno,
        termios::{QueueSelector, tcflush, tcgetwinsize},
    };

    use super::{MAX_LINE, Typed};

    /// The terminal's input, read without a buffer or a thread: what nobody has asked for stays in the system's queue.
    #[derive(Default)]
    pub(super) struct Input {
        /// The beginning of a line, which somebody sent with Ctrl-D.
        begun: Vec<u8>,
    }

    impl Input {
        /// Throws away what was typed so far.
        pub(super) fn flush(&mut self) -> io::Result<()> {
            self.begun.clear();
            Ok(tcflush(io::stdin(), QueueSelector::IFlush)?)
        }

        /// Waits for a line, at most so long. Whatever follows it is thrown away.
        pub(super) fn read(&mut self, wait: Duration) -> Typed {
            let stdin = io::stdin();
            match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Timespec::try_from(wait).ok().as_ref()) {
                Ok(0) | Err(Errno::INTR) => return Typed::Nothing,
                // A system that cannot wait for a terminal can still read it.
                Ok(_) | Err(_) => {}
            }
            let mut chunk = [0; 4096];
            let count = match rustix::io::read(&stdin, &mut chunk) {
                Ok(0) => return Typed::End,
                Ok(count) => count,
                Err(Errno::INTR | Errno::AGAIN) => return Typed::Nothing,
                Err(_) => return Typed::End,
            };
            self.begun.extend_from_slice(&chunk[..count]);
            match self.begun.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    let line = String::from_utf8_lossy(&self.begun[..end]).into_owned();
                    self.begun.clear();
                    Typed::Line(line)
                }
                None => {
                    if self.begun.len() > MAX_LINE {
                        self.begun.clear();
                    }
                    Typed::Nothing
                }
            }
        }
    }

    /// Returns the columns of the terminal that people are told on. `None` if there is no terminal.
    pub(super) fn columns() -> Option<usize> {
        let size = tcgetwinsize(io::stderr()).ok()?;
        // A terminal that does not know its size shows what most do.
        Some(if size.ws_col == 0 { 80 } else { size.ws_col.into() })
    }
}

#[cfg(not(unix))]
mod os {
    use std::{
        io::{self, BufRead, IsTerminal},
        sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError},
        thread,
        time::Duration,
    };

    use super::Typed;

    /// The terminal's input, which a thread reads line by line.
    #[derive(Default)]
    pub(super) struct Input {
        lines: Option<Receiver<String>>,
        has_ended: bool,
    }

    impl Input {
        /// Throws away the lines that were typed so far. The beginning of a line stays: it has no code.
        pub(super) fn flush(&mut self) -> io::Result<()> {
            if self.lines.is_none() {
                self.lines = Some(read_lines()?);
            }
            let Some(lines) = &self.lines else { return Ok(()) };
            loop {
                match lines.try_recv() {
                    Ok(_) => {}
                    Err(TryRecvError::Empty) => return Ok(()),
                    Err(TryRecvError::Disconnected) => {
                        self.has_ended = true;
                        return Ok(());
                    }
                }
            }
        }

        /// Waits for a line, at most so long.
        pub(super) fn read(&mut self, wait: Duration) -> Typed {
            let Some(lines) = self.lines.as_ref().filter(|_| !self.has_ended) else { return Typed::End };
            match lines.recv_timeout(wait) {
                Ok(line) => Typed::Line(line),
                Err(RecvTimeoutError::Timeout) => Typed::Nothing,
                Err(RecvTimeoutError::Disconnected) => Typed::End,
            }
        }
    }

    fn read_lines() -> io::Result<Receiver<String>> {
        let (sender, lines) = mpsc::channel();
        thread::Builder::new().spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(lines)
    }

    /// Returns the columns of the terminal that people are told on. `None` if there is no terminal.
    pub(super) fn columns() -> Option<usize> {
        io::stderr().is_terminal().then_some(80)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_and_lose_nothing() {
        for line in [
            "",
            "short",
            "two words and more of them",
            &"x".repeat(100),
            &"表\u{1f600}é ".repeat(20),
            "  padded          out",
        ] {
            for room in [16, 17, 40, usize::MAX] {
                let rows = rows(line, room);
                assert_eq!(rows.concat(), line);
                let columns = |row: &&str| row.chars().map(|one| if one.is_ascii() { 1 } else { 2 }).sum::<usize>();
                assert!(rows.iter().all(|row| columns(row) <= room), "{room}: {rows:?}");
            }
        }
        assert_eq!(rows("two words", 5), ["two ", "words"]);
    }

    #[test]
    fn codes_are_drawn_anew_from_letters_that_differ() {
        let codes: std::collections::BTreeSet<String> = (0..100).map(|_| code().expect("a code")).collect();
        assert!(codes.len() > 90, "{codes:?}");
        assert!(codes.iter().all(|code| code.len() == 4 && code.bytes().all(|letter| LETTERS.contains(&letter))));
        let letters: std::collections::BTreeSet<&u8> = LETTERS.iter().collect();
        assert_eq!(letters.len(), LETTERS.len());
    }
}
