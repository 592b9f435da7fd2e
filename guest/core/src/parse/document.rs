//! The parsed document: an arena of nodes in one buffer, in text order.

use std::{borrow::Cow, cmp::Ordering};

use super::{Edit, Origin, followed_by};
pub(crate) use crate::types::Span;
use crate::{
    location::{Location, SeenStep, Step, unescaped},
    scan,
};

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // Texts longer than `caps::MAX_TEXT` are rejected before parsing.
        Span { start: start as u32, end: end as u32 }
    }

    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    #[inline(always)]
    fn start_and_length(self) -> (usize, usize) {
        (self.start as usize, (self.end as usize).wrapping_sub(self.start as usize))
    }
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// Returns the name of the JSON type, as in the keyword `type`.
    pub fn name(self) -> &'static str {
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

/// A node's index in the arena. The descendants of a container follow it. In an object, each member is a string node
/// for the name, followed by the value.
pub type NodeId = u32;

/// Marks a string without escapes: its value is the text between its quotes.
pub(super) const BORROWED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// For strings, the start of the decoded string in `Document::decoded`, or `BORROWED`. For containers, the number
    /// of items or members.
    pub(super) a: u32,
    /// For strings with escapes, the decoded length in bytes. For names without escapes, their hash. For containers,
    /// the node after the last descendant.
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

    /// Creates a name without escapes, with its hash.
    #[inline(always)]
    pub(super) fn name(span: Span, hash: u32) -> Self {
        Node { kind: Kind::String, span, a: BORROWED, b: hash }
    }

    /// Returns the start and end of a string's value in its text.
    #[inline(always)]
    fn piece(&self) -> (usize, usize) {
        match self.a {
            BORROWED => (self.span.start as usize + 1, (self.span.end as usize).wrapping_sub(1)),
            start => (start as usize, start.wrapping_add(self.b) as usize),
        }
    }

    /// Creates an open container. All following nodes belong to it.
    pub(super) fn open(kind: Kind, start: usize) -> Self {
        Node { kind, span: Span { start: start as u32, end: u32::MAX }, a: 0, b: u32::MAX }
    }
}

/// A parsed document, with the position of every value in the text it was parsed from.
#[derive(Debug)]
pub struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) nodes: Vec<Node>,
    /// The decoded strings that have escapes, one after the other.
    pub(super) decoded: String,
    /// The edits that were applied before parsing. `None` if there were none.
    pub(super) origin: Option<Origin>,
    /// `true` if a string has an escape that was probably meant as a backslash.
    pub(super) is_suspicious: bool,
}

impl<'t> Document<'t> {
    pub const ROOT: NodeId = 0;

    #[inline(always)]
    fn node(&self, id: NodeId) -> Node {
        self.nodes[id as usize]
    }

    /// Returns the last node.
    pub(crate) fn last(&self) -> NodeId {
        self.nodes.len().saturating_sub(1) as NodeId
    }

