//! Outputs as models and agents write them, each with the verdict that an operator of the pipeline would want. Counts
//! the verdicts that agree. `tests/agreement/README.md` describes how the cases are written, and lists those that do
//! not agree.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use seamgate_core::{Registry, call};
use seamgate_tests::{
    Case, cases_in,
    suite::{Trial, trial},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The marker in README.md after which the test generates the text.
const MARK: &str = "<!-- What follows is written by `BLESS=core cargo test --release -p seamgate-tests --test suites -- agreement/`. -->\n";

/// The verdict that a user would want.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The disposition of a report, or `fault`.
    disposition: String,
    output: Value,
    /// The number of quarantined items.
    #[serde(default)]
    quarantined: usize,
    why: String,
    form: String,
    /// The reason for a different verdict.
    differs: Option<String>,
}

struct Judged {
    name: String,
    wanted: String,
    got: String,
    differs: Option<String>,
}

impl Judged {
    fn agrees(&self) -> bool {
        self.got == self.wanted
    }

    /// Checks that a verdict has a reason if and only if it differs from the wanted one.
    fn check(&self) -> Result<()> {
        match (self.agrees(), &self.differs) {
            (true, Some(_)) => bail!("the verdict agrees: remove \"differs\" from wanted.json"),
            (false, None) => bail!("wanted {}, got {}", self.wanted, self.got),
            _ => Ok(()),
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agreement")
}

/// Returns the answer to a case as parsed JSON, with the reports of several attempts merged.
fn answer(case: &Case) -> Result<Value> {
    let mut registry = Registry::new();
    let mut ask = |request: &str| -> Result<Value> { Ok(serde_json::from_str(&call(&mut registry, request))?) };
    let mut reports = Vec::new();
    for attempt in case.attempts() {
        let answer = ask(&attempt.wire_request())?;
        if case.more.is_empty() || answer.get("fault").is_some() {
            return Ok(answer);
        }
        reports.push(answer["report"].clone());
    }
    let registered = ask(&format!("{{\"op\":\"register\",\"contract\":{}}}", case.contract))?;
    let lists = case.members.get("lists").cloned().unwrap_or_else(|| json!({}));
    let agent = &registered["result"]["agent"];
    ask(&json!({"op": "merge", "agent": agent, "lists": lists, "reports": reports}).to_string())
}

fn judged(case: &Case) -> Result<Judged> {
    let wanted: Wanted = serde_json::from_str(&fs::read_to_string(case.folder.join("wanted.json"))?)?;
    ensure!(!wanted.why.is_empty() && !wanted.form.is_empty(), "why the verdict is wanted and where the form is seen");
    let has_output = matches!(wanted.disposition.as_str(), "accepted" | "partial");
    ensure!(has_output != wanted.output.is_null(), "a verdict {} and output {}", wanted.disposition, wanted.output);
    let answer = answer(case)?;
    let report = &answer["report"];
    let disposition = report["disposition"].as_str().unwrap_or("fault");
    let quarantined = report["quarantined"].as_array().map_or(0, Vec::len);
    let mut got = verdict(disposition, quarantined);
    if disposition == wanted.disposition && report["output"] != wanted.output {
        got.push_str(", another output");
    }
    let name = case.name.clone();
    Ok(Judged { name, wanted: verdict(&wanted.disposition, wanted.quarantined), got, differs: wanted.differs })
}

fn verdict(disposition: &str, quarantined: usize) -> String {
    match quarantined {
        0 => disposition.to_owned(),
        1 => format!("{disposition}, 1 item in quarantine"),
        several => format!("{disposition}, {several} items in quarantine"),
    }
}

/// Returns the part of README.md that depends on the verdicts.
fn table(all: &[Judged], before: &BTreeMap<String, String>) -> String {
    let then = |one: &Judged| before.get(&one.name).map_or("", String::as_str).to_owned();
    let agreed = all.iter().filter(|one| then(one) == one.wanted).count();
    let agree = all.iter().filter(|one| one.agrees()).count();
    let mut text = format!("\nThen, {agreed} of {} agreed; now, {agree} do.\n\n", all.len());
    text.push_str("| name | wanted | verdict then | verdict now |\n| --- | --- | --- | --- |\n");
    for one in all.iter().filter(|one| !one.agrees() || then(one) != one.wanted) {
        text.push_str(&format!("| {} | {} | {} | {} |\n", one.name, one.wanted, then(one), one.got));
    }
    let differing: Vec<_> = all.iter().filter_map(|one| Some((&one.name, one.differs.as_ref()?))).collect();
    if !differing.is_empty() {
        text.push_str("\nWhy a verdict is still another one:\n\n");
        for (name, differs) in differing {
            text.push_str(&format!("- {name}: {differs}\n"));
        }
    }
    text
}

/// Checks that the table in README.md matches these verdicts. `before.json` has the verdicts from before the code
/// was changed.
fn table_is_up_to_date() -> Result<()> {
    let all = cases_in(&folder())?.iter().map(judged).collect::<Result<Vec<_>>>()?;
    let before = serde_json::from_str(&fs::read_to_string(folder().join("before.json"))?)?;
    let path = folder().join("README.md");
    let readme = fs::read_to_string(&path)?;
    let (head, _) = readme.split_once(MARK).context("README.md lacks the mark")?;
    let expected = format!("{head}{MARK}{}", table(&all, &before));
    if std::env::var_os("BLESS").is_some() {
        return Ok(fs::write(&path, &expected)?);
    }
    ensure!(readme == expected, "the table in README.md is out of date: {MARK}");
    Ok(())
}

/// Returns a test for each output, and one for the table.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let cases = cases_in(&folder())?.into_iter();
    let mut trials: Vec<_> = cases.map(|case| trial(case.name.clone(), move || judged(&case)?.check())).collect();
    trials.push(trial("table_is_up_to_date", table_is_up_to_date));
    Ok(trials)
}
