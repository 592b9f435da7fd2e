//! The changes in the parts of a contract other than its schema, and whom they may break.

use serde_json::{Map, Value, json};

use super::changes::{Change, Way};

/// The changes of the policy, and whom they may break.
pub(super) struct Policy {
    /// `true` if the policy of NEW accepts whatever that of OLD accepts.
    pub(super) for_producers: bool,
    /// `true` if the policy of OLD would let through whatever that of NEW lets through.
    pub(super) for_consumers: bool,
    pub(super) changes: Vec<Change>,
}

/// The limits, with their defaults.
const CAPS: [(&str, u64); 5] =
    [("bytes", 1_048_576), ("depth", 64), ("string_bytes", 65_536), ("array_items", 10_000), ("object_members", 1_000)];

/// Members that determine which outputs are accepted. They do not affect the validity of a document that is let
/// through.
const OF_OUTPUTS: [&str; 4] = ["extract", "repair", "patterns", "refusal"];

/// Members that determine which documents are let through.
const OF_DOCUMENTS: [&str; 3] = ["items", "evidence", "jtd"];

pub(super) fn compare(old: &Value, new: &Value) -> Policy {
    let mut policy = Policy { for_producers: true, for_consumers: true, changes: Vec::new() };
    for (name, default) in CAPS {
        let cap =
            |contract: &Value| contract.pointer(&format!("/caps/{name}")).and_then(Value::as_u64).unwrap_or(default);
        let (was, is) = (cap(old), cap(new));
        policy.note(Way::of(was <= is, is <= was), &format!("/caps/{name}"), Some(json!(was)), Some(json!(is)));
    }
    let rules = |contract: &Value| contract.get("allow").and_then(Value::as_array).cloned().unwrap_or_default();
    let (was, is) = (rules(old), rules(new));
    let has_all = |of: &[Value], all: &[Value]| all.iter().all(|rule| of.contains(rule));
    let way = Way::of(has_all(&was, &is), has_all(&is, &was));
    policy.note(way, "/allow", old.get("allow").cloned(), new.get("allow").cloned());
    for name in
        OF_DOCUMENTS.into_iter().chain(OF_OUTPUTS).chain(["unknown_members", "coerce", "unwrap", "formats", "agent"])
    {
        let (was, is) = (member(old, name), member(new, name));
        if was == is {
            continue;
        }
        let producers = policy.for_producers;
        let consumers = policy.for_consumers;
        let way = match (name, is.as_ref().and_then(Value::as_str)) {
            ("unwrap", _) if is == Some(Value::Bool(true)) => Way::Wider,
            ("unwrap", _) => Way::Narrower,
            ("unknown_members", Some("strip")) | ("coerce", Some("lossless")) | ("formats", Some("annotate")) => {
                Way::Wider
            }
            ("unknown_members" | "coerce" | "formats", _) => Way::Narrower,
            _ => Way::Changed,
        };
        policy.note(Some(way), &format!("/{name}"), was, is);
        // The parties that the change may break. A member that is not listed here belongs to the schema, which is
        // compared separately, or affects nobody.
        policy.for_producers = producers && !OF_DOCUMENTS.contains(&name) && !OF_OUTPUTS.contains(&name);
        policy.for_consumers = consumers && !OF_DOCUMENTS.contains(&name);
    }
    policy
}

/// Returns a member or its default, because a member that states the default changes nothing.
fn member(contract: &Value, name: &str) -> Option<Value> {
    let value = contract.get(name).cloned();
    let default = match name {
        "unwrap" => return value.or(Some(Value::Bool(false))),
        "repair" | "coerce" => "none",
        "patterns" => "linear",
        "unknown_members" => "reject",
        "formats" => "assert",
        "extract" => return value.or_else(|| Some(Value::Object(Map::new()))),
        _ => return value,
    };
    value.or_else(|| Some(json!(default)))
}

impl Policy {
    fn note(&mut self, way: Option<Way>, pointer: &str, old: Option<Value>, new: Option<Value>) {
        let Some(way) = way else {
            return;
        };
        self.for_producers &= way == Way::Wider;
        self.for_consumers &= way == Way::Narrower;
        self.changes.push(Change { pointer: pointer.to_owned(), way, old, new });
    }
}
