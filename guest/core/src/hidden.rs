//! Characters that hide in a text, or make it read otherwise than it is.
//!
//! The file belongs to the core. `cargo xtask generate` copies it to `host/text/src/hidden.rs`, for text on a terminal.

/// Control characters, those that turn the direction of writing, ends of lines that only some readers know, and all that
/// Unicode lets a display leave out (`Default_Ignorable_Code_Point`).
#[inline]
pub fn is_hidden(character: char) -> bool {
    // Most are plain, and told so at a glance.
    !matches!(character, ' '..='~')
        && (character.is_control()
            || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'))
}
