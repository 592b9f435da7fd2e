//! What is wrong, in the words of a report.

use std::{borrow::Cow, collections::BTreeSet};

use referencing::Error;
use serde_json::Value;

use super::{
    Patterns,
    compile::{MAX_VALUE, find},
    judge::{BrokenRule, Failure, Nearest},
    pattern::BACKTRACKING_STEPS,
    schema::{Allowed, Applied, ArrayRules, Schema, Schemas, Sizes},
    union::Takes,
    value::same_items,
};
use crate::{
    parse::{Document, NodeId},
    place::{Place, Step},
    text::{self, count, quote},
    types::Violation,
    violation::{Details, MAX_LIST, NO_MEMBER, Violations},
};

/// Failures as violations, of one value by one contract's schemas.
pub(super) struct Explainer<'d> {
    pub(super) schemas: &'d Schemas,
    pub(super) document: &'d Document<'d>,
    /// The value, and its place.
    pub(super) value: (NodeId, Place),
}

/// The words for one failure.
struct Words {
    expected: String,
    message: String,
    /// Where the value itself does not say it best.
    received: Option<String>,
}

impl Words {
    fn new(expected: impl Into<String>, message: impl Into<String>) -> Self {
        Words { expected: expected.into(), message: message.into(), received: None }
    }

    fn receiving(mut self, received: impl Into<String>) -> Self {
        self.received = Some(received.into());
        self
    }
}

