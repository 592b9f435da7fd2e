//! The shape of a value: the part of a schema that types can express.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::schema::Types;

/// Alternatives. If there are none, no value fits.
pub(super) type Union = Vec<Part>;

/// One alternative of a union.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// A definition, by its number.
    Reference(usize),
    Shape(Shape),
}

/// The values of some types, described for each type that has parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) types: Types,
    /// The only valid values, if they are listed.
    pub(super) values: Option<Vec<Value>>,
    /// The members of an object.
    pub(super) object: Option<Object>,
    /// The alternatives for each item of an array.
    pub(super) items: Option<Union>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    pub(super) members: BTreeMap<String, Member>,
    pub(super) required: BTreeSet<String>,
    /// The members that `members` does not name.
    pub(super) others: Union,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) union: Union,
    pub(super) description: Option<String>,
}

/// The root, or a schema that is referenced by name.
pub(super) struct Definition {
    /// The text from which its name is derived.
    pub(super) named: String,
    pub(super) union: Union,
    pub(super) description: Option<String>,
}

/// Returns the union that accepts every value.
pub(super) fn any() -> Union {
    vec![Part::Shape(Shape::any())]
}

/// Returns whether a union accepts every value.
pub(super) fn is_any(union: &Union) -> bool {
    union.iter().any(|part| matches!(part, Part::Shape(shape) if shape.is_any()))
}

impl Shape {
    pub(super) fn any() -> Self {
        Shape { types: Types::ALL, values: None, object: None, items: None }
    }

    pub(super) fn is_any(&self) -> bool {
        self.types == Types::ALL && self.values.is_none() && self.object.is_none() && self.items.is_none()
    }

    /// Returns whether it only states which members must be present.
    pub(super) fn is_only_required(&self) -> bool {
        let is_plain =
            |object: &Object| is_any(&object.others) && object.members.values().all(|member| is_any(&member.union));
        (self.types == Types::ALL || self.types == Types::OBJECT)
            && self.values.is_none()
            && self.items.is_none()
            && self.object.as_ref().is_none_or(is_plain)
    }
}

impl Object {
    /// Returns the member with a name, whether or not it is declared.
    pub(super) fn member(&self, name: &str) -> Member {
        let undeclared = || Member { union: self.others.clone(), description: None };
        self.members.get(name).cloned().unwrap_or_else(undeclared)
    }
}
