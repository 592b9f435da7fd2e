//! A second implementation of the rules of `docs/permissions.md`. It decides whether a value may have an origin. It is
//! simple and permissive: if it finds no origin for a value, the value must not have one.

use serde_json::Value;

/// All data that can prove an origin.
#[derive(Clone, Default)]
pub(crate) struct Evidence {
    pub(crate) said: Vec<String>,
    pub(crate) task: Value,
    pub(crate) context: Value,
    pub(crate) lists: Value,
    pub(crate) results: Vec<Seen>,
}

/// A result, and whether the attacker wrote it.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) tool: String,
    pub(crate) value: Value,
    pub(crate) is_attackers: bool,
}

/// The kind of proof that the oracle found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    None,
    /// The value is from an item of the attacker whose name the user mentioned. `named` allows it, and the
    /// documentation warns about it.
    Chosen,
    Trusted,
}

/// The number of items above which a run may forget some of them.
const FLOOD: usize = 400;

impl Evidence {
    /// Returns the proof that a value, given as JSON text, comes from one of the places of a rule.
    pub(crate) fn of(&self, literal: &str, from: &Value) -> Proof {
        let Ok(value) = serde_json::from_str::<Value>(literal) else { return Proof::None };
        let found = from.as_array().into_iter().flatten().map(|origin| self.at(&value, literal, origin));
        found.fold(Proof::None, |one, other| match (one, other) {
            (Proof::Trusted, _) | (_, Proof::Trusted) => Proof::Trusted,
            (Proof::Chosen, _) | (_, Proof::Chosen) => Proof::Chosen,
            _ => Proof::None,
        })
    }

    fn at(&self, value: &Value, literal: &str, origin: &Value) -> Proof {
        let trusted = |holds: bool| if holds { Proof::Trusted } else { Proof::None };
        if let Some(place) = origin.as_str() {
            return trusted(match place {
                "user" => self.said.iter().any(|text| in_text(value, literal, text)),
                "task" => within(value, literal, &self.task),
                context => within(value, literal, &self.context[context.trim_start_matches("context.")]),
            });
        }
        if let Some(name) = origin["list"].as_str() {
            return trusted(items(&self.lists[name]).any(|known| equal(value, literal, known)));
        }
        if origin["values"].is_array() {
            return trusted(items(&origin["values"]).any(|known| equal(value, literal, known)));
        }
        let text = value.as_str().unwrap_or_default();
        if origin["below"].is_array() {
            // `/srv//app/./a` is below `/srv/app`.
            let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
            let inside = format!("/{}/", parts.join("/"));
            let is_below = |folder: &str| inside.starts_with(&format!("{folder}/"));
            let is_clear = text.starts_with('/') && !parts.contains(&"..");
            return trusted(is_clear && items(&origin["below"]).filter_map(Value::as_str).any(is_below));
        }
        if origin["hosts"].is_array() {
            return trusted(items(&origin["hosts"]).filter_map(Value::as_str).any(|host| is_on(text, host)));
        }
        self.in_results(value, literal, origin)
    }