impl Explainer<'_> {
    fn place(&self, at: NodeId) -> Place {
        self.document.place_within(self.value.0, self.value.1.clone(), at)
    }

    /// The failures in document order, then in the order of the schema, in words: the first ones, and how many there are.
    pub(super) fn violations(&self, (mut failures, incomplete): (Vec<Failure>, bool), most: usize) -> Violations {
        let by_schema = |failure: &Failure| {
            let position = failure.position(self.schemas);
            let other = position == NodeId::MAX;
            (failure.at, position, if other { self.schema_path(failure) } else { String::new() })
        };
        failures.sort_by_cached_key(by_schema);
        failures.dedup();
        let mut listed: Vec<Violation> = failures.iter().take(most).map(|failure| self.violation(failure)).collect();
        if failures.is_empty() {
            listed.push(unexplained_violation(self.document, self.value.0, &self.value.1));
        }
        Violations { total: failures.len().max(1), listed, incomplete }
    }

    pub(super) fn violation(&self, failure: &Failure) -> Violation {
        let at = failure.at;
        let words = self.words(failure);
        let received = words.received.map_or_else(|| self.document.shown(at), Cow::Owned);
        Violation::new(
            &self.place(at),
            failure.keyword(self.schemas),
            Details { expected: &words.expected, received: &received, message: &words.message },
        )
        .spanning(self.document.span(at))
        .by(&self.schema_path(failure))
    }

    /// Where the rule stands: a pointer into the contract's schema, or a URI where it is in another resource.
    pub(super) fn schema_path(&self, failure: &Failure) -> String {
        let (schema, keyword) = failure.rule(self.schemas);
        let location = &self.schemas.get(schema).location;
        let mut path = match location.resource {
            0 => location.pointer.clone(),
            resource => format!("{}#{}", self.schemas.resources[resource as usize], location.pointer),
        };
        if let Some(keyword) = keyword {
            path.push('/');
            path.push_str(keyword);
        }
        path
    }

    fn words(&self, failure: &Failure) -> Words {
        let schema = self.schemas.get(failure.schema);
        let (document, at) = (self.document, failure.at);
        let (array, object) = (schema.array.as_deref(), schema.object.as_deref());
        let items = document.count(at);
        let characters = || document.string(at).chars().count();
        let lengths = schema.string.as_ref().map_or(Sizes::default(), |rules| rules.length);
        let sizes = array.map_or(Sizes::default(), |rules| rules.length);
        let counts = object.map_or(Sizes::default(), |rules| rules.count);
        match &failure.why {
            BrokenRule::Never => never(),
            BrokenRule::Type => {
                let (types, is) = (&schema.type_names, document.kind(at).name());
                Words::new(types, format!("must be {types}, not {is}")).receiving(is)
            }
            BrokenRule::Allowed(number) => allowed(&schema.allowed[*number]),
            BrokenRule::Bound(number) => match schema.number.as_ref().map(|rules| &rules.bounds[*number]) {
                Some(bound) => {
                    let limit = format!("{} {}", bound.sign, bound.text);
                    Words::new(limit.clone(), format!("must be {limit}"))
                }
                None => unexplained(),
            },
            BrokenRule::MultipleOf => {
                let divisor = schema.number.as_ref().and_then(|rules| rules.multiple_of.as_ref());
                let divisor = divisor.map_or("", |(_, text)| text);
                Words::new(format!("a multiple of {divisor}"), format!("must be a multiple of {divisor}"))
            }
            BrokenRule::MinLength => least(lengths.min, "character", characters()),
            BrokenRule::MaxLength => most(lengths.max, "character", characters()),
            BrokenRule::Pattern | BrokenRule::Undecided | BrokenRule::Hanging => unmatched(schema, &failure.why),
            BrokenRule::PatternProperties(number) => {
                let pattern = object.and_then(|rules| rules.patterns.get(*number));
                undecided_names(pattern.map_or("", |(pattern, _)| &pattern.text))
            }
            BrokenRule::Format => match schema.string.as_ref().and_then(|rules| rules.format.as_ref()) {
                Some(format) => {
                    Words::new(format.name, format!("must match format '{}': {}", format.name, format.form))
                }
                None => unexplained(),
            },
            BrokenRule::ContentEncoding(name) => Words::new(*name, format!("must be text in the encoding '{name}'")),
            BrokenRule::ContentMediaType(name) => {
                let encoding = schema.string.as_ref().and_then(|rules| rules.content.encoding);
                let encoded = encoding.map_or(String::new(), |encoding| format!(", in the encoding '{encoding}'"));
                Words::new(*name, format!("must be text of the media type '{name}'{encoded}"))
            }
            BrokenRule::MinItems => least(sizes.min, "item", items),
            BrokenRule::MaxItems => most(sizes.max, "item", items),
            BrokenRule::AdditionalItems => most(array.map_or(0, |rules| rules.prefix.len()), "item", items),
            BrokenRule::UniqueItems => self.not_unique(at),
            BrokenRule::Contains => {
                let item = format!("an item that matches {}", contained(array));
                Words::new(item.clone(), format!("must have {item}"))
            }
            BrokenRule::MinContains(is) => {
                let least = array.and_then(|rules| rules.contains.as_ref()).map_or(0, |contains| contains.count.min);
                matching("at least", least, contained(array), *is)
            }
            BrokenRule::MaxContains(is) => {
                let most = array.and_then(|rules| rules.contains.as_ref()).map_or(0, |contains| contains.count.max);
                matching("at most", most, contained(array), *is)
            }
            BrokenRule::UnevaluatedItems(first) => Words::new(
                "no further items",
                format!("must not have items that the schema does not describe: [{first}] is the first of them"),
            ),
            BrokenRule::MinProperties => least(counts.min, "member", items),
            BrokenRule::MaxProperties => most(counts.max, "member", items),
            BrokenRule::Required(number) => missing(object.map_or("", |rules| rules.names.get(*number))),
            BrokenRule::Dependent(number, index) => match object.map(|rules| &rules.dependent[*number]) {
                Some(dependent) => missing_beside(&dependent.required[*index], &dependent.name),
                None => unexplained(),
            },
            BrokenRule::AdditionalProperties | BrokenRule::UnevaluatedProperties => self.undeclared(at),
            BrokenRule::PropertyName(inner) => self.other_name(at, inner),
            BrokenRule::Not(number) => not(schema.applied.get(*number)),
            BrokenRule::AnyOf(number, nearest) => {
                self.no_alternative(at, "anyOf", schema.applied.get(*number), nearest.as_deref())
            }
            BrokenRule::OneOfNone(number, nearest) => {
                self.no_alternative(at, "oneOf", schema.applied.get(*number), nearest.as_deref())
            }
            BrokenRule::OneOfSeveral(number, matching) => several(schema.applied.get(*number), matching),
        }
    }

    fn not_unique(&self, at: NodeId) -> Words {
        let same = same_items(self.document, at);
        let which = same.map_or(String::new(), |(first, second)| format!(": [{first}] and [{second}] are equal"));
        Words::new("items that all differ", format!("must not have the same item twice{which}"))
    }

    /// A member's name that there may not be, and what is wrong with it.
    fn other_name(&self, name: NodeId, inner: &Failure) -> Words {
        if inner.why == BrokenRule::Never {
            return Words::new("no such member", "must not be there: the schema allows no member here");
        }
        let name = quote(self.document.string(name), 128);
        let words = self.words(inner);
        Words::new(
            format!("another name: {}", words.expected),
            format!("must have another name than {name}: it {}", words.message),
        )
    }

    /// A member that the schema does not declare, at its value.
    fn undeclared(&self, value: NodeId) -> Words {
        // A member's name stands right before its value.
        let name = quote(self.document.string(value.saturating_sub(1)), 128);
        Words::new("no such member", format!("must not be there: member {name} is not declared"))
    }

    /// Alternatives are named as their places in the schema are: `anyOf/0`.
    fn no_alternative(&self, at: NodeId, keyword: &str, applied: Option<&Applied>, nearest: Option<&Nearest>) -> Words {
        if let Some(Nearest::Takes(takes)) = nearest {
            return self.other(takes, self.document.kind(at).name());
        }
        let quantity = if keyword == "anyOf" { "at least one" } else { "exactly one" };
        let schemas = alternatives(applied);
        let mut message = format!("must match {quantity} of {schemas}, matches none");
        if let Some(Nearest::Alternative { number, first, more }) = nearest {
            let place = text::cut(&self.place(first.at).path(), 96);
            let first = text::cut(&self.words(first).message, 200);
            message.push_str(&format!("; the nearest is {keyword}/{number}: {place} {first}"));
            if *more > 0 {
                message.push_str(&format!(" (and {more} more)"));
            }
        }
        Words::new(format!("{quantity} of {schemas}"), message)
    }

    /// What alternatives take, of which a value is none.
    fn other(&self, takes: &[Takes], is: &str) -> Words {
        let (mut types, mut values): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
        for takes in takes {
            match takes {
                Takes::Types(id) => types.extend(self.schemas.get(*id).type_names.split(" or ")),
                Takes::Values(id, number) => {
                    values.extend(self.schemas.get(*id).allowed[*number].values.iter().map(value))
                }
            }
        }
        let mut known = BTreeSet::new();
        types.retain(|name| known.insert((*name).to_owned()));
        values.retain(|value| known.insert(value.clone()));
        let one_of = if values.len() == 1 { "" } else { "one of " };
        let listed = format!("{one_of}{}", text::list(values.iter().cloned(), MAX_LIST));
        let expected = match (types.is_empty(), values.is_empty()) {
            (_, true) => {
                let types = types.join(" or ");
                return Words::new(&*types, format!("must be {types}, not {is}")).receiving(is);
            }
            (true, _) => listed,
            _ => format!("{}, or {listed}", types.join(" or ")),
        };
        Words::new(&*expected, format!("must be {expected}"))
    }
}

