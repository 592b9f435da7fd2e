//! The profiles that an instance holds.

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

/// A tool that is disabled, and why.
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
    /// With a way to tell an allocator what outlasts a call.
    pub const fn keeping(keep: Keep) -> Self {
        Registry { profiles: BTreeMap::new(), sealed: false, keep }
    }

    /// Compile a profile and keep it. Registering the same one again changes nothing.
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

    /// The agents that have a profile, in ascending order of their bytes.
    pub fn names(&self) -> Vec<String> {
        self.profiles.keys().cloned().collect()
    }

    /// Which profile an agent has.
    pub fn profile(&self, agent: &str) -> Result<ProfileInfo, Fault> {
        self.find(agent).map(ProfileInfo::from)
    }

    /// Text for an agent's prompt.
    pub fn describe(&self, agent: &str) -> Result<String, Fault> {
        self.find(agent).map(Profile::describe)
    }

    /// What is likely a mistake in a profile, registered or not.
    pub fn lint(&self, text: &str) -> Result<Vec<Warning>, Fault> {
        // What is made on the way to a compiled profile serves the profiles after it.
        kept(self.keep, || {
            decide::prepare();
            Profile::compile(text).map(|profile| profile.lint(text))
        })
    }

    /// From now on, `register` is a fault.
    pub fn seal(&mut self) {
        self.sealed = true;
    }

    /// The tools that the model may see: facts and what servers list in, a surface out, each as JSON text.
    pub fn surface(&self, agent: &str, facts: &str, listed: Option<&str>) -> Result<String, Fault> {
        decide::surface(self.find(agent)?, facts, listed)
    }

    /// Decide about a call: facts and call in, a decision out, each as JSON text.
    pub fn permit(&self, agent: &str, facts: &str, call: &str) -> Result<String, Fault> {
        decide::permit(self.find(agent)?, facts, call)
    }

    /// Make an observation of a result: facts, call and result in, an observation out, each as JSON text.
    pub fn observe(&self, agent: &str, facts: &str, call: &str, result: &str) -> Result<String, Fault> {
        decide::observe(self.find(agent)?, facts, call, result)
    }

    /// Apply one event to a run: the state of the step before (none for the first event) and the event in, a step out.
    pub fn advance(&self, agent: &str, state: Option<&str>, event: &str) -> Result<String, Fault> {
        decide::advance(self.find(agent)?, state, event)
    }

    /// One line of a journal, as one audience sees it.
    pub fn project(&self, agent: &str, line: &str, audience: &str) -> Result<String, Fault> {
        decide::project(self.find(agent)?, line, audience)
    }

    /// Go on with a run whose state stays here, or with no state start one.
    pub fn open_run(&self, agent: &str, state: Option<&str>) -> Result<OpenRun, Fault> {
        OpenRun::open(self.find(agent)?, state)
    }

    /// Apply one event to a run whose state stays here.
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
