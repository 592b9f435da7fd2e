//! Every run natively, through the component, and through `wire`: the steps are the same, and match the expected ones.
//! Each step has the format of its schema, and decides like `permit` and `observe` with the facts of its state.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::LazyLock,
};

use anyhow::{Context, Result, bail, ensure};
use jsonschema::{Registry, Validator};
use seamgate::Gate;
use seamgate_kernel::Profile;
use seamgate_tests::{
    Random, indented,
    runs::{AUDIENCES, Played, RunCase, cut, journal, member, run_cases, summary, view_request},
    suite::{Trial, core_alone, expect, trial},
    wire::{self, Answer},
};
use serde_json::{Map, Value, json};

/// A gate for `wire`. It needs no registered profile.
static GATE: LazyLock<Gate> = LazyLock::new(|| Gate::new().expect("a gate"));

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas::read().expect("schemas"));

struct Schemas {
    step: Validator,
    event: Validator,
    line: Validator,
    facts: Validator,
}

/// Returns two tests for each run, one unchanged and one with random changes of its events, and one for the table of
/// all runs.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let cases = run_cases()?;
    let names = cases.iter().map(|case| case.name.clone()).collect();
    let mut trials = vec![trial("coverage", move || coverage(&names))];
    trials.extend(cases.iter().cloned().map(|case| trial(case.name.clone(), move || check(&case))));
    trials.extend(cases.into_iter().map(|case| trial(format!("{}, at random", case.name), move || at_random(&case))));
    Ok(trials)
}

fn check(case: &RunCase) -> Result<()> {
    let profile = compiled(case)?;
    let played = case.play(|state, event| natively(&profile, state, event))?;
    // A person wrote this value, and blessing does not change it.
    let is: Vec<String> = played.iter().map(|one| summary(&one.step)).collect();
    ensure!(
        case.must == is,
        "it must lead to:\n{}\nand leads to:\n{}\n{}",
        case.must.join("\n"),
        is.join("\n"),
        last(&played)
    );
    for one in &played {
        same_decisions(&profile, one)?;
    }
    let lines = journal(&played)?;
    has_format(&played, &lines)?;
    let views = views(&lines, |line, audience| {
        seamgate_kernel::project(&profile, line, audience).map_err(|fault| fault.message)
    })?;
    if !core_alone() {
        elsewhere(case, &played, &lines, &views)?;
    }
    expect(&case.folder, "journal.ndjson", "", &cut(&joined(&lines)))?;
    if case.folder.join("views.ndjson").exists() {
        expect(&case.folder, "views.ndjson", "", &cut(&joined(&views)))?;
    }
    let steps = || played.iter().rev().filter_map(|one| one.step.as_ref().ok());
    if let Some(state) = { steps() }.find_map(|step| member(step, "state").ok()) {
        expect(&case.folder, "state.json", "", &cut(&indented(&state)))?;
    }
    if case.folder.join("prompt.json").exists() {
        let prompt = { steps() }.find_map(|step| last_prompt(step)).unwrap_or_default();
        expect(&case.folder, "prompt.json", "", &cut(&indented(&prompt)))?;
    }
    Ok(())
}

fn compiled(case: &RunCase) -> Result<Profile> {
    Profile::compile(&case.profile).map_err(|fault| anyhow::anyhow!("profile.json: {}", fault.message))
}

fn natively(profile: &Profile, state: Option<&str>, event: &str) -> Answer {
    seamgate_kernel::advance(profile, state, event).map_err(|fault| fault.to_json())
}

/// Checks that the steps and views through the component and through `wire` are the same, byte for byte.
fn elsewhere(case: &RunCase, played: &[Played], lines: &[String], views: &[String]) -> Result<()> {
    let mut gate = Gate::new()?;
    let agent = gate.register_profile(&case.profile)?.agent;
    let mut instance = gate.instance();
    for one in played {
        let answer = instance.advance(&agent, one.state.as_deref(), &one.event);
        let component = answer.map(|answer| answer.json).map_err(|fault| fault.to_json());
        ensure!(one.step == component, "native and component differ:\n  {:?}\n  {component:?}", one.step);
        wire::same(&one.step, &through_wire(&one.wire_request(&case.profile))?)?;
    }
    let component = self::views(lines, |line, audience| {
        let answer = instance.project(&agent, line, audience);
        answer.map(|answer| answer.json).map_err(|fault| fault.to_string())
    })?;
    ensure!(component == views, "views differ natively and in the component");
    let wire = self::views(lines, |line, audience| {
        through_wire(&view_request(&case.profile, line, audience)).map_err(|error| error.to_string())?
    })?;
    ensure!(wire == views, "views differ natively and through wire");
    Ok(())
}

