//! An undecided match accepts nothing: a document is accepted only if it is valid for every possible result of the
//! match.

use seamgate_checks::schemas::{DIALECTS, Words, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde_json::{Value, json};

const SCHEMAS: u64 = 1_500;
const DOCUMENTS: usize = 4;

/// Patterns that cannot decide any text of `HOSTILE` within their step limit, and that match no other text.
const PATTERNS: [&str; 2] = ["^(a|aa)+\\1q$", "^(a|aa|aaa)+\\1r$"];

/// Texts that these patterns cannot decide.
const HOSTILE: [&str; 2] =
    ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?"];

const HOSTILE_WORDS: Words = Words {
    names: &["a", "b", "ab", HOSTILE[0], HOSTILE[1]],
    strings: &["", "a", "ab", HOSTILE[0], HOSTILE[1]],
    patterns: &["^a", "^(a|ab)$", PATTERNS[0], PATTERNS[1], PATTERNS[0], PATTERNS[1]],
};

/// Returns a schema of the given depth. It consists mainly of keywords that make the verdict depend on a pattern.
fn hanging(random: &mut Random, depth: usize) -> Value {
    let hostile = |random: &mut Random| random.one(&PATTERNS);
    let inner = |random: &mut Random| hanging(random, depth.saturating_sub(1));
    let several = |random: &mut Random| -> Value {
        let count = 1 + random.below(3);
        (0..count).map(|_| hanging(random, depth.saturating_sub(1))).collect()
    };
    let size = random.below(3);
    match random.below(if depth == 0 { 5 } else { 20 }) {
        0 | 1 => json!({"pattern": hostile(random)}),
        2 => json!({"type": random.one(&["string", "array", "object"])}),
        3 => json!({"minLength": 3, "pattern": "^a"}),
        4 => json!(random.chance(70)),
        5 | 6 => json!({"not": inner(random)}),
        7 => json!({"allOf": several(random)}),
        8 => json!({"anyOf": several(random)}),
        9 | 10 => json!({"oneOf": several(random)}),
        11 => json!({"if": inner(random), "then": inner(random)}),
        12 => json!({"if": inner(random), "then": inner(random), "else": inner(random)}),
        13 => json!({"contains": inner(random), "minContains": size, "maxContains": random.below(3)}),
        14 => json!({"contains": inner(random), "unevaluatedItems": inner(random)}),
        15 => json!({"propertyNames": inner(random)}),
        16 => json!({"patternProperties": {hostile(random): inner(random)}, "additionalProperties": inner(random)}),
        17 => json!({
            "patternProperties": {hostile(random): inner(random), "^a": inner(random)},
            "unevaluatedProperties": inner(random)
        }),
        18 => json!({
            "anyOf": [{"properties": {"a": inner(random)}}, {"patternProperties": {hostile(random): inner(random)}}],
            "oneOf": several(random),
            "unevaluatedProperties": inner(random)
        }),
        _ => {
            json!({"items": inner(random), "additionalProperties": inner(random), "dependentSchemas": {"a": inner(random)}})
        }
    }
}

/// Returns a text, or texts in an array or an object.
fn texts(random: &mut Random) -> Value {
    let text = |random: &mut Random| json!(random.one(HOSTILE_WORDS.strings));
    match random.below(3) {
        0 => text(random),
        1 => (0..random.below(4)).map(|_| text(random)).collect(),
        _ => {
            let count = random.below(4);
            let members = (0..count).map(|_| (random.one(HOSTILE_WORDS.names).to_owned(), text(random)));
            Value::Object(members.collect())
        }
    }
}

fn contract(schema: &Value) -> Option<Contract> {
    Contract::compile(&json!({"agent": "a", "schema": schema, "patterns": "backtracking"}).to_string()).ok()
}

fn accepts(contract: &Contract, text: &str) -> bool {
    let request = Request { agent: "a".to_owned(), output: text, ..Request::default() };
    let report = validate(contract, &request).expect("a report");
    if let Some(error) = &report.error {
        let told = error.violations.first().is_some_and(|violation| violation.keyword != "schema");
        assert!(told, "no reason: {}", report.to_json());
    }
    report.disposition == Disposition::Accepted
}

/// Returns the schema with each pattern replaced by a decided one, which matches a text if the bit of this text is set.
fn decided(schema: &Value, assignment: usize) -> Value {
    let replacement = |number: usize| {
        let is_set = |text: usize| assignment >> (number * HOSTILE.len() + text) & 1 == 1;
        // Each pattern needs a different replacement. Otherwise, two members of `patternProperties` would become one.
        let of = |text: &str| text.replace('?', "\\?");
        let matching = (0..HOSTILE.len()).filter(|text| is_set(*text)).map(|text| of(HOSTILE[text]));
        let matching: Vec<String> = matching.chain([format!("none{number}")]).collect();
        format!("^({})$", matching.join("|"))
    };
    let replaced = |text: &str| match PATTERNS.iter().position(|pattern| *pattern == text) {
        Some(number) => replacement(number),
        None => text.to_owned(),
    };
    match schema {
        Value::String(text) => json!(replaced(text)),
        Value::Array(items) => items.iter().map(|item| decided(item, assignment)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (replaced(name), decided(value, assignment))).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn what_is_accepted_is_valid_whatever_was_not_decided() {
    // No pattern decides these texts, and each pattern decides all others.
    for pattern in PATTERNS {
        let open = contract(&json!({"pattern": pattern})).expect("a contract");
        for text in HOSTILE_WORDS.strings.iter().chain(HOSTILE_WORDS.names) {
            let request = Request { agent: "a".to_owned(), output: &json!(text).to_string(), ..Request::default() };
            let report = validate(&open, &request).expect("a report").to_json();
            assert_eq!(report.contains("not decided"), HOSTILE.contains(text), "{pattern} {text}");
            assert!(report.contains("rejected"), "{pattern} {text}");
        }
    }
    let mut counted = Counted::default();
    for seed in 0..SCHEMAS {
        let mut random = Random(seed);
        let dialect = random.below(DIALECTS.len());
        let made = schema(&mut random, HOSTILE_WORDS, dialect);
        let documents: Vec<Value> = (0..DOCUMENTS).map(|_| value(&mut random, HOSTILE_WORDS, 3)).collect();
        counted.compare(seed, &made, &documents);
        let made = hanging(&mut random, 3);
        let documents: Vec<Value> = (0..DOCUMENTS).map(|_| texts(&mut random)).collect();
        counted.compare(seed, &made, &documents);
    }
    let Counted { hanging, wrong, strict, agreed } = counted;
    println!(
        "{hanging} documents hang on a match that is not decided, {} of them accepted; of others, {strict} are rejected \
         of {} that are valid whatever matches",
        wrong.len(),
        strict + agreed
    );
    assert!(wrong.is_empty(), "{} accepted, the first: {}", wrong.len(), wrong[0]);
    assert!(hanging > 250 && strict * 50 < agreed, "{hanging} hanging, {strict} strict, {agreed} agreed");
}

#[derive(Default)]
struct Counted {
    /// Documents whose validity depends on an undecided match.
    hanging: usize,
    /// Those of them that were accepted.
    wrong: Vec<String>,
    /// Documents that were rejected although they are valid in any case.
    strict: usize,
    agreed: usize,
}

impl Counted {
    fn compare(&mut self, seed: u64, made: &Value, documents: &[Value]) {
        if !PATTERNS.iter().any(|pattern| made.to_string().contains(&pattern.replace('\\', "\\\\"))) {
            return;
        }
        let Some(open) = contract(made) else {
            return;
        };
        let assignments = 0..1 << (PATTERNS.len() * HOSTILE.len());
        let closed: Vec<Contract> = assignments.filter_map(|bits| contract(&decided(made, bits))).collect();
        assert_eq!(closed.len(), 16, "seed {seed}: {made}");
        for document in documents {
            let text = document.to_string();
            if !HOSTILE.iter().any(|hostile| text.contains(hostile)) {
                continue;
            }
            let verdicts: Vec<bool> = closed.iter().map(|closed| accepts(closed, &text)).collect();
            let verdict = accepts(&open, &text);
            let (all, any) = (verdicts.iter().all(|is| *is), verdicts.iter().any(|is| *is));
            self.hanging += usize::from(all != any);
            self.strict += usize::from(all && !verdict);
            self.agreed += usize::from(all && verdict);
            if verdict && !all {
                self.wrong.push(format!("seed {seed}: {text}\nby {made}"));
            }
        }
    }
}
