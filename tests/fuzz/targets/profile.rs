//! Any JSON as a profile: either a fault with a description, or a profile that lints, describes, and decides about
//! calls.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_checks::decisions::{assert_sound_decision, assert_sound_observation};
use seamgate_kernel::{Profile, observe, permit};
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let profile = match Profile::compile(text) {
        Ok(profile) => profile,
        Err(fault) => {
            let fault: Value = serde_json::from_str(&fault.to_json()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(fault["fault"], "bad_profile");
            assert!(fault["message"].as_str().is_some_and(|message| message.len() > 10), "{fault}");
            return;
        }
    };
    profile.lint(text);
    profile.describe();
    let source: Value = serde_json::from_str(text).unwrap_or_default();
    let lists: serde_json::Map<String, Value> = profile.lists().into_iter().map(|list| (list, json!(["a"]))).collect();
    let mode = source["modes"].as_object().and_then(|modes| modes.keys().next().cloned());
    let mut facts = json!({"run": "r", "at": 1, "principal": "p", "nonce": "0123456789abcdef", "lists": lists});
    if let Some(mode) = mode {
        facts["mode"] = json!(mode);
    }
    for tool in source["tools"].as_array().into_iter().flatten().take(4) {
        let Some(name) = name(tool, &profile) else { continue };
        let mut call = json!({"key": "k", "tool": name, "arguments": {"a": "a", "b": [1, 2.50]}});
        if let Some(server) = tool["server"].as_str() {
            call["server"] = json!(server);
        }
        let answer = |answer: Result<String, seamgate_core::Fault>| -> Value {
            let answer = answer.unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_sound_decision(&answer(permit(&profile, &facts.to_string(), &call.to_string())), &call);
        let is_sanitized = tool.pointer("/result/clean").is_none_or(|clean| clean == "full");
        for result in [json!({"result": {"lines": ["a", {"b": 1}], "until": 1}}), json!({"text": "a\u{200b}\nb"})] {
            let observation = answer(observe(&profile, &facts.to_string(), &call.to_string(), &result.to_string()));
            assert_sound_observation(&observation, 1 << 20, is_sanitized);
        }
    }
});

/// Returns the name of a tool that matches an entry of `tools`: the entry's own name, or the name of the first
/// definition that matches its pattern.
fn name(entry: &Value, profile: &Profile) -> Option<String> {
    let tools = profile.tools();
    let is_tool = |name: &&str| match entry["server"].as_str() {
        Some(server) => tools.contains(&format!("{server}/{name}")),
        None => tools.iter().any(|tool| tool == name),
    };
    let definitions = entry["definitions"].as_array().into_iter().flatten();
    let names = [&entry["name"]].into_iter().chain(definitions.map(|definition| &definition["name"]));
    names.filter_map(Value::as_str).find(is_tool).map(str::to_owned)
}
