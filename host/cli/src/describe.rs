//! `seamgate describe`: what an agent's prompt should say about its output.

use std::{io::Write, path::PathBuf};

use anyhow::Result;

use crate::{
    gate,
    picture::safe,
    status::{Status, Unwritten},
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, or a baked component
    #[arg(short, long, value_name = "CONTRACT")]
    contract: PathBuf,
    /// Whose contract is meant, where -c has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = gate::open(&arguments.contract)?;
    let agent = gate::agent(arguments.agent.as_deref(), &gate, &arguments.contract)?;
    let text = gate.describe(&agent).map_err(gate::Told)?;
    write!(anstream::stdout().lock(), "{}", safe(&text)).map_err(Unwritten::from)?;
    Ok(Status::Accepted)
}
