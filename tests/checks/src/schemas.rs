//! Random schemas, and documents for them, for comparisons with other validators, properties of the verdict, and the
//! fuzz targets. The same choices produce the same schema.

use serde_json::{Map, Value, json};

/// The source of choices: a seed, or the bytes of a fuzz target.
pub trait Choices {
    /// Returns a number less than a bound.
    fn below(&mut self, bound: usize) -> usize;

    /// Returns one of several.
    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Returns `true` with the given frequency.
    fn chance(&mut self, in_a_hundred: usize) -> bool {
        self.below(100) < in_a_hundred
    }
}

/// The dialects by URI, in chronological order.
pub const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// The vocabulary for texts, names and patterns.
#[derive(Clone, Copy)]
pub struct Words {
    /// Names of members.
    pub names: &'static [&'static str],
    /// Strings in documents, and in `const` and `enum`.
    pub strings: &'static [&'static str],
    /// Regular expressions.
    pub patterns: &'static [&'static str],
}

/// The patterns without special features.
pub const WORDS: Words = Words {
    names: &["a", "b", "ab", "abc", "x-long-name", "é"],
    strings: &["", "a", "ab", "abc", "A1", "2024-02-29", "a@b.example", "x-long-name", "é\u{1f600}", "127.0.0.1"],
    patterns: &["^a", "b$", "^x-", "^[a-z]+$", "^(a|ab)$", "[0-9]", "^.$"],
};

const FORMATS: [&str; 6] = ["date", "email", "ipv4", "uri", "json-pointer", "uuid"];

fn number(choices: &mut impl Choices) -> Value {
    choices.one(&[json!(0), json!(1), json!(2), json!(-1), json!(1.5), json!(2.0), json!(10), json!(0.1), json!(1e15)])
}

