//! `seamgate trace`: shows a run in a readable form, using only its folder.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Error, Result, bail};
use seamgate::write_private;
use seamgate_text::{escape_terminal, say};
use seamgate_trace::TraceError;

use crate::{
    error::{FaultError, NoVerdict, Unwritten},
    status::Status,
};

pub(crate) const HELP: &str = "\
Exit status: 0 the whole run was shown, 2 usage error, 5 the journal is damaged or torn: all before that was shown";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of a run, a folder of several runs, or a journal of 'seamgate run'
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Write one page for a browser instead. The page loads nothing and runs nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write OTLP/JSON instead, with the names of OpenTelemetry's conventions for generative AI
    #[arg(long, value_name = "FILE")]
    otlp: Option<PathBuf>,
    /// The profile of the run, for claims and for what each audience sees [default: the copy in DIR/agent.json]
    #[arg(short, long, value_name = "PROFILE")]
    profile: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let dir = &arguments.dir;
    if dir.is_file() && (arguments.html.is_some() || arguments.otlp.is_some()) {
        bail!("{}: a journal of 'seamgate run' is shown as text only: leave out --html and --otlp", dir.display());
    }
    let mut faults = Vec::new();
    if let Some(file) = &arguments.html {
        let page = seamgate_trace::html(dir, arguments.profile.as_deref()).map_err(with_status)?;
        write(file, &page.text)?;
        faults = page.faults;
    }
    if let Some(file) = &arguments.otlp {
        let request = seamgate_trace::otlp(dir).map_err(with_status)?;
        write(file, &request.text)?;
        faults = request.faults;
    }
    if arguments.html.is_none() && arguments.otlp.is_none() {
        let mut out = BufWriter::new(anstream::stdout().lock());
        faults = seamgate_trace::write_text(&mut out, dir).map_err(with_status)?;
        out.flush().map_err(Unwritten::from)?;
    }
    for fault in &faults {
        say(&format!("seamgate: {}", escape_terminal(fault)));
    }
    Ok(if faults.is_empty() { Status::Accepted } else { Status::Fault })
}

/// Writes a file that only its owner can read, because a trace contains what the run contains.
fn write(file: &Path, text: &str) -> Result<()> {
    write_private(file, text.as_bytes())
        .map_err(|error| NoVerdict(format!("cannot write {}: {error}", file.display())).into())
}

/// Returns the error that decides the exit status.
pub(crate) fn with_status(error: TraceError) -> Error {
    match error {
        TraceError::Profile { path, fault, .. } => Error::from(FaultError(fault)).context(path.display().to_string()),
        TraceError::Write(error) => Unwritten::from(error).into(),
        TraceError::Damaged { .. } => NoVerdict(error.to_string()).into(),
        error => error.into(),
    }
}
