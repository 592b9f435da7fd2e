//! Sanitizes any text from outside for the model: hidden characters, secrets, links and instructions.
//!
//! [`inspect`] examines a whole text, and [`Inspected::write`] writes any piece of it, so that truncation never splits
//! a secret. [`sanitize`] does both. All of this takes linear time, and sanitizing sanitized text changes nothing.
//! `docs/clean.md` describes the treatment of each class, and what is not detected.
//!
//! A backslash sequence in the given text means the same as one that the sanitizer writes: it is visible, stays
//! unchanged, and is decoded for the search for secrets and instructions. Only the counts show which sequences were in
//! the given text.

mod blocks;
mod instructions;
mod links;
mod marks;
mod secrets;
mod services;
mod types;
mod unicode;
mod view;
mod vocabulary;
mod words;

use std::ops::Range;

use seamgate_core::kernel_api::sort_by_key;

pub use instructions::MAX_INSTRUCTIONS;
pub use marks::mark_in;
pub use types::{Counts, Escaped, Found, Hidden, Instruction, Kind, Reads, Redacted, Secret};

use instructions::Instructions;
use secrets::Secrets;
use view::{Edge, Gap, Gaps, Is, View};

/// The result of sanitizing a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanitized {
    /// The text that the model may read.
    pub text: String,
    /// The findings. Spans refer to the given text.
    pub found: Found,
}

/// The treatment of the texts of a result, in ascending order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Clean {
    /// The texts are not examined.
    None,
    /// Findings are reported, and the texts stay unchanged.
    Mark,
    /// The texts are sanitized.
    #[default]
    Full,
}

/// Sanitizes a text if `clean` requires it.
pub(crate) fn sanitize_as(text: &str, clean: Clean) -> String {
    if clean == Clean::Full { sanitize(text).text } else { text.to_owned() }
}

/// Inspects a text as far as `clean` requires it.
pub(crate) fn inspect_as(text: &str, clean: Clean) -> Inspected<'_> {
    match clean {
        Clean::Full => inspect(text),
        Clean::Mark => Inspected { edits: Vec::new(), clean, ..inspect(text) },
        Clean::None => Inspected { text, edits: Vec::new(), found: Found::default(), clean },
    }
}

/// Sanitizes a text for the model.
pub fn sanitize(text: &str) -> Sanitized {
    let inspected = inspect(text);
    let mut out = String::with_capacity(text.len());
    inspected.write(0..text.len(), &mut out);
    Sanitized { text: out, found: inspected.found }
}

/// Returns the text with each secret replaced by `[redacted:KIND]`, and everything else unchanged. For logs.
pub fn redact(text: &str) -> String {
    let mut inspected = inspect(text);
    inspected.edits.retain(|(_, edit)| matches!(edit, Edit::Redact(_)));
    inspected.clean = Clean::Mark;
    let mut out = String::with_capacity(text.len());
    inspected.write(0..text.len(), &mut out);
    out
}

/// A text, and all changes to it.
#[derive(Debug, Clone)]
pub struct Inspected<'t> {
    pub(crate) text: &'t str,
    /// The edits, in order and without overlaps.
    edits: Vec<(Range<usize>, Edit)>,
    /// The findings in the whole text. Spans refer to the given text.
    pub found: Found,
    /// The treatment of its pieces when they are written.
    pub(crate) clean: Clean,
}

/// The replacement of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Redact(Secret),
    /// The same text, in brackets.
    Bracket,
}

/// Finds hidden, secret or dangerous parts in a whole text, in linear time.
///
/// Decode the strings of JSON before the call. Do not decode a string that itself contains JSON: an escape in it stays
/// unchanged, and the character that it stands for is examined.
/// unchanged, and the character that it stands for is examined.
pub fn inspect(text: &str) -> Inspected<'_> {
    let mut found = Found::default();
    let mut runs = Runs::default();
    let view = View::new(text, |gap| {
        if let Is::Hidden(character) = gap.is {
            let next = text.as_bytes().get(gap.start + character.len_utf8());
            let is_sequence = character == '\u{1b}'
                && matches!(
                    next,
                    Some(b'[' | b']' | b'(' | b')' | b'=' | b'>' | b'\\' | b'#' | b'P' | b'X' | b'^' | b'_')
                );
            let is_string = matches!(character, '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}');
            let class = if is_sequence || is_string { Hidden::Ansi } else { unicode::class(character) };
            found.escaped.add(class);
        }
        runs.add(gap);
    });
    let bytes = view.text.as_bytes();
    let (mut secrets, mut instructions) = (Secrets::default(), Instructions::new());
    let is_wanted =
        |text: &[u8], start, end| secrets::may_begin(text, start, end) || instructions::opens_mark(text, start);
    words::each(&view.text, is_wanted, |word| {
        if secrets::is_looked_at(bytes, word) {
            secrets.word(bytes, word);
        }
        instructions.word(bytes, word);
        instructions.upto()
    });
    let secrets = secrets.found();
    let mut edits: Vec<(Range<usize>, Edit)> = Vec::with_capacity(secrets.len());
    let mut brackets = links::find(bytes, &secrets).into_iter().peekable();
    for (kind, range) in secrets {
        found.redacted.add(kind);
        while let Some(at) = brackets.next_if(|at| *at < range.end) {
            if at < range.start {
                edits.push((at..at + 1, Edit::Bracket));
            }
        }
        edits.push((range, Edit::Redact(kind)));
    }
    edits.extend(brackets.map(|at| (at..at + 1, Edit::Bracket)));
    found.defanged = edits.iter().filter(|(_, edit)| *edit == Edit::Bracket).count() as u32;
    (found.instructions, found.instructions_left_out) = instructions.found();
    let spans = edits.iter_mut().map(|(range, _)| (&mut range.start, &mut range.end));
    let spans = spans.chain(found.instructions.iter_mut().map(|found| (&mut found.start, &mut found.end)));
    view.locate(spans.flat_map(|(start, end)| [(start, Edge::Start), (end, Edge::End)]));
    runs.tell(&mut found);
    Inspected { text, edits, found, clean: Clean::Full }
}