/// Returns a document.
pub fn value(choices: &mut impl Choices, words: Words, depth: usize) -> Value {
    match choices.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(choices.chance(50)),
        2 => number(choices),
        3 | 4 => json!(choices.one(words.strings)),
        5 => (0..choices.below(4)).map(|_| value(choices, words, depth - 1)).collect(),
        _ => {
            let count = choices.below(5);
            let members = (0..count).map(|_| (choices.one(words.names).to_owned(), value(choices, words, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

/// Returns a schema of a dialect, by its number in [`DIALECTS`], with all its keywords.
pub fn schema(choices: &mut impl Choices, words: Words, dialect: usize) -> Value {
    let mut schemas = Schemas { choices, words, dialect };
    let mut keywords = Map::new();
    for _ in 0..1 + schemas.choices.below(3) {
        schemas.keyword(3, &mut keywords);
    }
    let definitions = json!({"one": schemas.schema(2), "two": schemas.schema(2)});
    keywords.insert("$schema".to_owned(), json!(DIALECTS[dialect]));
    keywords.insert("definitions".to_owned(), definitions);
    Value::Object(keywords)
}

struct Schemas<'r, C> {
    choices: &'r mut C,
    words: Words,
    dialect: usize,
}

impl<C: Choices> Schemas<'_, C> {
    fn schema(&mut self, depth: usize) -> Value {
        if self.dialect > 0 && self.choices.chance(8) {
            return json!(self.choices.chance(60));
        }
        let mut keywords = Map::new();
        for _ in 0..1 + self.choices.below(3) {
            self.keyword(depth, &mut keywords);
        }
        Value::Object(keywords)
    }

    fn schemas(&mut self, depth: usize) -> Value {
        (0..1 + self.choices.below(3)).map(|_| self.schema(depth)).collect()
    }

    fn named(&mut self, names: &[&str], depth: usize) -> Value {
        let count = 1 + self.choices.below(3);
        Value::Object((0..count).map(|_| (self.choices.one(names).to_owned(), self.schema(depth))).collect())
    }

    /// Does the same for members. A schema may refer to the enclosing schemas here, because it applies to another
    /// value.
    fn members(&mut self, names: &[&str], depth: usize) -> Value {
        let mut members = self.named(names, depth);
        for schema in members.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
            if self.choices.chance(15) {
                let target = self.choices.one(&["#", "#/definitions/one", "#/definitions/two"]);
                schema.insert("$ref".to_owned(), json!(target));
            }
        }
        members
    }

    fn names(&mut self) -> Value {
        let mut names: Vec<&str> = (0..1 + self.choices.below(2)).map(|_| self.choices.one(self.words.names)).collect();
        names.sort_unstable();
        names.dedup();
        json!(names)
    }

    fn keyword(&mut self, depth: usize, keywords: &mut Map<String, Value>) {
        let size = self.choices.below(4);
        let (name, value) = match self.choices.below(if depth == 0 { 17 } else { 42 }) {
            0 | 1 => {
                let types = ["null", "boolean", "number", "integer", "string", "array", "object"];
                let one = self.choices.one(&types);
                let two = self.choices.one(&types);
                ("type", if one == two || self.choices.chance(60) { json!(one) } else { json!([one, two]) })
            }
            2 => {
                let mut values: Vec<Value> = Vec::new();
                for _ in 0..1 + self.choices.below(4) {
                    let value = value(self.choices, self.words, 1);
                    // They must differ, as numbers differ.
                    if values.iter().all(|other| {
                        other.to_string().trim_end_matches(".0") != value.to_string().trim_end_matches(".0")
                    }) {
                        values.push(value);
                    }
                }
                ("enum", Value::Array(values))
            }
            3 if self.dialect > 0 => ("const", value(self.choices, self.words, 1)),
            4 => ("minimum", number(self.choices)),
            5 => ("maximum", number(self.choices)),
            6 if self.dialect > 0 => ("exclusiveMinimum", number(self.choices)),
            7 => ("multipleOf", self.choices.one(&[json!(1), json!(2), json!(0.5), json!(0.1), json!(1.5)])),
            8 => ("minLength", json!(size)),
            9 => ("maxLength", json!(size)),
            10 => ("pattern", json!(self.choices.one(self.words.patterns))),
            11 => ("format", json!(self.choices.one(&FORMATS))),
            12 => ("minItems", json!(size)),
            13 => ("maxItems", json!(size)),
            14 => ("required", self.names()),
            15 => ("minProperties", json!(size)),
            16 => ("uniqueItems", json!(true)),
            17..=20 => ("properties", self.members(self.words.names, depth - 1)),
            21 => ("patternProperties", self.members(self.words.patterns, depth - 1)),
            22 => ("additionalProperties", self.schema(depth - 1)),
            23 if self.dialect > 0 => ("propertyNames", self.schema(depth - 1)),
            24 => ("items", self.schema(depth - 1)),
            25 if self.dialect < 4 => ("items", self.schemas(depth - 1)),
            25 => ("prefixItems", self.schemas(depth - 1)),
            26 => ("additionalItems", self.schema(depth - 1)),
            27 if self.dialect > 0 => ("contains", self.schema(depth - 1)),
            28 => ("minContains", json!(size)),
            29 => ("maxContains", json!(size)),
            30 => ("allOf", self.schemas(depth - 1)),
            31 => ("anyOf", self.schemas(depth - 1)),
            32 => ("oneOf", self.schemas(depth - 1)),
            33 => ("not", self.schema(depth - 1)),
            34 => {
                keywords.insert("then".to_owned(), self.schema(depth - 1));
                keywords.insert("else".to_owned(), self.schema(depth - 1));
                ("if", self.schema(depth - 1))
            }
            35 => ("dependentSchemas", self.named(self.words.names, depth - 1)),
            36 => (
                "dependentRequired",
                Value::Object(Map::from_iter([(self.choices.one(self.words.names).to_owned(), self.names())])),
            ),
            // In later dialects, this is not a keyword, and validators disagree about what it evaluates.
            37 if self.dialect < 3 => ("dependencies", self.named(self.words.names, depth - 1)),
            38..=39 => ("unevaluatedProperties", self.schema(depth - 1)),
            40..=41 => ("unevaluatedItems", self.schema(depth - 1)),
            // A keyword of a later draft.
            _ => return,
        };
        keywords.insert(name.to_owned(), value);
    }
}

/// A schema that refers from one resource to another, the resources beside it by URI, and documents for it.
pub struct Referring {
    /// The schema.
    pub schema: Value,
    /// The resources beside the schema.
    pub resources: Map<String, Value>,
}

/// The members of documents for these resources.
pub const REFERRED: Words = Words { names: &["a", "b", "c"], strings: &["", "a"], patterns: &[] };

/// Returns a schema that consists mostly of references: by URI, pointer and anchor, and references that depend on the
/// dynamic scope, across nested and separate resources. Targets for the same value come later in a fixed order, so that
/// no reference returns to the same value.
pub fn references(choices: &mut impl Choices, dialect: usize) -> Referring {
    let mut resources: Vec<Resource> = Vec::new();
    for number in 0..1 + choices.below(4) {
        let around = (number > 0).then(|| choices.below(number));
        let base = around.map_or("https://example.com/dir/root", |around| resources[around].uri.as_str());
        let id = match choices.below(5) {
            0 => format!("f{number}/x"),
            1 => format!("x{number}"),
            2 => format!("../u{number}"),
            3 => format!("/abs{number}"),
            _ => format!("https://example.org/o{number}/s"),
        };
        let uri = if number == 0 { base.to_owned() } else { resolved(base, &id) };
        let is_beside = number > 0 && choices.chance(25);
        let mut anchors = Vec::new();
        for place in [Place::Root, Place::Definition(0), Place::Definition(1)] {
            // Before 2019-09 an anchor is an `$id`, and the root already has another one.
            let names: &[&str] = if dialect < 3 && place == Place::Root { &[] } else { &["x", "y"] };
            if !names.is_empty() && choices.chance(30) {
                anchors.push((choices.one(names), place, false));
            }
            if dialect == 4 && choices.chance(45) {
                anchors.push((choices.one(&["n", "m"]), place, true));
            }
        }
        // Each name once.
        let mut known: Vec<&str> = Vec::new();
        anchors.retain(|(name, ..)| {
            let is_new = !known.contains(name);
            known.push(name);
            is_new
        });
        let recursive = dialect == 3 && choices.chance(50);
        let place = choices.below(6);
        let id = if is_beside { uri.clone() } else { id };
        resources.push(Resource { around, id, uri, is_beside, anchors, recursive, place });
    }
    let mut maker = Referrer { choices, dialect, resources };
    let mut beside = Map::new();
    let mut schema = maker.resource(0, &mut beside);
    schema["$schema"] = json!(DIALECTS[dialect]);
    Referring { schema, resources: beside }
}

/// Returns a reference, resolved as in RFC 3986, as far as these tests need it.
fn resolved(base: &str, reference: &str) -> String {
    let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    if reference.contains("://") {
        return reference.to_owned();
    }
    if let Some(path) = reference.strip_prefix('/') {
        return format!("{scheme}://{host}/{path}");
    }
    let mut reference = reference;
    while let Some(rest) = reference.strip_prefix("../") {
        folders.pop();
        reference = rest;
    }
    folders.push(reference);
    format!("{scheme}://{host}/{}", folders.join("/"))
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Definition(usize),
}

struct Resource {
    /// The enclosing resource, or the resource against which the URI is resolved.
    around: Option<usize>,
    id: String,
    uri: String,
    is_beside: bool,
    /// The anchors, each with its place, and whether it is dynamic.
    anchors: Vec<(&'static str, Place, bool)>,
    /// `$recursiveAnchor`.
    recursive: bool,
    /// The place in the enclosing schema.
    place: usize,
}

struct Referrer<'r, C> {
    choices: &'r mut C,
    dialect: usize,
    resources: Vec<Resource>,
}

impl<C: Choices> Referrer<'_, C> {
    fn definitions(&self) -> &'static str {
        if self.dialect < 3 { "definitions" } else { "$defs" }
    }

    fn id(&self) -> &'static str {
        if self.dialect == 0 { "id" } else { "$id" }
    }

    fn resource(&mut self, number: usize, beside: &mut Map<String, Value>) -> Value {
        let mut definitions = Map::new();
        for name in 0..2 {
            let mut schema = self.body(number, 1);
            self.anchor(number, Place::Definition(name), &mut schema);
            definitions.insert(format!("d{name}"), Value::Object(schema));
        }
        let mut schema = self.body(number, 2);
        for inner in number + 1..self.resources.len() {
            if self.resources[inner].around != Some(number) {
                continue;
            }
            let mut embedded = self.resource(inner, beside);
            if self.resources[inner].is_beside {
                embedded["$schema"] = json!(DIALECTS[self.dialect]);
                beside.insert(self.resources[inner].uri.clone(), embedded);
                continue;
            }
            match self.resources[inner].place {
                0 if !schema.contains_key("additionalProperties") => {
                    schema.insert("additionalProperties".to_owned(), embedded);
                }
                1 if !schema.contains_key("allOf") => {
                    schema.insert("allOf".to_owned(), json!([embedded]));
                }
                2 if !schema.contains_key("properties") => {
                    schema.insert("properties".to_owned(), json!({"b": embedded}));
                }
                _ => {
                    definitions.insert(format!("r{inner}"), embedded);
                }
            }
        }
        self.anchor(number, Place::Root, &mut schema);
        schema.insert(self.id().to_owned(), json!(self.resources[number].id));
        if number == 0 {
            schema.insert(self.id().to_owned(), json!(self.resources[number].uri));
        }
        if self.resources[number].recursive {
            schema.insert("$recursiveAnchor".to_owned(), json!(true));
        }
        schema.insert(self.definitions().to_owned(), Value::Object(definitions));
        Value::Object(schema)
    }

    fn anchor(&mut self, number: usize, at: Place, schema: &mut Map<String, Value>) {
        for (name, place, is_dynamic) in &self.resources[number].anchors {
            if *place == at {
                let (keyword, name) = match (self.dialect, is_dynamic) {
                    (0, _) => ("id", format!("#{name}")),
                    (1 | 2, _) => ("$id", format!("#{name}")),
                    (_, true) => ("$dynamicAnchor", (*name).to_owned()),
                    _ => ("$anchor", (*name).to_owned()),
                };
                schema.insert(keyword.to_owned(), json!(name));
            }
        }
    }

    /// Returns keywords of a referenced schema in a resource.
    fn body(&mut self, number: usize, depth: usize) -> Map<String, Value> {
        let mut schema = Map::new();
        for _ in 0..1 + self.choices.below(3) {
            let (keyword, value) = match self.choices.below(9) {
                0 => (
                    "type",
                    self.choices.one(&[json!("object"), json!(["object", "integer"]), json!(["array", "object"])]),
                ),
                1 => ("required", json!([self.choices.one(REFERRED.names)])),
                2 => ("maxProperties", json!(1 + self.choices.below(2))),
                3..=5 => {
                    let one = (self.choices.one(REFERRED.names).to_owned(), self.inner(number, depth));
                    let two = (self.choices.one(REFERRED.names).to_owned(), self.inner(number, depth));
                    ("properties", Value::Object(Map::from_iter([one, two])))
                }
                6 => ("additionalProperties", self.inner(number, depth)),
                7 => ("items", self.inner(number, depth)),
                _ => match self.target(number + 1, number) {
                    // In place.
                    Some(target) if self.dialect < 3 || self.choices.chance(40) => ("allOf", json!([{"$ref": target}])),
                    Some(target) => ("$ref", json!(target)),
                    None => continue,
                },
            };
            schema.insert(keyword.to_owned(), value);
        }
        schema
    }

    /// Returns a schema for a value inside.
    fn inner(&mut self, number: usize, depth: usize) -> Value {
        match self.choices.below(9) {
            0 => json!({"type": self.choices.one(&["integer", "string", "object", "array"])}),
            1 if depth > 0 => Value::Object(self.body(number, depth - 1)),
            1 | 2 if self.dialect == 3 => json!({"$recursiveRef": "#"}),
            3..=5 if self.dialect == 4 => match self.anchored(number) {
                Some(target) => json!({"$dynamicRef": target}),
                None => json!({}),
            },
            _ => match self.target(0, number) {
                Some(target) => json!({"$ref": target}),
                None => json!({}),
            },
        }
    }

    /// Returns a reference from a resource to a schema of a resource that is not before a given one.
    fn target(&mut self, first: usize, from: usize) -> Option<String> {
        if first >= self.resources.len() {
            return None;
        }
        let to = first + self.choices.below(self.resources.len() - first);
        let fragment = match self.choices.below(4) {
            0 | 1 if !self.resources[to].anchors.is_empty() => {
                format!("#{}", self.choices.one(&self.resources[to].anchors).0)
            }
            0 | 1 => String::new(),
            2 => "#".to_owned(),
            _ => format!("#/{}/d{}", self.definitions(), self.choices.below(2)),
        };
        Some(self.reference(from, to, &fragment))
    }

    /// Returns a reference to an anchor.
    fn anchored(&mut self, from: usize) -> Option<String> {
        let anchored: Vec<usize> =
            (0..self.resources.len()).filter(|number| !self.resources[*number].anchors.is_empty()).collect();
        if anchored.is_empty() {
            return None;
        }
        let to = if anchored.contains(&from) && self.choices.chance(50) { from } else { self.choices.one(&anchored) };
        let name = self.choices.one(&self.resources[to].anchors).0;
        Some(self.reference(from, to, &format!("#{name}")))
    }

    fn reference(&mut self, from: usize, to: usize, fragment: &str) -> String {
        let (base, uri) = (&self.resources[from].uri, &self.resources[to].uri);
        let last = uri.rsplit('/').next().unwrap_or_default();
        let path = uri.splitn(4, '/').nth(3).unwrap_or_default();
        let forms = [
            fragment.to_owned(),
            format!("{last}{fragment}"),
            format!("/{path}{fragment}"),
            format!("{uri}{fragment}"),
        ];
        let leads = |form: &&String| {
            let reference = form.split('#').next().unwrap_or_default();
            if reference.is_empty() { from == to && !form.is_empty() } else { resolved(base, reference) == *uri }
        };
        let forms: Vec<String> = forms.iter().filter(leads).cloned().collect();
        self.choices.one(&forms)
    }
}
