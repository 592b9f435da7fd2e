//! The evidence that proves the origins of arguments: values that results had at the paths that origins name, and texts
//! that people said. Both are bounded. A value or text that does not fit is dropped, and proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use seamgate_core::kernel_api::{Document, Kind, NodeId, Path, Selector, sort_by_key};
use serde::{Deserialize, Serialize};

use crate::document::{source, text_in};

/// The maximum number of people's texts that a run keeps, and their maximum total size in bytes.
const MAX_SAID: usize = 64;
const MAX_SAID_BYTES: usize = 64 * 1024;

/// The maximum length of a result's string that is kept, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// The maximum number of values that are kept from one result and from all results of a run, and the maximum size of
/// the values and their pointers, in bytes.
const MAX_OF_RESULT: usize = 1024;
const MAX_VALUES: usize = 4096;
const MAX_BYTES: usize = 128 * 1024;

/// Values of one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Observed {
    /// The full name of the tool.
    pub(crate) tool: String,
    /// The key of the call.
    pub(crate) call: String,
    /// The values by the paths that the profile names.
    pub(crate) values: BTreeMap<String, Vec<Value>>,
}

/// A value of a result: a string, or the text of a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Value {
    /// A JSON Pointer into the result.
    pub(crate) at: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) number: Option<String>,
}

impl Value {
    fn bytes(&self) -> usize {
        self.at.len() + self.text.as_ref().or(self.number.as_ref()).map_or(0, String::len)
    }
}

impl Observed {
    /// Reads values of facts.
    pub(crate) fn read(document: &Document, at: NodeId) -> Self {
        let own = |at, name| text_in(document, at, name).map(str::to_owned);
        let value =
            |at| Value { at: own(at, "at").unwrap_or_default(), text: own(at, "text"), number: own(at, "number") };
        let values = document.member(at, "values").into_iter().flat_map(|at| document.members(at));
        Observed {
            tool: own(at, "tool").unwrap_or_default(),
            call: own(at, "call").unwrap_or_default(),
            values: values
                .map(|(path, at)| (document.string(path).to_owned(), document.items(at).map(value).collect()))
                .collect(),
        }
    }

    fn count(&self) -> usize {
        self.values.values().map(Vec::len).sum()
    }

    /// Returns an upper bound for the size as JSON, in bytes.
    pub(crate) fn most_bytes(&self) -> usize {
        self.values.keys().map(String::len).sum::<usize>() + self.bytes() + 32 * self.count()
    }

    /// Returns the size of the values and their pointers, in bytes.
    fn bytes(&self) -> usize {
        self.values.values().flatten().map(Value::bytes).sum()
    }
}

/// Collects the values at some paths of a whole result. Skips values at or below the excluded pointers. Each path gets
/// an equal share of the room.
pub(crate) fn collect(
    document: &Document,
    paths: &[&Path],
    without: &BTreeSet<String>,
) -> BTreeMap<String, Vec<Value>> {
    let parts = paths.len().max(1);
    let mut all = BTreeMap::new();
    for path in paths {
        let (values, bytes) = (Vec::new(), MAX_BYTES / parts);
        let mut collector = Collector { document, without, values, count: MAX_OF_RESULT / parts, bytes };
        collector.follow(&path.selectors, Document::ROOT, &mut String::new());
        if !collector.values.is_empty() {
            all.insert(path.text.clone(), collector.values);
        }
    }
    all
}

struct Collector<'d, 't> {
    document: &'d Document<'t>,
    without: &'d BTreeSet<String>,
    values: Vec<Value>,
    count: usize,
    bytes: usize,
}

