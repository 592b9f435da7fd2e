//! Finds the end of a broken unit. Its tokens are parsed by the JSON grammar. Where a token violates the grammar, an
//! extra or missing bracket is assumed. The text after the unit decides between the resulting readings.

use super::{
    Recovery,
    resync::{Follows, Outlook},
};
use crate::{
    order::sort_by_key,
    parse::loose::{Bracket, Ends, Lexeme, Lexer, Quoted, State, Token},
};

/// The maximum number of faults that are assumed in a unit.
const MAX_FAULTS: usize = 3;

/// The maximum number of readings that are followed at a time. Keeps those that got furthest.
const MAX_READINGS: usize = 4;

/// The text to read.
#[derive(Clone, Copy)]
struct Text<'t> {
    text: &'t str,
    end: usize,
    lenient: bool,
}

impl<'t> Text<'t> {
    fn lexer(self, at: usize) -> Lexer<'t> {
        Lexer::new(self.text, (at, self.end), self.lenient)
    }

    /// Returns the other possible end of a doubtful string.
    fn other_end(self, lexeme: Lexeme, quoted: Quoted, fault: Fault) -> Option<usize> {
        if !is_doubtful(quoted) {
            return None;
        }
        let source = &self.text[lexeme.start..lexeme.end];
        let open = source.chars().next()?.len_utf8();
        let mut escaped = false;
        let quote = source[open..].char_indices().find(|(_, character)| {
            let ends = !escaped && quoted.quotes.closed_by(*character);
            escaped = !escaped && *character == '\\';
            ends
        });
        let (content, after) = match quote {
            Some((at, character)) => (&source[..open + at], open + at + character.len_utf8()),
            None => (source, source.len()),
        };
        let end = match fault {
            Fault::EndsAtQuote => after,
            _ => content.trim_end_matches(['{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\n']).len(),
        };
        (end > 0 && end < source.len()).then_some(lexeme.start + end)
    }
}

/// Returns whether a string may end elsewhere, judging by its quotes.
fn is_doubtful(quoted: Quoted) -> bool {
    quoted.quotes_inside || quoted.ends == Ends::Lost
}

/// The minimum cost of a step of a reading, and the cost of each byte or bracket that the step examines. A token costs
/// more than a byte of JSON.
const STEP: usize = 64;
const PER_THING: usize = 2;

/// The minimum cost of a token, because a single-byte token takes as much work as a longer one.
const PER_TOKEN: usize = 8;

/// One way to read a unit, up to a position.
#[derive(Clone)]
struct Reading<'t> {
    text: Text<'t>,
    lexer: Lexer<'t>,
    stack: Vec<(Bracket, State)>,
    previous: Token,
    /// The end of the last token, and the end of the last token before a comma.
    end: usize,
    before_comma: usize,
}

/// The reason why a reading stopped.
enum Stop {
    /// The unit ends here.
    Unit(usize),
    /// The text ends first.
    Text,
    /// This token is not allowed here.
    Fault(Lexeme),
}

/// A possible fault at a token that is not allowed.
#[derive(Clone, Copy)]
enum Fault {
    /// A fault that does not concern brackets.
    Other,
    /// The token is an extra bracket.
    TooMany,
    /// The closing bracket of the innermost container is missing, or its opening bracket is extra.
    NotEnded,
    /// The opening bracket of a container is missing.
    NotBegun(Bracket),
    /// The token is a string that ends at its first quote.
    EndsAtQuote,
    /// The token is a string that lost its quote before the marks that precede the next string.
    EndsBeforeMarks,
}

const FAULTS: [Fault; 7] = [
    Fault::Other,
    Fault::TooMany,
    Fault::NotEnded,
    Fault::NotBegun(Bracket::Object),
    Fault::NotBegun(Bracket::Array),
    Fault::EndsAtQuote,
    Fault::EndsBeforeMarks,
];

impl<'t> Reading<'t> {
    fn new(text: Text<'t>, start: usize, fragment: bool) -> Self {
        let stack = if fragment { vec![(Bracket::Object, State::First)] } else { Vec::new() };
        Reading { text, lexer: text.lexer(start), stack, previous: Token::Comma, end: start, before_comma: start }
    }

