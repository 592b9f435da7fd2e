//! Schemas made at random, and documents for them: for the comparisons with other validators, for properties of the verdict
//! and for the fuzz targets. The same choices make the same schema.

use serde_json::{Map, Value, json};

/// Where choices come from: a seed, or the bytes of a fuzz target.
pub trait Choices {
    /// A number below a bound.
    fn below(&mut self, bound: usize) -> usize;

    /// One of several.
    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// True so often.
    fn chance(&mut self, in_a_hundred: usize) -> bool {
        self.below(100) < in_a_hundred
    }
}

/// The dialects by their URIs; each comes after those before it.
pub const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// What texts, names and patterns are taken from.
#[derive(Clone, Copy)]
pub struct Words {
    /// Names of members.
    pub names: &'static [&'static str],
    /// Strings in documents, and in `const` and `enum`.
    pub strings: &'static [&'static str],
    /// Regular expressions.
    pub patterns: &'static [&'static str],
}

/// The ordinary ones.
pub const WORDS: Words = Words {
    names: &["a", "b", "ab", "abc", "x-long-name", "é"],
    strings: &["", "a", "ab", "abc", "A1", "2024-02-29", "a@b.example", "x-long-name", "é\u{1f600}", "127.0.0.1"],
    patterns: &["^a", "b$", "^x-", "^[a-z]+$", "^(a|ab)$", "[0-9]", "^.$"],
};

const FORMATS: [&str; 6] = ["date", "email", "ipv4", "uri", "json-pointer", "uuid"];

fn number(choices: &mut impl Choices) -> Value {
    choices.one(&[json!(0), json!(1), json!(2), json!(-1), json!(1.5), json!(2.0), json!(10), json!(0.1), json!(1e15)])
}

/// A document.
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

/// A schema of a dialect, by its number in [`DIALECTS`], with all its keywords.
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

    /// The same for members, where a schema may refer to those around it: it is for another value.
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
            // Of later dialects it is no keyword, and validators differ in what it evaluates there.
            37 if self.dialect < 3 => ("dependencies", self.named(self.words.names, depth - 1)),
            38..=39 => ("unevaluatedProperties", self.schema(depth - 1)),
            40..=41 => ("unevaluatedItems", self.schema(depth - 1)),
            // A keyword of a later draft.
            _ => return,
        };
        keywords.insert(name.to_owned(), value);
    }
}
