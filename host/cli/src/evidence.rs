//! `--evidence FILE`: the observations of the agent, for the claims of a contract's `evidence`.

use std::path::Path;

use anyhow::{Context, Result};
use seamgate::{MAX_FILE, Observation, Request};
use seamgate_authoring::ObservationDocument;

use crate::input;

/// The observations of the command line. The file is read once, so that the claims of every output are checked against
/// the same observations.
#[derive(Default)]
pub(crate) struct Evidence(Option<Vec<Observation>>);

impl Evidence {
    /// Reads the observations in a file, which is a JSON list. Without a file, there are none.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self> {
        let Some(file) = file else {
            return Ok(Evidence(None));
        };
        let name = || format!("--evidence {}", input::name(Some(file)));
        let bytes = input::named(file, MAX_FILE).with_context(|| format!("{}: cannot read it", name()))?;
        let written: Vec<ObservationDocument> = serde_json::from_slice(input::without_mark(&bytes))
            .with_context(|| format!("{}: must be a JSON list of observations", name()))?;
        Ok(Evidence(Some(written.into_iter().map(Observation::from).collect())))
    }

    /// Adds the observations to a request.
    pub(crate) fn add<'t>(&self, request: Request<'t>) -> Request<'t> {
        match &self.0 {
            Some(observations) => request.evidence(observations.iter().cloned()),
            None => request,
        }
    }
}
