//! The changes between two contracts, and whom they break.

mod changes;
mod policy;
mod search;

use std::path::{Path, PathBuf};

use seamgate::{Fault, FileError, Gate, LoadError, read_contract, read_contracts};
use serde_json::Value;

use self::search::{Found, SearchError};
use crate::schema::{Prover, Root};

pub use self::{
    changes::{Change, Way},
    search::CounterExample,
};

/// The reason why contracts cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The sandbox cannot be set up.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A contract cannot be used.
    #[error("{}: {fault}", path.display())]
    #[non_exhaustive]
    Contract {
        /// The file of the contract.
        path: PathBuf,
        /// A description of the error.
        fault: Fault,
    },
    /// A contract that the gate accepted is not JSON.
    #[error("{}", path.display())]
    #[non_exhaustive]
    NotJson {
        /// The file of the contract.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// A folder has no contracts.
    #[error("{} has no contracts", path.display())]
    #[non_exhaustive]
    NoContracts {
        /// The folder.
        path: PathBuf,
    },
    /// The sandbox in which documents are tried cannot be set up.
    #[error("{} and {}", old.display(), new.display())]
    #[non_exhaustive]
    Search {
        /// The file of the old contract.
        old: PathBuf,
        /// The file of the new contract.
        new: PathBuf,
        /// The reason.
        source: LoadError,
    },
    /// A contract cannot be used for trying documents, that is, without the members that affect only outputs.
    #[error("{} and {}: {side}: {fault}", old.display(), new.display())]
    #[non_exhaustive]
    Reduced {
        /// The file of the old contract.
        old: PathBuf,
        /// The file of the new contract.
        new: PathBuf,
        /// The contract that cannot be used: `OLD` or `NEW`.
        side: &'static str,
        /// A description of the error.
        fault: Fault,
    },
}

/// A contract that the gate accepts.
pub struct Contract {
    path: PathBuf,
    agent: String,
    value: Value,
}

impl Contract {
    /// Reads a contract from a file with the files that it references, or all contracts of a folder.
    ///
    /// # Errors
    ///
    /// A file cannot be read, a contract cannot be used, or the folder has no contracts.
    pub fn read(path: &Path) -> Result<Vec<Self>, DiffError> {
        let texts = match path.is_dir() {
            true => read_contracts(path)?,
            false => vec![(path.to_owned(), read_contract(path)?)],
        };
        let mut gate = Gate::new()?;
        let contracts = texts.into_iter().map(|(path, text)| Contract::checked(&mut gate, path, &text));
        let contracts = contracts.collect::<Result<Vec<_>, _>>()?;
        if contracts.is_empty() {
            return Err(DiffError::NoContracts { path: path.to_owned() });
        }
        Ok(contracts)
    }

    /// Takes a contract that is one complete text. `path` names it in errors.
    ///
    /// # Errors
    ///
    /// The contract cannot be used.
    pub fn from_text(path: impl Into<PathBuf>, text: &str) -> Result<Self, DiffError> {
        Contract::checked(&mut Gate::new()?, path.into(), text)
    }

    fn checked(gate: &mut Gate, path: PathBuf, text: &str) -> Result<Self, DiffError> {
        let agent = match gate.register(text) {
            Ok(info) => info.agent,
            Err(fault) => return Err(DiffError::Contract { path, fault }),
        };
        match serde_json::from_str(text) {
            Ok(value) => Ok(Contract { path, agent, value }),
            Err(source) => Err(DiffError::NotJson { path, source }),
        }
    }

    /// Returns the agent that the contract is for.
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

/// The effect of a change on those who rely on a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nobody breaks. This is proven from the contracts.
    Compatible,
    /// Somebody breaks, and the document proves it.
    Breaks(CounterExample),
    /// Somebody breaks, because there is no new contract for the agent.
    Gone,
    /// No break was found, and there is no proof that none exists. The sentence says why.
    Unknown(String),
}

impl Answer {
    /// Returns the word for the effect: `compatible`, `breaks` or `unknown`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Answer::Compatible => "compatible",
            Answer::Breaks(_) | Answer::Gone => "breaks",
            Answer::Unknown(_) => "unknown",
        }
    }

    /// Returns the severity of the effect: 0 for compatible, 1 for unknown, 2 for a break.
    pub fn rank(&self) -> u8 {
        match self {
            Answer::Compatible => 0,
            Answer::Unknown(_) => 1,
            Answer::Breaks(_) | Answer::Gone => 2,
        }
    }
}

/// The changes for one agent, and whom they break.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The agent.
    pub agent: String,
    /// The changes of the policy, followed by those of the schema, 200 at most.
    pub changes: Vec<Change>,
    /// The effect on producers, who write outputs. They break if NEW rejects an output that OLD accepts.
    pub producers: Answer,
    /// The effect on consumers, who read documents. They break if NEW accepts a document that OLD would reject.
    pub consumers: Answer,
}

impl Difference {
    /// Returns the difference for an agent whose contract has been removed: everybody breaks.
    pub fn removed(old: &Contract) -> Self {
        let agent = old.agent.clone();
        Difference { agent, changes: Vec::new(), producers: Answer::Gone, consumers: Answer::Gone }
    }
}

/// Compares two versions of a contract.
///
/// First, tries to prove the direction of each change of the schema. Then generates thousands of documents from both
/// schemas, and judges them by both contracts. The result depends only on the two contracts.
///
/// # Errors
///
/// The sandbox cannot be set up, or a contract cannot be used without the members that affect only outputs.
pub fn compare(old: &Contract, new: &Contract) -> Result<Difference, DiffError> {
    let policy = policy::compare(&old.value, &new.value);
    let mut changes = policy.changes;
    let roots = [&old.value, &new.value].map(Root::of_contract);
    let ([in_new, in_old], found) = match &roots {
        [Some(was), Some(is)] => {
            let (was_node, is_node) = (was.node(), is.node());
            changes::list(was_node, is_node, "/schema", &mut changes);
            let proven = [Prover::within(was_node, is_node), Prover::within(is_node, was_node)];
            let found = search::search(&old.value, &new.value, [was, is]).map_err(|error| {
                let [old, new] = [old, new].map(|contract| contract.path.clone());
                match error {
                    SearchError::Load(source) => DiffError::Search { old, new, source },
                    SearchError::Contract { side, fault } => DiffError::Reduced { old, new, side, fault },
                }
            })?;
            (proven, found)
        }
        // Type Definitions are compared as a member of the policy.
        _ => ([true; 2], Found { only_old: None, only_new: None }),
    };
    let answer = |found: Option<CounterExample>, by_schema: bool, by_policy: bool| match found {
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
