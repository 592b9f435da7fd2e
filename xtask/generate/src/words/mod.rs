//! The words of a run: events, actions, records, decisions and observations, from `schemas/` into each language.

mod golang;
mod java;
mod model;
mod names;
mod python;
mod rust;
mod typescript;

use anyhow::Result;

use model::Words;

/// The head of each file.
const HEAD: &str = "Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.";

/// Returns the path and the text of each file.
pub(super) fn all() -> Result<Vec<(String, String)>> {
    let words = Words::read()?;
    let mut files = vec![
        ("host/src/run/words.rs".to_owned(), rust::words(&words)?),
        ("host/go/words.go".to_owned(), golang::words(&words)),
        ("host/js/src/words.ts".to_owned(), typescript::words(&words)),
        ("host/python/src/seamgate/_words.py".to_owned(), python::words(&words)),
    ];
    files.extend(java::words(&words));
    Ok(files)
}
