//! Tokenizes an invalid text that was meant to be JSON.
//!
//! A text without errors has the same tokens as in a strict lexer. A string ends at its first quote if a comma, a
//! colon, a closing bracket or the end follows. Otherwise, the quote is part of the string, and the next quote with
//! such a follower ends it. After an extra or missing quote, the lexer is therefore soon in step again. Each byte is
//! read a bounded number of times.

use memchr::memchr;

use super::scan;

/// The kind of a bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    Object,
    Array,
}

impl Bracket {
    /// Returns the closing bracket.
    pub(crate) fn closing(self) -> char {
        match self {
            Bracket::Object => '}',
            Bracket::Array => ']',
        }
    }
}

/// The position within a container. An array has no names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Directly after the bracket.
    First,
    /// After a comma: a name, or an item.
    Next,
    /// After a name.
    Colon,
    /// After the colon.
    Value,
    /// After a value.
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Open(Bracket),
    Close(Bracket),
    Comma,
    Colon,
    String(Quoted),
    /// A run of other characters: a number, a literal, or anything else.
    Word,
    Comment,
    /// White space that JSON does not allow.
    Space,
    End,
}

/// A string, described by its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted {
    pub(crate) quotes: Quotes,
    pub(crate) ends: Ends,
    /// `true` if there are unescaped quotes inside.
    pub(crate) quotes_inside: bool,
}

/// The quotes that begin a string, and those that may end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// The quotes of JSON.
    Double,
    Single,
    SmartDouble,
    /// Characters typed instead of single quotes: curly quotes and accents.
    SmartSingle,
}

impl Quotes {
    pub(crate) fn opened_by(character: char) -> Option<Self> {
        match character {
            '"' => Some(Quotes::Double),
            '\'' => Some(Quotes::Single),
            '“' | '”' | '„' | '‟' => Some(Quotes::SmartDouble),
            '‘' | '’' | '‚' | '‛' | '`' | '´' => Some(Quotes::SmartSingle),
            _ => None,
        }
    }

    pub(crate) fn closed_by(self, character: char) -> bool {
        match (self, Quotes::opened_by(character)) {
            (Quotes::SmartDouble, Some(Quotes::Double)) | (Quotes::SmartSingle, Some(Quotes::Single)) => true,
            (quotes, other) => other == Some(quotes),
        }
    }
}

/// The way a string ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Quote,
    /// At the end of the text: it was cut off.
    Text,
    /// Without a quote: at the end of a line, or before a bracket between two items.
    Lost,
}

