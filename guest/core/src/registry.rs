//! The contracts of an instance.

use std::collections::BTreeMap;

use crate::{
    contract::Contract,
    fault::{Fault, FaultCode},
    merge::{Attempt, Merged, merge},
    pipeline::{validate, verdict},
    report::Verdict,
    request::{Finish, NamedList, Observation, Request},
    stream::{Scan, Session},
    text,
    types::{ContractInfo, Progress, Report, Warning},
};

impl From<&Contract> for ContractInfo {
    fn from(contract: &Contract) -> Self {
        ContractInfo {
            agent: contract.agent().to_owned(),
            version: contract.version().to_owned(),
            schema_id: contract.schema_id().map(str::to_owned),
            contract: contract.digest().to_owned(),
            retry_limit: contract.retry_limit(),
            lists: contract.lists(),
        }
    }
}

/// Runs a closure whose allocations outlast the call.
pub type Keep = fn(&mut dyn FnMut());

/// Contracts by agent.
pub struct Registry {
    contracts: BTreeMap<String, Contract>,
    sealed: bool,
    keep: Keep,
    settle: Keep,
}

impl Default for Registry {
    fn default() -> Self {
        Registry::new()
    }
}

impl Registry {
    pub const fn new() -> Self {
        Registry::keeping(|run| run(), |run| run())
    }

    /// Creates a registry. The functions tell an allocator which data outlasts a call, and which of that data is read
    /// together.
    pub const fn keeping(keep: Keep, settle: Keep) -> Self {
        Registry { contracts: BTreeMap::new(), sealed: false, keep, settle }
    }

    /// Compiles a contract and stores it. Registering an identical contract again changes nothing.
    pub fn register(&mut self, text: &str) -> Result<ContractInfo, Fault> {
        kept(self.keep, || self.compile(text))
    }

    fn compile(&mut self, text: &str) -> Result<ContractInfo, Fault> {
        if self.sealed {
            return Err(Fault::new(FaultCode::Sealed, "the registry is sealed: it takes no further contracts"));
        }
        let contract = Contract::compile(text)?;
        let info = ContractInfo::from(&contract);
        match self.contracts.get(&info.agent) {
            Some(held) if held.digest() == info.contract => {}
            Some(held) => {
                let message = format!(
                    "contract: the agent {} has another one already, {} (version {})",
                    text::quote(&info.agent, 128),
                    held.digest(),
                    held.version()
                );
                return Err(Fault::new(FaultCode::BadContract, message));
            }
            None => {
                self.contracts.insert(info.agent.clone(), contract);
            }
        }
        Ok(info)
    }

    pub fn has(&self, agent: &str) -> bool {
        self.contracts.contains_key(agent)
    }

    /// Returns the agents that have a contract, in ascending order of their bytes.
    pub fn names(&self) -> Vec<String> {
        self.contracts.keys().cloned().collect()
    }

    /// Returns the contract of an agent.
    pub fn contract(&self, agent: &str) -> Result<ContractInfo, Fault> {
        self.find(agent).map(ContractInfo::from)
    }

    /// Returns text for an agent's prompt.
    pub fn describe(&self, agent: &str) -> Result<String, Fault> {
        self.find(agent).map(Contract::describe)
    }

    /// Returns the likely mistakes in a contract, registered or not.
    pub fn lint(&self, text: &str) -> Result<Vec<Warning>, Fault> {
        // Data that is cached while a contract compiles is reused for later contracts.
        kept(self.keep, || Contract::compile(text).map(|contract| contract.lint(text)))
    }

    /// Makes later calls of `register` fail. Copies the data that verdicts read to contiguous memory. This pays off
    /// because a sealed instance starts many others. For an unsealed instance, the new memory costs more than the copy
    /// saves.
    pub fn seal(&mut self) {
        if !self.sealed {
            let Registry { contracts, keep, settle, .. } = self;
            keep(&mut || settle(&mut || contracts.values_mut().for_each(Contract::settle)));
        }
        self.sealed = true;
    }

    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Judges an output by the contract of `request.agent`.
    pub fn validate(&self, request: &Request) -> Result<Report, Fault> {
        validate(self.find(&request.agent)?, request)
    }

    /// Judges an output by the contract of an agent. The request need not name the agent. Builds no report for a simple
    /// verdict.
    pub fn verdict<'v>(&'v self, agent: &str, request: &Request<'v>) -> Result<Verdict<'v>, Fault> {
        verdict(self.find(agent)?, request)
    }

    /// Opens a session for an agent's output that is still arriving.
    pub fn session(
        &self,
        agent: &str,
        lists: Vec<NamedList>,
        evidence: Option<Vec<Observation>>,
    ) -> Result<Session, Fault> {
        self.find(agent).and_then(|contract| Session::open(contract, lists, evidence))
    }

    /// Reads the next chunk of the session's output.
    pub fn push(&self, session: &mut Session, chunk: &str) -> Result<Progress, Fault> {
        let contract = self.find(session.agent())?;
        session.push(contract, chunk)
    }

    /// Returns the verdict on the whole output.
    pub fn finish(&self, session: &mut Session, finish: Finish, invalid_utf8: Option<u32>) -> Result<Report, Fault> {
        let contract = self.find(session.agent())?;
        session.finish(contract, finish, invalid_utf8)
    }

    /// Merges the reports of several attempts.
    pub fn merge(
        &self,
        agent: &str,
        reports: &[Attempt],
        lists: Vec<NamedList>,
        evidence: Option<Vec<Observation>>,
    ) -> Result<Merged, Fault> {
        merge(self.find(agent)?, reports, lists, evidence)
    }

    /// Reads the next chunk of an output whose state the caller stores.
    pub(crate) fn advance(&self, agent: &str, scan: &mut Scan, chunk: &str) -> Result<Progress, Fault> {
        Ok(scan.advance(self.find(agent)?, chunk))
    }

    fn find(&self, agent: &str) -> Result<&Contract, Fault> {
        self.contracts.get(agent).ok_or_else(|| {
            let message = format!("no contract is registered for the agent {}", text::quote(agent, 128));
            Fault { agents: self.names(), ..Fault::new(FaultCode::UnknownAgent, message) }
        })
    }
}

/// Returns the result of a closure that `keep` runs.
pub fn kept<T>(keep: Keep, run: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let (mut run, mut result) = (Some(run), None);
    keep(&mut || result = run.take().map(|run| run()));
    result.unwrap_or_else(|| unreachable!("it runs what it is given"))
}
