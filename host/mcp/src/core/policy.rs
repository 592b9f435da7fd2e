//! The part of a profile that the gate itself applies.

use std::collections::{BTreeMap, BTreeSet};

use seamgate::{matches_tool, tool_pattern_rank};
use serde::Deserialize;

/// The smallest `max_bytes` with which the gate never truncates a result.
const NEVER_TRUNCATED: u64 = 1024 * 1024;

/// The gate's own tool, with which a client reads complete results.
pub(crate) const READ_ARTIFACT: &str = "read_artifact";

/// The part of a profile that the gate itself applies.
#[derive(Clone, Default, Deserialize)]
pub struct Policy {
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    servers: BTreeMap<String, Server>,
    user_messages: Option<UserMessages>,
}

/// The source of the user's messages.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UserMessages {
    Client,
}

#[derive(Clone, Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    server: String,
    #[serde(default)]
    result: ResultRule,
    #[serde(default)]
    equal_calls: EqualCalls,
    #[serde(default)]
    origins: Vec<OriginRule>,
    #[serde(default)]
    secrets: Vec<SecretRule>,
}

#[derive(Clone, Deserialize)]
struct SecretRule {
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Clone, Deserialize)]
struct OriginRule {
    #[serde(default)]
    from: Vec<serde_json::Value>,
}

#[derive(Clone, Default, Deserialize)]
struct ResultRule {
    max_bytes: Option<u64>,
}

/// How the gate treats calls that are equal to a running call.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EqualCalls {
    /// Each call runs.
    #[default]
    Separate,
    /// Equal calls get the result of the running call.
    Join,
}

/// A server of the profile.
#[derive(Clone, Default, Deserialize)]
struct Server {
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
}

impl Policy {
    /// Parses the complete text of a profile. The kernel reports what is wrong with it when the profile is registered.
    pub fn read(profile: &str) -> Self {
        serde_json::from_str(profile).unwrap_or_default()
    }

    /// Returns the names of the servers in the profile.
    pub(crate) fn servers(&self) -> Vec<&str> {
        let tools = self.tools.iter().filter(|tool| !tool.is_own()).map(|tool| tool.server.as_str());
        let mut names: Vec<&str> = tools.chain(self.servers.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the environment variables that a server gets.
    pub(crate) fn environment(&self, server: &str) -> Vec<String> {
        self.servers.get(server).map(|server| server.environment.clone()).unwrap_or_default()
    }

    /// Returns the names of the secrets that tools may receive.
    pub(crate) fn secrets(&self) -> BTreeSet<String> {
        let rules = self.tools.iter().flat_map(|tool| &tool.secrets);
        rules.flat_map(|rule| rule.names.iter().cloned()).collect()
    }

    /// Returns whether results of a tool may be truncated.
    pub(super) fn may_truncate(&self, server: &str, name: &str) -> bool {
        let tool = self.tool(server, name);
        tool.is_none_or(|tool| tool.result.max_bytes.is_none_or(|bytes| bytes < NEVER_TRUNCATED))
    }

    /// Returns whether calls of a tool join a running equal call.
    pub(super) fn joins_equal_calls(&self, server: &str, name: &str) -> bool {
        self.tool(server, name).is_some_and(|tool| tool.equal_calls == EqualCalls::Join)
    }

    /// Returns whether the profile includes the gate's own tool.
    pub(super) fn reads_artifacts(&self) -> bool {
        self.tools.iter().any(Tool::is_own)
    }

    /// Returns whether the gate accepts the user's messages from the client.
    pub(super) fn hears_client(&self) -> bool {
        matches!(self.user_messages, Some(UserMessages::Client))
    }

    /// Returns whether an origin needs the user's messages, but the profile names no source of them.
    pub(crate) fn lacks_user_messages(&self) -> bool {
        let mut places = self.tools.iter().flat_map(|tool| &tool.origins).flat_map(|rule| &rule.from);
        self.user_messages.is_none() && places.any(|place| place == "user")
    }

    /// Returns whether a server keeps the capability that covers a kind of methods.
    pub(super) fn has_kind(&self, server: &str, kind: &str) -> bool {
        let methods = self.servers.get(server).map(|server| &server.methods[..]).unwrap_or_default();
        methods.iter().any(|word| word == "*" || word.split('/').next() == Some(kind))
    }

    /// Returns whether a server keeps all capabilities.
    pub(super) fn has_all(&self, server: &str) -> bool {
        self.servers.get(server).is_some_and(|server| server.methods.iter().any(|word| word == "*"))
    }

    fn tool(&self, server: &str, name: &str) -> Option<&Tool> {
        let matching = self.tools.iter().filter(|tool| tool.server == server && matches_tool(&tool.name, name));
        matching.max_by_key(|tool| tool_pattern_rank(&tool.name))
    }
}

impl Tool {
    fn is_own(&self) -> bool {
        self.server.is_empty() && self.name == READ_ARTIFACT
    }
}
