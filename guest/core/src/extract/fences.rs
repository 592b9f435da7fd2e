//! Fences, and the tags of reasoning: where the next one is that ends something.

use memchr::{memchr, memchr2};

use super::grammar::{Run, begins_content, ends_word, is_mark};
use crate::{
    contract::Extract,
    text::{ends_line, skip_blanks},
};

/// A run of three or more backticks or tildes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) run: Run,
    /// Nothing but white space after it on its line.
    pub(super) last: bool,
}

impl Fence {
    /// The run of marks that begins here, if it is long enough.
    pub(super) fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let mark = *bytes.get(start).filter(|mark| is_mark(**mark))?;
        let end = start + run(&bytes[start..], mark);
        if end - start < 3 {
            return None;
        }
        // No further back than the mark before: each blank is looked at once from either side.
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        let first = matches!(bytes[..start].iter().rev().find(|byte| !blank(byte)), None | Some(b'\n'));
        let last = matches!(bytes[end..].iter().find(|byte| !blank(byte)), None | Some(b'\n'));
        Some(Fence { start, end, run: Run::new(mark, end - start, first), last })
    }

    /// What stands behind it on its line.
    pub(super) fn line(self, output: &str) -> &str {
        let rest = &output[self.end..];
        &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())]
    }

    /// Returns where the first word behind the fence begins, or its line ends.
    fn word(self, bytes: &[u8]) -> usize {
        self.end + bytes[self.end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Returns the first word behind the fence, which says what its block holds.
    pub(super) fn info(self, output: &str) -> &str {
        let start = self.word(output.as_bytes());
        let length = output[start..].bytes().take_while(|&byte| byte != b'\n' && !ends_word(byte)).count();
        &output[start..start + length]
    }

    /// Whether it begins something, though it may end something else: it says what it holds.
    pub(super) fn is_opening(self, output: &str, markers: &[String]) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'_' | b'#');
        let is_word = || {
            let info = self.info(output);
            info.bytes().all(plain) && ends_line(&output[self.word(output.as_bytes()) + info.len()..])
        };
        !self.last && (self.opens(output, markers).is_some() || (self.run.first && is_word()))
    }

    /// The block that it opens, if it bears a marker. Its content begins on the next line or, where the line goes on with
    /// what can begin JSON, at once.
    pub(super) fn opens<'m>(self, output: &str, markers: &'m [String]) -> Option<Opening<'m>> {
        if !self.run.can_open() {
            return None;
        }
        let start = self.word(output.as_bytes());
        // Reads no further than a marker is long. Otherwise each of many fences on one line would read to its end.
        let marker = markers.iter().find(|marker| begins_with_word(&output.as_bytes()[start..], marker.as_bytes()))?;
        let word = start + marker.len();
        let rest = skip_blanks(&output[word..]);
        let content = if rest.bytes().next().is_some_and(begins_content) {
            word
        } else if self.run.first {
            self.end + self.line(output).len()
        } else {
            // In the middle of a line, words after the marker are prose that speaks of fences.
            let line_end = output.len() - rest.len();
            ends_line(rest).then_some(line_end)?
        };
        Some(Opening { marker, word, content })
    }
}

/// A fence that opens a marked block.
pub(super) struct Opening<'m> {
    pub(super) marker: &'m str,
    /// Where the marker ends.
    pub(super) word: usize,
    /// Where the content begins.
    pub(super) content: usize,
}

/// Returns whether a text begins with a whole word, without regard to case.
fn begins_with_word(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        && text.get(word.len()).is_none_or(|&byte| byte == b'\n' || ends_word(byte))
}

/// How often `bytes` begin with one and the same byte.
fn run(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|&&byte| byte == mark).count()
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// A line that ends a block, with no fewer marks than these.
    Close(Run),
    /// A fence of at least this length that opens a marked block at the start of its line; of one mark alone, where a
    /// block of the other kind is read.
    Opener(Option<u8>, usize),
    /// A fence at the start of a line, or one that opens a marked block elsewhere.
    Fence,
    Tag,
}

