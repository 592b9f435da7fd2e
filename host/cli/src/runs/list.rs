//! `seamgate runs ls`.

use std::{io::Write, path::PathBuf};

use anyhow::Result;
use seamgate_runner::agent::now;
use seamgate_text::{escape_terminal, say};
use seamgate_trace::{RunFacts, RunState, facts, when};
use serde::Serialize;

use super::{find, name_in};
use crate::{console::print_json, error::Unwritten, status::Status};

/// The longest name in a table, in characters.
const MAX_NAME: usize = 60;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder that contains the runs
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print a JSON array instead
    #[arg(long)]
    json: bool,
}

/// A run, in the form for programs.
#[derive(Serialize)]
pub(super) struct Listed {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) facts: RunFacts,
    pub(super) bytes: u64,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let dir = &arguments.dir;
    let found = find(dir)?;
    let now = now();
    let mut all: Vec<Listed> = found
        .runs
        .iter()
        .map(|run| {
            let facts = facts(run, now);
            Listed { name: name_in(dir, run), bytes: facts.size.total(), facts }
        })
        .collect();
    all.sort_by(|one, other| (one.facts.last, &one.name).cmp(&(other.facts.last, &other.name)));
    match arguments.json {
        true => print_json(&serde_json::to_string(&all)?)?,
        false => write(&all)?,
    }
    let mut is_whole = found.is_whole;
    for Listed { name, facts, .. } in &all {
        if let (RunState::Broken, Some(fault)) = (facts.state, &facts.fault) {
            is_whole = false;
            say(&escape_terminal(&format!("seamgate: {name}: {fault}")));
        }
    }
    Ok(if is_whole { Status::Accepted } else { Status::Fault })
}

/// Formats a time, to the second.
pub(super) fn time(at: Option<u64>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| when(at / 1000 * 1000).replace(".000Z", "Z"))
}

fn write(all: &[Listed]) -> Result<()> {
    const HEAD: [&str; 9] = ["NAME", "AGENT", "STATE", "BEGAN", "LAST EVENT", "STEPS", "CALLS", "WAITING", "BYTES"];
    let row = |one: &Listed| {
        let Listed { name, facts, bytes } = one;
        [
            shown(name),
            shown(&facts.agent),
            facts.state.as_str().to_owned(),
            time(facts.began),
            time(facts.last),
            facts.steps.to_string(),
            facts.calls.to_string(),
            facts.waiting.to_string(),
            bytes.to_string(),
        ]
    };
    let rows: Vec<[String; 9]> = std::iter::once(HEAD.map(str::to_owned)).chain(all.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 9] = std::array::from_fn(width);
    let mut out = anstream::stdout().lock();
    for row in &rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            // Numbers are aligned to the right.
            5.. => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ")).map_err(Unwritten::from)?;
    }
    out.flush().map_err(Unwritten::from)?;
    Ok(())
}

/// Formats an untrusted text for a cell.
fn shown(text: &str) -> String {
    let text = escape_terminal(&text.replace(['\n', '\r', '\t'], " "));
    match text.is_empty() {
        true => "-".to_owned(),
        false => match text.char_indices().nth(MAX_NAME) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        },
    }
}
