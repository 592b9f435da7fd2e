//! Writes a validator for each schema of the benchmark. The macro of `jsonschema` generates the validators.
//!
//! `cargo xtask bench` sets `SEAMGATE_BENCH_SCHEMAS` to the folder of SchemaStore's schemas. Without this variable, the
//! script writes no validators, so that the package compiles with the rest of the workspace.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// The variable with the folder of the schemas.
const SCHEMAS: &str = "SEAMGATE_BENCH_SCHEMAS";

/// The file with the names of the schemas that the benchmark uses.
const NAMES: &str = "../../sets.txt";

/// The benchmark's own schemas, by the names of their sets.
const OWN: [(&str, &str); 3] = [
    ("trivial", "../../own/trivial.schema.json"),
    ("cited-answer", "../../../../schemas/examples/cited-answer.schema.json"),
    ("growth", "../../own/growth.schema.json"),
];

fn main() -> Result<()> {
    println!("cargo::rerun-if-env-changed={SCHEMAS}");
    println!("cargo::rerun-if-changed={NAMES}");
    let mut schemas: Vec<(String, PathBuf)> = Vec::new();
    if let Some(folder) = std::env::var_os(SCHEMAS).map(PathBuf::from) {
        let names = fs::read_to_string(NAMES)?;
        let names = names.lines().filter(|line| !line.starts_with('#'));
        schemas.extend(names.map(|name| (name.to_owned(), folder.join(format!("{name}.json")))));
        let own = OWN.map(|(name, path)| Ok((name.to_owned(), fs::canonicalize(path).context(path)?)));
        schemas.extend(own.into_iter().collect::<Result<Vec<_>>>()?);
    }
    let mut structs = String::new();
    let mut table = String::new();
    for (index, (name, path)) in schemas.iter().enumerate() {
        println!("cargo::rerun-if-changed={}", path.display());
        let engine = engine(path)?;
        writeln!(
            structs,
            "#[jsonschema::validator(path = {path:?}, validate_formats = false, pattern_options = {{ engine = {engine} }}, \
             methods = {{ is_valid = true, validate = false, iter_errors = false }})]\nstruct S{index};"
        )?;
        writeln!(table, "    ({name:?}, S{index}::is_valid),")?;
    }
    let folder = std::env::var_os("OUT_DIR").context("OUT_DIR")?;
    let text = format!(
        "{structs}/// The validators, by the names of their sets.\nstatic VALIDATORS: &[(&str, IsValid)] = &[\n{table}];\n"
    );
    Ok(fs::write(Path::new(&folder).join("validators.rs"), text)?)
}

/// Returns the faster pattern engine if it supports all patterns of the schema. It does not support lookaround. A
/// schema with any other unsupported construct would not compile.
fn engine(schema: &Path) -> Result<&'static str> {
    const LOOKAROUND: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
    let text = fs::read_to_string(schema).with_context(|| schema.display().to_string())?;
    Ok(if LOOKAROUND.iter().any(|group| text.contains(group)) { "fancy_regex" } else { "regex" })
}
