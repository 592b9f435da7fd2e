//! Reads schemas as shapes.

use std::collections::{BTreeMap, BTreeSet};

use referencing::{Draft, Registry, Resolver};
use serde_json::{Map, Value};

use super::{
    detected,
    shape::{Definition, Member, Object, Part, Shape, Union, any, is_any},
};
use crate::schema::{Types, equal};

/// The maximum number of alternatives in a union that others are combined with.
const MAX_ALTERNATIVES: usize = 48;
/// The deepest level at which schemas are combined, and references are followed to combine them.
const MAX_DEPTH: usize = 24;
/// The maximum number of schemas that are combined in total.
const MAX_COMBINED: usize = 200_000;

/// A schema, with the base of its references and its draft.
type Place<'r> = (&'r Value, Resolver<'r>, Draft);

/// Reads a schema and everything that it references. The first definition is the schema itself.
pub(super) fn read<'r>(registry: &'r Registry<'r>, root: Place<'r>) -> Vec<Definition> {
    let mut reader = Reader { registry, found: Vec::new(), by_address: BTreeMap::new(), depth: 0, combined: 0 };
    reader.number(root, String::new());
    let mut next = 0;
    while next < reader.found.len() {
        reader.definition(next);
        next += 1;
    }
    let definitions = reader.found.into_iter().map(|found| {
        let description = description(found.place.0);
        let union = if let State::Read(union) = found.state { union } else { any() };
        Definition { named: found.named, union, description }
    });
    definitions.collect()
}

struct Reader<'r> {
    registry: &'r Registry<'r>,
    found: Vec<Found<'r>>,
    /// The numbers of the known definitions, by the addresses of their schemas.
    by_address: BTreeMap<usize, usize>,
    depth: usize,
    combined: usize,
}

struct Found<'r> {
    place: Place<'r>,
    named: String,
    state: State,
}

enum State {
    Unread,
    Reading,
    Read(Union),
}

impl<'r> Reader<'r> {
    /// Returns the number of the definition at a place.
    fn number(&mut self, place: Place<'r>, named: String) -> usize {
        let next = self.found.len();
        let number = *self.by_address.entry(std::ptr::from_ref(place.0).addr()).or_insert(next);
        if number == next {
            self.found.push(Found { place, named, state: State::Unread });
        }
        number
    }

    /// Returns the alternatives of a definition. `None` if the definition is currently being read.
    fn definition(&mut self, number: usize) -> Option<Union> {
        let found = &mut self.found[number];
        match &found.state {
            State::Read(union) => return Some(union.clone()),
            State::Reading => return None,
            State::Unread => found.state = State::Reading,
        }
        let place = found.place.clone();
        let union = self.schema(&place);
        self.found[number].state = State::Read(union.clone());
        Some(union)
    }

    /// Reads a schema inside another one.
    fn inner(&mut self, outer: &Place<'r>, schema: &'r Value) -> Union {
        let draft = detected(outer.2, schema);
        // If its URI is invalid, its references are resolved against the outer one.
        let resolver = outer.1.in_subresource(draft.create_resource_ref(schema)).unwrap_or_else(|_| outer.1.clone());
        self.schema(&(schema, resolver, draft))
    }

