//! Finds objects and arrays in prose. Determines where they begin and end even if they are invalid, and recognizes text
//! that only resembles them.

use memchr::{memchr, memchr2};
use serde::{Deserialize, Serialize};

use crate::{
    parse::{
        Open,
        loose::{Bracket, Lexer, Token},
        strict_end,
    },
    repair::repair_value,
};

/// The maximum length of numbers in brackets that may be a citation, in bytes.
const MAX_CITATION: usize = 64;

/// The maximum length of a name in the middle of prose, in bytes.
const MAX_NAME: usize = 256;

/// The maximum length of bracketed text that belongs to prose, in bytes.
const MAX_ASIDE: usize = 256;

/// The cost of an attempt to repair an aside, in bytes read.
const REPAIR_COST: usize = 64;

/// Returns whether an object or array may begin here, judging by its bracket and the text after it. `None` if it
/// cannot. `true` if prose never contains such a sequence.
pub(super) fn looks_like_json(text: &str) -> Option<bool> {
    let bracket = *text.as_bytes().first().filter(|first| matches!(first, b'{' | b'['))?;
    // The next byte decides most cases.
    if let Some(next) = text.as_bytes().get(1).filter(|next| matches!(next, b'{' | b'}' | b'[' | b']' | b'"' | b',')) {
        return is_likely(bracket, *next);
    }
    // White space of other scripts is also allowed.
    let inside = text[1..].trim_start();
    let next = inside.chars().next()?;
    let word = |inside: &str| inside.find(|character: char| !is_of_name(character)).unwrap_or(inside.len());
    if bracket == b'[' && next.is_alphabetic() {
        let word = &inside[..word(inside)];
        let is_literal = |literal: &str| literal == word || (word.len() == inside.len() && literal.starts_with(word));
        return ["true", "false", "null", "True", "False", "None"].into_iter().any(is_literal).then_some(false);
    }
    if next.is_ascii()
        && let Some(sure) = is_likely(bracket, next as u8)
    {
        return Some(sure);
    }
    match bracket {
        b'{' if is_of_name(next) => {
            inside[word(inside)..].trim_start_matches([' ', '\t']).starts_with(':').then_some(false)
        }
        b'{' | b'[' if matches!(next, '\'' | '“' | '‘') => Some(true),
        b'{' | b'[' if next == '/' => inside[1..].starts_with(['/', '*']).then_some(false),
        _ => None,
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '-')
}

/// Makes the same decision for JSON without prose, from a bracket and the first byte after it that is not white space.
pub(crate) fn is_likely(bracket: u8, next: u8) -> Option<bool> {
    match (bracket, next) {
        (b'{', b'"' | b'}') | (b'[', b'{' | b'[' | b'"') => Some(true),
        (b'[', b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => Some(false),
        _ => None,
    }
}

/// Returns whether a value in prose is only numbers in brackets: `[1]`, `[2, 3]`, `[4-6]`.
pub(super) fn is_citation(text: &str) -> bool {
    text.len() <= MAX_CITATION
        && text.starts_with('[')
        && text.ends_with(']')
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text[1..text.len() - 1]
            .chars()
            .all(|character| character.is_ascii_digit() || matches!(character, ',' | ';' | ' ' | '-' | '–'))
}

/// The cause for which a value that is not valid JSON ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Its own bracket.
    Bracket,
    /// Lines of words, while the value was still open. `in_list` is `true` between the items of an array.
    Words { in_list: bool },
    /// The end of the text.
    Text,
}

/// Returns the end of the value that begins here, judging by its brackets, quotes and comments. The bracket of an
/// enclosing container also ends nested containers that lack their own.
pub(super) fn broken(output: &str, span: (usize, usize)) -> usize {
    reach(output, span, true).0
}

