//! Every hostile case has the required outcome at default limits. After each case, the gate judges as before.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, LazyLock, OnceLock},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, anyhow, ensure};
use seamgate::{Fault, Gate, Request, Usage};
use seamgate_core::is_hidden;
use seamgate_tests::{
    hostile::{Asked, Attack, attacks, folder},
    suite::{Trial, trial},
};
use serde_json::{Value, value::RawValue};

/// A contract that is registered beside the hostile ones, and an output of its agent that is partly invalid.
const NEIGHBOUR: &str = include_str!("../../hostile/contract.json");
const ORDINARY: &str = r#"Here it is:
```json
{"list": [{"id": "a"}, {"id": 1}, {"id": "c"}]}
```"#;

/// Texts up to this length are also sent through `wire`.
const SHORT: usize = 100_000;

/// The attacked gate, and the neighbour's verdict before the attacks.
static GATE: LazyLock<(Gate, (String, u64))> = LazyLock::new(|| {
    let mut gate = Gate::new().expect("a gate");
    gate.register(NEIGHBOUR).expect("the contract of the neighbour");
    let before = neighbour(&gate);
    (gate, before)
});

/// Returns a test for each attack, and the tests that use all attacks together.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let held: Arc<[Held]> = attacks()?.into_iter().map(|attack| Held { attack, came: OnceLock::new() }).collect();
    let mut trials = Vec::new();
    for (number, Held { attack, .. }) in held.iter().enumerate() {
        let one = Arc::clone(&held);
        trials.push(trial(&attack.name, move || one[number].came().map(drop)));
        if matches!(attack.asked, Asked::Verdict { .. }) && attack.name.starts_with("text/") {
            let one = Arc::clone(&held);
            trials.push(trial(format!("{}, shown", attack.name), move || shown(&one[number].attack)));
        }
    }
    trials.push(trial("table_is_up_to_date", {
        let held = Arc::clone(&held);
        move || table_is_up_to_date(&held)
    }));
    trials.push(trial("attacks_at_once_do_not_touch_what_is_judged_beside_them", move || attacks_at_once(&held)));
    Ok(trials)
}

/// An attack and its outcome. The first test that needs the outcome runs the attack.
struct Held {
    attack: Attack,
    came: OnceLock<Result<Came>>,
}

impl Held {
    fn came(&self) -> Result<&Came> {
        let (gate, before) = &*GATE;
        let came = self.came.get_or_init(|| hold(gate, &self.attack, before));
        came.as_ref().map_err(|error| anyhow!("{error:#}"))
    }
}

/// The outcome of an attack.
struct Came {
    /// The outcome in the words of `must`.
    outcome: String,
    /// The report, the fault or the answer, as JSON text.
    json: String,
    /// The usage, if it is known. A fault does not contain it.
    usage: Option<Usage>,
}

fn ask(gate: &Gate, attack: &Attack) -> Came {
    match &attack.asked {
        Asked::Verdict { contract, output } => match gate.validate_with(contract, &Request::new("", output)) {
            Ok(verdict) => {
                let json = verdict.report.to_json();
                Came { outcome: of_report(&value(&json)), json, usage: Some(verdict.usage) }
            }
            Err(fault) => of_fault(&fault),
        },
        Asked::Wire { request } => match gate.call(request) {
            Ok(answer) => {
                Came { outcome: of_answer(&value(&answer.json)), json: answer.json, usage: Some(answer.usage) }
            }
            Err(fault) => of_fault(&fault),
        },
    }
}

/// Parses a report, a fault or an answer without its output, which may be too deep for this parser.
fn value(json: &str) -> Value {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json).expect("an object");
    let read = |(name, value): (String, Box<RawValue>)| {
        let value = match name.as_str() {
            "output" => Value::Null,
            "report" => self::value(value.get()),
            _ => serde_json::from_str(value.get()).unwrap_or_else(|error| panic!("{name}: {error}")),
        };
        (name, value)
    };
    Value::Object(members.into_iter().map(read).collect())
}

/// Returns the disposition, and the keyword of the first violation if there is one.
fn of_report(report: &Value) -> String {
    let disposition = report["disposition"].as_str().unwrap_or("no disposition");
    match report["error"]["violations"][0]["keyword"].as_str() {
        Some(keyword) => format!("{disposition}: {keyword}"),
        None => disposition.to_owned(),
    }
}

/// Returns the code, and the place of the first violation if there is one.
fn fault_words(code: &str, path: Option<&str>) -> String {
    path.map_or_else(|| code.to_owned(), |path| format!("{code}: {path}"))
}

fn of_fault(fault: &Fault) -> Came {
    let path = fault.violations().first().map(|violation| violation.path.as_str());
    Came { outcome: fault_words(fault.code(), path), json: fault.to_json(), usage: None }
}

