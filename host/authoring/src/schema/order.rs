//! The order of members in the text of a document.

use std::collections::HashMap;

use seamgate_text::escaped;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The names of each object's members in the order of the text, by the object's JSON Pointer.
#[derive(Default)]
pub(crate) struct Order(HashMap<String, Vec<String>>);

impl Order {
    /// Reads the order from the text of a document.
    pub(crate) fn of(text: &str) -> serde_json::Result<Self> {
        let mut order = Order::default();
        let mut todo: Vec<(String, Box<RawValue>)> = vec![(String::new(), serde_json::from_str(text)?)];
        while let Some((pointer, raw)) = todo.pop() {
            let text = raw.get();
            if !text.starts_with(['{', '[']) {
                continue;
            }
            let children = serde_json::Deserializer::from_str(text).deserialize_any(Children)?;
            for (name, child) in &children {
                todo.push((format!("{pointer}/{}", escaped(name)), child.clone()));
            }
            if text.starts_with('{') {
                order.0.insert(pointer, children.into_iter().map(|(name, _)| name).collect());
            }
        }
        Ok(order)
    }

    /// Sets the order of an object's names.
    pub(crate) fn set(&mut self, pointer: String, names: Vec<String>) {
        self.0.insert(pointer, names);
    }

    /// Returns the names of an object, in the order of the text.
    pub(crate) fn names(&self, pointer: &str) -> &[String] {
        self.0.get(pointer).map_or(&[], Vec::as_slice)
    }
}

/// Deserializes the members of an object, or the items of an array by their indices, as text.
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
