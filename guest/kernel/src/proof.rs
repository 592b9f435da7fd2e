//! Where a value of a call comes from, as decisions say it.

use std::ops::Range;

use serde::Serialize;

/// Where one value of a call comes from, or where it was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Proof {
    /// A JSON Pointer into the arguments.
    pub(crate) pointer: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<Place>,
    /// The item of the place, by what the user or the task calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named: Option<Place>,
    /// Where a value without an origin was looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sought: Vec<String>,
}

/// Where a value stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    pub(crate) origin: String,
    /// The number of the message in what people said, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<u64>,
    /// The call whose result has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    /// A JSON Pointer into the task, the value of the context, the list or the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// Bytes of the text there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) span: Option<Span>,
    /// The text around it, for people.
    #[serde(skip)]
    pub(crate) around: String,
}

/// The first byte, and the one after the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Span(pub(crate) usize, pub(crate) usize);

impl Span {
    /// Converts a range of bytes.
    pub(crate) fn of(range: Range<usize>) -> Self {
        Span(range.start, range.end)
    }
}
