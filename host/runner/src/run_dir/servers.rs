//! The servers file, which tells the host how to reach the tools that a profile names.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use seamgate::{MAX_FILE, read_named};
use seamgate_text::{escape_terminal, say, shell_word};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    error::{AddContext, Error, Result, bail},
    mcp::{Client, Endpoint},
    notice::Notifier,
    process::{Inherited, Paths, Program, can_confine},
    secrets::{SecretSource, Secrets},
};

/// The default timeout of a tool, in seconds.
const TIMEOUT_S: u64 = 60;
const MAX_TIMEOUT_S: u64 = 86_400;

/// The variables of this process's environment that each tool and server of `seamgate agent` inherits: those that the
/// MCP SDKs pass on, and those for the locale, the time zone and the temporary folder. The last line has those of
/// Windows.
const INHERITED: &str = "
    HOME LOGNAME PATH SHELL TERM TMPDIR TZ USER
    LANG LANGUAGE LC_ADDRESS LC_ALL LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME LC_NUMERIC
    LC_PAPER LC_TELEPHONE LC_TIME
    APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE";

/// The servers of a file, by the names that profiles use. The host's own tools are under the empty name.
#[derive(Default)]
pub struct Servers {
    /// The folder that commands run in, which is that of the file.
    pub folder: PathBuf,
    /// All servers, by their names.
    pub all: BTreeMap<String, Server>,
    /// The program that receives each call that waits for approval.
    pub notifier: Option<Notifier>,
    /// The user's secrets, once they are [read](Servers::read_secrets).
    pub secrets: Arc<Secrets>,
    /// The sources of the values of secrets.
    sources: BTreeMap<String, SecretSource>,
    /// The variables of this process's environment that a server gets because profiles name them.
    named: BTreeMap<String, Vec<String>>,
    /// The clients of running servers that speak MCP.
    running: Running,
}

/// The clients of running servers, by the servers' names. Dropping this terminates all servers at once.
#[derive(Default)]
struct Running(BTreeMap<String, Client>);

impl Drop for Running {
    fn drop(&mut self) {
        Client::end_all(self.0.values());
    }
}

/// One server.
pub enum Server {
    /// A command for each tool.
    Commands(BTreeMap<String, Command>),
    /// A process that speaks MCP.
    Mcp(Command),
    /// An address that speaks MCP.
    Address(Endpoint),
}

/// A program, and the settings for running it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables of this process's environment that the program gets.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Variables that are added to the program's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The timeout of one call, in seconds.
    #[serde(default = "default_timeout")]
    pub timeout_s: u64,
    /// The paths that the program may access, relative to the folder of the file. `None` for all that this user may
    /// access.
    pub paths: Option<Paths>,
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
    #[serde(default)]
    secrets: BTreeMap<String, SecretSource>,
    notify: Option<Command>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    tools: Option<BTreeMap<String, Command>>,
    /// An object with either "url" or "command".
    mcp: Option<Value>,
}

impl Servers {
    /// Reads a servers file (`schemas/servers.schema.json`).
    pub fn read(path: &Path) -> Result<Self> {
        let context = || format!("--servers {}", path.display());
        let folder = std::path::absolute(path).with_context(context)?.parent().map(Path::to_owned).unwrap_or_default();
        let bytes = read_named(path, MAX_FILE).with_context(context)?;
        let file: File = serde_json::from_slice(&bytes).with_context(context)?;
        let all: Result<BTreeMap<_, _>> = file
            .servers
            .into_iter()
            .map(|(name, entry)| {
                let of_server = || format!("the server {name:?}");
                let mut server = match (entry.tools, entry.mcp) {
                    (Some(tools), None) => Server::Commands(tools),
                    (None, Some(mcp)) => Server::of_mcp(mcp, &name, path).with_context(of_server)?,
                    _ => bail!("the server {name:?} must have either \"tools\" or \"mcp\""),
                };
                let mut commands: Vec<&mut Command> = match &mut server {
                    Server::Commands(tools) => tools.values_mut().collect(),
                    Server::Mcp(command) => vec![command],
                    Server::Address(_) => Vec::new(),
                };
                let mut checked = commands.iter_mut().map(|command| command.check(&folder));
                checked.try_for_each(|checked| checked.with_context(of_server))?;
                Ok((name, server))
            })
            .collect();
        let notifier = file.notify.map(|mut command| {
            command.check(&folder).with_context(|| "\"notify\"".to_owned())?;
            Ok::<_, Error>(Notifier {
                inherited: inherited_and(&command.environment),
                folder: folder.clone(),
                timeout: Duration::from_secs(command.timeout_s),
                command: command.command,
                env: command.env,
                paths: command.paths,
            })
        });
        let notifier = notifier.transpose().with_context(context)?;
        let variables = file.secrets.values().filter_map(SecretSource::variable);
        if let Some(variable) = variables.into_iter().find(|variable| !is_variable(variable)) {
            bail!(
                "--servers {}: \"secrets\": {variable:?} cannot be the name of a variable: use letters, digits and _",
                path.display()
            );
        }
        let (all, sources) = (all.with_context(context)?, file.secrets);
        Ok(Servers { folder, all, notifier, sources, ..Servers::default() })
    }

