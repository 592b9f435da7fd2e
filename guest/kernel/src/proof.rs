//! Proofs of the origins of a call's values, as decisions contain them.

use std::ops::Range;

use serde::Serialize;

/// The origin of one value of a call, or the places where it was sought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Proof {
    /// A JSON Pointer into the arguments.
    pub(crate) pointer: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<Place>,
    /// The place where the user or the task names the item that the value belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named: Option<Place>,
    /// The places where a value without an origin was sought.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sought: Vec<String>,
}

/// The place of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    pub(crate) origin: String,
    /// The number of the message among the texts that people said, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<u64>,
    /// The call whose result contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    /// A JSON Pointer into the task, the value of the context, the list or the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// The range of bytes in the text there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) span: Option<Span>,
    /// The text around the value, for display.
    #[serde(skip)]
    pub(crate) around: String,
}

/// A range of bytes: the first one, and the one after the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Span(pub(crate) usize, pub(crate) usize);

impl Span {
    /// Converts a range of bytes.
    pub(crate) fn of(range: Range<usize>) -> Self {
        Span(range.start, range.end)
    }
}
