//! The part of `.gitattributes` that marks derived files, so that diffs and reviews show their sources alone.

use std::fs;

use anyhow::{Context, Result};

pub(super) const FILE: &str = ".gitattributes";

const BEGIN: &str = "# `cargo xtask generate` writes the lines below.\n";

/// Writes a line for each of these files. Pages are left out, because reviewers read them.
pub(super) fn of<'p>(paths: impl IntoIterator<Item = &'p str>) -> Result<String> {
    let text = fs::read_to_string(FILE).context(FILE)?;
    let (before, _) = text.split_once(BEGIN).with_context(|| format!("{FILE} lacks {BEGIN:?}"))?;
    let derived = paths.into_iter().filter(|path| !path.ends_with(".md"));
    let lines: String = derived.map(|path| format!("{path} -diff linguist-generated\n")).collect();
    Ok(format!("{before}{BEGIN}{lines}"))
}
