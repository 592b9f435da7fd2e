//! An output to judge, with the rest of the request.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The reason why the producer stopped, as reported by its API. `finish.rs` has the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finish {
    Stop,
    Length,
    Refusal,
    ContentFilter,
    ToolCall,
    #[default]
    Unknown,
}

/// The values that a named list allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedList {
    pub name: String,
    pub values: Vec<String>,
}

/// The confidence in an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

impl Confidence {
    /// All values, in order.
    pub const ALL: [Confidence; 3] = [Confidence::Low, Confidence::Medium, Confidence::High];

    /// Returns the value for a word.
    pub fn of(word: &str) -> Option<Self> {
        Confidence::ALL.into_iter().find(|known| known.as_str() == word)
    }

    /// Returns its word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// The part of a result that the producer saw. See `observation` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub id: String,
    pub kinds: Vec<String>,
    pub text: String,
    pub labels: Vec<String>,
    pub confidence: Confidence,
    pub complete: bool,
    pub limitations: Vec<String>,
}

/// An output to judge. See `request` in `wit/types.wit`.
#[derive(Debug, Clone, Default)]
pub struct Request<'t> {
    pub agent: String,
    pub output: &'t str,
    pub finish: Finish,
    pub lists: Vec<NamedList>,
    pub evidence: Option<Cow<'t, [Observation]>>,
    /// The offset of the first byte that was not valid UTF-8. From there on, the output has replacement characters.
    pub invalid_utf8: Option<u32>,
}
