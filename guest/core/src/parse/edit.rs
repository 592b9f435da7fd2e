//! A text with some pieces of it replaced, and the way back: from places in what was parsed to places in the output.

use super::Span;
use crate::types::ChangeKind;

impl ChangeKind {
    /// Returns whether a change of this kind makes JSON of what was none.
    pub(crate) fn is_repair(self) -> bool {
        !matches!(self, ChangeKind::ItemRemoved | ChangeKind::Stripped)
    }

    /// Returns whether a change of this kind, which replaces this text, leaves out of the document what the producer wrote or was
    /// still to write. Text around the document counts if a bracket stays open in it, because a document may have begun there.
    pub(crate) fn loses(self, before: &str) -> bool {
        match self {
            ChangeKind::ItemRemoved | ChangeKind::MemberRemoved | ChangeKind::ClosedString => true,
            ChangeKind::Dropped | ChangeKind::Stray => before.contains(char::is_alphanumeric),
            ChangeKind::Around => {
                let count = |brackets: [u8; 2]| before.bytes().filter(|byte| brackets.contains(byte)).count();
                count(*b"{[") > count(*b"}]")
            }
            _ => false,
        }
    }
}

/// One piece of the output that is replaced before it is parsed. Edits stand in order and do not overlap; several may
/// insert at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) kind: ChangeKind,
    /// The piece of the output.
    pub(crate) span: Span,
    pub(crate) after: String,
}

impl Edit {
    pub(crate) fn new(kind: ChangeKind, (start, end): (usize, usize), after: impl Into<String>) -> Self {
        Edit { kind, span: Span::new(start, end), after: after.into() }
    }
}

/// Where the pieces of an edited text come from.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// Where the text begins in the output.
    start: u32,
    /// For each edit, what stands in the edited text, and what stood in the output.
    pieces: Vec<(Span, Span)>,
}

/// A piece of the output with its edits applied.
pub(crate) fn apply(output: &str, span: Span, edits: &[Edit]) -> (String, Origin) {
    let mut text = String::with_capacity(span.of(output).len() + edits.len());
    let mut pieces = Vec::with_capacity(edits.len());
    let mut at = span.start;
    for edit in edits {
        text.push_str(Span { start: at, end: edit.span.start }.of(output));
        let start = text.len();
        text.push_str(&edit.after);
        pieces.push((Span::new(start, text.len()), edit.span));
        at = edit.span.end;
    }
    text.push_str(Span { start: at, end: span.end }.of(output));
    (text, Origin { start: span.start, pieces })
}

impl Origin {
    /// What stood in the output where `span` stands in the edited text.
    pub(super) fn of(&self, span: Span) -> Span {
        // What was taken out right before a piece, or right after it, is no part of it.
        let before_start = self.pieces.partition_point(|(is, _)| is.start <= span.start);
        let before_end = self.pieces.partition_point(|(is, _)| is.start < span.end);
        let start = match before_start.checked_sub(1).map(|index| self.pieces[index]) {
            None => self.start + span.start,
            Some((is, was)) if span.start < is.end => was.start,
            Some((is, was)) => was.end + (span.start - is.end),
        };
        let end = match before_end.checked_sub(1).map(|index| self.pieces[index]) {
            None => self.start + span.end,
            Some((is, was)) if span.end <= is.end => was.end,
            Some((is, was)) => was.end + (span.end - is.end),
        };
        Span { start, end: end.max(start) }
    }

    /// Where in the edited text the edit with this number stands.
    pub(crate) fn edit(&self, number: usize) -> Option<Span> {
        self.pieces.get(number).map(|(is, _)| *is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_edited_keeps_its_places() {
        let output = "x [1 'a',,] y";
        let edits = [
            Edit::new(ChangeKind::CommaAdded, (4, 4), ","),
            Edit::new(ChangeKind::Quotes, (5, 8), "\"a\""),
            Edit::new(ChangeKind::CommaRemoved, (8, 10), ""),
            Edit::new(ChangeKind::Closed, (11, 11), "}"),
        ];
        let (text, origin) = apply(output, Span::new(2, 11), &edits);
        assert_eq!(text, "[1, \"a\"]}");
        let of = |start, end| {
            let span = origin.of(Span::new(start, end));
            (span.start, span.end)
        };
        assert_eq!(of(0, 8), (2, 11));
        assert_eq!(of(1, 2), (3, 4));
        assert_eq!(of(4, 7), (5, 8));
        assert_eq!(of(7, 8), (10, 11));
        assert_eq!(of(8, 9), (11, 11));
    }
}
