//! `seamgate explain`: explains a word in a report, a fault or a finding, and what to do about it.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::{
    codes::{Code, all, first_sentence},
    console::print,
    status::Status,
};

/// The maximum number of similar words that a message names.
const MAX_LIKE: usize = 8;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A word in a report, a fault or a finding, such as `minimum`, `bad_contract` or `open_object` [default: list all]
    code: Option<String>,
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
        match like(code, &all).as_slice() {
            [] => bail!("no report, fault or finding has the word '{code}'; `seamgate explain` lists all"),
            like => bail!("no report, fault or finding has the word '{code}'; did you mean {}?", like.join(", ")),
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

/// Returns the codes that a text may stand for: those that contain it, or else those with the fewest edits to it.
fn like<'c>(text: &str, all: &'c [Code]) -> Vec<&'c str> {
    let text = text.to_lowercase();
    let codes: BTreeSet<&str> = all.iter().map(|known| &*known.code).collect();
    let containing = codes.iter().copied().filter(|code| code.to_lowercase().contains(&text));
    let containing: Vec<&str> = containing.take(MAX_LIKE).collect();
    if !containing.is_empty() {
        return containing;
    }
    let edits = |code: &&str| strsim::damerau_levenshtein(&code.to_lowercase(), &text);
    // A word of six characters may have two mistakes.
    let least = codes.iter().map(edits).min().filter(|edits| edits * 3 <= text.chars().count());
    codes.iter().copied().filter(|code| Some(edits(code)) == least).take(MAX_LIKE).collect()
}
