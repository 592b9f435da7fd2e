//! A compiled schema. Its rules are grouped by the kind of value that they apply to, so that a value is only checked by
//! rules for its kind.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use super::{
    format::{Content, Format},
    names::Names,
    pattern::Pattern,
    table::Table,
    value::{About, Divisor, Numeric, equals, is_integer},
};
use crate::{
    location::Step,
    order::sort_by,
    parse::{Document, Kind, NodeId, Number},
    path::ItemsPath,
    scan::hash,
};

/// A schema's index in `Schemas`.
pub(super) type SchemaId = u32;

/// The schema that accepts everything.
pub(super) const ANY: SchemaId = 0;

/// All schemas compiled from a contract's schema.
#[derive(Clone)]
pub(super) struct Schemas {
    pub(super) all: Vec<Schema>,
    /// A brief summary of each schema.
    briefs: Vec<Brief>,
    pub(super) root: SchemaId,
    /// The URIs of resources, without fragments; the first is that of the contract's own schema.
    pub(super) resources: Vec<String>,
}

impl Schemas {
    pub(super) fn new(all: Vec<Schema>, root: SchemaId, resources: Vec<String>) -> Self {
        Schemas { briefs: all.iter().map(Brief::of).collect(), all, root, resources }
    }

    #[inline(always)]
    pub(super) fn brief(&self, id: SchemaId) -> Brief {
        self.briefs[id as usize]
    }

    #[inline(always)]
    pub(super) fn get(&self, id: SchemaId) -> &Schema {
        &self.all[id as usize]
    }

    /// Returns the schemas that apply to each item of the array at a path, whatever the document is.
    pub(super) fn of_items(&self, path: &ItemsPath) -> Vec<ItemSchemas> {
        let mut at = self.with_applied(vec![self.root]);
        for step in &path.steps {
            let inside = at.iter().flat_map(|id| match step {
                Step::Name(name) => self.of_member(self.get(*id), name),
                Step::Index(index) => {
                    ItemSchemas::of(self.get(*id)).and_then(|items| items.get(*index)).into_iter().collect()
                }
            });
            at = self.with_applied(inside.collect());
        }
        at.iter().filter_map(|id| ItemSchemas::of(self.get(*id))).collect()
    }

    /// Adds all schemas that apply wherever the given ones apply.
    pub(super) fn with_applied(&self, mut ids: Vec<SchemaId>) -> Vec<SchemaId> {
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            next += 1;
            for applied in &self.get(id).applied {
                let all = match applied {
                    Applied::Reference(id) => std::slice::from_ref(id),
                    Applied::All(all) => all,
                    _ => continue,
                };
                for id in all {
                    if !ids.contains(id) {
                        ids.push(*id);
                    }
                }
            }
        }
        ids
    }

    /// Returns the members declared for the document: the name of each, whether it is required, and whether it may be
    /// an array.
    pub(super) fn declared(&self) -> Vec<(&str, bool, bool)> {
        let mut declared = Vec::new();
        for rules in self.with_applied(vec![self.root]).into_iter().filter_map(|id| self.get(id).object.as_ref()) {
            for (number, member) in rules.members.iter().enumerate() {
                let all = self.with_applied(member.schema.into_iter().collect());
                let is_list = all.iter().all(|id| self.get(*id).types.may_have(Kind::Array));
                declared.push((rules.names.get(number), member.required, is_list));
            }
        }
        declared
    }

    /// Returns the schemas that apply to the member of this name.
    fn of_member(&self, schema: &Schema, name: &str) -> Vec<SchemaId> {
        schema.object.as_ref().map_or_else(Vec::new, |rules| rules.covering(name))
    }
}

/// The schemas that one schema applies to the items of an array.
#[derive(Debug, Clone)]
pub(super) struct ItemSchemas {
    prefix: Vec<SchemaId>,
    rest: Option<SchemaId>,
}

impl ItemSchemas {
    fn of(schema: &Schema) -> Option<Self> {
        let rules = schema.array.as_ref()?;
        let items = ItemSchemas { prefix: rules.prefix.clone(), rest: rules.rest };
        (!items.prefix.is_empty() || items.rest.is_some()).then_some(items)
    }

    /// Returns the schema of the item at this index.
    pub(super) fn get(&self, index: usize) -> Option<SchemaId> {
        self.prefix.get(index).copied().or(self.rest)
    }
}

