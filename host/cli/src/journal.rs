//! The journal of runs: one JSON line for each attempt and each decision. The run appends and syncs each line before it
//! continues, so `--resume` works whenever a run was stopped.

use std::{
    fs::{File, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, anyhow, bail};
use seamgate::{Produced, Report, Verdict, digest, open_regular};
use seamgate_text::{escape_terminal, say};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{error::NoVerdict, input::skip_line, private};

/// The longest line, in bytes. No report is as long.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// The beginning of each line.
const BEGIN: &[u8] = b"{\"event\":\"";

/// Skipped lines to name one by one.
const MAX_SKIPPED: usize = 5;

/// What identifies a run. `--resume` continues a run only if all of it is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) agent: String,
    /// The contract's digest.
    pub(crate) contract: String,
    /// The component's digest: another component may give another verdict.
    #[serde(default)]
    pub(crate) component: String,
    pub(crate) command: Vec<String>,
    /// The digest of the agent's standard input.
    pub(crate) prompt: String,
    /// The digest of the lists of allowed values.
    pub(crate) lists: String,
    /// The digest of the evidence, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<String>,
}

/// The members that all lines have.
#[derive(Deserialize)]
struct Head {
    event: String,
    run: u32,
    #[serde(default)]
    attempt: u32,
    #[serde(default)]
    decision: String,
}

#[derive(Serialize)]
struct Line<'l, T> {
    event: &'static str,
    /// RFC 3339, UTC.
    time: String,
    /// Which run in this file, from 1.
    run: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(flatten)]
    rest: &'l T,
}

/// An attempt with a verdict.
#[derive(Serialize)]
struct Attempt<'a> {
    /// The contract's digest.
    contract: &'a str,
    /// The digest of the raw output.
    output: String,
    bytes: usize,
    /// The agent's exit status: only an output with status 0 is judged.
    exit: u8,
    elapsed_ms: u128,
    finish: &'a str,
    disposition: &'a str,
    usage: Used<'a>,
    /// The verdict on this output alone, without `raw_output`.
    report: Box<RawValue>,
}

#[derive(Serialize)]
struct Used<'a> {
    fuel: u64,
    memory: usize,
    component: &'a str,
}

/// An attempt without a verdict.
#[derive(Serialize)]
struct Failed<'a> {
    message: &'a str,
    /// The digest of the raw output.
    output: String,
    bytes: usize,
    /// The agent's exit status, or null if it was ended.
    exit: Option<i32>,
    elapsed_ms: u128,
}

/// The decision after an attempt.
#[derive(Serialize)]
pub(crate) struct Decision<'a> {
    /// `ask_again`, or why the run stopped.
    pub(crate) decision: &'a str,
    /// The exit status, if the run stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u8>,
}

/// An open journal, and its current run.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    run: u32,
    keeps_outputs: bool,
    /// The last decision, and its attempt.
    decided: Option<(u32, String)>,
    /// Its length after the last line that this run wrote.
    end: u64,
}

