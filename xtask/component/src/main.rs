//! Makes components of what the guest's build made. `cargo xtask` starts it:
//!
//! - `component encode MODULE FILE` makes a component of a core module.
//! - `component warm BUILT FILE` makes everything that any contract needs, so that no instance has to.
//! - `component embed BUILT` does so for the library, and writes what it embeds and what other runtimes get.
//! - `component code COMPONENT FILE` makes the machine code of a component, for the platform that this program is built for.
//! - `component wit VERSION FILE HARNESS` makes the binary forms of `wit/` and `wit/harness/`, for registries of components.
//! - `component world COMPONENT` prints the imports and exports of a component, for registries.
//!
//! It is a package of its own, so that `cargo xtask` starts without compiling Wasmtime.

mod meter;
mod scalar;

use std::{collections::BTreeSet, env, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};
use seamgate::Component;
use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, WorldId};

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["encode", module, to] => encode(module, to),
        ["warm", built, to] => write(Path::new(to), read(built)?.warmed()?.as_bytes()),
        ["embed", built] => embed(&read(built)?),
        ["code", component, to] => Ok(fs::write(to, read(component)?.precompile()?)?),
        ["wit", version, to, harness] => wit(version, to, harness),
        ["world", component] => world(component),
        _ => bail!(
            "usage: component encode MODULE FILE | warm BUILT FILE | embed BUILT | code COMPONENT FILE \
             | wit VERSION FILE HARNESS | world COMPONENT"
        ),
    }
}

fn read(component: &str) -> Result<Component> {
    Ok(Component::from_bytes(fs::read(component).with_context(|| format!("cannot read {component}"))?))
}

/// Writes a file if it changes. An unchanged file keeps its time, so cargo builds nothing again for it.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    println!("{}: {} bytes", path.display(), bytes.len());
    if fs::read(path).ok().as_deref() != Some(bytes) {
        let folder = path.parent().context("the path has no folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn encode(module: &str, to: &str) -> Result<()> {
    let bytes = fs::read(module).with_context(|| format!("cannot read {module}"))?;
    let mut encoder = ComponentEncoder::default().validate(true).module(&bytes)?;
    let component = encoder.encode().with_context(|| format!("cannot make a component of {module}"))?;
    write(Path::new(to), &component)
}

/// Writes the component that the library embeds and its machine code, and the same with a counter, for hosts without
/// fuel.
fn embed(built: &Component) -> Result<()> {
    let folder = Path::new("host/component");
    // What the files were made of: they are made anew for another component, compiler or machine.
    let key = format!("warmed module {} {}", built.digest(), Component::compatibility()?);
    let [wasm, code, made_of] = ["harness.wasm", "harness.cwasm", "harness.cwasm.key"].map(|name| folder.join(name));
    if !(code.exists() && fs::read_to_string(&made_of).is_ok_and(|old| old == key)) {
        let warmed = built.warmed()?;
        // Code of the component before must never be embedded beside another one, whenever this is stopped.
        if code.exists() {
            fs::remove_file(&code)?;
        }
        write(&wasm, warmed.as_bytes())?;
        fs::write(&code, warmed.precompile()?)?;
        fs::write(&made_of, key)?;
    }
    let component = fs::read(&wasm).with_context(|| format!("cannot read {}", wasm.display()))?;
    write(&folder.join("metered.wasm"), &meter::component(&component)?)?;
    write(&folder.join("module.wasm"), &meter::module(&component)?)?;
    let pausing = meter::pausing(&component)?;
    write(&folder.join("pausing.wasm"), &pausing)?;
    write(&folder.join("scalar.wasm"), &scalar::module(&pausing)?)
}

fn wit(version: &str, to: &str, harness: &str) -> Result<()> {
    let mut resolve = Resolve::default();
    for (from, to) in [("wit", to), ("wit/harness", harness)] {
        let (package, _) = resolve.push_dir(from)?;
        let name = &resolve.packages[package].name;
        ensure!(
            name.version.as_ref().is_some_and(|of_wit| of_wit.to_string() == version),
            "the versions must agree: {from}/ has {name}, Cargo.toml has {version}"
        );
        write(Path::new(to), &wit_component::encode(&resolve, package)?)?;
    }
    Ok(())
}

/// Prints the imports and exports of a component, one a line. A WIT package exports its worlds, what these export, and its interfaces.
fn world(component: &str) -> Result<()> {
    let bytes = fs::read(component).with_context(|| format!("cannot read {component}"))?;
    let exports = |resolve: &Resolve, world: WorldId| -> Vec<String> {
        resolve.worlds[world].exports.keys().map(|key| resolve.name_world_key(key)).collect()
    };
    let (imports, exports): (Vec<String>, BTreeSet<String>) = match wit_component::decode(&bytes)? {
        DecodedWasm::Component(resolve, world) => {
            let imports = resolve.worlds[world].imports.keys().map(|key| resolve.name_world_key(key)).collect();
            (imports, exports(&resolve, world).into_iter().collect())
        }
        DecodedWasm::WitPackage(resolve, package) => {
            let package = &resolve.packages[package];
            let worlds = package.worlds.iter().flat_map(|(name, world)| {
                let exports = exports(&resolve, *world);
                exports.into_iter().chain([package.name.interface_id(name)])
            });
            let interfaces = package.interfaces.keys().map(|name| package.name.interface_id(name));
            (Vec::new(), worlds.chain(interfaces).collect())
        }
    };
    imports.iter().for_each(|name| println!("import {name}"));
    exports.iter().for_each(|name| println!("export {name}"));
    Ok(())
}
