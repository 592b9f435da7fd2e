//! Builds the component, and everything that embeds it in the host.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    paths,
    run::{cargo, command, finish, output, run, say, start},
    toolchain::{TARGET, Toolchain},
};

/// The component with the kernel, as the guest's build creates it. Contracts are baked into this one.
pub(crate) const BUILT: &str = "host/component/built.wasm";

/// The program that creates components from the results of the guest's build (`xtask/component`).
const COMPONENT: &str = "target/release/examples/component";

/// The component that runs without contracts.
pub(crate) const EMBEDDED: &str = "host/component/harness.wasm";

/// The same component for hosts without fuel. It counts its own fuel.
pub(crate) const METERED: &str = "host/component/metered.wasm";

/// The same component for hosts that run only core modules (`guest/exports/src/abi.rs`).
pub(crate) const MODULE: &str = "host/component/module.wasm";

/// The same component for the Go module. It asks its host for more fuel, so that a host can end a call in the middle.
pub(crate) const PAUSING: &str = "host/component/pausing.wasm";

/// The same component without vector instructions, for the Java package, whose runtime does not support them.
pub(crate) const SCALAR: &str = "host/component/scalar.wasm";

/// The small component without the kernel, as its build creates it. Contracts are baked into this one.
pub(crate) const VALIDATOR_BUILT: &str = "target/validator/built.wasm";

/// The same component with everything prepared that contracts need, as in [`EMBEDDED`].
pub(crate) const VALIDATOR: &str = "target/validator/validator.wasm";

/// Separate from the host's, because another compiler may build it.
const TARGET_DIR: &str = "target/guest";

/// Builds the component, and everything that runs on the host, with the component and its machine code embedded.
///
/// The library itself creates the files that it embeds, and is then built again with them, so that Cranelift is built
/// only once. For the same reason, no package is named: each by itself would need other features of Wasmtime.
pub(crate) fn build() -> Result<()> {
    let is_first = !Path::new("target/release/seamgate").exists();
    let step = |number: u8, what: &str, minutes: u8| {
        let time = if is_first { format!(" (about {minutes} minutes on two processors)") } else { String::new() };
        say(&format!("build, step {number} of 2: {what}{time}"));
    };
    step(1, "the component and, without output, the library that makes its machine code", 6);
    // Runs at the same time, because the last step of the guest's build uses only one processor. The library embeds
    // nothing here, and neither it nor the program is optimised, because they run only twice.
    let library = ["build", "--release", "--locked", "--quiet", "--example", "component"];
    let once =
        ["seamgate", "seamgate-component"].map(|name| format!("--config=profile.release.package.{name}.opt-level=0"));
    let library = start(command("cargo").args(library).args(once).env("SEAMGATE_EMBED", "nothing"))?;
    // The library takes longer, so half of the processors are enough for the guest.
    let half = std::thread::available_parallelism().map_or(1, |processors| processors.get().div_ceil(2)).to_string();
    let module = module("seamgate-guest", &["--jobs", &half]);
    finish(library)?;
    run(command(COMPONENT).args(["encode", &module?, BUILT]))?;
    run(command(COMPONENT).args(["embed", BUILT]))?;
    step(2, "the command line, with the component inside", 5);
    cargo(["build", "--release", "--locked", "--bins"])
}

/// Builds the small component, without the kernel. No host needs it, so [`build`] does not build it.
pub(crate) fn validator() -> Result<()> {
    component("seamgate-validator", VALIDATOR_BUILT)?;
    run(command(COMPONENT).args(["warm", VALIDATOR_BUILT, VALIDATOR]))
}

/// Builds the small component, and checks its world, its size and all cases.
pub(crate) fn test_validator() -> Result<()> {
    validator()?;
    let component = fs::canonicalize(VALIDATOR).with_context(|| format!("cannot find {VALIDATOR}"))?;
    cargo(["test", "--release", "--locked", "--test", "sandbox", "--", "--ignored", "component::"])?;
    cases(&component)
}

/// Runs the cases through a component.
fn cases(component: &Path) -> Result<()> {
    run(command("cargo")
        .args(["test", "--release", "--locked", "--test", "suites", "--", "cases/"])
        .env("SEAMGATE_TEST_COMPONENT", component))
}

/// Builds a package of this workspace for WebAssembly, and converts it to a component.
pub(crate) fn component(package: &str, to: &str) -> Result<()> {
    run(command(COMPONENT).args(["encode", &module(package, &[])?, to]))
}

/// Builds a package of this workspace for WebAssembly. Returns the path of the core module.
fn module(package: &str, options: &[&str]) -> Result<String> {
    let toolchain = Toolchain::find()?;
    let build = ["build", "--package", package, "--profile", "guest", "--locked"];
    run(toolchain
        .cargo()
        .args(build)
        .args(options)
        .args(["--target", TARGET, "--target-dir", TARGET_DIR])
        .args(flags(toolchain.flags())?))?;
    Ok(format!("{TARGET_DIR}/{TARGET}/guest/{}.wasm", package.replace('-', "_")))
}

/// Writes the binary forms of `wit/` and `wit/harness/`, which must have this version.
pub(crate) fn wit(version: &str, to: &Path, harness: &Path) -> Result<()> {
    run(command(COMPONENT).args(["wit", version]).arg(to).arg(harness))
}

/// The imports and exports of a component, as WIT names them.
pub(crate) struct World {
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
}

/// Lists the imports and exports of a component or of a WIT package.
pub(crate) fn world(component: &Path) -> Result<World> {
    let listed = output(command(COMPONENT).arg("world").arg(component));
    let listed = listed.with_context(|| format!("cannot list the imports and exports of {}", component.display()))?;
    let named = |word: &str| {
        let names = listed.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        names.map(str::to_owned).collect()
    };
    Ok(World { imports: named("import"), exports: named("export") })
}

/// Returns flags for the compiler, including those that keep the paths of this machine out of the component, so that
/// every clone builds the same bytes.
fn flags(more: &[&str]) -> Result<[String; 2]> {
    let paths = paths::folders()?.map(|(folder, word)| format!("--remap-path-prefix={}={word}", folder.display()));
    let more = more.iter().map(|flag| (*flag).to_owned());
    let flags: Vec<String> = paths.into_iter().chain(more).collect();
    Ok(["--config".to_owned(), format!("target.{TARGET}.rustflags={flags:?}")])
}

/// The last release of `cargo component`. The guest must stay buildable with it.
const CARGO_COMPONENT: &str = "0.21.1";

/// Builds the component with `cargo component`, and runs the cases through it.
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
    cases(&component)
}

/// Creates a folder that `cargo component` requires. It needs this target's folder in the sysroot, even if it builds
/// for another target; an empty folder suffices.
fn wasip1_folder(mut rustc: std::process::Command) -> Result<()> {
    let sysroot = output(rustc.args(["--print", "sysroot"])).context("`rustc --print sysroot` fails")?;
    let folder = Path::new(&sysroot).join("lib/rustlib/wasm32-wasip1");
    if !folder.exists() {
        say(&format!("making {}: cargo component wants this folder, and does not use it", folder.display()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Ok(())
}
