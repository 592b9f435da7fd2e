//! `--evidence FILE`: what the agent saw, for the claims of a contract's `evidence`.

use std::path::Path;

use anyhow::{Context, Result};
use seamgate::{Confidence, MAX_FILE, Observation, Request};
use serde::Deserialize;

use crate::input;

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

/// The observations of the command line. The file is read once, so the claims of every output are held to the same ones.
#[derive(Default)]
pub(crate) struct Evidence(Option<Vec<Observation>>);

impl Evidence {
    /// Reads the observations of a file, a JSON list. Without a file there are none.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self> {
        let Some(file) = file else {
            return Ok(Evidence(None));
        };
        let name = || format!("--evidence {}", input::name(Some(file)));
        let bytes = input::named(file, MAX_FILE).with_context(|| format!("{}: cannot read it", name()))?;
        let seen: Vec<Seen> = serde_json::from_slice(input::without_mark(&bytes))
            .with_context(|| format!("{}: must be a JSON list of observations", name()))?;
        Ok(Evidence(Some(seen.into_iter().map(Observation::from).collect())))
    }

    /// Adds the observations to a request.
    pub(crate) fn add<'t>(&self, request: Request<'t>) -> Request<'t> {
        match &self.0 {
            Some(observations) => request.evidence(observations.iter().cloned()),
            None => request,
        }
    }
}
