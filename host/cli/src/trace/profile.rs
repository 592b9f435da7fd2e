//! The profile of a run: `-p PROFILE`, else one that `agent.json` in the run's folder names, or `ended.json` of one that is over.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, MAX_FILE, open_regular, read_profile};
use serde::Deserialize;

use super::steps::About;
use crate::error::FaultError;

/// How to go on with a run, in its folder; and what that is called when nobody goes on with it: its profile is still asked for.
pub(crate) const PLAN: &str = "agent.json";
pub(crate) const ENDED_PLAN: &str = "ended.json";

/// How to go on with a run. Of it, only the profiles count here: of the agent, and of those that it delegates to.
#[derive(Deserialize)]
struct Plan {
    profiles: Vec<PathBuf>,
}

/// A profile that a gate holds.
pub(crate) struct Profile {
    pub(crate) gate: Gate,
    /// As one whole document.
    pub(crate) json: String,
}

/// The profile of a run: the one that it began with.
pub(crate) fn open(folder: &Path, named: Option<&Path>, about: &About) -> Result<Profile> {
    let paths = match named {
        Some(path) => vec![path.to_owned()],
        None => planned(folder)?,
    };
    let mut others = Vec::new();
    for path in &paths {
        let json = read_profile(path)?;
        let mut gate = Gate::new()?;
        let name = || path.display().to_string();
        let info = gate.register_profile(&json).map_err(FaultError).with_context(name)?;
        if info.profile == about.profile {
            return Ok(Profile { gate, json });
        }
        others.push(format!("{} is {}", name(), info.profile));
    }
    bail!("the run began with the profile {}: {}", about.profile, others.join(", "))
}

/// The paths of profiles in `agent.json`.
fn planned(folder: &Path) -> Result<Vec<PathBuf>> {
    let places = [PLAN, ENDED_PLAN].map(|name| folder.join(name));
    let path = places.iter().find(|place| place.exists()).unwrap_or(&places[0]);
    let name = || format!("there is no -p PROFILE, and {} names no profiles", path.display());
    let file = open_regular(File::options().read(true), path).with_context(name)?;
    let plan: Plan = serde_json::from_reader(file.take(MAX_FILE as u64)).with_context(name)?;
    Ok(plan.profiles.into_iter().map(|profile| folder.join(profile)).collect())
}
