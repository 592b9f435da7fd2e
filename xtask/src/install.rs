//! Installs other programs once, each into a separate folder, pinned by version and digest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::run::{command, output, run, say};

/// Returns whether there is a `python3` that creates virtual environments.
pub(crate) fn has_python() -> bool {
    output(command("python3").args(["-m", "venv", "--help"])).is_some()
}

/// Returns whether there is a `node` with npm.
pub(crate) fn has_node() -> bool {
    ["node", "npm"].iter().all(|program| output(command(program).arg("--version")).is_some())
}

/// Returns whether there is a `go`. Since 1.21, it installs the version that a module requires.
pub(crate) fn has_go() -> bool {
    output(command("go").arg("version")).is_some()
}

/// Installs the Node packages that `package.json` and `package-lock.json` of a folder pin, unless they are already
/// installed. `what` describes them in messages. None of their scripts is run.
pub(crate) fn packages(folder: &Path, pinned: &Path, what: &str) -> Result<()> {
    packages_with(folder, pinned, &[], what)
}

/// Does the same with further options of npm.
pub(crate) fn packages_with(folder: &Path, pinned: &Path, options: &[&str], what: &str) -> Result<()> {
    let pinned = ["package.json", "package-lock.json"].map(|name| pinned.join(name));
    let pinned: Vec<&Path> = pinned.iter().map(PathBuf::as_path).collect();
    if installed(folder, &pinned)? {
        return Ok(());
    }
    say(&format!("{what} into {}", folder.display()));
    fs::create_dir_all(folder)?;
    for path in &pinned {
        fs::copy(path, folder.join(path.file_name().context("a file")?))?;
    }
    run(command("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).args(options).current_dir(folder))?;
    done(folder, &pinned)
}

/// Creates a virtual environment of `python` with everything that a file pins, unless it already exists. `what`
/// describes it in messages.
pub(crate) fn environment(
    python: &str,
    folder: &Path,
    requirements: &Path,
    options: &[&str],
    what: &str,
) -> Result<()> {
    if installed(folder, &[requirements])? {
        return Ok(());
    }
    say(&format!("{what} into {}", folder.display()));
    run(command(python).args(["-m", "venv"]).arg(folder))?;
    let install = ["install", "--quiet", "--require-hashes"];
    run(pip(folder).args(install).args(options).arg("--requirement").arg(requirements))?;
    done(folder, &[requirements])
}

/// Returns the installer of a virtual environment.
pub(crate) fn pip(folder: &Path) -> Command {
    let mut pip = command(folder.join("bin/python"));
    pip.args(["-m", "pip", "--disable-pip-version-check"]);
    pip
}

/// Returns whether a folder contains everything that these files pin. If not, removes the folder.
pub(crate) fn installed(folder: &Path, pinned: &[&Path]) -> Result<bool> {
    if fs::read(folder.join(DONE)).ok() == Some(read(pinned)?) {
        return Ok(true);
    }
    remove(folder)?;
    Ok(false)
}

/// The file in a folder that records that everything is installed, and what.
const DONE: &str = "installed";

pub(crate) fn done(folder: &Path, pinned: &[&Path]) -> Result<()> {
    Ok(fs::write(folder.join(DONE), read(pinned)?)?)
}

fn read(paths: &[&Path]) -> Result<Vec<u8>> {
    let texts: Result<Vec<Vec<u8>>> =
        paths.iter().map(|path| fs::read(path).with_context(|| path.display().to_string())).collect();
    Ok(texts?.concat())
}

pub(crate) fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}
