//! Generates mistakes in contracts and their schemas. `lint` reports each mistake at the correct line and column of the
//! correct file.

use std::{fs, ops::Range, path::Path, process::Command};

use seamgate_core::kernel_api::{CONTRACT_CAPS, Json};
use seamgate_tests::Random;
use serde_json::Value;

const CASES: usize = 300;

/// One mistake.
struct Mistake {
    kind: &'static str,
    contract: String,
    schema: String,
    /// `true` if the mistake is in the schema's file.
    in_schema: bool,
    /// The range in which the reported location may begin.
    at: Range<usize>,
}

/// Returns a text with one piece replaced.
fn replaced(text: &str, piece: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..piece.start], &text[piece.end..])
}

/// Returns the piece that a pointer leads to, or the name of that member if `is_name` is set.
fn located(text: &str, pointer: &str, is_name: bool) -> Range<usize> {
    let Ok(document) = Json::read(text, &CONTRACT_CAPS) else { panic!("JSON: {text}") };
    let span = document.located(pointer, is_name);
    span.start as usize..span.end as usize
}

/// Returns a word with a typing mistake: a letter is omitted, doubled or swapped with its neighbour.
fn slip(random: &mut Random, word: &str) -> String {
    let first = word.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or_default();
    loop {
        let at = first + 1 + random.below(word.len() - first - 2);
        let mut letters: Vec<char> = word.chars().collect();
        match random.below(3) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            _ => letters.swap(at, at + 1),
        }
        let slipped: String = letters.into_iter().collect();
        if slipped != word {
            return slipped;
        }
    }
}

/// Finds all subschemas of a schema, each with its pointer.
fn schemas<'v>(value: &'v Value, pointer: &str, found: &mut Vec<(String, &'v Value)>) {
    let Some(members) = value.as_object() else { return };
    found.push((pointer.to_owned(), value));
    for (name, inside) in members {
        match name.as_str() {
            "properties" | "$defs" => {
                for (member, schema) in inside.as_object().into_iter().flatten() {
                    schemas(schema, &format!("{pointer}/{name}/{member}"), found);
                }
            }
            "items" | "additionalProperties" => schemas(inside, &format!("{pointer}/{name}"), found),
            _ => {}
        }
    }
}

/// Finds the members of a contract, each with its pointer.
fn members(value: &Value, pointer: &str, found: &mut Vec<(String, String)>) {
    for (name, inside) in value.as_object().into_iter().flatten() {
        let pointer = format!("{pointer}/{name}");
        members(inside, &pointer, found);
        found.push((pointer, name.clone()));
    }
}