impl Collector<'_, '_> {
    /// Follows a path from a value. `pointer` is the location of the value.
    fn follow(&mut self, selectors: &[Selector], at: NodeId, pointer: &mut String) {
        let (document, here) = (self.document, pointer.len());
        if self.values.len() == self.count || self.without.contains(pointer.as_str()) {
            return;
        }
        let Some((selector, rest)) = selectors.split_first() else { return self.take(at, pointer) };
        match (selector, document.kind(at)) {
            (Selector::Name(name), Kind::Object) => {
                if let Some(member) = document.member(at, name) {
                    pointer.push_str(&format!("/{}", name.replace('~', "~0").replace('/', "~1")));
                    self.follow(rest, member, pointer);
                }
            }
            (Selector::Each | Selector::Index(_), Kind::Array) => {
                for (number, item) in document.items(at).enumerate() {
                    if matches!(selector, Selector::Index(index) if *index != number) {
                        continue;
                    }
                    if self.values.len() == self.count {
                        break;
                    }
                    pointer.push_str(&format!("/{number}"));
                    self.follow(rest, item, pointer);
                    pointer.truncate(here);
                }
            }
            _ => {}
        }
        pointer.truncate(here);
    }

    fn take(&mut self, at: NodeId, pointer: &str) {
        let document = self.document;
        let (text, number) = match document.kind(at) {
            Kind::String => (Some(document.string(at).to_owned()), None),
            Kind::Number => (None, Some(source(document, at))),
            _ => return,
        };
        let value = Value { at: pointer.to_owned(), text, number };
        if value.bytes() - pointer.len() <= MAX_VALUE_BYTES && value.bytes() <= self.bytes {
            self.bytes -= value.bytes();
            self.values.push(value);
        }
    }
}

/// Returns the values of all results with another result added. It replaces an earlier result of the same call. `None`
/// if nothing changes.
pub(crate) fn with(all: &[Observed], new: Observed) -> Option<Vec<Observed>> {
    let others = all.iter().filter(|other| other.call != new.call || other.tool != new.tool).cloned();
    let mut kept: Vec<Observed> = others.collect();
    if new.values.is_empty() && kept.len() == all.len() {
        return None;
    }
    if !new.values.is_empty() {
        kept.push(new);
    }
    bound(&mut kept);
    Some(kept)
}

/// Drops the oldest results until the rest is within bounds.
pub(crate) fn bound(all: &mut Vec<Observed>) {
    let (mut count, mut bytes) = (0, 0);
    let fits = |one: &&Observed| {
        count += one.count();
        bytes += one.bytes();
        count <= MAX_VALUES && bytes <= MAX_BYTES
    };
    let kept = all.iter().rev().take_while(fits).count();
    all.drain(..all.len() - kept);
}

/// Drops each text that is too long, and then the oldest texts until the rest is within bounds. Returns the number of
/// dropped texts.
pub(crate) fn bound_said(said: &mut Vec<String>) -> usize {
    let (all, mut bytes) = (said.len(), 0);
    said.retain(|text| text.len() <= MAX_SAID_BYTES);
    let fits = |text: &&String| {
        bytes += text.len();
        bytes <= MAX_SAID_BYTES
    };
    let kept = said.iter().rev().take(MAX_SAID).take_while(fits).count();
    said.drain(..said.len() - kept);
    all - kept
}

/// Adds paths to a list, without duplicates and in a fixed order.
pub(crate) fn add_paths<'p>(paths: &mut Vec<&'p Path>, more: impl Iterator<Item = &'p Path>) {
    paths.extend(more);
    sort_by_key(paths, |path| path.text.as_str());
    paths.dedup_by(|one, other| one.text == other.text);
}

#[cfg(test)]
mod tests {
    use seamgate_core::kernel_api::Json;

    use super::*;
    use crate::document::CAPS;

    fn taken(json: &str, paths: &[&str], without: &[&str]) -> BTreeMap<String, Vec<Value>> {
        let document = Json::read(json, &CAPS).expect("JSON");
        let paths: Vec<Path> = paths.iter().map(|path| Path::read(path).expect("a path")).collect();
        let without = without.iter().map(|&pointer| pointer.to_owned()).collect();
        collect(&document, &paths.iter().collect::<Vec<_>>(), &without)
    }

