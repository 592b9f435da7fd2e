//! Other runtimes than the host's, asked the cases: the package for Python, and jco, installed into `target/runtimes`, pinned
//! by version and digest.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    install::{has_node, packages, remove},
    python,
    run::{cargo, command, run, say},
};

/// Everything that is installed or written goes here.
const FOLDER: &str = "target/runtimes";

/// What is installed, as versions and digests, and what asks it.
const PINNED: &str = "tests/runtimes";

pub(crate) fn runtimes() -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    python::install()?;
    install_node()?;
    cargo(["build", "--release", "--locked", "--bins", "--examples"])?;
    run(&mut command("target/release/examples/runtimes"))
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if !has_node() {
        say("there is no node with npm: jco is skipped, and nothing said of it");
        return remove(&node);
    }
    packages(&node, Path::new(PINNED), "the cases are asked through jco in Node too: installing it")
}
