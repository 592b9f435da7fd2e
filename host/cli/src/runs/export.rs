//! `seamgate runs export`.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use seamgate_text::{count, escape_terminal, say, with_sources};
use seamgate_trace::{CallRow, rows};
use serde::Serialize;

use super::{find, name_in};
use crate::{
    error::Unwritten,
    parquet::{Ended, Library, NO_LIBRARY, NoRows},
    status::Status,
};

pub(super) const HELP: &str = "\
A row says what was decided about a call, who approved it, and what it came to. Children of runs have rows, too. Times
are in milliseconds since 1970; in Parquet, they are timestamps.

  seamgate runs export runs > calls.ndjson
  seamgate runs export runs --parquet calls.parquet";

/// The number of bytes of rows that are written to a Parquet file at once.
const GROUP: usize = 16 * 1024 * 1024;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder that contains the runs
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Write this Parquet file instead. An existing file of this name is replaced once the new one is complete
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
}

/// A row with the folder of its run.
#[derive(Serialize)]
struct Row<'r> {
    folder: &'r str,
    #[serde(flatten)]
    row: &'r CallRow,
}

pub(super) fn run(arguments: &Arguments, parquet: Option<&Library<'_>>) -> Result<Status> {
    let found = find(&arguments.dir)?;
    let mut reader = Reader { arguments, count: 0, is_whole: found.is_whole };
    let runs = found.runs.iter().flat_map(|run| seamgate_runner::waiting::with_children(run));
    let Some(file) = &arguments.parquet else {
        let mut out = anstream::stdout().lock();
        for run in runs {
            out.write_all(reader.lines(&run)?.as_bytes()).map_err(Unwritten::from)?;
        }
        out.flush().map_err(Unwritten::from)?;
        return Ok(reader.status());
    };
    let Some(library) = parquet else { bail!(NO_LIBRARY) };
    let mut failed = None;
    let mut runs = runs;
    let mut next = || {
        let mut group = String::new();
        while group.len() < GROUP {
            let Some(run) = runs.next() else { break };
            group.push_str(&reader.lines(&run).map_err(|error| {
                failed = Some(error);
                NoRows
            })?);
        }
        Ok((!group.is_empty()).then_some(group))
    };
    let written = (library.write)(file, &mut next);
    if let Some(error) = failed {
        return Err(error);
    }
    match written {
        Ok(()) => {}
        Err(Ended::Failed(message)) => bail!("{message}"),
        Err(Ended::Signal(signal)) => return Ok(Status::Signal(signal)),
    }
    say(&format!("seamgate: {} written to {}", count(reader.count, "call"), escape_terminal(&file.to_string_lossy())));
    Ok(reader.status())
}

/// Reads runs, and reports problems with them.
struct Reader<'a> {
    arguments: &'a Arguments,
    count: usize,
    is_whole: bool,
}

impl Reader<'_> {
    /// Returns the rows of a run as NDJSON. Reports damage on standard error.
    fn lines(&mut self, run: &Path) -> Result<String> {
        let folder = name_in(&self.arguments.dir, run);
        let (rows, fault) = match rows(run) {
            Ok((rows, fault)) => (rows, fault),
            Err(seamgate_trace::TraceError::NotBegun { .. }) => return Ok(String::new()),
            Err(error) => (Vec::new(), Some(with_sources(&error))),
        };
        if let Some(fault) = fault {
            self.is_whole = false;
            say(&escape_terminal(&format!("seamgate: {folder}: {fault}")));
        }
        self.count += rows.len();
        let mut lines = String::new();
        for row in &rows {
            lines.push_str(&serde_json::to_string(&Row { folder: &folder, row })?);
            lines.push('\n');
        }
        Ok(lines)
    }

    fn status(&self) -> Status {
        if self.is_whole { Status::Accepted } else { Status::Fault }
    }
}
