//! Measures decisions, observations and steps: natively, in a warm instance, and in a fresh instance with the profile
//! baked in. Compares the times with reading the same documents with `serde_json`. Also measures the speed of
//! sanitizing texts. `cargo xtask bench` runs this program, which writes `results/kernel.md`.

mod cleaning;

use std::{
    fmt::Write as _,
    fs,
    hint::black_box,
    io::{BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use seamgate::{Component, Gate, Instance, Limits, Options};
use seamgate_kernel::{Profile, advance, observe, permit};
use serde_json::{Value, json};

/// The number of rounds and their length. Each measurement takes turns with the others, and its shortest time counts.
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(40);

const AGENT: &str = "reader";

/// The number of events of the long run.
const EVENTS: usize = 1_000;

fn profile() -> String {
    let line = json!({"type": "object", "required": ["at", "message"], "properties": {"at": {"type": "string"}, "message": {"type": "string"}}});
    let lines =
        json!({"type": "object", "required": ["lines"], "properties": {"lines": {"type": "array", "items": line}}});
    json!({"agent": AGENT, "tools": [
        {"name": "search_logs", "effect": "read", "permit": "allow", "scope": [{"path": "$.service", "list": "services"}],
         "arguments": {"type": "object", "required": ["service"], "properties": {"service": {"type": "string"}}},
         "result": {"schema": lines, "items": "$.lines[*]"}},
        {"name": "read_file", "effect": "read", "permit": "allow"},
    ], "prompt": {"role": "You read logs.", "max_bytes": 4_000_000},
       "final": {"contract": {"agent": "answer", "schema": {"type": "object", "required": ["cause"]}}},
       "budget": {"steps": 100_000, "tool_calls": 1_000_000, "same_call": 1000}})
    .to_string()
}

fn facts() -> String {
    json!({"run": "r1", "at": 1_790_000_000_000_u64, "principal": "anna", "nonce": "c0ffee00c0ffee00",
        "lists": {"services": ["payment-api", "cart"]}, "used": {"tool_calls": 3}})
    .to_string()
}

/// Returns a log of about this many bytes, as lines of an object.
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
    /// The document to process: the call, the result or the state.
    document: String,
    what: What,
}

enum What {
    Permit,
    Observe { call: String },
    Advance { event: String },
}

impl Job {
    fn natively(&self, profile: &Profile, facts: &str) -> Result<String, seamgate_core::Fault> {
        match &self.what {
            What::Permit => permit(profile, facts, &self.document),
            What::Observe { call } => observe(profile, facts, call, &self.document),
            What::Advance { event } => advance(profile, Some(&self.document), event),
        }
    }

    fn inside(&self, instance: &mut Instance, facts: &str) -> Result<(), seamgate::Fault> {
        match &self.what {
            What::Permit => instance.permit(AGENT, facts, &self.document),
            What::Observe { call } => instance.observe(AGENT, facts, call, &self.document),
            What::Advance { event } => instance.advance(AGENT, Some(&self.document), event),
        }
        .map(|answer| drop(black_box(answer)))
    }
}

fn jobs(profile: &Profile) -> Result<Vec<Job>> {
    let call = |tool: &str, arguments: Value| json!({"key": "c1", "tool": tool, "arguments": arguments}).to_string();
    let logs_of = call("search_logs", json!({"service": "payment-api"}));
    let file = call("read_file", json!({"path": "a.log"}));
    let sizes = [("1 KB", 1_000), ("100 KB", 100_000), ("5 MB", 5_000_000)];
    let mut jobs = vec![Job { name: "permit".to_owned(), document: logs_of.clone(), what: What::Permit }];
    for (name, bytes) in sizes {
        let observe = |of: &str, call: &String, document| Job {
            name: format!("observe, {name} of {of}"),
            document,
            what: What::Observe { call: call.clone() },
        };
        jobs.push(observe("JSON", &logs_of, logs(bytes)));
        jobs.push(observe("text", &file, text(bytes)));
    }
    for count in [0, 5, 20, 80] {
        let (asked, under_way) = states(profile, count)?;
        let advance = |of: &str, (document, event): (String, String)| Job {
            name: format!("advance, {of}, {count} observations of 1 KB before"),
            document,
            what: What::Advance { event },
        };
        jobs.push(advance("a call", asked));
        jobs.push(advance("a result of 1 KB", under_way));
    }
    Ok(jobs)
}

/// A run in the native kernel.
struct Played<'p> {
    profile: &'p Profile,
    at: u64,
    state: Option<String>,
    model: String,
}

impl<'p> Played<'p> {
    fn start(profile: &'p Profile) -> Result<Self> {
        let mut played = Played { profile, at: 1_790_000_000_000, state: None, model: String::new() };
        let started = json!({"type": "started", "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00",
            "lists": {"services": ["payment-api", "cart"]}});
        played.send(started)?;
        Ok(played)
    }

    fn event(&mut self, mut event: Value) -> String {
        self.at += 1;
        event["at"] = self.at.into();
        event.to_string()
    }

