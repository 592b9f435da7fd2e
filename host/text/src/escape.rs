//! Escapes untrusted text for a terminal.

use crate::hidden::is_hidden;

/// Escapes all characters that move the cursor, are invisible, or change the direction of writing. Line ends stay.
pub fn escape_terminal(text: &str) -> String {
    text.split('\n').map(escape_line).collect::<Vec<_>>().join("\n")
}

/// Escapes all control and invisible characters in a JSON document, without changing its values. Such characters occur
/// only in strings, because the only control characters elsewhere in JSON are line ends and tabs.
pub fn visible_json(json: &str) -> String {
    let mut visible = String::with_capacity(json.len());
    for character in json.chars() {
        match !character.is_ascii_control() && is_hidden(character) || character == '\u{7f}' {
            true => {
                let units = &mut [0; 2];
                visible.extend(character.encode_utf16(units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            false => visible.push(character),
        }
    }
    visible
}

fn escape_line(line: &str) -> String {
    annotate_snippets::normalize_untrusted_str(&without_hidden(line))
}

/// Returns a line without a `\r` at its end, and with U+FFFD in place of each character that has no width.
/// `annotate_snippets` escapes the other unsafe characters.
pub fn without_hidden(line: &str) -> String {
    line.trim_end_matches('\r')
        .chars()
        .map(|character| if !character.is_ascii() && is_hidden(character) { '\u{fffd}' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_has_the_same_values() {
        let json = "{\"a\":\"\u{9b}2J\u{202e}x\u{e0041}\u{7f}é\\n\"}\n";
        let visible = visible_json(json);
        assert_eq!(visible, "{\"a\":\"\\u009b2J\\u202ex\\udb40\\udc41\\u007fé\\n\"}\n");
    }
}
