//! JSON whose members keep their order, because constrained decoders write members in the order of the schema.

use std::collections::HashMap;

use serde::{
    Serialize, Serializer,
    de::{Deserializer as _, MapAccess, SeqAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{Value, value::RawValue};

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

    /// Returns a reference to a definition.
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

/// The names of each object's members in the order of the text, by the object's JSON Pointer.
#[derive(Default)]
pub(super) struct Order(HashMap<String, Vec<String>>);

impl Order {
    /// Reads the order from the text of a document.
    pub(super) fn of(text: &str) -> serde_json::Result<Self> {
        let mut order = Order::default();
        let mut todo: Vec<(String, Box<RawValue>)> = vec![(String::new(), serde_json::from_str(text)?)];
        while let Some((pointer, raw)) = todo.pop() {
            let text = raw.get();
            if !text.starts_with(['{', '[']) {
                continue;
            }
            let children = serde_json::Deserializer::from_str(text).deserialize_any(Children)?;
            for (name, child) in &children {
                todo.push((format!("{pointer}/{}", escape(name)), child.clone()));
            }
            if text.starts_with('{') {
                order.0.insert(pointer, children.into_iter().map(|(name, _)| name).collect());
            }
        }
        Ok(order)
    }

    /// States the order of an object's names.
    pub(super) fn set(&mut self, pointer: String, names: Vec<String>) {
        self.0.insert(pointer, names);
    }

    /// Returns the names of an object, in the order of the text.
    pub(super) fn names(&self, pointer: &str) -> &[String] {
        self.0.get(pointer).map_or(&[], Vec::as_slice)
    }
}

/// Reads the members of an object, or the values of an array by their indices, as text.
struct Children;

impl<'de> Visitor<'de> for Children {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut values: Self::Value = Vec::new();
        while let Some(value) = sequence.next_element()? {
            values.push((values.len().to_string(), value));
        }
        Ok(values)
    }
}

/// Escapes a name for a JSON Pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
