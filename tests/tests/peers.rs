//! Verdicts beside those of the crate `jsonschema`, which has an engine of its own: on schemas and documents made at
//! random, from seeds, so that each disagreement can be made again.

use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde_json::{Map, Value, json};

const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// How many schemas, and how many documents for each.
const SCHEMAS: u64 = 6_000;
const DOCUMENTS: usize = 20;

const NAMES: [&str; 6] = ["a", "b", "ab", "abc", "x-long-name", "é"];
const STRINGS: [&str; 10] =
    ["", "a", "ab", "abc", "A1", "2024-02-29", "a@b.example", "x-long-name", "é\u{1f600}", "127.0.0.1"];
const PATTERNS: [&str; 7] = ["^a", "b$", "^x-", "^[a-z]+$", "^(a|ab)$", "[0-9]", "^.$"];
const FORMATS: [&str; 6] = ["date", "email", "ipv4", "uri", "json-pointer", "uuid"];

fn number(random: &mut Random) -> Value {
    random.one(&[json!(0), json!(1), json!(2), json!(-1), json!(1.5), json!(2.0), json!(10), json!(0.1), json!(1e15)])
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.chance(50)),
        2 => number(random),
        3 | 4 => json!(random.one(&STRINGS)),
        5 => (0..random.below(4)).map(|_| value(random, depth - 1)).collect(),
        _ => {
            let members = (0..random.below(5)).map(|_| (random.one(&NAMES).to_owned(), value(random, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

struct Schemas<'r> {
    random: &'r mut Random,
    /// An index into `DIALECTS`.
    dialect: usize,
}

impl Schemas<'_> {
    fn schema(&mut self, depth: usize) -> Value {
        if self.dialect > 0 && self.random.chance(8) {
            return json!(self.random.chance(60));
        }
        let mut keywords = Map::new();
        for _ in 0..1 + self.random.below(3) {
            self.keyword(depth, &mut keywords);
        }
        Value::Object(keywords)
    }

    fn schemas(&mut self, depth: usize) -> Value {
        (0..1 + self.random.below(3)).map(|_| self.schema(depth)).collect()
    }

    fn named(&mut self, names: &[&str], depth: usize) -> Value {
        let count = 1 + self.random.below(3);
        Value::Object((0..count).map(|_| (self.random.one(names).to_owned(), self.schema(depth))).collect())
    }

    /// The same for members, where a schema may refer to those around it: it is for another value.
    fn members(&mut self, names: &[&str], depth: usize) -> Value {
        let mut members = self.named(names, depth);
        for schema in members.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
            if self.random.chance(15) {
                let target = self.random.one(&["#", "#/definitions/one", "#/definitions/two"]);
                schema.insert("$ref".to_owned(), json!(target));
            }
        }
        members
    }

    fn names(&mut self) -> Value {
        let mut names: Vec<&str> = (0..1 + self.random.below(2)).map(|_| self.random.one(&NAMES)).collect();
        names.sort_unstable();
        names.dedup();
        json!(names)
    }

    fn keyword(&mut self, depth: usize, keywords: &mut Map<String, Value>) {
        let size = self.random.below(4);
        let (name, value) = match self.random.below(if depth == 0 { 17 } else { 42 }) {
            0 | 1 => {
                let types = ["null", "boolean", "number", "integer", "string", "array", "object"];
                let one = self.random.one(&types);
                let two = self.random.one(&types);
                ("type", if one == two || self.random.chance(60) { json!(one) } else { json!([one, two]) })
            }
            2 => {
                let mut values: Vec<Value> = Vec::new();
                for _ in 0..1 + self.random.below(4) {
                    let value = value(self.random, 1);
                    // They must differ, as numbers differ.
                    if values.iter().all(|other| {
                        other.to_string().trim_end_matches(".0") != value.to_string().trim_end_matches(".0")
                    }) {
                        values.push(value);
                    }
                }
                ("enum", Value::Array(values))
            }
            3 if self.dialect > 0 => ("const", value(self.random, 1)),
            4 => ("minimum", number(self.random)),
            5 => ("maximum", number(self.random)),
            6 if self.dialect > 0 => ("exclusiveMinimum", number(self.random)),
            7 => ("multipleOf", self.random.one(&[json!(1), json!(2), json!(0.5), json!(0.1), json!(1.5)])),
            8 => ("minLength", json!(size)),
            9 => ("maxLength", json!(size)),
            10 => ("pattern", json!(self.random.one(&PATTERNS))),
            11 => ("format", json!(self.random.one(&FORMATS))),
            12 => ("minItems", json!(size)),
            13 => ("maxItems", json!(size)),
            14 => ("required", self.names()),
            15 => ("minProperties", json!(size)),
            16 => ("uniqueItems", json!(true)),
            17..=20 => ("properties", self.members(&NAMES, depth - 1)),
            21 => ("patternProperties", self.members(&PATTERNS, depth - 1)),
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
            35 => ("dependentSchemas", self.named(&NAMES, depth - 1)),
            36 => (
                "dependentRequired",
                Value::Object(Map::from_iter([(self.random.one(&NAMES).to_owned(), self.names())])),
            ),
            37 => ("dependencies", self.named(&NAMES, depth - 1)),
            38..=39 => ("unevaluatedProperties", self.schema(depth - 1)),
            40..=41 => ("unevaluatedItems", self.schema(depth - 1)),
            // A keyword of a later draft.
            _ => return,
        };
        keywords.insert(name.to_owned(), value);
    }
}

#[test]
fn verdicts_are_those_of_jsonschema() {
    let mut compared = [0_usize; 2];
    for seed in 0..SCHEMAS {
        let mut random = Random(seed);
        let dialect = random.below(DIALECTS.len());
        let mut schemas = Schemas { random: &mut random, dialect };
        let mut schema = schemas.schema(3);
        let (one, two) = (schemas.schema(2), schemas.schema(2));
        let Some(keywords) = schema.as_object_mut() else {
            continue;
        };
        keywords.insert("$schema".to_owned(), json!(DIALECTS[dialect]));
        keywords.insert("definitions".to_owned(), json!({"one": one, "two": two}));

        let peer = jsonschema::options().should_validate_formats(true).build(&schema);
        let contract = Contract::compile(&json!({"agent": "a", "schema": schema}).to_string());
        let (peer, contract) = match (peer, contract) {
            (Ok(peer), Ok(contract)) => (peer, contract),
            (Err(_), Err(_)) => continue,
            (peer, contract) => panic!(
                "seed {seed}: jsonschema {:?}, seamgate {:?}: {schema}",
                peer.map(|_| ()).map_err(|error| error.to_string()),
                contract.map(|_| ()).map_err(|fault| fault.to_json())
            ),
        };
        for _ in 0..DOCUMENTS {
            let document = value(&mut random, 3);
            let text = document.to_string();
            let request = Request { agent: "a".to_owned(), output: &text, ..Request::default() };
            let report = validate(&contract, &request).expect("a report");
            let expected = peer.is_valid(&document);
            compared[usize::from(expected)] += 1;
            assert_eq!(
                report.disposition == Disposition::Accepted,
                expected,
                "seed {seed}: {text}\nby {schema}\n{}",
                report.to_json()
            );
            // A rejection has its reasons.
            if let Some(error) = &report.error {
                assert!(
                    !error.violations.is_empty() && error.violations[0].keyword != "schema",
                    "seed {seed}: {text} by {schema:#}"
                );
            }
        }
    }
    println!("{} rejected and {} accepted by both", compared[0], compared[1]);
    assert!(compared.iter().all(|count| *count > 10_000), "{compared:?}");
}
