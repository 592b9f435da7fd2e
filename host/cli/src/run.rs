//! `seamgate run`: the harness step around an agent that is a program.

use std::{
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use clap::builder::NonEmptyStringValueParser;
use indicatif::ProgressBar;
use seamgate::{
    Attempts, Disposition, Fault, Limits, Next, Produced, Report, Request, Stop, UnknownFinish, digest, open_regular,
};

use crate::{
    agent::{self, Ended, Signals},
    check,
    folder::{self, Folder},
    gate,
    journal::{About, Decision, Journal},
    picture,
    status::{NoVerdict, Status, say},
};

/// Violations that are told for an attempt; the journal has more.
const MAX_TOLD: usize = 5;

/// So much is read of what the agent says of its model: any word that there is, and more.
const MAX_FINISH: u64 = 64;

pub(crate) const HELP: &str = "\
The agent, any program, gets on standard input what this command gets (nothing, if that is a terminal), and writes its
output to standard output. In attempts after the first, what was wrong with the one before comes after the prompt, and:

  SEAMGATE_FEEDBACK       holds it too; empty in the first attempt
  SEAMGATE_FEEDBACK_FILE  is a file that holds it
  SEAMGATE_ATTEMPT        is the number of the attempt, from 1
  SEAMGATE_FINISH_FILE    is a file into which the agent may write why its model stopped: stop, length, refusal,
                          content_filter, tool_call or unknown, or its API's own word for one of these

It is asked again as often as the contract's 'retry.limit' says, and no more once it says that it declines, cannot do
better, or the same is wrong twice in a row. An output of which only the syntax was repaired, with nothing missing, is not
asked for again: it is partial, and --allow-partial prints it. Where some items are good, the feedback asks for the others alone, and the
answers are put together. Nothing but the document that was validated in the end is printed.

Exit status: 0 accepted, 1 rejected, 2 usage or contract error, 3 partial, 4 refused, 5 no verdict: the agent failed, a list
is missing, or a limit was passed";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, or a baked component
    #[arg(short, long, value_name = "CONTRACT")]
    contract: PathBuf,
    /// Whose contract applies, where -c has several
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// The values of a list that the contract's 'allow' names, one a line. Without it the agent is not asked, unless the rule
    /// is optional
    #[arg(long, value_name = "NAME=FILE", value_parser = check::list)]
    list: Vec<(String, PathBuf)>,
    /// Where to note each attempt and decision, a JSON line each
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Go on with the journal's last run, if it has one: attempts that it has are not made again
    #[arg(long, requires = "journal")]
    resume: bool,
    /// Keep each raw output in a file beside the journal
    #[arg(long, requires = "journal")]
    keep_outputs: bool,
    /// Print a partial result in the end, and exit with 0
    #[arg(long)]
    allow_partial: bool,
    /// How long one attempt may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The agent and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = gate::open(&arguments.contract)?;
    let agent = gate::agent(arguments.agent.as_deref(), &gate, &arguments.contract)?;
    let request = check::with_lists(&gate, Request::new(&agent, ""), &arguments.list)?;
    let mut attempts = gate.attempts(&request).map_err(gate::Told)?.allow_partial(arguments.allow_partial);
    let prompt = prompt()?;
    let mut journal = match &arguments.journal {
        Some(path) => {
            let about = About {
                agent: agent.clone(),
                contract: attempts.contract().contract.clone(),
                component: gate.component().digest().to_owned(),
                command: arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
                prompt: digest(&prompt),
                lists: digest(format!("{:?}", attempts.lists()).as_bytes()),
            };
            let (journal, reports) = Journal::open(path, about, arguments.resume, arguments.keep_outputs)?;
            if !reports.is_empty() {
                say(&format!("seamgate: the journal has {} of {} attempts", reports.len(), attempts.most()));
            }
            for report in reports {
                attempts.replay(report).map_err(|fault| match fault {
                    // It is the journal that is wrong, as where a line of it cannot be read.
                    Fault::BadRequest { .. } => anyhow!("the journal {}: {fault}", path.display()),
                    fault => gate::Told(fault).into(),
                })?;
            }
            Some(journal)
        }
        None => None,
    };
    let agent = Agent { arguments, prompt, signals: Signals::install()? };
    folder::remove_left_over();
    loop {
        let next = attempts.next();
        let (decision, status) = match &next {
            Next::Ask(_) => ("ask_again", None),
            Next::Stop(stop) => (stop.word(), Some(status(*stop, attempts.report()))),
        };
        if let Some(journal) = journal.as_mut().filter(|_| attempts.count() > 0) {
            let status = status.map(Status::code);
            journal.decided(attempts.count(), &Decision { decision, status })?;
        }
        match next {
            Next::Ask(feedback) => {
                if let Some(status) = attempt(&agent, &mut attempts, &mut journal, feedback.as_deref().unwrap_or(""))? {
                    return Ok(status);
                }
            }
            Next::Stop(stop) => return end(stop, &attempts),
        }
    }
}

