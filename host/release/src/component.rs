//! Components and core modules: their permitted imports, and the required exports of components.

use std::collections::BTreeSet;

use wasmparser::{Parser, Payload};
use wit_parser::{
    Resolve,
    decoding::{DecodedWasm, decode},
};

use crate::interface;

/// The largest WebAssembly file, in bytes.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// The required form of a file.
#[derive(Clone, Copy)]
enum Form {
    /// A component without imports that exports this world.
    Component(World),
    /// A core module with exactly these imports.
    Module(&'static [(&'static str, &'static str)]),
}

const FORMS: [(&str, Form); 6] = [
    ("harness", Form::Component(World::HARNESS)),
    ("harness-metered", Form::Component(World::HARNESS)),
    ("validator", Form::Component(World::VALIDATOR)),
    ("validator-to-bake", Form::Component(World::VALIDATOR)),
    ("module", Form::Module(&[])),
    // The host is called when a call has used its fuel.
    ("module-pausing", Form::Module(&[("seamgate", "refuel")])),
];

/// A world of a WIT package, which is stored in binary form.
#[derive(Clone, Copy)]
struct World {
    /// The name of the file, before the version.
    file: &'static str,
    /// The name of both the package and the world.
    name: &'static str,
}

impl World {
    const HARNESS: World = World { file: "wit-harness", name: "harness" };
    const VALIDATOR: World = World { file: "wit", name: "validator" };
}

/// Returns the names of the WIT packages of a version.
pub(crate) fn wit_packages(version: &str) -> [String; 2] {
    [World::VALIDATOR, World::HARNESS].map(|world| file(world.file, version))
}

/// Returns the WIT package that defines the required exports of a file.
pub(crate) fn wit_package_of(name: &str, version: &str) -> Option<String> {
    match form(name, version)? {
        Form::Component(world) => Some(file(world.file, version)),
        Form::Module(_) => None,
    }
}

/// Returns whether a file's name determines its form.
pub(crate) fn is_known(name: &str, version: &str) -> bool {
    form(name, version).is_some()
}

fn file(name: &str, version: &str) -> String {
    format!("seamgate-{name}-{version}.wasm")
}

fn form(name: &str, version: &str) -> Option<Form> {
    FORMS.iter().find(|(known, _)| file(known, version) == name).map(|(_, form)| *form)
}

/// A WIT package in binary form.
pub(crate) struct Wit(Resolve);

impl Wit {
    /// Parses a WIT package. It and the packages that it uses must have this version.
    pub(crate) fn read(bytes: &[u8], version: &str) -> Result<Self, String> {
        let DecodedWasm::WitPackage(resolve, _) = decode(bytes).map_err(|error| format!("{error:#}"))? else {
            return Err("is a component; expected a WIT package".to_owned());
        };
        for (_, package) in &resolve.packages {
            let found = package.name.version.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
            if found != version {
                return Err(format!("{} has the version {found}; expected {version}", package.name));
            }
        }
        Ok(Wit(resolve))
    }

    /// Returns what a world exports.
    fn exports(&self, world: World) -> Result<BTreeSet<String>, String> {
        let found = self.0.worlds.iter().find(|(_, found)| {
            let of = found.package.map(|id| &self.0.packages[id].name);
            found.name == world.name && of.is_some_and(|of| of.namespace == "seamgate" && of.name == world.name)
        });
        let (id, _) = found.ok_or_else(|| format!("the WIT package has no world seamgate:{0}/{0}", world.name))?;
        interface::exports(&self.0, id)
    }
}

/// Checks that a file has the form that its name requires. A component needs its WIT package. Returns the finding.
pub(crate) fn check(name: &str, bytes: &[u8], wit: Option<&Wit>, version: &str) -> Result<String, String> {
    match (form(name, version), wit) {
        (Some(Form::Component(world)), Some(wit)) => check_component(bytes, &wit.exports(world)?),
        (Some(Form::Module(imports)), _) => check_module(bytes, imports),
        _ => Err("is no component of a release".to_owned()),
    }
}

fn check_component(bytes: &[u8], expected: &BTreeSet<String>) -> Result<String, String> {
    let DecodedWasm::Component(resolve, world) = decode(bytes).map_err(|error| format!("{error:#}"))? else {
        return Err("is a WIT package; expected a component".to_owned());
    };
    if let Some(key) = resolve.worlds[world].imports.keys().next() {
        return Err(format!("imports {}; expected no imports", resolve.name_world_key(key)));
    }
    let found = interface::exports(&resolve, world)?;
    if let Some(line) = expected.difference(&found).next() {
        return Err(format!("does not export {line}, which the WIT package says"));
    }
    match found.difference(expected).next() {
        Some(line) => Err(format!("exports {line}, which the WIT package does not say")),
        None => Ok(format!("imports nothing, and exports the {} items of the WIT package", expected.len())),
    }
}

fn check_module(bytes: &[u8], expected: &[(&str, &str)]) -> Result<String, String> {
    if !Parser::is_core_wasm(bytes) {
        return Err("is no core module".to_owned());
    }
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::ImportSection(section) = payload.map_err(|error| error.to_string())? {
            for import in section.into_imports() {
                let import = import.map_err(|error| error.to_string())?;
                found.push((import.module.to_owned(), import.name.to_owned()));
            }
        }
    }
    let is_expected = found.iter().map(|(module, name)| (module.as_str(), name.as_str())).eq(expected.iter().copied());
    match (is_expected, expected) {
        (false, _) => Err(format!("imports {found:?}; expected {expected:?}")),
        (true, []) => Ok("imports nothing".to_owned()),
        (true, _) => Ok(format!("imports only {expected:?}")),
    }
}
