//! Values in events, actions and records that are JSON themselves, or that a journal keeps separately.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::value::RawValue;

use super::journal::Reference;

/// JSON text as it was written: numbers keep their digits, and members their order.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Reads JSON text (RFC 8259).
    ///
    /// # Errors
    ///
    /// The text is not JSON.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Json)
    }

    /// Serializes a value as JSON.
    ///
    /// # Errors
    ///
    /// The value has no form in JSON, such as a map whose keys are lists.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Json)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Deserializes the value as a type.
    ///
    /// # Errors
    ///
    /// The value is not of this type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }
}

/// Compares the texts. Two different texts may have the same value.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<Box<RawValue>> for Json {
    fn from(text: Box<RawValue>) -> Self {
        Json(text)
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(Json)
    }
}

/// A value that may be large. In what a run takes and returns, it is complete. In a line of a journal, it may be a
/// reference to an artifact: such a value can be read, but not written.
#[derive(Debug, Clone, PartialEq)]
pub enum Large<T> {
    /// The value.
    Whole(T),
    /// The digest of the value's text, under which the journal keeps it.
    Artifact(String),
}

impl<T> Large<T> {
    /// Returns the value, if it is whole.
    pub fn whole(&self) -> Option<&T> {
        match self {
            Large::Whole(value) => Some(value),
            Large::Artifact(_) => None,
        }
    }
}

impl<T> From<T> for Large<T> {
    fn from(value: T) -> Self {
        Large::Whole(value)
    }
}

impl From<&str> for Large<String> {
    fn from(text: &str) -> Self {
        Large::Whole(text.to_owned())
    }
}

impl<T: Serialize> Serialize for Large<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Large::Whole(value) => value.serialize(serializer),
            Large::Artifact(digest) => {
                Err(<S::Error as serde::ser::Error>::custom(format!("must be a value: read the artifact {digest}")))
            }
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Large<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Json::deserialize(deserializer)?;
        match Reference::read(text.as_str()) {
            Some(Reference { artifact, .. }) => Ok(Large::Artifact(artifact)),
            None => text.read().map(Large::Whole).map_err(D::Error::custom),
        }
    }
}

/// Deserializes a member that may be missing. If it is present, `null` is a value.
pub(super) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Returns the member `type` of an object.
pub(super) fn tag(text: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Tag<'t> {
        #[serde(borrow)]
        r#type: Cow<'t, str>,
    }
    // The kernel writes it first. Searching for it would parse a large text once more.
    let first = text.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"'));
    match first.filter(|(word, _)| word.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())) {
        Some((word, _)) => Ok(Cow::Borrowed(word)),
        None => serde_json::from_str(text).map(|Tag { r#type }| r#type),
    }
}

/// Returns the error for a `type` that this version does not know.
pub(super) fn unknown(word: &str) -> serde_json::Error {
    serde_json::Error::custom(format!("unknown type {word:?}"))
}

/// Writes an object: the time, the type, and its other members.
pub(super) fn write<S: Serializer>(
    serializer: S,
    at: Option<u64>,
    word: &'static str,
    body: &impl Serialize,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Tagged<'t, T> {
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<u64>,
        r#type: &'static str,
        #[serde(flatten)]
        body: &'t T,
    }
    Tagged { at, r#type: word, body }.serialize(serializer)
}
