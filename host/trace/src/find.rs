//! Finds the folders of runs in a folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::runs::{has_journal, is_pruned};

/// How deep below a folder runs are looked for: `seamgate hook` keeps them two folders below that of its journals.
const MAX_DEPTH: usize = 3;

/// The runs in a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FoundRuns {
    /// The folders of the runs, in the order of their names. Children are in the folders of their parents.
    pub runs: Vec<PathBuf>,
    /// The folders of runs whose deletion was interrupted.
    pub leftovers: Vec<PathBuf>,
    /// The folders that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

/// Finds the runs in a folder, and in the folders in it: those of a gate's sessions, and those of hooks. The folder may
/// be that of a run itself. Follows no symbolic link inside the folder.
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
        // No link leads elsewhere.
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
