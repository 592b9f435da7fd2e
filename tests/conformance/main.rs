//! Suites of other projects, through the sandbox: every test as it is written there, each failure with its reason.
//!
//! `cargo xtask conformance` loads the suites and runs this with their folders; `README.md` here is what it writes.

mod json;
mod json_schema;
mod jtd;
mod reasons;
mod sandbox;
mod schemastore;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;

use sandbox::{Said, Sandbox};

/// A test of a suite, and its outcome.
struct Test {
    /// The line of the table that counts it.
    group: String,
    /// Unlike that of any other test.
    name: String,
    /// The answer of seamgate, if it differs from the suite's expectation.
    failure: Option<Said>,
}

fn main() -> Result<ExitCode> {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [json_schema, jtd, json, schemastore] = &folders[..] else {
        bail!("the folders of four suites are expected; `cargo xtask conformance` gives them");
    };
    let sandbox = Sandbox::new()?;
    let timed = |name: &str, run: &dyn Fn() -> Result<Vec<Test>>| {
        let start = Instant::now();
        let tests = run()?;
        eprintln!("conformance: {name}: {} tests in {:.1} s", tests.len(), start.elapsed().as_secs_f64());
        anyhow::Ok(tests)
    };
    let suites = [
        timed(json_schema::NAME, &|| json_schema::run(&sandbox, json_schema))?,
        timed(jtd::NAME, &|| jtd::run(&sandbox, jtd))?,
        timed(json::NAME, &|| json::run(&sandbox, json))?,
        timed(schemastore::NAME, &|| schemastore::run(&sandbox, schemastore))?,
    ];
    table::write(&suites, sandbox.backtracked())
}

/// Returns all that is in a folder, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// Returns a file beside this one.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance").join(name)
}

/// Reads a file that is maintained by hand beside this one.
fn kept<T: DeserializeOwned>(name: &str) -> Result<T> {
    let text = fs::read(beside(name)).with_context(|| name.to_owned())?;
    serde_json::from_slice(&text).with_context(|| name.to_owned())
}
