//! The core scans eight bytes at a time natively, and sixteen in the sandbox (`guest/core/src/scan.rs`). Every byte at
//! every position gives the same report.

use seamgate::{Gate, Request};
use seamgate_core::Contract;

/// The report quotes an unexpected name and an invalid string.
const CONTRACT: &str =
    r#"{"agent": "wide", "schema": {"properties": {"a": {"enum": ["b"]}}, "additionalProperties": false}}"#;

#[test]
fn every_byte_is_the_same_at_every_place() {
    let contract = Contract::compile(CONTRACT).expect("a contract");
    let mut gate = Gate::new().expect("a gate");
    gate.register(CONTRACT).expect("a contract");
    let mut instance = gate.instance();
    let mut compared = 0;
    for character in '\0'..='\u{ff}' {
        for fill in ["a", " ", "\u{7f}", "é"] {
            for place in 0..36 {
                let text = [&fill.repeat(place), character.to_string().as_str(), &fill.repeat(20)].concat();
                for output in [format!("{{\"{text}\": 1}}"), format!("{{\"a\": \"{text}\"}}")] {
                    let request = seamgate_core::Request { output: &output, ..seamgate_core::Request::default() };
                    let native = seamgate_core::validate(&contract, &request).expect("a report").to_json();
                    let sandboxed =
                        instance.validate(&Request::new("wide", &output)).expect("a verdict").report.to_json();
                    assert_eq!(sandboxed, native, "{output:?}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} reports are the same");
}
