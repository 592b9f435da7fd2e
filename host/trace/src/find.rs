//! Finds the folders of runs in a folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::runs::{has_journal, is_pruned};

/// The depth to which a folder is searched for runs. `seamgate hook` keeps runs two folders below its folder for
/// journals.
const MAX_DEPTH: usize = 3;

/// The runs in a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FoundRuns {
    /// The folders of the runs, sorted by name. Children are in the folders of their parents, and are not listed.
    pub runs: Vec<PathBuf>,
    /// The folders of runs whose deletion was interrupted.
    pub leftovers: Vec<PathBuf>,
    /// The folders that cannot be read, with the errors.
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

/// Finds the runs in a folder and its subfolders, such as those of a gate's sessions and of hooks. The folder may be
/// that of a run itself. Follows no symbolic links inside the folder.
///
/// # Errors
///
/// The folder cannot be read, or is not a folder.
pub fn find_runs(folder: &Path) -> io::Result<FoundRuns> {
    let mut found = FoundRuns::default();
    if has_journal(folder) {
        found.runs.push(folder.to_owned());
        return Ok(found);
    }
    push_inside(folder, MAX_DEPTH, &mut found)?;
    Ok(found)
}

fn push_inside(folder: &Path, depth: usize, found: &mut FoundRuns) -> io::Result<()> {
    let mut inside = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Skip links, which could lead elsewhere.
        if !entry.file_type()?.is_dir() {
            continue;
        }
        if is_pruned(&entry.file_name()) { &mut found.leftovers } else { &mut inside }.push(entry.path());
    }
    inside.sort();
    for path in inside {
        if has_journal(&path) {
            found.runs.push(path);
        } else if depth > 1
            && let Err(error) = push_inside(&path, depth - 1, found)
        {
            found.unreadable.push((path, error));
        }
    }
    Ok(())
}
