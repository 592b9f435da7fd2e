//! `seamgate export`: an instance that is valid against the contract's schema is valid against the export.

use seamgate_authoring::export::{KEYWORDS, Support, Target, export};
use seamgate_checks::schemas::{DIALECTS, REFERRED, WORDS, Words, references, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// The number of schemas of each kind. `EXPORT_SCHEMAS` overrides it.
const SCHEMAS: u64 = 400;

/// The number of documents for each schema.
const DOCUMENTS: usize = 60;

fn schemas() -> u64 {
    std::env::var("EXPORT_SCHEMAS").ok().and_then(|number| number.parse().ok()).unwrap_or(SCHEMAS)
}

fn compiled(contract: &Value) -> Option<Contract> {
    Contract::compile(&contract.to_string()).ok()
}

fn accepts(contract: &Contract, text: &str) -> bool {
    let request = Request { agent: "a".to_owned(), output: text, ..Request::default() };
    validate(contract, &request).is_ok_and(|report| report.disposition == Disposition::Accepted)
}

/// Compares a contract with its exports. Returns the number of compared exports and the number of valid documents.
fn compare(contract: &Value, documents: &[String]) -> [usize; 2] {
    let Some(judge) = compiled(contract) else { return [0, 0] };
    let valid: Vec<&String> = documents.iter().filter(|text| accepts(&judge, text)).collect();
    let mut counts = [0, 0];
    for target in Target::ALL {
        let exported = export(&contract.to_string(), target).expect("a contract that the core takes");
        let schema: Value = serde_json::from_str(&exported.schema).expect("JSON");
        assert_is_supported(&schema, target, contract);
        // The target requires more than the contract does, and the rules report this.
        if exported.obstacles().next().is_some() {
            continue;
        }
        let Some(judge) = compiled(&json!({ "agent": "a", "schema": schema })) else {
            panic!("{}: no schema: {schema}\nof {contract}", target.as_str());
        };
        counts[0] += 1;
        for text in &valid {
            counts[1] += 1;
            assert!(accepts(&judge, text), "{}: {text} is refused by {schema}\nof {contract}", target.as_str());
        }
    }
    counts
}

/// Asserts that a schema has only keywords that its target supports.
fn assert_is_supported(schema: &Value, target: Target, contract: &Value) {
    let Some(members) = schema.as_object() else {
        assert!(schema == &json!(false) && target == Target::Llguidance, "{}: {schema} of {contract}", target.as_str());
        return;
    };
    for (keyword, value) in members {
        let is_kept = target.support(keyword).is_some_and(|support| support != Support::LeftOut);
        assert!(
            is_kept || ["title", "description", "$defs"].contains(&keyword.as_str()),
            "{}: {keyword} in {schema}\nof {contract}",
            target.as_str()
        );
        match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" => {
                value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .for_each(|(_, inner)| assert_is_supported(inner, target, contract));
            }
            "anyOf" | "prefixItems" => {
                value.as_array().into_iter().flatten().for_each(|inner| assert_is_supported(inner, target, contract));
            }
            "items" => assert_is_supported(value, target, contract),
            "additionalProperties" if value.is_object() => assert_is_supported(value, target, contract),
            _ => {}
        }
    }
    if matches!(target, Target::OpenAi | Target::Anthropic) {
        let is_typed = ["type", "anyOf", "$ref"].iter().any(|keyword| members.contains_key(*keyword));
        assert!(is_typed, "{}: no type in {schema}\nof {contract}", target.as_str());
        if let Some(properties) = members.get("properties") {
            assert_eq!(members.get("additionalProperties"), Some(&json!(false)), "{schema}");
            let required: Vec<&str> = members
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let is_required = |name: &String| required.contains(&name.as_str());
            let all_required = properties.as_object().is_some_and(|names| names.keys().all(is_required));
            assert!(all_required || target == Target::Anthropic, "{schema}");
        }
    }
    if target == Target::Gemini && members.contains_key("$ref") {
        assert!(members.keys().all(|keyword| keyword.starts_with('$')), "{schema}");
    }
}

