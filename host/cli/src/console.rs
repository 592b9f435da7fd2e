//! Standard output, for results.

use std::io::Write;

use anyhow::Result;
use seamgate_text::count;

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

/// How many contracts and profiles, without what there is none of.
pub(crate) fn held(contracts: usize, profiles: usize) -> String {
    match (contracts, profiles) {
        (contracts, 0) => count(contracts, "contract"),
        (0, profiles) => count(profiles, "profile"),
        (contracts, profiles) => format!("{}, {}", count(contracts, "contract"), count(profiles, "profile")),
    }
}
