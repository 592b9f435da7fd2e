//! Locations in a document, written as JSONPath (RFC 9535) and as JSON Pointer (RFC 6901).

use crate::{hidden::is_hidden, text};

/// The length to which displayed locations are truncated, in bytes. Producers choose the names in them.
const MAX_SHOWN: usize = 512;

/// One step from a value to a nested value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Name(String),
    Index(usize),
}

impl Step {
    fn seen(&self) -> SeenStep<'_> {
        match self {
            Step::Name(name) => SeenStep::Name(name),
            Step::Index(index) => SeenStep::Index(*index),
        }
    }
}

/// A borrowed step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SeenStep<'s> {
    Name(&'s str),
    Index(usize),
}

impl SeenStep<'_> {
    pub(crate) fn to_step(self) -> Step {
        match self {
            SeenStep::Name(name) => Step::Name(name.to_owned()),
            SeenStep::Index(index) => Step::Index(index),
        }
    }
}

/// The location of a value: the steps from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location(Vec<Step>);

impl Location {
    pub fn root() -> Self {
        Location(Vec::new())
    }

    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    pub fn name(mut self, name: &str) -> Self {
        self.push(Step::Name(name.to_owned()));
        self
    }

    /// Returns the location as JSONPath, such as `$.citations[0].url`, truncated for display. Names that are words
    /// follow a dot. Other names are quoted as in the normalized paths of RFC 9535.
    #[inline(never)]
    pub fn path(&self) -> String {
        Self::path_of(&self.0)
    }

    /// Returns the JSONPath of steps outside a [`Location`].
    pub(crate) fn path_of<'s>(steps: impl IntoIterator<Item = &'s Step>) -> String {
        let mut path = Shown::path();
        steps.into_iter().for_each(|step| path.path_step(step.seen()));
        path.cut()
    }

    /// Returns the location as JSON Pointer, like `/citations/0/url`, truncated for display.
    #[inline(never)]
    pub fn pointer(&self) -> String {
        let mut pointer = Shown::pointer();
        self.0.iter().for_each(|step| pointer.pointer_step(step.seen()));
        pointer.cut()
    }

    /// Parses a JSONPath of names: `$.a.b`, where each name is a word.
    pub(crate) fn of_names(path: &str) -> Option<Self> {
        let rest = path.strip_prefix("$.")?;
        rest.split('.')
            .map(|name| is_word(name).then(|| Step::Name(name.to_owned())))
            .collect::<Option<Vec<_>>>()
            .map(Location)
    }
}

/// A location for a report, as JSONPath and JSON Pointer. It is written step by step, and does not store the steps.
pub(crate) struct Written {
    path: Shown,
    pointer: Shown,
}

impl Written {
    pub(crate) fn new(steps: &[Step]) -> Self {
        let mut written = Written { path: Shown::path(), pointer: Shown::pointer() };
        steps.iter().for_each(|step| written.step(step.seen()));
        written
    }

    pub(crate) fn step(&mut self, step: SeenStep) {
        self.path.path_step(step);
        self.pointer.pointer_step(step);
    }

    /// Returns only the JSONPath.
    pub(crate) fn path(self) -> String {
        self.path.cut()
    }

    /// Returns the JSONPath and the JSON Pointer.
    pub(crate) fn texts(self) -> [String; 2] {
        [self.path.cut(), self.pointer.cut()]
    }
}

/// A location that is being written. Text above the limit is not written, because producers choose names of any length.
struct Shown {
    text: String,
    /// The number of bytes that were not written.
    more: usize,
}

impl Shown {
    fn new(start: &str) -> Self {
        let mut text = String::with_capacity(64);
        text.push_str(start);
        Shown { text, more: 0 }
    }

    fn path() -> Self {
        Shown::new("$")
    }

    fn pointer() -> Self {
        Shown::new("")
    }

    #[inline(never)]
    fn path_step(&mut self, step: SeenStep) {
        match step {
            SeenStep::Index(index) => {
                self.text.push('[');
                text::push_number(&mut self.text, index);
                self.text.push(']');
            }
            SeenStep::Name(name) => {
                let Some(name) = self.begin(name) else {
                    return;
                };
                if is_word(name) {
                    self.text.push('.');
                    self.text.push_str(name);
                } else {
                    push_quoted(&mut self.text, name);
                }
            }
        }
    }

