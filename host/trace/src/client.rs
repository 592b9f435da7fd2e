//! The messages that the client of a gate received for its calls, as far as the journal reveals them.

use std::{collections::BTreeMap, fmt::Write};

use seamgate::{
    DecisionRecord, EventKind, Found, Json, Limitation, ObservationRecord, ObservationStatus, SettledCode,
    SettledRecord,
};
use seamgate_text::count;
use serde_json::Value;

use crate::{
    format::{cut, many},
    steps::Steps,
};

/// The longest reason of a denial, in bytes. The gate truncates it to the same length.
const MAX_REASON: usize = 1024;
/// The gate's own tool, which no server has.
const READ_ARTIFACT: &str = "read_artifact";
/// The maximum number of places in a changed result that are named.
const MAX_PLACES: usize = 10;

/// The text that a client received for a call.
pub(crate) struct Sent {
    pub(crate) text: String,
    /// Describes how the text differs from the server's, or says that it does not differ. Empty if the server sent
    /// nothing.
    pub(crate) change: String,
}

/// Returns the text that the client received for a denied call.
pub(crate) fn denied(record: &DecisionRecord, is_visible: bool) -> String {
    if !is_visible {
        return format!("error -32602: Unknown tool: {}", cut(&record.tool, 128));
    }
    let reason = record.reasons.first().map_or("the profile does not permit it", |reason| &reason.message);
    format!("Call denied: {}. Allowed tools: …", cut(reason, MAX_REASON))
}

/// Returns the text that the client received for a call without a result. `None` if the client no longer waits for an
/// answer.
pub(crate) fn settled(record: &SettledRecord, event: Option<&EventKind>) -> Option<String> {
    let why = match event {
        Some(EventKind::ToolFailed(event)) => &event.message,
        Some(EventKind::CallCancelled(_) | EventKind::Cancelled(_)) => return None,
        _ => &record.message,
    };
    Some(match record.code {
        SettledCode::Uncertain => format!("No result: {why}. Nobody knows whether the call had its effect."),
        _ => why.clone(),
    })
}

/// Returns the text that the client received for a result.
pub(crate) fn observed(record: &ObservationRecord, event: Option<&EventKind>, steps: &Steps) -> Sent {
    match event {
        Some(EventKind::ToolResult(event)) => match &event.returned {
            Some(returned) => {
                let said = steps.value(returned);
                match &record.returned {
                    Some(sent) => Sent { text: text(sent.as_str()), change: changed(record, &said, sent) },
                    None => {
                        let is_own = record.server.is_none() && record.tool == READ_ARTIFACT;
                        let change = if is_own { "" } else { "none: the server said the same" };
                        Sent { text: text(&said), change: change.to_owned() }
                    }
                }
            }
            None => Sent { text: record.message.clone(), change: rewritten(record) },
        },
        Some(EventKind::ToolFailed(event)) => Sent { text: event.message.clone(), change: String::new() },
        _ => Sent { text: record.message.clone(), change: String::new() },
    }
}

/// Describes a result for which the client received a text of seamgate.
fn rewritten(record: &ObservationRecord) -> String {
    let mut what = "what the server said stands in a text of seamgate".to_owned();
    for one in actions(record) {
        _ = write!(what, "\n{one}");
    }
    what
}

/// Describes how a result was changed, and where.
fn changed(record: &ObservationRecord, said: &str, sent: &Json) -> String {
    let sizes = [said.len(), sent.as_str().len()].map(|bytes| many(bytes as u64, "byte"));
    let mut what = format!("of {} the client got {}", sizes[0], sizes[1]);
    for one in actions(record) {
        _ = write!(what, "\n{one}");
    }
    if let (Ok(said), Ok(sent)) = (serde_json::from_str::<Value>(said), sent.read::<Value>()) {
        let mut places = Vec::new();
        compare(&said, &aligned(&said, sent), &mut String::new(), &mut places);
        let more = places.len().saturating_sub(MAX_PLACES);
        places.truncate(MAX_PLACES);
        if more > 0 {
            places.push(format!("and {}", count(more, "more place")));
        }
        if !places.is_empty() {
            _ = write!(what, "\nat {}", places.join(", "));
        }
    }
    what
}

