//! Approvals that calls wait for. A person approves with `seamgate approve`, or through the client if the profile
//! trusts the client.

use seamgate::{ApprovalAnswer, ApprovalEvent};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::json;

/// The principal in whose name the client decides. A profile that trusts the client names it in a group of `approvers`.
pub(super) const CLIENT: &str = "client";

/// The name under which the gate asks for approval in a result.
pub(super) const APPROVAL: &str = "seamgate_approval";

/// Returns the parameters of `elicitation/create` that ask whether a call may run.
pub(super) fn question(view: &str) -> String {
    let message = json(&format!("Approve this call?\n\n{view}"));
    format!(
        r#"{{"message":{message},"requestedSchema":{{"type":"object","properties":{{"approve":{{"type":"boolean","title":"Approve this call"}}}},"required":["approve"]}}}}"#
    )
}

/// Returns the result of a call that asks whether it may run, in versions without a session.
pub(super) fn question_by_result(view: &str) -> String {
    format!(
        r#"{{"resultType":"input_required","inputRequests":{{"{APPROVAL}":{{"method":"elicitation/create","params":{}}}}}}}"#,
        question(view)
    )
}

/// Returns the event for the client's decision about a call.
pub(super) fn decision(key: &str, digest: &str, is_approved: bool) -> ApprovalEvent {
    let answer = if is_approved { ApprovalAnswer::Approved } else { ApprovalAnswer::Rejected };
    ApprovalEvent::new(key, digest, answer, CLIENT)
}

/// Returns whether an answer of the client approves. Anything but a clear yes counts as a no.
pub(super) fn is_approved(result: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Answer {
        action: String,
        content: Option<Content>,
    }
    #[derive(Deserialize)]
    struct Content {
        approve: Option<bool>,
    }
    serde_json::from_str(result.get()).is_ok_and(|Answer { action, content }| {
        action == "accept" && content.and_then(|content| content.approve) == Some(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_approves() {
        let is_approved = |text: &str| is_approved(&RawValue::from_string(text.to_owned()).expect("JSON"));
        assert!(is_approved(r#"{"action":"accept","content":{"approve":true}}"#));
        for no in [
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":{"approve":"true"}}"#,
            r#"{"action":"accept","content":{"approve":1}}"#,
            r#"{"action":"accept","content":{"approve":false}}"#,
            r#"{"action":"decline","content":{"approve":true}}"#,
            r#"{"action":"cancel"}"#,
            r#"{"content":{"approve":true}}"#,
            "{}",
            "null",
            "true",
        ] {
            assert!(!is_approved(no), "{no}");
        }
        assert!(question("a \"b\"\nc").contains(r#"a \"b\"\nc"#));
    }
}
