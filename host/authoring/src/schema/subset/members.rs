//! Items of arrays and members of objects.

use serde_json::{Map, Value};

use super::Prover;
use crate::schema::{
    Node,
    facts::{Facts, additional},
};

impl Prover {
    /// Returns whether the items of each array are within the schemas that `other` has for them.
    pub(super) fn items_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        let most = facts.limit("maxItems", false).and_then(|most| most.integer());
        let may_have = |index: usize| most.is_none_or(|most| most > index as i128);
        let (prefix, rest) = other.items();
        let own = facts.prefix();
        let through = prefix.len().max(own);
        // One index more than those with schemas of their own represents all further items.
        (0..=through).filter(|index| may_have(*index)).all(|index| match prefix.get(index).or(rest) {
            Some(schema) => self.inside_within(&facts.item(index), other.at(schema)),
            None => true,
        })
    }

    /// Returns whether each member that `other` names is within its schema.
    pub(super) fn properties_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        other
            .map("properties")
            .into_iter()
            .flatten()
            .all(|(name, schema)| self.inside_within(&facts.member(name), other.at(schema)))
    }

    /// Returns whether each member that `other` does not name, and that no pattern constrains further, is within a
    /// schema.
    pub(super) fn others_within(&mut self, facts: &Facts<'_>, other: Node<'_>, schema: Node<'_>) -> bool {
        if schema.value == &Value::Bool(true) {
            return true;
        }
        let named = other.map("properties");
        let own: Vec<&str> =
            facts.names().into_iter().filter(|name| !named.is_some_and(|named| named.contains_key(*name))).collect();
        let patterns = other.map("patternProperties");
        own.iter().all(|name| self.inside_within(&facts.member(name), schema))
            && self.rest_within(facts, schema, patterns)
    }

    /// Returns whether each member that no part names is within a schema. Names that match one of `patterns` do not count.
    fn rest_within(&mut self, facts: &Facts<'_>, schema: Node<'_>, patterns: Option<&Map<String, Value>>) -> bool {
        facts.parts.iter().any(|part| {
            let Some(rest) = additional(*part) else {
                return false;
            };
            self.inside_within(&[rest], schema)
                && part.map("patternProperties").into_iter().flatten().all(|(pattern, value)| {
                    patterns.is_some_and(|patterns| patterns.contains_key(pattern))
                        || self.inside_within(&[part.at(value)], schema)
                })
        })
    }

    /// Returns whether each member whose name matches a pattern of `other` is within the schema of that pattern.
    pub(super) fn patterns_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        other.map("patternProperties").into_iter().flatten().all(|(pattern, schema)| {
            let schema = other.at(schema);
            let is_met = facts.parts.iter().any(|part| {
                let own = part.map("patternProperties").and_then(|map| map.get(pattern));
                own.is_some_and(|own| self.inside_within(&[part.at(own)], schema))
            });
            // Or it holds for members of any name.
            is_met
                || (facts.names().iter().all(|name| self.inside_within(&facts.member(name), schema))
                    && self.rest_within(facts, schema, None))
        })
    }

    /// Returns whether each object has the members that `dependentRequired` requires.
    pub(super) fn dependencies_within(&mut self, facts: &Facts<'_>, dependencies: &Map<String, Value>) -> bool {
        let required = facts.required();
        dependencies.iter().all(|(name, needed)| {
            let needed: Vec<&str> = needed.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let is_in = |list: &Value| {
                let list: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                needed.iter().all(|name| list.contains(name) || required.contains(name))
            };
            needed.iter().all(|name| required.contains(name))
                || Facts::of(&facts.member(name)).is_empty()
                || facts.all("dependentRequired").filter_map(|map| map.get(name)).any(is_in)
        })
    }
}
