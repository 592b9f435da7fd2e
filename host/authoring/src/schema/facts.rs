//! Facts that certainly follow from schemas about a value.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Node, decimal::Decimal};

/// The maximum number of schemas that one schema combines, through references and `allOf`.
const MAX_PARTS: usize = 64;

/// Types of values, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const BOOLEAN: Types = Types(2);
    pub(crate) const INTEGER: Types = Types(4);
    /// Numbers with a fraction.
    pub(crate) const FRACTION: Types = Types(8);
    pub(crate) const NUMBER: Types = Types(4 | 8);
    pub(crate) const STRING: Types = Types(16);
    pub(crate) const ARRAY: Types = Types(32);
    pub(crate) const OBJECT: Types = Types(64);
    pub(crate) const ALL: Types = Types(127);
    pub(crate) const NONE: Types = Types(0);
    /// Each type by itself.
    pub(crate) const EACH: [Types; 7] =
        [Types::NULL, Types::BOOLEAN, Types::INTEGER, Types::FRACTION, Types::STRING, Types::ARRAY, Types::OBJECT];

    pub(crate) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }

    /// Returns whether all of these types are among others.
    pub(crate) fn within(self, other: Types) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn named(name: &str) -> Types {
        match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => Types::NONE,
        }
    }

    /// Returns the types that the value of the keyword `type` names.
    pub(crate) fn read(value: &Value) -> Types {
        match value {
            Value::String(name) => Types::named(name),
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).map(Types::named).fold(Types::NONE, Types::or)
            }
            _ => Types::ALL,
        }
    }

    pub(crate) fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            // A number that cannot be parsed may be either.
            Value::Number(number) => match Decimal::of(number).map(|number| number.is_integer()) {
                Some(true) => Types::INTEGER,
                Some(false) => Types::FRACTION,
                None => Types::NUMBER,
            },
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }
}

/// Returns whether two values are equal, as `enum` compares them.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (Decimal::of(one), Decimal::of(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| equal(one, other)))
        }
        _ => one == other,
    }
}

/// A bound of a number, and whether it excludes the bound itself.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) value: Decimal,
    pub(crate) exclusive: bool,
}

/// The facts that several schemas together state about one value. Each fact holds for every valid value; the schemas
/// may state more.
pub(crate) struct Facts<'s> {
    /// Schemas with keywords that all apply.
    pub(crate) parts: Vec<Node<'s>>,
    /// `true` if no value is valid.
    pub(crate) never: bool,
    pub(crate) types: Types,
    /// The only valid values, if `enum` or `const` lists them.
    pub(crate) values: Option<Vec<&'s Value>>,
}

impl<'s> Facts<'s> {
    pub(crate) fn of(schemas: &[Node<'s>]) -> Self {
        let mut facts = Facts { parts: Vec::new(), never: false, types: Types::ALL, values: None };
        let mut seen = BTreeSet::new();
        for schema in schemas {
            facts.add(*schema, &mut seen);
        }
        for part in &facts.parts {
            if let Some(value) = part.get("type") {
                facts.types = facts.types.and(Types::read(value));
            }
        }
        let lists: Vec<Vec<&Value>> = facts.parts.iter().flat_map(|part| listed(*part)).collect();
        if let Some(first) = lists.first() {
            let is_in_all = |value: &Value| lists.iter().all(|list| list.iter().any(|other| equal(value, other)));
            let values: Vec<&Value> =
                first.iter().copied().filter(|value| Types::of(value).has(facts.types) && is_in_all(value)).collect();
            let types = values.iter().map(|value| Types::of(value)).fold(Types::NONE, Types::or);
            facts.types = facts.types.and(types);
            facts.values = Some(values);
        }
        facts
    }

    fn add(&mut self, schema: Node<'s>, seen: &mut BTreeSet<usize>) {
        match schema.value {
            Value::Bool(false) => self.never = true,
            Value::Object(_) if self.parts.len() < MAX_PARTS && seen.insert(schema.key()) => {
                if !schema.is_only_reference() {
                    self.parts.push(schema);
                    for each in schema.list("allOf") {
                        self.add(schema.at(each), seen);
                    }
                }
                if let Some(target) = schema.target() {
                    self.add(target, seen);
                }
            }
            _ => {}
        }
    }

    /// Returns whether it is certain that no value is valid.
    pub(crate) fn is_empty(&self) -> bool {
        self.never || self.types == Types::NONE
    }

    /// Returns the values of a keyword in all parts that have it.
    pub(crate) fn all<'k>(&self, keyword: &'k str) -> impl Iterator<Item = &'s Value> + use<'_, 's, 'k> {
        self.parts.iter().filter_map(move |part| part.get(keyword))
    }

    fn numbers(&self, keyword: &str) -> impl Iterator<Item = Decimal> {
        self.all(keyword).filter_map(Value::as_number).filter_map(Decimal::of)
    }

