//! `seamgate describe`: prints the part of an agent's prompt that describes its output.

use std::{io::Write, path::PathBuf};

use anyhow::Result;
use seamgate::{Gate, read_profile};
use seamgate_text::escape_terminal;

use crate::{
    contracts,
    error::{FaultError, Unwritten, unusable_profile},
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, a folder of contracts, a baked component, or a profile (NAME.profile.json)
    #[arg(short, long, value_name = "CONTRACT")]
    contract: PathBuf,
    /// The agent whose output to describe, if -c has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print the digest of a profile. `delegate` in another profile refers to it
    #[arg(long)]
    digest: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    if contracts::is_profile(&arguments.contract) {
        let mut gate = Gate::new()?;
        let path = &arguments.contract;
        let info = gate.register_profile(&read_profile(path)?).map_err(|fault| unusable_profile(fault, path))?;
        let text = match arguments.digest {
            true => format!("{}\n", info.profile),
            false => gate.describe_profile(&info.agent).map_err(FaultError)?,
        };
        return print(&text);
    }
    anyhow::ensure!(
        !arguments.digest,
        "--digest: {} must be a profile, NAME.profile.json",
        arguments.contract.display()
    );
    let gate = contracts::open(&arguments.contract)?;
    let agent = contracts::agent(arguments.agent.as_deref(), &gate, &arguments.contract)?;
    let text = gate.describe(&agent).map_err(FaultError)?;
    print(&text)
}

fn print(text: &str) -> Result<Status> {
    write!(anstream::stdout().lock(), "{}", escape_terminal(text)).map_err(Unwritten::from)?;
    Ok(Status::Accepted)
}
