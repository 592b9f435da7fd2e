//! Document -> items: each checked by itself, in one order of checks, and kept or put into quarantine.

use serde::Serialize;

use crate::{
    allow::Allow,
    contract::{Caps, Contract, Items},
    parse::{Document, Finding, NodeId, Span, What},
    place::Place,
    screen::{self, Screening},
    text,
    violation::{MAX_ITEM_VIOLATIONS, MAX_ITEMS_VIOLATIONS, Violation, Violations},
};

/// `snippet` is cut to this many bytes.
const MAX_SNIPPET: usize = 256;

/// Why an item is in quarantine: the first check that it failed, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Malformed,
    Schema,
    Guardrail,
    AllowList,
    OverLimit,
}

/// An item that was kept out of the output. See `quarantined` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quarantined {
    pub index: u32,
    pub path: String,
    pub reason: Reason,
    pub span: Option<Span>,
    pub snippet: String,
    pub violations: Vec<Violation>,
}

/// An item that passed, of a document that did not. See `item` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub index: u32,
    pub path: String,
    pub span: Option<Span>,
    /// As JSON text without optional white space.
    pub value: String,
}

/// An item that is no JSON: it is not in the document.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) index: usize,
    pub(crate) span: Span,
    /// What is wrong, with the place in the item.
    pub(crate) violation: Violation,
}

/// The items of a document, told apart.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) quarantined: Vec<Quarantined>,
    /// Those of them that are in the document, each by its first node and the node after its last.
    pub(crate) removed: Vec<(NodeId, NodeId)>,
    /// The numbers of the others.
    kept: Vec<usize>,
    /// The path of all of them, as the contract writes it.
    path: String,
    pub(crate) notes: Vec<String>,
}

/// Check the items of a document. `valid`: the document is known to be, as the contract's schema says.
pub(crate) fn sort(
    contract: &Contract,
    output: &str,
    screening: &Screening,
    malformed: Vec<Malformed>,
    (allow, valid): (&Allow, bool),
) -> Sorted {
    let document = &screening.document;
    let Some((items, array)) = contract.items().and_then(|items| Some((items, items.path.array(document)?))) else {
        return Sorted::default();
    };
    // By a schema that is a part of the document's, the items of a valid document are valid.
    let mut inspector = match &items.schema {
        Some(schema) => Some(schema.inspector(None, document)),
        None if valid => None,
        None => Some(contract.checker().inspector(Some(&items.path), document)),
    };
    let sorted = Sorted { path: items.path.text.clone(), ..Sorted::default() };
    let mut sorter = Sorter { output, items, sorted, left: MAX_ITEMS_VIOLATIONS, unlisted: 0 };
    let mut malformed = malformed.into_iter().peekable();
    let mut findings = screening.findings.as_slice();
    let mut index = 0;
    for at in document.items(array) {
        while let Some(broken) = malformed.next_if(|broken| broken.index == index) {
            sorter.malformed(broken);
            index += 1;
        }
        let place = items.path.item(index);
        let end = document.next(at);
        findings = &findings[findings.partition_point(|finding| finding.node < at)..];
        let found = &findings[..findings.partition_point(|finding| finding.node < end)];
        // A schema has nothing to say of a value that is not known for certain.
        let certain = found.iter().all(|finding| is_size(finding.what));
        let by_schema = inspector.as_mut().filter(|_| certain).and_then(|check| check.violations(index, at, &place));
        let failed = if let Some(violations) = by_schema {
            Some((Reason::Schema, violations))
        } else if !found.is_empty() {
            Some((Reason::Guardrail, guardrail(document, found, (at, &place), contract.caps())))
        } else {
            let violations = allow.item(document, at, &place, MAX_ITEM_VIOLATIONS);
            let over = items.max.filter(|max| sorter.sorted.kept.len() >= *max);
            match over {
                _ if violations.total > 0 => Some((Reason::AllowList, violations)),
                Some(max) => Some((Reason::OverLimit, over_limit(max, document.span(at), &place))),
                None => None,
            }
        };
        match failed {
            Some((reason, violations)) => {
                sorter.sorted.removed.push((at, end));
                sorter.quarantine(index, reason, document.span(at), violations);
            }
            None => sorter.sorted.kept.push(index),
        }
        index += 1;
    }
    malformed.for_each(|broken| sorter.malformed(broken));
    sorter.finish()
}