fn least(limit: usize, noun: &str, is: usize) -> Words {
    size("at least", limit, noun, is)
}

fn most(limit: usize, noun: &str, is: usize) -> Words {
    size("at most", limit, noun, is)
}

#[inline(never)]
fn size(bound: &str, limit: usize, noun: &str, is: usize) -> Words {
    let limit = count(limit, noun);
    Words::new(format!("{bound} {limit}"), format!("must have {bound} {limit}, has {is}")).receiving(count(is, noun))
}

fn allowed(allowed: &Allowed) -> Words {
    let values = text::list(allowed.values.iter().map(value), MAX_LIST);
    match allowed.keyword {
        "const" => Words::new(values.clone(), format!("must be {values}")),
        _ => Words::new(format!("one of {values}"), format!("must be one of {values}")),
    }
}

/// A text that does not match the pattern of a schema, or of which that was not decided.
fn unmatched(schema: &Schema, why: &BrokenRule) -> Words {
    let pattern = schema.string.as_ref().and_then(|rules| rules.pattern.as_ref());
    let pattern = quote(pattern.map_or("", |pattern| &pattern.text), MAX_VALUE);
    match why {
        BrokenRule::Undecided => Words::new(
            format!("a match of {pattern}"),
            format!(
                "must match the pattern {pattern}, and be shorter: whether it matches was not decided within \
                 {BACKTRACKING_STEPS} steps"
            ),
        ),
        BrokenRule::Hanging => Words::new(
            "a shorter text",
            format!(
                "must be a shorter text: whether it matches the pattern {pattern} was not decided within \
                 {BACKTRACKING_STEPS} steps"
            ),
        ),
        _ => Words::new(format!("a match of {pattern}"), format!("must match the pattern {pattern}")),
    }
}

