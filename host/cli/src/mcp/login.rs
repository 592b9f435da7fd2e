//! `seamgate mcp login`: lets a person log in to a server at an address.

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, bail};
use seamgate_runner::{
    mcp::Login as Waiting,
    run_dir::{Server, Servers},
};
use seamgate_text::{escape_terminal, say};

use crate::{console::print, error::NoVerdict, status::Status};

#[derive(clap::Args)]
pub(crate) struct Login {
    /// The servers file
    #[arg(long, value_name = "FILE")]
    servers: PathBuf,
    /// Only print the address, and open no browser
    #[arg(long)]
    no_browser: bool,
    /// The time to wait for the browser
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// The server, by its name in the file
    #[arg(value_name = "NAME")]
    name: String,
}

pub(super) fn login(arguments: &Login) -> Result<Status> {
    let file = arguments.servers.display();
    let servers = Servers::read(&arguments.servers)?;
    let endpoint = match servers.all.get(&arguments.name) {
        Some(Server::Address(endpoint)) => endpoint,
        Some(_) => bail!(
            "--servers {file}: the server {:?} has no \"url\": only servers by an address have a login",
            arguments.name
        ),
        None => {
            let known: Vec<&str> = servers.all.keys().map(String::as_str).collect();
            bail!("--servers {file}: there is no server {:?}; known servers: {}", arguments.name, known.join(", "));
        }
    };
    if endpoint.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
        bail!(
            "--servers {file}: the server {:?} has the header \"Authorization\": remove it, or use it without a login",
            arguments.name
        );
    }
    let Some(waiting) = Waiting::begin(endpoint).map_err(NoVerdict)? else {
        print(&format!("{}: it takes requests without a login", escape_terminal(&endpoint.url)))?;
        return Ok(Status::Accepted);
    };
    let address = escape_terminal(waiting.address());
    say(&format!("seamgate: open this address in a browser on this machine:\n\n  {address}\n"));
    if !arguments.no_browser
        && let Err(error) = open::that_detached(waiting.address())
    {
        say(&format!("seamgate: no browser can be opened: {error}"));
    }
    let outcome = waiting.wait(Duration::from_secs(arguments.timeout), || false);
    let Some(done) = outcome.map_err(NoVerdict)? else {
        return Err(NoVerdict(format!("nobody came back from the browser within {} s", arguments.timeout)).into());
    };
    let scope = done.scope.map(|scope| format!("\nscopes: {}", escape_terminal(&scope))).unwrap_or_default();
    let lasting =
        if done.is_lasting { "" } else { "\nThe server gave no refresh token: log in again when it expires." };
    print(&format!(
        "Logged in to {} at {}.{scope}{lasting}\nThe tokens are in {}",
        escape_terminal(&endpoint.url),
        escape_terminal(&done.issuer),
        done.path.display()
    ))?;
    Ok(Status::Accepted)
}
