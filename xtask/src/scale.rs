//! What is beyond one machine: archives of outputs on Ray and Spark, many runs of agents at once, and verdicts as a service. What is installed
//! is pinned by version and digest.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::{
    edge,
    install::packages,
    js,
    run::{command, root, run, say},
};

/// The page that gets the results.
const PAGE: &str = "tests/scale/README.md";

/// What can be run, by name.
type Part = (&'static str, fn() -> Result<()>);
const PARTS: [Part; 3] = [("archives", archives), ("runs", runs), ("service", service)];

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
    many_runs(1000, 50, Some(Path::new(PAGE)))
}

/// Twenty runs and two kills of each, for CI. The command line must have been built.
pub(crate) fn few_runs() -> Result<()> {
    many_runs(20, 2, None)
}

fn many_runs(runs: usize, kills: usize, page: Option<&Path>) -> Result<()> {
    let Some(packed) = js::package()? else {
        say("skipping runs on Restate: they need node with npm");
        return Ok(());
    };
    let [recipe, tests] = ["docs/recipes/restate", "tests/scale/runs"].map(Path::new);
    let folder = Path::new("target/scale/runs");
    packages(folder, recipe, "installing Restate's server and its SDK")?;
    // Below the packages, where Node finds them.
    let below = folder.join("here");
    js::install(&packed, &below)?;
    for from in [recipe, tests] {
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            let name = path.file_name().context("a file")?;
            if !name.to_string_lossy().starts_with("package") {
                fs::copy(&path, below.join(name)).with_context(|| path.display().to_string())?;
            }
        }
    }
    let mut load = command("node");
    load.arg(below.join("load.mjs")).arg(root().join("target/release/seamgate"));
    run(load.args([runs.to_string(), kills.to_string()]).args(page.map(|page| root().join(page))))
}

/// What `wasmtime serve` answers a second, up to where it is too much.
fn service() -> Result<()> {
    edge::knee(Path::new(PAGE))
}
