//! Formats numbers with their nouns, the beginnings of long texts, names, and messages.

use std::{error::Error, iter::successors};

/// Returns a number with its noun: `1 item`, `2 items`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Truncates a text that is longer than `limit` bytes, and adds how much was removed. A shorter text is unchanged.
pub fn truncate(text: &str, limit: usize) -> String {
    let end = text.floor_char_boundary(limit);
    let left_out = text.len() - end;
    if left_out == 0 { text.to_owned() } else { format!("{}… ({} more)", &text[..end], count(left_out, "byte")) }
}

/// Returns a message with further messages below it, each on a line of its own.
pub fn also(message: &str, others: impl IntoIterator<Item = String>) -> String {
    others.into_iter().fold(message.to_owned(), |text, other| format!("{text}\n  also: {other}"))
}

/// Returns at most `limit` characters of a text, followed by `…` if there were more.
pub fn shorten(text: &str, limit: usize) -> String {
    let short: String = text.chars().take(limit).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn errors_are_followed_by_their_sources() {
        let error = io::Error::other("the disk is full");
        assert_eq!(with_sources(&error), "the disk is full");
        let error: Box<dyn Error> = Box::new(Outer(error));
        assert_eq!(with_sources(error.as_ref()), "cannot write a.json: the disk is full");
    }

    #[test]
    fn further_messages_stand_below_the_first() {
        assert_eq!(also("a", []), "a");
        assert_eq!(also("a", ["b".to_owned(), "c".to_owned()]), "a\n  also: b\n  also: c");
    }

    #[derive(Debug)]
    struct Outer(io::Error);

    impl std::fmt::Display for Outer {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("cannot write a.json")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
}
