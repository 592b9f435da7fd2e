//! Places in a document, written as JSONPath (RFC 9535) and as JSON Pointer (RFC 6901).

use crate::{hidden::is_hidden, text};

/// Longer names are cut where a place is shown: a producer chooses them.
const MAX_SHOWN: usize = 512;

/// One step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Name(String),
    Index(usize),
}

/// A value's place: the steps from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place(Vec<Step>);

impl Place {
    pub fn root() -> Self {
        Place(Vec::new())
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

    /// `$.citations[0].url`: names that are words are written with a dot, others quoted as RFC 9535's normalised
    /// paths have them. Cut to a length that can be shown.
    #[inline(never)]
    pub fn path(&self) -> String {
        Self::path_of(&self.0)
    }

    /// The same for steps that are nobody's yet.
    pub(crate) fn path_of<'s>(steps: impl IntoIterator<Item = &'s Step>) -> String {
        let mut path = Shown::new("$");
        for step in steps {
            path.step(step, |path, name| {
                if is_word(name) {
                    path.push('.');
                    path.push_str(name);
                } else {
                    push_quoted(path, name);
                }
            });
        }
        path.cut()
    }

    /// `/citations/0/url`, cut to a length that can be shown.
    #[inline(never)]
    pub fn pointer(&self) -> String {
        let mut pointer = Shown::new("");
        for step in &self.0 {
            match step {
                Step::Index(index) => {
                    pointer.text.push('/');
                    text::push_number(&mut pointer.text, *index);
                }
                Step::Name(_) => pointer.step(step, |pointer, name| {
                    pointer.push('/');
                    pointer.push_str(&escaped(name));
                }),
            }
        }
        pointer.cut()
    }

    /// Read a JSONPath of names: `$.a.b`, where each name is a word.
    pub(crate) fn of_names(path: &str) -> Option<Self> {
        let rest = path.strip_prefix("$.")?;
        rest.split('.')
            .map(|name| is_word(name).then(|| Step::Name(name.to_owned())))
            .collect::<Option<Vec<_>>>()
            .map(Place)
    }
}

/// A place that is being written. Producers choose names: what cannot be shown is not even written.
struct Shown {
    text: String,
    /// Bytes that were not written.
    more: usize,
}

impl Shown {
    fn new(start: &str) -> Self {
        let mut text = String::with_capacity(32);
        text.push_str(start);
        Shown { text, more: 0 }
    }

    fn step(&mut self, step: &Step, write: impl FnOnce(&mut String, &str)) {
        match step {
            Step::Index(index) => {
                self.text.push('[');
                text::push_number(&mut self.text, *index);
                self.text.push(']');
            }
            Step::Name(name) if self.text.len() > MAX_SHOWN => self.more += name.len() + 1,
            Step::Name(name) => {
                let end = name.floor_char_boundary(2 * MAX_SHOWN);
                self.more += name.len() - end;
                write(&mut self.text, &name[..end]);
            }
        }
    }

    fn cut(self) -> String {
        if self.text.len() <= MAX_SHOWN && self.more == 0 {
            return self.text;
        }
        text::cut_with(&self.text, MAX_SHOWN, self.more)
    }
}

impl FromIterator<Step> for Place {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Place(steps.into_iter().collect())
    }
}

/// A name as a step of a JSON Pointer (RFC 6901, section 3).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Names that RFC 9535 lets stand behind a dot, of ASCII ones.
fn is_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// RFC 9535, section 2.7: single quotes, and escapes for what cannot be seen, of which there is more here than a
/// normalised path has to escape: it leads to the same place.
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

    fn place(steps: &[&str]) -> Place {
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
        assert_eq!(Place::of_names("$.a.b_1"), Some(place(&["a", "b_1"])));
        for other in ["$", "a.b", "$.", "$.a[0]", "$.a..b", "$['a']"] {
            assert_eq!(Place::of_names(other), None, "{other}");
        }
    }
}
