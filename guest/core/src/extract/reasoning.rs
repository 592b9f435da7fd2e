//! The pieces of reasoning that were skipped, for the notes of a report.

use crate::{parse::Span, text};

/// The most skipped pieces that a report names.
const MAX_NOTES: usize = 8;

/// The skipped pieces.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    listed: Vec<(Span, String)>,
    more: usize,
    /// The range from the first to the last piece that is not listed.
    rest: Option<Span>,
}

impl LeftOut {
    /// Adds a piece, and the markup that identifies its beginning for a reader.
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

    /// Returns the spans of the pieces, in the order of the output.
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
