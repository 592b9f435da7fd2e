//! Finds replacements for rejected values that mean the same in another notation, such as `"12"` for a number.

use super::{
    judge::{self, BrokenRule, Failure, Nearest},
    schema::{Allowed, SchemaId, Schemas},
    union::Takes,
};
use crate::{
    caps::Caps,
    order::{sort, sort_by_key},
    parse::{Document, Kind, NodeId, Span, holds_json, is_plain_scalar, parse},
    text::push_json_string,
};

/// An accepted replacement for a rejected value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The replacement as JSON text.
    Text(String),
    /// No value: the member may be left out.
    Absent,
}

/// The failures of a document's values that coercion needs.
#[derive(Debug, Default)]
pub(crate) struct Misfits {
    /// The invalid values in document order. Excludes values whose only failures are undeclared members.
    pub(crate) wrong: Vec<NodeId>,
    /// The objects in `wrong` with failures other than missing members. `lacking` holds the missing members of all
    /// objects.
    pub(crate) broken: Vec<NodeId>,
    pub(crate) lacking: Vec<(NodeId, String)>,
    /// The values that have exactly one replacement, in document order.
    pub(crate) readings: Vec<(NodeId, Reading)>,
}

impl Misfits {
    /// Adds the failures under another schema. A value with two different replacements gets neither.
    pub(crate) fn add(&mut self, other: Misfits) {
        self.wrong.extend(other.wrong);
        self.broken.extend(other.broken);
        self.lacking.extend(other.lacking);
        self.readings.extend(other.readings);
        sort(&mut self.wrong);
        sort(&mut self.broken);
        sort(&mut self.lacking);
        sort_by_key(&mut self.readings, |(at, _)| *at);
        self.readings.dedup();
        let several: Vec<NodeId> =
            self.readings.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0).collect();
        self.readings.retain(|(at, _)| several.binary_search(at).is_err());
    }
}

/// Returns the failures of these values under a schema. `None` if the search reached its limit.
pub(super) fn misfits(schemas: &Schemas, document: &Document, values: &[NodeId], caps: &Caps) -> Option<Misfits> {
    let mut failures = judge::failures_of(schemas, document, values)?;
    sort_by_key(&mut failures, |failure| failure.at);
    let mut members = None;
    let mut misfits = Misfits::default();
    for failures in failures.chunk_by(|one, other| one.at == other.at) {
        let at = failures[0].at;
        let is_undeclared = |failure: &Failure| {
            matches!(failure.why, BrokenRule::AdditionalProperties | BrokenRule::UnevaluatedProperties)
        };
        if failures.iter().all(is_undeclared) {
            continue;
        }
        misfits.wrong.push(at);
        let names = failures.iter().filter_map(|failure| lacks(schemas, failure));
        misfits.lacking.extend(names.map(|name| (at, name.to_owned())));
        if failures.iter().any(|failure| !is_undeclared(failure) && lacks(schemas, failure).is_none()) {
            misfits.broken.push(at);
        }
        let rules: Vec<Rule> = failures.iter().filter_map(Rule::of).collect();
        let reading = match document.kind(at) {
            _ if rules.is_empty() => None,
            Kind::Null => {
                let members = members.get_or_insert_with(|| document.member_values());
                members.binary_search(&at).is_ok().then_some(Reading::Absent)
            }
            Kind::String => reading(schemas, document.string(at), &rules, caps).map(Reading::Text),
            _ => None,
        };
        misfits.readings.extend(reading.map(|reading| (at, reading)));
    }
    Some(misfits)
}

/// Returns the missing member, if a missing member is the failure.
fn lacks<'s>(schemas: &'s Schemas, failure: &Failure) -> Option<&'s str> {
    let rules = schemas.get(failure.schema).object.as_ref()?;
    match failure.why {
        BrokenRule::Required(number) => Some(rules.names.get(number)),
        BrokenRule::Dependent(number, index) => rules.dependent[number].required.get(index).map(String::as_str),
        _ => None,
    }
}

/// A rule about the type of a value, or about the value itself.
enum Rule<'f> {
    /// The types and lists of a schema.
    Schema(SchemaId),
    /// The values that the alternatives accept.
    Any(&'f [Takes]),
}

impl<'f> Rule<'f> {
    fn of(failure: &'f Failure) -> Option<Self> {
        match &failure.why {
            BrokenRule::Type | BrokenRule::Allowed(_) => Some(Rule::Schema(failure.schema)),
            BrokenRule::AnyOf(_, Some(nearest)) | BrokenRule::OneOfNone(_, Some(nearest)) => match &**nearest {
                Nearest::Takes(takes) => Some(Rule::Any(takes)),
                Nearest::Alternative { .. } => None,
            },
            _ => None,
        }
    }

    fn takes(&self, schemas: &Schemas, value: &Document) -> bool {
        let (at, kind) = (Document::ROOT, value.kind(Document::ROOT));
        let is_one = |takes: &Takes| match takes {
            Takes::Values(id, number) => schemas.get(*id).allowed[*number].has(value, at, kind),
            Takes::Types(id) => schemas.get(*id).types.has(value, at, kind),
        };
        match self {
            Rule::Schema(id) => {
                let schema = schemas.get(*id);
                schema.types.has(value, at, kind) && schema.allowed.iter().all(|allowed| allowed.has(value, at, kind))
            }
            Rule::Any(takes) => takes.iter().any(is_one),
        }
    }

    /// Returns the strings that the rule lists.
    fn lists(&self, schemas: &'f Schemas) -> Vec<&'f str> {
        let allowed: Vec<&Allowed> = match self {
            Rule::Schema(id) => schemas.get(*id).allowed.iter().collect(),
            Rule::Any(takes) => takes.iter().filter_map(|takes| takes.allowed(schemas)).collect(),
        };
        allowed.into_iter().flat_map(Allowed::strings).collect()
    }
}

/// Returns the only JSON text that a string can stand for and that all rules accept.
fn reading(schemas: &Schemas, string: &str, rules: &[Rule], caps: &Caps) -> Option<String> {
    let listed = rules.iter().flat_map(|rule| rule.lists(schemas));
    only_reading(string, listed, caps, |value| rules.iter().all(|rule| rule.takes(schemas, value)))
}

/// Returns the only accepted value that a string can stand for: the JSON inside it, or one of the listed strings.
pub(super) fn only_reading<'l>(
    string: &str,
    listed: impl Iterator<Item = &'l str>,
    caps: &Caps,
    takes: impl Fn(&Document) -> bool,
) -> Option<String> {
    let mut readings: Vec<String> = literal(string).map(str::to_owned).into_iter().collect();
    for listed in listed.filter(|listed| listed.eq_ignore_ascii_case(string)) {
        let mut text = String::new();
        push_json_string(&mut text, listed);
        readings.push(text);
    }
    sort(&mut readings);
    readings.dedup();
    readings.retain(|text| {
        let parsed = parse(text, Span::new(0, text.len()), caps);
        parsed.is_ok_and(|parsed| parsed.findings.is_empty() && takes(&parsed.document))
    });
    if readings.len() == 1 { readings.pop() } else { None }
}

/// Returns the JSON in a string: either a number or a literal with nothing else, or an object or array.
fn literal(string: &str) -> Option<&str> {
    let text = string.trim_matches([' ', '\t', '\r', '\n']);
    (holds_json(text) || is_plain_scalar(string)).then_some(text)
}
