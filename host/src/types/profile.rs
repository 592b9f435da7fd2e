//! The description of a registered profile.

use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// A registered profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProfileInfo {
    /// The agent that it is for.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// Its digest: `sha256:` and 64 hexadecimal digits.
    pub profile: String,
    /// The full names of its tools, in its order.
    pub tools: Vec<String>,
    /// The lists that its scopes name, in ascending order.
    pub lists: Vec<String>,
    /// The tools that are disabled because their pinned definition is invalid.
    pub disabled: Vec<DisabledTool>,
}

/// A tool of a profile that is disabled: it is hidden, and its calls are denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DisabledTool {
    /// Its full name.
    pub tool: String,
    /// The problem with its definition, and its place.
    pub message: String,
}

impl ProfileInfo {
    /// Parses what the component returns about a profile.
    pub(crate) fn read(json: &str) -> Result<Self, Fault> {
        serde_json::from_str(json)
            .map_err(|error| Fault::Trap { message: format!("the component says no profile info: {error}") })
    }
}
