//! The harness step, shown with a program that is not ours: `llm` with its model `echo`, which needs no network.

use std::{
    fs::{self, File},
    path::Path,
};

use anyhow::{Context, Result};

use crate::{
    demo::{fresh_journal, seamgate, show, show_journal, step},
    install::environment,
    run::{command, output},
};

/// Everything that is installed or written goes here.
const FOLDER: &str = "target/demo-llm";

/// The contract, and what is installed, as versions and digests.
const EXAMPLES: &str = "schemas/examples/agents";

/// What is installed runs on these; the first is what most systems have.
const PYTHONS: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// Fails where it is another version, or lacks what makes virtual environments.
const FITS: &str = "import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))";

/// To `echo`, a prompt that is JSON as a whole says what to answer. With feedback after it, it is text as any other.
const PROMPT: &str = r#"{"raw": "Sure, here it is:\n\n```json\n{\"prompt\": \"hello\", \"stream\": \"no\"}\n```\n"}"#;

pub(crate) fn demo() -> Result<()> {
    let folder = Path::new(FOLDER);
    let venv = folder.join("venv");
    let why = "the agent of this demo is a program of another project: installing llm and its offline model echo";
    // Only wheels: installing them runs nothing of what is in them.
    let requirements = Path::new(EXAMPLES).join("llm.requirements.txt");
    environment(python()?, &venv, &requirements, &["--only-binary", ":all:"], why)?;

    step("The prompt. It has llm's model 'echo' answer with prose and a block that is not what the contract asks for.");
    let prompt = folder.join("prompt.json");
    fs::write(&prompt, PROMPT)?;
    println!("{PROMPT}");

    step(
        "The harness step with that on standard input. The first answer is rejected; asked again, 'echo' answers with what it was asked, feedback and all. That is valid, and alone on standard output.",
    );
    let journal = fresh_journal(folder)?;
    let llm = venv.join("bin/llm").display().to_string();
    let contract = format!("{EXAMPLES}/echo.contract.json");
    let mut harness = seamgate(["run", "-c", &contract, "--journal", &journal, "--"]);
    harness.args([&llm, "-m", "echo", "-n", "--no-stream", "-d", ":memory:"]);
    // Instead of the user's own settings and keys.
    harness.env("LLM_USER_PATH", folder.join("user"));
    harness.stdin(File::open(&prompt).context("the prompt")?);
    show(harness, 0)?;

    step("The journal of it: each attempt, each decision. Nothing went on before its line was on the disk.");
    show_journal(&journal)
}

/// The first Python here that fits.
fn python() -> Result<&'static str> {
    PYTHONS
        .into_iter()
        .find(|python| output(command(python).args(["-c", FITS])).is_some())
        .context("llm needs Python 3.11 to 3.14 with its module venv, and there is none here; install it")
}
