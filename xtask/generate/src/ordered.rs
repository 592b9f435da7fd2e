//! JSON whose members keep their order, which is the order of the members in what is generated.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Bool(bool),
    Text(String),
    Count(u64),
    /// Another number or null, which nothing that is generated needs.
    Other,
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Returns the member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.members().iter().find_map(|(member, value)| (member == name).then_some(value))
    }

    /// Returns the members of an object, and none of anything else.
    pub(super) fn members(&self) -> &[(String, Node)] {
        match self {
            Node::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the items of a list, and none of anything else.
    pub(super) fn items(&self) -> &[Node] {
        match self {
            Node::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Node::Count(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the strings of a list.
    pub(super) fn texts(&self) -> Vec<String> {
        self.items().iter().filter_map(|item| item.text().map(str::to_owned)).collect()
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Count(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = object.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}
