//! The kinds of characters that a pattern distinguishes. Each kind is encoded as a one-byte letter.
//!
//! An automaton over letters is as large as the pattern. Over UTF-8, it would contain a byte tree for each occurrence
//! of a set: `\p{L}{1,64}` would become 64 trees with hundreds of states each.

use std::collections::{HashMap, HashSet};

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, Hir, Look, Repetition};

use super::parse::{Assertion, Node, ranges, single, word};
use crate::order::sort;

/// The maximum number of distinct sets.
const SETS: usize = 192;

pub(super) struct Alphabet {
    ascii: [u8; 128],
    /// The code points at which further kinds begin, in ascending order, with the letters of those kinds.
    rest: Vec<(u32, u8)>,
}

/// A kind of characters, as one bit for each set that contains it.
type Kind = [u64; SETS / 64];

fn is_in(kind: &Kind, set: usize) -> bool {
    kind[set / 64] >> (set % 64) & 1 == 1
}

/// A set of letters, as bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LetterClass([u64; 4]);

impl LetterClass {
    fn add(&mut self, letter: u8) {
        self.0[usize::from(letter / 64)] |= 1 << (letter % 64);
    }

    #[inline]
    pub(super) fn has(&self, letter: u8) -> bool {
        self.0[usize::from(letter / 64)] >> (letter % 64) & 1 == 1
    }
}

impl Alphabet {
    pub(super) fn letter(&self, character: char) -> u8 {
        let code = u32::from(character);
        match self.ascii.get(code as usize) {
            Some(letter) => *letter,
            None => {
                let after = self.rest.partition_point(|(begin, _)| *begin <= code);
                self.rest.get(after.wrapping_sub(1)).map_or(0, |(_, letter)| *letter)
            }
        }
    }

    /// Returns the letters of the characters that a node matches. The node is a character or a set.
    pub(super) fn class(&self, node: &Node) -> LetterClass {
        let mut class = LetterClass::default();
        match node {
            Node::Character(character) => class.add(self.letter(*character)),
            Node::Set(set) => {
                for (start, end) in set.ranges().iter().map(|range| (u32::from(range.start()), u32::from(range.end())))
                {
                    (start..=end.min(127)).for_each(|code| class.add(self.ascii[code as usize]));
                    let from = self.rest.partition_point(|(begin, _)| *begin <= start.max(128)).saturating_sub(1);
                    let kinds = self.rest.iter().skip(from).take_while(|(begin, _)| end >= 128 && *begin <= end);
                    kinds.for_each(|(_, letter)| class.add(*letter));
                }
            }
            _ => {}
        }
        class
    }

    /// Returns the alphabet of a pattern, and the pattern over its letters. `None` if the pattern distinguishes too
    /// many kinds of characters.
    pub(super) fn of(node: &Node) -> Option<(Self, Hir)> {
        let mut sets = Sets::default();
        sets.collect(node)?;
        // The letters of word characters and line ends are chosen so that assertions about them give the same results
        // as on the text.
        let words = sets.boundaries.then(|| sets.number(&word())).flatten();
        let lines = sets.lines.then(|| sets.number(&ranges(&[(0xa, 0xa)]))).flatten();
        let is_word = |letter: &u8| *letter == b'_' || letter.is_ascii_alphanumeric();
        let mut in_words = (0..=u8::MAX).filter(is_word);
        let mut others = (0..=u8::MAX).filter(|letter| !is_word(letter) && *letter != b'\n');

        let mut changes: Vec<(u32, usize)> = vec![(0, usize::MAX)];
        for (number, set) in sets.all.iter().enumerate() {
            for range in set.ranges() {
                changes.extend([(u32::from(range.start()), number), (u32::from(range.end()) + 1, number)]);
            }
        }
        sort(&mut changes);
        let mut alphabet = Alphabet { ascii: [0; 128], rest: Vec::new() };
        let mut letters: HashMap<Kind, u8> = HashMap::new();
        let mut kind = Kind::default();
        for (index, (begin, number)) in changes.iter().enumerate() {
            if *number != usize::MAX {
                kind[number / 64] ^= 1 << (number % 64);
            }
            let end = changes.get(index + 1).map_or(0x11_0000, |(next, _)| *next);
            if end == *begin || *begin >= 0x11_0000 {
                continue;
            }
            let letter = match letters.get(&kind) {
                Some(letter) => *letter,
                None => {
                    let has = |set: Option<usize>| set.is_some_and(|set| is_in(&kind, set));
                    let letter = if has(lines) {
                        Some(b'\n')
                    } else if has(words) {
                        in_words.next()
                    } else {
                        others.next()
                    }?;
                    letters.insert(kind, letter);
                    letter
                }
            };
            (*begin..end.min(128)).for_each(|code| alphabet.ascii[code as usize] = letter);
            if end > 128 {
                let begin = (*begin).max(128);
                if alphabet.rest.last().is_none_or(|(_, last)| *last != letter) {
                    alphabet.rest.push((begin, letter));
                }
            }
        }
        let classes = (0..sets.all.len()).map(|set| {
            let of = letters.iter().filter(|(kind, _)| is_in(kind, set));
            ClassBytes::new(of.map(|(_, letter)| ClassBytesRange::new(*letter, *letter)))
        });
        let classes: Vec<ClassBytes> = classes.collect();
        let class = |set: &ClassUnicode| {
            let class = sets.find(set).and_then(|number| classes.get(number)).cloned();
            Class::Bytes(class.unwrap_or_else(ClassBytes::empty))
        };
        // A literal character is the only character of its kind.
        let hir = over(node, &class, &|character| Hir::literal([alphabet.letter(character)]));
        Some((alphabet, hir))
    }
}