    fn schema(&mut self, place: &Place<'r>) -> Union {
        let (schema, resolver, draft) = place;
        let keywords = match schema {
            Value::Bool(false) => return Vec::new(),
            Value::Object(keywords) => keywords,
            _ => return any(),
        };
        let referred = keywords.get("$ref").and_then(Value::as_str).map(|reference| {
            // The path to this point is omitted, because a plain reference does not depend on it.
            let resolver = self.registry.resolver((*resolver.base_uri()).clone());
            let Ok(found) = resolver.lookup(reference) else { return any() };
            let (target, resolver, draft) = found.into_inner();
            let draft = detected(draft, target);
            vec![Part::Reference(self.number((target, resolver, draft), last_name(reference)))]
        });
        // Up to draft 7, a reference hides the keywords beside it.
        if *draft <= Draft::Draft7
            && let Some(union) = referred
        {
            return union;
        }
        let mut union = vec![Part::Shape(self.shape(place, keywords))];
        if let Some(referred) = referred {
            union = self.both(union, referred);
        }
        for each in list(keywords, "allOf") {
            let each = self.inner(place, each);
            union = self.both(union, each);
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut alternatives = Vec::new();
            for each in list(keywords, keyword) {
                alternatives.extend(self.inner(place, each));
            }
            let says_nothing = |part: &Part| matches!(part, Part::Shape(shape) if shape.is_only_required());
            if keywords.get(keyword).is_some_and(Value::is_array) && !alternatives.iter().all(says_nothing) {
                union = self.both(union, alternatives);
            }
        }
        union.retain(|part| !matches!(part, Part::Shape(shape) if shape.types == Types::NONE));
        union
    }

