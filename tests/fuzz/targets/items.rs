//! Lists of items: every report is sound, nothing is lost between items, and every valid JSON item is kept or
//! quarantined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_checks::items::nothing_is_lost_between_items;
use seamgate_core::Source;
use seamgate_fuzz::{contracts, judge, report, split};
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let pairs = contracts::items();
    let pair = &pairs[choice % pairs.len()];
    let judged = judge(&pair.contract, &text);
    report::check(pair, &text, &judged);
    // A note gives the number of items above the limit.
    if !judged.notes.iter().any(|note| note.contains("more")) {
        let kept = nothing_is_lost_between_items(&judged, &text);
        kept.unwrap_or_else(|error| panic!("{error}: {}", judged.to_json()));
    }
    let Some(pointer) = pair.items else { return };
    let listed = |json: &str| {
        let document: Value = serde_json::from_str(json).ok()?;
        Some(document.pointer(pointer)?.as_array()?.len())
    };
    let is_raw = judged.candidates.iter().any(|candidate| candidate.chosen && candidate.source == Source::Raw);
    if let (true, Some(output), Some(count)) = (is_raw, &judged.output, listed(text.trim_matches('\u{feff}'))) {
        let kept = listed(output).unwrap_or_default();
        assert_eq!(kept + judged.quarantined.len(), count, "an item is lost: {}", judged.to_json());
    }
});
