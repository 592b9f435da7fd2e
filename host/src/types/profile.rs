//! The description of a registered profile.

use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// A registered profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProfileInfo {
    /// The agent that the profile is for.
    pub agent: String,
    /// The version of the profile.
    pub version: String,
    /// The digest of the profile: `sha256:` and 64 hexadecimal digits.
    pub profile: String,
    /// The full names of the profile's tools, in its order.
    pub tools: Vec<String>,
    /// The lists that the profile's scopes name, in ascending order.
    pub lists: Vec<String>,
    /// The tools that are disabled because their pinned definition is invalid.
    pub disabled: Vec<DisabledTool>,
}

/// A disabled tool of a profile. The tool is hidden, and calls of it are denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DisabledTool {
    /// The full name of the tool.
    pub tool: String,
    /// The problem with the tool's definition, and its place.
    pub message: String,
}

impl ProfileInfo {
    /// Parses the component's description of a profile.
    pub(crate) fn read(json: &str) -> Result<Self, Fault> {
        serde_json::from_str(json)
            .map_err(|error| Fault::Trap { message: format!("the component says no profile info: {error}") })
    }
}
