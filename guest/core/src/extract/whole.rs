//! The whole output as JSON, with text around it: each document is a candidate of its own.

use super::{Candidate, Candidates, Source, trimmed};
use crate::{parse::Span, repair::first_value};

/// The pieces of an output, each with one document, and what stands between them.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) candidates: Candidates,
    /// They may be asked for: where not, only where the last one ends is noted.
    wanted: bool,
    /// Where the text begins that belongs to no document yet.
    from: usize,
    /// Where the last document ends, if the text after it belongs to it.
    last: Option<(usize, bool)>,
    /// The text does not begin with what is a value in it: it is a piece of something.
    odd: bool,
    /// Pieces of text between what was left out: the first, and how many there are.
    text: Option<Span>,
    texts: usize,
    since: usize,
    /// Blocks of other kinds with brackets inside: the first, and how many there are.
    other: Option<Span>,
    others: usize,
}

impl Pieces {
    pub(super) fn from(start: usize, wanted: bool) -> Self {
        Pieces { wanted, from: start, since: start, ..Pieces::default() }
    }

    /// A value in prose. `rows`: documents in a row are one list.
    pub(super) fn value(&mut self, output: &str, span: Span, rows: bool) {
        let (start, end) = (span.start as usize, span.end as usize);
        let is_object = output[start..].starts_with('{');
        if rows && is_object && matches!(self.last, Some((_, true))) && self.goes_on(output, start) {
            self.go_on(end);
            return;
        }
        self.last = Some((end, is_object));
        let before = std::mem::replace(&mut self.from, end);
        if !self.wanted {
            return;
        }
        let before = trimmed(output, before, end);
        // Most often nothing stands before it.
        let first = match before.start as usize == start {
            true => Some(start),
            false => first_value(before.of(output)).map(|first| before.start as usize + first),
        };
        if self.candidates.len() == 0 && first.is_some_and(|first| first < start && first == before.start as usize) {
            self.odd |= !output[before.start as usize..].starts_with(['{', '[']);
        }
        let from = if first == Some(start) { before.start as usize } else { start };
        self.candidates.push(Candidate { source: Source::Raw, marker: None, span: Span::new(from, end) });
    }

    /// Whether nothing but white space and commas stands between the last document and this place.
    pub(super) fn goes_on(&self, output: &str, start: usize) -> bool {
        let is_between = |byte: u8| byte == b',' || byte.is_ascii_whitespace();
        self.last.is_some_and(|(last, _)| output[last..start].bytes().all(is_between))
    }

    /// Whether nothing but white space stands before this place, of what is looked at.
    pub(super) fn begins(&self, output: &str, start: usize) -> bool {
        output[self.since..start].trim_start().is_empty()
    }

    /// Let the last document end elsewhere.
    pub(super) fn go_on(&mut self, end: usize) {
        self.candidates.extend(end);
        self.last = self.last.map(|(_, is_object)| (end, is_object));
        self.from = end;
    }

    /// What belongs to no document.
    pub(super) fn barrier(&mut self, output: &str, start: usize, end: usize) {
        if let Some((last, _)) = self.last.take() {
            let text = trimmed(output, last, start);
            if text.start < text.end {
                self.candidates.extend(text.end as usize);
            }
        }
        self.from = end;
    }

    /// A block of another kind.
    pub(super) fn other(&mut self, output: &str, start: usize, end: usize, has_brackets: bool) {
        if has_brackets {
            self.barrier(output, start, end);
            self.others += 1;
            self.other.get_or_insert(Span::new(start, end));
        }
    }

    /// What is not looked at.
    pub(super) fn left_out(&mut self, output: &str, start: usize, end: usize) {
        self.barrier(output, start, end);
        let text = trimmed(output, self.since, start);
        if text.start < text.end {
            self.text.get_or_insert(text);
            self.texts += 1;
        }
        self.since = end;
    }

    pub(super) fn end(&mut self, output: &str, end: usize) {
        self.left_out(output, end, end);
    }

    /// All of the text in one piece, if it is in one.
    pub(super) fn text(&self) -> Option<Span> {
        self.text.filter(|_| self.texts == 1)
    }

    /// The documents with text around them; where there is none, what can be one by itself.
    pub(super) fn documents(self, output: &str, repairs: bool) -> Candidates {
        if self.candidates.len() > 0 && !self.odd {
            return self.candidates;
        }
        // A bracket that is not at the beginning belongs to what is no document of its own.
        let is_value = |span: &Span| {
            let text = span.of(output);
            (super::can_begin_json(text) || (repairs && super::may_be_value(text)))
                && (self.odd || text.starts_with(['{', '[']) || !text.contains(['{', '[']))
        };
        let text = match (self.text(), self.other) {
            // A block of another kind and nothing else.
            (_, Some(other)) if repairs && !self.odd && self.others == 1 => Some(other),
            (text, _) => text.filter(is_value),
        };
        text.map(|span| Candidate { source: Source::Raw, marker: None, span }).into_iter().collect()
    }
}
