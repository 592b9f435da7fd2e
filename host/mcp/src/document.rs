//! A profile, as far as the gate reads it itself.

use std::{collections::BTreeMap, path::Path};

use seamgate_runner::{
    Error, Result,
    run_dir::{Server, Servers},
};
use seamgate_text::{escape_terminal, say};
use serde::Deserialize;

use super::launch::Launch;

/// A cut result never has fewer bytes than this: such a tool is listed as one whose results are never cut.
const NEVER_CUT: u64 = 1024 * 1024;

/// The tool by which a client reads whole results: the gate's own.
pub(super) const READ_ARTIFACT: &str = "read_artifact";

/// A profile, as far as the gate reads it itself.
#[derive(Default, Deserialize)]
pub struct Document {
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    servers: BTreeMap<String, Reached>,
    #[serde(default)]
    prompt: Option<serde::de::IgnoredAny>,
    #[serde(default, rename = "final")]
    last: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    server: String,
    #[serde(default)]
    result: Rule,
}

#[derive(Default, Deserialize)]
struct Rule {
    max_bytes: Option<u64>,
}

/// A server of the profile.
#[derive(Default, Deserialize)]
struct Reached {
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
}

impl Document {
    /// Reads the whole text of a profile. `path` is for messages.
    pub fn of(path: &Path, text: &str) -> Result<Self> {
        // What is wrong with a profile is reported with its place when it is registered.
        let document: Document = serde_json::from_str(text).unwrap_or_default();
        if document.prompt.is_some() && document.last.is_some() {
            return Err(Error::invalid(format!(
                "{}: a profile with 'prompt' and 'final' is of an agent that seamgate runs: leave them out, for here the client asks the model",
                path.display()
            )));
        }
        Ok(document)
    }

    /// Returns the names that servers have in the profile.
    fn names(&self) -> Vec<&str> {
        let tools = self.tools.iter().filter(|tool| !tool.is_own()).map(|tool| tool.server.as_str());
        let mut names: Vec<&str> = tools.chain(self.servers.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Describes the only server of the profile, by its command.
    pub fn launch(&self, command: &[String]) -> Result<Launch> {
        let names = self.names();
        let name = match names[..] {
            [] => String::new(),
            [only] => only.to_owned(),
            _ => {
                return Err(Error::invalid(format!(
                    "the profile has several servers ({}): say how each is reached in a servers file, and name it with --servers",
                    names.join(", ")
                )));
            }
        };
        let inherited = self.environment(&name);
        Launch::new(name, command.to_vec(), inherited)
    }

    /// Describes the servers of a file that the profile names. Only those are started.
    pub fn launches(&self, file: &Path) -> Result<Vec<Launch>> {
        let servers = Servers::read(file)?;
        let names = self.names();
        let mut launches = Vec::new();
        for (name, server) in servers.all {
            let Server::Mcp(command) = server else {
                return Err(Error::invalid(format!(
                    "--servers {}: the server {name:?} must have \"mcp\": a gate has no other servers",
                    file.display()
                )));
            };
            if !names.contains(&name.as_str()) {
                say(&format!(
                    "seamgate: the profile does not name the server {:?}: it is not started",
                    escape_terminal(&name)
                ));
                continue;
            }
            let mut inherited = self.environment(&name);
            inherited.extend(command.environment);
            launches.push(Launch {
                inherited,
                name,
                command: command.command,
                environment: command.env,
                folder: servers.folder.clone(),
                paths: command.paths,
            });
        }
        if launches.is_empty() {
            return Err(Error::invalid(format!("--servers {}: the profile names none of its servers", file.display())));
        }
        Ok(launches)
    }

    fn environment(&self, server: &str) -> Vec<String> {
        self.servers.get(server).map(|reached| reached.environment.clone()).unwrap_or_default()
    }

    /// Returns whether results of a tool may be cut.
    pub(super) fn may_cut(&self, server: &str, name: &str) -> bool {
        let tool = self.tools.iter().find(|tool| tool.server == server && tool.name == name);
        tool.is_none_or(|tool| tool.result.max_bytes.is_none_or(|bytes| bytes < NEVER_CUT))
    }

    /// Returns whether the profile has the gate's own tool.
    pub(super) fn reads_artifacts(&self) -> bool {
        self.tools.iter().any(Tool::is_own)
    }

    /// Returns whether a server keeps the capability that a kind of methods belongs to.
    pub(super) fn has_kind(&self, server: &str, kind: &str) -> bool {
        let methods = self.servers.get(server).map(|reached| &reached.methods[..]).unwrap_or_default();
        methods.iter().any(|word| word == "*" || word.split('/').next() == Some(kind))
    }

    /// Returns whether a server keeps all capabilities.
    pub(super) fn has_all(&self, server: &str) -> bool {
        self.servers.get(server).is_some_and(|reached| reached.methods.iter().any(|word| word == "*"))
    }
}

impl Tool {
    fn is_own(&self) -> bool {
        self.server.is_empty() && self.name == READ_ARTIFACT
    }
}
