//! Parses shell command lines: the programs, arguments and files of their commands.
//!
//! A strict scanner reads quotes, substitutions and here-documents, and a parser reads the grammar of the rest.
//! Everything that does not fit their rules is a doubt, and a line with a doubt is at best passed to the user for
//! approval.

mod path;
mod read;
mod scan;
mod scanner;
mod table;
mod unwrap;
mod word;

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::mpsc, thread, time::Duration};

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 64 * 1024;
/// The deepest nesting of brackets.
const MAX_DEPTH: usize = 24;
/// The maximum number of commands in a line.
const MAX_COMMANDS: usize = 64;
/// The longest time that parsing may take, because the parser needs exponential time for some lines.
const MAX_TIME: Duration = Duration::from_secs(1);
/// The stack size of the thread that parses.
const STACK: usize = 64 * 1024 * 1024;

/// The commands, files and doubts of one shell line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The commands of the line, in the order of the text.
    pub(crate) commands: Vec<Simple>,
    /// The reasons why the line may run more than these commands.
    pub(crate) doubts: BTreeSet<String>,
    /// Files that redirections read.
    pub(crate) reads: BTreeSet<String>,
    /// Files that redirections write.
    pub(crate) writes: BTreeSet<String>,
}

/// A simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Simple {
    /// The name of a program, or its absolute path if it is not in a folder of known programs. Empty if the program is
    /// unknown.
    pub(crate) program: String,
    /// The arguments, as far as they are known. An unknown argument is written as in the line.
    pub(crate) argv: Vec<String>,
    /// The first operand of a program that has commands of its own, such as `push` of `git`.
    pub(crate) command: Option<String>,
    /// Each argument, resolved to an absolute path as if it were a path.
    pub(crate) paths: BTreeSet<String>,
    pub(crate) reads: BTreeSet<String>,
    pub(crate) writes: BTreeSet<String>,
    /// Variables that are set for the command, as `NAME=VALUE`.
    pub(crate) environment: Vec<String>,
}

/// Parses a line of a shell that runs in a folder. `home` is the folder that `~` represents.
pub(crate) fn read(text: &str, folder: &str, home: Option<&str>) -> Line {
    if text.len() > MAX_LINE {
        return Line::doubted("the command is too long to read");
    }
    if is_deep(text) {
        return Line::doubted("the command is nested too deeply");
    }
    let (sender, receiver) = mpsc::channel();
    let (text, folder, home) = (text.to_owned(), folder.to_owned(), home.map(str::to_owned));
    let read = move || {
        let _ = sender.send(read::Reader::new(&folder, home).line(&text));
    };
    let started = thread::Builder::new().stack_size(STACK).spawn(read);
    match started.ok().and_then(|_| receiver.recv_timeout(MAX_TIME).ok()) {
        Some(line) => line,
        None => Line::doubted("the command cannot be read in time"),
    }
}

/// Reads a command that is not split by a shell: a program and its arguments.
pub(crate) fn read_words(words: &[String], folder: &str, home: Option<&str>) -> Line {
    read::Reader::new(folder, home.map(str::to_owned)).words(words)
}

impl Line {
    /// Creates a line about which nothing is known.
    pub(crate) fn doubted(why: &str) -> Self {
        Line { doubts: BTreeSet::from([why.to_owned()]), ..Line::default() }
    }
}

/// Returns whether brackets may be nested more deeply than a parser should follow.
fn is_deep(text: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest > MAX_DEPTH
}
