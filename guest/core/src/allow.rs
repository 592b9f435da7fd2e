//! Allow lists: the values at a path must be on a list.

use std::collections::BTreeMap;

use crate::{
    contract::{Items, List, Rule},
    fault::Fault,
    location::Location,
    order::{by_place, sort},
    parse::{Document, Kind, NodeId},
    path::{Path, Selector},
    request::{NamedList, Request},
    text::{self, quote},
    types::Violation,
    violation::{Details, MAX_VIOLATIONS, Violations},
};

/// Rejects lists if two have the same name, or if a list that a contract requires is missing.
///
/// Every function that takes lists calls this first, so that a check whose list is missing fails closed.
pub(crate) fn check_lists(rules: &[Rule], lists: &[NamedList]) -> Result<(), Fault> {
    let mut sent: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    sort(&mut sent);
    let place = Location::root().name("lists");
    let wrong = |violations| Err(Fault::bad_request(violations));
    if let Some(pair) = sent.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = "must name each list once";
        return wrong(vec![Violation::new(
            &place,
            "request",
            Details { expected: "each name once", received: pair[0], message },
        )]);
    }
    let mut lacking: BTreeMap<&str, &Rule> = BTreeMap::new();
    for rule in rules {
        match &rule.list {
            List::Named { name, optional: false } if sent.binary_search(&name.as_str()).is_err() => {
                lacking.entry(name).or_insert(rule);
            }
            _ => {}
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    let received = match sent.as_slice() {
        [] => "no list".to_owned(),
        sent => some(sent),
    };
    let violation = |(name, rule): (&str, &Rule)| {
        let (name, path) = (quote(name, 64), text::short(&rule.path.text, MAX_PATH));
        let message = format!(
            "must have the list {name}, which 'allow' in the contract asks for at {path}. Send it \
             (--list NAME=FILE on the command line), or say \"optional\": true in that rule"
        );
        Violation::new(
            &place,
            "request",
            Details { expected: &format!("the list {name}"), received: &received, message: &message },
        )
    };
    wrong(lacking.into_iter().take(MAX_VIOLATIONS).map(violation).collect())
}

/// The rules of a contract, with the lists of a request.
pub(crate) struct Allow<'c> {
    /// The checks of the document.
    document: Vec<Check<'c>>,
    /// The checks of each item.
    item: Vec<Check<'c>>,
    /// Notes on checks that never apply, with the reasons.
    pub(crate) notes: Vec<String>,
}

/// A rule with its list.
struct Check<'c> {
    selectors: &'c [Selector],
    /// The allowed values, sorted.
    known: Vec<&'c str>,
    rule: &'c Rule,
}

impl<'c> Allow<'c> {
    pub(crate) fn of(rules: &'c [Rule], items: Option<&Items>, request: &'c Request) -> Self {
        let mut allow = Allow { document: Vec::new(), item: Vec::new(), notes: Vec::new() };
        for rule in rules {
            let known = match &rule.list {
                List::Values(values) => values.iter().map(String::as_str).collect(),
                List::Named { name, .. } => match request.lists.iter().find(|list| list.name == *name) {
                    Some(list) => {
                        let mut known: Vec<&str> = list.values.iter().map(String::as_str).collect();
                        sort(&mut known);
                        known
                    }
                    // Only an optional list can be missing here: `check_lists` reports the others as faults.
                    None => {
                        let (path, name) = (text::visible(&rule.path.text), quote(name, 64));
                        allow.notes.push(format!("allow: {path} was not checked: the request has no list {name}"));
                        continue;
                    }
                },
            };
            match items.and_then(|items| items.path.inside(&rule.path)) {
                Some(selectors) => allow.item.push(Check { selectors, known, rule }),
                None => allow.document.push(Check { selectors: &rule.path.selectors, known, rule }),
            }
        }
        allow
    }

    /// Returns the violations of a document, excluding its items.
    pub(crate) fn document(&self, document: &Document) -> Violations {
        violations(&self.document, document, Document::ROOT, &Location::root(), MAX_VIOLATIONS)
    }

    /// Returns the violations of an item.
    pub(crate) fn item(
        &self,
        document: &Document,
        at: NodeId,
        place: impl FnOnce() -> Location,
        most: usize,
    ) -> Violations {
        if self.item.is_empty() {
            return Violations::default();
        }
        violations(&self.item, document, at, &place(), most)
    }
}

fn violations(checks: &[Check], document: &Document, from: NodeId, place: &Location, most: usize) -> Violations {
    let mut wrong: Vec<(NodeId, &Check)> = Vec::new();
    for check in checks {
        let is_known =
            |at: NodeId| document.kind(at) == Kind::String && check.known.binary_search(&document.string(at)).is_ok();
        let selected = Path::select(check.selectors, document, from);
        wrong.extend(selected.into_iter().filter(|at| !is_known(*at)).map(|at| (at, check)));
    }
    let wrong = by_place(wrong, |(at, _)| (*at, 0));
    let words = |&(at, check): &(NodeId, &Check)| {
        let (expected, message) = match &check.rule.list {
            List::Named { name, .. } => {
                let name = quote(name, 64);
                (format!("a value of the list {name}"), format!("must be a value of the list {name}"))
            }
            List::Values(values) => {
                let some = some(values);
                (format!("one of {some}"), format!("must be one of {some}"))
            }
        };
        let place = document.location_within(from, place.clone(), at);
        Violation::new(
            &place,
            "allow",
            Details { expected: &expected, received: &document.shown(at), message: &message },
        )
        .spanning(document.span(at))
    };
    Violations { total: wrong.len(), listed: wrong.iter().take(most).map(words).collect(), incomplete: false }
}

/// Returns the first values of a list, for display.
fn some(texts: &[impl AsRef<str>]) -> String {
    let some = texts.iter().take(MAX_SHOWN).map(|text| quote(text.as_ref(), 64)).collect::<Vec<_>>().join(", ");
    if texts.len() > MAX_SHOWN { some + ", …" } else { some }
}

/// The most values of a list that are shown.
const MAX_SHOWN: usize = 16;

/// The length to which a displayed path is truncated, in bytes. It leaves room for the rest of the message.
const MAX_PATH: usize = 160;
