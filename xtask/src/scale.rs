//! What is beyond one machine: archives of outputs on Ray and Spark, many runs of agents at once, and verdicts as a service. What is installed
//! is pinned by version and digest.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{
    install::{done, environment, installed, pip},
    python,
    run::{command, output, root, run, say},
};

/// The programs, and the page that gets their tables.
const SOURCES: &str = "tests/scale";

/// Where engines are installed, and where archives are made.
const FOLDER: &str = "target/scale";

/// The command line, as the build leaves it.
const SEAMGATE: &str = "target/release/seamgate";

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

/// A million outputs on Ray, on Spark and in one Parquet file, with workers killed. It writes its tables.
fn archives() -> Result<()> {
    if python::install()?.is_none() {
        bail!("archives need python3, 3.11 or later, with its module venv");
    }
    let folder = Path::new(FOLDER).join("archives");
    let sources = Path::new(SOURCES).join("archives");
    let what = "installing Ray, pyarrow and Python's validators, 350 MB,";
    environment("python3", &folder, &sources.join("requirements.txt"), &["--only-binary", ":all:"], what)?;
    // Beside what it needs: they go together.
    let spark = folder.join("spark");
    let pinned = sources.join("spark.txt");
    if !installed(&spark, &[&pinned])? {
        say("installing Spark, 450 MB, into the same folder");
        let options = ["install", "--quiet", "--require-hashes", "--no-deps", "--no-build-isolation", "--requirement"];
        run(pip(&folder).args(options).arg(&pinned))?;
        std::fs::create_dir_all(&spark)?;
        done(&spark, &[&pinned])?;
    }
    python::install_wheel(&folder)?;
    let python = root().join(&folder).join("bin/python");
    let mut judge = command(python);
    // What writes into pages is there.
    judge.env("PYTHONPATH", std::env::join_paths([root().join(&sources), root().join("tests/mcp")])?);
    judge.arg("-B").arg(sources.join("archives.py")).arg("--seamgate").arg(root().join(SEAMGATE));
    judge.arg("--folder").arg(root().join(FOLDER).join("archive"));
    judge.arg("--write").arg(Path::new(SOURCES).join("README.md"));
    if output(command("java").arg("-version")).is_none() {
        say(
            "skipping Spark: it needs a Java of version 17 or later, which is not here (Debian: openjdk-17-jre-headless)",
        );
        judge.args(["--without", "spark"]);
    }
    run(&mut judge)
}

fn runs() -> Result<()> {
    bail!("this part is not there yet")
}

fn service() -> Result<()> {
    bail!("this part is not there yet")
}
