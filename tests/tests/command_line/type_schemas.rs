//! The schemas that type generators read. Each schema accepts at least the documents that the contract accepts.

use std::collections::BTreeSet;

use seamgate_authoring::types::{Language, is_type_name, type_name, type_schema};
use seamgate_checks::schemas::{DIALECTS, WORDS, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde_json::{Value, json};

const ROUNDS: u64 = 3_000;

const LANGUAGES: [Language; 4] = [Language::Python, Language::TypeScript, Language::Rust, Language::Go];

fn compiled(contract: &Value) -> Option<Contract> {
    Contract::compile(&contract.to_string()).ok()
}

fn accepts(contract: &Contract, document: &Value) -> bool {
    let output = document.to_string();
    let request = Request { agent: "a".to_owned(), output: &output, ..Request::default() };
    validate(contract, &request).is_ok_and(|report| report.disposition == Disposition::Accepted)
}

/// Returns a contract that treats the whole output as the document.
fn contract(kind: &str, schema: &Value) -> Value {
    json!({ "agent": "a", kind: schema, "extract": { "markers": [] } })
}

/// Returns the schema for a language, with `oneOf` replaced by `anyOf`, because typify reads `oneOf` as a union.
fn prepared(contract: &Value, language: Language) -> Value {
    let schema = type_schema(contract, "Document", language).expect("a schema");
    serde_json::from_str(&schema.to_string().replace("\"oneOf\"", "\"anyOf\"")).expect("JSON")
}

/// Adds the missing `type` to schemas with keywords for objects or arrays, because generators assume it.
fn with_types(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            keywords.values_mut().for_each(with_types);
            let has = |names: &[&str]| names.iter().any(|name| keywords.contains_key(*name));
            let object = has(&["properties", "required", "additionalProperties", "patternProperties"]);
            let array = has(&["items", "prefixItems", "additionalItems"]);
            let types: Vec<&str> =
                [("object", object), ("array", array)].iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
            if !types.is_empty() {
                keywords.entry("type").or_insert_with(|| json!(types));
            }
        }
        Value::Array(values) => values.iter_mut().for_each(with_types),
        _ => {}
    }
}

#[test]
fn prepared_schemas_accept_what_contracts_accept() {
    let mut random = Random(27);
    let (mut compared, mut accepted) = (0, 0);
    for round in 0..ROUNDS {
        let dialect = random.below(DIALECTS.len());
        let mut schema = schema(&mut random, WORDS, dialect);
        with_types(&mut schema);
        let contract = contract("schema", &schema);
        let Some(own) = compiled(&contract) else { continue };
        for language in [Language::Python, Language::TypeScript, Language::Rust] {
            let prepared = prepared(&contract, language);
            let reads = compiled(&self::contract("schema", &prepared))
                .unwrap_or_else(|| panic!("round {round}, {language:?}: {schema} became {prepared}"));
            for _ in 0..8 {
                let document = value(&mut random, WORDS, 3);
                compared += 1;
                if accepts(&own, &document) {
                    accepted += 1;
                    assert!(
                        accepts(&reads, &document),
                        "round {round}, {language:?}: {schema} accepts {document}, and {prepared} does not"
                    );
                }
            }
        }
    }
    assert!(accepted * 10 > compared, "{accepted} of {compared} documents were accepted: too few to compare");
}

