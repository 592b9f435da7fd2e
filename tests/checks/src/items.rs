//! Checks a report's statements about items against the text that contained them.

use anyhow::{Result, ensure};
use seamgate_core::Report;

/// Checks that text removed between items is either in quarantine or punctuation, and that no two items overlap.
///
/// # Errors
///
/// Returns an error if text is lost, or if two items overlap.
pub fn nothing_is_lost_between_items(report: &Report, output: &str) -> Result<()> {
    let quarantined: Vec<_> = report.quarantined.iter().filter_map(|item| item.span).collect();
    let removed = |kind: &str| matches!(kind, "item_removed" | "stray" | "comma_added" | "comma_removed");
    let changes = report.changes.iter().filter(|change| removed(change.kind.as_str()));
    for span in changes.filter_map(|change| change.span) {
        // An item can begin before the change, because another change may be inside it.
        let mut at = span.start;
        let touched = quarantined.iter().filter(|item| span.start < item.end && item.start < span.end);
        let gaps = touched.map(|item| (item.start, item.end)).chain([(span.end, span.end)]);
        for (start, end) in gaps {
            let gap = &output[at as usize..start.max(at) as usize];
            let is_content = |character: char| character.is_alphanumeric() || "\"{[".contains(character);
            // Line ends and tabs that are escaped once too often are punctuation, like unescaped ones.
            let marks = gap.replace("\\n", "").replace("\\r", "").replace("\\t", "");
            ensure!(!marks.contains(is_content) || gap.contains(['/', '#']), "{gap:?} is lost");
            at = at.max(end);
        }
    }
    let items = report.items.iter().filter_map(|item| item.span);
    let mut spans: Vec<_> = quarantined.iter().copied().chain(items).map(|span| (span.start, span.end)).collect();
    spans.sort_unstable();
    ensure!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "items overlap");
    Ok(())
}