    fn in_results(&self, value: &Value, literal: &str, origin: &Value) -> Proof {
        let (tool, at) = (origin["tool"].as_str().unwrap_or_default(), origin["at"].as_str().unwrap_or_default());
        let results: Vec<&Seen> = self.results.iter().filter(|seen| seen.tool == tool).collect();
        let of = |seen: &Seen| if seen.is_attackers { Proof::Chosen } else { Proof::Trusted };
        let Some(named) = origin["named"].as_str() else {
            let has = |seen: &&&Seen| at_path(&seen.value, at).iter().any(|(_, one)| equal(value, literal, one));
            return results.iter().find(has).map_or(Proof::None, |seen| of(seen));
        };
        // Both paths consist of the same list with `[*]` and a member name.
        let item = |path: &str| path.rsplit_once('.').map(|(list, name)| (list.to_owned(), name.to_owned()));
        let (Some((list, value_of)), Some((_, name_of))) = (item(at), item(named)) else { return Proof::None };
        let all: Vec<(&Seen, &Value, &Value)> = results
            .iter()
            .flat_map(|seen| at_path(&seen.value, &list).into_iter().map(|(_, one)| (*seen, one)))
            .map(|(seen, one)| (seen, &one[&value_of], &one[&name_of]))
            .collect();
        let is_named = |name: &Value| {
            let text = Value::String(name.as_str().unwrap_or_default().to_owned());
            self.said.iter().any(|said| in_text(&text, "", said)) || within(&text, "", &self.task)
        };
        // The results of the attacker may be invalid, or so many that the run forgets other items. Therefore, only
        // items that the run certainly keeps make a name ambiguous.
        let kept = if all.len() > FLOOD { &[][..] } else { &all[..] };
        let is_taken = |name: &Value, known: &Value| {
            let others = kept.iter().filter(|(seen, ..)| !seen.is_attackers);
            { others }.any(|(_, other, same)| equal(name, "", same) && other.is_string() && !alike(other, known))
        };
        let found = all
            .iter()
            .find(|(_, known, name)| equal(value, literal, known) && is_named(name) && !is_taken(name, known));
        found.map_or(Proof::None, |(seen, ..)| of(seen))
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the values at a path of names and `[*]`, each with its list indices.
fn at_path<'v>(value: &'v Value, path: &str) -> Vec<(Vec<usize>, &'v Value)> {
    let mut found = vec![(Vec::new(), value)];
    for step in path.trim_start_matches('$').split('.').flat_map(|step| step.split_inclusive("[*]")) {
        let (name, is_each) = step.strip_suffix("[*]").map_or((step, false), |name| (name, true));
        if !name.is_empty() {
            found = found.into_iter().filter_map(|(at, one)| Some((at, one.get(name)?))).collect();
        }
        if is_each {
            let each = |(at, one): (Vec<usize>, &'v Value)| {
                let numbered = one.as_array().into_iter().flatten().enumerate();
                numbered.map(|(index, item)| ([&at[..], &[index]].concat(), item)).collect::<Vec<_>>()
            };
            found = found.into_iter().flat_map(each).collect();
        }
    }
    found
}

/// Returns whether a text is an address on a host that all programs parse in the same way.
fn is_on(text: &str, host: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://")).unwrap_or(&lower);
    let is_plain =
        text.chars().all(|character| !character.is_whitespace() && character != '\\' && !character.is_control());
    let end = rest.find(|character| "/?#:".contains(character)).unwrap_or(rest.len());
    let port = rest[end..].strip_prefix(':').map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_port = port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_host = match host.strip_prefix("*.") {
        Some(name) => rest[..end].strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
        None => &rest[..end] == host,
    };
    is_plain && is_port && is_host
}

fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Returns a text without surrounding blanks and quotes.
fn bare(text: &str) -> &str {
    text.trim_matches(|character: char| {
        (character.is_whitespace() && !is_control(character)) || "\"'`".contains(character)
    })
}

/// Returns a text with mail addresses and the hosts of URLs in lower case.
fn folded(text: &str) -> String {
    let is_mail = text.matches('@').count() == 1 && !text.contains(|character: char| character.is_whitespace());
    if is_mail && !text.contains("://") {
        return text.to_ascii_lowercase();
    }
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '?', '#', ':']).unwrap_or(rest.len());
            format!("{scheme}://{}{}", rest[..end].to_ascii_lowercase(), &rest[end..])
        }
        None => text.to_owned(),
    }
}

/// Returns the normalized sign, digits and exponent of a number. They are the same for equal numbers.
fn number(text: &str) -> Option<(bool, String, i64)> {
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].trim_start_matches('+').parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let kept = digits.trim_end_matches('0');
    let exponent = exponent.checked_add((digits.len() - kept.len()) as i64)? - fraction.len() as i64;
    let kept = kept.trim_start_matches('0');
    Some(if kept.is_empty() { (false, String::new(), 0) } else { (is_negative, kept.to_owned(), exponent) })
}

/// Returns whether a value is equal to a complete value.
fn equal(value: &Value, literal: &str, known: &Value) -> bool {
    match (value, known) {
        (Value::String(text), Value::String(known)) => {
            !bare(text).is_empty() && folded(bare(text)) == folded(bare(known))
        }
        (Value::String(text), Value::Number(known)) => bare(text) == known.to_string(),
        (Value::Number(_), Value::Number(known)) => number(literal) == number(&known.to_string()),
        (Value::Number(_), Value::String(known)) => number(literal) == number(&bare(known).replace(',', "")),
        (Value::Bool(one), Value::String(known)) => bare(known) == one.to_string(),
        _ => false,
    }
}

/// Returns whether two values of items are equal.
fn alike(one: &Value, other: &Value) -> bool {
    equal(one, &one.to_string(), other) || one == other
}

/// Returns whether a value is equal to a value in a document, or occurs in a text of the document.
fn within(value: &Value, literal: &str, document: &Value) -> bool {
    match document {
        Value::String(text) => in_text(value, literal, text),
        Value::Number(_) => value.is_number() && equal(value, literal, document),
        Value::Bool(_) => value == document,
        Value::Array(items) => items.iter().any(|item| within(value, literal, item)),
        Value::Object(members) => members.values().any(|member| within(value, literal, member)),
        Value::Null => false,
    }
}

const OPENING: &str = "\"'`([{<";
const CLOSING: &str = "\"'`)]}>";

