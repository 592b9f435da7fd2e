//! `seamgate explain`: what a word in a report, a fault or a finding means, and what to do about it.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::{console::print, status::Status};

/// All words, made by `cargo xtask generate`.
const CODES: &str = include_str!("codes.json");

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A word in a report, a fault or a finding, as `minimum`, `bad_contract` or `open_object` [default: list all]
    code: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
    /// The kind of the code: `violation`, `lint`, `fault` …
    of: String,
    /// The severity, for codes of `lint`.
    level: Option<String>,
    means: String,
    /// The way to fix it.
    fix: Option<String>,
}

fn all() -> Vec<Code> {
    // A test reads it.
    serde_json::from_str(CODES).unwrap_or_default()
}

/// Returns the words of some kinds.
pub(crate) fn of_kinds(is_one: impl Fn(&str) -> bool) -> BTreeSet<String> {
    all().into_iter().filter(|known| is_one(&known.of)).map(|known| known.code).collect()
}

/// Returns whether `lint` can report this code.
pub(crate) fn is_of_lint(code: &str) -> bool {
    all().iter().any(|known| known.code == code && known.of.starts_with("lint"))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let all = all();
    let Some(code) = &arguments.code else {
        let mut out = String::new();
        let mut of = "";
        for known in &all {
            if known.of != of {
                of = &known.of;
                out.push_str(&format!("{}{of}:\n", if out.is_empty() { "" } else { "\n" }));
            }
            out.push_str(&format!("  {:<28} {}\n", known.code, first_sentence(&known.means)));
        }
        print(&out)?;
        return Ok(Status::Accepted);
    };
    let known: Vec<&Code> = all.iter().filter(|known| known.code == *code).collect();
    if known.is_empty() {
        let low = code.to_lowercase();
        let like: Vec<&str> =
            all.iter().map(|known| &*known.code).filter(|known| known.to_lowercase().contains(&low)).take(8).collect();
        match like.as_slice() {
            [] => bail!("no report, fault or finding has the word '{code}'; `seamgate explain` lists all"),
            like => bail!("no report, fault or finding has the word '{code}'; there is {}", like.join(", ")),
        }
    }
    let told: Vec<String> = known
        .iter()
        .map(|known| {
            let level = known.level.as_ref().map_or(String::new(), |level| format!(", level {level}"));
            let fix = known.fix.as_ref().map_or(String::new(), |fix| format!("\n  to do: {fix}"));
            format!("{} ({}{level})\n  {}{fix}", known.code, known.of, known.means)
        })
        .collect();
    print(&told.join("\n\n"))?;
    Ok(Status::Accepted)
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first)
}
