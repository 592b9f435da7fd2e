//! Reports the progress of a run on standard error: a line for each decision and each result.

use std::time::Duration;

use seamgate::{FileJournal, IgnoredRecord, Permit, Record, Run};
use seamgate_text::{Level, escape_terminal, say_with, shorten, tool_name, warn};

use crate::error::Result;

/// The longest line to show, in characters.
const MAX_LINE: usize = 200;

/// Returns the record that says why the last event changed nothing. `None` if the event changed something.
///
/// # Errors
///
/// The kernel's component returned a record that cannot be read.
pub fn ignored(run: &Run<FileJournal>) -> Result<Option<IgnoredRecord>> {
    let is_ignored = |record| match record {
        Record::Ignored(record) => Some(record),
        _ => None,
    };
    Ok(run.records()?.into_iter().find_map(is_ignored))
}

/// Reports the decisions of a run's last step.
pub(super) fn tell(run: &Run<FileJournal>) -> Result<()> {
    for record in run.records()? {
        let Some(line) = line(&record) else { continue };
        let text =
            format!("seamgate: {}: {}", escape_terminal(run.agent()), escape_terminal(&shorten(&line, MAX_LINE)));
        say_with(Level::Info, &text, &[("run", run.id()), ("agent", run.agent())]);
    }
    Ok(())
}

/// Reports that the model of an agent has not answered for some time.
pub(super) fn tell_slow(agent: &str, waited: Duration) {
    let seconds = waited.as_secs();
    warn(&format!("seamgate: {}: the model has not answered for {seconds} s", escape_terminal(agent)));
}

fn line(record: &Record) -> Option<String> {
    let tool = |server: &Option<String>, tool: &str| tool_name(server.as_deref().unwrap_or_default(), tool);
    let first = |message: &str| message.lines().next().unwrap_or_default().to_owned();
    Some(match record {
        Record::Decision(decision) => {
            let tool = tool(&decision.server, &decision.tool);
            match decision.permit {
                Permit::Allow => format!("{} {tool}: allowed", decision.call),
                Permit::Approval => format!("{} {tool}: needs approval", decision.call),
                Permit::Deny => format!("{} {tool}: denied: {}", decision.call, first(&decision.message)),
            }
        }
        Record::Observation(seen) => {
            format!("{} {}: {}, {} bytes", seen.call, tool(&seen.server, &seen.tool), seen.status, seen.bytes)
        }
        Record::Settled(settled) => {
            format!("{} {}: {}: {}", settled.call, settled.tool, settled.code, first(&settled.message))
        }
        Record::Output(output) if output.message.is_empty() => format!("model: {}", output.kind),
        Record::Output(output) => format!("model: {}: {}", output.kind, first(&output.message)),
        Record::Stop(stop) => format!("stop: {}", first(&stop.message)),
        Record::LeftOut(left_out) => format!("left out: {}", first(&left_out.message)),
        _ => return None,
    })
}
