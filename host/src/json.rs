//! Records of ours <-> JSON text.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{
    Deserialize, Serialize, Serializer,
    de::{DeserializeOwned, IgnoredAny},
    ser::Error as _,
};
use serde_json::value::RawValue;

/// A value of ours as JSON. Strings, numbers, lists and records: nothing in them can fail to be written.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A list of what is written by itself.
pub(crate) fn list<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(","))
}

/// An object of members that are JSON text already.
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

/// JSON text without optional white space, its strings with the fewest escapes (RFC 8259, section 7). Numbers keep their
/// digits. A string that is no text, because it has half of a surrogate pair, stays as it is written.
pub(crate) fn minified(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find(['"', ' ', '\n', '\r', '\t']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if !rest.starts_with('"') {
            rest = &rest[1..];
            continue;
        }
        let (string, after) = rest.split_at(string_length(rest));
        match serde_json::from_str::<Cow<str>>(string) {
            Ok(text) => out.push_str(&json(&text)),
            Err(_) => out.push_str(string),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The length of the string that a text begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Whether a text is one value of JSON, without line ends between its words.
pub(crate) fn is_json(text: &str) -> bool {
    !text.as_bytes().contains(&b'\n') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// JSON text as the value that it is.
pub(crate) fn text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let value: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
    value.serialize(serializer)
}

/// A member that holds a document, as JSON text here.
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

/// The members of a record, each as its text, until they are taken.
#[derive(Deserialize)]
pub(crate) struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    pub(crate) fn take<T: DeserializeOwned, E: serde::de::Error>(&mut self, name: &'static str) -> Result<T, E> {
        let member = self.0.remove(name).ok_or_else(|| E::missing_field(name))?;
        serde_json::from_str(member.get()).map_err(|error| E::custom(format!("{name}: {error}")))
    }

    /// A document as JSON text, where there is one: it may be `null` itself.
    pub(crate) fn document<E: serde::de::Error>(
        &mut self,
        name: &'static str,
        is_there: bool,
    ) -> Result<Option<String>, E> {
        let member = self.0.remove(name).ok_or_else(|| E::missing_field(name))?;
        Ok(is_there.then(|| member.get().to_owned()))
    }
}

/// A word that is none of those that there are.
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
