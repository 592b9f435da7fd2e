//! Alternatives: values are divided by `anyOf`, `oneOf` and type, and compared part by part.

use serde_json::Value;

use super::{MAX_DEPTH, MAX_SPLITS, MAX_STEPS, Prover};
use crate::schema::{
    Node,
    facts::{Bound, Facts, Types, equal},
};

impl Prover {
    /// Returns whether each alternative of an `anyOf` or a `oneOf` is within another schema.
    pub(super) fn each_alternative_within(&mut self, schemas: &[Node<'_>], facts: &Facts<'_>, other: Node<'_>) -> bool {
        if self.splits >= MAX_SPLITS {
            return false;
        }
        self.splits += 1;
        let mut is_within = false;
        for part in &facts.parts {
            for keyword in ["anyOf", "oneOf"] {
                let alternatives = part.list(keyword);
                if is_within || alternatives.is_empty() || alternatives.len() > 64 {
                    continue;
                }
                is_within = alternatives.iter().all(|alternative| {
                    let with: Vec<Node<'_>> = schemas.iter().copied().chain([part.at(alternative)]).collect();
                    self.schemas_within(&with, other)
                });
            }
        }
        self.splits -= 1;
        is_within
    }

    /// Returns whether all values, or all values of each type, are within one alternative of `anyOf`.
    pub(super) fn some_within(&mut self, facts: &Facts<'_>, other: Node<'_>, alternatives: &Value) -> bool {
        if self.group_within(facts, other, &["anyOf"]) {
            return true;
        }
        let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
        if alternatives.iter().any(|alternative| self.schemas_within(&facts.parts, other.at(alternative))) {
            return true;
        }
        self.each_type(facts, |prover, facts| {
            alternatives.iter().any(|alternative| prover.facts_within(facts, other.at(alternative)))
        })
    }

    /// Returns whether all values are within one alternative of `oneOf`, and none is within another.
    pub(super) fn exactly_one_within(&mut self, facts: &Facts<'_>, other: Node<'_>, alternatives: &Value) -> bool {
        let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
        let is_one = |prover: &mut Self, facts: &Facts<'_>| {
            (0..alternatives.len()).any(|index| {
                prover.facts_within(facts, other.at(&alternatives[index]))
                    && (0..alternatives.len()).filter(|at| *at != index).all(|at| {
                        let alternative = Facts::of(&[other.at(&alternatives[at])]);
                        prover.is_disjoint(facts, &alternative)
                    })
            })
        };
        is_one(self, facts) || self.each_type(facts, is_one)
    }

    /// Returns whether `holds` is true for the values of each type by itself, if there are several types.
    fn each_type(&mut self, facts: &Facts<'_>, mut holds: impl FnMut(&mut Self, &Facts<'_>) -> bool) -> bool {
        let types: Vec<Types> = Types::EACH.into_iter().filter(|types| facts.types.has(*types)).collect();
        types.len() > 1
            && types.into_iter().all(|types| {
                let values = facts.values.as_ref();
                let values = values.map(|all| all.iter().copied().filter(|it| Types::of(it).has(types)).collect());
                let alone = Facts { parts: facts.parts.clone(), never: facts.never, types, values };
                holds(self, &alone)
            })
    }

    /// Returns whether it is certain that no value is valid under both.
    pub(super) fn is_disjoint(&mut self, one: &Facts<'_>, other: &Facts<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.inside > MAX_DEPTH {
            return false;
        }
        let types = one.types.and(other.types);
        if one.is_empty() || other.is_empty() || types == Types::NONE {
            return true;
        }
        if let (Some(values), Some(others)) = (&one.values, &other.values)
            && !values.iter().any(|value| others.iter().any(|other| equal(value, other)))
        {
            return true;
        }
        if types.within(Types::NUMBER) {
            let apart = |upper: Option<Bound>, lower: Option<Bound>| {
                upper.zip(lower).is_some_and(|(upper, lower)| {
                    upper.value < lower.value || (upper.value == lower.value && (upper.exclusive || lower.exclusive))
                })
            };
            return apart(one.bound(false), other.bound(true)) || apart(other.bound(false), one.bound(true));
        }
        if types != Types::OBJECT {
            return false;
        }
        let required: Vec<&str> = one.required().into_iter().chain(other.required()).collect();
        required.into_iter().any(|name| {
            let members = [one, other].map(|facts| Facts::of(&facts.member(name)));
            self.inside += 1;
            let is_disjoint = self.is_disjoint(&members[0], &members[1]);
            self.inside -= 1;
            is_disjoint
        })
    }
}