    /// Continues as far as the grammar and the budget allow. Deducts the cost from the budget.
    fn run(&mut self, budget: &mut usize) -> Stop {
        loop {
            let before = self.end;
            let lexeme = self.lexer.peek();
            match lexeme.token {
                Token::Comment | Token::Space => {
                    self.lexer.skip();
                    continue;
                }
                Token::End => return Stop::Text,
                _ if *budget == 0 => return Stop::Text,
                Token::String(quoted) if is_doubtful(quoted) => return Stop::Fault(lexeme),
                _ => {}
            }
            let Some(state) = self.state_after(lexeme.token) else {
                return Stop::Fault(lexeme);
            };
            self.take(lexeme, state);
            *budget = budget.saturating_sub((PER_THING * (self.end - before)).max(PER_TOKEN));
            if self.stack.is_empty() {
                return Stop::Unit(self.end);
            }
        }
    }

    /// Returns the state of the innermost container after a token, if the token is allowed here.
    fn state_after(&self, token: Token) -> Option<State> {
        let Some((bracket, state)) = self.stack.last() else {
            return Some(State::After);
        };
        match (bracket, state, token) {
            (Bracket::Object, State::First | State::Next, Token::String(_) | Token::Word) => Some(State::Colon),
            (_, State::First | State::After, Token::Close(own)) if own == *bracket => Some(State::After),
            (_, State::After, Token::Comma) => Some(State::Next),
            (Bracket::Object, State::Colon, Token::Colon) => Some(State::Value),
            (Bracket::Object, State::Value, Token::String(_) | Token::Word | Token::Open(_))
            | (Bracket::Array, State::First | State::Next, Token::String(_) | Token::Word | Token::Open(_)) => {
                Some(State::After)
            }
            _ => None,
        }
    }

    /// Consumes a token, and sets the state of the innermost container.
    fn take(&mut self, lexeme: Lexeme, state: State) {
        self.lexer.skip();
        if let Some((_, own)) = self.stack.last_mut() {
            *own = state;
        }
        match lexeme.token {
            Token::Open(bracket) => self.stack.push((bracket, State::First)),
            Token::Close(_) => {
                self.stack.pop();
            }
            Token::Comma => self.before_comma = self.end,
            _ => {}
        }
        self.previous = lexeme.token;
        self.end = lexeme.end;
    }

    /// Continues after an invalid token, assuming a fault. Returns `None` if that fault is impossible. If the fault
    /// ends the unit, returns the end of the unit.
    fn go_on(&mut self, mut lexeme: Lexeme, fault: Fault) -> Option<Option<usize>> {
        let token = lexeme.token;
        match fault {
            Fault::Other => {}
            Fault::TooMany => {
                let (Token::Open(_) | Token::Close(_)) = token else {
                    return None;
                };
                self.lexer.skip();
                if let (Token::Close(_), Some((_, state))) = (token, self.stack.last_mut()) {
                    *state = State::After;
                }
                return Some(None);
            }
            Fault::NotEnded => {
                // If the container is empty, its opening bracket is more likely to be extra.
                if matches!((self.previous, token), (Token::Open(_), Token::Open(_) | Token::String(_) | Token::Word)) {
                    return None;
                }
                let state = if self.previous == Token::Comma { State::Next } else { State::After };
                self.stack.pop();
                match self.stack.last_mut() {
                    Some((_, own)) => *own = state,
                    None => return Some(Some(if state == State::Next { self.before_comma } else { self.end })),
                }
                // The apparent value was a name in the enclosing container.
                if token != Token::Colon {
                    return Some(None);
                }
            }
            Fault::NotBegun(bracket) => {
                let fits = match bracket {
                    Bracket::Object => token == Token::Colon,
                    Bracket::Array => !matches!(token, Token::Close(_) | Token::Colon),
                };
                if !fits {
                    return None;
                }
                if let Some((_, state)) = self.stack.last_mut() {
                    *state = State::After;
                }
                self.stack.push((bracket, State::After));
            }
            Fault::EndsAtQuote | Fault::EndsBeforeMarks => {
                let Token::String(quoted) = token else {
                    return None;
                };
                lexeme.end = self.text.other_end(lexeme, quoted, fault)?;
            }
        }
        let (bracket, _) = *self.stack.last()?;
        self.lexer = self.text.lexer(lexeme.end);
        let ahead = self.lexer;
        let state = match token {
            _ if self.state_after(token).is_some() => self.state_after(token)?,
            Token::Comma => State::Next,
            Token::Colon if bracket == Bracket::Object => State::Value,
            Token::Close(own) if own != bracket => return None,
            Token::String(_) | Token::Word
                if bracket == Bracket::Object && ahead.peek_past_blanks().token == Token::Colon =>
            {
                State::Colon
            }
            _ => State::After,
        };
        self.take(lexeme, state);
        Some(self.stack.is_empty().then_some(self.end))
    }
}

