//! Reduces the schema of a contract to what the types of a programming language can express.
//!
//! A generator of types reads one dialect, and expects one way to write each type. [`type_schema`] writes such a
//! schema: in draft 7, without references to other documents, where each schema is a reference, a union, or a value of
//! one type.
//!
//! Every document that the contract accepts is accepted by that schema, too. The reverse does not hold: bounds,
//! patterns, formats and conditions are omitted, because types do not express them. The gate checks those.
//!
//! Three interpretations are narrower. A schema with `properties` or `required` and without `type` means objects, and
//! one with `items` and without `type` means arrays, as in all generators. For Go, null is omitted, because pointers
//! can be nil. For Rust, a union is written as `oneOf`, which typify interprets as any of the alternatives.
//!
//! ```
//! use seamgate_authoring::types::{Language, type_schema};
//! use serde_json::json;
//!
//! let contract = json!({
//!     "agent": "order",
//!     "schema": { "required": ["sku"], "properties": { "sku": { "type": "string", "minLength": 1 } } },
//! });
//! let schema = type_schema(&contract, "Order", Language::Rust)?;
//! assert_eq!(schema["title"], "Order");
//! assert_eq!(schema["properties"]["sku"], json!({ "type": "string" }));
//! # Ok::<(), seamgate_authoring::types::TypesError>(())
//! ```

mod names;
mod read;
mod shape;
mod write;

use referencing::{Draft, SPECIFICATIONS};
use serde_json::Value;

use crate::schema::{Order, jtd};

pub use names::{is_type_name, type_name};

/// The language of the generated types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Pydantic models.
    Python,
    /// Interfaces and type aliases.
    TypeScript,
    /// Types for serde.
    Rust,
    /// Types for `encoding/json`.
    Go,
}

/// The reason why there is no schema for types.
#[derive(Debug, thiserror::Error)]
pub enum TypesError {
    /// The document has neither `schema` nor `jtd`.
    #[error("the contract has neither `schema` nor `jtd`; one of them must say what a document is")]
    NoSchema,
    /// The URIs of the schemas cannot be parsed.
    #[error("the references of the contract cannot be read: {0}")]
    References(String),
}

/// The URI of a schema that declares none. It is the base of relative URIs.
const NO_ID: &str = "seamgate:///";

/// Returns the schema of a complete contract for a generator of types. `name` is the name of the document's type.
pub fn type_schema(contract: &Value, name: &str, language: Language) -> Result<Value, TypesError> {
    let translated;
    let schema = match (contract.get("schema"), contract.get("jtd")) {
        (Some(schema), _) => schema,
        (None, Some(_)) => {
            translated = jtd::translated(contract, &Order::default()).ok_or(TypesError::NoSchema)?.contract;
            &translated["schema"]
        }
        (None, None) => return Err(TypesError::NoSchema),
    };
    let dialect = contract.get("dialect").and_then(Value::as_str);
    let default = match dialect.map_or(Draft::Draft202012, |uri| Draft::Draft202012.detect(&dialect_of(uri))) {
        Draft::Unknown => Draft::Draft202012,
        draft => draft,
    };
    let uri = match absolute_id(schema) {
        Some(id) => id,
        None => NO_ID,
    };
    let mut named = vec![(uri, schema)];
    let resources = contract.get("resources").and_then(Value::as_object);
    for (uri, resource) in resources.into_iter().flatten() {
        named.push((uri, resource));
        named.extend(absolute_id(resource).filter(|id| *id != uri.trim_end_matches('#')).map(|id| (id, resource)));
    }
    let unreadable = |error: referencing::Error| TypesError::References(error.to_string());
    let begun = SPECIFICATIONS.extend(std::iter::empty::<(&str, &Value)>()).map_err(unreadable)?.draft(default);
    let registry = named
        .iter()
        .try_fold(begun, |registry, (uri, resource)| {
            registry.add(*uri, detected(default, resource).create_resource_ref(resource))
        })
        .and_then(referencing::RegistryBuilder::prepare)
        .map_err(unreadable)?;
    let base = referencing::uri::from_str(uri).map_err(unreadable)?;
    let found = registry.resolver(base).lookup(uri).map_err(unreadable)?.into_inner();
    let definitions = read::read(&registry, found);
    Ok(write::write(&definitions, name, language))
}

/// Returns a schema that contains only its dialect.
fn dialect_of(uri: &str) -> Value {
    serde_json::json!({ "$schema": uri })
}

/// Returns the URI that a schema declares as its own, unless it is relative.
fn absolute_id(schema: &Value) -> Option<&str> {
    let id = ["$id", "id"].iter().find_map(|keyword| schema.get(keyword)?.as_str())?;
    id.contains(':').then(|| id.trim_end_matches('#'))
}

/// Returns the draft of a schema that is inside another one of this draft.
fn detected(draft: Draft, schema: &Value) -> Draft {
    match draft.detect(schema) {
        Draft::Unknown => draft,
        detected => detected,
    }
}
