//! Schemas in the form that the authoring tools use, with their references resolved.
//!
//! Only the component judges. This module searches for examples and compares schemas, and reports when the result is
//! unknown.

mod decimal;
mod facts;
pub(crate) mod jtd;
mod order;
mod sample;
mod subset;

pub(crate) use decimal::Decimal;
pub(crate) use facts::{Facts, Types, equal};
pub(crate) use order::Order;
pub(crate) use sample::{Pool, Sampler};
pub(crate) use subset::Prover;

use serde_json::{Map, Value};

/// The keywords that do not constrain a value.
pub(crate) const ANNOTATIONS: [&str; 10] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// The dialects of JSON Schema, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Draft {
    /// Returns the dialect with this URI.
    pub(crate) fn of(uri: &str) -> Option<Self> {
        let draft = match uri.trim_end_matches('#').trim_start_matches("https").trim_start_matches("http") {
            "://json-schema.org/draft-04/schema" => Draft::Draft4,
            "://json-schema.org/draft-06/schema" => Draft::Draft6,
            "://json-schema.org/draft-07/schema" => Draft::Draft7,
            "://json-schema.org/draft/2019-09/schema" => Draft::Draft2019,
            "://json-schema.org/draft/2020-12/schema" => Draft::Draft2020,
            _ => return None,
        };
        Some(draft)
    }

    /// Returns whether the dialect has a keyword that some drafts lack.
    pub(crate) fn has(self, keyword: &str) -> bool {
        match keyword {
            "const" | "contains" | "propertyNames" => self >= Draft::Draft6,
            "if" | "then" | "else" => self >= Draft::Draft7,
            "dependentRequired"
            | "dependentSchemas"
            | "minContains"
            | "maxContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => self >= Draft::Draft2019,
            "prefixItems" => self == Draft::Draft2020,
            "additionalItems" => self < Draft::Draft2020,
            _ => true,
        }
    }
}

/// A schema, and the schemas that it may reference.
pub(crate) struct Root {
    value: Value,
    resources: Map<String, Value>,
    draft: Draft,
    /// `true` if `format` is asserted.
    formats: bool,
    /// `true` if this crate can interpret all of it: its dialect is known, and references are resolved only by JSON
    /// Pointers.
    readable: bool,
}

/// Keywords that keep JSON Pointers alone from resolving references.
const INDIRECT: [&str; 5] = ["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor"];

impl Root {
    /// Returns the schema of a complete contract. `None` if the contract has no JSON Schema.
    pub(crate) fn of_contract(contract: &Value) -> Option<Self> {
        let value = contract.get("schema")?.clone();
        let resources = contract.get("resources").and_then(Value::as_object).cloned().unwrap_or_default();
        let named = |value: &Value| value.get("$schema").and_then(Value::as_str).map(str::to_owned);
        let own = named(&value).or_else(|| contract.get("dialect").and_then(Value::as_str).map(str::to_owned));
        let draft = own.as_deref().map_or(Some(Draft::Draft2020), Draft::of);
        let same_draft = |resource: &Value| named(resource).is_none_or(|uri| Draft::of(&uri) == draft);
        let readable = draft.is_some_and(|draft| draft >= Draft::Draft6)
            && is_plain(&value, true)
            && resources.values().all(|resource| same_draft(resource) && is_plain(resource, true));
        let formats = contract.get("formats").and_then(Value::as_str) != Some("annotate");
        Some(Root { value, resources, draft: draft.unwrap_or(Draft::Draft2020), formats, readable })
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.readable
    }

    pub(crate) fn node(&self) -> Node<'_> {
        Node { root: self, document: &self.value, value: &self.value }
    }

    /// Returns the schema and its resources.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Value> {
        std::iter::once(&self.value).chain(self.resources.values())
    }
}

/// Returns whether references lead only by pointers, because no schema inside has a name of its own. Checks all
/// objects, whether they are schemas or not.
fn is_plain(value: &Value, is_top: bool) -> bool {
    match value {
        Value::Object(members) => members.iter().all(|(name, value)| {
            let is_name = matches!(name.as_str(), "$id" | "id" | "$schema") && value.is_string() && !is_top;
            !is_name && !INDIRECT.contains(&name.as_str()) && is_plain(value, false)
        }),
        Value::Array(values) => values.iter().all(|value| is_plain(value, false)),
        _ => true,
    }
}

/// A schema with its context.
#[derive(Clone, Copy)]
pub(crate) struct Node<'s> {
    root: &'s Root,
    /// The document that contains the schema.
    document: &'s Value,
    pub(crate) value: &'s Value,
}

impl<'s> Node<'s> {
    /// Returns a schema in the same document.
    pub(crate) fn at(self, value: &'s Value) -> Node<'s> {
        Node { value, ..self }
    }

    /// Returns the value of a keyword, if the schema's dialect has the keyword.
    pub(crate) fn get(self, keyword: &str) -> Option<&'s Value> {
        self.value.get(keyword).filter(|_| self.root.draft.has(keyword))
    }

    fn list(self, keyword: &str) -> &'s [Value] {
        self.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn map(self, keyword: &str) -> Option<&'s Map<String, Value>> {
        self.get(keyword).and_then(Value::as_object)
    }

    /// Returns the schemas of the first items, and the schema of the other items.
    fn items(self) -> (&'s [Value], Option<&'s Value>) {
        if self.root.draft == Draft::Draft2020 {
            return (self.list("prefixItems"), self.get("items").filter(|items| !items.is_array()));
        }
        match self.get("items") {
            Some(Value::Array(prefix)) => (prefix, self.get("additionalItems")),
            items => (&[], items),
        }
    }

    /// Returns whether a reference makes the keywords beside it ineffective.
    fn is_only_reference(self) -> bool {
        self.root.draft <= Draft::Draft7 && self.value.get("$ref").is_some_and(Value::is_string)
    }

    /// Returns the schema that the reference leads to. `None` if there is no reference, or if its target is not found.
    fn target(self) -> Option<Node<'s>> {
        let reference = self.value.get("$ref").and_then(Value::as_str)?;
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = match uri {
            "" => self.document,
            uri => {
                let named = |value: &Value| {
                    value.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#')) == Some(uri)
                };
                let root = self.root;
                root.resources.get(uri).or_else(|| root.documents().find(|document| named(document)))?
            }
        };
        let value = match fragment {
            "" => document,
            pointer if pointer.contains('%') || !pointer.starts_with('/') => return None,
            pointer => document.pointer(pointer)?,
        };
        Some(Node { document, value, ..self })
    }

    /// Returns the identity of the schema. Two nodes with the same key are the same schema.
    fn key(self) -> usize {
        std::ptr::from_ref(self.value).addr()
    }
}
