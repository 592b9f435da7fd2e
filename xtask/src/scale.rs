//! What is beyond one machine: archives of outputs on Ray and Spark, many runs of agents at once, and verdicts as a service. What is installed
//! is pinned by version and digest.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::{
    edge,
    install::{environment, packages},
    js,
    run::{command, root, run},
};

/// The page that gets the results.
const PAGE: &str = "tests/scale/README.md";

/// What can be run, by name.
type Part = (&'static str, fn() -> Result<()>);
const PARTS: [Part; 4] = [("archives", archives), ("runs", runs), ("service", service), ("billion", billion)];

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|(name, _)| name)
}

/// Run the part of this name, or all of them.
pub(crate) fn scale(named: Option<&str>) -> Result<()> {
    let chosen = PARTS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, part)| part())
}

fn archives() -> Result<()> {
    bail!("this part is not there yet")
}

/// A thousand runs, while Restate's server and the service are killed fifty times each.
fn runs() -> Result<()> {
    match js::package()? {
        Some(packed) => many_runs(&packed, 1000, 50, Some(Path::new(PAGE))),
        None => Ok(()),
    }
}

/// Twenty runs and two kills of each, for CI, with the npm package. The command line must have been built.
pub(crate) fn few_runs(packed: &Path) -> Result<()> {
    many_runs(packed, 20, 2, None)
}

fn many_runs(packed: &Path, runs: usize, kills: usize, page: Option<&Path>) -> Result<()> {
    let [recipe, tests] = ["docs/recipes/restate", "tests/scale/runs"].map(Path::new);
    let folder = Path::new("target/scale/runs");
    packages(folder, recipe, "installing Restate's server and its SDK")?;
    // Below the packages, where Node finds them.
    let below = folder.join("here");
    js::install(packed, &below)?;
    let mut scripts = Vec::new();
    for from in [recipe, tests] {
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            let name = path.file_name().context("a file")?.to_string_lossy().into_owned();
            if !name.starts_with("package") {
                fs::copy(&path, below.join(&name)).with_context(|| path.display().to_string())?;
                scripts.extend(name.ends_with(".mjs").then_some(name));
            }
        }
    }
    js::check(&below, &scripts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut load = command("node");
    load.arg(below.join("load.mjs")).arg(root().join("target/release/seamgate"));
    run(load.args([runs.to_string(), kills.to_string()]).args(page.map(|page| root().join(page))))
}

/// What `wasmtime serve` answers a second, up to where it is too much; and whether the manifest for Kubernetes is one.
fn service() -> Result<()> {
    let folder = Path::new("target/scale/kubernetes");
    let requirements = Path::new("tests/scale/kubernetes/requirements.txt");
    environment("python3", folder, requirements, &["--only-binary", ":all:"], "installing Kubernetes' schemas")?;
    let validate = folder.join("bin/kubernetes-validate");
    run(command(validate).args(["--strict", "guest/edge/kubernetes.yaml"]))?;
    edge::knee(Path::new(PAGE))
}

/// What a billion outputs cost, from what the other parts measured.
fn billion() -> Result<()> {
    let billion = ["-B", "tests/scale/billion.py", "target/release/seamgate", "docs/scale.md"];
    run(command("python3").args(billion))
}
