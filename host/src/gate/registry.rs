//! The contracts and profiles that a gate holds. Each instance starts without them.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    sandbox::snapshot::MemorySnapshot,
    types::{ContractInfo, fault::Fault, profile::ProfileInfo},
};

/// Contracts and profiles by agent. A clone shares those registered so far, and not later ones.
#[derive(Default, Clone)]
pub(crate) struct Registry {
    contracts: BTreeMap<String, Arc<Registered>>,
    profiles: BTreeMap<String, Arc<Profile>>,
}

/// A profile, which every instance needs before it decides by it.
pub(crate) struct Profile {
    pub(crate) text: String,
    pub(crate) info: ProfileInfo,
    /// The snapshot that a fresh instance may begin from.
    pub(crate) snapshot: Option<Arc<MemorySnapshot>>,
}

/// The agents whose contracts and profiles an instance needs to answer a request in JSON.
#[derive(Default)]
pub(crate) struct Needed {
    pub(crate) contracts: Vec<String>,
    pub(crate) profiles: Vec<String>,
}

/// A contract, which every instance needs before it judges by it.
pub(crate) struct Registered {
    pub(crate) text: String,
    pub(crate) info: ContractInfo,
    /// The snapshot that a fresh instance may begin from.
    pub(crate) snapshot: Option<Arc<MemorySnapshot>>,
}

impl Registry {
    /// Keeps a contract that the component has accepted.
    pub(crate) fn keep(
        &mut self,
        text: &str,
        info: ContractInfo,
        snapshot: Option<Arc<MemorySnapshot>>,
    ) -> Result<(), Fault> {
        match self.contracts.get(&info.agent) {
            Some(held) if held.info.contract != info.contract => Err(Fault::BadContract {
                message: format!("the agent {:?} already has another contract: {}", info.agent, held.info.contract),
                violations: Vec::new(),
            }),
            _ => {
                self.contracts
                    .insert(info.agent.clone(), Arc::new(Registered { text: text.to_owned(), info, snapshot }));
                Ok(())
            }
        }
    }

    pub(crate) fn get(&self, agent: &str) -> Option<&Registered> {
        self.contracts.get(agent).map(Arc::as_ref)
    }

    /// Keeps a profile that the component has accepted.
    pub(crate) fn keep_profile(
        &mut self,
        text: &str,
        info: ProfileInfo,
        snapshot: Option<Arc<MemorySnapshot>>,
    ) -> Result<(), Fault> {
        match self.profiles.get(&info.agent) {
            Some(held) if held.info.profile != info.profile => Err(Fault::BadProfile {
                message: format!("the agent {:?} already has another profile: {}", info.agent, held.info.profile),
                violations: Vec::new(),
            }),
            _ => {
                self.profiles.insert(info.agent.clone(), Arc::new(Profile { text: text.to_owned(), info, snapshot }));
                Ok(())
            }
        }
    }

    pub(crate) fn profile(&self, agent: &str) -> Option<&Profile> {
        self.profiles.get(agent).map(Arc::as_ref)
    }

    /// Returns the profiles, sorted by agent.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = &ProfileInfo> {
        self.profiles.values().map(|profile| &profile.info)
    }

    #[cfg(test)]
    pub(crate) fn snapshots(&self) -> impl Iterator<Item = &MemorySnapshot> {
        self.contracts.values().filter_map(|registered| registered.snapshot.as_deref())
    }

    /// Returns the contracts, sorted by agent.
    pub(crate) fn infos(&self) -> impl Iterator<Item = &ContractInfo> {
        self.contracts.values().map(|registered| &registered.info)
    }

    /// Returns the agents that an instance needs to answer a request in JSON. A verdict needs the contract that the
    /// request names, and a decision needs the profile; any other operation may need all. The component parses the
    /// request itself, and reports its mistakes.
    pub(crate) fn needed_for(&self, request: &str) -> Needed {
        #[derive(serde::Deserialize)]
        struct RequestHead {
            agent: Option<String>,
            op: Option<String>,
        }
        match serde_json::from_str(request) {
            Ok(RequestHead { op: Some(op), agent }) if DECISIONS.contains(&op.as_str()) => {
                Needed { profiles: agent.into_iter().collect(), ..Needed::default() }
            }
            Ok(RequestHead { op: Some(op), .. }) if op.contains("profile") => {
                Needed { profiles: self.profiles.keys().cloned().collect(), ..Needed::default() }
            }
            Ok(RequestHead { op: Some(_), .. }) => {
                Needed { contracts: self.contracts.keys().cloned().collect(), ..Needed::default() }
            }
            Ok(RequestHead { agent, .. }) => Needed { contracts: agent.into_iter().collect(), ..Needed::default() },
            Err(_) => Needed::default(),
        }
    }

    /// Adds the agents whose contracts the gate knows to a fault of an instance. The instance knows only the contracts
    /// that it was given.
    pub(crate) fn with_agents(&self, fault: Fault) -> Fault {
        with_names(fault, self.contracts.keys())
    }

    /// Adds the agents that have a profile to a fault of an instance.
    pub(crate) fn with_profiles(&self, fault: Fault) -> Fault {
        with_names(fault, self.profiles.keys())
    }
}

fn with_names<'n>(fault: Fault, names: impl Iterator<Item = &'n String>) -> Fault {
    match fault {
        Fault::UnknownAgent { message, mut agents } => {
            agents.extend(names.cloned());
            agents.sort();
            agents.dedup();
            Fault::UnknownAgent { message, agents }
        }
        fault => fault,
    }
}

/// The operations of the wire protocol that decide by one profile.
const DECISIONS: [&str; 5] = ["surface", "permit", "observe", "advance", "project"];
