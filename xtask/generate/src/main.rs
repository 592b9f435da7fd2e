//! Generates files from `wit/`, `schemas/` and a few tables: each fact is stated once, and everything else that repeats
//! it is generated here and committed. Copies of sources are written here too. `cargo xtask generate` starts it.
//!
//! A package of its own: no other command needs what it is compiled with.

mod attributes;
mod bindings;
mod codes;
mod copies;
mod formats;
mod golang;
mod header;
mod java;
mod json;
mod limits;
mod model;
mod ordered;
mod profiles;
mod python;
mod rust;
mod schema;
mod secrets;
mod table;
mod text;
mod typescript;
mod words;

use std::{env, fs, path::Path};

use anyhow::{Context, Result, bail};

use model::Model;

/// The comment at the head of each generated file.
const HEAD: &str = "Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.";

/// Writes the generated files; or, with `--check`, reports which of them are out of date.
fn main() -> Result<()> {
    let check = match env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(_) => bail!("usage: generate [--check]"),
    };
    let model = Model::read(Path::new("wit"))?;
    let [forms, services] = secrets::forms()?;
    let derived = [
        ("guest/core/src/types.rs", rust::core(&model)?),
        ("guest/exports/src/bindings.rs", bindings::of(&["wit", "wit/harness"], "seamgate:harness/harness")?),
        ("guest/exports/src/convert.rs", rust::guest(&model)?),
        ("guest/validator/src/world.rs", bindings::export(&["wit"], "validator")?),
        ("host/src/types/generated.rs", rust::host(&model)?),
        ("host/src/types/defaults.rs", limits::host()),
        ("host/c/include/seamgate.h", header::of(env!("CARGO_PKG_VERSION"))?),
        ("host/go/defaults.go", golang::defaults()),
        ("host/go/types.go", golang::types(&model)?),
        ("host/js/src/defaults.ts", limits::typescript()),
        ("host/python/src/seamgate/_defaults.py", limits::python()),
        ("docs/limits.md", limits::document()?),
        ("docs/profiles.md", profiles::document()?),
        ("docs/codes.md", codes::document(&model)?),
        ("host/cli/src/codes.json", codes::table(&model)?),
        ("host/js/src/types.ts", typescript::types(&model)?),
        ("host/python/src/seamgate/_types.py", python::types(&model)?),
        ("host/python/src/seamgate/_fault_code.py", python::fault_code(&model)?),
        ("schemas/report.schema.json", schema::report(&model)?),
        ("guest/kernel/src/sanitize/secrets/forms.rs", forms),
        ("guest/kernel/src/sanitize/services.rs", services),
    ];
    let mut files: Vec<(String, String)> = derived.map(|(path, text)| (path.to_owned(), text)).into();
    files.extend(java::types(&model)?);
    files.extend(words::all()?);
    java::only(&files)?;
    files.extend(copies::all()?);
    files.extend(formats::all()?);
    // One line for the folder of Java's many files.
    let others = files.iter().map(|(path, _)| path.as_str()).filter(|path| !path.starts_with(java::FOLDER));
    let all = others.chain([java::ALL]);
    files.push((attributes::FILE.to_owned(), attributes::of(all)?));
    let mut stale = Vec::new();
    for (path, text) in files {
        if fs::read_to_string(&path).ok().as_deref() == Some(text.as_str()) {
            continue;
        }
        if check {
            stale.push(path);
        } else {
            fs::write(&path, text).with_context(|| path.clone())?;
            eprintln!("xtask: {path}");
        }
    }
    if !stale.is_empty() {
        bail!("not what `cargo xtask generate` makes: {}; run it, and commit what it writes", stale.join(", "));
    }
    Ok(())
}
