//! The command line `seamgate`, which checks the output of an agent before strict code reads it. It is a library, so
//! that the native packages for Python and Node contain it without a second binary.

mod agent;
mod approve;
mod attest;
mod bake;
mod check;
mod codes;
mod console;
mod contracts;
mod demo;
mod describe;
mod diagnostic;
mod diff;
mod error;
mod evidence;
mod explain;
mod export;
mod format;
mod hook;
mod init;
mod input;
mod inspect;
mod lint;
mod lists;
mod log;
mod manual;
mod mcp;
mod ndjson;
mod notice;
pub mod parquet;
mod principal;
mod receipt;
mod replay;
mod revision;
mod run;
mod runs;
mod serve;
mod status;
mod stream;
mod test;
mod textfile;
mod trace;
mod types;
mod verify_release;
mod whole_file;
mod why;

use std::{ffi::OsString, process::ExitCode};

use anstream::ColorChoice;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};
use seamgate_text::{Level, escape_terminal, say, say_with};

pub use notice::print_warning;
use status::Status;

/// The gate between agents and strict code: one verdict on each output, from a sandbox
#[derive(Parser)]
#[command(name = "seamgate", version, propagate_version = true, after_help = status::HELP)]
struct Arguments {
    /// The form of messages on standard error: text for people, or one JSON object per line for logs [default: text]
    #[arg(long, global = true, value_name = "FORMAT", hide_possible_values = true)]
    log_format: Option<log::LogFormat>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what seamgate does, in a few seconds
    #[command(after_help = demo::HELP)]
    Demo(demo::Arguments),
    /// Judge one output, or many requests with --ndjson
    Check(check::Arguments),
    /// Run an agent, judge its output, ask again with feedback, and print only a valid document
    #[command(after_long_help = run::HELP)]
    Run(run::Arguments),
    /// Run an agent that cannot exceed its profile: what it may do, read and claim
    #[command(after_long_help = agent::HELP)]
    Agent(agent::Arguments),
    /// Run a gate between an MCP client and its server: only the tools of a profile, judged, approved and journalled
    #[command(after_long_help = mcp::HELP)]
    Mcp(mcp::Arguments),
    /// Answer a hook of a coding harness: one profile decides about all of its tools
    #[command(after_long_help = hook::HELP)]
    Hook(hook::Arguments),
    /// Decide about a call that waits for approval
    #[command(after_help = approve::HELP)]
    Approve(approve::Arguments),
    /// List, show, export and delete recorded runs
    #[command(after_help = runs::HELP)]
    Runs(runs::Arguments),
    /// Serve a folder of runs: a page on which people approve calls, and metrics for Prometheus
    #[command(after_help = serve::HELP)]
    Serve(serve::Arguments),
    /// Find likely mistakes in contracts and profiles
    Lint(lint::Arguments),
    /// Explain a word in a report, a fault or a finding, and what to do about it
    Explain(explain::Arguments),
    /// Create a contract to start from, with a schema and an example output that passes
    Init(init::Arguments),
    /// Check contracts against example outputs with expected verdicts
    #[command(after_help = test::HELP)]
    Test(test::Arguments),
    /// Compare two versions of a contract: what became narrower or wider, and whether this breaks writers or readers
    #[command(after_help = diff::HELP)]
    Diff(diff::Arguments),
    /// Print the part of a contract's schema that a provider's constrained decoding enforces
    #[command(after_help = export::HELP)]
    Export(export::Arguments),
    /// Create a component with compiled contracts and profiles inside
    Bake(bake::Arguments),
    /// Print the part of an agent's prompt that describes its output, or what it may do
    Describe(describe::Arguments),
    /// Write the types of documents that a contract accepts, in the language of your code
    #[command(after_help = types::HELP)]
    Types(types::Arguments),
    /// List the contents of a component
    Inspect(inspect::Arguments),
    /// Show a run of an agent: its turns, calls, decisions, approvals and budgets
    #[command(after_help = trace::HELP)]
    Trace(trace::Arguments),
    /// Trace a claim of a run's answer back to its observations, results, calls, permissions and prompts
    #[command(after_help = why::HELP)]
    Why(why::Arguments),
    /// Replay recorded runs under another profile: what would run, ask and be denied
    #[command(after_help = replay::HELP)]
    Replay(replay::Arguments),
    /// Create a signed receipt of a run, or verify one by deriving every decision again
    #[command(after_long_help = receipt::HELP)]
    Receipt(receipt::Arguments),
    /// Attest, with a signature, that files were made by the run of a receipt, or verify such a statement
    #[command(after_long_help = attest::HELP)]
    Attest(attest::Arguments),
    /// Check the files of a release offline: digests, signatures, provenance, packages inside, components
    #[command(after_long_help = verify_release::HELP)]
    VerifyRelease(verify_release::Arguments),
    /// Print the completion script for a shell
    Completions(manual::Completions),
    /// Print a page of the manual, in the format of `man`
    Man(manual::Manual),
}

