//! An observation and a claim, separated by a zero byte: an observation supports a claim with the same text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Confidence, Contract, Disposition, Observation, Report, Request, validate};
use serde_json::{Value, json};

static CONTRACT: LazyLock<Contract> = LazyLock::new(|| {
    let evidence = json!({"claims": "$.claims[*]", "quotes": "optional"});
    let contract = json!({"agent": "a", "schema": {"type": "object"}, "evidence": evidence});
    Contract::compile(&contract.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
});

fn judged(seen: &str, text: &str, cite: Value) -> Report {
    let evidence = [Observation {
        id: "seen".to_owned(),
        kinds: Vec::new(),
        text: seen.to_owned(),
        labels: Vec::new(),
        confidence: Confidence::High,
        complete: true,
        limitations: Vec::new(),
    }];
    let output = json!({"claims": [{"text": text, "evidence": [cite]}]}).to_string();
    let request = Request { output: &output, evidence: Some((&evidence[..]).into()), ..Request::default() };
    validate(&CONTRACT, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
}

fuzz_target!(|input: &str| {
    let (seen, claim) = input.split_once('\0').unwrap_or((input, ""));
    let same = judged(seen, seen, json!("seen"));
    assert_eq!(same.disposition, Disposition::Accepted, "{}", same.to_json());
    if !seen.trim().is_empty() {
        let quoted = judged(seen, seen, json!({"id": "seen", "quote": seen}));
        assert_eq!(quoted.disposition, Disposition::Accepted, "{}", quoted.to_json());
    }
    let cited = judged(seen, claim, json!("seen"));
    let of_value = judged(seen, claim, json!({"id": "seen", "pointer": claim, "value": seen}));
    let quoted = judged(seen, "", json!({"id": "seen", "quote": claim}));
    if quoted.disposition == Disposition::Accepted {
        assert!(seen.contains(claim), "{}", quoted.to_json());
    }
    for report in [cited, of_value, quoted] {
        let is_accepted = report.disposition == Disposition::Accepted;
        assert!(is_accepted || report.error.is_some_and(|error| !error.violations.is_empty()));
    }
});
