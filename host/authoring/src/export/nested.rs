//! The keywords about the contents of arrays and objects, merged from all schemas that apply to them.

use std::cmp::Ordering;

use serde_json::Value;

use super::{
    Effect,
    json::Json,
    lower::{Lowering, Out, union},
    pattern::is_portable,
    source::Located,
    target::{OF_ARRAYS, OF_OBJECTS, Support, Target},
    typed::{Keywords, bound},
};
use crate::schema::{Draft, Types};

/// The keywords that apply schemas to members and items in place, in addition to the schema's own keywords.
const IN_PLACE: [&str; 9] =
    ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "$dynamicRef", "$recursiveRef"];

impl<'s> Lowering<'s> {
    /// Records that values of a type cannot be written, because the target needs to know their contents and the schema
    /// does not specify them. Returns `true` if the schema does not name the type either.
    fn is_unknown(&mut self, parts: &[Located<'s>], is_stated: bool, keywords: &[&str], noun: &str) -> bool {
        let is_described = parts.iter().any(|part| keywords.iter().any(|keyword| part.get(keyword).is_some()));
        if !self.target.closes_objects() || is_stated || is_described {
            return false;
        }
        let why = format!("{noun} cannot be written here, because the target needs to know what is in them");
        self.state(&parts[0], "type", Effect::Stronger, why);
        true
    }

    pub(super) fn array(&mut self, parts: &[Located<'s>], is_stated: bool, types: &mut Types, keywords: &mut Keywords) {
        if self.is_unknown(parts, is_stated, &OF_ARRAYS, "arrays") {
            *types = types.without(Types::ARRAY);
            return;
        }
        let tuples: Vec<Tuple> = parts.iter().map(|part| self.tuple(part)).collect();
        let count = tuples.iter().map(|tuple| tuple.first.len()).max().unwrap_or(0);
        let mut most = bound(parts, "maxItems", Ordering::Less);
        let mut first = Vec::new();
        let mut is_closed = false;
        for at in 0..count {
            let nodes = tuples.iter().filter_map(|tuple| tuple.first.get(at).or(tuple.rest.as_ref())).cloned();
            match self.child(nodes.collect()) {
                // No valid array is that long.
                Out::Never => {
                    is_closed = true;
                    break;
                }
                out => first.push(out),
            }
        }
        let mut rest = match is_closed {
            true => Out::Never,
            false => self.child(tuples.iter().filter_map(|tuple| tuple.rest.clone()).collect()),
        };
        if rest == Out::Never {
            let length = first.len() as u64;
            most = Some(most.map_or(length, |most| most.min(length)));
        }
        let pointer = parts[0].pointer.clone();
        if !first.is_empty() {
            if self.target.keeps("prefixItems") {
                let mut schemas = Vec::new();
                for out in first {
                    schemas.push(self.placed(out, &pointer, "prefixItems"));
                }
                keywords.push(("prefixItems".to_owned(), schemas.into()));
            } else {
                for tuple in tuples.iter().filter(|tuple| !tuple.first.is_empty()) {
                    let why = "each item may be what one of the first items or the others may be";
                    self.state(&tuple.node, tuple.keyword, Effect::Relaxed, why);
                }
                first.push(rest);
                rest = union(first);
            }
        }
        match rest {
            Out::Any if !self.target.closes_objects() => {}
            // `maxItems` already has the same meaning.
            Out::Never if self.target == Target::Gemini => {}
            out => {
                let schema = self.placed(out, &pointer, "items");
                keywords.push(("items".to_owned(), schema));
            }
        }
        let least = bound(parts, "minItems", Ordering::Greater).filter(|least| *least > 0);
        if let Some(least) = least {
            let taken = if self.target.support("minItems") == Some(Support::Relaxed) { 1 } else { least };
            for part in parts.iter().filter(|part| taken < least && part.get("minItems").is_some()) {
                self.state(part, "minItems", Effect::Relaxed, "written as 1, the most that the target takes");
            }
            keywords.push(("minItems".to_owned(), Value::from(taken).into()));
        }
        if let Some(most) = most {
            match self.target.keeps("maxItems") {
                true => keywords.push(("maxItems".to_owned(), Value::from(most).into())),
                false => {
                    for tuple in tuples.iter().filter(|tuple| !tuple.first.is_empty() || tuple.rest.is_some()) {
                        let why = format!("the target cannot hold an array to {most} items");
                        self.state(&tuple.node, tuple.keyword, Effect::Relaxed, why);
                    }
                }
            }
        }
    }

    /// Returns the schemas of the first items, and that of the other items.
    fn tuple(&mut self, node: &Located<'s>) -> Tuple<'s> {
        let source = self.source;
        let (keyword, first, rest) = match node.draft {
            Draft::Draft2020 => ("prefixItems", source.list(node, "prefixItems"), source.one(node, "items")),
            _ if node.get("items").is_some_and(Value::is_array) => {
                ("items", source.list(node, "items"), source.one(node, "additionalItems"))
            }
            _ => ("items", Vec::new(), source.one(node, "items")),
        };
        let keyword = if first.is_empty() { "items" } else { keyword };
        let rest = rest.or_else(|| self.unevaluated(node, "unevaluatedItems", &["items", "contains"]));
        Tuple { node: node.clone(), keyword, first, rest }
    }

    /// Returns the schema of `unevaluatedItems` or `unevaluatedProperties`, if it applies to whatever no keyword beside
    /// it names. Otherwise, omits it.
    fn unevaluated(&mut self, node: &Located<'s>, keyword: &str, others: &[&str]) -> Option<Located<'s>> {
        let schema = self.source.one(node, keyword)?;
        let has = |keyword: &&str| node.get(keyword).is_some();
        // Then nothing is left for it to apply to.
        if others
            .iter()
            .any(|other| *other != "contains" && has(other) && !node.get(other).is_some_and(Value::is_array))
        {
            return None;
        }
        if IN_PLACE.iter().any(has) || others.iter().any(|other| *other == "contains" && has(other)) {
            self.state(node, keyword, Effect::LeftOut, "it depends on keywords that are written in another way");
            return None;
        }
        Some(schema)
    }

    pub(super) fn object(
        &mut self,
        parts: &[Located<'s>],
        is_stated: bool,
        types: &mut Types,
        keywords: &mut Keywords,
    ) {
        if self.is_unknown(parts, is_stated, &OF_OBJECTS, "objects") {
            *types = types.without(Types::OBJECT);
            return;
        }
        let mut patterns = Vec::new();
        let mut objects: Vec<Object> = Vec::new();
        let has_one =
            parts.iter().filter(|part| OF_OBJECTS.iter().any(|keyword| part.get(keyword).is_some())).count() == 1;
        for part in parts {
            let properties = self.source.map(part, "properties");
            let own = self.source.map(part, "patternProperties");
            let additional = self.source.one(part, "additionalProperties");
            let additional =
                additional.or_else(|| self.unevaluated(part, "unevaluatedProperties", &["additionalProperties"]));
            let has_patterns = !own.is_empty();
            if has_patterns && self.target.keeps("patternProperties") {
                // The target accepts patterns only if no name matches two of them.
                match &own[..] {
                    [(pattern, node)] if has_one && is_portable(pattern) => patterns.push((*pattern, node.clone())),
                    _ => self.state(
                        part,
                        "patternProperties",
                        Effect::LeftOut,
                        "the target takes one portable pattern for each object",
                    ),
                }
            }
            if has_patterns && patterns.is_empty() && additional.is_some() {
                let why = "members that a pattern names are not told from others, so that any may be there";
                self.state(part, "additionalProperties", Effect::LeftOut, why);
            }
            objects.push(Object { properties, additional, has_patterns });
        }
        let required = required(parts);
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in objects.iter().flat_map(|object| &object.properties) {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let has_names = !names.is_empty();
        names.extend(required.iter().filter(|name| !names.contains(name)).copied().collect::<Vec<_>>());
        let is_open = |object: &&Object| !object.has_patterns || !patterns.is_empty();
        let rest: Vec<Located> =
            objects.iter().filter(is_open).filter_map(|object| object.additional.clone()).collect();
        let rest = self.child(rest);
        let mut properties = Vec::new();
        let mut written: Vec<Value> = Vec::new();
        for name in names {
            let is_required = required.contains(&name);
            let place = objects.iter().flat_map(|object| &object.properties).find(|(other, _)| *other == name);
            let pointer = place.map_or_else(|| parts[0].at("required"), |(_, node)| node.pointer.clone());
            let is_declared = place.is_some();
            let nodes = objects.iter().filter_map(|object| {
                let own = object.properties.iter().find(|(other, _)| *other == name).map(|(_, node)| node.clone());
                own.or_else(|| object.additional.clone().filter(|_| !object.has_patterns))
            });
            let out = self.child(nodes.collect());
            match out {
                Out::Never if is_required => {
                    *types = types.without(Types::OBJECT);
                    return;
                }
                // The rule for all other members already excludes it.
                Out::Never if rest == Out::Never && patterns.is_empty() => continue,
                // The pattern or the schema of the other members applies to it.
                Out::Any if !is_declared && self.target == Target::Llguidance => {}
                out => {
                    let mut schema = self.placed(out, &pointer, "properties");
                    if self.target.requires_members() && !is_required {
                        let why = "it must be written, and null stands for absence";
                        self.state_at(pointer, "required", Effect::Stronger, why);
                        schema = nullable(schema);
                    }
                    properties.push((name.to_owned(), schema));
                }
            }
            if is_required || self.target.requires_members() {
                written.push(name.into());
            }
        }
        if !properties.is_empty() || self.target.closes_objects() {
            keywords.push(("properties".to_owned(), properties.into()));
        }
        if !written.is_empty() || self.target.requires_members() {
            keywords.push(("required".to_owned(), Value::Array(written).into()));
        }
        if !patterns.is_empty() {
            let mut schemas = Vec::new();
            for (pattern, node) in patterns {
                let pointer = node.pointer.clone();
                let out = self.child(vec![node]);
                schemas.push((pattern.to_owned(), self.placed(out, &pointer, "patternProperties")));
            }
            keywords.push(("patternProperties".to_owned(), schemas.into()));
        }
        let rest = match rest {
            Out::Never => Some(Json::Value(Value::Bool(false))),
            _ if self.target.closes_objects() => {
                let why = "members that the schema does not declare cannot be written";
                self.state(&parts[0], "additionalProperties", Effect::Stronger, why);
                Some(Json::Value(Value::Bool(false)))
            }
            Out::Any => None,
            Out::Schema(schema) => Some(schema),
        };
        keywords.extend(rest.map(|rest| ("additionalProperties".to_owned(), rest)));
        if self.target.keeps("minProperties") {
            match has_names || !required.is_empty() {
                false => self.lengths(parts, ["minProperties", "maxProperties"], keywords),
                true => {
                    for (part, keyword) in
                        parts.iter().flat_map(|part| [(part, "minProperties"), (part, "maxProperties")])
                    {
                        if part.get(keyword).is_some() {
                            let why = "the target counts members only where none is named";
                            self.state(part, keyword, Effect::LeftOut, why);
                        }
                    }
                }
            }
        }
    }
}

/// The schemas of the items of an array.
struct Tuple<'s> {
    node: Located<'s>,
    /// The keyword of the first items.
    keyword: &'static str,
    first: Vec<Located<'s>>,
    rest: Option<Located<'s>>,
}

/// The schemas of the members of an object.
struct Object<'s> {
    properties: Vec<(&'s str, Located<'s>)>,
    additional: Option<Located<'s>>,
    has_patterns: bool,
}

/// Returns the members that any of the schemas requires.
fn required<'s>(parts: &[Located<'s>]) -> Vec<&'s str> {
    let mut required = Vec::new();
    let lists = parts.iter().filter_map(|part| part.get("required").and_then(Value::as_array));
    for name in lists.flatten().filter_map(Value::as_str) {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    required
}

/// Extends a schema so that it also accepts null.
fn nullable(schema: Json) -> Json {
    let takes_null =
        |types: &Value| types == "null" || types.as_array().is_some_and(|types| types.contains(&"null".into()));
    let is_null = |schema: &Json| {
        let is_free = schema.get("enum").is_none() && schema.get("const").is_none();
        is_free && matches!(schema.get("type"), Some(Json::Value(types)) if takes_null(types))
    };
    if is_null(&schema) || schema.list("anyOf").iter().any(is_null) {
        return schema;
    }
    let null = Out::Schema(Json::object("type", Value::from("null")));
    match union(vec![Out::Schema(schema), null]) {
        Out::Schema(schema) => schema,
        _ => Json::Object(Vec::new()),
    }
}
