//! Building the component.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use wit_component::ComponentEncoder;

use crate::{
    run::{cargo, command, output, run, say},
    toolchain::{TARGET, Toolchain},
};

/// Where the component goes: the host's build script embeds it from there.
const COMPONENT: &str = "host/component/validator.wasm";

/// Apart from the host's, whose compiler is another one.
const TARGET_DIR: &str = "target/guest";

/// The machine code of the component, made by the library and embedded in its next build.
const CODE: &str = "host/component/validator.cwasm";

/// Build everything: the component, if anything it is made of has changed, and what runs on the host.
pub(crate) fn build() -> Result<()> {
    build_component()?;
    build_host()
}

fn build_component() -> Result<()> {
    let toolchain = Toolchain::find()?;
    let build = ["build", "--package", "seamgate-guest", "--profile", "guest", "--locked"];
    run(toolchain.cargo().args(build).args(["--target", TARGET, "--target-dir", TARGET_DIR]))?;
    let module = format!("{TARGET_DIR}/{TARGET}/guest/seamgate_guest.wasm");
    let module = fs::read(&module).with_context(|| format!("cannot read {module}"))?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|encoder| encoder.encode())
        .context("the module cannot be made a component")?;
    replace_component(&component)?;
    say(&format!("{COMPONENT}: {} bytes", component.len()));
    Ok(())
}

/// Build everything that runs on the host, with the component and its machine code inside.
///
/// The library itself compiles the component, and is then built once more with the result: so the compiler is built
/// once. All packages are built together, always: on their own they would want other features of what they share.
fn build_host() -> Result<()> {
    cargo(["build", "--release", "--locked", "--bins", "--example", "precompile"])?;
    run(&mut command("target/release/examples/precompile"))?;
    cargo(["build", "--release", "--locked", "--bins"])
}

/// An unchanged file keeps its time, so that nothing is built again for it.
fn replace_component(bytes: &[u8]) -> Result<()> {
    let path = Path::new(COMPONENT);
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Code of the component before must never be embedded beside this one.
    if Path::new(CODE).exists() {
        fs::remove_file(CODE).with_context(|| format!("cannot remove {CODE}"))?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// The last release of `cargo component`, by which the guest is kept buildable.
const CARGO_COMPONENT: &str = "0.21.1";

/// Build the component with `cargo component`, and run the cases through it.
pub(crate) fn cargo_component() -> Result<()> {
    let tool = "target/tools/bin/cargo-component";
    if !Path::new(tool).exists() {
        say(&format!("installing cargo-component {CARGO_COMPONENT} into target/tools; it takes minutes"));
        let package = format!("cargo-component@{CARGO_COMPONENT}");
        run(command("cargo").args(["install", "--locked", "--root", "target/tools", &package]))?;
    }
    let toolchain = Toolchain::find()?;
    wasip1_folder(toolchain.rustc())?;
    let mut cargo = command(tool);
    toolchain.configure(&mut cargo);
    run(cargo
        .arg("component")
        .args(["build", "--package", "seamgate-guest", "--profile", "guest", "--locked"])
        .args(["--target", TARGET, "--target-dir", "target/cargo-component"]))?;
    let component = format!("target/cargo-component/{TARGET}/guest/seamgate_guest.wasm");
    let component = fs::canonicalize(&component).with_context(|| format!("cannot find {component}"))?;
    say(&format!("{}: {} bytes", component.display(), fs::metadata(&component)?.len()));
    run(command("cargo")
        .args(["test", "--release", "--locked", "--test", "cases"])
        .env("SEAMGATE_TEST_COMPONENT", component))
}

/// `cargo component` looks for this target's folder in the sysroot even where it is not used; an empty one will do.
fn wasip1_folder(mut rustc: std::process::Command) -> Result<()> {
    let sysroot = output(rustc.args(["--print", "sysroot"])).context("rustc does not say where its sysroot is")?;
    let folder = Path::new(&sysroot).join("lib/rustlib/wasm32-wasip1");
    if !folder.exists() {
        say(&format!("making {}, which cargo component looks for and does not use", folder.display()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Ok(())
}
