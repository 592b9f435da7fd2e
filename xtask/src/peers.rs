//! Compares verdicts and matches with those of other programs, the peers. Each peer is a function here.

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

/// The folder where peers are installed, and where inputs and answers are written.
const FOLDER: &str = "target/peers";

/// The files that pin the peers, and the programs that run them.
const SOURCES: &str = "tests/peers";

/// The number of pairs of patterns and texts for V8.
const PATTERNS: &str = "100000";

/// The number of schemas for each validator. Each has four documents.
const SCHEMAS: &str = "6000";

/// The peers by name.
type Peer = (&'static str, fn(&[String]) -> Result<()>);
const PEERS: [Peer; 4] = [("patterns", patterns), ("hyperjump", hyperjump), ("ajv", ajv), ("jsonschema", jsonschema)];

pub(crate) fn names() -> [&'static str; PEERS.len()] {
    PEERS.map(|(name, _)| name)
}

/// Compares with the named peer, or with all of them.
pub(crate) fn peers(named: Option<&str>, arguments: &[String]) -> Result<()> {
    let chosen = PEERS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, peer)| peer(arguments))
}

/// Compares patterns with V8: random pairs from a seed, or those in a file. With `table`, rewrites the table that the
/// tests use.
fn patterns(arguments: &[String]) -> Result<()> {
    ensure!(has_node(), "V8 runs in Node; install node with npm");
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

/// Compares with Hyperjump's validator, on schemas that consist mostly of references.
fn hyperjump(arguments: &[String]) -> Result<()> {
    by_node("hyperjump", arguments)
}

/// Compares with Ajv, on all keywords.
fn ajv(arguments: &[String]) -> Result<()> {
    by_node("ajv", arguments)
}

/// Compares with Python's `jsonschema`, on all keywords.
fn jsonschema(arguments: &[String]) -> Result<()> {
    ensure!(has_python(), "jsonschema needs python3 with its module venv; install it");
    let folder = Path::new(FOLDER).join("python");
    let sources = Path::new(SOURCES).join("python");
    let what = "installing Python's jsonschema";
    environment("python3", &folder, &sources.join("requirements.txt"), &[], what)?;
    compare("jsonschema", arguments, &folder.join("bin/python"), &root().join(sources).join("jsonschema_peer.py"))
}

fn by_node(name: &str, arguments: &[String]) -> Result<()> {
    ensure!(has_node(), "{name} runs in Node; install node with npm");
    let folder = Path::new(FOLDER).join("node");
    let sources = Path::new(SOURCES).join("node");
    packages(&folder, &sources, "installing Ajv and Hyperjump")?;
    // Placed beside the packages, where Node finds it.
    let program = folder.join(name).with_extension("mjs");
    fs::copy(sources.join(name).with_extension("mjs"), &program)?;
    compare(name, arguments, Path::new("node"), &program)
}

fn compare(name: &str, arguments: &[String], program: &Path, script: &Path) -> Result<()> {
    let count = arguments.first().map_or(SCHEMAS, String::as_str);
    cargo(["build", "--release", "--locked", "--package", "seamgate-tests", "--example", "peers"])?;
    run(command("target/release/examples/peers").args([name, count]).arg(program).arg(script))
}
