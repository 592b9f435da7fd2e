//! Paths in a contract. A path leads from the root of a document to values, by names, indices, and `[*]` for all items
//! of an array. Paths are a subset of RFC 9535.

use crate::{
    location::{Location, Step},
    parse::{Document, Kind, NodeId},
};

/// The maximum number of steps of a path. Longer paths exceed the maximum nesting of a document.
const MAX_STEPS: usize = 128;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    Name(String),
    Index(usize),
    /// All items of an array.
    Each,
}

/// A path as written in a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    pub selectors: Vec<Selector>,
    pub text: String,
}

impl Path {
    /// Parses a path: `$`, then `.name`, `['name']`, `[0]` or `[*]`, in any number and order.
    pub fn read(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('$')?;
        let mut selectors = Vec::new();
        while !rest.is_empty() {
            let (selector, after) = selector(rest)?;
            selectors.push(selector);
            rest = after;
        }
        (selectors.len() <= MAX_STEPS).then(|| Path { selectors, text: text.to_owned() })
    }

    /// Returns the values that the path leads to from a given value, in document order.
    pub fn select(selectors: &[Selector], document: &Document, from: NodeId) -> Vec<NodeId> {
        selectors.iter().fold(vec![from], |at, selector| {
            let inside = at.into_iter().flat_map(|at| match selector {
                Selector::Name(name) => document.member(at, name).into_iter().collect(),
                Selector::Index(index) => document.items(at).nth(*index).into_iter().collect(),
                Selector::Each => document.items(at).collect::<Vec<_>>(),
            });
            inside.collect()
        })
    }
}

/// The path of the items: names and indices to an array, and all its items.
#[derive(Debug, Clone)]
pub(crate) struct ItemsPath {
    /// The steps to the array.
    pub(crate) steps: Vec<Step>,
    pub(crate) text: String,
}

impl ItemsPath {
    /// Parses a path that has `[*]` as its last selector and nowhere else.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut selectors = Path::read(text)?.selectors;
        if selectors.pop() != Some(Selector::Each) {
            return None;
        }
        let step = |selector| match selector {
            Selector::Name(name) => Some(Step::Name(name)),
            Selector::Index(index) => Some(Step::Index(index)),
            Selector::Each => None,
        };
        let steps = selectors.into_iter().map(step).collect::<Option<_>>()?;
        Some(ItemsPath { steps, text: text.to_owned() })
    }

    /// Returns the array of items, if the document has one there.
    pub(crate) fn array(&self, document: &Document) -> Option<NodeId> {
        let array = self.steps.iter().try_fold(Document::ROOT, |at, step| match step {
            Step::Name(name) => document.member(at, name),
            Step::Index(index) => document.items(at).nth(*index),
        });
        array.filter(|&array| document.kind(array) == Kind::Array)
    }

    /// Returns the location of the item with this index.
    pub(crate) fn item(&self, index: usize) -> Location {
        self.steps.iter().cloned().chain([Step::Index(index)]).collect()
    }

    /// Returns the part of a longer path that is inside each item: the selectors after this path.
    pub(crate) fn inside<'p>(&self, path: &'p Path) -> Option<&'p [Selector]> {
        let (first, rest) = path.selectors.split_at_checked(self.steps.len())?;
        let same = first.iter().zip(&self.steps).all(|pair| match pair {
            (Selector::Name(a), Step::Name(b)) => a == b,
            (Selector::Index(a), Step::Index(b)) => a == b,
            _ => false,
        });
        rest.strip_prefix(&[Selector::Each]).filter(|_| same)
    }
}

/// Parses the first selector of a path, and returns the remaining text.
fn selector(rest: &str) -> Option<(Selector, &str)> {
    if let Some(rest) = rest.strip_prefix('.') {
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        let end = rest.find(|c: char| !is_first(c) && !c.is_ascii_digit()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        return name.starts_with(is_first).then(|| (Selector::Name(name.to_owned()), after));
    }
    let rest = rest.strip_prefix('[')?;
    if let Some(after) = rest.strip_prefix("*]") {
        return Some((Selector::Each, after));
    }
    let quote = rest.chars().next()?;
    if matches!(quote, '\'' | '"') {
        let end = closing(&rest[1..], quote)? + 1;
        let after = rest[end + 1..].strip_prefix(']')?;
        return Some((Selector::Name(unescaped(&rest[1..end])?), after));
    }
    let (digits, after) = rest.split_once(']')?;
    let plain = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then(|| digits.parse().ok()).flatten().map(|index| (Selector::Index(index), after))
}

/// Returns the position of the closing quote of a name.
fn closing(name: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    name.char_indices().find_map(|(at, character)| {
        let ends = character == quote && !escaped;
        escaped = character == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Decodes a quoted name. RFC 9535 has the escapes of JSON, and one for single quotes.
fn unescaped(name: &str) -> Option<String> {
    let mut json = String::from("\"");
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => match characters.next()? {
                '\'' => json.push('\''),
                other => json.extend(['\\', other]),
            },
            other => json.push(other),
        }
    }
    json.push('"');
    serde_json::from_str(&json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_rfc_9535_writes_them() {
        let name = |name: &str| Selector::Name(name.to_owned());
        for (text, selectors) in [
            ("$", vec![]),
            ("$[*]", vec![Selector::Each]),
            ("$.a._b1['c d'][\"e\"][0][*].é", {
                vec![name("a"), name("_b1"), name("c d"), name("e"), Selector::Index(0), Selector::Each, name("é")]
            }),
            (r#"$['it\'s']['"']['\u00e9\n']"#, vec![name("it's"), name("\""), name("é\n")]),
        ] {
            assert_eq!(Path::read(text).map(|path| path.selectors), Some(selectors), "{text}");
        }
        for text in
            ["", "a", "$.", "$a", "$.1", "$..a", "$.*", "$[01]", "$[-1]", "$[", "$['a]", "$['a'", "$[?@.a]", "$[1:2]"]
        {
            assert_eq!(Path::read(text), None, "{text}");
        }
        assert!(Path::read(&format!("${}", ".a".repeat(MAX_STEPS + 1))).is_none());
    }

    #[test]
    fn a_path_of_items_ends_with_all_of_them() {
        for text in ["$", "$.a", "$[*].a", "$.a[*][*]", "$[*][0]"] {
            assert!(ItemsPath::read(text).is_none(), "{text}");
        }
        let items = ItemsPath::read("$.a[1].b[*]").expect("a path of items");
        assert_eq!(items.item(7).path(), "$.a[1].b[7]");
        let inside = |text| items.inside(&Path::read(text).expect("a path")).map(<[_]>::to_vec);
        assert_eq!(inside("$.a[1].b[*].c"), Some(vec![Selector::Name("c".to_owned())]));
        assert_eq!(inside("$.a[1].b[*]"), Some(vec![]));
        for other in ["$.a[1].b", "$.a[0].b[*].c", "$.a[1].b[0].c", "$.a"] {
            assert_eq!(inside(other), None, "{other}");
        }
    }
}
