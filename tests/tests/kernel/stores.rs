//! Random sequences of runs: a read always has at least the labels of every earlier write to its key.

use std::collections::{BTreeMap, BTreeSet};

use seamgate_kernel::{Profile, observe, permit};
use seamgate_tests::Random;
use serde_json::{Value, json};

const RUNS: u64 = 40;
const CALLS: usize = 600;
const LABELS: [&str; 4] = ["untrusted", "private", "secret", "own"];

fn profile() -> Profile {
    let tool = |name: &str, effect: &str, key: &str| {
        let mut store = json!({"name": "files"});
        if !key.is_empty() {
            store["key"] = json!(key);
        }
        json!({"name": name, "effect": effect, "permit": "allow", "store": store, "result": {"labels": []}})
    };
    let tools = json!([
        tool("write", "idempotent", "$.path"),
        tool("move", "effectful", "$.paths[*]"),
        tool("clear", "effectful", ""),
        tool("read", "read", "$.path"),
        tool("search", "read", ""),
    ]);
    Profile::compile(&json!({"agent": "a", "tools": tools}).to_string()).expect("a profile")
}

/// Returns a spelling of a key that a file server might accept.
fn spelling(random: &mut Random, key: usize) -> Value {
    let name = format!("notes/n{key}.md");
    match random.below(9) {
        0 => json!(format!("/home/anna/{name}")),
        1 => json!(name.to_uppercase()),
        2 => json!(format!("./{name}")),
        3 => json!(name.replace('/', "\\")),
        4 => json!(format!("//{}", name.replace('/', "//"))),
        5 => json!(format!("notes/../{name}")),
        6 => json!(format!("{name} ")),
        _ => json!(name),
    }
}

fn some(random: &mut Random) -> BTreeSet<&'static str> {
    if random.chance(60) { BTreeSet::new() } else { (0..=random.below(2)).map(|_| random.one(&LABELS)).collect() }
}

#[test]
fn a_read_has_the_labels_of_all_writes_to_its_key() {
    let profile = profile();
    for seed in 0..RUNS {
        let mut random = Random(seed);
        let keys = random.one(&[3, 30, 400]);
        let (mut stores, mut whole) = (json!([]), BTreeSet::new());
        let mut written: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for number in 0..CALLS {
            let labels = some(&mut random);
            let facts = json!({
                "run": "r", "at": 1, "principal": "anna", "nonce": "c0ffee00c0ffee00", "labels": labels,
                "stores": stores,
            });
            let (key, other) = (random.below(keys), random.below(keys));
            let tool = random.one(&["write", "write", "move", "read", "read", "search", "clear"]);
            // Calls for the whole store are rare, so that most calls are about keys.
            let tool = if tool == "clear" && !random.chance(5) { "write" } else { tool };
            let arguments = match tool {
                "write" | "read" => json!({"path": spelling(&mut random, key)}),
                "move" => json!({"paths": [spelling(&mut random, key), spelling(&mut random, other)]}),
                _ => json!({}),
            };
            let call = json!({"key": format!("c{number}"), "tool": tool, "arguments": arguments}).to_string();
            let at = format!("seed {seed}, call {number}: {call}");
            // The result of a write counts as a read. It is checked before the write itself is recorded.
            let read = observe(&profile, &facts.to_string(), &call, r#"{"text":"x"}"#).expect("an observation");
            let read: Value = serde_json::from_str(&read).expect("JSON");
            let found: BTreeSet<&str> =
                read["labels"].as_array().expect("labels").iter().filter_map(Value::as_str).collect();
            let of = |key: usize| written.get(&key).into_iter().flatten().copied().chain(whole.iter().copied());
            let least: BTreeSet<&str> = match tool {
                "write" | "read" => of(key).collect(),
                "move" => of(key).chain(of(other)).collect(),
                _ => written.values().flatten().copied().chain(whole.iter().copied()).collect(),
            };
            assert!(least.is_subset(&found), "{at}: {least:?} {found:?}");
            let decision = permit(&profile, &facts.to_string(), &call).expect("a decision");
            let decision: Value = serde_json::from_str(&decision).expect("JSON");
            assert_eq!(decision["permit"], "allow", "{at}");
            let all = labels.iter().copied().chain(least);
            match tool {
                "write" => written.entry(key).or_default().extend(all),
                "move" => {
                    let all: Vec<&str> = all.collect();
                    for key in [key, other] {
                        written.entry(key).or_default().extend(&all);
                    }
                }
                "clear" => whole.extend(all),
                _ => assert!(decision["facts"].get("stores").is_none(), "{at}"),
            }
            if let Some(changed) = decision["facts"].get("stores") {
                assert!(changed.as_array().expect("entries").len() <= 256, "{at}");
                stores = changed.clone();
            }
        }
    }
}

#[test]
fn a_store_that_only_a_parent_names_labels_what_its_child_reads_and_writes() {
    let tools = |store: Value| {
        let mut tools = json!([
            {"name": "load", "effect": "read", "permit": "allow", "result": {"labels": []}},
            {"name": "save", "effect": "effectful", "permit": "allow", "result": {"labels": []}},
        ]);
        if !store.is_null() {
            tools[0]["store"] = store.clone();
            tools[1]["store"] = store;
        }
        tools
    };
    let child = json!({"agent": "child", "tools": tools(Value::Null)});
    let child = Profile::compile(&child.to_string()).expect("a profile");
    let parent = json!({"agent": "parent", "tools": tools(json!({"name": "files", "key": "$.path"}))});
    let bounds = json!({
        "run": "p", "call": "c1", "tools": ["load", "save"], "rules": [{"profile": parent}], "budget": {},
    });
    let facts = json!({
        "run": "p/c1", "at": 1, "principal": "anna", "nonce": "c0ffee00c0ffee00", "labels": ["private"],
        "stores": [{"store": "files", "key": "a", "labels": ["untrusted"]}], "parent": bounds,
    });
    let call = |tool: &str| json!({"key": "c1", "tool": tool, "arguments": {"path": "a"}}).to_string();
    let read = observe(&child, &facts.to_string(), &call("load"), r#"{"text":"x"}"#).expect("an observation");
    let read: Value = serde_json::from_str(&read).expect("JSON");
    assert_eq!(read["labels"], json!(["untrusted"]));
    let decision = permit(&child, &facts.to_string(), &call("save")).expect("a decision");
    let decision: Value = serde_json::from_str(&decision).expect("JSON");
    assert_eq!(
        decision["facts"]["stores"],
        json!([{"store": "files", "key": "a", "labels": ["private", "untrusted"]}])
    );
}
