//! `seamgate mcp accept`: a person permits a running gate to use an edited profile that may allow more.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::read_profile;
use seamgate_mcp::{accept as accept_text, profile_changes};
use seamgate_runner::{
    agent::YesOrNo,
    run_dir::{ModelPlan, Plan},
    terminal::{Terminal, TerminalPrompt, is_terminal},
};
use seamgate_text::{escape_terminal, say, shell_word};

use crate::{console::print, status::Status};

pub(crate) const HELP: &str = "\
A gate watches its profile. What an edit forbids is denied at once; what it newly allows waits for this command, which shows the
changes and asks. The session then goes on with a run of its own for the new profile.

Exit status: 0 accepted, or nothing to accept, 1 refused, 2 usage error, 6 nobody decided";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Accept {
    /// The folder of the run, or the folder of --journal if exactly one session in it is running
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Accept without a prompt on the terminal
    #[arg(long)]
    yes: bool,
}

pub(super) fn accept(arguments: &Accept) -> Result<Status> {
    let folder = run_of(&arguments.run)?;
    let plan = Plan::read(&folder)?;
    let (ModelPlan::Client, Some(copy)) = (&plan.model, plan.profiles.first()) else {
        bail!("{}: it is no run of 'seamgate mcp'", folder.display());
    };
    let Some(before) = copy.document() else { bail!("{}: the run has no copy of its profile", folder.display()) };
    let path = escape_terminal(&copy.path.display().to_string());
    let text = read_profile(&copy.path)?;
    let changes = profile_changes(before, &text);
    if changes.is_empty() {
        print(&format!("{path}: as the run began with it"))?;
        return Ok(Status::Accepted);
    }
    print(&format!("{path} since the run began:\n  {}", changes.join("\n  ")))?;
    let answer = if arguments.yes { Some(true) } else { asked(&path)? };
    match answer {
        Some(true) => {
            accept_text(&folder, &text).with_context(|| format!("cannot write into {}", folder.display()))?;
            say("seamgate: accepted; the gate goes on with it when no call is under way");
            Ok(Status::Accepted)
        }
        Some(false) => Ok(Status::Rejected),
        None => Ok(Status::Waits),
    }
}

/// Asks on the terminal. Returns `None` at the end of input.
fn asked(path: &str) -> Result<Option<bool>> {
    if !is_terminal() {
        bail!("there is no terminal to ask on: accept with --yes");
    }
    Ok(Terminal::default().ask(&TerminalPrompt {
        rows: &Vec::new,
        prompt: &|code| format!("Let the gate use {path} as it is now? Type \"{code}\" to accept, \"n\" to refuse:"),
        take: &|line, code| YesOrNo::of(line, code).map(|answer| matches!(answer, YesOrNo::Yes)),
        invalid: "That decides nothing.",
        over: &|| None,
    })?)
}

/// Returns the folder of the run: this folder, or that of the only session in it that continues.
fn run_of(folder: &Path) -> Result<PathBuf> {
    if Plan::is_in(folder) {
        return Ok(folder.to_owned());
    }
    let inside = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut runs: Vec<PathBuf> =
        inside.filter_map(|entry| Some(entry.ok()?.path())).filter(|run| Plan::is_in(run)).collect();
    runs.sort();
    match &runs[..] {
        [run] => Ok(run.clone()),
        [] => bail!("{}: no run goes on in it", folder.display()),
        _ => {
            let named: Vec<String> =
                runs.iter().map(|run| format!("\n  seamgate mcp accept {}", shell_word(run))).collect();
            bail!("{}: several runs go on in it; name one:{}", folder.display(), named.concat())
        }
    }
}
