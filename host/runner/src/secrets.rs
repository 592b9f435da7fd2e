//! Secrets of the user. Their values are inserted into a call when it is sent, and replaced by their names in
//! everything that servers and tools write. Neither the kernel nor the journal nor the model sees a value.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fmt,
    ops::Range,
    path::{Path, PathBuf},
};

use seamgate::{Secret, read_named};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::error::{AddContext, Result, bail};

/// The permitted lengths of a value, in bytes. A shorter value would occur in many texts by chance.
const LENGTHS: Range<usize> = 6..4097;
/// The beginning of a reference.
const PREFIX: &str = "secret:";
/// The number of levels of escapes that a search undoes: those of a message, of JSON in one of its texts, and of JSON
/// inside that.
const MAX_LEVELS: usize = 3;
/// The most bytes that an escape of one byte takes.
const ESCAPED: usize = 6;

/// The source of a secret's value.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// A variable of this process's environment.
    Env(String),
    /// A file, whose path is relative to the folder of the servers file.
    File(PathBuf),
}

/// The values of secrets, by their names. They are never printed.
#[derive(Default)]
pub struct Secrets {
    values: BTreeMap<String, String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.values.keys()).finish()
    }
}

impl Secrets {
    /// Reads the values of the named secrets. `folder` is that of the servers file.
    ///
    /// # Errors
    ///
    /// A secret has no source, or its value is not permitted. The error names the secret, and never contains a value.
    pub fn read(names: &BTreeSet<String>, sources: &BTreeMap<String, SecretSource>, folder: &Path) -> Result<Self> {
        let mut values = BTreeMap::new();
        for name in names {
            let Some(source) = sources.get(name) else {
                bail!(
                    "the profile names the secret {name:?}: say in \"secrets\" of a servers file where its value comes from"
                );
            };
            let value = source.value(folder).with_context(|| format!("the secret {name:?}"))?;
            values.insert(name.clone(), value);
        }
        let secrets = Secrets::of(values)?;
        if !secrets.is_empty() {
            let logged = Secrets { values: secrets.values.clone() };
            seamgate_text::hide_in_log(move |text| logged.hide(text));
        }
        Ok(secrets)
    }

    fn of(values: BTreeMap<String, String>) -> Result<Self> {
        for (name, value) in &values {
            if !LENGTHS.contains(&value.len()) {
                bail!("the secret {name:?}: its value must have {} to {} bytes", LENGTHS.start, LENGTHS.end - 1);
            }
            if value.chars().any(char::is_control) {
                bail!("the secret {name:?}: its value must be one line without control characters");
            }
            if values.keys().any(|other| reference(other).contains(value.as_str())) {
                bail!("the secret {name:?}: its value must not be a part of what replaces the value of a secret");
            }
        }
        Ok(Secrets { values })
    }

    /// Inserts the values of secrets into JSON text. Their places are JSON Pointers, relative to the value at `root`.
    ///
    /// # Errors
    ///
    /// There is no such secret, or there is no reference to it at its place. The error says why, and contains no value.
    pub fn fill(&self, text: &str, root: &str, secrets: &[Secret]) -> Result<String, String> {
        let mut text = text.to_owned();
        for Secret { at, name } in secrets {
            let Some(value) = self.values.get(name) else {
                return Err(format!("there is no secret {name:?}: name it in \"secrets\" of the servers file"));
            };
            let pointer = format!("{root}{at}");
            let way: Vec<String> =
                pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
            text = filled(&text, &way, &reference(name), value)
                .ok_or_else(|| format!("the arguments do not name the secret {name:?} at {at}"))?;
        }
        Ok(text)
    }

    /// Replaces each value in a server's output by the name of its secret.
    ///
    /// Also finds values that are escaped as in JSON, up to three times, or percent-encoded. JSON stays valid JSON.
    pub fn hide(&self, text: String) -> String {
        if self.is_empty() {
            return text;
        }
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        let mut found = self.find(text.as_bytes(), is_json);
        if found.is_empty() {
            return text;
        }
        // A value outside of the strings of JSON is a number.
        let strings = if is_json { Strings::of(text.as_bytes()) } else { Strings::default() };
        for (range, _) in &mut found {
            if is_json && !strings.contain(range.start) {
                *range = token(text.as_bytes(), range);
            }
        }
        let mut hidden = String::with_capacity(text.len());
        let mut done = 0;
        for (range, name) in found {
            if range.end <= done {
                continue;
            }
            let start = range.start.max(done);
            hidden.push_str(text.get(done..start).unwrap_or_default());
            match is_json && !strings.contain(start) {
                true => hidden.push_str(&format!("\"{}\"", reference(name))),
                false => hidden.push_str(&reference(name)),
            }
            done = range.end;
        }
        hidden.push_str(text.get(done..).unwrap_or_default());
        hidden
    }

