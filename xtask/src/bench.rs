//! The benchmark. It installs the other validators into `target/bench`, pinned by version and digest.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use crate::{
    guest,
    install::{environment, has_node, has_python, packages, remove},
    python,
    run::{cargo, command, run, say},
    source::schemastore,
};

/// The folder where the other validators are installed.
const FOLDER: &str = "target/bench";

/// The files that pin the versions of the other validators.
const PINNED: &str = "tests/bench";

/// The other validators in Rust, by the suffixes of their packages' names. Each is built separately, as its users build
/// it: Cargo unifies the features of all packages that it builds together, and seamgate needs features of `serde_json`
/// that make it slower.
const PEERS: [&str; 6] = ["blaze", "boon", "generated", "jsonschema", "serde-json", "simd-json"];

/// The folder where SchemaStore's distribution has its schemas.
const SCHEMAS: &str = "vendor/schemastore/src/schemas/json";

/// The folder with the programs of these validators. Building the whole workspace does not overwrite them there.
const PEERS_FOLDER: &str = "target/bench/peers";

pub(crate) fn bench() -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    install_python()?;
    install_node()?;
    guest::validator()?;
    python::figure(&Path::new(FOLDER).join("python-call.json"))?;
    build()?;
    // If a figure misses its target, this fails, but only after writing the results.
    let figures = cargo(["bench", "--locked", "--bench", "engines"]);
    cargo(["bench", "--locked", "--bench", "kernel"])?;
    figures
}

/// Runs the benchmarks that are useful while working on speed.
pub(crate) fn rust() -> Result<()> {
    build()?;
    cargo(["bench", "--locked", "--bench", "engines", "--", "--rust"])
}

/// The number of requests in a round, the number of rounds, and the highest permitted cost of counting.
const REQUESTS: usize = 100_000;
const ROUNDS: usize = 15;
const MOST: f64 = 1.03;

/// Measures the cost of `seamgate check --ndjson --metrics`: the shortest time of all rounds with the option, divided
/// by the shortest time without it. The verdicts are small, and all in one warm sandbox, so that counting is as
/// noticeable as possible.
pub(crate) fn metrics() -> Result<()> {
    let folder = Path::new(FOLDER).join("metrics");
    fs::create_dir_all(&folder)?;
    let (contract, requests) = (folder.join("order.contract.json"), folder.join("requests.ndjson"));
    let schema =
        r#"{"agent":"order","schema":{"type":"object","required":["sku"],"properties":{"count":{"minimum":1}}}}"#;
    fs::write(&contract, schema)?;
    let mut text = String::new();
    for number in 0..REQUESTS {
        let output = match number % 5 {
            0 => r#"{\"count\":0}"#.to_owned(),
            _ => format!(r#"{{\"sku\":\"A-{number}\",\"count\":{number},\"note\":\"{}\"}}"#, "x".repeat(number % 200)),
        };
        writeln!(text, r#"{{"id":{number},"agent":"order","output":"{output}"}}"#)?;
    }
    fs::write(&requests, text)?;
    let mut least = [Duration::MAX; 2];
    for round in 0..2 * ROUNDS {
        let mut check = command("target/release/seamgate");
        check.args(["check", "--ndjson", "--warm", "-j1", "-c"]).args([&contract, &requests]);
        let is_counting = round % 2 == 1;
        if is_counting {
            check.arg("--metrics").arg(folder.join("bench.prom"));
        }
        let start = Instant::now();
        let status = check.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let taken = &mut least[usize::from(is_counting)];
        *taken = start.elapsed().min(*taken);
        ensure!(status.code() == Some(1), "seamgate check ended with {status}");
    }
    let [alone, counting] = least.map(|least| least.as_secs_f64());
    let ratio = counting / alone;
    say(&format!(
        "{REQUESTS} verdicts, the least of {ROUNDS} rounds: {alone:.3} s, with --metrics {counting:.3} s: {ratio:.3} times"
    ));
    ensure!(ratio <= MOST, "it may be {MOST} times");
    Ok(())
}

/// Builds the engines to measure, and the programs that measure them.
fn build() -> Result<()> {
    // For the validators that are generated when their package is built.
    let schemas = fs::canonicalize(schemastore()?)?.join(SCHEMAS);
    for peer in PEERS {
        let build = ["build", "--profile", "peers", "--locked", "--bins", "--target-dir", PEERS_FOLDER, "--package"];
        let package = format!("seamgate-bench-{peer}");
        run(command("cargo").args(build).arg(package).env("SEAMGATE_BENCH_SCHEMAS", &schemas))?;
    }
    // No package is named, for the same reason as in `guest::build`.
    cargo(["build", "--release", "--locked", "--bins", "--examples"])
}

/// Installs the validators for Python.
fn install_python() -> Result<()> {
    let python = Path::new(FOLDER).join("python");
    let requirements = Path::new(PINNED).join("python/requirements.txt");
    if !has_python() {
        say("skipping Python's validators: python3 with its module venv is missing");
        return remove(&python);
    }
    environment("python3", &python, &requirements, &[], "installing Python's validators")
}

fn install_node() -> Result<()> {
    let node = Path::new(FOLDER).join("node");
    if !has_node() {
        say("skipping the validators for JavaScript: node with npm is missing");
        return remove(&node);
    }
    packages(&node, &Path::new(PINNED).join("node"), "installing validators for JavaScript")
}
