//! Every case natively, through the component, and through `wire`: the three verdicts have the same bytes, and match
//! the expected verdict.

use std::{fs, sync::LazyLock};

use anyhow::{Context, Result, ensure};
use seamgate::{Component, Gate, Options, Report};
use seamgate_checks::changes::changes_give_what_was_validated;
use seamgate_tests::{
    Case, cases, indented,
    suite::{Trial, core_alone, expect, trial},
};
use serde_json::Value;

/// One gate for all cases.
static GATE: LazyLock<Gate> = LazyLock::new(gate);

/// The schema of every report.
static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(include_str!("../../../schemas/report.schema.json")).expect("JSON");
    jsonschema::validator_for(&schema).expect("report.schema.json is a schema")
});

/// Returns a test for each case, and one that runs all of them in a warm instance.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let mut trials: Vec<_> = cases()?.into_iter().map(|case| trial(case.name.clone(), move || check(&case))).collect();
    if !core_alone() {
        trials.push(trial("a_warm_instance_gives_the_same_verdicts", warm_instance));
    }
    Ok(trials)
}

/// A report, or a fault, as JSON text.
type Verdict = Result<String, String>;

fn natively(case: &Case) -> Verdict {
    let judged = seamgate_core::Contract::compile(&case.contract).and_then(|contract| {
        let reports: Vec<_> =
            case.attempts().map(|attempt| report_natively(&contract, &attempt)).collect::<Result<_, _>>()?;
        let attempts: Vec<_> = reports.iter().map(seamgate_core::Attempt::from).collect();
        Ok(match seamgate_core::merge(&contract, &attempts, lists(case), evidence(case))? {
            seamgate_core::Merged::Same(index) => reports[index].to_json(),
            seamgate_core::Merged::New(report) => report.to_json(),
        })
    });
    judged.map_err(|fault| fault.to_json())
}

fn report_natively(
    contract: &seamgate_core::Contract,
    case: &Case,
) -> Result<seamgate_core::Report, seamgate_core::Fault> {
    let (output, invalid_utf8) = case.text();
    let request = seamgate_core::Request {
        agent: case.agent().to_owned(),
        output: &output,
        finish: case.finish().parse().expect("a finish of the format"),
        lists: lists(case),
        evidence: evidence(case).map(Into::into),
        invalid_utf8,
    };
    seamgate_core::validate(contract, &request)
}

fn evidence(case: &Case) -> Option<Vec<seamgate_core::Observation>> {
    case.evidence().map(|evidence| evidence.into_iter().map(seamgate_tests::natively).collect())
}

fn lists(case: &Case) -> Vec<seamgate_core::NamedList> {
    case.lists().into_iter().map(|(name, values)| seamgate_core::NamedList { name, values }).collect()
}

/// Returns a gate with the component under test: the built-in component, or another build of it.
fn gate() -> Gate {
    let component = match std::env::var_os("SEAMGATE_TEST_COMPONENT") {
        Some(path) => Component::from_bytes(fs::read(path).expect("the component under test")),
        None => Component::builtin(),
    };
    Gate::with(Options::default().component(component)).expect("a gate")
}

fn through_component(gate: &Gate, case: &Case) -> Verdict {
    if !case.more.is_empty() {
        return merged_through_component(case);
    }
    gate.validate_with(&case.contract, &case.request(case.agent()))
        .map(|verdict| verdict.report.to_json())
        .map_err(|fault| fault.to_json())
}

/// Returns the merged reports of all attempts. A gate with the contract and its `wire` merge them.
fn merged_through_component(case: &Case) -> Verdict {
    let mut gate = gate();
    let agent = gate.register(&case.contract).map_err(|fault| fault.to_json())?.agent;
    let judged = |attempt: Case| gate.validate(&attempt.request(&agent)).map(|verdict| verdict.report);
    let reports: Vec<Report> =
        case.attempts().map(judged).collect::<Result<_, _>>().map_err(|fault| fault.to_json())?;
    let read = |report: &Report| Report::from_json(&report.to_json()).expect("what to_json wrote");
    let read: Vec<Report> = reports.iter().map(read).collect();
    let merged = gate
        .merge(&read, &case.sent(seamgate::Request::new(&agent, "")))
        .map_err(|fault| fault.to_json())?
        .report
        .to_json();

    let reports: Vec<String> = reports.iter().map(Report::to_json).collect();
    let request = format!(
        "{{\"op\":\"merge\",\"agent\":{},\"lists\":{},\"evidence\":{},\"reports\":[{}]}}",
        Value::from(agent.as_str()),
        case.members.get("lists").unwrap_or(&serde_json::json!({})),
        case.members.get("evidence").unwrap_or(&Value::Null),
        reports.join(",")
    );
    let answer = gate.call(&request).expect("an answer within the limits").json;
    assert_eq!(answer, format!("{{\"id\":null,\"report\":{merged}}}"), "{}", case.name);
    Ok(merged)
}