/// Closes objects and requires members, so that strict targets accept more schemas.
fn close(schema: &mut Value, random: &mut Random) {
    match schema {
        Value::Object(members) => {
            if let Some(names) = members.get("properties").and_then(Value::as_object) {
                let names: Vec<String> = names.keys().cloned().collect();
                members.insert("type".to_owned(), json!("object"));
                members.insert("additionalProperties".to_owned(), json!(false));
                members.remove("patternProperties");
                if random.chance(80) {
                    members.insert("required".to_owned(), json!(names));
                }
            } else if !["$ref", "enum", "const", "type", "anyOf", "allOf"]
                .iter()
                .any(|keyword| members.contains_key(*keyword))
            {
                let kind = random.one(&["string", "integer", "boolean", "null"]);
                members.insert("type".to_owned(), json!(kind));
            }
            members.values_mut().for_each(|value| close(value, random));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| close(value, random)),
        _ => {}
    }
}

fn documents(random: &mut Random, words: Words) -> Vec<String> {
    (0..DOCUMENTS).map(|_| value(random, words, 3).to_string()).collect()
}

#[test]
fn valid_instances_of_random_schemas_are_valid_by_each_export() {
    let mut counts = [0, 0];
    for seed in 0..schemas() {
        for (dialect, uri) in DIALECTS.into_iter().enumerate() {
            let mut random = Random(seed * 16 + dialect as u64);
            let mut schema = schema(&mut random, WORDS, dialect);
            if random.chance(40) {
                close(&mut schema, &mut random);
                schema["$schema"] = json!(uri);
            }
            let documents = documents(&mut random, WORDS);
            let contract = json!({ "agent": "a", "schema": schema });
            let [exports, valid] = compare(&contract, &documents);
            counts = [counts[0] + exports, counts[1] + valid];
        }
    }
    println!("{} exports, {} valid documents", counts[0], counts[1]);
    assert!(counts[1] > schemas() as usize * 20, "{counts:?}");
}

#[test]
fn valid_instances_are_valid_by_each_export_over_resources_and_anchors() {
    let mut counts = [0, 0];
    for seed in 0..schemas() {
        for dialect in 0..DIALECTS.len() {
            let mut random = Random(seed * 16 + dialect as u64);
            let made = references(&mut random, dialect);
            let documents = documents(&mut random, REFERRED);
            let contract = json!({ "agent": "a", "schema": made.schema, "resources": made.resources });
            let [exports, valid] = compare(&contract, &documents);
            counts = [counts[0] + exports, counts[1] + valid];
        }
    }
    println!("{} exports, {} valid documents", counts[0], counts[1]);
    assert!(counts[1] > schemas() as usize * 20, "{counts:?}");
}

/// Returns a random JSON Type Definition.
fn definition(random: &mut Random, depth: usize) -> Value {
    let mut form = match random.below(if depth == 0 { 4 } else { 8 }) {
        0 => json!({}),
        1 => {
            let types = ["boolean", "string", "timestamp", "float64", "int8", "uint8", "int32", "uint32"];
            json!({ "type": random.one(&types) })
        }
        2 => json!({ "enum": ["a", "ab"] }),
        3 => json!({ "ref": random.one(&["one", "two"]) }),
        4 => json!({ "elements": definition(random, depth - 1) }),
        5 => json!({ "values": definition(random, depth - 1) }),
        6 => {
            let mapped = |random: &mut Random| {
                let [required, optional] = [definition(random, depth - 1), definition(random, 0)];
                json!({ "properties": { "b": required }, "optionalProperties": { "é": optional } })
            };
            json!({ "discriminator": "a", "mapping": { "a": mapped(random), "ab": mapped(random) } })
        }
        _ => {
            let mut form = json!({ "properties": { "a": definition(random, depth - 1) } });
            if random.chance(50) {
                form["optionalProperties"] = json!({ "b": definition(random, depth - 1) });
            }
            if random.chance(30) {
                form["additionalProperties"] = json!(random.chance(50));
            }
            form
        }
    };
    if random.chance(20) {
        form["nullable"] = json!(true);
    }
    form
}