    /// Reads the keywords of a schema that are about the value itself.
    fn shape(&mut self, place: &Place<'r>, keywords: &'r Map<String, Value>) -> Shape {
        let mut shape = Shape::any();
        if let Some(types) = keywords.get("type") {
            shape.types = Types::read(types);
        }
        if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
            shape.values = Some(values.clone());
        }
        if place.2 >= Draft::Draft6
            && let Some(value) = keywords.get("const")
        {
            let is_listed = shape.values.as_ref().is_none_or(|values| values.iter().any(|each| equal(each, value)));
            shape.values = Some(if is_listed { vec![value.clone()] } else { Vec::new() });
        }
        shape.object = self.object(place, keywords);
        shape.items = self.items(place, keywords);
        limited(shape)
    }

    fn object(&mut self, place: &Place<'r>, keywords: &'r Map<String, Value>) -> Option<Object> {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let additional = keywords.get("additionalProperties");
        let mut required: BTreeSet<String> =
            list(keywords, "required").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if properties.is_none() && patterns.is_none() && additional.is_none() && required.is_empty() {
            return None;
        }
        let mut members = BTreeMap::new();
        for (name, schema) in properties.into_iter().flatten() {
            let member = Member { union: self.inner(place, schema), description: description(schema) };
            members.insert(name.clone(), member);
        }
        let mut others = additional.map_or_else(any, |schema| self.inner(place, schema));
        // Types do not distinguish members by patterns, so an unnamed member may match any of them.
        if !is_any(&others) {
            for (_, schema) in patterns.into_iter().flatten() {
                let schema = self.inner(place, schema);
                others.extend(schema);
            }
        }
        for name in &required {
            let undeclared = || Member { union: others.clone(), description: None };
            members.entry(name.clone()).or_insert_with(undeclared);
        }
        required.retain(|name| members.contains_key(name));
        Some(Object { members, required, others })
    }

    /// Reads the type of all items. Types do not distinguish the first items.
    fn items(&mut self, place: &Place<'r>, keywords: &'r Map<String, Value>) -> Option<Union> {
        let (first, rest) = match keywords.get("items") {
            Some(Value::Array(first)) if place.2 < Draft::Draft202012 => {
                (first.as_slice(), keywords.get("additionalItems"))
            }
            rest if place.2 >= Draft::Draft202012 => (list(keywords, "prefixItems"), rest),
            rest => (&[][..], rest),
        };
        if first.is_empty() && rest.is_none() {
            return None;
        }
        let mut union = rest.map_or_else(any, |rest| self.inner(place, rest));
        for each in first {
            let each = self.inner(place, each);
            union.extend(each);
        }
        Some(union)
    }

    /// Returns a union of the values that fit both unions. If that takes too long, returns a superset: the values that
    /// fit one of them.
    fn both(&mut self, one: Union, other: Union) -> Union {
        if is_plainly_any(&one) || one == other {
            return other;
        }
        if is_plainly_any(&other) {
            return one;
        }
        self.combined += 1;
        let is_too_much = one.len() * other.len() > MAX_ALTERNATIVES;
        if is_too_much || self.depth >= MAX_DEPTH || self.combined > MAX_COMBINED {
            return one;
        }
        self.depth += 1;
        let mut union: Union = Vec::new();
        for one in &one {
            for other in &other {
                for part in self.both_parts(one, other) {
                    if !union.contains(&part) {
                        union.push(part);
                    }
                }
            }
        }
        self.depth -= 1;
        union
    }

    fn both_parts(&mut self, one: &Part, other: &Part) -> Union {
        match (one, other) {
            (Part::Shape(one), Part::Shape(other)) => {
                let both = self.both_shapes(one, other);
                if both.types == Types::NONE { Vec::new() } else { vec![Part::Shape(both)] }
            }
            (reference, shape) | (shape, reference) if is_part_of_any(shape) => vec![reference.clone()],
            (Part::Reference(one), Part::Reference(other)) if one == other => vec![Part::Reference(*one)],
            (Part::Reference(number), other) | (other, Part::Reference(number)) => match self.definition(*number) {
                Some(union) => self.both(union, vec![other.clone()]),
                None => vec![Part::Reference(*number)],
            },
        }
    }

    fn both_shapes(&mut self, one: &Shape, other: &Shape) -> Shape {
        let values = match (&one.values, &other.values) {
            (Some(one), Some(other)) => {
                Some(one.iter().filter(|value| other.iter().any(|each| equal(each, value))).cloned().collect())
            }
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let object = match (&one.object, &other.object) {
            (Some(one), Some(other)) => Some(self.both_objects(one, other)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let items = match (&one.items, &other.items) {
            (Some(one), Some(other)) => Some(self.both(one.clone(), other.clone())),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        limited(Shape { types: one.types.and(other.types), values, object, items })
    }

    fn both_objects(&mut self, one: &Object, other: &Object) -> Object {
        let names: BTreeSet<&String> = one.members.keys().chain(other.members.keys()).collect();
        let mut members = BTreeMap::new();
        for name in names {
            let (one, other) = (one.member(name), other.member(name));
            let description = one.description.or(other.description);
            members.insert(name.clone(), Member { union: self.both(one.union, other.union), description });
        }
        let required = one.required.union(&other.required).cloned().collect();
        Object { members, required, others: self.both(one.others.clone(), other.others.clone()) }
    }
}

/// Returns the shape without impossible values and types.
fn limited(mut shape: Shape) -> Shape {
    if shape.object.as_ref().is_some_and(|object| {
        object.required.iter().any(|name| object.members.get(name).is_some_and(|member| member.union.is_empty()))
    }) {
        shape.types = shape.types.without(Types::OBJECT);
    }
    if let Some(values) = &mut shape.values {
        values.retain(|value| Types::of(value).has(shape.types));
        let types = values.iter().map(Types::of).fold(Types::NONE, Types::or);
        shape.types = shape.types.and(types);
    }
    shape
}

fn is_plainly_any(union: &Union) -> bool {
    matches!(union.as_slice(), [part] if is_part_of_any(part))
}

fn is_part_of_any(part: &Part) -> bool {
    matches!(part, Part::Shape(shape) if shape.is_any())
}

fn list<'v>(keywords: &'v Map<String, Value>, keyword: &str) -> &'v [Value] {
    keywords.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the text that explains a schema.
fn description(schema: &Value) -> Option<String> {
    ["description", "title"].iter().find_map(|keyword| schema.get(keyword)?.as_str()).map(str::to_owned)
}

/// Returns the last name in a reference, from which the name of a type is derived.
fn last_name(reference: &str) -> String {
    let last = |text: &str| text.rsplit('/').find(|step| !step.is_empty()).map(str::to_owned);
    let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    last(fragment).or_else(|| last(uri.trim_end_matches(".json"))).unwrap_or_default()
}
