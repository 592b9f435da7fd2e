//! A value that a claim says stands at a pointer in an observation.

use std::collections::BTreeMap;

use crate::{
    caps::CONTRACT_CAPS,
    check,
    parse::{self, Document, Kind, NodeId, Span},
};

/// Why a value is not what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Differs {
    NotJson,
    Nowhere,
    /// What stands there, cut.
    Is(String),
}

/// The text of an observation as JSON, whose values are looked up by pointers.
pub(super) struct Values<'t> {
    document: Option<Document<'t>>,
    /// What is inside of values: the items of an array in order, the members of an object by name. Each is made once.
    inside: BTreeMap<NodeId, Vec<NodeId>>,
}

impl<'t> Values<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let parsed = parse::parse(text, Span::new(0, text.len()), &CONTRACT_CAPS).ok();
        Values { document: parsed.map(|parsed| parsed.document), inside: BTreeMap::new() }
    }

    /// Whether the value at a pointer (RFC 6901) is this one, as JSON Schema has equality.
    pub(super) fn is(&mut self, pointer: &str, value: &serde_json::Value) -> Result<(), Differs> {
        let Values { document: Some(document), inside } = self else {
            return Err(Differs::NotJson);
        };
        let at = at(document, inside, pointer).ok_or(Differs::Nowhere)?;
        if check::equals(document, at, value) {
            return Ok(());
        }
        const MAX_SHOWN: usize = 200;
        let shown = match document.kind(at) {
            Kind::Array | Kind::Object => document.kind(at).name().to_owned(),
            _ => crate::text::cut(document.source(at), MAX_SHOWN),
        };
        Err(Differs::Is(shown))
    }
}

fn at(document: &Document, inside: &mut BTreeMap<NodeId, Vec<NodeId>>, pointer: &str) -> Option<NodeId> {
    let Some(steps) = pointer.strip_prefix('/') else {
        return pointer.is_empty().then_some(Document::ROOT);
    };
    steps.split('/').try_fold(Document::ROOT, |at, step| {
        let children = inside.entry(at).or_insert_with(|| match document.kind(at) {
            Kind::Object => {
                let mut names: Vec<NodeId> = document.members(at).map(|(name, _)| name).collect();
                names.sort_unstable_by(|a, b| document.string(*a).cmp(document.string(*b)));
                names
            }
            _ => document.items(at).collect(),
        });
        if document.kind(at) == Kind::Object {
            let name = step.replace("~1", "/").replace("~0", "~");
            let index = children.binary_search_by(|child| document.string(*child).cmp(&name)).ok()?;
            return Some(children[index] + 1);
        }
        let is_index = step == "0" || (!step.starts_with(['0', '+']) && !step.is_empty());
        step.parse().ok().filter(|_| is_index).and_then(|index: usize| children.get(index).copied())
    })
}
