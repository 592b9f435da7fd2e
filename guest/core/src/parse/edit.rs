//! Applies edits to a text, and maps positions in the edited text back to the output.

use super::Span;
use crate::{order::by_place, types::ChangeKind};

impl ChangeKind {
    /// Returns whether a change of this kind turns invalid JSON into valid JSON.
    pub(crate) fn is_repair(self) -> bool {
        !matches!(self, ChangeKind::ItemRemoved | ChangeKind::Stripped | ChangeKind::Coerced | ChangeKind::Unwrapped)
    }

    /// Returns whether a change of this kind, which replaces this text, omits content that the producer wrote or was
    /// about to write. Text around the document counts if it has an unclosed bracket, because a document may begin
    /// there.
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

/// A replacement of one piece of the output before parsing. Edits are in order and do not overlap. Several edits may
/// insert text at the same position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) kind: ChangeKind,
    /// The span in the output.
    pub(crate) span: Span,
    pub(crate) after: String,
}

impl Edit {
    pub(crate) fn new(kind: ChangeKind, (start, end): (usize, usize), after: impl Into<String>) -> Self {
        Edit { kind, span: Span::new(start, end), after: after.into() }
    }

    /// Returns whether the edit changes anything.
    fn is_one(&self) -> bool {
        self.span.start < self.span.end || !self.after.is_empty()
    }
}

/// Maps an edited text to the output.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The start of the text in the output.
    start: u32,
    /// For each edit, its span in the edited text and its span in the output.
    pieces: Vec<(Span, Span)>,
}

/// Applies edits to a piece of the output.
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

/// Combines two lists of edits: `first` produced the text `edited` with its `origin`, and `second` edits that text.
/// Overlapping edits are joined. Some edits of the first list stay separate when the text around them is removed:
/// `is_apart` selects these by kind and replaced span.
pub(crate) fn followed_by(
    first: Vec<Edit>,
    (edited, origin): (&str, &Origin),
    second: Vec<Edit>,
    is_apart: impl Fn(ChangeKind, Span) -> bool,
) -> Vec<Edit> {
    // Each with its span in `edited`.
    let first = first.into_iter().zip(&origin.pieces).map(|(edit, (is, was))| (*is, Some(*was), edit));
    let second = second.into_iter().map(|edit| (edit.span, None, edit));
    let mut all = by_place(first.chain(second).collect(), |(is, ..)| (is.start, is.end)).into_iter().peekable();
    let mut edits = Vec::new();
    // The end of the last edit of `first`, in `edited` and in the text.
    let mut last = (0, origin.start);
    while let Some((is, was, edit)) = all.next() {
        let (mut end, mut copied, mut after) = (is.end, is.start, String::new());
        let (mut kind, mut by_second) = (edit.kind, false);
        let mut start = was.map_or(last.1 + (is.start - last.0), |was| was.start);
        let mut next = Some((is, was, edit));
        while let Some((is, was, edit)) = next {
            end = end.max(is.end);
            match was {
                Some(was) => {
                    if copied >= is.end && is_apart(edit.kind, was) {
                        let before =
                            Edit { kind, span: Span { start, end: was.start }, after: std::mem::take(&mut after) };
                        edits.extend(Some(before).filter(Edit::is_one));
                        edits.push(Edit { span: was, after: String::new(), ..edit });
                        start = was.end;
                    }
                    last = (is.end, was.end);
                }
                None => {
                    if !by_second {
                        (kind, by_second) = (edit.kind, true);
                    }
                    after.push_str(Span { start: copied, end: is.start }.of(edited));
                    after.push_str(&edit.after);
                    copied = is.end;
                }
            }
            next = all.next_if(|(is, ..)| is.start < end);
        }
        after.push_str(Span { start: copied, end: end.max(copied) }.of(edited));
        let edit = Edit { kind, span: Span { start, end: last.1 + end.saturating_sub(last.0) }, after };
        edits.extend(Some(edit).filter(Edit::is_one));
    }
    edits
}

impl Origin {
    /// Returns the span in the output of a span in the edited text.
    pub(crate) fn of(&self, span: Span) -> Span {
        // Text that was removed directly before or after a piece is not part of the piece.
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

    /// Returns the span in the edited text of the edit with this index.
    pub(crate) fn edit(&self, number: usize) -> Option<Span> {
        self.pieces.get(number).map(|(is, _)| *is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_an_edited_text_are_edits_of_the_text() {
        let output = "<{a：[1，2]}>";
        let place = |piece: &str| (output.find(piece).unwrap(), output.find(piece).unwrap() + piece.len());
        let first = vec![
            Edit::new(ChangeKind::Around, place("<"), ""),
            Edit::new(ChangeKind::Quoted, place("a"), "\"a\""),
            Edit::new(ChangeKind::Punctuation, place("："), ":"),
            Edit::new(ChangeKind::Punctuation, place("，"), ","),
        ];
        let (edited, origin) = apply(output, Span::new(0, output.len()), &first);
        assert_eq!(edited, "{\"a\":[1,2]}>");
        for (second, expected) in [
            (vec![], 4),
            (vec![((0, 0), "("), ((11, 12), "")], 6),
            // Inside an edit, around one, and from the middle of one to the middle of another.
            (vec![((1, 2), "'"), ((3, 4), "'")], 4),
            (vec![((5, 10), "3")], 4),
            (vec![((2, 8), "x")], 2),
            (vec![((4, 4), " "), ((5, 5), " "), ((7, 7), "0"), ((8, 8), "4")], 8),
            (vec![((0, 12), "null")], 2),
        ] {
            let second: Vec<Edit> =
                second.into_iter().map(|(place, after)| Edit::new(ChangeKind::Literal, place, after)).collect();
            let wanted = apply(&edited, Span::new(0, edited.len()), &second).0;
            let both = followed_by(first.clone(), (&edited, &origin), second, |_, _| false);
            assert_eq!(apply(output, Span::new(0, output.len()), &both).0, wanted, "{both:?}");
            assert_eq!(both.len(), expected, "{both:?}");
            assert!(both.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start), "{both:?}");
        }
    }

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