fn of_answer(answer: &Value) -> String {
    let fault = &answer["fault"];
    match (answer.get("report"), fault["fault"].as_str()) {
        (Some(report), _) => of_report(report),
        (None, Some(code)) => fault_words(code, fault["detail"]["violations"][0]["path"].as_str()),
        (None, None) => "result".to_owned(),
    }
}

/// Returns whether an outcome is the expected one. The expectation of a fault may omit the place.
fn is_as_it_must_be(must: &str, outcome: &str) -> bool {
    outcome == must || (!must.contains(": ") && outcome.split(": ").next() == Some(must))
}

/// Returns the first character that hides text, moves the cursor, or changes the text direction. The text is for a
/// person or a model.
fn hidden(text: &str) -> Option<char> {
    text.chars().find(|character| *character != '\n' && is_hidden(*character))
}

/// Members with unchanged pieces of a text, for programs.
const AS_IT_IS: [&str; 10] =
    ["id", "output", "raw_output", "value", "snippet", "before", "after", "marker", "pointer", "schema_path"];

fn nothing_is_hidden(at: &Value, name: &str) -> Result<()> {
    match at {
        _ if AS_IT_IS.contains(&name) => Ok(()),
        Value::String(text) => match hidden(text) {
            Some(character) => anyhow::bail!("{name} shows {character:?}: {text:?}"),
            None => Ok(()),
        },
        Value::Array(items) => items.iter().try_for_each(|item| nothing_is_hidden(item, name)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| nothing_is_hidden(value, name)),
        _ => Ok(()),
    }
}

/// Returns the native verdict of the core. It is used only if the sandbox stopped by itself.
fn natively(contract: &str, output: &str) -> Result<String, String> {
    let request = seamgate_core::Request { output, ..seamgate_core::Request::default() };
    seamgate_core::Contract::compile(contract)
        .and_then(|contract| seamgate_core::validate(&contract, &request))
        .map(|report| report.to_json())
        .map_err(|fault| fault.to_json())
}

/// Returns the bytes and the fuel of the neighbour's verdict.
fn neighbour(gate: &Gate) -> (String, u64) {
    let verdict = gate.validate(&Request::new("lister", ORDINARY)).expect("a verdict");
    (verdict.report.to_json(), verdict.usage.fuel)
}

/// Runs one attack and checks everything expected of it. Returns its outcome.
fn hold(gate: &Gate, attack: &Attack, before: &(String, u64)) -> Result<Came> {
    let start = Instant::now();
    let came = ask(gate, attack);
    let took = start.elapsed();
    ensure!(
        is_as_it_must_be(&attack.must, &came.outcome),
        "must be {}, is {} after {took:.1?}: {:.300}",
        attack.must,
        came.outcome,
        came.json
    );
    ensure!(neighbour(gate) == *before, "the next verdict is another one");

    let again = ask(gate, attack);
    ensure!(came.json == again.json, "another time it has other bytes");
    let fuel = |came: &Came| came.usage.as_ref().map(|usage| (usage.fuel, usage.memory));
    ensure!(fuel(&came) == fuel(&again), "another time it takes {:?}, not {:?}", fuel(&again), fuel(&came));
    nothing_is_hidden(&value(&came.json), "")?;

    if let Asked::Verdict { contract, output } = &attack.asked {
        let stopped = matches!(
            came.outcome.as_str(),
            "out_of_fuel" | "out_of_memory" | "stack_overflow" | "timeout" | "input_too_large" | "trap"
        );
        if !stopped {
            let native = natively(contract, output).unwrap_or_else(|fault| fault);
            ensure!(native == came.json, "natively it is {native:.300}");
        }
        let is_json = serde_json::from_str::<&RawValue>(contract).is_ok();
        if is_json && contract.len() + output.len() <= SHORT && !came.outcome.starts_with("bad_contract") {
            let request = format!("{{\"contract\":{contract},\"output\":{}}}", Value::from(output.as_str()));
            let outcome = gate.call(&request).map_or_else(|fault| of_fault(&fault).json, |answer| answer.json);
            let expected = match came.json.starts_with("{\"fault\"") {
                false => format!("{{\"id\":null,\"report\":{}}}", came.json),
                // The rest of the fault describes the limit, which refers to another length.
                true => outcome.split(',').next().unwrap_or_default().to_owned(),
            };
            ensure!(outcome.starts_with(&expected), "through wire it is {outcome:.300}");
        }
    }
    Ok(came)
}

