//! The journal of a run of attempts: one JSON line for each attempt and each decision. The run appends and syncs each line
//! before it continues, so that it can be resumed wherever it was stopped.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::Path,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::{
    Produced,
    error::RetryJournalError,
    settings::{RetryJournal, RetryNotice},
};
use crate::{
    digest::digest,
    file::{open_regular, restrict, write_private},
    gate::verdict::Verdict,
    json::json,
    types::{Disposition, Finish, Report},
};

/// The longest line, in bytes. No report is that long.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// The beginning of each line.
const BEGIN: &[u8] = b"{\"event\":\"";

/// The most skipped lines that are reported one by one.
const MAX_SKIPPED: usize = 5;

/// The identity of a run. A run is resumed only if all of it is the same.
#[derive(Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) agent: String,
    /// The contract's digest.
    pub(super) contract: String,
    /// The component's digest. Another component may give another verdict.
    #[serde(default)]
    pub(super) component: String,
    /// The producer.
    pub(super) command: Vec<String>,
    /// The digest of the prompt.
    pub(super) prompt: String,
    /// The digest of the lists of allowed values.
    pub(super) lists: String,
    /// The digest of the evidence, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<String>,
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
struct RecordedLine<'l, T> {
    event: &'static str,
    /// The time as RFC 3339, in UTC.
    time: String,
    /// The number of the run in this file, from 1.
    run: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(flatten)]
    rest: &'l T,
}

/// An attempt with a verdict.
#[derive(Serialize)]
struct Judged<'a> {
    /// The contract's digest.
    contract: &'a str,
    /// The digest of the raw output.
    output: String,
    bytes: usize,
    /// The producer's exit status. Only an output with status 0 is judged.
    exit: u8,
    elapsed_ms: u128,
    finish: Finish,
    disposition: Disposition,
    usage: Used<'a>,
    /// The verdict on this output alone, without `raw_output`.
    report: &'a Report,
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
    /// The producer's exit status. `null` if the producer has no exit status or was terminated.
    exit: Option<i32>,
    elapsed_ms: u128,
}

/// The decision after an attempt.
#[derive(Serialize)]
struct Decided<'a> {
    /// `ask_again`, or the reason why the run stopped.
    decision: &'a str,
    /// The exit status of `seamgate run`, if the run stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u8>,
}

/// An open journal, and its current run.
pub(super) struct OpenJournal {
    file: File,
    settings: RetryJournal,
    run: u32,
    /// The last decision, and its attempt.
    decided: Option<(u32, String)>,
    /// The length of the file after the last line that this run wrote.
    end: u64,
}

impl OpenJournal {
    /// Opens a journal for a new run. To resume, opens it for its last run if there is one. Returns the reports of that
    /// run that the journal holds.
    pub(super) fn open(settings: &RetryJournal, identity: &Identity) -> Result<(Self, Vec<Report>), RetryJournalError> {
        let path = settings.path();
        let mut options = File::options();
        options.read(true).append(true).create(true);
        let (file, last) = open(path, &mut options, |notice| settings.notify(notice))?;
        let mut journal =
            OpenJournal { file, settings: settings.clone(), run: last.run, decided: last.decided, end: 0 };
        journal.end = journal.file.seek(io::SeekFrom::End(0)).map_err(cannot_open(path))?;
        match last.identity {
            Some(was) if settings.resume => {
                was.must_be(identity, path)?;
                Ok((journal, last.reports))
            }
            _ => {
                journal.run += 1;
                journal.decided = None;
                journal.write("begin", None, identity)?;
                Ok((journal, Vec::new()))
            }
        }
    }

    /// Records that an attempt starts.
    pub(super) fn start(&mut self, attempt: u32) -> Result<(), RetryJournalError> {
        #[derive(Serialize)]
        struct Nothing {}
        self.write("start", Some(attempt), &Nothing {})
    }