/// A compact summary of a schema. The judge checks it first, and it decides for most values.
#[derive(Clone, Copy)]
pub(super) struct Brief {
    types: Types,
    /// Two bit sets of kinds: those with rules beyond the type, and those whose rules look inside the value or apply
    /// other schemas.
    ruled: u8,
    costly: u8,
}

impl Brief {
    fn of(schema: &Schema) -> Self {
        let all = |is: bool| if is { u8::MAX } else { 0 };
        let of = |kind: Kind, is: bool| if is { Types::bit(kind) } else { 0 };
        let costly = all(!schema.applied.is_empty())
            | of(Kind::Array, schema.array.is_some() || schema.unevaluated_items.is_some())
            | of(Kind::Object, schema.object.is_some() || schema.unevaluated_members.is_some());
        let ruled = costly
            | all(!schema.allowed.is_empty())
            | of(Kind::Number, schema.number.is_some())
            | of(Kind::String, schema.string.is_some());
        Brief { types: schema.types, ruled, costly }
    }

    /// Returns whether all values of a kind are valid without further checks.
    #[inline(always)]
    pub(super) fn takes_all(self, kind: Kind) -> bool {
        self.types.0 & !self.ruled & Types::bit(kind) != 0
    }

    /// Returns whether no value of a kind is valid.
    #[inline(always)]
    pub(super) fn takes_none(self, kind: Kind) -> bool {
        let integers = if kind == Kind::Number { INTEGER | WRITTEN_INTEGER } else { 0 };
        self.types.0 & (Types::bit(kind) | integers) == 0
    }

    /// Returns whether values of a kind are expensive to validate.
    #[inline(always)]
    pub(super) fn is_costly(self, kind: Kind) -> bool {
        self.costly & Types::bit(kind) != 0
    }
}

/// The location of a schema: the resource, and a JSON Pointer into it.
#[derive(Debug, Clone, Default)]
pub(super) struct SchemaLocation {
    /// An index into `Schemas::resources`.
    pub(super) resource: u32,
    pub(super) pointer: String,
}

#[derive(Clone, Default)]
pub(super) struct Schema {
    pub(super) types: Types,
    /// The value of `type` for display: `string or null`.
    pub(super) type_names: Cow<'static, str>,
    /// `true` for the schema `false`.
    pub(super) never: bool,
    /// `true` if the schema can refer to itself for the same value.
    pub(super) recurs: bool,
    pub(super) allowed: Vec<Allowed>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) string: Option<Box<StringRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
    /// Schemas for the same value.
    pub(super) applied: Vec<Applied>,
    /// For each entry of `applied`, a table that selects the schemas that can hold for an object.
    pub(super) tables: Vec<Option<Box<Table>>>,
    pub(super) unevaluated_items: Option<SchemaId>,
    pub(super) unevaluated_members: Option<SchemaId>,
    pub(super) location: SchemaLocation,
    pub(super) title: Option<Box<str>>,
    /// The positions of the schema and its known keywords in the text of the contract's schema, in document order.
    pub(super) position: NodeId,
    pub(super) keywords: Vec<(&'static str, NodeId)>,
}

/// The keyword `type`, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Default for Types {
    fn default() -> Self {
        Types(u8::MAX)
    }
}

/// The bits that no kind uses: one for integers by value, and one for integers by notation.
const INTEGER: u8 = 1 << 7;
const WRITTEN_INTEGER: u8 = 1 << Kind::False as u8;

impl Types {
    pub(super) const NONE: Types = Types(0);

    #[inline(always)]
    fn bit(kind: Kind) -> u8 {
        match kind {
            Kind::False | Kind::True => 1 << Kind::True as u8,
            kind => 1 << kind as u8,
        }
    }

