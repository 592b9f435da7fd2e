//! `seamgate test`: checks contracts against example outputs, whose verdicts their author has specified.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Error, Result, bail};
use seamgate::{ContractSource, Gate, Span};
use seamgate_authoring::{
    Finding, Level, Location,
    contract_errors::{Places, of_fault, of_file_error},
    examples::{self, Example, Expected},
};
use seamgate_text::{count, escape_terminal, say};

use crate::{
    console::print_all,
    error,
    format::{Checked, Format, drawn, written},
    input,
    status::Status,
};

pub(crate) const HELP: &str = "\
Beside NAME.contract.json stands the folder NAME.examples:
  CASE.txt            an output
  CASE.verdict.json   what is expected of its verdict; --bless writes it
  CASE.request.json   'finish', 'lists' and 'evidence' that come with it, if any
  request.json        the same for all cases without a request of their own

Exit status: 0 all verdicts are as expected, 1 one is not, 2 usage or contract error";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Contracts, or folders of them
    #[arg(default_value = ".", value_name = "CONTRACT")]
    paths: Vec<PathBuf>,
    /// Write the actual verdicts as the expected ones. Review them before you commit them
    #[arg(long)]
    bless: bool,
    /// Print the results in this format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Test again after each change of a file, until Ctrl-C
    #[arg(long, conflicts_with_all = ["bless", "format"])]
    watch: bool,
}

/// The outcome of one example.
struct Outcome {
    file: PathBuf,
    output: Arc<str>,
    /// The word for the actual verdict.
    word: String,
    /// The differences from the expected verdict. Empty if the example passes.
    differences: Vec<String>,
    /// The span of the output that the first violation is about.
    span: Option<Span>,
    written: bool,
    elapsed: Duration,
}

impl Outcome {
    fn failed(&self) -> bool {
        !self.differences.is_empty()
    }

    fn checked(&self) -> Checked {
        let finding = |difference: &String| Finding {
            level: Level::Error,
            code: "unexpected_verdict".to_owned(),
            location: Location {
                file: self.file.display().to_string(),
                text: self.span.map(|span| (Arc::clone(&self.output), span)),
            },
            path: String::new(),
            message: difference.clone(),
            help: None,
        };
        Checked {
            name: self.file.display().to_string(),
            findings: self.differences.iter().map(finding).collect(),
            failed: self.failed(),
            elapsed: self.elapsed,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    if !arguments.watch {
        return once(arguments);
    }
    loop {
        let tested = seen(&arguments.paths);
        if io::stdout().is_terminal() {
            print_all("\x1b[2J\x1b[3J\x1b[H")?;
        }
        // A contract that cannot be read may be one that is just being written.
        if let Err(error) = once(arguments) {
            say(&format!("seamgate: {}", escape_terminal(&error::told(&error))));
        }
        say("seamgate: waiting for a change; Ctrl-C ends");
        while seen(&arguments.paths) == tested {
            thread::sleep(POLL);
        }
    }
}

/// The interval at which `--watch` looks for changes. Asking works on every file system, including those of networks
/// and containers.
const POLL: Duration = Duration::from_millis(300);

/// The maximum depth of folders, and the maximum number of files, that are watched.
const MAX_DEPTH: usize = 8;
const MAX_WATCHED: usize = 20_000;

/// Returns the times and sizes of all files in the folders of the contracts, except hidden ones and those of builds.
fn seen(paths: &[PathBuf]) -> BTreeMap<PathBuf, (Option<SystemTime>, u64)> {
    let mut files = BTreeMap::new();
    let folder = |path: &PathBuf| if path.is_dir() { path.clone() } else { path.with_file_name("") };
    let mut folders: Vec<(PathBuf, usize)> = paths.iter().map(|path| (folder(path), 0)).collect();
    while let Some((folder, depth)) = folders.pop() {
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" || name == "target" {
                continue;
            }
            match entry.metadata() {
                Ok(found) if found.is_dir() && depth < MAX_DEPTH => folders.push((entry.path(), depth + 1)),
                Ok(found) if found.is_file() && files.len() < MAX_WATCHED => {
                    files.insert(entry.path(), (found.modified().ok(), found.len()));
                }
                _ => {}
            }
        }
    }
    files
}

