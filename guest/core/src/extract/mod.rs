//! Extracts candidates from an output.
//!
//! Candidates are preferred in this order: fenced blocks with a marker, blocks without an info string, the whole
//! output, and bare objects and arrays in prose, if the contract allows them. Reasoning and quoted values are ignored.
//! Everything here takes linear time and bounded memory.

mod fences;
mod grammar;
mod lines;
mod lone;
mod prose;
mod reasoning;
mod scan;
mod seen;
mod surroundings;
mod whole;
mod within;

use std::collections::VecDeque;

use crate::{
    caps::Caps,
    contract::{Contract, Embedded, Extract, Reasoning, Select},
    order::sort_by_key,
    parse::{self, Broken, Parsed, Span},
    repair::{are_brackets_paired, is_around},
    types::Source,
};
use reasoning::LeftOut;
use scan::{Scanned, Scanner};
use surroundings::Surroundings;

pub(crate) use grammar::{Run, begins_content, ends_word, is_mark, marker};
pub(crate) use lines::{line_at, line_of_json};
pub(crate) use lone::Lone;
pub(crate) use prose::{Brackets, is_likely};
pub(crate) use seen::Seen;

/// The maximum number of candidates that are kept from the beginning, and from the end.
pub(crate) const MAX_KEPT: usize = 64;

/// A piece of the output that could be the requested JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) source: Source,
    /// The contract's marker on the block.
    pub(crate) marker: Option<String>,
    /// The span without white space at either end.
    pub(crate) span: Span,
    /// The part of the span that is read as JSON. The text around it is removed.
    pub(crate) inside: Span,
    /// The fences around the candidate, or empty spans at its ends.
    fences: [Span; 2],
}

impl Candidate {
    /// Creates a candidate from a piece that is JSON as a whole.
    pub(crate) fn new(source: Source, span: Span) -> Self {
        let fences =
            [Span::new(span.start as usize, span.start as usize), Span::new(span.end as usize, span.end as usize)];
        Candidate { source, marker: None, span, inside: span, fences }
    }
}

/// Candidates in the order of the output: the first ones, the last ones, and their total number.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    first: Vec<Candidate>,
    last: VecDeque<Candidate>,
    total: usize,
}

impl Candidates {
    fn push(&mut self, candidate: Candidate) {
        self.total += 1;
        if self.first.len() < MAX_KEPT {
            self.first.push(candidate);
            return;
        }
        if self.last.len() == MAX_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(candidate);
    }

    /// Moves the end of the last candidate.
    fn extend(&mut self, end: usize) {
        if let Some(last) = self.last_mut() {
            last.span = Span::new(last.span.start as usize, end);
            last.inside = Span::new(last.inside.start as usize, end);
        }
    }

    /// Adds text to the last candidate. The text is not read as JSON.
    fn surround(&mut self, end: usize) {
        if let Some(last) = self.last_mut() {
            last.span = Span::new(last.span.start as usize, end);
        }
    }

    fn last_mut(&mut self) -> Option<&mut Candidate> {
        self.last.back_mut().or_else(|| self.first.last_mut())
    }

    /// Returns the end of the last candidate, including its fence.
    pub(crate) fn end(&self) -> u32 {
        self.last.back().or_else(|| self.first.last()).map_or(0, |last| last.fences[1].end.max(last.span.end))
    }

    /// Returns whether only white space and commas separate the candidates in prose, and there are several.
    fn are_in_a_row(&self, output: &str) -> bool {
        let kept = || self.first.iter().chain(&self.last).filter(|one| one.source == Source::Embedded);
        let is_between = |byte: u8| byte == b',' || byte.is_ascii_whitespace();
        kept()
            .zip(kept().skip(1))
            .any(|(one, next)| output[one.span.end as usize..next.span.start as usize].bytes().all(is_between))
    }

    /// Returns the number of candidates, including those not kept.
    pub(crate) fn len(&self) -> usize {
        self.total
    }

