//! One thing that is wrong, with where, what was expected and what was received.

use std::borrow::Cow;

use crate::{
    location::{Location, Written},
    parse::{Document, Kind, NodeId, Span},
    text,
    types::Violation,
};

/// A report lists this many violations at the most, and says how many more there were.
pub(crate) const MAX_VIOLATIONS: usize = 100;

/// An item in quarantine lists this many.
pub(crate) const MAX_ITEM_VIOLATIONS: usize = 10;

/// All items together list this many beside the first of each.
pub(crate) const MAX_ITEMS_VIOLATIONS: usize = 1_000;

/// `expected` and `received` are cut to this many bytes.
const MAX_SHORT: usize = 256;

/// `schema_path` is cut to this many bytes.
const MAX_SCHEMA_PATH: usize = 2 * MAX_SHORT;

/// A list of values is cut to this many bytes, which leaves room for the words around it.
pub(crate) const MAX_LIST: usize = 240;

/// `message` is cut to this many bytes.
const MAX_MESSAGE: usize = 512;

/// What was received where a member is missing.
pub(crate) const NO_MEMBER: &str = "no such member";

/// The texts of a violation, before they are cut.
pub(crate) struct Details<'t> {
    pub(crate) expected: &'t str,
    pub(crate) received: &'t str,
    pub(crate) message: &'t str,
}

impl Violation {
    /// A violation at a place; texts are escaped where they cannot be seen, and cut to their limits.
    // Out of line, as what is called from everywhere and seldom: it was a twentieth of the component.
    #[inline(never)]
    pub(crate) fn new(place: &Location, keyword: &str, details: Details) -> Self {
        let Details { expected, received, message } = details;
        Violation::told(Written::new(place.steps()), keyword, [expected.into(), received.into(), message.into()])
    }

    /// The same, of a place that is written already; what is expected, what was received and the message are kept where
    /// they are owned.
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

    /// What is wrong with a value of a document of the caller's, which says itself what it is.
    pub fn of(document: &Document, at: NodeId, keyword: &str, expected: &str, message: &str) -> Self {
        let received = match document.kind(at) {
            kind @ (Kind::Array | Kind::Object) => Cow::Borrowed(kind.name()),
            _ => document.shown(at),
        };
        Violation::new(&document.location(at), keyword, Details { expected, received: &received, message })
            .spanning(document.span(at))
    }

    /// The same, of a document that stands at a place in another.
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

/// The place of a rule in its schema, as a violation has it.
pub(crate) fn shortened_path(schema_path: String) -> String {
    match schema_path.len() {
        0..=MAX_SCHEMA_PATH => schema_path,
        _ => text::cut(&schema_path, MAX_SCHEMA_PATH),
    }
}

/// Violations that fit a report, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    pub(crate) listed: Vec<Violation>,
    pub(crate) total: usize,
    /// The search ended before everything was looked at.
    pub(crate) incomplete: bool,
}

impl Violations {
    /// Put one before all others.
    pub(crate) fn add_first(&mut self, violation: Violation) {
        self.listed.truncate(MAX_VIOLATIONS - 1);
        self.listed.insert(0, violation);
        self.total += 1;
    }

    /// Put others after all.
    pub(crate) fn append(&mut self, mut others: Violations) {
        others.listed.truncate(MAX_VIOLATIONS - self.listed.len());
        self.listed.append(&mut others.listed);
        self.total += others.total;
        self.incomplete |= others.incomplete;
    }

    /// What the reader of a list that is not whole is told.
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
