//! Computes the edits that turn an invalid text into JSON, if only its syntax is wrong.
//!
//! If more than one reading is plausible, no repair is made. Repairs invent no values, truncate text only where the
//! producer was cut off, and record every omission as an edit.
//! producer was cut off, and every omission is an edit.

pub(crate) mod comment;
mod markdown;
mod marks;
mod quotes;

use crate::{
    order::by_place,
    parse::{
        Edit, Span, is_plain_scalar,
        loose::{Bracket, Ends, Lexeme, Lexer, Quoted, Quotes, State, Token},
    },
    text::{ends_line, push_escape},
    types::ChangeKind,
};

pub(crate) use marks::marks;

/// The depth below which texts are not repaired. Documents of this depth are rejected anyway.
const MAX_DEPTH: usize = 128;

/// The maximum number of edits of a repaired text, because each edit is reported.
pub(crate) const MAX_REPAIRS: usize = 10_000;

/// The way a text to repair ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The output continues after the text, so the producer ended the text.
    Ended,
    /// Only white space follows up to the end of the output, so the last token is complete.
    AtEnd,
    /// The output ends here, so the last token may have been cut off.
    Open,
}

impl Tail {
    /// Returns how the piece of an output up to `end` ends.
    pub(crate) fn of(output: &str, end: usize) -> Self {
        match output.get(end..) {
            None | Some("") => Tail::Open,
            Some(rest) if rest.trim().is_empty() => Tail::AtEnd,
            Some(_) => Tail::Ended,
        }
    }
}

/// Returns the edits that turn a piece of the output into one JSON value. Removes text around it if necessary. `None`
/// if the syntax cannot be repaired with certainty. If `rows` is set, consecutive documents form one list. If `keeps`
/// is set, a string that was cut off is kept up to that point.
pub(crate) fn repair(output: &str, span: Span, rows: bool, keeps: bool) -> Option<Vec<Edit>> {
    let (start, end) = (span.start as usize, span.end as usize);
    let first = first_value(&output[start..end])? + start;
    let mut edits = Vec::new();
    if first > start {
        edits.push(Edit::new(ChangeKind::Around, (start, first), ""));
    }
    let mut repairer = Repairer::new(output, (first, end), keeps);
    let is_container = output[first..].starts_with(['{', '[']);
    let whole = repairer.value()?;
    let mut documents = vec![whole];
    while let Some(next) = repairer.another(is_container, rows)? {
        documents.push(next);
    }
    if let [(start, _), .., (_, end)] = documents[..] {
        repairer.edits.push(Edit::new(ChangeKind::Wrapped, (end, end), "]"));
        edits.push(Edit::new(ChangeKind::Wrapped, (start, start), "["));
    }
    edits.extend(repairer.done()?);
    Some(in_order(edits))
}

/// Returns the edits that turn a piece of the output, without anything around it, into one JSON value. `keeps` is as in
/// [`repair`].
pub(crate) fn repair_value(output: &str, (start, end): (usize, usize), keeps: bool) -> Option<Vec<Edit>> {
    let mut repairer = Repairer::new(output, (start, end), keeps);
    repairer.value()?;
    if repairer.next().token == Token::End { repairer.done().map(in_order) } else { None }
}

/// Returns the edits that turn a piece of the output into one member of an object, including its name. `None` if
/// nothing of it would be left. `keeps` is as in [`repair`].
pub(crate) fn repair_member(output: &str, (start, end): (usize, usize), keeps: bool) -> Option<Vec<Edit>> {
    let mut repairer = Repairer::new(output, (start, end), keeps);
    repairer.stack.push(Frame {
        bracket: Bracket::Object,
        state: State::First,
        whole: (start, 0),
        comma: None,
        name: (start, start),
    });
    repairer.run(1)?;
    let whole = repairer.edits.iter().all(|edit| edit.kind != ChangeKind::Dropped || edit.span.start as usize > start);
    if whole && repairer.next().token == Token::End { repairer.done().map(in_order) } else { None }
}

fn in_order(edits: Vec<Edit>) -> Vec<Edit> {
    by_place(edits, |edit| (edit.span.start, edit.span.end))
}