    /// Returns a candidate by its index, if it is kept.
    pub(crate) fn get(&self, index: usize) -> Option<&Candidate> {
        match index.checked_sub(self.total - self.last.len()) {
            Some(index) => self.last.get(index),
            None => self.first.get(index),
        }
    }
}

impl FromIterator<Candidate> for Candidates {
    fn from_iter<I: IntoIterator<Item = Candidate>>(candidates: I) -> Self {
        let mut all = Candidates::default();
        candidates.into_iter().for_each(|candidate| all.push(candidate));
        all
    }
}

/// A parsed piece of the output, usually the selected candidate.
#[derive(Debug)]
pub(crate) struct Read<'t> {
    pub(crate) span: Span,
    pub(crate) parsed: Result<Parsed<'t>, Broken>,
    /// The verdict of the schema, if it was checked.
    pub(crate) valid: Option<bool>,
}

impl<'t> Read<'t> {
    pub(crate) fn new(output: &'t str, span: Span, caps: &Caps) -> Self {
        Read { span, parsed: parse::parse(output, span, caps), valid: None }
    }
}

/// The result of extracting from an output.
#[derive(Debug, Default)]
pub(crate) struct Extracted<'t> {
    /// The candidates, all from one source.
    pub(crate) candidates: Candidates,
    /// A piece that was already parsed.
    pub(crate) read: Option<Read<'t>>,
    pub(crate) notes: Vec<String>,
    /// JSON that was not taken as a candidate. The message uses it if there are no candidates.
    pub(crate) seen: Seen,
    /// `true` if the contract requests one document and one text has several candidates, so that omitting the others
    /// loses content.
    pub(crate) several: bool,
    left_out: LeftOut,
    /// The tags around the searched text.
    tags: Option<[Span; 2]>,
}

/// Returns the start of the text of an output, and its span without white space at either end.
fn text(output: &str) -> (usize, Span) {
    let start = output.len() - output.strip_prefix('\u{feff}').unwrap_or(output).len();
    (start, trimmed(output, start, output.len()))
}

