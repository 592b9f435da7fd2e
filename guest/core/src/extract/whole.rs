//! The whole output as JSON with text around it. Each document is a separate candidate.

use super::{Candidate, Candidates, Source, trimmed};
use crate::{parse::Span, repair::first_value};

/// The pieces of an output, each with one document and the text around it.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) candidates: Candidates,
    /// `true` if the pieces may be candidates. Otherwise, only the end of the last piece is recorded.
    wanted: bool,
    /// The start of the text that belongs to no document yet.
    from: usize,
    /// Earlier text that belongs to no document. It ended at a block quote, a block of another kind, or reasoning.
    pending: Option<Span>,
    /// The end of the last document and whether it is an object, if the text after it still belongs to it.
    last: Option<(usize, bool)>,
    /// `true` if the text contains a value but does not begin with it, so that the value is part of something larger.
    odd: bool,
    /// The pieces of text between skipped parts: the first piece, and the number of pieces.
    text: Option<Span>,
    texts: usize,
    since: usize,
    /// The blocks of other kinds that contain brackets: the first block, and the number of blocks.
    other: Option<Span>,
    others: usize,
}

impl Pieces {
    pub(super) fn from(start: usize, wanted: bool) -> Self {
        Pieces { wanted, from: start, since: start, ..Pieces::default() }
    }

    /// Adds a value in prose. If `rows` is set, consecutive documents or lists form one list.
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
        // Usually, nothing precedes the value.
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

    /// Returns whether only white space and commas separate the last document from this position.
    pub(super) fn goes_on(&self, output: &str, start: usize) -> bool {
        let is_between = |byte: u8| byte == b',' || byte.is_ascii_whitespace();
        self.last.is_some_and(|(last, _)| output[last..start].bytes().all(is_between))
    }

    /// Returns whether only white space precedes this position in the searched text.
    pub(super) fn begins(&self, output: &str, start: usize) -> bool {
        output[self.since..start].trim_start().is_empty()
    }

    /// Moves the end of the last document.
    pub(super) fn go_on(&mut self, end: usize) {
        self.candidates.extend(end);
        self.last = self.last.map(|(_, is_object)| (end, is_object));
        self.from = end;
    }

    /// Skips text that belongs to no document. The text before it is the rest of the last one.
    pub(super) fn barrier(&mut self, output: &str, start: usize, end: usize) {
        self.stop(output, start);
        self.put_off(output, start, end);
        self.from = end;
    }

    /// Ends the current text.
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

    /// Keeps text for the next document, or for the last one if there is no next.
    fn put_off(&mut self, output: &str, start: usize, end: usize) {
        let text = trimmed(output, start, end);
        if text.start < text.end {
            let start = self.pending.map_or(text.start, |pending| pending.start);
            self.pending = Some(Span { start, end: text.end });
        }
    }

    /// Handles a block of another kind.
    pub(super) fn other(&mut self, output: &str, start: usize, end: usize, has_brackets: bool) {
        if has_brackets {
            self.barrier(output, start, end);
            self.others += 1;
            self.other.get_or_insert(Span::new(start, end));
        }
    }

    /// Handles reasoning.
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

    /// Returns all of the text, if it is a single piece.
    pub(super) fn text(&self) -> Option<Span> {
        self.text.filter(|_| self.texts == 1)
    }

    /// Returns the documents with the text around them. If there are no documents, returns the text that may itself be
    /// one.
    pub(super) fn documents(self, output: &str, repairs: bool) -> Candidates {
        if self.candidates.len() > 0 && !self.odd {
            return self.candidates;
        }
        // A bracket in the middle of a text belongs to that text, which is not a document.
        let is_value = |span: &Span| {
            let text = span.of(output);
            (super::may_be_json(text) || (repairs && super::may_be_value(text)))
                && (self.odd || text.starts_with(['{', '[']) || !text.contains(['{', '[']))
        };
        // The output contains only a block of another kind.
        if let Some(other) = self.other.filter(|_| repairs && !self.odd && self.others == 1) {
            let all = self.pending.unwrap_or(other);
            let block = Candidate { inside: other, ..Candidate::new(Source::Raw, all) };
            return [block].into_iter().collect();
        }
        let text = self.text().filter(is_value);
        text.map(|span| Candidate::new(Source::Raw, span)).into_iter().collect()
    }
}
