//! `--evidence FILE`: what the agent saw, for the claims of a contract's `evidence`.

use std::path::Path;

use anyhow::{Context, Result};
use seamgate::{Confidence, MAX_FILE, Observation, Request, read_named};
use serde::Deserialize;

/// An observation as `schemas/request.schema.json` has it. What is left out allows least.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    id: String,
    text: String,
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default = "low")]
    confidence: Confidence,
    #[serde(default)]
    complete: bool,
    #[serde(default)]
    limitations: Vec<String>,
}

impl From<Seen> for Observation {
    fn from(seen: Seen) -> Self {
        let observation = Observation::new(seen.id, seen.text).confidence(seen.confidence).complete(seen.complete);
        let observation = seen.kinds.into_iter().fold(observation, Observation::kind);
        let observation = seen.labels.into_iter().fold(observation, Observation::label);
        seen.limitations.into_iter().fold(observation, Observation::limitation)
    }
}

fn low() -> Confidence {
    Confidence::Low
}

/// Add the observations of a file, a JSON list, to a request.
pub(crate) fn add<'t>(request: Request<'t>, file: Option<&Path>) -> Result<Request<'t>> {
    let Some(file) = file else {
        return Ok(request);
    };
    let name = || format!("--evidence {}", file.display());
    let bytes = read_named(file, MAX_FILE).with_context(|| format!("{}: cannot read it", name()))?;
    let seen: Vec<Seen> =
        serde_json::from_slice(&bytes).with_context(|| format!("{}: must be a JSON list of observations", name()))?;
    Ok(request.evidence(seen.into_iter().map(Observation::from)))
}
