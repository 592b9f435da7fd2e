//! `seamgate lint`: finds likely mistakes in contracts and profiles.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Result;
use seamgate::{FileError, Gate, read_contract, read_profile};

use crate::{
    console::{count, held},
    contracts::{is_profile, of_folder},
    error::{FaultError, Unwritten},
    safe::safe,
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Contracts, profiles (NAME.profile.json), or folders of them
    #[arg(required = true, value_name = "CONTRACT")]
    paths: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let gate = Gate::new()?;
    let mut out = anstream::stdout().lock();
    let ([mut contracts, mut profiles], mut warnings, mut errors) = ([0, 0], 0, 0);
    for path in &arguments.paths {
        for (path, kind, text) in read(path)? {
            let name = path.display().to_string();
            let found = match kind {
                Kind::Contract => {
                    contracts += 1;
                    gate.lint(&text)
                }
                Kind::Profile => {
                    profiles += 1;
                    gate.lint_profile(&text)
                }
            };
            let lines: Vec<String> = match found {
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
    let read = held(contracts, profiles);
    let (errors_told, warned) = (count(errors, "error"), count(warnings, "warning"));
    writeln!(out, "{read}, {errors_told}, {warned}").map_err(Unwritten::from)?;
    Ok(if errors > 0 { Status::Usage } else { Status::Accepted })
}

/// What a file holds, by its name.
#[derive(Clone, Copy)]
enum Kind {
    Contract,
    Profile,
}

fn read(path: &Path) -> Result<Vec<(PathBuf, Kind, String)>, FileError> {
    let of = |kind| move |(path, text)| (path, kind, text);
    if path.is_dir() {
        let (contracts, profiles) = of_folder(path)?;
        let profiles = profiles.into_iter().map(of(Kind::Profile));
        return Ok(contracts.into_iter().map(of(Kind::Contract)).chain(profiles).collect());
    }
    let (kind, text) = match is_profile(path) {
        true => (Kind::Profile, read_profile(path)?),
        false => (Kind::Contract, read_contract(path)?),
    };
    Ok(vec![(path.to_owned(), kind, text)])
}
