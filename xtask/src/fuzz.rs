//! The fuzz targets of `tests/fuzz`, run with libFuzzer. A crate contains its source, so nothing is installed, and the
//! ordinary compiler builds it.

use std::{
    fs, iter,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::{
    install::remove,
    run::{command, output, run, say},
    wrapper::instrument,
};

/// The folder for programs, findings and the corpus.
const FOLDER: &str = "target/fuzz";

/// The targets and their dictionaries.
const TARGETS: [(&str, &str); 18] = [
    ("extract", "text"),
    ("parse", "text"),
    ("repair", "text"),
    ("items", "text"),
    ("stream", "text"),
    ("merge", "text"),
    ("claims", "text"),
    ("wire", "wire"),
    ("contract", "contract"),
    ("pattern", "pattern"),
    ("judge", "text"),
    ("clean", "clean"),
    ("profile", "profile"),
    ("decide", "profile"),
    ("run", "run"),
    ("sandbox", "text"),
    ("arena", "text"),
    (GATE, "text"),
];

/// The target that needs Wasmtime. A feature enables it, so that the other targets are built without Wasmtime.
const GATE: &str = "gate";

const FUZZ: &str = "seamgate-fuzz";

/// Packages that are named with the target `gate`, but not built. Because of them, Cargo gives Wasmtime and its
/// dependencies the same features as in the tests, and reuses their compiled form: only crates of the workspace are
/// instrumented.
const SAME_FEATURES: [&str; 3] = ["seamgate-cli", "seamgate-node", "seamgate-tests"];

/// The flags of `cargo fuzz --sanitizer none`: counters at each edge, and traces of comparisons. Overflow is an error.
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
];

/// The longest input, in bytes.
const MAX_LENGTH: &str = "-max_len=4096";

/// The time in seconds after which an input counts as a finding.
const TIMEOUT: &str = "-timeout=30";

pub(crate) fn names() -> [&'static str; TARGETS.len()] {
    TARGETS.map(|(target, _)| target)
}

/// How long a target runs.
#[derive(Clone, Copy)]
pub(crate) enum Span {
    /// This many seconds, starting from the corpus of earlier runs, with other inputs each time.
    Seconds(u32),
    /// This many inputs, starting only from the seeds. They depend only on the code.
    Inputs(u32),
}

/// Runs the named targets, or all targets if none is named, each for `span`.
pub(crate) fn fuzz(span: Span, named: &[String]) -> Result<()> {
    let is_named = |target: &str| named.is_empty() || named.iter().any(|name| name == target);
    let chosen = TARGETS.into_iter().filter(|(target, _)| is_named(target));
    let programs = build(is_named(GATE))?;
    seeds()?;
    let mut counts = Vec::new();
    for (target, dictionary) in chosen {
        counts.push(format!("  {target:<10}{:>12}", run_target(&programs, target, dictionary, span)?));
    }
    println!("inputs of each target, without a finding:\n{}", counts.join("\n"));
    Ok(())
}

fn build(has_gate: bool) -> Result<PathBuf> {
    if output(command("c++").arg("--version")).is_none() {
        bail!("libFuzzer needs a C++ compiler, c++; install g++ or clang");
    }
    let packages = iter::once(FUZZ).chain(has_gate.then_some(SAME_FEATURES).into_iter().flatten());
    let packages = packages.flat_map(|package| ["--package", package]);
    let targets =
        TARGETS.iter().filter(|(target, _)| has_gate || *target != GATE).flat_map(|(target, _)| ["--bin", target]);
    let features = if has_gate { &["--features", "seamgate-fuzz/gate"][..] } else { &[] };
    let mut cargo = command("cargo");
    cargo.args(["build", "--release", "--locked"]).args(packages).args(targets).args(features);
    run(instrument(&mut cargo, &FLAGS)?)?;
    Ok(PathBuf::from("target/release"))
}

