//! The profiles of a run, registered in a gate.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use seamgate::{FileError, Gate, Json, ProfileInfo, read_profile};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    profile_copy::ProfileCopy,
    servers::{Server, Servers},
};
use crate::error::{AddContext, Error, Result};

/// The profiles of a plan, registered in a gate.
pub struct Profiles {
    /// The gate in which they are registered.
    pub gate: Gate,
    /// All profiles, in the order of the plan. Not empty.
    pub all: Vec<Registered>,
}

/// One registered profile.
pub struct Registered {
    /// The gate's description of the profile.
    pub info: ProfileInfo,
    /// The tools of the profile, with their pinned definitions.
    pub tools: Vec<Pinned>,
    /// The environment variables that its servers get, by the servers' names.
    servers: BTreeMap<String, Reached>,
}

/// The part of a server in a profile that a run needs.
#[derive(Deserialize)]
struct Reached {
    /// The variables of this process's environment that the server gets.
    #[serde(default)]
    environment: Vec<String>,
}

/// The part of a tool in a profile that its host needs.
#[derive(Deserialize)]
pub struct Pinned {
    /// The tool's name.
    pub name: String,
    /// The server that has the tool. Empty for the host's own tools.
    #[serde(default)]
    pub server: String,
    /// The pinned definition.
    pub definition: Option<Box<RawValue>>,
    /// The arguments that may name secrets.
    #[serde(default)]
    secrets: Vec<SecretRule>,
}

/// The part of a tool's rule about secrets that a run needs.
#[derive(Deserialize)]
struct SecretRule {
    names: Vec<String>,
}

impl Registered {
    /// Returns the tools that servers list, in the format of lock files. For a tool that a command runs, the pinned
    /// definition is used.
    pub fn listed(&self, servers: &Servers) -> Result<Json> {
        #[derive(Serialize)]
        struct Listed<'l> {
            servers: BTreeMap<&'l str, Tools<'l>>,
        }
        #[derive(Default, Serialize)]
        struct Tools<'l> {
            #[serde(skip_serializing_if = "Option::is_none")]
            program: Option<String>,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            programs: BTreeMap<&'l str, String>,
            tools: Vec<Cow<'l, RawValue>>,
        }
        let mut listed = Listed { servers: BTreeMap::new() };
        for (server, tools) in servers.listed() {
            let entry = listed.servers.entry(server).or_default();
            entry.program = servers.all.get(server).and_then(Server::described);
            entry.tools.extend(tools.into_iter().map(Cow::Owned));
        }
        for tool in &self.tools {
            let Some(command) = servers.command(&tool.server, &tool.name) else { continue };
            let definition = match &tool.definition {
                Some(pinned) => Cow::Borrowed(&**pinned),
                None => Cow::Owned(to_raw_value(&BTreeMap::from([("name", &tool.name)]))?),
            };
            let entry = listed.servers.entry(&tool.server).or_default();
            entry.programs.insert(&tool.name, command.described());
            entry.tools.push(definition);
        }
        Ok(Json::of(&listed)?)
    }
}

impl Profiles {
    /// Registers the copies of profiles. A profile without a copy is read from its file, and copied.
    pub fn read(copies: &[ProfileCopy]) -> Result<Self> {
        Self::read_by(copies, read_profile)
    }

    /// Registers the copies of profiles. A profile without a copy gets the complete text that `read` returns, because a
    /// profile that is a pipe can be read only once.
    pub fn read_by(copies: &[ProfileCopy], read: impl Fn(&Path) -> Result<String, FileError>) -> Result<Self> {
        #[derive(Deserialize)]
        struct Document {
            #[serde(default)]
            tools: Vec<Pinned>,
            #[serde(default)]
            servers: BTreeMap<String, Reached>,
        }
        let mut gate = Gate::new()?;
        let mut all = Vec::new();
        for copy in copies {
            let text = copy.text(&read)?;
            let context = || copy.path.display().to_string();
            let info =
                gate.register_profile(&text).map_err(|fault| Error::Profile { path: copy.path.clone(), fault })?;
            let Document { tools, servers } = serde_json::from_str(&text).with_context(context)?;
            copy.keep(text).with_context(context)?;
            all.push(Registered { info, tools, servers });
        }
        Ok(Profiles { gate, all })
    }

    /// Returns the variables of this process's environment that profiles name for their servers.
    pub fn environment(&self) -> BTreeMap<String, Vec<String>> {
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, reached) in self.all.iter().flat_map(|profile| &profile.servers) {
            named.entry(server.clone()).or_default().extend_from_slice(&reached.environment);
        }
        named
    }

    /// Returns the names of the secrets that tools may receive.
    pub fn secrets(&self) -> BTreeSet<String> {
        let rules = self.all.iter().flat_map(|profile| &profile.tools).flat_map(|tool| &tool.secrets);
        rules.flat_map(|rule| rule.names.iter().cloned()).collect()
    }

    /// Returns the profile of an agent.
    pub fn of(&self, agent: &str) -> Option<&Registered> {
        self.all.iter().find(|profile| profile.info.agent == agent)
    }
}
