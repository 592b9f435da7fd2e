//! Determines the extent of a unit by its brackets and quotes, and the end of an array.

use super::Recovery;
use crate::parse::loose::{Bracket, Ends, State, Token};

/// The open containers of a unit.
#[derive(Default)]
pub(super) struct Containers {
    stack: Vec<(Bracket, State)>,
    objects: usize,
    arrays: usize,
}

impl Containers {
    fn count(&mut self, bracket: Bracket) -> &mut usize {
        match bracket {
            Bracket::Object => &mut self.objects,
            Bracket::Array => &mut self.arrays,
        }
    }

    fn push(&mut self, bracket: Bracket) {
        self.stack.push((bracket, State::First));
        *self.count(bracket) += 1;
    }

    /// Returns the innermost container of a kind. The caller then removes the containers that were skipped, so that the
    /// total time is linear.
    fn innermost(&mut self, bracket: Bracket) -> Option<usize> {
        if *self.count(bracket) == 0 {
            return None;
        }
        self.stack.iter().rposition(|(own, _)| *own == bracket)
    }

    fn truncate(&mut self, length: usize) {
        while self.stack.len() > length
            && let Some((bracket, _)) = self.stack.pop()
        {
            *self.count(bracket) -= 1;
        }
    }
}

/// The extent of a unit, judging by its brackets and quotes.
pub(super) struct Extent {
    pub(super) end: usize,
    /// `true` if the unit is the rest of an object that lost its opening bracket.
    pub(super) fragment: bool,
    /// `true` if the unit's brackets or quotes do not match, so that it may end elsewhere.
    pub(super) suspect: bool,
}

impl Recovery<'_, '_> {
    /// Returns the extent of a unit that begins here.
    pub(super) fn extent(&mut self, in_array: bool) -> Extent {
        let mut open = std::mem::take(&mut self.open);
        open.truncate(0);
        let extent = self.extent_with(&mut open, in_array);
        self.open = open;
        extent
    }

    fn extent_with(&mut self, open: &mut Containers, in_array: bool) -> Extent {
        // The end of the last token, the end of the last token before a comma, and the last token outside brackets.
        let (mut end, mut before_comma, mut last) = (self.lexer.peek().start, 0, None);
        let (mut fragment, mut suspect) = (false, false);
        let mut previous = Token::Comma;
        loop {
            let lexeme = self.lexer.peek_mark();
            if matches!(lexeme.token, Token::Comment | Token::Space) {
                // Does not exclude text that may be part of the unit.
                let bracket = if in_array { Bracket::Array } else { Bracket::Object };
                if lexeme.token == Token::Comment && self.may_be_data(lexeme, bracket) {
                    end = lexeme.end;
                }
                self.lexer.skip();
                continue;
            }
            if open.stack.is_empty() {
                let goes_on = match (lexeme.token, last) {
                    (Token::End, _) => false,
                    (Token::Comma, _) => fragment && self.comma_of_member(),
                    (Token::Close(Bracket::Object), _) if fragment => {
                        self.lexer.skip();
                        return Extent { end: lexeme.end, fragment, suspect: true };
                    }
                    (Token::Close(_), _) => false,
                    (Token::Colon, _) => {
                        fragment |= in_array;
                        true
                    }
                    (_, None | Some(Token::Colon | Token::Comma)) => true,
                    (Token::Word, Some(Token::Word | Token::String(_))) | (Token::String(_), Some(Token::Word)) => true,
                    _ => false,
                };
                if !goes_on {
                    return Extent { end, fragment, suspect: suspect || fragment };
                }
            }
            suspect |= is_out_of_step(previous, lexeme.token);
            if let Token::String(quoted) = lexeme.token {
                suspect |= quoted.quotes_inside || quoted.ends == Ends::Lost;
            }
            match (lexeme.token, open.stack.last_mut()) {
                (Token::End, _) => return Extent { end, fragment, suspect },
                (Token::Open(bracket), Some((Bracket::Object, state @ (State::Next | State::After))))
                    if bracket == Bracket::Object =>
                {
                    // An object is not allowed here, so brackets are missing before it.
                    suspect = true;
                    let before = if *state == State::Next { before_comma } else { end };
                    match open.innermost(Bracket::Array) {
                        Some(array) => open.truncate(array + 1),
                        None if in_array => return Extent { end: before, fragment, suspect },
                        None => {}
                    }
                    open.push(bracket);
                }
                (Token::Open(bracket), top) => {
                    if let Some((_, state)) = top {
                        *state = State::After;
                    }
                    open.push(bracket);
                }
                (Token::Close(bracket), Some(_)) => match open.innermost(bracket) {
                    Some(own) => {
                        suspect |= own + 1 < open.stack.len();
                        open.truncate(own);
                    }
                    // The bracket closes an enclosing container, or is extra.
                    None if in_array && self.is_end_of_items(bracket, lexeme.start) => {
                        return Extent { end, fragment, suspect };
                    }
                    None => suspect = true,
                },
                (Token::Comma, Some((_, state))) => {
                    before_comma = end;
                    *state = State::Next;
                }
                (Token::Colon, Some((_, state))) => *state = State::Value,
                (_, Some((_, state))) => {
                    *state = if matches!(state, State::Next | State::First) { State::Colon } else { State::After };
                }
                _ => {}
            }
            if open.stack.is_empty() {
                last = Some(lexeme.token);
            }
            previous = lexeme.token;
            end = lexeme.end;
            self.lexer.skip();
        }
    }