/// What the agent is asked: standard input to its end, where that is no terminal.
fn prompt() -> Result<Vec<u8>> {
    let mut prompt = Vec::new();
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let limit = Limits::default().output_bytes;
        stdin.lock().take(limit as u64 + 1).read_to_end(&mut prompt).context("standard input")?;
        if prompt.len() > limit {
            bail!("standard input: a prompt has at most {limit} bytes");
        }
    }
    Ok(prompt)
}

/// The agent, and what all attempts have alike.
struct Agent<'a> {
    arguments: &'a Arguments,
    prompt: Vec<u8>,
    signals: Signals,
}

/// One attempt: run the agent, judge what it wrote. A status, where a signal asked for the end.
fn attempt(
    agent: &Agent,
    attempts: &mut Attempts,
    journal: &mut Option<Journal>,
    feedback: &str,
) -> Result<Option<Status>> {
    let (number, most) = (attempts.count() + 1, attempts.most());
    if let Some(journal) = journal {
        journal.start(number)?;
    }
    let start = Instant::now();
    // What the agent makes of its folder is gone with it.
    let folder = Folder::new(&agent.signals).map_err(|error| NoVerdict(format!("a temporary folder: {error}")))?;
    let ended = agent.run(number, most, feedback, folder.path())?;
    let elapsed_ms = start.elapsed().as_millis();
    let came_of = agent.came_of(ended, folder.path());
    drop(folder);
    let (output, exit, error) = match came_of {
        CameOf::Output(produced) => match attempts.judge(&produced) {
            Ok(verdict) => {
                if let Some(journal) = journal {
                    journal.judged(number, &produced, elapsed_ms, &verdict)?;
                }
                tell(&verdict.report, attempts);
                return Ok(None);
            }
            Err(fault) => (produced.output, Some(0), gate::Told(fault).into()),
        },
        CameOf::Signal(signal) => return Ok(Some(Status::Signal(signal))),
        CameOf::Failure { output, exit, error } => (output, exit, error),
    };
    if let Some(journal) = journal {
        journal.failed(number, &output, elapsed_ms, (exit, &error.to_string()))?;
    }
    Err(error.context(format!("attempt {number} of {most}")))
}

/// What came of running the agent.
enum CameOf {
    /// Something to judge.
    Output(Produced),
    /// This signal asked for the end.
    Signal(u8),
    /// What the agent wrote, its exit status if it had one, and why that is not judged.
    Failure { output: Vec<u8>, exit: Option<i32>, error: anyhow::Error },
}

impl Agent<'_> {
    fn run(&self, number: u32, most: u32, feedback: &str, folder: &Path) -> Result<Ended> {
        let [feedback_file, finish_file] = ["feedback.txt", FINISH].map(|name| folder.join(name));
        fs::write(&feedback_file, feedback).with_context(|| format!("{}", feedback_file.display()))?;
        fs::write(&finish_file, "").with_context(|| format!("{}", finish_file.display()))?;
        let mut input = self.prompt.clone();
        if !feedback.is_empty() {
            // A blank line between them, whether or not the prompt ends its last line.
            input.extend_from_slice(match input.last() {
                None => b"",
                Some(b'\n') => b"\n",
                Some(_) => b"\n\n",
            });
            input.extend_from_slice(feedback.as_bytes());
            input.push(b'\n');
        }
        let bar = if io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let run = agent::Run {
            command: &self.arguments.command,
            environment: &[
                ("SEAMGATE_ATTEMPT", number.to_string().into()),
                ("SEAMGATE_FEEDBACK", feedback.into()),
                ("SEAMGATE_FEEDBACK_FILE", feedback_file.into()),
                ("SEAMGATE_FINISH_FILE", finish_file.into()),
            ],
            input: &input,
            timeout: Duration::from_secs(self.arguments.timeout),
            limit: Limits::default().output_bytes,
        };
        let start = Instant::now();
        let ended = agent::run(&run, &self.signals, &mut |bytes| {
            let seconds = start.elapsed().as_secs();
            bar.set_message(format!("attempt {number} of {most}: {seconds} s, {bytes} bytes"));
            bar.tick();
        });
        bar.finish_and_clear();
        ended.map_err(|error| NoVerdict(format!("the agent cannot be run: {error}")).into())
    }

    fn came_of(&self, ended: Ended, folder: &Path) -> CameOf {
        let limit = Limits::default().output_bytes;
        let (output, exit, message) = match ended {
            Ended::Interrupted(signal) => return CameOf::Signal(u8::try_from(signal).unwrap_or(127)),
            Ended::Exited { output } => match finish(folder) {
                Ok(finish) => return CameOf::Output(Produced { output, finish }),
                Err(message) => (output, Some(0), message),
            },
            Ended::Failed { status, output } => (output, status.code(), format!("the agent failed: {status}")),
            Ended::TimedOut { closed, output } => {
                let how = if closed { "closed its output and did not end" } else { "did not end" };
                (output, None, format!("the agent {how} within {} s", self.arguments.timeout))
            }
            Ended::TooLong { output } => {
                (output, None, format!("the agent wrote more than {limit} bytes, and was ended"))
            }
            Ended::NotStarted(error) => {
                let program = self.arguments.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
                let error = anyhow!("cannot run {program}: {error}");
                return CameOf::Failure { output: Vec::new(), exit: None, error };
            }
        };
        CameOf::Failure { output, exit, error: NoVerdict(message).into() }
    }
}

