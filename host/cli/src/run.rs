//! `seamgate run`: runs an agent that is a program, and judges its output.

mod rows;

use std::{
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use anyhow::{Context, Error, Result, anyhow, bail};
use clap::builder::NonEmptyStringValueParser;
use indicatif::ProgressBar;
use seamgate::{
    Attempts, Disposition, Fault, JournalledAttempts, Limits, MergeOutcome, MergeStep, Next, Produced, Report, Request,
    RetryJournal, RetryJournalError, RetryNotice, RunError, Stop, UnknownFinish, open_regular,
};
use seamgate_runner::process::{self, Ended, ExchangeDir, Inherited, Signals};
use seamgate_text::{count, escape_terminal, say};

use crate::{
    console::print_json,
    contracts,
    error::{FaultError, NoVerdict},
    evidence::Evidence,
    input,
    lists::{self, Lists},
    notice::print_warning,
    run::rows::Rows,
    status::Status,
};

/// The maximum number of an attempt's violations that are shown. The journal has all of them.
const MAX_SHOWN: usize = 5;

/// The longest text to read from `SEAMGATE_FINISH_FILE`, in bytes. Every valid word is shorter.
const MAX_FINISH: u64 = 64;

pub(crate) const HELP: &str = "\
The agent is any program. It reads the prompt from standard input, which is that of this command (nothing, if that is a
terminal). It writes its output to standard output. After the first attempt, feedback on its last output follows the prompt.
The agent also gets:

  SEAMGATE_FEEDBACK       the same feedback; empty in the first attempt
  SEAMGATE_FEEDBACK_FILE  a file with the same feedback
  SEAMGATE_OUTPUT_FILE    a file with its last output, empty in the first attempt
  SEAMGATE_ATTEMPT        the number of the attempt, from 1
  SEAMGATE_FINISH_FILE    a file into which the agent may write why its model stopped: stop, length, refusal,
                          content_filter, tool_call or unknown, or the word of its API for one of these

The contract's 'retry.limit' says how often to ask again. The run stops earlier if the agent declines, if another attempt
cannot help, or if two attempts in a row have the same violations. If some items are valid, the feedback asks only for the
others, and the run puts the answers together. It does not ask again for a complete output whose syntax it repaired: that is
partial, and --allow-partial prints it. The run prints the final document if it is valid, and nothing else.

Exit status: 0 accepted, 1 rejected, 2 usage or contract error, 3 partial, 4 refused, 5 no verdict: the agent failed, a list
is missing, or a call passed a limit";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, or a baked component
    #[arg(short, long, value_name = "CONTRACT")]
    contract: PathBuf,
    /// The agent whose contract applies, if -c has several
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// A list that the contract's 'allow' names: a file with one value per line. If a list is missing, the agent does
    /// not run, unless the rule is optional
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse)]
    list: Vec<(String, PathBuf)>,
    /// The observations that the agent saw, for the claims of the contract's 'evidence': a JSON list. If the contract
    /// requires them and they are missing, the agent does not run
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// A file to which a JSON line is appended for each attempt and each decision
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Continue the last run of the journal, if it has one, without repeating its attempts
    #[arg(long, requires = "journal")]
    resume: bool,
    /// Keep each raw output in a file beside the journal
    #[arg(long, requires = "journal")]
    keep_outputs: bool,
    /// A file to which each attempt is appended as a request of 'check --ndjson', for a receipt
    #[arg(long, value_name = "FILE", requires = "answers")]
    requests: Option<PathBuf>,
    /// A file to which the answer to each request is appended
    #[arg(long, value_name = "FILE", requires = "requests")]
    answers: Option<PathBuf>,
    /// Print a partial document at the end, and exit with 0
    #[arg(long)]
    allow_partial: bool,
    /// Put the agent's last output before the feedback on its standard input
    #[arg(long)]
    show_output: bool,
    /// The number of times to run a failed agent again: one that exited with an error, took too long, or wrote too
    /// much. The first wait is one second, and each further wait is twice as long
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=20))]
    retries: u32,
    /// The time limit for one attempt
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The command of the agent and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let prompt_is_read = !io::stdin().is_terminal();
    let named = prompt_is_read.then(|| input::standard("the prompt")).into_iter();
    let named = named.chain([("-c".to_owned(), arguments.contract.as_path())]);
    let named = named.chain(arguments.evidence.as_deref().map(|file| ("--evidence".to_owned(), file)));
    input::read_once(named.chain(input::of_lists(&arguments.list)))?;
    let gate = contracts::open(&arguments.contract)?;
    let agent = contracts::agent(arguments.agent.as_deref(), &gate, &arguments.contract)?;
    let request = Evidence::read(arguments.evidence.as_deref())?.add(Request::new(&agent, ""));
    let request = Lists::read(&gate, &arguments.list)?.add(request);
    let attempts = gate.attempts(&request).map_err(FaultError)?.allow_partial(arguments.allow_partial);
    let prompt = prompt()?;
    let mut attempts = match &arguments.journal {
        Some(path) => journalled(attempts, path, &prompt, arguments)?,
        None => JournalledAttempts::from(attempts),
    };
    let rows = match (&arguments.requests, &arguments.answers) {
        (Some(requests), Some(answers)) => Some(Rows::open(&gate, requests, answers)?),
        _ => None,
    };
    let mut agent =
        Agent { arguments, prompt, last_output: Vec::new(), failures: 0, rows, signals: Signals::install()? };
    process::remove_left_over();
    loop {
        let feedback = match attempts.next_step().map_err(told)? {
            Next::Ask(feedback) => feedback.unwrap_or_default(),
            Next::Stop(stop) => {
                agent.append(attempts.attempts().merge_json())?;
                return end(stop, attempts.attempts());
            }
            other => bail!("unknown step {other:?}"),
        };
        if let Some(status) = attempt(&mut agent, &mut attempts, &feedback)? {
            return Ok(status);
        }
    }
}

