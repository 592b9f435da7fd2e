//! Checks that only syntax is repaired: valid JSON stays unchanged, nothing is lost or invented, and the changes
//! describe the repairs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_checks::scalars::repairs_keep_words;
use seamgate_fuzz::{contracts, judge, report, split};
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let pairs = contracts::repair();
    let pair = &pairs[choice % pairs.len()];
    let judged = judge(&pair.contract, &text);
    report::check(pair, &text, &judged);
    if serde_json::from_str::<Value>(&text).is_ok() {
        assert!(judged.changes.is_empty(), "JSON was changed: {}", judged.to_json());
    }
    if pair.items.is_none() {
        let value: Value = serde_json::from_str(&judged.to_json()).expect("a report");
        repairs_keep_words(&value, &text).unwrap_or_else(|error| panic!("{error}: {value}"));
    }
    let output = judged.output.as_deref().unwrap_or("null");
    numbers(output, &mut |number| assert!(text.contains(number), "{number} was invented"));
});

/// Finds the numbers of a JSON text, as they are written.
fn numbers(json: &str, found: &mut dyn FnMut(&str)) {
    let is_part = |character: char| character.is_ascii_digit() || matches!(character, '-' | '+' | '.' | 'e' | 'E');
    let (mut quoted, mut escaped) = (false, false);
    let mut start = None;
    for (at, character) in json.char_indices() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        quoted = character == '"';
        let begins = character.is_ascii_digit() || character == '-';
        match start {
            None if begins => start = Some(at),
            Some(from) if !is_part(character) => {
                found(&json[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found(&json[from..]);
    }
}
