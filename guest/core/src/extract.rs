//! Output text -> candidates.
//!
//! Fenced blocks that bear a marker come first; where there is none, the whole output; where that is not JSON
//! either, bare objects and arrays in prose, if the contract asks for it. Everything here is linear in the text:
//! each search that can fail is bounded in how often it may.

use memchr::memchr2;
use serde::{Deserialize, Serialize};

use crate::{
    contract::{Caps, Extract},
    parse::{self, Span},
};

/// Block ends are first looked for outside JSON strings, to the end of the output if need be. After this many such
/// searches in vain, the next line that is a fence ends a block.
const SEARCHES_IN_VAIN: usize = 4;

/// Longer fences count as this long, which bounds how many lengths can lack an end.
pub(crate) const MAX_FENCE: usize = 16;

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Block,
    Raw,
    Embedded,
}

/// A piece of the output that could be the JSON asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) source: Source,
    /// The contract's marker that the block bears.
    pub(crate) marker: Option<String>,
    /// Without white space at either end.
    pub(crate) span: Span,
}

/// All candidates in the output, in its order; all of one source. `repairs`: the whole output may be taken with text
/// around its JSON.
pub(crate) fn extract(output: &str, options: &Extract, repairs: bool, caps: &Caps) -> Vec<Candidate> {
    let raw = raw(output, repairs);
    let is_json = || raw.as_ref().is_some_and(|raw| parse::parse(output, raw.span, caps).is_ok());
    let blocks = blocks(output, &options.markers);
    // Where the whole output is JSON, a fence can only stand inside a string: it is data.
    if !blocks.is_empty() && !is_json() {
        return blocks;
    }
    if options.embedded && !(options.raw_json && is_json()) {
        let embedded = embedded(output, caps);
        if !embedded.is_empty() {
            return embedded;
        }
    }
    raw.filter(|_| options.raw_json).into_iter().collect()
}

/// The whole output, where its first token can begin JSON, or, if text around it is put right, any can.
fn raw(output: &str, repairs: bool) -> Option<Candidate> {
    let text = output.strip_prefix('\u{feff}').unwrap_or(output);
    let span = trimmed(output, output.len() - text.len(), output.len());
    let is_candidate = can_begin_json(span.of(output)) || (repairs && may_hold_json(span.of(output)));
    is_candidate.then_some(Candidate { source: Source::Raw, marker: None, span })
}

fn can_begin_json(text: &str) -> bool {
    matches!(text.bytes().next(), Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9'))
        || ["true", "false", "null"]
            .iter()
            .any(|word| text.starts_with(word) || (!text.is_empty() && word.starts_with(text)))
}

/// Whether there is a bracket in a text, or what other languages than JSON begin a string or a literal with.
fn may_hold_json(text: &str) -> bool {
    text.contains(['{', '[']) || text.starts_with(['\'', '“', '‘']) || matches!(text, "True" | "False" | "None")
}

/// The span from `start` to `end` without JSON's white space at either end.
fn trimmed(output: &str, start: usize, end: usize) -> Span {
    let white = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let piece = &output.as_bytes()[start..end];
    let front = piece.iter().take_while(|byte| white(byte)).count();
    let back = piece[front..].iter().rev().take_while(|byte| white(byte)).count();
    Span::new(start + front, end - back)
}

/// A run of three or more backticks or tildes.
#[derive(Debug, Clone, Copy)]
struct Fence {
    start: usize,
    end: usize,
    mark: u8,
    /// Nothing but white space before it on its line.
    first: bool,
    /// Nothing but white space after it on its line.
    last: bool,
}

impl Fence {
    fn length(self) -> usize {
        (self.end - self.start).min(MAX_FENCE)
    }

    /// A line that ends what `open` began.
    fn closes(self, open: Fence) -> bool {
        self.first && self.last && self.mark == open.mark && self.length() >= open.length()
    }
}

/// All fences, in order. Tildes make one only at the start of a line; prose has them elsewhere.
fn fences(output: &str) -> Vec<Fence> {
    let bytes = output.as_bytes();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let mut fences = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr2(b'`', b'~', &bytes[at..]) {
        let start = at + found;
        let mark = bytes[start];
        at = start + run(&bytes[start..], mark);
        if at - start < 3 {
            continue;
        }
        // No further back than the mark before: each blank is looked at once from either side.
        let first = matches!(bytes[..start].iter().rev().find(|byte| !blank(byte)), None | Some(b'\n'));
        if mark == b'`' || first {
            let last = matches!(bytes[at..].iter().find(|byte| !blank(byte)), None | Some(b'\n'));
            fences.push(Fence { start, end: at, mark, first, last });
        }
    }
    fences
}

/// How often `bytes` begin with one and the same byte.
fn run(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|&&byte| byte == mark).count()
}

