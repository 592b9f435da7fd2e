//! The list of calls that wait, for people and for programs.

use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use seamgate::Ask;
use seamgate_text::escape_terminal;
use serde::Serialize;

use super::Waiting;

/// A call that waits, as a program reads it.
#[derive(Serialize)]
struct Entry<'w> {
    /// The folder of its run, for `seamgate approve`.
    folder: String,
    run: &'w str,
    agent: &'w str,
    tool: &'w str,
    arguments: &'w str,
    ask: &'w Ask,
}

pub(super) fn json(waiting: &[Waiting]) -> Result<String> {
    let entries: Vec<Entry> = waiting
        .iter()
        .map(|one| Entry {
            folder: one.folder.display().to_string(),
            run: &one.run,
            agent: &one.agent,
            tool: &one.tool,
            arguments: &one.arguments,
            ask: &one.ask,
        })
        .collect();
    Ok(serde_json::to_string(&entries)?)
}

/// Writes a line for each call.
pub(super) fn text(waiting: &[Waiting], now: u64) -> String {
    let line = |one: &Waiting| {
        let left = Duration::from_secs(one.ask.expires.saturating_sub(now) / 1000);
        let until = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(one.ask.expires));
        let line = format!(
            "{}  {}  {}  agent {}  by {}  until {until} ({})",
            one.ask.key,
            one.tool,
            one.folder.display(),
            one.agent,
            one.ask.by.join(", "),
            humantime::format_duration(left)
        );
        escape_terminal(&line)
    };
    waiting.iter().map(line).collect::<Vec<_>>().join("\n")
}