    /// Adds a type by its name, and returns the name. `None` if there is no such type. If `written` is set, `1.0` is
    /// not an integer, as in draft 4.
    pub(super) fn add(&mut self, name: &str, written: bool) -> Option<&'static str> {
        let kinds = [Kind::Null, Kind::True, Kind::Number, Kind::String, Kind::Array, Kind::Object];
        let (bit, name) = match name {
            "integer" => (if written { WRITTEN_INTEGER } else { INTEGER }, "integer"),
            name => kinds.into_iter().find(|kind| kind.name() == name).map(|kind| (Types::bit(kind), kind.name()))?,
        };
        self.0 |= bit;
        Some(name)
    }

    /// Returns whether any value of a kind has one of the types.
    pub(super) fn may_have(self, kind: Kind) -> bool {
        let integers = if kind == Kind::Number { INTEGER | WRITTEN_INTEGER } else { 0 };
        self.0 & (Types::bit(kind) | integers) != 0
    }

    #[inline]
    pub(super) fn has(self, document: &Document, at: NodeId, kind: Kind) -> bool {
        self.0 & Types::bit(kind) != 0 || (kind == Kind::Number && self.has_integer(Number(document.source(at))))
    }

    /// Returns whether all numbers have one of the types.
    pub(super) fn takes_numbers(self) -> bool {
        self.0 & Types::bit(Kind::Number) != 0
    }

    /// Returns whether a number has one of the types. `integer` is `true` if the number is known to be written as an
    /// integer.
    pub(super) fn has_number(self, number: Number, integer: bool) -> bool {
        self.takes_numbers() || (integer && self.0 & (INTEGER | WRITTEN_INTEGER) != 0) || self.has_integer(number)
    }

    fn has_integer(self, number: Number) -> bool {
        (self.0 & INTEGER != 0 && (number.is_written_as_integer() || is_integer(number.0)))
            || (self.0 & WRITTEN_INTEGER != 0 && number.is_written_as_integer())
    }
}

/// The values of `enum` or `const`.
#[derive(Clone)]
pub(super) struct Allowed {
    pub(super) keyword: &'static str,
    /// All values, in the schema's order.
    pub(super) values: Vec<Value>,
    strings: Names,
    /// The numbers and their indices in `values`, in ascending order of the numbers.
    numbers: Vec<(About, u32)>,
    /// The indices of values that are neither strings nor numbers.
    others: Vec<u32>,
}

impl Allowed {
    pub(super) fn new(keyword: &'static str, values: Vec<Value>) -> Self {
        let strings = Names::new(values.iter().filter_map(Value::as_str));
        let number = |(at, value): (usize, &Value)| Some((About::of(value.as_number()?.as_str()), at as u32));
        let mut numbers: Vec<(About, u32)> = values.iter().enumerate().filter_map(number).collect();
        sort_by(&mut numbers, |a, b| numeric(&values, *a).order(numeric(&values, *b)));
        let is_other = |(index, value): (usize, &Value)| match value {
            Value::String(_) | Value::Number(_) => None,
            _ => Some(index as u32),
        };
        let others = values.iter().enumerate().filter_map(is_other).collect();
        Allowed { keyword, values, strings, numbers, others }
    }

    /// Returns the strings among the values.
    pub(super) fn strings(&self) -> impl Iterator<Item = &str> {
        self.values.iter().filter_map(Value::as_str)
    }

    /// Returns whether any of the values has the given kind.
    pub(super) fn has_kind(&self, kind: Kind) -> bool {
        let is_of = |value: &Value| match kind {
            Kind::Null => value.is_null(),
            Kind::False | Kind::True => value.is_boolean(),
            Kind::Number => value.is_number(),
            Kind::String => value.is_string(),
            Kind::Array => value.is_array(),
            Kind::Object => value.is_object(),
        };
        self.values.iter().any(is_of)
    }

    /// Returns whether `null`, `true` or `false` is among the values.
    pub(super) fn has_literal(&self, kind: Kind) -> bool {
        let is_it = |value: &Value| match value {
            Value::Null => kind == Kind::Null,
            Value::Bool(value) => kind == if *value { Kind::True } else { Kind::False },
            _ => false,
        };
        self.values.iter().any(is_it)
    }

    pub(super) fn has_string(&self, string: &[u8]) -> bool {
        self.strings.find(string, hash(string)).is_some()
    }

    pub(super) fn has_number(&self, number: Numeric) -> bool {
        self.numbers.binary_search_by(|known| numeric(&self.values, *known).order(number)).is_ok()
    }

    pub(super) fn has(&self, document: &Document, at: NodeId, kind: Kind) -> bool {
        match kind {
            Kind::String => self.has_string(document.string_bytes(at)),
            Kind::Number => self.has_number(Numeric::of(document.source(at))),
            _ => self.others.iter().any(|&index| equals(document, at, &self.values[index as usize])),
        }
    }
}

/// Returns a number of the schema for comparison.
fn numeric(values: &[Value], (about, at): (About, u32)) -> Numeric<'_> {
    Numeric::known(values[at as usize].as_number().map_or("0", serde_json::Number::as_str), about)
}

#[derive(Clone, Default)]
pub(super) struct NumberRules {
    pub(super) bounds: Vec<Bound>,
    pub(super) multiple_of: Option<(Divisor, String)>,
}

