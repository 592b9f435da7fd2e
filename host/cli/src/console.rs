//! Standard output, for results.

use std::io::{IsTerminal, Write, stdout};

use anyhow::Result;
use seamgate_text::{count, visible_json};

use crate::error::Unwritten;

/// Writes a result to standard output, with one line end.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(Unwritten::from)?;
    Ok(())
}

/// Writes a JSON document. On a terminal, invisible and control characters are escaped, which does not change the
/// values. Elsewhere, the bytes are unchanged.
pub(crate) fn print_json(json: &str) -> Result<()> {
    if stdout().is_terminal() { print(&visible_json(json)) } else { print(json) }
}

/// Prints a text as [`print`] does, but prints nothing at all if it is empty.
pub(crate) fn print_all(text: &str) -> Result<()> {
    if text.is_empty() { Ok(()) } else { print(text) }
}

/// Describes the number of contracts and profiles. Omits a kind whose number is 0.
pub(crate) fn held(contracts: usize, profiles: usize) -> String {
    match (contracts, profiles) {
        (contracts, 0) => count(contracts, "contract"),
        (0, profiles) => count(profiles, "profile"),
        (contracts, profiles) => format!("{}, {}", count(contracts, "contract"), count(profiles, "profile")),
    }
}
