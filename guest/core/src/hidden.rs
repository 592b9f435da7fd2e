//! Characters that are invisible, or that change how a text is displayed.
//!
//! The core owns this file. `cargo xtask generate` copies it to `host/text/src/hidden.rs`, for text on a terminal.

/// Returns whether a character is hidden: a control character, a character that changes the writing direction, a line
/// end that only some readers recognize, or a character that Unicode allows a display to omit
/// (`Default_Ignorable_Code_Point`).
#[inline]
pub fn is_hidden(character: char) -> bool {
    // Most characters are printable ASCII, which is quick to check.
    !matches!(character, ' '..='~')
        && (character.is_control()
            || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'))
}