/// Returns the candidates in the output. `lone` is the piece that [`Lone::find`] returns, parsed.
pub(crate) fn extract<'t>(output: &'t str, contract: &Contract, lone: Option<(Lone, Read<'t>)>) -> Extracted<'t> {
    let options = contract.extract();
    if let Some(markup) = &options.within {
        return within::extract(output, contract, markup);
    }
    let (start, text) = text(output);
    // If the whole output is JSON, a fence or a tag can only be inside a string, where it is data.
    let lone = lone.filter(|(lone, read)| lone.is_whole() || read.parsed.is_ok());
    let is_found = match &lone {
        Some((lone, read)) => read.parsed.is_ok() && (options.raw_json || !lone.is_whole()),
        None => options.raw_json && is_json(output, text),
    };
    if is_found {
        let whole = Lone::whole(text);
        let (lone, read) = lone.map_or((whole, None), |(lone, read)| (lone, Some(read)));
        let candidates = [lone.candidate()].into_iter().collect();
        return Extracted { candidates, read, notes: lone.notes(output), ..Extracted::default() };
    }
    let mut extracted = in_piece(output, contract, start, lone.map(|(_, read)| read));
    extracted.account(output);
    extracted
}

/// Returns whether a piece of the output is one JSON value.
fn is_json(output: &str, span: Span) -> bool {
    let end = span.end as usize;
    can_begin_json(span.of(output)) && parse::strict_end(output, (span.start as usize, end)) == Ok(end)
}

/// Returns the candidates between an offset and the end of a piece of the output. Writes no notes about the text around
/// them. `read` is the parsed piece.
#[inline(never)]
fn in_piece<'t>(output: &'t str, contract: &Contract, start: usize, read: Option<Read<'t>>) -> Extracted<'t> {
    let options = contract.extract();
    let broken = read.as_ref().and_then(|read| broken_at(read.span, read.parsed.as_ref().err()?));
    let scanned = Scanner::new(output, options, contract.is_list()).scan(start, broken);
    let mut extracted = choose_source(output, options, scanned, contract.repairs(), contract.items().is_some());
    extracted.read = read;
    if contract.repairs() || contract.items().is_some() {
        extracted.split(output, contract);
    }
    // Several candidates may hold the items of one list. Other JSON in prose may be an example.
    extracted.several |= contract.items().is_some() && extracted.candidates.are_in_a_row(output);
    extracted
}

/// Returns the start of an invalid value, and the position where it stops being JSON.
fn broken_at(span: Span, broken: &Broken) -> Option<(usize, usize)> {
    (!broken.is_after_value()).then_some((span.start as usize, broken.at))
}

impl<'t> Extracted<'t> {
    /// Adds a note for each piece of the output that is in no candidate. The text between candidates that are not kept
    /// counts as one piece.
    #[inline(never)]
    fn account(&mut self, output: &str) {
        let said = std::mem::take(&mut self.notes);
        self.left_out.note(&mut self.notes);
        if self.candidates.len() > 0 {
            let mut around = Surroundings::new(output, std::mem::take(&mut self.notes));
            let mut apart: Vec<Span> = self.left_out.spans().chain(self.tags.into_iter().flatten()).collect();
            sort_by_key(&mut apart, |span| span.start);
            let mut apart = apart.into_iter().peekable();
            for candidate in self.candidates.first.iter().chain(&self.candidates.last) {
                let [open, close] = candidate.fences;
                for span in [open, candidate.span, close] {
                    while let Some(apart) = apart.next_if(|apart| apart.start <= span.start) {
                        around.pass(apart);
                    }
                    around.pass(span);
                }
            }
            apart.for_each(|span| around.pass(span));
            self.notes = around.notes();
        }
        self.notes.extend(said);
    }

    /// Splits a block with several documents into separate candidates. Examines only the selected block. Most blocks
    /// are already JSON and need no second parse.
    fn split(&mut self, output: &'t str, contract: &Contract) {
        let total = self.candidates.len();
        let index = match contract.extract().select {
            Select::Last => total.saturating_sub(1),
            Select::First => 0,
            _ if total == 1 => 0,
            _ => return,
        };
        let Some(block) = self.candidates.get(index).filter(|one| one.source == Source::Block && total <= MAX_KEPT)
        else {
            return;
        };
        if block.span.of(output).len() > contract.caps().bytes {
            return;
        }
        let read = Read::new(output, block.span, contract.caps());
        let broken = read.parsed.as_ref().err().map(|broken| broken_at(block.span, broken));
        self.read = Some(read);
        let Some(broken) = broken else {
            return;
        };
        let (start, end) = (block.span.start as usize, block.span.end as usize);
        let plain = Extract { markers: Vec::new(), untagged: false, ignore: Reasoning::none(), ..Extract::default() };
        let pieces = Scanner::new(&output[..end], &plain, contract.is_list()).scan(start, broken).whole.candidates;
        if pieces.len() < 2 {
            return;
        }
        let mut all = Candidates::default();
        for other in 0..total {
            match self.candidates.get(other) {
                Some(block) if other == index => {
                    (0..pieces.len()).filter_map(|piece| pieces.get(piece)).enumerate().for_each(|(number, piece)| {
                        let [open, close] = block.fences;
                        let before =
                            if number == 0 { open } else { Candidate::new(Source::Block, piece.span).fences[0] };
                        let after = if number + 1 == pieces.len() {
                            close
                        } else {
                            Span { start: piece.span.end, end: piece.span.end }
                        };
                        all.push(Candidate {
                            fences: [before, after],
                            span: piece.span,
                            inside: piece.inside,
                            ..block.clone()
                        });
                    })
                }
                Some(other) => all.push(other.clone()),
                None => {}
            }
        }
        self.candidates = all;
        self.several = true;
    }
}

/// Returns the candidates of the first source that has any.
fn choose_source<'t>(
    output: &'t str,
    options: &Extract,
    scanned: Scanned,
    repairs: bool,
    items: bool,
) -> Extracted<'t> {
    let Scanned { marked, untagged, mut values, unlikely, counted, whole, left_out, seen } = scanned;
    let mut notes = Vec::new();
    let mut several = false;
    if values.len() == 0 {
        values.total = 0;
        unlikely.into_iter().for_each(|candidate| values.push(candidate));
    }
    let candidates = if marked.len() > 0 {
        marked
    } else if untagged.len() > 0 {
        untagged
    } else if options.embedded == Embedded::Each && values.len() > 0 {
        values
    } else if options.embedded == Embedded::Single && counted == 1 && stands_alone(output, &values) {
        notes.push("extract: the JSON was taken from prose".to_owned());
        values
    } else if options.raw_json && (options.embedded != Embedded::Single || whole.candidates.len() <= 1) {
        let documents = raw(output, whole, repairs, items);
        several = documents.len() > 1;
        documents
    } else {
        Candidates::default()
    };
    Extracted { candidates, notes, seen, several, left_out, ..Extracted::default() }
}

