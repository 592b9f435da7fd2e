//! Matches by tracking all states at once. Used if a table of the states would be too large: `[a-z]{1,512}` becomes a
//! single counting state.
//!
//! Each step in the text takes time for each active state, whatever the bounds of repetitions are. A counting state
//! stores the positions at which its repetitions began, and the distance from each position is the count.

use std::collections::VecDeque;

use super::{
    alphabet::{Alphabet, LetterClass},
    backtrack::starts,
    parse::{Assertion, Node, Repeat},
};

/// A pattern as states.
pub(super) struct States {
    states: Vec<State>,
    classes: Vec<LetterClass>,
    /// The number of counting states.
    counters: u32,
    /// `true` if the pattern can match only at the beginning.
    anchored: bool,
}

type Address = u32;

enum State {
    /// Reads one letter of a class and continues at the next state.
    One(u32),
    /// Reads `min` to `max` letters of a class.
    Count {
        class: u32,
        min: u32,
        max: u32,
        counter: u32,
    },
    Assert(Assertion),
    /// Continues at both addresses.
    Split(Address, Address),
    Jump(Address),
    Found,
}

/// The maximum number of states. Larger patterns are rejected.
const MAX_STATES: usize = 48 * 1024;

struct TooLarge;

impl States {
    /// Compiles a pattern, which must not need backtracking. Returns `None` if the pattern is too large.
    pub(super) fn of(node: &Node, alphabet: &Alphabet) -> Option<Self> {
        let states = States { states: Vec::new(), classes: Vec::new(), counters: 0, anchored: starts(node) };
        let mut maker = Maker { made: states, alphabet };
        maker.node(node).ok()?;
        maker.put(State::Found).ok()?;
        Some(maker.made)
    }

    /// Returns whether a text, encoded as letters, contains a match.
    pub(super) fn is_match(&self, mut letters: impl Iterator<Item = u8>) -> bool {
        let mut run = Run {
            of: self,
            seen: vec![0; self.states.len()],
            open: Vec::new(),
            reading: Vec::new(),
            begins: vec![VecDeque::new(); self.counters as usize],
            place: 0,
            before: None,
        };
        let mut entered: Vec<Address> = Vec::new();
        loop {
            let next = letters.next();
            if run.place == 0 || !self.anchored {
                entered.push(0);
            }
            run.place += 1;
            if run.enter(&mut entered, next) {
                return true;
            }
            let Some(letter) = next.filter(|_| !run.reading.is_empty() || !self.anchored) else {
                return false;
            };
            run.take(letter, &mut entered);
            run.before = next;
        }
    }
}

struct Maker<'a> {
    made: States,
    alphabet: &'a Alphabet,
}

impl Maker<'_> {
    fn put(&mut self, state: State) -> Result<usize, TooLarge> {
        let at = self.made.states.len();
        self.made.states.push(state);
        if at < MAX_STATES { Ok(at) } else { Err(TooLarge) }
    }

    fn here(&self) -> Address {
        self.made.states.len() as Address
    }

    fn node(&mut self, node: &Node) -> Result<(), TooLarge> {
        match node {
            Node::Character(_) | Node::Set(_) => self.count(node, 1, 1),
            Node::Concat(nodes) => nodes.iter().try_for_each(|node| self.node(node)),
            Node::Alternate(nodes) => self.alternate(nodes),
            Node::Group(_, node) | Node::Atomic(node) => self.node(node),
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Assert(assertion) => self.put(State::Assert(*assertion)).map(drop),
            // Unreachable: such patterns use the backtracking engine.
            Node::Empty | Node::Look(_) | Node::Back(..) => Ok(()),
        }
    }

    fn count(&mut self, of: &Node, min: u32, max: u32) -> Result<(), TooLarge> {
        let class = self.alphabet.class(of);
        let classes = &mut self.made.classes;
        let class = match classes.iter().rev().take(16).position(|known| *known == class) {
            Some(behind) => classes.len() - 1 - behind,
            None => {
                classes.push(class);
                classes.len() - 1
            }
        };
        let class = class as u32;
        if (min, max) == (1, 1) {
            return self.put(State::One(class)).map(drop);
        }
        let counter = self.made.counters;
        self.made.counters += 1;
        self.put(State::Count { class, min, max, counter }).map(drop)
    }

    fn alternate(&mut self, nodes: &[Node]) -> Result<(), TooLarge> {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let split = if index + 1 < nodes.len() { Some(self.put(State::Found)?) } else { None };
            self.node(node)?;
            if let Some(split) = split {
                jumps.push(self.put(State::Found)?);
                self.made.states[split] = State::Split(split as Address + 1, self.here());
            }
        }
        let end = self.here();
        jumps.into_iter().for_each(|jump| self.made.states[jump] = State::Jump(end));
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), TooLarge> {
        let (min, max) = (repeat.min, repeat.max.unwrap_or(u32::MAX));
        let mut inside = &repeat.node;
        while let Node::Group(_, node) = inside {
            inside = node;
        }
        if let Node::Character(_) | Node::Set(_) = inside {
            return if max == 0 { Ok(()) } else { self.count(inside, min, max) };
        }
        let mut last = self.here();
        for _ in 0..min {
            last = self.here();
            self.node(inside)?;
            if self.here() == last {
                // The node matches the empty text, so the number of repetitions does not matter.
                return Ok(());
            }
        }
        if max == u32::MAX {
            return if min > 0 {
                let on = self.here() + 1;
                self.put(State::Split(last, on)).map(drop)
            } else {
                let head = self.put(State::Found)?;
                self.node(inside)?;
                self.put(State::Jump(head as Address))?;
                self.made.states[head] = State::Split(head as Address + 1, self.here());
                Ok(())
            };
        }
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.put(State::Found)?);
            self.node(inside)?;
        }
        let end = self.here();
        splits.into_iter().for_each(|split| self.made.states[split] = State::Split(split as Address + 1, end));
        Ok(())
    }
}

