//! Text outside of the candidates and of reasoning: each piece is noted.

use crate::{parse::Span, text};

/// The most pieces that are noted one by one.
const MAX_NOTES: usize = 8;

/// Finds what stands between spans that come in the order of the output.
pub(super) struct Surroundings<'t> {
    output: &'t str,
    /// Where the text begins that was not looked at.
    from: usize,
    listed: Vec<Span>,
    more: usize,
    /// From the first to the last of those that are not listed.
    rest: Option<Span>,
}

impl<'t> Surroundings<'t> {
    pub(super) fn new(output: &'t str) -> Self {
        Surroundings { output, from: 0, listed: Vec::new(), more: 0, rest: None }
    }

    /// Goes on behind a span that is accounted for.
    pub(super) fn pass(&mut self, span: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        if start > self.from {
            self.piece(start);
        }
        self.from = self.from.max(end);
    }

    /// Keeps what stands before an offset, if it is more than white space.
    fn piece(&mut self, to: usize) {
        let piece = &self.output[self.from..to];
        let inside = piece.trim_start_matches(is_blank);
        let start = to - inside.len();
        let end = start + inside.trim_end_matches(is_blank).len();
        if start == end {
            return;
        }
        if self.listed.len() < MAX_NOTES {
            self.listed.push(Span::new(start, end));
            return;
        }
        self.more += 1;
        self.rest = Some(Span { start: self.rest.map_or(start as u32, |rest| rest.start), end: end as u32 });
    }

    pub(super) fn notes(mut self) -> impl Iterator<Item = String> {
        self.pass(Span::new(self.output.len(), self.output.len()));
        let note =
            |span: Span| format!("extract: bytes {} to {} were left out as text around it", span.start, span.end);
        let more = self.rest.map(|rest| {
            let pieces = text::count(self.more, "more piece");
            format!("extract: {pieces} were left out as text around it, in bytes {} to {}", rest.start, rest.end)
        });
        self.listed.into_iter().map(note).chain(more)
    }
}

/// Whether a character shows nothing: white space, or the mark that a text may begin with.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}