/// Returns the answer without its envelope.
fn through_wire(request: &str) -> Result<Answer> {
    let answer = GATE.call(request)?.json;
    wire::unwrapped(&answer).with_context(|| answer.clone())
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns each audience's view of each line.
fn views(lines: &[String], mut project: impl FnMut(&str, &str) -> Result<String, String>) -> Result<Vec<String>> {
    let mut views = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for audience in AUDIENCES {
            let view = project(line, audience).map_err(|fault| anyhow::anyhow!(fault))?;
            if !view.ends_with("\"view\":null}") {
                views.push(format!("{{\"line\":{},\"shown\":{view}}}", index + 1));
            }
        }
    }
    Ok(views)
}

fn last_prompt(step: &str) -> Option<String> {
    let actions: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(&member(step, "actions").ok()?).ok()?;
    actions.iter().rev().find_map(|action| member(action.get(), "prompt").ok())
}

fn last(played: &[Played]) -> String {
    let step = played.last().map(|one| one.step.clone().unwrap_or_else(|fault| fault)).unwrap_or_default();
    let mut step: Value = serde_json::from_str(&step).unwrap_or_default();
    step["state"] = Value::Null;
    step.to_string()
}

impl Schemas {
    fn read() -> Result<Self> {
        let schema = |name: &str| -> Result<Value> {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas").join(format!("{name}.schema.json"));
            let schema: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
            ensure!(jsonschema::draft202012::meta::is_valid(&schema), "{name} is no schema");
            Ok(schema)
        };
        let mut registry = Registry::new();
        for name in ["event", "action", "record", "observation", "facts", "run-state"] {
            let schema = schema(name)?;
            let id = schema["$id"].as_str().context("$id")?.to_owned();
            registry = registry.add(id, schema)?;
        }
        let registry = registry.prepare()?;
        let validator =
            |name| -> Result<Validator> { Ok(jsonschema::options().with_registry(&registry).build(&schema(name)?)?) };
        Ok(Schemas {
            step: validator("step")?,
            event: validator("event")?,
            line: validator("run-journal")?,
            facts: validator("facts")?,
        })
    }
}

fn holds(schema: &Validator, what: &str, value: &Value) -> Result<()> {
    let errors: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{} {error}", error.instance_path())).collect();
    ensure!(errors.is_empty(), "{what} does not match its schema: {errors:?}\n{value}");
    Ok(())
}

/// Checks that each applied event, each step and each line has the format of its schema.
fn has_format(played: &[Played], lines: &[String]) -> Result<()> {
    for one in played {
        let Ok(step) = &one.step else { continue };
        let step: Value = serde_json::from_str(step)?;
        holds(&SCHEMAS.step, "the step", &step)?;
        holds(&SCHEMAS.event, "the event", &serde_json::from_str(&one.event)?)?;
    }
    for line in lines {
        let mut line: Value = serde_json::from_str(line)?;
        if line.get("need").or(line.get("fault")).is_some() {
            continue;
        }
        line["n"] = 1.into();
        line["before"] = "".into();
        if let Some(state) = line.get_mut("state").and_then(Value::as_object_mut) {
            state.retain(|_, value| !value.is_null());
        }
        holds(&SCHEMAS.line, "the line", &line)?;
    }
    Ok(())
}

