//! Detects a schema that accepts everything by mistake, because another document that contains the intended schema is
//! in its place.

use referencing::Draft;

use crate::{
    check::keywords,
    location::Location,
    misspelling::nearest,
    order::sort_by_key,
    parse::{Document, Kind, NodeId},
    text::quote,
    types::Violation,
    violation::Details,
};

/// Keywords that constrain nothing by themselves.
const SILENT: [&str; 17] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "id",
    "readOnly",
    "title",
    "writeOnly",
];

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Members of a JSON Type Definition (RFC 8927) that are not JSON Schema keywords.
const OF_JTD: [&str; 6] = ["elements", "optionalProperties", "values", "discriminator", "mapping", "metadata"];

/// Members in which tools and answer formats wrap a schema.
const WRAPPERS: [&str; 9] = [
    "inputSchema",
    "input_schema",
    "jsonSchema",
    "json_schema",
    "outputSchema",
    "parameters",
    "responseSchema",
    "response_schema",
    "schema",
];

/// The maximum depth of the search for the intended schema, and the maximum number of values that it visits.
const MAX_DEPTH: usize = 4;
const MAX_SEEN: usize = 256;
/// The most definitions that a message names.
const MAX_NAMED: usize = 3;

/// Returns a violation if the schema at a node constrains nothing by mistake. `true`, `{}` and a schema with only
/// annotations accept everything on purpose. `here` is the schema's location in the contract.
pub(super) fn violation(document: &Document, at: NodeId, here: &Location) -> Option<Violation> {
    if document.kind(at) != Kind::Object {
        return None;
    }
    let library = library(document, at);
    let is_known = |name: &str| keywords::named(name).is_some();
    let has_unknown = names(document, at).any(|name| !is_known(name));
    let constrains = library.is_none() && names(document, at).any(|name| is_constraint(document, at, name));
    if constrains || !has_unknown {
        return None;
    }
    let meant = match library {
        Some(library) => format!("it is a schema of {library}, written as JSON: convert it to a JSON Schema first"),
        None => meant(document, at, here),
    };
    let received: Vec<String> = names(document, at).take(MAX_NAMED).map(|name| quote(name, 32)).collect();
    let details = Details {
        expected: "a JSON Schema; true if everything may pass",
        received: &received.join(", "),
        message: &format!("must constrain something: {meant}"),
    };
    Some(Violation::new(here, "unconstrained", details).spanning(document.span(at)))
}

fn names<'d>(document: &'d Document, at: NodeId) -> impl Iterator<Item = &'d str> {
    document.members(at).map(|(name, _)| document.string(name))
}

/// Returns whether a member of a schema is a keyword that constrains. If the value of `type` is not a type, the object
/// is not a schema: it may be a tool of type `function`, for example.
fn is_constraint(document: &Document, at: NodeId, name: &str) -> bool {
    let is_type = |value: NodeId| document.kind(value) != Kind::String || TYPES.contains(&document.string(value));
    keywords::named(name).is_some()
        && !SILENT.contains(&name)
        && (name != "type" || document.member(at, name).is_some_and(is_type))
}

/// Returns whether an object is probably a schema: it has a constraining keyword whose value has the expected kind.
fn is_schema(document: &Document, at: NodeId) -> bool {
    let has = |name: &str, kind: Kind| document.member(at, name).is_some_and(|value| document.kind(value) == kind);
    document.kind(at) == Kind::Object
        && (document.member(at, "type").is_some() && is_constraint(document, at, "type")
            || ["properties", "items", "not"].iter().any(|name| has(name, Kind::Object))
            || ["anyOf", "oneOf", "allOf", "enum", "required"].iter().any(|name| has(name, Kind::Array))
            || has("$ref", Kind::String)
            || document.member(at, "const").is_some())
}

/// Returns the library that an object comes from, if `JSON.stringify` serialized a library's schema object and thereby
/// lost the constraints.
fn library(document: &Document, at: NodeId) -> Option<&'static str> {
    let text = |at: NodeId, name: &str| {
        document
            .member(at, name)
            .filter(|value| document.kind(*value) == Kind::String)
            .map(|value| document.string(value))
    };
    let own = text(at, "type");
    let is_zod = |name: &str| {
        document
            .member(at, name)
            .is_some_and(|inner| text(inner, "typeName").is_some() || own.is_some() && text(inner, "type") == own)
    };
    if ["def", "_def", "_zod"].iter().any(|name| is_zod(name)) {
        return Some("Zod");
    }
    if text(at, "kind") == Some("schema") && own.is_some() {
        return Some("Valibot");
    }
    document.member(at, "~standard").map(|_| "a library")
}

/// Describes the likely place of the intended schema.
fn meant(document: &Document, at: NodeId, here: &Location) -> String {
    if names(document, at).any(|name| OF_JTD.contains(&name)) {
        return "it is a JSON Type Definition, which belongs in 'jtd'".to_owned();
    }
    let keywords = || keywords::names(Draft::Draft202012).filter(|name| !SILENT.contains(name));
    let misspelt = names(document, at).filter(|name| keywords::named(name).is_none());
    if let Some((name, keyword)) = misspelt.filter_map(|name| Some((name, nearest(name, keywords())?))).next() {
        return format!("{} is no keyword; did you mean {}?", quote(name, 64), quote(keyword, 64));
    }
    let is_property =
        |(name, value): (NodeId, NodeId)| !WRAPPERS.contains(&document.string(name)) && is_schema(document, value);
    if document.members(at).all(is_property) {
        return "its members are schemas of properties: put them into {\"type\": \"object\", \"properties\": …}"
            .to_owned();
    }
    let mut found = Vec::new();
    search(document, at, &mut Vec::new(), &mut 0, &mut found);
    // The schema nearest to the root is the most likely one.
    sort_by_key(&mut found, Vec::len);
    let Some(first) = found.first() else {
        return "it has no keyword of JSON Schema".to_owned();
    };
    let is_definition =
        first.len() > 1 && ["$defs", "definitions", "schemas"].contains(&first[first.len() - 2].as_str());
    if is_definition {
        let pointers: Vec<String> = found
            .iter()
            .filter(|path| path.len() == first.len() && path[..path.len() - 1] == first[..first.len() - 1])
            .map(|path| {
                let place = path.iter().fold(Location::root(), |place, name| place.name(name));
                quote(&format!("#{}", place.pointer()), 96)
            })
            .collect();
        let more = match pointers.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = pointers[..pointers.len().min(MAX_NAMED)].join(", ");
        return format!("it has definitions, and uses none: add \"$ref\" to one of them ({named}{more})");
    }
    let place = first.iter().fold(here.clone(), |place, name| place.name(name));
    format!("it has no keyword of JSON Schema; the schema is likely the one at {}", place.path())
}