/// Returns whether a value occurs in a text as a separate word.
fn in_text(value: &Value, literal: &str, text: &str) -> bool {
    match value {
        Value::String(word) => {
            let word = bare(word);
            let is_common = word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
            let is_truth = ["true", "false"].iter().any(|truth| word.eq_ignore_ascii_case(truth));
            if is_common || is_truth || !word.contains(char::is_alphanumeric) {
                return false;
            }
            let wanted = folded(word);
            let places = (0..text.len()).filter(|&at| text.is_char_boundary(at));
            { places }.any(|at| {
                let same = text[at..].get(..word.len()).is_some_and(|part| part == word || folded(part) == wanted);
                same && begins(&text[..at], word) && ends(&text[at + word.len()..], word)
            })
        }
        Value::Number(_) => {
            let wanted = number(literal);
            let bytes = text.as_bytes();
            let is_part = |byte: u8| byte.is_ascii_digit() || b".,eE+-".contains(&byte);
            let starts = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit() || bytes[at] == b'-');
            { starts }.any(|start| {
                let length = bytes[start..].iter().take_while(|byte| is_part(**byte)).count();
                (1..=length).any(|length| {
                    let (part, before, after) = (&text[start..start + length], &text[..start], &text[start + length..]);
                    let signs = ['$', '€', '£', '¥'];
                    let before = before.strip_suffix(signs).unwrap_or(before);
                    let after = after.strip_prefix(signs).unwrap_or(after);
                    let is_clear = part.matches(',').count() != 1 || part.contains('.');
                    let groups: Vec<&str> = part.split('.').next().unwrap_or_default().split(',').collect();
                    let is_grouped = groups.len() == 1 || groups[1..].iter().all(|group| group.len() == 3);
                    is_clear
                        && is_grouped
                        && part.ends_with(|last: char| last.is_ascii_digit())
                        && number(&part.replace(',', "")) == wanted
                        && begins(before, part)
                        && ends(after, part)
                })
            })
        }
        _ => false,
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || b".,eE+-".contains(&byte))
}

/// Returns whether a word may begin after a text.
fn begins(before: &str, word: &str) -> bool {
    let token = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let Some(last) = token.chars().next_back() else {
        // A group of digits in `1 500` is not a number of its own.
        let group = word.bytes().take_while(u8::is_ascii_digit).count() == 3;
        return !(group && before.trim_end().ends_with(|last: char| last.is_ascii_digit()));
    };
    let is_name = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    !token.contains("://")
        && match last {
            ':' => is_number(word),
            '=' => is_number(word) || is_name,
            ',' | ';' => word.contains('@'),
            last => OPENING.contains(last),
        }
}

/// Returns whether a word may end before a text.
fn ends(after: &str, word: &str) -> bool {
    let rest = after.trim_start_matches(|next| CLOSING.contains(next));
    let is_blank = |text: &str| text.chars().next().is_none_or(char::is_whitespace);
    if is_blank(rest) {
        let beyond = after.trim_start();
        let group = beyond.bytes().take_while(u8::is_ascii_digit).count() == 3;
        let is_split = beyond.len() < after.len() && group && word.ends_with(|last: char| last.is_ascii_digit());
        return !is_split;
    }
    let is_closed = rest.len() < after.len();
    let next = rest.chars().next().unwrap_or_default();
    let far = &rest[next.len_utf8()..];
    let is_over = is_blank(far) || CLOSING.contains(far.chars().next().unwrap_or_default());
    match next {
        '.' | '!' | '?' => is_over,
        ',' | ';' | ':' => {
            is_over
                || (word.contains('@') && next != ':')
                || (is_closed && OPENING.contains(far.chars().next().unwrap_or_default()))
        }
        '(' => is_closed,
        's' => is_closed && (is_blank(far) || ".,;:!?".contains(far.chars().next().unwrap_or_default())),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_follows_the_documentation() {
        let evidence = |said: &str| Evidence { said: vec![said.to_owned()], ..Evidence::default() };
        for (literal, said, is) in [
            (r#""bob@x.com""#, "Send it to Bob@X.com, please", true),
            (r#""bob@x.com""#, "Send it to bob@x.com.evil.org", false),
            (r#""x.com""#, "Send it to bob@x.com", false),
            (r#""bob""#, "Ask Bob", false),
            ("50", "Pay $50.", true),
            ("5e1", "Pay 50.00", true),
            ("1500", "Pay 1 500", false),
            ("500", "Pay 1 500", false),
            ("1000", "Pay 1,000", false),
            ("1000000", "Pay 1,000,000", true),
            (r#""13""#, "On 13 May", false),
            (r#""https://x.com""#, "Open https://x.com:8443", false),
            (r#""https://X.com/a""#, "Open https://x.com/a.", true),
            (r#""https://x.com/A""#, "Open https://x.com/a.", false),
            ("true", "true", false),
            ("null", "null", false),
        ] {
            let found = evidence(said).of(literal, &serde_json::json!(["user"]));
            assert_eq!(found == Proof::Trusted, is, "{literal} in {said:?}");
        }
    }
}
