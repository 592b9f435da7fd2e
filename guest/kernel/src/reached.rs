//! What a path leads to in a document, and where it does not lead on because something else stands there.

use seamgate_core::kernel_api::{Document, Kind, NodeId, Selector};

/// The way of a path through a document.
#[derive(Default)]
pub(crate) struct Reached {
    /// The values at its end.
    pub(crate) ends: Vec<NodeId>,
    /// The values on the way, from which it led on, or would have if more were there.
    pub(crate) passed: Vec<NodeId>,
    /// The values on the way that are of another kind than the path needs, with the kind that it needs.
    pub(crate) stopped: Vec<(NodeId, Kind)>,
    /// Items of a list beside the one that the path names.
    pub(crate) beside: Vec<NodeId>,
    /// Whether it named a member or an item that is not there.
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