    /// Records the verdict on an attempt, and keeps its output if the settings ask for it.
    pub(super) fn judged(
        &mut self,
        attempt: u32,
        produced: &Produced,
        elapsed: Duration,
        verdict: &Verdict,
    ) -> Result<(), RetryJournalError> {
        self.keep(attempt, &produced.output)?;
        // The journal holds no raw output. The output is in a file beside the journal, or is not kept.
        let mut report = verdict.report.clone();
        if let Some(error) = &mut report.error {
            error.raw_output.clear();
        }
        let line = Judged {
            contract: &report.contract,
            output: digest(&produced.output),
            bytes: produced.output.len(),
            exit: 0,
            elapsed_ms: elapsed.as_millis(),
            finish: produced.finish,
            disposition: report.disposition,
            usage: Used { fuel: verdict.usage.fuel, memory: verdict.usage.memory, component: &verdict.usage.component },
            report: &report,
        };
        self.write("attempt", Some(attempt), &line)
    }

    /// Records an attempt without a verdict, and keeps its output in the same way.
    pub(super) fn failed(
        &mut self,
        attempt: u32,
        output: &[u8],
        elapsed: Duration,
        (exit, message): (Option<i32>, &str),
    ) -> Result<(), RetryJournalError> {
        self.keep(attempt, output)?;
        let elapsed_ms = elapsed.as_millis();
        let failed = Failed { message, output: digest(output), bytes: output.len(), exit, elapsed_ms };
        self.write("failure", Some(attempt), &failed)
    }

    fn keep(&self, attempt: u32, output: &[u8]) -> Result<(), RetryJournalError> {
        if !self.settings.keep_outputs {
            return Ok(());
        }
        let path = self.settings.path.with_added_extension(format!("run-{}.attempt-{attempt}.txt", self.run));
        write_private(&path, output).map_err(|source| RetryJournalError::WriteOutput { path, source })
    }

    /// Records a decision, once.
    pub(super) fn decided(
        &mut self,
        attempt: u32,
        decision: &str,
        status: Option<u8>,
    ) -> Result<(), RetryJournalError> {
        let this = Some((attempt, decision.to_owned()));
        if self.decided == this {
            return Ok(());
        }
        self.decided = this;
        self.write("decision", Some(attempt), &Decided { decision, status })
    }

    fn write<T: Serialize>(
        &mut self,
        event: &'static str,
        attempt: Option<u32>,
        rest: &T,
    ) -> Result<(), RetryJournalError> {
        let time = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut line = json(&RecordedLine { event, time, run: self.run, attempt, rest });
        line.push('\n');
        self.append(line.into_bytes())
            .map_err(|source| RetryJournalError::Write { path: self.settings.path.clone(), source })
    }

