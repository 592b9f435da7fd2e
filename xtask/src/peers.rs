//! Verdicts beside those of other validators: each is installed, pinned by version and digest, and asked what
//! `tests/peers/main.rs` makes.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::{
    install::{environment, has_node, has_python, packages},
    run::{cargo, command, root, run},
};

/// Everything that is installed goes here.
const FOLDER: &str = "target/peers";

/// What is installed, as versions and digests, and the programs that ask it.
const SOURCES: &str = "tests/peers";

/// Schemas for each peer, each with four documents.
const SCHEMAS: &str = "6000";

/// Compares on so many schemas.
type Compare = fn(&str) -> Result<()>;

const PEERS: [(&str, Compare); 3] = [("hyperjump", hyperjump), ("ajv", ajv), ("jsonschema", jsonschema)];

/// `[NAME] [SCHEMAS]`: all peers, unless one is named.
pub(crate) fn peers(rest: &[String]) -> Result<()> {
    let is_count = |text: &&String| text.trim_start_matches('=').parse::<u64>().is_ok();
    let count = rest.iter().find(is_count).map_or(SCHEMAS, String::as_str);
    let named: Vec<&str> = rest.iter().filter(|text| !is_count(text)).map(String::as_str).collect();
    if let Some(unknown) = named.iter().find(|name| PEERS.iter().all(|(peer, _)| peer != *name)) {
        bail!("there is no peer '{unknown}'; there are {}", PEERS.map(|(peer, _)| peer).join(", "));
    }
    let mut chosen = PEERS.into_iter().filter(|(peer, _)| named.is_empty() || named.contains(peer));
    chosen.try_for_each(|(_, peer)| peer(count))
}

/// Hyperjump's validator, on schemas that are mostly references.
fn hyperjump(count: &str) -> Result<()> {
    by_node("hyperjump", count)
}

/// Ajv, on all keywords.
fn ajv(count: &str) -> Result<()> {
    by_node("ajv", count)
}

/// Python's `jsonschema`, on all keywords.
fn jsonschema(count: &str) -> Result<()> {
    ensure!(has_python(), "jsonschema is Python's; install python3 with its module venv");
    let folder = Path::new(FOLDER).join("python");
    let sources = Path::new(SOURCES).join("python");
    let what = "verdicts are held to Python's jsonschema: installing it";
    environment("python3", &folder, &sources.join("requirements.txt"), &[], what)?;
    compare("jsonschema", count, &folder.join("bin/python"), &root().join(sources).join("jsonschema_peer.py"))
}

fn by_node(name: &str, count: &str) -> Result<()> {
    ensure!(has_node(), "{name} runs in Node; install node with npm");
    let folder = Path::new(FOLDER).join("node");
    let sources = Path::new(SOURCES).join("node");
    packages(&folder, &sources, "verdicts are held to Ajv and Hyperjump: installing them")?;
    // Beside what is installed, where Node looks for it.
    let program = folder.join(name).with_extension("mjs");
    std::fs::copy(sources.join(name).with_extension("mjs"), &program)?;
    compare(name, count, Path::new("node"), &program)
}

fn compare(name: &str, count: &str, program: &Path, script: &Path) -> Result<()> {
    cargo(["build", "--release", "--locked", "--package", "seamgate-tests", "--example", "peers"])?;
    run(command("target/release/examples/peers").args([name, count]).arg(program).arg(script))
}
