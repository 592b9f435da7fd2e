//! Text -> document, compared with `serde_json`: both accept the same texts, with the same values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Disposition, ErrorKind};
use seamgate_fuzz::{contracts, judge};
use serde_json::Value;

/// Errors of `serde_json` on text that JSON's grammar allows, and the gate's keyword when it rejects the same.
const BEYOND: [(&str, &str); 4] = [
    ("number out of range", "number_range"),
    ("surrogate", "lone_surrogate"),
    ("unexpected end of hex escape", "lone_surrogate"),
    ("recursion limit exceeded", "caps.depth"),
];

/// The keywords with which the gate rejects text that `serde_json` accepts.
const REFUSED: [&str; 6] =
    ["duplicate_member", "number_range", "caps.depth", "caps.string_bytes", "caps.array_items", "caps.object_members"];

/// The maximum number of violations in a report.
const LISTED: usize = 100;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // A byte order mark before a document is skipped.
    if text.starts_with('\u{feff}') || text.contains("```") || text.contains("~~~") {
        return;
    }
    let report = judge(&contracts::parse()[0].contract, text);
    let kind = report.error.as_ref().map(|error| error.error);
    let is_json = !matches!(kind, Some(ErrorKind::MalformedJson | ErrorKind::ExtractionFailed));
    let keywords: Vec<&str> =
        report.error.iter().flat_map(|error| &error.violations).map(|violation| violation.keyword.as_str()).collect();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            assert!(is_json, "this is JSON: {}", report.to_json());
            match &report.output {
                Some(output) => {
                    assert_eq!(report.disposition, Disposition::Accepted);
                    assert_eq!(serde_json::from_str::<Value>(output).ok(), Some(value), "{output}");
                }
                None => assert!(keywords.iter().all(|keyword| REFUSED.contains(keyword)), "{keywords:?}"),
            }
        }
        Err(error) => {
            let message = error.to_string();
            let beyond = BEYOND.iter().find(|(theirs, _)| message.contains(theirs));
            match beyond {
                // `serde_json` stops there, and the text after it may be invalid. The gate continues, and lists only as
                // many violations as fit.
                Some((_, ours)) => {
                    assert!(!is_json || keywords.len() == LISTED || keywords.contains(ours), "{message}: {keywords:?}");
                }
                None => assert!(!is_json, "{message}: {}", report.to_json()),
            }
        }
    }
});
