//! The main job, shown: outputs, and what becomes of each.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, ensure};

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

fn step(what: &str) {
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

fn seamgate<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut seamgate = command(SEAMGATE);
    seamgate.args(arguments);
    seamgate
}

/// Run a command whose exit status is part of what is shown.
fn show(mut command: Command, expected: i32) -> Result<()> {
    let words: Vec<_> =
        std::iter::once("seamgate".into()).chain(command.get_args().map(|word| word.to_string_lossy())).collect();
    println!("$ {}", words.join(" "));
    let status = command.status().context("cannot run seamgate")?;
    println!("(exit status {})", status.code().unwrap_or(-1));
    ensure!(status.code() == Some(expected), "the exit status should have been {expected}");
    say("as it should be");
    Ok(())
}