/// The file into which the agent may write why its model stopped.
const FINISH: &str = "finish.txt";

/// Why the agent's model stopped, as the agent says.
fn finish(folder: &Path) -> Result<seamgate::Finish, String> {
    let mut word = String::new();
    let file = open_regular(fs::File::options().read(true), &folder.join(FINISH));
    file.and_then(|file| file.take(MAX_FINISH).read_to_string(&mut word))
        .map_err(|error| format!("SEAMGATE_FINISH_FILE: {error}"))?;
    match word.trim() {
        "" if word.len() < MAX_FINISH as usize => Ok(seamgate::Finish::Unknown),
        word => word.parse().map_err(|error: UnknownFinish| {
            format!("SEAMGATE_FINISH_FILE: its word {:?} {error}", picture::safe(word))
        }),
    }
}

/// Tell of an attempt that was not all that was asked for, by itself or with those before.
fn tell(report: &Report, attempts: &Attempts) {
    let (number, most) = (attempts.count(), attempts.most());
    tell_report(report, &format!("attempt {number} of {most}"));
    // What became of it beside what was kept before, where that was of no use.
    let notes = attempts.report().map(|together| together.notes.as_slice()).unwrap_or_default();
    let note = notes.iter().rev().find(|note| note.starts_with("merge: "));
    if let Some(note) = note.filter(|note| number > 1 && note.contains("not used")) {
        say(&format!("  {}", picture::safe(note)));
    }
}

fn tell_report(report: &Report, of: &str) {
    if report.disposition == Disposition::Accepted {
        return;
    }
    let what = match (report.violations().len(), report.quarantined.len()) {
        (0, 0) if report.is_repaired() => ", its syntax was repaired".to_owned(),
        (0, 0) => String::new(),
        (0, 1) => ", 1 item in quarantine".to_owned(),
        (0, items) => format!(", {items} items in quarantine"),
        (1, _) => ", 1 violation".to_owned(),
        (violations, _) => format!(", {violations} violations"),
    };
    say(&format!("seamgate: {of}: {}{what}", report.disposition.word()));
    let of_items = report.quarantined.iter().filter_map(|item| item.violations.first());
    let all: Vec<_> = report.violations().iter().chain(of_items).collect();
    for violation in all.iter().take(MAX_TOLD) {
        say(&format!("  {}", picture::safe(&format!("{} {}", violation.path, violation.message))));
    }
    if all.len() > MAX_TOLD {
        say(&format!("  … and {} more", all.len() - MAX_TOLD));
    }
}

fn status(stop: Stop, report: Option<&Report>) -> Status {
    match stop {
        Stop::Accepted | Stop::Partial => Status::Accepted,
        Stop::Refused => Status::Refused,
        Stop::NotRetryable | Stop::Repeated | Stop::Limit => {
            report.map_or(Status::Fault, |report| report.disposition.into())
        }
    }
}

/// Print what was validated, or say why there is nothing to print.
fn end(stop: Stop, attempts: &Attempts) -> Result<Status> {
    let report = attempts.report();
    let status = status(stop, report);
    let count = match attempts.count() {
        1 => "1 attempt".to_owned(),
        count => format!("{count} attempts"),
    };
    let is_repaired = report.is_some_and(Report::is_repaired);
    match (stop, report.and_then(|report| report.output.as_deref())) {
        (Stop::Accepted | Stop::Partial, Some(output)) => check::print(output)?,
        (_, Some(_)) if is_repaired => {
            say(&format!(
                "seamgate: stopped after {count}: the syntax was repaired and nothing is missing; --allow-partial prints it"
            ));
        }
        (Stop::Refused, _) => say("seamgate: the agent declined; nothing is printed"),
        (_, output) => {
            let why = match stop {
                Stop::NotRetryable => "another one cannot help",
                Stop::Repeated => "the same was wrong twice in a row",
                _ => "the contract allows no more",
            };
            let what = match output {
                Some(_) => "a part is valid, which --allow-partial prints",
                None => "nothing is printed",
            };
            say(&format!("seamgate: given up after {count}: {why}; {what}"));
        }
    }
    Ok(status)
}
