//! Reads the values in a text without using the core. Nothing here depends on how a text is repaired.
//!
//! [`scalars`] reads JSON. [`words`] reads any text, valid or not, and skips only unambiguous comments. In doubt, the
//! text is counted.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Returns the strings, numbers and literals of a JSON text, including member names. Strings are decoded, and the
/// others are as written.
pub fn scalars(json: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let end = end_of_string(rest);
                found.push(decoded(&rest[1..end - 1]));
                end
            }
            '{' | '}' | '[' | ']' | ',' | ':' | ' ' | '\n' | '\r' | '\t' => 1,
            _ => {
                let end = rest.find(['{', '}', '[', ']', ',', ':', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
                found.push(rest[..end].to_owned());
                end
            }
        };
        rest = &rest[length..];
    }
    found
}

/// Returns the end of the string at the beginning of a text.
fn end_of_string(text: &str) -> usize {
    let mut escaped = true;
    for (at, character) in text.char_indices() {
        match character {
            '"' if !escaped => return at + 1,
            _ => escaped = !escaped && character == '\\' && at > 0,
        }
    }
    text.len()
}

/// Returns the words of a text: the longest runs of letters and digits outside comments. Reads Python literals as JSON
/// literals.
pub fn words(text: &str) -> Vec<String> {
    let mut outside = String::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        match end_of_comment(text, at) {
            Some(end) => {
                outside.push(' ');
                at = end;
            }
            None => {
                outside.push(character);
                at += character.len_utf8();
            }
        }
    }
    all_words(&outside)
}

/// Returns the words of a text, inside and outside comments.
pub fn all_words(text: &str) -> Vec<String> {
    let literal = |word: &str| match word {
        "True" => "true".to_owned(),
        "False" => "false".to_owned(),
        "None" => "null".to_owned(),
        word => word.to_owned(),
    };
    let decoded = decoded(text);
    decoded.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(literal).collect()
}

/// Returns a text with its escapes decoded.
fn decoded(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let escape = rest.strip_prefix('\\').and_then(|after| after.chars().next());
        let unit = rest.get(2..6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let (read, length) = match (escape, unit) {
            (Some('u'), Some(unit)) => {
                units.push(unit);
                rest = &rest[6..];
                continue;
            }
            // The string is cut off.
            (Some('u'), None) => (' ', 1),
            (Some('n'), _) => ('\n', 2),
            (Some('t'), _) => ('\t', 2),
            (Some('r'), _) => ('\r', 2),
            (Some('b'), _) => ('\u{8}', 2),
            (Some('f'), _) => ('\u{c}', 2),
            (Some(other), _) => (other, 1 + other.len_utf8()),
            (None, _) => (character, character.len_utf8()),
        };
        units.extend_from_slice(read.encode_utf16(&mut [0; 2]));
        rest = &rest[length..];
    }
    String::from_utf16_lossy(&units)
}

/// Returns the end of the comment at a position, if it is unambiguously a comment.
fn end_of_comment(text: &str, at: usize) -> Option<usize> {
    let (before, rest) = (&text[..at], &text[at..]);
    let line = &before[before.rfind('\n').map_or(0, |found| found + 1)..];
    let in_pairs = |text: &str| text.replace("\\\"", "").matches('"').count().is_multiple_of(2);
    if !in_pairs(line) {
        return None;
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        let end = 4 + inside.find("*/")?;
        return in_pairs(&rest[..end]).then_some(at + end);
    }
    let inside = rest.strip_prefix("//").or_else(|| rest.strip_prefix('#'))?;
    let end = inside.find('\n').unwrap_or(inside.len());
    let (inside, next) = (&inside[..end], inside[end..].trim_start());
    let marked = line.trim().is_empty() || line.ends_with([' ', '\t', ',', '{', '}', '[', ']']);
    let holds_data = inside.contains(['"', '\'', '}', ']']) || inside.trim_end().ends_with(',');
    let has_space = inside.starts_with([' ', '\t']) || inside.trim().contains(' ');
    let before_a_member = next.starts_with('"') && next[end_of_string(next)..].trim_start().starts_with(':');
    let is_one = marked && !holds_data && !line.trim_end().ends_with(':') && (has_space || before_a_member);
    is_one.then(|| text.len() - rest.len() + (rest.find('\n').unwrap_or(rest.len())))
}

