//! Tests large results through `seamgate mcp`.
#![cfg(unix)]

use serde_json::json;

use crate::served::Served;

/// A tool that returns an image or a text of the requested size.
const SHOT: &str = r#"
import base64
TOOLS = ["shot"]
def call(name, a):
    if "image" in a:
        return dict(type="image", mimeType="image/png", data=base64.b64encode(b"p" * a["image"]).decode())
    return dict(type="text", text="word " * (a["text"] // 5))
"#;

const PROFILE: &str = r#"{"agent": "x", "tools": [{"name": "shot", "effect": "read", "permit": "allow"}]}"#;

#[test]
fn images_pass_up_to_their_own_limit() {
    let mut served = Served::start("images", SHOT, PROFILE);
    for (bytes, passes) in
        [(1_000_usize, true), (1 << 20, true), (5 << 20, true), ((5 << 20) + 1, false), (12 << 20, false)]
    {
        let answer = served.ask("tools/call", json!({"name": "shot", "arguments": {"image": bytes}}));
        let shown = answer["result"]["content"].to_string();
        let data = answer["result"]["content"][0]["data"].as_str().unwrap_or_default();
        assert_eq!(data.len() == bytes.div_ceil(3) * 4, passes, "{bytes}: {}", &shown[..shown.len().min(600)]);
        assert!(passes || shown.len() < 100_000, "{bytes}: {} bytes are shown", shown.len());
    }
    served.end();
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let mut served = Served::start("texts", SHOT, PROFILE);
    for bytes in [900_000, 5 << 20, 12 << 20] {
        let answer = served.ask("tools/call", json!({"name": "shot", "arguments": {"text": bytes}}));
        let shown = answer["result"]["content"].to_string();
        assert!(shown.len() < 300_000 && shown.contains("left out"), "{bytes}: {}", &shown[..shown.len().min(600)]);
    }
    served.end();
}
