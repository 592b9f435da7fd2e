//! What a person reads while a run goes on: a line for each decision and each result.

use seamgate::{FileJournal, Run};
use serde::Deserialize;

use super::cut;
use crate::{console::say, safe::safe};

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

/// The type of a record.
pub(super) fn kind(record: &str) -> String {
    serde_json::from_str(record).map(|Record { r#type, .. }| r#type).unwrap_or_default()
}

/// Tell what the last step of a run decided.
pub(super) fn tell(run: &Run<FileJournal>) {
    for record in run.records() {
        let Ok(record) = serde_json::from_str::<Record>(record) else { continue };
        let tool = || match record.server.is_empty() {
            true => record.tool.clone(),
            false => format!("{}/{}", record.server, record.tool),
        };
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
        say(&format!("seamgate: {}: {}", safe(run.agent()), safe(&cut(&line))));
    }
}