    /// Hides values in a truncated text. Removes its last bytes, because they could be the beginning of a value.
    pub fn hide_cut(&self, text: String) -> String {
        let mut hidden = self.hide(text);
        let mut end = hidden.len().saturating_sub(self.margin());
        while !hidden.is_char_boundary(end) {
            end -= 1;
        }
        hidden.truncate(end);
        hidden
    }

    /// Returns the most bytes at the end of a text that can be part of a value.
    pub fn margin(&self) -> usize {
        self.values.values().map(String::len).max().unwrap_or_default() * ESCAPED
    }

    /// Returns whether there is no secret.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the ranges of values, in order and without overlaps, each with the name of the first secret in it.
    fn find(&self, text: &[u8], is_json: bool) -> Vec<(Range<usize>, &str)> {
        let mut found = Vec::new();
        let mut view = View { bytes: text.to_vec(), maps: Vec::new() };
        // In raw JSON, a value could begin in the middle of an escape.
        if let Some(decoded) = is_json.then(|| view.decoded(escape)).flatten() {
            view = decoded;
        }
        for level in 0..=MAX_LEVELS {
            self.find_in(&view, &mut found);
            if let Some(decoded) = view.decoded(percent) {
                self.find_in(&decoded, &mut found);
            }
            match view.decoded(escape).filter(|_| level < MAX_LEVELS) {
                Some(next) => view = next,
                None => break,
            }
        }
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut merged: Vec<(Range<usize>, &str)> = Vec::new();
        for (range, name) in found {
            match merged.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push((range, name)),
            }
        }
        merged
    }

    fn find_in<'s>(&'s self, view: &View, found: &mut Vec<(Range<usize>, &'s str)>) {
        for (name, value) in &self.values {
            let value = value.as_bytes();
            let mut from = 0;
            while let Some(at) = find(&view.bytes[from..], value) {
                let start = from + at;
                found.push((view.raw(start..start + value.len()), name));
                from = start + value.len();
            }
        }
    }
}

impl SecretSource {
    fn value(&self, folder: &Path) -> Result<String> {
        match self {
            SecretSource::Env(variable) => match env::var(variable) {
                Ok(value) if !value.is_empty() => Ok(value),
                Ok(_) | Err(env::VarError::NotPresent) => {
                    bail!("set the variable {variable}: it is empty or not set")
                }
                Err(env::VarError::NotUnicode(_)) => bail!("the variable {variable} is not UTF-8"),
            },
            SecretSource::File(path) => {
                let path = folder.join(path);
                let bytes = read_named(&path, LENGTHS.end + 2).with_context(|| path.display().to_string())?;
                let Ok(text) = String::from_utf8(bytes) else { bail!("{}: it is not UTF-8", path.display()) };
                let line = text.strip_suffix('\n').unwrap_or(&text);
                Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
            }
        }
    }

    /// Returns the variable that has the value.
    pub fn variable(&self) -> Option<&str> {
        match self {
            SecretSource::Env(variable) => Some(variable),
            SecretSource::File(_) => None,
        }
    }
}

