//! Checks two promises of `seamgate diff`: it never reports `compatible` if a document proves the opposite, and the
//! documents that it shows prove its statements.

use std::{fs, path::Path, process::Command};

use seamgate_checks::schemas::{DIALECTS, WORDS, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde_json::{Map, Value, json};

/// The number of pairs of schemas to compare. `DIFF_PAIRS` overrides it.
const PAIRS: u64 = 100;

/// The number of documents for each pair that is reported as compatible.
const DOCUMENTS: usize = 10_000;

fn contract(schema: &Value) -> Option<Contract> {
    Contract::compile(&json!({"agent": "a", "schema": schema}).to_string()).ok()
}

fn accepts(contract: &Contract, text: &str) -> bool {
    let request = Request { agent: "a".to_owned(), output: text, ..Request::default() };
    validate(contract, &request).is_ok_and(|report| report.disposition == Disposition::Accepted)
}

/// Changes one random part of a schema.
fn change(value: &mut Value, other: &Value, random: &mut Random) {
    let is_here = random.chance(30);
    match value {
        Value::Object(members) if !members.is_empty() => {
            let name = members.keys().nth(random.below(members.len())).cloned().unwrap_or_default();
            let donor = other.as_object();
            match random.below(if is_here { 8 } else { 40 }) {
                0 if name != "$schema" => drop(members.remove(&name)),
                1 => {
                    let keywords = donor.into_iter().flatten().filter(|(name, _)| *name != "definitions");
                    let keywords: Vec<_> = keywords.collect();
                    if !keywords.is_empty() {
                        let (name, value) = random.one(&keywords);
                        members.insert(name.clone(), value.clone());
                    }
                }
                2 => drop(members.insert("additionalProperties".to_owned(), json!(random.chance(50)))),
                3 => drop(members.insert("minimum".to_owned(), json!(random.below(3)))),
                4 => drop(members.insert("anyOf".to_owned(), json!([true, {"type": "string"}]))),
                _ => {
                    if let Some(value) = members.get_mut(&name) {
                        change(value, other, random);
                    }
                }
            }
        }
        Value::Array(values) if !values.is_empty() => {
            let at = random.below(values.len());
            match random.below(5) {
                0 if values.len() > 1 => drop(values.remove(at)),
                _ => change(&mut values[at], other, random),
            }
        }
        Value::Number(number) => {
            let by = random.one(&[-1, 1, 2]);
            *value = json!(number.as_i64().map_or(1, |number| (number + by).max(0)));
        }
        Value::Bool(is) => *value = json!(!*is),
        _ => {}
    }
}

/// Returns pairs of schemas. The second schema is the first one with a few changes.
fn pairs() -> Vec<(Value, Value)> {
    let number = std::env::var("DIFF_PAIRS").ok().and_then(|number| number.parse().ok()).unwrap_or(PAIRS);
    let mut pairs = Vec::new();
    for seed in 0.. {
        if pairs.len() as u64 == number {
            break;
        }
        let mut random = Random(seed);
        // Most pairs use one dialect. `diff` does not support the oldest dialect.
        let dialect = 1 + random.below(DIALECTS.len() - 1);
        let old = schema(&mut random, WORDS, dialect);
        let other = schema(&mut random, WORDS, dialect);
        let mut new = old.clone();
        for _ in 0..1 + random.below(3) {
            change(&mut new, &other, &mut random);
        }
        if random.chance(10) {
            new["$schema"] = json!(random.one(&DIALECTS));
        }
        if contract(&old).is_some() && contract(&new).is_some() && old != new {
            pairs.push((old, new));
        }
    }
    pairs
}

fn written(folder: &Path, schemas: &[&Value]) {
    fs::create_dir_all(folder).expect("a folder");
    for (number, schema) in schemas.iter().enumerate() {
        let contract = json!({"agent": format!("a{number}"), "schema": schema});
        fs::write(folder.join(format!("a{number:05}.contract.json")), contract.to_string()).expect("written");
    }
}

fn diff(old: &Path, new: &Path) -> Map<String, Value> {
    let test = std::env::current_exe().expect("this test");
    let built = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
    let output = Command::new(built)
        .args(["diff", "--json"])
        .args([old, new])
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache"))
        .output()
        .expect("seamgate, built by `cargo xtask build`");
    let printed: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let agents = printed["agents"].as_array().expect("agents").iter();
    agents.map(|agent| (agent["agent"].as_str().expect("a name").to_owned(), agent.clone())).collect()
}

/// Checks the answers for some pairs against the documents. Returns the numbers of compatible, breaking and unknown
/// pairs, and the number of relevant documents.
fn held(
    pairs: &[(usize, &(Value, Value))],
    answers: &Map<String, Value>,
    documents: &[String],
) -> (usize, usize, usize, usize) {
    let (mut compatible, mut breaks, mut unknown, mut shown) = (0, 0, 0, 0);
    for (number, (old, new)) in pairs {
        let answer = &answers[&format!("a{number}")];
        let [old_contract, new_contract] = [old, new].map(|schema| contract(schema).expect("a contract"));
        let sides = [("producers", &old_contract, &new_contract), ("consumers", &new_contract, &old_contract)];
        for (side, takes, refuses) in sides {
            match answer[side]["answer"].as_str().expect("an answer") {
                "compatible" => {
                    compatible += 1;
                    for document in documents {
                        if accepts(takes, document) {
                            shown += 1;
                            let is_wrong = !accepts(refuses, document);
                            assert!(!is_wrong, "pair {number}: {side} are not compatible: {document}\n{old}\n{new}");
                        }
                    }
                }
                "breaks" => {
                    breaks += 1;
                    let document = answer[side]["document"].as_str().expect("a document");
                    let is_shown = accepts(takes, document) && !accepts(refuses, document);
                    assert!(is_shown, "pair {number}: {document} does not show that {side} break\n{old}\n{new}");
                }
                _ => unknown += 1,
            }
        }
    }
    (compatible, breaks, unknown, shown)
}

#[test]
fn nothing_is_compatible_that_a_document_shows_to_break() {
    let pairs = pairs();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff");
    drop(fs::remove_dir_all(&folder));
    let [old, new] = ["old", "new"].map(|name| folder.join(name));
    written(&old, &pairs.iter().map(|(old, _)| old).collect::<Vec<_>>());
    written(&new, &pairs.iter().map(|(_, new)| new).collect::<Vec<_>>());
    let answers = diff(&old, &new);
    assert_eq!(answers.len(), pairs.len());

    let mut random = Random(1);
    let documents: Vec<String> = (0..DOCUMENTS)
        .map(|_| {
            let depth = random.below(4);
            value(&mut random, WORDS, depth).to_string()
        })
        .collect();
    let all: Vec<(usize, &(Value, Value))> = pairs.iter().enumerate().collect();
    let (answers, documents) = (&answers, &documents);
    let (compatible, breaks, unknown, shown) = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let parts: Vec<_> = all
            .chunks(all.len().div_ceil(threads))
            .map(|part| scope.spawn(move || held(part, answers, documents)))
            .collect();
        let counts = parts.into_iter().map(|part| match part.join() {
            Ok(counts) => counts,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        counts.fold((0, 0, 0, 0), |one, other| (one.0 + other.0, one.1 + other.1, one.2 + other.2, one.3 + other.3))
    });
    println!("{compatible} compatible ({shown} documents), {breaks} break, {unknown} unknown");
    // A comparison that never decides would pass the other checks.
    assert!(compatible * 4 > pairs.len(), "{compatible} compatible of {}", 2 * pairs.len());
    assert!(unknown * 3 < 2 * pairs.len(), "{unknown} unknown of {}", 2 * pairs.len());
    assert!(shown > compatible * 100, "only {shown} documents");
}
