//! Tests that the kernel uses the defaults in `schemas/profile.schema.json`. In all cases of calls and runs, a profile
//! with explicit defaults decides like the same profile without them.

use std::{collections::BTreeSet, sync::LazyLock};

use seamgate_kernel::{Profile, advance, observe, permit, project, surface};
use seamgate_tests::{
    calls::{CallCase, call_cases},
    runs::{AUDIENCES, RunCase, journal, run_cases},
};
use serde_json::{Value, json};

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../schemas/profile.schema.json")).expect("JSON"));

/// Members that the kernel ignores: the gate for MCP reads `equal_calls`, and
/// `tests/gate-core/equal-calls-run-each.txt` tests its default.
const NOT_OF_DECISIONS: [&str; 1] = ["/tools/*/equal_calls"];

/// The outcome of a case whose profile is invalid.
const INVALID: &str = "invalid";

/// A case of calls or runs, with its profile as a JSON value.
struct Case {
    name: String,
    profile: Value,
    of: Of,
}

enum Of {
    Call(Box<CallCase>),
    Run(Box<RunCase>),
}

/// Reads all cases whose profile is JSON.
fn cases() -> Vec<Case> {
    let calls = call_cases().expect("calls").into_iter();
    let calls = calls.map(|case| (format!("calls/{}", case.name), case.profile.clone(), Of::Call(Box::new(case))));
    let runs = run_cases().expect("runs").into_iter();
    let runs = runs.map(|case| (format!("runs/{}", case.name), case.profile.clone(), Of::Run(Box::new(case))));
    let read =
        |(name, text, of): (String, String, Of)| Some(Case { name, profile: serde_json::from_str(&text).ok()?, of });
    calls.chain(runs).filter_map(read).collect()
}

impl Case {
    /// Returns the outcome of the case under a profile. Digests and the rules of children are removed because they
    /// depend on the profile's bytes.
    fn outcome(&self, profile: &Value) -> String {
        let Ok(profile) = Profile::compile(&profile.to_string()) else { return INVALID.to_owned() };
        let text = match &self.of {
            Of::Call(case) => match (&case.listed, &case.result) {
                (Some(listed), _) => surface(&profile, &case.facts, Some(listed)),
                (None, None) => permit(&profile, &case.facts, &case.call),
                (None, Some(result)) => observe(&profile, &case.facts, &case.call, result),
            }
            .unwrap_or_else(|fault| fault.to_json()),
            Of::Run(case) => {
                let mut lines = Vec::new();
                let played = case.play(|state, event| {
                    advance(&profile, state, event).map_err(|fault| fault.to_json()).inspect(|step| {
                        lines.push(without_bytes(step));
                    })
                });
                // A placeholder of a later event may have no value under this profile.
                if let Err(error) = &played {
                    lines.push(error.to_string());
                }
                let journal = played.and_then(|played| journal(&played)).unwrap_or_default();
                for line in journal.iter().filter(|line| line.starts_with("{\"record\"")) {
                    lines.extend(AUDIENCES.map(|audience| project(&profile, line, audience).unwrap_or_default()));
                }
                lines.join("\n")
            }
        };
        format!("{} {}", profile.version(), without_digests(&text))
    }
}

/// Returns a step without the parts that depend on the profile's bytes: the rules for children, and digests of events.
fn without_bytes(step: &str) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                // `seen` contains digests of events, and `rules` contains profiles.
                members.retain(|name, _| !["rules", "seen"].contains(&name.as_str()));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut step: Value = serde_json::from_str(step).expect("a step is JSON");
    strip(&mut step);
    step.to_string()
}

fn without_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "sha256:" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

/// Returns the schema to which a schema refers, or the schema itself.
fn definition(schema: &Value) -> &Value {
    schema["$ref"].as_str().map_or(schema, |name| &SCHEMA["$defs"][name.trim_start_matches("#/$defs/")])
}

/// Returns the value of a keyword in a schema, or in the schema to which it refers.
fn keyword<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    definition(schema).get(name).or_else(|| schema.get(name))
}

/// Returns the default of a member. A default beside a reference overrides the default in the referenced definition.
fn default<'s>(schema: &'s Value, name: &str, member: &'s Value) -> Option<&'s Value> {
    schema["properties"][name].get("default").or_else(|| member.get("default"))
}

/// Returns the paths of all members with a default for which [`other`] returns another value.
fn all_defaults() -> BTreeSet<String> {
    fn look(schema: &Value, place: &str, found: &mut BTreeSet<String>) {
        for (name, member) in keyword(schema, "properties").and_then(Value::as_object).into_iter().flatten() {
            let path = format!("{place}/{name}");
            if default(schema, name, member).and_then(|value| other(&path, member, value)).is_some() {
                found.insert(path.clone());
            }
            look(member, &path, found);
        }
        let each = ["items", "additionalProperties"].into_iter().filter_map(|name| keyword(schema, name));
        each.for_each(|each| look(each, &format!("{place}/*"), found));
        let alternatives = keyword(schema, "anyOf").and_then(Value::as_array).into_iter().flatten();
        alternatives.for_each(|alternative| look(alternative, place, found));
    }
    let mut found = BTreeSet::new();
    look(&SCHEMA, "", &mut found);
    found
}

