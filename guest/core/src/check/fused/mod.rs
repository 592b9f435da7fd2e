//! Checks a text by a plan in one pass: the rules are checked while the text is read, and no document is kept.
//!
//! If a rule needs a whole value (alternatives that no member tells apart, `contains` …), only that value is parsed and
//! judged. Anything that the pass cannot decide is left to the parser and the judge. It never contradicts them.

mod ahead;
mod compile;
mod pass;
mod plan;
mod resolve;
mod scalar;

pub(crate) use plan::Plan;

use super::schema::Schemas;
use crate::{caps::Caps, parse::Span, scan};
use pass::Pass;

/// The answer of one pass over a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fused {
    /// The text is a document within its caps that needs no notes, and the schema accepts it.
    Valid,
    /// If the text is a document within its caps, the schema rejects it.
    Wrong,
    Unknown,
}

/// The reason why a pass ends early.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Wrong,
    Unknown,
}

/// Reads a text once.
pub(super) fn verdict(schemas: &Schemas, plan: &Plan, text: &str, span: Span, caps: &Caps) -> Fused {
    let end = span.end as usize;
    if plan.longest > caps.string_bytes {
        return Fused::Unknown;
    }
    match Pass::new(schemas, plan, (text, end), caps).run(span.start as usize) {
        Ok(at) if at + scan::white_space(&text.as_bytes()[at..end]) == end => Fused::Valid,
        Ok(_) | Err(Stop::Unknown) => Fused::Unknown,
        Err(Stop::Wrong) => Fused::Wrong,
    }
}

#[cfg(test)]
mod tests;