/// Describes what was done to a result, one action per line.
fn actions(record: &ObservationRecord) -> Vec<String> {
    let Found { defanged, escaped, redacted, .. } = &record.found;
    let kinds = |all: &BTreeMap<String, u64>| {
        let kinds = all.iter().filter(|(_, number)| **number > 0).map(|(kind, number)| format!("{kind}: {number}"));
        kinds.collect::<Vec<_>>().join(", ")
    };
    let mut actions = Vec::new();
    for (what, kinds) in [("hidden characters escaped", kinds(escaped)), ("secrets redacted", kinds(redacted))] {
        if !kinds.is_empty() {
            actions.push(format!("{what} ({kinds})"));
        }
    }
    if *defanged > 0 {
        actions.push(format!("{} defanged", many(*defanged, "link or image")));
    }
    if record.status == ObservationStatus::Invalid {
        actions.push("withheld, because it is invalid".to_owned());
    }
    for limitation in &record.limitations {
        match limitation {
            Limitation::Truncated => actions.push("truncated".to_owned()),
            Limitation::InvalidItems => actions.push("invalid items left out".to_owned()),
            Limitation::Contradictory => actions.push("a note that its parts contradict each other".to_owned()),
            _ => {}
        }
    }
    actions
}

/// Returns a result without the note that seamgate appended to its content.
fn aligned(said: &Value, mut sent: Value) -> Value {
    let blocks = |value: &Value| value["content"].as_array().map_or(0, Vec::len);
    let has_note = blocks(&sent) == blocks(said) + 1;
    if let Some(content) = sent.get_mut("content").and_then(Value::as_array_mut).filter(|_| has_note) {
        content.pop();
    }
    sent
}

/// Adds the places at which two values differ, as JSON Pointers.
fn compare(one: &Value, other: &Value, at: &mut String, places: &mut Vec<String>) {
    let length = at.len();
    let mut below = |name: &str, one: Option<&Value>, other: Option<&Value>| {
        _ = write!(at, "/{}", name.replace('~', "~0").replace('/', "~1"));
        match (one, other) {
            (Some(one), Some(other)) => compare(one, other, at, places),
            (Some(_), None) => places.push(format!("{at} (removed)")),
            (None, _) => places.push(format!("{at} (added)")),
        }
        at.truncate(length);
    };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().for_each(|(name, value)| below(name, Some(value), other.get(name)));
            let added = other.iter().filter(|(name, _)| !one.contains_key(*name));
            added.for_each(|(name, value)| below(name, None, Some(value)));
        }
        (Value::Array(one), Value::Array(other)) => {
            for index in 0..one.len().max(other.len()) {
                below(&index.to_string(), one.get(index), other.get(index));
            }
        }
        _ if one != other => places.push(if at.is_empty() { "the whole".to_owned() } else { at.clone() }),
        _ => {}
    }
}

/// Returns the texts of a result of the Model Context Protocol if it contains nothing else, and its JSON otherwise.
fn text(result: &str) -> String {
    let Ok(Value::Object(members)) = serde_json::from_str(result) else { return result.to_owned() };
    let block = |block: &Value| match block {
        Value::Object(members) if members.len() == 2 && members.get("type").is_some_and(|kind| kind == "text") => {
            members.get("text").and_then(Value::as_str).map(str::to_owned)
        }
        _ => None,
    };
    let texts = members.get("content").and_then(Value::as_array).map(|blocks| blocks.iter().map(block).collect());
    match texts {
        Some(Some::<Vec<String>>(texts)) if members.keys().all(|name| name == "content" || name == "isError") => {
            texts.join("\n")
        }
        _ => result.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_changes_are_pointers_and_a_note_is_no_change() {
        let said: Value =
            serde_json::from_str(r#"{"content":[{"type":"text","text":"a"},1],"a/b":1,"c":[1,2]}"#).expect("JSON");
        let sent: Value =
            serde_json::from_str(r#"{"content":[{"type":"text","text":"b"},1,"note"],"a/b":2,"c":[1],"d":0}"#)
                .expect("JSON");
        let mut places = Vec::new();
        compare(&said, &aligned(&said, sent), &mut String::new(), &mut places);
        places.sort();
        assert_eq!(places, ["/a~1b", "/c/1 (removed)", "/content/0/text", "/d (added)"]);
    }

    #[test]
    fn text_blocks_are_joined_and_other_results_stay_whole() {
        assert_eq!(
            text(r#"{"content":[{"type":"text","text":"a"},{"text":"b","type":"text"}],"isError":true}"#),
            "a\nb"
        );
        for whole in
            [r#"{"content":[{"type":"image","data":"x"}]}"#, r#"{"content":[],"structuredContent":{}}"#, "1", "{"]
        {
            assert_eq!(text(whole), whole);
        }
    }
}
