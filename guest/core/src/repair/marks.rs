//! Repairs marks between tokens that have only one possible meaning there: a literal `\
//! `, full-width punctuation, quotes that were escaped twice, and a curly quote that closes a straight one.
//!
//! Applies only to a text that cannot be repaired in another way. One scan distinguishes strings from the text between
//! them. In a string, the repair changes only the quotes, and the escapes if the quotes are escaped.

use super::MAX_REPAIRS;
use crate::{
    parse::{
        Edit,
        loose::{Quotes, is_space},
    },
    types::ChangeKind,
};

/// Returns the edits that replace other marks in a piece of a text with JSON marks. `None` if there are no such marks,
/// or if one of them has another reading.
pub(crate) fn marks(text: &str, (start, end): (usize, usize)) -> Option<Vec<Edit>> {
    let text = &text[..end];
    if !text[start..].contains(['\\', '：', '，', '”']) {
        return None;
    }
    let at = start + first_bracket(&text[start..])?;
    let mut scanner =
        Scanner { text, at, open: Vec::new(), after_value: false, straight: (0, false), edits: Vec::new() };
    scanner.run()?;
    (!scanner.edits.is_empty()).then_some(scanner.edits)
}

/// Returns the position of the first object or array, judging by the text after its bracket.
fn first_bracket(text: &str) -> Option<usize> {
    let begins = |&(at, bracket): &(usize, &str)| {
        let inside = past_blanks(&text[at + 1..]);
        let inside = inside.strip_prefix('\\').unwrap_or(inside);
        let named = inside.trim_start_matches(|character: char| character.is_alphanumeric() || character == '_');
        match bracket {
            "{" => {
                inside.starts_with(['"', '\'', '}', '“', '‘'])
                    || (named.len() < inside.len() && named.starts_with([':', '：']))
            }
            _ => inside.starts_with(|first: char| "\"'{[]-“‘".contains(first) || first.is_ascii_digit()),
        }
    };
    text.match_indices(['{', '[']).find(begins).map(|(at, _)| at)
}

