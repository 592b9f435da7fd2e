//! `seamgate mcp check`: compares what servers list now with what a person has seen.

use std::path::{Path, PathBuf};

use anyhow::Result;
use seamgate::{Gate, read_profile};
use seamgate_mcp::{Differences, Document, Pins, lock_path};
use seamgate_runner::run_dir::Servers;
use seamgate_text::{count, escape_terminal, say};
use serde_json::value::RawValue;

use super::list;
use crate::{console::print, status::Status};

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The profile, with its lock file beside it
    #[arg(short, long, value_name = "PROFILE")]
    profile: PathBuf,
    /// Add the shown definitions to the lock file. The profile stays unchanged
    #[arg(long)]
    accept: bool,
    /// A servers file with several servers
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    servers: Option<PathBuf>,
    /// The command of the server and its arguments
    #[arg(last = true, required_unless_present = "servers", value_name = "SERVER")]
    server: Vec<String>,
}

pub(super) fn check(arguments: &Check) -> Result<Status> {
    let path = &arguments.profile;
    let text = read_profile(path)?;
    let (document, pins) = (Document::of(path, &text)?, Pins::of(path, &text)?);
    let launches = match &arguments.servers {
        Some(file) => document.launches(Servers::read(file)?, file)?,
        None => vec![document.launch(&arguments.server)?],
    };
    let mut listed = Vec::new();
    for launch in &launches {
        let listing = list(launch, "add them to 'environment' of the server in the profile")?;
        listed.push((launch.name().to_owned(), listing.tools));
    }
    let found = differences(&pins, &listed);
    if !found.lines.is_empty() {
        print(&found.lines.join("\n"))?;
    }
    let left = match arguments.accept {
        true => accept(path, &pins, &listed, &found)?,
        false => None,
    };
    let is_same = left.as_ref().unwrap_or(&found).lines.is_empty();
    match found.lines.is_empty() {
        true => {
            let total = count(listed.iter().map(|(_, tools)| tools.len()).sum(), "tool");
            print(&format!("{}: {total}, as the profile pins them", path.display()))?;
        }
        false => hints(arguments, &found),
    }
    Ok(if is_same { Status::Accepted } else { Status::Rejected })
}

/// Adds the differences to the lock file, and returns those that this does not resolve. `None` if nothing changed.
fn accept(path: &Path, pins: &Pins, listed: &[Listed], found: &Differences) -> Result<Option<Differences>> {
    if !pins.accept(listed, &Gate::new()?)? {
        return Ok(None);
    }
    let lock = lock_path(path).unwrap_or_default();
    say(&format!("seamgate: {}: took the definitions as they are now", escape_terminal(&lock.display().to_string())));
    let left = differences(&read(path)?, listed);
    let is_other = !left.lines.is_empty() && left.lines != found.lines;
    if is_other {
        say(&format!("seamgate: what remains:\n{}", left.lines.join("\n")));
    }
    Ok(Some(left))
}

/// Prints what a person can do about the differences.
fn hints(arguments: &Check, found: &Differences) {
    if !found.entries.is_empty() {
        say(&format!(
            "hint: clients do not see a new tool until the profile names it; add it to 'tools':\n  {}",
            found.entries.join(",\n  ")
        ));
    }
    if found.acceptable > 0 && !arguments.accept {
        say(
            "hint: if the differences are right, run this command again with --accept: it takes them into the lock file",
        );
    }
}

/// The tools of a server, by its name in the profile.
type Listed = (String, Vec<Box<RawValue>>);

fn read(path: &Path) -> Result<Pins> {
    Ok(Pins::of(path, &read_profile(path)?)?)
}

/// Describes the differences of all servers.
fn differences(pins: &Pins, listed: &[Listed]) -> Differences {
    let mut all = Differences::default();
    for (server, tools) in listed {
        let Differences { lines, entries, acceptable } = pins.differences(server, tools);
        all.lines.extend(lines);
        all.entries.extend(entries);
        all.acceptable += acceptable;
    }
    all
}