    /// Returns the lower or the upper bound of numbers.
    pub(crate) fn bound(&self, is_lower: bool) -> Option<Bound> {
        let names = if is_lower { ["minimum", "exclusiveMinimum"] } else { ["maximum", "exclusiveMaximum"] };
        let mut bounds: Vec<Bound> = Vec::new();
        for (keyword, exclusive) in names.into_iter().zip([false, true]) {
            bounds.extend(self.numbers(keyword).map(|value| Bound { value, exclusive }));
        }
        // The listed values imply bounds, too.
        if let Some(values) = &self.values {
            let all: Option<Vec<Decimal>> =
                values.iter().filter_map(|value| value.as_number()).map(Decimal::of).collect();
            let end = all.and_then(|all| if is_lower { all.into_iter().min() } else { all.into_iter().max() });
            bounds.extend(end.map(|value| Bound { value, exclusive: false }));
        }
        let is_integer = !self.types.has(Types::FRACTION);
        let bounds = bounds.into_iter().map(|bound| if is_integer { inward(bound, is_lower) } else { bound });
        bounds.reduce(|one, other| if tighter(&other, &one, is_lower) { other } else { one })
    }

    /// Returns the largest value of a keyword, or the smallest.
    pub(crate) fn limit(&self, keyword: &str, is_lower: bool) -> Option<Decimal> {
        let numbers = self.numbers(keyword);
        if is_lower { numbers.max() } else { numbers.min() }
    }

    /// Returns the lengths of the shortest and the longest listed string.
    pub(crate) fn lengths(&self) -> Option<(i128, i128)> {
        let lengths: Vec<i128> = self
            .values
            .as_ref()?
            .iter()
            .filter_map(|value| value.as_str())
            .map(|text| text.chars().count() as i128)
            .collect();
        Some((lengths.iter().copied().min()?, lengths.iter().copied().max()?))
    }

    /// Returns the members that every valid object has.
    pub(crate) fn required(&self) -> BTreeSet<&'s str> {
        self.all("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
    }

    /// Returns the members that any part names.
    pub(crate) fn names(&self) -> BTreeSet<&'s str> {
        self.parts
            .iter()
            .filter_map(|part| part.map("properties"))
            .flat_map(|map| map.keys().map(String::as_str))
            .collect()
    }

    /// Returns the schemas that apply to the value of a member.
    pub(crate) fn member(&self, name: &str) -> Vec<Node<'s>> {
        let mut schemas = Vec::new();
        for part in &self.parts {
            match part.map("properties").and_then(|map| map.get(name)) {
                Some(schema) => schemas.push(part.at(schema)),
                None if part.map("patternProperties").is_none_or(serde_json::Map::is_empty) => {
                    schemas.extend(additional(*part));
                }
                None => {}
            }
        }
        schemas
    }

    /// Returns the schemas that apply to an item.
    pub(crate) fn item(&self, index: usize) -> Vec<Node<'s>> {
        let schema = |part: &Node<'s>| {
            let (prefix, rest) = part.items();
            prefix.get(index).or(rest).map(|schema| part.at(schema))
        };
        self.parts.iter().filter_map(schema).collect()
    }

    /// Returns the number of items that have schemas of their own.
    pub(crate) fn prefix(&self) -> usize {
        self.parts.iter().map(|part| part.items().0.len()).max().unwrap_or(0)
    }
}

/// Returns the schema of the members that a part does not name.
pub(crate) fn additional<'s>(part: Node<'s>) -> Option<Node<'s>> {
    if let Some(schema) = part.get("additionalProperties") {
        return Some(part.at(schema));
    }
    // If nothing evaluates members elsewhere, it has the same meaning.
    let elsewhere = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"];
    let schema = part.get("unevaluatedProperties")?;
    elsewhere.iter().all(|keyword| part.value.get(*keyword).is_none()).then(|| part.at(schema))
}

/// Returns the values that a part lists.
fn listed(part: Node<'_>) -> Vec<Vec<&Value>> {
    let several = part.get("enum").and_then(Value::as_array).map(|values| values.iter().collect());
    let one = part.get("const").map(|value| vec![value]);
    several.into_iter().chain(one).collect()
}

/// Returns whether a bound is tighter than another.
fn tighter(one: &Bound, other: &Bound, is_lower: bool) -> bool {
    let order = if is_lower { one.value.cmp(&other.value) } else { other.value.cmp(&one.value) };
    order.is_gt() || (order.is_eq() && one.exclusive && !other.exclusive)
}

/// Returns the equivalent bound for integers, which is the outermost valid integer.
fn inward(bound: Bound, is_lower: bool) -> Bound {
    match bound.value.integer().filter(|_| bound.exclusive) {
        Some(at) => Bound { value: Decimal::from(if is_lower { at + 1 } else { at - 1 }), exclusive: false },
        None => bound,
    }
}
