//! Every case, every call and every step of every run through `wire.call` in other runtimes: the same bytes as in this host's. `cargo xtask runtimes` installs
//! those, and runs this. With a program and its arguments, it asks that program alone: `cargo xtask cross` does so.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, anyhow, ensure};
use seamgate::{Component, Gate, Limits, Options};
use seamgate_core::Fault;
use seamgate_kernel::{Profile, advance, project};
use seamgate_tests::{
    Case,
    calls::call_cases,
    cases,
    fixture::unknown,
    runs::{AUDIENCES, RunCase, journal, run_cases, view_request},
};
use wasmtime::{Engine, InstanceAllocationStrategy};

/// The folder for installed and written files.
const FOLDER: &str = "target/runtimes";

/// The variable that skips the tests that take minutes.
const QUICK: &str = "QUICK";

/// This program's own folder.
const HERE: &str = "tests/runtimes";

/// The JVM's options. HotSpot's warnings go to standard error, because standard output holds the answers alone. The code that it
/// compiles does not fit in the 48 MB that its first compiler gets by default.
const JAVA: [&str; 6] = [
    "-XX:-DontCompileHugeMethods",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+DisplayVMOutputToStderr",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    "-cp",
];

/// A runtime, and what it answers to each request.
struct Runtime {
    name: String,
    /// `true` if each request must use the same fuel as in the library.
    same_fuel: bool,
    answers: Vec<Answer>,
}

/// An answer, and the fuel it took, if that is reported.
struct Answer {
    json: String,
    fuel: Option<u64>,
}

fn main() -> Result<()> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let cases: Vec<Case> = cases()?.iter().flat_map(Case::attempts).collect();
    let calls = call_cases()?;
    let calls = calls.iter().map(|call| (format!("calls: {}", call.name), call.wire_request()));
    let mut steps = Vec::new();
    for case in run_cases()? {
        steps.extend(run_requests(&case)?.into_iter().map(|request| (format!("runs: {}", case.name), request)));
    }
    let (names, requests): (Vec<String>, Vec<String>) =
        cases.iter().map(|case| (case.name.clone(), case.wire_request())).chain(calls).chain(steps).unzip();
    let file = Path::new(FOLDER).join("requests.ndjson");
    fs::write(&file, requests.iter().map(|request| format!("{request}\n")).collect::<String>())?;

    let expected = in_gate(&Gate::new()?, &requests)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (runtimes, skipped) = match arguments.split_first() {
        Some((program, arguments)) => {
            let paths: Vec<&Path> = arguments.iter().map(Path::new).collect();
            let name = "this program".to_owned();
            let answers = in_process(Path::new(program), &paths, &file)?;
            (vec![Runtime { name, same_fuel: true, answers }], Vec::new())
        }
        None => everywhere(&requests, &file)?,
    };

    let table = table(&names, &expected, &runtimes);
    println!("{table}");
    let mut differ = Vec::new();
    for runtime in &runtimes {
        ensure!(
            runtime.answers.len() == requests.len(),
            "{}: {} answers to {} requests",
            runtime.name,
            runtime.answers.len(),
            requests.len()
        );
        let other_fuel = |at: usize| runtime.same_fuel && runtime.answers[at].fuel != expected[at].fuel;
        if let Some(at) = (0..requests.len()).find(|&at| other_fuel(at)) {
            let (fuel, expected) = (runtime.answers[at].fuel, expected[at].fuel);
            differ.push(format!("{}: {}: fuel {fuel:?} and not {expected:?}", runtime.name, names[at]));
        }
        let first = (0..requests.len()).find(|&at| runtime.answers[at].json != expected[at].json);
        differ.extend(first.map(|at| {
            format!("{}: {}:\n  {}\n  {}", runtime.name, names[at], expected[at].json, runtime.answers[at].json)
        }));
    }
    ensure!(differ.is_empty(), "not the same:\n{}", differ.join("\n"));
    if !arguments.is_empty() {
        return Ok(());
    }
    if skipped.is_empty() {
        fs::write(Path::new(HERE).join("README.md"), readme(&table, requests.len()))?;
    } else {
        println!("{HERE}/README.md is left as it was: without {}", skipped.join(" and "));
    }
    Ok(())
}

