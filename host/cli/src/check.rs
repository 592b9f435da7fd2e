//! `seamgate check`: one output, one verdict.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Fault, Finish, Gate, Limits, MAX_FILE, Request, read_named};

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
        match read(file)? {
            Ok(read) => {
                output = read;
                let request = Request::from_bytes(&agent, &output).finish(finish);
                gate.validate(&with_lists(&gate, request, &arguments.list)?)
            }
            Err(fault) => Err(fault),
        }
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
        let values = read_named(file, MAX_FILE)
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
            .with_context(|| format!("--list {name}: {}", file.display()))?;
        Ok(request.list(name, values.lines()))
    })
}

/// `NAME=FILE`.
pub(crate) fn list(argument: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = argument.split_once('=').ok_or("must be NAME=FILE")?;
    Ok((name.to_owned(), file.into()))
}

/// What the output is read from, and how long it is, where that is known: of a pipe nobody knows.
pub(crate) fn open(file: Option<&Path>) -> Result<(Box<dyn Read>, Option<usize>)> {
    let Some(path) = file else {
        return Ok((Box::new(io::stdin()), stdin_length()));
    };
    let name = || format!("{}", path.display());
    let file = fs::File::open(path).with_context(name)?;
    let length = seamgate::length(&file).with_context(name)?;
    Ok((Box::new(file), length))
}

/// The output. What is too large is not read, or not to its end.
fn read(file: Option<&Path>) -> Result<Result<Vec<u8>, Fault>> {
    let limit = Limits::default().output_bytes;
    let (input, length) = open(file)?;
    if let Some(bytes) = length.filter(|bytes| *bytes > limit) {
        return Ok(Err(Fault::InputTooLarge { bytes, limit, more: false }));
    }
    let mut output = Vec::new();
    let name = || file.map_or("standard input".to_owned(), |path| path.display().to_string());
    // One byte more than is taken shows that it is too long, or without end.
    input.take(limit as u64 + 1).read_to_end(&mut output).with_context(name)?;
    match output.len() {
        bytes if bytes > limit => Ok(Err(Fault::InputTooLarge { bytes, limit, more: true })),
        _ => Ok(Ok(output)),
    }
}

/// How much is left of standard input, where it is a file.
fn stdin_length() -> Option<usize> {
    #[cfg(unix)]
    {
        use std::{io::Seek, os::fd::AsFd};
        let mut file = fs::File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
        let length = seamgate::length(&file).ok()??;
        let read = usize::try_from(file.stream_position().ok()?).ok()?;
        Some(length.saturating_sub(read))
    }
    #[cfg(not(unix))]
    None
}

pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(Unwritten::from)?;
    Ok(())
}