#[test]
fn valid_instances_of_type_definitions_are_valid_by_each_export() {
    let mut counts = [0, 0];
    for seed in 0..schemas() * 5 {
        let mut random = Random(seed);
        let mut schema = definition(&mut random, 3);
        schema["definitions"] = json!({ "one": { "type": "string" }, "two": { "elements": { "type": "int8" } } });
        let contract = json!({ "agent": "a", "jtd": schema });
        let documents = documents(&mut random, WORDS);
        let [exports, valid] = compare(&contract, &documents);
        counts = [counts[0] + exports, counts[1] + valid];
    }
    println!("{} exports, {} valid documents", counts[0], counts[1]);
    assert!(counts[1] > schemas() as usize * 20, "{counts:?}");
}

/// Returns the effects of an export and their places.
fn effects(schema: &Value, target: Target) -> Vec<String> {
    let exported = export(&json!({ "agent": "a", "schema": schema }).to_string(), target).expect("an export");
    exported.rules.iter().map(|rule| format!("{} {}", rule.effect.as_str(), rule.pointer)).collect()
}

fn exported(schema: &Value, target: Target) -> Value {
    let exported = export(&json!({ "agent": "a", "schema": schema }).to_string(), target).expect("an export");
    serde_json::from_str(&exported.schema).expect("JSON")
}

#[test]
fn rules_that_no_target_enforces_are_left_out_and_listed() {
    let rules = [
        ("not", json!({ "type": "string" })),
        ("propertyNames", json!({ "maxLength": 3 })),
        ("dependentRequired", json!({ "a": ["b"] })),
        ("dependentSchemas", json!({ "a": { "required": ["b"] } })),
        ("contains", json!({ "type": "string" })),
        ("uniqueItems", json!(true)),
        ("$dynamicRef", json!("#a")),
    ];
    let names: Vec<&str> =
        rules.iter().map(|(keyword, _)| *keyword).chain(["if", "dependencies", "$recursiveRef"]).collect();
    let left_out = KEYWORDS.iter().filter(|(_, support)| support.iter().all(|support| *support == Support::LeftOut));
    for (keyword, _) in left_out.filter(|(keyword, _)| !keyword.starts_with("content")) {
        assert!(names.contains(keyword), "{keyword} has no case");
    }
    for (keyword, value) in rules {
        let schema = json!({ "$dynamicAnchor": "a", keyword: value });
        for target in [Target::Gemini, Target::Llguidance] {
            assert_eq!(exported(&schema, target), json!({}), "{keyword}");
            assert_eq!(effects(&schema, target), [format!("left_out /schema/{keyword}")], "{keyword}");
        }
    }
    let schema = json!({ "if": { "type": "string" }, "then": { "minLength": 1 } });
    assert_eq!(effects(&schema, Target::Llguidance), ["left_out /schema/if"]);
}

