//! The journal of runs: one JSON line for each attempt and each decision, appended and synced before anything goes on, so
//! that it can be read, and the run be gone on with, after an end at any point.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, bail};
use seamgate::{Produced, Report, Verdict, digest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::status::NoVerdict;

/// What a run is about. One can be gone on with if all of this is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) agent: String,
    /// The contract's digest.
    pub(crate) contract: String,
    pub(crate) command: Vec<String>,
    /// The digest of what the agent was given on standard input.
    pub(crate) prompt: String,
    /// The digest of the lists that values are held to.
    pub(crate) lists: String,
}

/// A line, as far as all are alike.
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

/// An attempt that was judged.
#[derive(Serialize)]
struct Judged<'a> {
    /// The contract's digest.
    contract: &'a str,
    /// The digest of the raw output.
    output: String,
    bytes: usize,
    /// The agent's exit status: only what ended well is judged.
    exit: u8,
    elapsed_ms: u128,
    finish: &'a str,
    disposition: &'a str,
    usage: Used,
    /// The verdict on this output alone, without `raw_output`.
    report: Box<RawValue>,
}

#[derive(Serialize)]
struct Used {
    fuel: u64,
    memory: usize,
}

/// An attempt on which there is no verdict.
#[derive(Serialize)]
struct Failed<'a> {
    message: &'a str,
    /// The digest of what it wrote.
    output: String,
    bytes: usize,
    /// The agent's exit status, null where it had none of its own.
    exit: Option<i32>,
    elapsed_ms: u128,
}

/// What was decided after an attempt.
#[derive(Serialize)]
pub(crate) struct Decision<'a> {
    /// `ask_again`, or why no more was asked.
    pub(crate) decision: &'a str,
    /// The exit status, where no more was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u8>,
}

/// An open journal, and the run in it that is under way.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    run: u32,
    keeps_outputs: bool,
    /// The last decision, and the attempt that it was about.
    decided: Option<(u32, String)>,
}

impl Journal {
    /// Open a journal for a run, or, with `resume`, for its last run if there is one; and the reports of the attempts that
    /// it has of it.
    pub(crate) fn open(path: &Path, about: &About, resume: bool, keeps_outputs: bool) -> Result<(Self, Vec<Report>)> {
        let name = || format!("the journal {}", path.display());
        let mut file = open_file(File::options().read(true).append(true).create(true), path).with_context(name)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{} is being written by another run", name()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(name),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).with_context(name)?;
        // A line that was not written to its end says nothing: what it was about is done again.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64).with_context(name)?;
            text.truncate(whole);
        }
        let text = String::from_utf8(text).with_context(name)?;
        let last = Last::read(&text).with_context(name)?;
        let mut journal = Journal { file, path: path.to_owned(), run: last.run, keeps_outputs, decided: last.decided };
        match last.about {
            Some(was) if resume => {
                let differs = [
                    ("agent", was.agent != about.agent),
                    ("contract", was.contract != about.contract),
                    ("command", was.command != about.command),
                    ("standard input", was.prompt != about.prompt),
                    ("lists", was.lists != about.lists),
                ];
                if let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) {
                    bail!("{}: its last run had not the same {what}; without --resume a new one begins", name());
                }
                Ok((journal, last.reports))
            }
            _ => {
                journal.run += 1;
                journal.decided = None;
                journal.write("begin", None, about)?;
                Ok((journal, Vec::new()))
            }
        }
    }

    pub(crate) fn start(&mut self, attempt: u32) -> Result<()> {
        #[derive(Serialize)]
        struct Nothing {}
        self.write("start", Some(attempt), &Nothing {})
    }

    /// Keep what an attempt gave, where that is asked for, and the verdict on it.
    pub(crate) fn judged(
        &mut self,
        attempt: u32,
        produced: &Produced,
        elapsed_ms: u128,
        verdict: &Verdict,
    ) -> Result<()> {
        self.keep(attempt, &produced.output)?;
        // Raw text is kept beside the journal or not at all.
        let mut report = verdict.report.clone();
        if let Some(error) = &mut report.error {
            error.raw_output.clear();
        }
        let judged = Judged {
            contract: &report.contract,
            output: digest(&produced.output),
            bytes: produced.output.len(),
            exit: 0,
            elapsed_ms,
            finish: produced.finish.word(),
            disposition: report.disposition.word(),
            usage: Used { fuel: verdict.usage.fuel, memory: verdict.usage.memory },
            report: RawValue::from_string(report.to_json())?,
        };
        self.write("attempt", Some(attempt), &judged)
    }

    /// Note an attempt on which there is no verdict, and keep what it wrote as for others.
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
        write_private(&path, output).map_err(|error| NoVerdict(format!("{}: {error}", path.display())).into())
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
        let end = self.file.seek(io::SeekFrom::End(0));
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            // What was written of a line is no line.
            if let Ok(end) = end {
                let _ = self.file.set_len(end);
            }
            NoVerdict(format!("the journal {}: {error}", self.path.display())).into()
        })
    }
}

/// What a journal has of its last run.
#[derive(Default)]
struct Last {
    run: u32,
    about: Option<About>,
    reports: Vec<Report>,
    decided: Option<(u32, String)>,
}

impl Last {
    fn read(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Verdict {
            report: Report,
        }
        let mut last = Last::default();
        for (number, line) in text.lines().enumerate() {
            let read = || format!("line {} is no journal's", number + 1);
            let head: Head = serde_json::from_str(line).with_context(read)?;
            match head.event.as_str() {
                "begin" => {
                    let about = Some(serde_json::from_str(line).with_context(read)?);
                    last = Last { run: head.run, about, ..Last::default() };
                }
                "attempt" => last.reports.push(serde_json::from_str::<Verdict>(line).with_context(read)?.report),
                "decision" => last.decided = Some((head.attempt, head.decision)),
                _ => {}
            }
        }
        Ok(last)
    }
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_file(File::options().write(true).create(true).truncate(true), path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Open a file that is its owner's alone if it is made. What is none, a pipe or a device, is refused, and not waited for.
pub(crate) fn open_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        options.mode(0o600).custom_flags(flags);
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "must be a file")),
    }
}
