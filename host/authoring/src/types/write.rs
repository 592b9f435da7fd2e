//! Writes shapes as the schema that a generator reads.

use std::collections::{BTreeMap, BTreeSet};

use seamgate_text::without_hidden;
use serde_json::{Map, Value, json};

use super::{
    Language,
    names::{Names, is_type_name, type_name},
    shape::{Definition, Object, Part, Shape, Union},
};
use crate::schema::Types;

/// The longest description, in bytes.
const MAX_DESCRIPTION: usize = 1000;

/// The longest name of a place, in bytes. A more deeply nested type gets a number instead.
const MAX_AROUND: usize = 60;

/// The types of values for which JSON has a single type name.
const SCALARS: [(Types, &str); 3] = [(Types::STRING, "string"), (Types::BOOLEAN, "boolean"), (Types::NULL, "null")];

/// Writes the schema of the first definition, and the other definitions that it uses.
pub(super) fn write(definitions: &[Definition], name: &str, language: Language) -> Value {
    let mut writer = Writer {
        definitions,
        language,
        names: BTreeMap::new(),
        used: BTreeSet::new(),
        taken: Names::default(),
        around: String::new(),
        values: Map::new(),
    };
    let root = writer.target(0).unwrap_or(0);
    writer.name_all(root, name);
    let mut schema = writer.definition(root);
    let mut written = BTreeMap::new();
    while let Some(number) = writer.used.iter().copied().find(|number| *number != root && !written.contains_key(number))
    {
        let definition = writer.definition(number);
        written.insert(number, definition);
    }
    let mut named: Map<String, Value> = written
        .into_iter()
        .map(|(number, definition)| (writer.names[&number].clone(), Value::Object(definition)))
        .collect();
    named.append(&mut writer.values);
    if language.names_root() {
        named.insert(name.to_owned(), Value::Object(schema));
        schema = Map::from_iter([("$ref".to_owned(), json!(format!("#/definitions/{name}")))]);
    }
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!(name));
    if !named.is_empty() {
        schema.insert("definitions".to_owned(), Value::Object(named));
    }
    Value::Object(schema)
}

impl Language {
    /// Returns whether the language's generator needs the root among the definitions.
    fn names_root(self) -> bool {
        self == Language::Go
    }

    /// Returns whether a type in the language can list these values.
    fn lists(self, values: &[&Value]) -> bool {
        let is_all = |fits: fn(&Value) -> bool| values.iter().all(|value| fits(value));
        match self {
            Language::TypeScript => true,
            Language::Python => is_all(|value| !value.is_f64()),
            // Other values cannot be constants of a separate type.
            Language::Rust | Language::Go => is_all(Value::is_string) && are_names_distinct(values),
        }
    }

    /// Returns whether a field can have this name in JSON.
    fn has_field(self, name: &str) -> bool {
        // The names that `encoding/json` accepts in a tag.
        let is_in_tag = |each: char| each.is_alphanumeric() || "!#$%&()*+-./:;<=>?@[]^_{|}~ ".contains(each);
        match self {
            Language::Go => !name.is_empty() && name != "-" && name.chars().all(is_in_tag),
            _ => true,
        }
    }
}

/// Returns whether the names of constants differ. They consist of the letters and digits of a value, capitalized.
fn are_names_distinct(values: &[&Value]) -> bool {
    let mut names = BTreeSet::new();
    values.iter().filter_map(|value| value.as_str()).all(|value| {
        let letters: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
        !letters.is_empty() && names.insert(letters.to_ascii_lowercase())
    })
}

/// Returns whether the names of fields differ in Rust, where `userName` and `user-name` both become `user_name`.
fn are_fields_distinct<'n>(names: impl Iterator<Item = &'n String>) -> bool {
    let mut fields = BTreeSet::new();
    names.into_iter().all(|name| {
        let mut field = String::new();
        let mut was_lower = false;
        for each in name.chars() {
            if !each.is_alphanumeric() || each.is_uppercase() && was_lower {
                field.push('_');
            }
            was_lower = each.is_lowercase();
            field.extend(each.to_lowercase().filter(|each| each.is_alphanumeric()));
        }
        let field = field.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
        // If nothing is left of a field's name, typify names the field `x`.
        fields.insert(if field.is_empty() { "x".to_owned() } else { field })
    })
}

