//! `seamgate check`: one output, one verdict.

use std::{
    fs,
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use seamgate::{Limits, Request};

use crate::{
    gate, ndjson, picture,
    status::{Status, Unwritten},
    stream,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, or a baked component
    #[arg(short, long, value_name = "CONTRACT", required_unless_present = "ndjson")]
    contract: Option<PathBuf>,
    /// Whose contract applies, where -c has several
    #[arg(long, value_name = "NAME", conflicts_with = "ndjson")]
    agent: Option<String>,
    /// The report as JSON, on a terminal too
    #[arg(long, conflicts_with = "ndjson")]
    json: bool,
    /// A picture of the verdict, where there is no terminal too
    #[arg(long, conflicts_with_all = ["json", "ndjson"])]
    picture: bool,
    /// Why the agent stopped, as its API said
    #[arg(long, value_name = "WHY", default_value = "unknown", conflicts_with = "ndjson")]
    finish: Finish,
    /// The values of a list that the contract's 'allow' names, one a line
    #[arg(long, value_name = "NAME=FILE", value_parser = list, conflicts_with = "ndjson")]
    list: Vec<(String, PathBuf)>,
    /// A partial verdict exits with 0
    #[arg(long)]
    allow_partial: bool,
    /// Tell what is known while the output is still coming; as JSON, lines {"progress":…} and then {"report":…}
    #[arg(long, conflicts_with = "ndjson")]
    stream: bool,
    /// One request a line in, one answer a line out, in order. Exits as the worst answer would
    #[arg(long)]
    ndjson: bool,
    /// How many requests are judged at once [default: one for each processor]
    #[arg(short, long, value_name = "N", requires = "ndjson", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// What to judge; standard input where it is left out or '-'
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Finish {
    Stop,
    Length,
    Refusal,
    ContentFilter,
    Unknown,
}

impl From<Finish> for seamgate::Finish {
    fn from(finish: Finish) -> Self {
        match finish {
            Finish::Stop => seamgate::Finish::Stop,
            Finish::Length => seamgate::Finish::Length,
            Finish::Refusal => seamgate::Finish::Refusal,
            Finish::ContentFilter => seamgate::Finish::ContentFilter,
            Finish::Unknown => seamgate::Finish::Unknown,
        }
    }
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
    // Clap has seen to it that there is one.
    let contracts = arguments.contract.as_deref().unwrap_or(Path::new("."));
    let gate = gate::open(contracts)?;
    let agent = gate::agent(arguments.agent.as_deref(), &gate, contracts)?;
    let words = arguments.picture || (io::stdout().is_terminal() && !arguments.json);
    let finish = arguments.finish.into();
    let mut output = Vec::new();
    let judged = if arguments.stream {
        let request = with_lists(Request::new(&agent, ""), &arguments.list)?;
        stream::judge(&gate, &request, (file, finish, words), &mut output)?
    } else {
        output = read(file)?;
        gate.validate(&with_lists(Request::from_bytes(&agent, &output).finish(finish), &arguments.list)?)
    };
    // A line among others says what it is.
    let line = |what: &str, json: String| match arguments.stream {
        true => print(&format!("{{\"{what}\":{json}}}")),
        false => print(&json),
    };
    let verdict = match judged {
        Ok(verdict) => verdict,
        Err(fault) => {
            // No verdict is an answer too, for those who read answers.
            if !words {
                line("fault", fault.to_json())?;
            }
            return Err(gate::Told(fault).into());
        }
    };
    if words {
        let name = file.map_or_else(|| "standard input".to_owned(), |file| file.display().to_string());
        print(&picture::verdict(&verdict, &output, &name))?;
    } else {
        line("report", verdict.report.to_json())?;
    }
    Ok(verdict.report.disposition.into())
}

/// A request with the lists that files hold.
pub(crate) fn with_lists<'t>(request: Request<'t>, lists: &[(String, PathBuf)]) -> Result<Request<'t>> {
    lists.iter().try_fold(request, |request, (name, file)| {
        let values = fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
        Ok(request.list(name, values.lines()))
    })
}

/// `NAME=FILE`.
pub(crate) fn list(argument: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = argument.split_once('=').ok_or("must be NAME=FILE")?;
    Ok((name.to_owned(), file.into()))
}

/// The output, up to one byte more than the gate takes.
fn read(file: Option<&Path>) -> Result<Vec<u8>> {
    let limit = Limits::default().output_bytes as u64 + 1;
    let mut output = Vec::new();
    match file {
        Some(path) => {
            let name = || format!("{}", path.display());
            fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut output)).with_context(name)?;
        }
        None => {
            io::stdin().lock().take(limit).read_to_end(&mut output).context("standard input")?;
        }
    }
    Ok(output)
}

pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(Unwritten::from)?;
    Ok(())
}
