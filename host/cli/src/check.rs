//! `seamgate check`: one output, one verdict.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Finish, Gate, Limits, Request};

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
    /// Why the agent stopped, as its API said: stop, length, refusal, content_filter, tool_call or unknown, or the API's own
    /// word for one of these (end_turn, MAX_TOKENS …)
    #[arg(long, value_name = "WHY", default_value = "unknown", conflicts_with = "ndjson")]
    finish: Finish,
    /// The values of a list that the contract's 'allow' names, one a line. Without it there is no verdict, unless the rule is
    /// optional
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
    let finish = arguments.finish;
    let mut output = Vec::new();
    let judged = if arguments.stream {
        let request = with_lists(&gate, Request::new(&agent, ""), &arguments.list)?;
        stream::judge(&gate, &request, (file, finish, words), &mut output)?
    } else {
        output = read(file)?;
        gate.validate(&with_lists(&gate, Request::from_bytes(&agent, &output).finish(finish), &arguments.list)?)
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

/// A request with the lists that files hold. One that no contract names is a slip of the pen: nothing would be held to it.
pub(crate) fn with_lists<'t>(gate: &Gate, request: Request<'t>, lists: &[(String, PathBuf)]) -> Result<Request<'t>> {
    let known = match lists {
        [] => BTreeSet::new(),
        _ => gate::contracts(gate)?.into_iter().flat_map(|info| info.lists).collect(),
    };
    let mut given = BTreeSet::new();
    lists.iter().try_fold(request, |request, (name, file)| {
        if !known.contains(name) {
            let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
            let known = if known.is_empty() { "none does".to_owned() } else { known.join(", ") };
            bail!("--list {name}: must be a list that a contract names in 'allow': {known}");
        }
        if !given.insert(name) {
            bail!("--list {name}: must be given once");
        }
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
