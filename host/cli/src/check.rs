//! `seamgate check`: one output, one verdict.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use anyhow::Result;
use seamgate::{Finish, Gate, Request, Verdict};

use crate::{
    console::print, contracts, error::FaultError, evidence, input, lists, ndjson, picture, status::Status, stream,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, or a baked component
    #[arg(short, long, value_name = "CONTRACT", required_unless_present = "ndjson")]
    contract: Option<PathBuf>,
    /// The agent whose contract applies, if -c has several
    #[arg(long, value_name = "NAME", conflicts_with = "ndjson")]
    agent: Option<String>,
    /// Print the report as JSON, even on a terminal
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,
    /// Print the verdict as a picture, even without a terminal
    #[arg(long, conflicts_with_all = ["json", "ndjson"])]
    picture: bool,
    /// Why the agent stopped: stop, length, refusal, content_filter, tool_call or unknown, or the word of its API (end_turn,
    /// MAX_TOKENS …)
    #[arg(long, value_name = "REASON", default_value = "unknown", conflicts_with = "ndjson")]
    finish: Finish,
    /// A list that the contract's 'allow' names: a file with one value a line. A missing list is a fault, unless its rule is
    /// optional
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse, conflicts_with = "ndjson")]
    list: Vec<(String, PathBuf)>,
    /// What the agent saw, for the claims of the contract's 'evidence': a JSON list of observations. If the contract asks for
    /// it and it is missing, there is no verdict
    #[arg(long, value_name = "FILE", conflicts_with = "ndjson")]
    evidence: Option<PathBuf>,
    /// Exit with 0 for a partial verdict
    #[arg(long)]
    allow_partial: bool,
    /// Report progress while the output is still coming. As JSON: lines {"progress":…}, then {"report":…}
    #[arg(long, conflicts_with = "ndjson")]
    stream: bool,
    /// Read one request a line, write one answer a line, in order. The worst answer sets the exit status
    #[arg(long)]
    ndjson: bool,
    /// How many requests to judge at once [default: one for each processor]
    #[arg(short, long, value_name = "N", requires = "ndjson", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// The output to judge [default: standard input, also '-']
    file: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Result<Status> {
    let file = arguments.file.as_deref().filter(|file| *file != Path::new("-"));
    let status = if arguments.ndjson {
        ndjson::run(arguments.contract.as_deref(), file, arguments.jobs)?
    } else {
        one(&arguments, file)?
    };
    Ok(match status {
        Status::Partial if arguments.allow_partial => Status::Accepted,
        status => status,
    })
}

fn one(arguments: &Arguments, file: Option<&Path>) -> Result<Status> {
    // Clap makes sure that there is one.
    let contracts = arguments.contract.as_deref().unwrap_or(Path::new("."));
    let gate = contracts::open(contracts)?;
    let agent = contracts::agent(arguments.agent.as_deref(), &gate, contracts)?;
    let is_picture = arguments.picture || (io::stdout().is_terminal() && !arguments.json);
    // A stream has lines of several kinds, so each says what it is.
    let line = |kind: &str, json: String| match arguments.stream {
        true => print(&format!("{{\"{kind}\":{json}}}")),
        false => print(&json),
    };
    let mut output = Vec::new();
    let verdict = match judge(arguments, &gate, (&agent, file), is_picture, &mut output) {
        Ok(verdict) => verdict,
        Err(error) => {
            // A program that reads JSON gets a fault as JSON, too.
            if let (Some(FaultError(fault)), false) = (error.downcast_ref(), is_picture) {
                line("fault", fault.to_json())?;
            }
            return Err(error);
        }
    };
    if is_picture {
        print(&picture::verdict(&verdict, &output, &input::name(file)))?;
    } else {
        line("report", verdict.report.to_json())?;
    }
    Ok(verdict.report.disposition.into())
}

/// Judge the output, and put the bytes that were read into `output`.
fn judge(
    arguments: &Arguments,
    gate: &Gate,
    (agent, file): (&str, Option<&Path>),
    is_picture: bool,
    output: &mut Vec<u8>,
) -> Result<Verdict> {
    let judged = if arguments.stream {
        let request = evidence::add(Request::new(agent, ""), arguments.evidence.as_deref())?;
        let request = lists::add(gate, request, &arguments.list)?;
        let (input, length) = input::open(file)?;
        let mut session = gate.session(&request).map_err(FaultError)?;
        stream::follow(&mut session, (input, length), is_picture, output)?;
        session.finish(arguments.finish)
    } else {
        *output = input::read(file)?;
        let request = Request::from_bytes(agent, output).finish(arguments.finish);
        let request = evidence::add(request, arguments.evidence.as_deref())?;
        gate.validate(&lists::add(gate, request, &arguments.list)?)
    };
    Ok(judged.map_err(FaultError)?)
}