/// Schemas that define only types, documents that they accept, and documents that they reject.
#[test]
fn schemas_of_types_alone_stay_equal() {
    let table = [
        (json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}), "{\"a\":1}", "{}"),
        (
            json!({"allOf": [{"$ref": "#/$defs/x"}, {"required": ["b"], "type": "object"}],
            "$defs": {"x": {"type": "object", "properties": {"b": {"type": "null"}}}}}),
            "{\"b\":null}",
            "{\"b\":1}",
        ),
        (json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "boolean"}}]}), "[true]", "[1]"),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), "{\"q\":1}", "{\"q\":\"\"}"),
        (
            json!({"$schema": DIALECTS[2], "$ref": "#/definitions/x", "type": "null",
            "definitions": {"x": {"type": "string"}}}),
            "\"a\"",
            "null",
        ),
        (
            json!({"$schema": DIALECTS[0], "items": [{"type": "null"}], "additionalItems": false, "type": "array"}),
            "[null]",
            "[1]",
        ),
        (
            json!({"$anchor": "top", "type": "object", "properties": {"next": {"$ref": "#top"}},
            "additionalProperties": false}),
            "{\"next\":{}}",
            "{\"next\":{\"other\":1}}",
        ),
        (json!({"$ref": "other.json", "$defs": {"o": {"$id": "other.json", "enum": ["a", null]}}}), "null", "\"b\""),
        (
            json!({"type": "object", "properties": {"a": false, "b": true}, "additionalProperties": false}),
            "{\"b\":1}",
            "{\"a\":1}",
        ),
        (json!({"const": {"a": 1}}), "{\"a\":1}", "[]"),
        (json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}), "\"a\"", "1"),
    ];
    for (schema, valid, invalid) in table {
        for language in [Language::Python, Language::TypeScript] {
            let prepared = prepared(&contract("schema", &schema), language);
            let reads = compiled(&contract("schema", &prepared)).unwrap_or_else(|| panic!("{prepared}"));
            let accepts = |text: &str| accepts(&reads, &serde_json::from_str(text).expect("JSON"));
            assert!(accepts(valid), "{schema} became {prepared}, which does not accept {valid}");
            assert!(!accepts(invalid), "{schema} became {prepared}, which accepts {invalid}");
        }
    }
}

#[test]
fn type_definitions_are_translated() {
    let table = [
        (json!({"type": "uint8"}), ["0", "255"], ["\"\"", "1.5"]),
        (json!({"enum": ["a", "b"], "nullable": true}), ["\"a\"", "null"], ["\"c\"", "1"]),
        (json!({"elements": {"type": "string"}}), ["[]", "[\"a\"]"], ["[1]", "{}"]),
        (json!({"values": {"type": "boolean"}}), ["{}", "{\"a\":true}"], ["{\"a\":1}", "[]"]),
        (
            json!({"properties": {"a": {"type": "string"}}, "optionalProperties": {"b": {"ref": "t/~ t"}},
            "definitions": {"t/~ t": {"type": "timestamp"}}}),
            ["{\"a\":\"\"}", "{\"a\":\"\",\"b\":\"2024-01-01T00:00:00Z\"}"],
            ["{}", "{\"a\":\"\",\"c\":1}"],
        ),
        (
            json!({"discriminator": "k",
                "mapping": {"x": {"properties": {"v": {"type": "float64"}}}, "y": {"properties": {}}}}),
            ["{\"k\":\"x\",\"v\":1.5}", "{\"k\":\"y\"}"],
            ["{\"k\":\"x\"}", "{\"k\":\"z\"}"],
        ),
    ];
    for (definition, valid, invalid) in table {
        let contract = contract("jtd", &definition);
        let own = compiled(&contract).unwrap_or_else(|| panic!("{definition}"));
        let prepared = prepared(&contract, Language::TypeScript);
        let reads = compiled(&self::contract("schema", &prepared)).unwrap_or_else(|| panic!("{prepared}"));
        for text in valid.iter().chain(&invalid) {
            let document = serde_json::from_str(text).expect("JSON");
            let is_valid = valid.contains(text);
            assert_eq!(accepts(&own, &document), is_valid, "{definition} and {text}");
            assert_eq!(accepts(&reads, &document), is_valid, "{definition} became {prepared}, with {text}");
        }
    }
}

