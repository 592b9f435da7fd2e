//! `seamgate inspect`: lists the contents of a component.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
};

use anyhow::Result;
use seamgate::{ContractInfo, Gate, Inspection, ProfileInfo};
use seamgate_text::escape_terminal;

use crate::{
    contracts,
    error::{FaultError, Unwritten},
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON, even on a terminal
    #[arg(long)]
    json: bool,
    /// The component [default: the built-in one]
    file: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = match &arguments.file {
        Some(path) => contracts::component(path)?,
        None => Gate::new()?,
    };
    let inspection = gate.inspect().map_err(FaultError)?;
    let mut out = anstream::stdout().lock();
    let text = if arguments.json || !std::io::stdout().is_terminal() {
        serde_json::to_string(&inspection)?
    } else {
        escape_terminal(&text(&inspection))
    };
    writeln!(out, "{text}").map_err(Unwritten::from)?;
    Ok(Status::Accepted)
}

fn text(inspection: &Inspection) -> String {
    let none = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let agent = |info: &ContractInfo| {
        let lists = if info.lists.is_empty() { String::new() } else { format!(", lists {}", info.lists.join(", ")) };
        format!("{} {} ({}{lists})", info.agent, info.version, info.contract)
    };
    let agents: Vec<String> = inspection.agents.iter().map(agent).collect();
    let profile = |info: &ProfileInfo| format!("{} {} ({})", info.agent, info.version, info.profile);
    let profiles: Vec<String> = inspection.profiles.iter().map(profile).collect();
    format!(
        "agents   {}\nprofiles {}\nimports  {}\nexports  {}\nbytes    {}\ndigest   {}\nsealed   {}",
        none(&agents),
        none(&profiles),
        none(&inspection.imports),
        none(&inspection.exports),
        inspection.bytes,
        inspection.digest,
        if inspection.sealed { "yes" } else { "no" },
    )
}
