//! `seamgate trace`: shows a run as a person reads it, from its folder alone.

mod claims;
mod html;
mod otlp;
mod profile;
mod steps;
mod tell;

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use anyhow::Result;
use seamgate::write_private;
use seamgate_text::{escape_terminal, say};

pub(crate) use self::{
    claims::{Cite, Claim, Claims},
    profile::{ENDED_PLAN, PLAN, open as open_profile},
    steps::{Action, Event, Json, Record, Steps, child_folder},
    tell::{Known, cut, full},
};

use self::{
    steps::About,
    tell::{Entry, Started, Tone, many},
};
use crate::{
    error::{NoVerdict, Unwritten},
    status::Status,
};

pub(crate) const HELP: &str = "\
Exit status: 0 the whole run was shown, 2 usage error, 5 the journal is damaged or torn: all before that was shown";

/// A text is cut to this many lines and bytes in a terminal.
const MAX_LINES: usize = 12;
const MAX_BYTES: usize = 1200;

/// Children of children are shown down to here.
pub(crate) const MAX_DEPTH: usize = 8;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of a run
    dir: PathBuf,
    /// Write one page for a browser instead, which loads nothing and runs nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write OTLP/JSON instead, with the names of OpenTelemetry's conventions for generative AI
    #[arg(long, value_name = "FILE")]
    otlp: Option<PathBuf>,
    /// The profile of the run, for what each audience sees and for claims [default: one that DIR/agent.json names]
    #[arg(short, long, value_name = "PROFILE")]
    profile: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let mut faults = Vec::new();
    if let Some(file) = &arguments.html {
        let page = html::page(&arguments.dir, arguments.profile.as_deref(), &mut faults)?;
        write(file, &page)?;
    }
    if let Some(file) = &arguments.otlp {
        faults.clear();
        write(file, &otlp::request(&arguments.dir, &mut faults)?)?;
    }
    if arguments.html.is_none() && arguments.otlp.is_none() {
        let mut out = BufWriter::new(anstream::stdout().lock());
        text(&mut out, &arguments.dir, None, &mut faults)?;
        out.flush().map_err(Unwritten::from)?;
    }
    for fault in &faults {
        say(&format!("seamgate: {}", escape_terminal(fault)));
    }
    Ok(if faults.is_empty() { Status::Accepted } else { Status::Fault })
}

/// Write a file that only its owner can read: a trace holds what the run held.
fn write(file: &Path, text: &str) -> Result<()> {
    write_private(file, text.as_bytes())
        .map_err(|error| NoVerdict(format!("cannot write {}: {error}", file.display())).into())
}

/// Where a child stands in the trace of its parent.
#[derive(Clone, Copy)]
struct Child<'c> {
    /// When the trace begins.
    start: u64,
    depth: usize,
    /// What the parent says of it.
    started: &'c Started,
}

impl Child<'_> {
    /// What is wrong if its folder has another run.
    fn other(&self, folder: &Path, about: &About) -> Option<String> {
        let run = &self.started.run;
        (about.run != *run).then(|| format!("{}: it has the run {:?}, and not {run:?}", folder.display(), about.run))
    }
}

/// A run as text, with its children. What is wrong with a journal goes to `faults`.
fn text(out: &mut impl Write, folder: &Path, child: Option<Child>, faults: &mut Vec<String>) -> Result<()> {
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
        let entries = known.tell(&steps, &step);
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
    page.line(&escape_terminal(&ending(&known, count, last)))?;
    if let Some(fault) = steps.fault() {
        let fault = format!("{}: {fault}", folder.display());
        page.line(&format!("\x1b[31mhere the journal ends: {}\x1b[0m", escape_terminal(&fault)))?;
        faults.push(fault);
    }
    Ok(())
}

/// The child that an action started, if its folder is there.
fn nested(
    page: &mut Text<impl Write>,
    folder: &Path,
    started: &Started,
    known: &Known,
    depth: usize,
    faults: &mut Vec<String>,
) -> Result<()> {
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
    match text(page.out, &child, Some(place), faults) {
        // A child that cannot be read does not end the trace of its parent.
        Err(error) if !error.is::<Unwritten>() => {
            faults.push(format!("{error:#}"));
            page.line(&format!("{:18}  \x1b[31m{}\x1b[0m", "", escape_terminal(&format!("{error:#}"))))
        }
        written => written,
    }
}

/// How far the run came.
fn ending(known: &Known, steps: u64, last: u64) -> String {
    let status = match &known.status {
        Some(status) => status.clone(),
        None => match known.waits().as_slice() {
            [] => "under way".to_owned(),
            waits => format!("waits for {}", waits.join("; ")),
        },
    };
    let [steps, turns, calls, tokens] =
        [(steps, "step"), (known.turns, "turn"), (known.tool_calls, "call"), (known.tokens, "token")]
            .map(|(number, noun)| many(number, noun));
    let tokens = if known.tokens == 0 { String::new() } else { format!(", {tokens} as the model says") };
    format!("{status}: {steps}, {turns}, {calls} allowed{tokens}, {}", tell::span(last.saturating_sub(known.start)))
}

/// A time of the clock, as RFC 3339 in UTC.
fn when(at: u64) -> String {
    match UNIX_EPOCH.checked_add(Duration::from_millis(at)) {
        // Later than year 9999.
        Some(time) if at < 253_402_300_800_000 => humantime::format_rfc3339_millis(time).to_string(),
        _ => format!("{at} ms after 1970"),
    }
}

/// Lines in a terminal.
struct Text<'o, W> {
    out: &'o mut W,
    indent: String,
}

impl<W: Write> Text<'_, W> {
    fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{}{line}", self.indent).map_err(Unwritten::from)?;
        Ok(())
    }

    fn entry(&mut self, head: &str, entry: &Entry) -> Result<()> {
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

/// A title on one line, and not longer than that.
fn one_line(title: &str) -> String {
    cut(&title.replace(['\n', '\r'], " "), 400)
}

/// The first lines of a text, escaped, and how much was cut.
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