    /// Reads the values of the secrets that profiles name. The values are hidden in the output of all servers.
    pub fn read_secrets(&mut self, names: &BTreeSet<String>) -> Result<()> {
        self.secrets = Arc::new(Secrets::read(names, &self.sources, &self.folder)?);
        for server in self.all.values_mut() {
            if let Server::Address(endpoint) = server {
                endpoint.secrets = Arc::clone(&self.secrets);
            }
        }
        Ok(())
    }

    /// Returns the names of the variables of this process's environment that a program of a server gets.
    pub fn inherited(&self, server: &str, command: &Command) -> Vec<String> {
        inherited_and(self.named.get(server).into_iter().flatten().chain(&command.environment))
    }

    /// Starts the servers that speak MCP. They are terminated when this is dropped. `named` has the variables of this
    /// process's environment that profiles name for a server. `secret` has those that no program gets: the secrets of
    /// the model server.
    pub fn start(&mut self, named: BTreeMap<String, Vec<String>>, secret: &[String]) -> Result<()> {
        self.named = named;
        if let Some(notifier) = &self.notifier
            && let Some(variable) = notifier.inherited.iter().find(|variable| secret.contains(variable))
        {
            bail!(
                "\"notify\": {variable} has a secret of the model server, which no program gets: take it out of \"environment\""
            );
        }
        let variables = self.sources.values().filter_map(SecretSource::variable);
        if let Some(variable) = variables.into_iter().find(|variable| secret.iter().any(|one| one == variable)) {
            bail!("\"secrets\": {variable} has a secret of the model server, which no tool gets");
        }
        for (name, server) in &self.all {
            let inherited = server.commands().flat_map(|command| self.inherited(name, command));
            let named = server.endpoint().into_iter().flat_map(Endpoint::variables);
            for variable in inherited.chain(named) {
                if secret.contains(&variable) {
                    bail!(
                        "the server {name:?}: {variable} has the key of the model server, which no tool gets: take it out of \"environment\" or \
                         \"headers\", or name another variable with --key-env"
                    );
                }
            }
        }
        if self.all.values().any(Server::has_paths) && !can_confine() {
            say("seamgate: this system has no Landlock: tools can reach more than their \"paths\"");
        }
        for (name, server) in &self.all {
            let client = match server {
                Server::Commands(_) => continue,
                Server::Mcp(command) => Client::start(&Program {
                    command: &command.command,
                    inherited: Inherited::Only(&self.inherited(name, command)),
                    environment: &command.env,
                    folder: &self.folder,
                    told_as: name,
                    paths: command.paths.as_ref(),
                    secrets: &self.secrets,
                }),
                Server::Address(endpoint) => Client::connect(endpoint),
            };
            let client = client.map_err(|message| Error::NoVerdict(format!("the server {name:?}: {message}")))?;
            self.running.0.insert(name.clone(), client);
        }
        Ok(())
    }

    /// Terminates the running servers without waiting for this to be dropped.
    pub fn end(&self) {
        Client::end_all(self.running.0.values());
    }

    /// Returns a number that increases when a server's tools may have changed.
    pub fn generation(&self) -> u64 {
        self.running.0.values().map(Client::generation).sum()
    }

