//! The results as Markdown: what is the same in each run, and nothing else.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, process::ExitCode};

use anyhow::Result;

use crate::{Test, json, json_schema, jtd, reasons::Reasons, schemastore};

/// Write the table; a run in which something is not explained fails, and writes nothing.
pub(crate) fn write(folder: &Path, suites: &[Vec<Test>; 4]) -> Result<ExitCode> {
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
    fs::write(folder.join("README.md"), page(&table, &reasons)?)?;
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
        groups.sort_by_key(|(group, _)| order(group));
        for (group, count) in groups {
            writeln!(out, "| {name} | {group} | {} |", counted(&count))?;
        }
    }
    writeln!(out, "| all | | {} |", counted(&all))?;
    Ok(out)
}

/// The required ones of a draft come before others.
fn order(group: &str) -> usize {
    DRAFT_ORDER.iter().position(|draft| group.starts_with(draft)).unwrap_or(0) * 3
        + ["required", "optional", "format"].iter().position(|part| group.ends_with(part)).unwrap_or(0)
}

const DRAFT_ORDER: [&str; 5] = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"];

fn counted(Count { tests, passed }: &Count) -> String {
    format!("{tests} | {passed} | {}", tests - passed)
}

fn page(table: &str, reasons: &Reasons) -> Result<String> {
    let mut out = String::new();
    writeln!(out, "# Conformance\n\n{table}")?;
    let _ = (&reasons.all, BTreeMap::<u8, u8>::new());
    Ok(out)
}
