//! The markup around reasoning, which the extractor skips: `<think>` and `</think>`, `[THINK]` and `[/THINK]`. The same
//! parser serves callers that have the whole text and callers that receive it byte by byte.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr, memchr2, memchr3};
use serde::{Deserialize, Serialize};

/// The maximum number of bytes between the name of a tag and its `>`: blanks and attributes.
const MAX_ATTRIBUTES: usize = 256;

/// The names of tags that models write around reasoning.
const TAGS: [&str; 6] = ["think", "thinking", "thought", "reasoning", "scratchpad", "seed:think"];

/// Pairs of texts that models write around reasoning. `docs/outputs.md` says which models write them.
const PAIRS: [[&str; 2]; 8] = [
    ["[THINK]", "[/THINK]"],
    ["◁think▷", "◁/think▷"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|begin_of_thought|>", "<|end_of_thought|>"],
    ["<|channel|>analysis", "<|end|>"],
    ["<|channel|>analysis", "<|channel|>final"],
    ["<|channel|>commentary", "<|end|>"],
    ["<|channel|>commentary", "<|channel|>final"],
];

/// The reasoning markup of a contract: its `extract.ignore`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reasoning {
    tags: Vec<Cow<'static, str>>,
    pairs: Vec<Pair>,
    /// The bytes that markup can begin with. Letters are in both cases.
    firsts: Vec<u8>,
    /// For each byte, whether it is the first ([`FIRST`]) or the second ([`SECOND`]) byte of any markup. Brackets are
    /// frequent, and the byte after a bracket excludes most of them.
    places: [u8; 256],
}

const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// The two texts of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    begin: Cow<'static, str>,
    end: Cow<'static, str>,
    /// `true` if the end, without a begin, ends reasoning that began with the output. An end that several pairs share
    /// does not count, because it also ends other things.
    ends_alone: bool,
}

/// One of the tags or pairs of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Markup {
    Tag(u8),
    Pair(u8),
}

/// A begin or an end of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) markup: Markup,
    /// The length, in bytes.
    pub(crate) length: usize,
    pub(crate) closes: bool,
}

/// The result of reading the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Other,
    /// The text ends before it is clear whether it begins with a tag.
    Partial,
    Tag(Tag),
}

impl Default for Reasoning {
    fn default() -> Self {
        let pairs = PAIRS.map(|pair| pair.map(Cow::Borrowed)).into_iter();
        Reasoning::new(TAGS.map(Cow::Borrowed).to_vec(), pairs)
    }
}

