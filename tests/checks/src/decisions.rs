//! Invariants of every decision and every observation, whatever documents they result from.

use seamgate_kernel::sanitize::inspect;
use serde_json::Value;

/// # Panics
///
/// Panics if the decision contradicts itself or the call.
pub fn assert_sound_decision(decision: &Value, call: &Value) {
    let has = |member: &str| decision.get(member).is_some();
    let no_reason = decision["reasons"].as_array().is_some_and(Vec::is_empty);
    match decision["permit"].as_str() {
        Some("allow") => {
            assert!(no_reason && has("arguments") && has("digest") && !has("ask"), "{decision}");
            assert!(decision["facts"]["used"].is_object(), "a permitted call is counted: {decision}");
            if let Some(text) = call["arguments"].as_str() {
                assert_eq!(decision["arguments"], text, "other bytes are sent than were decided about");
            }
        }
        Some("deny") => {
            assert!(!no_reason && has("allowed") && !has("arguments") && !has("ask"), "{decision}");
            assert!(decision["facts"].as_object().is_some_and(serde_json::Map::is_empty), "{decision}");
        }
        Some("approval") => {
            assert!(!no_reason && has("arguments"), "{decision}");
            assert_eq!(decision["ask"]["digest"], decision["digest"]);
            assert_eq!(decision["ask"]["key"], call["key"]);
        }
        other => panic!("{other:?} is no decision"),
    }
    assert_visible(&decision["message"]);
    assert_visible(&decision["ask"]["view"]);
}

/// Checks an observation of a tool whose results are sanitized (`result.clean` is `full`), or whose texts stay
/// unchanged.
///
/// # Panics
///
/// Panics if the observation is longer than the profile allows, shows forbidden text, or contains its own mark.
pub fn assert_sound_observation(observation: &Value, max_bytes: usize, is_sanitized: bool) {
    let text = observation["text"].as_str().expect("a text");
    let message = observation["message"].as_str().expect("a message");
    assert!(text.len() <= max_bytes, "{} bytes of {max_bytes}: {observation}", text.len());
    for shown in [text, message].into_iter().filter(|_| is_sanitized) {
        let found = &inspect(shown).found;
        assert_eq!(found.escaped.total(), 0, "a hidden character is shown: {shown:?}");
        assert_eq!(found.redacted.total(), 0, "a secret is shown: {shown:?}");
    }
    let is_invalid = observation["status"] == "invalid";
    assert_eq!(is_invalid, message.matches("\n<data-").count() == 0, "{observation}");
    if is_invalid {
        assert_eq!(text, "");
    } else {
        let mark = message.rsplit("</").next().and_then(|rest| rest.strip_suffix('>')).expect("a mark at the end");
        assert_eq!(message.matches(mark).count(), 3, "data has the mark of its own observation: {observation}");
    }
    let limited = observation["limitations"].as_array().is_some_and(|all| all.iter().any(|code| code != "stale"));
    assert_eq!(observation["complete"], !limited, "{observation}");
}

fn assert_visible(text: &Value) {
    if let Some(text) = text.as_str() {
        assert!(!text.chars().any(|character| character != '\n' && seamgate_core::is_hidden(character)), "{text:?}");
    }
}
