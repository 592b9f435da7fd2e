//! A violation: its location, the expectation, and the received value.

use std::borrow::Cow;

use crate::{
    location::{Location, Written},
    parse::{Document, Kind, NodeId, Span},
    text,
    types::Violation,
};

/// The maximum number of violations that a report lists. The report states the number of further ones.
pub(crate) const MAX_VIOLATIONS: usize = 100;

/// The most violations that a quarantined item lists.
pub(crate) const MAX_ITEM_VIOLATIONS: usize = 10;

/// The maximum number of violations that all items together list, in addition to the first of each item.
pub(crate) const MAX_ITEMS_VIOLATIONS: usize = 1_000;

/// The length to which `expected` and `received` are truncated, in bytes.
const MAX_SHORT: usize = 256;

/// The length to which `schema_path` is truncated, in bytes.
const MAX_SCHEMA_PATH: usize = 2 * MAX_SHORT;

/// The length to which a list of values is truncated, in bytes. It leaves room for the rest of the message.
pub(crate) const MAX_LIST: usize = 240;

/// The length to which `message` is truncated, in bytes.
const MAX_MESSAGE: usize = 512;

/// The received value if a member is missing.
pub(crate) const NO_MEMBER: &str = "no such member";

/// The texts of a violation, before they are truncated.
pub(crate) struct Details<'t> {
    pub(crate) expected: &'t str,
    pub(crate) received: &'t str,
    pub(crate) message: &'t str,
}

impl Violation {
    /// Creates a violation at a location. Escapes invisible characters in its texts, and truncates the texts to their
    /// limits.
    // Not inlined, because it is called from everywhere and rarely: inlined, it was a twentieth of the component.
    #[inline(never)]
    pub(crate) fn new(place: &Location, keyword: &str, details: Details) -> Self {
        let Details { expected, received, message } = details;
        Violation::told(Written::new(place.steps()), keyword, [expected.into(), received.into(), message.into()])
    }

    /// Creates a violation at a location that is already written. Reuses owned texts.
    #[inline(never)]
    pub(crate) fn told(place: Written, keyword: &str, [expected, received, message]: [Cow<str>; 3]) -> Self {
        let [path, pointer] = place.texts();
        Violation {
            path,
            keyword: keyword.to_owned(),
            expected: text::short(expected, MAX_SHORT),
            received: text::short(received, MAX_SHORT),
            message: text::short(message, MAX_MESSAGE),
            pointer,
            schema_path: String::new(),
            span: None,
        }
    }

    /// Creates a violation for a value of a caller's document. The value itself is the received value.
    pub fn of(document: &Document, at: NodeId, keyword: &str, expected: &str, message: &str) -> Self {
        let received = match document.kind(at) {
            kind @ (Kind::Array | Kind::Object) => Cow::Borrowed(kind.name()),
            _ => document.shown(at),
        };
        Violation::new(&document.location(at), keyword, Details { expected, received: &received, message })
            .spanning(document.span(at))
    }

    /// Moves a document's violation to the location of that document inside another document.
    pub fn under(mut self, place: &Location) -> Self {
        self.path.replace_range(..1, &place.path());
        self.pointer.insert_str(0, &place.pointer());
        self
    }

    pub(crate) fn spanning(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    pub(crate) fn by(mut self, schema_path: String) -> Self {
        self.schema_path = shortened_path(schema_path);
        self
    }
}

/// Truncates the location of a rule in its schema for a violation.
pub(crate) fn shortened_path(schema_path: String) -> String {
    match schema_path.len() {
        0..=MAX_SCHEMA_PATH => schema_path,
        _ => text::cut(&schema_path, MAX_SCHEMA_PATH),
    }
}

/// The violations that fit a report, and their total number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    pub(crate) listed: Vec<Violation>,
    pub(crate) total: usize,
    /// `true` if the search stopped early.
    pub(crate) incomplete: bool,
}

impl Violations {
    /// Inserts a violation before all others.
    pub(crate) fn add_first(&mut self, violation: Violation) {
        self.listed.truncate(MAX_VIOLATIONS - 1);
        self.listed.insert(0, violation);
        self.total += 1;
    }

    /// Appends violations after all others.
    pub(crate) fn append(&mut self, mut others: Violations) {
        others.listed.truncate(MAX_VIOLATIONS - self.listed.len());
        self.listed.append(&mut others.listed);
        self.total += others.total;
        self.incomplete |= others.incomplete;
    }

    /// Returns a note if the list is incomplete.
    pub(crate) fn note(&self) -> Option<String> {
        let more = self.total - self.listed.len();
        if self.incomplete {
            Some("violations: the search was ended at its limit; there may be more than those listed".to_owned())
        } else if more > 0 {
            Some(format!("violations: {more} more are not listed"))
        } else {
            None
        }
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Violations { listed: vec![violation], total: 1, incomplete: false }
    }
}