/// A token and its position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Tokenizes a text from one offset to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    /// `true` if the lexer recognizes comments, and quotes and white space that JSON does not allow.
    lenient: bool,
    /// A range in which apparent comments are not comments, because they would include the text at the end of the
    /// range.
    no_comment: (usize, usize),
    /// The last comment found. The text before it is read first.
    comment: (usize, usize),
    peeked: Option<Lexeme>,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, (start, end): (usize, usize), lenient: bool) -> Self {
        Lexer { text, at: start, end, lenient, no_comment: (0, 0), comment: (0, 0), peeked: None }
    }

    /// Returns the same lexer at another position.
    pub(crate) fn moved_to(self, at: usize) -> Self {
        Lexer { at, peeked: None, ..self }
    }

    #[inline]
    pub(crate) fn peek(&mut self) -> Lexeme {
        match self.peeked {
            Some(lexeme) => lexeme,
            None => {
                let lexeme = self.read();
                *self.peeked.insert(lexeme)
            }
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Lexeme {
        match self.peeked.take() {
            Some(lexeme) => lexeme,
            None => self.read(),
        }
    }

    /// Consumes the peeked token.
    pub(crate) fn skip(&mut self) {
        self.peeked = None;
    }

    /// Returns the next token that is neither a comment nor space.
    pub(crate) fn next_past_blanks(&mut self) -> Lexeme {
        loop {
            let lexeme = self.next();
            if !matches!(lexeme.token, Token::Comment | Token::Space) {
                return lexeme;
            }
        }
    }

    /// Returns the same without consuming anything.
    pub(crate) fn peek_past_blanks(mut self) -> Lexeme {
        self.next_past_blanks()
    }

    /// Returns the start of the next token that is neither a comment nor space.
    pub(crate) fn start_past_blanks(mut self) -> usize {
        loop {
            self.at += scan::white_space(&self.bytes()[self.at..]);
            if !self.bytes().get(self.at).is_some_and(|byte| matches!(byte, b'/' | b'#' | 0x0b | 0x0c | 0x80..)) {
                return self.at;
            }
            let character = self.character(self.at);
            if let Some(end) = self.end_of_comment(self.at) {
                self.at = end;
            } else if is_space(character) {
                self.at += character.len_utf8();
            } else {
                return self.at;
            }
        }
    }

    fn bytes(&self) -> &'t [u8] {
        &self.text.as_bytes()[..self.end]
    }

    /// Like [`next`](Lexer::next), for loops in which most tokens are marks. Marks are read inline.
    #[inline(always)]
    pub(crate) fn next_mark(&mut self) -> Lexeme {
        if self.peeked.is_none() { self.mark().unwrap_or_else(|| self.read()) } else { self.next() }
    }

    /// Like [`peek`](Lexer::peek), for the same loops.
    #[inline(always)]
    pub(crate) fn peek_mark(&mut self) -> Lexeme {
        if self.peeked.is_none()
            && let Some(mark) = self.mark()
        {
            self.peeked = Some(mark);
            return mark;
        }
        self.peek()
    }

    /// Consumes one of JSON's six marks, if it comes next.
    #[inline(always)]
    fn mark(&mut self) -> Option<Lexeme> {
        let start = self.at;
        let token = match self.bytes().get(start)? {
            b'{' => Token::Open(Bracket::Object),
            b'[' => Token::Open(Bracket::Array),
            b'}' => Token::Close(Bracket::Object),
            b']' => Token::Close(Bracket::Array),
            b',' => Token::Comma,
            b':' => Token::Colon,
            _ => return None,
        };
        self.at += 1;
        Some(Lexeme { token, start, end: self.at })
    }

    fn read(&mut self) -> Lexeme {
        let bytes = self.bytes();
        self.at += scan::white_space(&bytes[self.at..]);
        if let Some(mark) = self.mark() {
            return mark;
        }
        let start = self.at;
        let token = match bytes.get(start) {
            None => Token::End,
            Some(b'"') => self.string(Quotes::Double),
            // Most other tokens are numbers, literals and names. No quote or comment begins with these characters.
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_') => self.word(),
            Some(_) if self.lenient => self.read_lenient(),
            Some(_) => self.word(),
        };
        Lexeme { token, start, end: self.at }
    }

    #[inline]
    fn character(&self, at: usize) -> char {
        match self.bytes().get(at) {
            Some(byte) if byte.is_ascii() => char::from(*byte),
            None => '\0',
            Some(_) => self.text[at..self.end].chars().next().unwrap_or('\0'),
        }
    }

    fn read_lenient(&mut self) -> Token {
        if let Some(end) = self.end_of_comment(self.at) {
            self.at = end;
            return Token::Comment;
        }
        let character = self.character(self.at);
        if is_space(character) {
            while is_space(self.character(self.at)) {
                self.at += self.character(self.at).len_utf8();
            }
            return Token::Space;
        }
        // Several backticks are a fence.
        match Quotes::opened_by(character) {
            Some(quotes) if !self.text[self.at..].starts_with("``") => self.string(quotes),
            _ => self.word(),
        }
    }

    /// Returns whether a comment begins here, judging by its first characters.
    fn is_comment(&self, at: usize) -> bool {
        let bytes = self.bytes();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'/'), Some(b'*')) => true,
            // After a colon, this is more likely a URL that lost its quote.
            (Some(b'/'), Some(b'/')) => before != Some(&b':'),
            (Some(b'#'), _) => before.is_none_or(|byte| byte.is_ascii_whitespace() || b",[]{}".contains(byte)),
            _ => false,
        }
    }

    /// Returns the end of the comment that begins here. `None` if it is not a comment: it has no end, or the rest of
    /// its line contains brackets that close containers outside of it.
    #[inline]
    fn end_of_comment(&mut self, at: usize) -> Option<usize> {
        if matches!(self.bytes().get(at), Some(b'/' | b'#')) { self.end_behind_mark(at) } else { None }
    }

    fn end_behind_mark(&mut self, at: usize) -> Option<usize> {
        let (from, to) = self.no_comment;
        if (from..to).contains(&at) || !self.is_comment(at) {
            return None;
        }
        if self.comment.0 == at && self.comment.1 > at {
            return Some(self.comment.1);
        }
        let rest = &self.bytes()[at..];
        let end = if let Some(inside) = rest.strip_prefix(b"/*") {
            inside.windows(2).position(|pair| pair == b"*/").map(|found| found + 4).ok_or(rest.len())
        } else if begins_line(self.text, at) {
            Ok(memchr(b'\n', rest).unwrap_or(rest.len()))
        } else {
            line_in_step(rest)
        };
        // Caches the result, so that each range is examined once.
        match end {
            Ok(end) => {
                self.comment = (at, at + end);
                Some(at + end)
            }
            Err(none) => {
                self.no_comment = (at, at + none);
                None
            }
        }
    }

    /// Reads a run of characters that are not marks.
    fn word(&mut self) -> Token {
        let bytes = self.bytes();
        let start = self.at;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' | b'{' | b'}' | b'[' | b']' => break,
                b'"' if self.at > start => {
                    // The quote may belong to a string that lost its opening quote.
                    if self.is_end(self.at + 1) {
                        self.at += 1;
                    }
                    break;
                }
                b'/' if self.lenient && self.at > start && self.end_of_comment(self.at).is_some() => break,
                0x80.. if self.lenient && is_space(self.character_around(self.at)) => break,
                _ => self.at += 1,
            }
        }
        Token::Word
    }

    /// Returns the character that begins here, or NUL inside a character.
    fn character_around(&self, at: usize) -> char {
        if self.text.is_char_boundary(at) { self.character(at) } else { '\0' }
    }

    /// Returns whether a string can end here: a mark, a comment, the end, or another value after white space follows.
    fn is_end(&self, at: usize) -> bool {
        let bytes = self.bytes();
        if let Some(b'"' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9') = bytes.get(at) {
            return false;
        }
        let white = scan::white_space(&bytes[at..]);
        match bytes.get(at + white) {
            None | Some(b',' | b':' | b'}' | b']') => true,
            Some(b'"' | b'{' | b'[') => white > 0,
            Some(b'/' | b'#') if self.lenient => self.is_comment(at + white),
            Some(_) if self.lenient && white > 0 => Quotes::opened_by(self.character_around(at + white)).is_some(),
            Some(_) => false,
        }
    }

    fn string(&mut self, quotes: Quotes) -> Token {
        let bytes = self.bytes();
        let content = self.at + self.character(self.at).len_utf8();
        self.at = content;
        let mut quotes_inside = false;
        let mut ahead = None;
        let ends = loop {
            if quotes == Quotes::Double {
                self.at += scan::plain(&bytes[self.at..]);
            }
            let Some(&byte) = bytes.get(self.at) else {
                break Ends::Text;
            };
            match byte {
                b'\\' => self.at = (self.at + 2).min(self.end),
                b'\n' => {
                    let next = self.at + scan::white_space(&bytes[self.at..]);
                    if self.is_lost_before(next, quotes, &mut ahead) {
                        break Ends::Lost;
                    }
                    // The same text follows after the blank lines.
                    self.at = next;
                }
                b'"' | b'\'' | b'`' | 0x80.. => {
                    let Some(after) = self.past_quote(quotes, byte) else {
                        self.at += 1;
                        continue;
                    };
                    if self.is_end(after) {
                        self.at = after;
                        break Ends::Quote;
                    }
                    if let Some(bracket) = between_items(&bytes[content..self.at]) {
                        self.at = content + bracket;
                        break Ends::Lost;
                    }
                    quotes_inside = true;
                    self.at = after;
                }
                _ => self.at += 1,
            }
        };
        Token::String(Quoted { quotes, ends, quotes_inside })
    }

    /// Returns the end of the quote at this position, if it may end a string with these quotes. `byte` is its first
    /// byte.
    #[inline]
    fn past_quote(&self, quotes: Quotes, byte: u8) -> Option<usize> {
        if byte.is_ascii() {
            return quotes.closed_by(byte.into()).then_some(self.at + 1);
        }
        if quotes == Quotes::Double || !self.text.is_char_boundary(self.at) {
            return None;
        }
        let character = self.character(self.at);
        quotes.closed_by(character).then_some(self.at + character.len_utf8())
    }

    /// Returns whether the current string lost its closing quote on a line before `next`. The text at `next` must begin
    /// like a line of JSON, and the next quote must begin a string rather than end one. `ahead` caches the position of
    /// that quote, and whether it ends a string.
    fn is_lost_before(&self, next: usize, quotes: Quotes, ahead: &mut Option<(usize, bool)>) -> bool {
        let begins = match self.bytes().get(next) {
            None => false,
            Some(b'}' | b']') => true,
            Some(_) => self.text.is_char_boundary(next) && quotes.closed_by(self.character(next)),
        };
        if !begins {
            return false;
        }
        match *ahead {
            Some((quote, ends)) if quote >= next => !ends,
            _ => {
                let found = self.text[next..self.end].find(|character| quotes.closed_by(character));
                let quote = found.map_or(self.end, |found| next + found);
                let ends = quote < self.end && self.ends_string(quote);
                *ahead = Some((quote, ends));
                !ends
            }
        }
    }

    /// Returns whether a quote ends a string rather than begins one, judging by its surroundings.
    fn ends_string(&self, quote: usize) -> bool {
        let bytes = self.bytes();
        let before = bytes[..quote].trim_ascii_end().last();
        let after = quote + self.character(quote).len_utf8();
        let white = scan::white_space(&bytes[after..]);
        matches!(bytes.get(after + white), None | Some(b',' | b'}' | b']'))
            && !matches!(before, Some(b'{' | b'[' | b',' | b':'))
    }
}