fn undecided_names(pattern: &str) -> Words {
    let pattern = quote(pattern, MAX_VALUE);
    Words::new(
        "shorter member names",
        format!(
            "must have shorter member names: whether one matches the pattern {pattern} was not decided within \
             {BACKTRACKING_STEPS} steps"
        ),
    )
}

fn missing_beside(name: &str, other: &str) -> Words {
    let words = missing(name);
    let message = format!("{} beside {}", words.message, quote(other, MAX_VALUE));
    Words { message, ..words }
}

fn not(applied: Option<&Applied>) -> Words {
    let shown = match applied {
        Some(Applied::Not(_, shown)) => shown.as_str(),
        _ => "",
    };
    if matches!(shown, "{}" | "true") {
        return never();
    }
    Words::new(format!("anything but {shown}"), format!("must not match the schema {shown}"))
}

fn several(applied: Option<&Applied>, matching: &[usize]) -> Words {
    let schemas = alternatives(applied);
    let which = matching.iter().map(|number| format!("oneOf/{number}"));
    Words::new(
        format!("exactly one of {schemas}"),
        format!("must match exactly one of {schemas}, matches {}: {}", matching.len(), text::list(which, 96)),
    )
}

/// For a value that is not valid and in which nothing wrong was found within the bound of the search.
fn unexplained_violation(document: &Document, at: NodeId, place: &Place) -> Violation {
    let words = unexplained();
    Violation::new(
        place,
        "schema",
        Details { expected: &words.expected, received: &document.shown(at), message: &words.message },
    )
    .spanning(document.span(at))
}

fn unexplained() -> Words {
    Words::new(
        "a value that matches the schema",
        "must be a value that matches the schema; its alternatives branch too often to say where it does not",
    )
}

fn missing(name: &str) -> Words {
    let name = quote(name, MAX_VALUE);
    Words::new(format!("member {name}"), format!("must have member {name}")).receiving(NO_MEMBER)
}

fn never() -> Words {
    Words::new("nothing", "must not be there: the schema allows no value here")
}

/// The schema of `contains`, to be shown.
fn contained(array: Option<&ArrayRules>) -> &str {
    array.and_then(|rules| rules.contains.as_ref()).map_or("", |contains| &contains.shown)
}

