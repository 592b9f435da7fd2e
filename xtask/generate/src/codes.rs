//! The words in reports, faults and findings: one table for `seamgate explain` and `docs/codes.md`.
//!
//! Words of enumerations say in WIT what they mean. The others stand in `codes.json`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::model::{Kind, Model};

const TABLE: &str = include_str!("codes.json");

/// The enumerations whose words are in reports and faults, and what they are words of.
const ENUMERATIONS: [(&str, &str); 10] = [
    ("disposition", "disposition"),
    ("error-kind", "error"),
    ("quarantine-reason", "reason of quarantine"),
    ("change-kind", "change"),
    ("source", "source of a candidate"),
    ("wanted", "wanted"),
    ("merge-outcome", "outcome of a merge"),
    ("fault-code", "fault"),
    ("finish", "finish"),
    ("level", "level of a finding"),
];

struct Code {
    code: String,
    level: Option<String>,
    means: String,
    fix: Option<String>,
}

/// Returns all words, by what they are words of.
fn all(model: &Model) -> Result<Vec<(String, Vec<Code>)>> {
    let table: BTreeMap<String, BTreeMap<String, Vec<String>>> = serde_json::from_str(TABLE)?;
    let mut all = Vec::new();
    for of in ["violation", "keyword", "lint", "lint of profiles", "test", "fault of the host"] {
        let codes = table.get(of).with_context(|| format!("codes.json: {of}"))?.iter().map(|(code, texts)| {
            let mut texts = texts.iter().cloned();
            let level = if of.starts_with("lint") { texts.next() } else { None };
            Code { code: code.clone(), level, means: texts.next().unwrap_or_default(), fix: texts.next() }
        });
        all.push((of.to_owned(), codes.collect()));
    }
    for (name, of) in ENUMERATIONS {
        let Kind::Enum(cases) = &model.get(name)?.kind else { continue };
        let codes = cases.iter().map(|case| Code {
            code: case.name.replace('-', "_"),
            level: None,
            means: case.docs.join(" "),
            fix: None,
        });
        all.push((of.to_owned(), codes.collect()));
    }
    Ok(all)
}

/// Returns the table that `seamgate explain` reads.
pub(super) fn table(model: &Model) -> Result<String> {
    let codes = all(model)?;
    let codes = codes.iter().flat_map(|(of, codes)| {
        codes.iter().map(move |code| {
            let mut value = json!({ "code": code.code, "of": of, "means": code.means });
            if let Some(level) = &code.level {
                value["level"] = Value::from(level.as_str());
            }
            if let Some(fix) = &code.fix {
                value["fix"] = Value::from(fix.as_str());
            }
            format!("  {value}")
        })
    });
    Ok(format!("[\n{}\n]\n", codes.collect::<Vec<_>>().join(",\n")))
}

/// Returns the page.
pub(super) fn document(model: &Model) -> Result<String> {
    let mut page = format!(
        "<!-- {} -->\n\n# Words in reports, faults and findings\n\n`seamgate explain CODE` prints what a word means, and what to do \
         about it. This page lists all of them.\n",
        super::HEAD
    );
    for (of, codes) in all(model)? {
        let mut title = of.clone();
        title.get_mut(..1).map(str::make_ascii_uppercase).unwrap_or_default();
        let has_level = codes.iter().any(|code| code.level.is_some());
        let has_fix = codes.iter().any(|code| code.fix.is_some());
        let column = |is: bool, text: &str| if is { format!(" {text} |") } else { String::new() };
        let head = |code: &str, level: &str, means: &str, fix: &str| {
            format!("| {code} |{} {means} |{}\n", column(has_level, level), column(has_fix, fix))
        };
        page.push_str(&format!("\n## {title}\n\n"));
        page.push_str(&head("word", "level", "what it means", "what to do"));
        page.push_str(&head("---", "---", "---", "---"));
        for code in codes {
            let text = |text: Option<String>| text.unwrap_or_default().replace('|', "\\|");
            let means = code.means.replace('|', "\\|");
            page.push_str(&head(&format!("`{}`", code.code), &text(code.level), &means, &text(code.fix)));
        }
    }
    Ok(page.replace("  |", " |"))
}
