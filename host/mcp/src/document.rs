//! The parts of a profile that the gate itself reads.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use seamgate_runner::{
    Error, Result,
    run_dir::{Server, Servers},
};
use seamgate_text::{escape_terminal, say};
use serde::{Deserialize, de::IgnoredAny};

use super::{core::Policy, launch::Launch};

/// The parts of a profile that the gate itself reads.
pub struct Document {
    policy: Policy,
}

impl Document {
    /// Parses the complete text of a profile. `path` is for messages.
    pub fn of(path: &Path, text: &str) -> Result<Self> {
        #[derive(Default, Deserialize)]
        struct Parts {
            #[serde(default)]
            prompt: Option<IgnoredAny>,
            #[serde(default, rename = "final")]
            last: Option<IgnoredAny>,
        }
        // The kernel reports what is wrong with a profile when it is registered.
        let parts: Parts = serde_json::from_str(text).unwrap_or_default();
        if parts.prompt.is_some() && parts.last.is_some() {
            return Err(Error::invalid(format!(
                "{}: a profile with 'prompt' and 'final' is of an agent that seamgate runs: leave them out, for here the client asks the model",
                path.display()
            )));
        }
        Ok(Document { policy: Policy::read(text) })
    }

    /// Describes the only server of the profile, by its command.
    pub fn launch(&self, command: &[String]) -> Result<Launch> {
        let names = self.policy.servers();
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
        let inherited = self.policy.environment(&name);
        Launch::new(name, command.to_vec(), inherited)
    }

    /// Describes the servers of a file that the profile names. Only these are started.
    pub fn launches(&self, servers: Servers, file: &Path) -> Result<Vec<Launch>> {
        let names = self.policy.servers();
        let mut launches = Vec::new();
        for (name, server) in servers.all {
            if !names.contains(&name.as_str()) {
                say(&format!(
                    "seamgate: the profile does not name the server {:?}: it is not started",
                    escape_terminal(&name)
                ));
                continue;
            }
            let mut launch = Launch {
                inherited: Vec::new(),
                command: Vec::new(),
                environment: BTreeMap::new(),
                folder: servers.folder.clone(),
                paths: None,
                endpoint: None,
                described: server.described().unwrap_or_default(),
                secrets: Arc::clone(&servers.secrets),
                name,
            };
            match server {
                Server::Mcp(command) => {
                    launch.inherited = self.policy.environment(&launch.name);
                    launch.inherited.extend(command.environment);
                    launch.command = command.command;
                    launch.environment = command.env;
                    launch.paths = command.paths;
                }
                Server::Address(endpoint) => launch.endpoint = Some(endpoint),
                Server::Commands(_) => {
                    return Err(Error::invalid(format!(
                        "--servers {}: the server {:?} must have \"mcp\": a gate has no other servers",
                        file.display(),
                        launch.name
                    )));
                }
            }
            launches.push(launch);
        }
        if launches.is_empty() {
            return Err(Error::invalid(format!("--servers {}: the profile names none of its servers", file.display())));
        }
        Ok(launches)
    }
}
