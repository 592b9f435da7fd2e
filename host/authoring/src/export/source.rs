//! The schemas of a contract, each with its draft, its place in the contract and the schema that it references.

use std::collections::HashMap;

use referencing::{Uri, uri};
use seamgate_text::{escaped, unescaped};
use serde_json::Value;

use crate::schema::{Draft, Order};

/// A schema with its place.
#[derive(Clone)]
pub(super) struct Located<'s> {
    pub(super) value: &'s Value,
    /// The place in the contract, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) draft: Draft,
    resource: usize,
}

/// The identity of a schema. Two nodes with the same key are the same schema.
pub(super) type Key = (usize, usize);

impl<'s> Located<'s> {
    pub(super) fn key(&self) -> Key {
        (std::ptr::from_ref(self.value).addr(), self.resource)
    }

    /// Returns the value of a keyword, if the schema's draft has the keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        if self.draft <= Draft::Draft7 && keyword != "$ref" && self.value.get("$ref").is_some_and(Value::is_string) {
            return None;
        }
        self.value.get(keyword).filter(|_| self.draft.has(keyword))
    }

    pub(super) fn text(&self, keyword: &str) -> Option<&'s str> {
        self.get(keyword).and_then(Value::as_str)
    }

    /// Returns the JSON Pointer of a keyword.
    pub(super) fn at(&self, keyword: &str) -> String {
        format!("{}/{keyword}", self.pointer)
    }
}

/// A schema with a URI of its own, and its place.
struct Resource<'s> {
    uri: String,
    root: &'s Value,
    pointer: String,
    draft: Draft,
}

/// All schemas of a contract.
pub(super) struct Source<'s> {
    resources: Vec<Resource<'s>>,
    /// The resources by their URIs. `None` if two have the same URI.
    uris: HashMap<String, Option<usize>>,
    /// The nested resources, by the address of their root.
    inner: HashMap<usize, usize>,
    anchors: HashMap<(usize, &'s str), (&'s Value, String)>,
    pub(super) order: Order,
}

/// The keywords that contain schemas: one schema, a list, or a map.
const SUBSCHEMAS: [&str; 22] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The keywords above whose values are maps.
const MAPS: [&str; 6] = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

impl<'s> Source<'s> {
    /// Finds the schemas of a contract. `None` if its dialect is not one of JSON Schema.
    pub(super) fn of(contract: &'s Value, order: Order) -> Option<Self> {
        let root = contract.get("schema")?;
        let named = |value: &Value| value.get("$schema").and_then(Value::as_str).map(str::to_owned);
        let dialect = contract.get("dialect").and_then(Value::as_str).map(str::to_owned);
        let draft = named(root).or(dialect).as_deref().map_or(Some(Draft::Draft2020), Draft::of)?;
        let mut source = Source {
            resources: Vec::new(),
            uris: HashMap::new(),
            inner: HashMap::new(),
            anchors: HashMap::new(),
            order,
        };
        source.add(&join("", ""), root, "/schema".to_owned(), draft);
        for (uri, value) in contract.get("resources").and_then(Value::as_object).into_iter().flatten() {
            let draft = named(value).map_or(Some(draft), |uri| Draft::of(&uri));
            if let Some(draft) = draft {
                source.add(&join("", uri.trim_end_matches('#')), value, format!("/resources/{}", escaped(uri)), draft);
            }
        }
        Some(source)
    }

