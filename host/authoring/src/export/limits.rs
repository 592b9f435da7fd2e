//! The documented limits of targets.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{graph::Definition, json::Json, target::Target};

/// The sizes of an export.
#[derive(Default)]
struct Sizes {
    properties: usize,
    optional: usize,
    unions: usize,
    listed: usize,
    characters: usize,
    /// The number of characters in the largest list of more than 250 strings.
    long_list: usize,
}

/// Returns a sentence for each limit that an export exceeds.
pub(super) fn exceeded(target: Target, root: &Json, definitions: &[Definition]) -> Vec<String> {
    let mut sizes = Sizes::default();
    measure(root, &mut sizes);
    for (name, _, schema) in definitions {
        sizes.characters += name.chars().count();
        measure(schema, &mut sizes);
    }
    let limits = match target {
        Target::OpenAi => vec![
            ("members", sizes.properties, 5_000),
            ("levels of objects", depth(root, definitions), 10),
            ("characters in names and listed values", sizes.characters, 120_000),
            ("listed values", sizes.listed, 1_000),
            ("characters in a list of more than 250 values", sizes.long_list, 15_000),
        ],
        Target::Anthropic => {
            vec![("optional members", sizes.optional, 24), ("members of several types", sizes.unions, 16)]
        }
        Target::Gemini | Target::Llguidance => Vec::new(),
    };
    let over = limits.into_iter().filter(|(_, size, limit)| size > limit);
    over.map(|(what, size, limit)| format!("{size} {what}: {} takes at most {limit}", target.as_str())).collect()
}

fn measure(schema: &Json, sizes: &mut Sizes) {
    let required: Vec<&str> = match schema.get("required") {
        Some(Json::Value(Value::Array(names))) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for (name, schema) in schema.members("properties") {
        sizes.properties += 1;
        sizes.characters += name.chars().count();
        sizes.optional += usize::from(!required.contains(&name.as_str()));
        let is_list = matches!(schema.get("type"), Some(Json::Value(Value::Array(_))));
        sizes.unions += usize::from(is_list || schema.get("anyOf").is_some());
    }
    let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    if let Some(Json::Value(value)) = schema.get("const") {
        sizes.characters += length(value);
    }
    if let Some(Json::Value(Value::Array(values))) = schema.get("enum") {
        let characters = values.iter().map(length).sum();
        sizes.listed += values.len();
        sizes.characters += characters;
        if values.len() > 250 {
            sizes.long_list = sizes.long_list.max(characters);
        }
    }
    schema.inside().into_iter().for_each(|schema| measure(schema, sizes));
}

/// Returns how deeply objects are nested. A circular reference adds nothing.
fn depth(root: &Json, definitions: &[Definition]) -> usize {
    let definitions: HashMap<&str, &Json> =
        definitions.iter().map(|(name, _, schema)| (name.as_str(), schema)).collect();
    let mut deepest = 0;
    // The deepest level at which each definition was visited. A level greater than the number of definitions means a
    // circle.
    let mut met: HashMap<&str, usize> = HashMap::new();
    let mut todo: Vec<(&Json, usize, HashSet<&str>)> = vec![(root, 0, HashSet::new())];
    while let Some((schema, level, way)) = todo.pop() {
        let level = level + usize::from(schema.get("properties").is_some());
        deepest = deepest.max(level);
        if let Some(name) = schema.target()
            && let Some((name, schema)) = definitions.get_key_value(name)
            && !way.contains(name)
            && met.get(name).is_none_or(|known| *known < level)
        {
            met.insert(name, level);
            let mut way = way.clone();
            way.insert(name);
            todo.push((schema, level, way));
        }
        todo.extend(schema.inside().into_iter().map(|schema| (schema, level, way.clone())));
    }
    deepest
}
