//! Every call natively, through the component, and through `wire`: the decision or observation is the same, and matches
//! the expected one.

use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use seamgate::{Decision, Gate, ToolObservation};
use seamgate_kernel::Profile;
use seamgate_tests::{
    calls::{CallCase, call_cases},
    indented,
    suite::{Trial, core_alone, expect, trial},
    wire::{self, Answer},
};
use serde_json::Value;

static GATE: LazyLock<Gate> = LazyLock::new(|| Gate::new().expect("a gate"));

/// The schemas of decisions, observations and surfaces.
static SCHEMAS: LazyLock<[jsonschema::Validator; 3]> = LazyLock::new(|| {
    [
        include_str!("../../../schemas/decision.schema.json"),
        include_str!("../../../schemas/observation.schema.json"),
        include_str!("../../../schemas/surface.schema.json"),
    ]
    .map(|schema| jsonschema::validator_for(&serde_json::from_str(schema).expect("JSON")).expect("a schema"))
});

/// Returns a test for each call.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let trials = call_cases()?.into_iter().map(|case| trial(case.name.clone(), move || check(&case)));
    Ok(trials.collect())
}

fn natively(case: &CallCase) -> Answer {
    let answer = Profile::compile(&case.profile).and_then(|profile| match (&case.listed, &case.result) {
        (Some(listed), _) => seamgate_kernel::surface(&profile, &case.facts, Some(listed)),
        (None, None) => seamgate_kernel::permit(&profile, &case.facts, &case.call),
        (None, Some(result)) => seamgate_kernel::observe(&profile, &case.facts, &case.call, result),
    });
    answer.map_err(|fault| fault.to_json())
}

fn through_component(case: &CallCase) -> Answer {
    let mut gate = Gate::new().map_err(|error| error.to_string())?;
    let answer = gate.register_profile(&case.profile).and_then(|info| match (&case.listed, &case.result) {
        (Some(listed), _) => gate.surface(&info.agent, &case.facts, Some(listed)),
        (None, None) => gate.permit(&info.agent, &case.facts, &case.call),
        (None, Some(result)) => gate.observe(&info.agent, &case.facts, &case.call, result),
    });
    answer.map(|answer| answer.json).map_err(|fault| fault.to_json())
}

/// Returns the answer without its envelope. Returns `None` if a document is not JSON, because such a document cannot be
/// part of a request.
fn through_wire(case: &CallCase) -> Option<Answer> {
    let answer = GATE.call(&case.wire_request()).expect("an answer within the limits").json;
    wire::unwrapped(&answer)
}

fn check(case: &CallCase) -> Result<()> {
    let native = natively(case);
    if !core_alone() {
        let component = through_component(case);
        ensure!(native == component, "native and component differ:\n  {native:?}\n  {component:?}");
        if let Some(wire) = through_wire(case) {
            wire::same(&native, &wire)?;
        }
    }
    let (kind, name) = match (&case.listed, &case.result) {
        (Some(_), _) => (2, "surface.json"),
        (None, Some(_)) => (1, "observation.json"),
        (None, None) => (0, "decision.json"),
    };
    let (file, other, json) = match &native {
        Ok(answer) => (name, "fault.json", answer),
        Err(fault) => ("fault.json", name, fault),
    };
    let value: Value = serde_json::from_str(json).context("the answer is not JSON")?;
    // A person wrote this value, and blessing does not change it.
    let seen = value["tools"].as_array().map(|tools| format!("{} tools", tools.len()));
    let is = ["permit", "status", "fault"].into_iter().find_map(|member| value[member].as_str()).map(str::to_owned);
    let is = is.or(seen).unwrap_or_default();
    ensure!(case.must == is, "it must be {:?}, and is {is:?}: {json}", case.must);
    if native.is_ok() {
        let errors: Vec<String> =
            SCHEMAS[kind].iter_errors(&value).map(|error| format!("{} {error}", error.instance_path())).collect();
        ensure!(errors.is_empty(), "the answer does not match its schema: {errors:?}");
        match kind {
            0 => {
                let decision: Decision = serde_json::from_str(json).context("no decision")?;
                ensure!(decision.is_allowed() == (is == "allow"), "it is allowed: {}", decision.is_allowed());
            }
            1 => {
                let observation: ToolObservation = serde_json::from_str(json).context("no observation")?;
                ensure!(serde_json::to_string(&observation)? == *json, "it is written otherwise: {observation:?}");
            }
            _ => {}
        }
    }
    expect(&case.folder, file, other, &indented(json))
}
