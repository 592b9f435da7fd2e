//! Proves that every value that one schema accepts is accepted by another. Without a proof, the result is unknown.

mod alternatives;
mod members;
mod same;
mod values;

use serde_json::Value;

use self::values::{is_bounded, is_limited, is_listed, is_multiple, is_of_format};
use super::{
    ANNOTATIONS, Node,
    decimal::Decimal,
    facts::{Facts, Types, additional},
};

/// The maximum number of steps for one proof. After that, the result is unknown.
const MAX_STEPS: u32 = 20_000;

/// The deepest level at which schemas are compared.
const MAX_DEPTH: usize = 48;

/// The deepest nesting of alternatives that are compared one by one.
const MAX_SPLITS: usize = 3;

/// Returns whether a keyword has no effect on validity: it is an annotation, or contains schemas for references.
fn is_silent(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || matches!(keyword, "$defs" | "definitions")
}

/// A question that is currently being answered. It may recur deeper inside the value.
struct Open {
    schemas: Vec<usize>,
    other: usize,
    inside: usize,
}

/// Proves that one schema is within another.
#[derive(Default)]
pub(crate) struct Prover {
    steps: u32,
    open: Vec<Open>,
    /// The number of levels between the outermost value and the current one.
    inside: usize,
    splits: usize,
    same: Vec<(usize, usize)>,
}

impl Prover {
    /// Returns whether every value that is valid under `one` is proven to be valid under `other`.
    pub(crate) fn within(one: Node<'_>, other: Node<'_>) -> bool {
        let mut prover = Prover::default();
        // If parts cannot be interpreted, only schemas with the same text are known to be equivalent.
        if !(one.root.is_readable() && other.root.is_readable()) {
            return prover.is_identical(one, other);
        }
        prover.schemas_within(&[one], other)
    }

    /// Does the same for values that must be valid under several schemas.
    pub(crate) fn all_within(ones: &[Node<'_>], others: &[Node<'_>]) -> bool {
        let is_readable = |nodes: &[Node<'_>]| nodes.iter().all(|node| node.root.is_readable());
        is_readable(ones)
            && is_readable(others)
            && others.iter().all(|other| Prover::default().schemas_within(ones, *other))
    }

    /// Returns whether every value that all of these schemas accept is accepted by another.
    fn schemas_within(&mut self, schemas: &[Node<'_>], other: Node<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.open.len() > MAX_DEPTH {
            return false;
        }
        if other.value == &Value::Bool(true) {
            return true;
        }
        let mut keys: Vec<usize> = schemas.iter().map(|schema| schema.key()).collect();
        keys.sort_unstable();
        let is_again = |open: &&Open| open.schemas == keys && open.other == other.key();
        if let Some(open) = self.open.iter().find(is_again) {
            // If the question recurs for a value inside the original one, then by induction over the value it holds if
            // everything else does.
            return self.inside > open.inside;
        }
        self.open.push(Open { schemas: keys, other: other.key(), inside: self.inside });
        let facts = Facts::of(schemas);
        let is_within = self.facts_within(&facts, other) || self.each_alternative_within(schemas, &facts, other);
        self.open.pop();
        is_within
    }

    /// Does the same for a value inside the current one.
    fn inside_within(&mut self, schemas: &[Node<'_>], other: Node<'_>) -> bool {
        self.inside += 1;
        let is_within = self.schemas_within(schemas, other);
        self.inside -= 1;
        is_within
    }

    fn facts_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        if facts.is_empty() || self.lacks_a_member(facts) {
            return true;
        }
        let Value::Object(keywords) = other.value else {
            return other.value == &Value::Bool(true);
        };
        if facts.parts.iter().any(|part| self.is_same(*part, other)) {
            return true;
        }
        if other.is_only_reference() {
            return self.reference_within(facts, other);
        }
        keywords.keys().all(|keyword| self.keyword_within(facts, other, keyword))
    }

    /// Returns whether only objects are valid, and must have a member that has no valid value.
    fn lacks_a_member(&mut self, facts: &Facts<'_>) -> bool {
        facts.types == Types::OBJECT && facts.required().iter().any(|name| Facts::of(&facts.member(name)).is_empty())
    }

    fn reference_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        other.target().is_some_and(|target| self.schemas_within(&facts.parts, target))
    }

