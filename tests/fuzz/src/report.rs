//! Invariants of every report.

use seamgate_checks::{accounts::every_byte_is_accounted_for, changes::changes_give_what_was_validated};
use seamgate_core::{Disposition, Report, Span, is_hidden};
use serde_json::Value;

use crate::{contracts::Pair, judge};

/// Checks the invariants of a report on any text.
///
/// # Panics
///
/// Panics if an invariant is violated.
pub fn check(pair: &Pair, output: &str, report: &Report) {
    let json = report.to_json();
    let value: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let has_output = matches!(report.disposition, Disposition::Accepted | Disposition::Partial);
    assert_eq!(report.output.is_some(), has_output);
    assert_eq!(report.error.is_some(), report.disposition == Disposition::Rejected);
    assert!(report.error.as_ref().is_none_or(|error| !error.violations.is_empty()), "rejected without a reason");
    assert_eq!(report.feedback.is_empty(), report.disposition == Disposition::Accepted);
    assert!(report.feedback.len() <= 2048, "{} bytes of feedback", report.feedback.len());
    assert!(report.candidates.iter().filter(|candidate| candidate.chosen).count() <= 1);
    shown(report);
    spans(output, report);
    if let Err(error) = every_byte_is_accounted_for(output, report) {
        panic!("{error}: {json}");
    }
    for item in &report.quarantined {
        assert!(item.path.ends_with(&format!("[{}]", item.index)), "{}", item.path);
        assert!(!item.violations.is_empty(), "in quarantine without a reason: {json}");
    }
    let mut numbers: Vec<u32> =
        report.quarantined.iter().map(|item| item.index).chain(report.items.iter().map(|item| item.index)).collect();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "an item is there twice");
    // If there are more violations than a report lists, a note gives their number.
    let cut = report.notes.iter().any(|note| note.contains("more"));
    if !cut && changes_are_whole(report) {
        let path = pair.items.map(|pointer| format!("{}[*]", pointer.replace('/', ".")));
        let given = changes_give_what_was_validated(&value, output, path.as_deref());
        given.unwrap_or_else(|error| panic!("{error:#}: {json}"));
    }
    if let Some(document) = &report.output {
        let again = judge(&pair.again, document);
        assert_eq!(again.disposition, Disposition::Accepted, "the output is not valid: {}", again.to_json());
        assert_eq!(again.output.as_ref(), Some(document), "the output reads otherwise than it was written");
    }
}

/// Long changes are shown truncated, and cannot be applied then.
fn changes_are_whole(report: &Report) -> bool {
    report.changes.iter().all(|change| !change.after.contains("… ["))
}

/// Checks that texts for a person are one line of visible characters.
fn shown(report: &Report) {
    let violations = report.error.iter().flat_map(|error| &error.violations);
    for violation in violations.chain(report.quarantined.iter().flat_map(|item| &item.violations)) {
        for text in [&violation.message, &violation.expected, &violation.received] {
            assert!(!text.chars().any(is_hidden), "{text:?}");
        }
        assert!(!violation.message.is_empty());
        assert!(violation.received.len() <= 256, "{} bytes received", violation.received.len());
    }
    assert!(!report.feedback.chars().any(|character| character != '\n' && is_hidden(character)));
}

fn spans(output: &str, report: &Report) {
    let inside = |span: Span| {
        let piece = output.get(span.start as usize..span.end as usize);
        assert!(piece.is_some(), "{span:?} is no piece of the output");
    };
    let violations = report.error.iter().flat_map(|error| &error.violations);
    violations.filter_map(|violation| violation.span).for_each(inside);
    report.items.iter().filter_map(|item| item.span).for_each(inside);
    report.changes.iter().filter_map(|change| change.span).for_each(inside);
    for item in &report.quarantined {
        item.span.into_iter().for_each(inside);
        item.violations.iter().filter_map(|violation| violation.span).for_each(inside);
    }
    for pair in report.candidates.windows(2) {
        assert!(pair[0].span.end <= pair[1].span.start, "candidates overlap");
        assert_eq!(pair[0].source, pair[1].source);
    }
    report.candidates.iter().for_each(|candidate| inside(candidate.span));
}