struct Run<'s> {
    of: &'s States,
    /// For each state, the position at which it was last reached.
    seen: Vec<u32>,
    open: Vec<Address>,
    /// The states that read a letter at the current position.
    reading: Vec<Address>,
    /// For each counter, the positions at which its repetitions began, in order.
    begins: Vec<VecDeque<u32>>,
    /// The current position, counted from 1, because 0 in `seen` means never.
    place: u32,
    before: Option<u8>,
}

impl Run<'_> {
    /// Follows the states to those that read a letter. Returns whether the match is complete.
    fn enter(&mut self, entered: &mut Vec<Address>, next: Option<u8>) -> bool {
        self.open.append(entered);
        while let Some(at) = self.open.pop() {
            let seen = &mut self.seen[at as usize];
            if std::mem::replace(seen, self.place) == self.place {
                continue;
            }
            match self.of.states[at as usize] {
                State::Found => return true,
                State::Jump(to) => self.open.push(to),
                State::Split(first, second) => self.open.extend([first, second]),
                State::Assert(assertion) => {
                    if holds(assertion, self.before, next) {
                        self.open.push(at + 1);
                    }
                }
                State::One(_) => self.reading.push(at),
                State::Count { min, max, counter, .. } => {
                    let begins = &mut self.begins[counter as usize];
                    if begins.is_empty() {
                        self.reading.push(at);
                    }
                    // Without an upper limit, only the earliest repetition matters, because it has the highest count.
                    if begins.is_empty() || max != u32::MAX {
                        begins.push_back(self.place);
                    }
                    if min == 0 {
                        self.open.push(at + 1);
                    }
                }
            }
        }
        false
    }

    /// Reads a letter, which may complete counting states.
    fn take(&mut self, letter: u8, entered: &mut Vec<Address>) {
        let (of, place, begins) = (self.of, self.place, &mut self.begins);
        self.reading.retain(|at| {
            let (class, min, max, counter) = match of.states[*at as usize] {
                State::Count { class, min, max, counter } => (class, min, max, counter),
                State::One(class) => {
                    if of.classes[class as usize].has(letter) {
                        entered.push(*at + 1);
                    }
                    return false;
                }
                _ => return false,
            };
            let begins = &mut begins[counter as usize];
            if !of.classes[class as usize].has(letter) {
                begins.clear();
                return false;
            }
            let counted = begins.front().map_or(0, |begin| place + 1 - begin);
            if counted >= min {
                entered.push(*at + 1);
            }
            if counted >= max {
                begins.pop_front();
            }
            !begins.is_empty()
        });
    }
}

/// Returns whether an assertion holds between two letters. The letters of word characters and line ends are those
/// characters themselves, or represent others of the same kind.
fn holds(assertion: Assertion, before: Option<u8>, after: Option<u8>) -> bool {
    let word = |letter: Option<u8>| letter.is_some_and(|letter| letter == b'_' || letter.is_ascii_alphanumeric());
    match assertion {
        Assertion::Start => before.is_none(),
        Assertion::End => after.is_none(),
        Assertion::StartOfLine => matches!(before, None | Some(b'\n')),
        Assertion::EndOfLine => matches!(after, None | Some(b'\n')),
        Assertion::Boundary => word(before) != word(after),
        Assertion::NoBoundary => word(before) == word(after),
    }
}