/// Opens the journal that the command line names, for these attempts.
fn journalled<'g>(
    attempts: Attempts<'g>,
    path: &Path,
    prompt: &[u8],
    arguments: &Arguments,
) -> Result<JournalledAttempts<'g>> {
    let journal = RetryJournal::new(path)
        .resume(arguments.resume)
        .keep_outputs(arguments.keep_outputs)
        .producer(arguments.command.iter().map(|word| word.to_string_lossy()))
        .prompt(prompt)
        .on_notice(|notice| match notice {
            RetryNotice::Resumed { .. } => say(&format!("seamgate: {notice}")),
            warning => print_warning(warning),
        });
    attempts.journalled(&journal).map_err(|error| match error {
        // The journal is wrong, just as if one of its lines could not be read.
        RunError::Fault(fault @ Fault::BadRequest { .. }) => anyhow!("the journal {}: {fault}", path.display()),
        error => told(error),
    })
}

/// Returns an error of the attempts, with its exit status.
fn told(error: RunError) -> Error {
    match error {
        RunError::Fault(fault) => FaultError(fault).into(),
        RunError::Journal(
            error @ (RetryJournalError::OtherComponent { .. }
            | RetryJournalError::Write { .. }
            | RetryJournalError::WriteOutput { .. }),
        ) => NoVerdict(format!("{:#}", Error::from(error))).into(),
        RunError::Journal(error) => error.into(),
        error => error.into(),
    }
}

/// Returns the prompt: all of standard input, unless that is a terminal.
fn prompt() -> Result<Vec<u8>> {
    let mut prompt = Vec::new();
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let limit = Limits::default().output_bytes;
        stdin.lock().take(limit as u64 + 1).read_to_end(&mut prompt).context("cannot read standard input")?;
        if prompt.len() > limit {
            bail!("the prompt on standard input is too long; the limit is {limit} bytes");
        }
    }
    Ok(prompt)
}

/// The agent, and the settings that all attempts share.
struct Agent<'a> {
    arguments: &'a Arguments,
    prompt: Vec<u8>,
    /// The agent's last output that this process judged.
    last_output: Vec<u8>,
    /// The number of consecutive failures of the agent.
    failures: u32,
    /// The rows for a receipt.
    rows: Option<Rows<'a>>,
    signals: Signals,
}

/// The wait after the agent's first failure, and the longest wait. Each further wait is twice as long as the previous
/// one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Makes one attempt: runs the agent, and judges its output. Returns a status if a signal ended the run.
fn attempt(agent: &mut Agent, attempts: &mut JournalledAttempts, feedback: &str) -> Result<Option<Status>> {
    let (number, most) = (attempts.attempts().count() + 1, attempts.attempts().most());
    // Dropping the folder removes everything that the agent wrote to it.
    let folder = ExchangeDir::new(&agent.signals)
        .map_err(|error| NoVerdict(format!("cannot make a temporary folder: {error}")))?;
    let ended = agent.run(number, most, feedback, folder.path())?;
    let result = agent.result(ended, folder.path());
    drop(folder);
    let error = match result {
        AgentResult::Output(produced) => match attempts.judge(&produced) {
            Ok(verdict) => {
                agent.failures = 0;
                agent.append(Some(attempts.attempts().request_json(&produced)))?;
                agent.last_output = produced.output;
                show(&verdict.report, attempts.attempts());
                return Ok(None);
            }
            Err(RunError::Fault(fault)) => FaultError(fault).into(),
            Err(error) => return Err(told(error)),
        },
        AgentResult::Signal(signal) => return Ok(Some(Status::Signal(signal))),
        AgentResult::Failure { output, exit, error } if agent.failures < agent.arguments.retries => {
            attempts.failed_for_now(&error.to_string(), &output, exit).map_err(told)?;
            return Ok(agent.wait_to_retry(&error, number, most));
        }
        AgentResult::Failure { output, exit, error } => {
            attempts.failed(&error.to_string(), &output, exit).map_err(told)?;
            error
        }
        AgentResult::NotStarted(error) => {
            attempts.failed(&error.to_string(), &[], None).map_err(told)?;
            error
        }
    };
    Err(error.context(format!("attempt {number} of {most}")))
}

