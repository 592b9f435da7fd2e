//! The judgement of one candidate, which the stages pass on to the report.

use crate::{
    types::{Change, ErrorKind, Item, Quarantined, Violation},
    violation::Violations,
};

/// The reason why an output is rejected.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) error: ErrorKind,
    pub(crate) violations: Violations,
    /// `true` if the text ends before the document does.
    pub(crate) cut_off: bool,
}

/// The outcome of judging a candidate.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The document, as JSON text.
    Document(String),
    /// The document says that the producer declines.
    Refusal,
    Rejection(Rejection),
}

/// The judgement of a candidate.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) outcome: Outcome,
    /// `true` if the text was invalid JSON and was repaired.
    pub(crate) repaired: bool,
    /// The violation of the original text, if the repair lost content.
    pub(crate) broken: Option<Violation>,
    pub(crate) items: Vec<Item>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// `true` if only the invalid items are requested again.
    pub(crate) wanting: bool,
    pub(crate) changes: Vec<Change>,
    pub(crate) notes: Vec<String>,
}

impl From<Outcome> for Judgement {
    fn from(outcome: Outcome) -> Self {
        Judgement {
            outcome,
            repaired: false,
            broken: None,
            items: Vec::new(),
            quarantined: Vec::new(),
            wanting: false,
            changes: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl From<Rejection> for Judgement {
    fn from(rejection: Rejection) -> Self {
        Outcome::Rejection(rejection).into()
    }
}
