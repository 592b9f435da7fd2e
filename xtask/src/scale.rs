//! What is beyond one machine: archives of outputs on Ray and Spark, many runs of agents at once, and verdicts as a service. What is installed
//! is pinned by version and digest.

use anyhow::{Result, bail};

/// What can be run, by name.
type Part = (&'static str, fn() -> Result<()>);
const PARTS: [Part; 3] = [("archives", archives), ("runs", runs), ("service", service)];

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|(name, _)| name)
}

/// Run the part of this name, or all of them.
pub(crate) fn scale(named: Option<&str>) -> Result<()> {
    let chosen = PARTS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, part)| part())
}

fn archives() -> Result<()> {
    bail!("this part is not there yet")
}

fn runs() -> Result<()> {
    bail!("this part is not there yet")
}

fn service() -> Result<()> {
    bail!("this part is not there yet")
}
