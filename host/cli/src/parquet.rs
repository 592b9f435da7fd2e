//! `seamgate check --parquet`: judges the outputs in a Parquet file. The Python package does the work, because it has a
//! library for Parquet; this is the command line for it. `seamgate runs export --parquet` writes rows with the same
//! library.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use seamgate_text::{escape_terminal, say};

use crate::{
    input,
    status::{Status, Sum},
};

/// A Parquet file to judge, and the file for the result.
pub struct Job {
    /// The file with the outputs.
    pub input: PathBuf,
    /// The file for its columns and those of the verdicts.
    pub output: PathBuf,
    /// The contract, as one document.
    pub contract: String,
    /// The column of outputs.
    pub column: String,
    /// The column that says why each agent stopped.
    pub finish: Option<String>,
    /// The lists that the contract's `allow` names.
    pub lists: Vec<(String, Vec<String>)>,
    /// The number of outputs that are judged concurrently.
    pub threads: usize,
}

/// The progress of a job: the number of rows in the file, and how many of them were accepted, refused, partial,
/// rejected, or got a fault.
pub struct Progress {
    /// The number of rows in the file.
    pub rows: u64,
    /// The number of rows so far that were accepted, refused, partial, rejected, and without a verdict.
    pub kinds: [usize; 5],
}

/// The reason why a job ended early. Nothing was written.
pub enum Ended {
    /// A description of the error.
    Failed(String),
    /// A signal ended it.
    Signal(u8),
}

/// A function that judges Parquet files and reports its progress.
pub type Judge<'j> = &'j dyn Fn(&Job, &mut dyn FnMut(&Progress)) -> Result<(), Ended>;

/// The rows cannot be created, so the file is not written.
pub struct NoRows;

/// A function that returns the next rows as NDJSON, and `None` after the last row.
pub type NextRows<'n> = &'n mut dyn FnMut() -> Result<Option<String>, NoRows>;

/// A function that writes rows of calls to a Parquet file. The file appears either completely or not at all.
pub type WriteRows<'w> = &'w dyn Fn(&Path, NextRows<'_>) -> Result<(), Ended>;

/// A library for Parquet.
pub struct Library<'l> {
    /// Judges files of outputs.
    pub judge: Judge<'l>,
    /// Writes rows of calls.
    pub write: WriteRows<'l>,
}

/// The error message if there is no library.
pub(crate) const NO_LIBRARY: &str = "this program has no library for Parquet; the Python package has the same command \
    with one. Install it (pip install 'seamgate[parquet]'), and run the 'seamgate' that it brings";

/// Judges a file.
pub(crate) fn run(library: Option<&Library<'_>>, job: impl FnOnce() -> Result<Job>) -> Result<Status> {
    let Some(Library { judge, .. }) = library else { bail!(NO_LIBRARY) };
    let job = job()?;
    let start = Instant::now();
    let bar = bar(&job.input);
    let mut sum = Sum::default();
    let ended = judge(&job, &mut |progress| {
        sum = Sum::of(progress.kinds);
        bar.set_length(progress.rows);
        bar.set_position(progress.kinds.iter().map(|number| *number as u64).sum());
        bar.set_message(sum.told("output"));
    });
    bar.finish_and_clear();
    match ended {
        Ok(()) => {}
        Err(Ended::Failed(message)) => bail!("{message}"),
        Err(Ended::Signal(signal)) => return Ok(Status::Signal(signal)),
    }
    let seconds = start.elapsed().as_secs_f64();
    say(&format!(
        "seamgate: {} in {seconds:.1} s, written to {}",
        sum.told("output"),
        escape_terminal(&job.output.to_string_lossy())
    ));
    Ok(sum.worst())
}

/// Returns a progress bar, if standard error is a terminal.
fn bar(file: &Path) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    bar.set_prefix(escape_terminal(&input::name(Some(file))));
    let template = "{prefix} [{bar:30}] {percent} %: {msg}, {eta} left ({per_sec})";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
