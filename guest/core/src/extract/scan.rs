//! Scans an output once, and divides it into prose, blocks, values in prose, quotes and reasoning.
//!
//! Anything inside valid JSON is data, whatever it looks like. In invalid JSON, reasoning tags and fences that open a
//! marked block are recognized, so that an unfinished draft does not hide the text after it.

use memchr::memchr;

use super::{
    Candidate, Candidates, Source,
    fences::{Fence, Marks, Opening, Sought, end_outside_strings},
    grammar::Run,
    prose::{self, Beyond, Ending, is_citation, looks_like_json},
    reasoning::LeftOut,
    seen::{Seen, SeenKind},
    trimmed,
    whole::Pieces,
};
use crate::{
    contract::{Embedded, Extract, Markup, Tag},
    parse::{Span, loose::begins_line, strict_end},
    repair::repair_value,
    scan::white_space,
};

/// The scan may read ahead this many bytes per byte of the output, to distinguish an end from data that looks like an
/// end.
const AHEAD_PER_BYTE: usize = 2;

/// The number of bytes, in addition to the length of the output, that the scan may read to recognize brackets that
/// belong to prose.
const MORE_ASIDES: usize = 4096;

/// The number of bytes, in addition to half the length of the output, that the scan may read inside brackets that do
/// not look like JSON.
const MORE_UNLIKELY: usize = 4096;

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Blocks with a marker.
    pub(super) marked: Candidates,
    /// Blocks without an info string.
    pub(super) untagged: Candidates,
    /// Values in prose.
    pub(super) values: Candidates,
    /// The first candidate that only resembles a value.
    pub(super) unlikely: Option<Candidate>,
    /// The number of values and candidates that resemble one, excluding citations.
    pub(super) counted: usize,
    /// The whole output, divided into its documents.
    pub(super) whole: Pieces,
    pub(super) left_out: LeftOut,
    pub(super) seen: Seen,
}

pub(super) struct Scanner<'t, 'c> {
    output: &'t str,
    options: &'c Extract,
    marks: Marks<'t, 'c>,
    ahead: usize,
    unlikely: usize,
    /// The remaining number of bytes to read to recognize brackets that belong to prose.
    asides: usize,
    found: Scanned,
    /// `true` if consecutive documents form one list.
    rows: bool,
    /// `true` if the whole output may be the candidate. Values in prose then leave none of the output over.
    raw: bool,
    /// The start of a value that is known to be invalid, and the offset at which it stops being valid JSON.
    broken: Option<(usize, usize)>,
}

impl<'t, 'c> Scanner<'t, 'c> {
    pub(super) fn new(output: &'t str, options: &'c Extract, rows: bool) -> Self {
        Scanner {
            output,
            options,
            marks: Marks::new(output, options),
            ahead: AHEAD_PER_BYTE * output.len(),
            unlikely: output.len() / 2 + MORE_UNLIKELY,
            asides: output.len() + MORE_ASIDES,
            found: Scanned::default(),
            rows,
            raw: options.raw_json && options.embedded != Embedded::Each,
            broken: None,
        }
    }

    /// Scans the output from an offset. `broken` is the start of a value that is known to be invalid, and the offset at
    /// which it stops being valid JSON.
    pub(super) fn scan(mut self, start: usize, broken: Option<(usize, usize)>) -> Scanned {
        self.broken = broken;
        let bytes = self.output.as_bytes();
        self.found.whole = Pieces::from(start, self.raw);
        let mut at = start;
        // `true` if this line has only contained white space or a tag so far.
        let mut blank = true;
        while let Some(&byte) = bytes.get(at) {
            let was_blank = blank;
            blank = byte == b'\n' || (blank && matches!(byte, b' ' | b'\t' | b'\r'));
            if let Some(tag) = self.options.ignore.tag_at(self.output, at) {
                blank = was_blank;
                at = self.tag(at, tag);
                continue;
            }
            at = match byte {
                b'>' if was_blank => self.quote(at),
                b'`' | b'~' => self.fence(at, was_blank),
                b'{' | b'[' => self.value(at),
                _ => at + 1,
            };
        }
        self.found.whole.end(self.output, bytes.len());
        self.found
    }

    /// Skips a quoted line.
    fn quote(&mut self, at: usize) -> usize {
        let rest = &self.output.as_bytes()[at..];
        let end = at + memchr(b'\n', rest).unwrap_or(rest.len());
        let text = self.output[at + 1..end].trim_ascii_start();
        if looks_like_json(text).is_some() {
            self.found.seen.add(SeenKind::Quoted, at);
        }
        self.found.whole.barrier(self.output, at, end);
        end
    }

