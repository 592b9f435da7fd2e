//! Numbers with their nouns, the beginnings of long texts, names, and messages.

use std::{error::Error, iter::successors};

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

/// Returns a message with further messages below it, each on a line of its own.
pub fn also(message: &str, others: impl IntoIterator<Item = String>) -> String {
    others.into_iter().fold(message.to_owned(), |text, other| format!("{text}\n  also: {other}"))
}

/// Returns the full name of a tool: `SERVER/TOOL`, or `TOOL` if it belongs to no server.
pub fn tool_name(server: &str, tool: &str) -> String {
    if server.is_empty() { tool.to_owned() } else { format!("{server}/{tool}") }
}

/// Returns the message of an error with those of its sources, joined by `: `.
pub fn with_sources(error: &dyn Error) -> String {
    let sources = successors(error.source(), |error| (**error).source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}
