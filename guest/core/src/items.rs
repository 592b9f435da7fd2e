//! Checks the items of a document one by one, with all checks in a fixed order. Keeps or quarantines each item.

use crate::{
    allow::Allow,
    caps::Caps,
    caps_check::{self, CapsCheck},
    contract::{Contract, Items},
    evidence::OfItems,
    location::Location,
    parse::{Document, Finding, FindingKind, NodeId, Span},
    recover::Malformed,
    text,
    types::{Item, Quarantined, Reason, Violation},
    violation::{Details, MAX_ITEM_VIOLATIONS, MAX_ITEMS_VIOLATIONS, Violations},
};

/// The maximum number of quarantined items that a report lists. The report states the number of further ones.
pub const MAX_QUARANTINED: usize = 1_000;

/// The length to which `snippet` is truncated, in bytes.
const MAX_SNIPPET: usize = 256;

impl Items {
    /// Returns whether invalid items are requested again, given the number of kept ones. There must be room for one,
    /// and the report must list all quarantined items. If some are not listed, their positions are unknown, so
    /// everything is requested again.
    pub(crate) fn wants(&self, kept: usize, listed: usize) -> bool {
        self.max.is_none_or(|max| kept < max) && listed < MAX_QUARANTINED
    }
}

/// The items of a document, sorted into kept and quarantined ones.
#[derive(Default)]
pub(crate) struct Sorted<'c> {
    /// The items rule of the contract. `None` if it has none.
    items: Option<&'c Items>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// The nodes of the quarantined items in the document, listed or not. Each is given by its first node and the node
    /// after its last.
    pub(crate) removed: Vec<(NodeId, NodeId)>,
    /// The number of quarantined items, and the number that are invalid rather than only over the limit.
    total: usize,
    bad: usize,
    /// The indices of the kept items.
    kept: Vec<usize>,
    pub(crate) notes: Vec<String>,
}

