//! Follows paths through a document. Collects the values that a path leads to, and the values of another kind that
//! block it.

use std::collections::BTreeSet;

use seamgate_core::kernel_api::{Document, Kind, NodeId, Selector};

/// The values that a path reaches in a document.
#[derive(Default)]
pub(crate) struct Reached {
    /// The values at its end.
    pub(crate) ends: Vec<NodeId>,
    /// The intermediate values from which the path continued, or would have continued if they had more content.
    pub(crate) passed: Vec<NodeId>,
    /// The intermediate values whose kind differs from the one that the path needs, with the needed kind.
    pub(crate) stopped: Vec<(NodeId, Kind)>,
    /// Items of a list other than the one that the path names.
    pub(crate) beside: Vec<NodeId>,
    /// `true` if the path named a member or an item that is missing.
    pub(crate) is_absent: bool,
}

impl Reached {
    pub(crate) fn of(selectors: &[Selector], document: &Document, from: NodeId) -> Self {
        let mut reached = Reached::default();
        reached.follow(selectors, document, from);
        reached
    }

    fn follow(&mut self, selectors: &[Selector], document: &Document, at: NodeId) {
        let Some((selector, rest)) = selectors.split_first() else {
            self.ends.push(at);
            return;
        };
        let needed = if matches!(selector, Selector::Name(_)) { Kind::Object } else { Kind::Array };
        if document.kind(at) != needed {
            self.stopped.push((at, needed));
            return;
        }
        self.passed.push(at);
        match selector {
            Selector::Name(name) => match document.member(at, name) {
                Some(member) => self.follow(rest, document, member),
                None => self.is_absent = true,
            },
            Selector::Each => document.items(at).for_each(|item| self.follow(rest, document, item)),
            Selector::Index(index) => {
                for (number, item) in document.items(at).enumerate() {
                    match number == *index {
                        true => self.follow(rest, document, item),
                        false => self.beside.push(item),
                    }
                }
                self.is_absent |= document.count(at) <= *index;
            }
        }
    }
}

/// The values of a document that some paths cover.
pub(crate) struct Held {
    /// The scalars at the end of each path.
    pub(crate) values: Vec<Vec<NodeId>>,
    /// Values in the way of a path that none of the paths can cover.
    pub(crate) unheld: Vec<Unheld>,
}

/// A value that a path should cover and cannot.
pub(crate) struct Unheld {
    /// The index of the path.
    pub(crate) path: usize,
    pub(crate) at: NodeId,
    pub(crate) why: Why,
}

/// The reason why a path cannot cover a value.
pub(crate) enum Why {
    /// The value is on the way, and does not have this kind, which the path needs.
    Stopped(Kind),
    /// The value is at the end, and is a list or an object.
    Several,
    /// It is an item other than the one that the path names.
    Beside,
}

impl Held {
    /// Follows paths from the root of a document. A value that one path cannot cover is ignored if another path reaches
    /// it.
    pub(crate) fn of<'p>(paths: impl Iterator<Item = &'p [Selector]>, document: &Document) -> Self {
        let mut values = Vec::new();
        let mut unheld: Vec<Unheld> = Vec::new();
        let mut known: BTreeSet<NodeId> = BTreeSet::new();
        for (path, selectors) in paths.enumerate() {
            let Reached { ends, passed, stopped, beside, .. } = Reached::of(selectors, document, Document::ROOT);
            let is_single = |at: &NodeId| !matches!(document.kind(*at), Kind::Array | Kind::Object);
            let (held, several): (Vec<NodeId>, Vec<NodeId>) = ends.into_iter().partition(is_single);
            known.extend(held.iter().chain(&passed));
            values.push(held);
            unheld.extend(stopped.into_iter().map(|(at, needed)| Unheld { path, at, why: Why::Stopped(needed) }));
            unheld.extend(several.into_iter().map(|at| Unheld { path, at, why: Why::Several }));
            unheld.extend(beside.into_iter().map(|at| Unheld { path, at, why: Why::Beside }));
        }
        unheld.retain(|unheld| !known.contains(&unheld.at));
        Held { values, unheld }
    }
}
