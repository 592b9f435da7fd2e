//! Parses the text of a pattern into a syntax tree, by the grammar of ECMA-262 with the flag `u`, as JSON Schema
//! recommends.
//!
//! A pattern that `u` rejects is parsed by the standard's Annex B for browsers, still by code points. A pattern that
//! Annex B also rejects is parsed with features of other dialects that schemas use: `(?i)`, `(?P<name>…)`, `a**`. The
//! parser does not recurse: it keeps open groups on an explicit stack.

use std::collections::HashMap;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::names::{Property, property};

/// The maximum nesting depth of nodes. Code that processes nodes recurses to this depth.
const DEPTH: usize = 250;

const TOO_DEEP: &str = "groups or quantifiers are nested too deeply";

/// A node of a pattern's syntax tree.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Empty,
    /// A single character. Separate from sets, because most nodes are characters and a set costs more to build.
    Character(char),
    /// One character of a set.
    Set(ClassUnicode),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    /// A capturing group and its number, counted from 1.
    Group(u32, Box<Node>),
    Repeat(Box<Repeat>),
    Assert(Assertion),
    Look(Box<Look>),
    /// A back reference to a group number. The flag is `true` if the reference ignores case.
    Back(u32, bool),
    /// An atomic group: once it has matched, it is not backtracked into.
    Atomic(Box<Node>),
}

#[derive(Debug, Clone)]
pub(super) struct Repeat {
    pub(super) node: Node,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    pub(super) groups: Groups,
}

#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) node: Node,
    pub(super) behind: bool,
    pub(super) negative: bool,
}

/// A range of group numbers in a part of a pattern: the first number, and the one after the last.
pub(super) type Groups = (u32, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    StartOfLine,
    EndOfLine,
    Boundary,
    NoBoundary,
}

/// The grammar that a pattern was parsed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// ECMA-262 with the flag `u`.
    Unicode,
    /// Annex B of ECMA-262.
    AnnexB,
    /// Annex B, and features of other dialects.
    Other,
}

/// The reason why a pattern is invalid under one grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The byte offset of the error.
    pub(super) at: usize,
    pub(super) why: &'static str,
    /// `true` if the pattern is valid, but exceeds the tables or limits of this parser.
    lacking: bool,
}

pub(super) struct Parsed {
    pub(super) node: Node,
    /// The number of groups.
    pub(super) groups: u32,
    pub(super) reading: Reading,
    /// The reason why `u` rejects the pattern. `None` if `u` accepts it.
    pub(super) refused: Option<Refusal>,
    /// `true` if the pattern needs backtracking, which linear-time engines do not support.
    pub(super) goes_back: bool,
    /// `true` if it has back references.
    pub(super) refers: bool,
}

/// Parses a pattern by the first grammar that accepts it. An error is the one for the flag `u`.
pub(super) fn parse(text: &str) -> Result<Parsed, Refusal> {
    let refused = match Parser::new(text, Reading::Unicode).run() {
        Ok(parsed) => return Ok(parsed),
        Err(refused) => refused,
    };
    for reading in [Reading::AnnexB, Reading::Other] {
        if refused.lacking {
            break;
        }
        match Parser::new(text, reading).run() {
            Ok(parsed) => return Ok(Parsed { refused: Some(refused), ..parsed }),
            Err(refused) if refused.lacking => return Err(refused),
            Err(_) => {}
        }
    }
    Err(refused)
}