/// Checks that a step's decisions equal those of `permit` and `observe` with the facts of the state before the step.
fn same_decisions(profile: &Profile, one: &Played) -> Result<()> {
    let (Ok(step), Some(state)) = (&one.step, &one.state) else { return Ok(()) };
    let (step, event): (Value, Value) = (serde_json::from_str(step)?, serde_json::from_str(&one.event)?);
    let before: Value = serde_json::from_str(state)?;
    let records: Vec<&Value> = step["records"].as_array().into_iter().flatten().collect();
    let is = |kinds: &[&str]| records.iter().any(|record| kinds.contains(&record["type"].as_str().unwrap_or_default()));
    // These steps also depend on elapsed time. Their own cases test them.
    if is(&["ignored", "settled"]) || step["need"].is_array() {
        return Ok(());
    }
    let mut facts = before["facts"].clone();
    holds(&SCHEMAS.facts, "the facts", &facts)?;
    // The decision also depends on the event's time and tokens.
    facts["at"] = step["state"]["facts"]["at"].clone();
    for name in ["ms", "tokens"] {
        facts["used"][name] = step["state"]["facts"]["used"][name].clone();
    }
    match event["type"].as_str() {
        Some("model_output") if before["model"]["purpose"] == "step" => {
            let calls = step["state"]["calls"].as_array();
            // A child's budget is deducted from the parent's when it starts.
            let carved = |key: &Value, name: &str| {
                let call = calls.into_iter().flatten().find(|call| call["key"] == *key);
                call.and_then(|call| call["carved"][name].as_u64()).unwrap_or_default()
            };
            let decisions: Vec<_> = records.iter().filter(|record| record["type"] == "decision").collect();
            let tokens: u64 = decisions.iter().map(|record| carved(&record["call"], "tokens")).sum();
            facts["used"]["tokens"] = (facts["used"]["tokens"].as_u64().unwrap_or_default() - tokens).into();
            let made = before["calls_made"].as_u64().unwrap_or_default();
            for record in decisions {
                let key = &record["call"];
                // A queued call has no decision yet. Keys are numbers in the order of the calls.
                let number =
                    key.as_str().and_then(|key| key.strip_prefix('c')?.parse::<u64>().ok()).unwrap_or_default();
                let call = &event["calls"][number.saturating_sub(made + 1) as usize];
                let decision = decided(profile, &facts, &asked(call, key))?;
                same(
                    &decision,
                    record,
                    &["permit", "server", "tool", "effect", "digest", "message", "reasons", "approval"],
                )?;
                take(&mut facts, &decision["facts"]);
                for name in ["tool_calls", "tokens"] {
                    let used = facts["used"][name].as_u64().unwrap_or_default();
                    facts["used"][name] = (used + carved(key, name)).into();
                }
            }
            // The changed facts are equal, too. Equal calls are not counted if no limit applies to them.
            let after = &step["state"]["facts"];
            if after["used"]["calls"] == json!({}) {
                facts["used"]["calls"] = json!({});
            }
            for name in ["used", "labels"] {
                ensure!(facts[name] == after[name], "{name} differ:\n{facts}\n{step}");
            }
        }
        Some("tool_result") if records.iter().filter(|record| record["type"] == "observation").count() == 1 => {
            let Some(record) = records.iter().find(|record| record["type"] == "observation") else { bail!("none") };
            let calls = before["calls"].as_array().into_iter().flatten();
            let Some(call) = { calls }.find(|call| call["key"] == event["call"]) else { bail!("no call") };
            let names = ["status", "result", "text", "head", "tail", "length", "digest"];
            let part = names.iter().filter_map(|name| Some(((*name).to_owned(), event.get(name)?.clone())));
            let result = Value::Object(part.collect::<Map<_, _>>()).to_string();
            let call = asked(call, &call["key"]);
            let made = seamgate_kernel::observe(profile, &facts.to_string(), &call, &result);
            let made: Value = serde_json::from_str(&made.map_err(|fault| anyhow::anyhow!(fault.message))?)?;
            let members = [
                "server",
                "tool",
                "status",
                "id",
                "message",
                "kinds",
                "labels",
                "confidence",
                "complete",
                "limitations",
                "artifact",
                "bytes",
                "found",
            ];
            same(&made, record, &members)?;
            take(&mut facts, &made["facts"]);
            ensure!(facts["labels"] == step["state"]["facts"]["labels"], "labels differ:\n{facts}\n{step}");
        }
        _ => {}
    }
    Ok(())
}

/// Returns a call in the format of `permit`.
fn asked(call: &Value, key: &Value) -> String {
    let arguments = call.get("arguments").cloned().unwrap_or_else(|| "".into());
    let mut asked = json!({"key": key, "tool": call["tool"], "arguments": arguments});
    if let Some(server) = call.get("server") {
        asked["server"] = server.clone();
    }
    asked.to_string()
}

fn decided(profile: &Profile, facts: &Value, call: &str) -> Result<Value> {
    let decision = seamgate_kernel::permit(profile, &facts.to_string(), call);
    Ok(serde_json::from_str(&decision.map_err(|fault| anyhow::anyhow!(fault.message))?)?)
}

