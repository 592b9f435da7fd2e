//! The references between the definitions of an export.

use std::collections::{HashMap, HashSet};

use super::{json::Json, target::Recursion};

/// A definition: its name, its place in the contract and its schema.
pub(super) type Definition = (String, String, Json);

/// Calls a function for each reference in a schema, with whether the reference is in an optional member.
pub(super) fn references(schema: &mut Json, is_optional: bool, each: &mut dyn FnMut(&mut Json, bool)) {
    if schema.target().is_some() {
        return each(schema, is_optional);
    }
    let required: Vec<String> = match schema.get("required") {
        Some(Json::Value(names)) => {
            names.as_array().into_iter().flatten().filter_map(|name| name.as_str()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let Json::Object(members) = schema else { return };
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Json::Object(properties)) => {
                let is_map = keyword == "patternProperties";
                for (name, schema) in properties {
                    references(schema, is_optional || is_map || !required.contains(name), each);
                }
            }
            ("anyOf" | "prefixItems", Json::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| references(schema, is_optional, each));
            }
            ("items", schema) => references(schema, is_optional, each),
            ("additionalProperties", schema) => references(schema, true, each),
            _ => {}
        }
    }
}

/// Returns the references to a definition that lead back to it and that the target does not support. Each consists of
/// the definition that contains the reference, and the one that it leads to.
fn circles(definitions: &[Definition], allowed: Recursion) -> HashSet<(String, String)> {
    let mut edges: HashMap<&str, Vec<String>> = HashMap::new();
    for (name, _, schema) in definitions {
        let mut targets = Vec::new();
        references(&mut schema.clone(), false, &mut |reference, is_optional| {
            if !(is_optional && allowed == Recursion::Optional) {
                targets.extend(reference.target().map(str::to_owned));
            }
        });
        edges.insert(name, targets);
    }
    let mut found = HashSet::new();
    let mut done: HashSet<&str> = HashSet::new();
    for (name, ..) in definitions {
        // The path from the first definition. Each step has the number of its references that were followed.
        let mut way: Vec<(&str, usize)> = vec![(name, 0)];
        while let Some((at, next)) = way.last_mut() {
            let target = edges.get(at).and_then(|targets| targets.get(*next));
            let at = *at;
            *next += 1;
            match target {
                None => {
                    done.insert(at);
                    way.pop();
                }
                Some(target) if way.iter().any(|(other, _)| other == target) => {
                    found.insert((at.to_owned(), target.clone()));
                }
                Some(target) if !done.contains(target.as_str()) => way.push((target, 0)),
                Some(_) => {}
            }
        }
    }
    found
}

/// Replaces circular references that the target does not support. Returns the places of the definitions that they led
/// to.
pub(super) fn cut(definitions: &mut [Definition], allowed: Recursion, instead: &Json) -> Vec<String> {
    if allowed == Recursion::Any {
        return Vec::new();
    }
    let circles = circles(definitions, allowed);
    let places: HashMap<String, String> =
        definitions.iter().map(|(name, place, _)| (name.clone(), place.clone())).collect();
    let mut cut = Vec::new();
    for (name, _, schema) in definitions {
        references(schema, false, &mut |reference, is_optional| {
            let Some(target) = reference.target() else { return };
            let is_taken = is_optional && allowed == Recursion::Optional;
            if !is_taken && circles.contains(&(name.clone(), target.to_owned())) {
                cut.extend(places.get(target).cloned());
                *reference = instead.clone();
            }
        });
    }
    cut
}

/// Keeps only the definitions that are reachable from the root.
pub(super) fn reached(root: &Json, definitions: Vec<Definition>) -> Vec<Definition> {
    let by_name: HashMap<&str, &Json> = definitions.iter().map(|(name, _, schema)| (name.as_str(), schema)).collect();
    let mut todo = vec![root];
    let mut names: HashSet<String> = HashSet::new();
    while let Some(schema) = todo.pop() {
        match schema.target() {
            Some(target) if names.insert(target.to_owned()) => todo.extend(by_name.get(target).copied()),
            Some(_) => {}
            None => todo.extend(schema.inside()),
        }
    }
    definitions.into_iter().filter(|(name, ..)| names.contains(name)).collect()
}