    /// Appends a line. It starts on a new line, even if another program has written to the journal.
    fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        let end = self.file.seek(io::SeekFrom::End(0))?;
        if end != self.end {
            self.settings.notify(&RetryNotice::Changed {
                path: self.settings.path.clone(),
                expected: self.end,
                found: end,
            });
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

impl Identity {
    /// Returns an error unless a run with this identity can be resumed as the other run.
    fn must_be(&self, other: &Identity, path: &Path) -> Result<(), RetryJournalError> {
        let path = path.to_owned();
        let differs = [
            ("agent", self.agent != other.agent),
            ("contract", self.contract != other.contract),
            ("command", self.command != other.command),
            ("standard input", self.prompt != other.prompt),
            ("lists", self.lists != other.lists),
            ("evidence", self.evidence != other.evidence),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            return Err(RetryJournalError::OtherRun { path, what });
        }
        if self.component != other.component {
            let (expected, found) = (self.component.clone(), other.component.clone());
            return Err(RetryJournalError::OtherComponent { path, expected, found });
        }
        Ok(())
    }
}

/// Opens and locks the file of a journal, reads its last run, and removes all rights of other users.
fn open(
    path: &Path,
    options: &mut OpenOptions,
    notify: impl Fn(&RetryNotice),
) -> Result<(File, Last), RetryJournalError> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let mut file = open_regular(options, path).map_err(cannot_open(path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(RetryJournalError::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => return Err(cannot_open(path)(error)),
    }
    let last = Last::read(&mut file, path, &notify)?;
    if restrict(&file).map_err(cannot_open(path))? {
        notify(&RetryNotice::Restricted { path: path.to_owned() });
    }
    Ok((file, last))
}

fn cannot_open(path: &Path) -> impl Fn(io::Error) -> RetryJournalError {
    |source| RetryJournalError::Open { path: path.to_owned(), source }
}

/// The last run of a journal.
#[derive(Default)]
struct Last {
    run: u32,
    identity: Option<Identity>,
    reports: Vec<Report>,
    decided: Option<(u32, String)>,
}

/// The reason why a line does not continue a run.
enum InvalidLine {
    Invalid(serde_json::Error),
    /// Earlier lines are missing.
    Gap {
        run: u32,
        attempt: u32,
    },
}

impl From<serde_json::Error> for InvalidLine {
    fn from(error: serde_json::Error) -> Self {
        InvalidLine::Invalid(error)
    }
}

impl InvalidLine {
    fn in_line(self, line: u64, path: &Path) -> RetryJournalError {
        let path = path.to_owned();
        match self {
            InvalidLine::Invalid(source) => RetryJournalError::Line { path, line, source },
            InvalidLine::Gap { run, attempt } => RetryJournalError::MissingLines { path, line, run, attempt },
        }
    }
}

impl Last {
    /// Reads a journal to its end.
    ///
    /// A line that belongs to no run, which an agent may have written, is skipped with a notice. A run that lacks a line is
    /// an error. An incomplete last line is removed with a notice, and the run repeats that step.
    fn read(file: &mut File, path: &Path, notify: impl Fn(&RetryNotice)) -> Result<Self, RetryJournalError> {
        let mut last = Last::default();
        let mut skipped = Vec::new();
        let mut input = BufReader::new(&mut *file);
        // The offset at which the line starts, and its length.
        let (mut start, mut length) = (0, 0);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            start += length;
            let read = (&mut input).take(MAX_LINE as u64).read_until(b'\n', &mut line);
            length = read.map_err(cannot_open(path))? as u64;
            let is_whole = line.last() == Some(&b'\n');
            let is_long = !is_whole && line.len() == MAX_LINE;
            if length == 0 {
                break;
            }
            if is_long {
                input.skip_until(b'\n').map_err(cannot_open(path))?;
            }
            let is_taken = match serde_json::from_slice(&line) {
                Ok(head) if is_whole => {
                    last.take(head, &line).map_err(|unfit| unfit.in_line(number, path))?;
                    true
                }
                _ => false,
            };
            if is_taken {
                continue;
            }
            let is_torn = !is_whole && !is_long && line.iter().zip(BEGIN).all(|(one, other)| one == other);
            // A file that does not begin as a journal belongs to the user: leave it alone.
            if number == 1 && !is_torn {
                return Err(RetryJournalError::NotAJournal { path: path.to_owned() });
            }
            let text: String = String::from_utf8_lossy(&line[..line.len().min(240)]).chars().take(60).collect();
            let text = text.trim_end().to_owned();
            skipped.push(match is_torn {
                true => RetryNotice::IncompleteLine { path: path.to_owned(), line: number, text },
                false => RetryNotice::SkippedLine { path: path.to_owned(), line: number, text },
            });
            if is_torn {
                file.set_len(start).map_err(cannot_open(path))?;
                break;
            }
            if !is_whole && !is_long {
                break;
            }
        }
        let end = file.seek(io::SeekFrom::End(0)).map_err(cannot_open(path))?;
        if !ends_a_line(file, end).map_err(cannot_open(path))? {
            file.write_all(b"\n").map_err(cannot_open(path))?;
        }
        skipped.iter().take(MAX_SKIPPED).for_each(&notify);
        if skipped.len() > MAX_SKIPPED {
            notify(&RetryNotice::MoreLines { path: path.to_owned(), lines: skipped.len() - MAX_SKIPPED });
        }
        Ok(last)
    }

    /// Adds a line of a run.
    fn take(&mut self, head: Head, line: &[u8]) -> Result<(), InvalidLine> {
        #[derive(Deserialize)]
        struct Recorded {
            report: Report,
        }
        let made = u32::try_from(self.reports.len()).unwrap_or(u32::MAX);
        let follows = |attempt: u32| match self.run == head.run && head.attempt == attempt {
            true => Ok(()),
            false => Err(InvalidLine::Gap { run: head.run, attempt: head.attempt }),
        };
        match head.event.as_str() {
            "begin" => {
                let identity = Some(serde_json::from_slice(line)?);
                *self = Last { run: head.run, identity, ..Last::default() };
            }
            "attempt" => {
                let recorded: Recorded = serde_json::from_slice(line)?;
                follows(made.saturating_add(1))?;
                self.reports.push(recorded.report);
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

/// Returns whether a file of this length ends with a line end, or is empty.
fn ends_a_line(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(io::SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::PathBuf,
        sync::{Arc, Mutex},
    };

    use super::*;

    /// A file that is removed at the end of a test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("seamgate-retry-{}-{name}", std::process::id()));
            write_private(&path, text.as_bytes()).expect("a temporary file");
            Temporary(path)
        }

        fn text(&self) -> String {
            fs::read_to_string(&self.0).expect("a journal")
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn identity(prompt: &str) -> Identity {
        let text = str::to_owned;
        Identity {
            agent: text("counter"),
            contract: text("sha256:1"),
            component: text("sha256:2"),
            command: vec![text("a model")],
            prompt: text(prompt),
            lists: text("sha256:3"),
            evidence: None,
        }
    }

    /// Opens a journal to resume it. Returns the notices, or the reason why the journal cannot be opened.
    fn resume(file: &Temporary, prompt: &str) -> Result<(OpenJournal, Vec<RetryNotice>), String> {
        let notices = Arc::new(Mutex::new(Vec::new()));
        let receive = Arc::clone(&notices);
        let settings = RetryJournal::new(&file.0)
            .resume(true)
            .on_notice(move |notice| receive.lock().expect("no panic").push(notice.clone()));
        let (journal, _) = OpenJournal::open(&settings, &identity(prompt)).map_err(|error| error.to_string())?;
        let notices = notices.lock().expect("no panic").clone();
        Ok((journal, notices))
    }

    #[test]
    fn other_files_are_left_alone() {
        let file = Temporary::new("notes", "my notes\n");
        let error = resume(&file, "four").map(drop).expect_err("not a journal");
        assert!(error.ends_with("line 1 is not a line of a journal"), "{error}");
        assert_eq!(file.text(), "my notes\n");
    }

    #[test]
    fn incomplete_last_line_is_removed_and_reported() {
        let file = Temporary::new("torn", "");
        drop(resume(&file, "four").expect("a new journal"));
        let whole = file.text();
        fs::write(&file.0, format!("{whole}{{\"event\":\"att")).expect("a torn line");
        let (_, notices) = resume(&file, "four").expect("the same run");
        let [RetryNotice::IncompleteLine { line: 2, text, .. }] = notices.as_slice() else {
            panic!("{notices:?}");
        };
        assert_eq!((text.as_str(), file.text()), ("{\"event\":\"att", whole));
    }

    #[test]
    fn another_prompt_cannot_resume() {
        let file = Temporary::new("prompt", "");
        drop(resume(&file, "four").expect("a new journal"));
        let error = resume(&file, "five").map(drop).expect_err("another prompt");
        assert!(error.contains("its last run had another standard input"), "{error}");
    }

    #[test]
    fn second_writer_is_rejected() {
        let file = Temporary::new("busy", "");
        let first = resume(&file, "four").expect("a new journal");
        let error = resume(&file, "four").map(drop).expect_err("two writers");
        assert!(error.starts_with("another run is writing the journal"), "{error}");
        drop(first);
        resume(&file, "four").expect("the first writer is gone");
    }

    #[test]
    fn lines_after_a_gap_are_an_error() {
        let file = Temporary::new("gap", "");
        drop(resume(&file, "four").expect("a new journal"));
        let text = format!("{}{{\"event\":\"decision\",\"run\":1,\"attempt\":2}}\n", file.text());
        fs::write(&file.0, text).expect("a gap");
        let error = resume(&file, "four").map(drop).expect_err("a gap");
        assert!(
            error.ends_with("line 2 is not a line of a journal: run 1, attempt 2: the lines before it are missing"),
            "{error}"
        );
    }
}
