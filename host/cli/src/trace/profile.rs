//! The profile of a run: `-p PROFILE`, else the one that `agent.json` in the run's folder names.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, MAX_FILE, open_regular, read_profile};
use serde::Deserialize;

use super::steps::About;
use crate::error::FaultError;

/// How to go on with a run. Of it, only the profile counts here.
#[derive(Deserialize)]
struct Agent {
    #[serde(default)]
    profile: Option<PathBuf>,
}

/// A profile that a gate holds.
pub(crate) struct Profile {
    pub(crate) gate: Gate,
    /// As one whole document.
    pub(crate) json: String,
}

/// The profile of a run. It must be the one that the run began with.
pub(crate) fn open(folder: &Path, named: Option<&Path>, about: &About) -> Result<Profile> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => of_agent(folder)?,
    };
    let name = || path.display().to_string();
    let json = read_profile(&path)?;
    let mut gate = Gate::new()?;
    let info = gate.register_profile(&json).map_err(FaultError).with_context(name)?;
    if info.profile != about.profile {
        bail!("{}: the run began with the profile {}, and this is {}", name(), about.profile, info.profile);
    }
    Ok(Profile { gate, json })
}

/// The path of the profile in `agent.json`, from the folder that it stands in.
fn of_agent(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("agent.json");
    let name = || format!("no -p PROFILE, and {} names none", path.display());
    let file = open_regular(std::fs::File::options().read(true), &path).with_context(name)?;
    let agent: Agent = serde_json::from_reader(std::io::Read::take(file, MAX_FILE as u64)).with_context(name)?;
    Ok(folder.join(agent.profile.with_context(name)?))
}
