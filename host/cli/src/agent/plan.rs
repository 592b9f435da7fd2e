//! How a run goes on: `agent.json` in its folder. All that another process needs beside the journal.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{FileError, Gate, MAX_FILE, ProfileInfo, read_named, read_profile, write_private};
use seamgate_trace::{ENDED_PLAN as ENDED, PLAN as NAME};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::servers::Servers;
use crate::error::{NoVerdict, unusable_profile};

/// The version of the format.
const VERSION: u32 = 1;

/// What was said on the command line, and holds for the whole run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The version of the format.
    pub(crate) seamgate_agent: u32,
    /// The profile of the run's agent, then those of agents that it delegates to. Absolute paths.
    pub(crate) profiles: Vec<PathBuf>,
    /// The servers file. An absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) servers: Option<PathBuf>,
    /// The model.
    pub(crate) model: ModelPlan,
    /// Where the model's program runs.
    pub(crate) folder: PathBuf,
    /// For whom the agent works.
    pub(crate) principal: String,
}

/// The model that a run asks.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelPlan {
    /// A program and its arguments.
    Command(Vec<String>),
    /// A server.
    Url {
        /// Where requests are sent.
        url: String,
        /// The model's name there.
        name: String,
        /// The environment variable that has its key.
        key_env: String,
    },
    /// The client of `seamgate mcp`: the run has no loop, and ends with that process.
    Client,
}

impl Plan {
    pub(crate) fn new(
        profiles: Vec<PathBuf>,
        servers: Option<PathBuf>,
        model: ModelPlan,
        principal: String,
    ) -> Result<Self> {
        let absolute = |path: PathBuf| std::path::absolute(&path).with_context(|| path.display().to_string());
        Ok(Plan {
            seamgate_agent: VERSION,
            profiles: profiles.into_iter().map(absolute).collect::<Result<_>>()?,
            servers: servers.map(absolute).transpose()?,
            model,
            folder: std::env::current_dir().context("cannot find the working folder")?,
            principal,
        })
    }

    /// Read the plan of a run.
    pub(crate) fn read(run: &Path) -> Result<Self> {
        let path = run.join(NAME);
        let context = || format!("cannot read {}: name the folder of a run", path.display());
        let plan: Plan = serde_json::from_slice(&read_named(&path, MAX_FILE).with_context(context)?)
            .with_context(|| format!("{}: it is no plan of a run", path.display()))?;
        if plan.seamgate_agent != VERSION {
            bail!("{}: its format is {}; this version reads {VERSION}", path.display(), plan.seamgate_agent);
        }
        Ok(plan)
    }

    /// Put aside the plan of a run that nobody goes on with.
    pub(crate) fn put_aside(run: &Path) {
        // Without it, a run that has ended is looked at once more, and nothing is asked there.
        let _ = fs::rename(run.join(NAME), run.join(ENDED));
    }

    /// Whether the folder of a run has a plan.
    pub(crate) fn is_in(run: &Path) -> bool {
        run.join(NAME).is_file()
    }

    /// Keep the plan in the folder of a run.
    pub(crate) fn write(&self, run: &Path) -> Result<()> {
        let path = run.join(NAME);
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        write_private(&path, text.as_bytes())
            .and_then(|()| fs::File::open(run)?.sync_all())
            .map_err(|error| NoVerdict(format!("cannot write {}: {error}", path.display())).into())
    }
}

/// The profiles of a plan, in a gate.
pub(crate) struct Profiles {
    pub(crate) gate: Gate,
    /// In the order of the plan. Not empty.
    pub(crate) all: Vec<Registered>,
}

/// One profile.
pub(crate) struct Registered {
    pub(crate) info: ProfileInfo,
    /// Its tools, with the definitions that are pinned.
    pub(crate) tools: Vec<Pinned>,
    /// What it says of servers, by their names.
    servers: BTreeMap<String, Reached>,
}

/// What a profile says of a server, as far as `seamgate agent` needs it.
#[derive(Deserialize)]
struct Reached {
    /// The variables of our own environment that the server gets.
    #[serde(default)]
    environment: Vec<String>,
}

/// A tool of a profile, as far as its host has to know it.
#[derive(Deserialize)]
pub(crate) struct Pinned {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) server: String,
    pub(crate) definition: Option<Box<RawValue>>,
}

impl Registered {
    /// The tools that servers have, in the format of lock files. What a command runs has the definition that is pinned.
    pub(crate) fn listed(&self, servers: &Servers) -> Result<Box<RawValue>> {
        #[derive(Serialize)]
        struct Listed<'l> {
            servers: BTreeMap<&'l str, Tools<'l>>,
        }
        #[derive(Default, Serialize)]
        struct Tools<'l> {
            tools: Vec<Cow<'l, RawValue>>,
        }
        let mut listed = Listed { servers: BTreeMap::new() };
        for (server, tools) in servers.listed() {
            listed.servers.entry(server).or_default().tools.extend(tools.into_iter().map(Cow::Owned));
        }
        for tool in &self.tools {
            if servers.command(&tool.server, &tool.name).is_none() {
                continue;
            }
            let definition = match &tool.definition {
                Some(pinned) => Cow::Borrowed(&**pinned),
                None => Cow::Owned(to_raw_value(&BTreeMap::from([("name", &tool.name)]))?),
            };
            listed.servers.entry(&tool.server).or_default().tools.push(definition);
        }
        Ok(to_raw_value(&listed)?)
    }
}

impl Profiles {
    /// Read and register them.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self> {
        Self::read_by(paths, read_profile)
    }

    /// Registers them, with the whole texts that `read` returns. A profile that is a pipe can be read only once.
    pub(crate) fn read_by(paths: &[PathBuf], read: impl Fn(&Path) -> Result<String, FileError>) -> Result<Self> {
        #[derive(Deserialize)]
        struct Document {
            #[serde(default)]
            tools: Vec<Pinned>,
            #[serde(default)]
            servers: BTreeMap<String, Reached>,
        }
        let mut gate = Gate::new()?;
        let mut all = Vec::new();
        for path in paths {
            let text = read(path)?;
            let context = || path.display().to_string();
            let info = gate.register_profile(&text).map_err(|fault| unusable_profile(fault, path))?;
            let Document { tools, servers } = serde_json::from_str(&text).with_context(context)?;
            all.push(Registered { info, tools, servers });
        }
        Ok(Profiles { gate, all })
    }

    /// The variables of our own environment that profiles name for their servers.
    pub(crate) fn environment(&self) -> BTreeMap<String, Vec<String>> {
        let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, reached) in self.all.iter().flat_map(|profile| &profile.servers) {
            named.entry(server.clone()).or_default().extend_from_slice(&reached.environment);
        }
        named
    }

    /// The profile of an agent.
    pub(crate) fn of(&self, agent: &str) -> Option<&Registered> {
        self.all.iter().find(|profile| profile.info.agent == agent)
    }
}
