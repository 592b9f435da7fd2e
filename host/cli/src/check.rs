//! `seamgate check`: one output, one verdict.

use std::{
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use seamgate::{Disposition, Finish, Gate, Limits, Report, Request, Span, Verdict};
use seamgate_authoring::{Finding, Level, Location};
use seamgate_text::{escape_terminal, say};

use crate::{
    console::{print, print_all, print_json},
    contracts::{self, Texts},
    diagnostic,
    error::{FaultError, Located, NoVerdict, no_verdict, told},
    evidence::Evidence,
    format::{Checked, Format, written},
    input,
    lists::{self, Lists},
    ndjson,
    parquet::{self, Job},
    status::{Status, Sum},
    stream, whole_file,
};

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("many").args(["ndjson", "parquet"])))]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, a baked component, or '-' for standard input
    #[arg(short, long, value_name = "CONTRACT", required_unless_present_any = ["ndjson", "schema"])]
    contract: Option<PathBuf>,
    /// A JSON Schema in place of a contract. Everything else has its default
    #[arg(long, value_name = "FILE", conflicts_with_all = ["contract", "ndjson"])]
    schema: Option<PathBuf>,
    /// The agent whose contract applies, if -c has several
    #[arg(long, value_name = "NAME", conflicts_with = "ndjson")]
    agent: Option<String>,
    /// Print the report as JSON, even on a terminal. With several files, one line for each: {"file":…,"report":…}
    #[arg(long, conflicts_with = "many")]
    json: bool,
    /// Print the verdict as a picture, even without a terminal
    #[arg(long, conflicts_with_all = ["json", "many"])]
    picture: bool,
    /// Print the findings in this format. 'text' is the picture, and 'json' the report
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "picture", "many"])]
    format: Option<Format>,
    /// Write the valid document to this file, or with '-' to standard output instead of the report. Without a valid
    /// document, the file does not change. A partial document requires --allow-partial
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["many", "format"])]
    output: Option<PathBuf>,
    /// The reason for which the agent stopped: stop, length, refusal, content_filter, tool_call or unknown, or the word
    /// of its API (end_turn, MAX_TOKENS …)
    #[arg(long, value_name = "REASON", default_value = "unknown", conflicts_with = "many")]
    finish: Finish,
    /// A list that the contract's 'allow' names: a file with one value per line, or '-' for standard input. A missing
    /// list is a fault, unless its rule is optional
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse, conflicts_with = "ndjson")]
    list: Vec<(String, PathBuf)>,
    /// The observations that the agent saw, for the claims of the contract's 'evidence': a JSON list, or '-' for
    /// standard input. If the contract requires them and they are missing, there is no verdict
    #[arg(long, value_name = "FILE", conflicts_with = "many")]
    evidence: Option<PathBuf>,
    /// The fuel of each verdict: about one unit for each instruction. Each byte of output and contract adds 500.
    /// Compiling the contract gets five times as much, and never less than by default [default: 100000000]
    #[arg(long, value_name = "N", conflicts_with = "many")]
    fuel: Option<u64>,
    /// Exit with 0 for a partial verdict
    #[arg(long)]
    allow_partial: bool,
    /// Report progress while the output is still arriving. As JSON: lines {"progress":…}, then {"report":…}
    #[arg(long, conflicts_with_all = ["many", "format"])]
    stream: bool,
    /// Read one request per line and write one answer per line, in order. Blank lines at the end get no answer. The
    /// worst answer sets the exit status
    #[arg(long)]
    ndjson: bool,
    /// Judge the outputs of a Parquet file, one per row, and write its columns and those of the verdicts to --out. The
    /// Python package provides this: pip install 'seamgate[parquet]'
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with = "files")]
    parquet: Option<PathBuf>,
    /// The Parquet file to write. It appears either completely or not at all
    #[arg(long, value_name = "FILE", requires = "parquet")]
    out: Option<PathBuf>,
    /// The column of outputs
    #[arg(long, value_name = "NAME", requires = "parquet", default_value = "text")]
    column: String,
    /// The column with the reason for which each agent stopped, in the words of --finish
    #[arg(long, value_name = "NAME", requires = "parquet")]
    finish_column: Option<String>,
    /// The number of requests to judge at once [default: one for each processor]
    #[arg(short, long, value_name = "N", requires = "many", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Judge many requests in one sandbox, for producers that are equally trusted. This is faster, and the reports are
    /// the same
    #[arg(long, requires = "ndjson")]
    warm: bool,
    /// Count the verdicts in this file, which Prometheus' node exporter reads. Its name ends in .prom. The counts
    /// continue from those in the file
    #[arg(long, value_name = "FILE", requires = "ndjson")]
    metrics: Option<PathBuf>,
    /// The outputs to judge, one per file. The worst verdict sets the exit status [default: standard input, also '-']
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The source of an output. `None` is standard input.
type Input<'a> = Option<&'a Path>;