/// Returns whether a pattern is valid under ECMA-262 with the flag `u`.
pub(super) fn is_unicode(text: &str) -> bool {
    match Parser::new(text, Reading::Unicode).run() {
        Ok(_) => true,
        Err(refused) => refused.lacking,
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    /// `true` if white space and comments are skipped.
    verbose: bool,
}

enum Kind {
    /// The whole pattern.
    Whole,
    Plain,
    Capturing(u32),
    Look {
        behind: bool,
        negative: bool,
    },
    Atomic,
}

/// An open group.
struct Open {
    kind: Kind,
    /// The position at which it begins.
    at: usize,
    /// The flags to restore when the group closes.
    flags: Flags,
    /// The number of groups that began before it.
    groups: u32,
    alternatives: Vec<Node>,
    terms: Vec<Node>,
    /// The depth of the deepest of the group's alternatives, and of its terms.
    depth: usize,
    depth_of_terms: usize,
}

impl Open {
    fn end_alternative(&mut self) {
        let terms = std::mem::take(&mut self.terms);
        self.depth = self.depth.max(self.depth_of_terms + usize::from(terms.len() > 1));
        self.depth_of_terms = 0;
        self.alternatives.push(concat(terms));
    }

    /// Returns the group's node and its depth.
    fn end(mut self) -> (Node, usize) {
        self.end_alternative();
        match self.alternatives.len() {
            1 => (self.alternatives.pop().unwrap_or(Node::Empty), self.depth),
            _ => (Node::Alternate(self.alternatives), self.depth + 1),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    reading: Reading,
    flags: Flags,
    open: Vec<Open>,
    groups: u32,
    /// The total number of groups, and the groups that have names.
    all_groups: u32,
    names: HashMap<String, u32>,
    goes_back: bool,
    refers: bool,
}

type Read<T> = Result<T, Refusal>;

/// A member of a character class.
enum Member {
    One(u32),
    Class(ClassUnicode),
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, reading: Reading) -> Self {
        let mut parser = Parser {
            text,
            at: 0,
            reading,
            flags: Flags::default(),
            open: Vec::new(),
            groups: 0,
            all_groups: 0,
            names: HashMap::new(),
            goes_back: false,
            refers: false,
        };
        parser.find_groups();
        parser
    }

    fn strict(&self) -> bool {
        self.reading == Reading::Unicode
    }

    fn other(&self) -> bool {
        self.reading == Reading::Other
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, what: &str) -> bool {
        let is = self.rest().starts_with(what);
        if is {
            self.at += what.len();
        }
        is
    }

    fn refuse<T>(&self, at: usize, why: &'static str) -> Read<T> {
        Err(Refusal { at, why, lacking: false })
    }

    /// Counts the groups, so that references to later groups can be checked.
    fn find_groups(&mut self) {
        let mut class = false;
        while let Some(character) = self.next() {
            match character {
                '\\' => drop(self.next()),
                '[' => class = true,
                ']' => class = false,
                '(' if !class => {
                    let named = self.eat("?<") || (self.other() && self.eat("?P<"));
                    if named && !self.rest().starts_with(['=', '!']) {
                        self.all_groups += 1;
                        if let Ok(name) = self.name() {
                            self.names.entry(name).or_insert(self.all_groups);
                        }
                    } else if !named && self.peek() != Some('?') {
                        self.all_groups += 1;
                    }
                }
                _ => {}
            }
        }
        self.at = 0;
    }

    fn run(mut self) -> Read<Parsed> {
        self.open(Kind::Whole, 0)?;
        while let Some(character) = self.peek() {
            let at = self.at;
            if self.flags.verbose && self.pass_over(character) {
                continue;
            }
            match character {
                '|' => {
                    self.at += 1;
                    if let Some(open) = self.open.last_mut() {
                        open.end_alternative();
                    }
                }
                '(' => self.begin_group()?,
                ')' => {
                    self.at += 1;
                    if self.open.len() == 1 {
                        return self.refuse(at, "')' closes no group");
                    }
                    self.close(at)?;
                }
                // The most frequent characters in patterns.
                'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '_' | '-' if self.stands_for_itself() => {
                    self.at += 1;
                    if let Some(open) = self.open.last_mut() {
                        open.depth_of_terms = open.depth_of_terms.max(1);
                        open.terms.push(Node::Character(character));
                    }
                }
                _ => {
                    let (node, repeats) = self.term()?;
                    self.quantified(node, (self.groups, self.groups), repeats, 1)?;
                }
            }
        }
        if let [_, .., open] = &self.open[..] {
            return self.refuse(open.at, "this group is not closed");
        }
        let node = match self.open.pop() {
            Some(open) => open.end().0,
            None => Node::Empty,
        };
        Ok(Parsed {
            node,
            groups: self.groups,
            reading: self.reading,
            refused: None,
            goes_back: self.goes_back,
            refers: self.refers,
        })
    }

    /// Returns whether the next character, a single byte, is a plain literal: no flag changes it, and no quantifier
    /// follows it.
    fn stands_for_itself(&self) -> bool {
        let next = self.text.as_bytes().get(self.at + 1);
        !self.flags.ignore_case && !self.flags.verbose && !matches!(next, Some(b'*' | b'+' | b'?' | b'{'))
    }

    /// Skips white space and comments of a verbose pattern.
    fn pass_over(&mut self, character: char) -> bool {
        if character == '#' {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            return true;
        }
        character.is_whitespace() && self.next().is_some()
    }

    fn open(&mut self, kind: Kind, at: usize) -> Read<()> {
        if self.open.len() > DEPTH {
            return Err(Refusal { at, why: TOO_DEEP, lacking: true });
        }
        let (flags, groups) = (self.flags, self.groups);
        let groups = groups - u32::from(matches!(kind, Kind::Capturing(_)));
        self.open.push(Open {
            kind,
            at,
            flags,
            groups,
            alternatives: Vec::new(),
            terms: Vec::new(),
            depth: 0,
            depth_of_terms: 0,
        });
        Ok(())
    }

    fn begin_group(&mut self) -> Read<()> {
        let at = self.at;
        self.at += 1;
        let look = |behind, negative| Kind::Look { behind, negative };
        let kind = if !self.eat("?") {
            self.groups += 1;
            Kind::Capturing(self.groups)
        } else if self.eat(":") {
            Kind::Plain
        } else if self.eat("=") {
            look(false, false)
        } else if self.eat("!") {
            look(false, true)
        } else if self.eat("<=") {
            look(true, false)
        } else if self.eat("<!") {
            look(true, true)
        } else if self.eat("<") || (self.other() && self.eat("P<")) {
            let name = self.name()?;
            self.groups += 1;
            if self.named(&name) != Some(self.groups) {
                return self.refuse(at, "another group has this name");
            }
            Kind::Capturing(self.groups)
        } else if self.other() && self.eat(">") {
            self.goes_back = true;
            Kind::Atomic
        } else if self.other() && self.eat("#") {
            let Some(end) = self.rest().find(')') else {
                return self.refuse(at, "this comment is not closed");
            };
            self.at += end + 1;
            return Ok(());
        } else if self.other() && self.eat("P=") {
            let end = self.rest().find(')').unwrap_or(self.rest().len());
            let number = self.named(&self.rest()[..end]);
            let Some(number) = number.filter(|_| end < self.rest().len()) else {
                return self.refuse(at, "no group has this name");
            };
            self.at += end + 1;
            let node = self.back(number);
            return self.quantified(node, (self.groups, self.groups), Repeats::Yes, 1);
        } else {
            let flags = self.modifiers(at)?;
            if self.eat(":") {
                self.open(Kind::Plain, at)?;
            } else {
                // The flags apply up to the end of the enclosing group.
                self.at += 1;
            }
            self.flags = flags;
            return Ok(());
        };
        self.goes_back |= matches!(kind, Kind::Look { .. });
        self.open(kind, at)
    }

    /// Parses the flags of `(?i-s:`. Other dialects have more flags, and can set them for the rest of a group. Stops
    /// before the `:` or `)` that follows.
    fn modifiers(&mut self, begin: usize) -> Read<Flags> {
        let mut flags = self.flags;
        let (mut on, mut seen) = (true, Vec::new());
        let mut last = '(';
        loop {
            let Some(character) = self.next() else {
                return self.refuse(begin, "this group is not closed");
            };
            match character {
                ':' if last != '(' && !(last == '-' && seen.is_empty()) => break,
                ')' if self.other() && last != '(' => break,
                '-' if on => on = false,
                'i' | 'm' | 's' if !seen.contains(&character) => {
                    seen.push(character);
                    match character {
                        'i' => flags.ignore_case = on,
                        'm' => flags.multi_line = on,
                        _ => flags.dot_all = on,
                    }
                }
                'x' if self.other() => flags.verbose = on,
                // Greediness does not affect whether the pattern matches, and matching always uses Unicode.
                'U' if self.other() => {}
                'u' if self.other() && on => {}
                _ => return self.refuse(begin, "there is no such group"),
            }
            last = character;
        }
        self.at -= 1;
        Ok(flags)
    }

    fn close(&mut self, at: usize) -> Read<()> {
        let Some(mut open) = self.open.pop() else {
            return self.refuse(at, "')' closes no group");
        };
        self.flags = open.flags;
        let groups = (open.groups + 1, self.groups + 1);
        let kind = std::mem::replace(&mut open.kind, Kind::Plain);
        let (inside, depth) = open.end();
        let (node, repeats) = match kind {
            Kind::Whole | Kind::Plain => (inside, Repeats::Yes),
            Kind::Capturing(number) => (Node::Group(number, Box::new(inside)), Repeats::Yes),
            Kind::Atomic => (Node::Atomic(Box::new(inside)), Repeats::Yes),
            Kind::Look { behind, negative } => {
                let repeats = if behind || self.strict() { Repeats::No } else { Repeats::Yes };
                (Node::Look(Box::new(Look { node: inside, behind, negative })), repeats)
            }
        };
        self.quantified(node, groups, repeats, depth + 1)
    }

    /// Appends a term and its quantifier, if a quantifier follows.
    fn quantified(&mut self, mut node: Node, groups: Groups, repeats: Repeats, mut depth: usize) -> Read<()> {
        let mut repeats = repeats;
        loop {
            if self.flags.verbose
                && let Some(character) = self.peek()
                && self.pass_over(character)
            {
                continue;
            }
            let at = self.at;
            let Some((min, max)) = self.quantifier()? else {
                break;
            };
            // Other dialects allow a quantifier after a quantifier, and after an assertion.
            if repeats == Repeats::No && !self.other() {
                return self.refuse(at, "this quantifier has nothing to repeat");
            }
            depth += 1;
            if depth > DEPTH {
                return Err(Refusal { at, why: TOO_DEEP, lacking: true });
            }
            let greedy = !self.eat("?");
            node = match (min, max) {
                (1, Some(1)) => node,
                _ => Node::Repeat(Box::new(Repeat { node, min, max, greedy, groups })),
            };
            repeats = Repeats::No;
        }
        if let Some(open) = self.open.last_mut() {
            open.depth_of_terms = open.depth_of_terms.max(depth);
            open.terms.push(node);
        }
        Ok(())
    }

    /// Parses a quantifier, if one comes next.
    fn quantifier(&mut self) -> Read<Option<(u32, Option<u32>)>> {
        let found = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let at = self.at;
                return match self.braces() {
                    Some((min, Some(max))) if max < min && self.other() => Ok(Some((max, Some(min)))),
                    Some((min, Some(max))) if max < min => {
                        self.refuse(at, "the minimum of this quantifier is greater than its maximum")
                    }
                    Some((min, max)) => Ok(Some((min, max))),
                    None if self.strict() => self.refuse(at, "'{' starts no quantifier; escape it"),
                    None => Ok(None),
                };
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(found))
    }

    /// Parses `{2}`, `{2,}` or `{2,3}`. Consumes nothing if there is no such quantifier.
    fn braces(&mut self) -> Option<(u32, Option<u32>)> {
        let rest = self.rest();
        let (inside, _) = rest.strip_prefix('{')?.split_once('}')?;
        let number = |digits: &str| {
            let is = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // A number that overflows exceeds every possible count.
            is.then(|| digits.parse().unwrap_or(u32::MAX))
        };
        let found = match inside.split_once(',') {
            None => number(inside).map(|count| (count, Some(count))),
            Some((min, "")) => number(min).map(|min| (min, None)),
            Some((min, max)) => number(min).zip(number(max)).map(|(min, max)| (min, Some(max))),
        }?;
        self.at += inside.len() + 2;
        Some(found)
    }

    /// Parses one term other than a group, and returns whether it can be repeated.
    fn term(&mut self) -> Read<(Node, Repeats)> {
        let at = self.at;
        let Some(character) = self.next() else {
            return Ok((Node::Empty, Repeats::No));
        };
        let node = match character {
            '^' if self.flags.multi_line => return Ok((Node::Assert(Assertion::StartOfLine), Repeats::No)),
            '^' => return Ok((Node::Assert(Assertion::Start), Repeats::No)),
            '$' if self.flags.multi_line => return Ok((Node::Assert(Assertion::EndOfLine), Repeats::No)),
            '$' => return Ok((Node::Assert(Assertion::End), Repeats::No)),
            '.' => Node::Set(self.dot()),
            '[' => self.class(at)?,
            '\\' => return self.escape(at),
            '*' | '+' | '?' => return self.refuse(at, "this quantifier has nothing to repeat"),
            '{' if self.strict() => return self.refuse(at, "'{' starts no quantifier; escape it"),
            ']' | '}' if self.strict() => return self.refuse(at, "this bracket closes nothing; escape it"),
            '{' => {
                self.at = at;
                if self.braces().is_some() {
                    return self.refuse(at, "this quantifier has nothing to repeat");
                }
                self.at = at + 1;
                self.one(u32::from('{'))
            }
            other => self.one(u32::from(other)),
        };
        Ok((node, Repeats::Yes))
    }

    fn one(&self, code: u32) -> Node {
        match char::from_u32(code) {
            Some(character) if !self.flags.ignore_case => Node::Character(character),
            _ => Node::Set(self.folded(single(code))),
        }
    }

    /// If case is ignored, adds the other cases of the set's letters.
    fn folded(&self, mut set: ClassUnicode) -> ClassUnicode {
        if self.flags.ignore_case {
            // Cannot fail, because the tables are compiled in.
            let _ = set.try_case_fold_simple();
        }
        set
    }

    fn dot(&self) -> ClassUnicode {
        let mut set = match self.flags.dot_all {
            true => ClassUnicode::empty(),
            false => ranges(&[(0xa, 0xa), (0xd, 0xd), (0x2028, 0x2029)]),
        };
        set.negate();
        set
    }

    /// Parses an escape outside a class, from after its backslash.
    fn escape(&mut self, at: usize) -> Read<(Node, Repeats)> {
        let boundary = |assertion| Ok((Node::Assert(assertion), Repeats::No));
        let node = match self.peek() {
            Some('b') => {
                self.at += 1;
                return boundary(Assertion::Boundary);
            }
            Some('B') => {
                self.at += 1;
                return boundary(Assertion::NoBoundary);
            }
            Some('A') if self.other() => {
                self.at += 1;
                return boundary(Assertion::Start);
            }
            Some('z') if self.other() => {
                self.at += 1;
                return boundary(Assertion::End);
            }
            Some('1'..='9') => match self.back_reference(at)? {
                Some(number) => self.back(number),
                None => {
                    let code = self.octal_or_itself();
                    self.one(code)
                }
            },
            Some('k') if self.strict() || !self.names.is_empty() => {
                self.at += 1;
                let name = if self.eat("<") { self.name().ok() } else { None };
                let Some(number) = name.and_then(|name| self.named(&name)) else {
                    return self.refuse(at, "no group has this name");
                };
                self.back(number)
            }
            _ => match self.member_escape(at, false)? {
                Member::One(code) => self.one(code),
                Member::Class(class) => Node::Set(class),
            },
        };
        Ok((node, Repeats::Yes))
    }

    fn back(&mut self, number: u32) -> Node {
        self.goes_back = true;
        self.refers = true;
        Node::Back(number, self.flags.ignore_case)
    }

    fn named(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Parses a group number with all its digits. Consumes nothing if no such group exists and that is not an error.
    fn back_reference(&mut self, at: usize) -> Read<Option<u32>> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..length].parse().unwrap_or(u32::MAX);
        if number <= self.all_groups {
            self.at += length;
            return Ok(Some(number));
        }
        if self.strict() { self.refuse(at, "no group has this number") } else { Ok(None) }
    }

    /// Parses an octal escape of up to three digits, as in C, or else the next character.
    fn octal_or_itself(&mut self) -> u32 {
        let digits = self.rest().bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte));
        let mut code = 0;
        for digit in digits {
            let next = code * 8 + u32::from(digit - b'0');
            if next > 0o377 {
                break;
            }
            code = next;
            self.at += 1;
        }
        match self.text.as_bytes().get(self.at.wrapping_sub(1)) {
            Some(b'\\') => self.next().map_or(0, u32::from),
            _ => code,
        }
    }

    /// Parses an escape in a class, from after its backslash. Most of these escapes are also valid outside a class.
    fn member_escape(&mut self, at: usize, in_class: bool) -> Read<Member> {
        let begin = self.at;
        let Some(character) = self.next() else {
            return self.refuse(at, "a backslash must not be the last character");
        };
        let class = |set: ClassUnicode| Ok(Member::Class(set));
        Ok(Member::One(match character {
            'd' => return class(digits()),
            'D' => return class(negated(digits())),
            's' => return class(white_space()),
            'S' => return class(negated(white_space())),
            'w' => return class(self.folded(word())),
            'W' => return class(negated(self.folded(word()))),
            'p' | 'P' if self.reading != Reading::AnnexB => match self.property(at)? {
                Some(set) if character == 'P' => return class(self.folded(negated(set))),
                Some(set) => return class(self.folded(set)),
                None => u32::from(character),
            },
            't' => 0x9,
            'n' => 0xa,
            'v' => 0xb,
            'f' => 0xc,
            'r' => 0xd,
            'a' if self.other() => 0x7,
            'e' if self.other() => 0x1b,
            'b' if in_class => 0x8,
            '-' if in_class => u32::from('-'),
            'c' => match self.peek() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.at += 1;
                    u32::from(letter) % 32
                }
                Some(digit @ ('0'..='9' | '_')) if in_class && !self.strict() => {
                    self.at += 1;
                    u32::from(digit) % 32
                }
                _ if self.strict() => return self.refuse(at, "'\\c' needs a letter"),
                // The backslash is a literal character, and so is the `c` after it.
                _ => {
                    self.at = begin;
                    u32::from('\\')
                }
            },
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => 0,
            '0'..='9' if self.strict() => return self.refuse(at, "this number is not an escape"),
            '0'..='9' => {
                self.at = begin;
                self.octal_or_itself()
            }
            'x' if self.other() && self.peek() == Some('{') => match self.code_point() {
                Some(code) => code,
                None => return self.refuse(at, "'\\x' needs two hexadecimal digits"),
            },
            'x' => match self.hex(2) {
                Some(code) => code,
                None if self.strict() => return self.refuse(at, "'\\x' needs two hexadecimal digits"),
                None => u32::from('x'),
            },
            'u' => match self.code_point() {
                Some(code) => code,
                None if self.strict() => {
                    return self.refuse(at, "'\\u' needs four hexadecimal digits, or a code point in braces");
                }
                None => u32::from('u'),
            },
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
                u32::from(character)
            }
            _ if self.strict() => return self.refuse(at, "there is no such escape"),
            'k' if !self.names.is_empty() => return self.refuse(at, "there is no such escape"),
            other => u32::from(other),
        }))
    }

    /// Parses the set in `{…}` after `\p`.
    fn property(&mut self, at: usize) -> Read<Option<ClassUnicode>> {
        let rest = self.rest();
        let inside = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(inside, _)| inside);
        match inside.map_or(Property::None, property) {
            Property::Known(set) => {
                self.at += inside.map_or(0, str::len) + 2;
                Ok(Some(set))
            }
            Property::Unknown => Err(Refusal { at, why: "this Unicode property is not supported", lacking: true }),
            Property::None if self.strict() => self.refuse(at, "there is no such property"),
            Property::None => Ok(None),
        }
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += digits;
        u32::from_str_radix(text, 16).ok()
    }

    /// Parses the code point after `\u`. A surrogate pair forms one code point.
    fn code_point(&mut self) -> Option<u32> {
        if self.reading != Reading::AnnexB
            && let Some((digits, _)) = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'))
        {
            let is = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let code = match digits.trim_start_matches('0') {
                "" => Some(0),
                digits => u32::from_str_radix(digits, 16).ok(),
            };
            if let Some(code) = code.filter(|code| is && *code <= 0x10_ffff) {
                self.at += digits.len() + 2;
                return Some(code);
            }
            return None;
        }
        let first = self.hex(4)?;
        let after = self.at;
        if (0xd800..0xdc00).contains(&first)
            && self.eat("\\u")
            && let Some(second) = self.hex(4).filter(|second| (0xdc00..0xe000).contains(second))
        {
            return Some(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        }
        self.at = after;
        Some(first)
    }

    /// Parses a class after its `[`.
    fn class(&mut self, begin: usize) -> Read<Node> {
        let negative = self.eat("^");
        let mut set = ClassUnicode::empty();
        let mut add = |member: &Member| match member {
            Member::One(code) => set.union(&single(*code)),
            Member::Class(class) => set.union(class),
        };
        loop {
            if self.eat("]") {
                break;
            }
            let at = self.at;
            let first = self.member(begin)?;
            let range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !range {
                add(&first);
                continue;
            }
            self.at += 1;
            let last = self.member(begin)?;
            match (&first, &last) {
                (Member::One(first), Member::One(last)) if first > last => {
                    return self.refuse(at, "the range is out of order");
                }
                (Member::One(first), Member::One(last)) => add(&Member::Class(ranges(&[(*first, *last)]))),
                _ if self.strict() => return self.refuse(at, "a class cannot be the end of a range"),
                _ => {
                    add(&first);
                    add(&last);
                    add(&Member::One(u32::from('-')));
                }
            }
        }
        let set = self.folded(set);
        Ok(Node::Set(if negative { negated(set) } else { set }))
    }

    fn member(&mut self, begin: usize) -> Read<Member> {
        let at = self.at;
        match self.next() {
            None => self.refuse(begin, "this class is not closed"),
            Some('\\') => self.member_escape(at, true),
            Some(character) => Ok(Member::One(u32::from(character))),
        }
    }

    /// Parses the name of a group up to its `>`.
    fn name(&mut self) -> Read<String> {
        let at = self.at;
        let mut name = String::new();
        let wrong = "this is not the name of a group";
        loop {
            let character = match self.next() {
                Some('>') if !name.is_empty() => return Ok(name),
                Some('\\') => {
                    let strict = std::mem::replace(&mut self.reading, Reading::Unicode);
                    let code = if self.eat("u") { self.code_point() } else { None };
                    self.reading = strict;
                    code.and_then(char::from_u32)
                }
                next => next,
            };
            let Some(character) = character else {
                return self.refuse(at, wrong);
            };
            let known = if name.is_empty() { "ID_Start" } else { "ID_Continue" };
            let other =
                matches!(character, '$' | '_') || (!name.is_empty() && matches!(character, '\u{200c}' | '\u{200d}'));
            let is = match character {
                'a'..='z' | 'A'..='Z' => true,
                '0'..='9' => !name.is_empty(),
                _ if other => true,
                _ if character.is_ascii() => false,
                _ => match property(known) {
                    Property::Known(set) => contains(&set, character),
                    _ => false,
                },
            };
            if !is {
                return self.refuse(at, wrong);
            }
            name.push(character);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    Yes,
    No,
}

fn concat(mut terms: Vec<Node>) -> Node {
    match terms.len() {
        0 => Node::Empty,
        1 => terms.pop().unwrap_or(Node::Empty),
        _ => Node::Concat(terms),
    }
}

pub(super) fn single(code: u32) -> ClassUnicode {
    ranges(&[(code, code)])
}

/// Builds a set from ranges. Omits surrogates, because no text contains them.
pub(super) fn ranges(of: &[(u32, u32)]) -> ClassUnicode {
    let mut set = ClassUnicode::empty();
    for (first, last) in of {
        let first = if (0xd800..0xe000).contains(first) { 0xe000 } else { *first };
        let last = if (0xd800..0xe000).contains(last) { 0xd7ff } else { *last };
        if let (Some(first), Some(last)) = (char::from_u32(first), char::from_u32(last))
            && first <= last
        {
            set.push(ClassUnicodeRange::new(first, last));
        }
    }
    set
}

fn negated(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

fn digits() -> ClassUnicode {
    ranges(&[(0x30, 0x39)])
}

pub(super) fn word() -> ClassUnicode {
    ranges(&[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)])
}

fn white_space() -> ClassUnicode {
    ranges(&[
        (0x9, 0xd),
        (0x20, 0x20),
        (0xa0, 0xa0),
        (0x1680, 0x1680),
        (0x2000, 0x200a),
        (0x2028, 0x2029),
        (0x202f, 0x202f),
        (0x205f, 0x205f),
        (0x3000, 0x3000),
        (0xfeff, 0xfeff),
    ])
}

/// Returns whether a set contains a character.
pub(super) fn contains(set: &ClassUnicode, character: char) -> bool {
    let ranges = set.ranges();
    let after = ranges.partition_point(|range| range.end() < character);
    ranges.get(after).is_some_and(|range| range.start() <= character)
}

/// Returns whether two characters are equal when case is ignored.
pub(super) fn same_but_for_case(one: char, other: char) -> bool {
    let mut set = single(u32::from(one));
    let _ = set.try_case_fold_simple();
    contains(&set, other)
}
