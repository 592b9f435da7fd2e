//! Messages for decoders of JSON-RPC and of the Model Context Protocol. `cargo xtask mcp decoders` starts this program.
//!
//! `make COUNT SEED` writes each message that the gate lets through as a line of JSON: `from`, the line `in`, the line `out`, and
//! what the gate `judged`. The last line counts the others. `calls COUNT SEED` writes raw lines, most of them calls of `note`.

mod gate;
mod make;
mod mutate;
mod node;

use std::{
    io::{BufWriter, Write},
    thread,
};

use anyhow::{Context, Result, anyhow, bail};
use seamgate::Party;
use seamgate_tests::Random;
use serde_json::json;

use crate::gate::{Gate, Passed, Refused};

/// The stack of the thread that works: some messages nest thousands of levels deep.
const STACK: usize = 256 * 1024 * 1024;

fn main() -> Result<()> {
    let working = thread::Builder::new().stack_size(STACK).spawn(work)?;
    working.join().map_err(|_| anyhow!("the thread that makes messages panicked"))?
}

fn work() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [part, count, seed] = &arguments[..] else { bail!("expected: make COUNT SEED, or: calls COUNT SEED") };
    let count: usize = count.parse().with_context(|| format!("the count {count:?} must be a number"))?;
    let seed: u64 = seed.parse().with_context(|| format!("the seed {seed:?} must be a number"))?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match part.as_str() {
        "make" => make_messages(count, seed, &mut out)?,
        "calls" => {
            for number in 0..count {
                out.write_all(&make::call(&mut random(seed, number), number))?;
                out.write_all(b"\n")?;
            }
        }
        other => bail!("there is no part {other:?}; there are make and calls"),
    }
    Ok(out.flush()?)
}

/// Returns the choices of one message. Each message has its own, so that a single one can be made again.
fn random(seed: u64, number: usize) -> Random {
    Random(seed.wrapping_mul(0x0001_0000_0001_b3d1) ^ (number as u64) << 20)
}

fn make_messages(count: usize, seed: u64, out: &mut impl Write) -> Result<()> {
    let gate = Gate::new()?;
    let (mut malformed, mut denied) = (0, 0);
    for number in 0..count {
        let mut random = random(seed, number);
        let from = random.one(&[Party::Client, Party::Client, Party::Server]);
        let line = make::message(&mut random, from, number);
        match gate.pass(&line, from) {
            Ok(Passed { line: passed, judged }) => {
                let line = String::from_utf8_lossy(&line);
                let message =
                    json!({ "number": number, "from": from.to_string(), "in": line, "out": passed, "judged": judged });
                serde_json::to_writer(&mut *out, &message)?;
                out.write_all(b"\n")?;
            }
            Err(Refused::Malformed) => malformed += 1,
            Err(Refused::Denied) => denied += 1,
        }
    }
    let counted = json!({ "made": count, "malformed": malformed, "denied": denied });
    Ok(writeln!(out, "{counted}")?)
}
