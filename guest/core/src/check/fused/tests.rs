use serde_json::{Map, Value, json};

use super::{
    super::{Checker, Dialect, Patterns},
    Fused,
};
use crate::{
    caps::Caps,
    caps_check,
    check::SchemaSource,
    location::Location,
    parse::{Document, Span, parse},
    random::Random,
};

const NAMES: [&str; 9] = ["a", "b", "kind", "n\"q", "é", "sixteen_bytes_ab", "seventeen_bytes_a", "x-1", ""];
const STRINGS: [&str; 9] = ["", "a", "b", "kind", "é", "2020-01-01", "a\\b", "abcdefghijklmnopqrstuvwxyz", "😀 \n"];
const NUMBERS: [&str; 9] = ["0", "1", "-1", "2", "1.5", "10", "1e2", "100000000000000000000", "18446744073709551615"];
const TYPES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];
const PATTERNS: [&str; 5] = ["^a", "^x-", "b$", "^(a|kind)$", "^.{2,3}$"];

fn number(random: &mut Random) -> Value {
    serde_json::from_str(random.one(&NUMBERS)).unwrap_or_default()
}

fn scalar(random: &mut Random) -> Value {
    match random.below(6) {
        0 => Value::Null,
        1 => Value::Bool(random.below(2) == 0),
        2 => number(random),
        _ => random.one(&STRINGS).into(),
    }
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 10 }) {
        0..4 => scalar(random),
        4..6 => (0..random.below(4)).map(|_| value(random, depth - 1)).collect(),
        _ => (0..random.below(5)).map(|_| (random.one(&NAMES).to_owned(), value(random, depth - 1))).collect(),
    }
}

fn schemas(random: &mut Random, depth: usize) -> Value {
    (0..1 + random.below(3)).map(|_| schema(random, depth)).collect()
}

fn members(random: &mut Random, depth: usize, names: &[&str]) -> Value {
    let mut members = Map::new();
    for _ in 0..random.below(4) {
        members.insert(random.one(names).to_owned(), schema(random, depth));
    }
    members.into()
}

fn names(random: &mut Random) -> Value {
    let mut names: Vec<&str> = (0..random.below(3)).map(|_| random.one(&NAMES)).collect();
    names.sort_unstable();
    names.dedup();
    json!(names)
}

/// Returns a schema of objects with a discriminator.
fn union(random: &mut Random, depth: usize) -> Value {
    let mut all = Vec::new();
    for kind in &STRINGS[1..3 + random.below(3)] {
        let mut one = json!({"properties": members(random, depth, &NAMES), "required": names(random)});
        one["properties"]["kind"] = json!({"const": kind});
        if random.below(2) == 0 {
            one["additionalProperties"] = false.into();
        }
        all.push(one);
    }
    all.into()
}

fn schema(random: &mut Random, depth: usize) -> Value {
    if depth == 0 {
        return match random.below(8) {
            0 => json!(true),
            1 => json!(false),
            2 => json!({"$ref": "#/$defs/one"}),
            3 => json!({"$ref": "#"}),
            4 => json!({"enum": [scalar(random), scalar(random), scalar(random)]}),
            _ => json!({"type": random.one(&TYPES)}),
        };
    }
    let mut schema = Map::new();
    let inside = depth - 1;
    for _ in 0..1 + random.below(4) {
        let (name, value) = match random.below(30) {
            0 | 1 => ("type", json!(random.one(&TYPES))),
            2 => ("type", json!([random.one(&TYPES[..3]), random.one(&TYPES[3..])])),
            3 => ("enum", (0..3).map(|_| scalar(random)).collect()),
            4 => ("const", value(random, 1)),
            5..10 => ("properties", members(random, inside, &NAMES)),
            10 | 11 => ("required", names(random)),
            12 | 13 => ("additionalProperties", schema_of(random, inside)),
            14 => ("patternProperties", members(random, inside, &PATTERNS)),
            15 => ("items", schema_of(random, inside)),
            16 => ("prefixItems", schemas(random, inside)),
            17 => (random.one(&["minItems", "maxItems", "minProperties", "maxProperties"]), json!(random.below(4))),
            18 => (random.one(&["minLength", "maxLength"]), json!(random.below(5))),
            19 => (random.one(&["minimum", "maximum", "exclusiveMinimum"]), number(random)),
            20 => ("multipleOf", json!(random.below(3) + 1)),
            21 => ("pattern", json!(random.one(&PATTERNS))),
            22 => ("format", json!("date")),
            23 if random.below(2) == 0 => {
                let one = |random: &mut Random| json!({"required": names(random)});
                (random.one(&["anyOf", "oneOf"]), (0..2 + random.below(2)).map(|_| one(random)).collect())
            }
            23 => (random.one(&["anyOf", "oneOf", "allOf"]), schemas(random, inside)),
            25 if random.below(4) == 0 => ("not", json!({"required": names(random)})),
            24 => (random.one(&["anyOf", "oneOf"]), union(random, inside)),
            25 => (random.one(&["not", "if", "then", "else", "contains"]), schema_of(random, inside)),
            26 => ("dependentRequired", json!({random.one(&NAMES): names(random)})),
            27 => ("propertyNames", schema_of(random, inside)),
            28 => ("uniqueItems", json!(true)),
            _ => (random.one(&["unevaluatedProperties", "unevaluatedItems"]), json!(random.below(2) == 0)),
        };
        schema.insert(name.to_owned(), value);
    }
    if random.below(12) == 0 {
        schema.insert("$ref".to_owned(), json!("#/$defs/one"));
    }
    Value::Object(schema)
}

