//! One output to judge, and everything that came with it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Why the producer stopped, as its API said; `finish.rs` has the words.
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

/// The values that one named list allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedList {
    pub name: String,
    pub values: Vec<String>,
}

/// How sure one may be of what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

impl Confidence {
    /// All of them, in their order.
    pub const ALL: [Confidence; 3] = [Confidence::Low, Confidence::Medium, Confidence::High];

    /// That of a word.
    pub fn of(word: &str) -> Option<Self> {
        Confidence::ALL.into_iter().find(|known| known.as_str() == word)
    }

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// What the producer saw of a result. See `observation` in `wit/types.wit`.
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

/// One output to judge. See `request` in `wit/types.wit`.
#[derive(Debug, Clone, Default)]
pub struct Request<'t> {
    pub agent: String,
    pub output: &'t str,
    pub finish: Finish,
    pub lists: Vec<NamedList>,
    pub evidence: Option<Cow<'t, [Observation]>>,
    /// Where the producer's bytes first were not UTF-8: the output holds replacements from there on.
    pub invalid_utf8: Option<u32>,
}