/// Checks the items of a document. `valid` is `true` if the contract's schema is known to accept the document.
pub(crate) fn sort<'c>(
    contract: &'c Contract,
    output: &str,
    caps_check: &CapsCheck,
    malformed: Vec<Malformed>,
    (allow, unsupported): (&Allow, &OfItems),
    valid: bool,
) -> Sorted<'c> {
    let document = &caps_check.document;
    let Some((items, array)) = contract.items().and_then(|items| Some((items, items.path.array(document)?))) else {
        return Sorted::default();
    };
    // If the items' schema is part of the document's schema, the items of a valid document are valid.
    let mut inspector = match &items.schema {
        Some(schema) => Some(schema.inspector(None, document)),
        None if valid => None,
        None => Some(contract.checker().inspector(Some(&items.path), document)),
    };
    let sorted = Sorted { items: Some(items), ..Sorted::default() };
    let mut sorter = Sorter { output, caps: contract.caps(), items, sorted, left: MAX_ITEMS_VIOLATIONS, unlisted: 0 };
    let mut malformed = malformed.into_iter().peekable();
    let mut findings = caps_check.findings.as_slice();
    let mut index = 0;
    // A list that exceeds its cap rejects the document, so items above the cap are not checked.
    let cap = contract.caps().array_items;
    let beyond = document.count(array).saturating_sub(cap);
    if beyond > 0 {
        sorter.sorted.notes.push(format!("items: {beyond} items beyond the cap were not read"));
    }
    for at in document.items(array).take(cap) {
        while let Some(broken) = malformed.next_if(|broken| broken.index == index) {
            sorter.malformed(broken);
            index += 1;
        }
        // Computed only for listed items.
        let place = || if sorter.has_room() { items.path.item(index) } else { Location::root() };
        let end = document.next(at);
        findings = &findings[findings.partition_point(|finding| finding.node < at)..];
        let found = &findings[..findings.partition_point(|finding| finding.node < end)];
        // A schema cannot judge an ambiguous value.
        let certain = found.iter().all(|finding| is_size(finding.kind));
        let listed = sorter.has_room();
        let words = if listed { MAX_ITEM_VIOLATIONS } else { 0 };
        let by_schema = inspector.as_mut().filter(|_| certain).and_then(|check| match listed {
            true => check.violations(index, at, &place()),
            false => (!check.is_valid(index, at)).then(Violations::default),
        });
        let failed = if let Some(violations) = by_schema {
            Some((Reason::Schema, violations))
        } else if !found.is_empty() {
            Some((Reason::Guardrail, guardrail(document, found, at, &place(), contract.caps(), words)))
        } else {
            let mut reason = Reason::AllowList;
            let mut violations = allow.item(document, at, place, words);
            if violations.total == 0 {
                (reason, violations) = (Reason::Evidence, unsupported.item(document, at, place, words));
            }
            let over = items.max.filter(|max| sorter.sorted.kept.len() >= *max);
            match over {
                _ if violations.total > 0 => Some((reason, violations)),
                Some(max) if listed => {
                    Some((Reason::OverLimit, over_limit(max, &place()).spanning(document.span(at)).into()))
                }
                Some(_) => Some((Reason::OverLimit, Violations::default())),
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

/// Returns whether a finding leaves the value unambiguous.
fn is_size(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::StringBytes | FindingKind::ArrayItems | FindingKind::ObjectMembers)
}

fn guardrail(
    document: &Document,
    found: &[Finding],
    at: NodeId,
    place: &Location,
    caps: &Caps,
    most: usize,
) -> Violations {
    let words = |finding: &Finding| {
        let place = document.location_within(at, place.clone(), finding.node);
        caps_check::violation(document, *finding, place, caps)
    };
    let listed = found.iter().take(most).map(words).collect();
    Violations { listed, total: found.len(), incomplete: false }
}

/// Returns a quarantined item that is valid but exceeds the limit, with this index.
pub(crate) fn one_too_many(items: &Items, index: u32, value: &str) -> Quarantined {
    let place = items.path.item(index as usize);
    Quarantined {
        index,
        path: place.path(),
        pointer: place.pointer(),
        reason: Reason::OverLimit,
        span: None,
        snippet: text::cut(value, MAX_SNIPPET),
        violations: vec![over_limit(items.max.unwrap_or_default(), &place)],
    }
}

fn over_limit(max: usize, place: &Location) -> Violation {
    let limit = text::count(max, "item");
    let message = format!("must not be there: the limit is {limit}");
    Violation::new(
        place,
        "items.max",
        Details { expected: &format!("at most {limit}"), received: "one more", message: &message },
    )
}

struct Sorter<'s, 'c> {
    output: &'s str,
    caps: &'c Caps,
    items: &'c Items,
    sorted: Sorted<'c>,
    /// The number of violations that can still be listed in addition to the first of each item, and the number of
    /// violations that are not listed.
    left: usize,
    unlisted: usize,
}

impl<'c> Sorter<'_, 'c> {
    /// Returns whether another item can be listed.
    fn has_room(&self) -> bool {
        self.sorted.quarantined.len() < MAX_QUARANTINED
    }

    fn malformed(&mut self, malformed: Malformed) {
        let Malformed { index, span } = malformed;
        let violations = match self.has_room() {
            true => {
                let broken = malformed.broken(self.output, self.caps);
                caps_check::malformed(self.output, &broken).under(&self.items.path.item(index)).into()
            }
            false => Violations::default(),
        };
        self.quarantine(index, Reason::Malformed, span, violations);
    }

    fn quarantine(&mut self, index: usize, reason: Reason, span: Span, mut violations: Violations) {
        self.sorted.bad += usize::from(reason != Reason::OverLimit);
        self.sorted.total += 1;
        if !self.has_room() {
            return;
        }
        // Each item lists at least one violation.
        let further = violations.listed.len().saturating_sub(1).min(self.left);
        violations.listed.truncate(1 + further);
        self.left -= further;
        self.unlisted += violations.total - violations.listed.len();
        let place = self.items.path.item(index);
        self.sorted.quarantined.push(Quarantined {
            index: index as u32,
            path: place.path(),
            pointer: place.pointer(),
            reason,
            span: Some(span),
            snippet: text::cut(span.of(self.output), MAX_SNIPPET),
            violations: violations.listed,
        });
    }

    fn finish(mut self) -> Sorted<'c> {
        let more = self.sorted.total - self.sorted.quarantined.len();
        if more > 0 {
            self.sorted.notes.push(format!("quarantined: {more} more items are not listed"));
        }
        if self.unlisted > 0 {
            self.sorted.notes.push(format!("quarantined: {} more violations are not listed", self.unlisted));
        }
        self.sorted
    }
}

impl Sorted<'_> {
    /// Returns whether there were items and all of them were invalid.
    pub(crate) fn all_bad(&self) -> bool {
        self.kept.is_empty() && self.bad > 0
    }

    /// Returns whether the invalid items are requested again.
    pub(crate) fn wanting(&self) -> bool {
        self.bad > 0 && self.items.is_some_and(|items| items.wants(self.kept.len(), self.quarantined.len()))
    }

    /// Returns the violation for a document with no items left.
    pub(crate) fn nothing_kept(&self) -> Violation {
        let message = format!("must lead to an item that is valid: {} in quarantine", are(self.total));
        let received = text::count(self.total, "item");
        let mut violation = Violation::new(
            &Location::root(),
            "items",
            Details { expected: "an item that is valid", received: &received, message: &message },
        );
        violation.path = text::cut(self.items.map_or("$", |items| &items.path.text), 256);
        violation
    }

    /// Returns the kept items of a document from which the other items were removed.
    pub(crate) fn kept(&self, document: &Document) -> Vec<Item> {
        let Some((items, array)) = self.items.and_then(|items| Some((items, items.path.array(document)?))) else {
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
