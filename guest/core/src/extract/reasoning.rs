//! The tags between which a model reasons: what stands there is left out.

use memchr::memchr;

use crate::{parse::Span, text};

/// A report names this many pieces that were left out.
const MAX_NOTES: usize = 8;

/// A tag of reasoning: `<name>` or `</name>`.
pub(super) struct Tag<'c> {
    pub(super) end: usize,
    pub(super) name: &'c str,
    pub(super) closes: bool,
}

/// The tag that begins here, if its name is one of these.
pub(super) fn tag_at<'c>(output: &str, start: usize, names: &'c [String]) -> Option<Tag<'c>> {
    let rest = output.as_bytes()[start..].strip_prefix(b"<")?;
    let (closes, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let is = |name: &&String| {
        rest.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
            && rest.get(name.len()) == Some(&b'>')
    };
    let name = names.iter().find(is)?;
    Some(Tag { end: start + 2 + usize::from(closes) + name.len(), name, closes })
}

/// Where the first closing tag of a name ends.
pub(super) fn closing(output: &str, from: usize, name: &str) -> Option<usize> {
    let bytes = output.as_bytes();
    let mut at = from;
    loop {
        at += memchr(b'<', bytes.get(at..)?)?;
        let rest = bytes.get(at + 2..).filter(|_| bytes.get(at + 1) == Some(&b'/'));
        let is = |word: &[u8]| word.eq_ignore_ascii_case(name.as_bytes());
        if rest.is_some_and(|rest| rest.get(..name.len()).is_some_and(is) && rest.get(name.len()) == Some(&b'>')) {
            return Some(at + 3 + name.len());
        }
        at += 1;
    }
}

/// The pieces that were left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    listed: Vec<(Span, String)>,
    more: usize,
    /// From the first to the last of those that are not listed.
    rest: Option<Span>,
}

impl LeftOut {
    pub(super) fn add(&mut self, span: Span, name: &str) {
        if self.listed.len() < MAX_NOTES {
            self.listed.push((span, name.to_owned()));
            return;
        }
        self.more += 1;
        self.rest = Some(Span { start: self.rest.map_or(span.start, |rest| rest.start), end: span.end });
    }

    /// Where they stand, in the order of the output.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        self.listed.iter().map(|(span, _)| *span).chain(self.rest)
    }

    pub(super) fn note(&self, notes: &mut Vec<String>) {
        for (span, name) in &self.listed {
            notes.push(format!("extract: bytes {} to {} were left out as <{name}>", span.start, span.end));
        }
        if let Some(rest) = self.rest {
            let pieces = text::count(self.more, "more piece");
            notes
                .push(format!("extract: {pieces} were left out as reasoning, in bytes {} to {}", rest.start, rest.end));
        }
    }
}
