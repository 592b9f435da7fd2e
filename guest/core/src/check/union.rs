//! Finds the intended alternative for a value that matches none.
//!
//! Alternatives are distinguished by what their schemas list: the types of the value, and `const` and `enum` of the
//! value or of shared members. An alternative whose list contains the actual value takes precedence over one whose list
//! does not, however many other failures it has.

use std::collections::{BTreeMap, BTreeSet};

use super::schema::{Allowed, Applied, ObjectRules, Schema, SchemaId, Schemas};
use crate::{
    misspelling,
    parse::{Document, Kind, NodeId},
};

/// The maximum nesting of members, references and alternatives that is followed.
const MAX_LEVELS: usize = 10;

/// The maximum number of schemas and values that a search reads to distinguish alternatives, and the number of document
/// bytes that allow one more.
const STEPS: u32 = 20_000;
const BYTES_PER_STEP: usize = 8;

/// The intended alternatives.
pub(super) enum Meant {
    One(usize),
    /// One of these alternatives. Nothing shows which.
    Several(Vec<usize>),
    /// No alternative: none accepts the value at this position.
    None(NodeId, Vec<Takes>),
}

/// The values that an alternative accepts at a position.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Takes {
    /// The values in this schema's list with this index.
    Values(SchemaId, usize),
    /// The types that this schema lists.
    Types(SchemaId),
}

impl Takes {
    /// Returns the list of accepted values.
    pub(super) fn allowed<'s>(&self, schemas: &'s Schemas) -> Option<&'s Allowed> {
        match self {
            Takes::Values(id, number) => schemas.get(*id).allowed.get(*number),
            Takes::Types(_) => None,
        }
    }
}

/// The lists that one alternative has for a value and its parts.
#[derive(Default)]
struct Lists {
    /// `true` if the alternative rejects values of this type.
    other: bool,
    /// The lists for the value itself.
    takes: Vec<Takes>,
    /// The lists for the values that the alternative declares, by position.
    by_place: BTreeMap<NodeId, List>,
}

/// The lists that one alternative has for one position. Empty if the alternative only declares the position.
struct List {
    agrees: bool,
    takes: Vec<Takes>,
}

impl Default for List {
    fn default() -> Self {
        List { agrees: true, takes: Vec::new() }
    }
}

/// Returns the number of steps for one search.
pub(super) fn steps(document: &Document) -> u32 {
    STEPS.saturating_add((document.source(Document::ROOT).len() / BYTES_PER_STEP) as u32)
}

/// Returns the alternatives that a value is intended for. `steps` is the number of remaining steps, which all calls of
/// a search share.
#[inline(never)]
pub(super) fn meant(
    schemas: &Schemas,
    document: &Document,
    alternatives: &[SchemaId],
    at: NodeId,
    steps: &mut u32,
) -> Meant {
    let mut reader = Reader { schemas, document, value: at, steps };
    let mut lists = Vec::new();
    for id in alternatives {
        let mut list = Lists::default();
        reader.read(*id, at, MAX_LEVELS, &mut list);
        lists.push(list);
    }
    if *reader.steps == 0 {
        return Meant::Several((0..alternatives.len()).collect());
    }
    reader.choose(&lists)
}

/// The maximum number of members of a value whose names are compared with those of an alternative.
const MAX_NAMES: usize = 32;

/// Returns a score for the names that a value and an alternative share: two for each equal name, and one for each
/// similar name. Returns zero if no steps are left.
#[inline(never)]
pub(super) fn likeness(schemas: &Schemas, document: &Document, id: SchemaId, at: NodeId, steps: &mut u32) -> usize {
    let ids = schemas.with_applied(vec![id]);
    let rules: Vec<&ObjectRules> = ids.iter().filter_map(|id| schemas.get(*id).object.as_deref()).collect();
    let declared = || rules.iter().flat_map(|rules| (0..rules.members.len()).map(|number| rules.names.get(number)));
    let mut total = 0;
    for (name, _) in document.members(at).take(MAX_NAMES) {
        let name = document.string(name);
        if rules.iter().any(|rules| rules.number(name).is_some()) {
            total += 2;
            continue;
        }
        *steps = steps.saturating_sub(MAX_NAMES as u32);
        total += usize::from(*steps > 0 && misspelling::nearest(name, declared().take(MAX_NAMES)).is_some());
    }
    total
}

