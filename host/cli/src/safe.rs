//! Untrusted text on a terminal.

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
        .map(|character| match character {
            '\u{80}'..='\u{9f}' | '\u{2028}'..='\u{2029}' | '\u{fff9}'..='\u{fffb}' => '\u{fffd}',
            // Default ignorable code points: a display may leave them out.
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' => '\u{fffd}',
            other => other,
        })
        .collect()
}
