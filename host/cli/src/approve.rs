//! `seamgate approve`: a person decides about a call that a run asks for.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{FileJournal, Journal, Run};
use serde::Deserialize;

use crate::{
    agent::{Ask, Event, Lock, Plan, Profiles, is_terminal, now, principal, show_ask, step_error},
    console::say,
    safe::safe,
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the run
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// The call to decide about. Default: the only one that waits
    key: Option<String>,
    /// Reject it
    #[arg(long)]
    reject: bool,
    /// Decide without asking on the terminal
    #[arg(long)]
    yes: bool,
    /// Who decides. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let principal = principal(arguments.principal.as_deref())?;
    let mut asks = Vec::new();
    find(&arguments.run, &mut asks)?;
    let now = now();
    asks.retain(|(_, ask)| ask.expires > now && arguments.key.as_ref().is_none_or(|key| *key == ask.key));
    let (folder, ask) = match &asks[..] {
        [only] => only,
        [] => bail!("{}: no call{} waits for approval", arguments.run.display(), of(arguments.key.as_deref())),
        several => {
            for (folder, ask) in several {
                show_ask(ask, folder);
            }
            bail!("several calls wait for approval: name one of them, and its folder");
        }
    };
    show_ask(ask, folder);
    if !ask.by.contains(&principal) {
        let by = ask.by.join(", ");
        bail!(
            "{} may not decide about this call; these may: {}. Say who you are with --as",
            safe(&principal),
            safe(&by)
        );
    }
    let word = if arguments.reject { "Reject" } else { "Approve" };
    if !arguments.yes && !is_confirmed(&format!("{word} this call as {}? [y/N]", safe(&principal)))? {
        say("seamgate: nothing was decided");
        return Ok(Status::Waits);
    }
    let decision = if arguments.reject { "rejected" } else { "approved" };
    decide(folder, ask, decision, &principal)?;
    say(&format!("seamgate: {decision}; go on with: seamgate agent --resume {}", arguments.run.display()));
    Ok(Status::Accepted)
}

fn of(key: Option<&str>) -> String {
    key.map(|key| format!(" {}", safe(key))).unwrap_or_default()
}

fn is_confirmed(question: &str) -> Result<bool> {
    if !is_terminal() {
        bail!("there is no terminal to ask on: decide with --yes");
    }
    say(question);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("cannot read the terminal")?;
    Ok(matches!(line.trim(), "y" | "yes"))
}

/// What a run and its children ask.
fn find(folder: &Path, asks: &mut Vec<(PathBuf, Ask)>) -> Result<()> {
    #[derive(Deserialize)]
    struct State {
        status: String,
        facts: Facts,
        calls: Vec<Call>,
    }
    #[derive(Deserialize)]
    struct Facts {
        #[serde(default)]
        asks: Vec<Asked>,
    }
    #[derive(Deserialize)]
    struct Asked {
        key: String,
        digest: String,
    }
    #[derive(Deserialize)]
    struct Call {
        key: String,
        phase: String,
    }
    #[derive(Deserialize)]
    struct Line {
        action: Option<Action>,
    }
    #[derive(Deserialize)]
    struct Action {
        ask: Option<Ask>,
    }
    let profiles = Profiles::read(&Plan::read(folder)?.profiles)?;
    let run = Run::open(&profiles.gate, FileJournal::open(folder)?).map_err(step_error)?;
    let State { status, facts, calls } = serde_json::from_str(run.state()).context("the state of the run")?;
    let is_asked = |key: &str| calls.iter().any(|call| call.key == key && call.phase == "asked");
    if matches!(status.as_str(), "running" | "waiting") {
        let mut shown = BTreeMap::new();
        for line in run.journal().lines(0)? {
            let line = line?;
            if line.contains(r#""type":"ask_approval""#)
                && let Ok(Line { action: Some(Action { ask: Some(ask) }) }) = serde_json::from_str(&line)
            {
                shown.insert((ask.key.clone(), ask.digest.clone()), ask);
            }
        }
        let open = facts.asks.into_iter().filter(|ask| is_asked(&ask.key));
        let open = open.filter_map(|ask| shown.remove(&(ask.key, ask.digest)));
        asks.extend(open.map(|ask| (folder.to_owned(), ask)));
    }
    let Ok(children) = fs::read_dir(folder.join("children")) else {
        return Ok(());
    };
    let mut children: Vec<PathBuf> = children.filter_map(|child| Some(child.ok()?.path())).collect();
    children.sort();
    children.iter().try_for_each(|child| find(child, asks))
}

fn decide(folder: &Path, ask: &Ask, decision: &str, principal: &str) -> Result<()> {
    let _lock = Lock::take(folder)?;
    let profiles = Profiles::read(&Plan::read(folder)?.profiles)?;
    let mut run = Run::open(&profiles.gate, FileJournal::open(folder)?).map_err(step_error)?;
    let event = Event::Approval { key: &ask.key, digest: &ask.digest, decision, principal };
    run.send(&event.now()?).map_err(step_error)?;
    match run.records().iter().find(|record| record.contains(r#""type":"ignored""#)) {
        Some(record) => bail!("the run did not take it: {}", safe(record)),
        None => Ok(()),
    }
}