fn schema_of(random: &mut Random, depth: usize) -> Value {
    schema(random, depth)
}

/// Returns a value that a schema is likely to accept.
fn meant(random: &mut Random, root: &Value, schema: &Value, depth: usize) -> Value {
    let Some(rules) = schema.as_object().filter(|_| depth > 0) else { return value(random, depth.min(1)) };
    if let Some(all) = rules.get("enum").and_then(Value::as_array) {
        return all[random.below(all.len())].clone();
    }
    if let Some(value) = rules.get("const") {
        return value.clone();
    }
    match rules.get("$ref").and_then(Value::as_str) {
        Some("#") => return meant(random, root, root, depth - 1),
        Some(_) => return meant(random, root, &root["$defs"]["one"], depth - 1),
        None => {}
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(all) = rules.get(keyword).and_then(Value::as_array)
            && random.below(2) == 0
        {
            let number = random.below(all.len());
            return meant(random, root, &all[number], depth - 1);
        }
    }
    let of_type = match rules.get("type") {
        Some(Value::String(name)) => name.as_str(),
        _ if rules.contains_key("items") || rules.contains_key("prefixItems") => "array",
        _ if rules.contains_key("pattern") || rules.contains_key("minLength") => "string",
        _ if rules.contains_key("properties") || random.below(3) > 0 => "object",
        _ => return value(random, depth.min(2)),
    };
    match of_type {
        "null" => Value::Null,
        "boolean" => json!(true),
        "number" | "integer" => number(random),
        "string" => random.one(&STRINGS).into(),
        "array" => (0..random.below(4))
            .map(|index| {
                match &rules.get("prefixItems").and_then(|all| all.get(index)).or_else(|| rules.get("items")) {
                    Some(schema) => meant(random, root, schema, depth - 1),
                    None => value(random, 1),
                }
            })
            .collect(),
        _ => {
            let mut object = Map::new();
            let named = rules.get("properties").and_then(Value::as_object);
            for (name, schema) in named.into_iter().flatten() {
                if random.below(5) > 0 {
                    object.insert(name.clone(), meant(random, root, schema, depth - 1));
                }
            }
            for name in rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
            {
                if random.below(8) > 0 && !object.contains_key(name) {
                    object.insert(name.to_owned(), value(random, 1));
                }
            }
            if random.below(4) == 0 {
                let other = rules.get("additionalProperties").unwrap_or(&Value::Bool(true));
                object.insert(random.one(&NAMES).to_owned(), meant(random, root, other, depth - 1));
            }
            object.into()
        }
    }
}

/// Writes a value with white space, escapes and duplicate members.
fn write(random: &mut Random, value: &Value, odd: bool, out: &mut String) {
    let space = |random: &mut Random, out: &mut String| {
        if random.below(4) == 0 {
            out.push_str(random.one(&[" ", "\n", "\t", "\r\n    ", "                   "]));
        }
    };
    let string = |random: &mut Random, text: &str, out: &mut String| {
        out.push('"');
        for one in text.chars() {
            match one {
                '"' | '\\' => out.extend(['\\', one]),
                '\n' => out.push_str("\\n"),
                one if odd && random.below(6) == 0 => {
                    let mut units = [0; 2];
                    one.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
                }
                one => out.push(one),
            }
        }
        out.push('"');
    };
    space(random, out);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(random, item, odd, out);
            }
            space(random, out);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            let mut all: Vec<(&String, &Value)> = members.iter().collect();
            if random.below(3) == 0 && !all.is_empty() {
                let turned = random.below(all.len());
                all.rotate_left(turned);
            }
            if odd && random.below(8) == 0 && !all.is_empty() {
                all.push(all[random.below(all.len())]);
            }
            for (index, (name, value)) in all.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(random, out);
                string(random, name, out);
                space(random, out);
                out.push(':');
                write(random, value, odd, out);
            }
            space(random, out);
            out.push('}');
        }
        Value::String(text) => string(random, text, out),
        Value::Number(number) if odd && random.below(4) == 0 => out.push_str(&format!("{number}0e-1")),
        other => out.push_str(&other.to_string()),
    }
    space(random, out);
}

