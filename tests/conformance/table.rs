//! The results as Markdown: what is the same in each run, and nothing else.

use std::{fmt::Write, fs, process::ExitCode};

use anyhow::Result;

use crate::{
    Test, beside, json, json_schema, jtd,
    reasons::{Reason, Reasons},
    schemastore,
};

/// Write the table; a run in which something is not explained fails, and writes nothing.
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

/// How many tests there are, and how many pass.
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
    writeln!(out, "# What the suites say\n")?;
    writeln!(
        out,
        "`cargo xtask conformance` loads the suites of other projects, pinned by version and digest, runs each test \
         through the built-in component with the limits that are the host's defaults, and writes this file. It fails \
         where a test fails that [`reasons.json`](reasons.json) does not name, and where one passes that it names.\n"
    )?;
    writeln!(out, "{table}")?;
    writeln!(out, "{} {backtracked} of all tests.\n", ASKED.trim_start())?;
    writeln!(out, "## What fails, and why\n")?;
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
    writeln!(out, "## What JSON leaves free, and what is decided\n")?;
    writeln!(
        out,
        "The word is `accepted`, or the keyword of the violation that rejects. A text counts as read as JSON where the \
         error is not `malformed_json` or `extraction_failed`: so the tests whose names begin with `y` pass, and the two \
         here are rejected afterwards.\n"
    )?;
    out.push_str(&json::decided()?);
    Ok(out)
}

/// How the suites are asked, where that is not plain.
const ASKED: &str = "
- Each schema is a contract of its own: caps at their most, no marked blocks, and the whole text as the document. Schemas
  that name no dialect get that of their suite.
- JSON-Schema-Test-Suite: `format` annotates in the required tests and is asserted in the others, as they expect. Remotes
  that a schema refers to are among the contract's `resources`. Draft 3 and the draft to come are no dialects of contracts.
- JSON Type Definition: a test passes where the verdict is right and the places of all violations are those of the
  vector, in the document (`pointer`) and in the definition (`schema_path`), no more and no fewer.
- SchemaStore: schemas refer to each other through `resources`. Documents in YAML (1.2, core schema) and TOML are made
  JSON first. Each schema is a test too, and passes where it makes a contract.
- A schema whose pattern the linear engine does not take is asked again with `\"patterns\": \"backtracking\"`, as the fault
  says:";

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