struct Writer<'d> {
    definitions: &'d [Definition],
    language: Language,
    /// The names of types, by the numbers of their definitions.
    names: BTreeMap<usize, String>,
    /// The definitions that are referenced.
    used: BTreeSet<usize>,
    /// All names of types.
    taken: Names,
    /// The name for a type at the place that is being written.
    around: String,
    /// Definitions of types that have no name in the contract.
    values: Map<String, Value>,
}

impl Writer<'_> {
    /// Names the types. The root's name is reserved for it.
    fn name_all(&mut self, root: usize, name: &str) {
        self.names.insert(root, self.taken.unique(name));
        for (number, definition) in self.definitions.iter().enumerate().filter(|(number, _)| *number != root) {
            let made = type_name(&definition.named);
            let made = if is_type_name(&made) { made } else { format!("{name}Part") };
            self.names.insert(number, self.taken.unique(&made));
        }
    }

    /// Returns the definition that a definition is an alias for. `None` if the aliases lead to none.
    fn target(&self, mut number: usize) -> Option<usize> {
        for _ in 0..=self.definitions.len() {
            match self.definitions[number].union.as_slice() {
                [Part::Reference(next)] => number = *next,
                _ => return Some(number),
            }
        }
        None
    }

    fn definition(&mut self, number: usize) -> Map<String, Value> {
        self.around.clone_from(&self.names[&number]);
        let mut alternatives = Vec::new();
        self.collect(number, number, &mut BTreeSet::new(), &mut alternatives);
        let mut schema = self.union(&alternatives);
        let description = self.definitions[number].description.as_deref().map(plain);
        if let Some(description) = description.filter(|text| !text.is_empty() && !schema.contains_key("$ref")) {
            schema.insert("description".to_owned(), Value::String(description));
        }
        schema
    }

    /// Collects the alternatives of a definition. If a reference leads back to `start` only through unions, collects
    /// that definition's alternatives instead of the reference, because no type can contain itself.
    fn collect(&self, start: usize, number: usize, seen: &mut BTreeSet<usize>, found: &mut Union) {
        if !seen.insert(number) {
            return;
        }
        for part in &self.definitions[number].union {
            match part {
                Part::Reference(next) if self.leads_to(*next, start, &mut BTreeSet::new()) => {
                    self.collect(start, *next, seen, found);
                }
                part => found.push(part.clone()),
            }
        }
    }

    /// Returns whether a definition leads to another one only through unions.
    fn leads_to(&self, from: usize, to: usize, seen: &mut BTreeSet<usize>) -> bool {
        from == to
            || seen.insert(from)
                && self.definitions[from].union.iter().any(|part| match part {
                    Part::Reference(next) => self.leads_to(*next, to, seen),
                    Part::Shape(_) => false,
                })
    }

    /// Writes a union. A union that accepts all values, or none, has no keywords.
    fn union(&mut self, union: &Union) -> Map<String, Value> {
        let mut scalars = Types::NONE;
        let mut others: Vec<Map<String, Value>> = Vec::new();
        let add = |schema: Map<String, Value>, others: &mut Vec<Map<String, Value>>| {
            if !others.contains(&schema) {
                others.push(schema);
            }
        };
        for part in union {
            match part {
                Part::Reference(number) => match self.target(*number) {
                    Some(number) => {
                        self.used.insert(number);
                        add(self.reference(number), &mut others);
                    }
                    None => return Map::new(),
                },
                Part::Shape(shape) if shape.is_any() => return Map::new(),
                Part::Shape(shape) => {
                    let types = written_types(shape);
                    let listed = shape.values.as_deref().map(|values| self.values(values));
                    if let Some(listed) = &listed {
                        listed.schemas.iter().for_each(|schema| add(schema.clone(), &mut others));
                    }
                    let unlisted = listed.map_or(types, |listed| listed.unlisted);
                    scalars = scalars.or(unlisted.and(SCALAR));
                    if unlisted.has(Types::ARRAY) {
                        let items = shape.items.as_ref().map(|items| self.union(items)).unwrap_or_default();
                        add(keywords(json!({ "type": "array", "items": items })), &mut others);
                    }
                    if unlisted.has(Types::OBJECT) {
                        let object = shape.object.as_ref().map(|object| self.object(object));
                        add(object.unwrap_or_else(|| keywords(json!({ "type": "object" }))), &mut others);
                    }
                }
            }
        }
        self.joined(scalars, others)
    }

    /// Joins plain types and other alternatives.
    fn joined(&mut self, scalars: Types, mut others: Vec<Map<String, Value>>) -> Map<String, Value> {
        let mut types: Vec<&str> =
            SCALARS.iter().filter(|(types, _)| scalars.has(*types)).map(|(_, name)| *name).collect();
        if scalars.has(Types::FRACTION) {
            types.insert(0, "number");
        } else if scalars.has(Types::INTEGER) {
            types.insert(0, "integer");
        }
        // A list of values adds nothing to its type.
        others.retain(|schema| {
            let is_covered = |name: &Value| name.as_str().is_some_and(|name| types.contains(&name));
            !(schema.contains_key("enum") && schema.get("type").is_some_and(is_covered))
        });
        // Go has no unions. Its pointers can be null.
        if self.language == Language::Go {
            let named = types.iter().filter(|name| **name != "null").count();
            return match (named, others.len()) {
                (0, 1) => others.swap_remove(0),
                (1, 0) => keywords(json!({ "type": types[0] })),
                _ => Map::new(),
            };
        }
        match (types.as_slice(), others.len()) {
            ([], 1) => others.swap_remove(0),
            ([], 0) => Map::new(),
            ([only], 0) => keywords(json!({ "type": only })),
            (several, 0) => keywords(json!({ "type": several })),
            (types, _) => {
                let scalars = types.iter().map(|name| keywords(json!({ "type": name })));
                let others: Vec<_> = others.into_iter().map(|schema| self.named(schema, "Variant")).collect();
                let all: Vec<Value> = others.into_iter().chain(scalars).map(Value::Object).collect();
                // typify interprets `anyOf` as a type with all alternatives at once.
                let keyword = if self.language == Language::Rust { "oneOf" } else { "anyOf" };
                keywords(json!({ keyword: all }))
            }
        }
    }

    fn reference(&self, number: usize) -> Map<String, Value> {
        let is_root = number == self.target(0).unwrap_or(0) && !self.language.names_root();
        let reference = if is_root { "#".to_owned() } else { format!("#/definitions/{}", self.names[&number]) };
        keywords(json!({ "$ref": reference }))
    }

    /// Writes a list of values as one schema for each type.
    fn values(&self, values: &[Value]) -> Listed {
        let mut listed = Listed { schemas: Vec::new(), unlisted: Types::NONE };
        for (types, name) in [(Types::STRING, "string"), (Types::NUMBER, "number"), (Types::BOOLEAN, "boolean")] {
            let of_type: Vec<&Value> = values.iter().filter(|value| Types::of(value).has(types)).collect();
            let is_all = types == Types::BOOLEAN && [true, false].iter().all(|each| values.contains(&json!(each)));
            let is_integer = of_type.iter().all(|value| value.is_i64() || value.is_u64());
            let name = if types == Types::NUMBER && is_integer { "integer" } else { name };
            if of_type.is_empty() {
            } else if is_all || !self.language.lists(&of_type) {
                listed.unlisted =
                    listed.unlisted.or(of_type.iter().fold(Types::NONE, |all, value| all.or(Types::of(value))));
            } else {
                let mut distinct: Vec<&Value> = Vec::new();
                for value in of_type {
                    if !distinct.contains(&value) {
                        distinct.push(value);
                    }
                }
                listed.schemas.push(keywords(json!({ "type": name, "enum": distinct })));
            }
        }
        for value in values.iter().filter(|value| value.is_null() || value.is_array() || value.is_object()) {
            listed.unlisted = listed.unlisted.or(Types::of(value));
        }
        listed
    }

    /// Names the schema of a map's values or of an alternative, if it needs a separate type in Rust, because typify
    /// finds no name for these. Returns a reference to it.
    fn named(&mut self, schema: Map<String, Value>, suffix: &str) -> Map<String, Value> {
        let has_type = ["properties", "additionalProperties", "enum", "oneOf", "items"];
        if self.language != Language::Rust || !has_type.iter().any(|keyword| schema.contains_key(*keyword)) {
            return schema;
        }
        let name = self.taken.unique(&format!("{}{suffix}", self.around));
        self.values.insert(name.clone(), Value::Object(schema));
        keywords(json!({ "$ref": format!("#/definitions/{name}") }))
    }

    fn object(&mut self, object: &Object) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut lacks_field = self.language == Language::Rust && !are_fields_distinct(object.members.keys());
        for (name, member) in &object.members {
            if member.union.is_empty() {
                continue;
            }
            if !self.language.has_field(name) {
                lacks_field = true;
                continue;
            }
            let around = self.around.clone();
            if around.len() + name.len() <= MAX_AROUND {
                self.around.push_str(&type_name(name));
            }
            let mut schema = self.union(&member.union);
            self.around = around;
            let description = member.description.as_deref().map(plain).filter(|text| !text.is_empty());
            if let Some(description) = description.filter(|_| !schema.contains_key("$ref")) {
                schema.insert("description".to_owned(), Value::String(description));
            }
            properties.insert(name.clone(), Value::Object(schema));
            let is_null_pointer = self.language == Language::Go && takes_null(&member.union);
            if object.required.contains(name) && !is_null_pointer {
                required.push(json!(name));
            }
        }
        // A member whose name cannot be that of a field is put into a map.
        if lacks_field {
            return keywords(json!({ "type": "object" }));
        }
        let is_closed = object.others.is_empty();
        let mut schema = keywords(json!({ "type": "object" }));
        if properties.is_empty() && !is_closed {
            let others = self.union(&object.others);
            let others = self.named(others, "Value");
            if !others.is_empty() {
                schema.insert("additionalProperties".to_owned(), Value::Object(others));
            }
            return schema;
        }
        // In addition to fields, types do not describe other members.
        if is_closed {
            schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
        schema
    }
}

