//! The benchmark: what it needs beside Rust is installed into `target/bench`, pinned by version and digest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    install::{done, environment, installed, remove},
    run::{cargo, command, output, run, say},
    source::schemastore,
};

/// Everything that is installed goes here.
const FOLDER: &str = "target/bench";

/// What is installed, as versions and digests.
const PINNED: &str = "tests/bench";

pub(crate) fn bench() -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    schemastore()?;
    install_python()?;
    install_node()?;
    // Built together with everything else, for the reason that `guest::build` gives.
    cargo(["build", "--release", "--locked", "--bins", "--examples"])?;
    cargo(["bench", "--locked", "--bench", "engines"])
}

/// Python's validators.
fn install_python() -> Result<()> {
    let python = Path::new(FOLDER).join("python");
    let requirements = Path::new(PINNED).join("python/requirements.txt");
    if output(command("python3").args(["-m", "venv", "--help"])).is_none() {
        say("there is no python3 with its module venv: Python's validators are skipped");
        return remove(&python);
    }
    environment("python3", &python, &requirements, &[], "Python's validators are compared with: installing them")
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if ["node", "npm"].iter().any(|program| output(command(program).arg("--version")).is_none()) {
        say("there is no node with npm: Ajv is skipped");
        return remove(&node);
    }
    let pinned = ["package.json", "package-lock.json"].map(|name| Path::new(PINNED).join("node").join(name));
    let pinned: Vec<&Path> = pinned.iter().map(PathBuf::as_path).collect();
    if !installed(&node, &pinned)? {
        say(&format!("Ajv is compared with: installing it into {}", node.display()));
        fs::create_dir_all(&node)?;
        for path in &pinned {
            fs::copy(path, node.join(path.file_name().context("a file")?))?;
        }
        run(command("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&node))?;
        done(&node, &pinned)?;
    }
    Ok(())
}
