//! `seamgate mcp`: a gate between a client and a server of the Model Context Protocol. To the client it is the server.
//!
//! The kernel decides, and this does what it says. One process is one run.

mod artifacts;
mod asks;
mod calls;
mod client;
mod era;
mod gate;
mod http;
mod init;
mod judged;
mod legs;
mod listing;
mod message;
mod methods;
mod names;
mod peer;
mod servers;
mod tasks;
mod tools;

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::mpsc::SyncSender,
    thread,
    time::SystemTime,
};

use anyhow::{Context, Result, bail};
use seamgate::{FileJournal, read_profile};
use seamgate_text::{escape_terminal, say};
use serde::Deserialize;

use self::{
    gate::{Came, Client, End, Gate},
    peer::Launch,
};
use crate::{
    agent::{Lock, ModelPlan, Plan, Profiles, Server, Servers, principal, random, read_lists, shell},
    error::NoVerdict,
    input, lists,
    outbox::Outbox,
    process::{Signals, read_lines},
    status::Status,
};

pub(crate) const HELP: &str = "\
Put this line into the configuration of a client in place of the server's own. Make the profile with 'seamgate mcp init':

  seamgate mcp init -o files.profile.json -- npx -y @modelcontextprotocol/server-filesystem /data
  seamgate mcp -p files.profile.json -- npx -y @modelcontextprotocol/server-filesystem /data

A client that takes an address in place of a command gets that of --listen, with the token that this prints:

  seamgate mcp -p files.profile.json --listen 127.0.0.1:7777 -- npx -y @modelcontextprotocol/server-filesystem /data

Calls that need approval wait for 'seamgate approve DIR' with the folder of --journal. Each session has a folder of its own in it.

Exit status: 0 the client ended the session, 1 'check' found a difference, 2 usage or profile error, 5 the server ended or broke the
protocol";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The profile: which tools and methods exist, and who approves calls
    #[arg(short, long, value_name = "PROFILE", required = true)]
    profile: Option<PathBuf>,
    /// A folder for journals: each session gets a folder of its own in it. Default: a temporary one, which is removed at the end
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// Several servers, from a servers file. Their tools are listed as SERVER__TOOL
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    servers: Option<PathBuf>,
    /// A list that the profile's 'scope' names: a file with one value a line
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse)]
    list: Vec<(String, PathBuf)>,
    /// The mode. Default: the profile's first
    #[arg(long, value_name = "NAME")]
    mode: Option<String>,
    /// For whom the client works. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Serve clients that speak HTTP at this address of this machine, as 127.0.0.1:7777. Each session has servers of its own
    #[arg(long, value_name = "ADDRESS", value_parser = http::address)]
    listen: Option<SocketAddr>,
    /// The environment variable with the token that clients must send. Default: a new one, which is told once
    #[arg(long, value_name = "NAME", requires = "listen")]
    token_env: Option<String>,
    /// The server and its arguments
    #[arg(last = true, value_name = "SERVER", required_unless_present = "servers")]
    server: Vec<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Ask a server for its tools, and write a profile to start from, with its lock file
    Init(init::Init),
    /// Compare a server's tools with those that a profile pins
    Check(init::Check),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match &arguments.command {
        Some(Command::Init(init)) => init::init(init),
        Some(Command::Check(check)) => init::check(check),
        None => serve(arguments),
    }
}

fn serve(arguments: &Arguments) -> Result<Status> {
    let setting = Setting::read(arguments)?;
    let signals = Signals::install()?;
    if let Some(address) = arguments.listen {
        return http::serve(setting, address, arguments.token_env.as_deref(), &signals);
    }
    let client = standard().map_err(|error| NoVerdict(format!("cannot start a thread: {error}")))?;
    let mut folder = None;
    match setting.session(client, &signals, &mut folder)? {
        End::Client => Ok(Status::Accepted),
        End::Server(message) => {
            if let Some(folder) = folder {
                say(&format!("seamgate: what happened: seamgate trace {}", shell(&folder)));
            }
            Err(NoVerdict(escape_terminal(&message)).into())
        }
        End::Signal(signal) => Ok(Status::Signal(u8::try_from(signal).unwrap_or(127))),
    }
}

