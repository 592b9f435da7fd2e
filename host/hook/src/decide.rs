//! Decides about calls, and handles the results of calls.

use seamgate::{
    Action, ApprovalAnswer, ApprovalEvent, CallCancelledEvent, CallEvent, DecisionRecord, Json, ObservationStatus,
    Permit, PossibleEffect, Record, ResultStatus, ToolResultEvent, ToolStartedEvent, digest,
};
use seamgate_runner::{
    Result,
    agent::{now, result_ends},
};
use seamgate_text::truncate;
use serde_json::Value;

use crate::{
    calls::Calls,
    harness::{Call, Verdict},
    session::{CallState, Session, Step, short},
};

/// The principal in whose name the user of the harness approves. A profile that trusts the harness' prompt names it in
/// a group of `approvers`, as for `seamgate mcp`.
const CLIENT: &str = "client";
/// The longest result that an event contains, in bytes.
const MAX_INLINE: usize = 7 * 1024 * 1024;
/// The maximum number of reasons in an answer.
const MAX_REASONS: usize = 3;
/// The longest reason, in bytes.
const MAX_REASON: usize = 1024;

/// Decides about a call of the harness. The strictest decision about all of its calls applies.
pub(crate) fn before(session: &mut Session, call: &Call, calls: &Calls, can_ask: bool) -> Result<Verdict> {
    let base = match &call.id {
        Some(id) => truncate(id, 200),
        None => format!("{}-{}", name_of(call), session.step()),
    };
    let (mut allowed, mut asked) = (Vec::new(), Vec::new());
    let (mut denials, mut questions): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (number, one) in calls.all.iter().enumerate() {
        let mut event = CallEvent::new(truncate(&one.tool, 1024), Json::of(&one.arguments)?);
        event.id = Some(if number == 0 { base.clone() } else { format!("{base}/{number}") });
        // The empty name stands for the harness itself, so that a server's tool with the same name is not meant.
        event.server = Some(one.server.clone());
        let Step { records, actions } = session.send(&event.at(now()))?;
        let Some(record) = records.iter().find_map(decision) else {
            denials.push("the run of this session takes no call any more".to_owned());
            break;
        };
        if let Some(secret) = record.secrets.iter().flatten().next().filter(|_| record.permit != Permit::Deny) {
            asked.push(record.call.clone());
            denials.push(format!(
                "the call takes the secret {:?}, and a hook cannot put its value in: use 'seamgate mcp' or 'seamgate agent'",
                secret.name
            ));
            continue;
        }
        match record.permit {
            Permit::Deny => denials.push(without_tools(&record.message).to_owned()),
            Permit::Allow => allowed.push(record.call.clone()),
            Permit::Approval => {
                asked.push(record.call.clone());
                let by = actions.iter().find_map(|action| match action {
                    Action::AskApproval(action) => Some(&action.ask.by),
                    _ => None,
                });
                let by = by.cloned().unwrap_or_default();
                match by.iter().any(|name| name == CLIENT) && can_ask {
                    true => questions.push(record.message.clone()),
                    false => denials.push(unasked(&record.message, &by, can_ask)),
                }
            }
        }
    }
    if !denials.is_empty() {
        for key in allowed.iter().chain(&asked) {
            let mut event = CallCancelledEvent::new(key);
            event.effect = Some(PossibleEffect::None);
            session.send(&event.at(now()))?;
        }
        return Ok(Verdict::Deny(joined(&denials)));
    }
    if asked.is_empty() && calls.doubts.is_empty() {
        for key in &allowed {
            session.send(&ToolStartedEvent::new(key).at(now()))?;
        }
        return Ok(Verdict::Allow);
    }
    questions.extend(calls.doubts.iter().cloned());
    Ok(match can_ask {
        true => Verdict::Ask(joined(&questions)),
        false => {
            for key in &allowed {
                let mut event = CallCancelledEvent::new(key);
                event.effect = Some(PossibleEffect::None);
                session.send(&event.at(now()))?;
            }
            Verdict::Deny(format!("{}; the hooks of this harness cannot ask its user", joined(&questions)))
        }
    })
}

/// Describes why a call that needs approval is denied.
fn unasked(message: &str, by: &[String], can_ask: bool) -> String {
    let why = match can_ask {
        true => "the profile does not let the user of the harness (\"client\") approve it",
        false => "the hooks of this harness cannot ask its user",
    };
    format!("{message}. It needs the approval of {}, and {why}.", by.join(" or "))
}

