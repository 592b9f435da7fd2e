//! Stores: places whose data outlives a run, such as a memory or a folder of files. When a run writes to a store,
//! everything that it has read before labels the data there, so that a later run that reads the data gets the labels.
//!
//! In doubt, each rule adds labels. A call whose key is missing or ambiguous concerns the whole store, and no write
//! ever removes a label.

use std::collections::BTreeSet;

use seamgate_core::kernel_api::{Document, Kind, NodeId, Path, canonical};

use crate::{
    above::{Above, effect},
    call::Call,
    facts::Facts,
    profile::Profile,
    stored::{Entry, key_of, with},
    surface,
    tool::{COMPUTED_LABELS, Effect, Tool},
};

/// The maximum number of keys of one call.
const MAX_KEYS: usize = 64;

/// Returns the stores that a call concerns, under the rules of the agent and of those above it. Each has a key, or none
/// for the whole store.
fn concerned<'t>(tool: &'t Tool, above: Option<&'t Above>, call: &Call) -> Vec<(&'t str, Option<String>)> {
    let tools = [tool].into_iter().chain(above.into_iter().flat_map(|above| above.tools(tool)));
    let mut places = Vec::new();
    for store in tools.filter_map(|tool| tool.store.as_ref()) {
        let keys = store.key.as_ref().and_then(|path| keys_of(path, tool, call));
        match keys {
            Some(keys) => places.extend(keys.into_iter().map(|key| (store.name.as_str(), Some(key)))),
            None => places.push((store.name.as_str(), None)),
        }
    }
    places
}

/// Returns the keys of a call. `None` if one is missing or ambiguous.
fn keys_of(path: &Path, tool: &Tool, call: &Call) -> Option<BTreeSet<String>> {
    let document = call.document(tool.max_arguments_bytes).ok()?;
    let found = Path::select(&path.selectors, &document, Document::ROOT);
    let key = |at: NodeId| match document.kind(at) {
        Kind::String => key_of(document.string(at)),
        Kind::Number => key_of(&canonical(&document, at)),
        _ => None,
    };
    if found.is_empty() || found.len() > MAX_KEYS { None } else { found.into_iter().map(key).collect() }
}

/// Returns the labels of the data that a call may read from stores.
pub(crate) fn labels(facts: &Facts, tool: &Tool, call: &Call) -> Vec<String> {
    if facts.stores.is_empty() {
        return Vec::new();
    }
    labels_of(&facts.stores, &concerned(tool, facts.above.as_deref(), call))
}

fn labels_of(entries: &[Entry], places: &[(&str, Option<String>)]) -> Vec<String> {
    let is_met = |entry: &&Entry| places.iter().any(|(store, key)| entry.meets(store, key.as_deref()));
    entries.iter().filter(is_met).flat_map(|entry| entry.labels.iter().cloned()).collect()
}

