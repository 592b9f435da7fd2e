//! The results as Markdown, the same in each run.

use std::{fmt::Write, fs, process::ExitCode};

use anyhow::Result;

use crate::{
    Test, beside, json, json_schema, jtd,
    reasons::{Reason, Reasons},
    schemastore,
};

/// Writes the page. A run with an unexplained result fails, and writes nothing.
pub(crate) fn write(suites: &[Vec<Test>; 4], backtracked: usize) -> Result<ExitCode> {
    let tests: Vec<&Test> = suites.iter().flatten().collect();
    let reasons = Reasons::of(&tests)?;
    if !reasons.wrong.is_empty() {
        for wrong in &reasons.wrong {
            eprintln!("{wrong}");
        }
        eprintln!("conformance: {} of {} tests are not as reasons.json has it", reasons.wrong.len(), tests.len());
        return Ok(ExitCode::FAILURE);
    }
    let table = table(suites)?;
    print!("{table}");
    fs::write(beside("README.md"), page(&table, &reasons, backtracked)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The number of tests, and how many of them pass.
#[derive(Default)]
struct Count {
    tests: usize,
    passed: usize,
}

impl Count {
    fn add(&mut self, test: &Test) {
        self.tests += 1;
        self.passed += usize::from(test.failure.is_none());
    }
}

fn table(suites: &[Vec<Test>; 4]) -> Result<String> {
    let names = [json_schema::NAME, jtd::NAME, json::NAME, schemastore::NAME];
    let mut out = "| suite | | tests | passed | failed |\n| --- | --- | ---: | ---: | ---: |\n".to_owned();
    let mut all = Count::default();
    for (name, tests) in names.into_iter().zip(suites) {
        // In the order in which they come.
        let mut groups: Vec<(&str, Count)> = Vec::new();
        for test in tests {
            all.add(test);
            match groups.iter_mut().find(|(group, _)| *group == test.group) {
                Some((_, count)) => count.add(test),
                None => {
                    let mut count = Count::default();
                    count.add(test);
                    groups.push((&test.group, count));
                }
            }
        }
        for (group, count) in groups {
            writeln!(out, "| {name} | {group} | {} |", counted(&count))?;
        }
    }
    writeln!(out, "| all | | {} |", counted(&all))?;
    Ok(out)
}

fn counted(Count { tests, passed }: &Count) -> String {
    format!("{tests} | {passed} | {}", tests - passed)
}

fn page(table: &str, reasons: &Reasons, backtracked: usize) -> Result<String> {
    let mut out = String::new();
    writeln!(out, "# Conformance\n")?;
    writeln!(
        out,
        "`cargo xtask conformance` writes this page. It loads the suites of other projects, pinned by version and \
         digest. It runs each test through the built-in component, with the host's default limits. \
         [`reasons.json`](reasons.json) names the tests that fail. The command fails if another test fails, or if one of \
         these passes.\n"
    )?;
    writeln!(out, "{table}")?;
    writeln!(out, "{} {backtracked} of all tests.\n", ASKED.trim_start())?;
    writeln!(out, "## Failures, with reasons\n")?;
    for Reason { of, verdict, reason, tests } in &reasons.all {
        writeln!(out, "**{of}**, {}, `{verdict}`: {reason}\n", counted_tests(tests.len()))?;
        for (name, drafts) in by_draft(tests) {
            match &drafts[..] {
                [] => writeln!(out, "- {name}")?,
                drafts => writeln!(out, "- {name} ({})", drafts.join(", "))?,
            }
        }
        writeln!(out)?;
    }
    writeln!(out, "## What JSON leaves open, and what seamgate decides\n")?;
    writeln!(
        out,
        "The verdict is `accepted`, or the keyword of the violation that rejects. A text counts as JSON unless the error \
         is `malformed_json` or `extraction_failed`. So the tests whose names begin with `y` pass. The two here are \
         rejected afterwards.\n"
    )?;
    out.push_str(&json::decided()?);
    Ok(out)
}

/// How the tests of each suite are run.
const ASKED: &str = "
- Each schema is a contract of its own, with the highest caps, and without markers: the whole text is the document. A schema
  without a dialect gets that of its suite.
- JSON-Schema-Test-Suite: `format` annotates in the required tests, and is asserted in the others, as they expect. The
  contract's `resources` has the remotes of its schema. Contracts take neither draft 3 nor the next draft.
- JSON Type Definition: a test passes if the verdict is right and the violations have exactly the places of the vector. These
  are places in the document (`pointer`) and in the definition (`schema_path`).
- SchemaStore: schemas refer to each other through `resources`. Documents in YAML (1.2, core schema) and TOML are converted to
  JSON first. Each schema is a test, too: it passes if it makes a contract.
- If the linear engine refuses a pattern, the test runs again with `\"patterns\": \"backtracking\"`, as the fault suggests:";

fn counted_tests(count: usize) -> String {
    match count {
        1 => "1 test".to_owned(),
        count => format!("{count} tests"),
    }
}

/// Tests by their names without the draft, with the drafts in which they fail.
fn by_draft(tests: &[String]) -> Vec<(&str, Vec<&str>)> {
    let mut named: Vec<(&str, Vec<&str>)> = Vec::new();
    for test in tests {
        let (draft, name) = match test.split_once('/') {
            Some((draft, name)) if json_schema::is_draft(draft) => (Some(draft), name),
            _ => (None, test.as_str()),
        };
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, drafts)) => drafts.extend(draft),
            None => named.push((name, draft.into_iter().collect())),
        }
    }
    named
}
