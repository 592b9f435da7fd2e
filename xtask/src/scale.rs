//! Measures work beyond one machine: archives of outputs on Ray and Spark, many concurrent runs of agents, and verdicts
//! as a service. Everything that is installed is pinned by version and digest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    edge,
    install::{done, environment, installed, packages, pip},
    js, python,
    run::{command, output, root, run, say},
};

/// The page that gets the results.
const PAGE: &str = "tests/scale/README.md";

/// The programs for archives, and the files that pin the engines.
const ARCHIVES: &str = "tests/scale/archives";

/// The folder where engines are installed, and where archives are created.
const FOLDER: &str = "target/scale";

/// A part that can be run by its name.
type Part = (&'static str, fn() -> Result<()>);
const PARTS: [Part; 4] = [("archives", archives), ("runs", runs), ("service", service), ("billion", billion)];

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|(name, _)| name)
}

/// Runs the part with this name, or all parts.
pub(crate) fn scale(named: Option<&str>) -> Result<()> {
    let chosen = PARTS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, part)| part())
}

/// Judges a million outputs on Ray, on Spark and in one Parquet file, while workers are killed, and writes the tables
/// about this.
fn archives() -> Result<()> {
    if python::install()?.is_none() {
        bail!("archives need python3, 3.11 or later, with its module venv");
    }
    let folder = Path::new(FOLDER).join("archives");
    let sources = Path::new(ARCHIVES);
    let what = "installing Ray, pyarrow and Python's validators, 350 MB,";
    environment("python3", &folder, &sources.join("requirements.txt"), &["--only-binary", ":all:"], what)?;
    // Placed beside its dependencies, so that they are removed together.
    let spark = folder.join("spark");
    let pinned = sources.join("spark.txt");
    if !installed(&spark, &[&pinned])? {
        say("installing Spark, 450 MB, into the same folder");
        let options = ["install", "--quiet", "--require-hashes", "--no-deps", "--no-build-isolation", "--requirement"];
        run(pip(&folder).args(options).arg(&pinned))?;
        fs::create_dir_all(&spark)?;
        done(&spark, &[&pinned])?;
    }
    python::install_wheel(&folder)?;
    let python = root().join(&folder).join("bin/python");
    let mut judge = command(python);
    // This folder has the module that writes to pages.
    judge.env("PYTHONPATH", std::env::join_paths([root().join(sources), root().join("tests/mcp")])?);
    judge.arg("-B").arg(sources.join("archives.py")).arg("--seamgate").arg(root().join("target/release/seamgate"));
    judge.arg("--folder").arg(root().join(FOLDER).join("archive"));
    judge.arg("--write").arg(PAGE);
    if output(command("java").arg("-version")).is_none() {
        say(
            "skipping Spark: it needs a Java of version 17 or later, which is not here (Debian: openjdk-17-jre-headless)",
        );
        judge.args(["--without", "spark"]);
    }
    run(&mut judge)
}

/// Executes a thousand runs, while Restate's server and the service are killed fifty times each.
fn runs() -> Result<()> {
    match js::package()? {
        Some(packed) => many_runs(&packed, 1000, 50, Some(Path::new(PAGE))),
        None => Ok(()),
    }
}

/// Executes twenty runs with two kills of each, for CI, with the npm packages. The command line must have been built.
pub(crate) fn few_runs(packed: &[PathBuf]) -> Result<()> {
    many_runs(packed, 20, 2, None)
}

fn many_runs(packed: &[PathBuf], runs: usize, kills: usize, page: Option<&Path>) -> Result<()> {
    let [recipe, tests] = ["docs/recipes/restate", "tests/scale/runs"].map(Path::new);
    let folder = Path::new("target/scale/runs");
    packages(folder, recipe, "installing Restate's server and its SDK")?;
    // Placed below the packages, where Node finds them.
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
    let case = root().join("tests/runs/state/need");
    run(command("node").arg("--test").arg(below.join("need.test.mjs")).env("CASE", case))?;
    let mut load = command("node");
    load.arg(below.join("load.mjs")).arg(root().join("target/release/seamgate"));
    run(load.args([runs.to_string(), kills.to_string()]).args(page.map(|page| root().join(page))))
}

/// Measures the answers of `wasmtime serve` per second, up to overload.
fn service() -> Result<()> {
    edge::knee(Path::new(PAGE))
}

/// Estimates the cost of a billion outputs from the measurements of the other parts.
fn billion() -> Result<()> {
    let billion = ["-B", "tests/scale/billion.py", "target/release/seamgate", "docs/scale.md"];
    run(command("python3").args(billion))
}