/// Returns the offset at which the JSON in a text begins.
pub(crate) fn first_value(text: &str) -> Option<usize> {
    let start = Lexer::new(text, (0, text.len()), true).start_past_blanks();
    let first = &text[start..];
    let word = first.split(|character: char| !character.is_alphanumeric() && !"+-.".contains(character)).next();
    let is_scalar = word.is_some_and(|word| scalar(word).is_some() && first[word.len()..].trim().is_empty());
    if is_scalar
        || first.starts_with(['{', '[', '"'])
        || first.starts_with(|character| Quotes::opened_by(character).is_some()) && !first.starts_with("``")
    {
        return Some(start);
    }
    let brackets = text.char_indices().filter(|(_, character)| matches!(character, '{' | '['));
    brackets.map(|(at, _)| at).find(|at| looks_like_json(&text[*at..]))
}

/// Returns whether an object or array begins here, judging by its bracket and the text after it.
fn looks_like_json(text: &str) -> bool {
    let inside = text[1..].trim_start();
    let Some(next) = inside.chars().next() else {
        return true;
    };
    let name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-');
    match text.as_bytes()[0] {
        b'{' if name(next) => inside.trim_start_matches(name).trim_start().starts_with(':'),
        _ if next == '/' => inside[1..].starts_with(['/', '*']),
        b'{' => matches!(next, '"' | '\'' | '}' | '“' | '‘'),
        _ if next.is_alphabetic() => {
            let word = inside.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
            scalar(word).is_some()
        }
        _ => matches!(next, '{' | '[' | ']' | '"' | '\'' | '-' | '0'..='9' | '“' | '‘'),
    }
}

/// Returns the JSON text for a word that is a number, or a literal of JSON or Python.
fn scalar(word: &str) -> Option<&str> {
    match word {
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        word => is_plain_scalar(word).then_some(word),
    }
}

/// Returns whether a word may be the beginning of a number or a literal.
fn may_begin_scalar(word: &str) -> bool {
    word.starts_with(|character: char| character == '-' || character.is_ascii_digit())
        || ["true", "false", "null", "True", "False", "None"].iter().any(|literal| literal.starts_with(word))
}

/// An open container.
struct Frame {
    bracket: Bracket,
    state: State,
    /// The end of the last complete item or member, or of the opening bracket, and the number of edits up to there.
    whole: (usize, usize),
    /// The comma after that.
    comma: Option<(usize, usize)>,
    /// The last name in an object.
    name: (usize, usize),
}

struct Repairer<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    end: usize,
    tail: Tail,
    /// `true` if a string that was cut off is kept up to that point.
    keeps: bool,
    edits: Vec<Edit>,
    stack: Vec<Frame>,
    /// The end of the last token.
    at: usize,
    /// `true` if an apparent comment may be data.
    in_doubt: bool,
}

impl<'t> Repairer<'t> {
    fn new(text: &'t str, (start, end): (usize, usize), keeps: bool) -> Self {
        let lexer = Lexer::new(text, (start, end), true);
        let tail = Tail::of(text, end);
        Repairer { text, lexer, end, tail, keeps, edits: Vec::new(), stack: Vec::new(), at: start, in_doubt: false }
    }

    fn edit(&mut self, kind: ChangeKind, place: (usize, usize), after: impl Into<String>) {
        self.edits.push(Edit::new(kind, place, after));
    }

    /// Returns the next JSON token, and removes anything before it.
    fn next(&mut self) -> Lexeme {
        loop {
            let lexeme = self.lexer.next();
            let (kind, after) = match lexeme.token {
                Token::Comment => {
                    let state = self.stack.last().map(|frame| (frame.bracket, frame.state));
                    self.in_doubt |= comment::may_be_data(self.text, (lexeme.start, lexeme.end), state)
                        || self.is_cut_comment(lexeme);
                    (ChangeKind::Comment, "")
                }
                Token::Space => (ChangeKind::Space, " "),
                _ => {
                    self.at = lexeme.end;
                    return lexeme;
                }
            };
            self.edit(kind, (lexeme.start, lexeme.end), after);
        }
    }