/// The result of running the agent.
enum AgentResult {
    /// An output to judge.
    Output(Produced),
    /// This signal ended the run.
    Signal(u8),
    /// The agent's output, its exit status if there is one, and the reason why there is no verdict.
    Failure { output: Vec<u8>, exit: Option<i32>, error: Error },
    /// The reason why the agent cannot be run. Running it again does not help.
    NotStarted(Error),
}

impl Agent<'_> {
    /// Appends a request and its answer to the rows, if there are any.
    fn append(&mut self, request: Option<String>) -> Result<()> {
        match (&mut self.rows, request) {
            (Some(rows), Some(request)) => rows.append(&request),
            _ => Ok(()),
        }
    }

    fn run(&self, number: u32, most: u32, feedback: &str, folder: &Path) -> Result<Ended> {
        let write = |name: &str, text: &[u8]| {
            let file = folder.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
            anyhow::Ok(file)
        };
        let feedback_file = write("feedback.txt", feedback.as_bytes())?;
        let output_file = write("output.txt", &self.last_output)?;
        let finish_file = write(FINISH, b"")?;
        let mut input = self.prompt.clone();
        if self.arguments.show_output && !self.last_output.is_empty() {
            push_part(&mut input, b"Your last output:\n");
            input.extend_from_slice(&self.last_output);
        }
        if !feedback.is_empty() {
            push_part(&mut input, feedback.as_bytes());
            input.push(b'\n');
        }
        let bar = if io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let run = process::Run {
            command: &self.arguments.command,
            inherited: Inherited::All,
            environment: &[
                ("SEAMGATE_ATTEMPT", number.to_string().into()),
                ("SEAMGATE_FEEDBACK", feedback.into()),
                ("SEAMGATE_FEEDBACK_FILE", feedback_file.into()),
                ("SEAMGATE_FINISH_FILE", finish_file.into()),
                ("SEAMGATE_OUTPUT_FILE", output_file.into()),
            ],
            input: &input,
            timeout: Duration::from_secs(self.arguments.timeout),
            limit: Limits::default().output_bytes,
            folder: None,
            stop: process::Stop::default(),
            told_as: None,
            paths: None,
            secrets: Arc::default(),
        };
        let start = Instant::now();
        let ended = process::run(&run, &self.signals, &mut |bytes| {
            let seconds = start.elapsed().as_secs();
            bar.set_message(format!("attempt {number} of {most}: {seconds} s, {bytes} bytes"));
            bar.tick();
        });
        bar.finish_and_clear();
        ended.map_err(|error| NoVerdict(format!("cannot run the agent: {error}")).into())
    }

    /// Waits until a failed agent may run again. Returns a status if a signal ended the run meanwhile.
    fn wait_to_retry(&mut self, error: &Error, number: u32, most: u32) -> Option<Status> {
        let wait = FIRST_WAIT.saturating_mul(1 << self.failures).min(LONGEST_WAIT);
        self.failures += 1;
        say(&format!(
            "seamgate: attempt {number} of {most}: {}; running it again in {} s, retry {} of {}",
            escape_terminal(&format!("{error:#}")),
            wait.as_secs(),
            self.failures,
            self.arguments.retries
        ));
        let (sender, received) = mpsc::channel();
        let _listening = self.signals.listen(move |signal| sender.send(signal).is_ok());
        received.recv_timeout(wait).ok().map(|signal| Status::Signal(u8::try_from(signal).unwrap_or(127)))
    }

    fn result(&self, ended: Ended, folder: &Path) -> AgentResult {
        let limit = Limits::default().output_bytes;
        let (output, exit, message) = match ended {
            Ended::Interrupted(signal) => return AgentResult::Signal(u8::try_from(signal).unwrap_or(127)),
            Ended::Stopped => return AgentResult::Signal(15),
            Ended::Exited { output } => match finish(folder) {
                Ok(finish) => return AgentResult::Output(Produced::from(output).finish(finish)),
                Err(message) => (output, Some(0), message),
            },
            Ended::Failed { status, output } => (output, status.code(), format!("the agent failed: {status}")),
            Ended::TimedOut { closed, output } => {
                let how = if closed { "closed its output and did not exit" } else { "did not exit" };
                (output, None, format!("the agent {how} within {} s", self.arguments.timeout))
            }
            Ended::TooLong { output } => {
                (output, None, format!("the agent wrote more than {limit} bytes, so it was ended"))
            }
            Ended::NotStarted(error) => {
                let program = self.arguments.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
                return AgentResult::NotStarted(anyhow!("cannot run {program}: {error}"));
            }
        };
        AgentResult::Failure { output, exit, error: NoVerdict(message).into() }
    }
}

