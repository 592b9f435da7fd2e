//! `seamgate serve`: a page and metrics of a folder of runs.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Result;
use seamgate_runner::process::Signals;

use crate::status::Status;

pub(crate) const HELP: &str = "\
The page shows the runs and the calls that wait for approval. A person decides with a key that the browser makes and keeps:

  seamgate serve --runs runs

Prometheus reads http://ADDRESS/metrics, with the token as its credentials:

  seamgate serve --runs runs --listen 127.0.0.1:7778 --token-env SEAMGATE_TOKEN

Exit status: 2 usage error, 5 the address is taken, 128 + N ended by the signal N";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of 'seamgate mcp --journal', or the folder of a run
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// The address of this machine to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7778", value_parser = seamgate_http::address)]
    listen: SocketAddr,
    /// The environment variable with the token that clients must send. Default: a new one, which is told once
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let signals = Signals::install()?;
    let signal = seamgate_serve::serve(&arguments.runs, arguments.listen, arguments.token_env.as_deref(), &signals)?;
    Ok(Status::of_signal(signal))
}