/// `minimum` and similar keywords.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) keyword: &'static str,
    /// The operator between the value and the limit: `>=`, `<=`, `>` or `<`.
    pub(super) sign: &'static str,
    pub(super) about: About,
    /// The limit as written in the schema.
    pub(super) text: String,
}

impl Bound {
    pub(super) fn has(&self, number: Numeric) -> bool {
        let order = number.order(Numeric::known(&self.text, self.about));
        match self.sign {
            ">=" => order.is_ge(),
            "<=" => order.is_le(),
            ">" => order.is_gt(),
            _ => order.is_lt(),
        }
    }
}

/// A minimum and a maximum size, both inclusive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) min: usize,
    pub(super) max: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { min: 0, max: usize::MAX }
    }
}

#[derive(Clone, Default)]
pub(super) struct StringRules {
    /// In Unicode code points.
    pub(super) length: Sizes,
    pub(super) pattern: Option<Arc<Pattern>>,
    pub(super) format: Option<Format>,
    pub(super) content: Content,
}

#[derive(Clone, Default)]
pub(super) struct ArrayRules {
    pub(super) length: Sizes,
    pub(super) unique: bool,
    /// The schemas of the first items, one for each.
    pub(super) prefix: Vec<SchemaId>,
    /// The schema of the remaining items.
    pub(super) rest: Option<SchemaId>,
    /// `true` if `additionalItems` is `false`. An array with more items is then reported as too long.
    pub(super) closed: bool,
    pub(super) contains: Option<Contains>,
}

#[derive(Clone)]
pub(super) struct Contains {
    pub(super) schema: SchemaId,
    /// The schema as text, truncated for display.
    pub(super) shown: String,
    pub(super) count: Sizes,
    /// `true` if matching items count as evaluated (2020-12).
    pub(super) evaluates: bool,
}

#[derive(Clone, Default)]
pub(super) struct ObjectRules {
    pub(super) count: Sizes,
    /// The names in `properties` and `required`.
    pub(super) names: Names,
    /// The member for each name in `names`. A member that is only required has no schema.
    pub(super) members: Vec<Member>,
    /// The number of required members.
    pub(super) required: usize,
    pub(super) patterns: Vec<(Arc<Pattern>, SchemaId)>,
    /// The schema of members that no name or pattern covers.
    pub(super) additional: Option<SchemaId>,
    /// The schema of the member names.
    pub(super) property_names: Option<SchemaId>,
    /// Sorted by name.
    pub(super) dependent: Vec<Dependent>,
}