pub(crate) fn run(arguments: Arguments, parquet: Option<&parquet::Library<'_>>) -> Result<Status> {
    let status = match (&arguments.parquet, &arguments.out) {
        (Some(input), Some(output)) => parquet::run(parquet, || job(&arguments, input, output))?,
        _ => judged(&arguments)?,
    };
    Ok(match status {
        Status::Partial if arguments.allow_partial => Status::Accepted,
        status => status,
    })
}

/// Returns the job of `--parquet`.
fn job(arguments: &Arguments, input: &Path, output: &Path) -> Result<Job> {
    input::read_once(arguments.inputs().chain([("--parquet".to_owned(), input)]))?;
    let (gate, contract) = match &arguments.schema {
        Some(schema) => {
            let (gate, (_, contract)) = contracts::read_schema(schema, &Limits::default())?;
            (gate, contract)
        }
        None => contracts::only(arguments.contracts(), arguments.agent.as_deref())?,
    };
    Ok(Job {
        input: input.to_owned(),
        output: output.to_owned(),
        contract,
        column: arguments.column.clone(),
        finish: arguments.finish_column.clone(),
        lists: Lists::read(&gate, &arguments.list)?.into_values(),
        threads: threads(arguments.jobs),
    })
}

/// Returns the number of requests to judge concurrently.
fn threads(jobs: Option<u16>) -> usize {
    jobs.map_or_else(|| thread::available_parallelism().map_or(1, |processors| processors.get()), usize::from)
}

impl Arguments {
    /// Returns the contracts. Clap ensures that the option is present if it is required.
    fn contracts(&self) -> &Path {
        self.contract.as_deref().unwrap_or(Path::new("."))
    }

    /// Returns the limits of each verdict, and of compiling the contract.
    fn limits(&self) -> Limits {
        let limits = Limits::default();
        match self.fuel {
            Some(fuel) => {
                let contract = limits.contract_fuel.max(fuel.saturating_mul(5));
                limits.fuel(fuel).contract_fuel(contract)
            }
            None => limits,
        }
    }

    /// Returns the inputs that apply to every output.
    fn inputs(&self) -> impl Iterator<Item = input::Named<'_>> {
        let named = [("-c", &self.contract), ("--schema", &self.schema), ("--evidence", &self.evidence)];
        let named = named.into_iter().filter_map(|(name, file)| Some((name.to_owned(), file.as_deref()?)));
        named.chain(input::of_lists(&self.list))
    }
}

/// The contract, lists and evidence that apply to every output.
struct Given {
    lists: Lists,
    evidence: Evidence,
    /// The text of the contract. `None` if it is baked into a component.
    contract: Option<String>,
}

impl Given {
    fn read(arguments: &Arguments, (gate, contract): (&Gate, Option<String>)) -> Result<Self> {
        let evidence = Evidence::read(arguments.evidence.as_deref())?;
        Ok(Given { lists: Lists::read(gate, &arguments.list)?, evidence, contract })
    }

    fn add<'t>(&self, request: Request<'t>) -> Request<'t> {
        self.lists.add(self.evidence.add(request))
    }
}

fn judged(arguments: &Arguments) -> Result<Status> {
    let mut inputs: Vec<Input<'_>> =
        arguments.files.iter().map(|file| Some(file.as_path()).filter(|file| !input::is_standard(file))).collect();
    if inputs.is_empty() {
        inputs.push(None);
    }
    let outputs = inputs.iter().map(|input| match input {
        Some(file) => ("the output".to_owned(), *file),
        None => input::standard("the output"),
    });
    input::read_once(arguments.inputs().chain(outputs))?;
    match inputs.as_slice() {
        [input] if arguments.ndjson => {
            let options = ndjson::Options {
                contracts: arguments.contract.as_deref(),
                jobs: threads(arguments.jobs),
                warm: arguments.warm,
                metrics: arguments.metrics.as_deref(),
            };
            ndjson::run(*input, &options)
        }
        [_, second, ..] if arguments.ndjson || arguments.stream || arguments.output.is_some() => {
            let option = match (arguments.ndjson, arguments.stream) {
                (true, _) => "--ndjson",
                (false, true) => "--stream",
                (false, false) => "--output",
            };
            bail!("{option} takes one file; {} is another", input::name(*second))
        }
        inputs => judge_all(arguments, inputs),
    }
}

