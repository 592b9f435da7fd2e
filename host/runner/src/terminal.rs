//! Asks a person on the terminal. Input that was typed before a question was on the screen never answers it.
//!
//! Two measures ensure that. Right before each question, all input so far is discarded, both complete lines and the
//! beginning of a line, so that no line comes from a queue. And an answer that decides about a call must repeat a code,
//! which is generated after that. Text that arrives later cannot contain the code, whether it is the rest of a paste,
//! comes over a slow network, or was written by a model.

use std::{
    io::{self, IsTerminal},
    sync::{Mutex, TryLockError},
    thread,
    time::Duration,
};

use seamgate_text::{count, say};

use crate::error::{Error, Result};

/// The interval at which signals and the time are checked while a person thinks.
const TICK: Duration = Duration::from_millis(100);
/// The longest line, in bytes. Of a longer line, only the end is read.
#[cfg(unix)]
const MAX_LINE: usize = 64 * 1024;
/// The letters of codes: consonants that are not mistaken for each other. They form no words.
const LETTERS: &[u8; 16] = b"bcdfghjkmprtvwxz";
/// The smallest number of columns to which lines are fitted, and the smallest number of rows for pages.
const MIN_COLUMNS: usize = 20;
const MIN_HEIGHT: usize = 6;
/// The width of a terminal that does not report its size.
const DEFAULT_WIDTH: usize = 80;
const DEFAULT_HEIGHT: usize = 24;

/// The terminal. Only one question is asked at a time.
#[derive(Default)]
pub struct Terminal {
    input: Mutex<os::Input>,
}

/// The result of reading the terminal.
enum Typed {
    /// A line, without its end.
    Line(String),
    /// No complete line yet.
    Nothing,
    /// The end of input, or of the terminal.
    End,
}

/// A question, and the answers that it accepts.
pub struct TerminalPrompt<'q, T> {
    /// The rows that show what the question is about. If there are many, only the first and the last are shown at once.
    /// Then only a rejection is accepted until the person has read all of them.
    pub rows: &'q dyn Fn() -> Vec<String>,
    /// Returns the instruction for the person. Its argument is the code that answers can repeat.
    pub prompt: &'q dyn Fn(&str) -> String,
    /// Parses an answer, given a line and the code. If it returns `None`, the question is asked again, with another
    /// code.
    pub take: &'q dyn Fn(&str, &str) -> Option<T>,
    /// The reply to a line that is not a valid answer.
    pub invalid: &'q str,
    /// Returns a value to end the wait.
    pub over: &'q dyn Fn() -> Option<T>,
}

/// Returns whether a person can be asked.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl Terminal {
    /// Asks when it is this question's turn, until there is an answer. Returns `None` at the end of input.
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
        let rows = (question.rows)();
        let mut is_read = rows.len() <= MAX_ROWS;
        show(&rows);
        loop {
            let code = code()?;
            let prompt = match is_read {
                true => (question.prompt)(&code),
                false => "Type \"v\" to read all of it first:".to_owned(),
            };
            let line = match next_line(&mut input, &prompt, question.over)? {
                Next::Line(line) => line,
                Next::Over(end) => return Ok(Some(end)),
                Next::Nobody => return Ok(None),
            };
            if rows.len() > MAX_ROWS && line.trim() == "v" {
                match page(&mut input, &rows, question.over)? {
                    Paged::Read => is_read = true,
                    Paged::Left => {}
                    Paged::Over(end) => return Ok(end),
                }
                continue;
            }
            if let Some(answer) = (question.take)(line.trim(), &code) {
                return Ok(Some(answer));
            }
            say(if is_read { question.invalid } else { NOT_READ });
        }
    }
}

/// The most rows of a text that are shown at once, and the number of rows of a longer text that are shown at its
/// beginning and at its end.
const MAX_ROWS: usize = 60;
const HEAD: usize = 30;
const TAIL: usize = 15;

/// The reply to an answer that comes before the whole text was shown.
const NOT_READ: &str = "Not all of it was shown yet, so that decides nothing.";

fn show(rows: &[String]) {
    if rows.len() <= MAX_ROWS {
        return rows.iter().for_each(|row| say(row));
    }
    rows[..HEAD].iter().for_each(|row| say(row));
    say(&format!("… [{} left out here]", count(rows.len() - HEAD - TAIL, "row")));
    rows[rows.len() - TAIL..].iter().for_each(|row| say(row));
}

/// The result of waiting for a line.
enum Next<T> {
    Line(String),
    /// The wait is over.
    Over(T),
    /// The end of input, or no terminal.
    Nobody,
}

/// Discards all input so far, prints a prompt, and waits for a line.
fn next_line<T>(input: &mut os::Input, prompt: &str, over: &dyn Fn() -> Option<T>) -> Result<Next<T>> {
    if let Err(error) = input.flush() {
        // If the input cannot be discarded, nobody is asked, because earlier input must not answer.
        say(&format!("seamgate: cannot ask on the terminal: {error}"));
        return Ok(Next::Nobody);
    }
    say(prompt);
    loop {
        if let Some(end) = over() {
            return Ok(Next::Over(end));
        }
        match input.read(TICK) {
            Typed::Line(line) => return Ok(Next::Line(line)),
            Typed::Nothing => {}
            Typed::End => return Ok(Next::Nobody),
        }
    }
}

