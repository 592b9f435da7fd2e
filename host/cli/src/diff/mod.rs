//! `seamgate diff`: what changed from one contract to another, and whom that breaks.

mod changes;
mod policy;
mod search;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use seamgate::{Gate, read_contract, read_contracts};
use seamgate_text::{escape_terminal, truncate};
use serde_json::{Value, json};

use crate::{
    console::print,
    error::FaultError,
    input,
    schema::{Prover, Root},
    status::Status,
};
use changes::Change;
use search::{Example, Found};

/// Bytes of a value to show.
const MAX_VALUE: usize = 60;

/// Bytes of a document to show.
const MAX_DOCUMENT: usize = 400;

pub(crate) const HELP: &str = "\
Producers break where NEW does not accept an output that OLD accepts. Consumers break where NEW lets a document through
that OLD would not. 'breaks' shows a document that proves it. 'compatible' is proven from the schemas. Whatever is neither
is 'unknown'.

Exit status: 0 compatible, 1 breaks somebody, 2 usage or contract error, 3 unknown";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract before the change, or a folder of contracts
    old: PathBuf,
    /// The contract after the change, or a folder of contracts
    new: PathBuf,
    /// Whose compatibility sets the exit status [default: both]
    #[arg(long = "for", value_name = "WHOM")]
    whom: Option<Whom>,
    /// Print what changed as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whom {
    /// Those who write outputs
    Producers,
    /// Those who read documents
    Consumers,
}

/// Whether a change breaks somebody.
enum Answer {
    Compatible,
    Breaks(Example),
    /// A contract is no longer there.
    Gone,
    Unknown(String),
}

impl Answer {
    fn as_str(&self) -> &'static str {
        match self {
            Answer::Compatible => "compatible",
            Answer::Breaks(_) | Answer::Gone => "breaks",
            Answer::Unknown(_) => "unknown",
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Answer::Compatible => 0,
            Answer::Unknown(_) => 1,
            Answer::Breaks(_) | Answer::Gone => 2,
        }
    }
}

/// What changed for one agent.
struct Difference {
    agent: String,
    changes: Vec<Change>,
    producers: Answer,
    consumers: Answer,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    input::read_once([("OLD".to_owned(), arguments.old.as_path()), ("NEW".to_owned(), arguments.new.as_path())])?;
    let [old, new] = [read(&arguments.old)?, read(&arguments.new)?];
    let mut differences = Vec::new();
    // Two files are compared whatever their agents are named.
    if let ([old], [new], false) = (&old[..], &new[..], arguments.old.is_dir() || arguments.new.is_dir()) {
        differences.push(compare(old, new)?);
    } else {
        for contract in &old {
            match new.iter().find(|other| other.agent == contract.agent) {
                Some(other) => differences.push(compare(contract, other)?),
                None => differences.push(Difference {
                    agent: contract.agent.clone(),
                    changes: Vec::new(),
                    producers: Answer::Gone,
                    consumers: Answer::Gone,
                }),
            }
        }
    }
    match arguments.json {
        true => print(&json!({ "agents": differences.iter().map(as_json).collect::<Vec<_>>() }).to_string())?,
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

/// A contract that is known to be one.
struct Contract {
    path: PathBuf,
    agent: String,
    value: Value,
}

fn read(path: &Path) -> Result<Vec<Contract>> {
    let texts = match path.is_dir() {
        true => read_contracts(path)?,
        false => vec![(path.to_owned(), read_contract(path)?)],
    };
    let mut gate = Gate::new()?;
    let mut contracts = Vec::new();
    for (path, text) in texts {
        let context = || path.display().to_string();
        let agent = gate.register(&text).map_err(FaultError).with_context(context)?.agent;
        let value = serde_json::from_str(&text).with_context(context)?;
        contracts.push(Contract { path, agent, value });
    }
    if contracts.is_empty() {
        bail!("{} has no contracts", path.display());
    }
    Ok(contracts)
}

fn compare(old: &Contract, new: &Contract) -> Result<Difference> {
    let policy = policy::compare(&old.value, &new.value);
    let mut changes = policy.changes;
    let roots = [&old.value, &new.value].map(Root::of_contract);
    let ([in_new, in_old], found) = match &roots {
        [Some(was), Some(is)] => {
            let (was_node, is_node) = (was.node(), is.node());
            changes::list(was_node, is_node, "/schema", &mut changes);
            let proven = [Prover::within(was_node, is_node), Prover::within(is_node, was_node)];
            let context = || format!("{} and {}", old.path.display(), new.path.display());
            let found = search::search(&old.value, &new.value, [was, is]).with_context(context)?;
            (proven, found)
        }
        // Type Definitions are compared as a member of the policy.
        _ => ([true; 2], Found { only_old: None, only_new: None }),
    };
    let answer = |found: Option<Example>, by_schema: bool, by_policy: bool| match found {
        Some(example) => Answer::Breaks(example),
        None if by_schema && by_policy => Answer::Compatible,
        None => Answer::Unknown(match (by_schema, by_policy) {
            (true, _) => "the schema is compatible; the policy around it changed".to_owned(),
            (false, _) => "no document was found that shows a break, and there is no proof that none does".to_owned(),
        }),
    };
    Ok(Difference {
        agent: new.agent.clone(),
        producers: answer(found.only_old, in_new, policy.for_producers),
        consumers: answer(found.only_new, in_old, policy.for_consumers),
        changes,
    })
}

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