#[test]
fn rules_that_a_target_weakens_are_written_and_listed() {
    let cases = [
        (
            Target::Gemini,
            json!({"type": "number", "exclusiveMinimum": 1}),
            json!({"type": "number", "minimum": 1}),
            "relaxed /schema/exclusiveMinimum",
        ),
        (Target::Gemini, json!({"const": true}), json!({"type": "boolean"}), "relaxed /schema/const"),
        (
            Target::Gemini,
            json!({"type": "string", "format": "uuid"}),
            json!({"type": "string"}),
            "left_out /schema/format",
        ),
        (
            Target::Anthropic,
            json!({"type": "array", "items": {"type": "string"}, "minItems": 3}),
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            "relaxed /schema/minItems",
        ),
        (
            Target::Anthropic,
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "string"}),
            "left_out /schema/maxLength",
        ),
        (
            Target::Llguidance,
            json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            "relaxed /schema/oneOf",
        ),
        (
            Target::Llguidance,
            json!({"type": "string", "pattern": "(?=a)b"}),
            json!({"type": "string"}),
            "left_out /schema/pattern",
        ),
        (
            Target::Llguidance,
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string"}),
            "left_out /schema/format",
        ),
        (
            Target::Llguidance,
            json!({"type": "integer", "minimum": 9_007_199_254_740_993_i64}),
            json!({"type": "integer"}),
            "left_out /schema/minimum",
        ),
        // The other keywords of a schema are not checked against the values of `enum`.
        (
            Target::Llguidance,
            json!({"enum": [[1], [1, 2]], "maxItems": 1}),
            json!({"type": "array", "enum": [[1], [1, 2]]}),
            "left_out /schema/maxItems",
        ),
        (
            Target::Llguidance,
            json!({"const": {"a": 1}, "required": ["b"]}),
            json!({"type": "object", "const": {"a": 1}}),
            "left_out /schema/required",
        ),
    ];
    for (target, schema, wanted, effect) in cases {
        assert_eq!(exported(&schema, target), wanted, "{schema}");
        assert_eq!(effects(&schema, target), [effect], "{schema}");
    }
}