/// Runs a target and returns the number of inputs that it processed.
fn run_target(programs: &Path, target: &str, dictionary: &str, span: Span) -> Result<String> {
    let folder = |what: &str| Path::new(FOLDER).join(what).join(target);
    let [seeds, found] = ["seeds", "found"].map(folder);
    let (corpus, length) = match span {
        Span::Seconds(seconds) => (folder("corpus"), vec![format!("-max_total_time={seconds}")]),
        Span::Inputs(inputs) => {
            let corpus = folder("fresh");
            remove(&corpus)?;
            (corpus, vec![format!("-runs={inputs}"), "-seed=1".to_owned(), "-reload=0".to_owned()])
        }
    };
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&found)?;
    say(&match span {
        Span::Seconds(seconds) => format!("fuzz target {target}, {seconds} s"),
        Span::Inputs(inputs) => format!("fuzz target {target}, {inputs} inputs"),
    });
    let log = Path::new(FOLDER).join(format!("{target}.log"));
    let program = programs.join(target);
    let status = command(&program)
        .args([&corpus, &seeds])
        .arg(format!("-dict=tests/fuzz/dictionaries/{dictionary}.dict"))
        .args(length)
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args(["-print_final_stats=1", MAX_LENGTH, TIMEOUT])
        .env("SEAMGATE", "target/release/seamgate")
        .stderr(fs::File::create(&log)?)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        let panic = text.lines().skip_while(|line| !line.contains("panicked")).take(2).collect::<Vec<_>>().join(" ");
        let input = text.lines().find_map(|line| line.split("Test unit written to ").nth(1));
        let again = format!("SEAMGATE=target/release/seamgate {} {}", program.display(), input.unwrap_or("INPUT"));
        bail!("fuzz target {target}: {panic}\n  the log: {}\n  to run the input again: {again}", log.display());
    }
    let count = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    Ok(count.with_context(|| format!("{} does not say how many inputs ran", log.display()))?.trim().to_owned())
}

/// Writes the inputs to start from: all cases, in the form of each target.
fn seeds() -> Result<()> {
    remove(&Path::new(FOLDER).join("seeds"))?;
    let mut number = 0u8;
    for group in folders(Path::new("tests/cases"))? {
        for case in folders(&group)? {
            let own_or_shared = |file: &str| {
                let paths = [case.join(file), group.join(file)];
                let path = paths.iter().find(|path| path.exists()).with_context(|| paths[0].display().to_string())?;
                Ok::<_, anyhow::Error>(fs::read(path)?)
            };
            let contract = own_or_shared("contract.json")?;
            let mut outputs = vec![own_or_shared("output.txt")?];
            outputs.extend((2..).map_while(|attempt| fs::read(case.join(format!("output-{attempt}.txt"))).ok()));
            let name = format!("{}-{}", file_name(&group), file_name(&case));
            let seed = |target: &str, input: &[u8]| {
                let folder = Path::new(FOLDER).join("seeds").join(target);
                fs::create_dir_all(&folder)?;
                fs::write(folder.join(&name), input).context("a seed")
            };
            // The byte before the text selects a contract.
            number = number.wrapping_add(1);
            let chosen = |text: &[u8]| [&[number], text].concat();
            for target in ["extract", "repair", "items", "stream", "sandbox"] {
                seed(target, &chosen(&outputs[0]))?;
            }
            seed("parse", &outputs[0])?;
            // Any bytes are valid: every three of them are a step.
            seed("arena", &outputs[0])?;
            // Any bytes are moves.
            seed(GATE, &outputs[0])?;
            seed("claims", &outputs.join(&0))?;
            // Any bytes are choices.
            seed("judge", &outputs[0])?;
            seed("merge", &chosen(&outputs.join(&0)))?;
            if let Ok(contract) = serde_json::from_slice::<Value>(&contract) {
                seed("contract", contract.to_string().as_bytes())?;
                let register = json!({ "op": "register", "contract": contract });
                let output = String::from_utf8_lossy(&outputs[0]);
                let validate = json!({ "agent": contract["agent"], "output": output });
                seed("wire", format!("{register}\n{validate}").as_bytes())?;
            }
        }
    }
    clean_seeds()?;
    pattern_seeds()?;
    call_seeds()?;
    run_seeds()
}