    /// Returns whether a member follows the comma at this position.
    fn comma_of_member(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        matches!(ahead.next_past_blanks().token, Token::String(_) | Token::Word)
            && ahead.next_past_blanks().token == Token::Colon
    }

    /// Returns whether the bracket before this position can end the array, judging by the text after it.
    pub(super) fn may_end_here(&mut self, bracket: usize) -> bool {
        let mut ahead = self.lexer;
        match ahead.next_past_blanks().token {
            Token::Comma => {}
            Token::End | Token::Close(_) => return true,
            // A comma or another token is missing here.
            _ => return self.next_item(bracket, bracket).is_none(),
        }
        match (ahead.next_past_blanks().token, self.parents.last()) {
            (Token::Open(_), Some(Bracket::Object) | None) => false,
            (Token::String(_) | Token::Word, Some(Bracket::Object)) => {
                // A comment may contain the text after the name.
                matches!(ahead.next_past_blanks().token, Token::Colon | Token::End | Token::Close(Bracket::Object))
            }
            (Token::String(_) | Token::Word, None) => false,
            _ => true,
        }
    }

    /// Returns whether a bracket ends the array or the container around it. The bracket is inside an item that lost
    /// some brackets.
    fn is_end_of_items(&mut self, bracket: Bracket, at: usize) -> bool {
        match bracket {
            Bracket::Array => self.is_tail(at + 1),
            Bracket::Object => self.parents.contains(&Bracket::Object) && self.is_tail(at),
        }
    }

    /// Returns whether the rest of the text closes the enclosing containers, with well-formed members or items before
    /// each end.
    pub(super) fn is_tail(&mut self, at: usize) -> bool {
        self.tail(at).is_ok_and(|end| end >= self.end)
    }

    /// Returns the end of the enclosing containers. If they do not end, returns the position up to which they are
    /// well-formed.
    pub(super) fn tail(&mut self, mut at: usize) -> Result<usize, usize> {
        let bytes = &self.output.as_bytes()[..self.end];
        for index in (0..self.parents.len()).rev() {
            let parent = self.parents[index];
            let closing = parent.closing() as u8;
            loop {
                at = self.skip_white(at);
                match bytes.get(at) {
                    Some(byte) if *byte == closing => break,
                    Some(b',') => {
                        at = self.skip_white(at + 1);
                        if parent == Bracket::Object {
                            let colon = self.value(at).map(|end| self.skip_white(end));
                            match colon {
                                Some(colon) if bytes.get(colon) == Some(&b':') => at = self.skip_white(colon + 1),
                                _ => return Err(at),
                            }
                        }
                        at = self.value(at).ok_or(at)?;
                    }
                    _ => return Err(at),
                }
            }
            at += 1;
        }
        Ok(self.skip_white(at))
    }
}

/// Returns whether brackets, or the text between them, are missing between two tokens.
fn is_out_of_step(previous: Token, next: Token) -> bool {
    matches!(
        (previous, next),
        (Token::String(_) | Token::Word, Token::Open(_))
            | (Token::Close(_), Token::Open(Bracket::Array))
            | (Token::Open(_), Token::Comma | Token::Colon)
            | (Token::Comma, Token::Comma)
    )
}
