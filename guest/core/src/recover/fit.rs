//! Where a broken unit ends: its tokens are read by JSON's grammar, and where they break it, one bracket too many or too
//! few is tried for. What then comes after the unit tells which of the readings is right.

use super::{
    Recovery,
    resync::{Follows, Outlook},
};
use crate::{
    order::sort_by_key,
    parse::loose::{Bracket, Ends, Lexeme, Lexer, Quoted, State, Token},
};

/// So many brackets of one unit may be wrong.
const MAX_FAULTS: usize = 3;

/// So many readings are followed at a time: those that got farthest.
const MAX_READINGS: usize = 4;

/// What is read.
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

    /// Where a doubtful string may end as well.
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

/// Whether a string may end elsewhere, as its quotes tell.
fn is_doubtful(quoted: Quoted) -> bool {
    quoted.quotes_inside || quoted.ends == Ends::Lost
}

/// What a step of a reading costs at least, and each byte or bracket it looks at: a token takes more than a byte of JSON.
const STEP: usize = 64;
const PER_THING: usize = 2;

/// What a token that is taken costs at least: one of a single byte takes as much work as a longer one.
const PER_TOKEN: usize = 8;

/// One way to read a unit, up to a place.
#[derive(Clone)]
struct Reading<'t> {
    text: Text<'t>,
    lexer: Lexer<'t>,
    stack: Vec<(Bracket, State)>,
    previous: Token,
    /// Where the last token ends, and the last one before a comma.
    end: usize,
    before_comma: usize,
}

/// Where a reading has come to.
enum Stop {
    /// The unit ends here.
    Unit(usize),
    /// The text ends first.
    Text,
    /// This token cannot stand here.
    Fault(Lexeme),
}

/// What may be wrong where a token cannot stand.
#[derive(Clone, Copy)]
enum Fault {
    /// Nothing that concerns brackets.
    Other,
    /// The token is a bracket too many.
    TooMany,
    /// A bracket is missing that ends the innermost container, or the one that began it is too many.
    NotEnded,
    /// A bracket is missing that begins a container.
    NotBegun(Bracket),
    /// It is a string that ends with its first quote.
    EndsAtQuote,
    /// It is a string that has lost its quote before the marks that stand before the next one.
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

    /// Read on as far as the grammar goes, and as a budget reaches, which is paid from.
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

    /// The state of the innermost container after a token, where it can stand here.
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

    /// Take a token, after which the innermost container is in a state.
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

    /// Go on over a token that cannot stand here, with something said to be wrong. None where that cannot be; where the
    /// unit ends by it, its end.
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
                // What holds nothing is rather a bracket too many.
                if matches!((self.previous, token), (Token::Open(_), Token::Open(_) | Token::String(_) | Token::Word)) {
                    return None;
                }
                let state = if self.previous == Token::Comma { State::Next } else { State::After };
                self.stack.pop();
                match self.stack.last_mut() {
                    Some((_, own)) => *own = state,
                    None => return Some(Some(if state == State::Next { self.before_comma } else { self.end })),
                }
                // What was its value is a name of the one around.
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
    /// Where the broken unit ends that begins here, by what its brackets may mean and what comes after it: none where
    /// nothing of that is in order.
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
            // Now one is looked for that takes nothing in of what follows it.
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

    /// Pay for a step of a reading that looks at so many things.
    fn pay(&mut self, things: usize) {
        self.budget = self.budget.saturating_sub(STEP + PER_THING * things);
    }

    /// Whether the unit was cut short before an item that begins as others do, with as much in order after it.
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

    /// Whether a unit ends here rather than at the best place so far: where what comes after it goes on for longer.
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