    fn keyword_within(&mut self, facts: &Facts<'_>, other: Node<'_>, keyword: &str) -> bool {
        let Some(value) = other.get(keyword) else {
            return true;
        };
        if is_silent(keyword) || keyword.starts_with("x-") {
            return true;
        }
        let no = |types: Types| !facts.types.has(types);
        match keyword {
            "type" => facts.types.within(Types::read(value)),
            "enum" => value.as_array().is_some_and(|values| is_listed(facts, &values.iter().collect::<Vec<_>>())),
            "const" => is_listed(facts, &[value]),
            "minimum" | "exclusiveMinimum" => no(Types::NUMBER) || is_bounded(facts, value, keyword, true),
            "maximum" | "exclusiveMaximum" => no(Types::NUMBER) || is_bounded(facts, value, keyword, false),
            "multipleOf" => no(Types::NUMBER) || is_multiple(facts, value),
            "minLength" => no(Types::STRING) || is_limited(facts, keyword, value, true, facts.lengths().map(|it| it.0)),
            "maxLength" => {
                no(Types::STRING) || is_limited(facts, keyword, value, false, facts.lengths().map(|it| it.1))
            }
            "pattern" => no(Types::STRING) || facts.all(keyword).any(|pattern| pattern == value),
            "format" => no(Types::STRING) || is_of_format(facts, other, value),
            "minItems" => no(Types::ARRAY) || is_limited(facts, keyword, value, true, None),
            "maxItems" => no(Types::ARRAY) || is_limited(facts, keyword, value, false, None),
            "uniqueItems" => {
                let at_most_one = facts.limit("maxItems", false).is_some_and(|most| most <= Decimal::from(1));
                no(Types::ARRAY)
                    || value == &Value::Bool(false)
                    || at_most_one
                    || facts.all(keyword).any(|unique| unique == value)
            }
            "items" | "prefixItems" | "additionalItems" => no(Types::ARRAY) || self.items_within(facts, other),
            "contains" | "minContains" | "maxContains" => {
                let group = ["contains", "minContains", "maxContains"];
                no(Types::ARRAY) || self.group_within(facts, other, &group)
            }
            "required" => {
                let required = facts.required();
                let is_required = |name: &Value| name.as_str().is_some_and(|name| required.contains(name));
                no(Types::OBJECT) || value.as_array().is_some_and(|names| names.iter().all(is_required))
            }
            "minProperties" => {
                let required = Some(facts.required().len() as i128);
                no(Types::OBJECT) || is_limited(facts, keyword, value, true, required)
            }
            "maxProperties" => no(Types::OBJECT) || is_limited(facts, keyword, value, false, None),
            "properties" => no(Types::OBJECT) || self.properties_within(facts, other),
            "patternProperties" => no(Types::OBJECT) || self.patterns_within(facts, other),
            "additionalProperties" => no(Types::OBJECT) || self.others_within(facts, other, other.at(value)),
            "unevaluatedProperties" => {
                no(Types::OBJECT)
                    || other.get("additionalProperties").is_some()
                    || additional(other).is_some_and(|schema| self.others_within(facts, other, schema))
            }
            "propertyNames" => {
                let names: Vec<Node<'_>> =
                    facts.parts.iter().filter_map(|part| Some(part.at(part.get(keyword)?))).collect();
                no(Types::OBJECT) || (!names.is_empty() && self.inside_within(&names, other.at(value)))
            }
            "dependentRequired" => {
                no(Types::OBJECT) || value.as_object().is_some_and(|map| self.dependencies_within(facts, map))
            }
            "allOf" => value
                .as_array()
                .is_some_and(|all| all.iter().all(|each| self.schemas_within(&facts.parts, other.at(each)))),
            "$ref" => self.reference_within(facts, other),
            "anyOf" => self.some_within(facts, other, value),
            "oneOf" => self.group_within(facts, other, &["oneOf"]) || self.exactly_one_within(facts, other, value),
            "not" => {
                self.group_within(facts, other, &["not"]) || {
                    let negated = Facts::of(&[other.at(value)]);
                    self.is_disjoint(facts, &negated)
                }
            }
            "if" | "then" | "else" => {
                let is_inert = other.get("if").is_none();
                is_inert || self.group_within(facts, other, &["if", "then", "else"]) || {
                    let branches = ["then", "else"].map(|branch| other.get(branch));
                    branches.into_iter().flatten().all(|schema| self.schemas_within(&facts.parts, other.at(schema)))
                }
            }
            // The keyword depends on others, or has no rule here, and the schema as a whole had no equivalent.
            _ if is_known(keyword) => self.group_within(facts, other, &[keyword]) && is_alone(keyword),
            // An unknown keyword, which validators ignore.
            _ => true,
        }
    }

    /// Returns whether any part has a group of keywords with equivalent values.
    fn group_within(&mut self, facts: &Facts<'_>, other: Node<'_>, group: &[&str]) -> bool {
        facts.parts.iter().any(|part| group.iter().all(|keyword| self.is_same_keyword(*part, other, keyword)))
    }
}

/// Returns whether a keyword is known, but has no rule of its own.
fn is_known(keyword: &str) -> bool {
    is_alone(keyword) || keyword == "unevaluatedItems"
}

/// Returns whether the meaning of a keyword does not depend on the keywords beside it.
fn is_alone(keyword: &str) -> bool {
    matches!(keyword, "dependentSchemas" | "dependencies" | "contentEncoding" | "contentMediaType" | "contentSchema")
}
