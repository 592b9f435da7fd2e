//! `pattern`: regular expressions (ECMA-262, as far as the engines go), compiled so that a match needs no memory of
//! its own wherever it can.

mod backtrack;
mod names;
mod parse;

use regex_automata::{
    Input,
    dfa::{Automaton, StartKind, dense},
    nfa::thompson::{NFA, WhichCaptures, pikevm::PikeVM},
};
use regex_syntax::hir::{self, Class, Hir};

use backtrack::Program;
use parse::{Assertion, Node, Reading};

/// The engine for `pattern`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Patterns {
    #[default]
    Linear,
    Backtracking,
}

/// What one pattern may take when it is compiled: beyond, it is refused. Ten times this takes all the fuel of a call.
const PATTERN_BYTES: usize = 1024 * 1024;

/// What the table of a pattern may take, and what making it may: beyond, the pattern is matched without one.
const TABLE_BYTES: usize = 64 * 1024;
const TABLE_MAKING_BYTES: usize = 256 * 1024;

/// Steps that one match of a pattern that goes back may take. A step takes up to 60 units of fuel, and what is wrong is
/// matched twice: more steps would take all the fuel of a call, and end in a fault where there can be a verdict.
pub(super) const BACKTRACKING_STEPS: usize = 200_000;

/// A compiled pattern.
pub(super) struct Pattern {
    /// As the schema has it.
    pub(super) text: String,
    engine: Engine,
}

enum Engine {
    /// `.*`, which asks nothing.
    Any,
    /// `^text`
    Prefix(String),
    /// `^text$`
    Exact(String),
    /// `^(text|text)$`, in ascending order.
    Alternatives(Vec<String>),
    /// A table of all states: one step for each byte, and nothing that is made while it runs.
    Table(Box<dense::DFA<Vec<u32>>>),
    /// For patterns whose table would be too large.
    States(Box<PikeVM>),
    Backtracking(Box<Program>),
}

/// A match that was not decided within `BACKTRACKING_STEPS`.
pub(super) struct Undecided;

impl Pattern {
    /// None for what the engine does not take.
    pub(super) fn compile(text: &str, patterns: Patterns) -> Option<Self> {
        let parsed = parse::parse(text).ok()?;
        let engine = match simple(&parsed.node) {
            Some(engine) => engine,
            None if !parsed.goes_back => linear(&parsed.node)?,
            None if patterns == Patterns::Backtracking => Engine::Backtracking(Box::new(Program::new(&parsed))),
            None => return None,
        };
        Some(Pattern { text: text.to_owned(), engine })
    }

    pub(super) fn matches(&self, text: &str) -> Result<bool, Undecided> {
        Ok(match &self.engine {
            Engine::Any => true,
            Engine::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Engine::Exact(exact) => text == exact,
            Engine::Alternatives(alternatives) => {
                alternatives.binary_search_by(|alternative| alternative.as_str().cmp(text)).is_ok()
            }
            Engine::Table(table) => match table.try_search_fwd(&Input::new(text).earliest(true)) {
                Ok(found) => found.is_some(),
                // It gives up on bytes it was told to, and was told of none.
                Err(_) => return Err(Undecided),
            },
            Engine::States(states) => states.is_match(&mut states.create_cache(), text),
            Engine::Backtracking(pattern) => pattern.matches(text, BACKTRACKING_STEPS).map_err(|_| Undecided)?,
        })
    }
}

/// What is to be said of a pattern that can be used.
pub(crate) struct Remarks {
    /// It needs an engine that goes back.
    pub(crate) goes_back: bool,
    /// It is read in another way than JSON Schema says, and why.
    pub(crate) loose: Option<String>,
}

pub(crate) fn remarks(text: &str) -> Option<Remarks> {
    let parsed = parse::parse(text).ok()?;
    let loose = parsed.refused.map(|refused| {
        let column = text.get(..refused.at).unwrap_or(text).chars().count() + 1;
        let how = match parsed.reading {
            Reading::Unicode | Reading::AnnexB => {
                "it is read as JavaScript reads it without the flag (ECMA-262, Annex B)"
            }
            Reading::Other => "JavaScript does not take it; it is read as other languages have it",
        };
        format!(
            "is no regular expression as JSON Schema has them, ECMA-262 with the flag 'u': at column {column}, {}; {how}",
            refused.why
        )
    });
    Some(Remarks { goes_back: parsed.goes_back, loose })
}

/// Whether a text is a regular expression by ECMA-262.
pub(super) fn is_pattern(text: &str) -> bool {
    parse::is_unicode(text)
}

/// What needs no automaton.
fn simple(node: &Node) -> Option<Engine> {
    let terms = match node {
        Node::Concat(terms) => &terms[..],
        other => std::slice::from_ref(other),
    };
    let (start, terms) = match terms {
        [Node::Assert(Assertion::Start), rest @ ..] => (true, rest),
        terms => (false, terms),
    };
    if terms.iter().all(asks_nothing) {
        return Some(Engine::Any);
    }
    let terms = if start { terms } else { return None };
    match terms {
        [one, Node::Assert(Assertion::End)] if literal(one).is_none() => {
            let Node::Alternate(alternatives) = inside(one) else {
                return None;
            };
            let mut texts = alternatives.iter().map(literal).collect::<Option<Vec<String>>>()?;
            texts.sort_unstable();
            Some(Engine::Alternatives(texts))
        }
        [rest @ .., Node::Assert(Assertion::End)] => literals(rest).map(Engine::Exact),
        all => literals(all).map(Engine::Prefix),
    }
}

