//! Tests a run's memory of calls that ended: its size is limited, and it forgets the oldest call first.

use seamgate_kernel::{Profile, advance};
use serde_json::{Value, json};

fn step(profile: &Profile, state: Option<&str>, event: &Value) -> (Value, String) {
    let step = advance(profile, state, &event.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let step: Value = serde_json::from_str(&step).expect("JSON");
    let state = step["state"].to_string();
    (step, state)
}

#[test]
fn the_64_calls_that_ended_last_are_remembered() {
    let profile = json!({
        "agent": "gate",
        "approvers": {"oncall": [{"principal": "ben"}]},
        "tools": [
            {"name": "scale", "effect": "effectful", "permit": {"approval": {"by": ["oncall"]}}},
            {"name": "read", "effect": "read", "permit": "allow"},
        ],
    });
    let profile = Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let started = json!({"type": "started", "at": 1, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00"});
    let (_, mut state) = step(&profile, None, &started);
    let mut at = 1;
    let mut key = 0;
    let mut ask = |state: &mut String, tool: &str, number: usize, ends: bool| {
        (at, key) = (at + 10, key + 1);
        let call = json!({"type": "call", "at": at, "tool": tool, "arguments": {"number": number}});
        let (asked, now) = step(&profile, Some(state), &call);
        *state = now;
        let ask = asked["actions"][0]["ask"].clone();
        if ends {
            let key = format!("c{key}");
            if !ask.is_null() {
                let approval = json!({
                    "type": "approval", "at": at, "key": key, "digest": ask["digest"], "decision": "approved", "principal": "ben",
                });
                *state = step(&profile, Some(state), &approval).1;
            }
            let result = json!({"type": "tool_result", "at": at, "call": key, "text": "done"});
            *state = step(&profile, Some(state), &result).1;
        }
        ask["view"].as_str().unwrap_or_default().to_owned()
    };
    for number in 0..80 {
        ask(&mut state, "scale", number, true);
        ask(&mut state, "read", number, true);
    }
    let remembered: Value = serde_json::from_str(&state).expect("JSON");
    assert_eq!(remembered["ran"].as_object().map(serde_json::Map::len), Some(64));
    for number in 0..80 {
        let view = ask(&mut state, "scale", number, false);
        assert_eq!(view.contains("before: an equal call"), number >= 16, "{number}: {view}");
    }
}
