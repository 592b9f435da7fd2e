//! Patterns in the names of tools: compares random entries with a simple implementation of the rule that assigns a tool
//! to an entry.

use seamgate_kernel::{Profile, permit, surface};
use seamgate_tests::Random;
use serde_json::{Value, json};

const NAMES: [&str; 6] = ["a", "ab", "abc", "b", "ba", "cab"];
const ENTRIES: [&str; 10] = ["*", "a*", "ab*", "*b", "a", "ab", "b*", "c*b", "abc", "a*c"];

/// Returns whether a pattern matches, by trying all ways to split a name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_at_checked(1) {
        None => name.is_empty(),
        Some(("*", rest)) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        Some((letter, rest)) => name.strip_prefix(letter).is_some_and(|name| matches(rest, name)),
    }
}

fn decided(profile: &Profile, tool: &str) -> String {
    let facts = r#"{"run":"r1","at":1,"principal":"joe"}"#;
    let call = json!({"key": "c", "tool": tool, "arguments": {}}).to_string();
    let decision: Value = serde_json::from_str(&permit(profile, facts, &call).expect("a decision")).expect("JSON");
    match decision["permit"].as_str() {
        Some("deny") => decision["reasons"][0]["code"].as_str().unwrap_or_default().to_owned(),
        other => other.unwrap_or_default().to_owned(),
    }
}

#[test]
fn a_tool_belongs_to_the_entry_that_says_most_of_its_name() {
    let mut random = Random(11);
    let (mut allowed, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut names: Vec<&str> = (0..1 + random.below(5)).map(|_| random.one(&ENTRIES)).collect();
        names.sort_unstable();
        names.dedup();
        let pinned: Vec<&str> = NAMES.into_iter().filter(|_| random.chance(70)).collect();
        let entries: Vec<(&str, &str)> = names.iter().map(|name| (*name, random.one(&["allow", "deny"]))).collect();
        let tools = entries.iter().map(|(name, permit)| {
            let definitions: Vec<Value> =
                pinned.iter().filter(|tool| matches(name, tool)).map(|tool| json!({"name": tool})).collect();
            let mut entry = json!({"name": name, "effect": "read", "permit": permit});
            match (name.contains('*'), definitions.first()) {
                (true, _) => entry["definitions"] = json!(definitions),
                (false, Some(definition)) => entry["definition"] = definition.clone(),
                _ => {}
            }
            entry
        });
        let text = json!({"agent": "a", "tools": tools.collect::<Vec<_>>()}).to_string();
        let rank = |entry: &str| entry.find('*').unwrap_or(99);
        let best = |tool: &str| {
            let all: Vec<&(&str, &str)> = entries.iter().filter(|(entry, _)| matches(entry, tool)).collect();
            let highest = all.iter().map(|(entry, _)| rank(entry)).max();
            all.into_iter().filter(|(entry, _)| Some(rank(entry)) == highest).collect::<Vec<_>>()
        };
        let is_ambiguous = pinned.iter().any(|tool| best(tool).len() > 1);
        let profile = match Profile::compile(&text) {
            Ok(profile) => profile,
            Err(fault) => {
                assert!(is_ambiguous, "{text}: {}", fault.to_json());
                refused += 1;
                continue;
            }
        };
        assert!(!is_ambiguous, "{text}");
        for tool in NAMES {
            let expected = match best(tool)[..] {
                [(entry, permit)] if !entry.contains('*') || pinned.contains(&tool) => {
                    if *permit == "deny" {
                        "permit"
                    } else {
                        "allow"
                    }
                }
                _ => "unknown_tool",
            };
            allowed += usize::from(expected == "allow");
            assert_eq!(decided(&profile, tool), expected, "{tool} of {text}");
        }
        // A tool that is missing in the lock file is hidden, even if patterns match it.
        let listed = json!({"servers": {"": {"tools": NAMES.map(|name| json!({"name": name}))}}}).to_string();
        let facts = r#"{"run":"r1","at":1,"principal":"joe"}"#;
        let shown: Value =
            serde_json::from_str(&surface(&profile, facts, Some(&listed)).expect("a surface")).expect("JSON");
        for tool in shown["tools"].as_array().expect("tools") {
            let name = tool["tool"].as_str().expect("a name");
            assert!(pinned.contains(&name) || names.contains(&name), "{name} of {text}");
            assert_eq!(decided(&profile, name), "allow", "{name} of {text}");
        }
    }
    assert!(allowed > 1000 && refused > 100, "{allowed}, {refused}");
}
