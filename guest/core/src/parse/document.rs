//! The document: an arena of nodes in one buffer, in the order of the text.

use std::borrow::Cow;

use super::scan;
use crate::place::{Place, Step};

/// A piece of the output, as byte offsets into the text as it was given; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // Texts longer than `crate::MAX_TEXT` are refused before anything is parsed.
        Span { start: start as u32, end: end as u32 }
    }

    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The name of the JSON type, as the keyword `type` spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::False | Kind::True => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// A node's place in the arena. A container's descendants follow it, each with its own descendants; an object's
/// members are a string node (the name) followed by the value.
pub(crate) type NodeId = u32;

/// Where a string holds no escapes, it is the text between its quotes.
const BORROWED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Strings: where the decoded string starts in `Document::decoded`, or `BORROWED`.
    /// Containers: how many items or members.
    pub(super) a: u32,
    /// Strings that hold escapes: the length in bytes, decoded. Names that hold none: their hash.
    /// Containers: the node after the last descendant.
    pub(super) b: u32,
}

impl Node {
    #[inline(always)]
    pub(super) fn scalar(kind: Kind, span: Span) -> Self {
        Node { kind, span, a: 0, b: 0 }
    }

    #[inline(always)]
    pub(super) fn borrowed_string(span: Span) -> Self {
        Node { kind: Kind::String, span, a: BORROWED, b: 0 }
    }

    pub(super) fn decoded_string(span: Span, start: usize, length: usize) -> Self {
        Node { kind: Kind::String, span, a: start as u32, b: length as u32 }
    }

    /// Keep the hash of a name, as it is written, where that is its value.
    #[inline(always)]
    pub(super) fn set_hash(&mut self, hash: u32) {
        if self.a == BORROWED {
            self.b = hash;
        }
    }

    /// Where a string's value begins and ends in its text.
    #[inline(always)]
    fn piece(&self) -> (usize, usize) {
        match self.a {
            BORROWED => (self.span.start as usize + 1, (self.span.end as usize).wrapping_sub(1)),
            start => (start as usize, start.wrapping_add(self.b) as usize),
        }
    }

    /// A container that has not ended: everything from here on belongs to it.
    pub(super) fn open(kind: Kind, start: usize) -> Self {
        Node { kind, span: Span { start: start as u32, end: u32::MAX }, a: 0, b: u32::MAX }
    }
}

/// A parsed document, with the place of every value in the text it was parsed from.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) nodes: Vec<Node>,
    /// The strings that hold escapes, decoded, one after the other.
    pub(super) decoded: String,
}

impl<'t> Document<'t> {
    pub(crate) const ROOT: NodeId = 0;

    #[inline(always)]
    fn node(&self, id: NodeId) -> Node {
        self.nodes[id as usize]
    }