impl Command {
    /// Returns the name of the command, as users write it.
    fn name(&self) -> &'static str {
        match self {
            Command::Demo(_) => "demo",
            Command::Check(_) => "check",
            Command::Run(_) => "run",
            Command::Agent(_) => "agent",
            Command::Mcp(_) => "mcp",
            Command::Hook(_) => "hook",
            Command::Approve(_) => "approve",
            Command::Serve(_) => "serve",
            Command::Lint(_) => "lint",
            Command::Explain(_) => "explain",
            Command::Init(_) => "init",
            Command::Test(_) => "test",
            Command::Diff(_) => "diff",
            Command::Export(_) => "export",
            Command::Bake(_) => "bake",
            Command::Describe(_) => "describe",
            Command::Types(_) => "types",
            Command::Inspect(_) => "inspect",
            Command::Trace(_) => "trace",
            Command::Why(_) => "why",
            Command::Replay(_) => "replay",
            Command::Runs(_) => "runs",
            Command::Receipt(_) => "receipt",
            Command::Attest(_) => "attest",
            Command::VerifyRelease(_) => "verify-release",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
        }
    }
}

/// Returns whether `FORCE_COLOR` asks for colours even without a terminal. `NO_COLOR` takes precedence.
fn has_color() -> bool {
    let says = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    says("FORCE_COLOR") && std::env::var_os("FORCE_COLOR").is_some_and(|value| value != "0") && !says("NO_COLOR")
}

/// Parses the arguments. If they are invalid or request help, exits the process.
fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Arguments {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = Arguments::command();
    if has_color() {
        command = command.color(clap::ColorChoice::Always);
    }
    let matches = command.try_get_matches_from_mut(&arguments);
    let error = match matches.and_then(|mut matches| Arguments::from_arg_matches_mut(&mut matches)) {
        Ok(parsed) => return parsed,
        Err(error) => error,
    };
    let is_run = arguments.get(1).is_some_and(|name| name == "run") && !arguments.iter().any(|word| word == "--");
    let is_unclear = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument);
    if is_run && is_unclear {
        let _ = error.print();
        say("\nThe agent and its arguments stand after '--':\n\n  seamgate run -c CONTRACT -- AGENT ARGUMENT...");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Runs the command line. The first argument is the name with which the program was started. If the arguments are
/// invalid or request help, exits the process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(arguments))
}

/// Runs the command line for a caller that exits the process itself. Returns the exit status.
pub fn status(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    status_with(arguments, None)
}

/// Runs the command line for a caller that has a library for Parquet, such as the Python package. Returns the exit
/// status.
pub fn status_with(arguments: impl IntoIterator<Item = OsString>, parquet: Option<&parquet::Library<'_>>) -> u8 {
    if has_color() {
        ColorChoice::Always.write_global();
    }
    let Arguments { log_format, command } = parsed(arguments);
    if let Err(error) = log::begin(log_format, command.name()) {
        say_with(Level::Error, &format!("seamgate: {}", escape_terminal(&format!("{error:#}"))), &[]);
        return Status::Usage.code();
    }
    // Commands that start programs, or in which a person decides.
    if matches!(
        command,
        Command::Run(_)
            | Command::Agent(_)
            | Command::Mcp(_)
            | Command::Approve(_)
            | Command::Serve(_)
            | Command::Types(_)
    ) {
        seamgate_runner::process::keep_descriptors();
        seamgate_runner::process::harden();
    }
    let status = match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Check(arguments) => check::run(arguments, parquet),
        Command::Run(arguments) => run::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Hook(arguments) => hook::run(&arguments),
        Command::Approve(arguments) => approve::run(&arguments),
        Command::Runs(arguments) => runs::run(&arguments, parquet),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Bake(arguments) => bake::run(&arguments),
        Command::Describe(arguments) => describe::run(&arguments),
        Command::Types(arguments) => types::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Why(arguments) => why::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Receipt(arguments) => receipt::run(&arguments),
        Command::Attest(arguments) => attest::run(&arguments),
        Command::VerifyRelease(arguments) => verify_release::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => manual::man(&arguments, Arguments::command()),
    };
    status
        .unwrap_or_else(|error| {
            let error = error::of_library(error);
            let status = Status::of(&error);
            // A reader that closed the pipe needs no message.
            if status != Status::BrokenPipe && !matches!(status, Status::Signal(_)) {
                let text = match error.downcast_ref::<error::Located>() {
                    Some(located) => format!("{}\n\nseamgate: the contract cannot be used", located.drawing()),
                    None => format!("seamgate: {}", escape_terminal(&error::told(&error))),
                };
                say_with(Level::Error, &text, &[]);
            }
            status
        })
        .code()
}