/// The fenced blocks that bear one of the markers.
fn blocks(output: &str, markers: &[String]) -> Vec<Candidate> {
    let fences = fences(output);
    let mut blocks = Vec::new();
    let mut in_vain = 0;
    // For each kind of fence, the shortest that is known to have no end in the rest of the output.
    let mut endless = [usize::MAX; 2];
    let mut next = 0;
    while let Some(&open) = fences.get(next) {
        next += 1;
        if let Some((marker, content)) = opening(output, open, markers) {
            let quoted = (in_vain < SEARCHES_IN_VAIN).then(|| end_outside_strings(output, content, open)).flatten();
            in_vain += usize::from(quoted.is_none());
            let end = quoted.or_else(|| {
                let close = fences[next..].iter().find(|fence| fence.closes(open));
                close.map(|fence| (fence.start, fence.end))
            });
            // A block that nothing ends was cut off: it goes to the end of the output.
            let (end, after) = end.unwrap_or((output.len(), output.len()));
            blocks.push(Candidate {
                source: Source::Block,
                marker: Some(marker.clone()),
                span: trimmed(output, content, end),
            });
            next += fences[next..].partition_point(|fence| fence.start < after);
        } else if open.first && open.length() < endless[usize::from(open.mark == b'~')] {
            // Some other block: what it holds is not looked at, unless nothing ends it.
            match fences[next..].iter().position(|fence| fence.closes(open)) {
                Some(close) => next += close + 1,
                None => endless[usize::from(open.mark == b'~')] = open.length(),
            }
        }
    }
    blocks
}

/// The marker that a fence bears and where its content begins: on the next line, or, where the line goes on with
/// what can begin JSON, at once.
fn opening<'m>(output: &str, open: Fence, markers: &'m [String]) -> Option<(&'m String, usize)> {
    let line = output[open.end..].split('\n').next().unwrap_or_default();
    let info = line.trim_start_matches([' ', '\t']);
    let word = info.split([' ', '\t', '\r', '{', '[']).next().unwrap_or_default();
    let marker = markers.iter().find(|marker| marker.eq_ignore_ascii_case(word))?;
    let rest = info[word.len()..].trim();
    let content = open.end + (line.len() - info.len()) + word.len();
    if matches!(rest.bytes().next(), Some(b'{' | b'[')) {
        Some((marker, content))
    } else {
        // In the middle of a line, words after the marker are prose that speaks of fences.
        (open.first || rest.is_empty()).then_some((marker, open.end + line.len()))
    }
}

/// The first fence of the right kind outside JSON strings: its start and its end.
fn end_outside_strings(output: &str, content: usize, open: Fence) -> Option<(usize, usize)> {
    let bytes = output.as_bytes();
    let mut at = content;
    let mut quoted = false;
    loop {
        let other = if quoted { b'\\' } else { open.mark };
        let start = at + memchr2(b'"', other, bytes.get(at..)?)?;
        at = start + 1;
        match bytes[start] {
            b'"' => quoted = !quoted,
            b'\\' => at += 1,
            mark => {
                at = start + run(&bytes[start..], mark);
                if (at - start).min(MAX_FENCE) >= open.length() {
                    return Some((start, at));
                }
            }
        }
    }
}

/// Bare objects and arrays in prose.
///
/// One that breaks is a candidate too, with all that its brackets enclose: what stands inside it is a part of it, and
/// never taken for a document of its own. Only an array that may be no more than a number in brackets is passed over
/// when it breaks, as long as there is anything else.
fn embedded(output: &str, caps: &Caps) -> Vec<Candidate> {
    let bytes = output.as_bytes();
    let candidate = |span| Candidate { source: Source::Embedded, marker: None, span };
    let mut found = Vec::new();
    let mut passed_over = None;
    let mut at = 0;
    while at < bytes.len() {
        let Some(sure) = looks_like_json(&bytes[at..]) else {
            at += 1;
            continue;
        };
        let end = match parse::parse_prefix(output, Span::new(at, bytes.len()), caps) {
            Ok(parsed) => {
                found.push(candidate(Span::new(at, parsed.end)));
                parsed.end
            }
            Err(_) => {
                let end = at + enclosed(&bytes[at..]);
                let broken = candidate(trimmed(output, at, end));
                if sure {
                    found.push(broken);
                } else {
                    passed_over.get_or_insert(broken);
                }
                end
            }
        };
        at = end;
    }
    if found.is_empty() {
        found.extend(passed_over);
    }
    found
}

/// Whether an object or array may begin here, by its bracket and what follows it; and whether prose has no such thing.
fn looks_like_json(bytes: &[u8]) -> Option<bool> {
    // Only behind a bracket is white space looked over.
    let (bracket, rest) = bytes.split_first().filter(|(first, _)| matches!(first, b'{' | b'['))?;
    is_likely(*bracket, *rest.iter().find(|byte| !byte.is_ascii_whitespace())?)
}

