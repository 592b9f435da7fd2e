//! The gate over HTTP. It is composed with a validator that contains the example contracts. `wasmtime serve` serves it
//! for the tests in `tests/edge`.

use std::{path::Path, process::Command};

use anyhow::Result;

use crate::{
    guest,
    install::{done, installed, remove},
    run::{cargo, command, run, say},
    source::krate,
};

/// The component, before a validator is plugged into it.
pub(crate) const EDGE: &str = "target/edge/edge.wasm";

/// A validator with contracts inside.
const BAKED: &str = "target/edge/gate.wasm";

/// The composition of both, which a server runs. `guest/edge/spin.toml` names it too.
const SERVED: &str = "target/edge/served.wasm";

/// The folder where the server is installed.
const SERVER: &str = "target/edge/wasmtime";

/// The folder where the server is built. It is removed afterwards.
const BUILD: &str = "target/edge/build";

/// The features of Wasmtime's command line that serving needs.
const FEATURES: &str = "run,serve,cranelift,parallel-compilation,pooling-allocator,component-model-async";

pub(crate) fn edge() -> Result<()> {
    run(&mut program()?)
}

/// Finds the number of requests per second that is too high, and writes it to a page.
pub(crate) fn knee(page: &Path) -> Result<()> {
    run(program()?.arg("knee").arg(page))
}

/// Returns the program that sends requests, with its arguments.
fn program() -> Result<Command> {
    build()?;
    install()?;
    cargo(["build", "--release", "--locked", "--example", "edge"])?;
    Ok(command("target/release/examples/edge"))
}

/// Builds the component, before a validator is plugged into it.
pub(crate) fn component() -> Result<()> {
    guest::component("seamgate-edge", EDGE)
}

/// Builds the component, and composes it with the example contracts.
pub(crate) fn build() -> Result<()> {
    component()?;
    guest::validator()?;
    // The kernel is not needed, because only verdicts are served.
    let bake = ["bake", "schemas/examples", "--component", guest::VALIDATOR_BUILT, "-o", BAKED];
    run(command("target/release/seamgate").args(bake))?;
    cargo(["build", "--release", "--locked", "--example", "compose"])?;
    run(command("target/release/examples/compose").args([EDGE, BAKED, SERVED]))
}

/// Builds Wasmtime's command line from its crate, once. `tests/sources` pins the crate and all its dependencies.
fn install() -> Result<()> {
    let server = Path::new(SERVER);
    let pinned = Path::new("tests/sources/wasmtime-cli/Cargo.lock");
    if installed(server, &[pinned])? {
        return Ok(());
    }
    let source = krate("wasmtime-cli", "loading the source of Wasmtime's command line")?;
    say(&format!("building Wasmtime's command line into {SERVER}: this takes six minutes or more, once"));
    run(command("cargo")
        .args(["install", "--locked", "--no-track", "--no-default-features", "--features", FEATURES])
        .arg("--path")
        .arg(&source)
        .args(["--root", SERVER, "--target-dir", BUILD]))?;
    remove(Path::new(BUILD))?;
    done(server, &[pinned])
}
