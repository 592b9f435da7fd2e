//! The protocol of all engines, and the timing.
//!
//! `PROGRAM plan FILE` reads a plan, compiles all its contracts, and prints the number of documents in the plan.
//! Programs in Rust also print the features of their `serde_json`. Then the program answers each line of standard input
//! with one line of JSON. For the number of a document, the answer is `{"valid": …, "nanos": …}` or `{"error": "…"}`.
//! For `peak`, it is the peak memory of the process, `{"peak_kb": …}`, or `null` in its place if another process does
//! the work. The program ends with its input.

use std::{
    fs,
    hint::black_box,
    io::{BufRead, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::features;

/// The plan of the measurements, as `plan.rs` writes it.
#[derive(Deserialize)]
pub struct Plan {
    /// The schemas.
    pub sets: Vec<Set>,
    /// The documents to judge.
    pub documents: Vec<Document>,
    /// The component that contains all contracts.
    pub component: PathBuf,
    /// Components that contain a few contracts each.
    pub components: Vec<PathBuf>,
}

/// A schema.
#[derive(Deserialize)]
pub struct Set {
    /// The name that the results show, and the agent of the contract.
    pub name: String,
    /// The file with the schema.
    pub schema: PathBuf,
    /// The file with the contract that has this schema.
    pub contract: PathBuf,
    /// The reason why seamgate rejects the contract, if it does.
    pub refused: Option<String>,
}

/// A document that is judged by the schema of a set.
#[derive(Deserialize)]
pub struct Document {
    /// The index of its set.
    pub set: usize,
    /// The file with its text.
    pub path: PathBuf,
}

/// A validator.
pub trait Engine {
    /// A compiled schema.
    type Compiled;

    /// Compiles a schema.
    fn compile(&mut self, set: &Set) -> Result<Self::Compiled>;

    /// Judges the bytes of a document.
    fn is_valid(&mut self, compiled: &Self::Compiled, document: &[u8]) -> Result<bool>;

    /// Returns the reason for a rejection, as one word.
    fn reason(&mut self, _: &Self::Compiled, _: &[u8]) -> Option<String> {
        None
    }

    /// Answers a line that only this engine supports.
    fn answer(&mut self, line: &str, _: &Plan, _: &[Result<Self::Compiled>]) -> Result<Value> {
        anyhow::bail!("nothing answers {line:?}")
    }
}

/// Reads the plan that the program's arguments name.
pub fn plan() -> Result<Plan> {
    let path = std::env::args().nth(2).context("usage: PROGRAM plan FILE")?;
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// Answers until the input ends.
pub fn serve(plan: &Plan, mut engine: impl Engine) -> Result<()> {
    let compiled: Vec<_> = plan.sets.iter().map(|set| engine.compile(set)).collect();
    converse(plan, |line| match line.parse::<usize>() {
        Ok(index) => {
            let document = &plan.documents[index];
            let bytes = fs::read(&document.path)?;
            Ok(match &compiled[document.set] {
                Ok(compiled) => judge(&mut engine, compiled, &bytes),
                Err(error) => json!({ "error": format!("{error:#}") }),
            })
        }
        Err(_) if line == "peak" => Ok(json!({ "peak_kb": peak()? })),
        Err(_) => engine.answer(line, plan, &compiled),
    })
}

/// Reports that the program is ready, and answers each line until the input ends.
pub fn converse(plan: &Plan, mut answer: impl FnMut(&str) -> Result<Value>) -> Result<()> {
    say(&json!({ "documents": plan.documents.len(), "serde_json": features::enabled() }))?;
    std::io::stdin().lock().lines().try_for_each(|line| say(&answer(&line?)?))
}

fn judge<E: Engine>(engine: &mut E, compiled: &E::Compiled, bytes: &[u8]) -> Value {
    match engine.is_valid(compiled, bytes) {
        Ok(valid) => {
            let nanos = nanos(|| engine.is_valid(compiled, black_box(bytes)).is_ok());
            let reason = if valid { None } else { engine.reason(compiled, bytes) };
            json!({ "valid": valid, "nanos": nanos, "reason": reason })
        }
        Err(error) => json!({ "error": format!("{error:#}") }),
    }
}

fn say(answer: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{answer}")?;
    Ok(out.flush()?)
}

/// Returns the median time of a call. The programs of the other engines measure in the same way.
pub fn nanos(mut call: impl FnMut() -> bool) -> f64 {
    let start = Instant::now();
    let mut warm_up = 0_u32;
    while warm_up == 0 || start.elapsed() < Duration::from_millis(3) {
        black_box(call());
        warm_up += 1;
    }
    // Each reading of the clock covers at least 20 µs of work.
    let each = start.elapsed().as_nanos() as f64 / f64::from(warm_up);
    let batch = (20_000.0 / each).ceil() as u32;
    let mut samples: Vec<f64> = Vec::new();
    let start = Instant::now();
    let enough = |samples: usize, elapsed: Duration| match samples {
        0..3 => false,
        3..11 => elapsed > Duration::from_millis(100),
        _ => elapsed > Duration::from_millis(8),
    };
    while !enough(samples.len(), start.elapsed()) {
        let sample = Instant::now();
        for _ in 0..batch {
            black_box(call());
        }
        samples.push(sample.elapsed().as_nanos() as f64 / f64::from(batch));
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Returns the peak memory of this process.
fn peak() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
