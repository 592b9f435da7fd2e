//! `--list NAME=FILE`: the values of a list that a contract's `allow` names.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, MAX_FILE, Request};
use seamgate_text::{escape_terminal, say};

use crate::{contracts, input};

/// The lists of the command line. Each file is read once, so that every output is checked against the same values.
#[derive(Default)]
pub(crate) struct Lists(Vec<(String, Vec<String>)>);

/// Parses `NAME=FILE`.
pub(crate) fn parse(argument: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = argument.split_once('=').ok_or("must be NAME=FILE")?;
    Ok((name.to_owned(), file.into()))
}

impl Lists {
    /// Reads the lists. A name that no contract uses is rejected, because such a list would check nothing.
    pub(crate) fn read(gate: &Gate, lists: &[(String, PathBuf)]) -> Result<Self> {
        let known = match lists {
            [] => BTreeSet::new(),
            _ => contracts::all(gate)?.into_iter().flat_map(|info| info.lists).collect(),
        };
        let mut given = BTreeSet::new();
        let read = lists.iter().map(|(name, file)| {
            if !known.contains(name) {
                let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                bail!("--list {name}: no contract has this list in 'allow'; known lists: {known}");
            }
            if !given.insert(name) {
                bail!("--list {name}: give each list once");
            }
            Ok((name.clone(), read(name, file)?))
        });
        Ok(Lists(read.collect::<Result<_>>()?))
    }

    /// Adds the lists to a request.
    pub(crate) fn add<'t>(&self, request: Request<'t>) -> Request<'t> {
        self.0.iter().fold(request, |request, (name, values)| request.list(name, values))
    }

    /// Returns the values by the names of their lists.
    pub(crate) fn into_values(self) -> Vec<(String, Vec<String>)> {
        self.0
    }
}

/// The byte order mark that some editors write at the beginning of a text. It belongs to no value.
const MARK: char = '\u{feff}';

/// Reads the values of a list: the lines of its file.
pub(crate) fn read(name: &str, file: &Path) -> Result<Vec<String>> {
    let text = input::named(file, MAX_FILE)
        .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        .with_context(|| format!("--list {name}: cannot read {}", input::name(Some(file))))?;
    let values: Vec<String> = text.trim_start_matches(MARK).lines().map(str::to_owned).collect();
    if let Some(warning) = warning(&values) {
        say(&escape_terminal(&format!("seamgate: --list {name}: {} {warning}", input::name(Some(file)))));
    }
    Ok(values)
}

/// Returns a warning about a list that is probably not what its author meant.
fn warning(values: &[String]) -> Option<String> {
    if values.is_empty() {
        return Some("is empty: this list allows no value".to_owned());
    }
    if values.iter().all(String::is_empty) {
        return Some("has only empty lines: this list allows only an empty string".to_owned());
    }
    // For example, if two files were concatenated that each begin with the mark.
    let marked = values.iter().position(|value| value.starts_with(MARK))?;
    Some(format!(
        "has a byte order mark (U+FEFF) at the start of line {}: it is part of that value; remove it",
        marked + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::warning;

    #[test]
    fn lists_that_nobody_means_are_reported() {
        let said = |values: &[&str]| warning(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>());
        assert_eq!(said(&["core", "web"]), None);
        assert_eq!(said(&["core", ""]), None);
        assert!(said(&[]).is_some_and(|said| said.contains("is empty")));
        assert!(said(&["", ""]).is_some_and(|said| said.contains("only empty lines")));
        assert!(said(&["core", "\u{feff}web"]).is_some_and(|said| said.contains("line 2")));
    }
}
