//! Components built from readable text: some that no gate should accept or trust, and the built-in component with a
//! probe inside.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use seamgate::{Component, Gate, LoadError, Options, Request};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{
    Resolve, WorldItem,
    abi::{AbiVariant, WasmType},
};

/// A component, and its expected outcome.
pub struct Fixture {
    /// The file's name.
    pub name: String,
    /// The component in WebAssembly's binary format.
    pub wasm: Vec<u8>,
    /// The operations and their expected outcomes, from lines `;; WHAT: OUTCOME` at the head of the text.
    pub expected: Vec<(String, String)>,
}

/// Returns the components of `tests/components`, in the order of their names.
///
/// # Errors
///
/// Returns an error if a file is not the valid text of a component, or of a module that can become a component.
pub fn fixtures() -> Result<Vec<Fixture>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("components");
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    paths.retain(|path| path.file_name().is_some_and(|name| name != "probe.wat"));
    let fixture = |path: &Path| -> Result<Fixture> {
        let text = fs::read_to_string(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let head = text.lines().map_while(|line| line.strip_prefix(";; "));
        let expected = head.filter_map(|line| line.split_once(": "));
        let expected = expected
            .filter(|(what, _)| !what.contains(' '))
            .map(|(what, outcome)| (what.to_owned(), outcome.to_owned()))
            .collect();
        Ok(Fixture { name, wasm: assembled(&text)?, expected })
    };
    paths.iter().map(|path| fixture(path).with_context(|| path.display().to_string())).collect()
}

/// Returns the component in a text. If the text is only a module, it contains the relevant part of the world. The rest
/// is added, and traps.
fn assembled(text: &str) -> Result<Vec<u8>> {
    let start = text.find("\n(").map_or(0, |at| at + 1);
    if !text[start..].starts_with("(module") {
        return Ok(wat::parse_str(text)?);
    }
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit"))?;
    let world = resolve.select_world(&[package], Some("validator"))?;
    let mut module = text.trim_end().strip_suffix(')').context("a module")?.to_owned();
    for (key, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else {
            continue;
        };
        for function in resolve.interfaces[*id].functions.values() {
            let name = format!("\"{}#{}\"", resolve.name_world_key(key), function.name);
            if text.contains(&name) {
                continue;
            }
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            let types = |types: &[WasmType]| types.iter().map(|one| word(*one)).collect::<Vec<_>>().join(" ");
            let (params, results) = (types(&signature.params), types(&signature.results));
            module.push_str(&format!("(func (export {name}) (param {params}) (result {results}) unreachable)\n"));
        }
    }
    module.push(')');
    let mut module = wat::parse_str(&module)?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.encode()
}

fn word(of: WasmType) -> &'static str {
    match of {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    }
}

/// Returns a validator that contains `tests/components/probe.wat`. Calls of its `wire` pass through the probe.
///
/// # Errors
///
/// Returns an error if the validator's `wire` is not found.
pub fn probed(validator: &[u8]) -> Result<Vec<u8>> {
    const CALL: &str = "(export \"seamgate:validator/wire@0.1.0#call\" (func ";
    let text = wasmprinter::print_bytes(validator)?;
    ensure!(text.matches(CALL).count() == 1, "wire.call is not exported once");
    let (before, after) = text.split_once(CALL).context("wire.call")?;
    let (call, after) = after.split_once("))").context("wire.call")?;
    // The probe is added at the end of the module, so that the indices of the other parts do not change.
    let (module, after) = after.split_once("\n  )\n").context("the end of the module")?;
    let probe = include_str!("../components/probe.wat").replace("$call", call);
    Ok(wat::parse_str(format!("{before}{CALL}$probe)){module}\n{probe}\n  )\n{after}"))?)
}

/// Returns a modified validator. The library has no machine code for it, so it is compiled when it is used.
pub fn unknown(validator: &[u8]) -> Vec<u8> {
    // A custom section with a name of one letter, at the end.
    [validator, &[0, 2, 1, b'x']].concat()
}

/// Returns a gate for a component whose code is not cached.
///
/// # Errors
///
/// Returns an error if the library rejects the component.
pub fn gate(component: impl Into<Vec<u8>>) -> Result<Gate, LoadError> {
    let component = Component::from_bytes(component);
    Gate::with(Options::default().component(component).slots(1).cache(None))
}

/// Returns the outcome of one call: `CODE: MESSAGE` of the fault.
pub fn ended(gate: &Gate, what: &str) -> String {
    let fault = match what {
        "validate" => gate.validate(&Request::new("a", "{}\n")).err(),
        "call" => gate.call("{}").err(),
        "inspect" => gate.inspect().err(),
        other => return format!("a component has no function '{other}' that a test calls"),
    };
    fault.map_or_else(|| "no fault".to_owned(), |fault| format!("{}: {fault}", fault.code()))
}
