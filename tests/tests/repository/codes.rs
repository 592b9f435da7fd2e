//! Every code of a report, a fault or a finding is explained, with its actual level.

use std::{collections::BTreeSet, fs, path::Path};

use seamgate_core::Registry;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn codes() -> Vec<Value> {
    serde_json::from_str(&read("host/cli/src/codes.json")).expect("JSON")
}

fn explained(of: &[&str]) -> BTreeSet<String> {
    let is_of = |code: &&Value| code["of"].as_str().is_some_and(|kind| of.contains(&kind));
    codes().iter().filter(is_of).map(|code| code["code"].as_str().expect("a word").to_owned()).collect()
}

/// Returns the first string literal after each occurrence of `begin`. These literals are the codes.
fn literals(source: &str, begin: &str) -> BTreeSet<String> {
    let word = |rest: &str| {
        // The expression before the literal may contain a call.
        let (before, after) = rest.split_once('"')?;
        let (word, _) = after.split_once('"')?;
        let is_word = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte));
        (before.len() < 120 && is_word && !word.is_empty()).then(|| word.to_owned())
    };
    source.split(begin).skip(1).filter_map(word).collect()
}

/// Finds the values of a member in all expected outputs of a folder.
fn words(folder: &Path, member: &str, found: &mut BTreeSet<String>) {
    fn collect(value: &Value, member: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get(member).and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| collect(value, member, found));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, member, found)),
            _ => {}
        }
    }
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            words(&path, member, found);
        } else if path.file_name().is_some_and(|name| name == "report.json" || name == "fault.json") {
            let golden: Value = serde_json::from_str(&fs::read_to_string(&path).expect("text")).expect("JSON");
            collect(&golden, member, found);
        }
    }
}

#[test]
fn every_keyword_of_a_violation_is_explained() {
    let known = explained(&["violation", "keyword"]);
    let mut emitted = BTreeSet::new();
    words(&Path::new(ROOT).join("tests/cases"), "keyword", &mut emitted);
    assert!(emitted.len() > 40, "{emitted:?}");
    let table = read("guest/core/src/check/keywords.rs");
    let table = table.split("\nkeywords! {").nth(1).expect("a table").split("\n}").next().expect("its end");
    // Annotations of a schema cannot be violated.
    let explaining = [
        "$comment",
        "$defs",
        "default",
        "definitions",
        "deprecated",
        "description",
        "examples",
        "id",
        "readOnly",
        "title",
        "writeOnly",
    ];
    emitted.extend(
        table
            .lines()
            .filter_map(|line| line.split('"').nth(1))
            .filter(|word| !explaining.contains(word))
            .map(str::to_owned),
    );
    let documented = read("wit/types.wit");
    let documented = documented.split("`json`, `utf8`").nth(1).expect("the words").split("keyword: string").next();
    emitted.extend(documented.expect("the words").split('`').skip(1).step_by(2).map(str::to_owned));
    let missing: Vec<&String> = emitted.difference(&known).collect();
    assert!(missing.is_empty(), "xtask/generate/src/codes.json does not explain {missing:?}");
}

#[test]
fn every_code_of_lint_is_explained() {
    let mut emitted = literals(&read("guest/core/src/contract/lint.rs"), "self.warn(");
    emitted.extend(literals(&read("guest/core/src/contract/lint.rs"), "linter.warn("));
    // The first literal may be a place instead of a code.
    emitted.remove("maxProperties");
    emitted.extend(["no_title".to_owned(), "contradicting_limits".to_owned()]);
    let known = explained(&["lint"]);
    let missing: Vec<&String> = emitted.difference(&known).collect();
    assert!(emitted.len() > 12 && missing.is_empty(), "{emitted:?}: {missing:?}");
    let source = read("guest/kernel/src/profile/lint.rs");
    let known = explained(&["lint of profiles"]);
    for code in &known {
        assert!(source.contains(&format!("\"{code}\"")), "no profile is found to have {code}");
    }
}

#[test]
fn every_code_of_test_is_explained() {
    let source = read("host/cli/src/test.rs");
    let known = explained(&["test"]);
    assert_eq!(known.len(), 2);
    for code in &known {
        assert!(source.contains(&format!("\"{code}\"")), "`seamgate test` never says {code}");
    }
}

#[test]
fn every_fault_of_the_host_is_explained() {
    let known = explained(&["fault", "fault of the host"]);
    let emitted = literals(&read("host/src/types/fault.rs"), "{ .. } => ");
    let missing: Vec<&String> = emitted.difference(&known).collect();
    assert!(emitted.len() > 8 && missing.is_empty(), "{missing:?}");
}

/// The gate reports the same levels as the table.
#[test]
fn levels_are_those_that_are_explained() {
    let contract = r#"{"agent":"a","patterns":"backtracking","evidence":{"claims":"$.claims[*]","quotes":"optional","numbers":"ignore"},
        "schema":{"type":"object","minLength":3,"maxLength":2,"required":["z"],"anyOf":[false],"frobnicate":1,"minimun":1,
        "properties":{"z":false,"status":{"type":"string","pattern":"(?=a)|a{ 2}"},"list":{"type":"array","format":"date"},"text":{"type":"string"},
        "kind":{"type":"string"},"link":{"format":"url"},"claims":{"items":{"additionalProperties":false,"properties":{}}},"open":{"properties":{"a":true}}}}}"#;
    // With this contract, every document is valid.
    let open = r#"{"agent":"a","schema":true,"coerce":"lossless","unwrap":true}"#;
    let lint = |contract| Registry::default().lint(contract).expect("a contract");
    let found = lint(contract).into_iter().chain(lint(open));
    let codes = codes();
    let mut seen = BTreeSet::new();
    for warning in found {
        let known = codes.iter().find(|code| code["of"] == "lint" && code["code"] == *warning.code);
        let level = known.and_then(|known| known["level"].as_str());
        assert_eq!(level, Some(warning.level.as_str()), "{}", warning.code);
        seen.insert(warning.code);
    }
    let all = explained(&["lint"]);
    let unseen: Vec<&String> = all.difference(&seen).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}
