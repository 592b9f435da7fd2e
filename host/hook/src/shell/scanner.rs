//! A position in a line, and the result of scanning: words, and the skeleton without them.

use std::collections::BTreeSet;

/// The reason why a text cannot be scanned.
pub(super) type Unreadable = &'static str;

/// A text without its words.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) skeleton: String,
    /// The words of the placeholders.
    pub(super) entries: Vec<Entry>,
    /// The reasons why a shell may interpret the text differently.
    pub(super) doubts: BTreeSet<&'static str>,
}

/// A position in a text.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) home: Option<&'t str>,
    /// The number of enclosing substitutions.
    pub(super) depth: usize,
}

/// A word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text of the word. `None` if it depends on more than the line.
    pub(super) text: Option<String>,
    /// `true` for a pattern, which the shell replaces by the names of files.
    pub(super) is_glob: bool,
    /// The source of the word in the line.
    pub(super) source: String,
}

/// A word with the commands inside it.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) word: Word,
    /// The name, if the word has the form of an assignment.
    pub(super) name: Option<String>,
    /// The commands of its substitutions.
    pub(super) commands: Vec<Scan>,
    pub(super) is_seen: bool,
}

impl Word {
    /// Creates a word whose source is its text.
    pub(super) fn literal(text: &str) -> Self {
        Word { text: Some(text.to_owned()), is_glob: false, source: text.to_owned() }
    }

    /// Creates a word about which nothing is known.
    pub(super) fn unknown(source: &str) -> Self {
        Word { text: None, is_glob: false, source: source.to_owned() }
    }

    /// Returns the text if the program receives exactly this text as one word.
    pub(super) fn exact(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| !self.is_glob)
    }

    /// Returns whether the program receives exactly one word, although its text may not be known.
    pub(super) fn is_one(&self) -> bool {
        let inner = self.source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let is_quoted = inner.is_some_and(|inner| !inner.contains(['"', '@']));
        self.exact().is_some() || self.text.is_none() && (is_quoted || self.is_number())
    }

    /// Returns whether the word is an integer, as a literal or by its kind.
    pub(super) fn is_number(&self) -> bool {
        let is_literal = |text: &str| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        self.exact().is_some_and(is_literal) || matches!(self.source.trim_matches('"'), "$?" | "$#" | "$$")
    }

    /// Returns the text if it is known, and otherwise the source.
    pub(super) fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.source)
    }
}

impl Scan {
    pub(super) fn doubt(&mut self, why: &'static str) {
        self.doubts.insert(why);
    }
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, home: Option<&'t str>) -> Self {
        Scanner { text, at: 0, home, depth: 0 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads the text before a character, and the character.
    pub(super) fn until(&mut self, end: char) -> Result<&'t str, Unreadable> {
        let rest = self.rest();
        let length = rest.find(end).ok_or("a quote is not closed")?;
        self.at += length + end.len_utf8();
        Ok(&rest[..length])
    }

    /// Reads the text before a single quote, and the quote. A backslash escapes a quote.
    pub(super) fn until_unescaped(&mut self) -> Result<&'t str, Unreadable> {
        let rest = self.rest();
        let mut is_escaped = false;
        for (at, char) in rest.char_indices() {
            match char {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '\'' => {
                    self.at += at + 1;
                    return Ok(&rest[..at]);
                }
                _ => {}
            }
        }
        Err("a quote is not closed")
    }

    /// Reads a text in brackets. Ignores quotes, so the caller must record a doubt about all but plain texts.
    pub(super) fn balanced(&mut self, open: char, close: char) -> Result<&'t str, Unreadable> {
        let rest = self.rest();
        let mut depth = 0_usize;
        for (at, char) in rest.char_indices() {
            if char == open {
                depth += 1;
            } else if char == close {
                depth -= 1;
            }
            if depth == 0 {
                self.at += at + char.len_utf8();
                return Ok(&rest[..at + char.len_utf8()]);
            }
        }
        Err("a bracket is not closed")
    }
}

/// Returns whether a text is a valid name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|char: char| char.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