    #[inline(always)]
    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id as usize].kind
    }

    #[inline(always)]
    pub(crate) fn span(&self, id: NodeId) -> Span {
        self.node(id).span
    }

    /// The text of a value, as it was written.
    #[inline(always)]
    pub(crate) fn source(&self, id: NodeId) -> &'t str {
        self.node(id).span.of(self.text)
    }

    /// How many items or members a container has; 0 for everything else.
    #[inline(always)]
    pub(crate) fn count(&self, id: NodeId) -> usize {
        match self.kind(id) {
            Kind::Array | Kind::Object => self.node(id).a as usize,
            _ => 0,
        }
    }

    /// The node after the last descendant of this one.
    #[inline(always)]
    pub(crate) fn next(&self, id: NodeId) -> NodeId {
        match self.kind(id) {
            Kind::Array | Kind::Object => self.node(id).b.min(self.nodes.len() as u32),
            _ => id + 1,
        }
    }

    /// A string's value; empty for everything else.
    pub(crate) fn string(&self, id: NodeId) -> &str {
        let node = self.node(id);
        if node.kind != Kind::String {
            return "";
        }
        let (start, end) = node.piece();
        if node.a == BORROWED { &self.text[start..end] } else { &self.decoded[start..end] }
    }

    /// The bytes of a string's value.
    #[inline(always)]
    pub(crate) fn string_bytes(&self, id: NodeId) -> &[u8] {
        let node = &self.nodes[id as usize];
        if node.kind != Kind::String {
            return &[];
        }
        let (start, end) = node.piece();
        let bytes = if node.a == BORROWED { self.text.as_bytes() } else { self.decoded.as_bytes() };
        &bytes[start..end]
    }

    /// Whether a value is this string.
    pub(crate) fn is_string(&self, id: NodeId, string: &str) -> bool {
        let node = &self.nodes[id as usize];
        let (start, end) = node.piece();
        // The length first: it is at hand, and mostly tells.
        node.kind == Kind::String
            && end.wrapping_sub(start) == string.len()
            && scan::same(self.string_bytes(id), string.as_bytes())
    }

    /// The hash of a member's name; see `scan::hash`.
    #[inline(always)]
    pub(crate) fn name_hash(&self, name: NodeId) -> u32 {
        let node = &self.nodes[name as usize];
        if node.a == BORROWED { node.b } else { scan::hash(self.string_bytes(name)) }
    }

    /// The items of an array, in order; nothing for everything else.
    #[inline(always)]
    pub(crate) fn items(&self, id: NodeId) -> Items<'_, 't> {
        let (at, end) = match self.kind(id) {
            Kind::Array => (id + 1, self.next(id)),
            _ => (0, 0),
        };
        Items { document: self, at, end }
    }

    /// The members of an object, in order, as name and value; nothing for everything else.
    #[inline(always)]
    pub(crate) fn members(&self, id: NodeId) -> Members<'_, 't> {
        let (at, end) = match self.kind(id) {
            Kind::Object => (id + 1, self.next(id)),
            _ => (0, 0),
        };
        Members { document: self, at, end }
    }

    /// The value of an object's member.
    pub(crate) fn member(&self, id: NodeId, name: &str) -> Option<NodeId> {
        self.members(id).find(|&(key, _)| self.is_string(key, name)).map(|(_, value)| value)
    }

    /// The name of the first member of an object that is not among the known ones.
    pub(crate) fn unknown_member(&self, id: NodeId, known: &[&str]) -> Option<NodeId> {
        self.members(id).map(|(name, _)| name).find(|&name| !known.contains(&self.string(name)))
    }

    /// The place of a node. A member's name has the place of its value.
    pub(crate) fn place(&self, target: NodeId) -> Place {
        let mut place = Place::root();
        let mut at = Self::ROOT;
        'down: while at != target {
            if self.kind(at) == Kind::Array {
                for (index, item) in self.items(at).enumerate() {
                    if target < self.next(item) {
                        place.push(Step::Index(index));
                        at = item;
                        continue 'down;
                    }
                }
            } else {
                for (name, value) in self.members(at) {
                    if target < self.next(value) {
                        place.push(Step::Name(self.string(name).to_owned()));
                        if target == name {
                            return place;
                        }
                        at = value;
                        continue 'down;
                    }
                }
                // The text broke off after a name: it has no value yet.
                place.push(Step::Name(self.string(target).to_owned()));
            }
            break;
        }
        place
    }

    /// Append a value as JSON text without optional white space. Numbers keep their digits; strings are written
    /// with the fewest escapes (RFC 8259, section 7).
    pub(crate) fn write(&self, id: NodeId, out: &mut String) {
        match self.kind(id) {
            Kind::Array => {
                out.push('[');
                for (index, item) in self.items(id).enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.write(item, out);
                }
                out.push(']');
            }
            Kind::Object => {
                out.push('{');
                for (index, (name, value)) in self.members(id).enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.write(name, out);
                    out.push(':');
                    self.write(value, out);
                }
                out.push('}');
            }
            // A string without escapes is written in the fewest already.
            Kind::String if self.node(id).a != BORROWED => crate::text::push_json_string(out, self.string(id)),
            _ => out.push_str(self.source(id)),
        }
    }

    /// The whole document as JSON text without optional white space.
    pub(crate) fn minified(&self) -> String {
        let mut out = String::with_capacity(self.source(Self::ROOT).len());
        self.write(Self::ROOT, &mut out);
        out
    }

    /// A value as text for a person: a string's own text, everything else as JSON.
    pub(crate) fn shown(&self, id: NodeId) -> Cow<'_, str> {
        match self.kind(id) {
            Kind::String => Cow::Borrowed(self.string(id)),
            _ => Cow::Borrowed(self.source(id)),
        }
    }
}

pub(crate) struct Items<'d, 't> {
    document: &'d Document<'t>,
    at: NodeId,
    end: NodeId,
}

impl Iterator for Items<'_, '_> {
    type Item = NodeId;

    #[inline(always)]
    fn next(&mut self) -> Option<NodeId> {
        (self.at < self.end).then(|| {
            let item = self.at;
            self.at = self.document.next(item);
            item
        })
    }
}

pub(crate) struct Members<'d, 't> {
    document: &'d Document<'t>,
    at: NodeId,
    end: NodeId,
}

impl Iterator for Members<'_, '_> {
    type Item = (NodeId, NodeId);

    #[inline(always)]
    fn next(&mut self) -> Option<(NodeId, NodeId)> {
        // A document that broke off may end with a name without a value.
        (self.at + 1 < self.end).then(|| {
            let name = self.at;
            self.at = self.document.next(name + 1);
            (name, name + 1)
        })
    }
}
