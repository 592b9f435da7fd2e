//! `seamgate`: check what an agent wrote before strict code reads it.

mod agent;
mod bake;
mod check;
mod describe;
mod folder;
mod gate;
#[expect(unreachable_pub, reason = "the core exports it")]
mod hidden;
mod inspect;
mod journal;
mod lint;
mod ndjson;
mod picture;
mod run;
mod status;
mod stream;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use status::Status;

/// The gate between agents and strict code: one verdict on each output, from a sandbox.
#[derive(Parser)]
#[command(version, propagate_version = true, after_help = status::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge one output, or with --ndjson one request a line
    Check(check::Arguments),
    /// Run an agent, judge its output, and ask again with what was wrong; print what was validated, and nothing else
    #[command(after_long_help = run::HELP)]
    Run(run::Arguments),
    /// Look for likely mistakes in contracts
    Lint(lint::Arguments),
    /// Make a component with contracts inside, compiled
    Bake(bake::Arguments),
    /// Print what an agent's prompt should say about its output
    Describe(describe::Arguments),
    /// Say what a component holds
    Inspect(inspect::Arguments),
}

fn main() -> ExitCode {
    // Told on standard error, where asked for: `RUST_LOG=info`.
    if let Ok(level) = std::env::var("RUST_LOG").unwrap_or_default().parse::<tracing::Level>() {
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false).init();
    }
    let status = match Arguments::parse().command {
        Command::Check(arguments) => check::run(arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Bake(arguments) => bake::run(&arguments),
        Command::Describe(arguments) => describe::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
    };
    status
        .unwrap_or_else(|error| {
            let status = Status::of(&error);
            // A reader that has gone away wants no message.
            if status != Status::BrokenPipe && !matches!(status, Status::Signal(_)) {
                status::say(&format!("seamgate: {}", picture::safe(&format!("{error:#}"))));
            }
            status
        })
        .into()
}