    fn send(&mut self, event: Value) -> Result<()> {
        let event = self.event(event);
        let step =
            advance(self.profile, self.state.as_deref(), &event).map_err(|fault| anyhow!("{}", fault.message))?;
        let step: Value = serde_json::from_str(&step)?;
        if let Some(key) = step["actions"][0]["key"].as_str().filter(|_| step["actions"][0]["type"] == "ask_model") {
            key.clone_into(&mut self.model);
        }
        self.state = Some(step["state"].to_string());
        Ok(())
    }

    fn call(&self, number: usize) -> Value {
        let call = json!({"tool": "search_logs", "arguments": {"service": "payment-api", "page": number}});
        json!({"type": "model_output", "key": self.model, "calls": [call], "usage": {"input": 100, "output": 10}})
    }

    fn result(number: usize) -> Value {
        let mut event: Value = serde_json::from_str(&logs(1_000)).unwrap_or_default();
        event["type"] = "tool_result".into();
        event["call"] = format!("c{number}").into();
        event
    }
}

/// Returns two states of a run that has read this many results: when the model requests a call, and when the result
/// arrives. Each has its next event.
fn states(profile: &Profile, count: usize) -> Result<((String, String), (String, String))> {
    let mut run = Played::start(profile)?;
    for number in 1..=count {
        run.send(run.call(number))?;
        run.send(Played::result(number))?;
    }
    let call = run.call(count + 1);
    let asked = (run.state.clone().unwrap_or_default(), run.event(call.clone()));
    run.send(call)?;
    let result = run.event(Played::result(count + 1));
    Ok((asked, (run.state.unwrap_or_default(), result)))
}

/// Measures each event of a long run whose state is passed back and forth.
fn long_run(profile: &Profile, instance: &mut Instance) -> Result<(f64, f64, usize)> {
    let mut run = Played::start(profile)?;
    let mut times = [0.0; 2];
    for number in 1..=EVENTS / 2 {
        for event in [run.call(number), Played::result(number)] {
            let state = run.state.clone();
            let text = run.event(event.clone());
            run.at -= 1;
            let start = Instant::now();
            black_box(advance(profile, state.as_deref(), &text)).map_err(|fault| anyhow!("{}", fault.message))?;
            times[0] += start.elapsed().as_secs_f64();
            let start = Instant::now();
            black_box(instance.advance(AGENT, state.as_deref(), &text)?);
            times[1] += start.elapsed().as_secs_f64();
            run.send(event)?;
        }
    }
    let us = times.map(|time| time / EVENTS as f64 * 1e6);
    Ok((us[0], us[1], run.state.map_or(0, |state| state.len())))
}

/// The program that reads documents with `serde_json` alone. This program itself has features of `serde_json` that make
/// it slower.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The file with the document to read.
    document: PathBuf,
}

impl Peer {
    fn start() -> Result<Self> {
        // target/release/deps/kernel-…
        let program = std::env::current_exe()?;
        let installed = program.ancestors().nth(3).context("no target folder")?.join("bench");
        let program = installed.join("peers/peers/bench-serde-json");
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started; `cargo xtask bench` builds it", program.display()))?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let document = installed.join("run/kernel.json");
        fs::create_dir_all(installed.join("run"))?;
        let mut peer = Peer { child, input, output, document };
        let features = &peer.answer()?["serde_json"];
        ensure!(*features == json!([]), "{} was built with the features {features}", program.display());
        Ok(peer)
    }

    /// Sets the document to read.
    fn take(&mut self, document: &str) -> Result<()> {
        Ok(fs::write(&self.document, document)?)
    }

    /// Returns the mean time of one round.
    fn round(&mut self) -> Result<Duration> {
        writeln!(self.input, "{}", self.document.display())?;
        let answer = self.answer()?;
        let nanos = answer["nanos"].as_f64().with_context(|| answer.to_string())?;
        Ok(Duration::from_secs_f64(nanos / 1e9))
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("invalid answer {line:?}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the mean time of a call in one round.
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
    let mut peer = Peer::start()?;

    let mut out = String::from(
        "# What decisions, observations and steps cost\n\nMicroseconds, the least of 15 rounds in turn; written by `cargo xtask bench`. \
         `serde_json` reads the same result, call or state as a value, in a program of its own.\n\n\
         | | bytes | serde_json | native | warm | fresh, baked | native / serde_json | warm / native |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for job in jobs(&native)? {
        let mut times = [Duration::MAX; 4];
        peer.take(&job.document)?;
        for _ in 0..ROUNDS {
            let measured = [
                peer.round()?,
                least(|| black_box(job.natively(&native, &facts)).map(drop).map_err(wrong))?,
                least(|| Ok(job.inside(&mut warm, &facts)?))?,
                least(|| Ok(job.inside(&mut fresh.instance(), &facts)?))?,
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
            job.document.len(),
            us[0],
            us[1],
            us[2],
            us[3],
            us[1] / us[0],
            us[2] / us[1]
        )?;
    }
    let (in_process, inside, bytes) = long_run(&native, &mut warm)?;
    writeln!(
        out,
        "\nA run of {EVENTS} events whose state is handed to and fro takes {in_process:.0} us an event natively and {inside:.0} us in a warm \
         instance. Its state has {bytes} bytes in the end.\n"
    )?;
    out.push_str(&cleaning::table());
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/results");
    fs::create_dir_all(&results)?;
    fs::write(results.join("kernel.md"), &out)?;
    println!("{out}");
    Ok(())
}
