//! Describes failures for a report.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::Value;

use super::{
    budget::Budget,
    compile::MAX_VALUE,
    judge::{BrokenRule, Failure, Nearest},
    pattern::BACKTRACKING_STEPS,
    schema::{Allowed, Applied, ArrayRules, Schema, SchemaId, Schemas, Sizes},
    union::Takes,
    value::same_items,
};
use crate::{
    location::{Location, Written},
    order::sort_by,
    parse::{Document, NodeId},
    text::{self, count, quote},
    types::Violation,
    violation::{MAX_LIST, NO_MEMBER, Violations, shortened_path},
};

/// Converts failures of one value to violations under one contract's schemas.
pub(super) struct Explainer<'d> {
    pub(super) schemas: &'d Schemas,
    pub(super) document: &'d Document<'d>,
    /// The value and its location.
    pub(super) value: (NodeId, Location),
    pub(super) budget: &'d Budget,
}

/// The texts for one failure.
struct Words<'s> {
    expected: Cow<'s, str>,
    message: Cow<'s, str>,
    /// Describes the received value. `None` if the value itself is the best description.
    received: Option<Cow<'s, str>>,
}

impl<'s> Words<'s> {
    fn new(expected: impl Into<Cow<'s, str>>, message: impl Into<Cow<'s, str>>) -> Self {
        Words { expected: expected.into(), message: message.into(), received: None }
    }

    /// Returns the expectation, and a message that only states it.
    fn must(verb: &str, expected: impl Into<Cow<'s, str>>) -> Self {
        let expected = expected.into();
        let message = ["must ", verb, " ", &expected].concat();
        Words::new(expected, message)
    }

    fn receiving(mut self, received: impl Into<Cow<'s, str>>) -> Self {
        self.received = Some(received.into());
        self
    }
}

impl<'d> Explainer<'d> {
    fn location(&self, at: NodeId) -> Written {
        let mut place = Written::new(self.value.1.steps());
        self.document.walk(self.value.0, at, |step| place.step(step));
        place
    }

    /// Returns the failures as violations, in document order and then in schema order: the first `most` of them, and
    /// the total number.
    pub(super) fn violations(&self, (mut failures, incomplete): (Vec<Failure>, bool), most: usize) -> Violations {
        let by_schema = |failure: &Failure| {
            let position = failure.position(self.schemas);
            let other = position == NodeId::MAX;
            (failure.at, position, if other { self.schema_path(failure) } else { String::new() })
        };
        if failures.len() > 1 {
            let mut keyed: Vec<_> = failures.into_iter().map(|failure| (by_schema(&failure), failure)).collect();
            sort_by(&mut keyed, |(a, _), (b, _)| a.cmp(b));
            failures = keyed.into_iter().map(|(_, failure)| failure).collect();
            failures.dedup();
        }
        let mut listed: Vec<Violation> = failures.iter().take(most).map(|failure| self.violation(failure)).collect();
        if failures.is_empty() {
            listed.push(unexplained_violation(self.document, self.value.0, &self.value.1));
        }
        Violations { total: failures.len().max(1), listed, incomplete }
    }

    pub(super) fn violation(&self, failure: &Failure) -> Violation {
        let at = failure.at;
        let mut words = self.words(failure);
        self.add_hint(&mut words, failure);
        let received = words.received.unwrap_or_else(|| self.document.shown(at));
        let details = [words.expected, received, words.message];
        let mut violation = Violation::told(self.location(at), failure.keyword(self.schemas), details);
        violation.span = Some(self.document.span(at));
        violation.schema_path = shortened_path(self.schema_path(failure));
        violation
    }

    /// Returns the location of the rule: a pointer into the contract's schema, or a URI if it is in another resource.
    pub(super) fn schema_path(&self, failure: &Failure) -> String {
        let (schema, keyword) = failure.rule(self.schemas);
        let location = &self.schemas.get(schema).location;
        let [resource, hash] = match location.resource {
            0 => ["", ""],
            resource => [self.schemas.resources[resource as usize].as_str(), "#"],
        };
        let [slash, keyword] = keyword.map_or(["", ""], |keyword| ["/", keyword]);
        [resource, hash, &location.pointer, slash, keyword].concat()
    }

    fn add_hint(&self, words: &mut Words, failure: &Failure) {
        if let Some(hint) = self.hint(failure) {
            let message = words.message.to_mut();
            message.push_str("; ");
            message.push_str(&hint);
        }
    }

