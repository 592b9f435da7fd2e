//! Names of arguments that a server could confuse. A server must not read an argument under another name than the gate
//! judged. Readers in Go ignore the case of a name, and readers in JavaScript take one name for the prototype of its
//! object.

use std::collections::BTreeMap;

use seamgate_core::kernel_api::{Document, Kind, NodeId, Selector, quote};

/// The member that readers in JavaScript take for the prototype, or drop.
const PROTOTYPE: &str = "__proto__";

/// The names that schemas and rules use for the members of a value, and for nested members.
#[derive(Default)]
pub(crate) struct Names {
    /// For each name in the form in which a reader that ignores case compares it: the names, and the names inside such
    /// a member.
    members: BTreeMap<String, (Vec<String>, Names)>,
    /// The names of the items of a list.
    items: Option<Box<Names>>,
}

impl Names {
    /// Adds the names on a path of the arguments.
    pub(crate) fn add(&mut self, path: &[Selector]) {
        let mut at = self;
        for selector in path {
            at = match selector {
                Selector::Name(name) => {
                    let (names, inside) = at.members.entry(folded(name)).or_default();
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                    inside
                }
                Selector::Index(_) | Selector::Each => at.items.get_or_insert_default(),
            };
        }
    }

    /// Returns the reason why a reader could confuse a member of the arguments with another. `None` if there is
    /// no such member.
    pub(crate) fn mistaken(&self, arguments: &Document) -> Option<String> {
        mistaken(Some(self), arguments, Document::ROOT)
    }
}

fn mistaken(names: Option<&Names>, document: &Document, at: NodeId) -> Option<String> {
    match document.kind(at) {
        Kind::Object => document.members(at).find_map(|(name, value)| {
            let name = document.string(name);
            let known = names.and_then(|names| names.members.get(&folded(name)));
            match known {
                Some((names, _)) if !names.iter().any(|known| known == name) => {
                    let (name, known) = (quote(name, 128), quote(names.first()?, 128));
                    Some(format!(
                        "the argument {name} differs from {known} only in case, and servers may read one as the other"
                    ))
                }
                None if name == PROTOTYPE => Some(format!(
                    "the argument {PROTOTYPE:?} is refused: servers may read it as the prototype of its object"
                )),
                _ => mistaken(known.map(|(_, inside)| inside), document, value),
            }
        }),
        Kind::Array => {
            let names = names.and_then(|names| names.items.as_deref());
            document.items(at).find_map(|item| mistaken(names, document, item))
        }
        _ => None,
    }
}

/// Returns a name in the form in which a reader that ignores case compares it. Go treats U+017F and U+212A as `s` and
/// `k`.
fn folded(name: &str) -> String {
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        _ => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).collect()
}

#[cfg(test)]
mod tests {
    use seamgate_core::kernel_api::{CONTRACT_CAPS, Json, Path};

    use super::*;

    #[test]
    fn names_that_differ_only_in_case_from_known_ones_are_mistaken() {
        let mut names = Names::default();
        for path in ["$.path", "$.to.host", "$.to.Host", "$.list[*].kind", "$.sets[0].k"] {
            names.add(&Path::read(path).expect("a path").selectors);
        }
        for (arguments, is_mistaken) in [
            (r#"{"path":"/a","other":{"PATH":1,"Path":2}}"#, false),
            (r#"{"path":"/a","PATH":"/b"}"#, true),
            (r#"{"Path":"/b"}"#, true),
            (r#"{"to":{"host":1,"Host":2,"path":3}}"#, false),
            (r#"{"to":{"HOST":1}}"#, true),
            (r#"{"list":[{"kind":1},{"\u212aind":1}]}"#, true),
            (r#"{"list":[{"kind":1},{"other":{"Kind":1}}]}"#, false),
            (r#"{"\u017fets":[]}"#, true),
            (r#"{"a":[{"b":{"__proto__":{}}}]}"#, true),
        ] {
            let document = Json::read(arguments, &CONTRACT_CAPS).expect("JSON");
            assert_eq!(names.mistaken(&document).is_some(), is_mistaken, "{arguments}");
        }
    }
}
