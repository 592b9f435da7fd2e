//! Follows a JSON text byte by byte as it arrives (RFC 8259). Determines which values are complete, and where the text
//! is invalid.
//!
//! It stores no text, so its state stays small: a few bytes for each open container. The contract's depth cap limits
//! the number of containers.

use serde::{Deserialize, Serialize};

use super::{Span, number_length};
use crate::{
    caps::Caps,
    location::Step,
    scan::{plain, white_space},
};

/// An open container.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Level {
    object: bool,
    /// The number of items or members that have begun.
    count: u32,
}

/// The token that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    Value,
    /// The first item of an array, or its end.
    Item,
    Name,
    /// The first member of an object, or its end.
    Member,
    Colon,
    CommaOrEnd,
    /// Nothing but white space: the document has ended.
    Nothing,
}

impl Next {
    fn is_name(self) -> bool {
        matches!(self, Next::Name | Next::Member)
    }
}

/// The token that is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Token {
    None,
    String {
        is_name: bool,
        escape: Escape,
        /// A lower bound for the size of the string's value, in bytes.
        bytes: u32,
    },
    Number(Digits),
    /// An index into `LITERALS`, and the number of bytes read.
    Literal(u8, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Escape {
    None,
    Begun,
    /// The number of missing hexadecimal digits.
    Hex(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Digits {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl Digits {
    /// Returns the state after another byte, if the byte is part of the number.
    fn with(self, byte: u8) -> Option<Self> {
        use Digits::{Exponent, Fraction, Integer, Minus, Point, Power, Sign, Zero};
        match (self, byte) {
            (Minus, b'0') => Some(Zero),
            (Minus | Integer, b'0'..=b'9') => Some(Integer),
            (Zero | Integer, b'.') => Some(Point),
            (Point | Fraction, b'0'..=b'9') => Some(Fraction),
            (Zero | Integer | Fraction, b'e' | b'E') => Some(Exponent),
            (Exponent, b'+' | b'-') => Some(Sign),
            (Exponent | Sign | Power, b'0'..=b'9') => Some(Power),
            _ => None,
        }
    }

    fn may_end(self) -> bool {
        matches!(self, Digits::Zero | Digits::Integer | Digits::Fraction | Digits::Power)
    }
}

const LITERALS: [&[u8]; 3] = [b"true", b"false", b"null"];

/// The name being read, compared with the next step of the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Name {
    /// A different name, or no name is being read.
    Other,
    /// The number of equal bytes so far.
    Same(usize),
    /// A name with an escape: its source so far, with each byte as a character.
    Escaped(String),
}

/// The state of a partial JSON text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Json {
    levels: Vec<Level>,
    next: Next,
    token: Token,
    /// The number of containers on the path to the items, counted from the root, including the array of items.
    on_the_way: usize,
    /// The name being read, while it may match the next step.
    name: Name,
    /// `true` if the last name is the next step.
    is_step: bool,
    /// The start of the open item.
    item: Option<u32>,
    /// The end of the text so far, without trailing white space.
    end: u32,
}

/// A cap on the contents of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cap {
    Depth,
    StringBytes,
    ArrayItems,
    ObjectMembers,
}

/// The rules for following a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'c> {
    /// The path to the array of items, if there is one.
    pub(crate) steps: Option<&'c [Step]>,
    pub(crate) caps: &'c Caps,
    /// A byte at which to stop, outside of strings.
    pub(crate) stop: Option<u8>,
}

/// An event in the text.
pub(crate) enum Event {
    /// An item is complete.
    Item { index: u32, span: Span },
    /// The document is complete.
    End,
    /// A cap was exceeded outside of any item.
    Over(Cap),
    /// The text is not valid JSON.
    Broken,
    /// The nesting exceeds the depth cap. The text is not followed any further.
    TooDeep,
}

impl Json {
    pub(crate) fn new() -> Self {
        Json {
            levels: Vec::new(),
            next: Next::Value,
            token: Token::None,
            on_the_way: 0,
            name: Name::Other,
            is_step: false,
            item: None,
            end: 0,
        }
    }

    /// Resets the state for another text, and reuses the memory.
    pub(crate) fn again(&mut self) {
        self.levels.clear();
        self.next = Next::Value;
        self.token = Token::None;
        self.on_the_way = 0;
        self.name = Name::Other;
        self.is_step = false;
        self.item = None;
        self.end = 0;
    }

    /// Returns whether the text so far is a complete document.
    pub(crate) fn is_complete(&self) -> bool {
        match self.token {
            Token::Number(digits) => self.levels.is_empty() && digits.may_end(),
            _ => self.next == Next::Nothing,
        }
    }