/// Returns a text without its leading white space, escaped or not.
fn past_blanks(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|first: char| first.is_ascii_whitespace() || is_space(first));
        match rest.strip_prefix('\\').filter(|escaped| escaped.starts_with(['n', 'r', 't'])) {
            Some(escaped) => rest = &escaped[1..],
            None => return rest,
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// For each open bracket, whether the quotes of the strings inside are escaped like those of the first name.
    open: Vec<Option<bool>>,
    /// `true` if a value or a name precedes the next token.
    after_value: bool,
    /// The last straight quote that was searched for, and whether it ends a string.
    straight: (usize, bool),
    edits: Vec<Edit>,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Replaces the text at the current position.
    fn replace(&mut self, kind: ChangeKind, length: usize, after: &str) {
        self.edits.push(Edit::new(kind, (self.at, self.at + length), after));
        self.at += length;
    }

    /// Reads up to the end of the document, and of consecutive documents after it.
    fn run(&mut self) -> Option<()> {
        while let Some(first) = self.rest().chars().next() {
            if self.edits.len() > MAX_REPAIRS {
                return None;
            }
            match first {
                '{' | '[' => {
                    let around = self.open.last().copied().unwrap_or(Some(false));
                    // An unescaped object can contain an escaped one.
                    self.open.push(if first == '{' && around == Some(false) { None } else { around });
                    self.after_value = false;
                    self.at += 1;
                }
                '}' | ']' => {
                    self.open.pop();
                    self.after_value = true;
                    self.at += 1;
                }
                ',' | ':' => {
                    self.after_value = false;
                    self.at += 1;
                }
                '：' | '，' if self.after_value => {
                    self.after_value = false;
                    self.replace(ChangeKind::Punctuation, first.len_utf8(), if first == '：' { ":" } else { "," });
                }
                '\\' => self.escape()?,
                _ if first.is_ascii_whitespace() || is_space(first) => self.at += first.len_utf8(),
                // Text after the document is not part of it.
                _ if self.open.is_empty() => break,
                '/' | '#' => self.comment(),
                _ => match Quotes::opened_by(first) {
                    Some(quotes) => {
                        self.quoted(false)?;
                        self.string(first, quotes);
                    }
                    None => {
                        let is_mark =
                            |character: char| character.is_ascii_whitespace() || ",:{}[]\"\\：，".contains(character);
                        self.at += self.rest().find(is_mark).unwrap_or(self.rest().len()).max(first.len_utf8());
                        self.after_value = true;
                    }
                },
            }
        }
        Some(())
    }

    /// Handles a backslash between tokens, which begins escaped white space or the escaped quote of a string.
    fn escape(&mut self) -> Option<()> {
        match self.text.as_bytes().get(self.at + 1) {
            Some(b'n' | b'r' | b't') => self.replace(ChangeKind::Space, 2, " "),
            Some(b'"') if !self.open.is_empty() && !self.after_value => {
                self.quoted(true)?;
                self.replace(ChangeKind::Unescaped, 2, "\"");
                self.escaped_string()?;
                self.after_value = true;
            }
            _ if self.open.is_empty() => self.at = self.text.len(),
            _ => return None,
        }
        Some(())
    }

    /// Checks the quotes at the beginning of a string. `None` if its quotes are escaped and those of its neighbours are
    /// not, or the reverse. The string may then have lost its quotes, and these may be part of its text.
    fn quoted(&mut self, escaped: bool) -> Option<()> {
        let known = self.open.last_mut().map(|known| *known.get_or_insert(escaped));
        (known.unwrap_or(escaped) == escaped).then_some(())
    }

    /// Reads the rest of a string with escaped quotes. Its content was also escaped twice.
    fn escaped_string(&mut self) -> Option<()> {
        while let Some(found) = self.rest().find(['\\', '"']) {
            self.at += found;
            let bytes = self.rest().as_bytes();
            match bytes {
                [b'\\', b'"', ..] => {
                    let ends = is_end(&self.rest()[2..]);
                    self.replace(ChangeKind::Unescaped, 2, "\"");
                    return ends.then_some(());
                }
                [b'\\', b'\\', b'\\', b'"', ..] => self.replace(ChangeKind::Unescaped, 4, "\\\""),
                [b'\\', b'\\', b'\\', b'\\', ..] => self.replace(ChangeKind::Unescaped, 4, "\\\\"),
                [b'\\', b'\\', rest @ ..] => {
                    // In a path or a formula whose quotes alone were escaped, the other backslashes are different.
                    let is_path = self.text[..self.at].ends_with(':');
                    let is_escape = match rest {
                        [b'n' | b'/' | b'u', ..] => true,
                        [b't', letter, ..] => !letter.is_ascii_alphabetic(),
                        [b'r', ..] => rest[1..].starts_with(b"\\\\n"),
                        _ => false,
                    };
                    if is_path || !is_escape {
                        return None;
                    }
                    self.replace(ChangeKind::Unescaped, 2, "\\");
                }
                [b'\\', ..] => self.at += 1 + self.rest()[1..].chars().next().map_or(0, char::len_utf8),
                // An unescaped quote among escaped ones.
                _ => return None,
            }
        }
        self.at = self.text.len();
        Some(())
    }

    /// Reads a string with any quotes.
    fn string(&mut self, first: char, quotes: Quotes) {
        self.at += first.len_utf8();
        // The number of open curly quotes in the text.
        let mut curly = 0_usize;
        while let Some(character) = self.rest().chars().next() {
            let after = &self.rest()[character.len_utf8()..];
            match character {
                '\\' => self.at += 1 + after.chars().next().map_or(0, char::len_utf8),
                _ if quotes.closed_by(character) && is_end(after) => {
                    self.at += character.len_utf8();
                    break;
                }
                '”' if quotes == Quotes::Double && curly == 0 && self.is_end_of_straight(after) => {
                    self.replace(ChangeKind::Quotes, character.len_utf8(), "\"");
                    break;
                }
                _ => {
                    match character {
                        '“' => curly += 1,
                        '”' => curly = curly.saturating_sub(1),
                        _ => {}
                    }
                    self.at += character.len_utf8();
                }
            }
        }
        self.after_value = true;
    }

    /// Returns whether a string with straight quotes ends before this text. A mark must come next, and the next
    /// straight quote must begin another string.
    fn is_end_of_straight(&mut self, after: &str) -> bool {
        let at = self.text.len() - after.len();
        if !past_blanks(after).starts_with([',', ':', '}', ']', '，', '：']) {
            return false;
        }
        if self.straight.0 < at {
            let quote = after.find('"').map_or(self.text.len(), |found| at + found);
            let before = self.text[..quote].trim_ascii_end();
            let begins = before.ends_with(['{', '[', ',', ':', '，', '：']) || quote == self.text.len();
            self.straight = (quote, !begins);
        }
        !self.straight.1
    }

    /// Skips a comment, in which quotes mean nothing.
    fn comment(&mut self) {
        let rest = self.rest();
        let length = match rest.strip_prefix("/*") {
            Some(inside) => inside.find("*/").map(|found| found + 4),
            None if rest.starts_with("//") || rest.starts_with('#') => rest.find('\n'),
            None => Some(1),
        };
        self.at += length.unwrap_or(rest.len());
    }
}

/// Returns whether a string can end before this text.
fn is_end(text: &str) -> bool {
    let next = past_blanks(text);
    let spaced = next.len() < text.len();
    match next.chars().next() {
        None | Some(',' | ':' | '}' | ']') => true,
        Some(mark @ ('，' | '：')) => {
            let token = past_blanks(&next[mark.len_utf8()..]);
            token.starts_with(|first: char| "\"'“‘{[]}-\\tfnTFN".contains(first) || first.is_ascii_digit())
        }
        Some('"' | '{' | '[') => spaced,
        Some('\\') => spaced && next[1..].starts_with('"'),
        Some('/' | '#') => true,
        Some(_) => false,
    }
}