/// Changes some bytes.
fn broken(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(2) {
        let at = random.below(characters.len() + 1);
        match random.below(4) {
            0 => characters.truncate(at),
            1 if at < characters.len() => drop(characters.remove(at)),
            2 if at < characters.len() => characters[at] = random.one(&['"', '\\', '{', ']', ',', '0', '\u{1}', 'é']),
            _ => characters.insert(at, random.one(&['"', '\\', '}', '[', ':', '9', '-', ' ', 'u', 'f'])),
        }
    }
    characters.into_iter().collect()
}

fn compiled(source: &str) -> Checker {
    let parsed = parse(source, Span::new(0, source.len()), &crate::caps::CONTRACT_CAPS);
    let document = parsed.unwrap_or_else(|_| panic!("{source}")).document;
    let dialect = Dialect { patterns: Patterns::Backtracking, ..Dialect::default() };
    let schema = SchemaSource::new(&document, Document::ROOT);
    match Checker::json_schema(&schema, &Location::root(), &[], dialect) {
        Ok(checker) => checker.planned(),
        Err(wrong) => panic!("{source}: {} {}", wrong[0].path, wrong[0].message),
    }
}

/// Returns the verdict of the parser and the judge. `None` if the text is malformed or needs a note.
fn judged(checker: &Checker, text: &str, caps: &Caps) -> Option<bool> {
    let parsed = parse(text, Span::new(0, text.len()), caps).ok().filter(|parsed| !parsed.document.is_suspicious())?;
    caps_check::passed(&parsed).map(|within_caps| checker.is_valid(within_caps))
}

/// Asserts that one pass agrees with the parser and the judge. Returns both verdicts.
fn agree(checker: &Checker, text: &str, caps: &Caps, source: &str) -> (Fused, Option<bool>) {
    let span = Span::new(text.len() - text.trim_ascii_start().len(), text.len());
    let (fused, judged) = (checker.fused(text, span, caps), judged(checker, text, caps));
    match fused {
        Fused::Valid => assert_eq!(judged, Some(true), "{text} by {source}"),
        Fused::Wrong => assert_ne!(judged, Some(true), "{text} by {source}"),
        Fused::Unknown => {}
    }
    (fused, judged)
}

#[test]
fn one_pass_never_contradicts_the_judge() {
    let rounds = std::env::var("FUSED_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4_000);
    let seed = std::env::var("FUSED_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut random = Random(seed);
    // For each verdict of the judge, the number of texts, and the number that one pass decides.
    let mut counts = [[0; 3]; 3];
    for _ in 0..rounds {
        let mut source = schema(&mut random, 3);
        if let Some(rules) = source.as_object_mut() {
            rules.insert("$defs".to_owned(), json!({"one": schema(&mut random, 1)}));
        } else {
            continue;
        }
        let text = source.to_string();
        let checker = compiled(&text);
        for _ in 0..20 {
            let document =
                if random.below(4) == 0 { value(&mut random, 3) } else { meant(&mut random, &source, &source, 6) };
            let (odd, mut json) = (random.below(3) == 0, String::new());
            write(&mut random, &document, odd, &mut json);
            let caps = match random.below(6) {
                0 => Caps { depth: 1 + random.below(3), ..Caps::default() },
                1 => Caps { string_bytes: 1 + random.below(20), array_items: 3, object_members: 3, ..Caps::default() },
                _ => Caps::default(),
            };
            for json in [json.clone(), broken(&mut random, &json)] {
                let (fused, judged) = agree(&checker, &json, &caps, &text);
                let row = judged.map_or(2, usize::from);
                counts[row][match fused {
                    Fused::Valid => 0,
                    Fused::Wrong => 1,
                    Fused::Unknown => 2,
                }] += 1;
            }
        }
    }
    println!("invalid, valid, neither, each by what one pass says (valid, wrong, unknown): {counts:?}");
    let [invalid, valid, _] = counts;
    assert!(valid[0] > valid[2] && invalid[1] > invalid[2], "{counts:?}");
}
