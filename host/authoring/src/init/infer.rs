//! Infers a schema that accepts all outputs in a folder, and little else.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use seamgate::{Gate, Limits, Request, Source, open_regular, read_named};
use seamgate_text::escaped;
use serde_json::{Map, Value, json};

use super::{InitError, Starter, as_agent, is_accepted};
use crate::schema::Types;

/// The maximum number of files in a folder.
const MAX_FILES: usize = 1_000;

/// The maximum number of different strings at one place that form a vocabulary.
const MAX_WORDS: usize = 24;

/// A contract that extracts the JSON from any position in an output.
const ANY: &str = r#"{"agent": "any", "schema": true, "extract": {"embedded": "single"}}"#;

/// Starts a contract from the outputs in a folder.
pub(super) fn starter(agent: String, folder: &Path) -> Result<Starter, InitError> {
    let mut gate = Gate::new()?;
    gate.register(ANY).map_err(InitError::Gate)?;
    let mut shape = Shape::default();
    let mut outputs: Vec<(String, Vec<u8>)> = Vec::new();
    let mut names = BTreeSet::new();
    let mut is_embedded = false;
    for path in files(folder)? {
        let unreadable = |source| InitError::Output { path: path.clone(), source };
        open_regular(fs::File::options().read(true), &path).map_err(unreadable)?;
        let output = read_named(&path, Limits::default().output_bytes).map_err(unreadable)?;
        let judged = gate.validate(&Request::from_bytes("any", &output));
        let report = judged.map_err(|fault| InitError::Judging { path: path.clone(), fault })?.report;
        let Some(document) = report.output.as_deref().filter(|_| is_accepted(&report)) else {
            let why = report.violations().first().map(|first| first.message.clone()).unwrap_or_default();
            return Err(InitError::NoJson { path, why });
        };
        let value = serde_json::from_str(document);
        shape.add(&value.map_err(|source| InitError::Document { path: path.clone(), source })?);
        is_embedded |=
            report.candidates.iter().any(|candidate| candidate.chosen && candidate.source == Source::Embedded);
        let stem = as_agent(&path.file_stem().unwrap_or_default().to_string_lossy());
        let name = (1..).map(|number| if number == 1 { stem.clone() } else { format!("{stem}-{number}") });
        // There are more numbers than files, so this finds an unused name.
        let name = name.into_iter().find(|name| names.insert(name.clone())).unwrap_or(stem);
        outputs.push((name, output));
    }
    if outputs.is_empty() {
        return Err(InitError::NoFiles);
    }
    let mut policy = Map::new();
    if is_embedded {
        policy.insert("extract".to_owned(), json!({ "embedded": "single" }));
    }
    let schema = |words: &BTreeSet<String>| {
        let mut schema = Map::new();
        schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        schema.insert("$id".to_owned(), json!(format!("https://example.com/{agent}/0.1.0")));
        schema.insert("title".to_owned(), json!(agent));
        schema.insert("description".to_owned(), json!(format!("What the agent {agent} answers")));
        schema.extend(shape.schema("/schema", words));
        Value::Object(schema)
    };
    // `lint` determines which places should have a vocabulary. At these places, the words of the examples are listed.
    let first = json!({ "agent": agent, "schema": schema(&BTreeSet::new()) }).to_string();
    let warnings = gate.lint(&first).map_err(InitError::Gate)?.into_iter();
    let words = warnings.filter(|warning| warning.code == "bare_vocabulary").map(|warning| warning.pointer).collect();
    let schema = schema(&words);
    Ok(Starter {
        description: format!("What the agent {agent} answers"),
        text: serde_json::to_string_pretty(&schema).map_err(InitError::Write)? + "\n",
        schema,
        from: None,
        agent: agent.clone(),
        policy,
        outputs,
    })
}

/// Returns the files in a folder, sorted by name, without hidden ones.
fn files(folder: &Path) -> Result<Vec<PathBuf>, InitError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(InitError::Read)? {
        let entry = entry.map_err(InitError::Read)?;
        if !entry.file_name().to_string_lossy().starts_with('.') && !entry.path().is_dir() {
            files.push(entry.path());
        }
    }
    if files.len() > MAX_FILES {
        return Err(InitError::TooManyFiles { files: files.len(), limit: MAX_FILES });
    }
    files.sort();
    Ok(files)
}

