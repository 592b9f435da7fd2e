//! The servers file: how the host reaches the tools that a profile names.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use seamgate::{MAX_FILE, read_named};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    confine::{Paths, is_supported},
    console::say,
    error::NoVerdict,
    mcp_client,
    process::{Inherited, Program},
    safe::safe,
};

/// How long a tool may run by default, in seconds.
const TIMEOUT_S: u64 = 60;
const MAX_TIMEOUT_S: u64 = 86_400;

/// The servers of a file, by the names that the profile has for them. The host's own tools stand under the empty name.
#[derive(Default)]
pub(crate) struct Servers {
    /// Where commands run: the folder of the file.
    pub(crate) folder: PathBuf,
    pub(crate) all: BTreeMap<String, Server>,
    /// Those that speak MCP, as they run.
    running: BTreeMap<String, mcp_client::Server>,
}

/// One server.
pub(crate) enum Server {
    /// A command for each tool.
    Commands(BTreeMap<String, Command>),
    /// A process that speaks MCP.
    Mcp(Command),
}

/// A program and how to run it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Variables that are added to its environment.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// How long one call may take, in seconds.
    #[serde(default = "default_timeout")]
    pub(crate) timeout_s: u64,
    /// What it may reach: paths from the folder of the file. None: all that this user may.
    pub(crate) paths: Option<Paths>,
}

fn default_timeout() -> u64 {
    TIMEOUT_S
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    tools: Option<BTreeMap<String, Command>>,
    mcp: Option<Command>,
}

impl Servers {
    /// Read a servers file (`schemas/servers.schema.json`).
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let context = || format!("--servers {}", path.display());
        let folder = std::path::absolute(path).with_context(context)?.parent().map(Path::to_owned).unwrap_or_default();
        let bytes = read_named(path, MAX_FILE).with_context(context)?;
        let file: File = serde_json::from_slice(&bytes).with_context(context)?;
        let all: Result<BTreeMap<_, _>> = file
            .servers
            .into_iter()
            .map(|(name, entry)| {
                let mut server = match (entry.tools, entry.mcp) {
                    (Some(tools), None) => Server::Commands(tools),
                    (None, Some(mcp)) => Server::Mcp(mcp),
                    _ => bail!("the server {name:?} must have either \"tools\" or \"mcp\""),
                };
                let mut commands: Vec<&mut Command> = match &mut server {
                    Server::Commands(tools) => tools.values_mut().collect(),
                    Server::Mcp(command) => vec![command],
                };
                let mut checked = commands.iter_mut().map(|command| command.check(&folder));
                checked.try_for_each(|checked| checked.with_context(|| format!("the server {name:?}")))?;
                Ok((name, server))
            })
            .collect();
        Ok(Servers { folder, all: all.with_context(context)?, running: BTreeMap::new() })
    }

    /// Start the servers that speak MCP. They end when this is dropped.
    pub(crate) fn start(&mut self, without: &[String]) -> Result<()> {
        if self.all.values().any(Server::has_paths) && !is_supported() {
            say("seamgate: this system has no Landlock: tools can reach more than their \"paths\"");
        }
        for (name, server) in &self.all {
            if let Server::Mcp(command) = server {
                let program = Program {
                    command: &command.command,
                    environment: &command.env,
                    inherited: Inherited::But(without),
                    folder: &self.folder,
                    told_as: name,
                    paths: command.paths.as_ref(),
                };
                let server = mcp_client::Server::start(&program)
                    .map_err(|message| NoVerdict(format!("the server {name:?}: {message}")))?;
                self.running.insert(name.clone(), server);
            }
        }
        Ok(())
    }

    /// End those that run, without waiting for this to be dropped.
    pub(crate) fn end(&self) {
        self.running.values().for_each(mcp_client::Server::end);
    }

    /// A number that rises when a server's tools may have changed.
    pub(crate) fn generation(&self) -> u64 {
        self.running.values().map(mcp_client::Server::generation).sum()
    }

    /// A server that speaks MCP, and how long a call may take.
    pub(crate) fn running(&self, server: &str) -> Option<(&mcp_client::Server, Duration)> {
        let Some(Server::Mcp(Command { timeout_s, .. })) = self.all.get(server) else { return None };
        self.running.get(server).map(|running| (running, Duration::from_secs(*timeout_s)))
    }

    /// What each server lists that speaks MCP. A server that has ended lists nothing.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&str, Vec<Box<RawValue>>)> {
        self.running.iter().map(|(name, server)| {
            let tools = server.tools().unwrap_or_else(|message| {
                say(&format!("seamgate: the server {:?} lists no tools: {}", safe(name), safe(&message)));
                Vec::new()
            });
            (name.as_str(), tools)
        })
    }

    /// The command of a tool whose server is no process.
    pub(crate) fn command(&self, server: &str, tool: &str) -> Option<&Command> {
        match self.all.get(server)? {
            Server::Commands(tools) => tools.get(tool),
            Server::Mcp(_) => None,
        }
    }
}

impl Server {
    /// Whether it has a program that is to be confined.
    fn has_paths(&self) -> bool {
        match self {
            Server::Commands(tools) => tools.values().any(|command| command.paths.is_some()),
            Server::Mcp(command) => command.paths.is_some(),
        }
    }
}

impl Command {
    /// Check what a file says, and find its paths from the file's folder.
    fn check(&mut self, folder: &Path) -> Result<()> {
        if self.command.is_empty() {
            bail!("\"command\" must name a program");
        }
        if !(1..=MAX_TIMEOUT_S).contains(&self.timeout_s) {
            bail!("\"timeout_s\" must be from 1 to {MAX_TIMEOUT_S}");
        }
        for path in self.paths.iter_mut().flat_map(|paths| paths.read.iter_mut().chain(&mut paths.write)) {
            *path = folder.join(&*path);
            if let Err(error) = path.metadata() {
                bail!("\"paths\": {}: {error}", path.display());
            }
        }
        Ok(())
    }
}
