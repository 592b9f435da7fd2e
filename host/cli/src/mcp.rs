//! `seamgate mcp`: a gate between a client and a server of the Model Context Protocol.

mod accept;
mod check;
mod clients;
mod init;
mod login;

use std::{net::SocketAddr, path::PathBuf};

use anyhow::{Result, bail};
use seamgate::read_profile;
use seamgate_mcp::{End, Launch, Listing, Reach, Setting, Times, http, stdio};
use seamgate_runner::process::Signals;
use seamgate_text::{escape_terminal, say, shell_word};

use crate::{agent::read_lists, error::NoVerdict, input, lists, principal::principal, status::Status};

pub(crate) const HELP: &str = "\
Put this line into the configuration of a client in place of the server's own. Make the profile with 'seamgate mcp init':

  seamgate mcp init --reads allow -o files -- npx -y @modelcontextprotocol/server-filesystem /data
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
    /// The profile, which says which tools and methods exist, and who approves calls
    #[arg(short, long, value_name = "PROFILE", required = true)]
    profile: Option<PathBuf>,
    /// A folder for journals. Each session gets a separate folder in it. Default: a temporary folder, which is removed
    /// at the end
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// A servers file with several servers. Their tools are listed as SERVER__TOOL
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    servers: Option<PathBuf>,
    /// A list that the profile's 'scope' names: a file with one value per line
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse)]
    list: Vec<(String, PathBuf)>,
    /// The mode. Default: the first mode of the profile
    #[arg(long, value_name = "NAME")]
    mode: Option<String>,
    /// The person that the client works for. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Serve clients that use HTTP at this address of this machine, such as 127.0.0.1:7777. Each session gets separate
    /// servers
    #[arg(long, value_name = "ADDRESS", value_parser = seamgate_http::address)]
    listen: Option<SocketAddr>,
    /// The time that a server has to start and to list its tools, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    start_time: u64,
    /// The time that servers have to exit after the client has ended, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3600))]
    grace: u64,
    /// The environment variable with the token that clients must send. Default: a new token, which is printed once
    #[arg(long, value_name = "NAME", requires = "listen")]
    token_env: Option<String>,
    /// The command of the server and its arguments
    #[arg(last = true, value_name = "SERVER", required_unless_present = "servers")]
    server: Vec<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Ask a server for its tools, and write a profile to start from, with its lock file
    Init(init::Init),
    /// Compare a server's tools with those that a profile pins
    Check(check::Check),
    /// Allow a running gate to use an edited profile that may permit more
    Accept(accept::Accept),
    /// Log in to a server whose address is in a servers file
    Login(login::Login),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match &arguments.command {
        Some(Command::Init(init)) => init::init(init),
        Some(Command::Check(check)) => check::check(check),
        Some(Command::Accept(accept)) => accept::accept(accept),
        Some(Command::Login(login)) => login::login(login),
        None => serve(arguments),
    }
}

/// Requests a server's tools. If the server fails to start, the error names the variables that it does not get, and
/// `remedy` explains how to pass them on.
fn list(launch: &Launch, remedy: &str) -> Result<Listing> {
    launch.list().map_err(|error| {
        let withheld = launch.withheld().map(|names| {
            format!("\nhint: the server does not get all variables of this environment; if it needs some of these, {remedy}: {names}")
        });
        let name = if launch.name().is_empty() { String::new() } else { format!("the server {:?}: ", launch.name()) };
        NoVerdict(escape_terminal(&format!("{name}{}{}", error.report(), withheld.unwrap_or_default()))).into()
    })
}

fn serve(arguments: &Arguments) -> Result<Status> {
    let setting = setting(arguments)?;
    let signals = Signals::install()?;
    if let Some(address) = arguments.listen {
        let signal = http::serve(setting, address, arguments.token_env.as_deref(), &signals)?;
        return Ok(Status::of_signal(signal));
    }
    let mut folder = None;
    match stdio::serve(&setting, &signals, &mut folder)? {
        End::Client => Ok(Status::Accepted),
        End::Server(message) => {
            if let Some(folder) = folder {
                say(&format!("seamgate: what happened: seamgate trace {}", shell_word(&folder)));
            }
            Err(NoVerdict(escape_terminal(&message)).into())
        }
        End::Signal(signal) => Ok(Status::of_signal(signal)),
    }
}

fn setting(arguments: &Arguments) -> Result<Setting> {
    let Some(path) = &arguments.profile else { bail!("name a profile with -p") };
    let client = arguments.listen.is_none().then(|| input::standard("the client"));
    let servers = arguments.servers.as_deref().map(|file| ("--servers".to_owned(), file));
    let named = client.into_iter().chain([("-p".to_owned(), path.as_path())]).chain(servers);
    input::read_once(named.chain(input::of_lists(&arguments.list)))?;
    let text = read_profile(path)?;
    let servers = arguments.servers.as_deref().map_or(Reach::Command(&arguments.server), Reach::File);
    // The user who starts a client may have no name on this machine. Such a principal cannot approve anything.
    let principal = principal(arguments.principal.as_deref()).unwrap_or_else(|_| "nobody".to_owned());
    let mut setting = Setting::new(path, &text, servers, principal)?;
    setting.lists = read_lists(&arguments.list, setting.list_names())?;
    setting.mode.clone_from(&arguments.mode);
    setting.times = Times { start: arguments.start_time * 1000, grace: arguments.grace * 1000 };
    setting.journal.clone_from(&arguments.journal);
    Ok(setting)
}
