//! Checks schemas and documents derived from the bytes. An accepted contract judges, explains its rejections, and gives
//! a document the same verdict regardless of the notation of its numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_checks::schemas::{Choices, DIALECTS, REFERRED, WORDS, Words, references, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use serde_json::json;

/// Bytes as choices. When no bytes are left, each choice is the first one.
struct Bytes<'t>(&'t [u8]);

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first) % bound
    }
}

/// Includes patterns whose match is undecided on some of the texts.
const HOSTILE: Words = Words {
    names: &["a", "b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"],
    strings: &["", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"],
    patterns: &["^a", "^((?=a)a|aa)+q$", "^(a|(?=a)a|aa)+r$"],
};

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Bytes(bytes);
    let dialect = choices.below(DIALECTS.len());
    let (schema, resources, words) = match choices.below(3) {
        0 => (schema(&mut choices, WORDS, dialect), json!({}), WORDS),
        1 => (schema(&mut choices, HOSTILE, dialect), json!({}), HOSTILE),
        _ => {
            let made = references(&mut choices, dialect);
            (made.schema, serde_json::Value::Object(made.resources), REFERRED)
        }
    };
    let contract = json!({"agent": "a", "schema": schema, "resources": resources, "patterns": "backtracking"});
    let contract = match Contract::compile(&contract.to_string()) {
        Ok(contract) => contract,
        // Every generated reference has a target, and every keyword has a valid value.
        Err(fault) => panic!("{}: {contract}", fault.to_json()),
    };
    for _ in 0..3 {
        let document = value(&mut choices, words, 3).to_string();
        let verdict = |text: &str| {
            let request = Request { output: text, ..Request::default() };
            let report = validate(&contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            if let Some(error) = &report.error {
                assert!(!error.violations.is_empty(), "{}", report.to_json());
            }
            report.disposition == Disposition::Accepted
        };
        let accepted = verdict(&document);
        // If integers are recognized by value, `1.5` may become `15e-1`.
        if dialect > 0 {
            assert_eq!(verdict(&document.replace("1.5", "0.015e2")), accepted, "{document}");
        }
    }
});
