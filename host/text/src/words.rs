//! Numbers with their nouns, and the beginnings of long texts.

/// Returns a number with its noun: `1 item`, `2 items`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns the beginning of a text that is longer than `limit` bytes, with how much is left out. A shorter text is
/// unchanged.
pub fn truncate(text: &str, limit: usize) -> String {
    let end = text.floor_char_boundary(limit);
    let left_out = text.len() - end;
    if left_out == 0 { text.to_owned() } else { format!("{}… ({} more)", &text[..end], count(left_out, "byte")) }
}