/// The client at standard input and output.
fn standard() -> io::Result<Client> {
    let outbox = Outbox::start(io::stdout())?;
    let listen = |sender: SyncSender<Came>| {
        let read = move || read_lines(io::stdin(), |wrote| sender.send(Came::Client(wrote)).is_ok());
        thread::Builder::new().spawn(read).context("cannot start a thread")?;
        Ok(())
    };
    Ok(Client { outbox, listen: Box::new(listen) })
}

/// What all sessions of a gate have in common.
struct Setting {
    document: Document,
    launches: Vec<Launch>,
    plan: Plan,
    profiles: Profiles,
    lists: BTreeMap<String, Vec<String>>,
    mode: Option<String>,
    journal: Option<PathBuf>,
}

impl Setting {
    fn read(arguments: &Arguments) -> Result<Self> {
        let Some(path) = &arguments.profile else { bail!("name a profile with -p") };
        let client = arguments.listen.is_none().then(|| input::standard("the client"));
        let servers = arguments.servers.as_deref().map(|file| ("--servers".to_owned(), file));
        let named = client.into_iter().chain([("-p".to_owned(), path.as_path())]).chain(servers);
        input::read_once(named.chain(input::of_lists(&arguments.list)))?;
        let text = read_profile(path)?;
        let document = Document::of(path, &text)?;
        let launches = match &arguments.servers {
            Some(file) => document.launches(file)?,
            None => vec![document.launch(&arguments.server)?],
        };
        // Who starts a client may have no name here. It approves nothing.
        let principal = principal(arguments.principal.as_deref()).unwrap_or_else(|_| "nobody".to_owned());
        let plan = Plan::new(vec![path.clone()], arguments.servers.clone(), ModelPlan::Client, principal)?;
        let profiles = Profiles::read_by(&plan.profiles, |_| Ok(text.clone()))?;
        let Some(profile) = profiles.all.first() else { bail!("name a profile with -p") };
        let lists = read_lists(&arguments.list, &profile.info.lists)?;
        let (mode, journal) = (arguments.mode.clone(), arguments.journal.clone());
        Ok(Setting { document, launches, plan, profiles, lists, mode, journal })
    }

    /// Serve one client, with servers and a run of its own. `kept` gets the folder that stays.
    fn session(&self, client: Client, signals: &Signals, kept: &mut Option<PathBuf>) -> Result<End> {
        // Removed when this is dropped.
        let temporary;
        let (folder, journal) = match &self.journal {
            Some(folder) => {
                let folder = folder.join(session()?);
                let journal = FileJournal::create(&folder)?;
                *kept = Some(folder.clone());
                (folder, journal)
            }
            None => {
                temporary = tempfile::Builder::new().prefix("seamgate-mcp-").tempdir().map_err(|error| {
                    NoVerdict(format!(
                        "cannot make a temporary folder for the journal: {error}; name one with --journal"
                    ))
                })?;
                let folder = temporary.path().join("run");
                // What is removed at the end need not outlast a crash.
                let journal = FileJournal::create(&folder)?.without_sync();
                (folder, journal)
            }
        };
        {
            // Nobody else begins a run here at the same time.
            let _lock = Lock::take(&folder)?;
            self.plan.write(&folder)?;
        }
        let started = gate::Started {
            run: format!("run-{}", random(8)?),
            principal: self.plan.principal.clone(),
            mode: self.mode.clone(),
            lists: self.lists.clone(),
        };
        let Client { outbox, listen } = client;
        let mut gate = Gate::start(&self.profiles, &self.document, journal, &folder, started, outbox)?;
        let end = gate.serve(&self.launches, listen, signals);
        drop(gate);
        // The run has ended: nobody approves anything here any more.
        Plan::put_aside(&folder);
        end
    }
}

