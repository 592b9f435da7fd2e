//! Observations in files.

use seamgate::{Confidence, Observation};
use serde::Deserialize;

/// An observation as `schemas/request.schema.json` describes it, for files with the observations of an agent.
///
/// Omitted members have the value that allows the least: low confidence, not complete, no kinds.
///
/// ```
/// # use seamgate::Observation;
/// # use seamgate_authoring::ObservationDocument;
/// let written: ObservationDocument = serde_json::from_str(r#"{"id": "t#c1", "text": "disk full"}"#)?;
/// let observation = Observation::from(written);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservationDocument {
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

impl From<ObservationDocument> for Observation {
    fn from(written: ObservationDocument) -> Self {
        let observation = Observation::new(written.id, written.text);
        let observation = observation.confidence(written.confidence).complete(written.complete);
        let observation = written.kinds.into_iter().fold(observation, Observation::kind);
        let observation = written.labels.into_iter().fold(observation, Observation::label);
        written.limitations.into_iter().fold(observation, Observation::limitation)
    }
}

fn low() -> Confidence {
    Confidence::Low
}
