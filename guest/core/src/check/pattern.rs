//! `pattern`: regular expressions (ECMA-262, as far as the engines support it). Where possible, matching allocates no
//! memory.

mod alphabet;
mod backtrack;
mod count;
mod names;
mod parse;

use regex_automata::{
    Input,
    dfa::{Automaton, StartKind, dense},
    nfa::thompson::{NFA, WhichCaptures, pikevm::PikeVM},
    util::start,
};
use regex_syntax::hir::{Class, Hir};

use alphabet::{Alphabet, over};
use backtrack::Program;
use count::{Edge, States, without_slack};
use parse::{Assertion, Node, Reading};

use crate::order::sort;

/// The engine for `pattern`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Patterns {
    #[default]
    Linear,
    Backtracking,
}

/// The maximum memory for compiling a pattern, in bytes. Larger patterns are rejected. Ten times this limit would use
/// up the fuel of a call.
const PATTERN_BYTES: usize = 1024 * 1024;

/// The maximum size of a pattern's table, and the maximum memory for building it, in bytes. Above it, the pattern is
/// matched without a table.
const TABLE_BYTES: usize = 32 * 1024;
const TABLE_MAKING_BYTES: usize = 128 * 1024;

/// The maximum number of steps for one match by backtracking. A step takes up to 200 units of fuel, and an invalid
/// value is matched twice. More steps could use up the fuel of a call, which would end in a fault instead of a verdict.
pub(super) const BACKTRACKING_STEPS: usize = 150_000;

/// A compiled pattern.
pub(super) struct Pattern {
    /// The pattern as written in the schema.
    pub(super) text: String,
    engine: Engine,
}

enum Engine {
    /// `.*`, which matches everything.
    Any,
    /// `^text`
    Prefix(String),
    /// `^text$`
    Exact(String),
    /// `^(text|text)$`, sorted.
    Alternatives(Vec<String>),
    /// A table of all states. Matching takes one step per letter and allocates nothing.
    Table(Letters, Box<dense::DFA<Vec<u32>>>),
    /// The states of the pattern, used if the table would be too large.
    States(Box<Alphabet>, Box<States>),
    /// Used if the table would be too large and the pattern has no alphabet.
    Pike(Box<PikeVM>),
    Backtracking(Box<Program>),
}

/// The encoding of the text that an automaton reads.
enum Letters {
    Alphabet(Box<Alphabet>),
    /// Used for patterns that distinguish too many characters for an alphabet.
    Utf8,
}

/// The match was not decided within `BACKTRACKING_STEPS`.
pub(super) struct Undecided;

impl Pattern {
    /// Returns `None` if the engine does not support the pattern.
    pub(super) fn compile(text: &str, patterns: Patterns) -> Option<Self> {
        if let Some(words) = words(text) {
            return Some(Pattern { text: text.to_owned(), engine: Engine::Alternatives(words) });
        }
        let mut parsed = parse::parse(text).ok()?;
        let simple = simple(&parsed.node);
        if simple.is_none() && !parsed.refers {
            // Only the existence of a match matters, not its extent.
            parsed.node = without_slack(without_slack(parsed.node, Edge::First), Edge::Last);
        }
        let engine = match simple {
            Some(engine) => engine,
            None if !parsed.goes_back => linear(&parsed.node)?,
            None if patterns == Patterns::Backtracking => Engine::Backtracking(Box::new(Program::new(&parsed))),
            None => return None,
        };
        Some(Pattern { text: text.to_owned(), engine })
    }

    /// Returns whether a match can be undecided.
    pub(super) fn can_be_undecided(&self) -> bool {
        matches!(self.engine, Engine::Backtracking(_))
    }