/// Returns whether there is only one value, and the text after it does not continue a string or an enclosing value. The
/// quotes in its paragraph must be paired, and each closing bracket in the rest must have been opened there.
fn stands_alone(output: &str, values: &Candidates) -> bool {
    let rest = &output[values.end() as usize..];
    let paragraph = rest.split("\n\n").next().unwrap_or_default();
    values.len() == 1 && is_around(paragraph) && are_brackets_paired(rest)
}

/// Returns the whole output as one candidate. If the text around documents can be removed, returns each document.
fn raw(output: &str, whole: whole::Pieces, repairs: bool, items: bool) -> Candidates {
    let begins = whole.text().is_some_and(|text| may_be_json(text.of(output)));
    if repairs || (items && begins) {
        return whole.documents(output, repairs);
    }
    let text = whole.text().filter(|_| begins);
    text.map(|span| Candidate::new(Source::Raw, span)).into_iter().collect()
}

/// The number of bytes in which words after a scalar show that the scalar belongs to prose.
const MAX_SCALAR: usize = 256;

/// Returns whether a text can be broken or truncated JSON: it begins like JSON, and not like prose that begins with a
/// number, a quoted word or a hyphen.
fn may_be_json(text: &str) -> bool {
    if !can_begin_json(text) || text.starts_with(['{', '[']) {
        return can_begin_json(text);
    }
    if let Some(rest) = text.strip_prefix('-') {
        return !rest.starts_with([' ', '\t', '\n', '-']);
    }
    let near = &text[..text.floor_char_boundary(MAX_SCALAR)];
    let rest = parse::strict_end(near, (0, near.len())).map_or("", |end| near[end..].trim_ascii_start());
    rest.starts_with([',', ':', '}', ']']) || !rest.contains(char::is_alphabetic)
}