fn mistake(random: &mut Random, contract: &str, schema: &str, file: &str) -> Option<Mistake> {
    let of_contract: Value = serde_json::from_str(contract).expect("JSON");
    let of_schema: Value = serde_json::from_str(schema).expect("JSON");
    let contract = contract.replace(&format!("\"{file}\""), "\"FILE.schema.json\"");
    let mut all = Vec::new();
    schemas(&of_schema, "", &mut all);
    let (pointer, chosen) = random.one(&all);
    let keywords: Vec<String> = chosen.as_object()?.keys().filter(|name| name.len() > 3).cloned().collect();
    let in_schema = |kind, text: String, at: Range<usize>| {
        Some(Mistake { kind, contract: contract.clone(), schema: text, in_schema: true, at })
    };
    let in_contract = |kind, text: String, at: Range<usize>| {
        Some(Mistake { kind, contract: text, schema: schema.to_owned(), in_schema: false, at })
    };
    let exactly = |at: usize| at..at + 1;
    // New members are inserted at the start of the chosen schema.
    let first = located(schema, pointer.as_str(), false).start + 1;
    let inserted = |text: &str| format!("{}\n  {text}, {}", &schema[..first], &schema[first..]);
    let inside = |text: &str, what: &str| {
        let at = text[first..].find(what).expect("inserted") + first;
        at..at + what.len()
    };
    let has = |name: &str| chosen.get(name).is_some();
    match random.below(12) {
        0 | 1 => {
            let word = random.one(&keywords);
            if word == "$id" || word == "$ref" || word.starts_with("x-") {
                return None;
            }
            let name = located(schema, &format!("{pointer}/{word}"), true);
            let start = name.start;
            in_schema(
                "misspelled keyword",
                replaced(schema, name, &format!("\"{}\"", slip(random, &word))),
                exactly(start),
            )
        }
        2 | 3 => {
            let mut all = Vec::new();
            members(&of_contract, "", &mut all);
            let (pointer, word) = random.one(&all);
            let name = located(&contract, &pointer, true);
            let start = name.start;
            (word.len() > 3).then_some(())?;
            let text = replaced(&contract, name, &format!("\"{}\"", slip(random, &word)));
            in_contract("misspelled member", text, exactly(start))
        }
        4 => {
            let word = random.one(&["type", "required", "properties", "minLength", "enum", "maxItems", "$defs"]);
            let value = match word {
                "type" => random.one(&["\"strng\"", "7", "{}"]),
                "required" => random.one(&["\"sku\"", "[1]", "true"]),
                "minLength" | "maxItems" => random.one(&["-1", "\"3\"", "1.5", "null"]),
                _ => random.one(&["7", "\"x\"", "null"]),
            };
            if has(word) {
                let old = located(schema, &format!("{pointer}/{word}"), false);
                let start = old.start;
                // The invalid value may be an item of a list.
                in_schema("wrong type", replaced(schema, old, value), start..start + 2)
            } else {
                let text = inserted(&format!("\"{word}\": {value}"));
                let start = inside(&text, value).start;
                in_schema("wrong type", text, start..start + 2)
            }
        }
        5 => {
            let (pattern, offset) = random.one(&[
                ("^(?!admin)[a-z]+$", 1..2),
                ("^[a-z]+(?<=x)$", 7..8),
                (r"^(a|b)\\1$", 6..7),
                (r"\\d(?=é)", 3..4),
                ("^[A-Z", 0..7),
                ("a(b", 0..5),
                ("x**", 0..4),
                (r"é\\", 0..6),
            ]);
            if has("pattern") {
                return None;
            }
            let text = inserted(&format!("\"pattern\": \"{pattern}\""));
            let start = inside(&text, &format!("\"{pattern}\"")).start + 1;
            in_schema("bad pattern", text, start + offset.start..start + offset.end)
        }
        6 => {
            let target = random.one(&["#/$defs/nowhere", "other.json", "#nowhere", "https://example.com/none.json#/a"]);
            if has("$ref") {
                return None;
            }
            let text = inserted(&format!("\"$ref\": \"{target}\""));
            let start = inside(&text, &format!("\"{target}\"")).start;
            in_schema("dangling $ref", text, exactly(start))
        }
        7 => {
            let (low, high) =
                random.one(&[("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "exclusiveMaximum")]);
            if has(low) || has(high) {
                return None;
            }
            let text = inserted(&format!("\"{low}\": 9, \"{high}\": 3"));
            let start = inside(&text, &format!("\"{high}\"")).start;
            in_schema("bad limit", text, exactly(start))
        }
        8 => {
            let (member, value) = random.one(&[
                ("\"repair\": ", "\"sytax\""),
                ("\"retry\": { \"limit\": ", "-1"),
                ("\"caps\": { \"depth\": ", "1000"),
                ("\"allow\": [{ \"list\": \"l\", \"path\": ", "\"$..x\""),
                ("\"formats\": ", "false"),
                ("\"version\": ", "\"1.0\""),
            ]);
            let name = member[1..].split('"').next()?;
            if of_contract.get(name).is_some() {
                return None;
            }
            let close = &"}]}"[if name == "allow" { 0..2 } else { 0..usize::from(member.contains('{')) }];
            let text = contract.replacen('{', &format!("{{\n  {member}{value} {close},"), 1);
            let start = text.find(member)? + member.len();
            in_contract("bad value", text, exactly(start))
        }
        9 => {
            let (text, is_schema) = if random.chance(50) { (schema, true) } else { (contract.as_str(), false) };
            let commas: Vec<usize> = text.match_indices(",\n").map(|(at, _)| at).collect();
            let at = random.one(&commas);
            let broken = replaced(text, at..at + 1, "");
            let next = at + broken[at..].find(|next: char| !next.is_whitespace())?;
            if is_schema {
                in_schema("not JSON", broken, exactly(next))
            } else {
                in_contract("not JSON", broken, exactly(next))
            }
        }
        10 => {
            let name = "notDeclared";
            if has("required") || has("additionalProperties") || !has("properties") {
                let required = located(schema, &format!("{pointer}/required"), false);
                if !chosen.get("additionalProperties").is_some_and(|value| value == false) || !has("required") {
                    return None;
                }
                let text = replaced(schema, required.start..required.start + 1, &format!("[\"{name}\", "));
                return in_schema("required and forbidden", text, exactly(required.start + 1));
            }
            None
        }
        _ => {
            let text = contract.replace("FILE.schema.json", "missing.schema.json");
            let start = text.find("\"missing.schema.json\"")?;
            in_contract("missing file", text, exactly(start))
        }
    }
}

#[test]
fn generated_mistakes_are_told_at_the_right_line_and_column() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/examples"));
    let read = |name: String| fs::read_to_string(examples.join(name)).expect("an example");
    let bases: Vec<(String, String, String)> = ["cited-answer", "tool-result", "triage"]
        .into_iter()
        .map(|name| {
            (read(format!("{name}.contract.json")), read(format!("{name}.schema.json")), format!("{name}.schema.json"))
        })
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder");
    let mut random = Random(7);
    let mut mistakes = Vec::new();
    while mistakes.len() < CASES {
        let (contract, schema, file) = random.one(&bases);
        let Some(mistake) = mistake(&mut random, &contract, &schema, &file) else { continue };
        let name = format!("{:04}", mistakes.len());
        let contract = mistake.contract.replace("FILE.schema.json", &format!("{name}.schema.json"));
        fs::write(folder.join(format!("{name}.contract.json")), contract).expect("written");
        fs::write(folder.join(format!("{name}.schema.json")), &mistake.schema).expect("written");
        mistakes.push(mistake);
    }
    let test = std::env::current_exe().expect("this test");
    let command = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
    let output =
        Command::new(command).args(["lint", ".", "--format", "json"]).current_dir(&folder).output().expect("run");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["checked"], CASES, "{}", String::from_utf8_lossy(&output.stderr));
    let findings = found["findings"].as_array().expect("findings");
    let mut missed = Vec::new();
    for (number, mistake) in mistakes.iter().enumerate() {
        let name = format!("{number:04}.{}.json", if mistake.in_schema { "schema" } else { "contract" });
        let text = fs::read_to_string(folder.join(&name)).expect("written");
        let places: Vec<(usize, usize)> = mistake
            .at
            .clone()
            .map(|at| {
                let before = &text[..text.floor_char_boundary(at)];
                let line = before.rfind('\n').map_or(0, |at| at + 1);
                (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
            })
            .collect();
        let own = |finding: &&Value| {
            finding["file"].as_str().is_some_and(|file| file.contains(&format!("{number:04}.")))
                && finding["level"] == "error"
        };
        let first = findings.iter().find(own);
        let is_right = first.is_some_and(|first| {
            let place = (first["line"].as_u64().unwrap_or(0) as usize, first["column"].as_u64().unwrap_or(0) as usize);
            first["file"].as_str().is_some_and(|file| file.ends_with(&name)) && places.contains(&place)
        });
        if !is_right {
            missed.push(format!("{name} {}: expected {:?}, told {first:?}", mistake.kind, places.first()));
        }
    }
    println!("{} of {CASES} at the right place\n{}", CASES - missed.len(), missed.join("\n"));
    assert!(missed.len() * 20 <= CASES, "{} of {CASES} are told elsewhere:\n{}", missed.len(), missed.join("\n"));
}