impl Journal {
    /// Open a journal for a new run, or, with `resume`, for its last run if there is one. Gives the reports of the attempts
    /// that the journal has of that run.
    pub(crate) fn open(path: &Path, about: About, resume: bool, keeps_outputs: bool) -> Result<(Self, Vec<Report>)> {
        let name = || format!("the journal {}", path.display());
        let mut options = File::options();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = open_regular(&mut options, path).with_context(name)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another run is writing {}", name()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(name),
        }
        let last = Last::read(&mut file, &name()).with_context(name)?;
        if private::restrict(&file).with_context(name)? {
            say(&format!(
                "seamgate: other users could read or write {}; now only its owner can",
                escape_terminal(&name())
            ));
        }
        let end = file.seek(io::SeekFrom::End(0)).with_context(name)?;
        let (run, decided) = (last.run, last.decided);
        let mut journal = Journal { file, path: path.to_owned(), run, keeps_outputs, decided, end };
        match last.about {
            Some(was) if resume => {
                let differs = [
                    ("agent", was.agent != about.agent),
                    ("contract", was.contract != about.contract),
                    ("command", was.command != about.command),
                    ("standard input", was.prompt != about.prompt),
                    ("lists", was.lists != about.lists),
                    ("evidence", was.evidence != about.evidence),
                ];
                if let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) {
                    bail!("{}: its last run had another {what}; start a new run without --resume", name());
                }
                if was.component != about.component {
                    return Err(NoVerdict(format!(
                        "{}: its last run used another component, {:?}, and not {:?}; start a new run without --resume",
                        name(),
                        was.component,
                        about.component
                    ))
                    .into());
                }
                Ok((journal, last.reports))
            }
            _ => {
                journal.run += 1;
                journal.decided = None;
                journal.write("begin", None, &about)?;
                Ok((journal, Vec::new()))
            }
        }
    }

    pub(crate) fn start(&mut self, attempt: u32) -> Result<()> {
        #[derive(Serialize)]
        struct Nothing {}
        self.write("start", Some(attempt), &Nothing {})
    }

    /// Note the verdict on an attempt, and keep its output if `--keep-outputs` asks for it.
    pub(crate) fn judged(
        &mut self,
        attempt: u32,
        produced: &Produced,
        elapsed_ms: u128,
        verdict: &Verdict,
    ) -> Result<()> {
        self.keep(attempt, &produced.output)?;
        // The journal has no raw output: that stands beside it, or nowhere.
        let mut report = verdict.report.clone();
        if let Some(error) = &mut report.error {
            error.raw_output.clear();
        }
        let line = Attempt {
            contract: &report.contract,
            output: digest(&produced.output),
            bytes: produced.output.len(),
            exit: 0,
            elapsed_ms,
            finish: produced.finish.as_str(),
            disposition: report.disposition.as_str(),
            usage: Used { fuel: verdict.usage.fuel, memory: verdict.usage.memory, component: &verdict.usage.component },
            report: RawValue::from_string(report.to_json())?,
        };
        self.write("attempt", Some(attempt), &line)
    }

    /// Note an attempt without a verdict, and keep its output in the same way.
    pub(crate) fn failed(
        &mut self,
        attempt: u32,
        output: &[u8],
        elapsed_ms: u128,
        (exit, message): (Option<i32>, &str),
    ) -> Result<()> {
        self.keep(attempt, output)?;
        let failed = Failed { message, output: digest(output), bytes: output.len(), exit, elapsed_ms };
        self.write("failure", Some(attempt), &failed)
    }

    fn keep(&self, attempt: u32, output: &[u8]) -> Result<()> {
        if !self.keeps_outputs {
            return Ok(());
        }
        let path = self.path.with_added_extension(format!("run-{}.attempt-{attempt}.txt", self.run));
        private::write(&path, output)
            .map_err(|error| NoVerdict(format!("cannot write {}: {error}", path.display())).into())
    }

    /// Note a decision, once.
    pub(crate) fn decided(&mut self, attempt: u32, decision: &Decision) -> Result<()> {
        let this = Some((attempt, decision.decision.to_owned()));
        if self.decided == this {
            return Ok(());
        }
        self.decided = this;
        self.write("decision", Some(attempt), decision)
    }

    fn write<T: Serialize>(&mut self, event: &'static str, attempt: Option<u32>, rest: &T) -> Result<()> {
        let time = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut line = serde_json::to_vec(&Line { event, time, run: self.run, attempt, rest })?;
        line.push(b'\n');
        self.append(line)
            .map_err(|error| NoVerdict(format!("cannot write the journal {}: {error}", self.path.display())).into())
    }

    /// Append a line. It starts a new line, even if another program has written to the journal.
    fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        let end = self.file.seek(io::SeekFrom::End(0))?;
        if end != self.end {
            say(&format!(
                "seamgate: another program changed the journal {} from {} to {end} bytes; the run continues after that",
                escape_terminal(&self.path.display().to_string()),
                self.end,
            ));
            if !ends_a_line(&mut self.file, end)? {
                line.insert(0, b'\n');
            }
        }
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        self.end = end + line.len() as u64;
        written.inspect_err(|_| {
            // Remove a line that is not complete.
            let _ = self.file.set_len(end);
            self.end = end;
        })
    }
}

