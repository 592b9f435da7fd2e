//! `seamgate serve`: serves a page and metrics about a folder of runs.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Result;
use seamgate_runner::process::Signals;
use seamgate_serve::Outbound;

use crate::status::Status;

pub(crate) const HELP: &str = "\
The page shows the runs and the calls that wait for approval. A person decides with a key that the browser makes and keeps:

  seamgate serve --runs runs

Prometheus reads http://ADDRESS/metrics, with the token as its credentials:

  seamgate serve --runs runs --listen 127.0.0.1:7778 --token-env SEAMGATE_TOKEN

A collector gets metrics and the traces of runs that end, and a webhook gets notices of calls that wait:

  seamgate serve --runs runs --otlp http://127.0.0.1:4318 --webhook https://chat.example.com/hooks/approvals

Exit status: 2 usage error, 5 the address is taken, 128 + N ended by the signal N";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of 'seamgate mcp --journal', or the folder of a run
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// The address of this machine to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7778", value_parser = seamgate_http::address)]
    listen: SocketAddr,
    /// The environment variable with the token that clients must send. Default: a new token, which is printed once
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
    /// Push metrics, and the traces of ended runs, to this collector, as OTLP over HTTP
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Send a signed notice of each waiting call to this address
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// The environment variable with the secret of --webhook
    #[arg(long, value_name = "NAME", default_value = "SEAMGATE_WEBHOOK_SECRET", requires = "webhook")]
    webhook_secret_env: String,
    /// The address of the page in notices, as people reach it. Default: the address that the server listens on
    #[arg(long, value_name = "URL", requires = "webhook")]
    page_url: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let signals = Signals::install()?;
    let outbound = Outbound {
        otlp: arguments.otlp.clone(),
        webhook: arguments.webhook.clone(),
        webhook_secret_env: arguments.webhook_secret_env.clone(),
        page_url: arguments.page_url.clone(),
    };
    let Arguments { runs, listen, token_env, .. } = arguments;
    let signal = seamgate_serve::serve(runs, *listen, token_env.as_deref(), &outbound, &signals)?;
    Ok(Status::of_signal(signal))
}
