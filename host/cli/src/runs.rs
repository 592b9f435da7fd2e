//! `seamgate runs`: treats the runs in a folder as an archive.

mod export;
mod list;
mod prune;
mod show;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Subcommand;
use seamgate_text::{escape_terminal, say};
use seamgate_trace::{FoundRuns, find_runs, has_journal};

use crate::{error::NoVerdict, parquet::Library, status::Status};

pub(crate) const HELP: &str = "\
DIR is the folder of 'seamgate mcp --journal', a folder of runs of 'seamgate agent', or the folder of one run.

Exit status: 0 done, 2 usage error or no run, 5 a journal is damaged, or a run cannot be read or deleted";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the runs of a folder, the newest last
    Ls(list::Arguments),
    /// Show one run: its state, profile, components, children and size
    Show(show::Arguments),
    /// Write the calls of all runs as rows, one for each call: NDJSON to standard output, or Parquet
    #[command(after_help = export::HELP)]
    Export(export::Arguments),
    /// Delete runs that have ended
    #[command(after_help = prune::HELP)]
    Prune(prune::Arguments),
}

pub(crate) fn run(arguments: &Arguments, parquet: Option<&Library<'_>>) -> Result<Status> {
    match &arguments.command {
        Command::Ls(arguments) => list::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Export(arguments) => export::run(arguments, parquet),
        Command::Prune(arguments) => prune::run(arguments),
    }
}

/// The runs of a folder.
struct Found {
    runs: Vec<PathBuf>,
    leftovers: Vec<PathBuf>,
    /// `true` if all folders could be read.
    is_whole: bool,
}

impl Found {
    /// Returns an error if there is no run.
    fn must_have_runs(&self, dir: &Path) -> Result<()> {
        if self.runs.is_empty() && self.is_whole {
            bail!("{}: there is no run in it: name the folder of a run, or one that holds runs", dir.display());
        }
        Ok(())
    }
}

/// Finds the runs in a folder, and reports which folders cannot be read. Returns an error if there is no run.
fn find(dir: &Path) -> Result<Found> {
    let found = look(dir)?;
    found.must_have_runs(dir)?;
    Ok(found)
}

/// Finds the runs in a folder, and reports which folders cannot be read.
fn look(dir: &Path) -> Result<Found> {
    if !dir.is_dir() {
        let why = if dir.exists() { "must be a folder" } else { "there is no such folder" };
        bail!("{}: {why}: name the folder of a run, or one that holds runs", dir.display());
    }
    let FoundRuns { runs, leftovers, unreadable, .. } =
        find_runs(dir).map_err(|error| NoVerdict(format!("cannot read {}: {error}", dir.display())))?;
    for (folder, error) in &unreadable {
        say(&escape_terminal(&format!("seamgate: left out: cannot read {}: {error}", folder.display())));
    }
    Ok(Found { runs, leftovers, is_whole: unreadable.is_empty() })
}

/// Returns the name of a run: the path of its folder relative to the folder on the command line.
fn name_in(dir: &Path, run: &Path) -> String {
    match run.strip_prefix(dir) {
        Ok(name) if !name.as_os_str().is_empty() => name.to_string_lossy().into_owned(),
        _ => run.to_string_lossy().into_owned(),
    }
}

/// Returns an error for a folder that is not that of a run.
fn must_be_run(run: &Path) -> Result<()> {
    match has_journal(run) {
        true => Ok(()),
        false => bail!("{}: it has no journal.ndjson: name the folder of a run", run.display()),
    }
}
