//! The plan of a run. The file `agent.json` in the run's folder contains everything, except the journal, that another
//! process needs to continue the run.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use seamgate::{Json, read_named, sync_folder, write_private};
use serde::{Deserialize, Serialize};

use super::profile_copy::ProfileCopy;
use crate::error::{AddContext, Error, Result, bail};

/// The file name of a plan in the folder of its run.
const NAME: &str = "agent.json";

/// The plan's file name once no process continues the run.
const ENDED: &str = "ended.json";

/// The version of the format. Version 1 had the paths of profiles without their documents.
const VERSION: u32 = 2;

/// The largest plan, in bytes. A plan contains whole profiles.
const MAX_PLAN: usize = 64 * 1024 * 1024;

/// The settings that apply to a whole run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the format.
    pub seamgate_agent: u32,
    /// The profile of the run's agent, followed by those of the agents that it delegates to.
    pub profiles: Vec<ProfileCopy>,
    /// The servers file, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<PathBuf>,
    /// The model.
    pub model: ModelPlan,
    /// The folder that the model's program runs in.
    pub folder: PathBuf,
    /// The principal that the agent works for.
    pub principal: String,
}

/// Headers and members that the user adds to each request to a model server.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ModelSettings {
    /// Headers. `${NAME}` in a value represents an environment variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Members of the body, such as `temperature`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub body: BTreeMap<String, Json>,
}

/// The model that a run asks.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelPlan {
    /// A program and its arguments.
    Command(Vec<String>),
    /// A server.
    Url {
        /// The address that requests are sent to.
        url: String,
        /// The model's name on the server.
        name: String,
        /// The environment variable with the server's key.
        key_env: String,
        /// Additions to each request.
        #[serde(default)]
        settings: ModelSettings,
    },
    /// The client of an MCP gate. The run has no loop, and ends with the gate's process.
    Client,
}

impl Plan {
    /// Creates the plan of a run that starts in this process's working folder. Profiles are copied when they are
    /// [registered](super::Profiles::read).
    pub fn new(profiles: Vec<PathBuf>, servers: Option<PathBuf>, model: ModelPlan, principal: String) -> Result<Self> {
        let absolute = |path: PathBuf| std::path::absolute(&path).with_context(|| path.display().to_string());
        Ok(Plan {
            seamgate_agent: VERSION,
            profiles: profiles.into_iter().map(|path| absolute(path).map(ProfileCopy::of)).collect::<Result<_>>()?,
            servers: servers.map(absolute).transpose()?,
            model,
            folder: std::env::current_dir().context("cannot find the working folder")?,
            principal,
        })
    }

    /// Reads the plan of a run that may continue.
    pub fn read(run: &Path) -> Result<Self> {
        Self::read_file(run.join(NAME))
    }

    /// Reads the plan of a run, even if no process continues the run. Returns `None` if there is no plan.
    pub fn of_any(run: &Path) -> Result<Option<Self>> {
        let names = [NAME, ENDED].map(|name| run.join(name));
        names.into_iter().find(|path| path.is_file()).map(Self::read_file).transpose()
    }

    fn read_file(path: PathBuf) -> Result<Self> {
        let context = || format!("cannot read {}: name the folder of a run", path.display());
        let plan: Plan = serde_json::from_slice(&read_named(&path, MAX_PLAN).with_context(context)?)
            .with_context(|| format!("{}: it is no plan of a run", path.display()))?;
        if !(1..=VERSION).contains(&plan.seamgate_agent) {
            bail!("{}: its format is {}; this version reads 1 to {VERSION}", path.display(), plan.seamgate_agent);
        }
        Ok(plan)
    }

    /// Renames the plan of a run that no process continues.
    pub fn put_aside(run: &Path) {
        // If this fails, the ended run is checked once more, which does no harm.
        let _ = fs::rename(run.join(NAME), run.join(ENDED));
    }

    /// Returns whether the folder of a run has a plan.
    pub fn is_in(run: &Path) -> bool {
        run.join(NAME).is_file()
    }

    /// Writes the plan into the folder of a run.
    pub fn write(&self, run: &Path) -> Result<()> {
        let path = run.join(NAME);
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        if text.len() > MAX_PLAN {
            bail!(
                "the profiles of a run are too large: with them, {} has {} bytes; the limit is {MAX_PLAN}",
                path.display(),
                text.len()
            );
        }
        write_private(&path, text.as_bytes())
            .and_then(|()| sync_folder(run))
            .map_err(|error| Error::NoVerdict(format!("cannot write {}: {error}", path.display())))
    }
}
