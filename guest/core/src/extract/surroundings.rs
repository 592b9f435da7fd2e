//! Text outside of the candidates and of reasoning: each piece is noted.

use crate::{parse::Span, text};

/// The most pieces that are noted one by one.
const MAX_NOTES: usize = 8;

/// Finds what stands between spans that come in the order of the output.
pub(super) struct Surroundings<'t> {
    output: &'t str,
    /// Where the text begins that was not looked at.
    from: usize,
    notes: Vec<String>,
    listed: usize,
    more: usize,
    /// From the first to the last of those that are not listed.
    rest: Option<Span>,
}

impl<'t> Surroundings<'t> {
    pub(super) fn new(output: &'t str, notes: Vec<String>) -> Self {
        Surroundings { output, from: 0, notes, listed: 0, more: 0, rest: None }
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
        let piece = self.output[self.from..to].trim_ascii_start();
        let inside = piece.trim_start_matches(is_blank);
        let start = to - inside.len();
        let end = start + inside.trim_ascii_end().trim_end_matches(is_blank).len();
        if start == end {
            return;
        }
        if self.listed < MAX_NOTES {
            self.listed += 1;
            // Most outputs with a block have such a note: it is written without the machinery of `format!`.
            let mut note = String::with_capacity(64);
            note.push_str("extract: bytes ");
            text::push_number(&mut note, start);
            note.push_str(" to ");
            text::push_number(&mut note, end);
            note.push_str(" were left out as prose");
            self.notes.push(note);
            return;
        }
        self.more += 1;
        self.rest = Some(Span { start: self.rest.map_or(start as u32, |rest| rest.start), end: end as u32 });
    }

    /// The notes that were given, and one for each piece.
    pub(super) fn notes(mut self) -> Vec<String> {
        self.pass(Span::new(self.output.len(), self.output.len()));
        if let Some(rest) = self.rest {
            let pieces = text::count(self.more, "more piece");
            self.notes
                .push(format!("extract: {pieces} were left out as prose, in bytes {} to {}", rest.start, rest.end));
        }
        self.notes
    }
}

/// Whether a character shows nothing: white space, or the mark that a text may begin with.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}
