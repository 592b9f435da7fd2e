//! The benchmark: what it needs beside Rust is installed into `target/bench`, pinned by version and digest.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    install::{environment, has_node, has_python, packages, remove},
    run::{cargo, say},
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
    if !has_python() {
        say("there is no python3 with its module venv: Python's validators are skipped");
        return remove(&python);
    }
    environment("python3", &python, &requirements, &[], "Python's validators are compared with: installing them")
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if !has_node() {
        say("there is no node with npm: Ajv is skipped");
        return remove(&node);
    }
    packages(&node, &Path::new(PINNED).join("node"), "Ajv is compared with: installing it")
}