/// Returns whether only white space precedes a position on its line.
pub(crate) fn begins_line(text: &str, at: usize) -> bool {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    matches!(text.as_bytes()[..at].iter().rev().find(|byte| !blank(byte)), None | Some(b'\n'))
}

/// Returns the end of the first line, or the first bracket in it that closes a container opened before.
fn line_in_step(text: &[u8]) -> Result<usize, usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' => return Ok(at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).ok_or(at)?,
            _ => {}
        }
    }
    Ok(text.len())
}

/// Returns whether a character is zero-width, or white space that JSON does not allow.
pub(crate) fn is_space(character: char) -> bool {
    (character.is_whitespace() && !matches!(character, ' ' | '\n' | '\r' | '\t'))
        || matches!(character, '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns the position of an item's closing bracket, if the text before a quote ends with that bracket, a comma, and
/// the opening bracket of another item.
fn between_items(text: &[u8]) -> Option<usize> {
    if !matches!(text.last(), Some(b'{' | b'[' | b' ' | b'\n' | b'\r' | b'\t')) {
        return None;
    }
    let text = text.trim_ascii_end();
    let text = text.strip_suffix(b"{").or_else(|| text.strip_suffix(b"["))?.trim_ascii_end();
    let text = text.strip_suffix(b",")?.trim_ascii_end();
    matches!(text.last(), Some(b'}' | b']')).then(|| text.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str, lenient: bool) -> Vec<&str> {
        let mut lexer = Lexer::new(text, (0, text.len()), lenient);
        std::iter::from_fn(|| {
            let lexeme = lexer.next();
            (lexeme.token != Token::End).then(|| &text[lexeme.start..lexeme.end])
        })
        .collect()
    }

    #[test]
    fn strict_json_reads_as_json() {
        assert_eq!(
            tokens(r#"{"a\"b": [1.5e3, true,"x"]}"#, false),
            ["{", r#""a\"b""#, ":", "[", "1.5e3", ",", "true", ",", "\"x\"", "]", "}"]
        );
    }

    #[test]
    fn strings_are_soon_in_step_again() {
        for (text, expected) in [
            // A quote is missing: at the end, in the middle, and before another item.
            (r#"{"a":"foo,"b":"bar"}"#, &["{", "\"a\"", ":", "\"foo,\"b\"", ":", "\"bar\"", "}"][..]),
            (r#""foo},{"a":1}"#, &["\"foo", "}", ",", "{", "\"a\"", ":", "1", "}"]),
            (r#"{"a":foo","b":1}"#, &["{", "\"a\"", ":", "foo\"", ",", "\"b\"", ":", "1", "}"]),
            // An extra quote.
            (r#"{"a":"fo"o","b":1}"#, &["{", "\"a\"", ":", "\"fo\"o\"", ",", "\"b\"", ":", "1", "}"]),
            // The end of a line.
            ("\"foo,\n \"b\": 1", &["\"foo,", "\"b\"", ":", "1"]),
            ("\"foo\n}", &["\"foo", "}"]),
            // Text that spans lines.
            ("\"foo\nbar\"", &["\"foo\nbar\""]),
            ("\"f() {\n}\n\", 1", &["\"f() {\n}\n\"", ",", "1"]),
            ("\"a\"\n\"b\"", &["\"a\"", "\"b\""]),
            ("\"cut", &["\"cut"]),
            ("\"cut\\", &["\"cut\\"]),
        ] {
            assert_eq!(tokens(text, false), expected, "{text}");
        }
    }

    #[test]
    fn other_quotes_comments_and_spaces_are_read_where_that_is_asked() {
        for (text, expected) in [
            ("{'a': 'it's'}", &["{", "'a'", ":", "'it's'", "}"][..]),
            ("{“a”: ‘b’}", &["{", "“a”", ":", "‘b’", "}"]),
            ("[1, // one\n 2 /* two */, # three\n]", &["[", "1", ",", "// one", "2", "/* two */", ",", "# three", "]"]),
            ("\u{a0}1\u{a0}", &["\u{a0}", "1", "\u{a0}"]),
            ("{\"url\":https://x.org/#a}", &["{", "\"url\"", ":", "https", ":", "//x.org/#a", "}"]),
            ("```", &["```"]),
        ] {
            assert_eq!(tokens(text, true), expected, "{text}");
        }
    }
}
