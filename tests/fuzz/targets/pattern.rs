//! A pattern and a text, one per line: both engines give the same answer. An empty look-ahead forces the use of the
//! backtracking engine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Contract, Disposition, Request, validate};
use serde_json::json;

fuzz_target!(|input: &str| {
    let (pattern, text) = input.split_once('\n').unwrap_or((input, ""));
    let text: String = text.chars().take(64).collect();
    let output = json!(text).to_string();
    // `None` if the engine rejects the pattern, or the match is undecided.
    let matches = |pattern: &str, engine: &str| {
        let extract = json!({"markers": [], "ignore": []});
        let text =
            json!({"agent": "a", "patterns": engine, "schema": {"pattern": pattern}, "extract": extract}).to_string();
        let contract = Contract::compile(&text).ok()?;
        contract.lint(&text);
        let report = validate(&contract, &Request { output: &output, ..Request::default() }).ok()?;
        let why = report.error.as_ref().and_then(|error| error.violations.first());
        match (report.disposition, why) {
            (Disposition::Accepted, _) => Some(true),
            (Disposition::Rejected, Some(why)) if why.keyword == "pattern" && !why.message.contains(" steps") => {
                Some(false)
            }
            _ => None,
        }
    };
    if let Some(linear) = matches(pattern, "linear") {
        assert_eq!(matches(pattern, "backtracking"), Some(linear), "{pattern:?} {text:?}");
        if let Some(back) = matches(&format!("(?:{pattern})(?=)"), "backtracking") {
            assert_eq!(back, linear, "{pattern:?} {text:?}");
        }
    } else {
        matches(pattern, "backtracking");
    }
});
