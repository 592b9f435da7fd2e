//! The changes between two schemas, keyword by keyword, and their directions.

use seamgate_text::escaped;
use serde_json::{Map, Value, json};

use crate::schema::{ANNOTATIONS, Facts, Node, Prover};

/// The direction of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The new contract accepts less.
    Narrower,
    /// The new contract accepts more.
    Wider,
    /// The direction is unknown.
    Changed,
}

impl Way {
    /// Returns the word for the direction: `narrower`, `wider` or `changed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Way::Narrower => "narrower",
            Way::Wider => "wider",
            Way::Changed => "changed",
        }
    }

    /// Returns the direction, given whether the old schema is within the new one, and the new one within the old.
    /// `None` if both hold.
    pub(super) fn of(old_in_new: bool, new_in_old: bool) -> Option<Self> {
        match (old_in_new, new_in_old) {
            (true, true) => None,
            (true, false) => Some(Way::Wider),
            (false, true) => Some(Way::Narrower),
            (false, false) => Some(Way::Changed),
        }
    }
}

/// One change between two contracts.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The place in the contract, as a JSON Pointer.
    pub pointer: String,
    /// The direction.
    pub way: Way,
    /// The value in the old contract. `None` if it has none.
    pub old: Option<Value>,
    /// The value in the new contract. `None` if it has none.
    pub new: Option<Value>,
}

/// The maximum number of changes that are listed.
const MAX_CHANGES: usize = 200;

/// The deepest level at which schemas are compared.
const MAX_DEPTH: usize = 64;

/// Keywords whose value is a schema. If that schema accepts less, so does the whole.
const SCHEMAS: [&str; 5] =
    ["items", "additionalProperties", "additionalItems", "propertyNames", "unevaluatedProperties"];

/// Keywords that are interpreted together.
const GROUPS: [&[&str]; 2] = [&["contains", "minContains", "maxContains"], &["if", "then", "else"]];

/// Lists the changes. `pointer` is the place of both schemas.
pub(super) fn list(old: Node<'_>, new: Node<'_>, pointer: &str, changes: &mut Vec<Change>) {
    let depth = pointer.matches('/').count();
    if old.value == new.value || changes.len() >= MAX_CHANGES || depth > MAX_DEPTH {
        return;
    }
    let (Value::Object(before), Value::Object(after)) = (old.value, new.value) else {
        push(
            Way::of(Prover::within(old, new), Prover::within(new, old)),
            pointer,
            Some(old.value),
            Some(new.value),
            changes,
        );
        return;
    };
    let mut keywords: Vec<&String> = before.keys().chain(after.keys()).collect();
    keywords.sort_unstable();
    keywords.dedup();
    for keyword in keywords {
        let place = format!("{pointer}/{}", escaped(keyword));
        let (was, is) = (before.get(keyword), after.get(keyword));
        if was == is || ANNOTATIONS.contains(&keyword.as_str()) {
            continue;
        }
        match (keyword.as_str(), was, is) {
            // A definition has no effect by itself. The references to it have.
            ("$defs" | "definitions", was, is) => {
                for (name, was, is) in in_both(was, is) {
                    list(old.at(was), new.at(is), &format!("{place}/{}", escaped(name)), changes);
                }
            }
            ("properties", was, is) => {
                for (name, was, is) in in_both(was, is) {
                    list(old.at(was), new.at(is), &format!("{place}/{}", escaped(name)), changes);
                }
                for name in names(was).chain(names(is)).filter(|name| has(was, name) != has(is, name)) {
                    member(old, new, name, &place, changes);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Some(Value::Array(was)), Some(Value::Array(is)))
                if was.len() == is.len() =>
            {
                for (index, (was, is)) in was.iter().zip(is).enumerate() {
                    list(old.at(was), new.at(is), &format!("{place}/{index}"), changes);
                }
            }
            (keyword, Some(was), Some(is)) if SCHEMAS.contains(&keyword) && was.is_object() && is.is_object() => {
                list(old.at(was), new.at(is), &place, changes);
            }
            (keyword, was, is) => {
                let group = GROUPS.iter().find(|group| group.contains(&keyword)).copied();
                // A group is compared once, at its first keyword that changed.
                let first = group.and_then(|group| group.iter().find(|one| before.get(**one) != after.get(**one)));
                if first.is_some_and(|first| *first != keyword) {
                    continue;
                }
                let single = [keyword];
                let [one, other] = [before, after].map(|map| alone(map, group.unwrap_or(&single)));
                let (one, other) = (old.at(&one), new.at(&other));
                push(Way::of(Prover::within(one, other), Prover::within(other, one)), &place, was, is, changes);
            }
        }
    }
}

/// Adds the change of a member that only one of the two schemas names.
fn member(old: Node<'_>, new: Node<'_>, name: &str, place: &str, changes: &mut Vec<Change>) {
    // References and `allOf` are omitted, because their content is compared at its own place.
    let group = ["properties", "patternProperties", "additionalProperties"];
    let [was, is] = [old, new].map(|node| alone(node.value.as_object().unwrap_or(&Map::new()), &group));
    let (before, after) = (Facts::of(&[old.at(&was)]).member(name), Facts::of(&[new.at(&is)]).member(name));
    let way = Way::of(Prover::all_within(&before, &after), Prover::all_within(&after, &before));
    let shown = |schemas: &[Node<'_>]| schemas.first().map_or(json!(true), |schema| schema.value.clone());
    push(way, &format!("{place}/{}", escaped(name)), Some(&shown(&before)), Some(&shown(&after)), changes);
}

/// Returns an object with only some of another one's keywords.
fn alone(map: &Map<String, Value>, keywords: &[&str]) -> Value {
    let kept = map.iter().filter(|(name, _)| keywords.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn push(way: Option<Way>, pointer: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<Change>) {
    if let Some(way) = way.filter(|_| changes.len() < MAX_CHANGES) {
        changes.push(Change { pointer: pointer.to_owned(), way, old: old.cloned(), new: new.cloned() });
    }
}

fn names(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_object).into_iter().flat_map(|map| map.keys().map(String::as_str))
}

fn has(value: Option<&Value>, name: &str) -> bool {
    value.is_some_and(|value| value.get(name).is_some())
}

fn in_both<'v>(
    one: Option<&'v Value>,
    other: Option<&'v Value>,
) -> impl Iterator<Item = (&'v str, &'v Value, &'v Value)> {
    names(one).filter_map(move |name| Some((name, one?.get(name)?, other?.get(name)?)))
}
