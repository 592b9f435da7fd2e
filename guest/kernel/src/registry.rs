//! The profiles of an instance.

use std::collections::BTreeMap;

use seamgate_core::{
    Fault, FaultCode, Keep, Warning, kept,
    kernel_api::{json, quote},
};
use serde::Serialize;

use crate::{decide, profile::Profile, run::OpenRun};

/// A registered profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileInfo {
    pub agent: String,
    pub version: String,
    /// The digest of the profile.
    pub profile: String,
    pub tools: Vec<String>,
    pub lists: Vec<String>,
    /// The tools whose pinned definition is invalid.
    pub disabled: Vec<Disabled>,
}

/// A disabled tool, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disabled {
    pub tool: String,
    pub message: String,
}

impl ProfileInfo {
    pub fn to_json(&self) -> String {
        json(self)
    }
}

impl From<&Profile> for ProfileInfo {
    fn from(profile: &Profile) -> Self {
        ProfileInfo {
            agent: profile.agent().to_owned(),
            version: profile.version().to_owned(),
            profile: profile.digest().to_owned(),
            tools: profile.tools(),
            lists: profile.lists(),
            disabled: profile.disabled().into_iter().map(|(tool, message)| Disabled { tool, message }).collect(),
        }
    }
}

/// Profiles by agent.
pub struct Registry {
    profiles: BTreeMap<String, Profile>,
    sealed: bool,
    keep: Keep,
}

impl Default for Registry {
    fn default() -> Self {
        Registry::keeping(|run| run())
    }
}

impl Registry {
    /// Creates a registry. `keep` runs code whose allocations outlast a call.
    pub const fn keeping(keep: Keep) -> Self {
        Registry { profiles: BTreeMap::new(), sealed: false, keep }
    }

    /// Compiles a profile and stores it. Registering the same profile again changes nothing.
    pub fn register(&mut self, text: &str) -> Result<ProfileInfo, Fault> {
        kept(self.keep, || {
            decide::prepare();
            self.compile(text)
        })
    }

    fn compile(&mut self, text: &str) -> Result<ProfileInfo, Fault> {
        if self.sealed {
            return Err(Fault::new(FaultCode::Sealed, "the registry is sealed: it takes no further profiles"));
        }
        let profile = Profile::compile(text)?;
        let info = ProfileInfo::from(&profile);
        match self.profiles.get(&info.agent) {
            Some(held) if held.digest() == info.profile => {}
            Some(held) => {
                let agent = quote(&info.agent, 128);
                let (digest, version) = (held.digest(), held.version());
                let message =
                    format!("profile: the agent {agent} already has another one, {digest} (version {version})");
                return Err(Fault::new(FaultCode::BadProfile, message));
            }
            None => {
                self.profiles.insert(info.agent.clone(), profile);
            }
        }
        Ok(info)
    }

    pub fn has(&self, agent: &str) -> bool {
        self.profiles.contains_key(agent)
    }

    /// Returns the agents that have a profile, in ascending order of their bytes.
    pub fn names(&self) -> Vec<String> {
        self.profiles.keys().cloned().collect()
    }

    /// Returns information about the profile of an agent.
    pub fn profile(&self, agent: &str) -> Result<ProfileInfo, Fault> {
        self.find(agent).map(ProfileInfo::from)
    }

    /// Returns text for an agent's prompt.
    pub fn describe(&self, agent: &str) -> Result<String, Fault> {
        self.find(agent).map(Profile::describe)
    }

    /// Returns the likely mistakes in a profile, registered or not.
    pub fn lint(&self, text: &str) -> Result<Vec<Warning>, Fault> {
        // Data that is cached while a profile compiles is reused for later profiles.
        kept(self.keep, || {
            decide::prepare();
            Profile::compile(text).map(|profile| profile.lint(text))
        })
    }

    /// Seals the registry: from now on, `register` returns a fault.
    pub fn seal(&mut self) {
        self.sealed = true;
    }

    /// Returns the tools that the model may see. Takes facts and the lists of servers, and returns a surface, all as
    /// JSON text.
    pub fn surface(&self, agent: &str, facts: &str, listed: Option<&str>) -> Result<String, Fault> {
        decide::surface(self.find(agent)?, facts, listed)
    }

    /// Decides about a call. Takes facts and the call, and returns a decision, all as JSON text.
    pub fn permit(&self, agent: &str, facts: &str, call: &str) -> Result<String, Fault> {
        decide::permit(self.find(agent)?, facts, call)
    }

    /// Creates an observation of a result. Takes facts, call and result, and returns an observation, all as JSON text.
    pub fn observe(&self, agent: &str, facts: &str, call: &str, result: &str) -> Result<String, Fault> {
        decide::observe(self.find(agent)?, facts, call, result)
    }

    /// Applies one event to a run. Takes the event, and the state of the previous step, which is `None` for the first
    /// event. Returns a step.
    pub fn advance(&self, agent: &str, state: Option<&str>, event: &str) -> Result<String, Fault> {
        decide::advance(self.find(agent)?, state, event)
    }

    /// Returns one line of a journal as one audience sees it.
    pub fn project(&self, agent: &str, line: &str, audience: &str) -> Result<String, Fault> {
        decide::project(self.find(agent)?, line, audience)
    }

    /// Continues a run whose state stays in the instance. Starts a new run if there is no state.
    pub fn open_run(&self, agent: &str, state: Option<&str>) -> Result<OpenRun, Fault> {
        OpenRun::open(self.find(agent)?, state)
    }

    /// Applies one event to a run whose state stays in the instance.
    pub fn advance_run(&self, run: &mut OpenRun, event: &str) -> Result<String, Fault> {
        let profile = self.find(run.agent())?;
        run.advance(profile, event)
    }

    pub(crate) fn find(&self, agent: &str) -> Result<&Profile, Fault> {
        self.profiles.get(agent).ok_or_else(|| {
            let message = format!("no profile is registered for the agent {}", quote(agent, 128));
            Fault { agents: self.names(), ..Fault::new(FaultCode::UnknownAgent, message) }
        })
    }
}