/// The result of showing a text page by page.
enum Paged<T> {
    /// All of it was shown.
    Read,
    /// The person left before the end.
    Left,
    Over(Option<T>),
}

/// Shows a text page by page.
fn page<T>(input: &mut os::Input, rows: &[String], over: &dyn Fn() -> Option<T>) -> Result<Paged<T>> {
    let height = os::size().map_or(DEFAULT_HEIGHT, |(_, height)| height.max(MIN_HEIGHT));
    let pages = rows.chunks(height - 2);
    let last = pages.len();
    for (number, page) in pages.enumerate() {
        page.iter().for_each(|row| say(row));
        if number + 1 == last {
            break;
        }
        let prompt = format!("[page {} of {last}: Enter for the next one, \"q\" to leave]", number + 1);
        match next_line(input, &prompt, over)? {
            Next::Line(line) if line.trim() == "q" => return Ok(Paged::Left),
            Next::Line(_) => {}
            Next::Over(end) => return Ok(Paged::Over(Some(end))),
            Next::Nobody => return Ok(Paged::Over(None)),
        }
    }
    Ok(Paged::Read)
}

/// Returns a random code that nobody can have typed before.
fn code() -> Result<String> {
    let mut random = [0; 4];
    getrandom::fill(&mut random)
        .map_err(|error| Error::NoVerdict(format!("the system gives no random bytes: {error}")))?;
    Ok(random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 16)])).collect())
}

/// Returns the rows of an untrusted text, [escaped](seamgate_text::escape_terminal). `first` marks the beginning of
/// each of its lines, and `next` that of each further row that such a line takes on the terminal. So nothing in the
/// text can appear where trusted text appears.
pub fn marked_rows(text: &str, first: &str, next: &str) -> Vec<String> {
    let columns = os::size().map(|(columns, _)| columns.max(MIN_COLUMNS));
    let room = columns.map_or(usize::MAX, |columns| columns - first.len().max(next.len()));
    let of_line = |line| {
        let rows = rows(line, room).into_iter().enumerate();
        rows.map(|(number, row)| format!("{}{row}", if number == 0 { first } else { next })).collect::<Vec<_>>()
    };
    text.trim_end().split('\n').flat_map(of_line).collect()
}

/// Splits a line into rows of this many columns, after spaces if there are any.
fn rows(line: &str, room: usize) -> Vec<&str> {
    let (mut rows, mut rest) = (Vec::new(), line);
    loop {
        let (mut columns, mut space, mut end) = (0, None, None);
        for (at, character) in rest.char_indices() {
            // No character takes more than two columns.
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

    use super::{DEFAULT_HEIGHT, DEFAULT_WIDTH, MAX_LINE, Typed};

    /// The terminal's input, read without a buffer or a thread, so that unrequested input stays in the system's queue.
    #[derive(Default)]
    pub(super) struct Input {
        /// The beginning of a line, sent with Ctrl-D.
        begun: Vec<u8>,
    }

    impl Input {
        /// Discards all input so far.
        pub(super) fn flush(&mut self) -> io::Result<()> {
            self.begun.clear();
            Ok(tcflush(io::stdin(), QueueSelector::IFlush)?)
        }

        /// Waits for a line, at most for this time. Discards whatever follows it.
        pub(super) fn read(&mut self, wait: Duration) -> Typed {
            let stdin = io::stdin();
            match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Timespec::try_from(wait).ok().as_ref()) {
                Ok(0) | Err(Errno::INTR) => return Typed::Nothing,
                // A system that cannot wait for a terminal can still read from it.
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

    /// Returns the number of columns and rows of the terminal that the person sees. `None` if there is no terminal.
    pub(super) fn size() -> Option<(usize, usize)> {
        let size = tcgetwinsize(io::stderr()).ok()?;
        // Assume the usual size if the terminal does not know its size.
        let known = |cells: u16, default: usize| if cells == 0 { default } else { cells.into() };
        Some((known(size.ws_col, DEFAULT_WIDTH), known(size.ws_row, DEFAULT_HEIGHT)))
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

    use super::{DEFAULT_HEIGHT, DEFAULT_WIDTH, Typed};

    /// The terminal's input, which a thread reads line by line.
    #[derive(Default)]
    pub(super) struct Input {
        lines: Option<Receiver<String>>,
        has_ended: bool,
    }

    impl Input {
        /// Discards the lines that were typed so far. The beginning of a line stays, which does no harm because it has
        /// no code.
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

        /// Waits for a line, at most for this time.
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

    /// Returns the number of columns and rows of the terminal that the person sees. `None` if there is no terminal.
    pub(super) fn size() -> Option<(usize, usize)> {
        io::stderr().is_terminal().then_some((DEFAULT_WIDTH, DEFAULT_HEIGHT))
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