impl Inspected<'_> {
    /// Writes a piece of the text, with secrets redacted, hidden characters escaped, and links defanged. A secret that
    /// is only partly in the piece is also redacted. The bounds are moved to character boundaries.
    pub fn write(&self, piece: Range<usize>, out: &mut String) {
        let end = self.text.floor_char_boundary(piece.end);
        let mut at = self.text.floor_char_boundary(piece.start.min(end));
        let first = self.edits.partition_point(|(range, _)| range.end <= at);
        for (range, edit) in &self.edits[first..] {
            if range.start >= end {
                break;
            }
            self.escape(at..range.start.max(at), out);
            at = range.end.min(end);
            match edit {
                Edit::Redact(kind) => {
                    out.push_str("[redacted:");
                    out.push_str(kind.as_str());
                    out.push(']');
                }
                Edit::Bracket => {
                    out.push('[');
                    self.escape(range.clone(), out);
                    out.push(']');
                }
            }
        }
        self.escape(at..end, out);
    }

    /// Writes a piece without edits.
    fn escape(&self, piece: Range<usize>, out: &mut String) {
        let mut from = piece.start;
        if self.clean < Clean::Full {
            return out.push_str(self.text.get(piece).unwrap_or_default());
        }
        for gap in Gaps::new(self.text, piece.clone()) {
            if let Is::Hidden(character) = gap.is {
                out.push_str(&self.text[from..gap.start]);
                push_escape(out, character);
                from = gap.start + character.len_utf8();
            }
        }
        out.push_str(self.text.get(from..piece.end).unwrap_or_default());
    }
}

/// Writes the code of a character, as in Rust: `\u{200b}`.
fn push_escape(out: &mut String, character: char) {
    let code = u32::from(character);
    let digits = (u32::BITS - code.leading_zeros()).div_ceil(4).max(1);
    out.push_str("\\u{");
    out.extend((0..digits).rev().filter_map(|digit| char::from_digit(code >> (4 * digit) & 0xf, 16)));
    out.push('}');
}

/// Finds runs of hidden characters.
#[derive(Default)]
struct Runs {
    found: Vec<Range<usize>>,
    last: Range<usize>,
    length: usize,
}

impl Runs {
    /// The minimum number of consecutive hidden characters that are reported.
    const LEAST: usize = 8;

    fn add(&mut self, gap: Gap) {
        let (Is::Hidden(character) | Is::Escape(character)) = gap.is;
        if matches!(unicode::class(character), Hidden::Control) || !seamgate_core::is_hidden(character) {
            return;
        }
        if gap.start != self.last.end {
            (self.last, self.length) = (gap.start..gap.start, 0);
        }
        self.last.end = gap.end;
        self.length += 1;
        if self.length == Self::LEAST && self.found.len() < MAX_INSTRUCTIONS {
            self.found.push(self.last.clone());
        } else if self.length > Self::LEAST
            && let Some(found) = self.found.last_mut()
            && found.start == self.last.start
        {
            found.end = gap.end;
        }
    }

    /// Adds them to the instructions, in order, as far as there is room.
    fn tell(self, found: &mut Found) {
        let runs =
            self.found.into_iter().map(|run| Instruction { kind: Reads::HiddenText, start: run.start, end: run.end });
        found.instructions.extend(runs);
        sort_by_key(&mut found.instructions, |instruction| (instruction.start, instruction.end));
        let more = found.instructions.len().saturating_sub(MAX_INSTRUCTIONS);
        found.instructions_left_out = found.instructions_left_out.saturating_add(more as u32);
        found.instructions.truncate(MAX_INSTRUCTIONS);
    }
}

#[cfg(test)]
mod tests;