/// The distinct sets of a pattern.
#[derive(Default)]
struct Sets {
    all: Vec<ClassUnicode>,
    /// The indices of sets, by their first range and their number of ranges.
    known: HashMap<(u32, u32, usize), Vec<usize>>,
    characters: HashSet<char>,
    boundaries: bool,
    lines: bool,
}

impl Sets {
    fn key(set: &ClassUnicode) -> (u32, u32, usize) {
        let ranges = set.ranges();
        ranges.first().map_or((0, 0, 0), |first| (u32::from(first.start()), u32::from(first.end()), ranges.len()))
    }

    fn find(&self, set: &ClassUnicode) -> Option<usize> {
        self.known.get(&Self::key(set))?.iter().copied().find(|number| self.all[*number] == *set)
    }

    fn number(&mut self, set: &ClassUnicode) -> Option<usize> {
        if let Some(number) = self.find(set) {
            return Some(number);
        }
        let number = self.all.len();
        (number < SETS).then(|| {
            self.known.entry(Self::key(set)).or_default().push(number);
            self.all.push(set.clone());
            number
        })
    }

    fn collect(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Set(set) => self.number(set).map(drop),
            Node::Character(character) if self.characters.insert(*character) => {
                self.number(&single(u32::from(*character))).map(drop)
            }
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().try_for_each(|node| self.collect(node)),
            Node::Group(_, node) | Node::Atomic(node) => self.collect(node),
            Node::Repeat(repeat) => self.collect(&repeat.node),
            Node::Assert(assertion) => {
                self.boundaries |= matches!(assertion, Assertion::Boundary | Assertion::NoBoundary);
                self.lines |= matches!(assertion, Assertion::StartOfLine | Assertion::EndOfLine);
                Some(())
            }
            Node::Empty | Node::Character(_) | Node::Look(_) | Node::Back(..) => Some(()),
        }
    }
}

/// Converts a pattern without backtracking features to a [`Hir`]. `class` converts its sets, and `literal` converts its
/// characters.
pub(super) fn over(node: &Node, class: &dyn Fn(&ClassUnicode) -> Class, literal: &dyn Fn(char) -> Hir) -> Hir {
    match node {
        Node::Character(character) => literal(*character),
        Node::Set(set) => Hir::class(class(set)),
        Node::Concat(nodes) => Hir::concat(nodes.iter().map(|node| over(node, class, literal)).collect()),
        Node::Alternate(nodes) => Hir::alternation(nodes.iter().map(|node| over(node, class, literal)).collect()),
        Node::Group(_, node) | Node::Atomic(node) => over(node, class, literal),
        Node::Repeat(repeat) => Hir::repetition(Repetition {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            sub: Box::new(over(&repeat.node, class, literal)),
        }),
        Node::Assert(assertion) => Hir::look(match assertion {
            Assertion::Start => Look::Start,
            Assertion::End => Look::End,
            Assertion::StartOfLine => Look::StartLF,
            Assertion::EndOfLine => Look::EndLF,
            Assertion::Boundary => Look::WordAscii,
            Assertion::NoBoundary => Look::WordAsciiNegate,
        }),
        // Unreachable: such patterns use the backtracking engine.
        Node::Empty | Node::Look(_) | Node::Back(..) => Hir::empty(),
    }
}