/// Finds all strings of a schema that a generator could write into code.
fn texts(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => keywords.iter().for_each(|(name, value)| {
            if let ("description", Some(text)) = (name.as_str(), value.as_str()) {
                found.push(text.to_owned());
            }
            texts(value, found);
        }),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[test]
fn descriptions_cannot_leave_their_comment() {
    let hostile = [
        "*/ code()",
        "/* open",
        "\"\"\" code()",
        "a\ncode()",
        "a\r\nb",
        "\\",
        "\\\"\"\"",
        "\u{2028}x",
        "a\u{202e}b",
        "**//",
        "\"\"\"\"\"\"\"",
        "*\u{200b}/",
    ];
    for text in hostile {
        let schema =
            json!({"description": text, "type": "object", "properties": {"a": {"type": "string", "title": text}}});
        for language in LANGUAGES {
            let mut found = Vec::new();
            texts(&prepared(&contract("schema", &schema), language), &mut found);
            for written in found {
                let leaves = ["*/", "/*", "\"\"\"", "\n", "\r", "\\", "\u{2028}", "\u{202e}", "\u{200b}"];
                assert!(!leaves.iter().any(|end| written.contains(end)), "{text:?} became {written:?}");
            }
        }
    }
}

#[test]
fn names_of_types_are_names_in_every_language() {
    for (agent, name) in [
        ("order", "Order"),
        ("order-items", "OrderItems"),
        ("a.b_c", "ABC"),
        ("7up", "Type7up"),
        ("string", "StringType"),
        ("", "Type"),
        ("é", "Type"),
    ] {
        assert_eq!(type_name(agent), name);
        assert!(is_type_name(name), "{name}");
    }
    let long = "x".repeat(500);
    for agent in ["../../etc", "--output=/x", "a b", "self", "Self", "vec", "\u{202e}", long.as_str()] {
        assert!(is_type_name(&type_name(agent)), "{agent}");
    }
    for name in ["", "order", "Order-Items", "Order;", "String", "Any", "--Order", "Ordér", "7Up", long.as_str()] {
        assert!(!is_type_name(name), "{name}");
    }
}

#[test]
fn hostile_names_of_definitions_become_distinct_types() {
    let names = ["a", "A", "a-", "Document", "document", "", "; rm -rf /", "String", "../x", "\u{202e}", "a1", "A-1"];
    let definitions: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "object", "properties": {"v": {"const": name}}})))
        .collect();
    let pointer = |name: &str| name.replace('~', "~0").replace('/', "~1").replace('%', "%25");
    let members: serde_json::Map<String, Value> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (format!("m{at}"), json!({"$ref": format!("#/$defs/{}", pointer(name))})))
        .collect();
    let schema = json!({"type": "object", "properties": members, "$defs": definitions});
    for language in LANGUAGES {
        let prepared = prepared(&contract("schema", &schema), language);
        let written = prepared["definitions"].as_object().expect("definitions");
        let own = written.keys().filter(|name| name.as_str() != "Document").collect::<BTreeSet<_>>();
        assert!(own.iter().all(|name| is_type_name(name)), "{language:?}: {own:?}");
        let distinct: BTreeSet<String> = written.keys().map(|name| name.to_ascii_lowercase()).collect();
        assert_eq!(distinct.len(), written.len(), "{language:?}: {own:?}");
    }
}

#[test]
fn members_that_no_field_can_have_are_in_a_map() {
    let of = |names: &[&str]| {
        let members: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        contract("schema", &json!({"type": "object", "properties": members}))
    };
    let has_fields = |schema: &Value| schema.to_string().contains("\"properties\":");
    for name in ["a`b", "a\"b", "a\\b", "a,b", "", "-", "a\nb"] {
        assert!(!has_fields(&prepared(&of(&[name]), Language::Go)), "{name:?}");
        assert!(has_fields(&prepared(&of(&[name]), Language::Python)), "{name:?}");
    }
    for names in [["Auth", "auth"], ["user-name", "userName"], ["a.b", "a b"], ["x", "*"]] {
        assert!(!has_fields(&prepared(&of(&names), Language::Rust)), "{names:?}");
    }
    assert!(has_fields(&prepared(&of(&["a-b", "$ref", "class"]), Language::Go)));
    assert!(has_fields(&prepared(&of(&["username", "user-name"]), Language::Rust)));
}

#[test]
fn schemas_that_explode_stay_small() {
    let each = |at: usize| {
        let name = format!("p{at}");
        json!({"type": "object", "properties": {name.clone(): {"type": "string"}}, "required": [name]})
    };
    let unions: Vec<Value> =
        (0..30).map(|at| json!({"anyOf": [each(at * 3), each(at * 3 + 1), each(at * 3 + 2)]})).collect();
    let cycles = json!({
        "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}],
        "$defs": {
            "x": {"type": "object", "properties": {"next": {"$ref": "#/$defs/x"}}},
            "y": {"type": "object", "properties": {"next": {"$ref": "#/$defs/y"}}},
        },
    });
    let chain: serde_json::Map<String, Value> = (0..2000)
        .map(|at| {
            (
                format!("d{at}"),
                json!({"allOf": [{"$ref": format!("#/$defs/d{}", (at + 1) % 2000)}, {"type": "object"}]}),
            )
        })
        .collect();
    for schema in [json!({"allOf": unions}), cycles, json!({"$ref": "#/$defs/d0", "$defs": chain})] {
        for language in LANGUAGES {
            let start = std::time::Instant::now();
            let size = prepared(&contract("schema", &schema), language).to_string().len();
            assert!(size < 2_000_000 && start.elapsed().as_secs() < 10, "{language:?}: {size} bytes");
        }
    }
}