/// Checks the table at the end of `tests/hostile/README.md`.
fn table_is_up_to_date(held: &[Held]) -> Result<()> {
    const BEGIN: &str = "<!-- the table: written by `cargo xtask bless` -->\n";
    let rows = held.iter().map(|held| Ok((&held.attack, held.came()?))).collect::<Result<Vec<_>>>()?;
    let path = folder().join("README.md");
    let readme = fs::read_to_string(&path)?;
    let (words, table) = readme.split_once(BEGIN).context("README.md does not say where the table begins")?;
    let is = table_of(&rows);
    if same_but_for_figures(table, &is) {
        return Ok(());
    }
    ensure!(
        std::env::var_os("BLESS").is_some(),
        "tests/hostile/README.md differs; if that is meant, `cargo xtask bless` rewrites it"
    );
    Ok(fs::write(&path, format!("{words}{BEGIN}{is}"))?)
}

fn table_of(rows: &[(&Attack, &Came)]) -> String {
    let mut groups: BTreeMap<&str, Vec<&(&Attack, &Came)>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.0.name.split('/').next().unwrap_or_default()).or_default().push(row);
    }
    let mut table = String::new();
    for (group, rows) in groups {
        let _ = write!(
            table,
            "\n## {group}\n\n| case | attack | outcome | fuel | memory |\n| --- | --- | --- | --: | --: |\n"
        );
        for (attack, came) in rows {
            let name = attack.name.rsplit('/').next().unwrap_or_default();
            let about = attack.about.replace('|', "\\|").replace('*', "\\*");
            let (fuel, memory) = came.usage.as_ref().map_or(Default::default(), |usage| {
                (figure(usage.fuel as f64 / 1e6), figure(usage.memory as f64 / 1024.0 / 1024.0))
            });
            let _ = writeln!(table, "| `{name}` | {about} | {} | {fuel} | {memory} |", attack.must);
        }
    }
    table
}

/// Returns a number rounded to two digits.
fn figure(number: f64) -> String {
    match number {
        10.0.. => {
            let scale = 10_f64.powf(number.log10().floor() - 1.0);
            format!("{:.0}", (number / scale).round() * scale)
        }
        1.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// Returns whether two tables are equal, except that figures may differ by a quarter because of different compilers.
fn same_but_for_figures(a: &str, b: &str) -> bool {
    let cells = |text: &str| text.lines().flat_map(|line| line.split('|')).map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (cells(a), cells(b));
    let near = |a: f64, b: f64| (a - b).abs() <= 0.25 * a.max(b);
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| match (a.trim().parse(), b.trim().parse()) {
            (Ok(a), Ok(b)) => near(a, b),
            _ => a == b,
        })
}

fn attacks_at_once(held: &[Held]) -> Result<()> {
    let (gate, before) = &*GATE;
    thread::scope(|scope| {
        let beside = |thread| {
            held.iter().skip(thread).step_by(4).try_for_each(|Held { attack, .. }| {
                // The clock runs for all attacks at the same time, so this test does not check for timeouts.
                drop(ask(gate, attack));
                ensure!(neighbour(gate) == *before, "beside {}, the neighbour's verdict is another one", attack.name);
                Ok(())
            })
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || beside(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

/// Checks that the command line shows a person no characters that hide text or move the cursor, both as a picture and
/// while it runs an agent.
fn shown(attack: &Attack) -> Result<()> {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hostile").join(&attack.name);
    fs::create_dir_all(&place)?;
    fs::write(place.join("a.contract.json"), attack.contract())?;
    fs::write(place.join("output.txt"), attack.output())?;
    let check = seamgate(&place, &["check", "--picture", "-c", "a.contract.json", "output.txt"])?;
    let run = seamgate(&place, &["run", "-c", "a.contract.json", "--", "cat", "output.txt"])?;
    let lint = seamgate(&place, &["lint", "a.contract.json"])?;
    for (what, bytes) in
        [("check", &check.stdout), ("check", &check.stderr), ("run", &run.stderr), ("lint", &lint.stdout)]
    {
        let text = String::from_utf8(bytes.clone()).context("UTF-8")?;
        if let Some(character) = hidden(&text) {
            anyhow::bail!("`seamgate {what}` shows {character:?}: {text:?}");
        }
    }
    ensure!(!check.stdout.is_empty() || !check.stderr.is_empty(), "nothing is shown");
    Ok(())
}

fn seamgate(place: &Path, arguments: &[&str]) -> Result<Output> {
    // The binary of this build is beside the folder of the tests.
    let test = std::env::current_exe()?;
    let binary = test.parent().and_then(|folder| folder.parent()).context("target/PROFILE")?.join("seamgate");
    let mut command = Command::new(binary);
    command.args(arguments).current_dir(place).env_remove("RUST_LOG").env("NO_COLOR", "1").stdin(Stdio::null());
    Ok(command.output()?)
}