    /// Returns a running server that speaks MCP, and the time limit of a call.
    pub fn running(&self, server: &str) -> Option<(&Client, Duration)> {
        let (Server::Mcp(Command { timeout_s, .. }) | Server::Address(Endpoint { timeout_s, .. })) =
            self.all.get(server)?
        else {
            return None;
        };
        self.running.0.get(server).map(|running| (running, Duration::from_secs(*timeout_s)))
    }

    /// Returns the tools that each running server lists. A server that has ended lists none.
    pub fn listed(&self) -> impl Iterator<Item = (&str, Vec<Box<RawValue>>)> {
        self.running.0.iter().map(|(name, server)| {
            let tools = server.tools().unwrap_or_else(|message| {
                say(&format!(
                    "seamgate: the server {:?} lists no tools: {}",
                    escape_terminal(name),
                    escape_terminal(&message)
                ));
                Vec::new()
            });
            (name.as_str(), tools)
        })
    }

    /// Returns the command of a tool whose server is not a process.
    pub fn command(&self, server: &str, tool: &str) -> Option<&Command> {
        match self.all.get(server)? {
            Server::Commands(tools) => tools.get(tool),
            Server::Mcp(_) | Server::Address(_) => None,
        }
    }
}

impl Server {
    /// Parses a server that speaks MCP: an address if it has "url", otherwise a program.
    fn of_mcp(mcp: Value, name: &str, file: &Path) -> Result<Self> {
        if mcp.get("url").is_none() {
            return Ok(Server::Mcp(serde_json::from_value(mcp)?));
        }
        if mcp.get("command").is_some() {
            bail!("\"mcp\" must have either \"command\" or \"url\"");
        }
        let mut endpoint: Endpoint = serde_json::from_value(mcp)?;
        endpoint.check().map_err(Error::invalid)?;
        check_timeout(endpoint.timeout_s)?;
        endpoint.name = name.to_owned();
        endpoint.login = format!("seamgate mcp login --servers {} {}", shell_word(file), shell_word(Path::new(name)));
        Ok(Server::Address(endpoint))
    }

    /// Returns the server's address, if it has one.
    fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Server::Address(endpoint) => Some(endpoint),
            Server::Commands(_) | Server::Mcp(_) => None,
        }
    }

    /// Returns whether the server has a program that must be confined.
    fn has_paths(&self) -> bool {
        self.commands().any(|command| command.paths.is_some())
    }

    /// Returns the server's programs.
    fn commands(&self) -> impl Iterator<Item = &Command> {
        let (tools, one) = match self {
            Server::Commands(tools) => (Some(tools.values()), None),
            Server::Mcp(command) => (None, Some(command)),
            Server::Address(_) => (None, None),
        };
        tools.into_iter().flatten().chain(one)
    }
}

impl Command {
    /// Creates a program that gets the variables that every program gets, and nothing else.
    pub fn new(command: Vec<String>) -> Self {
        let (environment, env) = (Vec::new(), BTreeMap::new());
        Command { command, environment, env, timeout_s: TIMEOUT_S, paths: None }
    }

    /// Checks the content of a file, and resolves its paths relative to the file's folder.
    fn check(&mut self, folder: &Path) -> Result<()> {
        if self.command.is_empty() {
            bail!("\"command\" must name a program");
        }
        check_timeout(self.timeout_s)?;
        if let Some(name) = self.environment.iter().find(|name| !is_variable(name)) {
            bail!("\"environment\": {name:?} cannot be the name of a variable: use letters, digits and _");
        }
        let opened = self.paths.as_mut().map_or(Ok(()), |paths| paths.open(folder));
        opened.map_err(|why| Error::invalid(format!("\"paths\": {why}")))
    }
}

/// Returns the names of the variables that each program gets, followed by others.
fn inherited_and<'n>(named: impl IntoIterator<Item = &'n String>) -> Vec<String> {
    INHERITED.split_ascii_whitespace().map(str::to_owned).chain(named.into_iter().cloned()).collect()
}

fn check_timeout(seconds: u64) -> Result<()> {
    if !(1..=MAX_TIMEOUT_S).contains(&seconds) {
        bail!("\"timeout_s\" must be from 1 to {MAX_TIMEOUT_S}");
    }
    Ok(())
}

/// Returns whether a text is a valid variable name, as the schema of profiles defines it.
fn is_variable(name: &str) -> bool {
    let is_of_it = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.chars().all(is_of_it) && name.starts_with(|first: char| !first.is_ascii_digit())
}
