//! The journal of runs: one JSON line for each attempt and each decision, appended and synced before anything goes on, so
//! that it can be read, and the run be gone on with, after an end at any point.

use std::{
    fs::{self, File, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, anyhow, bail};
use seamgate::{Produced, Report, Verdict, digest, open_regular};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    ndjson::skip_line,
    picture::safe,
    status::{NoVerdict, say},
};

/// The longest line that is read, in bytes. No report is as long.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// What a line begins with.
const BEGIN: &[u8] = b"{\"event\":\"";

/// Lines that are told one by one.
const MAX_TOLD: usize = 5;

/// What a run is about. One can be gone on with if all of this is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) agent: String,
    /// The contract's digest.
    pub(crate) contract: String,
    /// The component's digest: another one may judge otherwise.
    #[serde(default)]
    pub(crate) component: String,
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
    /// Its length, as far as this run knows.
    end: u64,
}

impl Journal {
    /// Open a journal for a run, or, with `resume`, for its last run if there is one; and the reports of the attempts that
    /// it has of it.
    pub(crate) fn open(path: &Path, about: About, resume: bool, keeps_outputs: bool) -> Result<(Self, Vec<Report>)> {
        let name = || format!("the journal {}", path.display());
        let mut options = File::options();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = open_regular(&mut options, path).with_context(name)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{} is being written by another run", name()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(name),
        }
        let last = Last::read(&mut file, &name()).with_context(name)?;
        make_private(&file, &name()).with_context(name)?;
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
                ];
                if let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) {
                    bail!("{}: its last run had not the same {what}; without --resume a new one begins", name());
                }
                if was.component != about.component {
                    return Err(NoVerdict(format!(
                        "{}: its last run was judged by another component, {:?}; this one is {:?}; without --resume a new run begins",
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
            usage: Used { fuel: verdict.usage.fuel, memory: verdict.usage.memory, component: &verdict.usage.component },
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
        self.append(line).map_err(|error| NoVerdict(format!("the journal {}: {error}", self.path.display())).into())
    }

    /// Append a line, as a line of its own whatever somebody else has written meanwhile.
    fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        let end = self.file.seek(io::SeekFrom::End(0))?;
        if end != self.end {
            say(&format!(
                "seamgate: the journal {}: somebody else has changed it, from {} to {end} bytes; the run goes on after that",
                safe(&self.path.display().to_string()),
                self.end,
            ));
            if !ends_a_line(&mut self.file, end)? {
                line.insert(0, b'\n');
            }
        }
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        self.end = end + line.len() as u64;
        written.inspect_err(|_| {
            // What was written of a line is no line.
            let _ = self.file.set_len(end);
            self.end = end;
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
    /// Read a journal to its end. A line that is not of a run, as an agent may have put it there, is passed over and told;
    /// where a run lacks one, that is an error. What was not written to its end is told and cut off: what it was about is
    /// done again.
    fn read(file: &mut File, name: &str) -> Result<Self> {
        let mut last = Last::default();
        let mut passed_over = Vec::new();
        let mut input = BufReader::new(&mut *file);
        // What is before the last line.
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
                    last.take(head, &line).with_context(|| format!("line {number} is no journal's"))?;
                    true
                }
                _ => false,
            };
            if is_taken {
                continue;
            }
            let is_torn = !is_whole && !is_long && line.iter().zip(BEGIN).all(|(one, other)| one == other);
            // What does not begin as a journal is none, and somebody's.
            if number == 1 && !is_torn {
                bail!("line 1 is no journal's");
            }
            let what =
                if is_torn { "was not written to its end, and is cut off" } else { "is of no run, and is passed over" };
            let text: String = String::from_utf8_lossy(&line[..line.len().min(240)]).chars().take(60).collect();
            passed_over.push(format!("seamgate: {name}: line {number} {what}: {:?}", safe(text.trim_end())));
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
        passed_over.iter().take(MAX_TOLD).for_each(|told| say(told));
        if passed_over.len() > MAX_TOLD {
            say(&format!("seamgate: {name}: … and {} lines more", passed_over.len() - MAX_TOLD));
        }
        Ok(last)
    }

    /// Take a line of a run.
    fn take(&mut self, head: Head, line: &[u8]) -> Result<()> {
        #[derive(Deserialize)]
        struct Verdict {
            report: Report,
        }
        let made = u32::try_from(self.reports.len()).unwrap_or(u32::MAX);
        let follows = |attempt: u32| match self.run == head.run && head.attempt == attempt {
            true => Ok(()),
            false => Err(anyhow!("run {}, attempt {}: what comes before it is missing", head.run, head.attempt)),
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

/// Whether a file of this length ends with a line's end, or is empty.
fn ends_a_line(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(io::SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Take from everybody else what they may do with a journal that was there already.
fn make_private(file: &File, name: &str) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
            say(&format!("seamgate: {}: others could read or write it; from now on its owner alone can", safe(name)));
        }
    }
    #[cfg(not(unix))]
    let _ = (file, name);
    Ok(())
}

/// Write a file that is its owner's alone. What has its name is removed: what a link leads to is not written to.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = create_anew(&mut options, path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Make a file by a name that this user did not type. Whatever has the name is removed, and not followed.
pub(crate) fn create_anew(options: &mut fs::OpenOptions, path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => options.create_new(true).open(path),
    }
}
