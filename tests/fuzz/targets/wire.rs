//! Any text as a request on the wire: there is one answer, which is JSON, with a report, a result or a fault.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Registry, call_with};
use seamgate_fuzz::contracts;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let mut registry = Registry::new();
    let mut profiles = seamgate_kernel::Registry::default();
    let contract = contracts::items()[1].text.replace(r#""agent":"a""#, r#""agent":"triage""#);
    registry.register(&contract).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    // Several requests, one per line. Later requests use what earlier ones register.
    for request in String::from_utf8_lossy(input).lines().take(4) {
        let answer = call_with(&mut registry, &mut profiles, request);
        let value: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        let kinds = ["report", "result", "fault"].map(|kind| usize::from(value.get(kind).is_some()));
        assert_eq!(kinds.iter().sum::<usize>(), 1, "{answer}");
        if let Some(fault) = value.get("fault") {
            let named = ["bad_request", "bad_contract", "bad_profile", "unknown_agent", "sealed"].map(Value::from);
            assert!(named.contains(&fault["fault"]), "{answer}");
            assert!(fault["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        }
        if let Ok(request) = serde_json::from_str::<Value>(request)
            && value.get("fault").is_none()
        {
            assert_eq!(value["id"], request["id"], "{answer}");
        }
    }
});