    pub(super) fn matches(&self, text: &str) -> Result<bool, Undecided> {
        Ok(match &self.engine {
            Engine::Any => true,
            Engine::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Engine::Exact(exact) => text == exact,
            Engine::Alternatives(alternatives) => {
                alternatives.binary_search_by(|alternative| alternative.as_str().cmp(text)).is_ok()
            }
            Engine::Table(letters, table) => match letters {
                Letters::Alphabet(alphabet) => in_table(table, text.chars().map(|one| alphabet.letter(one)))?,
                // The search fails only on quit bytes, and none are configured.
                Letters::Utf8 => match table.try_search_fwd(&Input::new(text).earliest(true)) {
                    Ok(found) => found.is_some(),
                    Err(_) => return Err(Undecided),
                },
            },
            Engine::States(alphabet, states) => states.is_match(text.chars().map(|one| alphabet.letter(one))),
            Engine::Pike(states) => states.is_match(&mut states.create_cache(), text),
            Engine::Backtracking(pattern) => pattern.matches(text, BACKTRACKING_STEPS).map_err(|_| Undecided)?,
        })
    }
}

/// Remarks about a usable pattern.
pub(crate) struct Remarks {
    /// `true` if the pattern needs backtracking.
    pub(crate) goes_back: bool,
    /// The reason why the pattern is invalid as JSON Schema defines it. Such a pattern is parsed by another
    /// grammar.
    pub(crate) loose: Option<String>,
}

pub(crate) fn remarks(text: &str) -> Option<Remarks> {
    let parsed = parse::parse(text).ok()?;
    let loose = parsed.refused.map(|refused| {
        let column = text.get(..refused.at).unwrap_or(text).chars().count() + 1;
        let how = match parsed.reading {
            Reading::Unicode | Reading::AnnexB => "it is read without the flag, as JavaScript does (ECMA-262, Annex B)",
            Reading::Other => "JavaScript rejects it; it is read as other languages do",
        };
        format!("is not a regular expression of ECMA-262 with the flag 'u': at column {column}, {}; {how}", refused.why)
    });
    Some(Remarks { goes_back: parsed.goes_back, loose })
}

/// The reason why a pattern is rejected.
pub(super) enum Why {
    /// The pattern is invalid.
    Invalid(&'static str),
    /// The pattern needs backtracking for this feature.
    GoesBack(&'static str),
}

/// Returns the byte offset at which a pattern is rejected, and the reason. `None` if the pattern is only too large.
pub(super) fn refused(text: &str) -> Option<(usize, Why)> {
    match parse::parse(text) {
        Err(refused) => Some((refused.at, Why::Invalid(refused.why))),
        Ok(parsed) if parsed.goes_back => Some(going_back(text)),
        Ok(_) => None,
    }
}

/// Returns the byte offset of a feature that needs backtracking, and the feature.
fn going_back(text: &str) -> (usize, Why) {
    let mut in_class = false;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let what = match rest.as_bytes() {
            [] => break,
            [b'\\', b'1'..=b'9' | b'k', ..] if !in_class => "back-references",
            [b'(', b'?', b'=' | b'!', ..] if !in_class => "look-ahead",
            [b'(', b'?', b'<', b'=' | b'!', ..] if !in_class => "look-behind",
            [first, ..] => {
                in_class = (in_class || *first == b'[') && *first != b']';
                let escape = usize::from(*first == b'\\');
                at += rest.chars().take(1 + escape).map(char::len_utf8).sum::<usize>();
                continue;
            }
        };
        return (at, Why::GoesBack(what));
    }
    (0, Why::GoesBack("look-around or back-references"))
}

/// Returns whether a text is a valid regular expression under ECMA-262.
pub(super) fn is_pattern(text: &str) -> bool {
    parse::is_unicode(text)
}

/// Returns the words of `^(one|two)$`, sorted. Such lists can be long and do not need the parser.
fn words(text: &str) -> Option<Vec<String>> {
    let inside = text.strip_prefix("^(")?.strip_suffix(")$")?;
    let inside = inside.strip_prefix("?:").unwrap_or(inside);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'|' | b'_' | b'-' | b' ');
    if !inside.bytes().all(plain) {
        return None;
    }
    let mut words: Vec<String> = inside.split('|').map(str::to_owned).collect();
    sort(&mut words);
    Some(words)
}

