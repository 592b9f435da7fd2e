//! Formats numbers, times and long texts in a trace.

use std::time::{Duration, UNIX_EPOCH};

use seamgate_text::count;

/// Returns a number with its noun.
pub(crate) fn many(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

/// Truncates a text that is longer than `limit` bytes, and adds how much was removed. A shorter text is unchanged.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let shown = &text[..text.floor_char_boundary(limit)];
    format!("{shown}… (cut: {} more bytes)", text.len() - shown.len())
}

/// Formats a duration.
pub(crate) fn span(ms: u64) -> String {
    let (seconds, rest) = (ms / 1000, ms % 1000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match seconds {
        0..60 => format!("{seconds}.{rest:03} s"),
        60..3600 => format!("{minutes}:{:02}.{rest:03}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}.{rest:03}", seconds % 60),
    }
}

/// Formats a time, in milliseconds since 1970, as RFC 3339 in UTC.
pub fn when(at: u64) -> String {
    match UNIX_EPOCH.checked_add(Duration::from_millis(at)) {
        // The last year that RFC 3339 can represent is 9999.
        Some(time) if at < 253_402_300_800_000 => humantime::format_rfc3339_millis(time).to_string(),
        _ => format!("{at} ms after 1970"),
    }
}
