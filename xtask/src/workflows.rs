//! Checks the workflows and the action for GitHub with actionlint, zizmor and ShellCheck, pinned by version and digest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    go,
    install::{environment, has_go, has_python},
    run::{command, root, run, say},
};

/// The folder of the files that pin both programs.
const PINNED: &str = "tests/workflows";

/// The folder where these programs are installed.
const FOLDER: &str = "target/workflows";

const WORKFLOWS: &str = ".github/workflows";
const ACTION: &str = "action.yml";

/// The script of the action that installs the command line.
const INSTALL: &str = ".github/action/install.sh";

/// Runs both programs. Any finding is an error.
pub(crate) fn check() -> Result<()> {
    let python = Path::new(FOLDER).join("python");
    let scripts = match has_python() {
        true => {
            let requirements = Path::new(PINNED).join("requirements.txt");
            let what = "installing zizmor and ShellCheck";
            environment("python3", &python, &requirements, &["--only-binary", ":all:"], what)?;
            // Offline, so zizmor does not query GitHub.
            let zizmor = ["--offline", "--no-progress", "--quiet", WORKFLOWS, ACTION];
            run(command(python.join("bin/zizmor")).args(zizmor))?;
            let shellcheck = python.join("bin/shellcheck");
            run(command(&shellcheck).arg(INSTALL))?;
            Some(shellcheck)
        }
        false => {
            say(
                "skipping zizmor, and the scripts of workflows and of the action: python3 with its module venv is missing",
            );
            None
        }
    };
    if !has_go() {
        say("skipping actionlint: go is missing");
        return Ok(());
    }
    let program = root().join(FOLDER).join("actionlint");
    go::tool(PINNED, "github.com/rhysd/actionlint/cmd/actionlint", &program)?;
    // Without a file name, actionlint does not check scripts.
    let scripts = scripts.unwrap_or_default();
    run(command(program).arg("-shellcheck").arg(scripts).args(["-pyflakes", ""]).args(workflows()?))
}

fn workflows() -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(WORKFLOWS).context(WORKFLOWS)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
