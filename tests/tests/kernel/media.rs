//! Results with images: the images that pass, and the events that a run accepts.

use seamgate_kernel::{Profile, advance};
use serde_json::{Value, json};

/// 8 MiB of Base64, which decode to 6 MiB.
const BASE64_BYTES: usize = 8 * 1024 * 1024;

/// Returns the record of a result with one image, and the length of the state after it.
fn observed(result: &Value) -> (Value, usize) {
    let profile = json!({
        "agent": "gate",
        "tools": [{"name": "shot", "effect": "read", "permit": "allow", "result": result}],
    });
    let profile = Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let image = json!({"type": "image", "mimeType": "image/png", "data": "aB3d".repeat(BASE64_BYTES / 4)});
    let events = [
        json!({"type": "started", "at": 1, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00"}),
        json!({"type": "call", "at": 2, "tool": "shot", "arguments": {}}),
        json!({"type": "tool_started", "at": 3, "call": "c1"}),
        json!({"type": "tool_result", "at": 4, "call": "c1", "returned": {"content": [{"type": "text", "text": "taken"}, image]}}),
    ];
    let (mut state, mut last) = (None, Value::Null);
    for event in events {
        let step = advance(&profile, state.as_deref(), &event.to_string());
        last = serde_json::from_str(&step.unwrap_or_else(|fault| panic!("{}", fault.to_json()))).expect("JSON");
        state = Some(last["state"].to_string());
    }
    (last["records"][0].clone(), state.map_or(0, |state| state.len()))
}

#[test]
fn an_image_of_megabytes_passes_as_it_is_or_is_left_out_by_its_own_limit() {
    let (passed, state) = observed(&json!({"max_media_bytes": 8 * 1024 * 1024}));
    assert_eq!((&passed["status"], &passed["complete"]), (&json!("ok"), &json!(true)), "{passed}");
    assert_eq!(passed["returned"], Value::Null);
    assert!(state < 4096, "{state}");
    let (left_out, _) = observed(&json!({}));
    assert_eq!(left_out["limitations"], json!(["truncated"]));
    let content = &left_out["returned"]["content"];
    let said = "[left out: part 2, image/png of 6291456 bytes; the limit is 5242880, 'result.max_media_bytes']";
    assert_eq!(content[1]["text"], said, "{content}");
}
