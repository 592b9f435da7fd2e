//! Untrusted text on a terminal.

use crate::hidden::is_hidden;

/// Returns the text with nothing in it that moves the cursor, hides, or changes the direction of writing. Line ends stay.
pub fn escape_terminal(text: &str) -> String {
    text.split('\n').map(escape_line).collect::<Vec<_>>().join("\n")
}

fn escape_line(line: &str) -> String {
    annotate_snippets::normalize_untrusted_str(&without_hidden(line))
}

/// Returns a line with U+FFFD in place of each character that has no width, and without `\r` at its end.
/// `annotate_snippets` escapes the other unsafe characters.
pub fn without_hidden(line: &str) -> String {
    line.trim_end_matches('\r')
        .chars()
        .map(|character| if !character.is_ascii() && is_hidden(character) { '\u{fffd}' } else { character })
        .collect()
}