    #[inline(never)]
    fn pointer_step(&mut self, step: SeenStep) {
        match step {
            SeenStep::Index(index) => {
                self.text.push('/');
                text::push_number(&mut self.text, index);
            }
            SeenStep::Name(name) => {
                if let Some(name) = self.begin(name) {
                    self.text.push('/');
                    push_escaped(&mut self.text, name);
                }
            }
        }
    }

    /// Returns the part of a name that fits.
    fn begin<'n>(&mut self, name: &'n str) -> Option<&'n str> {
        if self.text.len() > MAX_SHOWN {
            self.more += name.len() + 1;
            return None;
        }
        let end = name.floor_char_boundary(2 * MAX_SHOWN);
        self.more += name.len() - end;
        Some(&name[..end])
    }

    fn cut(self) -> String {
        if self.text.len() <= MAX_SHOWN && self.more == 0 {
            return self.text;
        }
        text::cut_with(&self.text, MAX_SHOWN, self.more)
    }
}

impl FromIterator<Step> for Location {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Location(steps.into_iter().collect())
    }
}

/// Returns a name as a step of a JSON Pointer (RFC 6901, section 3).
pub(crate) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    push_escaped(&mut out, name);
    out
}

/// Returns the name of a JSON Pointer's step (RFC 6901, section 4).
pub fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Appends a name as a step of a JSON Pointer.
pub(crate) fn push_escaped(out: &mut String, name: &str) {
    let mut rest = name;
    while let Some(at) = rest.find(['~', '/']) {
        out.push_str(&rest[..at]);
        out.push_str(if rest[at..].starts_with('~') { "~0" } else { "~1" });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// Returns whether RFC 9535 allows a name after a dot. Accepts only ASCII names.
fn is_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Appends a name in single quotes (RFC 9535, section 2.7). Escapes all invisible characters, which is more than a
/// normalized path requires. The result leads to the same value.
fn push_quoted(path: &mut String, name: &str) {
    path.push_str("['");
    for character in name.chars() {
        match character {
            '\'' => path.push_str("\\'"),
            '\\' => path.push_str("\\\\"),
            '\u{8}' => path.push_str("\\b"),
            '\t' => path.push_str("\\t"),
            '\n' => path.push_str("\\n"),
            '\u{c}' => path.push_str("\\f"),
            '\r' => path.push_str("\\r"),
            c if is_hidden(c) => text::push_escaped(path, c),
            c => path.push(c),
        }
    }
    path.push_str("']");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(steps: &[&str]) -> Location {
        steps
            .iter()
            .map(|step| match step.parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Name((*step).to_owned()),
            })
            .collect()
    }

    #[test]
    fn places_are_written_as_rfc_9535_and_rfc_6901_have_them() {
        for (steps, path, pointer) in [
            (&[][..], "$", ""),
            (&["citations", "0", "url"], "$.citations[0].url", "/citations/0/url"),
            (&["a b", "it's"], "$['a b']['it\\'s']", "/a b/it's"),
            (&["a/b", "m~n"], "$['a/b']['m~n']", "/a~1b/m~0n"),
            (&[""], "$['']", "/"),
            (&["\n\u{1}"], "$['\\n\\u0001']", "/\n\u{1}"),
        ] {
            assert_eq!(place(steps).path(), path);
            assert_eq!(place(steps).pointer(), pointer);
        }
    }

    #[test]
    fn a_long_place_is_cut_and_says_so() {
        let path = place(&[&"n".repeat(5000)]).path();
        assert!(path.len() <= MAX_SHOWN && path.ends_with("bytes left out]"), "{path}");
    }

    #[test]
    fn a_path_of_names_is_read() {
        assert_eq!(Location::of_names("$.a.b_1"), Some(place(&["a", "b_1"])));
        for other in ["$", "a.b", "$.", "$.a[0]", "$.a..b", "$['a']"] {
            assert_eq!(Location::of_names(other), None, "{other}");
        }
    }
}