    fn pointers(values: &[Value]) -> Vec<&str> {
        values.iter().map(|value| value.at.as_str()).collect()
    }

    #[test]
    fn values_have_the_pointers_of_the_whole_result() {
        let json = r#"{"a/b":[{"m":"x"},{"m":1.50},{"m":null},{"m":["y"]},{"n":"z"},{"m":"w"}]}"#;
        let all = taken(json, &["$['a/b'][*].m", "$['a/b'][5].m", "$.none"], &[]);
        assert_eq!(pointers(&all["$['a/b'][*].m"]), ["/a~1b/0/m", "/a~1b/1/m", "/a~1b/5/m"]);
        assert_eq!(all["$['a/b'][*].m"][1].number.as_deref(), Some("1.50"));
        assert_eq!(pointers(&all["$['a/b'][5].m"]), ["/a~1b/5/m"]);
        assert!(!all.contains_key("$.none"));
        let all = taken(json, &["$['a/b'][*].m"], &["/a~1b/0", "/a~1b/5/m"]);
        assert_eq!(pointers(&all["$['a/b'][*].m"]), ["/a~1b/1/m"]);
    }

    #[test]
    fn a_result_is_bounded() {
        let many: Vec<String> = (0..3000).map(|number| format!("\"v{number}\"")).collect();
        let all = taken(&format!("[{}]", many.join(",")), &["$[*]"], &[]);
        assert_eq!(all["$[*]"].len(), MAX_OF_RESULT);
        let all = taken(&format!("[{}]", many.join(",")), &["$[*]", "$.x"], &[]);
        assert_eq!(all["$[*]"].len(), MAX_OF_RESULT / 2);
        let long = format!("[\"{}\",\"{}\"]", "a".repeat(MAX_VALUE_BYTES), "b".repeat(MAX_VALUE_BYTES + 1));
        assert_eq!(pointers(&taken(&long, &["$[*]"], &[])["$[*]"]), ["/0"]);
        let large = format!("[{}]", vec![format!("\"{}\"", "a".repeat(500)); 1000].join(","));
        let one = Observed { tool: "t".to_owned(), call: "c".to_owned(), values: taken(&large, &["$[*]"], &[]) };
        assert!(one.bytes() <= MAX_BYTES && one.bytes() > MAX_BYTES - 1024);
    }

    #[test]
    fn the_oldest_results_and_texts_are_forgotten() {
        let mut all = Vec::new();
        for number in 0..20 {
            let values = taken(&format!("[{}\"x\"]", "\"v\",".repeat(399)), &["$[*]"], &[]);
            let new = Observed { tool: "t".to_owned(), call: format!("c{number}"), values };
            all = with(&all, new).expect("values");
        }
        assert_eq!(all.len(), MAX_VALUES / 400);
        assert_eq!(all[0].call, "c10");
        let again = with(&all, Observed { call: "c12".to_owned(), ..all[0].clone() }).expect("values");
        assert_eq!(again.iter().filter(|one| one.call == "c12").count(), 1);
        let none = |call: &str| Observed { tool: "t".to_owned(), call: call.to_owned(), values: BTreeMap::new() };
        assert_eq!(with(&all, none("c99")), None);
        let replaced = with(&all, none("c12")).expect("a change");
        assert!(replaced.iter().all(|one| one.call != "c12") && replaced.len() == all.len() - 1);

        let mut said: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        assert_eq!(bound_said(&mut said), 36);
        assert_eq!(said[0], "36");
        said.push("x".repeat(MAX_SAID_BYTES - 1));
        said.push("y".to_owned());
        bound_said(&mut said);
        assert_eq!(said.len(), 2);
        said.push("z".repeat(MAX_SAID_BYTES + 1));
        assert_eq!(bound_said(&mut said), 1);
        assert_eq!(said.len(), 2);
    }
}
