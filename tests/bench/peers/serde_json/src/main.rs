//! `serde_json` alone: measures the time to read a document as a value. Each line of standard input is the path of a
//! file. The answer is `{"nanos": …}`, the mean over one round. `kernel.rs` uses the smallest of several.

use std::{
    fs,
    hint::black_box,
    io::{BufRead, Write},
    time::{Duration, Instant},
};

use anyhow::Result;
use seamgate_bench_protocol::features;
use serde_json::{Value, json};

/// The duration of one round.
const ROUND: Duration = Duration::from_millis(40);

fn main() -> Result<()> {
    let mut out = std::io::stdout().lock();
    let mut say = |answer: Value| -> Result<()> {
        writeln!(out, "{answer}")?;
        Ok(out.flush()?)
    };
    say(json!({ "serde_json": features::enabled() }))?;
    for path in std::io::stdin().lock().lines() {
        let document = fs::read_to_string(path?)?;
        let (start, mut times) = (Instant::now(), 0);
        while times == 0 || start.elapsed() < ROUND {
            black_box(serde_json::from_str::<Value>(black_box(&document))?);
            times += 1;
        }
        say(json!({ "nanos": start.elapsed().as_nanos() as f64 / f64::from(times) }))?;
    }
    Ok(())
}
