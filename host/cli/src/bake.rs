//! `seamgate bake`: makes a component with contracts inside.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use seamgate::{BakeError, Component, Gate, Limits, Options, read_contracts};

use crate::{
    console::{count, say},
    error::FaultError,
    private::create_anew,
    safe::safe,
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders of contracts: files named NAME.contract.json
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The component to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let mut paths = Vec::new();
    let mut contracts = Vec::new();
    for folder in &arguments.folders {
        for (path, contract) in read_contracts(folder)? {
            paths.push(path);
            contracts.push(contract);
        }
    }
    if io::stderr().is_terminal() {
        say(&format!("baking {}: this takes some seconds", count(contracts.len(), "contract")));
    }
    let baked = match Component::builtin().bake(&contracts, &Limits::default()) {
        Ok(baked) => baked,
        Err(BakeError::Contract { index, fault, .. }) => {
            let path = paths.get(index).map(|path| path.display().to_string()).unwrap_or_default();
            return Err(FaultError(fault)).context(path);
        }
        Err(error) => return Err(error.into()),
    };
    // This checks that it answers before it is written, and keeps its code for the next start.
    let gate = Gate::with(Options::default().component(baked.clone()))?;
    let inspection = gate.inspect().map_err(FaultError)?;
    write(&arguments.output, baked.as_bytes())
        .with_context(|| format!("cannot write {}", arguments.output.display()))?;
    let agents: Vec<&str> = inspection.agents.iter().map(|info| info.agent.as_str()).collect();
    let name = arguments.output.display().to_string();
    say(&format!(
        "{}: {} bytes, {} ({})",
        safe(&name),
        inspection.bytes,
        count(agents.len(), "contract"),
        safe(&agents.join(", ")),
    ));
    Ok(Status::Accepted)
}

/// Write the whole file or nothing.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    // This does not follow a link of that name.
    let written = create_anew(fs::File::options().write(true), Path::new(&part)).and_then(|mut file| {
        file.write_all(bytes)?;
        fs::rename(&part, path)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}