impl Reasoning {
    /// Creates markup from names of tags, and from pairs of texts that begin and end reasoning.
    pub(super) fn new(
        tags: Vec<Cow<'static, str>>,
        pairs: impl Iterator<Item = [Cow<'static, str>; 2]> + Clone,
    ) -> Self {
        let shared = |end: &str| pairs.clone().filter(|[_, other]| other.eq_ignore_ascii_case(end)).count() > 1;
        let pair = |[begin, end]: [Cow<'static, str>; 2]| Pair { ends_alone: !shared(&end), begin, end };
        let pairs: Vec<Pair> = pairs.clone().map(pair).collect();
        let of_tags = tags.iter().flat_map(|name| name.bytes().take(1).chain([b'/']).map(|second| [b'<', second]));
        let of_pairs = pairs.iter().flat_map(|pair| [&pair.begin, &pair.end]);
        let of_pairs = of_pairs.filter_map(|text| text.as_bytes().first_chunk().copied());
        let mut places = [0; 256];
        for [first, second] in of_tags.chain(of_pairs) {
            for (byte, place) in [(first, FIRST), (second, SECOND)] {
                places[usize::from(byte.to_ascii_lowercase())] |= place;
                places[usize::from(byte.to_ascii_uppercase())] |= place;
            }
        }
        let firsts = (0..=u8::MAX).filter(|byte| places[usize::from(*byte)] & FIRST != 0).collect();
        Reasoning { tags, pairs, firsts, places }
    }

    /// Returns empty markup: no text is reasoning.
    pub(crate) fn none() -> Self {
        Reasoning { tags: Vec::new(), pairs: Vec::new(), firsts: Vec::new(), places: [0; 256] }
    }

    /// Returns whether a tag can begin with this byte.
    #[inline]
    pub(crate) fn may_begin(&self, byte: u8) -> bool {
        self.places[usize::from(byte)] & FIRST != 0
    }

    /// Returns whether a tag can begin with a byte and the byte after it. `None` if the next byte is not known yet.
    #[inline]
    pub(crate) fn may_begin_with(&self, first: u8, second: Option<u8>) -> bool {
        self.may_begin(first) && second.is_none_or(|second| self.places[usize::from(second)] & SECOND != 0)
    }

    /// Returns the next offset where a tag may begin.
    pub(crate) fn next(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            at += match self.firsts[..] {
                [] => None,
                [a] => memchr(a, rest),
                [a, b] => memchr2(a, b, rest),
                [a, b, c] => memchr3(a, b, c, rest),
                _ => rest.iter().position(|byte| self.may_begin(*byte)),
            }?;
            if self.may_begin_with(bytes[at], bytes.get(at + 1).copied()) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Reads the tag at an offset in a whole text.
    pub(crate) fn tag_at(&self, output: &str, start: usize) -> Option<Tag> {
        let bytes = output.as_bytes();
        if !bytes.get(start).is_some_and(|&first| self.may_begin_with(first, bytes.get(start + 1).copied())) {
            return None;
        }
        tag_of(|is_quoted| self.read(&bytes[start..], is_quoted), is_behind_quote(bytes, start))
    }

    /// Returns the offset after the end of reasoning that began before `from`, in a whole text.
    pub(crate) fn end(&self, output: &str, from: usize, markup: Markup) -> Option<usize> {
        self.end_tag(output, from, markup).map(|tag| tag.end)
    }

    /// Returns the span of the tag that ends reasoning begun before `from`, in a whole text.
    pub(crate) fn end_tag(&self, output: &str, from: usize, markup: Markup) -> Option<Range<usize>> {
        let bytes = output.as_bytes();
        let mut at = from;
        loop {
            at += self.next(bytes.get(at..)?)?;
            let read = |is_quoted| self.read_end(&bytes[at..], markup, is_quoted);
            if let Some(tag) = tag_of(read, is_behind_quote(bytes, at)) {
                return Some(at..at + tag.length);
            }
            at += 1;
        }
    }

    /// Reads the tag at the beginning of a text. `is_behind_quote` is `true` if one or two backticks precede the text,
    /// so that another backtick after the tag makes it inline code.
    pub(crate) fn read(&self, text: &[u8], is_behind_quote: bool) -> Reading {
        let tags = if text.first() == Some(&b'<') { &self.tags[..] } else { &[] };
        let tags = tags.iter().zip(0..).flat_map(|(name, index)| {
            [false, true].map(|closes| (read_tag(text, name, closes), Markup::Tag(index), closes))
        });
        let pairs = self.pairs.iter().zip(0..).flat_map(|(pair, index)| {
            let end = if pair.ends_alone { read_text(text, &pair.end) } else { Read::Other };
            [(read_text(text, &pair.begin), Markup::Pair(index), false), (end, Markup::Pair(index), true)]
        });
        first_of(tags.chain(pairs), text, is_behind_quote)
    }

    /// Reads the end of reasoning that began with this markup.
    pub(crate) fn read_end(&self, text: &[u8], markup: Markup, is_behind_quote: bool) -> Reading {
        let one = match markup {
            Markup::Tag(index) => {
                let name = self.tags.get(usize::from(index));
                name.map(|name| (read_tag(text, name, true), markup, true))
            }
            Markup::Pair(_) => None,
        };
        let begin = self.begin(markup);
        let ends = self.pairs.iter().filter(|pair| begin.is_some_and(|begin| pair.begin.eq_ignore_ascii_case(begin)));
        first_of(
            one.into_iter().chain(ends.map(|pair| (read_text(text, &pair.end), markup, true))),
            text,
            is_behind_quote,
        )
    }

    /// Returns the opening text of a pair.
    fn begin(&self, markup: Markup) -> Option<&str> {
        match markup {
            Markup::Pair(index) => self.pairs.get(usize::from(index)).map(|pair| &*pair.begin),
            Markup::Tag(_) => None,
        }
    }

    /// Returns both tags of the first name for a message: `<answer> and </answer>`.
    pub(crate) fn both(&self) -> String {
        let name = self.tags.first().map_or("", |name| name);
        format!("<{name}> and </{name}>")
    }

    /// Returns the markup as notes show it: `<think>`, `[THINK]`.
    pub(crate) fn shown(&self, markup: Markup) -> String {
        match markup {
            Markup::Tag(index) => self.tags.get(usize::from(index)).map(|name| format!("<{name}>")).unwrap_or_default(),
            Markup::Pair(_) => self.begin(markup).unwrap_or_default().to_owned(),
        }
    }
}

/// The result of comparing with one text.
enum Read {
    Other,
    Partial,
    /// The text begins with the whole of it. Its length, in bytes.
    All(usize),
}

/// Returns the first complete tag, if any.
fn first_of(read: impl Iterator<Item = (Read, Markup, bool)>, text: &[u8], is_behind_quote: bool) -> Reading {
    let mut reading = Reading::Other;
    for (read, markup, closes) in read {
        match read {
            Read::Other => {}
            Read::Partial => reading = Reading::Partial,
            Read::All(length) if is_behind_quote => match text.get(length) {
                Some(b'`') => {}
                Some(_) => return Reading::Tag(Tag { markup, length, closes }),
                None => reading = Reading::Partial,
            },
            Read::All(length) => return Reading::Tag(Tag { markup, length, closes }),
        }
    }
    reading
}

/// Reads a tag in a whole text. If the text ends after the tag, no backtick can follow that makes the tag inline code.
fn tag_of(read: impl Fn(bool) -> Reading, is_behind_quote: bool) -> Option<Tag> {
    match read(is_behind_quote) {
        Reading::Tag(tag) => Some(tag),
        Reading::Partial if is_behind_quote => match read(false) {
            Reading::Tag(tag) => Some(tag),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether one or two backticks precede an offset.
fn is_behind_quote(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[..at].iter().rev().take(3).take_while(|byte| **byte == b'`').count(), 1 | 2)
}

/// Reads `<name>`, `<name attributes>` or `</name>`, ignoring case.
fn read_tag(text: &[u8], name: &str, closes: bool) -> Read {
    let opening = if closes { "</" } else { "<" };
    match read_text(text, opening) {
        Read::All(before) => match read_text(&text[before..], name) {
            Read::All(length) => read_attributes(text, before + length, closes),
            other => other,
        },
        other => other,
    }
}

/// Reads the rest of a tag after its name.
fn read_attributes(text: &[u8], from: usize, closes: bool) -> Read {
    let rest = &text[from..];
    match rest.first() {
        None => return Read::Partial,
        Some(b'>') => return Read::All(from + 1),
        Some(b' ' | b'\t') => {}
        Some(_) => return Read::Other,
    }
    let near = &rest[..rest.len().min(MAX_ATTRIBUTES)];
    let is_over = |byte: &u8| matches!(byte, b'<' | b'>' | b'`' | b'\n') || (closes && !matches!(byte, b' ' | b'\t'));
    match near.iter().position(is_over) {
        Some(end) if near[end] == b'>' => Read::All(from + end + 1),
        None if near.len() < MAX_ATTRIBUTES => Read::Partial,
        _ => Read::Other,
    }
}

/// Reads a text, ignoring the case of ASCII letters.
fn read_text(text: &[u8], wanted: &str) -> Read {
    let read = text.len().min(wanted.len());
    match text[..read].eq_ignore_ascii_case(&wanted.as_bytes()[..read]) {
        true if read == wanted.len() => Read::All(read),
        true => Read::Partial,
        false => Read::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_models_is_read_from_its_first_byte_to_its_last() {
        let reasoning = Reasoning::default();
        for (text, closes) in [
            ("<think>", false),
            ("<THINK >", false),
            ("<think time=\"3s\" effort='low'>", false),
            ("</think>", true),
            ("</think\t>", true),
            ("<seed:think>", false),
            ("[THINK]", false),
            ("[/think]", true),
            ("◁think▷", false),
            ("◁/think▷", true),
            ("<|START_THINKING|>", false),
            ("<|channel|>analysis", false),
        ] {
            let bytes = text.as_bytes();
            for length in 1..bytes.len() {
                assert_eq!(reasoning.read(&bytes[..length], false), Reading::Partial, "{text}, {length} bytes");
            }
            let longer = format!("{text} and more");
            for whole in [bytes, longer.as_bytes()] {
                let Reading::Tag(tag) = reasoning.read(whole, false) else { panic!("{text} is not read") };
                assert_eq!((tag.length, tag.closes), (text.len(), closes), "{text}");
            }
        }
        // An end that several pairs share does not count without a begin.
        for text in [
            "<|end|>",
            "<thinker>",
            "<think",
            "</think x>",
            "<think\n>",
            "[THINKING]",
            "<think a<b>",
            "<think `x`>",
            "x",
        ] {
            assert!(!matches!(reasoning.read(text.as_bytes(), false), Reading::Tag(_)), "{text}");
        }
        let long = format!("<think {}>", "a".repeat(MAX_ATTRIBUTES));
        assert_eq!(reasoning.read(long.as_bytes(), false), Reading::Other);
    }

    #[test]
    fn inline_code_quotes_markup() {
        let reasoning = Reasoning::default();
        let is_tag = |output: &str, text: &str| {
            let at = output.find(text).unwrap_or_else(|| panic!("{text} in {output}"));
            reasoning.tag_at(output, at).is_some()
        };
        assert!(!is_tag("strip the `</think>` tag", "</think>"));
        assert!(!is_tag("strip the ``<think>`` tag", "<think>"));
        assert!(is_tag("use `x`</think>{}", "</think>"));
        assert!(is_tag("use `x`</think>", "</think>"));
        assert!(is_tag("```\n{}\n```</think>`x`", "</think>"));
        let think = Markup::Tag(0);
        assert_eq!(reasoning.end("`</think>` ends it </think >.", 0, think), Some(28));
        assert_eq!(reasoning.end("`</thinking>`", 0, think), None);
    }
}