fn once(arguments: &Arguments) -> Result<Status> {
    input::read_once(arguments.paths.iter().map(|path| (path.display().to_string(), path.as_path())))?;
    let mut contracts = Vec::new();
    for path in &arguments.paths {
        match path.is_dir() {
            true => contracts.extend(examples::contracts(path)?),
            false => contracts.push(path.clone()),
        }
    }
    if contracts.is_empty() {
        bail!("there is no NAME.contract.json; `seamgate init` makes one");
    }
    let mut outcomes = Vec::new();
    // Contracts that cannot be used, and contracts without examples.
    let mut others = Vec::new();
    let mut errors = 0;
    for path in &contracts {
        let findings = match of_contract(path, arguments.bless) {
            Ok(found) if !found.is_empty() => {
                outcomes.extend(found);
                continue;
            }
            Ok(_) => {
                let message = format!("has no examples: put outputs into {}", examples::folder(path).display());
                vec![of_file(path, Level::Hint, "no_examples", message)]
            }
            // The other contracts are tested nevertheless.
            Err(findings) => {
                errors += findings.len();
                findings
            }
        };
        let failed = findings.iter().any(|finding| finding.level == Level::Error);
        others.push(Checked { name: path.display().to_string(), findings, failed, elapsed: Duration::ZERO });
    }
    if outcomes.is_empty() && errors == 0 {
        bail!("there are no examples; put outputs into {}", examples::folder(&contracts[0]).display());
    }
    let failed = outcomes.iter().filter(|outcome| outcome.failed()).count();
    let sum = sum(&outcomes, failed, errors);
    let text = match arguments.format {
        Format::Text => {
            for other in others.iter().flat_map(|other| &other.findings) {
                say(&drawn(other));
            }
            told(&outcomes) + &sum
        }
        format => {
            others.extend(outcomes.iter().map(Outcome::checked));
            written(format, "seamgate test", &others, &sum)
        }
    };
    print_all(&text)?;
    Ok(match (errors, failed) {
        (0, 0) => Status::Accepted,
        (0, _) => Status::Rejected,
        _ => Status::Usage,
    })
}

/// Returns the outcomes of a contract's examples, or the mistakes that make it unusable.
fn of_contract(path: &Path, bless: bool) -> Result<Vec<Outcome>, Vec<Finding>> {
    let unreadable = |error: Error| vec![of_file(path, Level::Error, "unreadable", format!("{error:#}"))];
    let source = ContractSource::read(path).map_err(|error| vec![of_file_error(&error, path)])?;
    let mut gate = Gate::new().map_err(|error| unreadable(error.into()))?;
    let registered = gate.register(source.text());
    let agent = registered.map_err(|fault| of_fault(&fault, &mut Places::new(&source, path)))?.agent;
    let examples = examples::of(path).map_err(|error| unreadable(error.into()))?;
    let outcomes: Result<_> = examples.iter().map(|example| of_example(&gate, &agent, example, bless)).collect();
    outcomes.map_err(unreadable)
}

fn of_file(path: &Path, level: Level, code: &str, message: String) -> Finding {
    let location = Location::file(path.display().to_string());
    Finding { level, code: code.to_owned(), location, path: String::new(), message, help: None }
}

fn of_example(gate: &Gate, agent: &str, example: &Example, bless: bool) -> Result<Outcome> {
    let start = Instant::now();
    let judged = gate.validate(&example.request(agent));
    let (is, span) = match &judged {
        Ok(verdict) => {
            let first = verdict.report.violations().first();
            (Expected::of(&verdict.report), first.and_then(|first| first.span))
        }
        Err(fault) => (Expected::fault(fault.code()), None),
    };
    let mut differences = match &example.expected {
        Some(expected) => expected.differences(&is),
        None => vec![format!("nothing is expected yet: --bless writes {}", example.verdict().display())],
    };
    let written = bless && !differences.is_empty();
    if written {
        let path = example.verdict();
        fs::write(&path, is.to_json()?).with_context(|| format!("cannot write {}", path.display()))?;
        differences.clear();
    }
    Ok(Outcome {
        file: example.file.clone(),
        output: String::from_utf8_lossy(&example.output).into(),
        word: is.word().to_owned(),
        differences,
        span,
        written,
        elapsed: start.elapsed(),
    })
}

fn shown(path: &Path) -> String {
    escape_terminal(&path.display().to_string())
}

/// Describes the outcomes for a person, one per line, with the differences.
fn told(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let (style, how) = match (outcome.failed(), outcome.written) {
            (false, true) => ("\x1b[1;33m", "written"),
            (false, false) => ("\x1b[1;32m", "passed"),
            (true, _) => ("\x1b[1;31m", "failed"),
        };
        text.push_str(&format!(
            "{style}{how:<7}\x1b[0m {}: {}\n",
            shown(&outcome.file),
            escape_terminal(&outcome.word)
        ));
        for difference in &outcome.differences {
            text.push_str(&format!("        {}\n", escape_terminal(difference)));
        }
    }
    text
}

/// Returns the last line.
fn sum(outcomes: &[Outcome], failed: usize, errors: usize) -> String {
    let mut sum = vec![format!("{} passed", outcomes.len() - failed), format!("{failed} failed")];
    let written = outcomes.iter().filter(|outcome| outcome.written).count();
    if written > 0 {
        sum.push(format!("{} written", count(written, "verdict")));
    }
    if errors > 0 {
        sum.push(count(errors, "error"));
    }
    format!("{}: {}", count(outcomes.len(), "example"), sum.join(", "))
}