/// Returns all runtimes that are installed, and those that are not.
fn everywhere(requests: &[String], file: &Path) -> Result<(Vec<Runtime>, Vec<&'static str>)> {
    let wasmtime = locked(include_str!("../../Cargo.lock"), "name = \"wasmtime\"\nversion = \"", "\"")?;
    let here = |how: &str, answers| Runtime { name: format!("Wasmtime {wasmtime}, {how}"), same_fuel: true, answers };
    let mut runtimes =
        vec![here("compiled", in_gate(&Gate::new()?, requests)?), here("interpreted", interpreted(requests)?)];
    let wasmi = locked(include_str!("../../Cargo.lock"), "name = \"wasmi\"\nversion = \"", "\"")?;
    let module = Path::new("host/component/module.wasm");
    runtimes.push(Runtime {
        name: format!("wasmi {wasmi}, core module"),
        same_fuel: false,
        answers: in_process(Path::new("target/release/examples/module"), &[module], file)?,
    });
    let mut skipped = Vec::new();
    let python = Path::new("target/python/bin/python");
    if python.exists() {
        let pin = locked(include_str!("../../host/python/requirements.txt"), "\nwasmtime==", " ")?;
        let program = Path::new(HERE).join("python.py");
        runtimes.push(Runtime {
            name: format!("the native package for {}, Wasmtime {wasmtime}", version(python)?),
            same_fuel: true,
            answers: in_process(python, &[&program], file)?,
        });
        runtimes.push(Runtime {
            name: format!("the package for Python everywhere, Wasmtime {pin}, {}", version(python)?),
            same_fuel: false,
            answers: in_process(python, &[&program, Path::new("target/python/pure")], file)?,
        });
    } else {
        skipped.push("the package for Python");
    }
    let package = Path::new(FOLDER).join("node/node_modules/seamgate");
    if package.exists() {
        let node = Path::new("node");
        let pin = locked(include_str!("../../host/js/package.json"), "jco-transpile\": \"", "\"")?;
        let program = Path::new(HERE).join("node.mjs");
        let answers = |backend| in_process(node, &[&program, &package, Path::new(backend)], file);
        runtimes.push(Runtime {
            name: format!("npm package, native addon, Node {}", version(node)?),
            same_fuel: true,
            answers: answers("native")?,
        });
        runtimes.push(Runtime {
            name: format!("npm package, WebAssembly (jco-transpile {pin}), Node {}", version(node)?),
            same_fuel: true,
            answers: answers("webassembly")?,
        });
    } else {
        skipped.push("the npm package in Node");
    }
    let answers = Path::new("target/go/answers");
    if answers.exists() {
        let wazero = locked(include_str!("../../host/go/go.mod"), "github.com/tetratelabs/wazero v", "\n")?;
        // The interpreter takes minutes.
        let is_quick = std::env::var_os(QUICK).is_some();
        if is_quick {
            skipped.push("wazero's interpreter");
        }
        for how in ["compiler", "interpreter"].into_iter().take(if is_quick { 1 } else { 2 }) {
            runtimes.push(Runtime {
                name: format!("module for Go, wazero {wazero}, {how}"),
                same_fuel: true,
                answers: in_process(answers, &[Path::new(how)], file)?,
            });
        }
    } else {
        skipped.push("the module for Go");
    }
    let java = Path::new("host/java/target");
    if java.join("lib").exists() {
        let chicory = locked(include_str!("../../host/java/pom.xml"), "<chicory>", "</chicory>")?;
        let mut arguments = JAVA.map(str::to_owned).to_vec();
        arguments
            .push(["classes", "test-classes", "lib/*"].map(|part| java.join(part).display().to_string()).join(":"));
        arguments.push("dev.seamgate.Answers".to_owned());
        // The interpreter takes long.
        let is_quick = std::env::var_os(QUICK).is_some();
        if is_quick {
            skipped.push("Chicory's interpreter");
        }
        // The first compiler alone is fastest for the module's code in a run so short, and slows the interpreter threefold.
        let ways: [(&str, &str, &[&str]); 2] = [
            ("compiled to JVM bytecode", "compiled", &["-XX:TieredStopAtLevel=1"]),
            ("interpreter", "host/component/scalar.wasm", &[]),
        ];
        for (how, module, options) in ways.into_iter().take(if is_quick { 1 } else { 2 }) {
            let arguments = options.iter().copied().chain(arguments.iter().map(String::as_str)).chain([module]);
            let arguments: Vec<&Path> = arguments.map(Path::new).collect();
            runtimes.push(Runtime {
                name: format!("package for Java, Chicory {chicory}, {how}"),
                same_fuel: true,
                answers: in_process(Path::new("java"), &arguments, file)?,
            });
        }
    } else {
        skipped.push("the package for Java");
    }
    let answers = Path::new("target/c/programs/answers");
    if answers.exists() {
        let name = format!("C package, Wasmtime {wasmtime}");
        runtimes.push(Runtime { name, same_fuel: true, answers: in_process(answers, &[], file)? });
    } else {
        skipped.push("the C package");
    }
    Ok((runtimes, skipped))
}

/// Returns the requests for each step of a run, with the states that the kernel returns natively; and for the views of
/// each audience, if the case has them.
fn run_requests(case: &RunCase) -> Result<Vec<String>> {
    let failed = |fault: Fault| anyhow!("{}: {}", case.name, fault.message);
    let profile = Profile::compile(&case.profile).map_err(failed)?;
    let step = |state: Option<&str>, event: &str| advance(&profile, state, event).map_err(|fault| fault.to_json());
    let played = case.play(step)?;
    let mut requests: Vec<String> = played.iter().map(|one| one.wire_request(&case.profile)).collect();
    if case.folder.join("views.ndjson").exists() {
        for line in journal(&played)? {
            for audience in AUDIENCES {
                if !project(&profile, &line, audience).map_err(failed)?.ends_with("\"view\":null}") {
                    requests.push(view_request(&case.profile, &line, audience));
                }
            }
        }
    }
    Ok(requests)
}

