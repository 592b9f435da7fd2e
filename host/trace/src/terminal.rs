//! Formats a run as text for a terminal.

use std::{io::Write, path::Path};

use seamgate_text::{escape_terminal, with_sources};

use crate::{
    attempts,
    child::{Child, MAX_DEPTH},
    error::TraceError,
    format::{cut, when},
    runs,
    steps::{Steps, child_folder},
    text::{Entry, Known, Started, Tone},
};

/// The maximum number of lines and bytes of a text. Longer texts are truncated.
const MAX_LINES: usize = 12;
const MAX_BYTES: usize = 1200;

/// Writes a run with its children as text, with colors as ANSI escape sequences. For a folder of several runs, writes
/// one line for each. For a journal of `seamgate run`, writes its attempts.
///
/// Returns the faults of the journals, one sentence each. Everything before a fault is still written. Control
/// characters in the run's texts are escaped.
///
/// # Errors
///
/// The folder holds no run that can be read, or writing fails ([`TraceError::Write`]).
pub fn write_text(out: &mut impl Write, folder: &Path) -> Result<Vec<String>, TraceError> {
    if folder.is_file() {
        return attempts::write_text(out, folder);
    }
    let runs = runs::runs_in(folder, runs::has_journal);
    if !runs.is_empty() {
        return runs::write_text(out, &runs);
    }
    let mut faults = Vec::new();
    write_run(out, folder, None, &mut faults)?;
    Ok(faults)
}

/// Writes one run with its children. Adds descriptions of damaged journals to `faults`.
fn write_run(
    out: &mut impl Write,
    folder: &Path,
    child: Option<Child>,
    faults: &mut Vec<String>,
) -> Result<(), TraceError> {
    let depth = child.map_or(0, |child| child.depth);
    let mut page = Text { out, indent: "  │ ".repeat(depth) };
    let mut steps = Steps::open(folder)?;
    let about = steps.about.clone();
    page.line(&format!("\x1b[1mrun {} of {}\x1b[0m", escape_terminal(&about.run), escape_terminal(&about.agent)))?;
    page.line(&escape_terminal(&format!("profile {}, component {}", about.profile, about.component)))?;
    if let Some(other) = child.and_then(|child| child.other(folder, &about)) {
        page.line(&format!("\x1b[31m{}\x1b[0m", escape_terminal(&other)))?;
        faults.push(other);
    }
    let mut known = Known::default();
    let mut count = 0;
    let mut last = 0;
    while let Some(step) = steps.next() {
        if count == 0 {
            known = Known::new(child.map_or(step.at, |child| child.start));
            page.line(&format!("began {}", when(step.at)))?;
        }
        (count, last) = (step.number, step.at);
        page.line("")?;
        let entries = known.entries(&steps, &step);
        for (index, entry) in entries.iter().enumerate() {
            let head = match index {
                0 => format!("{:>11} {:>4}  ", known.time(step.at), step.number),
                _ => " ".repeat(18),
            };
            page.entry(&head, entry)?;
            if let Some(child) = &entry.child {
                nested(&mut page, folder, child, &known, depth, faults)?;
            }
        }
    }
    page.line("")?;
    page.line(&escape_terminal(&known.ending(count, last)))?;
    if let Some(fault) = steps.fault() {
        let fault = format!("{}: {fault}", folder.display());
        page.line(&format!("\x1b[31mhere the journal ends: {}\x1b[0m", escape_terminal(&fault)))?;
        faults.push(fault);
    }
    Ok(())
}

/// Writes the child that an action started, if its folder exists.
fn nested(
    page: &mut Text<impl Write>,
    folder: &Path,
    started: &Started,
    known: &Known,
    depth: usize,
    faults: &mut Vec<String>,
) -> Result<(), TraceError> {
    let Some(child) = child_folder(folder, &started.call).filter(|child| child.is_dir()) else {
        return page.line(&format!("{:18}  the child's folder is not there", ""));
    };
    if depth >= MAX_DEPTH {
        return page.line(&escape_terminal(&format!(
            "{:18}  deeper children are left out: see {}",
            "",
            child.display()
        )));
    }
    let place = Child { start: known.start, depth: depth + 1, started };
    match write_run(page.out, &child, Some(place), faults) {
        // An unreadable child does not end the trace of its parent.
        Err(error) if !matches!(error, TraceError::Write(_)) => {
            let error = with_sources(&error);
            page.line(&format!("{:18}  \x1b[31m{}\x1b[0m", "", escape_terminal(&error)))?;
            faults.push(error);
            Ok(())
        }
        written => written,
    }
}

/// The lines of a run, indented by its depth.
struct Text<'o, W> {
    out: &'o mut W,
    indent: String,
}

impl<W: Write> Text<'_, W> {
    fn line(&mut self, line: &str) -> Result<(), TraceError> {
        writeln!(self.out, "{}{line}", self.indent).map_err(TraceError::Write)
    }

    fn entry(&mut self, head: &str, entry: &Entry) -> Result<(), TraceError> {
        let style = match entry.tone {
            Tone::Plain => "",
            Tone::Good => "\x1b[32m",
            Tone::Bad => "\x1b[31m",
            Tone::Wait => "\x1b[33m",
        };
        let title = escape_terminal(&one_line(&entry.title));
        let end = if style.is_empty() { "" } else { "\x1b[0m" };
        self.line(&format!("{head}{style}{title}{end}"))?;
        for (name, text) in &entry.parts {
            let lines = shown(text);
            let space = " ".repeat(20);
            match lines.as_slice() {
                [only] => self.line(&format!("{space}\x1b[2m{name}:\x1b[0m {only}"))?,
                several => {
                    self.line(&format!("{space}\x1b[2m{name}:\x1b[0m"))?;
                    for line in several {
                        self.line(&format!("{space}  {line}"))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns a title on one line, truncated.
fn one_line(title: &str) -> String {
    cut(&title.replace(['\n', '\r'], " "), 400)
}

/// Returns the first lines of a text, escaped, followed by how much was removed.
fn shown(text: &str) -> Vec<String> {
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut lines: Vec<String> = head.lines().take(MAX_LINES).map(escape_terminal).collect();
    let bytes: usize = head.lines().take(MAX_LINES).map(|line| line.len() + 1).sum();
    let more = text.len().saturating_sub(bytes.min(head.len()));
    if more > 0 {
        lines.push(format!("… (cut: {more} more bytes)"));
    }
    lines
}
