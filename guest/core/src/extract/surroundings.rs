//! Text outside candidates and reasoning. Each piece gets a note.

use crate::{parse::Span, text};

/// The maximum number of pieces with a separate note.
const MAX_NOTES: usize = 8;

/// Finds the text between spans. The spans must be passed in the order of the output.
pub(super) struct Surroundings<'t> {
    output: &'t str,
    /// The start of the text that is not examined yet.
    from: usize,
    notes: Vec<String>,
    listed: usize,
    more: usize,
    /// The range from the first to the last piece that is not listed.
    rest: Option<Span>,
}

impl<'t> Surroundings<'t> {
    pub(super) fn new(output: &'t str, notes: Vec<String>) -> Self {
        Surroundings { output, from: 0, notes, listed: 0, more: 0, rest: None }
    }

    /// Continues after a span that is accounted for.
    pub(super) fn pass(&mut self, span: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        if start > self.from {
            self.piece(start);
        }
        self.from = self.from.max(end);
    }

    /// Records the text before an offset if it contains more than white space.
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
            // Most outputs with a block have this note, so it is written without the overhead of `format!`.
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

    /// Returns the given notes, followed by a note for each piece.
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

/// Returns whether a character is invisible: white space, or a byte order mark.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}
