//! `seamgate bake`: creates a component with contracts inside.

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use anyhow::{Context, Result};
use seamgate::{BakeError, Component, ContractSource, Gate, Limits, Options};
use seamgate_text::{escape_terminal, say};

use crate::{
    console::held,
    contracts::{of_folder, read_component},
    error::{FaultError, unusable, unusable_profile},
    status::Status,
    whole_file,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders of contracts and profiles: files named NAME.contract.json or NAME.profile.json
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The component to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Bake into this component [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let (mut contract_paths, mut contracts) = (Vec::new(), Vec::new());
    let (mut profile_paths, mut profiles) = (Vec::new(), Vec::new());
    for folder in &arguments.folders {
        let found = of_folder(folder)?;
        for (path, contract) in found.0 {
            contract_paths.push(path);
            contracts.push(contract);
        }
        for (path, profile) in found.1 {
            profile_paths.push(path);
            profiles.push(profile);
        }
    }
    if io::stderr().is_terminal() {
        say(&format!("baking {}: this takes some seconds", held(contracts.len(), profiles.len())));
    }
    let component = match &arguments.component {
        Some(path) => read_component(path)?,
        None => Component::builtin(),
    };
    let baked = match component.bake_with(&contracts, &profiles, &Limits::default()) {
        Ok(baked) => baked,
        Err(BakeError::Contract { index, fault, .. }) => {
            let path = contract_paths.get(index).context("the component names a contract that it was not given")?;
            return Err(unusable(fault, &ContractSource::read(path)?, path));
        }
        Err(BakeError::Profile { index, fault, .. }) => {
            let path = profile_paths.get(index).context("the component names a profile that it was not given")?;
            return Err(unusable_profile(fault, path));
        }
        Err(error) => return Err(error.into()),
    };
    // Creating a gate checks that the component works before it is written, and caches its code for the next start.
    let gate = Gate::with(Options::default().component(baked.clone()))?;
    let inspection = gate.inspect().map_err(FaultError)?;
    whole_file::write(&arguments.output, baked.as_bytes())
        .with_context(|| format!("cannot write {}", arguments.output.display()))?;
    let mut agents: Vec<&str> = inspection.agents.iter().map(|info| info.agent.as_str()).collect();
    let of_profiles = inspection.profiles.iter().map(|info| info.agent.as_str());
    agents.extend(of_profiles.filter(|agent| !inspection.agents.iter().any(|info| info.agent == *agent)));
    let name = arguments.output.display().to_string();
    say(&format!(
        "{}: {} bytes, {} ({})",
        escape_terminal(&name),
        inspection.bytes,
        held(inspection.agents.len(), inspection.profiles.len()),
        escape_terminal(&agents.join(", ")),
    ));
    Ok(Status::Accepted)
}
