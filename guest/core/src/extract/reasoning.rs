//! Reasoning: the pieces of an output that were left out, as a report notes them.

use crate::{parse::Span, text};

/// A report names this many pieces that were left out.
const MAX_NOTES: usize = 8;

/// The pieces that were left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    listed: Vec<(Span, String)>,
    more: usize,
    /// From the first to the last of those that are not listed.
    rest: Option<Span>,
}

impl LeftOut {
    /// Adds a piece, and how a person knows what began it.
    pub(super) fn add(&mut self, span: Span, markup: impl FnOnce() -> String) {
        if self.listed.len() < MAX_NOTES {
            self.listed.push((span, markup()));
            return;
        }
        self.more += 1;
        self.rest = Some(Span { start: self.rest.map_or(span.start, |rest| rest.start), end: span.end });
    }

    /// Adds a piece before all others.
    pub(super) fn add_first(&mut self, span: Span, markup: String) {
        self.listed.insert(0, (span, markup));
    }

    /// Where they stand, in the order of the output.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        self.listed.iter().map(|(span, _)| *span).chain(self.rest)
    }

    pub(super) fn note(&self, notes: &mut Vec<String>) {
        for (span, markup) in &self.listed {
            notes.push(format!("extract: bytes {} to {} were left out as {markup}", span.start, span.end));
        }
        if let Some(rest) = self.rest {
            let pieces = text::count(self.more, "more piece");
            notes
                .push(format!("extract: {pieces} were left out as reasoning, in bytes {} to {}", rest.start, rest.end));
        }
    }
}
