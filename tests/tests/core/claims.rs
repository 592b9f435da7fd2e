//! 100 claims with evidence. A person judged them before the code existed. The table shows where the code differs, and
//! why.
//!
//! `cargo test --release -p seamgate-tests --test core -- claims --nocapture` prints the table. `BLESS=core` rewrites
//! it.

use std::{collections::BTreeMap, fs, path::Path};

use seamgate_core::{Confidence, Contract, Disposition, Observation, Report, Request, validate};
use seamgate_tests::Random;
use serde_json::{Value, json};

struct Judged {
    name: String,
    class: String,
    is_supported: bool,
    why: String,
    report: Report,
}

#[test]
fn the_claims_that_are_judged_as_no_person_would_are_those_of_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence");
    let reasons: BTreeMap<String, String> =
        serde_json::from_str(&fs::read_to_string(folder.join("differences.json")).expect("reasons")).expect("reasons");
    let all = judged(&folder);
    let supported = all.iter().filter(|claim| claim.is_supported).count();
    let differs = |claim: &&Judged| (claim.report.disposition == Disposition::Accepted) != claim.is_supported;
    let (alarms, misses): (Vec<&Judged>, Vec<&Judged>) =
        all.iter().filter(differs).partition(|claim| claim.is_supported);
    let mut table = format!(
        "# Where the code differs from a person\n\n`cargo test --release -p seamgate-tests --test core -- claims` holds this table; \
         `BLESS=core` rewrites it.\n\n| verdict of a person | claims | the code agrees | it differs |\n| --- | --- | --- | --- |\n\
         | supported | {supported} | {} | {} false alarms |\n| unsupported | {} | {} | {} misses |\n",
        supported - alarms.len(),
        alarms.len(),
        all.len() - supported,
        all.len() - supported - misses.len(),
        misses.len(),
    );
    let mut used = 0;
    for (title, claims) in [("False alarms", alarms), ("Misses", misses)] {
        table
            .push_str(&format!("\n## {title}\n\n| claim | class | a person | the code |\n| --- | --- | --- | --- |\n"));
        for Judged { name, class, why, report, .. } in claims {
            let reason = reasons.get(name).map_or("", String::as_str);
            used += usize::from(reasons.contains_key(name));
            let told: Vec<&str> =
                report.error.iter().flat_map(|error| &error.violations).map(|it| it.keyword.as_str()).collect();
            let told = if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) };
            table.push_str(&format!("| {name} | {class} | {why} | {reason}{told} |\n"));
            assert!(!reason.is_empty() || blesses(), "{name}: no reason in differences.json: {}", report.to_json());
        }
    }
    println!("{table}");
    assert!(all.len() == 100 && (used == reasons.len() || blesses()), "a reason for a claim that is judged as wanted");
    let file = folder.join("differences.md");
    if blesses() {
        fs::write(&file, &table).expect("the table");
    }
    assert_eq!(fs::read_to_string(&file).expect("the table"), table);
}

fn blesses() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn judged(folder: &Path) -> Vec<Judged> {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let is_claims = |file: &&std::path::PathBuf| {
        file.extension().is_some_and(|extension| extension == "json") && !file.ends_with("differences.json")
    };
    let mut all = Vec::new();
    for file in files.iter().filter(is_claims) {
        let file: Value = serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON");
        let evidence: Vec<Observation> =
            file["evidence"].as_array().expect("observations").iter().map(observation).collect();
        for claim in file["claims"].as_array().expect("claims") {
            let mut rules = json!({"claims": "$.claims[*]", "absence": "$.claims[*].absence"});
            let options = file["options"].as_object().expect("options").clone();
            rules.as_object_mut().expect("an object").extend(options);
            if let Some(kinds) = claim.get("kinds") {
                rules["kinds"] = kinds.clone();
            }
            let contract = json!({"agent": "a", "schema": {"type": "object"}, "evidence": rules}).to_string();
            let contract = Contract::compile(&contract).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            let output = json!({"claims": [claim["claim"]], "not_checked": claim.get("not_checked")}).to_string();
            let request = Request { output: &output, evidence: Some((&evidence).into()), ..Request::default() };
            let text = |name: &str| claim[name].as_str().expect(name).to_owned();
            all.push(Judged {
                name: text("name"),
                class: text("class"),
                is_supported: text("verdict") == "supported",
                why: text("why"),
                report: validate(&contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json())),
            });
        }
    }
    all
}