/// Where something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Finds fences and tags. What was found is kept for as long as it is ahead, so that each kind is looked for once.
pub(super) struct Marks<'t, 'c> {
    output: &'t str,
    options: &'c Extract,
    found: Vec<(Sought, usize, Option<Mark>)>,
}

impl<'t, 'c> Marks<'t, 'c> {
    pub(super) fn new(output: &'t str, options: &'c Extract) -> Self {
        Marks { output, options, found: Vec::new() }
    }

    /// The next one at or after an offset.
    pub(super) fn next(&mut self, sought: Sought, from: usize) -> Option<Mark> {
        let known = self.found.iter().position(|(kind, ..)| *kind == sought);
        if let Some((_, since, mark)) = known.and_then(|index| self.found.get(index))
            && *since <= from
            && mark.is_none_or(|mark| mark.start >= from)
        {
            return *mark;
        }
        let mark = self.search(sought, from);
        match known.and_then(|index| self.found.get_mut(index)) {
            Some(entry) => *entry = (sought, from, mark),
            None => self.found.push((sought, from, mark)),
        }
        mark
    }

    /// The next fence or tag at or after an offset.
    pub(super) fn next_of_any(&mut self, from: usize) -> Option<Mark> {
        let both = [Sought::Fence, Sought::Tag].map(|sought| self.next(sought, from));
        both.into_iter().flatten().min_by_key(|mark| mark.start)
    }

    fn search(&self, sought: Sought, from: usize) -> Option<Mark> {
        if sought == Sought::Tag { self.tag(from) } else { self.fence(sought, from) }
    }

    fn tag(&self, from: usize) -> Option<Mark> {
        let markup = &self.options.ignore;
        let mut at = from;
        loop {
            at += markup.next(self.output.as_bytes().get(at..)?)?;
            if let Some(tag) = markup.tag_at(self.output, at) {
                return Some(Mark { start: at, end: at + tag.length });
            }
            at += 1;
        }
    }

    /// The same, which is not kept.
    pub(super) fn fence(&self, sought: Sought, from: usize) -> Option<Mark> {
        let bytes = self.output.as_bytes();
        let mut at = from;
        loop {
            let rest = bytes.get(at..)?;
            at += match sought {
                Sought::Close(open) => memchr(open.mark, rest)?,
                _ => memchr2(b'`', b'~', rest)?,
            };
            let Some(fence) = Fence::at(bytes, at) else {
                at += run(&bytes[at..], bytes[at]);
                continue;
            };
            if self.is(fence, sought) {
                return Some(Mark { start: fence.start, end: fence.end });
            }
            at = fence.end;
        }
    }

    fn is(&self, fence: Fence, sought: Sought) -> bool {
        let opens = || fence.opens(self.output, &self.options.markers).is_some();
        match sought {
            Sought::Close(open) => fence.run.can_close(open) && fence.last,
            Sought::Opener(mark, length) => {
                let kind = mark.is_none_or(|mark| mark == fence.run.mark);
                // What only ends a block opens none, though an empty marker is one of those that are looked for.
                fence.run.first && kind && fence.run.length() >= length && !fence.last && opens()
            }
            Sought::Fence => fence.run.first || opens(),
            Sought::Tag => false,
        }
    }
}

/// The first fence of a block's kind outside JSON strings.
pub(super) fn end_outside_strings(bytes: &[u8], content: usize, open: Fence) -> Option<Fence> {
    let mut at = content;
    let mut quoted = false;
    loop {
        let other = if quoted { b'\\' } else { open.run.mark };
        let start = at + memchr2(b'"', other, bytes.get(at..)?)?;
        at = start + 1;
        match bytes[start] {
            b'"' => quoted = !quoted,
            b'\\' => at += 1,
            mark => {
                at = start + run(&bytes[start..], mark);
                if Run::new(mark, at - start, false).reaches(open.run) {
                    return Fence::at(bytes, start);
                }
            }
        }
    }
}