impl ObjectRules {
    /// Returns the index of a member in `properties` or `required`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.names.number(name)
    }

    /// Returns whether the rules only require members.
    pub(super) fn is_only_required(&self) -> bool {
        self.count.is_any()
            && self.members.iter().all(|member| member.required && member.schema.is_none())
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.property_names.is_none()
            && self.dependent.is_empty()
    }

    /// Returns the schemas that apply to the member with this name.
    pub(super) fn covering(&self, name: &str) -> Vec<SchemaId> {
        let named = self.member(name).and_then(|member| member.schema);
        let mut covered = named.is_some();
        let mut covering: Vec<SchemaId> = named.into_iter().collect();
        for (pattern, schema) in &self.patterns {
            let matches = pattern.matches(name);
            covered |= matches!(matches, Ok(true));
            // If it is undecided whether a pattern covers the name, the value must be valid in both cases.
            if !matches!(matches, Ok(false)) {
                covering.push(*schema);
            }
        }
        if !covered {
            covering.extend(self.additional);
        }
        covering
    }

    /// Returns the member of this name.
    pub(super) fn member(&self, name: &str) -> Option<Member> {
        self.number(name).map(|number| self.members[number])
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Member {
    pub(super) schema: Option<SchemaId>,
    pub(super) required: bool,
}

/// The rules that apply if a certain member is present.
#[derive(Clone)]
pub(super) struct Dependent {
    pub(super) name: String,
    /// `dependentRequired`, `dependentSchemas` or `dependencies`.
    pub(super) keyword: &'static str,
    pub(super) required: Vec<String>,
    pub(super) schema: Option<SchemaId>,
}

/// One or several schemas that apply to the same value.
#[derive(Clone)]
pub(super) enum Applied {
    Reference(SchemaId),
    All(Vec<SchemaId>),
    Any(Vec<SchemaId>),
    One(Vec<SchemaId>),
    /// The negated schema, and its text, truncated for display.
    Not(SchemaId, String),
    If {
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    },
}

impl Applied {
    /// Returns the schemas of `allOf`, `anyOf` or `oneOf`.
    pub(super) fn all(&self) -> &[SchemaId] {
        match self {
            Applied::All(ids) | Applied::Any(ids) | Applied::One(ids) => ids,
            _ => &[],
        }
    }

    pub(super) fn each(&mut self, visit: &mut impl FnMut(&mut SchemaId)) {
        match self {
            Applied::Reference(id) | Applied::Not(id, _) => visit(id),
            Applied::All(ids) | Applied::Any(ids) | Applied::One(ids) => ids.iter_mut().for_each(visit),
            Applied::If { condition, then, otherwise } => {
                visit(condition);
                then.iter_mut().chain(otherwise).for_each(visit);
            }
        }
    }
}

impl Sizes {
    fn is_any(self) -> bool {
        self.min == 0 && self.max == usize::MAX
    }
}

impl StringRules {
    pub(super) fn is_empty(&self) -> bool {
        self.length.is_any() && self.pattern.is_none() && self.format.is_none() && self.content.is_any()
    }
}

impl ArrayRules {
    pub(super) fn is_empty(&self) -> bool {
        self.length.is_any()
            && !self.unique
            && !self.closed
            && self.prefix.is_empty()
            && self.rest.is_none()
            && self.contains.is_none()
    }
}

impl ObjectRules {
    /// Returns whether looking up each named member of an object with `count` members is faster than visiting all its
    /// members. Always `false` if the rules concern other members.
    pub(super) fn names_few(&self, count: usize) -> bool {
        const FEW: usize = 2;
        self.members.len() <= FEW.min(count)
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.property_names.is_none()
    }

    /// Returns the dependents that apply if the member with this name is present, each with its index.
    pub(super) fn dependents_of(&self, name: &str) -> impl Iterator<Item = (usize, &Dependent)> {
        let first = self.dependent.partition_point(|dependent| dependent.name.as_str() < name);
        let all = self.dependent[first..].iter().take_while(move |dependent| dependent.name == name);
        all.enumerate().map(move |(index, dependent)| (first + index, dependent))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count.is_any()
            && self.members.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.property_names.is_none()
            && self.dependent.is_empty()
    }
}

impl Dependent {
    pub(super) fn new(name: &str, keyword: &'static str, required: &[&str], schema: Option<SchemaId>) -> Self {
        let required = required.iter().map(|name| (*name).to_owned()).collect();
        Dependent { name: name.to_owned(), keyword, required, schema }
    }
}

impl Schema {
    /// Returns whether the schema consists only of schemas that it applies to the same value.
    pub(super) fn is_only_applied(&self) -> bool {
        self.types == Types::default()
            && self.allowed.is_empty()
            && self.number.is_none()
            && self.string.is_none()
            && self.array.is_none()
            && self.object.is_none()
            && self.unevaluated_items.is_none()
            && self.unevaluated_members.is_none()
    }

    /// Returns whether a match of one of the schema's patterns can be undecided.
    pub(super) fn can_be_undecided(&self) -> bool {
        let string = self.string.iter().filter_map(|rules| rules.pattern.as_ref());
        let names = self.object.iter().flat_map(|rules| rules.patterns.iter().map(|(pattern, _)| pattern));
        string.chain(names).any(|pattern| pattern.can_be_undecided())
    }

    /// Visits the schemas that apply to the same value.
    pub(super) fn each_applied(&mut self, visit: &mut impl FnMut(&mut SchemaId)) {
        self.applied.iter_mut().for_each(|applied| applied.each(visit));
        let dependent = self.object.iter_mut().flat_map(|rules| &mut rules.dependent);
        dependent.filter_map(|dependent| dependent.schema.as_mut()).for_each(visit);
    }

    /// Visits all schemas that this schema refers to.
    pub(super) fn each_named(&mut self, visit: &mut impl FnMut(&mut SchemaId)) {
        self.each_applied(visit);
        self.unevaluated_items.iter_mut().chain(&mut self.unevaluated_members).for_each(&mut *visit);
        if let Some(rules) = &mut self.array {
            rules.prefix.iter_mut().chain(&mut rules.rest).for_each(&mut *visit);
            rules.contains.iter_mut().for_each(|contains| visit(&mut contains.schema));
        }
        if let Some(rules) = &mut self.object {
            rules.members.iter_mut().filter_map(|member| member.schema.as_mut()).for_each(&mut *visit);
            rules.patterns.iter_mut().for_each(|(_, schema)| visit(schema));
            rules.additional.iter_mut().chain(&mut rules.property_names).for_each(visit);
        }
    }
}
