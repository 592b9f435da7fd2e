//! The engine Blaze. Its command line reads a value once, and measures many verdicts on it without the reading.
//! Therefore this program adds the time that `simd-json` takes to read the document as its own kind of value.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use seamgate_bench_protocol::protocol::{self, Document};
use serde_json::json;
use simd_json::{Buffers, borrowed};

fn main() -> Result<()> {
    let plan = protocol::plan()?;
    let program: PathBuf = std::env::args().nth(3).context("which program is Blaze's command line?")?.into();
    protocol::converse(&plan, |line| {
        if line == "peak" {
            return Ok(json!({ "peak_kb": null }));
        }
        let document = &plan.documents[line.parse::<usize>()?];
        match judge(&program, &plan.sets[document.set].schema, document) {
            Ok((valid, nanos)) => Ok(json!({ "valid": valid, "nanos": nanos })),
            Err(error) => Ok(json!({ "error": format!("{error:#}") })),
        }
    })
}

/// The program reports only the mean of a run, so the median of several runs is used.
const RUNS: usize = 5;

/// Measures the time from the bytes of a document to its verdict. Returns the verdict and the time.
fn judge(program: &Path, schema: &Path, document: &Document) -> Result<(bool, f64)> {
    let bytes = fs::read(&document.path)?;
    let count = if bytes.len() < 64 * 1024 { "400" } else { "20" };
    let mut valid = false;
    let mut micros = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let mean;
        (valid, mean) = verdict(program, schema, document, count)?;
        micros.push(mean);
    }
    micros.sort_by(f64::total_cmp);
    Ok((valid, micros[RUNS / 2] * 1e3 + reading(&bytes)))
}

/// Returns the verdict on the value of a document, and its mean time in µs.
fn verdict(program: &Path, schema: &Path, document: &Document, count: &str) -> Result<(bool, f64)> {
    let options = ["validate", "--fast", "--benchmark", "--loop", count];
    let output = Command::new(program).args(options).arg(schema).arg(&document.path).output()?;
    // DOCUMENT: PASS 0.733 +- 0.317 us (0.024)
    let text = String::from_utf8(output.stdout)?;
    for (word, valid) in [(": PASS ", true), (": FAIL ", false)] {
        if let Some((_, rest)) = text.rsplit_once(word) {
            let micros = rest.split(' ').next().unwrap_or_default();
            return Ok((valid, micros.parse().with_context(|| text.clone())?));
        }
    }
    bail!("{}", String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default())
}

/// Returns the time for reading a document, in nanoseconds.
fn reading(document: &[u8]) -> f64 {
    let (mut text, mut buffers) = (Vec::new(), Buffers::default());
    protocol::nanos(|| {
        text.clear();
        text.extend_from_slice(document);
        borrowed::to_value_with_buffers(&mut text, &mut buffers).is_ok()
    })
}
