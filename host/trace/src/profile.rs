//! The profile of a run: the one that the caller names, or one that `agent.json` in the run's folder names, or `ended.json`
//! if the run has ended.

use std::{
    error::Error,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use seamgate::{Gate, MAX_FILE, open_regular, read_profile};
use serde::Deserialize;

use crate::{error::TraceError, steps::About};

/// The name of the plan in a run's folder: it says how to resume the run.
pub const PLAN: &str = "agent.json";

/// The name of the plan after the run has ended: nobody resumes the run, but a trace needs its profile.
pub const ENDED_PLAN: &str = "ended.json";

/// The members of a plan that a trace reads: the profiles of the agent and of those that it delegates to.
#[derive(Deserialize)]
struct Plan {
    profiles: Vec<PathBuf>,
}

/// A profile, and a gate that holds it.
pub(crate) struct Profile {
    pub(crate) gate: Gate,
    /// The profile as one whole document.
    pub(crate) json: String,
}

/// Opens the profile that a run began with.
pub(crate) fn open(folder: &Path, named: Option<&Path>, about: &About) -> Result<Profile, TraceError> {
    let paths = match named {
        Some(path) => vec![path.to_owned()],
        None => planned(folder)?,
    };
    let mut others = Vec::new();
    for path in &paths {
        let json = read_profile(path)?;
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

/// Returns the paths of the profiles that the plan of a run names.
fn planned(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let places = [PLAN, ENDED_PLAN].map(|name| folder.join(name));
    let path = places.iter().find(|place| place.exists()).unwrap_or(&places[0]);
    let plan = read(path).map_err(|source| TraceError::NoProfile { plan: path.clone(), source })?;
    Ok(plan.profiles.into_iter().map(|profile| folder.join(profile)).collect())
}

fn read(path: &Path) -> Result<Plan, Box<dyn Error + Send + Sync>> {
    let file = open_regular(File::options().read(true), path)?;
    Ok(serde_json::from_reader(file.take(MAX_FILE as u64))?)
}
