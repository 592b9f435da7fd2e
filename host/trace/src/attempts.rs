//! Formats a journal of `seamgate run` as text for a terminal: each attempt, its mistakes, and each decision.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
};

use seamgate::{Disposition, Report, open_regular};
use seamgate_text::{count, escape_terminal, shorten};
use serde::{Deserialize, de::Error as _};

use crate::{
    error::TraceError,
    format::{many, span},
};

/// The longest line to read, in bytes.
const MAX_LINE: u64 = 256 * 1024 * 1024;
/// The maximum number of an attempt's violations that are shown, and the longest one, in characters.
const MAX_VIOLATIONS: usize = 8;
const MAX_TEXT: usize = 300;
/// The maximum number of foreign lines that are reported one by one.
const MAX_FAULTS: usize = 5;

/// The members that all lines have. `schemas/journal.schema.json` has all of them.
#[derive(Deserialize)]
struct Head {
    event: String,
    time: String,
    run: u64,
    #[serde(default)]
    attempt: u64,
}

#[derive(Deserialize)]
struct Begin {
    agent: String,
    contract: String,
    command: Vec<String>,
}

#[derive(Deserialize)]
struct Attempt {
    bytes: u64,
    elapsed_ms: u64,
    finish: String,
    report: Report,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
    bytes: u64,
    elapsed_ms: u64,
}

#[derive(Deserialize)]
struct Decision {
    decision: String,
    #[serde(default)]
    status: Option<u8>,
}

/// The parts of a journal's event that a trace shows.
enum Event {
    Begin(Begin),
    Start,
    Attempt(Box<Attempt>),
    Failure(Failure),
    Decision(Decision),
}

/// Reads a line of a journal.
fn read(line: &[u8]) -> Result<(Head, Event), serde_json::Error> {
    let head: Head = serde_json::from_slice(line)?;
    let event = match head.event.as_str() {
        "begin" => Event::Begin(serde_json::from_slice(line)?),
        "start" => Event::Start,
        "attempt" => Event::Attempt(Box::new(serde_json::from_slice(line)?)),
        "failure" => Event::Failure(serde_json::from_slice(line)?),
        "decision" => Event::Decision(serde_json::from_slice(line)?),
        other => return Err(serde_json::Error::custom(format!("unknown event {other:?}"))),
    };
    Ok((head, event))
}

/// Writes the runs of a journal. Returns the faults of its lines, one sentence each.
///
/// # Errors
///
/// The file cannot be read or is not such a journal, or writing fails.
pub(crate) fn write_text(out: &mut impl Write, path: &Path) -> Result<Vec<String>, TraceError> {
    let unreadable = |source| TraceError::Unreadable { path: path.to_owned(), source };
    let file = open_regular(File::options().read(true), path).map_err(unreadable)?;
    let mut input = BufReader::new(file);
    let (mut faults, mut others) = (Vec::new(), 0_usize);
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        if (&mut input).take(MAX_LINE).read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        match read(&line) {
            Ok((head, event)) => write_line(out, &head, &event).map_err(TraceError::Write)?,
            Err(_) if number == 1 => return Err(TraceError::NotAJournal { path: path.to_owned() }),
            Err(_) if faults.len() < MAX_FAULTS => {
                faults.push(format!("{}, line {number}: not a line of the journal", path.display()));
            }
            Err(_) => others += 1,
        }
    }
    if others > 0 {
        faults.push(format!("{}: {} more", path.display(), count(others, "such line")));
    }
    Ok(faults)
}

fn write_line(out: &mut impl Write, Head { time, run, attempt, .. }: &Head, event: &Event) -> std::io::Result<()> {
    let mut say = |style: &str, text: &str| {
        let text = escape_terminal(text);
        let end = if style.is_empty() { "" } else { "\x1b[0m" };
        writeln!(out, "{style}{text}{end}")
    };
    match event {
        Event::Begin(Begin { agent, contract, command }) => {
            if *run > 1 {
                say("", "")?;
            }
            say("\x1b[1m", &format!("run {run} of {agent}"))?;
            say("", &format!("contract {contract}"))?;
            say("", &format!("agent's command: {}", shorten(&command.join(" "), MAX_TEXT)))?;
            say("", &format!("began {time}"))
        }
        Event::Start => Ok(()),
        Event::Attempt(attempted) => {
            let Attempt { bytes, elapsed_ms, finish, report } = &**attempted;
            let style = match report.disposition {
                Disposition::Accepted => "\x1b[32m",
                Disposition::Partial => "\x1b[33m",
                _ => "\x1b[31m",
            };
            let (verdict, bytes, elapsed) = (report.disposition.as_str(), many(*bytes, "byte"), span(*elapsed_ms));
            say(style, &format!("{time}  attempt {attempt}: {verdict}; {bytes}, finish {finish}, after {elapsed}"))?;
            let items = report.quarantined.iter().flat_map(|item| &item.violations);
            let all: Vec<_> = report.violations().iter().chain(items).collect();
            for violation in all.iter().take(MAX_VIOLATIONS) {
                say("", &format!("    {}", shorten(&format!("{} {}", violation.path, violation.message), MAX_TEXT)))?;
            }
            match all.len().saturating_sub(MAX_VIOLATIONS) {
                0 => Ok(()),
                more => say("", &format!("    … and {more} more")),
            }
        }
        Event::Failure(Failure { message, bytes, elapsed_ms }) => {
            let (bytes, elapsed) = (many(*bytes, "byte"), span(*elapsed_ms));
            let message = shorten(message, MAX_TEXT);
            say("\x1b[31m", &format!("{time}  attempt {attempt}: {message}; {bytes}, after {elapsed}"))
        }
        Event::Decision(Decision { decision, status }) => {
            let words = match decision.as_str() {
                "ask_again" => "asked again",
                "accepted" => "ended: accepted",
                "partial" => "ended: partial",
                "refused" => "ended: the agent declined",
                "not_retryable" => "ended: another attempt cannot help",
                "repeated" => "ended: two attempts in a row had the same violations",
                "limit" => "ended: the contract's 'retry.limit' allows no more",
                other => other,
            };
            let status = status.map(|status| format!(", exit status {status}")).unwrap_or_default();
            say("", &format!("{time}  {words}{status}"))
        }
    }
}
