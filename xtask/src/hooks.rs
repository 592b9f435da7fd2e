//! Tests the hooks and the action of this repository with the real pre-commit, and `init` with Pydantic, pinned by
//! version and digest.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{
    install::{environment, has_python},
    run::{command, root, run, say},
};

/// The folder with the program that runs the hooks, and its requirements.
const HOOKS: &str = "tests/hooks";

/// The folder of pre-commit and its cache.
const FOLDER: &str = "target/hooks";

/// Runs the hooks in a repository with contracts. The command line must have been built.
pub(crate) fn test() -> Result<()> {
    if !has_python() {
        say("skipping the hooks: python3 with its module venv is missing");
        return Ok(());
    }
    let folder = Path::new(FOLDER).join("python");
    let requirements = Path::new(HOOKS).join("requirements.txt");
    environment("python3", &folder, &requirements, &["--only-binary", ":all:"], "installing pre-commit and Pydantic")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let built = root().join("target/release");
    let path = std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(&path)))
        .context("PATH has a folder that it cannot have")?;
    run(command(root().join(folder).join("bin/python"))
        .arg(Path::new(HOOKS).join("check.py"))
        .env("PATH", path)
        .env("PRE_COMMIT_HOME", root().join(FOLDER).join("cache"))
        .env("XDG_CACHE_HOME", root().join(FOLDER).join("user-cache")))
}