/// Adds the missing members of a value with the defaults that `choose` returns. `choose` receives the member's path,
/// with `*` for any index or chosen name, its schema, and its default.
fn write_out(
    value: &mut Value,
    schema: &Value,
    place: &str,
    choose: &mut dyn FnMut(&str, &Value, &Value) -> Option<Value>,
) {
    let keyword = |name| keyword(schema, name);
    match value {
        Value::Object(members) => {
            for (name, member) in keyword("properties").and_then(Value::as_object).into_iter().flatten() {
                let path = format!("{place}/{name}");
                if let (None, Some(default)) = (members.get(name), default(schema, name, member))
                    && let Some(chosen) = choose(&path, member, default)
                {
                    members.insert(name.clone(), chosen);
                }
                if let Some(value) = members.get_mut(name) {
                    write_out(value, member, &path, choose);
                }
            }
            if let Some(each) = keyword("additionalProperties").filter(|each| each.is_object()) {
                members.values_mut().for_each(|value| write_out(value, each, &format!("{place}/*"), choose));
            }
            for alternative in keyword("anyOf").and_then(Value::as_array).into_iter().flatten() {
                write_out(value, alternative, place, choose);
            }
        }
        Value::Array(items) => {
            if let Some(each) = keyword("items") {
                items.iter_mut().for_each(|value| write_out(value, each, &format!("{place}/*"), choose));
            }
            for alternative in keyword("anyOf").and_then(Value::as_array).into_iter().flatten() {
                write_out(value, alternative, place, choose);
            }
        }
        _ => {}
    }
}

/// Returns the profile with all defaults.
fn whole(profile: &Value) -> Value {
    let mut whole = profile.clone();
    write_out(&mut whole, &SCHEMA, "", &mut |_, _, default| Some(default.clone()));
    whole
}

/// Returns a valid value other than the default. Returns `None` for members whose own members have the defaults.
fn other(path: &str, schema: &Value, default: &Value) -> Option<Value> {
    let schema = definition(schema);
    let words = schema["enum"].as_array().or_else(|| schema["anyOf"][0]["enum"].as_array());
    match default {
        Value::Bool(value) => Some(json!(!value)),
        Value::Number(_) if schema["minimum"] != *default => Some(schema["minimum"].clone()),
        Value::Number(_) => Some(json!(3)),
        Value::String(_) => match words {
            Some(words) => words.iter().find(|word| *word != default).cloned(),
            None => Some(json!("1.2.3")),
        },
        _ if path.ends_with("/labels") && default == &json!([]) => Some(json!(["untrusted"])),
        _ if path.ends_with("/labels") => Some(json!([])),
        _ if path.ends_with("/media") => Some(json!(["text/plain"])),
        _ => None,
    }
}

#[test]
fn profiles_that_write_the_defaults_out_decide_alike() {
    let validator = jsonschema::validator_for(&SCHEMA).expect("a schema");
    for case in cases() {
        let whole = whole(&case.profile);
        let is_valid = |profile: &Value| validator.is_valid(profile);
        assert_eq!(is_valid(&case.profile), is_valid(&whole), "{}: {whole}", case.name);
        let (is, with) = (case.outcome(&case.profile), case.outcome(&whole));
        let (at, _) = { is.chars().zip(with.chars()).enumerate() }.find(|(_, (a, b))| a != b).unwrap_or_default();
        let part = |text: &str| text.chars().skip(at.saturating_sub(200)).take(400).collect::<String>();
        assert!(is == with, "{}:\n  …{}\n  with the defaults written out:\n  …{}", case.name, part(&is), part(&with));
    }
}

#[test]
fn another_value_than_the_default_changes_what_is_decided() {
    let cases = cases();
    let mut defaults: BTreeSet<String> = BTreeSet::new();
    for case in &cases {
        write_out(&mut case.profile.clone(), &SCHEMA, "", &mut |path, schema, default| {
            if other(path, schema, default).is_some() {
                defaults.insert(path.to_owned());
            }
            Some(default.clone())
        });
    }
    let mut before: Vec<Option<String>> = cases.iter().map(|_| None).collect();
    let mut changes_nothing = BTreeSet::new();
    for path in &defaults {
        let mut is_changed = |(case, before): (&Case, &mut Option<String>)| {
            let mut changed = case.profile.clone();
            let mut is_written = false;
            write_out(&mut changed, &SCHEMA, "", &mut |place, schema, default| {
                // An object on the path to the member is added, too.
                let is_on_the_way = path.starts_with(&format!("{place}/"));
                is_written |= place == path;
                if place == path { other(place, schema, default) } else { is_on_the_way.then(|| default.clone()) }
            });
            if !is_written {
                return false;
            }
            let before = before.get_or_insert_with(|| case.outcome(&case.profile));
            let after = case.outcome(&changed);
            after != INVALID && *before != after
        };
        if !cases.iter().zip(&mut before).any(&mut is_changed) {
            changes_nothing.insert(path.as_str());
        }
    }
    assert_eq!(changes_nothing, BTreeSet::from(NOT_OF_DECISIONS), "of {defaults:?}");
    let all = all_defaults();
    let missing: Vec<&String> = all.difference(&defaults).collect();
    assert!(missing.is_empty(), "no case leaves these members out: {missing:?}");
}

#[test]
fn each_default_is_a_value_that_the_schema_takes() {
    fn check(schema: &Value, place: &str, count: &mut usize) {
        let members = schema.as_object().into_iter().flatten();
        if let Some(default) = schema.get("default").filter(|_| !place.ends_with("/properties")) {
            let mut alone = schema.clone();
            alone["$defs"] = SCHEMA["$defs"].clone();
            let validator = jsonschema::validator_for(&alone).unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(validator.is_valid(default), "{place}: {default}");
            *count += 1;
        }
        members.for_each(|(name, value)| check(value, &format!("{place}/{name}"), count));
        for (index, value) in schema.as_array().into_iter().flatten().enumerate() {
            check(value, &format!("{place}/{index}"), count);
        }
    }
    let mut count = 0;
    check(&SCHEMA, "", &mut count);
    assert!(count > 40, "{count} defaults");
}