/// The properties of all values at one place.
#[derive(Default)]
struct Shape {
    has_null: bool,
    has_boolean: bool,
    has_integer: bool,
    has_fraction: bool,
    /// The longest string, in characters.
    longest: Option<usize>,
    words: BTreeSet<String>,
    /// The length of the longest list, and the shape of its items.
    list: Option<(usize, Box<Shape>)>,
    /// The number of objects, and the shapes of their members, each with the number of objects that have the member.
    objects: usize,
    members: BTreeMap<String, (usize, Shape)>,
}

impl Shape {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => self.has_null = true,
            Value::Bool(_) => self.has_boolean = true,
            Value::Number(_) if Types::of(value).within(Types::INTEGER) => self.has_integer = true,
            Value::Number(_) => self.has_fraction = true,
            Value::String(text) => {
                let length = text.chars().count();
                self.longest = Some(self.longest.unwrap_or(0).max(length));
                if self.words.len() <= MAX_WORDS {
                    self.words.insert(text.clone());
                }
            }
            Value::Array(values) => {
                let (longest, shape) = self.list.get_or_insert_with(Default::default);
                *longest = values.len().max(*longest);
                values.iter().for_each(|value| shape.add(value));
            }
            Value::Object(members) => {
                self.objects += 1;
                for (name, value) in members {
                    let (number, shape) = self.members.entry(name.clone()).or_default();
                    *number += 1;
                    shape.add(value);
                }
            }
        }
    }

    /// Returns a schema that accepts all values. `pointer` is its place, and `vocabularies` are the places where words
    /// are listed.
    fn schema(&self, pointer: &str, vocabularies: &BTreeSet<String>) -> Map<String, Value> {
        let mut schema = Map::new();
        let types = [
            ("null", self.has_null),
            ("boolean", self.has_boolean),
            ("integer", self.has_integer && !self.has_fraction),
            ("number", self.has_fraction),
            ("string", self.longest.is_some()),
            ("array", self.list.is_some()),
            ("object", self.objects > 0),
        ];
        let types: Vec<&str> = types.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
        match types.as_slice() {
            [] => {}
            [one] => drop(schema.insert("type".to_owned(), json!(one))),
            several => drop(schema.insert("type".to_owned(), json!(several))),
        }
        if let Some(longest) = self.longest {
            match vocabularies.contains(pointer) && self.words.len() <= MAX_WORDS && types.len() == 1 {
                true => schema.insert("enum".to_owned(), json!(self.words)),
                false => schema.insert("maxLength".to_owned(), json!(roomy(longest, 100))),
            };
        }
        if let Some((longest, shape)) = &self.list {
            schema.insert("maxItems".to_owned(), json!(roomy(*longest, 20)));
            schema.insert("items".to_owned(), Value::Object(shape.schema(&format!("{pointer}/items"), vocabularies)));
        }
        if self.objects > 0 {
            let in_all = self.members.iter().filter(|(_, (number, _))| *number == self.objects);
            let required: Vec<&String> = in_all.map(|(name, _)| name).collect();
            let properties = self.members.iter().map(|(name, (_, shape))| {
                let place = format!("{pointer}/properties/{}", escaped(name));
                (name.clone(), Value::Object(shape.schema(&place, vocabularies)))
            });
            schema.insert("properties".to_owned(), Value::Object(properties.collect()));
            schema.insert("required".to_owned(), json!(required));
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
        schema
    }
}

/// Returns a limit that allows for more than was seen: four times as much, rounded.
fn roomy(seen: usize, least: usize) -> usize {
    let wanted = (seen * 4).max(least);
    let mut round = 10;
    while round < wanted {
        round = if round.to_string().starts_with('1') {
            round * 2
        } else if round.to_string().starts_with('2') {
            round / 2 * 5
        } else {
            round * 2
        };
    }
    round
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_round_and_have_room() {
        assert_eq!([0, 5, 13, 60, 300, 1200].map(|seen| roomy(seen, 20)), [20, 20, 100, 500, 2000, 5000]);
    }

    #[test]
    fn a_schema_says_what_all_examples_are_like() {
        let mut shape = Shape::default();
        shape.add(&json!({ "a": 1, "b": ["x"], "c": null }));
        shape.add(&json!({ "a": 1.5, "b": [], "d": { "e": true } }));
        let expected = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["a", "b"],
            "properties": {
                "a": { "type": "number" },
                "b": { "type": "array", "maxItems": 20, "items": { "type": "string", "maxLength": 100 } },
                "c": { "type": "null" },
                "d": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["e"],
                    "properties": { "e": { "type": "boolean" } }
                }
            }
        });
        assert_eq!(Value::Object(shape.schema("", &BTreeSet::new())), expected);
    }
}