/// Whether a finding leaves no doubt what the value is.
fn is_size(what: What) -> bool {
    matches!(what, What::StringBytes | What::ArrayItems | What::ObjectMembers)
}

fn guardrail(document: &Document, found: &[Finding], (at, place): (NodeId, &Place), caps: &Caps) -> Violations {
    let words = |finding: &Finding| {
        let place = document.place_within(at, place.clone(), finding.node);
        screen::violation(document, *finding, place, caps)
    };
    let listed = found.iter().take(MAX_ITEM_VIOLATIONS).map(words).collect();
    Violations { listed, total: found.len(), incomplete: false }
}

fn over_limit(max: usize, span: Span, place: &Place) -> Violations {
    let most = format!("at most {}", text::count(max, "item"));
    let message = format!("must not be there: {most} are kept");
    Violation::new(place, "items.max", &most, &text::count(max + 1, "item"), &message).spanning(span).into()
}

struct Sorter<'s> {
    output: &'s str,
    items: &'s Items,
    sorted: Sorted,
    /// Violations that can still be listed, and those that are not.
    left: usize,
    unlisted: usize,
}

impl Sorter<'_> {
    fn malformed(&mut self, broken: Malformed) {
        let violation = broken.violation.under(&self.items.path.item(broken.index));
        self.quarantine(broken.index, Reason::Malformed, broken.span, violation.into());
    }

    fn quarantine(&mut self, index: usize, reason: Reason, span: Span, mut violations: Violations) {
        violations.listed.truncate(self.left);
        self.left -= violations.listed.len();
        self.unlisted += violations.total - violations.listed.len();
        self.sorted.quarantined.push(Quarantined {
            index: index as u32,
            path: self.items.path.item(index).path(),
            reason,
            span: Some(span),
            snippet: text::cut(span.of(self.output), MAX_SNIPPET),
            violations: violations.listed,
        });
    }

    fn finish(mut self) -> Sorted {
        if self.unlisted > 0 {
            self.sorted.notes.push(format!("quarantined: {} violations more are not listed", self.unlisted));
        }
        self.sorted
    }
}

impl Sorted {
    /// Whether there were items, and none of them was any good.
    pub(crate) fn all_bad(&self) -> bool {
        self.kept.is_empty() && self.quarantined.iter().any(|item| item.reason != Reason::OverLimit)
    }

    /// What is wrong where no item is left.
    pub(crate) fn nothing_kept(&self) -> Violation {
        let message = format!("must lead to an item that is valid: {} in quarantine", are(self.quarantined.len()));
        let received = text::count(self.quarantined.len(), "item");
        let mut violation = Violation::new(&Place::root(), "items", "an item that is valid", &received, &message);
        violation.path = text::cut(&self.path, 256);
        violation
    }

    /// Those that passed, of a document from which the others were removed.
    pub(crate) fn kept(&self, items: Option<&Items>, document: &Document) -> Vec<Item> {
        let Some((items, array)) = items.and_then(|items| Some((items, items.path.array(document)?))) else {
            return Vec::new();
        };
        let item = |(index, at): (&usize, NodeId)| {
            let mut value = String::new();
            document.write(at, &mut value);
            let path = items.path.item(*index).path();
            Item { index: *index as u32, path, span: Some(document.span(at)), value }
        };
        self.kept.iter().zip(document.items(array)).map(item).collect()
    }
}

fn are(items: usize) -> String {
    if items == 1 { "the only one is".to_owned() } else { format!("all {items} are") }
}
