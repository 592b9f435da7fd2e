//! The profile of a run: the one that the caller names, or the copy in the run's folder. That copy is in `agent.json`,
//! or in `ended.json` if the run has ended.

use std::{
    error::Error,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use seamgate::{Gate, Json, open_regular, read_profile};
use serde::Deserialize;

use crate::{error::TraceError, steps::About};

/// The file name of the plan in a run's folder, which describes how to resume the run.
pub const PLAN: &str = "agent.json";

/// The file name of the plan after the run has ended. The run is no longer resumed, but a trace needs its profile.
pub const ENDED_PLAN: &str = "ended.json";

/// The largest plan that is read, in bytes.
const MAX_PLAN: u64 = 64 * 1024 * 1024;

/// The members of a plan that a trace reads: the profiles of the agent and of the agents that it delegates to.
#[derive(Deserialize)]
struct Plan {
    profiles: Vec<Json>,
}

/// A profile of a plan. The first version of plans has only the path.
#[derive(Deserialize)]
struct Planned {
    path: PathBuf,
    /// The run's copy of the complete document.
    document: Json,
}

/// A profile, and a gate in which it is registered.
pub(crate) struct Profile {
    pub(crate) gate: Gate,
    /// The profile as one complete document.
    pub(crate) json: String,
}

/// Opens the profile that a run began with.
pub(crate) fn open(folder: &Path, named: Option<&Path>, about: &About) -> Result<Profile, TraceError> {
    let profiles = match named {
        Some(path) => vec![(path.to_owned(), read_profile(path)?)],
        None => planned(folder)?,
    };
    let mut others = Vec::new();
    for (path, json) in profiles {
        let mut gate = Gate::new()?;
        let unusable = |fault| TraceError::Profile { path: path.clone(), fault };
        let info = gate.register_profile(&json).map_err(unusable)?;
        if info.profile == about.profile {
            return Ok(Profile { gate, json });
        }
        others.push(format!("{} is {}", path.display(), info.profile));
    }
    Err(TraceError::OtherProfile { expected: about.profile.clone(), others })
}

/// Returns the profiles in the plan of a run, with their files.
fn planned(folder: &Path) -> Result<Vec<(PathBuf, String)>, TraceError> {
    let places = [PLAN, ENDED_PLAN].map(|name| folder.join(name));
    let path = places.iter().find(|place| place.exists()).unwrap_or(&places[0]);
    let no_profile = |source| TraceError::NoProfile { plan: path.clone(), source };
    let plan = read(path).map_err(no_profile)?;
    let profile = |one: Json| {
        if let Ok(path) = one.read::<PathBuf>() {
            let path = folder.join(path);
            return Ok((path.clone(), read_profile(&path)?));
        }
        let Planned { path, document } = one.read().map_err(|error| no_profile(error.into()))?;
        Ok((path, document.as_str().to_owned()))
    };
    plan.profiles.into_iter().map(profile).collect()
}

fn read(path: &Path) -> Result<Plan, Box<dyn Error + Send + Sync>> {
    let file = open_regular(File::options().read(true), path)?;
    Ok(serde_json::from_reader(file.take(MAX_PLAN))?)
}