    /// Handles a reasoning tag. Returns the offset at which the scan continues.
    fn tag(&mut self, at: usize, tag: Tag) -> usize {
        let markup = &self.options.ignore;
        let after = at + tag.length;
        if tag.closes {
            // Reasoning that began with the output includes everything found so far.
            self.found = Scanned { whole: Pieces::from(after, self.raw), ..Scanned::default() };
            self.found.left_out.add(Span::new(0, after), || markup.shown(tag.markup));
            return after;
        }
        let end = markup.end(self.output, after, tag.markup).unwrap_or(self.output.len());
        self.found.whole.left_out(self.output, at, end);
        self.found.left_out.add(Span::new(at, end), || markup.shown(tag.markup));
        end
    }

    /// Handles a run of marks. Returns the offset at which the scan continues.
    fn fence(&mut self, at: usize, blank: bool) -> usize {
        let bytes = self.output.as_bytes();
        let Some(fence) = Fence::at(bytes, at).map(|fence| Fence { run: Run { first: blank, ..fence.run }, ..fence })
        else {
            return at + 1 + bytes[at + 1..].iter().take_while(|byte| **byte == bytes[at]).count();
        };
        if let Some(opening) = fence.opens(self.output, &self.options.markers) {
            return self.marked(fence, &opening);
        }
        // If the same line has more marks, the run is inline code.
        if !fence.run.first || memchr(fence.run.mark, fence.line(self.output).as_bytes()).is_some() {
            return fence.end;
        }
        self.other(fence)
    }

    /// Handles a block with a marker.
    fn marked(&mut self, open: Fence, opening: &Opening) -> usize {
        let &Opening { marker, word, content } = opening;
        let (content, reasoning) = self.behind_reasoning(content);
        self.leave_out(reasoning);
        let (end, after) = self.end_of_block(open, content);
        let (end, after) = self.cut_at_tag(content, end).map_or((end, after), |tag| (tag, tag));
        let span = trimmed(self.output, content, end);
        let fences = [Span::new(open.start, word), Span::new(end, after)];
        let marker = Some(marker.to_owned());
        self.found.marked.push(Candidate { marker, fences, ..Candidate::new(Source::Block, span) });
        after
    }

    /// Returns the start of a block's content after leading reasoning, and the reasoning.
    fn behind_reasoning(&self, content: usize) -> (usize, Vec<(Span, Markup)>) {
        let (output, markup) = (self.output, &self.options.ignore);
        let (mut at, mut reasoning) = (content, Vec::new());
        loop {
            let start = at + white_space(&output.as_bytes()[at..]);
            let tag = markup.tag_at(output, start).filter(|tag| !tag.closes);
            // Unclosed reasoning is left to the scan, which treats all following text as reasoning.
            let end = tag.and_then(|tag| Some((tag.markup, markup.end(output, start + tag.length, tag.markup)?)));
            let Some((markup, end)) = end else { return (at, reasoning) };
            reasoning.push((Span::new(start, end), markup));
            at = end;
        }
    }

    /// Records reasoning that is skipped.
    fn leave_out(&mut self, reasoning: Vec<(Span, Markup)>) {
        for (span, markup) in reasoning {
            self.found.left_out.add(span, || self.options.ignore.shown(markup));
        }
    }

    /// Returns the end of a block's content, and the end of the block.
    fn end_of_block(&mut self, open: Fence, content: usize) -> (usize, usize) {
        let (output, length) = (self.output, open.run.length());
        let close = self.marks.next(Sought::Close(open.run.shortest_close()), content);
        let opener = self.marks.next(Sought::Opener(None, length), content);
        let opens = opener.filter(|opener| close.is_none_or(|close| opener.start < close.start));
        // A line that ends the block, or a fence that opens another block.
        let line = match (opens, close) {
            (Some(opener), _) => Some((opener.start, opener.start)),
            (None, close) => close.map(|close| (close.start, close.end)),
        };
        let whole = (output.len(), output.len());
        let limit = if self.ahead > 0 { output.len() } else { line.map_or(output.len(), |(_, end)| end) };
        let Some(end) = end_outside_strings(&output.as_bytes()[..limit], content, open) else {
            self.spend(line, limit);
            return line.unwrap_or(whole);
        };
        self.spend(line, end.start);
        let is_data = line.is_some_and(|(line, _)| line < end.start) && self.is_json(content, end.start);
        match line {
            // A string has no end, so the line ends the block.
            Some((line, after)) if line < end.start && !is_data => (line, after),
            // The scan examines an opening fence again.
            _ if end.is_opening(output, &self.options.markers) => (end.start, end.start),
            _ => (end.start, end.end),
        }
    }