    #[inline(always)]
    pub fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id as usize].kind
    }

    /// Returns the span of a value in the output.
    pub fn span(&self, id: NodeId) -> Span {
        self.of_output(self.node(id).span)
    }

    /// Returns the span in the output that corresponds to a span of the text.
    pub(crate) fn of_output(&self, span: Span) -> Span {
        self.origin.as_ref().map_or(span, |origin| origin.of(span))
    }

    /// Returns the span in the text of the edit with this index.
    pub(crate) fn edited(&self, number: usize) -> Span {
        self.origin.as_ref().and_then(|origin| origin.edit(number)).unwrap_or(Span { start: 0, end: 0 })
    }

    /// Returns the spans to cut from the text to remove members, each with an adjacent comma, and the start of the
    /// member's name. `pieces` are the members as returned by [`pieces`](Document::pieces).
    pub(crate) fn cuts(&self, pieces: &[(NodeId, NodeId)]) -> Vec<(Span, u32)> {
        let bytes = self.text.as_bytes();
        let mut cuts: Vec<(Span, u32)> = Vec::with_capacity(pieces.len());
        // `true` if the last member was cut together with the comma after it, because it was the first of its object.
        let mut leading = false;
        for &(name, _) in pieces {
            let (start, end) = (self.node(name).span.start as usize, self.node(name + 1).span.end as usize);
            let before = bytes[..start].trim_ascii_end();
            leading = before.last() == Some(&b'{')
                || (leading && cuts.last().is_some_and(|(cut, _)| cut.end as usize == start));
            let comma = end + scan::white_space(&bytes[end..]);
            let cut = if !leading {
                Span::new(before.len().saturating_sub(1), end)
            } else if bytes.get(comma) == Some(&b',') {
                Span::new(start, comma + 1 + scan::white_space(&bytes[comma + 1..]))
            } else {
                Span::new(start, end)
            };
            cuts.push((cut, start as u32));
        }
        cuts
    }

    /// Returns the node ranges of members, given by the nodes of their names in document order. Each range has the
    /// first node and the node after the last. A member inside another given member is included in that range.
    pub(crate) fn pieces(&self, names: &[NodeId]) -> Vec<(NodeId, NodeId)> {
        let mut pieces: Vec<(NodeId, NodeId)> = Vec::with_capacity(names.len());
        for &name in names {
            if pieces.last().is_none_or(|(_, end)| name >= *end) {
                pieces.push((name, self.next(name + 1)));
            }
        }
        pieces
    }

    /// Combines the edits that produced the text with further edits of the text. Returns edits of the output.
    pub(crate) fn edits(&self, edits: Vec<Edit>, more: Vec<Edit>) -> Vec<Edit> {
        match &self.origin {
            Some(origin) => followed_by(edits, (self.text, origin), more, |_, _| false),
            None => more,
        }
    }

    /// Returns the text that the document was parsed from, and its span in it.
    pub(crate) fn text(&self) -> (&'t str, Span) {
        (self.text, self.node(Self::ROOT).span)
    }

    /// Returns the span of a value in the parsed text.
    pub(crate) fn place_in_text(&self, id: NodeId) -> Span {
        self.node(id).span
    }

    /// Returns the values of members, in ascending order.
    pub(crate) fn member_values(&self) -> Vec<NodeId> {
        let objects = (0..self.nodes.len() as NodeId).filter(|at| self.kind(*at) == Kind::Object);
        let mut values: Vec<NodeId> = objects.flat_map(|at| self.members(at)).map(|(_, value)| value).collect();
        values.sort_unstable();
        values
    }

    /// Returns the paths of the innermost values at offsets into the text, given in ascending order.
    pub(crate) fn paths_at(&self, offsets: impl Iterator<Item = u32>) -> Vec<String> {
        /// A container on the path to an offset.
        struct Open {
            id: NodeId,
            /// The last item or member, and its end in the text.
            step: Option<(Step, u32)>,
        }
        let mut open: Vec<Open> = Vec::new();
        let mut at = Self::ROOT;
        let step_to = |open: &mut Vec<Open>, at: NodeId| {
            let Some(parent) = open.last_mut() else {
                return;
            };
            let end = self.node(at).span.end;
            parent.step = match (self.kind(parent.id), parent.step.take()) {
                (Kind::Array, Some((Step::Index(index), _))) => Some((Step::Index(index + 1), end)),
                (Kind::Array, _) => Some((Step::Index(0), end)),
                // A name, followed by its value.
                (_, Some((step, u32::MAX))) => Some((step, end)),
                _ => Some((Step::Name(self.string(at).to_owned()), u32::MAX)),
            };
        };
        let paths = offsets.map(|offset| {
            while (at as usize) < self.nodes.len() && self.node(at).span.start <= offset {
                while open.pop_if(|container| self.next(container.id) <= at).is_some() {}
                step_to(&mut open, at);
                if matches!(self.kind(at), Kind::Array | Kind::Object) {
                    open.push(Open { id: at, step: None });
                }
                at += 1;
            }
            while open.pop_if(|container| self.node(container.id).span.end <= offset).is_some() {}
            let inside = open.iter().filter_map(|container| container.step.as_ref());
            Location::path_of(inside.filter(|(_, end)| offset < *end).map(|(step, _)| step))
        });
        paths.collect()
    }

    /// Returns the source text of a value.
    #[inline(always)]
    pub fn source(&self, id: NodeId) -> &'t str {
        self.node(id).span.of(self.text)
    }

    /// Returns the number of items or members of a container, or 0 for other values.
    #[inline(always)]
    pub fn count(&self, id: NodeId) -> usize {
        match self.kind(id) {
            Kind::Array | Kind::Object => self.node(id).a as usize,
            _ => 0,
        }
    }

    /// Returns the node after the last descendant of this one.
    #[inline(always)]
    pub fn next(&self, id: NodeId) -> NodeId {
        match self.kind(id) {
            Kind::Array | Kind::Object => self.node(id).b.min(self.nodes.len() as u32),
            _ => id + 1,
        }
    }

    /// Returns a string's value, or an empty string for other values.
    pub fn string(&self, id: NodeId) -> &str {
        let node = self.node(id);
        if node.kind != Kind::String {
            return "";
        }
        let (start, end) = node.piece();
        if node.a == BORROWED { &self.text[start..end] } else { &self.decoded[start..end] }
    }

    /// Returns the bytes of a string's value.
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

    /// Returns whether a value equals a string.
    pub(crate) fn is_string(&self, id: NodeId, string: &str) -> bool {
        let node = &self.nodes[id as usize];
        let (start, end) = node.piece();
        // Compares the length first: it is cheap, and usually decides.
        node.kind == Kind::String
            && end.wrapping_sub(start) == string.len()
            && scan::same(self.string_bytes(id), string.as_bytes())
    }

    /// Returns the hash of a member's name; see `scan::hash`.
    #[inline(always)]
    pub(crate) fn name_hash(&self, name: NodeId) -> u32 {
        let node = &self.nodes[name as usize];
        if node.a == BORROWED { node.b } else { scan::hash(self.string_bytes(name)) }
    }

    /// Returns the items of an array in order, or nothing for other values.
    #[inline(always)]
    pub fn items(&self, id: NodeId) -> Items<'_, 't> {
        let (at, end) = match self.kind(id) {
            Kind::Array => (id + 1, self.next(id)),
            _ => (0, 0),
        };
        Items { document: self, at, end }
    }

    /// Returns the members of an object in order, as name and value, or nothing for other values.
    #[inline(always)]
    pub fn members(&self, id: NodeId) -> Members<'_, 't> {
        let (at, end) = match self.kind(id) {
            Kind::Object => (id + 1, self.next(id)),
            _ => (0, 0),
        };
        Members { document: self, at, end }
    }

    /// Returns the value of an object's member.
    pub fn member(&self, id: NodeId, name: &str) -> Option<NodeId> {
        let hash = scan::hash(name.as_bytes());
        let is_it = |&(key, _): &(NodeId, NodeId)| self.name_hash(key) == hash && self.is_string(key, name);
        self.members(id).find(is_it).map(|(_, value)| value)
    }

    /// Returns the name of the first member of an object that is not among the known ones.
    pub fn unknown_member(&self, id: NodeId, known: &[&str]) -> Option<NodeId> {
        self.members(id).map(|(name, _)| name).find(|&name| !known.contains(&self.string(name)))
    }

    /// Returns the location of a node. A member's name has the location of its value.
    pub fn location(&self, target: NodeId) -> Location {
        self.location_within(Self::ROOT, Location::root(), target)
    }

    /// Returns the text of a span.
    pub(crate) fn piece(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    /// Returns the span in the text that a JSON Pointer (RFC 6901) leads to, or else the span of the innermost existing
    /// value on the path. For a member, returns the span of its name if `is_name` is set.
    pub fn located(&self, pointer: &str, is_name: bool) -> Span {
        let (mut at, mut span) = (Self::ROOT, self.span(Self::ROOT));
        let mut steps = pointer.split('/').skip(1).peekable();
        while let Some(step) = steps.next() {
            let step = unescaped(step);
            let found = match self.kind(at) {
                Kind::Array => step.parse().ok().and_then(|index| self.items(at).nth(index)).map(|at| (at, at)),
                _ => self.members(at).find(|&(name, _)| self.is_string(name, &step)),
            };
            let Some((name, value)) = found else { break };
            at = value;
            span = self.span(if is_name && steps.peek().is_none() { name } else { value });
        }
        span
    }

    /// Returns the location of a node inside a value whose location is known.
    pub fn location_within(&self, from: NodeId, mut place: Location, target: NodeId) -> Location {
        self.walk(from, target, |step| place.push(step.to_step()));
        place
    }

    /// Visits the steps from a value to a node inside it.
    #[inline(always)]
    pub(crate) fn walk<'s>(&'s self, from: NodeId, target: NodeId, mut step: impl FnMut(SeenStep<'s>)) {
        let mut at = from;
        'down: while at != target {
            if self.kind(at) == Kind::Array {
                for (index, item) in self.items(at).enumerate() {
                    if target < self.next(item) {
                        step(SeenStep::Index(index));
                        at = item;
                        continue 'down;
                    }
                }
            } else {
                for (name, value) in self.members(at) {
                    if target < self.next(value) {
                        step(SeenStep::Name(self.string(name)));
                        if target == name {
                            return;
                        }
                        at = value;
                        continue 'down;
                    }
                }
                // The text ends after a name, without a value.
                step(SeenStep::Name(self.string(target)));
            }
            break;
        }
    }

    /// Appends a value as JSON text without insignificant white space. Numbers keep their digits. Strings have the
    /// fewest escapes (RFC 8259, section 7).
    pub fn write(&self, id: NodeId, out: &mut String) {
        self.write_to(id, out);
    }

    /// Returns a value in the form that [`write`](Document::write) produces, borrowed if the text already has that
    /// form.
    pub fn minified_at(&self, id: NodeId) -> Cow<'t, str> {
        let source = self.source(id);
        let mut same = Same { rest: Some(source.as_bytes()) };
        self.write_to(id, &mut same);
        if same.rest == Some(&[]) {
            return Cow::Borrowed(source);
        }
        let mut out = String::with_capacity(source.len() + SHORT);
        self.write(id, &mut out);
        Cow::Owned(out)
    }

    fn write_to(&self, id: NodeId, out: &mut impl Out) {
        match self.kind(id) {
            Kind::Array => {
                out.mark(b'[');
                let mut first = true;
                for item in self.items(id) {
                    if !std::mem::take(&mut first) {
                        out.mark(b',');
                    }
                    self.write_within(item, out);
                }
                out.mark(b']');
            }
            Kind::Object => {
                out.mark(b'{');
                let mut first = true;
                for (name, value) in self.members(id) {
                    if !std::mem::take(&mut first) {
                        out.mark(b',');
                    }
                    self.write_scalar(name, out);
                    out.mark(b':');
                    self.write_within(value, out);
                }
                out.mark(b'}');
            }
            _ => self.write_scalar(id, out),
        }
    }

    /// Writes a value inside a container. Most values are not containers, and need no call.
    #[inline(always)]
    fn write_within(&self, id: NodeId, out: &mut impl Out) {
        match self.kind(id) {
            Kind::Array | Kind::Object => self.write_to(id, out),
            _ => self.write_scalar(id, out),
        }
    }

    #[inline(always)]
    fn write_scalar(&self, id: NodeId, out: &mut impl Out) {
        let node = &self.nodes[id as usize];
        match node.kind {
            // A string without escapes already has the fewest.
            Kind::String if node.a != BORROWED => out.string(node.span.of(self.text), self.string(id)),
            _ => out.piece(self.text, node.span),
        }
    }

    /// Returns the whole document as JSON text without insignificant white space.
    pub fn minified(&self) -> String {
        let mut out = String::with_capacity(self.room());
        self.write_to(Self::ROOT, &mut out);
        out
    }

    /// Returns the capacity for the whole document as text, including room for copying the last piece in a fixed-size
    /// block.
    fn room(&self) -> usize {
        self.source(Self::ROOT).len() + SHORT
    }

    /// Removes items or members, each given by its first node and the node after its last, in order. The rest keeps its
    /// positions in the output.
    pub(crate) fn without(mut self, removed: &[(NodeId, NodeId)]) -> Self {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        // Open containers: their ends in the old buffer, and their positions in the new one.
        let mut open: Vec<(NodeId, usize)> = Vec::new();
        let mut removed = removed.iter().peekable();
        let mut at = 0;
        loop {
            while let Some((_, id)) = open.pop_if(|(end, _)| at >= *end) {
                nodes[id].b = nodes.len() as u32;
            }
            let Some(&node) = self.nodes.get(at as usize) else {
                break;
            };
            if let Some((_, end)) = removed.next_if(|(start, _)| *start == at) {
                if let Some((_, id)) = open.last() {
                    nodes[*id].a -= 1;
                }
                at = *end;
                continue;
            }
            if matches!(node.kind, Kind::Array | Kind::Object) {
                open.push((self.next(at), nodes.len()));
            }
            nodes.push(node);
            at += 1;
        }
        self.nodes = nodes;
        self
    }

    /// Orders strings by their bytes. Not inlined, so that the code exists only once, although a sort compares in a
    /// dozen places.
    #[inline(never)]
    pub(crate) fn order_of_strings(&self, a: NodeId, b: NodeId) -> Ordering {
        self.string(a).cmp(self.string(b))
    }

    /// Returns a value as text for display: a string's own text, everything else as JSON.
    pub fn shown(&self, id: NodeId) -> Cow<'_, str> {
        match self.kind(id) {
            Kind::String => Cow::Borrowed(self.string(id)),
            _ => Cow::Borrowed(self.source(id)),
        }
    }
}

