//! Schemas that have the same meaning because they have the same text.

use serde_json::Value;

use super::{MAX_DEPTH, MAX_STEPS, Prover, is_silent};
use crate::schema::Node;

impl Prover {
    /// Returns whether two schemas have the same text, and everything that they may reference does too.
    pub(super) fn is_identical(&self, one: Node<'_>, other: Node<'_>) -> bool {
        let (one, other) = (one.root, other.root);
        one.value == other.value
            && one.resources == other.resources
            && one.draft == other.draft
            && one.formats == other.formats
    }

    /// Returns whether two schemas are the same word for word, except for annotations.
    pub(super) fn is_same(&mut self, one: Node<'_>, other: Node<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || one.root.draft != other.root.draft {
            return false;
        }
        let pair = (one.key(), other.key());
        // A reference leads back to the same pair. The schemas are the same if everything else is.
        if self.same.contains(&pair) {
            return true;
        }
        if self.same.len() > MAX_DEPTH {
            return false;
        }
        let (Value::Object(keywords), Value::Object(others)) = (one.value, other.value) else {
            return one.value == other.value;
        };
        self.same.push(pair);
        let is_same = keywords.keys().chain(others.keys()).all(|keyword| self.is_same_keyword(one, other, keyword));
        self.same.pop();
        is_same
    }

    /// Returns whether one keyword has the same meaning in two schemas.
    pub(super) fn is_same_keyword(&mut self, one: Node<'_>, other: Node<'_>, keyword: &str) -> bool {
        if is_silent(keyword) {
            return true;
        }
        if one.root.draft != other.root.draft {
            return false;
        }
        let (value, same_as) = match (one.value.get(keyword), other.value.get(keyword)) {
            (None, None) => return true,
            (Some(one), Some(other)) => (one, other),
            _ => return false,
        };
        match keyword {
            "$ref" => match (one.target(), other.target()) {
                (Some(target), Some(other)) => self.is_same(target, other),
                _ => false,
            },
            "format" | "contentEncoding" | "contentMediaType" => {
                value == same_as && one.root.formats == other.root.formats
            }
            "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                let (Some(map), Some(others)) = (value.as_object(), same_as.as_object()) else {
                    return false;
                };
                map.len() == others.len()
                    && map.iter().all(|(name, value)| {
                        others.get(name).is_some_and(|same_as| self.is_same(one.at(value), other.at(same_as)))
                    })
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" | "items" if value.is_array() => {
                let (Some(list), Some(others)) = (value.as_array(), same_as.as_array()) else {
                    return false;
                };
                list.len() == others.len()
                    && list.iter().zip(others).all(|(value, same_as)| self.is_same(one.at(value), other.at(same_as)))
            }
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contentSchema" => self.is_same(one.at(value), other.at(same_as)),
            _ => value == same_as,
        }
    }
}