    /// Records bytes that were read ahead.
    fn spend(&mut self, line: Option<(usize, usize)>, to: usize) {
        let ahead = line.map_or(0, |(line, _)| to.saturating_sub(line));
        self.ahead = self.ahead.saturating_sub(ahead);
    }

    /// Returns the position of a tag between two offsets, if the text there is not JSON.
    fn cut_at_tag(&mut self, start: usize, end: usize) -> Option<usize> {
        let tag = self.marks.next(Sought::Tag, start).filter(|tag| tag.end <= end)?;
        (!self.is_json(start, end)).then_some(tag.start)
    }

    /// Returns whether a piece is one JSON value, without or with repair.
    fn is_json(&mut self, start: usize, end: usize) -> bool {
        let span = trimmed(self.output, start, end);
        let (start, end) = (span.start as usize, span.end as usize);
        if self.ahead == 0 {
            return false;
        }
        self.ahead = self.ahead.saturating_sub(end - start);
        strict_end(self.output, (start, end)) == Ok(end) || repair_value(self.output, (start, end), true).is_some()
    }

    /// Handles a block without a marker. Ignores its content, unless nothing ends the block.
    fn other(&mut self, open: Fence) -> usize {
        let (output, length) = (self.output, open.run.length());
        let info = open.info(output);
        let is_untagged = info.is_empty() && open.last;
        let content = open.end + open.line(output).len();
        let (content, reasoning) =
            if is_untagged && self.options.untagged { self.behind_reasoning(content) } else { (content, Vec::new()) };
        let close = self.marks.next(Sought::Close(open.run.shortest_close()), content);
        let opener = self.marks.next(Sought::Opener(Some(open.run.mark), length), content);
        let (end, after) = match (close, opener) {
            (Some(close), opener) if opener.is_none_or(|opener| close.start < opener.start) => (close.start, close.end),
            // The answer was cut off.
            (None, None) if is_untagged && self.options.untagged => (output.len(), output.len()),
            _ => return open.end,
        };
        let span = trimmed(output, content, end);
        if is_untagged && self.options.untagged && looks_like_json(span.of(output)).is_some() {
            let cut = self.cut_at_tag(content, end);
            let (end, after) = cut.map_or((end, after), |tag| (tag, tag));
            let span = trimmed(output, content, end);
            let fences = [Span::new(open.start, open.end), Span::new(end, after)];
            self.leave_out(reasoning);
            self.found.untagged.push(Candidate { fences, ..Candidate::new(Source::Block, span) });
            self.found.whole.barrier(output, open.start, after);
            return after;
        }
        if close.is_none() {
            return open.end;
        }
        // Reasoning that began with the output may have left a fence open.
        if let Some(tag) = self.lone_closing(content, end) {
            return tag;
        }
        self.found.seen.add(SeenKind::Block(info.to_owned()), open.start);
        self.found.whole.other(output, open.start, after, span.of(output).contains(['{', '[']));
        after
    }

    /// Returns the position of the first tag between two offsets, if it closes reasoning that was opened earlier.
    fn lone_closing(&mut self, start: usize, end: usize) -> Option<usize> {
        let found = self.marks.next(Sought::Tag, start).filter(|tag| tag.end <= end)?;
        let tag = self.options.ignore.tag_at(self.output, found.start)?;
        tag.closes.then_some(found.start)
    }

    /// Handles a bracket in prose. Returns the offset at which the scan continues.
    fn value(&mut self, start: usize) -> usize {
        let output = self.output;
        let Some(sure) = looks_like_json(&output[start..]).or_else(|| self.holds_json(start).then_some(false)) else {
            return start + 1;
        };
        let stop = self.marks.next_of_any(start).map_or(output.len(), |mark| mark.start);
        let limit = if self.ahead > 0 { output.len() } else { stop };
        let strict = match self.broken {
            // The value is known to be valid up to that offset.
            Some((known, at)) if known == start && at < limit => Err(at),
            _ => strict_end(output, (start, limit)),
        };
        if let Some(end) = self.aside(start, strict.is_ok()) {
            self.found.seen.add(SeenKind::Json, start);
            self.found.unlikely.get_or_insert(Candidate::new(Source::Embedded, Span::new(start, end)));
            self.found.whole.barrier(self.output, start, end);
            return end;
        }
        let read = strict.unwrap_or_else(|at| at);
        self.ahead = self.ahead.saturating_sub(read.saturating_sub(stop));
        let (mut end, mut is_json) = self.extent((start, limit), strict, sure || output[start..].starts_with('{'));
        if !is_json && end > stop {
            self.ahead = self.ahead.saturating_sub(end - stop);
            if !self.is_json(start, end) {
                end = stop;
            }
            is_json = false;
        }
        let span = trimmed(output, start, end);
        // The text directly follows the previous values, and unmatched brackets follow it. Both are parts of one value.
        let is_piece = !is_json && self.found.whole.goes_on(output, start) && span.of(output).ends_with(['}', ']']);
        let is_stray = is_piece && strict.is_ok_and(|strict| strict < end);
        if is_stray {
            self.found.whole.go_on(end);
            self.found.values.extend(end);
        } else {
            self.add_value(span, sure, is_json);
        }
        end.max(start + 1)
    }

