//! Looks up the values that a claim cites by pointers into an observation.

use crate::{
    caps::CONTRACT_CAPS,
    check,
    location::unescaped,
    parse::{self, Document, Kind, NodeId, Span},
};

/// The maximum number of members and items that all lookups skip on the way to their targets, and the number that each
/// byte adds.
const MAX_PASSED: usize = 4 * 1024 * 1024;
const MAX_PASSED_PER_BYTE: usize = 32;

/// The reason why a value differs from the cited value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Differs {
    NotJson,
    Nowhere,
    /// The actual value, truncated.
    Is(String),
    /// The search stopped at its limit.
    NotSought,
}

/// The text of an observation as JSON. Pointers address its values.
pub(super) struct Values<'t> {
    document: Option<Document<'t>>,
    /// The number of members and items that lookups may still skip.
    left: usize,
}

impl<'t> Values<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let parsed = parse::parse(text, Span::new(0, text.len()), &CONTRACT_CAPS).ok();
        let left = MAX_PASSED + MAX_PASSED_PER_BYTE * text.len();
        Values { document: parsed.map(|parsed| parsed.document), left }
    }

    /// Compares the value at a pointer (RFC 6901) with a given value, by JSON Schema's equality.
    pub(super) fn is(&mut self, pointer: &str, value: &serde_json::Value) -> Result<(), Differs> {
        const MAX_SHOWN: usize = 200;
        let (document, left) = self.parts()?;
        let at = seek(document, Document::ROOT, pointer, left)?;
        if check::equals(document, at, value) {
            return Ok(());
        }
        let shown = match document.kind(at) {
            Kind::Array | Kind::Object => document.kind(at).name().to_owned(),
            _ => crate::text::cut(document.source(at), MAX_SHOWN),
        };
        Err(Differs::Is(shown))
    }

    /// Returns the document, and the number of members and items that lookups may still skip.
    pub(super) fn parts(&mut self) -> Result<(&Document<'t>, &mut usize), Differs> {
        Ok((self.document.as_ref().ok_or(Differs::NotJson)?, &mut self.left))
    }
}

/// Returns the value that a pointer (RFC 6901) leads to from another value.
pub(super) fn seek(document: &Document, from: NodeId, pointer: &str, left: &mut usize) -> Result<NodeId, Differs> {
    match pointer.strip_prefix('/') {
        None if pointer.is_empty() => Ok(from),
        None => Err(Differs::Nowhere),
        Some(steps) => steps.split('/').try_fold(from, |at, step| inside(document, at, step, left)),
    }
}

/// Deducts an amount from the number of members and items that lookups may still skip.
pub(super) fn spend(left: &mut usize, amount: usize) -> Result<(), Differs> {
    *left = left.saturating_sub(amount);
    if *left > 0 { Ok(()) } else { Err(Differs::NotSought) }
}

/// Follows one step of a pointer.
fn inside(document: &Document, at: NodeId, step: &str, left: &mut usize) -> Result<NodeId, Differs> {
    let mut passes = || {
        *left = left.saturating_sub(1);
        *left > 0
    };
    let found = match document.kind(at) {
        Kind::Object => {
            let name = unescaped(step);
            let mut members = document.members(at).take_while(|_| passes());
            members.find(|(other, _)| document.is_string(*other, &name)).map(|(_, value)| value)
        }
        _ => {
            let is_index = step == "0" || (!step.starts_with(['0', '+']) && !step.is_empty());
            let index = step.parse::<usize>().ok().filter(|_| is_index);
            index.and_then(|index| document.items(at).take_while(|_| passes()).nth(index))
        }
    };
    found.ok_or(if *left > 0 { Differs::Nowhere } else { Differs::NotSought })
}