/// Handles the result of a call of the harness.
pub(crate) fn after(session: &mut Session, call: &Call, result: &Result<Value, String>) -> Result<Verdict> {
    let open = open_calls(session, call)?;
    if open.is_empty() {
        let name = &call.tool;
        return Ok(Verdict::Rejected(format!(
            "seamgate has no open decision about this call of {name}, and nobody has judged its result: do not rely on it"
        )));
    }
    let mut rejected = None;
    for (number, CallState { key, phase, digest, .. }) in open.iter().enumerate() {
        if phase == "asked"
            && let Some(digest) = digest
        {
            // The harness asked its user, and then ran the tool.
            session.send(&ApprovalEvent::new(key, digest, ApprovalAnswer::Approved, CLIENT).at(now()))?;
        }
        if phase != "started" {
            session.send(&ToolStartedEvent::new(key).at(now()))?;
        }
        let event = match number {
            0 => result_of(session, key, result)?,
            // Its labels matter. The complete text is in the result of the tool.
            _ => {
                let mut event = ToolResultEvent::new(key);
                event.text = Some(format!("the output is that of {}", open[0].key).as_str().into());
                event
            }
        };
        let Step { records, .. } = session.send(&event.at(now()))?;
        for record in &records {
            if let Record::Observation(record) = record
                && record.status == ObservationStatus::Invalid
            {
                rejected = rejected.or(Some(record.message.clone()));
            }
        }
    }
    Ok(rejected.map_or(Verdict::Nothing, Verdict::Rejected))
}

/// Returns the open calls that belong to a call of the harness. That of the tool comes first.
fn open_calls(session: &Session, call: &Call) -> Result<Vec<CallState>> {
    let is_open = |state: &CallState| matches!(state.phase.as_str(), "asked" | "held" | "dispatched" | "started");
    let mut open: Vec<CallState> = session.state()?.calls.into_iter().filter(is_open).collect();
    let base = match &call.id {
        Some(id) => truncate(id, 200),
        None => {
            let begin = format!("{}-", name_of(call));
            let last = open.iter().rev().find(|state| state.id.starts_with(&begin));
            let Some(last) = last else { return Ok(Vec::new()) };
            last.id.split('/').next().unwrap_or_default().to_owned()
        }
    };
    let part = format!("{base}/");
    open.retain(|state| state.id == base || state.id.starts_with(&part));
    Ok(open)
}

/// Returns an id for a call to which the harness gave none.
fn name_of(call: &Call) -> String {
    let text = format!("{}/{} {}", call.server, call.tool, call.input);
    format!("h{}", short(&digest(text.as_bytes())))
}

fn result_of(session: &mut Session, key: &str, result: &Result<Value, String>) -> Result<ToolResultEvent> {
    let (text, is_error) = match result {
        Ok(Value::String(text)) => (Some(text.clone()), false),
        Ok(value) => {
            let whole = value.to_string();
            (Some(whole).filter(|whole| whole.len() > MAX_INLINE), false)
        }
        Err(text) => (Some(text.clone()), true),
    };
    let mut event = match (&text, result) {
        (Some(text), _) if text.len() > MAX_INLINE => {
            let digest = session.keep(text)?;
            result_ends(key, text, digest)
        }
        (Some(text), _) => {
            let mut event = ToolResultEvent::new(key);
            event.text = Some(text.as_str().into());
            event
        }
        (None, Ok(value)) => {
            let mut event = ToolResultEvent::new(key);
            event.result = Some(Json::of(value)?);
            event
        }
        (None, Err(_)) => ToolResultEvent::new(key),
    };
    if is_error {
        event.status = Some(ResultStatus::Error);
    }
    Ok(event)
}

fn decision(record: &Record) -> Option<&DecisionRecord> {
    match record {
        Record::Decision(record) => Some(record),
        _ => None,
    }
}

/// Returns a denial without the list of allowed tools, because a harness lists its own.
fn without_tools(message: &str) -> &str {
    message.rsplit_once(" Allowed tools: ").map_or(message, |(reason, _)| reason)
}

/// Joins reasons, without duplicates.
fn joined(reasons: &[String]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for reason in reasons {
        let reason = truncate(reason, MAX_REASON);
        if !shown.contains(&reason) && shown.len() < MAX_REASONS {
            shown.push(reason);
        }
    }
    shown.join("; ")
}