/// What matches nothing, too, wherever it stands.
fn asks_nothing(node: &Node) -> bool {
    match node {
        Node::Empty => true,
        Node::Repeat(repeat) => repeat.min == 0 || asks_nothing(&repeat.node),
        Node::Group(_, node) => asks_nothing(node),
        Node::Concat(nodes) => nodes.iter().all(asks_nothing),
        Node::Alternate(nodes) => nodes.iter().any(asks_nothing),
        Node::Set(_) | Node::Assert(_) | Node::Look(_) | Node::Back(..) | Node::Atomic(_) => false,
    }
}

fn inside(node: &Node) -> &Node {
    match node {
        Node::Group(_, node) => inside(node),
        other => other,
    }
}

/// The one text that matches.
fn literal(node: &Node) -> Option<String> {
    match inside(node) {
        Node::Concat(nodes) => literals(nodes),
        other => literals(std::slice::from_ref(other)),
    }
}

fn literals(nodes: &[Node]) -> Option<String> {
    let one = |node: &Node| match node {
        Node::Set(set) => match set.ranges() {
            [range] if range.start() == range.end() => Some(range.start()),
            _ => None,
        },
        _ => None,
    };
    nodes.iter().map(one).collect()
}

fn linear(node: &Node) -> Option<Engine> {
    let config = NFA::config().which_captures(WhichCaptures::None).nfa_size_limit(Some(PATTERN_BYTES));
    let nfa = NFA::compiler().configure(config).build_from_hir(&hir(node)).ok()?;
    let config = dense::Config::new()
        .start_kind(StartKind::Unanchored)
        .accelerate(false)
        .dfa_size_limit(Some(TABLE_BYTES))
        .determinize_size_limit(Some(TABLE_MAKING_BYTES));
    Some(match dense::Builder::new().configure(config).build_from_nfa(&nfa) {
        Ok(table) => Engine::Table(Box::new(table)),
        Err(_) => Engine::States(Box::new(PikeVM::new_from_nfa(nfa).ok()?)),
    })
}

/// A pattern that does not go back, as the engine with tables has it.
fn hir(node: &Node) -> Hir {
    match node {
        Node::Set(set) => Hir::class(Class::Unicode(set.clone())),
        Node::Concat(nodes) => Hir::concat(nodes.iter().map(hir).collect()),
        Node::Alternate(nodes) => Hir::alternation(nodes.iter().map(hir).collect()),
        Node::Group(_, node) | Node::Atomic(node) => hir(node),
        Node::Repeat(repeat) => Hir::repetition(hir::Repetition {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            sub: Box::new(hir(&repeat.node)),
        }),
        Node::Assert(assertion) => Hir::look(match assertion {
            Assertion::Start => hir::Look::Start,
            Assertion::End => hir::Look::End,
            Assertion::StartOfLine => hir::Look::StartLF,
            Assertion::EndOfLine => hir::Look::EndLF,
            Assertion::Boundary => hir::Look::WordAscii,
            Assertion::NoBoundary => hir::Look::WordAsciiNegate,
        }),
        // What goes back is not asked for.
        Node::Empty | Node::Look(_) | Node::Back(..) => Hir::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_matches_as_ecma_262_has_it() {
        for (pattern, matching, other) in [
            ("^a-b", "a-bc", "xa-b"),
            ("^abc$", "abc", "abc\n"),
            ("^(a|b)$", "b", "ab"),
            ("b+c", "abbc", "ac"),
            ("^\\d{3}$", "123", "१२३"),
            ("^\\w+$", "a_1", "é"),
            ("\\s", "\u{feff}", "\u{200b}"),
            ("^.$", "é", "\n"),
            ("^\\p{L}+$", "éa", "é1"),
            ("\\bb\\b", "a b c", "abc"),
            ("\\bb\\b", "ébé", "_b"),
            ("a\\Bb", "ab", "a"),
            ("^[^a]{2,300}$", "bb", "ba"),
            ("^(\\p{L}|\\p{N}){1,9}$", "é1", "-"),
            ("\\cA\\/", "\u{1}/", "cA/"),
        ] {
            for patterns in [Patterns::Linear, Patterns::Backtracking] {
                let pattern = Pattern::compile(pattern, patterns).unwrap_or_else(|| panic!("{pattern} {patterns:?}"));
                assert!(pattern.matches(matching).is_ok_and(|is| is), "{} {matching:?}", pattern.text);
                assert!(pattern.matches(other).is_ok_and(|is| !is), "{} {other:?}", pattern.text);
            }
        }
        let looking = Pattern::compile("^(?=.*\\d)\\w+$", Patterns::Backtracking).expect("a pattern");
        assert!(looking.matches("a1").is_ok_and(|is| is) && looking.matches("a").is_ok_and(|is| !is));
        assert!(Pattern::compile("^(?=.*\\d)\\w+$", Patterns::Linear).is_none());
    }
}