#[test]
fn conjunctions_are_merged_without_a_loss() {
    let schema = json!({
        "allOf": [
            { "type": "object", "properties": { "a": { "type": "integer", "minimum": 1 } }, "required": ["a"] },
            {
                "properties": { "a": { "maximum": 5 }, "b": { "type": "string" } },
                "additionalProperties": { "type": "boolean" }
            }
        ],
        "anyOf": [{ "required": ["b"] }, { "properties": { "c": { "const": true } } }]
    });
    for target in [Target::Gemini, Target::Llguidance] {
        let rules = effects(&schema, target);
        let lost: Vec<&String> =
            rules.iter().filter(|rule| target == Target::Llguidance || !rule.contains("const")).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
    let judge = compiled(&json!({ "agent": "a", "schema": exported(&schema, Target::Llguidance) })).expect("a schema");
    for (text, is_valid) in [
        (r#"{"a": 3, "b": ""}"#, true),
        (r#"{"a": 3, "c": true}"#, true),
        (r#"{"a": 3}"#, true),
        (r#"{"a": 6, "b": ""}"#, false),
        (r#"{"a": 0, "b": ""}"#, false),
        (r#"{"a": 3, "b": 1}"#, false),
        (r#"{"a": 3, "x": 1}"#, false),
        (r#"{"b": ""}"#, false),
    ] {
        assert_eq!(accepts(&judge, text), is_valid, "{text}");
    }
}

#[test]
fn demands_of_strict_targets_are_listed_as_stronger() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": {} }, "required": ["a"] });
    assert_eq!(
        effects(&schema, Target::OpenAi),
        ["stronger /schema/additionalProperties", "stronger /schema/properties/b", "stronger /schema/properties/b"]
    );
    let closed = json!({
        "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false
    });
    assert_eq!(effects(&closed, Target::OpenAi), [""; 0]);
    assert_eq!(exported(&closed, Target::OpenAi), closed);
    let optional =
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": false });
    assert_eq!(effects(&optional, Target::Anthropic), [""; 0]);
    assert_eq!(effects(&optional, Target::OpenAi), ["stronger /schema/properties/a"]);
    assert_eq!(
        exported(&optional, Target::OpenAi)["properties"]["a"],
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
    );
}

#[test]
fn schemas_that_lead_back_to_themselves_are_cut_where_a_target_does_not_take_them() {
    let node = |required: Value| {
        let items = json!({ "type": "array", "items": { "$ref": "#" } });
        json!({
            "type": "object", "properties": { "next": items }, "required": required, "additionalProperties": false
        })
    };
    let [required, optional] = [node(json!(["next"])), node(json!([]))];
    assert_eq!(effects(&required, Target::Llguidance), [""; 0]);
    assert_eq!(effects(&required, Target::OpenAi), [""; 0]);
    assert_eq!(effects(&required, Target::Gemini), ["relaxed /schema"]);
    assert_eq!(effects(&optional, Target::Gemini), [""; 0]);
    assert_eq!(effects(&optional, Target::Anthropic), ["stronger /schema"]);
}

#[test]
fn exports_over_a_documented_limit_say_by_how_much() {
    let member = |number: usize| (format!("m{number}"), json!({ "type": "string" }));
    let properties: serde_json::Map<String, Value> = (0..25).map(member).collect();
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let exported =
        export(&json!({ "agent": "a", "schema": schema }).to_string(), Target::Anthropic).expect("an export");
    let limits: Vec<&str> = exported.obstacles().map(|rule| rule.why.as_str()).collect();
    assert_eq!(limits, ["25 optional members: anthropic takes at most 24"]);
    let list: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "string", "enum": list } }, "required": ["a"],
        "additionalProperties": false
    });
    let exported = export(&json!({ "agent": "a", "schema": schema }).to_string(), Target::OpenAi).expect("an export");
    let limits: Vec<&str> = exported.obstacles().map(|rule| rule.why.as_str()).collect();
    assert_eq!(limits, ["1001 listed values: openai takes at most 1000"]);
}

#[test]
fn members_stand_in_the_order_of_the_contract() {
    let contract =
        r#"{"agent": "a", "schema": {"type": "object", "properties": {"z": {"type": "string"}, "a": {}, "m": {}}}}"#;
    let schema = export(contract, Target::Llguidance).expect("an export").schema;
    let place = |name: &str| schema.find(name).expect("a member");
    assert!(place("\"z\"") < place("\"a\"") && place("\"a\"") < place("\"m\""), "{schema}");
}

#[test]
fn keywords_of_other_drafts_and_annotated_formats_are_no_rules() {
    let of_draft = |draft: usize, keyword: &str, value: Value| json!({ "$schema": DIALECTS[draft], "type": "string", keyword: value });
    for schema in [
        of_draft(0, "const", json!("a")),
        of_draft(1, "if", json!(false)),
        of_draft(2, "dependentRequired", json!({ "a": ["b"] })),
        of_draft(4, "dependencies", json!({ "a": ["b"] })),
        of_draft(4, "format", json!("unheard-of")),
    ] {
        assert_eq!(exported(&schema, Target::Llguidance), json!({ "type": "string" }), "{schema}");
        assert_eq!(effects(&schema, Target::Llguidance), [""; 0], "{schema}");
    }
    let contract = json!({ "agent": "a", "formats": "annotate", "schema": { "type": "string", "format": "date" } });
    let exported = export(&contract.to_string(), Target::Llguidance).expect("an export");
    assert!(exported.rules.is_empty() && !exported.schema.contains("format"), "{}", exported.schema);
}

/// Returns the table of the page. Up to three keywords with the same support in all targets share a row.
fn table() -> String {
    let mut groups: Vec<(Vec<&str>, [Support; 4])> = Vec::new();
    for (keyword, support) in KEYWORDS {
        match groups.iter_mut().find(|(_, other)| *other == support) {
            Some((keywords, _)) => keywords.push(keyword),
            None => groups.push((vec![keyword], support)),
        }
    }
    let mut rows = String::new();
    for (keywords, support) in groups {
        for keywords in keywords.chunks(3) {
            let keywords: Vec<String> = keywords.iter().map(|keyword| format!("`{keyword}`")).collect();
            rows.push_str(&format!("| {} |", keywords.join(", ")));
            for support in support {
                rows.push_str(match support {
                    Support::Kept => " enforced |",
                    Support::Relaxed => " weaker |",
                    _ => " no |",
                });
            }
            rows.push('\n');
        }
    }
    rows
}

#[test]
fn page_has_the_table_of_what_each_target_enforces() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/export.md");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains(&table()), "docs/export.md needs this table:\n{}", table());
}