    fn words(&self, failure: &Failure) -> Words<'d> {
        let schemas: &'d Schemas = self.schemas;
        let schema = schemas.get(failure.schema);
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
                let (types, is) = (&*schema.type_names, document.kind(at).name());
                Words::new(types, ["must be ", types, ", not ", is].concat()).receiving(is)
            }
            BrokenRule::Allowed(number) => allowed(&schema.allowed[*number]),
            BrokenRule::Bound(number) => match schema.number.as_ref().map(|rules| &rules.bounds[*number]) {
                Some(bound) => Words::must("be", [bound.sign, " ", &bound.text].concat()),
                None => unexplained(),
            },
            BrokenRule::MultipleOf => {
                let divisor = schema.number.as_ref().and_then(|rules| rules.multiple_of.as_ref());
                let divisor = divisor.map_or("", |(_, text)| text);
                Words::must("be", ["a multiple of ", divisor].concat())
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
                    Words::new(format.name, ["must match format '", format.name, "': ", format.form].concat())
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
            BrokenRule::Contains => Words::must("have", ["an item that matches ", contained(array)].concat()),
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
            BrokenRule::OneOfSeveral(number, matching) => self.several(schema.applied.get(*number), matching),
        }
    }

    fn not_unique(&self, at: NodeId) -> Words<'d> {
        let same = same_items(self.document, at);
        let which = same.map_or(String::new(), |(first, second)| format!(": [{first}] and [{second}] are equal"));
        Words::new("items that all differ", format!("must not have the same item twice{which}"))
    }

    /// Describes a member name that is not allowed, and gives the reason.
    fn other_name(&self, name: NodeId, inner: &Failure) -> Words<'d> {
        if inner.why == BrokenRule::Never {
            return Words::new("no such member", "must not be there: the schema allows no member here");
        }
        let name = quote(self.document.string(name), 128);
        let words = self.words(inner);
        Words::new(
            ["another name: ", &words.expected].concat(),
            ["must have another name than ", &name, ": it ", &words.message].concat(),
        )
    }

    /// Describes an undeclared member, identified by its value.
    fn undeclared(&self, value: NodeId) -> Words<'d> {
        // A member's name is directly before its value.
        let name = quote(self.document.string(value.saturating_sub(1)), 128);
        Words::new("no such member", ["must not be there: member ", &name, " is not declared"].concat())
    }

    fn no_alternative(
        &self,
        at: NodeId,
        keyword: &str,
        applied: Option<&Applied>,
        nearest: Option<&Nearest>,
    ) -> Words<'d> {
        if let Some(Nearest::Takes(takes)) = nearest {
            return self.other(takes, self.document.kind(at).name());
        }
        let alternatives = alternatives_of(applied);
        if let Some((name, values)) = self.missing_discriminator(at, alternatives) {
            return missing_value(name, &values);
        }
        let quantity = if keyword == "anyOf" { "at least one of " } else { "exactly one of " };
        let expected = [quantity, &count(alternatives.len(), "alternative")].concat();
        let mut message = ["must match ", &expected, ", matches none"].concat();
        if let Some(Nearest::Alternative { number, first, more }) = nearest {
            message.push_str("; the nearest is ");
            message.push_str(&self.name_of(alternatives, *number));
            message.push_str(": ");
            if first.at != at {
                message.push_str(&text::cut(&self.location(first.at).path(), 96));
                message.push(' ');
            }
            let mut words = self.words(first);
            self.add_hint(&mut words, first);
            message.push_str(&text::cut(&words.message, 200));
            if *more > 0 {
                message.push_str(" (and ");
                text::push_number(&mut message, *more);
                message.push_str(" more)");
            }
        }
        Words::new(expected, message)
    }

    fn several(&self, applied: Option<&Applied>, matching: &[usize]) -> Words<'d> {
        let alternatives = alternatives_of(applied);
        let expected = ["exactly one of ", &count(alternatives.len(), "alternative")].concat();
        let mut message = ["must match ", &expected, ", matches "].concat();
        text::push_number(&mut message, matching.len());
        message.push_str(": ");
        text::push_list(&mut message, matching.iter(), 160, |out, number| {
            out.push_str(&self.name_of(alternatives, *number));
        });
        Words::new(expected, message)
    }

    /// Describes the values that the alternatives accept, for a value that is not one of them.
    fn other(&self, takes: &[Takes], is: &'static str) -> Words<'d> {
        let mut types: Vec<&str> = Vec::new();
        // Joins all values into one text, and keeps the span of each.
        let (mut all, mut pieces) = (String::new(), Vec::new());
        for takes in takes {
            match takes {
                Takes::Types(id) => types.extend(self.schemas.get(*id).type_names.split(" or ")),
                Takes::Values(id, number) => {
                    for value in &self.schemas.get(*id).allowed[*number].values {
                        let start = all.len();
                        push_value(&mut all, value);
                        pieces.push(start..all.len());
                    }
                }
            }
        }
        let mut known = BTreeSet::new();
        types.retain(|name| known.insert(*name));
        let mut values: Vec<&str> = pieces.into_iter().map(|piece| &all[piece]).collect();
        values.retain(|value| known.insert(*value));
        let mut expected = types.join(" or ");
        if values.is_empty() {
            let message = ["must be ", &expected, ", not ", is].concat();
            return Words::new(expected, message).receiving(is);
        }
        if !types.is_empty() {
            expected.push_str(", or ");
        }
        if values.len() > 1 {
            expected.push_str("one of ");
        }
        text::push_list(&mut expected, values.iter(), MAX_LIST, |out, value| out.push_str(value));
        Words::must("be", expected)
    }
}

