//! `seamgate bake`: a component with contracts inside.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use seamgate::{BakeError, Component, Gate, Limits, Options, read_contracts};

use crate::{
    gate::Told,
    journal::create_anew,
    status::{Status, say},
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders whose contracts go in, files named NAME.contract.json
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
        say(&format!("baking {}: this takes some seconds", count(contracts.len())));
    }
    let baked = match Component::builtin().bake(&contracts, &Limits::default()) {
        Ok(baked) => baked,
        Err(BakeError::Contract { index, fault }) => {
            let path = paths.get(index).map(|path| path.display().to_string()).unwrap_or_default();
            return Err(Told(fault)).context(path);
        }
        Err(error) => return Err(error.into()),
    };
    // Its code is kept for whoever uses it here next; and it is seen to answer before it is written.
    let gate = Gate::with(Options { component: baked.clone(), ..Options::default() })?;
    let inspection = gate.inspect().map_err(Told)?;
    write(&arguments.output, baked.as_bytes()).with_context(|| arguments.output.display().to_string())?;
    let agents: Vec<&str> = inspection.agents.iter().map(|info| info.agent.as_str()).collect();
    let name = arguments.output.display().to_string();
    say(&format!(
        "{}: {} bytes, {} ({})",
        crate::picture::safe(&name),
        inspection.bytes,
        count(agents.len()),
        crate::picture::safe(&agents.join(", ")),
    ));
    Ok(Status::Accepted)
}

fn count(contracts: usize) -> String {
    if contracts == 1 { "one contract".to_owned() } else { format!("{contracts} contracts") }
}

/// Write a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    // A link that somebody has put there is not followed.
    let written = create_anew(fs::File::options().write(true), Path::new(&part)).and_then(|mut file| {
        file.write_all(bytes)?;
        fs::rename(&part, path)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}
