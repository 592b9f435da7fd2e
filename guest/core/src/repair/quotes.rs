//! Decides whether unescaped quotes inside a string belong to it. They do if they mark words in pairs, inches, or a
//! missing letter. A single extra quote may be a mistake, or the remains of another string.

use super::scalar;
use crate::parse::loose::Quotes;

/// The maximum number of quotes inside a string. A string with more is in doubt.
const MAX_INSIDE: usize = 64;

/// Returns whether a string with unescaped quotes inside has another reading. `close` is its closing quote.
pub(super) fn are_in_doubt(content: &str, quotes: Quotes, close: &str) -> bool {
    let single = matches!(quotes, Quotes::Single | Quotes::SmartSingle);
    let mut inside: Vec<Quote> = places(content, quotes).take(MAX_INSIDE + 1).collect();
    if inside.len() > MAX_INSIDE {
        return true;
    }
    // Curly quotes come in pairs, so a straight quote inside does not end the string.
    if !close.is_ascii() {
        inside.retain(|quote| !content[quote.start..quote.end].is_ascii());
    }
    let is_other = |quote: &Quote| close.starts_with(['"', '\'']) && !content[quote.start..].starts_with(close);
    let (mut opened, mut in_doubt) = (None, inside.iter().any(is_other));
    for quote in &inside {
        let Quote { start, end, before, after } = *quote;
        let (after_word, before_word) =
            (before.is_some_and(char::is_alphanumeric), after.is_some_and(char::is_alphanumeric));
        match opened {
            _ if single && after_word && before_word => {}
            None if end < content.len() && before.is_some_and(|before| is_sign(before, single)) => {
                in_doubt |= begins_value(&content[end..]);
            }
            None => {
                in_doubt |= after_word || after.is_none_or(char::is_whitespace);
                opened = Some(quote);
            }
            Some(first) => {
                // The quotes are adjacent, span the whole string, or are inches after an extra quote.
                let whole = first.start == 0 && end == content.len();
                let inches = first.start == 0 && before.is_some_and(|before| before.is_ascii_digit());
                in_doubt |= first.end == start || whole || inches;
                in_doubt |= before_word || before.is_none_or(char::is_whitespace);
                opened = None;
            }
        }
    }
    let in_a_row = inside.windows(2).any(|pair| pair[0].end == pair[1].start);
    in_doubt || in_a_row || opened.is_some()
}

/// Returns whether a name in these quotes contains quotes that are not apostrophes.
pub(super) fn are_in_name(name: &str, quotes: Quotes) -> bool {
    let is_apostrophe = |quote: &Quote| {
        matches!(quotes, Quotes::Single | Quotes::SmartSingle)
            && quote.before.is_some_and(char::is_alphabetic)
            && quote.after.is_some_and(char::is_alphabetic)
    };
    !places(name, quotes).all(|quote| is_apostrophe(&quote))
}

/// Returns whether a quote after a character has its own meaning: inches, or a missing letter.
fn is_sign(before: char, single: bool) -> bool {
    if single { before.is_alphanumeric() } else { before.is_ascii_digit() }
}

/// Returns whether a value or another line begins at the possible end of a string.
fn begins_value(text: &str) -> bool {
    let line = text.trim_start_matches([' ', '\t', '\r']);
    let word = line.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
    line.starts_with(['\n', '{', '[']) || scalar(word).is_some()
}

/// A quote inside a string, and the characters on either side.
#[derive(Clone, Copy)]
struct Quote {
    start: usize,
    end: usize,
    before: Option<char>,
    after: Option<char>,
}

/// Returns the unescaped quotes inside the string that may end it.
fn places(content: &str, quotes: Quotes) -> impl Iterator<Item = Quote> {
    let (mut escaped, mut before) = (false, None);
    let quote = move |(start, character): (usize, char)| {
        let end = start + character.len_utf8();
        let is_quote = !escaped && quotes.closed_by(character);
        escaped = !escaped && character == '\\';
        let quote = Quote { start, end, before, after: content[end..].chars().next() };
        before = Some(character);
        is_quote.then_some(quote)
    };
    content.char_indices().filter_map(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_come_in_pairs_or_are_signs() {
        for (content, quotes, expected) in [
            ("the \"best\" one", Quotes::Double, false),
            ("say \"hi\"", Quotes::Double, false),
            ("\"hi\" he said", Quotes::Double, false),
            ("<a href=\"x\">", Quotes::Double, false),
            ("a 24\" screen", Quotes::Double, false),
            ("5\" x 7\" card", Quotes::Double, false),
            ("A7\"", Quotes::Double, true),
            ("\"A7", Quotes::Double, true),
            ("\"A7\"", Quotes::Double, true),
            ("\"\"A7", Quotes::Double, true),
            ("say \"\"hi\"\" now", Quotes::Double, true),
            ("a \"b", Quotes::Double, true),
            ("fo\"o", Quotes::Double, true),
            ("\"5\" pipe", Quotes::Double, true),
            ("it's", Quotes::Single, false),
            ("dogs' bowls", Quotes::Single, false),
            ("rock 'n' roll", Quotes::Single, false),
            ("dogs'", Quotes::Single, true),
            ("'tis", Quotes::Single, true),
        ] {
            let close = if quotes == Quotes::Double { "\"" } else { "'" };
            assert_eq!(are_in_doubt(content, quotes, close), expected, "{content}");
        }
        assert!(are_in_doubt("x” y", Quotes::SmartDouble, "\""));
        assert!(!are_in_doubt("5\"", Quotes::SmartDouble, "”"));
    }
}