fn least(limit: usize, noun: &str, is: usize) -> Words<'static> {
    size("at least ", limit, noun, is)
}

fn most(limit: usize, noun: &str, is: usize) -> Words<'static> {
    size("at most ", limit, noun, is)
}

#[inline(never)]
fn size(bound: &str, limit: usize, noun: &str, is: usize) -> Words<'static> {
    let limit = [bound, &count(limit, noun)].concat();
    let mut message = ["must have ", &limit, ", has "].concat();
    text::push_number(&mut message, is);
    Words::new(limit, message).receiving(count(is, noun))
}

fn allowed(allowed: &Allowed) -> Words<'static> {
    let mut expected = if allowed.keyword == "const" { "" } else { "one of " }.to_owned();
    text::push_list(&mut expected, allowed.values.iter(), MAX_LIST, push_value);
    Words::must("be", expected)
}

/// Describes a string that does not match a pattern, or whose match is undecided.
fn unmatched(schema: &Schema, why: &BrokenRule) -> Words<'static> {
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
        _ => Words::new(["a match of ", &pattern].concat(), ["must match the pattern ", &pattern].concat()),
    }
}

fn undecided_names(pattern: &str) -> Words<'static> {
    let pattern = quote(pattern, MAX_VALUE);
    Words::new(
        "shorter member names",
        format!(
            "must have shorter member names: whether one matches the pattern {pattern} was not decided within \
             {BACKTRACKING_STEPS} steps"
        ),
    )
}

fn missing_beside(name: &str, other: &str) -> Words<'static> {
    let words = missing(name);
    let message = [&words.message, " beside ", &quote(other, MAX_VALUE)].concat();
    Words { message: message.into(), ..words }
}

fn not(applied: Option<&Applied>) -> Words<'static> {
    let shown = match applied {
        Some(Applied::Not(_, shown)) => shown.as_str(),
        _ => "",
    };
    if matches!(shown, "{}" | "true") {
        return never();
    }
    Words::new(["anything but ", shown].concat(), ["must not match the schema ", shown].concat())
}

/// Describes a missing member whose value would select one of the alternatives.
fn missing_value(name: &str, values: &[String]) -> Words<'static> {
    let mut member = format!("member {}: ", quote(name, MAX_VALUE));
    member.push_str(if values.len() > 1 { "one of " } else { "" });
    text::push_list(&mut member, values.iter(), MAX_LIST, |out, value| out.push_str(value));
    Words::must("have", member).receiving(NO_MEMBER)
}

/// Returns a violation for an invalid value whose failure the search did not find within its limit.
fn unexplained_violation(document: &Document, at: NodeId, place: &Location) -> Violation {
    let words = unexplained();
    Violation::told(Written::new(place.steps()), "schema", [words.expected, document.shown(at), words.message])
        .spanning(document.span(at))
}

fn unexplained() -> Words<'static> {
    Words::new(
        "a value that matches the schema",
        "must be a value that matches the schema; its alternatives branch too often to say where it does not",
    )
}

fn missing(name: &str) -> Words<'static> {
    let mut member = "member ".to_owned();
    text::push_quoted(&mut member, name, MAX_VALUE);
    Words::must("have", member).receiving(NO_MEMBER)
}

fn never() -> Words<'static> {
    Words::new("nothing", "must not be there: the schema allows no value here")
}

/// Returns the schema of `contains`, for display.
fn contained(array: Option<&ArrayRules>) -> &str {
    array.and_then(|rules| rules.contains.as_ref()).map_or("", |contains| &contains.shown)
}

/// Describes the number of items that must match the schema of `contains`.
fn matching(bound: &str, limit: usize, shown: &str, is: usize) -> Words<'static> {
    let items =
        |number: usize| format!("{} that {}", count(number, "item"), if number == 1 { "matches" } else { "match" });
    let limit = format!("{bound} {} {shown}", items(limit));
    let message = format!("must have {limit}, has {is}");
    Words::new(limit, message).receiving(items(is))
}

/// Returns the schemas of alternatives.
fn alternatives_of(applied: Option<&Applied>) -> &[SchemaId] {
    match applied {
        Some(Applied::Any(schemas) | Applied::One(schemas)) => schemas,
        _ => &[],
    }
}

/// Appends a schema value for display. Reads only as much of a long string as is shown.
fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::String(string) => text::push_quoted(out, string, MAX_VALUE),
        value => out.push_str(&text::short(value.to_string(), MAX_VALUE)),
    }
}