fn same(made: &Value, record: &Value, members: &[&str]) -> Result<()> {
    for name in members {
        ensure!(
            made[name] == record[name],
            "{name} differs:\n  by the facts {}\n  in the step {}",
            made[name],
            record[name]
        );
    }
    Ok(())
}

fn take(facts: &mut Value, changed: &Value) {
    for (name, value) in changed.as_object().into_iter().flatten() {
        facts[name] = value.clone();
    }
}

/// The number of random changes of each case's events.
const SHUFFLES: u64 = 4;

/// Checks the events of a case with some of them omitted, repeated or reordered. Each step has the format of its schema
/// and decides like `permit` and `observe`. A run that has ended requests no more actions. No effectful call is sent
/// again after it has started.
fn at_random(case: &RunCase) -> Result<()> {
    let profile = compiled(case)?;
    for seed in 0..SHUFFLES {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.name.len() as u64);
        let mut other = case.clone();
        for _ in 0..3 {
            let last = other.events.len();
            if last < 3 {
                break;
            }
            let (from, to) = (1 + random.below(last - 1), 1 + random.below(last - 1));
            match random.below(3) {
                0 => drop(other.events.remove(from)),
                1 => other.events.swap(from, to),
                _ => other.events.insert(to, other.events[from].clone()),
            }
        }
        // A placeholder may now have no value, and there is less to send again.
        other.events.retain(|event| event["again"].is_null());
        let mut played: Vec<Played> = Vec::new();
        let whole = other.play(|state, event| {
            let step = natively(&profile, state, event);
            played.push(Played { event: event.to_owned(), state: state.map(str::to_owned), step: step.clone() });
            step
        });
        if let Err(error) = whole
            && !error.to_string().contains("stands for nothing")
        {
            return Err(error);
        }
        let mut started = BTreeSet::new();
        for one in &played {
            let what = || format!("seed {seed}, {}", one.event);
            same_decisions(&profile, one).with_context(what)?;
            let Ok(step) = &one.step else { continue };
            let step: Value = serde_json::from_str(step)?;
            holds(&SCHEMAS.step, "the step", &step).with_context(what)?;
            let actions: Vec<&Value> = step["actions"].as_array().into_iter().flatten().collect();
            let before: Value =
                one.state.as_ref().map(|state| serde_json::from_str(state)).transpose()?.unwrap_or_default();
            let has_ended = !matches!(before["status"].as_str(), None | Some("running" | "waiting"));
            ensure!(!has_ended || actions.is_empty(), "{}: a run that has ended acts: {step}", what());
            for action in actions.iter().filter(|action| action["type"] == "execute" && action["effect"] == "effectful")
            {
                ensure!(!started.contains(&action["call"].to_string()), "{}: sent twice: {action}", what());
            }
            for call in step["state"]["calls"].as_array().into_iter().flatten() {
                if call["phase"] == "started" && call["effect"] == "effectful" {
                    started.insert(call["key"].to_string());
                }
            }
        }
    }
    Ok(())
}

/// Checks that `README.md` names exactly the existing cases.
fn coverage(names: &BTreeSet<String>) -> Result<()> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("runs/README.md"))?;
    let groups: BTreeSet<&str> = names.iter().filter_map(|name| name.split('/').next()).collect();
    let words = readme.split('`').skip(1).step_by(2);
    let named: BTreeMap<&str, ()> = words
        .filter(|word| {
            word.split_once('/').is_some_and(|(group, name)| groups.contains(group) && !name.contains(['/', '.']))
        })
        .map(|word| (word, ()))
        .collect();
    let unknown: Vec<_> = named.keys().filter(|name| !names.contains(**name)).collect();
    ensure!(unknown.is_empty(), "runs/README.md names cases that do not exist: {unknown:?}");
    let missing: Vec<_> = names.iter().filter(|name| !named.contains_key(name.as_str())).collect();
    ensure!(missing.is_empty(), "runs/README.md does not name: {missing:?}");
    let empty: Vec<_> = readme.lines().filter(|line| line.starts_with('|') && line.contains("| |")).collect();
    ensure!(empty.is_empty(), "a cell of runs/README.md is empty: {empty:?}");
    Ok(())
}