    /// Returns whether a bracket that does not look like JSON contains JSON, which is then part of the value that
    /// begins here. In prose, examines only brackets that close.
    fn holds_json(&mut self, start: usize) -> bool {
        if self.unlikely == 0 {
            return false;
        }
        let stop = self.marks.next_of_any(start).map_or(self.output.len(), |mark| mark.start);
        if start >= stop {
            return false;
        }
        let stop = self.output.floor_char_boundary(stop.min(start + self.unlikely));
        let (end, ending) = prose::reach(self.output, (start, stop), true);
        self.unlikely = self.unlikely.saturating_sub(end - start);
        (ending == Ending::Bracket || self.found.whole.begins(self.output, start))
            && prose::holds_json(&self.output[start..end])
    }

    /// Returns the end of a bracket that belongs to prose.
    fn aside(&mut self, start: usize, is_json: bool) -> Option<usize> {
        let output = self.output;
        let may_be_aside = |before: char| before.is_alphanumeric() || matches!(before, '_' | ' ');
        if is_json && !output[..start].ends_with(may_be_aside) {
            return None;
        }
        // Among consecutive documents, a broken document is an item.
        let goes_on = || self.found.whole.goes_on(output, start);
        let is_in_row = (goes_on() && output[..start].trim_ascii_end().ends_with(','))
            || (self.rows && output[start..].starts_with('{') && (begins_line(output, start) || goes_on()));
        if is_in_row { None } else { prose::aside(output, start, is_json, &mut self.asides) }
    }

    /// Returns the end of a value, and whether it is JSON.
    fn extent(&mut self, (start, limit): (usize, usize), strict: Result<usize, usize>, sure: bool) -> (usize, bool) {
        let output = self.output;
        let mut is_json = strict.is_ok();
        let mut is_closed = is_json;
        let mut end = match strict {
            Ok(end) => end,
            Err(at) => {
                let (end, ending) = self.reach(start, limit);
                is_closed = ending == Ending::Bracket && at <= end;
                end.max(output.ceil_char_boundary(at))
            }
        };
        loop {
            end = match prose::beyond(&output.as_bytes()[..limit], end, !is_json && sure) {
                Beyond::Nothing => return (end, is_json),
                Beyond::Brackets(end) => end,
                // JSON on separate lines does not continue a value that has ended.
                Beyond::Value(at) if is_closed && prose::is_apart(output, at, limit) => return (end, is_json),
                Beyond::Value(at) => prose::broken(output, (at, limit)),
            };
            is_json = false;
        }
    }

    /// Returns the end of an invalid value, and the cause. Words in a list do not end it.
    fn reach(&mut self, start: usize, limit: usize) -> (usize, Ending) {
        let output = self.output;
        let (end, ending) = prose::reach(output, (start, limit), true);
        let Ending::Words { in_list } = ending else {
            return (end, ending);
        };
        let most = output.floor_char_boundary(limit.min(start + self.ahead));
        if most <= end {
            return (end, ending);
        }
        let (further, last) = prose::reach(output, (start, most), false);
        self.ahead = self.ahead.saturating_sub(further - start);
        let is_list = in_list && prose::is_next_item(output, start, end);
        if last == Ending::Bracket || is_list { (further, last) } else { (end, ending) }
    }

    fn add_value(&mut self, span: Span, sure: bool, is_json: bool) {
        let output = self.output;
        let (start, end) = (span.start as usize, span.end as usize);
        // In a row of documents separated by commas, numbers in brackets are also a document.
        let is_in_row = || self.found.whole.goes_on(output, start) && output[..start].trim_end().ends_with(',');
        if is_citation(span.of(output)) && !is_in_row() {
            if is_json && prose::is_apart(output, start, output.len()) {
                self.found.seen.add(SeenKind::Json, start);
            }
            self.found.whole.barrier(output, start, end);
            if self.options.embedded == Embedded::Single {
                return;
            }
        } else {
            self.found.counted += 1;
            self.found.seen.add(SeenKind::Json, start);
            self.found.whole.value(output, span, self.rows);
        }
        let candidate = Candidate::new(Source::Embedded, span);
        if sure || is_json {
            self.found.values.push(candidate);
        } else {
            self.found.unlikely.get_or_insert(candidate);
        }
    }
}
