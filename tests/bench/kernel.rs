//! What decisions and observations cost: natively, in a warm instance, and in a fresh one with the profile baked in; beside
//! reading the same documents with `serde_json`; and how fast texts are cleaned. `cargo xtask bench` runs this, and
//! `results/kernel.md` is what it writes.

mod cleaning;

use std::{
    fmt::Write,
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use seamgate::{Component, Gate, Limits, Options};
use seamgate_kernel::{Profile, observe, permit};
use serde_json::{Value, json};

/// Each is done so long, in rounds with the others, and the least time counts.
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(40);

const AGENT: &str = "reader";

fn profile() -> String {
    let line = json!({"type": "object", "required": ["at", "message"], "properties": {"at": {"type": "string"}, "message": {"type": "string"}}});
    let lines =
        json!({"type": "object", "required": ["lines"], "properties": {"lines": {"type": "array", "items": line}}});
    json!({"agent": AGENT, "tools": [
        {"name": "search_logs", "effect": "read", "permit": "allow", "scope": [{"path": "$.service", "list": "services"}],
         "arguments": {"type": "object", "required": ["service"], "properties": {"service": {"type": "string"}}},
         "result": {"schema": lines, "items": "$.lines[*]"}},
        {"name": "read_file", "effect": "read", "permit": "allow"},
    ], "budget": {"tool_calls": 1_000_000, "same_call": 1000}})
    .to_string()
}

fn facts() -> String {
    json!({"run": "r1", "at": 1_790_000_000_000_u64, "principal": "anna", "nonce": "c0ffee00c0ffee00",
        "lists": {"services": ["payment-api", "cart"]}, "used": {"tool_calls": 3}})
    .to_string()
}

/// A log of about so many bytes, as lines of an object.
fn logs(bytes: usize) -> String {
    let line = |number: usize| {
        json!({"at": format!("2026-09-21T10:{:02}:{:02}Z", number / 60 % 60, number % 60),
        "message": format!("payment-api: request {number} failed: connection pool exhausted after 30000 ms")})
    };
    json!({"result": {"lines": (0..bytes / 135 + 1).map(line).collect::<Vec<_>>()}}).to_string()
}

fn text(bytes: usize) -> String {
    let lines: String = (0..bytes / 88 + 1)
        .map(|number| {
            format!("2026-09-21T10:00:00Z payment-api: request {number:08} failed: connection pool exhausted\n")
        })
        .collect();
    json!({"text": lines}).to_string()
}

struct Job {
    name: String,
    call: String,
    result: Option<String>,
}

impl Job {
    fn bytes(&self) -> usize {
        self.result.as_ref().map_or(self.call.len(), String::len)
    }
}

fn jobs() -> Vec<Job> {
    let call = |tool: &str, arguments: Value| json!({"key": "c1", "tool": tool, "arguments": arguments}).to_string();
    let logs_of = call("search_logs", json!({"service": "payment-api"}));
    let file = call("read_file", json!({"path": "a.log"}));
    let sizes = [("1 KB", 1_000), ("100 KB", 100_000), ("5 MB", 5_000_000)];
    let mut jobs = vec![Job { name: "permit".to_owned(), call: logs_of.clone(), result: None }];
    for (name, bytes) in sizes {
        jobs.push(Job { name: format!("observe, {name} of JSON"), call: logs_of.clone(), result: Some(logs(bytes)) });
        jobs.push(Job { name: format!("observe, {name} of text"), call: file.clone(), result: Some(text(bytes)) });
    }
    jobs
}

/// The least time of one round's average.
fn least(mut once: impl FnMut() -> Result<()>) -> Result<Duration> {
    let (start, mut times) = (Instant::now(), 0);
    while times == 0 || start.elapsed() < ROUND {
        once()?;
        times += 1;
    }
    Ok(start.elapsed() / times)
}

fn main() -> Result<()> {
    let (source, facts) = (profile(), facts());
    let wrong = |fault: seamgate_core::Fault| anyhow!("{}", fault.to_json());
    let native = Profile::compile(&source).map_err(wrong)?;
    let limits = Limits::default().output_bytes(64 << 20);
    let baked = Component::builtin().bake_with(&[] as &[&str], &[&source], &Limits::default())?;
    let fresh = Gate::with(Options::default().component(baked).limits(limits.clone()))?;
    let mut gate = Gate::with(Options::default().limits(limits))?;
    gate.register_profile(&source)?;
    let mut warm = gate.instance();

    let mut out = String::from(
        "# What decisions and observations cost\n\nMicroseconds, the least of 15 rounds in turn; written by `cargo xtask bench`. \
         `serde_json` reads the same result, or call, as a value.\n\n\
         | | bytes | serde_json | native | warm | fresh, baked | native / serde_json | warm / native |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for job in jobs() {
        let mut times = [Duration::MAX; 4];
        for _ in 0..ROUNDS {
            let read = job.result.as_deref().unwrap_or(&job.call);
            let measured = [
                least(|| {
                    black_box(serde_json::from_str::<Value>(black_box(read))?);
                    Ok(())
                })?,
                least(|| {
                    black_box(match &job.result {
                        None => permit(&native, &facts, &job.call),
                        Some(result) => observe(&native, &facts, &job.call, result),
                    })
                    .map(drop)
                    .map_err(wrong)
                })?,
                least(|| {
                    black_box(match &job.result {
                        None => warm.permit(AGENT, &facts, &job.call)?,
                        Some(result) => warm.observe(AGENT, &facts, &job.call, result)?,
                    });
                    Ok(())
                })?,
                least(|| {
                    black_box(match &job.result {
                        None => fresh.permit(AGENT, &facts, &job.call)?,
                        Some(result) => fresh.observe(AGENT, &facts, &job.call, result)?,
                    });
                    Ok(())
                })?,
            ];
            for (time, measured) in times.iter_mut().zip(measured) {
                *time = (*time).min(measured);
            }
        }
        let us = times.map(|time| time.as_secs_f64() * 1e6);
        writeln!(
            out,
            "| {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} |",
            job.name,
            job.bytes(),
            us[0],
            us[1],
            us[2],
            us[3],
            us[1] / us[0],
            us[2] / us[1]
        )?;
    }
    out.push_str(&cleaning::table());
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/results");
    fs::create_dir_all(&results)?;
    fs::write(results.join("kernel.md"), &out)?;
    println!("{out}");
    Ok(())
}
