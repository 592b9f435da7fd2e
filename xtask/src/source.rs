//! Sources of other projects that have data for tests and benchmarks: each pinned by version and digest, loaded once.

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

/// What is loaded, as versions and digests.
const PINNED: &str = "tests/sources";

/// What pip runs with.
const BUILDERS: &str = "target/sources/python";

/// The source distribution of SchemaStore, which the benchmark and the conformance suites share.
pub(crate) fn schemastore() -> Result<PathBuf> {
    let folder = Path::new("target/bench/schemastore");
    distribution("schemastore", folder, "schemas and documents of SchemaStore are judged: loading them")
}

/// The source distribution of a Python package, unpacked into a folder; `what` says what that is and why.
pub(crate) fn distribution(package: &str, folder: &Path, what: &str) -> Result<PathBuf> {
    let pinned = Path::new(PINNED).join(package).with_extension("txt");
    if !installed(folder, &[&pinned])? {
        if !has_python() {
            bail!("{package} comes from Python's package index; install python3 with its module venv");
        }
        let builders = Path::new(BUILDERS);
        let requirements = Path::new(PINNED).join("build.txt");
        environment(
            "python3",
            builders,
            &requirements,
            &[],
            "pip asks a source for its metadata: installing what it needs",
        )?;
        say(&format!("{what} into {}", folder.display()));
        // It is asked for its metadata; it is not built.
        let download = ["download", "--quiet", "--require-hashes", "--no-deps", "--no-binary", ":all:"];
        run(pip(builders)
            .args(download)
            .args(["--no-build-isolation", "--dest"])
            .arg(folder)
            .arg("--requirement")
            .arg(&pinned))?;
        let archive = fs::read_dir(folder)?.next().context("pip loaded nothing")??.path();
        run(command("tar")
            .args(["--extract", "--strip-components", "1", "--file"])
            .arg(archive)
            .arg("--directory")
            .arg(folder))?;
        done(folder, &[&pinned])?;
    }
    Ok(folder.to_owned())
}

/// The folder of a crate's source, where cargo keeps it; the crate is pinned by a manifest and a lock file of its own.
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
    Ok(folder.with_context(|| format!("cargo does not say where {name} is"))?.to_owned())
}
