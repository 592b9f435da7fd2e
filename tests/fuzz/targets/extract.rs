//! Text -> candidates: every report is sound, regardless of how the contract searches for documents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_fuzz::{contracts, judge, report, split};

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let pairs = contracts::extract();
    let pair = &pairs[choice % pairs.len()];
    report::check(pair, &text, &judge(&pair.contract, &text));
});
