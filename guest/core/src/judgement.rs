//! What became of one candidate: what the stages before the report hand to it.

use crate::{
    types::{Change, ErrorKind, Item, Quarantined, Violation},
    violation::Violations,
};

/// Why an output is rejected.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) error: ErrorKind,
    pub(crate) violations: Violations,
    /// The text ends before the document does.
    pub(crate) cut_off: bool,
}

/// What became of one candidate.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The document, as JSON text.
    Document(String),
    /// The document says that the producer declines.
    Refusal,
    Rejection(Rejection),
}

/// One candidate, judged.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) outcome: Outcome,
    /// The text was not JSON, and was changed so that it is.
    pub(crate) repaired: bool,
    /// Why it was not, where something is missing of it now.
    pub(crate) broken: Option<Violation>,
    pub(crate) items: Vec<Item>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// Whether the items that are bad are asked for again, and nothing else.
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