/// Writes seeds from the runs of `tests/runs`: their first events, and the effect of the last event on the preceding
/// state.
fn run_seeds() -> Result<()> {
    let folder = Path::new(FOLDER).join("seeds/run");
    fs::create_dir_all(&folder)?;
    for group in folders(Path::new("tests/runs"))? {
        for case in folders(&group)? {
            let name = format!("{}-{}", file_name(&group), file_name(&case));
            let events = fs::read_to_string(case.join("events.ndjson"))?;
            // The byte before them selects no state.
            fs::write(folder.join(&name), format!("\0{events}"))?;
            let Ok(state) = fs::read_to_string(case.join("state.json")) else { continue };
            // Long lines of it are truncated.
            let Ok(state) = serde_json::from_str::<Value>(&state) else { continue };
            let last = events.lines().last().unwrap_or_default();
            fs::write(folder.join(format!("{name}-state")), format!("\0!{state}\n{last}\n"))?;
        }
    }
    Ok(())
}

/// Writes seeds from the calls of `tests/calls`, each with its profile.
fn call_seeds() -> Result<()> {
    for group in folders(Path::new("tests/calls"))? {
        for case in folders(&group)? {
            let name = format!("{}-{}", file_name(&group), file_name(&case));
            // The target expects texts without line ends.
            let read = |file: &str| -> Option<String> {
                let text =
                    fs::read_to_string(case.join(file)).or_else(|_| fs::read_to_string(group.join(file))).ok()?;
                serde_json::from_str::<Value>(&text).ok().map(|value| value.to_string())
            };
            let seed = |target: &str, input: &str| {
                let folder = Path::new(FOLDER).join("seeds").join(target);
                fs::create_dir_all(&folder)?;
                fs::write(folder.join(&name), input).context("a seed")
            };
            if let Some(profile) = read("profile.json") {
                seed("profile", &profile)?;
            }
            if let (Some(facts), Some(call)) = (read("facts.json"), read("call.json")) {
                seed("decide", &[facts, call, read("result.json").unwrap_or_default()].join("\n"))?;
            }
        }
    }
    Ok(())
}

/// Writes seeds from the output of PyRIT's converters, and from ordinary texts.
fn clean_seeds() -> Result<()> {
    let folder = Path::new(FOLDER).join("seeds/clean");
    fs::create_dir_all(&folder)?;
    for (number, line) in fs::read_to_string("tests/clean/pyrit.jsonl")?.lines().enumerate() {
        let made: Value = serde_json::from_str(line)?;
        fs::write(folder.join(number.to_string()), format!(" {}", made["text"].as_str().unwrap_or_default()))?;
    }
    for group in folders(Path::new("tests/clean/ordinary"))? {
        for file in fs::read_dir(&group)? {
            let file = file?.path();
            fs::copy(&file, folder.join(format!("{}-{}", file_name(&group), file_name(&file))))?;
        }
    }
    Ok(())
}

/// Writes seeds from the patterns of the comparison with V8, each with its first text.
fn pattern_seeds() -> Result<()> {
    let folder = Path::new(FOLDER).join("seeds/pattern");
    fs::create_dir_all(&folder)?;
    for (number, line) in fs::read_to_string("tests/patterns/made.ndjson")?.lines().enumerate() {
        let made: Value = serde_json::from_str(line)?;
        let [pattern, text] = [&made["pattern"], &made["texts"][0]].map(|text| text.as_str().unwrap_or_default());
        fs::write(folder.join(number.to_string()), format!("{pattern}\n{text}"))?;
    }
    Ok(())
}

fn folders(within: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(within).with_context(|| within.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
