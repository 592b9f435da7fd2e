//! What is derived from `wit/` and a few tables: each fact is stated once, and everything else that says it is written
//! here, and committed.

mod json;
mod limits;
mod model;
mod python;
mod rust;
mod schema;
mod table;
mod text;
mod typescript;

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::run::say;
use model::Model;

/// What stands at the head of each file.
const HEAD: &str = "Made by `cargo xtask generate` from `wit/` and `xtask/src/generate/`. Do not edit: run it again.";

/// Write what is derived; or, to check, say which of it is not what it would be.
pub(crate) fn generate(check: bool) -> Result<()> {
    let model = Model::read(Path::new("wit"))?;
    let files = [
        ("guest/core/src/types.rs", rust::core(&model)?),
        ("guest/src/convert.rs", rust::guest(&model)?),
        ("host/src/types.rs", rust::host(&model)?),
        ("host/src/defaults.rs", limits::host()),
        ("host/js/src/defaults.ts", limits::typescript()),
        ("host/python/src/seamgate/_defaults.py", limits::python()),
        ("docs/limits.md", limits::document()?),
        ("host/js/src/types.ts", typescript::types(&model)?),
        ("host/python/src/seamgate/_types.py", python::types(&model)?),
        ("schemas/report.schema.json", schema::report(&model)?),
    ];
    let mut stale = Vec::new();
    for (path, text) in files {
        if fs::read_to_string(path).ok().as_deref() == Some(text.as_str()) {
            continue;
        }
        if check {
            stale.push(path);
        } else {
            fs::write(path, text).with_context(|| path.to_owned())?;
            say(path);
        }
    }
    if !stale.is_empty() {
        bail!("not what `cargo xtask generate` makes: {}; run it, and commit what it writes", stale.join(", "));
    }
    Ok(())
}