/// Returns the texts that are more frequent in one list than in the others together.
pub fn missing(from: &[String], found: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in found {
        *counts.entry(one).or_default() += 1;
    }
    let is_missing = |one: &&String| match counts.get_mut(*one).filter(|left| **left > 0) {
        Some(left) => {
            *left -= 1;
            false
        }
        None => true,
    };
    from.iter().filter(is_missing).cloned().collect()
}

/// Checks that a report's repairs keep each word of the original, and that text removed as a comment looks like one: it
/// has an end, and contains no bracket or member of its surroundings. Holds for reports under contracts without items.
///
/// # Errors
///
/// Returns an error if a change violates this.
pub fn repairs_keep_words(report: &Value, output: &str) -> Result<()> {
    let changes = report["changes"].as_array().context("changes")?;
    let has_second_escapes = changes.iter().any(|change| change["kind"] == "unescaped");
    for change in changes {
        let text = |name: &str| change[name].as_str().context("a text");
        let (kind, before, after) = (text("kind")?, text("before")?, text("after")?);
        if before.contains("… [") {
            continue;
        }
        let start = change["span"][0].as_u64().context("a span")? as usize;
        let is_kept = match kind {
            "comment" => is_comment(before, output[..start].trim_end_matches([' ', '\t', '\r'])),
            "around" | "dropped" | "stripped" | "closed_string" => true,
            // The change may remove the second escapes and repair something else in one step.
            _ if has_second_escapes && all_words(&decoded(before)) == all_words(after) => true,
            _ => all_words(before) == all_words(after),
        };
        ensure!(is_kept, "a word is lost or new: {change}");
    }
    Ok(())
}

/// Returns whether the text can only be a comment, given the text before it.
fn is_comment(text: &str, before: &str) -> bool {
    if text.starts_with("/*") {
        return text.len() > 3 && text.ends_with("*/") && text.matches('"').count().is_multiple_of(2);
    }
    let own_line = before.is_empty() || before.ends_with('\n');
    let mut depth = 0;
    let in_step = text.chars().all(|character| {
        depth += i32::from(matches!(character, '{' | '[')) - i32::from(matches!(character, '}' | ']'));
        depth >= 0
    });
    let has_member = text.split('"').skip(1).any(|after| after.trim_start().starts_with(':'));
    !text.contains('\n') && (own_line || (in_step && !has_member))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_of_json() {
        assert_eq!(
            scalars(r#"{"a\"\u00e9":[1.50,true,"x, \\"],"":null}"#),
            ["a\"é", "1.50", "true", "x, \\", "", "null"]
        );
    }

    #[test]
    fn one_change_may_remove_escapes_and_escape_a_control() {
        let after = r#"a \"h\u0000\"\nand b"#;
        let change = |before: &str| json!({"kind": "escaped", "before": before, "after": after, "span": [0, 0]});
        let escaped_twice = change("a \\\\\\\"h\0\\\\\\\"\\\\nand b");
        let unescaped = json!({"kind": "unescaped", "before": "\\\"", "after": "\"", "span": [0, 2]});
        assert!(repairs_keep_words(&json!({"changes": [unescaped, escaped_twice]}), "").is_ok());
        assert!(repairs_keep_words(&json!({"changes": [escaped_twice]}), "").is_err());
        assert!(repairs_keep_words(&json!({"changes": [unescaped, change("a h\\\\nor b")]}), "").is_err());
    }

    #[test]
    fn words_stand_outside_of_comments() {
        for (text, expected) in [
            ("{\"a\": True, // one\n'b': 2 # two\n}", &["a", "true", "b", "2"][..]),
            ("[#12, #34]", &["12", "34"]),
            ("[\n#12\n]", &["12"]),
            ("{\"u\": //cdn/x\n}", &["u", "cdn", "x"]),
            ("{\"u\": 1 // x, \"b\": 2\n}", &["u", "1", "x", "b", "2"]),
            ("{\"u\": \"a//b\", \"v\": \"#c d\"}", &["u", "a", "b", "v", "c", "d"]),
            ("{\"a\":1,//one\n\"b\":/* two */2}", &["a", "1", "b", "2"]),
            ("\"a\\nb\\u00e9\"", &["a", "bé"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(missing(&words("a b a c"), words("a c")), ["b", "a"]);
    }
}