fn reference(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Returns JSON text with a value in place of a reference. `None` if the reference is not there.
fn filled(text: &str, way: &[String], reference: &str, value: &str) -> Option<String> {
    let Some((step, rest)) = way.split_first() else {
        let is_it = serde_json::from_str::<String>(text).is_ok_and(|text| text == reference);
        return serde_json::to_string(value).ok().filter(|_| is_it);
    };
    if text.trim_start().starts_with('[') {
        let mut items: Vec<Box<RawValue>> = serde_json::from_str(text).ok()?;
        let item = items.get_mut(step.parse::<usize>().ok()?)?;
        *item = RawValue::from_string(filled(item.get(), rest, reference, value)?).ok()?;
        let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
        return Some(format!("[{}]", items.join(",")));
    }
    let Members(mut members) = serde_json::from_str(text).ok()?;
    let (_, member) = members.iter_mut().find(|(name, _)| name == step)?;
    *member = RawValue::from_string(filled(member.get(), rest, reference, value)?).ok()?;
    let member =
        |(name, value): &(String, Box<RawValue>)| Some(format!("{}:{value}", serde_json::to_string(name).ok()?));
    Some(format!("{{{}}}", members.iter().map(member).collect::<Option<Vec<_>>>()?.join(",")))
}

/// The members of an object, in their order, with their values as they are written.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// A text in which escapes are undone, and where each byte of it stands in the text as it was written.
struct View {
    bytes: Vec<u8>,
    /// The escapes that were undone, the most recent last.
    maps: Vec<Vec<Undone>>,
}

/// An escape that was undone: its range, and the range of the bytes that it represents.
struct Undone {
    raw: Range<usize>,
    decoded: Range<usize>,
}

/// Parses an escape at the beginning of some bytes. Returns its length, and the bytes that it represents.
type ReadEscape = fn(&[u8]) -> Option<(usize, Vec<u8>)>;

impl View {
    /// Undoes escapes. Returns `None` if the text has no escape.
    fn decoded(&self, read: ReadEscape) -> Option<View> {
        let (mut bytes, mut map) = (Vec::with_capacity(self.bytes.len()), Vec::new());
        let mut at = 0;
        while let Some(&byte) = self.bytes.get(at) {
            let escape = if matches!(byte, b'\\' | b'%') { read(&self.bytes[at..]) } else { None };
            if let Some((length, stands_for)) = escape {
                let start = bytes.len();
                bytes.extend_from_slice(&stands_for);
                map.push(Undone { raw: at..at + length, decoded: start..bytes.len() });
                at += length;
            } else {
                bytes.push(byte);
                at += 1;
            }
        }
        if map.is_empty() {
            return None;
        }
        let maps = self.maps.iter().map(|map| map.iter().map(Undone::again).collect()).chain([map]).collect();
        Some(View { bytes, maps })
    }

    /// Converts a range in the decoded text to the range in the original text. An escape is included completely or not
    /// at all.
    fn raw(&self, range: Range<usize>) -> Range<usize> {
        self.maps.iter().rev().fold(range, |Range { start, end }, map| {
            let before = |at: usize| map[..map.partition_point(|undone| undone.decoded.start <= at)].last();
            let from = before(start).map_or(start, |undone| match start < undone.decoded.end {
                true => undone.raw.start,
                false => undone.raw.end + (start - undone.decoded.end),
            });
            let to = before(end.saturating_sub(1)).map_or(end, |undone| match end <= undone.decoded.end {
                true => undone.raw.end,
                false => undone.raw.end + (end - undone.decoded.end),
            });
            from..to
        })
    }
}

impl Undone {
    fn again(&self) -> Undone {
        Undone { raw: self.raw.clone(), decoded: self.decoded.clone() }
    }
}

/// Reads an escape of JSON.
fn escape(bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let one = |byte: u8| Some((2, vec![byte]));
    match bytes {
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => one(*byte),
        [b'\\', b'b', ..] => one(8),
        [b'\\', b'f', ..] => one(12),
        [b'\\', b'n', ..] => one(b'\n'),
        [b'\\', b'r', ..] => one(b'\r'),
        [b'\\', b't', ..] => one(b'\t'),
        [b'\\', b'u', rest @ ..] => {
            let unit = |digits: Option<&[u8]>| {
                let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
                u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
            };
            let first = unit(rest.get(..4))?;
            let second = rest.get(4..6).filter(|begin| *begin == b"\\u").and_then(|_| unit(rest.get(6..10)));
            let both = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
            let pair = both.filter(|character| character.len_utf16() == 2).map(|character| (12, character));
            let (length, character) =
                pair.unwrap_or((6, char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER)));
            Some((length, character.to_string().into_bytes()))
        }
        _ => None,
    }
}

/// Reads a byte that is percent-encoded.
fn percent(bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let [b'%', digits @ ..] = bytes else { return None };
    let digits = digits.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    Some((3, vec![u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?]))
}