fn in_gate(gate: &Gate, requests: &[String]) -> Result<Vec<Answer>> {
    let answer = |request: &String| {
        let answer = gate.call(request)?;
        Ok(Answer { json: answer.json, fuel: Some(answer.usage.fuel) })
    };
    requests.iter().map(answer).collect()
}

/// Answers the requests by Wasmtime's interpreter, on an engine that otherwise is a gate's.
fn interpreted(requests: &[String]) -> Result<Vec<Answer>> {
    let options = Options::default()
        .component(Component::from_bytes(unknown(Component::builtin().as_bytes())))
        .slots(1)
        .cache(None);
    let (mut config, pool) = Gate::engine(&Limits::default(), options.slots);
    let failed = |error: wasmtime::Error| anyhow!("{error:#}");
    config.target("pulley64").map_err(failed)?;
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    in_gate(&Gate::on(Engine::new(&config).map_err(failed)?, options)?, requests)
}

/// Asks a program that answers lines with lines, and may report the fuel after a tab: JSON text without optional white
/// space has none.
fn in_process(program: &Path, arguments: &[&Path], requests: &Path) -> Result<Vec<Answer>> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(File::open(requests)?).stderr(Stdio::inherit());
    let output = command.output().with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    let answer = |line: &str| {
        let (json, fuel) = line.split_once('\t').unzip();
        let fuel = fuel.map(str::parse).transpose()?;
        Ok(Answer { json: json.unwrap_or(line).to_owned(), fuel })
    };
    String::from_utf8(output.stdout)?.split_terminator('\n').map(answer).collect()
}

/// Returns the version that a program reports.
fn version(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").output().with_context(|| program.display().to_string())?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Returns the text between two others in a file.
fn locked(file: &str, before: &str, after: &str) -> Result<String> {
    let (_, rest) = file.split_once(before).with_context(|| format!("{before} is not there"))?;
    Ok(rest.split(after).next().unwrap_or(rest).trim().to_owned())
}

/// Returns the number of answers that are the same, by the group of the case.
fn table(names: &[String], expected: &[Answer], runtimes: &[Runtime]) -> String {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        groups.entry(name.split('/').next().unwrap_or_default()).or_default().push(at);
    }
    let row = |name: &str, cells: Vec<String>| format!("| {name} | {} |\n", cells.join(" | "));
    let count = |runtime: &Runtime, of: &[usize], same: fn(&Answer, &Answer) -> bool| {
        let is_same = |&at: &usize| runtime.answers.get(at).is_some_and(|answer| same(answer, &expected[at]));
        format!("{} of {}", of.iter().copied().filter(is_same).count(), of.len())
    };
    let same = |of: &[usize]| {
        runtimes.iter().map(|runtime| count(runtime, of, |answer, expected| answer.json == expected.json)).collect()
    };
    let mut table = row("cases", runtimes.iter().map(|runtime| runtime.name.clone()).collect());
    table.push_str(&row("---", runtimes.iter().map(|_| "---:".to_owned()).collect()));
    for (group, of) in &groups {
        table.push_str(&row(group, same(of)));
    }
    let all: Vec<usize> = (0..names.len()).collect();
    table.push_str(&row("all", same(&all)));
    let fuel = |runtime: &Runtime| match runtime.answers.iter().any(|answer| answer.fuel.is_some()) {
        true => count(runtime, &all, |answer, expected| answer.fuel == expected.fuel),
        false => "–".to_owned(),
    };
    table.push_str(&row("the same fuel", runtimes.iter().map(fuel).collect()));
    table
}

fn readme(table: &str, requests: usize) -> String {
    format!(
        "# The same bytes in other runtimes

`cargo xtask runtimes` writes this page. It sends each case of `tests/cases` to `wire.call` with its contract, each of `tests/calls` with
its profile, and each step of `tests/runs` with its profile and its state. Of the runs that say what each audience is shown, it sends those
views, too. Each request is one line of JSON text, to its own instance: {requests} requests. The first two columns are the library
`seamgate`, with Wasmtime's compiler and with its interpreter. wasmi runs the core module (`guest/README.md`). Python and Node run the
packages of `host/python` and `host/js`, Go the module of `host/go`, and Java the package of `host/java`, through `Gate.call`. Python has two
packages: the native one, and the one for platforms without it. A program in C calls `seamgate_call` of
the shared library of `host/c`.

A cell says how many answers have the same bytes as the library's. `tests/tests/suites/cases.rs` compares those with the expected reports,
`tests/tests/suites/calls.rs` with the expected decisions and observations, and `tests/tests/suites/runs.rs` with the expected steps.
The last line says how many took the same fuel. JavaScript engines have no fuel, so there the component counts. Other versions of
Wasmtime count slightly differently. The core module takes slightly more, because it checks that its bytes are UTF-8. Run on {} with {}.

{table}
",
        match std::env::consts::OS {
            "linux" => "Linux",
            "macos" => "macOS",
            other => other,
        },
        std::env::consts::ARCH,
    )
}