fn judge_all(arguments: &Arguments, inputs: &[Input<'_>]) -> Result<Status> {
    let contracts = arguments.contracts();
    let is_text = arguments.picture || arguments.format == Some(Format::Text);
    let is_json = arguments.json || arguments.format == Some(Format::Json);
    let is_picture = is_text || (io::stdout().is_terminal() && !is_json);
    let format = arguments.format.filter(|format| !matches!(format, Format::Text | Format::Json));
    let read = match &arguments.schema {
        Some(schema) => {
            contracts::read_schema(schema, &arguments.limits()).map(|(gate, text)| (gate, Texts::from([text])))
        }
        None => contracts::read(contracts, &arguments.limits()),
    };
    let (gate, mut texts) = match (read, format) {
        // The findings of the contract are for the program that reads the findings of outputs.
        (Err(error), Some(format)) => {
            let Some(located) = error.downcast_ref::<Located>() else { return Err(error) };
            print_unusable(located, format)?;
            return Ok(Status::of(&error));
        }
        (read, _) => read?,
    };
    let agent = contracts::agent(arguments.agent.as_deref(), &gate, contracts)?;
    let given = Given::read(arguments, (&gate, texts.remove(&agent)))?;
    if let ([input], None) = (inputs, format) {
        return one(arguments, &gate, &given, (&agent, *input), is_picture);
    }
    let mut sum = Sum::default();
    let mut checked = Vec::new();
    for input in inputs {
        let mut output = Vec::new();
        let start = Instant::now();
        let judged = judge(arguments, &gate, &given, (&agent, *input), is_picture, &mut output);
        let name = input::name(*input);
        let status = match &judged {
            Ok(verdict) => verdict.report.disposition.into(),
            Err(error) => Status::of(error),
        };
        sum.add(status);
        match (&judged, format) {
            (judged, Some(_)) => checked.push(as_checked(arguments, judged, &output, name, start.elapsed())),
            (Ok(verdict), None) if is_picture => print(&format!("{}\n", diagnostic::verdict(verdict, &output, &name)))?,
            (Ok(verdict), None) => line(&name, "report", &verdict.report.to_json())?,
            (Err(error), None) => {
                // The other files are judged nevertheless.
                if let (Some(FaultError(fault)), false) = (error.downcast_ref(), is_picture) {
                    line(&name, "fault", &fault.to_json())?;
                }
                say(&format!("seamgate: {}", escape_terminal(&format!("{name}: {}", told(error)))));
            }
        }
    }
    let summary = sum.told("output");
    match format {
        Some(format) => print_all(&written(format, "seamgate check", &checked, &summary))?,
        None => say(&format!("seamgate: {summary}")),
    }
    Ok(sum.worst())
}

/// Prints the errors of a contract in a format.
fn print_unusable(located: &Located, format: Format) -> Result<()> {
    let (name, findings) = (located.file.clone(), located.findings.clone());
    let checked = Checked { name, findings, failed: true, elapsed: Duration::ZERO };
    say("seamgate: the contract cannot be used");
    print_all(&written(format, "seamgate check", &[checked], ""))
}

/// Prints a line of JSON about one of several files.
fn line(name: &str, kind: &str, json: &str) -> Result<()> {
    print_json(&format!("{{\"file\":{},\"{kind}\":{json}}}", serde_json::to_string(name)?))
}

/// Converts a verdict for editors and CI: each violation, and each quarantined item, with its location.
fn as_checked(
    arguments: &Arguments,
    judged: &Result<Verdict>,
    output: &[u8],
    name: String,
    elapsed: Duration,
) -> Checked {
    let mut findings = Vec::new();
    let failed = match judged {
        Ok(verdict) => {
            let report = &verdict.report;
            let text: Arc<str> = String::from_utf8_lossy(output).into();
            let place =
                |span: Option<Span>| Location { file: name.clone(), text: span.map(|span| (Arc::clone(&text), span)) };
            findings.extend(report.violations().iter().map(|violation| Finding {
                level: Level::Error,
                code: violation.keyword.clone(),
                location: place(violation.span),
                path: violation.path.clone(),
                message: violation.message.clone(),
                help: Some(format!("expected {}", violation.expected)).filter(|_| !violation.expected.is_empty()),
            }));
            findings.extend(report.quarantined.iter().map(|item| Finding {
                level: Level::Warning,
                code: item.reason.as_str().to_owned(),
                location: place(item.violations.first().and_then(|first| first.span).or(item.span)),
                path: item.path.clone(),
                message: match item.violations.first() {
                    Some(first) => format!("is in quarantine: {} {}", first.path, first.message),
                    None => "is in quarantine".to_owned(),
                },
                help: None,
            }));
            match report.disposition {
                Disposition::Accepted => false,
                Disposition::Partial => !arguments.allow_partial,
                _ => true,
            }
        }
        Err(error) => {
            let fault = error.downcast_ref::<FaultError>().map(|FaultError(fault)| fault.code());
            findings.push(Finding {
                level: Level::Error,
                code: fault.unwrap_or("unreadable").to_owned(),
                location: Location::file(&name),
                path: String::new(),
                message: format!("{error:#}"),
                help: None,
            });
            true
        }
    };
    Checked { name, findings, failed, elapsed }
}

fn one(
    arguments: &Arguments,
    gate: &Gate,
    given: &Given,
    (agent, file): (&str, Input<'_>),
    is_picture: bool,
) -> Result<Status> {
    // A stream has lines of several kinds, so each line names its kind.
    let line = |kind: &str, json: String| match arguments.stream {
        true => print_json(&format!("{{\"{kind}\":{json}}}")),
        false => print_json(&json),
    };
    let mut output = Vec::new();
    let verdict = match judge(arguments, gate, given, (agent, file), is_picture, &mut output) {
        Ok(verdict) => verdict,
        Err(error) => {
            // A program that reads JSON gets the fault as JSON, too.
            if let (Some(FaultError(fault)), false) = (error.downcast_ref(), is_picture) {
                line("fault", fault.to_json())?;
            }
            return Err(error);
        }
    };
    let picture = || diagnostic::verdict(&verdict, &output, &input::name(file));
    let document = usable(&verdict.report, arguments.allow_partial);
    match &arguments.output {
        // Standard output has only the document, so the mistakes are shown on standard error.
        Some(path) if input::is_standard(path) => {
            if document.is_none() {
                say(&picture());
            }
        }
        _ if is_picture => print(&picture())?,
        _ => line("report", verdict.report.to_json())?,
    }
    if let Some(path) = &arguments.output {
        write_document(path, &verdict.report, document)?;
    }
    Ok(verdict.report.disposition.into())
}

/// Returns the document of a report, if it may be used.
fn usable(report: &Report, allow_partial: bool) -> Option<&str> {
    let is_usable = match report.disposition {
        Disposition::Accepted => true,
        Disposition::Partial => allow_partial,
        _ => false,
    };
    report.output.as_deref().filter(|_| is_usable)
}

/// Writes a document to a file or to standard output. Prints the reason if there is no document.
fn write_document(path: &Path, report: &Report, document: Option<&str>) -> Result<()> {
    let name = escape_terminal(&path.display().to_string());
    let Some(document) = document else {
        let why = match report.disposition {
            Disposition::Partial => "the document is partial; --allow-partial writes it",
            _ => "there is no valid document",
        };
        let what = if input::is_standard(path) { "nothing is".to_owned() } else { format!("{name} is not") };
        say(&format!("seamgate: {what} written: {why}"));
        return Ok(());
    };
    if input::is_standard(path) {
        return print_json(document);
    }
    let text = format!("{document}\n");
    // A device or a pipe must not be replaced.
    let written = match fs::metadata(path) {
        Ok(found) if !found.is_file() => fs::write(path, text),
        _ => whole_file::write(path, text.as_bytes()),
    };
    written.map_err(|error| NoVerdict(format!("cannot write {name}: {error}")).into())
}

/// Judges the output, and stores the bytes that were read in `output`.
fn judge(
    arguments: &Arguments,
    gate: &Gate,
    given: &Given,
    (agent, file): (&str, Input<'_>),
    is_picture: bool,
    output: &mut Vec<u8>,
) -> Result<Verdict> {
    if arguments.stream {
        let (input, length) = input::open(file)?;
        let mut session = gate.session(&given.add(Request::new(agent, ""))).map_err(FaultError)?;
        stream::follow(&mut session, (input, length), is_picture, output)?;
        return Ok(session.finish(arguments.finish).map_err(FaultError)?);
    }
    *output = input::read(file)?;
    let request = given.add(Request::from_bytes(agent, output).finish(arguments.finish));
    let fuel = |gate: &Gate| gate.validate(&request).ok().map(|verdict| verdict.usage.fuel);
    gate.validate(&request).map_err(|fault| no_verdict(fault, given.contract.as_deref(), fuel))
}
