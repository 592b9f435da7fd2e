//! `seamgate runs show`.

use std::{io::Write, path::PathBuf};

use anyhow::Result;
use seamgate_runner::agent::now;
use seamgate_text::{escape_terminal, say};
use seamgate_trace::{RunState, facts};

use super::{
    list::{Listed, time},
    must_be_run,
};
use crate::{console::print_json, error::Unwritten, status::Status};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    must_be_run(&arguments.run)?;
    let facts = facts(&arguments.run, now());
    let (state, fault) = (facts.state, facts.fault.clone());
    let name = arguments.run.to_string_lossy().into_owned();
    let listed = Listed { name, bytes: facts.size.total(), facts };
    match arguments.json {
        true => print_json(&serde_json::to_string(&listed)?)?,
        false => write(&listed)?,
    }
    if let Some(fault) = fault {
        say(&escape_terminal(&format!("seamgate: {}: {fault}", arguments.run.display())));
    }
    Ok(if state == RunState::Broken { Status::Fault } else { Status::Accepted })
}

fn write(run: &Listed) -> Result<()> {
    let Listed { name, facts, bytes } = run;
    let size = &facts.size;
    let of = [
        ("journal", size.journal),
        ("artifacts", size.artifacts),
        ("snapshots", size.states),
        ("children", size.children),
        ("other", size.other),
    ];
    let of: Vec<String> =
        of.into_iter().filter(|(_, bytes)| *bytes > 0).map(|(what, bytes)| format!("{what} {bytes}")).collect();
    let mut rows = vec![
        ("folder", name.clone()),
        ("run", facts.run.clone()),
        ("agent", facts.agent.clone()),
        ("state", facts.state.as_str().to_owned()),
        ("began", time(facts.began)),
        ("last event", time(facts.last)),
        ("steps", facts.steps.to_string()),
        ("calls", format!("{}, {} waiting", facts.calls, facts.waiting)),
        ("profile", facts.profile.clone()),
    ];
    rows.extend(facts.components.iter().map(|component| ("component", component.clone())));
    rows.push(("bytes", format!("{bytes}: {}", of.join(", "))));
    rows.extend(facts.children.iter().map(|child| ("child", child.clone())));
    let mut out = anstream::stdout().lock();
    for (what, text) in rows {
        let text = escape_terminal(&text.replace(['\n', '\r'], " "));
        let text = if text.is_empty() { "-".to_owned() } else { text };
        writeln!(out, "{what:<10}  {text}").map_err(Unwritten::from)?;
    }
    out.flush().map_err(Unwritten::from)?;
    Ok(())
}
