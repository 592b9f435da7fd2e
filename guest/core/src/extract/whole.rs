//! The whole output as JSON, with text around it: each document is a candidate of its own.

use super::{Candidate, Candidates, Source, trimmed};
use crate::{parse::Span, repair::first_value};

/// The pieces of an output, each with one document, and with the text around it.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) candidates: Candidates,
    /// They may be asked for: where not, only where the last one ends is noted.
    wanted: bool,
    /// Where the text begins that belongs to no document yet, up to what is read now.
    from: usize,
    /// Text before that, which belongs to none either: up to a block quote, a block of another kind, or reasoning.
    pending: Option<Span>,
    /// Where the last document ends, if the text after it belongs to it, and whether it is an object.
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

    /// A value in prose. `rows`: documents in a row are one list, and so are lists.
    pub(super) fn value(&mut self, output: &str, span: Span, rows: bool) {
        let (start, end) = (span.start as usize, span.end as usize);
        let is_object = output[start..].starts_with('{');
        if rows && self.last.is_some_and(|(_, object)| object == is_object) && self.goes_on(output, start) {
            self.go_on(end);
            return;
        }
        self.last = Some((end, is_object));
        let from = std::mem::replace(&mut self.from, end);
        if !self.wanted {
            return;
        }
        let before = trimmed(output, from, start);
        // Most often nothing stands before it.
        if self.candidates.len() == 0
            && before.start < before.end
            && !before.of(output).starts_with(['{', '['])
            && first_value(before.of(output)) == Some(0)
        {
            self.odd = true;
        }
        let outer = match self.pending.take() {
            Some(pending) => pending.start,
            None if before.start < before.end => before.start,
            None => span.start,
        };
        let all = Span { start: outer, end: span.end };
        self.candidates.push(Candidate { inside: span, ..Candidate::new(Source::Raw, all) });
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

    /// Lets the last document end elsewhere.
    pub(super) fn go_on(&mut self, end: usize) {
        self.candidates.extend(end);
        self.last = self.last.map(|(_, is_object)| (end, is_object));
        self.from = end;
    }

    /// What is read as no part of a document. The text before it is the rest of the last one.
    pub(super) fn barrier(&mut self, output: &str, start: usize, end: usize) {
        self.stop(output, start);
        self.put_off(output, start, end);
        self.from = end;
    }

    /// Ends the text that is read now.
    fn stop(&mut self, output: &str, start: usize) {
        match self.last.take() {
            Some((last, _)) => {
                let text = trimmed(output, last, start);
                if text.start < text.end {
                    self.candidates.extend(text.end as usize);
                }
            }
            None => self.put_off(output, self.from, start),
        }
    }

    /// Keeps text for the document that comes next, or else for the last one.
    fn put_off(&mut self, output: &str, start: usize, end: usize) {
        let text = trimmed(output, start, end);
        if text.start < text.end {
            let start = self.pending.map_or(text.start, |pending| pending.start);
            self.pending = Some(Span { start, end: text.end });
        }
    }

    /// A block of another kind.
    pub(super) fn other(&mut self, output: &str, start: usize, end: usize, has_brackets: bool) {
        if has_brackets {
            self.barrier(output, start, end);
            self.others += 1;
            self.other.get_or_insert(Span::new(start, end));
        }
    }

    /// Reasoning.
    pub(super) fn left_out(&mut self, output: &str, start: usize, end: usize) {
        self.stop(output, start);
        self.from = end;
        let text = trimmed(output, self.since, start);
        if text.start < text.end {
            self.text.get_or_insert(text);
            self.texts += 1;
        }
        self.since = end;
    }

    pub(super) fn end(&mut self, output: &str, end: usize) {
        self.left_out(output, end, end);
        if let Some(pending) = self.pending.filter(|_| self.candidates.len() > 0) {
            self.candidates.surround(pending.end as usize);
            self.pending = None;
        }
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
            (super::may_be_json(text) || (repairs && super::may_be_value(text)))
                && (self.odd || text.starts_with(['{', '[']) || !text.contains(['{', '[']))
        };
        // A block of another kind and nothing else.
        if let Some(other) = self.other.filter(|_| repairs && !self.odd && self.others == 1) {
            let all = self.pending.unwrap_or(other);
            let block = Candidate { inside: other, ..Candidate::new(Source::Raw, all) };
            return [block].into_iter().collect();
        }
        let text = self.text().filter(is_value);
        text.map(|span| Candidate::new(Source::Raw, span)).into_iter().collect()
    }
}
