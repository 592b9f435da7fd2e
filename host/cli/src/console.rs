//! Standard output for results, standard error for people.

use std::io::Write;

use anyhow::Result;

use crate::error::Unwritten;

/// Write a result to standard output, with one line end.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(Unwritten::from)?;
    Ok(())
}

/// The same, but nothing at all where there is no text: no finding is no line.
pub(crate) fn print_all(text: &str) -> Result<()> {
    if text.is_empty() { Ok(()) } else { print(text) }
}

/// A number with its noun: `1 item`, `2 items`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The beginning of a text that is too long, with how much of it is left out.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let end = text.floor_char_boundary(limit);
    let left_out = text.len() - end;
    if left_out == 0 { text.to_owned() } else { format!("{}… ({} more)", &text[..end], count(left_out, "byte")) }
}

/// Tell a person something on standard error. If that fails, nobody is listening.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// How many contracts and profiles, without what there is none of.
pub(crate) fn held(contracts: usize, profiles: usize) -> String {
    match (contracts, profiles) {
        (contracts, 0) => count(contracts, "contract"),
        (0, profiles) => count(profiles, "profile"),
        (contracts, profiles) => format!("{}, {}", count(contracts, "contract"), count(profiles, "profile")),
    }
}