/// The size of a block copy. Most pieces of a text are shorter, and copying a whole block is faster than a call that
/// copies fewer bytes.
pub(super) const SHORT: usize = 32;

/// A destination for a document.
trait Out {
    /// Appends a bracket, a comma or a colon.
    fn mark(&mut self, byte: u8);

    /// Appends a piece of a text.
    fn piece(&mut self, text: &str, span: Span);

    /// Appends a string with the escapes it needs. `source` is its form in the document.
    fn string(&mut self, source: &str, text: &str);
}

/// Compares the output with a text.
struct Same<'t> {
    /// The rest to compare; `None` after a difference.
    rest: Option<&'t [u8]>,
}

impl Same<'_> {
    fn take(&mut self, bytes: &[u8]) {
        let rest = self.rest.and_then(|rest| rest.split_at_checked(bytes.len()));
        self.rest = rest.filter(|(next, _)| scan::same(next, bytes)).map(|(_, rest)| rest);
    }
}

/// Returns whether all escapes of a quoted string are necessary and short. `\\u0001` is necessary, but not short.
pub(super) fn has_fewest_escapes(string: &str) -> bool {
    let bytes = string.as_bytes();
    let mut at = 1;
    loop {
        at += bytes.get(at..).map_or(0, scan::plain);
        match bytes.get(at..) {
            Some([b'\\', b'"' | b'\\' | b'n' | b'r' | b't' | b'b' | b'f', ..]) => at += 2,
            Some([b'"']) => return true,
            _ => return false,
        }
    }
}