/// Returns the first position of `part` in some bytes.
fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    let first = *part.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|&byte| byte == first) {
        if bytes[from + at..].starts_with(part) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// The strings of a JSON text, including their quotes, in order.
#[derive(Default)]
struct Strings(Vec<Range<usize>>);

impl Strings {
    fn of(json: &[u8]) -> Self {
        let (mut strings, mut at) = (Vec::new(), 0);
        while at < json.len() {
            if json[at] == b'"' {
                let start = at;
                at += 1;
                while at < json.len() && json[at] != b'"' {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
                strings.push(start..at + 1);
            }
            at += 1;
        }
        Strings(strings)
    }

    fn contain(&self, place: usize) -> bool {
        let before = self.0.partition_point(|string| string.start <= place);
        self.0[..before].last().is_some_and(|string| string.contains(&place))
    }
}

/// Returns the JSON token that contains a range.
fn token(json: &[u8], range: &Range<usize>) -> Range<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let before = json[..range.start].iter().rev().take_while(|byte| is_part(byte)).count();
    let after = json[range.end..].iter().take_while(|byte| is_part(byte)).count();
    range.start - before..range.end + after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[(&str, &str)]) -> Result<Secrets> {
        Secrets::of(values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn values_are_hidden_however_they_are_escaped() {
        let secrets = secrets(&[("p", "p\u{e4}ss\"w/0rd"), ("pin", "12345678")]).expect("valid");
        for (written, hidden) in [
            (r#"{"a":"päss\"w/0rd"}"#, r#"{"a":"secret:p"}"#),
            (r#"{"a":"x p\u00E4ss\u0022w\/0rd y"}"#, r#"{"a":"x secret:p y"}"#),
            (r#"{"a":"{\"b\":\"p\\u00e4ss\\\"w/0rd\"}"}"#, r#"{"a":"{\"b\":\"secret:p\"}"}"#),
            (r#"{"päss\"w/0rd":1}"#, r#"{"secret:p":1}"#),
            ("{\"a\":[12345678,1.5]}", "{\"a\":[\"secret:pin\",1.5]}"),
            ("{\"a\":[9123456780]}", "{\"a\":[\"secret:pin\"]}"),
            ("error: 12345678 is wrong", "error: secret:pin is wrong"),
            (r#"no JSON: {"a":"päss\"w/0rd"#, r#"no JSON: {"a":"secret:p"#),
            ("https://x.org/?p=p%C3%A4ss%22w%2F0rd&q=%20", "https://x.org/?p=secret:p&q=%20"),
            (r#"{"a":"1234567"}"#, r#"{"a":"1234567"}"#),
        ] {
            assert_eq!(secrets.hide(written.to_owned()), hidden, "{written}");
        }
        assert_eq!(secrets.hide_cut(format!("{} 1234", "x".repeat(100))), "x".repeat(100 + 5 - 11 * ESCAPED));
    }

    #[test]
    fn hidden_messages_stay_json_without_any_value() {
        let mut state = 1_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or_default() % limit
        };
        let letters: Vec<char> = "ab\"\\/u0e4n%:{é𝄞 ".chars().collect();
        let mut text = |length: usize| (0..length).map(|_| letters[below(letters.len())]).collect::<String>();
        for length in (0..2000).map(|round| 6 + round % 7) {
            let Ok(secrets) = secrets(&[("one", &text(length)), ("two", &text(length + 1))]) else { continue };
            let values: Vec<&String> = secrets.values.values().collect();
            let inner = format!("{}{}{}{}", text(3), values[0], text(2), values[1]);
            let nested = serde_json::json!({ "a": inner, (values[0].as_str()): 1 }).to_string();
            let line = serde_json::json!({ "result": { "text": nested, "same": inner } }).to_string();
            let hidden = secrets.hide(line.clone());
            let read: serde_json::Value = serde_json::from_str(&hidden).expect("JSON");
            let texts = [read["result"]["text"].as_str(), read["result"]["same"].as_str()];
            for text in texts.into_iter().flatten().chain([&hidden[..]]) {
                assert!(values.iter().all(|value| !text.contains(value.as_str())), "{values:?} {line} {hidden}");
            }
        }
    }

    #[test]
    fn values_are_put_in_place_of_their_references_only() {
        let secrets = secrets(&[("p", "a\"bcdefg")]).expect("valid");
        let named = |at: &str, name: &str| [Secret { at: at.to_owned(), name: name.to_owned() }];
        let text = r#"{"b": 1.50, "a/b":["x","secret:p"],"c":"secret:p"}"#;
        let filled = r#"{"b":1.50,"a/b":["x","a\"bcdefg"],"c":"secret:p"}"#;
        assert_eq!(secrets.fill(text, "", &named("/a~1b/1", "p")).as_deref(), Ok(filled));
        for (at, name) in [("/b", "p"), ("/a~1b/0", "p"), ("/a~1b/2", "p"), ("/d", "p"), ("/c", "q")] {
            assert!(secrets.fill(text, "", &named(at, name)).is_err(), "{at} {name}");
        }
    }

    #[test]
    fn values_that_cannot_be_hidden_are_errors_that_do_not_show_them() {
        for value in ["", "short", "two\nlines", "secret", "cret:n"] {
            let error = secrets(&[("n", value)]).expect_err("an error").report();
            assert!(
                error.contains("\"n\"") && (value.len() < 6 || value == "secret" || !error.contains(value)),
                "{error}"
            );
        }
    }
}
