//! The file of a run's receipt. Every part of it is verified.

use ciborium::Value;
use coset::Label;

use crate::signed::{NotAReceipt, Signed};

/// The largest receipt that is read, in bytes: 512 MiB.
pub const MAX_RECEIPT: usize = 512 * 1024 * 1024;

/// The media type of the signed statement.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.seamgate.receipt+json";

/// The name of the header parameter for the parts that are bound by digests.
pub(crate) const BODY: &str = "seamgate";

/// The members of the body, in their order.
const LINES: &str = "lines";
const ARTIFACTS: &str = "artifacts";
const PROFILES: &str = "profiles";

/// A text of the body, or its SHA-256 digest if the text is withheld.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The text.
    Text(String),
    /// The digest of the text.
    Withheld([u8; 32]),
}

/// A receipt, for reading and writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The signed statement. Its subject is the run's id.
    pub signed: Signed,
    /// The lines of the journal, without their line ends.
    pub lines: Vec<Part>,
    /// The artifacts that deriving the steps requires, in the order of their first use.
    pub artifacts: Vec<String>,
    /// The documents of the profiles, in the order in which they are registered.
    pub profiles: Vec<String>,
}

impl Envelope {
    /// Reads a file in the only encoding that [`encode`](Self::encode) writes.
    ///
    /// # Errors
    ///
    /// The file is not a `COSE_Sign1` message, lacks a member, or has another encoding.
    pub fn read(file: &[u8]) -> Result<Self, NotAReceipt> {
        let wrong = NotAReceipt::of;
        let (signed, unprotected) = Signed::decode(file)?;
        if signed.content_type != CONTENT_TYPE {
            return Err(wrong("its content type is another one"));
        }
        let body = unprotected.into_iter().find(|(label, _)| *label == Label::Text(BODY.to_owned()));
        let body = body.and_then(|(_, body)| body.into_map().ok()).ok_or_else(|| wrong("it has no lines"))?;
        let mut parts = body.into_iter().map(|(_, parts)| parts.into_array().unwrap_or_default());
        let (Some(lines), Some(artifacts), Some(profiles)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong("it lacks lines, artifacts or profiles"));
        };
        let envelope = Envelope {
            signed,
            lines: lines.into_iter().filter_map(part).collect(),
            artifacts: texts(artifacts),
            profiles: texts(profiles),
        };
        // Anything that was dropped or changed above results in other bytes.
        match envelope.encode() == file {
            true => Ok(envelope),
            false => Err(wrong("it has members that no receipt has, or another encoding")),
        }
    }

    /// Returns the bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let lines = self.lines.iter().map(|line| match line {
            Part::Text(text) => Value::Text(text.clone()),
            Part::Withheld(digest) => Value::Bytes(digest.to_vec()),
        });
        let body = Value::Map(vec![
            (Value::from(LINES), Value::Array(lines.collect())),
            (Value::from(ARTIFACTS), values(&self.artifacts)),
            (Value::from(PROFILES), values(&self.profiles)),
        ]);
        self.signed.encode(vec![(Label::Text(BODY.to_owned()), body)])
    }
}

pub(crate) fn values(texts: &[String]) -> Value {
    Value::Array(texts.iter().cloned().map(Value::Text).collect())
}

pub(crate) fn texts(values: Vec<Value>) -> Vec<String> {
    values.into_iter().filter_map(|value| value.into_text().ok()).collect()
}

fn part(value: Value) -> Option<Part> {
    match value {
        Value::Text(text) => Some(Part::Text(text)),
        Value::Bytes(digest) => Some(Part::Withheld(digest.try_into().ok()?)),
        _ => None,
    }
}