/// Returns the answer without its envelope. Returns `None` if the contract is not JSON, because such a contract cannot
/// be part of a request.
fn through_wire(gate: &Gate, case: &Case) -> Option<Verdict> {
    if serde_json::from_str::<&serde_json::value::RawValue>(&case.contract).is_err() || !case.more.is_empty() {
        return None;
    }
    let answer = gate.call(&case.wire_request()).expect("an answer within the limits").json;
    let inner = |prefix: &str| answer.strip_prefix(prefix)?.strip_suffix('}').map(str::to_owned);
    match inner("{\"id\":[1.50],\"report\":") {
        Some(report) => Some(Ok(report)),
        // If a request cannot be parsed, its id is unknown.
        None => Some(Err(inner("{\"id\":[1.50],\"fault\":")
            .or(inner("{\"id\":null,\"fault\":"))
            .expect("a report or a fault"))),
    }
}

fn check(case: &Case) -> Result<()> {
    let native = natively(case);
    if !core_alone() {
        let component = through_component(&GATE, case);
        ensure!(native == component, "native and component differ:\n  {native:?}\n  {component:?}");
    }
    match (!core_alone()).then(|| through_wire(&GATE, case)).flatten() {
        Some(wire) if native.is_ok() => {
            ensure!(native == wire, "native and wire differ:\n  {native:?}\n  {wire:?}");
        }
        // In a request, a contract that the parser or the screen rejects makes the whole request invalid. The spans of
        // a contract's violations then refer to another text.
        Some(wire) => {
            let message = |verdict: &Verdict| -> Value {
                let fault: Value = serde_json::from_str(verdict.as_ref().expect_err("a fault")).expect("JSON");
                fault["message"].clone()
            };
            let bad_request = wire.as_ref().is_err_and(|fault| fault.starts_with("{\"fault\":\"bad_request\""));
            ensure!(wire.is_err(), "native gives a fault, wire a report: {wire:?}");
            ensure!(
                bad_request || message(&native) == message(&wire),
                "native and wire differ:\n  {native:?}\n  {wire:?}"
            );
        }
        None => {}
    }
    let (file, other, json) = match &native {
        Ok(report) => ("report.json", "fault.json", report),
        Err(fault) => ("fault.json", "report.json", fault),
    };
    let value: Value = serde_json::from_str(json).context("the verdict is not JSON")?;
    if native.is_ok() {
        let errors: Vec<String> =
            SCHEMA.iter_errors(&value).map(|error| format!("{} {error}", error.instance_path())).collect();
        ensure!(errors.is_empty(), "the report does not match report.schema.json: {errors:?}");
        let feedback = value["feedback"].as_str().unwrap_or_default();
        ensure!(feedback.len() <= 2048, "the feedback has {} bytes", feedback.len());
        ensure!(Report::from_json(json)?.to_json() == *json, "the report reads otherwise than it was written");
    }
    // A merged document is a new text, so these checks do not apply to it.
    if native.is_ok() && case.more.is_empty() {
        let path = serde_json::from_str::<Value>(&case.contract)?["items"]["path"].as_str().map(str::to_owned);
        spans(&value, case)?;
        changes_give_what_was_validated(&value, &case.text().0, path.as_deref())?;
    }
    expect(&case.folder, file, other, &indented(json))
}

/// Checks that every span of a report is within the output.
fn spans(value: &Value, case: &Case) -> Result<()> {
    match value {
        Value::Object(members) => {
            if let Some([start, end]) = members.get("span").and_then(Value::as_array).map(Vec::as_slice) {
                let (start, end) = (start.as_u64().unwrap_or(u64::MAX), end.as_u64().unwrap_or(0));
                ensure!(
                    start <= end && end <= case.output.len() as u64,
                    "the span [{start},{end}] is outside the output"
                );
            }
            members.iter().filter(|(name, _)| *name != "output").try_for_each(|(_, value)| spans(value, case))
        }
        Value::Array(items) => items.iter().try_for_each(|value| spans(value, case)),
        _ => Ok(()),
    }
}

fn warm_instance() -> Result<()> {
    let mut gate = gate();
    let mut registered = Vec::new();
    for case in cases()? {
        if let Ok(info) = gate.register(&case.contract) {
            registered.push((info, case));
        }
    }
    let mut instance = gate.instance();
    for (info, case) in registered.iter().filter(|(_, case)| case.more.is_empty()) {
        let request = case.request(&info.agent);
        let json = |judged: Result<seamgate::Verdict, seamgate::Fault>| match judged {
            Ok(verdict) => verdict.report.to_json(),
            Err(fault) => fault.to_json(),
        };
        let (cold, warm) = (json(gate.validate(&request)), json(instance.validate(&request)));
        ensure!(cold == warm, "{}: the instances differ:\n  {cold}\n  {warm}", case.name);
    }
    Ok(())
}
