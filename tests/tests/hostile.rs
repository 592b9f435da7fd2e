//! Every hostile case has the outcome it must have, at default limits; and after each the gate judges as before.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use seamgate::{Fault, Gate, Request, Usage};
use seamgate_core::is_hidden;
use seamgate_tests::hostile::{Asked, Attack, attacks, folder};
use serde_json::{Value, value::RawValue};

/// A contract that is registered beside the hostile ones, and an output of its agent: a part of it is bad.
const NEIGHBOUR: &str = include_str!("../hostile/contract.json");
const ORDINARY: &str = r#"Here it is:
```json
{"list": [{"id": "a"}, {"id": 1}, {"id": "c"}]}
```"#;

/// One test at a time: the clock runs for each attack while others run.
static ONE: Mutex<()> = Mutex::new(());

/// Texts up to this long are asked through `wire` too.
const SHORT: usize = 100_000;

fn gate() -> Gate {
    let mut gate = Gate::new().expect("a gate");
    gate.register(NEIGHBOUR).expect("the contract of the neighbour");
    gate
}

/// What came of an attack.
struct Came {
    /// In the words in which `must` is written.
    outcome: String,
    /// The report, the fault or the answer, as JSON text.
    json: String,
    /// What it took, where that is known: a fault does not say.
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

/// A report, a fault or an answer, without its output: that may be deeper than this parser goes.
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

/// `accepted`, or `rejected: ` and the keyword of the first violation.
fn of_report(report: &Value) -> String {
    let disposition = report["disposition"].as_str().unwrap_or("no disposition");
    match report["error"]["violations"][0]["keyword"].as_str() {
        Some(keyword) => format!("{disposition}: {keyword}"),
        None => disposition.to_owned(),
    }
}

/// The code, and the place of what is wrong first, if it has one.
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

/// A fault may be asked for without its place.
fn is_as_it_must_be(must: &str, outcome: &str) -> bool {
    outcome == must || (!must.contains(": ") && outcome.split(": ").next() == Some(must))
}

/// What was shown to a person, or sent to a model, must not hide, move the cursor, or turn the direction of writing.
fn hidden(text: &str) -> Option<char> {
    text.chars().find(|character| *character != '\n' && is_hidden(*character))
}

/// Members that hold pieces of a text as they are, for programs.
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

/// What the core says natively; only asked where the sandbox came to an end by itself.
fn natively(contract: &str, output: &str) -> Result<String, String> {
    let request = seamgate_core::Request { output, ..seamgate_core::Request::default() };
    seamgate_core::Contract::compile(contract)
        .and_then(|contract| seamgate_core::validate(&contract, &request))
        .map(|report| report.to_json())
        .map_err(|fault| fault.to_json())
}

/// The bytes and the fuel of the neighbour's verdict.
fn neighbour(gate: &Gate) -> (String, u64) {
    let verdict = gate.validate(&Request::new("lister", ORDINARY)).expect("a verdict");
    (verdict.report.to_json(), verdict.usage.fuel)
}

/// One attack, held to all that is asked of it; what came of it, and the longest that it took.
fn hold(gate: &Gate, attack: &Attack, before: &(String, u64)) -> Result<(Came, Duration)> {
    let start = Instant::now();
    let came = ask(gate, attack);
    let mut longest = start.elapsed();
    ensure!(
        is_as_it_must_be(&attack.must, &came.outcome),
        "must be {}, is {} after {longest:.1?}: {:.300}",
        attack.must,
        came.outcome,
        came.json
    );
    ensure!(neighbour(gate) == *before, "the next verdict is another one");

    let start = Instant::now();
    let again = ask(gate, attack);
    longest = longest.max(start.elapsed());
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
                // What it says of the limit is about another length.
                true => outcome.split(',').next().unwrap_or_default().to_owned(),
            };
            ensure!(outcome.starts_with(&expected), "through wire it is {outcome:.300}");
        }
    }
    Ok((came, longest))
}

