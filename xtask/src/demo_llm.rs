//! Runs the harness step with a program of another project: `llm`, with its model `echo`, which needs no network.

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

/// The folder where it is installed, and to which it writes.
const FOLDER: &str = "target/demo-llm";

/// The contract, and the file that pins llm.
const EXAMPLES: &str = "schemas/examples/agents";

/// The interpreters that llm supports. Most systems have the first one.
const PYTHONS: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// Fails with other versions of Python, and without the modules that create virtual environments.
const FITS: &str = "import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))";

/// A prompt that is completely JSON, which specifies what `echo` answers. When feedback follows it, it is ordinary
/// text.
const PROMPT: &str = r#"{"raw": "Sure, here it is:\n\n```json\n{\"prompt\": \"hello\", \"stream\": \"no\"}\n```\n"}"#;

pub(crate) fn demo() -> Result<()> {
    let folder = Path::new(FOLDER);
    let venv = folder.join("venv");
    let why = "installing llm and its offline model echo";
    // Uses only wheels, because installing them runs none of their code.
    let requirements = Path::new(EXAMPLES).join("llm.requirements.txt");
    environment(python()?, &venv, &requirements, &["--only-binary", ":all:"], why)?;

    step("The prompt. llm's model 'echo' answers it with prose and a block that breaks the contract.");
    let prompt = folder.join("prompt.json");
    fs::write(&prompt, PROMPT)?;
    println!("{PROMPT}");

    step(
        "The harness step, with that prompt on standard input. The first answer is rejected. Asked again, 'echo' repeats its prompt with the feedback. That is valid, and the only thing on standard output.",
    );
    let journal = fresh_journal(folder)?;
    let llm = venv.join("bin/llm").display().to_string();
    let contract = format!("{EXAMPLES}/echo.contract.json");
    let mut harness = seamgate(["run", "-c", &contract, "--journal", &journal, "--"]);
    harness.args([&llm, "-m", "echo", "-n", "--no-stream", "-d", ":memory:"]);
    // Do not use the settings and keys of the user.
    harness.env("LLM_USER_PATH", folder.join("user"));
    harness.stdin(File::open(&prompt).context("the prompt")?);
    show(harness, 0)?;

    step("Its journal: each attempt, each decision. The run writes each line to the disk before it goes on.");
    show_journal(&journal)
}

/// Returns the first suitable Python on this machine.
fn python() -> Result<&'static str> {
    PYTHONS
        .into_iter()
        .find(|python| output(command(python).args(["-c", FITS])).is_some())
        .context("llm needs Python 3.11 to 3.14 with its module venv; install it")
}
