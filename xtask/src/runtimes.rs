//! Other runtimes than the host's: installed into `target/runtimes`, pinned by version and digest, and asked the cases.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    install::{environment, has_node, has_python, packages, remove},
    run::{cargo, command, run, say},
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
    if !has_python() {
        say("there is no python3 with its module venv: Wasmtime for Python is skipped, and nothing said of it");
        return remove(&python);
    }
    let requirements = Path::new(PINNED).join("requirements.txt");
    let why = "the cases are asked through Wasmtime for Python too: installing it";
    environment("python3", &python, &requirements, &["--only-binary", ":all:"], why)
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if !has_node() {
        say("there is no node with npm: jco is skipped, and nothing said of it");
        return remove(&node);
    }
    packages(&node, Path::new(PINNED), "the cases are asked through jco in Node too: installing it")
}
