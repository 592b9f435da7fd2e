//! `seamgate lint`: finds likely mistakes in contracts.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Result;
use seamgate::{ContractError, Gate, read_contract, read_contracts};

use crate::{
    console::count,
    error::{FaultError, Unwritten},
    safe::safe,
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Contracts, or folders of them
    #[arg(required = true, value_name = "CONTRACT")]
    paths: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = Gate::new()?;
    let mut out = anstream::stdout().lock();
    let (mut contracts, mut warnings, mut errors) = (0, 0, 0);
    for path in &arguments.paths {
        for (path, contract) in read(path)? {
            contracts += 1;
            let name = path.display().to_string();
            let lines: Vec<String> = match gate.lint(&contract) {
                Ok(found) => {
                    warnings += found.len();
                    found
                        .into_iter()
                        .map(|warning| format!("warning[{}]: {} {}", warning.code, warning.path, warning.message))
                        .collect()
                }
                Err(fault) => {
                    errors += 1;
                    vec![format!("error[{}]: {}", fault.code(), FaultError(fault))]
                }
            };
            for line in lines {
                writeln!(out, "{}: {}", safe(&name), safe(&line)).map_err(Unwritten::from)?;
            }
        }
    }
    let (contracts, warned) = (count(contracts, "contract"), count(warnings, "warning"));
    writeln!(out, "{contracts}, {}, {warned}", count(errors, "error")).map_err(Unwritten::from)?;
    Ok(if errors > 0 { Status::Usage } else { Status::Accepted })
}

fn read(path: &Path) -> Result<Vec<(PathBuf, String)>, ContractError> {
    if path.is_dir() {
        return read_contracts(path);
    }
    read_contract(path).map(|contract| vec![(path.to_owned(), contract)])
}
