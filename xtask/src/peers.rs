//! Verdicts beside those of programs of others: `cargo xtask peers NAME`, each peer being a function here.

use std::{
    fs::{self, File},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    install::has_node,
    run::{cargo, command, run, say},
};

/// What is made for a comparison goes here, in a folder for each peer.
const FOLDER: &str = "target/peers";

/// The peers by their names, and how each is asked.
type Peer = (&'static str, fn(&[String]) -> Result<()>);
const PEERS: [Peer; 1] = [("patterns", patterns)];

pub(crate) fn peers(arguments: &[String]) -> Result<()> {
    let names = || PEERS.map(|(name, _)| name).join(", ");
    let Some((name, rest)) = arguments.split_first() else {
        bail!("peers: say which; there is {}", names());
    };
    match PEERS.iter().find(|(known, _)| known == name) {
        Some((_, peer)) => peer(rest),
        None => bail!("peers: there is none by the name '{name}'; there is {}", names()),
    }
}

/// Patterns beside V8's: so many pairs made at random from a seed, or those of a file; or the table that plain tests hold,
/// which is written anew.
fn patterns(arguments: &[String]) -> Result<()> {
    if !has_node() {
        bail!("peers: V8 is asked through Node, and there is no `node`");
    }
    cargo(["build", "--release", "--locked", "--package", "seamgate-tests", "--example", "patterns"])?;
    let first = arguments.first().map_or("100000", String::as_str);
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
