//! JSONTestSuite: what is JSON (RFC 8259), what is not, and what the RFC leaves free.

use std::{
    cmp::Reverse,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::{
    Test, entries, kept,
    sandbox::{ACCEPTED, Contract, Said, Sandbox, is_json, with_each},
};

pub(crate) const NAME: &str = "JSONTestSuite";

const DECISIONS: &str = "decisions.json";

/// A decision where the RFC leaves the choice free, or where valid JSON is rejected nevertheless.
#[derive(Deserialize)]
struct Decision {
    /// The verdict, in the word of `Said`.
    verdict: String,
    why: String,
    /// Names of files.
    tests: Vec<String>,
}

pub(crate) fn run(sandbox: &Sandbox, suite: &Path) -> Result<Vec<Test>> {
    let decisions: Vec<Decision> = kept(DECISIONS)?;
    let name = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries(suite)?.into_iter().map(name).collect();
    // Those that must be read come first, those that are left free last.
    names.sort_by_key(|name| Reverse(name.bytes().next()));
    for name in decisions.iter().flat_map(|decision| &decision.tests) {
        ensure!(names.contains(name), "{DECISIONS}: there is no {name}");
    }
    let tests = with_each(&names, |name| -> Result<Test> {
        let text = fs::read(suite.join(name))?;
        let verdict = sandbox.judge(&Contract::of("schema", "true"), &text);
        let decided: Vec<&str> =
            decisions.iter().filter(|decision| decision.tests.contains(name)).map(|one| one.verdict.as_str()).collect();
        let said = Said::by(&verdict);
        let word = said.word.as_str();
        let is_json = verdict.as_ref().is_ok_and(is_json);
        let as_decided = if decided.is_empty() { word == ACCEPTED } else { decided == [word] };
        let (group, as_expected) = match name.as_bytes().first() {
            Some(b'y') => ("is JSON", is_json && as_decided),
            Some(b'n') => ("is not JSON", verdict.is_ok() && !is_json && decided.is_empty()),
            _ => ("is left free by RFC 8259", !decided.is_empty() && as_decided),
        };
        Ok(Test { group: group.to_owned(), name: name.clone(), failure: (!as_expected).then_some(said) })
    })?;
    tests.into_iter().collect()
}

/// Returns the decisions as a table. The run has checked them against the actual verdicts.
pub(crate) fn decided() -> Result<String> {
    let mut out = "| verdict | why | tests |\n| --- | --- | --- |\n".to_owned();
    for Decision { verdict, why, tests } in kept::<Vec<Decision>>(DECISIONS)? {
        let tests: Vec<String> = tests.iter().map(|name| format!("`{}`", name.trim_end_matches(".json"))).collect();
        writeln!(out, "| {verdict} | {why} | {} |", tests.join(", "))?;
    }
    Ok(out)
}
