//! Runs all cases in other runtimes: the packages for Python, Node, Go, Java and C, and a runtime for core modules.

use std::{fs, path::Path, process::Command};

use anyhow::Result;

use crate::{
    c, go,
    install::remove,
    java, js, python,
    run::{cargo, command, run, say},
};

/// The folder where the npm package is installed.
const FOLDER: &str = "target/runtimes";

/// The program that runs the cases.
const PROGRAM: &str = "target/release/examples/runtimes";

/// Runs the cases in all runtimes except those that take minutes, and does not change the table.
pub(crate) fn quick() -> Result<()> {
    ask(command(PROGRAM).env("QUICK", "1"))
}

/// Runs the cases in all runtimes, and writes the table.
pub(crate) fn runtimes() -> Result<()> {
    ask(&mut command(PROGRAM))
}

fn ask(program: &mut Command) -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    if python::install()?.is_some() {
        python::unpack_pure()?;
    }
    install_node()?;
    go::answers()?;
    java::answers()?;
    c::answers()?;
    cargo(["build", "--release", "--locked", "--example", "runtimes", "--example", "module"])?;
    run(program)
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    match js::package()? {
        Some(packed) => js::install(&packed, &node),
        None => {
            say("skipping the npm package");
            remove(&node)
        }
    }
}