/// The same of a bracket and the first byte behind it that is no white space.
pub(crate) fn is_likely(bracket: u8, next: u8) -> Option<bool> {
    match (bracket, next) {
        (b'{', b'"' | b'}') | (b'[', b'{' | b'[' | b'"') => Some(true),
        (b'[', b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => Some(false),
        _ => None,
    }
}

/// How many bytes the first bracket encloses, itself and its counterpart included: all of them where it has none.
fn enclosed(bytes: &[u8]) -> usize {
    let mut brackets = Brackets::default();
    bytes.iter().position(|byte| brackets.pass(*byte)).map_or(bytes.len(), |last| last + 1)
}

/// Quotes and brackets of a text that is no JSON.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Brackets {
    pub(crate) quoted: bool,
    /// Behind a backslash inside quotes.
    escaped: bool,
    /// How many brackets have not ended.
    open: u32,
}

impl Brackets {
    /// Inside so many brackets, and inside quotes or not.
    pub(crate) fn inside(open: u32, quoted: bool) -> Self {
        Brackets { quoted, escaped: false, open }
    }

    /// Pass over a byte; whether the last bracket ends with it.
    pub(crate) fn pass(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            b'{' | b'[' if !self.quoted => self.open = self.open.saturating_add(1),
            b'}' | b']' if !self.quoted => {
                self.open = self.open.saturating_sub(1);
                return self.open == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &str, options: Extract) -> Vec<(Source, &str)> {
        extract(output, &options, false, &Caps::default())
            .into_iter()
            .map(|candidate| (candidate.source, candidate.span.of(output)))
            .collect()
    }

    fn block(output: &str) -> Vec<&str> {
        let found = found(output, Extract::default());
        assert!(found.iter().all(|(source, _)| *source == Source::Block), "{output}");
        found.into_iter().map(|(_, text)| text).collect()
    }

    fn prose(output: &str) -> Vec<&str> {
        let options = Extract { embedded: true, ..Extract::default() };
        found(output, options).into_iter().map(|(_, text)| text).collect()
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
            // Cut off.
            ("```json\n{\"a\":", &["{\"a\":"]),
            ("```json\n{\"a", &["{\"a"]),
            // Another block's content is not looked at, unless nothing ends it.
            ("````md\n```json\n1\n```\n````\n```json\n2\n```", &["2"]),
            ("````text\n```json\n1\n```", &["1"]),
            // Prose that speaks of fences.
            ("use ```json fences:\n```json\n1\n```", &["1"]),
        ] {
            assert_eq!(block(output), expected, "{output}");
        }
    }

    #[test]
    fn a_fence_inside_a_string_does_not_end_the_block() {
        let content = "{\"a\":\"```\\n```json\\n\\\"```\",\"b\":1}";
        assert_eq!(block(&format!("```json\n{content}\n```\n")), [content]);
        // Raw line ends in a string are not JSON; the block is still found whole.
        let content = "{\"a\":\"\n```py\nx\n```\n\"}";
        assert_eq!(block(&format!("```json\n{content}\n```\n")), [content]);
        // In a text that is JSON as a whole, a fence is data.
        let whole = "{\"a\":\"```json {} ```\"}";
        assert_eq!(found(whole, Extract::default()), [(Source::Raw, whole)]);
        // A string that does not end: the next fence does it.
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
            let found = found(output, Extract::default());
            assert_eq!(found.first().map(|(_, text)| *text), expected, "{output}");
        }
        let options = Extract { raw_json: false, ..Extract::default() };
        assert_eq!(found("{}", options), []);
    }

    #[test]
    fn bare_values_are_found_in_prose() {
        for (output, expected) in [
            ("so {\"a\":[1]} it is, see [1], {not} this", &["{\"a\":[1]}", "[1]"][..]),
            ("{\"a\":1} {\"b\":2}", &["{\"a\":1}", "{\"b\":2}"]),
            ("[1, 2]", &["[1, 2]"]),
            ("cut {\"a\":1", &["{\"a\":1"]),
            // Nothing inside one that breaks is a document of its own.
            ("a [[[{\"a\":1} b", &["[[[{\"a\":1} b"]),
            ("{\"a\":{\"b\":1},} or {}", &["{\"a\":{\"b\":1},}", "{}"]),
            ("open {\" quote, then {\"a\":1}", &["{\" quote, then {\"a\":1}"]),
            // Numbers in brackets are not even candidates when they break.
            ("see [1, 2 and 3], {}", &["{}"]),
            ("see [1, 2 and 3]", &["[1, 2 and 3]"]),
            ("none", &[]),
        ] {
            assert_eq!(prose(output), expected, "{output}");
        }
    }

    #[test]
    fn hostile_texts_are_read_in_linear_time() {
        // Each of these took quadratic time in some extractor; here they end at once or the test does not.
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
        ] {
            let text = unit.repeat(500_000 / unit.len());
            let options = Extract { embedded: true, ..Extract::default() };
            extract(&text, &options, true, &Caps::default());
        }
        let shrinking: String = (3..700).rev().map(|n| "`".repeat(n) + "x\n").collect();
        extract(&shrinking, &Extract::default(), true, &Caps::default());
    }
}
