//! Every run natively, through the component, and through `wire`: the same steps, and the expected ones.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use seamgate_kernel::Profile;
use seamgate_tests::{
    indented,
    runs::{AUDIENCES, Played, RunCase, journal, member, run_cases, summary},
    suite::{expect, run, trial},
};
use serde_json::Value;

fn main() -> Result<ExitCode> {
    let trials = run_cases()?.into_iter().map(|case| trial(case.name.clone(), move || check(&case)));
    Ok(run(trials.collect()))
}

fn check(case: &RunCase) -> Result<()> {
    let profile =
        Profile::compile(&case.profile).map_err(|fault| anyhow::anyhow!("profile.json: {}", fault.message))?;
    let played =
        case.play(|state, event| seamgate_kernel::advance(&profile, state, event).map_err(|fault| fault.to_json()))?;
    // A person wrote this: blessing does not change it.
    let is: Vec<String> = played.iter().map(|one| summary(&one.step)).collect();
    ensure!(
        case.must == is,
        "it must lead to:\n{}\nand leads to:\n{}\n{}",
        case.must.join("\n"),
        is.join("\n"),
        last(&played)
    );
    let lines = journal(&played)?;
    expect(&case.folder, "journal.ndjson", "", &joined(&lines))?;
    let views = views(&profile, &lines)?;
    if case.folder.join("views.ndjson").exists() {
        expect(&case.folder, "views.ndjson", "", &joined(&views))?;
    }
    let steps = || played.iter().rev().filter_map(|one| one.step.as_ref().ok());
    if let Some(state) = { steps() }.find_map(|step| member(step, "state").ok()) {
        expect(&case.folder, "state.json", "", &indented(&state))?;
    }
    if case.folder.join("prompt.json").exists() {
        let prompt = { steps() }.find_map(|step| last_prompt(step)).unwrap_or_default();
        expect(&case.folder, "prompt.json", "", &indented(&prompt))?;
    }
    Ok(())
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn views(profile: &Profile, lines: &[String]) -> Result<Vec<String>> {
    let mut views = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for audience in AUDIENCES {
            let view =
                seamgate_kernel::project(profile, line, audience).map_err(|fault| anyhow::anyhow!(fault.message))?;
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
