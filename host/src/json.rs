//! Conversions between the library's records and JSON text.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use serde::{
    Deserialize, Serialize, Serializer,
    de::{DeserializeOwned, IgnoredAny},
    ser::Error as _,
};
use serde_json::value::RawValue;

/// Serializes a value of this library as JSON. It consists of strings, numbers, lists and records, so this cannot fail.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Serializes a string as JSON.
pub(crate) fn json_text(text: &str) -> String {
    json(&text)
}

/// Serializes a list of strings as JSON.
pub(crate) fn json_texts(texts: &[String]) -> String {
    json(&texts)
}

/// Serializes a list as JSON, with each item written by `write`.
pub(crate) fn list<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(","))
}

/// Serializes an object whose members are already JSON text.
pub(crate) fn object(members: &[(&str, &str)]) -> String {
    let length: usize = members.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut out = String::with_capacity(length + 2);
    for (name, value) in members {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
    out
}

/// Returns JSON text without optional white space, and with as few escapes in strings as possible (RFC 8259, section
/// 7). Numbers keep their digits. A string that is not valid text, because it has half of a surrogate pair, stays as it
/// is written.
pub(crate) fn minified(value: &str) -> Cow<'_, str> {
    let bytes = value.as_bytes();
    let mut out = Vec::new();
    // `from` is where the part that is not yet written begins.
    let (mut from, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                push(&mut out, bytes, from..at);
                let space = bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
                at += space.count();
                from = at;
            }
            b'"' => {
                let (length, is_long) = string(&bytes[at..]);
                if is_long {
                    push(&mut out, bytes, from..at);
                    from = at + length;
                    out.extend_from_slice(rewritten(&value[at..from]).as_bytes());
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    if from == 0 {
        return Cow::Borrowed(value);
    }
    push(&mut out, bytes, from..bytes.len());
    let out = String::from_utf8(out);
    Cow::Owned(out.unwrap_or_else(|_| unreachable!("pieces of a text that begin and end beside ASCII")))
}

/// Most pieces are shorter than this. Copying this many bytes inline takes less time than a call that copies fewer.
const SHORT: usize = 32;

#[inline]
fn push(out: &mut Vec<u8>, bytes: &[u8], piece: Range<usize>) {
    if out.capacity() == 0 {
        out.reserve(bytes.len() + SHORT);
    }
    match bytes[piece.start..].first_chunk::<SHORT>() {
        Some(short) if piece.len() <= SHORT => {
            let end = out.len() + piece.len();
            out.extend_from_slice(short);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&bytes[piece]),
    }
}

/// Rewrites a string that has escapes with as few of them as possible.
fn rewritten(string: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Cow<str>>(string) {
        Ok(text) => json(&text).into(),
        Err(_) => string.into(),
    }
}

/// Returns the length of the string at the beginning of a text, including its quotes, and whether it can be written
/// with fewer escapes.
#[inline]
fn string(bytes: &[u8]) -> (usize, bool) {
    let mut at = 1;
    let mut is_long = false;
    loop {
        at += bytes.get(at..).map_or(0, unmarked);
        match bytes.get(at) {
            Some(b'\\') => {
                // All other escapes are required, and have no shorter form.
                is_long |= !matches!(bytes.get(at + 1), Some(b'"' | b'\\' | b'n' | b'r' | b't' | b'b' | b'f'));
                at += 2;
            }
            Some(_) => return (at + 1, is_long),
            None => return (bytes.len(), is_long),
        }
    }
}

/// Returns the number of bytes before the first quote or backslash.
// Strings are short, and a library call for the search would take longer to begin.
#[inline]
fn unmarked(bytes: &[u8]) -> usize {
    const EACH: u64 = u64::MAX / 0xff;
    // Marks the zero bytes in their highest bits. Marks after the first one may be wrong.
    let zeros = |word: u64| word.wrapping_sub(EACH) & !word & (EACH * 0x80);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let marks = zeros(word ^ (EACH * u64::from(b'"'))) | zeros(word ^ (EACH * u64::from(b'\\')));
        if marks != 0 {
            return index * 8 + marks.trailing_zeros() as usize / 8;
        }
    }
    bytes.len() - rest.len() + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\')).count()
}

/// Returns whether a text is one JSON value without newlines between its tokens.
pub(crate) fn is_json(text: &str) -> bool {
    !text.as_bytes().contains(&b'\n') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Serializes JSON text as the value that it represents.
pub(crate) fn text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let value: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
    value.serialize(serializer)
}

/// Serde functions for a member that holds a document, which is JSON text in Rust.
pub(crate) mod document {
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::value::RawValue;

    pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        super::text(text, serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|value| value.get().to_owned())
    }
}

/// The members of a record as JSON text, until they are taken.
#[derive(Deserialize)]
pub(crate) struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    pub(crate) fn take<T: DeserializeOwned, E: serde::de::Error>(&mut self, name: &'static str) -> Result<T, E> {
        let member = self.0.remove(name).ok_or_else(|| E::missing_field(name))?;
        serde_json::from_str(member.get()).map_err(|error| E::custom(format!("{name}: {error}")))
    }

    /// Returns a document as JSON text, if it is present. The document itself may be `null`.
    pub(crate) fn document<E: serde::de::Error>(
        &mut self,
        name: &'static str,
        is_there: bool,
    ) -> Result<Option<String>, E> {
        let member = self.0.remove(name).ok_or_else(|| E::missing_field(name))?;
        Ok(is_there.then(|| member.get().to_owned()))
    }
}

/// The error for an unknown word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what}: expected {}", known.join(", "))]
pub struct UnknownWord {
    what: &'static str,
    known: Vec<&'static str>,
}

impl UnknownWord {
    pub(crate) fn new(what: &'static str, known: impl IntoIterator<Item = &'static str>) -> Self {
        UnknownWord { what, known: known.into_iter().collect() }
    }
}