/// Collects the paths to values that are probably schemas, outermost first.
fn search(document: &Document, at: NodeId, path: &mut Vec<String>, seen: &mut usize, found: &mut Vec<Vec<String>>) {
    if path.len() == MAX_DEPTH {
        return;
    }
    for (name, value) in document.members(at) {
        *seen += 1;
        if *seen > MAX_SEEN {
            return;
        }
        if document.kind(value) != Kind::Object {
            continue;
        }
        path.push(document.string(name).to_owned());
        if is_schema(document, value) && library(document, value).is_none() {
            found.push(path.clone());
        } else {
            search(document, value, path, seen, found);
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{caps::CONTRACT_CAPS, caps_check::Json};

    const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;

    fn told(schema: &str) -> Option<String> {
        let text = format!(r#"{{"schema":{schema}}}"#);
        let document = Json::read(&text, &CONTRACT_CAPS).unwrap_or_else(|_| panic!("JSON: {text}"));
        let at = document.member(Document::ROOT, "schema").expect("a member");
        violation(&document, at, &Location::root().name("schema")).map(|violation| violation.message)
    }

    #[test]
    fn documents_around_a_schema_are_refused_and_name_it() {
        for (schema, wanted) in [
            (format!(r#"{{"name":"a","strict":true,"schema":{SCHEMA}}}"#), "$.schema.schema"),
            (
                format!(r#"{{"type":"json_schema","json_schema":{{"name":"a","schema":{SCHEMA}}}}}"#),
                "$.schema.json_schema.schema",
            ),
            (format!(r#"{{"name":"t","description":"d","inputSchema":{SCHEMA}}}"#), "$.schema.inputSchema"),
            (format!(r#"{{"name":"t","input_schema":{SCHEMA}}}"#), "$.schema.input_schema"),
            (
                format!(r#"{{"type":"function","function":{{"name":"f","parameters":{SCHEMA}}}}}"#),
                "$.schema.function.parameters",
            ),
            (
                format!(r#"{{"openapi":"3.1.0","paths":{{}},"components":{{"schemas":{{"Order":{SCHEMA}}}}}}}"#),
                "\"#/components/schemas/Order\"",
            ),
            (
                format!(r#"{{"swagger":"2.0","definitions":{{"A":{SCHEMA},"B":{SCHEMA}}}}}"#),
                "\"#/definitions/A\", \"#/definitions/B\"",
            ),
            (format!(r#"{{"version":"1","$defs":{{"a/b":{SCHEMA}}}}}"#), "\"#/$defs/a~1b\""),
            (r#"{"sku":{"type":"string"},"count":{"type":"integer"}}"#.to_owned(), "\"properties\""),
            (r#"{"elements":{"type":"string"}}"#.to_owned(), "'jtd'"),
            (r#"{"def":{"type":"object","shape":{}},"type":"object"}"#.to_owned(), "Zod"),
            (r#"{"kind":"schema","type":"object","entries":{},"async":false}"#.to_owned(), "Valibot"),
            (r#"{"~standard":{"version":1,"vendor":"arktype"}}"#.to_owned(), "a library"),
            (r#"{"propertis":{"n":{"type":"integer"}}}"#.to_owned(), "did you mean \"properties\"?"),
            (format!(r#"{{"schema":{SCHEMA}}}"#), "$.schema.schema"),
            (r#"{"hello":"world"}"#.to_owned(), "no keyword of JSON Schema"),
        ] {
            let told = told(&schema).unwrap_or_else(|| panic!("accepted: {schema}"));
            assert!(told.starts_with("must constrain something: ") && told.contains(wanted), "{schema}: {told}");
        }
    }

    #[test]
    fn schemas_are_left_alone() {
        for schema in [
            "true",
            "false",
            "{}",
            SCHEMA,
            r#"{"title":"Anything","description":"d"}"#,
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:x","default":1}"#,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
            // The contract's `items` may refer to these definitions.
            r#"{"$id":"urn:x","$defs":{"a":{"type":"string"}}}"#,
            r#"{"type":"object","x-own":1}"#,
            r#"{"type":["object","null"]}"#,
            r#"{"then":{"type":"string"}}"#,
            r#"{"contentMediaType":"application/json"}"#,
            r#"{"format":"date","x":1}"#,
            r#"{"const":null}"#,
        ] {
            assert_eq!(told(schema), None, "{schema}");
        }
    }

    #[test]
    fn a_large_document_is_looked_at_within_bounds() {
        let mut inner = "1".to_owned();
        for _ in 0..40 {
            inner = format!(r#"{{"a":{inner},"b":{{}}}}"#);
        }
        assert!(told(&inner).is_some());
    }
}
