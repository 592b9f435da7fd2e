//! Searches for a document that one contract accepts and another rejects.

use seamgate::{Disposition, Fault, Gate, Instance, LoadError, Request};
use serde_json::{Map, Value, json};

use crate::schema::{Pool, Root, Sampler};

/// The number of documents that are generated, and judged by both contracts.
const DOCUMENTS: u64 = 3_000;

/// The wildness of successive documents. If many values must be valid together, only few of them may be edge cases.
const WILDNESS: [usize; 5] = [3, 10, 25, 50, 100];

/// The seed of all random choices. It is fixed, so that the same contracts always have the same result.
const SEED: u64 = 1;

/// A document that one contract accepts and the other rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterExample {
    /// The document, as JSON.
    pub document: String,
    /// The first violation according to the contract that rejects it.
    pub why: String,
}

/// The reason why documents cannot be tried: the sandbox does not start, or a contract cannot be used without the
/// members that affect only outputs.
pub(super) enum SearchError {
    Load(LoadError),
    Contract { side: &'static str, fault: Fault },
}

/// A document that only the old contract accepts, and one that only the new contract accepts.
pub(super) struct Found {
    pub(super) only_old: Option<CounterExample>,
    pub(super) only_new: Option<CounterExample>,
}

/// The members of a contract that judge a document by itself, independent of its position in an output.
const OF_DOCUMENT: [&str; 6] = ["schema", "dialect", "resources", "formats", "patterns", "caps"];

pub(super) fn search(old: &Value, new: &Value, roots: [&Root; 2]) -> Result<Found, SearchError> {
    let mut gate = Gate::new().map_err(SearchError::Load)?;
    for (agent, side, contract) in [("old", "OLD", old), ("new", "NEW", new)] {
        let mut own = Map::new();
        own.insert("agent".to_owned(), json!(agent));
        let kept = OF_DOCUMENT.into_iter().filter_map(|name| Some((name.to_owned(), contract.get(name)?.clone())));
        own.extend(kept);
        let unusable = |fault| SearchError::Contract { side, fault };
        gate.register(&Value::Object(own).to_string()).map_err(unusable)?;
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

/// Keeps the shortest document.
fn keep(example: &mut Option<CounterExample>, document: String, why: String) {
    if example.as_ref().is_none_or(|known| document.len() < known.document.len()) {
        *example = Some(CounterExample { document, why });
    }
}

/// Returns whether a contract accepts a document, or the reason why it does not. `None` if there is no verdict.
fn judge(instance: &mut Instance<'_>, agent: &str, document: &str) -> Option<Result<(), String>> {
    let report = instance.validate(&Request::new(agent, document)).ok()?.report;
    if report.disposition == Disposition::Accepted {
        return Some(Ok(()));
    }
    let first = report.violations().first();
    Some(Err(first.map_or_else(String::new, |first| format!("{} {}", first.path, first.message))))
}
