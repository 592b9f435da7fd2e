//! Finds the next fence or reasoning tag that can end a block.

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
    /// `true` if only white space follows on its line.
    pub(super) last: bool,
}

impl Fence {
    /// Returns the run of marks at an offset, if it is long enough.
    pub(super) fn at(bytes: &[u8], start: usize) -> Option<Self> {
        let mark = *bytes.get(start).filter(|mark| is_mark(**mark))?;
        let end = start + run(&bytes[start..], mark);
        if end - start < 3 {
            return None;
        }
        // Looks back only to the previous mark, so that each blank is examined at most once from either side.
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        let first = matches!(bytes[..start].iter().rev().find(|byte| !blank(byte)), None | Some(b'\n'));
        let last = matches!(bytes[end..].iter().find(|byte| !blank(byte)), None | Some(b'\n'));
        Some(Fence { start, end, run: Run::new(mark, end - start, first), last })
    }

    /// Returns the rest of the line after the fence.
    pub(super) fn line(self, output: &str) -> &str {
        let rest = &output[self.end..];
        &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())]
    }

    /// Returns the start of the first word after the fence, or the end of its line.
    fn word(self, bytes: &[u8]) -> usize {
        self.end + bytes[self.end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Returns the first word after the fence, which names the content of its block.
    pub(super) fn info(self, output: &str) -> &str {
        let start = self.word(output.as_bytes());
        let length = output[start..].bytes().take_while(|&byte| byte != b'\n' && !ends_word(byte)).count();
        &output[start..start + length]
    }

    /// Returns whether the fence names its content. Such a fence opens a block, even if it could also end one.
    pub(super) fn is_opening(self, output: &str, markers: &[String]) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'_' | b'#');
        let is_word = || {
            let info = self.info(output);
            info.bytes().all(plain) && ends_line(&output[self.word(output.as_bytes()) + info.len()..])
        };
        !self.last && (self.opens(output, markers).is_some() || (self.run.first && is_word()))
    }

    /// Returns the block that the fence opens, if the fence has a marker. The block's content begins on the next line.
    /// If JSON can begin directly after the marker, the content begins there.
    pub(super) fn opens<'m>(self, output: &str, markers: &'m [String]) -> Option<Opening<'m>> {
        if !self.run.can_open() {
            return None;
        }
        let start = self.word(output.as_bytes());
        // Reads no further than the length of a marker. Otherwise, many fences on one line would each read to the end
        // of the line.
        let marker = markers.iter().find(|marker| begins_with_word(&output.as_bytes()[start..], marker.as_bytes()))?;
        let word = start + marker.len();
        let rest = skip_blanks(&output[word..]);
        let content = if rest.bytes().next().is_some_and(begins_content) {
            word
        } else if self.run.first {
            self.end + self.line(output).len()
        } else {
            // In the middle of a line, words after the marker are prose about fences.
            let line_end = output.len() - rest.len();
            ends_line(rest).then_some(line_end)?
        };
        Some(Opening { marker, word, content })
    }
}

/// A fence that opens a marked block.
pub(super) struct Opening<'m> {
    pub(super) marker: &'m str,
    /// The end of the marker.
    pub(super) word: usize,
    /// The start of the content.
    pub(super) content: usize,
}

/// Returns whether a text begins with a whole word, ignoring case.
fn begins_with_word(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        && text.get(word.len()).is_none_or(|&byte| byte == b'\n' || ends_word(byte))
}

/// Returns the number of times that `mark` occurs at the beginning of `bytes`.
fn run(bytes: &[u8], mark: u8) -> usize {
    bytes.iter().take_while(|&&byte| byte == mark).count()
}

/// The target of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// A line that ends a block, with at least as many marks as the run.
    Close(Run),
    /// A fence of at least this length that opens a marked block at the start of its line. Inside a block, only a fence
    /// of the other mark.
    Opener(Option<u8>, usize),
    /// A fence at the start of a line, or one that opens a marked block elsewhere.
    Fence,
    Tag,
}

/// The position of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Finds fences and tags. Caches matches ahead of the current position, so that each kind is searched for once.
pub(super) struct Marks<'t, 'c> {
    output: &'t str,
    options: &'c Extract,
    found: Vec<(Sought, usize, Option<Mark>)>,
}

impl<'t, 'c> Marks<'t, 'c> {
    pub(super) fn new(output: &'t str, options: &'c Extract) -> Self {
        Marks { output, options, found: Vec::new() }
    }

    /// Returns the next match at or after an offset.
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

    /// Returns the next fence or tag at or after an offset.
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

    /// Returns the next fence at or after an offset, without caching it.
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
                // A fence that only ends a block does not open another one, even if an empty marker is allowed.
                fence.run.first && kind && fence.run.length() >= length && !fence.last && opens()
            }
            Sought::Fence => fence.run.first || opens(),
            Sought::Tag => false,
        }
    }
}

/// Returns the first fence of the block's kind outside JSON strings.
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
