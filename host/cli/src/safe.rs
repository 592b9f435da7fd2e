//! Untrusted text on a terminal.

use crate::hidden::is_hidden;

/// The text made safe for a terminal: nothing in it moves the cursor, hides, or changes the direction of writing.
pub(crate) fn safe(text: &str) -> String {
    text.split('\n').map(safe_line).collect::<Vec<_>>().join("\n")
}

fn safe_line(line: &str) -> String {
    annotate_snippets::normalize_untrusted_str(&replaced(line))
}

/// A line without characters that have no width. `annotate_snippets` makes the other unsafe ones safe.
pub(crate) fn replaced(text: &str) -> String {
    text.trim_end_matches('\r')
        .chars()
        .map(|character| if !character.is_ascii() && is_hidden(character) { '\u{fffd}' } else { character })
        .collect()
}