impl Out for Same<'_> {
    fn mark(&mut self, byte: u8) {
        self.take(&[byte]);
    }

    fn piece(&mut self, text: &str, span: Span) {
        // Usually it is the next piece of the same text.
        let piece = span.of(text).as_bytes();
        match self.rest {
            Some(rest) if rest.as_ptr() == piece.as_ptr() => self.rest = rest.get(piece.len()..),
            _ => self.take(piece),
        }
    }

    fn string(&mut self, source: &str, text: &str) {
        match self.rest {
            Some(rest) if rest.as_ptr() == source.as_ptr() && has_fewest_escapes(source) => {
                self.rest = rest.get(source.len()..);
            }
            _ => crate::text::json_string(text, |piece| self.take(piece.as_bytes())),
        }
    }
}

impl Out for String {
    #[inline(always)]
    fn mark(&mut self, byte: u8) {
        self.push(byte.into());
    }

    #[inline(always)]
    fn piece(&mut self, text: &str, span: Span) {
        let (start, length) = span.start_and_length();
        match text.get(start..start.wrapping_add(SHORT)) {
            Some(short) if length <= SHORT && short.is_char_boundary(length) => {
                let end = self.len() + length;
                self.push_str(short);
                self.truncate(end);
            }
            _ => self.push_str(span.of(text)),
        }
    }

    fn string(&mut self, _: &str, text: &str) {
        crate::text::push_json_string(self, text);
    }
}

pub struct Items<'d, 't> {
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

pub struct Members<'d, 't> {
    document: &'d Document<'t>,
    at: NodeId,
    end: NodeId,
}

impl Iterator for Members<'_, '_> {
    type Item = (NodeId, NodeId);

    #[inline(always)]
    fn next(&mut self) -> Option<(NodeId, NodeId)> {
        // An incomplete document may end with a name without a value.
        (self.at + 1 < self.end).then(|| {
            let name = self.at;
            self.at = self.document.next(name + 1);
            (name, name + 1)
        })
    }
}