fn observation(value: &Value) -> Observation {
    seamgate_tests::natively(serde_json::from_value(value.clone()).expect("an observation"))
}

/// The number of claims to generate.
const ROUNDS: usize = 20_000;

/// A contract in which citations need no quotes.
const CONTRACT: &str =
    r#"{"agent":"a","schema":{"type":"object"},"evidence":{"claims":"$.claims[*]","quotes":"optional"}}"#;

fn rejects(contract: &Contract, seen: &str, text: &str, cite: &Value) -> Vec<String> {
    let evidence = [Observation {
        id: "seen#1".to_owned(),
        kinds: Vec::new(),
        text: seen.to_owned(),
        labels: Vec::new(),
        confidence: Confidence::Low,
        complete: false,
        limitations: Vec::new(),
    }];
    let output = json!({"claims": [{"text": text, "evidence": [cite]}]}).to_string();
    let request = Request { output: &output, evidence: Some((&evidence[..]).into()), ..Request::default() };
    let report = validate(contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    report.error.into_iter().flat_map(|error| error.violations).map(|violation| violation.keyword).collect()
}

/// Returns a number in one of the formats that tools use.
fn number(random: &mut Random) -> String {
    let below = |random: &mut Random, most: usize| random.below(most);
    let whole = below(random, 10_000_000);
    let digits = whole.to_string();
    match below(random, 16) {
        0 => format!("{},{:03},{:03}", whole % 999 + 1, whole / 7 % 1000, whole / 11 % 1000),
        1 => format!("{whole}.{}", below(random, 1000)),
        2 => format!("-{whole}.5"),
        3 => format!("{}%", whole % 101),
        4 => format!("{} ms", digits),
        5 => format!("{digits}ms"),
        6 => format!(
            "2026-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            whole % 12 + 1,
            whole % 28 + 1,
            whole % 24,
            whole % 60,
            whole / 60 % 60
        ),
        7 => format!("{:02}:{:02}", whole % 24, whole % 60),
        8 => format!("v{}.{}.{}", whole % 9, whole % 31, whole % 17),
        9 => format!("10.{}.{}.{}", whole % 256, whole / 3 % 256, whole / 5 % 256),
        10 => format!("db-primary-{}", whole % 100),
        11 => format!("{:x}", whole.wrapping_mul(2_654_435_761)),
        12 => format!("${}.{:02}", whole % 1000, whole % 100),
        13 => format!("{}e{}", whole % 100, whole % 20),
        14 => ["three", "twenty-one", "two hundred and five", "November 23, 2026", "23 Nov", "2nd", "p99", "5xx"]
            [whole % 8]
            .to_owned(),
        _ => digits,
    }
}

/// Returns lines as they occur in logs and tables.
fn seen(random: &mut Random) -> Vec<String> {
    const WORDS: [&str; 12] = [
        "error",
        "pool=primary",
        "retry",
        "at",
        "count:",
        "size_bytes=",
        "wait_ms:",
        "(",
        "of",
        "naïve",
        "→",
        "status",
    ];
    let lines = 1 + random.below(6);
    (0..lines)
        .map(|_| {
            let parts = 1 + random.below(8);
            let parts = (0..parts).map(|_| match random.below(2) {
                0 => number(random),
                _ => WORDS[random.below(WORDS.len())].to_owned(),
            });
            parts.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[test]
fn what_is_copied_out_of_an_observation_is_supported() {
    let contract = Contract::compile(CONTRACT).expect("a contract");
    let random = &mut Random(11);
    for _ in 0..ROUNDS {
        let lines = seen(random);
        let text = lines.join("\n");
        let line = &lines[random.below(lines.len())];
        let whole = rejects(&contract, &text, &format!("It says: {line}."), &json!("seen#1"));
        assert_eq!(whole, [""; 0], "{line:?} of {text:?}");
        // A quote from one word to another.
        let starts: Vec<usize> = std::iter::once(0).chain(line.match_indices(' ').map(|(at, _)| at + 1)).collect();
        let from = starts[random.below(starts.len())];
        let ends: Vec<usize> =
            line.match_indices(' ').map(|(at, _)| at).chain([line.len()]).filter(|end| *end > from).collect();
        let quote = &line[from..ends[random.below(ends.len())]];
        let quoted = rejects(&contract, &text, &format!("It says: {quote}."), &json!({"id": "seen#1", "quote": quote}));
        assert_eq!(quoted, [""; 0], "{quote:?} of {text:?}");
    }
}

#[test]
fn a_claim_that_says_what_it_cites_is_supported_whatever_it_says() {
    const PIECES: [&str; 40] = [
        "0",
        "1",
        "23",
        "4",
        "100",
        "2026",
        "31",
        "59",
        ".",
        ",",
        "-",
        "-",
        ":",
        "/",
        " ",
        " ",
        " ",
        "%",
        "$",
        "€",
        "e",
        "E",
        "T",
        "Z",
        "+",
        "ms",
        "kB",
        "k",
        "pm",
        "th",
        "v",
        "p",
        "_",
        "\u{a0}",
        "'",
        "[",
        "]",
        "two",
        "Nov",
        "\"x_ms\":",
    ];
    let contract = Contract::compile(CONTRACT).expect("a contract");
    let random = &mut Random(13);
    for _ in 0..5 * ROUNDS {
        let pieces = 1 + random.below(24);
        let text: String = (0..pieces).map(|_| random.one(&PIECES)).collect();
        if text.trim().is_empty() || ["[]", "{}"].contains(&text.trim()) {
            continue;
        }
        for cite in [json!("seen#1"), json!({"id": "seen#1", "quote": text})] {
            assert_eq!(rejects(&contract, &text, &text, &cite), [""; 0], "{text:?}");
        }
    }
}

#[test]
fn a_number_with_another_digit_is_not_supported() {
    let contract = Contract::compile(CONTRACT).expect("a contract");
    let random = &mut Random(12);
    let mut changed = 0;
    while changed < ROUNDS {
        let text = seen(random).join("\n");
        let figure = (1_000_000 + random.below(9_000_000)).to_string();
        let text = format!("{text}\ncount: {figure}");
        let at = random.below(figure.len());
        let digit = char::from(b'0' + ((figure.as_bytes()[at] - b'0') as usize + 1 + random.below(9)) as u8 % 10);
        let other = format!("{}{digit}{}", &figure[..at], &figure[at + 1..]);
        // Another number in the text may be equal to this one, even if it contains separators.
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        if digits.contains(other.trim_start_matches('0')) || other.starts_with('0') {
            continue;
        }
        changed += 1;
        let quote = format!("count: {figure}");
        for cite in [json!("seen#1"), json!({"id": "seen#1", "quote": quote})] {
            let wrong = rejects(&contract, &text, &format!("The count is {other}."), &cite);
            assert_eq!(wrong, ["evidence.number"], "{other} of {text:?}");
        }
        let wrong =
            rejects(&contract, &text, "It counts.", &json!({"id": "seen#1", "quote": format!("count: {other}")}));
        assert_eq!(wrong, ["evidence.quote"], "{other} of {text:?}");
    }
}

/// Hostile claims and evidence, with their distance from the limits of a call.
#[test]
fn hostile_claims_end_in_a_verdict_or_at_a_limit() {
    let mut gate = seamgate::Gate::new().expect("a gate");
    gate.register(CONTRACT).expect("a contract");
    let numbers = |from: usize, count: usize| (from..from + count).map(|n| format!("{n} ")).collect::<String>();
    let claims = |claims: Vec<Value>| json!({"claims": claims}).to_string();
    let one = |id: &str, text: String| vec![seamgate::Observation::new(id, text)];
    let many = |bytes: usize, text: &dyn Fn(usize) -> String| -> Vec<seamgate::Observation> {
        let cut = |text: String| text[..text.len().min(bytes)].to_owned();
        (0..1_000).map(|id| seamgate::Observation::new(format!("o{id}"), cut(text(id)))).collect()
    };
    let cites: Vec<String> = (0..1_000).map(|id| format!("o{id}")).collect();
    let quotes = |quote: &dyn Fn(usize) -> String, count: usize| -> Vec<Value> {
        (0..count).map(|n| json!({"id": "a", "quote": quote(n)})).collect()
    };
    let attacks = [
        (
            "100 claims that each cite 1,000 observations of 4 KB",
            claims((0..100).map(|n| json!({"text": numbers(n, 100), "evidence": cites})).collect()),
            many(4_000, &|id| numbers(id * 3, 1_000)),
        ),
        (
            "1,000 claims that each cite 100 observations of 4 KB",
            claims((0..1_000).map(|n| json!({"text": numbers(n + 9_000, 10), "evidence": cites[..100]})).collect()),
            many(4_000, &|id| numbers(id, 1_000)),
        ),
        (
            "quotes that are each other's ends",
            claims(vec![json!({"text": "x", "evidence": quotes(&|n| format!("b{}", " ab".repeat(n)), 700)})]),
            one("a", "ab ".repeat(340_000)),
        ),
        (
            "quotes of one letter",
            claims(vec![json!({"text": "x", "evidence": quotes(&|n| "a".repeat(n + 1), 1_200)})]),
            one("a", "a".repeat(1_000_000)),
        ),
        (
            "40,000 quotes, of which none is there",
            claims((0..8).map(|_| json!({"text": "x", "evidence": quotes(&|n| n.to_string(), 4_500)})).collect()),
            one("a", "x ".repeat(500_000)),
        ),
        (
            "10,000 pointers to the end of a list",
            claims(
                (0..10)
                    .map(|_| json!({"text": "x", "evidence": vec![json!({"id": "a", "pointer": "/199999", "value": 2}); 1_000]}))
                    .collect(),
            ),
            one("a", format!("[{}1]", "1,".repeat(199_999))),
        ),
        (
            "what the reader of figures looks ahead for",
            claims(
                ["a-", "two ", "1,", "1-", "1 to ", "1.1", "1e", "x_ms:", "1/", "€", "1:", "12 ", "\u{a0}1"]
                    .map(|text| json!({"text": text.repeat(60_000 / text.len()), "evidence": ["a"]}))
                    .to_vec(),
            ),
            one("a", "two-".repeat(100_000) + &"1.".repeat(100_000) + &"1,000".repeat(60_000)),
        ),
        (
            "as many numbers as there is room for",
            claims((0..14).map(|n| json!({"text": numbers(n * 9_000, 9_000), "evidence": ["a", "b"]})).collect()),
            [one("a", numbers(500_000, 140_000)), one("b", numbers(900_000, 140_000))].concat(),
        ),
    ];
    for (name, output, evidence) in attacks {
        let bytes = output.len() + evidence.iter().map(|it| it.text.len()).sum::<usize>();
        let request = seamgate::Request::new("a", &output).evidence(evidence);
        let verdict = match gate.validate(&request) {
            Ok(verdict) => verdict,
            Err(fault) => {
                println!("{name}: {bytes} bytes, {}", fault.code());
                assert!(["out_of_fuel", "out_of_memory"].contains(&fault.code()), "{name}: {fault}");
                continue;
            }
        };
        let seamgate::Usage { fuel, memory, elapsed, .. } = verdict.usage;
        println!("{name}: {bytes} bytes, {} fuel a byte, {} MiB, {elapsed:?}", fuel / bytes as u64, memory >> 20);
        assert_eq!(verdict.report.disposition, seamgate::Disposition::Rejected, "{name}");
        let is_of_evidence = |violation: &seamgate::Violation| violation.keyword.starts_with("evidence.");
        assert!(verdict.report.violations().iter().all(is_of_evidence), "{name}");
    }
}
