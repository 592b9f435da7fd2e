//! `--list NAME=FILE`: the values of a list that a contract's `allow` names.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, MAX_FILE, Request, read_named};

use crate::contracts;

/// Parse `NAME=FILE`.
pub(crate) fn parse(argument: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = argument.split_once('=').ok_or("must be NAME=FILE")?;
    Ok((name.to_owned(), file.into()))
}

/// Add the lists to a request.
pub(crate) fn add<'t>(gate: &Gate, request: Request<'t>, lists: &[(String, PathBuf)]) -> Result<Request<'t>> {
    Ok(all(gate, lists)?.into_iter().fold(request, |request, (name, values)| request.list(&name, values)))
}

/// The lists with their values. A name that no contract has is a mistake: the list would check nothing.
pub(crate) fn all(gate: &Gate, lists: &[(String, PathBuf)]) -> Result<Vec<(String, Vec<String>)>> {
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
    read.collect()
}

/// The values of a list: the lines of its file.
pub(crate) fn read(name: &str, file: &Path) -> Result<Vec<String>> {
    let values = read_named(file, MAX_FILE)
        .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        .with_context(|| format!("--list {name}: cannot read {}", file.display()))?;
    Ok(values.lines().map(str::to_owned).collect())
}
