//! Tokens of a text that was meant to be JSON and is not.
//!
//! What strict JSON holds reads as it does there: a string ends with its first quote, which a comma, a colon, a closing
//! bracket or the end must follow. Where that is not so, a quote is taken for a part of the text, and the next one that
//! is followed by such a mark ends the string: so one quote too many or too few is soon in step again. Each byte is read
//! a bounded number of times.

use memchr::memchr;

use super::scan;

/// Which bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    Object,
    Array,
}

impl Bracket {
    /// The one that ends it.
    pub(crate) fn closing(self) -> char {
        match self {
            Bracket::Object => '}',
            Bracket::Array => ']',
        }
    }
}

/// How far a container has been read. An array knows no names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Right after the bracket.
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
    /// A run of other characters: a number, a literal, or what is neither.
    Word,
    Comment,
    /// White space that JSON does not know.
    Space,
    End,
}

/// A string, by its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted {
    pub(crate) quotes: Quotes,
    pub(crate) ends: Ends,
    /// It has quotes inside that are not escaped.
    pub(crate) quotes_inside: bool,
}

/// What a string begins with, and what may end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// As JSON has them.
    Double,
    Single,
    SmartDouble,
    /// Those that type like single ones: curly, and accents.
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

/// How a string ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Quote,
    /// With the text: it was cut off.
    Text,
    /// Its quote is missing: at the end of a line, or before a bracket that ends one item as another begins.
    Lost,
}

/// A token and where it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Reads tokens of a text from one offset to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    /// Comments, other quotes and other white space than JSON's are read as such.
    lenient: bool,
    /// Between these places, what looks like a comment is none: it would hold what stands at the second one.
    no_comment: (usize, usize),
    /// The comment that was found last: what stands before it is read up to it first.
    comment: (usize, usize),
    peeked: Option<Lexeme>,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, (start, end): (usize, usize), lenient: bool) -> Self {
        Lexer { text, at: start, end, lenient, no_comment: (0, 0), comment: (0, 0), peeked: None }
    }

    /// The same lexer at another place.
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

    /// Take the token that was peeked at.
    pub(crate) fn skip(&mut self) {
        self.peeked = None;
    }

    /// The next token that is neither a comment nor space.
    pub(crate) fn next_past_blanks(&mut self) -> Lexeme {
        loop {
            let lexeme = self.next();
            if !matches!(lexeme.token, Token::Comment | Token::Space) {
                return lexeme;
            }
        }
    }

    /// The same, without taking anything.
    pub(crate) fn peek_past_blanks(mut self) -> Lexeme {
        self.next_past_blanks()
    }

    /// Where the next token begins that is neither a comment nor space.
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

    /// [`next`](Lexer::next), for loops in which most tokens are marks: those are read in place.
    #[inline(always)]
    pub(crate) fn next_mark(&mut self) -> Lexeme {
        if self.peeked.is_none() { self.mark().unwrap_or_else(|| self.read()) } else { self.next() }
    }

    /// [`peek`](Lexer::peek), likewise.
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

    /// One of JSON's six marks, if it stands here.
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
            // Most other things are numbers, literals and names: neither a quote nor a comment begins so.
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
        // A row of backticks is a fence.
        match Quotes::opened_by(character) {
            Some(quotes) if !self.text[self.at..].starts_with("``") => self.string(quotes),
            _ => self.word(),
        }
    }

    /// Whether a comment begins here, by its mark.
    fn is_comment(&self, at: usize) -> bool {
        let bytes = self.bytes();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'/'), Some(b'*')) => true,
            // After a colon, more likely a URL that lost its quote.
            (Some(b'/'), Some(b'/')) => before != Some(&b':'),
            (Some(b'#'), _) => before.is_none_or(|byte| byte.is_ascii_whitespace() || b",[]{}".contains(byte)),
            _ => false,
        }
    }

    /// Where the comment ends that begins here. None where none does: one that has no end, or has, beside what stands on
    /// its line, brackets that end what stands outside of it.
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
        // Either is looked at once.
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

    /// A run of characters that are no marks.
    fn word(&mut self) -> Token {
        let bytes = self.bytes();
        let start = self.at;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' | b'{' | b'}' | b'[' | b']' => break,
                b'"' if self.at > start => {
                    // The quote of a string that has lost its first one.
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

    /// The character that begins here; none where this is the middle of one.
    fn character_around(&self, at: usize) -> char {
        if self.text.is_char_boundary(at) { self.character(at) } else { '\0' }
    }

    /// Whether what stands here can follow a string: a mark, the mark of a comment, the end, or another
    /// value after white space.
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
                    // Of blank lines, each would be followed by the same.
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

    /// Where the quote ends that stands here, if it may end a string of these quotes. `byte` is its first one.
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

    /// Whether the string that is being read has lost its quote on an earlier line than the text at `next`: that begins as
    /// a line of JSON does, and the next quote begins a string rather than ends one. `ahead` is where that quote was found
    /// for an earlier line, and whether it ends one.
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

    /// Whether a quote ends a string rather than begins one, by what stands on either side.
    fn ends_string(&self, quote: usize) -> bool {
        let bytes = self.bytes();
        let before = bytes[..quote].trim_ascii_end().last();
        let after = quote + self.character(quote).len_utf8();
        let white = scan::white_space(&bytes[after..]);
        matches!(bytes.get(after + white), None | Some(b',' | b'}' | b']'))
            && !matches!(before, Some(b'{' | b'[' | b',' | b':'))
    }
}

/// Whether nothing but white space stands before a place on its line.
pub(crate) fn begins_line(text: &str, at: usize) -> bool {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    matches!(text.as_bytes()[..at].iter().rev().find(|byte| !blank(byte)), None | Some(b'\n'))
}

/// Where a text's first line ends, or the first bracket in it that ends what was begun before.
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

/// White space in other scripts, and what has no width.
pub(crate) fn is_space(character: char) -> bool {
    (character.is_whitespace() && !matches!(character, ' ' | '\n' | '\r' | '\t'))
        || matches!(character, '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Where the text before a quote ends with one item's last bracket, a comma, and another's first bracket: the last one's
/// place.
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
            // A quote too few at the end, in the middle, and before another item.
            (r#"{"a":"foo,"b":"bar"}"#, &["{", "\"a\"", ":", "\"foo,\"b\"", ":", "\"bar\"", "}"][..]),
            (r#""foo},{"a":1}"#, &["\"foo", "}", ",", "{", "\"a\"", ":", "1", "}"]),
            (r#"{"a":foo","b":1}"#, &["{", "\"a\"", ":", "foo\"", ",", "\"b\"", ":", "1", "}"]),
            // One too many.
            (r#"{"a":"fo"o","b":1}"#, &["{", "\"a\"", ":", "\"fo\"o\"", ",", "\"b\"", ":", "1", "}"]),
            // The end of a line.
            ("\"foo,\n \"b\": 1", &["\"foo,", "\"b\"", ":", "1"]),
            ("\"foo\n}", &["\"foo", "}"]),
            // Lines that are text.
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