/// Returns the same end, and the cause. If `words` is set, lines of words may end the value.
pub(super) fn reach(output: &str, (start, end): (usize, usize), words: bool) -> (usize, Ending) {
    let mut lexer = Lexer::new(output, (start, end), true);
    let mut open = Open::default();
    let mut counts = [0_usize; 2];
    let count = |bracket: Bracket| usize::from(bracket == Bracket::Array);
    let mut last = start;
    loop {
        let lexeme = lexer.next_mark();
        let before = std::mem::replace(&mut last, lexeme.end);
        match lexeme.token {
            // Lines of words follow a text that was left open.
            Token::Word if words && is_prose(&output[before..lexeme.end], || lexer.peek().token) => {
                return (before, Ending::Words { in_list: counts == [0, 1] });
            }
            Token::End => return (end, Ending::Text),
            Token::Open(bracket) => {
                open.push(bracket == Bracket::Object);
                counts[count(bracket)] += 1;
            }
            // An unmatched bracket is skipped.
            Token::Close(bracket) if counts[count(bracket)] == 0 => {}
            Token::Close(bracket) => {
                loop {
                    let last = if open.is_object() { Bracket::Object } else { Bracket::Array };
                    open.pop();
                    counts[count(last)] -= 1;
                    if last == bracket {
                        break;
                    }
                }
                if open.is_empty() {
                    return (lexeme.end, Ending::Bracket);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether the first bracket in the rest of a text opens an item of the array at `start`. Most items are
/// objects.
pub(super) fn is_next_item(output: &str, start: usize, rest: usize) -> bool {
    let item = output.as_bytes()[start + 1..].trim_ascii_start().first();
    let near = &output.as_bytes()[rest..output.len().min(rest + MAX_NAME)];
    item == Some(&b'{') && memchr2(b'{', b'[', near).map(|at| near[at]) == Some(b'{')
}

/// Returns whether the text after the first bracket contains JSON. Ignores citations, and JSON in doubled braces.
pub(super) fn holds_json(text: &str) -> bool {
    let bytes = text.as_bytes();
    let doubled = bytes.iter().take_while(|byte| **byte == b'{').count();
    if doubled > 1 && looks_like_json(&text[doubled - 1..]).is_some() {
        return false;
    }
    let is_cited = |text: &str| memchr(b']', text.as_bytes()).is_some_and(|end| is_citation(&text[..=end]));
    let mut quote = None;
    let mut is_json = |at: usize| {
        looks_like_json(&text[at..]).is_some() && {
            // Text in brackets after the beginning of a string is not a citation.
            let quote = *quote.get_or_insert_with(|| memchr(b'"', bytes).unwrap_or(bytes.len()));
            quote < at || !is_cited(&text[at..])
        }
    };
    (1..bytes.len()).any(|at| matches!(bytes[at], b'{' | b'[') && is_json(at))
}

/// Returns whether prose begins with a word, judging by the white space before the word and the token after it. Prose
/// is not indented like members.
fn is_prose(word: &str, next: impl FnOnce() -> Token) -> bool {
    let name = word.trim_ascii_start();
    let white = &word[..word.len() - name.len()];
    if !white.ends_with('\n') || !name.starts_with(char::is_alphabetic) {
        return false;
    }
    let is_word = !matches!(name, "true" | "false" | "null" | "True" | "False" | "None");
    is_word
        && match next() {
            Token::Word => true,
            next => next != Token::Colon && white.bytes().filter(|byte| *byte == b'\n').count() > 1,
        }
}

/// Returns the end of a bracket that belongs to prose: `[[Notes]]`, `{mode: fast}`, `cfg["mode"]`, `- [ ]`. Such a
/// bracket closes on the same line. It is an index, an open task, or text without double quotes that no repair turns
/// into JSON. `is_json` says whether it is valid JSON. `budget` limits the cost of all brackets of an output. Once it
/// is used up, no bracket belongs to prose.
pub(super) fn aside(output: &str, start: usize, is_json: bool, budget: &mut usize) -> Option<usize> {
    let most = MAX_ASIDE.min(*budget);
    let bytes = &output.as_bytes()[start..output.len().min(start + most)];
    let mut depth = 0_usize;
    let mut read = 0_usize;
    let closes = bytes.iter().take_while(|byte| **byte != b'\n').position(|byte| {
        read += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    *budget = budget.saturating_sub(read);
    let length = 1 + closes?;
    let end = start + length;
    if is_index(output, (start, end)) || is_checkbox(output, (start, end)) {
        return Some(end);
    }
    if is_json || memchr(b'"', &bytes[..length]).is_some() {
        return None;
    }
    *budget = budget.saturating_sub(REPAIR_COST);
    repair_value(output, (start, end), true).is_none().then_some(end)
}

/// Returns whether brackets directly follow a name and contain one name or number: `opts['mode']`.
fn is_index(output: &str, (start, end): (usize, usize)) -> bool {
    let inside = output[start + 1..end - 1].trim_matches(['"', '\'']);
    output[start..].starts_with('[')
        && output[..start].ends_with(is_of_name)
        && !inside.is_empty()
        && inside.chars().all(|character| is_of_name(character) || character == '.')
}

/// Returns whether brackets mark an open task in a Markdown list: `- [ ] tests`.
fn is_checkbox(output: &str, (start, end): (usize, usize)) -> bool {
    &output[start..end] == "[ ]" && ["- ", "* ", "+ "].iter().any(|mark| output[..start].ends_with(mark))
}

/// Returns whether a JSON value is on separate lines, and is not an item or member of an enclosing value.
pub(super) fn is_apart(output: &str, start: usize, limit: usize) -> bool {
    let line = output[..start].trim_end_matches([' ', '\t', '\r']);
    if !(line.is_empty() || line.ends_with('\n')) {
        return false;
    }
    let Ok(end) = strict_end(output, (start, limit)) else {
        return false;
    };
    let rest = output[end..].trim_start_matches([' ', '\t', '\r']);
    (rest.is_empty() || rest.starts_with('\n')) && !rest.trim_ascii_start().starts_with([',', '}', ']'])
}

/// The text after a value, if it shows that the value is part of something larger.
pub(super) enum Beyond {
    /// Closing brackets, up to here.
    Brackets(usize),
    /// A member or an item of the enclosing container: its value begins here.
    Value(usize),
    /// Nothing: the value is complete.
    Nothing,
}

/// Classifies the text after a value that ends here. If `broken` is set, the value is not valid JSON and may end
/// elsewhere.
pub(super) fn beyond(bytes: &[u8], end: usize, broken: bool) -> Beyond {
    let skip = |at: usize, also: u8| {
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == also;
        at + bytes[at..].iter().take_while(blank).count()
    };
    let next = skip(end, b',');
    match bytes.get(next) {
        Some(b'}' | b']') => Beyond::Brackets(next + 1),
        Some(b'"') => {
            let name = &bytes[next + 1..bytes.len().min(next + 1 + MAX_NAME)];
            let colon = memchr(b'"', name).map(|quote| skip(next + quote + 2, b' '));
            match colon.filter(|colon| bytes.get(*colon) == Some(&b':')) {
                Some(colon) => Beyond::Value(skip(colon + 1, b' ')),
                None if broken => next_piece(bytes, end).map_or(Beyond::Nothing, Beyond::Value),
                None => Beyond::Nothing,
            }
        }
        Some(_) if broken => next_piece(bytes, end).map_or(Beyond::Nothing, Beyond::Value),
        _ => Beyond::Nothing,
    }
}

/// Returns the offset of the next bracket after an invalid value, unless words separate them. If only JSON punctuation
/// or the rest of a string precedes the bracket, it belongs to the same value.
fn next_piece(bytes: &[u8], end: usize) -> Option<usize> {
    let near = &bytes[end..bytes.len().min(end + MAX_NAME)];
    let bracket = memchr2(b'{', b'[', near)?;
    let between = &near[..bracket];
    // A blank line, a fence or a tag separates the text on either side.
    let is_apart = between.windows(2).any(|pair| pair == b"\n\n") || between.contains(&b'`') || between.contains(&b'<');
    let has_words = between.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
    let has_marks =
        between.iter().any(|byte| matches!(byte, b'"' | b'}' | b']')) || between.trim_ascii_end().ends_with(b",");
    ((!has_words && !is_apart) || has_marks).then_some(end + bracket)
}

/// Tracks the quotes and brackets of a text that is not valid JSON.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Brackets {
    /// The quote that ends the current string. `None` outside of strings.
    quote: Option<u8>,
    /// `true` after a backslash inside quotes.
    escaped: bool,
    /// `true` if a value or a name may begin here, so that a single quote is a quote.
    begins: bool,
    /// The number of open brackets.
    open: u32,
}

impl Brackets {
    /// Creates a tracker inside `open` open brackets, and inside a string if `quoted` is set.
    pub(crate) fn inside(open: u32, quoted: bool) -> Self {
        Brackets { quote: quoted.then_some(b'"'), escaped: false, begins: !quoted, open }
    }

    pub(crate) fn is_quoted(&self) -> bool {
        self.quote.is_some()
    }

    /// Skips bytes that are neither brackets nor marks.
    pub(crate) fn pass_over(&mut self, plain: &[u8]) {
        self.escaped &= plain.is_empty();
        self.begins &= plain.iter().all(u8::is_ascii_whitespace);
    }

    /// Skips a byte. Returns whether it closes the last bracket.
    pub(crate) fn pass(&mut self, byte: u8) -> bool {
        match (byte, self.quote) {
            _ if self.escaped => self.escaped = false,
            (b'\\', Some(_)) => self.escaped = true,
            (_, Some(quote)) => self.quote = self.quote.filter(|_| byte != quote),
            (b'"', None) => self.quote = Some(byte),
            (b'\'', None) if self.begins => self.quote = Some(byte),
            (b'{' | b'[', None) => self.open = self.open.saturating_add(1),
            (b'}' | b']', None) => {
                self.open = self.open.saturating_sub(1);
                return self.open == 0;
            }
            _ => {}
        }
        self.begins = matches!(byte, b'{' | b'[' | b',' | b':') || (self.begins && byte.is_ascii_whitespace());
        false
    }
}