/// The last run of a journal.
#[derive(Default)]
struct Last {
    run: u32,
    about: Option<About>,
    reports: Vec<Report>,
    decided: Option<(u32, String)>,
}

impl Last {
    /// Read a journal to its end. A line that belongs to no run, which an agent may have written, is skipped with a
    /// message. A run that lacks a line is an error. An incomplete last line is removed with a message, and the run does
    /// that step again.
    fn read(file: &mut File, name: &str) -> Result<Self> {
        let mut last = Last::default();
        let mut skipped = Vec::new();
        let mut input = BufReader::new(&mut *file);
        // Where the line starts, and its length.
        let (mut start, mut length) = (0, 0);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            start += length;
            length = (&mut input).take(MAX_LINE as u64).read_until(b'\n', &mut line)? as u64;
            let is_whole = line.last() == Some(&b'\n');
            let is_long = !is_whole && line.len() == MAX_LINE;
            if length == 0 {
                break;
            }
            if is_long {
                skip_line(&mut input)?;
            }
            let is_taken = match serde_json::from_slice(&line) {
                Ok(head) if is_whole => {
                    last.take(head, &line).with_context(|| format!("line {number} is not a line of a journal"))?;
                    true
                }
                _ => false,
            };
            if is_taken {
                continue;
            }
            let is_torn = !is_whole && !is_long && line.iter().zip(BEGIN).all(|(one, other)| one == other);
            // A file that does not begin as a journal is another file of the user: leave it alone.
            if number == 1 && !is_torn {
                bail!("line 1 is not a line of a journal");
            }
            let what = if is_torn { "is incomplete, and removed" } else { "belongs to no run, and is skipped" };
            let text: String = String::from_utf8_lossy(&line[..line.len().min(240)]).chars().take(60).collect();
            skipped.push(format!("seamgate: {name}: line {number} {what}: {:?}", escape_terminal(text.trim_end())));
            if is_torn {
                file.set_len(start)?;
                break;
            }
            if !is_whole && !is_long {
                break;
            }
        }
        let end = file.seek(io::SeekFrom::End(0))?;
        if !ends_a_line(file, end)? {
            file.write_all(b"\n")?;
        }
        skipped.iter().take(MAX_SKIPPED).for_each(|line| say(line));
        if skipped.len() > MAX_SKIPPED {
            say(&format!("seamgate: {name}: … and {} more lines", skipped.len() - MAX_SKIPPED));
        }
        Ok(last)
    }

    /// Add a line of a run.
    fn take(&mut self, head: Head, line: &[u8]) -> Result<()> {
        #[derive(Deserialize)]
        struct Verdict {
            report: Report,
        }
        let made = u32::try_from(self.reports.len()).unwrap_or(u32::MAX);
        let follows = |attempt: u32| match self.run == head.run && head.attempt == attempt {
            true => Ok(()),
            false => Err(anyhow!("run {}, attempt {}: the lines before it are missing", head.run, head.attempt)),
        };
        match head.event.as_str() {
            "begin" => {
                let about = Some(serde_json::from_slice(line)?);
                *self = Last { run: head.run, about, ..Last::default() };
            }
            "attempt" => {
                let verdict: Verdict = serde_json::from_slice(line)?;
                follows(made.saturating_add(1))?;
                self.reports.push(verdict.report);
            }
            "decision" => {
                follows(made)?;
                self.decided = Some((head.attempt, head.decision));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a file of this length ends with a line end, or is empty.
fn ends_a_line(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(io::SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
