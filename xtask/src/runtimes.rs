//! Other runtimes than the host's: installed into `target/runtimes`, pinned by version and digest, and asked the cases.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    install::{done, environment, installed, remove},
    run::{cargo, command, output, run, say},
};

/// Everything that is installed or written goes here.
const FOLDER: &str = "target/runtimes";

/// What is installed, as versions and digests, and what asks it.
const PINNED: &str = "tests/runtimes";

pub(crate) fn runtimes() -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    install_python()?;
    install_node()?;
    cargo(["build", "--release", "--locked", "--bins", "--examples"])?;
    run(&mut command("target/release/examples/runtimes"))
}

fn install_python() -> Result<()> {
    let python = Path::new(FOLDER).join("python");
    if output(command("python3").args(["-m", "venv", "--help"])).is_none() {
        say("there is no python3 with its module venv: Wasmtime for Python is skipped, and nothing said of it");
        return remove(&python);
    }
    let requirements = Path::new(PINNED).join("requirements.txt");
    let why = "the cases are asked through Wasmtime for Python too: installing it";
    environment("python3", &python, &requirements, &["--only-binary", ":all:"], why)
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if ["node", "npm"].iter().any(|program| output(command(program).arg("--version")).is_none()) {
        say("there is no node with npm: jco is skipped, and nothing said of it");
        return remove(&node);
    }
    let pinned = ["package.json", "package-lock.json"].map(|name| Path::new(PINNED).join(name));
    let pinned: Vec<&Path> = pinned.iter().map(PathBuf::as_path).collect();
    if !installed(&node, &pinned)? {
        say(&format!("the cases are asked through jco in Node too: installing it into {}", node.display()));
        fs::create_dir_all(&node)?;
        for path in &pinned {
            fs::copy(path, node.join(path.file_name().context("a file")?))?;
        }
        run(command("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&node))?;
        done(&node, &pinned)?;
    }
    Ok(())
}