/// Returns the entries after a call that may write to stores. `None` if it adds no label. The written data may come
/// from everything that the run has read, and from data that the call moves within the store.
pub(crate) fn written(profile: &Profile, facts: &Facts, tool: &Tool, call: &Call) -> Option<Vec<Entry>> {
    if effect(tool, facts.above.as_deref()) == Effect::Read {
        return None;
    }
    let places = concerned(tool, facts.above.as_deref(), call);
    if places.is_empty() {
        return None;
    }
    let mut labels = surface::read(profile, facts);
    labels.extend(labels_of(&facts.stores, &places));
    // These labels describe one result, not the origin of its data.
    labels.retain(|label| !COMPUTED_LABELS.contains(&label.as_str()));
    let written = places.into_iter().map(|(store, key)| Entry { store: store.to_owned(), key, labels: labels.clone() });
    with(&facts.stores, written)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{observe, permit, stored::MAX_ENTRIES};

    fn profile(key: &str) -> Profile {
        let tools = json!([
            {"name": "mail", "effect": "read", "permit": "allow"},
            {"name": "save", "effect": "effectful", "permit": "allow", "store": {"name": "notes", "key": key},
             "result": {"labels": []}},
            {"name": "load", "effect": "read", "permit": "allow", "store": {"name": "notes", "key": "$.path"},
             "result": {"labels": []}},
            {"name": "find", "effect": "read", "permit": "allow", "store": {"name": "notes"}, "result": {"labels": []}},
            {"name": "other", "effect": "read", "permit": "allow", "store": {"name": "others"},
             "result": {"labels": []}},
        ]);
        Profile::compile(&json!({"agent": "a", "tools": tools}).to_string()).expect("a profile")
    }

    fn facts(labels: &[&str], stores: &Value) -> String {
        let nonce = "c0ffee00c0ffee00";
        json!({"run": "r", "at": 1, "principal": "anna", "nonce": nonce, "labels": labels, "stores": stores})
            .to_string()
    }

    fn call(tool: &str, arguments: &Value) -> String {
        json!({"key": "c1", "tool": tool, "arguments": arguments}).to_string()
    }

    /// Returns the entries after a call is allowed by a run that has read data with some labels.
    fn saved(profile: &Profile, labels: &[&str], stores: &Value, arguments: &Value) -> Value {
        let decision = permit(profile, &facts(labels, stores), &call("save", arguments)).expect("a decision");
        let decision: Value = serde_json::from_str(&decision).expect("JSON");
        assert_eq!(decision["permit"], "allow");
        decision["facts"]["stores"].clone()
    }

    /// Returns the labels of a result in a run that has read nothing.
    fn loaded(profile: &Profile, stores: &Value, tool: &str, arguments: &Value) -> Value {
        let result = json!({"text": "x"}).to_string();
        let made = observe(profile, &facts(&[], stores), &call(tool, arguments), &result).expect("an observation");
        let made: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(made["facts"].get("labels"), Some(&made["labels"]).filter(|labels| **labels != json!([])));
        made["labels"].clone()
    }

    #[test]
    fn a_later_run_reads_the_labels_of_what_was_written() {
        let profile = profile("$.path");
        let stores = saved(&profile, &["untrusted", "truncated"], &json!([]), &json!({"path": "a"}));
        assert_eq!(stores, json!([{"store": "notes", "key": "a", "labels": ["untrusted"]}]));
        assert_eq!(loaded(&profile, &stores, "load", &json!({"path": "a"})), json!(["untrusted"]));
        assert_eq!(loaded(&profile, &stores, "load", &json!({"path": "b"})), json!([]));
        assert_eq!(loaded(&profile, &stores, "find", &json!({"q": "x"})), json!(["untrusted"]));
        assert_eq!(loaded(&profile, &stores, "other", &json!({})), json!([]));
        // A write whose result shows the data it found, and a clean write, which removes nothing.
        assert_eq!(loaded(&profile, &stores, "save", &json!({"path": "a"})), json!(["untrusted"]));
        assert_eq!(saved(&profile, &[], &stores, &json!({"path": "a"})), Value::Null);
    }

    #[test]
    fn a_key_that_is_missing_or_ambiguous_concerns_the_whole_store() {
        let profile = profile("$.path");
        for odd in
            [json!({}), json!({"path": ["a"]}), json!({"path": "../a"}), json!({"path": "%61"}), json!({"path": " "})]
        {
            let stores = saved(&profile, &["untrusted"], &json!([]), &odd);
            assert_eq!(stores, json!([{"store": "notes", "labels": ["untrusted"]}]), "{odd}");
            assert_eq!(loaded(&profile, &stores, "load", &json!({"path": "a"})), json!(["untrusted"]));
            let stores = json!([{"store": "notes", "key": "a", "labels": ["untrusted"]}]);
            assert_eq!(loaded(&profile, &stores, "load", &odd), json!(["untrusted"]));
        }
    }

    #[test]
    fn spellings_of_a_key_share_their_labels() {
        let profile = profile("$.path");
        for (written, read) in [
            ("notes/a.md", "/home/anna/notes/a.md"),
            ("C:\\Notes\\A.md", "notes/./a.md"),
            ("a.md", ".//a.md "),
            ("file:///home/anna/a.md", "/home/anna/a.md"),
            ("~/a.md", "/home/anna/a.md"),
        ] {
            let stores = saved(&profile, &["private"], &json!([]), &json!({"path": written}));
            assert_eq!(
                loaded(&profile, &stores, "load", &json!({"path": read})),
                json!(["private"]),
                "{written} {read}"
            );
            let stores = saved(&profile, &["private"], &json!([]), &json!({"path": read}));
            assert_eq!(
                loaded(&profile, &stores, "load", &json!({"path": written})),
                json!(["private"]),
                "{read} {written}"
            );
        }
        let stores = saved(&profile, &["private"], &json!([]), &json!({"path": "ab"}));
        assert_eq!(loaded(&profile, &stores, "load", &json!({"path": "b"})), json!([]));
    }

    #[test]
    fn labels_move_with_data_within_a_store() {
        let profile = profile("$.paths[*]");
        let stores = json!([{"store": "notes", "key": "a", "labels": ["untrusted"]}]);
        let stores = saved(&profile, &["private"], &stores, &json!({"paths": ["a", "b"]}));
        assert_eq!(loaded(&profile, &stores, "load", &json!({"path": "b"})), json!(["private", "untrusted"]));
    }

    #[test]
    fn many_keys_become_the_whole_store() {
        let profile = profile("$.path");
        let mut stores = json!([{"store": "others", "key": "o", "labels": ["x"]}]);
        for number in 0..MAX_ENTRIES {
            let saved = saved(&profile, &["untrusted"], &stores, &json!({"path": number}));
            stores = if saved.is_null() { stores } else { saved };
        }
        let whole = json!({"store": "notes", "labels": ["untrusted"]});
        assert_eq!(stores, json!([whole, {"store": "others", "key": "o", "labels": ["x"]}]));
        assert_eq!(saved(&profile, &["untrusted"], &stores, &json!({"path": "new"})), Value::Null);
        let stores = saved(&profile, &["private", "untrusted"], &stores, &json!({"path": "new"}));
        assert_eq!(stores[1], json!({"store": "notes", "key": "new", "labels": ["private"]}));
    }
}
