//! `seamgate describe`: prints the part of an agent's prompt that describes its output.

use std::{io::Write, path::PathBuf};

use anyhow::Result;

use crate::{
    contracts,
    error::{FaultError, Unwritten},
    safe::safe,
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, or a baked component
    #[arg(short, long, value_name = "CONTRACT")]
    contract: PathBuf,
    /// The agent whose output to describe, if -c has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = contracts::open(&arguments.contract)?;
    let agent = contracts::agent(arguments.agent.as_deref(), &gate, &arguments.contract)?;
    let text = gate.describe(&agent).map_err(FaultError)?;
    write!(anstream::stdout().lock(), "{}", safe(&text)).map_err(Unwritten::from)?;
    Ok(Status::Accepted)
}
