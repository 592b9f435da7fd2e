//! Any JSON as a contract: either a fault with a description, or a contract that judges, lints and describes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Contract, ErrorKind, NamedList, Request, validate};
use serde_json::Value;

const OUTPUTS: [&str; 7] = [
    "{}",
    r#"{"a":1,"b":[1,2.50,"x"],"list":[{"id":"a"},{"id":1}]}"#,
    "[[],[null,true],{\"a\":{\"a\":{}}}]",
    "\"2026-01-31\"",
    "1e3",
    "null",
    "```json\n{\"a\":[}\n```",
];

fuzz_target!(|text: &str| {
    let contract = match Contract::compile(text) {
        Ok(contract) => contract,
        Err(fault) => {
            let fault: Value = serde_json::from_str(&fault.to_json()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(fault["fault"], "bad_contract");
            assert!(fault["message"].as_str().is_some_and(|message| message.len() > 10), "{fault}");
            return;
        }
    };
    contract.lint(text);
    contract.describe();
    // The lists that the contract may require, because a request without one is a fault.
    let list = |name: String| NamedList { name, values: vec!["a".to_owned()] };
    let lists: Vec<NamedList> = contract.lists().into_iter().map(list).collect();
    for output in OUTPUTS {
        let request = Request { output, lists: lists.clone(), evidence: Some(Vec::new().into()), ..Request::default() };
        let report = validate(&contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        let json = report.to_json();
        assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
        // The same rules explain a rejection.
        if let Some(error) = &report.error {
            assert!(!error.violations.is_empty(), "{json}");
            assert!(error.error != ErrorKind::MalformedJson || output.starts_with('`'), "{json}");
        }
    }
});
