//! A schema as a value, parsed from its document.

use referencing::Draft;
use serde_json::{Map, Value};

use crate::parse::{Document, Kind, NodeId};

/// A schema and its position in its document.
pub(crate) struct SchemaSource<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) at: NodeId,
    pub(super) value: Value,
}

impl<'d> SchemaSource<'d> {
    /// Reads a schema from a document that passed the caps check: its numbers fit 64 bits, and its depth is bounded.
    pub(crate) fn new(document: &'d Document<'d>, at: NodeId) -> Self {
        SchemaSource { document, at, value: value(document, at) }
    }

    /// Returns the schema's URI: `$id`, or `id` in draft 4. Empty if it has none. `default` is the draft of a schema
    /// that declares none.
    pub(crate) fn id(&self, default: Draft) -> &str {
        self.value.get(default.detect(&self.value).id_keyword()).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the schema's node in the document.
    pub(crate) fn root(&self) -> NodeId {
        self.at
    }

    /// Returns whether the schema obviously rejects every value.
    pub(crate) fn is_never(&self) -> bool {
        is_never(&self.value)
    }

    /// Returns the node of a keyword's value.
    pub(crate) fn member(&self, keyword: &str) -> Option<NodeId> {
        self.document.member(self.at, keyword)
    }

    /// Returns the schema as text without insignificant white space.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.document.write(self.at, &mut text);
        text
    }
}

/// A schema with its URI in the contract.
pub(crate) type Resource<'r> = (&'r str, &'r SchemaSource<'r>);

/// Returns whether a schema obviously rejects every value.
fn is_never(schema: &Value) -> bool {
    let schemas = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let takes_all =
        |schema: &Value| *schema == Value::Bool(true) || schema.as_object().is_some_and(serde_json::Map::is_empty);
    *schema == Value::Bool(false)
        || schema.get("not").is_some_and(takes_all)
        || schemas("enum").is_some_and(Vec::is_empty)
        || schemas("allOf").is_some_and(|schemas| schemas.iter().any(is_never))
        || ["anyOf", "oneOf"].into_iter().filter_map(schemas).any(|schemas| schemas.iter().all(is_never))
}

fn value(document: &Document, at: NodeId) -> Value {
    match document.kind(at) {
        Kind::Null => Value::Null,
        Kind::False => Value::Bool(false),
        Kind::True => Value::Bool(true),
        Kind::Number => serde_json::from_str(document.source(at)).unwrap_or_default(),
        Kind::String => Value::String(document.string(at).to_owned()),
        Kind::Array => document.items(at).map(|item| value(document, item)).collect(),
        Kind::Object => {
            let member = |(name, at)| (document.string(name).to_owned(), value(document, at));
            Value::Object(document.members(at).map(member).collect::<Map<_, _>>())
        }
    }
}