#[test]
fn every_attack_has_the_outcome_it_must_have() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let gate = gate();
    let before = neighbour(&gate);
    let only = std::env::var("ATTACK").unwrap_or_default();
    let attacks = attacks().expect("attacks");
    let mut failed = Vec::new();
    let mut rows = Vec::new();
    let mut times: Vec<(Duration, &str)> = Vec::new();
    for attack in attacks.iter().filter(|attack| attack.name.contains(&only)) {
        match hold(&gate, attack, &before) {
            Ok((came, longest)) => {
                times.push((longest, &attack.name));
                rows.push((attack, came));
            }
            Err(error) => failed.push(format!("{}: {error:#}", attack.name)),
        }
    }
    times.sort();
    times.reverse();
    let longest: Vec<String> = times.iter().take(8).map(|(time, name)| format!("{name} {time:.1?}")).collect();
    println!("{} attacks; the longest: {}", times.len(), longest.join(", "));
    assert!(failed.is_empty(), "{} of {} failed:\n\n{}", failed.len(), attacks.len(), failed.join("\n\n"));
    if only.is_empty() {
        assert!(attacks.len() >= 200, "only {} attacks were found", attacks.len());
        the_table_is_as_it_is(&rows);
    }
}

/// The table in `tests/hostile/README.md`, after its words.
fn the_table_is_as_it_is(rows: &[(&Attack, Came)]) {
    const BEGIN: &str = "<!-- the table: written by `cargo xtask bless` -->\n";
    let path = folder().join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let (words, table) = readme.split_once(BEGIN).expect("where the table begins");
    let is = table_of(rows);
    if std::env::var_os("BLESS").is_some() {
        if !same_but_for_figures(table, &is) {
            fs::write(&path, format!("{words}{BEGIN}{is}")).expect("written");
        }
        return;
    }
    assert!(same_but_for_figures(table, &is), "tests/hostile/README.md differs; if that is meant, `cargo xtask bless`");
}

fn table_of(rows: &[(&Attack, Came)]) -> String {
    let mut groups: BTreeMap<&str, Vec<&(&Attack, Came)>> = BTreeMap::new();
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

/// Two digits.
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

/// Whether two tables say the same; figures may differ by a quarter, for compilers do.
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

#[test]
fn attacks_at_once_do_not_touch_what_is_judged_beside_them() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let gate = gate();
    let before = neighbour(&gate);
    let attacks = attacks().expect("attacks");
    thread::scope(|scope| {
        for thread in 0..4 {
            let (gate, before, attacks) = (&gate, &before, &attacks);
            scope.spawn(move || {
                for attack in attacks.iter().skip(thread).step_by(4) {
                    // The clock runs for all of them at once: whether it is passed is not asked here.
                    drop(ask(gate, attack));
                    assert_eq!(neighbour(gate), *before, "beside {}", attack.name);
                }
            });
        }
    });
}

/// What the command line shows, as a picture and while it runs an agent.
#[test]
fn nothing_that_is_shown_to_a_person_hides_or_moves() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    fs::create_dir_all(&place).expect("a folder");
    let shown = |attack: &Attack| -> Result<()> {
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
    };
    let attacks = attacks().expect("attacks");
    let about_text = attacks
        .iter()
        .filter(|attack| matches!(attack.asked, Asked::Verdict { .. }) && attack.name.starts_with("text/"));
    let failed: Vec<String> = about_text
        .filter_map(|attack| shown(attack).err().map(|error| format!("{}: {error:#}", attack.name)))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn seamgate(place: &PathBuf, arguments: &[&str]) -> Result<Output> {
    // The binary of this build: beside the folder of the tests.
    let test = std::env::current_exe()?;
    let binary = test.parent().and_then(|folder| folder.parent()).context("target/PROFILE")?.join("seamgate");
    let mut command = Command::new(binary);
    command.args(arguments).current_dir(place).env_remove("RUST_LOG").env("NO_COLOR", "1").stdin(Stdio::null());
    Ok(command.output()?)
}