    /// Returns whether the piece ends inside a comment line. In the whole text, this may not be a comment.
    fn is_cut_comment(&self, lexeme: Lexeme) -> bool {
        let rest = self.text.get(lexeme.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
        lexeme.end == self.end && rest.starts_with([',', '}', ']']) && !self.text[lexeme.start..].starts_with("/*")
    }

    /// Returns the edits, or `None` if one of them may have removed data.
    fn done(self) -> Option<Vec<Edit>> {
        let is_bracket = |edit: &Edit| edit.kind == ChangeKind::Comment && edit.span.of(self.text).contains(['}', ']']);
        let is_missing =
            self.edits.iter().any(|edit| edit.kind == ChangeKind::Closed) && self.edits.iter().any(is_bracket);
        (!self.in_doubt && !is_missing).then_some(self.edits)
    }

    /// Parses one value and returns its position. `None` if it cannot be repaired.
    fn value(&mut self) -> Option<(usize, usize)> {
        let first = self.next();
        self.begin(first)?;
        self.run(0)?;
        Some((first.start, self.at))
    }

    /// Continues until the containers below a depth have ended, or until the container at that depth holds a value.
    fn run(&mut self, depth: usize) -> Option<()> {
        while let Some(frame) = self.stack.last() {
            let (bracket, state) = (frame.bracket, frame.state);
            if self.stack.len() == depth && state == State::After {
                break;
            }
            if self.in_doubt || self.edits.len() > MAX_REPAIRS {
                return None;
            }
            let lexeme = self.next();
            match (bracket, state) {
                _ if lexeme.token == Token::End => return self.cut_off(depth),
                (_, State::First | State::Next | State::After) if matches!(lexeme.token, Token::Close(_)) => {
                    self.close(lexeme);
                }
                (_, State::First | State::Next) if lexeme.token == Token::Comma => {
                    self.edit(ChangeKind::CommaRemoved, (lexeme.start, lexeme.end), "");
                }
                (Bracket::Object, State::First | State::Next) => self.name(lexeme)?,
                (Bracket::Object, State::Colon) => match lexeme.token {
                    Token::Colon => self.set(State::Value),
                    _ => {
                        self.edit(ChangeKind::ColonAdded, (lexeme.start, lexeme.start), ":");
                        self.begin(lexeme)?;
                    }
                },
                (_, State::Value) | (Bracket::Array, State::First | State::Next | State::Colon) => {
                    self.begin(lexeme)?;
                }
                (_, State::After) => self.after(lexeme)?,
            }
        }
        Some(())
    }

    fn set(&mut self, state: State) {
        if let Some(frame) = self.stack.last_mut() {
            frame.state = state;
        }
    }

    /// Records the end of a value.
    fn ended(&mut self, end: usize) {
        let edits = self.edits.len();
        if let Some(frame) = self.stack.last_mut() {
            frame.state = State::After;
            frame.whole = (end, edits);
            frame.comma = None;
        }
    }

    /// Begins a value with its first token, which is the whole value unless it is a container.
    fn begin(&mut self, lexeme: Lexeme) -> Option<()> {
        match lexeme.token {
            Token::Open(bracket) => {
                if self.stack.len() >= MAX_DEPTH {
                    return None;
                }
                let whole = (lexeme.end, self.edits.len());
                let name = (lexeme.end, lexeme.end);
                self.stack.push(Frame { bracket, state: State::First, whole, comma: None, name });
            }
            Token::String(quoted) => {
                self.string(lexeme, quoted)?;
                if quoted.ends == Ends::Quote || self.keeps {
                    self.ended(lexeme.end);
                } else {
                    self.unfinished()?;
                }
            }
            Token::Word => {
                let word = &self.text[lexeme.start..lexeme.end];
                let literal = word.starts_with(|character: char| character.is_ascii_alphabetic());
                match scalar(word) {
                    // A number at the end of the text may have been longer.
                    Some(json) if literal || lexeme.end < self.end || self.tail != Tail::Open => {
                        if json != word {
                            self.edit(ChangeKind::Literal, (lexeme.start, lexeme.end), json);
                        }
                        self.ended(lexeme.end);
                    }
                    _ if lexeme.end == self.end && self.tail == Tail::Open && may_begin_scalar(word) => {
                        self.unfinished()?;
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Handles a value that was cut off. The rest of it is unknown, so the enclosing container omits it like a member
    /// without a value.
    fn unfinished(&mut self) -> Option<()> {
        self.set(State::Value);
        (!self.stack.is_empty()).then_some(())
    }

    fn name(&mut self, lexeme: Lexeme) -> Option<()> {
        if let Some(frame) = self.stack.last_mut() {
            frame.name = (lexeme.start, lexeme.end);
        }
        match lexeme.token {
            Token::String(Quoted { ends: Ends::Text, .. }) if self.tail != Tail::Ended => {
                // If the name lost its quote, it includes much more than a name.
                let name = &self.text[lexeme.start..lexeme.end];
                if name.contains([',', ':', '{', '}', '[', ']', '\n']) || name.matches('"').count() > 1 {
                    return None;
                }
                self.set(State::Colon);
            }
            Token::String(quoted) => {
                // If one name lost its closing quote and the next lost its opening quote, the apparent name contains
                // the text between them.
                let name = &self.text[lexeme.start..lexeme.end];
                let inside = name.len().min(1)..name.len().saturating_sub(1);
                if quoted.quotes_inside
                    && name.get(inside).is_none_or(|inside| quotes::are_in_name(inside, quoted.quotes))
                {
                    return None;
                }
                if name.contains('\n') && name.contains([',', ':', '{', '}', '[', ']']) {
                    return None;
                }
                self.string(lexeme, quoted)?;
                self.set(State::Colon);
            }
            Token::Word => {
                let word = &self.text[lexeme.start..lexeme.end];
                let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-' | '.');
                if !word.chars().all(plain) {
                    return None;
                }
                match self.lexer.peek_past_blanks().token {
                    Token::Colon => self.edit(ChangeKind::Quoted, (lexeme.start, lexeme.end), format!("\"{word}\"")),
                    Token::End if self.tail != Tail::Ended => {}
                    _ => return None,
                }
                self.set(State::Colon);
            }
            // An object begins in place of a name, so the enclosing object lost its bracket.
            Token::Open(Bracket::Object) if self.stack.last().is_some_and(|frame| frame.state == State::Next) => {
                self.close_to(Bracket::Array)?;
                self.set(State::Next);
                self.begin(lexeme)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Handles the token after a value in a container.
    fn after(&mut self, lexeme: Lexeme) -> Option<()> {
        let frame = self.stack.last_mut()?;
        if lexeme.token == Token::Comma {
            frame.comma = Some((lexeme.start, lexeme.end));
            frame.state = State::Next;
            return Some(());
        }
        let (bracket, whole) = (frame.bracket, frame.whole.0);
        let between = &self.text[whole..lexeme.start];
        // A comma is missing, or is inside a comment. Consecutive numbers may be one text without quotes.
        let is_word = lexeme.token == Token::Word && self.text[..whole].ends_with(char::is_alphanumeric);
        if between.contains(',') || (bracket == Bracket::Array && is_word && !between.contains('\n')) {
            return None;
        }
        let is_name = || self.lexer.peek_past_blanks().token == Token::Colon;
        match (bracket, lexeme.token) {
            (Bracket::Object, Token::String(_) | Token::Word) if is_name() => {
                self.edit(ChangeKind::CommaAdded, (whole, whole), ",");
                self.set(State::Next);
                self.name(lexeme)
            }
            (Bracket::Array, Token::String(_) | Token::Word | Token::Open(_))
            | (Bracket::Object, Token::Open(Bracket::Object)) => {
                // An object cannot begin here, so the enclosing containers lost their brackets.
                if bracket == Bracket::Object {
                    self.close_to(Bracket::Array)?;
                }
                self.edit(ChangeKind::CommaAdded, (whole, whole), ",");
                self.set(State::Next);
                self.begin(lexeme)
            }
            _ => None,
        }
    }

    /// Closes containers that lost their brackets, up to the innermost container of a kind. The comma before the next
    /// token then belongs to that container.
    fn close_to(&mut self, bracket: Bracket) -> Option<()> {
        let index = self.stack.iter().rposition(|frame| frame.bracket == bracket)?;
        let (end, _) = self.stack.last()?.whole;
        let comma = self.stack.last()?.comma;
        let brackets = closing(&self.stack[index + 1..]);
        self.stack.truncate(index + 1);
        self.edit(ChangeKind::Closed, (end, end), brackets);
        self.ended(end);
        if let Some(frame) = self.stack.last_mut() {
            frame.comma = comma;
        }
        Some(())
    }

    /// Handles a closing bracket.
    fn close(&mut self, lexeme: Lexeme) {
        let Token::Close(bracket) = lexeme.token else {
            return;
        };
        let own = self.stack.last().map(|frame| (frame.bracket, frame.comma));
        if self.stack.iter().all(|frame| frame.bracket != bracket) {
            self.edit(ChangeKind::Stray, (lexeme.start, lexeme.end), "");
            return;
        }
        if let Some((_, Some(comma))) = own {
            self.edit(ChangeKind::CommaRemoved, comma, "");
        }
        if own.is_some_and(|(own, _)| own != bracket) {
            let _ = self.close_to(bracket);
        }
        self.stack.pop();
        self.ended(lexeme.end);
    }

    /// Handles the end of the text inside containers. The text includes only the containers above `depth`.
    fn cut_off(&mut self, depth: usize) -> Option<()> {
        let frame = self.stack.last()?;
        let (whole, edits) = frame.whole;
        match (frame.state, frame.comma) {
            (State::First | State::After, _) => {}
            (State::Next, Some(comma)) => self.edit(ChangeKind::CommaRemoved, comma, ""),
            (State::Next, None) => {}
            (State::Colon | State::Value, _) => {
                if self.tail == Tail::Ended {
                    return None;
                }
                self.edits.truncate(edits);
                self.edit(ChangeKind::Dropped, (whole, self.end), "");
            }
        }
        let brackets = closing(&self.stack[depth..]);
        self.stack.clear();
        if !brackets.is_empty() {
            self.edit(ChangeKind::Closed, (self.end, self.end), brackets);
        }
        Some(())
    }

    fn string(&mut self, lexeme: Lexeme, quoted: Quoted) -> Option<()> {
        let source = &self.text[lexeme.start..lexeme.end];
        let open = source.chars().next()?.len_utf8();
        let close = match quoted.ends {
            Ends::Quote => source.chars().next_back()?.len_utf8(),
            Ends::Text if self.tail != Tail::Ended && !quoted.quotes_inside => 0,
            Ends::Text | Ends::Lost => return None,
        };
        // Triple quotes as in Python.
        if source.starts_with("\"\"\"") || source.starts_with("'''") {
            return None;
        }
        let content = &source[open..source.len() - close];
        if quoted.quotes_inside && quotes::are_in_doubt(content, quoted.quotes, &source[open + content.len()..]) {
            return None;
        }
        if close == 0 && self.has_end(content) {
            return None;
        }
        let cut = if close == 0 { whole_escapes(content) } else { content.len() };
        let name = || {
            let object = self.stack.iter().rev().find(|frame| frame.bracket == Bracket::Object);
            object.map_or("", |frame| &self.text[frame.name.0..frame.name.1])
        };
        let after = rewritten(&content[..cut], quoted.quotes, name)?;
        let (start, stop) = (lexeme.start + open, lexeme.start + open + cut);
        if quoted.quotes != Quotes::Double {
            let quote = if close == 0 { "" } else { "\"" };
            let stop = if close == 0 { stop } else { lexeme.end };
            self.edit(ChangeKind::Quotes, (lexeme.start, stop), format!("\"{after}{quote}"));
        } else if after != content[..cut] {
            self.edit(ChangeKind::Escaped, (start, stop), after);
        }
        if cut < content.len() {
            self.edit(ChangeKind::Dropped, (stop, lexeme.end), "");
        }
        if close == 0 {
            self.edit(ChangeKind::ClosedString, (lexeme.end, lexeme.end), "\"");
        }
        Some(())
    }

    /// Returns whether a string without a closing quote more likely lost it than was cut off: one of its lines ends
    /// with a closing bracket of an enclosing container.
    fn has_end(&self, content: &str) -> bool {
        [Bracket::Object, Bracket::Array].into_iter().any(|bracket| {
            let is_around = self.stack.is_empty() || self.stack.iter().any(|frame| frame.bracket == bracket);
            is_around && content.match_indices(bracket.closing()).any(|(at, _)| ends_line(&content[at + 1..]))
        })
    }

    /// Parses another document after the previous ones, and adds a comma before it. Returns its position, `Some(None)`
    /// if nothing is left, or `None` if the rest is unclear.
    fn another(&mut self, is_container: bool, rows: bool) -> Option<Option<(usize, usize)>> {
        let from = self.lexer.peek().start;
        let mut ahead = self.lexer;
        let mut commas = None;
        let next = loop {
            let lexeme = ahead.next();
            match lexeme.token {
                Token::Comment | Token::Space => {}
                Token::Comma if commas.is_none() => commas = Some((lexeme.start, lexeme.end)),
                _ => break lexeme,
            }
        };
        match next.token {
            Token::End => {
                // Comments, and a trailing comma.
                while self.next().token == Token::Comma {}
                if let Some(comma) = commas {
                    self.edit(ChangeKind::CommaRemoved, comma, "");
                }
                Some(None)
            }
            _ if !is_container => None,
            // Another document cannot complete this one.
            Token::Open(_) if !rows && looks_like_json(&self.text[next.start..]) => None,
            Token::Open(_) if rows => {
                if commas.is_some() {
                    self.next();
                } else {
                    self.edit(ChangeKind::CommaAdded, (from, from), ",");
                }
                self.value().map(Some)
            }
            _ => {
                let rest = &self.text[from..self.end];
                if !is_around(rest) {
                    return None;
                }
                let mut brackets = rest.char_indices().filter(|(_, character)| matches!(character, '{' | '['));
                if brackets.any(|(at, _)| looks_like_json(&rest[at..])) {
                    return None;
                }
                self.edits.push(beyond(self.text, (from, self.end)));
                self.lexer = Lexer::new(self.text, (self.end, self.end), true);
                Some(None)
            }
        }
    }
}

/// Returns the brackets that close containers, innermost first.
fn closing(frames: &[Frame]) -> String {
    frames.iter().rev().map(|frame| frame.bracket.closing()).collect()
}

/// Returns the length of a truncated text without an incomplete escape at its end.
fn whole_escapes(content: &str) -> usize {
    let bytes = content.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let start = at + found;
        let unit = |at: usize| {
            let digits = bytes.get(at + 2..at + 6)?;
            u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        at = start + 2;
        if bytes.get(start + 1) == Some(&b'u') {
            at = start + 6;
            if unit(start).is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) {
                // Half of a surrogate pair, whose other half may be missing.
                let other = &bytes[at.min(bytes.len())..];
                let may_follow = b"\\u".starts_with(&other[..other.len().min(2)]);
                if may_follow && other.len() < 6 {
                    return start;
                }
            }
        }
        if at > bytes.len() {
            return start;
        }
    }
    content.len()
}

/// Rewrites the content of a string as JSON. `None` if the result is uncertain. `name` returns the name of the member
/// that contains the string.
fn rewritten<'t>(content: &str, quotes: Quotes, name: impl Fn() -> &'t str) -> Option<String> {
    let mut out = String::with_capacity(content.len());
    let mut escapes = None;
    let mut characters = content.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next()?.1 {
                '\'' => out.push('\''),
                'u' => {
                    let digits = content.get(at + 2..at + 6)?;
                    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                        return None;
                    }
                    out.push_str("\\u");
                }
                escaped @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => out.extend(['\\', escaped]),
                escaped => {
                    let escapes = escapes.get_or_insert_with(|| markdown::Escapes::of(content, name()));
                    if !escapes.has(at, escaped) {
                        return None;
                    }
                    out.push(escaped);
                }
            },
            '"' | '\0'..'\u{20}' => {
                if quotes.closed_by(character) && may_be_another(content, at) {
                    return None;
                }
                push_escape(&mut out, character as u8);
            }
            other => {
                if quotes.closed_by(other) && may_be_another(content, at) {
                    return None;
                }
                out.push(other);
            }
        }
    }
    Some(out)
}

/// Returns whether a quote inside a string may begin another string, or end this one.
fn may_be_another(content: &str, quote: usize) -> bool {
    let before = content[..quote].trim_end().chars().next_back();
    let after = content[quote..].chars().skip(1).find(|character| !character.is_whitespace());
    matches!(before, Some('{' | '[' | ',' | ':' | '+' | '/')) || after == Some('+')
}

/// Returns the edit that removes the text after a document.
pub(crate) fn beyond(output: &str, (start, end): (usize, usize)) -> Edit {
    Edit::new(if is_marks(&output[start..end]) { ChangeKind::Stray } else { ChangeKind::Around }, (start, end), "")
}

/// Returns whether a text contains only brackets, commas and white space.
fn is_marks(text: &str) -> bool {
    text.chars().all(|character| ",]} \t\r\n".contains(character))
}

/// Returns whether the text after a document is separate, because its quotes and brackets are paired. Otherwise, it may
/// be the rest of a string that only seemed to have ended.
pub(crate) fn is_around(text: &str) -> bool {
    is_marks(text) || (are_brackets_paired(text) && text.matches('"').count().is_multiple_of(2))
}

/// Returns whether every closing bracket in a text was opened there.
pub(crate) fn are_brackets_paired(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().all(|byte| match byte {
        b'{' | b'[' => {
            depth += 1;
            true
        }
        b'}' | b']' => {
            depth = depth.wrapping_sub(1);
            depth != usize::MAX
        }
        _ => true,
    })
}
