//! Runs the main demo, and shows commands in demos.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::run::command;

const SEAMGATE: &str = "target/release/seamgate";

/// Runs the scenes of `seamgate demo`.
pub(crate) fn demo() -> Result<()> {
    show(seamgate(["demo"]), 0)
}

/// Prints the next steps after the whole demo.
pub(crate) fn end() {
    step("Go on from here.");
    println!(
        "The command is {SEAMGATE}. To have it on your path:\n\n    cargo install --locked --path host/cli\n\nREADME.md goes on from there."
    );
}

pub(crate) fn step(what: &str) {
    println!("\n== {what}\n");
}

pub(crate) fn seamgate<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut seamgate = command(SEAMGATE);
    seamgate.args(arguments);
    seamgate
}

/// Runs a command, and shows its exit status.
pub(crate) fn show(mut command: Command, expected: i32) -> Result<()> {
    let words: Vec<_> = std::iter::once("seamgate".into())
        .chain(command.get_args().map(|word| typed(&word.to_string_lossy())))
        .collect();
    println!("$ {}", words.join(" "));
    let status = command.status().context("cannot run seamgate")?;
    println!("(exit status {})", status.code().unwrap_or(-1));
    ensure!(status.code() == Some(expected), "expected exit status {expected}");
    Ok(())
}

/// Returns a word as a user would type it in a shell.
fn typed(word: &str) -> String {
    let is_plain = word.chars().all(|character| character.is_ascii_alphanumeric() || "-._/=".contains(character));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns the path of a journal in a folder, after removing what an earlier demo left there.
pub(crate) fn fresh_journal(folder: &Path) -> Result<String> {
    let journal = folder.join("journal.ndjson");
    if journal.exists() {
        fs::remove_file(&journal)?;
    }
    Ok(journal.display().to_string())
}

/// Prints a journal, without the reports.
pub(crate) fn show_journal(journal: &str) -> Result<()> {
    for line in fs::read_to_string(journal).context("the journal")?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let text = |name: &str| line[name].as_str().unwrap_or_default();
        let attempt = line["attempt"].as_u64().map_or(String::new(), |attempt| format!("attempt {attempt}"));
        let verdict = [text("disposition"), text("decision")].concat();
        let output = text("output").get(..15).map_or(String::new(), |digest| format!("output {digest}…"));
        let shown = format!("{}  {:8}  {attempt:9}  {verdict:9}  {output}", text("time"), text("event"));
        println!("{}", shown.trim_end());
    }
    Ok(())
}
