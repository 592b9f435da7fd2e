//! Checks a text against a plan in one pass. The pass checks the rules while it reads the text, and builds no document.
//!
//! Some rules need a whole value, such as `contains` or alternatives without a discriminator. The pass then parses and
//! judges only that value. It leaves anything that it cannot decide to the parser and the judge, and never contradicts
//! them.

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

/// The result of one pass over a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fused {
    /// The text is a document within its caps. The schema accepts it, and it needs no notes.
    Valid,
    /// Either the schema rejects the text, or the text is not a document within its caps.
    Wrong,
    Unknown,
}

/// The reason why a pass stops early.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Wrong,
    Unknown,
}

/// Checks a text in one pass.
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
