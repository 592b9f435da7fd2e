//! The gate over HTTP: its component built, composed with a validator that holds the example contracts, and served by
//! `wasmtime serve` to a program that asks it everything.

use std::path::Path;

use anyhow::{Context, Result};
use wasm_compose::{composer::ComponentComposer, config::Config};

use crate::{
    guest,
    install::{done, installed, remove},
    run::{cargo, command, run, say},
    source::krate,
};

/// The component as its build makes it: what a validator is plugged into.
pub(crate) const EDGE: &str = "target/edge/edge.wasm";

/// A validator with contracts inside.
const BAKED: &str = "target/edge/gate.wasm";

/// Both in one, which a server runs. `guest/edge/spin.toml` names it too.
const SERVED: &str = "target/edge/served.wasm";

/// The server is installed here.
const SERVER: &str = "target/edge/wasmtime";

/// Built here, which is removed then.
const BUILD: &str = "target/edge/build";

/// Of its features those that serve.
const FEATURES: &str = "run,serve,cranelift,parallel-compilation,pooling-allocator,component-model-async";

/// The server is built once, and that takes longer than all else: it comes first, so that a failure of it costs no wait.
pub(crate) fn edge() -> Result<()> {
    install()?;
    build()?;
    cargo(["build", "--release", "--locked", "--example", "edge"])?;
    run(&mut command("target/release/examples/edge"))
}

/// Build the component, which is no part of the others.
pub(crate) fn component() -> Result<()> {
    guest::write(EDGE, &guest::component("seamgate-edge")?)
}

/// Build the component, and compose it with the example contracts.
pub(crate) fn build() -> Result<()> {
    component()?;
    run(command("target/release/seamgate").args(["bake", "schemas/examples", "-o", BAKED]))?;
    let config = Config { definitions: vec![BAKED.into()], ..Config::default() };
    let served = ComponentComposer::new(Path::new(EDGE), &config)
        .compose()
        .with_context(|| format!("{EDGE} and {BAKED} cannot be composed"))?;
    guest::write(SERVED, &served)
}

/// Wasmtime's command line, built from its crate; `tests/sources` pins that by version and digest, and the lock file in it
/// everything that it is made of.
fn install() -> Result<()> {
    let server = Path::new(SERVER);
    let pinned = Path::new("tests/sources/wasmtime-cli/Cargo.lock");
    if installed(server, &[pinned])? {
        return Ok(());
    }
    let source = krate("wasmtime-cli", "the gate is served over HTTP by Wasmtime's command line: loading its source")?;
    say(&format!("building Wasmtime's command line into {SERVER}: ten minutes on two cores, and only this once"));
    run(command("cargo")
        .args(["install", "--locked", "--no-track", "--no-default-features", "--features", FEATURES])
        .arg("--path")
        .arg(&source)
        .args(["--root", SERVER, "--target-dir", BUILD]))?;
    remove(Path::new(BUILD))?;
    done(server, &[pinned])
}
