//! The command line `seamgate`, which checks the output of an agent before strict code reads it. A library, so that the native
//! packages for Python and Node have it without a second binary.

mod agent;
mod approve;
mod bake;
mod check;
mod confine;
mod console;
mod contracts;
mod describe;
mod error;
mod evidence;
mod folder;
#[expect(unreachable_pub, reason = "the core exports it")]
mod hidden;
mod input;
mod inspect;
#[doc(hidden)]
pub mod journal;
mod lint;
mod lists;
mod mcp;
mod ndjson;
mod picture;
mod private;
mod process;
mod run;
mod safe;
mod status;
mod stream;
mod trace;
mod why;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};

use status::Status;

/// The gate between agents and strict code: one verdict on each output, from a sandbox
#[derive(Parser)]
#[command(name = "seamgate", version, propagate_version = true, after_help = status::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge one output, or many requests with --ndjson
    Check(check::Arguments),
    /// Run an agent, judge its output, ask again with feedback, and print only a valid document
    #[command(after_long_help = run::HELP)]
    Run(run::Arguments),
    /// Run an agent that cannot exceed its profile: what it may do, read and claim
    #[command(after_long_help = agent::HELP)]
    Agent(agent::Arguments),
    /// Decide about a call that waits for approval
    Approve(approve::Arguments),
    /// Find likely mistakes in contracts and profiles
    Lint(lint::Arguments),
    /// Make a component with compiled contracts and profiles inside
    Bake(bake::Arguments),
    /// Print the part of an agent's prompt that describes its output, or what it may do
    Describe(describe::Arguments),
    /// List what a component holds
    Inspect(inspect::Arguments),
    /// Show a run of an agent: its turns, calls, decisions, approvals and budgets
    #[command(after_help = trace::HELP)]
    Trace(trace::Arguments),
    /// Follow a claim of a run's answer back: to its observations, results, calls, permissions and prompts
    #[command(after_help = why::HELP)]
    Why(why::Arguments),
}

/// Run the command line. The first of the arguments is the name that the program was started by. Where they are invalid, or ask
/// for help, the process ends here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(arguments))
}

/// The same, for a program that goes on: it gives the number of the exit status.
pub fn status(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    // `RUST_LOG=info` logs to standard error.
    if let Ok(level) = std::env::var("RUST_LOG").unwrap_or_default().parse::<tracing::Level>() {
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false).init();
    }
    let status = match Arguments::parse_from(arguments).command {
        Command::Check(arguments) => check::run(arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::Approve(arguments) => approve::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Bake(arguments) => bake::run(&arguments),
        Command::Describe(arguments) => describe::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Why(arguments) => why::run(&arguments),
    };
    status
        .unwrap_or_else(|error| {
            let status = Status::of(&error);
            // A reader that closed the pipe needs no message.
            if status != Status::BrokenPipe && !matches!(status, Status::Signal(_)) {
                console::say(&format!("seamgate: {}", safe::safe(&format!("{error:#}"))));
            }
            status
        })
        .code()
}
