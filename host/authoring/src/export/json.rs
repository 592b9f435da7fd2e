//! JSON values whose members keep their order, because constrained decoders write members in the order of the schema.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

/// A JSON value whose members keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Value(Value),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn object(keyword: &str, value: impl Into<Json>) -> Self {
        Json::Object(vec![(keyword.to_owned(), value.into())])
    }

    /// Creates a reference to a definition.
    pub(super) fn reference(name: &str) -> Self {
        Json::object("$ref", Value::from(format!("#/$defs/{name}")))
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(name, _)| name == keyword).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the name of the definition that this schema refers to.
    pub(super) fn target(&self) -> Option<&str> {
        match self.get("$ref") {
            Some(Json::Value(Value::String(reference))) => reference.strip_prefix("#/$defs/"),
            _ => None,
        }
    }

    /// Returns the members of a keyword's value.
    pub(super) fn members(&self, keyword: &str) -> &[(String, Json)] {
        match self.get(keyword) {
            Some(Json::Object(members)) => members,
            _ => &[],
        }
    }

    /// Returns the values of a keyword's list.
    pub(super) fn list(&self, keyword: &str) -> &[Json] {
        match self.get(keyword) {
            Some(Json::Array(values)) => values,
            _ => &[],
        }
    }

    /// Returns the schemas inside this schema.
    pub(super) fn inside(&self) -> Vec<&Json> {
        let properties = ["properties", "patternProperties"].into_iter().flat_map(|keyword| self.members(keyword));
        let lists = ["anyOf", "prefixItems"].into_iter().flat_map(|keyword| self.list(keyword));
        let others = ["items", "additionalProperties"].into_iter().filter_map(|keyword| self.get(keyword));
        properties.map(|(_, schema)| schema).chain(lists).chain(others).collect()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Json::Value(value)
    }
}

impl From<Vec<Json>> for Json {
    fn from(values: Vec<Json>) -> Self {
        Json::Array(values)
    }
}

impl From<Vec<(String, Json)>> for Json {
    fn from(members: Vec<(String, Json)>) -> Self {
        Json::Object(members)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Value(value) => value.serialize(serializer),
            Json::Array(values) => serializer.collect_seq(values),
            Json::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}