struct Reader<'d, 's> {
    schemas: &'d Schemas,
    document: &'d Document<'d>,
    /// The value that the alternatives apply to.
    value: NodeId,
    steps: &'s mut u32,
}

impl Reader<'_, '_> {
    /// Collects the lists of a schema for a value and its parts.
    #[inline(never)]
    fn read(&mut self, id: SchemaId, at: NodeId, left: usize, lists: &mut Lists) {
        *self.steps = self.steps.saturating_sub(1);
        if left == 0 || *self.steps == 0 {
            return;
        }
        let (schemas, document) = (self.schemas, self.document);
        let schema = schemas.get(id);
        self.read_own(id, schema, at, lists);
        if let (Kind::Object, Some(rules)) = (document.kind(at), &schema.object) {
            for (name, value) in document.members(at) {
                let number = rules.names.find(document.string_bytes(name), document.name_hash(name));
                if let Some(schema) = number.and_then(|number| rules.members[number].schema) {
                    self.read(schema, value, left - 1, lists);
                }
            }
        }
        if let (Kind::Array, Some(rules)) = (document.kind(at), &schema.array) {
            for (schema, item) in rules.prefix.iter().zip(document.items(at)) {
                self.read(*schema, item, left - 1, lists);
            }
        }
        for applied in &schema.applied {
            match applied {
                Applied::Reference(id) => self.read(*id, at, left - 1, lists),
                Applied::All(all) => all.iter().for_each(|id| self.read(*id, at, left - 1, lists)),
                Applied::Any(any) | Applied::One(any) => self.read_any(any, at, left - 1, lists),
                Applied::Not(..) | Applied::If { .. } => {}
            }
        }
    }

    /// Collects the lists of a schema's own keywords for a value.
    fn read_own(&self, id: SchemaId, schema: &Schema, at: NodeId, lists: &mut Lists) {
        let (document, kind) = (self.document, self.document.kind(at));
        let list = lists.by_place.entry(at).or_default();
        for (number, allowed) in schema.allowed.iter().enumerate() {
            list.agrees &= allowed.has(document, at, kind);
            list.takes.push(Takes::Values(id, number));
        }
        // An optional value may often be null instead.
        if schema.type_names == "null" && schema.allowed.is_empty() && at != self.value {
            list.agrees &= kind == Kind::Null;
            list.takes.push(Takes::Types(id));
        }
        if at != self.value {
            return;
        }
        let is_typed = schema.allowed.iter().all(|allowed| allowed.has_kind(kind));
        lists.other |= !schema.types.has(document, at, kind) || !is_typed;
        match schema.allowed.is_empty() {
            true if !schema.type_names.is_empty() => lists.takes.push(Takes::Types(id)),
            true => {}
            false => lists.takes.extend((0..schema.allowed.len()).map(|number| Takes::Values(id, number))),
        }
    }

    /// Collects lists from nested alternatives, if every one of them lists something.
    fn read_any(&mut self, any: &[SchemaId], at: NodeId, left: usize, lists: &mut Lists) {
        let mut inner = Vec::new();
        for id in any {
            let mut lists = Lists::default();
            self.read(*id, at, left, &mut lists);
            inner.push(lists);
        }
        lists.other |= inner.iter().all(|inner| inner.other);
        let places: BTreeSet<NodeId> = inner.iter().flat_map(|inner| inner.by_place.keys().copied()).collect();
        for place in places {
            let of_place = || inner.iter().filter_map(|inner| inner.by_place.get(&place));
            let list = lists.by_place.entry(place).or_default();
            if of_place().count() == any.len() && of_place().all(|list| !list.takes.is_empty()) {
                list.agrees &= of_place().any(|list| list.agrees);
                list.takes.extend(of_place().flat_map(|list| list.takes.iter().cloned()));
            }
        }
        lists.takes.extend(inner.into_iter().flat_map(|inner| inner.takes));
    }