    pub(crate) fn is_in_string(&self) -> bool {
        matches!(self.token, Token::String { .. })
    }

    /// Returns whether the innermost container is the array of items.
    fn is_items(&self, rules: Rules) -> bool {
        let depth = rules.steps.map(|steps| steps.len() + 1);
        depth == Some(self.levels.len())
            && self.on_the_way == self.levels.len()
            && self.levels.last().is_some_and(|level| !level.object)
    }

    /// Returns the number of open containers.
    pub(crate) fn depth(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Returns the end of the text so far, without trailing white space.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Reads up to the first event, the stop byte, or the end. Returns the number of bytes read, and the event. An
    /// invalid byte is also an event. `at` is the offset of the bytes in the output.
    pub(crate) fn read(&mut self, at: u32, bytes: &[u8], rules: Rules) -> (usize, Option<Event>) {
        let (read, event) = self.read_on(at, bytes, rules);
        let text = bytes[..read].trim_ascii_end().len();
        if text > 0 {
            self.end = at.saturating_add(text as u32);
        }
        (read, event)
    }

    fn read_on(&mut self, at: u32, bytes: &[u8], rules: Rules) -> (usize, Option<Event>) {
        let mut read = 0;
        loop {
            if let Token::None = self.token {
                read += white_space(&bytes[read..]);
            } else if let Token::String { escape: Escape::None, bytes: length, .. } = &mut self.token
                && self.name == Name::Other
            {
                let plain = plain(&bytes[read..]);
                *length = length.saturating_add(plain as u32);
                read += plain;
            }
            let Some(&byte) = bytes.get(read) else {
                return (read, None);
            };
            let here = at.saturating_add(read as u32);
            let event = match self.token {
                Token::None if Some(byte) == rules.stop => return (read, None),
                Token::None if byte == b'"' && self.next.is_name() => match self.members(&bytes[read..], rules) {
                    0 => self.between(here, byte, rules),
                    length => {
                        read += length;
                        continue;
                    }
                },
                Token::None => self.between(here, byte, rules),
                Token::String { is_name, escape, bytes } => self.in_string(here, byte, (is_name, escape, bytes), rules),
                Token::Number(digits) => match digits.with(byte) {
                    Some(digits) => {
                        self.token = Token::Number(digits);
                        None
                    }
                    None if digits.may_end() => {
                        // The number ended before this byte, which is read next.
                        let event = self.ended(here, rules);
                        if event.is_some() {
                            return (read, event);
                        }
                        continue;
                    }
                    None => Some(Event::Broken),
                },
                Token::Literal(which, known) => self.in_literal(here, byte, (which, known), rules),
            };
            if let Some(Event::Broken) = event {
                return (read, event);
            }
            read += 1;
            if event.is_some() {
                return (read, event);
            }
        }
    }

    /// Returns the number of bytes in the following complete members whose values are scalars without escapes, as most
    /// are. Leaves everything else to the caller: possible events, the end of the container, and members above the cap.
    fn members(&mut self, bytes: &[u8], rules: Rules) -> usize {
        let step = self.step(rules).map(str::as_bytes);
        let Some(level) = self.levels.last_mut().filter(|level| level.object) else {
            return 0;
        };
        let mut read = 0;
        loop {
            let at = read + white_space(&bytes[read..]);
            let Some(name) = self.next.is_name().then(|| name(&bytes[at..])).flatten() else {
                return read;
            };
            if level.count as usize >= rules.caps.object_members || name.len() > rules.caps.string_bytes {
                return read;
            }
            let colon = at + name.len() + 2;
            if bytes.get(colon) != Some(&b':') {
                return read;
            }
            level.count += 1;
            self.is_step = step == Some(name);
            self.next = Next::Value;
            let at = colon + 1 + white_space(&bytes[colon + 1..]);
            let Some(length) = scalar(&bytes[at..], rules) else {
                return at;
            };
            self.is_step = false;
            self.next = Next::CommaOrEnd;
            read = at + length + white_space(&bytes[at + length..]);
            if bytes.get(read) != Some(&b',') {
                return read;
            }
            self.next = Next::Name;
            read += 1;
        }
    }

    fn in_literal(&mut self, at: u32, byte: u8, (which, known): (u8, u8), rules: Rules) -> Option<Event> {
        let word = LITERALS.get(usize::from(which)).copied().unwrap_or_default();
        if word.get(usize::from(known)) != Some(&byte) {
            return Some(Event::Broken);
        }
        self.token = Token::Literal(which, known.saturating_add(1));
        if usize::from(known) + 1 == word.len() { self.ended(at.saturating_add(1), rules) } else { None }
    }

    fn in_string(
        &mut self,
        at: u32,
        byte: u8,
        (is_name, escape, bytes): (bool, Escape, u32),
        rules: Rules,
    ) -> Option<Event> {
        if escape != Escape::None || byte != b'"' {
            self.push_to_name(byte, rules);
        }
        let (escape, bytes) = match (escape, byte) {
            (Escape::None, b'"') => {
                let over = bytes as usize > rules.caps.string_bytes && self.item.is_none();
                let ended = match is_name {
                    true => {
                        self.token = Token::None;
                        self.next = Next::Colon;
                        self.is_step = self.leads(rules);
                        self.name = Name::Other;
                        None
                    }
                    false => self.ended(at.saturating_add(1), rules),
                };
                return if over { Some(Event::Over(Cap::StringBytes)) } else { ended };
            }
            (Escape::None, b'\\') => (Escape::Begun, bytes),
            (Escape::None, 0x20..) => (Escape::None, bytes.saturating_add(1)),
            (Escape::Begun, b'u') => (Escape::Hex(4), bytes),
            (Escape::Begun, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                (Escape::None, bytes.saturating_add(1))
            }
            (Escape::Hex(1), _) if byte.is_ascii_hexdigit() => (Escape::None, bytes.saturating_add(1)),
            (Escape::Hex(left), _) if byte.is_ascii_hexdigit() => (Escape::Hex(left.saturating_sub(1)), bytes),
            _ => return Some(Event::Broken),
        };
        self.token = Token::String { is_name, escape, bytes };
        None
    }

    /// Returns the name of the next step from the innermost container, if it is on the path.
    fn step<'s>(&self, rules: Rules<'s>) -> Option<&'s str> {
        match rules.steps?.get(self.levels.len().checked_sub(1)?)? {
            Step::Name(name) if self.on_the_way == self.levels.len() && self.item.is_none() => Some(name),
            _ => None,
        }
    }

    /// Appends a byte to the name. Stores nothing of a name that does not match, because a producer may make it
    /// arbitrarily long.
    fn push_to_name(&mut self, byte: u8, rules: Rules) {
        let step = self.step(rules).unwrap_or_default().as_bytes();
        match &mut self.name {
            Name::Same(length) if step.get(*length) == Some(&byte) && byte != b'\\' => *length += 1,
            Name::Same(length) if byte == b'\\' => {
                let before = step.get(..*length).unwrap_or_default();
                self.name = Name::Escaped(before.iter().chain([&byte]).map(|byte| *byte as char).collect());
            }
            // An escape of a byte takes at most six bytes, each stored as a character of at most two bytes.
            Name::Escaped(name) if name.len() <= 12 * step.len() => name.push(byte as char),
            name => *name = Name::Other,
        }
    }

    /// Returns whether the name is the next step.
    fn leads(&self, rules: Rules) -> bool {
        let Some(step) = self.step(rules) else {
            return false;
        };
        match &self.name {
            Name::Other => false,
            Name::Same(length) => *length == step.len(),
            Name::Escaped(name) => {
                let bytes: Vec<u8> = name.chars().map(|byte| byte as u8).collect();
                let json = format!("\"{}\"", String::from_utf8_lossy(&bytes));
                serde_json::from_str::<String>(&json).is_ok_and(|name| name == step)
            }
        }
    }

    /// Handles a byte outside of tokens that is not white space.
    fn between(&mut self, at: u32, byte: u8, rules: Rules) -> Option<Event> {
        match (self.next, byte) {
            (Next::Value | Next::Item, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.value(at, byte, rules)
            }
            (Next::Name | Next::Member, b'"') => {
                let over = self.count(rules);
                self.token = Token::String { is_name: true, escape: Escape::None, bytes: 0 };
                self.name = if self.step(rules).is_some() { Name::Same(0) } else { Name::Other };
                over
            }
            (Next::Colon, b':') => {
                self.next = Next::Value;
                None
            }
            (Next::CommaOrEnd, b',') => {
                let object = self.levels.last().is_some_and(|level| level.object);
                self.next = if object { Next::Name } else { Next::Value };
                None
            }
            (Next::CommaOrEnd | Next::Member, b'}') if self.levels.last().is_some_and(|level| level.object) => {
                self.close(at, rules)
            }
            (Next::CommaOrEnd | Next::Item, b']') if self.levels.last().is_some_and(|level| !level.object) => {
                self.close(at, rules)
            }
            _ => Some(Event::Broken),
        }
    }

    /// Counts one more item or member of the innermost container.
    fn count(&mut self, rules: Rules) -> Option<Event> {
        let level = self.levels.last_mut()?;
        level.count = level.count.saturating_add(1);
        let (which, cap) = match level.object {
            true => (Cap::ObjectMembers, rules.caps.object_members),
            false => (Cap::ArrayItems, rules.caps.array_items),
        };
        let over = level.count as usize == cap.saturating_add(1) && self.item.is_none();
        over.then_some(Event::Over(which))
    }

    fn value(&mut self, at: u32, byte: u8, rules: Rules) -> Option<Event> {
        let in_array = self.levels.last().is_some_and(|level| !level.object);
        let over = if in_array { self.count(rules) } else { None };
        if self.is_items(rules) {
            self.item = Some(at);
        }
        self.next = Next::CommaOrEnd;
        match byte {
            b'{' | b'[' => {
                if self.levels.len() >= rules.caps.depth {
                    return Some(if self.item.is_some() { Event::TooDeep } else { Event::Over(Cap::Depth) });
                }
                let depth = self.levels.len();
                if self.on_the_way == depth && self.item.is_none() && self.leads_on(depth, rules) {
                    self.on_the_way = depth + 1;
                }
                self.levels.push(Level { object: byte == b'{', count: 0 });
                self.next = if byte == b'{' { Next::Member } else { Next::Item };
            }
            b'"' => self.token = Token::String { is_name: false, escape: Escape::None, bytes: 0 },
            b'-' => self.token = Token::Number(Digits::Minus),
            b'0' => self.token = Token::Number(Digits::Zero),
            b'1'..=b'9' => self.token = Token::Number(Digits::Integer),
            b't' => self.token = Token::Literal(0, 1),
            b'f' => self.token = Token::Literal(1, 1),
            _ => self.token = Token::Literal(2, 1),
        }
        over
    }

    /// Returns whether the value that begins here is on the path to the items. Its parent must be on the path.
    fn leads_on(&self, depth: usize, rules: Rules) -> bool {
        let Some(steps) = rules.steps else {
            return false;
        };
        match (depth.checked_sub(1).map(|step| steps.get(step)), self.levels.last()) {
            (None, _) => true,
            (Some(Some(Step::Name(_))), Some(Level { object: true, .. })) => self.is_step,
            (Some(Some(Step::Index(index))), Some(Level { object: false, count })) => {
                count.checked_sub(1).map(|last| last as usize) == Some(*index)
            }
            _ => false,
        }
    }

    fn close(&mut self, at: u32, rules: Rules) -> Option<Event> {
        self.levels.pop();
        self.on_the_way = self.on_the_way.min(self.levels.len());
        self.ended(at.saturating_add(1), rules)
    }

    /// Handles the end of a value before an offset.
    fn ended(&mut self, end: u32, rules: Rules) -> Option<Event> {
        self.token = Token::None;
        self.is_step = false;
        self.next = if self.levels.is_empty() { Next::Nothing } else { Next::CommaOrEnd };
        if self.levels.is_empty() {
            return Some(Event::End);
        }
        if !self.is_items(rules) {
            return None;
        }
        let start = self.item.take()?;
        let index = self.levels.last()?.count.checked_sub(1)?;
        Some(Event::Item { index, span: Span { start, end } })
    }
}

/// Returns the name that begins here, without its quotes, if it is complete and has no escapes.
#[inline(always)]
fn name(bytes: &[u8]) -> Option<&[u8]> {
    let text = bytes.strip_prefix(b"\"")?;
    let length = plain(text);
    (text.get(length) == Some(&b'"')).then(|| &text[..length])
}

/// Returns the length of the string that begins here, if it is complete and has only single-character escapes.
#[inline(always)]
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += plain(&bytes[at..]);
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => return Some(at + 1),
            (b'\\', Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
            _ => return None,
        }
    }
}

/// Returns the length of the scalar that begins here, if it is complete.
#[inline(always)]
fn scalar(bytes: &[u8], rules: Rules) -> Option<usize> {
    match bytes.first()? {
        b'"' => string_length(bytes).filter(|length| *length <= rules.caps.string_bytes),
        b'-' | b'0'..=b'9' => number_length(bytes).filter(|length| *length < bytes.len()),
        b't' | b'f' | b'n' => LITERALS.iter().find(|word| bytes.starts_with(word)).map(|word| word.len()),
        _ => None,
    }
}