/// Removes rounds at the edges of a pattern that do not affect whether it matches: those of a repetition beyond its
/// minimum. For example, a text that matches `a{2,9}b` also matches `aab`.
pub(super) fn without_slack(node: Node, edge: Edge) -> Node {
    match node {
        Node::Concat(mut nodes) => {
            while let Some(node) = edge.take(&mut nodes) {
                match without_slack(node, edge) {
                    Node::Empty => {}
                    node => {
                        edge.put(&mut nodes, node);
                        break;
                    }
                }
            }
            if nodes.is_empty() { Node::Empty } else { Node::Concat(nodes) }
        }
        Node::Alternate(nodes) => Node::Alternate(nodes.into_iter().map(|node| without_slack(node, edge)).collect()),
        Node::Group(number, node) => Node::Group(number, Box::new(without_slack(*node, edge))),
        Node::Repeat(repeat) => match repeat.min {
            0 => Node::Empty,
            1 => without_slack(repeat.node, edge),
            min => Node::Repeat(Box::new(Repeat { max: Some(min), ..*repeat })),
        },
        node => node,
    }
}

/// An end of a pattern.
#[derive(Clone, Copy)]
pub(super) enum Edge {
    First,
    Last,
}

impl Edge {
    fn take(self, nodes: &mut Vec<Node>) -> Option<Node> {
        match self {
            Edge::First => (!nodes.is_empty()).then(|| nodes.remove(0)),
            Edge::Last => nodes.pop(),
        }
    }

    fn put(self, nodes: &mut Vec<Node>, node: Node) {
        match self {
            Edge::First => nodes.insert(0, node),
            Edge::Last => nodes.push(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use regex_automata::nfa::thompson::{NFA, pikevm::PikeVM};

    use super::{
        super::{alphabet::Alphabet, backtrack::Program, parse::parse},
        *,
    };
    use crate::random::Random;

    impl Random {
        fn pattern(&mut self, depth: usize) -> String {
            let atoms = ["a", "b", "[ab]", "[^a]", ".", "c", "é", "\\d", "^", "$", "\\b", "\\B", ""];
            let bounds = ["", "", "?", "*", "+", "{0,2}", "{2,5}", "{3}", "{2,}", "{0,1}?", "{1,4}?", "{0}"];
            let bound = bounds[self.below(bounds.len())];
            if depth == 0 {
                let atom = atoms[self.below(atoms.len())];
                let repeats = !matches!(atom, "^" | "$" | "\\b" | "\\B" | "");
                return format!("{atom}{}", if repeats { bound } else { "" });
            }
            let first = self.pattern(depth - 1);
            let inner = match self.below(3) {
                0 => format!("{first}{}", self.pattern(depth - 1)),
                1 => format!("{first}|{}", self.pattern(depth - 1)),
                _ => first,
            };
            if self.below(2) == 0 { inner } else { format!("(?:{inner}){bound}") }
        }

        fn text(&mut self) -> String {
            (0..self.below(12)).map(|_| ['a', 'b', 'c', 'é', '1', '\n', ' '][self.below(7)]).collect()
        }
    }

    #[test]
    fn states_that_count_match_as_other_engines_do() {
        let mut random = Random(7);
        for _ in 0..4000 {
            let pattern = random.pattern(3);
            let Ok(parsed) = parse(&pattern) else { panic!("{pattern}") };
            let (alphabet, hir) = Alphabet::of(&parsed.node).expect("few letters");
            let nfa = NFA::compiler().configure(NFA::config().utf8(false)).build_from_hir(&hir).expect("a pattern");
            let other = PikeVM::new_from_nfa(nfa).expect("a pattern");
            let states = States::of(&parsed.node, &alphabet).expect("few states");
            let program = Program::new(&parsed);
            let mut short = parse(&pattern).unwrap_or_else(|_| panic!("{pattern}"));
            short.node = without_slack(without_slack(short.node, Edge::First), Edge::Last);
            let (short_alphabet, _) = Alphabet::of(&short.node).expect("few letters");
            let short = States::of(&short.node, &short_alphabet).expect("few states");
            for _ in 0..8 {
                let text = random.text();
                let letters: Vec<u8> = text.chars().map(|one| alphabet.letter(one)).collect();
                let is = other.is_match(&mut other.create_cache(), &letters);
                assert_eq!(states.is_match(letters.iter().copied()), is, "{pattern:?} {text:?}");
                let letters = text.chars().map(|one| short_alphabet.letter(one));
                assert_eq!(short.is_match(letters), is, "{pattern:?} {text:?}, without slack");
                let went_back = program.matches(&text, 100_000).unwrap_or(is);
                assert_eq!(went_back, is, "{pattern:?} {text:?}, going back");
            }
        }
    }
}
