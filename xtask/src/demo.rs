//! The main job, shown: outputs, and what becomes of each.

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
    ensure!(Path::new(SEAMGATE).exists(), "{SEAMGATE} was not built");

    step("An output that is what its contract asks for. The document is taken out of the prose around it.");
    show(check("triage", "triage.good.txt"), 0)?;

    step("An output that is not. Each violation is shown in the text where it is.");
    show(check("cited-answer", "cited-answer.bad-url.txt"), 1)?;

    step(
        "A list of ten in which one is no JSON and one is not valid: each costs itself. Of the eight others, the contract keeps seven. Exit 3.",
    );
    show(check("triage", "triage.partial-one-broken.txt"), 3)?;

    step(
        "The harness step around an agent that is wrong in a different way each time. Items that were good are kept, and it is asked for the others alone; only the whole is printed.",
    );
    let folder = Path::new("target/demo");
    fs::create_dir_all(folder)?;
    let journal = fresh_journal(folder)?;
    let contract = format!("{EXAMPLES}/triage.contract.json");
    let agent = format!("{EXAMPLES}/agents/triage.sh");
    let mut run = seamgate(["run", "-c", &contract, "--journal", &journal, "--", "sh", &agent]);
    run.stdin(Stdio::null());
    show(run, 0)?;
    println!("\nThe journal of it, which a run that was ended can go on from:\n");
    show_journal(&journal)?;

    step(
        "A hostile contract: its references double with each step, and what each evaluates is asked for. The sandbox runs out of fuel; no verdict, exit 5.",
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

    step("The same in one process, between two ordinary requests: the host goes on.");
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

/// Run a command whose exit status is part of what is shown.
pub(crate) fn show(mut command: Command, expected: i32) -> Result<()> {
    let words: Vec<_> =
        std::iter::once("seamgate".into()).chain(command.get_args().map(|word| word.to_string_lossy())).collect();
    println!("$ {}", words.join(" "));
    let status = command.status().context("cannot run seamgate")?;
    println!("(exit status {})", status.code().unwrap_or(-1));
    ensure!(status.code() == Some(expected), "the exit status should have been {expected}");
    say("as it should be");
    Ok(())
}

/// A journal in a folder, which an earlier demo may have left one in.
pub(crate) fn fresh_journal(folder: &Path) -> Result<String> {
    let journal = folder.join("journal.ndjson");
    if journal.exists() {
        fs::remove_file(&journal)?;
    }
    Ok(journal.display().to_string())
}

/// Print a line for each of a journal's, without the reports.
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
