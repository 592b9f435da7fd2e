//! Other runtimes than the host's, asked the cases: the package for Python, and jco, installed into `target/runtimes`, pinned
//! by version and digest.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    install::remove,
    js, python,
    run::{cargo, command, run, say},
};

/// Everything that is installed or written goes here.
const FOLDER: &str = "target/runtimes";

pub(crate) fn runtimes() -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    python::install()?;
    install_node()?;
    cargo(["build", "--release", "--locked", "--example", "runtimes", "--example", "module"])?;
    run(&mut command("target/release/examples/runtimes"))
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    match js::package()? {
        Some(packed) => js::install(&packed, &node),
        None => {
            say("the npm package is skipped, and nothing said of it");
            remove(&node)
        }
    }
}
