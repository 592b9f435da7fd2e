//! Progress of a run on standard error: a line for each decision and each result.

use seamgate::{FileJournal, Run};
use seamgate_text::{escape_terminal, tool_name, say, shorten};
use serde::Deserialize;

/// The longest line to show, in characters.
const MAX_LINE: usize = 200;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record {
    r#type: String,
    call: String,
    server: String,
    tool: String,
    permit: String,
    status: String,
    kind: String,
    code: String,
    message: String,
    bytes: u64,
}

/// Returns the record that says why the last event changed nothing. `None` if it did.
pub fn ignored<'r>(run: &'r Run<FileJournal>) -> Option<&'r str> {
    let is_it = |record: &&str| serde_json::from_str(record).is_ok_and(|Record { r#type, .. }| r#type == "ignored");
    run.records().iter().map(String::as_str).find(is_it)
}

/// Says what the last step of a run decided.
pub(super) fn tell(run: &Run<FileJournal>) {
    for record in run.records() {
        let Ok(record) = serde_json::from_str::<Record>(record) else { continue };
        let tool = || tool_name(&record.server, &record.tool);
        let first = record.message.lines().next().unwrap_or_default();
        let line = match record.r#type.as_str() {
            "decision" => match record.permit.as_str() {
                "allow" => format!("{} {}: allowed", record.call, tool()),
                "approval" => format!("{} {}: needs approval", record.call, tool()),
                _ => format!("{} {}: denied: {first}", record.call, tool()),
            },
            "observation" => format!("{} {}: {}, {} bytes", record.call, tool(), record.status, record.bytes),
            "settled" => format!("{} {}: {}: {first}", record.call, tool(), record.code),
            "output" if record.message.is_empty() => format!("model: {}", record.kind),
            "output" => format!("model: {}: {first}", record.kind),
            "stop" => format!("stop: {first}"),
            "left_out" => format!("left out: {first}"),
            _ => continue,
        };
        say(&format!("seamgate: {}: {}", escape_terminal(run.agent()), escape_terminal(&shorten(&line, MAX_LINE))));
    }
}
