//! Lists the calls that wait, for people and for programs.

use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use seamgate_runner::{notice::Notice, waiting::Waiting};
use seamgate_text::escape_terminal;
use serde::Serialize;

/// A call that waits, with the arguments as they would be sent.
#[derive(Serialize)]
struct Entry<'w> {
    #[serde(flatten)]
    notice: Notice<'w>,
    arguments: &'w str,
}

pub(super) fn json(waiting: &[Waiting]) -> Result<String> {
    let entries: Vec<Entry> =
        waiting.iter().map(|one| Entry { notice: one.notice(), arguments: &one.arguments }).collect();
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
