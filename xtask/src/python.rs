//! The Python package: its wheel, and its tests in an environment that is pinned by version and digest.

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

/// The sources of the package.
const PACKAGE: &str = "host/python";

/// The environment that builds and tests it.
const FOLDER: &str = "target/python";

/// The time of all files in the wheel: the earliest that its format has. So the same files give the same bytes.
const EPOCH: &str = "315532800";

/// Build the wheel, with the component of `host/component`.
pub(crate) fn wheel() -> Result<PathBuf> {
    let python = installed()?;
    // In an empty folder, so that the wheel is the only file.
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
    ensure!(wheels.len() == 1, "expected one wheel, not {} files", wheels.len());
    let wheel = Path::new(PACKAGES).join(wheels[0].file_name().context("a file")?);
    fs::create_dir_all(PACKAGES)?;
    fs::rename(&wheels[0], &wheel)?;
    say(&format!("{}: {} bytes", wheel.display(), fs::metadata(&wheel)?.len()));
    Ok(wheel)
}

/// Build the wheel and install it into the environment. Returns the interpreter; none without Python.
pub(crate) fn install() -> Result<Option<PathBuf>> {
    if !has_python() {
        say("skipping the Python package: python3 with its module venv is missing");
        remove(Path::new(FOLDER))?;
        return Ok(None);
    }
    wheel()?;
    install_wheel(Path::new(FOLDER))?;
    Ok(Some(interpreter()))
}

/// Install the wheel that was built last into an environment, which already has its dependencies, pinned by digest.
pub(crate) fn install_wheel(environment: &Path) -> Result<()> {
    let wheel = Path::new(PACKAGES).join(concat!("seamgate-", env!("CARGO_PKG_VERSION"), "-py3-none-any.whl"));
    let options = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
    run(pip(environment).args(options).arg(wheel))
}

/// Build the wheel, install it, and run format, lints, types and tests.
pub(crate) fn test() -> Result<()> {
    let Some(python) = install()? else {
        return Ok(());
    };
    let checks: [&[&str]; 4] = [&["ruff", "format", "--check"], &["ruff", "check"], &["mypy"], &["pytest"]];
    let python = std::env::current_dir()?.join(python);
    checks.iter().try_for_each(|check| run(tool(&python, check).current_dir(PACKAGE)))
}

/// A module of the environment as a command. It leaves no files in the folder of the package.
pub(crate) fn tool(python: &impl AsRef<OsStr>, arguments: &[&str]) -> std::process::Command {
    let mut tool = command(python);
    tool.arg("-m").args(arguments).env("PYTHONDONTWRITEBYTECODE", "1").env("RUFF_NO_CACHE", "true");
    tool
}

/// The interpreter of the environment, after it is installed.
fn installed() -> Result<PathBuf> {
    let requirements = Path::new(PACKAGE).join("requirements.txt");
    let why = "installing what builds and tests the Python package";
    environment("python3", Path::new(FOLDER), &requirements, &["--only-binary", ":all:"], why)?;
    Ok(interpreter())
}

fn interpreter() -> PathBuf {
    Path::new(FOLDER).join("bin/python")
}