/// Returns an engine without an automaton, if the pattern is simple enough.
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
            sort(&mut texts);
            Some(Engine::Alternatives(texts))
        }
        [rest @ .., Node::Assert(Assertion::End)] => literals(rest).map(Engine::Exact),
        all => literals(all).map(Engine::Prefix),
    }
}

/// Returns whether a node can match the empty text at any position.
fn asks_nothing(node: &Node) -> bool {
    match node {
        Node::Empty => true,
        Node::Repeat(repeat) => repeat.min == 0 || asks_nothing(&repeat.node),
        Node::Group(_, node) => asks_nothing(node),
        Node::Concat(nodes) => nodes.iter().all(asks_nothing),
        Node::Alternate(nodes) => nodes.iter().any(asks_nothing),
        Node::Character(_) | Node::Set(_) | Node::Assert(_) | Node::Look(_) | Node::Back(..) | Node::Atomic(_) => false,
    }
}

fn inside(node: &Node) -> &Node {
    match node {
        Node::Group(_, node) => inside(node),
        other => other,
    }
}

/// Returns the text that a node matches, if it matches exactly one.
fn literal(node: &Node) -> Option<String> {
    match inside(node) {
        Node::Concat(nodes) => literals(nodes),
        other => literals(std::slice::from_ref(other)),
    }
}

fn literals(nodes: &[Node]) -> Option<String> {
    let one = |node: &Node| match node {
        Node::Character(character) => Some(*character),
        Node::Set(set) => match set.ranges() {
            [range] if range.start() == range.end() => Some(range.start()),
            _ => None,
        },
        _ => None,
    };
    nodes.iter().map(one).collect()
}

fn utf8(node: &Node) -> Hir {
    let literal = |character: char| Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes());
    over(node, &|set| Class::Unicode(set.clone()), &literal)
}

fn linear(node: &Node) -> Option<Engine> {
    let (letters, hir) = match Alphabet::of(node) {
        Some((alphabet, hir)) => (Letters::Alphabet(Box::new(alphabet)), hir),
        None => (Letters::Utf8, utf8(node)),
    };
    let config = NFA::config()
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(PATTERN_BYTES))
        .utf8(matches!(letters, Letters::Utf8));
    let nfa = NFA::compiler().configure(config).build_from_hir(&hir).ok();
    let config = dense::Config::new()
        .start_kind(StartKind::Unanchored)
        .accelerate(false)
        .dfa_size_limit(Some(TABLE_BYTES))
        .determinize_size_limit(Some(TABLE_MAKING_BYTES));
    let table = nfa.as_ref().and_then(|nfa| dense::Builder::new().configure(config).build_from_nfa(nfa).ok());
    Some(match (table, letters) {
        (Some(table), letters) => Engine::Table(letters, Box::new(table)),
        (None, Letters::Alphabet(alphabet)) => {
            let states = States::of(node, &alphabet)?;
            Engine::States(alphabet, Box::new(states))
        }
        (None, Letters::Utf8) => Engine::Pike(Box::new(PikeVM::new_from_nfa(nfa?).ok()?)),
    })
}

/// Returns whether a table finds a match. The table reports a match one letter late.
fn in_table(table: &dense::DFA<Vec<u32>>, letters: impl Iterator<Item = u8>) -> Result<bool, Undecided> {
    // The start state exists. The table fails only on quit letters, and none are configured.
    let mut state = table.start_state(&start::Config::new()).map_err(|_| Undecided)?;
    for letter in letters {
        state = table.next_state(state, letter);
        if table.is_special_state(state) {
            if table.is_match_state(state) || table.is_dead_state(state) {
                return Ok(table.is_match_state(state));
            }
            if table.is_quit_state(state) {
                return Err(Undecided);
            }
        }
    }
    Ok(table.is_match_state(table.next_eoi_state(state)))
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
