//! `seamgate diff`: describes what changed between two contracts, and whom that breaks.

use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use clap::ValueEnum;
use seamgate_authoring::diff::{Answer, Contract, DiffError, Difference, compare};
use seamgate_text::{escape_terminal, truncate};
use serde_json::{Value, json};

use crate::{
    console::{print, print_json},
    error::FaultError,
    input, revision,
    status::Status,
};

/// The longest value that is shown completely, in bytes. Longer values are truncated.
const MAX_VALUE: usize = 60;

/// The longest document that is shown completely, in bytes. Longer documents are truncated.
const MAX_DOCUMENT: usize = 400;

pub(crate) const HELP: &str = "\
Producers break where NEW does not accept an output that OLD accepts. Consumers break where NEW lets a document through
that OLD would not. 'breaks' shows a document that proves it. 'compatible' is proven from the schemas. Whatever is neither
is 'unknown'.

Exit status: 0 compatible, 1 breaks somebody, 2 usage or contract error, 3 unknown";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract before the change, or a folder of contracts. 'HEAD:' is NEW in that revision, and 'REVISION:PATH'
    /// another file
    old: PathBuf,
    /// The contract after the change, or a folder of contracts
    new: PathBuf,
    /// The side whose compatibility sets the exit status [default: both]
    #[arg(long = "for", value_name = "WHOM")]
    whom: Option<Whom>,
    /// Print the changes as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whom {
    /// The programs that write outputs
    Producers,
    /// The programs that read documents
    Consumers,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    input::read_once([("OLD".to_owned(), arguments.old.as_path()), ("NEW".to_owned(), arguments.new.as_path())])?;
    let (old, is_old_folder) = read(&arguments.old, &arguments.new)?;
    let (new, is_new_folder) = read(&arguments.new, &arguments.old)?;
    let mut differences = Vec::new();
    // Two files are compared even if the names of their agents differ.
    if let ([old], [new], false) = (&old[..], &new[..], is_old_folder || is_new_folder) {
        differences.push(compare(old, new).map_err(with_status)?);
    } else {
        for contract in &old {
            differences.push(match new.iter().find(|other| other.agent() == contract.agent()) {
                Some(other) => compare(contract, other).map_err(with_status)?,
                None => Difference::removed(contract),
            });
        }
    }
    match arguments.json {
        true => print_json(&json!({ "agents": differences.iter().map(as_json).collect::<Vec<_>>() }).to_string())?,
        false => print(&differences.iter().map(told).collect::<String>())?,
    }
    let counted = differences.iter().flat_map(|difference| {
        let answers = [(Whom::Producers, &difference.producers), (Whom::Consumers, &difference.consumers)];
        answers.into_iter().filter(|(whom, _)| arguments.whom.is_none_or(|counts| counts == *whom))
    });
    Ok(match counted.map(|(_, answer)| answer.rank()).max().unwrap_or(0) {
        0 => Status::Accepted,
        1 => Status::Partial,
        _ => Status::Rejected,
    })
}

/// Reads the contracts of a file or a folder, which can be in a revision. Returns whether it is a folder.
fn read(path: &Path, other: &Path) -> Result<(Vec<Contract>, bool)> {
    let revision = revision::read(path, other)?;
    let path = revision.as_ref().map_or(path, |revision| revision.path.as_path());
    let contracts = Contract::read(path).map_err(|mut error| {
        // A person does not know the folder of the copies.
        if let (DiffError::Contract { path, .. }, Some(revision)) = (&mut error, &revision) {
            *path = PathBuf::from(&revision.name);
        }
        with_status(error)
    })?;
    Ok((contracts, path.is_dir()))
}

/// Returns the error that decides the exit status.
fn with_status(error: DiffError) -> Error {
    match error {
        DiffError::Contract { path, fault, .. } => Error::from(FaultError(fault)).context(path.display().to_string()),
        DiffError::Reduced { old, new, side, fault, .. } => {
            let files = format!("{} and {}", old.display(), new.display());
            Error::from(FaultError(fault)).context(side).context(files)
        }
        error => error.into(),
    }
}

/// Describes a difference for a person.
fn told(difference: &Difference) -> String {
    let mut text = format!("{}\n", escape_terminal(&difference.agent));
    for change in &difference.changes {
        let shown = |value: &Option<Value>| {
            value.as_ref().map_or("nothing".to_owned(), |value| truncate(&value.to_string(), MAX_VALUE))
        };
        text.push_str(&format!(
            "  {:<9}{}: {} is now {}\n",
            change.way.as_str(),
            escape_terminal(&change.pointer),
            escape_terminal(&shown(&change.old)),
            escape_terminal(&shown(&change.new))
        ));
    }
    let sides = [
        ("producers", &difference.producers, ["OLD accepts", "NEW does not"]),
        ("consumers", &difference.consumers, ["NEW lets through", "OLD would not"]),
    ];
    for (whom, answer, [takes, refuses]) in sides {
        let style = ["\x1b[1;32m", "\x1b[1;33m", "\x1b[1;31m"][usize::from(answer.rank())];
        text.push_str(&format!("  {whom}: {style}{}\x1b[0m", answer.as_str()));
        match answer {
            Answer::Breaks(example) => {
                let document = truncate(&example.document, MAX_DOCUMENT);
                text.push_str(&format!(
                    "\n    {takes} {}\n    {refuses}: {}\n",
                    escape_terminal(&document),
                    escape_terminal(&example.why)
                ));
            }
            Answer::Gone => text.push_str(": NEW has no contract for this agent\n"),
            Answer::Unknown(why) => text.push_str(&format!(": {why}\n")),
            Answer::Compatible => text.push('\n'),
        }
    }
    text
}

fn as_json(difference: &Difference) -> Value {
    let answer = |answer: &Answer| match answer {
        Answer::Breaks(example) => {
            json!({ "answer": answer.as_str(), "document": example.document, "why": example.why })
        }
        _ => json!({ "answer": answer.as_str() }),
    };
    let changes = difference.changes.iter().map(|change| {
        json!({ "change": change.way.as_str(), "pointer": change.pointer, "old": change.old, "new": change.new })
    });
    json!({
        "agent": difference.agent,
        "changes": changes.collect::<Vec<_>>(),
        "producers": answer(&difference.producers),
        "consumers": answer(&difference.consumers),
    })
}