impl Recovery<'_, '_> {
    /// Returns the end of the broken unit that begins here, judging by the possible meanings of its brackets and by the
    /// text after it. `None` if no text after it is well-formed.
    pub(super) fn fitting_end(&mut self, start: usize, fragment: bool) -> Option<usize> {
        let text = Text { text: self.output, end: self.end, lenient: self.repairs() };
        let mut best: Option<(Outlook, usize)> = None;
        let mut readings = vec![(Reading::new(text, start, fragment), None)];
        for _ in 0..=MAX_FAULTS {
            let mut stopped: Vec<(Reading, Lexeme)> = Vec::new();
            for (mut reading, ended) in std::mem::take(&mut readings) {
                if self.budget == 0 {
                    break;
                }
                let stop = match ended {
                    Some(end) => Stop::Unit(end),
                    None => reading.run(&mut self.budget),
                };
                let to = if let Stop::Fault(lexeme) = &stop { lexeme.end } else { reading.end };
                self.pay(to.saturating_sub(reading.end) + reading.stack.len());
                match stop {
                    Stop::Unit(end) => self.consider(start, end, &mut best),
                    Stop::Text => {
                        let outlook = Outlook { follows: Follows::Nothing, alike: false, reach: self.end };
                        if best.as_ref().is_none_or(|(own, _)| *own < outlook) {
                            best = Some((outlook, self.end));
                        }
                    }
                    Stop::Fault(lexeme) => stopped.push((reading, lexeme)),
                }
            }
            if self.budget == 0 {
                break;
            }
            // From now on, searches only for ends that include no following text.
            if let Some((outlook, end)) = &best
                && outlook.follows > Follows::Nothing
            {
                stopped.retain(|(_, lexeme)| lexeme.start < *end);
            }
            sort_by_key(&mut stopped, |(_, lexeme)| std::cmp::Reverse(lexeme.start));
            stopped.truncate(MAX_READINGS);
            for (reading, lexeme) in stopped {
                for fault in FAULTS {
                    if self.budget == 0 {
                        break;
                    }
                    self.pay(lexeme.end - lexeme.start + reading.stack.len());
                    let mut other = reading.clone();
                    readings.extend(other.go_on(lexeme, fault).map(|ended| (other, ended)));
                }
            }
        }
        self.cut_short(start, &mut best);
        let (outlook, end) = best?;
        (outlook.follows > Follows::Nothing && end > start).then_some(end)
    }

    /// Deducts the cost of a step that examines `things` bytes or brackets.
    fn pay(&mut self, things: usize) {
        self.budget = self.budget.saturating_sub(STEP + PER_THING * things);
    }

    /// Considers that the unit was cut short before an item that begins like the others, if as much text after it is
    /// well-formed.
    fn cut_short(&mut self, start: usize, best: &mut Option<(Outlook, usize)>) {
        let mut from = self.past_first(start);
        while let Some(item) = self.next_item(start, from)
            && best.is_none_or(|(outlook, end)| outlook.follows == Follows::Nothing || item < end)
        {
            let before = self.output[..item].trim_ascii_end();
            let end = before.strip_suffix(',').map_or(item, |before| before.trim_ascii_end().len());
            if end < item {
                self.consider(start, end, best);
            }
            if best.is_some_and(|(outlook, at)| at == end && outlook.follows > Follows::Nothing) {
                break;
            }
            from = item + 1;
        }
    }

    /// Adopts `end` as the end of the unit if more of the text after it is well-formed than at the best end so far.
    fn consider(&mut self, start: usize, end: usize, best: &mut Option<(Outlook, usize)>) {
        if best.as_ref().is_some_and(|(_, own)| *own == end) {
            return;
        }
        let outlook = self.outlook(start, end, *best);
        let is_better = match best {
            Some((own, at)) => (&outlook, *at) > (&*own, end),
            None => true,
        };
        if is_better {
            *best = Some((outlook, end));
        }
    }
}