    pub(super) fn root(&self) -> Located<'s> {
        let resource = &self.resources[0];
        Located { value: resource.root, pointer: resource.pointer.clone(), draft: resource.draft, resource: 0 }
    }

    /// Adds a document, and the resources inside it.
    fn add(&mut self, uri: &str, root: &'s Value, pointer: String, draft: Draft) {
        let first = self.resource(uri.to_owned(), root, pointer.clone(), draft);
        let mut todo = vec![(root, pointer, first)];
        while let Some((value, pointer, mut resource)) = todo.pop() {
            let Some(members) = value.as_object() else { continue };
            let draft = self.resources[resource].draft;
            let is_reference = draft <= Draft::Draft7 && members.get("$ref").is_some_and(Value::is_string);
            let id = members.get(if draft == Draft::Draft4 { "id" } else { "$id" }).and_then(Value::as_str);
            if let Some(id) = id.filter(|_| !is_reference) {
                let (id, fragment) = id.split_once('#').unwrap_or((id, ""));
                if !id.is_empty() {
                    let uri = join(&self.resources[resource].uri, id);
                    if std::ptr::eq(self.resources[resource].root, value) {
                        // A document has two URIs: the one that it was given, and the one that it declares.
                        self.name(uri.clone(), resource);
                        self.resources[resource].uri = uri;
                    } else {
                        let own = members.get("$schema").and_then(Value::as_str).and_then(Draft::of);
                        resource = self.resource(uri, value, pointer.clone(), own.unwrap_or(draft));
                        self.inner.insert(std::ptr::from_ref(value).addr(), resource);
                    }
                }
                if draft <= Draft::Draft7 && !fragment.is_empty() {
                    self.anchors.insert((resource, fragment), (value, pointer.clone()));
                }
            }
            if draft >= Draft::Draft2019 {
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                        self.anchors.insert((resource, name), (value, pointer.clone()));
                    }
                }
            }
            for (keyword, value) in members.iter().filter(|(keyword, _)| SUBSCHEMAS.contains(&keyword.as_str())) {
                let pointer = format!("{pointer}/{}", escaped(keyword));
                match value {
                    Value::Array(values) => todo.extend(
                        values.iter().enumerate().map(|(at, value)| (value, format!("{pointer}/{at}"), resource)),
                    ),
                    Value::Object(values) if MAPS.contains(&keyword.as_str()) => todo.extend(
                        values.iter().map(|(name, value)| (value, format!("{pointer}/{}", escaped(name)), resource)),
                    ),
                    value => todo.push((value, pointer, resource)),
                }
            }
        }
    }

    fn resource(&mut self, uri: String, root: &'s Value, pointer: String, draft: Draft) -> usize {
        let number = self.resources.len();
        self.resources.push(Resource { uri: uri.clone(), root, pointer, draft });
        self.name(uri, number);
        number
    }

    fn name(&mut self, uri: String, resource: usize) {
        let known = self.uris.entry(uri).or_insert(Some(resource));
        if *known != Some(resource) {
            *known = None;
        }
    }

    /// Returns a schema inside another one.
    fn node(&self, value: &'s Value, pointer: String, around: usize) -> Located<'s> {
        let resource = self.inner.get(&std::ptr::from_ref(value).addr()).copied().unwrap_or(around);
        Located { value, pointer, draft: self.resources[resource].draft, resource }
    }

    /// Returns the schema that a keyword contains.
    pub(super) fn one(&self, node: &Located<'s>, keyword: &str) -> Option<Located<'s>> {
        let value = node.get(keyword).filter(|value| value.is_object() || value.is_boolean())?;
        Some(self.node(value, node.at(keyword), node.resource))
    }

    /// Returns the schemas of a list.
    pub(super) fn list(&self, node: &Located<'s>, keyword: &str) -> Vec<Located<'s>> {
        let values = node.get(keyword).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let pointer = node.at(keyword);
        let nodes = values.iter().enumerate();
        nodes.map(|(at, value)| self.node(value, format!("{pointer}/{at}"), node.resource)).collect()
    }

    /// Returns the schemas of a map, in the order of the text.
    pub(super) fn map(&self, node: &Located<'s>, keyword: &str) -> Vec<(&'s str, Located<'s>)> {
        let members = node.get(keyword).and_then(Value::as_object).into_iter().flatten();
        let pointer = node.at(keyword);
        let names = self.order.names(&pointer);
        let place = |name: &str| names.iter().position(|other| other == name).unwrap_or(names.len());
        let mut nodes: Vec<(usize, &'s str, Located<'s>)> = Vec::new();
        for (name, value) in members {
            let node = self.node(value, format!("{pointer}/{}", escaped(name)), node.resource);
            nodes.push((place(name), name, node));
        }
        nodes.sort_by_key(|(place, ..)| *place);
        nodes.into_iter().map(|(_, name, node)| (name, node)).collect()
    }

    /// Returns the schema that a node's reference leads to. `None` if the reference cannot be followed here.
    pub(super) fn target(&self, node: &Located<'s>) -> Option<Located<'s>> {
        let reference = node.text("$ref")?;
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = &self.resources[node.resource];
        let number = match uri {
            "" => node.resource,
            uri => (*self.uris.get(&join(&base.uri, uri))?)?,
        };
        let resource = &self.resources[number];
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let (value, pointer) = self.anchors.get(&(number, fragment))?;
            return Some(self.node(value, pointer.clone(), number));
        }
        let fragment = decode(fragment)?;
        let mut value = resource.root;
        let mut pointer = resource.pointer.clone();
        for step in fragment.split('/').skip(1) {
            // A pointer that leads from one resource into another is not followed.
            if !std::ptr::eq(value, resource.root)
                && ["$id", "id"].iter().any(|id| value.get(id).is_some_and(Value::is_string))
            {
                return None;
            }
            let name = unescaped(step);
            value = match value {
                Value::Object(members) => members.get(&name)?,
                Value::Array(values) => values.get(name.parse::<usize>().ok()?)?,
                _ => return None,
            };
            pointer = format!("{pointer}/{step}");
        }
        (value.is_object() || value.is_boolean()).then(|| self.node(value, pointer, number))
    }
}

/// Decodes the percent signs of a fragment.
fn decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Resolves a reference without a fragment according to RFC 3986. An invalid reference is unchanged, and leads nowhere.
/// Relative bases use `referencing`'s own scheme.
fn join(base: &str, reference: &str) -> String {
    let resolved = uri::from_str(base).and_then(|base| uri::resolve_against(&base.borrow(), reference));
    resolved.map_or_else(|_| reference.to_owned(), Uri::into_string)
}

#[cfg(test)]
mod tests {
    use super::{decode, join};

    #[test]
    fn references_are_resolved_as_rfc_3986_says() {
        let base = "http://a/b/c/d;p?q";
        let examples = [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
        ];
        for (reference, resolved) in examples {
            assert_eq!(join(base, reference), resolved, "{reference}");
        }
        assert_eq!(join("", "other.json"), join(&join("", "schema.json"), "other.json"));
        assert_eq!(join("http://a", "not a URI"), "not a URI");
        assert_eq!(join("http://a", "g"), "http://a/g");
    }

    #[test]
    fn fragments_are_decoded() {
        assert_eq!(decode("/a%25b").as_deref(), Some("/a%b"));
        assert_eq!(decode("/a%2"), None);
    }
}
