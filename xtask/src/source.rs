//! Sources of other projects, with data for tests and benchmarks. Each is pinned by version and digest, and loaded once.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    install::{done, environment, has_python, installed, pip},
    run::{command, output, run, say},
};

/// The files that pin them.
const PINNED: &str = "tests/sources";

/// The build backends that pip needs to read the metadata of a source.
const BUILDERS: &str = "target/sources/python";

/// Returns the source distribution of SchemaStore, which the benchmark and the conformance suites share.
pub(crate) fn schemastore() -> Result<PathBuf> {
    let folder = Path::new("target/bench/schemastore");
    distribution("schemastore", folder, "loading schemas and documents of SchemaStore")
}

/// Returns the source distribution of a Python package, unpacked into a folder. `what` says so.
pub(crate) fn distribution(package: &str, folder: &Path, what: &str) -> Result<PathBuf> {
    let pinned = Path::new(PINNED).join(package).with_extension("txt");
    if !installed(folder, &[&pinned])? {
        if !has_python() {
            bail!("{package} needs python3 with its module venv; install it");
        }
        let builders = Path::new(BUILDERS);
        let requirements = Path::new(PINNED).join("build.txt");
        environment(
            "python3",
            builders,
            &requirements,
            &[],
            "installing what pip needs to read the metadata of a source",
        )?;
        say(&format!("{what} into {}", folder.display()));
        // pip asks it for its metadata, and builds nothing.
        let download = ["download", "--quiet", "--require-hashes", "--no-deps", "--no-binary", ":all:"];
        run(pip(builders)
            .args(download)
            .args(["--no-build-isolation", "--dest"])
            .arg(folder)
            .arg("--requirement")
            .arg(&pinned))?;
        let archive = fs::read_dir(folder)?.next().context("pip loaded no file")??.path();
        run(command("tar")
            .args(["--extract", "--strip-components", "1", "--file"])
            .arg(archive)
            .arg("--directory")
            .arg(folder))?;
        done(folder, &[&pinned])?;
    }
    Ok(folder.to_owned())
}

/// Returns the folder where cargo keeps the source of a crate. A manifest and a lock file pin the crate.
pub(crate) fn krate(name: &str, what: &str) -> Result<PathBuf> {
    let manifest = Path::new(PINNED).join(name).join("Cargo.toml");
    let metadata = |offline: &[&str]| {
        let mut cargo = command("cargo");
        cargo.args(["metadata", "--quiet", "--locked", "--format-version", "1", "--manifest-path"]).arg(&manifest);
        output(cargo.args(offline))
    };
    let listed = metadata(&["--offline"]).or_else(|| {
        say(what);
        metadata(&[])
    });
    let listed: Value = serde_json::from_str(&listed.with_context(|| format!("cargo cannot load {name}"))?)?;
    let packages = listed["packages"].as_array().into_iter().flatten();
    let manifest =
        packages.filter(|package| package["name"] == name).find_map(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
    Ok(folder.with_context(|| format!("`cargo metadata` does not list {name}"))?.to_owned())
}