fn can_begin_json(text: &str) -> bool {
    matches!(text.bytes().next(), Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9'))
        || ["true", "false", "null"]
            .iter()
            .any(|word| text.starts_with(word) || (!text.is_empty() && word.starts_with(text)))
}

/// Returns whether a text is a literal, or begins with a quote of a language other than JSON.
fn may_be_value(text: &str) -> bool {
    text.starts_with(['\'', '“', '‘']) || matches!(text, "True" | "False" | "None")
}

/// Returns the span from `start` to `end`, without JSON white space at both ends.
fn trimmed(output: &str, start: usize, end: usize) -> Span {
    let white = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let piece = &output.as_bytes()[start..end];
    let front = piece.iter().take_while(|byte| white(byte)).count();
    let back = piece[front..].iter().rev().take_while(|byte| white(byte)).count();
    Span::new(start + front, end - back)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Extracts candidates under a contract's `extract`.
    fn found<'t>(output: &'t str, extract: &str) -> Vec<(Source, &'t str)> {
        found_by(output, &format!("\"extract\":{extract}"))
    }

    /// Extracts candidates under a contract with these members.
    fn found_by<'t>(output: &'t str, members: &str) -> Vec<(Source, &'t str)> {
        let contract = Contract::compile(&format!("{{\"agent\":\"a\",\"schema\":true,{members}}}"));
        let contract = contract.unwrap_or_else(|fault| panic!("{fault:?}"));
        let read = Lone::find(output, &contract).map(|lone| (lone, lone.read(output, &contract)));
        let candidates = super::extract(output, &contract, read).candidates;
        let all = (0..candidates.len()).filter_map(|index| candidates.get(index));
        all.map(|candidate| (candidate.source, candidate.span.of(output))).collect()
    }

    fn block(output: &str) -> Vec<&str> {
        let found = found(output, "{}");
        assert!(found.iter().all(|(source, _)| *source == Source::Block), "{output}");
        found.into_iter().map(|(_, text)| text).collect()
    }

    fn prose(output: &str) -> Vec<&str> {
        found(output, "{\"embedded\":true}").into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn marked_blocks_are_found_however_they_are_fenced() {
        for (output, expected) in [
            ("a\n```json\n{}\n```\nb", &["{}"][..]),
            ("```JSON\n1\n```", &["1"]),
            ("~~~json\n1\n~~~", &["1"]),
            ("  ```json title=x\n[]\n  ```", &["[]"]),
            ("Here: ```json\n[]\n```", &["[]"]),
            ("```json {\"a\":1} ```", &["{\"a\":1}"]),
            ("```json{\"a\":1}```", &["{\"a\":1}"]),
            ("```json\n{\"a\":1}```", &["{\"a\":1}"]),
            ("````json\n[\n```\n]\n````", &["[\n```\n]"]),
            ("```json\n1\n```\n```json\n2\n```", &["1", "2"]),
            // A block that was cut off.
            ("```json\n{\"a\":", &["{\"a\":"]),
            ("```json\n{\"a", &["{\"a"]),
            // The content of another block is ignored, unless nothing ends the block.
            ("````md\n```json\n1\n```\n````\n```json\n2\n```", &["2"]),
            ("````text\n```json\n1\n```", &["1"]),
            // Prose about fences.
            ("use ```json fences:\n```json\n1\n```", &["1"]),
        ] {
            assert_eq!(block(output), expected, "{output}");
        }
    }

    #[test]
    fn a_fence_inside_a_string_does_not_end_the_block() {
        let content = "{\"a\":\"```\\n```json\\n\\\"```\",\"b\":1}";
        assert_eq!(block(&format!("```json\n{content}\n```\n")), [content]);
        // Raw line breaks in a string are invalid JSON, but the block is still found as a whole.
        let content = "{\"a\":\"\n```py\nx\n```\n\"}";
        assert_eq!(block(&format!("```json\n{content}\n```\n")), [content]);
        // In a text that is JSON as a whole, a fence is data.
        let whole = "{\"a\":\"```json {} ```\"}";
        assert_eq!(found(whole, "{}"), [(Source::Raw, whole)]);
        // A string without an end: the next fence ends it.
        assert_eq!(block("```json\n{\"a\n```\nprose"), ["{\"a"]);
    }

    #[test]
    fn without_a_marked_block_the_whole_output_is_taken_if_it_can_be_json() {
        for (output, expected) in [
            (" {\"a\":1}\n", Some("{\"a\":1}")),
            ("\u{feff}[]", Some("[]")),
            ("tru", Some("tru")),
            ("{oops", Some("{oops")),
            ("```python\n1\n```", None),
            ("There is none.", None),
            ("never", None),
            ("", None),
            (" \n", None),
        ] {
            let found = found(output, "{}");
            assert_eq!(found.first().map(|(_, text)| *text), expected, "{output}");
        }
        assert_eq!(found("{}", "{\"raw_json\":false}"), []);
    }

    #[test]
    fn bare_values_are_found_in_prose() {
        for (output, expected) in [
            ("so {\"a\":[1]} it is, see [1], {not} this", &["{\"a\":[1]}", "[1]"][..]),
            ("{\"a\":1} {\"b\":2}", &["{\"a\":1}", "{\"b\":2}"]),
            ("[1, 2]", &["[1, 2]"]),
            ("cut {\"a\":1", &["{\"a\":1"]),
            // A document inside a broken document is not a separate candidate.
            ("a [[[{\"a\":1} b", &["[[[{\"a\":1} b"]),
            ("{\"a\":{\"b\":1},} or {}", &["{\"a\":{\"b\":1},}", "{}"]),
            ("open {\" quote, then {\"a\":1}", &["{\" quote, then {\"a\":1}"]),
            // Invalid numbers in brackets are not candidates.
            ("see [1, 2 and 3], {}", &["{}"]),
            ("see [1, 2 and 3]", &["[1, 2 and 3]"]),
            // Text that only begins like a literal is not a candidate.
            ("see [the docs] and [none of it]", &[]),
            // Python notation, with its quotes, and comments.
            ("{'a': 'was {\"id\": 1}', 'b': {\"id\": 2}} x", &["{'a': 'was {\"id\": 1}', 'b': {\"id\": 2}}"]),
            ("{\"a\": 1, // it's\n \"b\": {\"id\": 2}} x", &["{\"a\": 1, // it's\n \"b\": {\"id\": 2}}"]),
            // An extra bracket: the text after it is part of the same value.
            ("{\"a\":{}},\"b\":{\"c\":1}} x", &["{\"a\":{}},\"b\":{\"c\":1}}"]),
            ("{\"a\":[{}},{\"b\":1}]} or {}", &["{\"a\":[{}},{\"b\":1}]}", "{}"]),
            // A bracket that does not look like JSON, with JSON inside.
            ("so {size\": [{\"b\":1}]} x", &["{size\": [{\"b\":1}]}"]),
            ("[dogs' bowls\", {\"b\":1}, [2]]", &["[dogs' bowls\", {\"b\":1}, [2]]"]),
            ("[see [2]] {}", &["{}"]),
            // Quoted lines, and reasoning.
            ("> {\"a\":1}\n{\"b\":1}", &["{\"b\":1}"]),
            ("<think>{\"a\":1}</THINK>{\"b\":1} <x>{}", &["{\"b\":1}", "{}"]),
            ("{\"a\":1}</think> {\"b\":\"</think>\"} {}", &["{\"b\":\"</think>\"}", "{}"]),
            ("{\"a\":1} <think> {\"b\":1}", &["{\"a\":1}"]),
            ("{\"a\": [1,\n</think> {\"b\":1}", &["{\"b\":1}"]),
            ("none", &[]),
        ] {
            assert_eq!(prose(output), expected, "{output}");
        }
    }

    #[test]
    fn hostile_texts_are_read_in_linear_time() {
        // Each of these took quadratic time in some extractor, and minutes at this size.
        const SOON: Duration = Duration::from_secs(10);
        for unit in [
            "```json\n\"",
            "```x\n",
            "````",
            "`",
            "[",
            "{\"",
            "{\"a\":",
            "[\"",
            "~~~\n",
            "```json ",
            "```json\n{",
            "\n",
            "<think>",
            "</think>",
            "<think></think>",
            "{\"<think>",
            "[[\"</think>\",",
            "{\"a\":'",
            "{'",
            "{a:1},\"a\":",
            "{} '",
            "{\"a\":{}}},",
            "```\n{\"a\":\"",
            "{\"\n```\n",
            "{\"a\":\"\n```json\n",
            "[1]",
            "/*",
            "> {}\n",
        ] {
            let text = unit.repeat(500_000 / unit.len());
            let started = Instant::now();
            for members in [
                "\"extract\":{\"embedded\":true},\"repair\":\"syntax\"",
                "\"extract\":{\"embedded\":\"single\"}",
                "\"repair\":\"syntax\",\"items\":{\"path\":\"$[*]\",\"schema\":true}",
            ] {
                found_by(&text, members);
                found_by(&format!("```json\n{text}"), members);
                found_by(&format!("{text}</think>{text}"), members);
            }
            assert!(started.elapsed() < SOON, "{unit:?} took {:?}", started.elapsed());
        }
        let shrinking: String = (3..700).rev().map(|n| "`".repeat(n) + "x\n").collect();
        let started = Instant::now();
        assert_eq!(found(&shrinking, "{}"), []);
        assert!(started.elapsed() < SOON, "fences that get shorter took {:?}", started.elapsed());
    }
}