/// The name of a session's folder: when it began, and a random number, for two may begin at once.
fn session() -> Result<String> {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    Ok(format!("{}-{}", time.replace(':', "-"), random(2)?))
}

/// A profile, as far as the gate reads it itself.
#[derive(Default, Deserialize)]
struct Document {
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

/// What the profile says of a server.
#[derive(Default, Deserialize)]
struct Reached {
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
}

/// A cut result never has fewer bytes than this: such a tool is listed as one whose results are never cut.
const NEVER_CUT: u64 = 1024 * 1024;

/// The tool by which a client reads whole results: the gate's own.
const READ_ARTIFACT: &str = "read_artifact";

impl Document {
    /// Reads the whole text of a profile.
    fn of(path: &Path, text: &str) -> Result<Self> {
        // What is no profile is told with its place when it is registered.
        let document: Document = serde_json::from_str(text).unwrap_or_default();
        if document.prompt.is_some() && document.last.is_some() {
            bail!(
                "{}: a profile with 'prompt' and 'final' is of an agent that seamgate runs: leave them out, for here the client asks the model",
                path.display()
            );
        }
        Ok(document)
    }

    /// The names that servers have in the profile.
    fn names(&self) -> Vec<&str> {
        let tools = self.tools.iter().filter(|tool| !tool.is_own()).map(|tool| tool.server.as_str());
        let mut names: Vec<&str> = tools.chain(self.servers.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The one server that stands on the command line.
    fn launch(&self, command: &[String]) -> Result<Launch> {
        let names = self.names();
        let name = match names[..] {
            [] => String::new(),
            [only] => only.to_owned(),
            _ => bail!(
                "the profile has several servers ({}): say how each is reached in a servers file, and name it with --servers",
                names.join(", ")
            ),
        };
        Ok(Launch {
            inherited: self.environment(&name),
            name,
            command: command.to_vec(),
            environment: BTreeMap::new(),
            folder: std::env::current_dir().context("cannot find the working folder")?,
            paths: None,
        })
    }

    /// The servers of a file. Only those that the profile names are started.
    fn launches(&self, file: &Path) -> Result<Vec<Launch>> {
        let servers = Servers::read(file)?;
        let names = self.names();
        let mut launches = Vec::new();
        for (name, server) in servers.all {
            let Server::Mcp(command) = server else {
                bail!(
                    "--servers {}: the server {name:?} must have \"mcp\": a gate has no other servers",
                    file.display()
                );
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
            bail!("--servers {}: the profile names none of its servers", file.display());
        }
        Ok(launches)
    }

    fn environment(&self, server: &str) -> Vec<String> {
        self.servers.get(server).map(|reached| reached.environment.clone()).unwrap_or_default()
    }

    /// Whether results of a tool may be cut.
    fn may_cut(&self, server: &str, name: &str) -> bool {
        let tool = self.tools.iter().find(|tool| tool.server == server && tool.name == name);
        tool.is_none_or(|tool| tool.result.max_bytes.is_none_or(|bytes| bytes < NEVER_CUT))
    }

    /// Whether the profile has the gate's own tool.
    fn reads_artifacts(&self) -> bool {
        self.tools.iter().any(Tool::is_own)
    }

    /// Whether a capability of a kind of methods is kept.
    fn has_kind(&self, server: &str, kind: &str) -> bool {
        let methods = self.servers.get(server).map(|reached| &reached.methods[..]).unwrap_or_default();
        methods.iter().any(|word| word == "*" || word.split('/').next() == Some(kind))
    }

    fn has_all(&self, server: &str) -> bool {
        self.servers.get(server).is_some_and(|reached| reached.methods.iter().any(|word| word == "*"))
    }
}

impl Tool {
    fn is_own(&self) -> bool {
        self.server.is_empty() && self.name == READ_ARTIFACT
    }
}
