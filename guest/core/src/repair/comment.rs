//! Decides whether an apparent comment may be data. The text then has two readings, and no repair is made.
//!
//! Text between `/*` and `*/` is a comment. Text after `//` or `#` is a comment only if it makes no sense as data. For
//! example, `#fff` after a colon is a colour, and `// x, "b": 1` beside a value contains a member.

use crate::parse::{
    is_plain_scalar,
    loose::{Bracket, Quotes, State, begins_line},
};

/// Returns whether an apparent comment may be data, judging by its content and the state of the enclosing container.
pub(crate) fn may_be_data(text: &str, (start, end): (usize, usize), state: Option<(Bracket, State)>) -> bool {
    let comment = &text[start..end];
    let inside = comment.trim_start_matches(['#', '/']);
    let half_a_string = !inside.matches('"').count().is_multiple_of(2);
    if comment.starts_with("/*") {
        return half_a_string;
    }
    if !inside.contains(|held: char| held.is_alphanumeric() || "\"'".contains(held)) {
        return false;
    }
    let hash = comment.starts_with('#');
    // The comment has no space after its mark: `#x`, `//x`.
    let glued = !inside.starts_with(|first: char| first.is_whitespace() || "\"'{[".contains(first));
    let own_line = begins_line(text, start);
    let as_one = glued && (hash || is_one_word(inside));
    let as_name = hash && glued && (has_name(inside) || inside.contains(['"', '\'']));
    let here = match state {
        Some((_, State::Value) | (Bracket::Array, State::First | State::Next)) => {
            as_one || (!own_line && inside.contains([',', '}', ']']))
        }
        Some((_, State::First | State::Next)) => as_name,
        Some((_, State::Colon)) => inside.contains(':'),
        // The comma before the comment may be missing.
        Some((bracket, State::After)) if own_line => match bracket {
            Bracket::Array => as_one,
            Bracket::Object => as_name,
        },
        Some((_, State::After)) | None => glued && is_beside_value(&text[..start], hash),
    };
    // A string, and the comma after it.
    let has_item = inside.contains('"') && inside.trim_end().ends_with(',');
    here || half_a_string || (!own_line && (has_item || has_member(inside) || swallows(inside)))
}

/// Returns whether text that follows a value may belong to that value: `12 #4`, `10//2`, `""//x"`.
fn is_beside_value(before: &str, hash: bool) -> bool {
    match hash {
        true => before.trim_end_matches([' ', '\t']).ends_with(char::is_alphanumeric),
        false => before.ends_with(|last: char| last.is_alphanumeric() || "\"'".contains(last)),
    }
}

/// Returns whether a text is a single word, apart from another comment.
fn is_one_word(text: &str) -> bool {
    let (_, after) = text.trim().split_once(char::is_whitespace).unwrap_or_default();
    after.is_empty() || after.trim_start().starts_with(['#', '/'])
}

/// Returns whether a text begins with a name and its colon.
fn has_name(text: &str) -> bool {
    let name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-' | '.');
    let after = text.trim_start_matches(name);
    after.len() < text.len() && after.trim_start().starts_with(':')
}

/// Returns whether a text has a quoted name with its colon.
fn has_member(text: &str) -> bool {
    text.split(|character| Quotes::opened_by(character).is_some())
        .skip(1)
        .any(|after| after.trim_start().starts_with(':'))
}

/// Returns whether a text has a comma outside its own brackets, followed by a member or a value.
fn swallows(text: &str) -> bool {
    let mut depth = 0_usize;
    text.char_indices().any(|(at, character)| {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return begins_data(text[at + 1..].trim_start()),
            _ => {}
        }
        false
    })
}

fn begins_data(text: &str) -> bool {
    let word = text.split([' ', '\t', '\r', ',', ':', '}', ']']).next().unwrap_or_default();
    text.starts_with(['"', '\'', '{', '[']) || is_plain_scalar(word) || has_name(text)
}
