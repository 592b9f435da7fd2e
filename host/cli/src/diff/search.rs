//! Looks for a document that one contract takes and another does not.

use anyhow::{Context, Result};
use seamgate::{Disposition, Gate, Instance, Request};
use serde_json::{Map, Value, json};

use crate::{
    error::FaultError,
    schema::{Pool, Root, Sampler},
};

/// Documents that are made and judged by both.
const DOCUMENTS: u64 = 3_000;

/// How wild documents are, in turn: where many values must be valid together, few may be at an edge.
const WILDNESS: [usize; 5] = [3, 10, 25, 50, 100];

/// Where choices begin: the same contracts are always answered the same.
const SEED: u64 = 1;

/// A document that one contract takes, and why the other does not.
pub(super) struct Example {
    pub(super) document: String,
    pub(super) why: String,
}

/// What was found: a document that only the old one takes, and one that only the new one takes.
pub(super) struct Found {
    pub(super) only_old: Option<Example>,
    pub(super) only_new: Option<Example>,
}

/// Members of a contract that decide about a document alone, wherever it stood in an output.
const OF_DOCUMENT: [&str; 6] = ["schema", "dialect", "resources", "formats", "patterns", "caps"];

pub(super) fn search(old: &Value, new: &Value, roots: [&Root; 2]) -> Result<Found> {
    let mut gate = Gate::new()?;
    for (agent, contract) in [("old", old), ("new", new)] {
        let mut own = Map::new();
        own.insert("agent".to_owned(), json!(agent));
        let kept = OF_DOCUMENT.into_iter().filter_map(|name| Some((name.to_owned(), contract.get(name)?.clone())));
        own.extend(kept);
        gate.register(&Value::Object(own).to_string()).map_err(FaultError).with_context(|| agent.to_uppercase())?;
    }
    let mut instance = gate.instance();
    let pool = Pool::of(roots);
    let mut found = Found { only_old: None, only_new: None };
    for number in 0..DOCUMENTS {
        let root = roots[(number % 2) as usize];
        let wildness = WILDNESS[(number / 2 % 5) as usize];
        let document = Sampler::new(&pool, SEED + number, wildness).document(root.node()).to_string();
        let (Some(by_old), Some(by_new)) =
            (judge(&mut instance, "old", &document), judge(&mut instance, "new", &document))
        else {
            continue;
        };
        match (by_old, by_new) {
            (Ok(()), Err(why)) => keep(&mut found.only_old, document, why),
            (Err(why), Ok(())) => keep(&mut found.only_new, document, why),
            _ => {}
        }
    }
    Ok(found)
}

/// Keep the shortest.
fn keep(example: &mut Option<Example>, document: String, why: String) {
    if example.as_ref().is_none_or(|known| document.len() < known.document.len()) {
        *example = Some(Example { document, why });
    }
}

/// Whether a contract takes a document, or why not. `None` where there is no verdict.
fn judge(instance: &mut Instance<'_>, agent: &str, document: &str) -> Option<Result<(), String>> {
    let report = instance.validate(&Request::new(agent, document)).ok()?.report;
    if report.disposition == Disposition::Accepted {
        return Some(Ok(()));
    }
    let first = report.violations().first();
    Some(Err(first.map_or_else(String::new, |first| format!("{} {}", first.path, first.message))))
}
