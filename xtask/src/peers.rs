//! Verdicts beside those of programs of others: `cargo xtask peers NAME`, each peer being a function here.

use std::{
    fs::{self, File},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    install::{environment, has_node, has_python, packages},
    run::{cargo, command, root, run, say},
};

/// What is made for a comparison, and what is installed for it, goes here.
const FOLDER: &str = "target/peers";

/// What is installed, as versions and digests, and the programs that ask it.
const SOURCES: &str = "tests/peers";

/// Pairs of patterns and texts for V8.
const PATTERNS: &str = "100000";

/// Schemas for each of the other validators, each with four documents.
const SCHEMAS: &str = "6000";

/// The peers by their names, and how each is asked.
type Peer = (&'static str, fn(&[String]) -> Result<()>);
const PEERS: [Peer; 4] = [("patterns", patterns), ("hyperjump", hyperjump), ("ajv", ajv), ("jsonschema", jsonschema)];

pub(crate) fn names() -> [&'static str; PEERS.len()] {
    PEERS.map(|(name, _)| name)
}

/// Compare with the peer named, or with all of them.
pub(crate) fn peers(named: Option<&str>, arguments: &[String]) -> Result<()> {
    let chosen = PEERS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, peer)| peer(arguments))
}

/// Patterns beside V8's: so many pairs made at random from a seed, or those of a file; or the table that plain tests hold,
/// which is written anew.
fn patterns(arguments: &[String]) -> Result<()> {
    ensure!(has_node(), "V8 is asked through Node; install node with npm");
    cargo(["build", "--release", "--locked", "--package", "seamgate-tests", "--example", "patterns"])?;
    let first = arguments.first().map_or(PATTERNS, String::as_str);
    let folder = match first {
        "table" => Path::new("tests/patterns").to_owned(),
        _ => Path::new(FOLDER).join("patterns"),
    };
    fs::create_dir_all(&folder)?;
    let [made, answers] = ["made.ndjson", "v8.ndjson"].map(|name| folder.join(name));
    let example = || command("target/release/examples/patterns");
    match first.parse::<usize>() {
        _ if first == "table" => to_file(example().arg("table"), &made)?,
        Ok(_) => {
            let seed = arguments.get(1).map_or("1", String::as_str);
            to_file(example().args(["make", first, seed]), &made)?;
        }
        Err(_) => to_file(example().args(["read", first]), &made)?,
    }
    say("asking V8");
    run(command("node").arg("tests/patterns/v8.mjs").args([&made, &answers]))?;
    run(example().arg("compare").args([&made, &answers]))
}

fn to_file(command: &mut Command, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    run(command.stdout(file))
}

/// Hyperjump's validator, on schemas that are mostly references.
fn hyperjump(arguments: &[String]) -> Result<()> {
    by_node("hyperjump", arguments)
}

/// Ajv, on all keywords.
fn ajv(arguments: &[String]) -> Result<()> {
    by_node("ajv", arguments)
}

/// Python's `jsonschema`, on all keywords.
fn jsonschema(arguments: &[String]) -> Result<()> {
    ensure!(has_python(), "jsonschema is Python's; install python3 with its module venv");
    let folder = Path::new(FOLDER).join("python");
    let sources = Path::new(SOURCES).join("python");
    let what = "verdicts are held to Python's jsonschema: installing it";
    environment("python3", &folder, &sources.join("requirements.txt"), &[], what)?;
    compare("jsonschema", arguments, &folder.join("bin/python"), &root().join(sources).join("jsonschema_peer.py"))
}

fn by_node(name: &str, arguments: &[String]) -> Result<()> {
    ensure!(has_node(), "{name} runs in Node; install node with npm");
    let folder = Path::new(FOLDER).join("node");
    let sources = Path::new(SOURCES).join("node");
    packages(&folder, &sources, "verdicts are held to Ajv and Hyperjump: installing them")?;
    // Beside what is installed, where Node looks for it.
    let program = folder.join(name).with_extension("mjs");
    fs::copy(sources.join(name).with_extension("mjs"), &program)?;
    compare(name, arguments, Path::new("node"), &program)
}

fn compare(name: &str, arguments: &[String], program: &Path, script: &Path) -> Result<()> {
    let count = arguments.first().map_or(SCHEMAS, String::as_str);
    cargo(["build", "--release", "--locked", "--package", "seamgate-tests", "--example", "peers"])?;
    run(command("target/release/examples/peers").args([name, count]).arg(program).arg(script))
}