/// The schemas for a list of values.
struct Listed {
    schemas: Vec<Map<String, Value>>,
    /// The types that accept any value because the language cannot list their values.
    unlisted: Types,
}

/// All types except arrays and objects.
const SCALAR: Types = Types::ALL.without(Types::ARRAY).without(Types::OBJECT);

/// Returns the types of a shape. A shape that has keywords for objects or arrays, and no `type`, has only these types.
fn written_types(shape: &Shape) -> Types {
    if shape.types != Types::ALL {
        return shape.types;
    }
    let object = if shape.object.is_some() { Types::OBJECT } else { Types::NONE };
    let array = if shape.items.is_some() { Types::ARRAY } else { Types::NONE };
    object.or(array)
}

/// Returns whether one of the alternatives is null.
fn takes_null(union: &Union) -> bool {
    union.iter().any(|part| matches!(part, Part::Shape(shape) if shape.types.has(Types::NULL) && !shape.is_any()))
}

fn keywords(schema: Value) -> Map<String, Value> {
    if let Value::Object(keywords) = schema { keywords } else { Map::new() }
}

/// Returns a description on one line that cannot end a comment or a string in any of the languages.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for word in text.split_whitespace() {
        let separator = if plain.is_empty() { 0 } else { 1 };
        if plain.len() + separator + word.len() > MAX_DESCRIPTION {
            break;
        }
        if separator == 1 {
            plain.push(' ');
        }
        plain.extend(without_hidden(word).chars().filter(|each| !each.is_control()));
    }
    plain.replace('\\', "/").replace("*/", "* /").replace("/*", "/ *").replace("\"\"\"", "'''")
}
