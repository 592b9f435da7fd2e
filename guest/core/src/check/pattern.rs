//! `pattern`: regular expressions (ECMA-262, as far as the engines go), compiled so that a match needs no memory of
//! its own wherever it can.

use jsonschema_regex::{PatternAnalysis, analyze_pattern, to_rust_regex};
use regex_automata::{
    Input,
    dfa::{Automaton, StartKind, dense},
    nfa::thompson::{NFA, WhichCaptures, pikevm::PikeVM},
    util::syntax,
};

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

/// Steps that one match of a backtracking pattern may take. A step takes up to 1,000 units of fuel, and what is wrong is
/// matched twice: more steps would take all the fuel of a call, and end in a fault where there can be a verdict.
pub(super) const BACKTRACKING_STEPS: usize = 20_000;

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
    Backtracking(Box<fancy_regex::Regex>),
}

/// A match that was not decided within `BACKTRACKING_STEPS`.
pub(super) struct Undecided;

impl Pattern {
    /// None for what the engine does not take.
    pub(super) fn compile(text: &str, patterns: Patterns) -> Option<Self> {
        let engine = match analyze_pattern(text) {
            _ if matches!(text, "" | "^" | ".*" | "^.*") => Engine::Any,
            Some(PatternAnalysis::Prefix(prefix)) => Engine::Prefix(prefix.into_owned()),
            Some(PatternAnalysis::Exact(exact)) => Engine::Exact(exact.into_owned()),
            Some(PatternAnalysis::Alternation(mut alternatives)) => {
                alternatives.sort_unstable();
                Engine::Alternatives(alternatives)
            }
            _ => {
                let translated = to_rust_regex(text).ok()?;
                match patterns {
                    Patterns::Linear => linear(&with_boundaries(&translated, ["(?-u:\\b)", "(?-u:\\B)"]))?,
                    Patterns::Backtracking => Engine::Backtracking(Box::new(
                        fancy_regex::RegexBuilder::new(&with_boundaries(&translated, [BOUNDARY, NO_BOUNDARY]))
                            .backtrack_limit(BACKTRACKING_STEPS)
                            .delegate_size_limit(PATTERN_BYTES)
                            .build()
                            .ok()?,
                    )),
                }
            }
        };
        Some(Pattern { text: text.to_owned(), engine })
    }

    /// Whether it can be that a match is not decided.
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
            Engine::Table(table) => match table.try_search_fwd(&Input::new(text).earliest(true)) {
                Ok(found) => found.is_some(),
                // It gives up on bytes it was told to, and was told of none.
                Err(_) => return Err(Undecided),
            },
            Engine::States(states) => states.is_match(&mut states.create_cache(), text),
            Engine::Backtracking(pattern) => pattern.is_match(text).map_err(|_| Undecided)?,
        })
    }
}

/// `\b` and `\B` for an engine whose own ones know the words of all languages.
const BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
const NO_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";

/// The same with other words for `\b` and `\B`: in ECMA-262 words are of ASCII letters, digits and `_`.
fn with_boundaries(pattern: &str, [boundary, no_boundary]: [&str; 2]) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    // How many classes are open: there an escape means something else.
    let mut classes = 0_usize;
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('b') if classes == 0 => out.push_str(boundary),
                Some('B') if classes == 0 => out.push_str(no_boundary),
                escaped => out.extend(['\\'].into_iter().chain(escaped)),
            },
            _ => {
                match character {
                    '[' => classes += 1,
                    ']' => classes = classes.saturating_sub(1),
                    _ => {}
                }
                out.push(character);
            }
        }
    }
    out
}

fn linear(translated: &str) -> Option<Engine> {
    let config = NFA::config().which_captures(WhichCaptures::None).nfa_size_limit(Some(PATTERN_BYTES));
    let parsed = syntax::parse(translated).ok()?;
    let nfa = NFA::compiler().configure(config).build_from_hir(&parsed).ok()?;
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