/// Appends a part after a blank line, whether or not the preceding text ends with a line end.
fn push_part(text: &mut Vec<u8>, part: &[u8]) {
    text.extend_from_slice(match text.last() {
        None => b"",
        Some(b'\n') => b"\n",
        Some(_) => b"\n\n",
    });
    text.extend_from_slice(part);
}

/// The file to which the agent may write why its model stopped.
const FINISH: &str = "finish.txt";

/// Returns the reason why the agent's model stopped, from the agent's file.
fn finish(folder: &Path) -> Result<seamgate::Finish, String> {
    let mut word = String::new();
    let file = open_regular(fs::File::options().read(true), &folder.join(FINISH));
    file.and_then(|file| file.take(MAX_FINISH).read_to_string(&mut word))
        .map_err(|error| format!("SEAMGATE_FINISH_FILE: {error}"))?;
    match word.trim() {
        "" if word.len() < MAX_FINISH as usize => Ok(seamgate::Finish::Unknown),
        word => word
            .parse()
            .map_err(|error: UnknownFinish| format!("SEAMGATE_FINISH_FILE: {:?}: {error}", escape_terminal(word))),
    }
}

/// Shows the mistakes of an attempt, both by itself and together with the previous ones.
fn show(report: &Report, attempts: &Attempts) {
    let (number, most) = (attempts.count(), attempts.most());
    show_report(report, &format!("attempt {number} of {most}"));
    // Report if the merge with the previous attempts used nothing of this one.
    if let Some(why) = attempts.report().and_then(|together| together.merged.last()).and_then(unused) {
        say(&format!("  attempt {number} {why}"));
    }
}

/// Returns the reason why an attempt added nothing, or not all of its items, to the previous ones.
fn unused(step: &MergeStep) -> Option<String> {
    match step.outcome {
        MergeOutcome::Unused => Some("adds nothing: it has no items, or none was missing".to_owned()),
        MergeOutcome::Invalid => Some("adds nothing: its items would make the whole document invalid".to_owned()),
        _ if step.unknown.is_empty() => None,
        _ => {
            let items = count(step.unknown.len(), "item");
            Some(format!("has {items} that nobody asked for; they are left out"))
        }
    }
}

fn show_report(report: &Report, of: &str) {
    if report.disposition == Disposition::Accepted {
        return;
    }
    let what = match (report.violations().len(), report.quarantined.len()) {
        (0, 0) if report.is_repaired() => ", with repaired syntax".to_owned(),
        (0, 0) => String::new(),
        (0, items) => format!(", {} in quarantine", count(items, "item")),
        (violations, _) => format!(", {}", count(violations, "violation")),
    };
    say(&format!("seamgate: {of}: {}{what}", report.disposition.as_str()));
    let of_items = report.quarantined.iter().filter_map(|item| item.violations.first());
    let all: Vec<_> = report.violations().iter().chain(of_items).collect();
    for violation in all.iter().take(MAX_SHOWN) {
        say(&format!("  {}", escape_terminal(&format!("{} {}", violation.path, violation.message))));
    }
    if all.len() > MAX_SHOWN {
        say(&format!("  … and {} more", all.len() - MAX_SHOWN));
    }
}

/// Prints the valid document, or the reason why there is none.
fn end(stop: Stop, attempts: &Attempts) -> Result<Status> {
    let report = attempts.report();
    let status = Status::of_run(stop, attempts);
    let made = count(attempts.count() as usize, "attempt");
    let is_repaired = report.is_some_and(Report::is_repaired);
    match (stop, report.and_then(|report| report.output.as_deref())) {
        (Stop::Accepted | Stop::Partial, Some(output)) => print_json(output)?,
        (_, Some(_)) if is_repaired => {
            say(&format!(
                "seamgate: stopped after {made}: the output is complete with repaired syntax; --allow-partial prints it"
            ));
        }
        (Stop::Refused, _) => say("seamgate: the agent declined; there is no output"),
        (_, output) => {
            let why = match stop {
                Stop::NotRetryable => "another attempt cannot help",
                Stop::Repeated => "two attempts in a row had the same violations",
                _ => "the contract's 'retry.limit' allows no more",
            };
            let what = match output {
                Some(_) => "--allow-partial prints the valid part",
                None => "there is no output",
            };
            say(&format!("seamgate: stopped after {made}: {why}; {what}"));
        }
    }
    Ok(status)
}
