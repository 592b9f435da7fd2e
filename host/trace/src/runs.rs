//! Formats a folder of runs as text for a terminal: one line for each run.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use seamgate_text::{escape_terminal, shell_word, with_sources};

use crate::{error::TraceError, format::when, steps::Steps, text::Known};

/// The name of the file with a run's journal, in the run's folder.
pub const JOURNAL: &str = "journal.ndjson";

/// The prefix of the names of folders that `seamgate runs prune` is deleting. They contain no run.
pub const PRUNED: &str = ".pruned-";

/// The maximum number of runs that are shown. They are the last ones, sorted by name.
const MAX_RUNS: usize = 1000;

/// Returns whether a folder is that of a run, judging by its journal.
pub fn has_journal(folder: &Path) -> bool {
    folder.join(JOURNAL).is_file()
}

/// Returns whether a folder with this name is being deleted.
pub(crate) fn is_pruned(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PRUNED.as_bytes())
}

/// Returns the folders of the runs in a folder, sorted by name. Returns none if the folder itself is that of a run, or
/// cannot be read.
pub fn runs_in(folder: &Path, is_run: fn(&Path) -> bool) -> Vec<PathBuf> {
    if is_run(folder) {
        return Vec::new();
    }
    let inside = fs::read_dir(folder).into_iter().flatten();
    let mut runs: Vec<PathBuf> = inside.filter_map(|entry| Some(entry.ok()?.path())).collect();
    runs.retain(|run| !run.file_name().is_some_and(is_pruned) && is_run(run));
    runs.sort();
    runs
}

/// Writes a line for each run. Returns the faults of their journals, one sentence each.
///
/// # Errors
///
/// Writing fails.
pub(crate) fn write_text(out: &mut impl Write, runs: &[PathBuf]) -> Result<Vec<String>, TraceError> {
    let mut faults = Vec::new();
    let (before, shown) = runs.split_at(runs.len().saturating_sub(MAX_RUNS));
    if !before.is_empty() {
        writeln!(out, "{} earlier runs are not shown: name the folder of one", before.len())
            .map_err(TraceError::Write)?;
    }
    for run in shown {
        let line = match summary(run, &mut faults) {
            Ok(line) => line,
            Err(error) => {
                let error = with_sources(&error);
                faults.push(error.clone());
                error
            }
        };
        writeln!(out, "{}  {}", shell_word(run), escape_terminal(&line)).map_err(TraceError::Write)?;
    }
    Ok(faults)
}

/// Describes which run it is, when it began, and how it ended or what it waits for.
fn summary(folder: &Path, faults: &mut Vec<String>) -> Result<String, TraceError> {
    let mut steps = Steps::open(folder)?;
    let (mut known, mut count, mut last) = (Known::default(), 0, 0);
    while let Some(step) = steps.next() {
        if count == 0 {
            known = Known::new(step.at);
        }
        (count, last) = (step.number, step.at);
        known.entries(&steps, &step);
    }
    if let Some(fault) = steps.fault() {
        faults.push(format!("{}: {fault}", folder.display()));
    }
    Ok(format!("{}, {}: {}", steps.about.agent, when(known.start), known.ending(count, last)))
}
