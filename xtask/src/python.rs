//! The package for Python: its wheel, and its tests in an environment of its own, pinned by version and digest.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    install::{environment, has_python, pip, remove},
    run::{PACKAGES, command, run, say},
};

/// The package.
const PACKAGE: &str = "host/python";

/// Where the environment is, in which it is built and tested.
const FOLDER: &str = "target/python";

/// The time that files in the wheel have: the earliest that its format knows, so that the same files give the same bytes.
const EPOCH: &str = "315532800";

/// Build the wheel, with the component that is in `host/component`.
pub(crate) fn wheel() -> Result<PathBuf> {
    let python = installed()?;
    // Apart, so that what is there afterwards is what was built.
    let built = Path::new(FOLDER).join("built");
    remove(&built)?;
    let root = std::env::current_dir()?;
    let build = ["-m", "hatchling", "build", "--target", "wheel", "--directory"];
    run(command(root.join(python))
        .args(build)
        .arg(root.join(&built))
        .current_dir(PACKAGE)
        .env("SOURCE_DATE_EPOCH", EPOCH))?;
    let wheels = fs::read_dir(&built)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    ensure!(wheels.len() == 1, "the build made {} files, not one wheel", wheels.len());
    let wheel = Path::new(PACKAGES).join(wheels[0].file_name().context("a file")?);
    fs::create_dir_all(PACKAGES)?;
    fs::rename(&wheels[0], &wheel)?;
    say(&format!("{}: {} bytes", wheel.display(), fs::metadata(&wheel)?.len()));
    Ok(wheel)
}

/// Build the wheel and install it into the environment, of which the interpreter comes back; none where there is no Python.
pub(crate) fn install() -> Result<Option<PathBuf>> {
    if !has_python() {
        say("there is no python3 with its module venv: the package for Python is skipped, and nothing said of it");
        remove(Path::new(FOLDER))?;
        return Ok(None);
    }
    let wheel = wheel()?;
    // Its dependencies are there, by their digests.
    let options = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
    run(pip(Path::new(FOLDER)).args(options).arg(wheel))?;
    Ok(Some(interpreter()))
}

/// Build the wheel, install it, and hold it to its format, its lints, its types and its tests.
pub(crate) fn test() -> Result<()> {
    let Some(python) = install()? else {
        return Ok(());
    };
    let checks: [&[&str]; 4] = [&["ruff", "format", "--check"], &["ruff", "check"], &["mypy"], &["pytest"]];
    let python = std::env::current_dir()?.join(python);
    checks.iter().try_for_each(|check| run(tool(&python, check).current_dir(PACKAGE)))
}

/// A module of the environment as a command. It leaves nothing behind in the package's folder.
fn tool(python: &impl AsRef<OsStr>, arguments: &[&str]) -> std::process::Command {
    let mut tool = command(python);
    tool.arg("-m").args(arguments).env("PYTHONDONTWRITEBYTECODE", "1").env("RUFF_NO_CACHE", "true");
    tool
}

/// The environment's interpreter, once what is pinned is there.
fn installed() -> Result<PathBuf> {
    let requirements = Path::new(PACKAGE).join("requirements.txt");
    let why = "the package for Python is built and tested: installing what that takes";
    environment("python3", Path::new(FOLDER), &requirements, &["--only-binary", ":all:"], why)?;
    Ok(interpreter())
}

fn interpreter() -> PathBuf {
    Path::new(FOLDER).join("bin/python")
}
