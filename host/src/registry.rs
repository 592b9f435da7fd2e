//! The contracts that a gate holds. Each instance starts without them.

use std::collections::BTreeMap;

use crate::{fault::Fault, types::ContractInfo};

/// Contracts by agent.
#[derive(Default)]
pub(crate) struct Registry(BTreeMap<String, Registered>);

/// A contract that every instance compiles before it judges by it.
pub(crate) struct Registered {
    pub(crate) text: String,
    pub(crate) info: ContractInfo,
}

impl Registry {
    /// Keep a contract that the component has accepted.
    pub(crate) fn keep(&mut self, text: &str, info: ContractInfo) -> Result<(), Fault> {
        match self.0.get(&info.agent) {
            Some(held) if held.info.contract != info.contract => Err(Fault::BadContract {
                message: format!("the agent {:?} already has another contract: {}", info.agent, held.info.contract),
                violations: Vec::new(),
            }),
            _ => {
                self.0.insert(info.agent.clone(), Registered { text: text.to_owned(), info });
                Ok(())
            }
        }
    }

    pub(crate) fn get(&self, agent: &str) -> Option<&Registered> {
        self.0.get(agent)
    }

    /// The contracts, by ascending agent.
    pub(crate) fn infos(&self) -> impl Iterator<Item = &ContractInfo> {
        self.0.values().map(|registered| &registered.info)
    }

    /// The agents whose contracts an instance needs to answer a request that is JSON text. A verdict needs the one that
    /// the request names; any other operation may need all. The component reads the request itself, and says what is
    /// wrong with it.
    pub(crate) fn agents_for(&self, request: &str) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Named {
            agent: Option<String>,
            op: Option<String>,
        }
        match serde_json::from_str(request) {
            Ok(Named { op: Some(_), .. }) => self.0.keys().cloned().collect(),
            Ok(Named { agent, .. }) => agent.into_iter().collect(),
            Err(_) => Vec::new(),
        }
    }

    /// A fault of an instance, with the agents that the gate knows: the instance knows only those it was given.
    pub(crate) fn with_agents(&self, fault: Fault) -> Fault {
        match fault {
            Fault::UnknownAgent { message, mut agents } => {
                agents.extend(self.0.keys().cloned());
                agents.sort();
                agents.dedup();
                Fault::UnknownAgent { message, agents }
            }
            fault => fault,
        }
    }
}
