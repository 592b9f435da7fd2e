//! The main job: outputs and their verdicts.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::run::{command, say};

const SEAMGATE: &str = "target/release/seamgate";
const EXAMPLES: &str = "schemas/examples";

pub(crate) fn demo() -> Result<()> {
    ensure!(Path::new(SEAMGATE).exists(), "{SEAMGATE} is missing");

    step("A good output. The gate takes the document out of the prose around it.");
    show(check("triage", "triage.good.txt"), 0)?;

    step("A bad output. Each violation is shown at its place in the text.");
    show(check("cited-answer", "cited-answer.bad-url.txt"), 1)?;

    step(
        "A list of ten: one item is not JSON, and one breaks the schema. Each costs only itself. Of the eight others, the contract keeps seven. Exit 3.",
    );
    show(check("triage", "triage.partial-one-broken.txt"), 3)?;

    step(
        "The harness step around an agent that makes a different mistake each time. It keeps the good items, and asks for the others alone. It prints only the whole document.",
    );
    let folder = Path::new("target/demo");
    fs::create_dir_all(folder)?;
    let journal = fresh_journal(folder)?;
    let contract = format!("{EXAMPLES}/triage.contract.json");
    let agent = format!("{EXAMPLES}/agents/triage.sh");
    let mut run = seamgate(["run", "-c", &contract, "--journal", &journal, "--", "sh", &agent]);
    run.stdin(Stdio::null());
    show(run, 0)?;
    println!("\nIts journal, from which a run that was stopped can go on:\n");
    show_journal(&journal)?;

    step(
        "A hostile contract: its references double with each step. The sandbox runs out of fuel. That is a fault, not a verdict. Exit 5.",
    );
    show(
        seamgate([
            "check",
            "--picture",
            "-c",
            &format!("{EXAMPLES}/hostile/doubling.contract.json"),
            &format!("{EXAMPLES}/outputs/tool-result.good.txt"),
        ]),
        5,
    )?;

    step("The same contract between two ordinary requests in one process. The host goes on.");
    show(
        seamgate([
            "check",
            "--ndjson",
            "-c",
            &format!("{EXAMPLES}/hostile"),
            &format!("{EXAMPLES}/hostile/requests.ndjson"),
        ]),
        5,
    )?;
    Ok(())
}

/// Prints how to continue after the whole demo.
pub(crate) fn end() {
    step("Go on from here.");
    println!(
        "The command is {SEAMGATE}. To have it on your path:\n\n    cargo install --locked --path host/cli\n\nThen, in a folder of your own:\n\n    seamgate init my-contracts    # a contract, its schema, and outputs with their verdicts\n    seamgate test my-contracts    # holds the contract to them\n\nREADME.md goes on from there."
    );
}

pub(crate) fn step(what: &str) {
    println!("\n== {what}\n");
}

fn check(contract: &str, output: &str) -> Command {
    seamgate([
        "check",
        "--picture",
        "-c",
        &format!("{EXAMPLES}/{contract}.contract.json"),
        &format!("{EXAMPLES}/outputs/{output}"),
    ])
}

pub(crate) fn seamgate<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut seamgate = command(SEAMGATE);
    seamgate.args(arguments);
    seamgate
}

/// Runs a command, and shows its exit status.
pub(crate) fn show(mut command: Command, expected: i32) -> Result<()> {
    let words: Vec<_> =
        std::iter::once("seamgate".into()).chain(command.get_args().map(|word| word.to_string_lossy())).collect();
    println!("$ {}", words.join(" "));
    let status = command.status().context("cannot run seamgate")?;
    println!("(exit status {})", status.code().unwrap_or(-1));
    ensure!(status.code() == Some(expected), "expected exit status {expected}");
    say("as expected");
    Ok(())
}

/// Returns the path of a journal in a folder, without what an earlier demo left there.
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