    /// Excludes alternatives one by one, using the most decisive list first.
    fn choose(&mut self, lists: &[Lists]) -> Meant {
        let mut left: Vec<usize> = (0..lists.len()).filter(|number| !lists[*number].other).collect();
        let value = self.value;
        let of_value = |number: &usize| lists[*number].by_place.get(&value);
        let takes: Vec<Takes> = lists.iter().flat_map(|list| list.takes.iter().cloned()).collect();
        if !takes.is_empty() && left.iter().all(|number| of_value(number).is_some_and(|list| !list.agrees)) {
            return Meant::None(self.value, takes);
        }
        if left.is_empty() {
            left = (0..lists.len()).collect();
        }
        let places: BTreeSet<NodeId> = lists.iter().flat_map(|list| list.by_place.keys().copied()).collect();
        loop {
            if let [one] = left[..] {
                return Meant::One(one);
            }
            let strongest =
                places.iter().filter_map(|place| Some((self.strength(lists, &left, *place)?, *place))).min();
            let Some(((.., is_none), place)) = strongest else {
                // A value that is not a literal may still match alternatives without a list.
                let is_open = |number: &usize| of_value(number).is_none_or(|list| list.agrees);
                let open: Vec<usize> = left.iter().copied().filter(is_open).collect();
                return Meant::Several(if open.is_empty() { left } else { open });
            };
            if is_none {
                let listed = left.iter().filter_map(|number| lists[*number].by_place.get(&place));
                return Meant::None(place, listed.flat_map(|list| list.takes.iter().cloned()).collect());
            }
            left.retain(|number| lists[*number].by_place.get(&place).is_some_and(List::has_what_is_there));
        }
    }

    /// Returns how well the lists for a position distinguish alternatives, in ascending order from best to worst: by
    /// the number of alternatives without a list, by whether lists overlap, by their lengths, and by whether no list
    /// contains the actual value. `None` if the lists do not distinguish them.
    fn strength(&mut self, lists: &[Lists], left: &[usize], place: NodeId) -> Option<(usize, bool, usize, bool)> {
        let declared: Vec<&List> = left.iter().filter_map(|number| lists[*number].by_place.get(&place)).collect();
        let listed: Vec<&&List> = declared.iter().filter(|list| !list.takes.is_empty()).collect();
        let agreeing = listed.iter().filter(|list| list.agrees).count();
        let is_shared = declared.len() > 1 && !listed.is_empty();
        let is_none = agreeing == 0 && listed.len() == left.len();
        if !is_shared || agreeing == left.len() || (agreeing == 0 && !is_none) {
            return None;
        }
        let (mut all, mut total, mut longest) = (BTreeSet::new(), 0, 0);
        for list in &listed {
            let values: BTreeSet<String> = list.takes.iter().flat_map(|takes| self.telling(takes)).collect();
            total += values.len();
            longest = longest.max(values.len());
            all.extend(values);
        }
        *self.steps = self.steps.saturating_sub((total + left.len()) as u32);
        let is_same = all.len() == longest;
        (!(is_none && is_same)).then_some((left.len() - listed.len(), all.len() < total, longest, is_none))
    }

    /// Returns the values that can distinguish alternatives. Excludes null, which any alternative may allow.
    fn telling(&self, takes: &Takes) -> Vec<String> {
        let values = takes.allowed(self.schemas).into_iter().flat_map(|allowed| &allowed.values);
        values.filter(|value| !value.is_null()).map(ToString::to_string).collect()
    }
}

impl List {
    fn has_what_is_there(&self) -> bool {
        self.agrees && !self.takes.is_empty()
    }
}