/// So many items must match the schema of `contains`.
fn matching(bound: &str, limit: usize, shown: &str, is: usize) -> Words {
    let items =
        |number: usize| format!("{} that {}", count(number, "item"), if number == 1 { "matches" } else { "match" });
    let limit = format!("{bound} {} {shown}", items(limit));
    Words::new(limit.clone(), format!("must have {limit}, has {is}")).receiving(items(is))
}

fn alternatives(applied: Option<&Applied>) -> String {
    let number = match applied {
        Some(Applied::Any(schemas) | Applied::One(schemas)) => schemas.len(),
        _ => 0,
    };
    count(number, "alternative")
}

/// A value of the schema, to be shown: of a long string no more is read than that.
fn value(value: &Value) -> String {
    match value {
        Value::String(string) => quote(string, MAX_VALUE),
        value => text::short(&value.to_string(), MAX_VALUE),
    }
}

/// A pattern that its engine does not take, in the schema at `place`.
pub(super) fn unusable_pattern(place: Place, keyword: &str, pattern: &str, patterns: Patterns) -> Violation {
    let (expected, message) = match patterns {
        Patterns::Linear => (
            "a regular expression without look-around or back references",
            "must be a regular expression without look-around or back-references, and of bounded size; \
             rewrite it, or set \"patterns\": \"backtracking\" in the contract",
        ),
        Patterns::Backtracking => ("a regular expression", "must be a regular expression (ECMA-262) of bounded size"),
    };
    let place = place.name(keyword);
    let place = if keyword == "patternProperties" { place.name(pattern) } else { place };
    Violation::new(&place, keyword, Details { expected, received: pattern, message })
}

/// A reference that leads nowhere. Nothing is ever fetched, so it is one of the contract's own.
pub(super) fn unresolved(schema: &Value, error: &Error) -> Violation {
    let (target, message) = match error {
        Error::Unretrievable { uri, .. } => (
            uri.clone(),
            "must name a schema of this contract: it is not among 'resources', and nothing is ever fetched".to_owned(),
        ),
        Error::PointerToNowhere { pointer }
        | Error::InvalidPercentEncoding { pointer, .. }
        | Error::InvalidArrayIndex { pointer, .. } => (pointer.clone(), "must point to a place that exists".to_owned()),
        Error::NoSuchAnchor { anchor } | Error::InvalidAnchor { anchor } => {
            (anchor.clone(), "must name an anchor that exists".to_owned())
        }
        Error::UnknownSpecification { specification } => {
            (specification.clone(), format!("must be a known dialect ({}) or one of 'resources'", super::dialects()))
        }
        Error::CircularMetaschema { uri } => (uri.clone(), "must not be a dialect of itself".to_owned()),
        Error::InvalidUri(error) => (String::new(), format!("must be a URI reference: {error}")),
    };
    let (place, received) = find_reference(schema, &target).unwrap_or((Place::root(), &target));
    let keyword = match place.steps().last() {
        Some(Step::Name(name)) => name.clone(),
        _ => "$ref".to_owned(),
    };
    Violation::new(
        &place,
        &keyword,
        Details { expected: "a reference that leads to a schema of this contract", received, message: &message },
    )
}

/// The first reference in a schema that ends as `target` does, and where it stands.
fn find_reference<'s>(schema: &'s Value, target: &str) -> Option<(Place, &'s str)> {
    let ends = |reference: &str| {
        let reference = reference.trim_start_matches(['.', '/', '#']);
        !reference.is_empty() && target.trim_end_matches('#').ends_with(reference.trim_end_matches('#'))
    };
    let mut open = vec![schema];
    while let Some(at) = open.pop() {
        match at {
            Value::Object(members) => {
                for (name, value) in members {
                    let is_reference = matches!(name.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef" | "$schema");
                    match value.as_str() {
                        Some(reference) if is_reference && ends(reference) => {
                            return find(schema, value).map(|place| (place, reference));
                        }
                        _ => open.push(value),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    None
}
