//! A strict JSON parser (RFC 8259) that keeps the span of every value. Returns a document, or the position at which the
//! text stops being JSON.
//!
//! The parser never recurses, and reads each byte once. It records input that JSON allows and the gate rejects as
//! findings for `caps_check`: duplicate members, lone surrogates, numbers outside 64-bit types, and sizes above a cap.

mod document;
mod edit;
pub(crate) mod follow;
mod hint;
pub(crate) mod loose;
mod minify;
mod number;
mod part;
mod strict;
mod suspicious;

pub(crate) use document::Span;
pub use document::{Document, Kind, NodeId};
pub(crate) use edit::{Edit, Origin, apply, followed_by};
pub(crate) use minify::minified;
pub use number::Number;
pub(crate) use number::{Shape, length as number_length, scan as scan_number};
pub(crate) use part::{Parts, decode, end_of_string};
pub(crate) use strict::{Open, strict_end};

use document::Node;

use crate::{caps::Caps, location::Location, scan};

/// The depth at which parsing stops. Reading deeper text would cost more than it could show.
pub(crate) const MAX_LEVELS: usize = 16 * 1024;

/// The maximum number of names that are compared pairwise if their hashes do not decide. Longer lists are sorted.
const FEW_NAMES: usize = 24;

/// The size of decoded strings above which the buffer grows in larger steps, in bytes.
const LARGE: usize = 64 * 1024;

/// A problem in input that the JSON grammar allows and the gate rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: FindingKind,
    /// The node concerned. For a duplicate member, the second name.
    pub(crate) node: NodeId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FindingKind {
    DuplicateMember,
    LoneSurrogate,
    NumberRange,
    Depth,
    StringBytes,
    ArrayItems,
    ObjectMembers,
}

/// A valid JSON text, with the findings about it.
#[derive(Debug)]
pub(crate) struct Parsed<'t> {
    pub(crate) document: Document<'t>,
    pub(crate) findings: Vec<Finding>,
}

/// The position at which a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The offset of the first invalid byte, or the end of the text.
    pub(crate) at: usize,
    /// `true` if the text ends too early, so that it was cut off.
    pub(crate) cut_off: bool,
    pub(crate) expected: &'static str,
    /// The innermost open value.
    pub(crate) place: Location,
}

/// Parses `span` of `text`, which must be one JSON value surrounded only by white space.
pub(crate) fn parse<'t>(text: &'t str, span: Span, caps: &Caps) -> Result<Parsed<'t>, Broken> {
    let mut parser = Parser::new(text, span, caps, scan::likely_nodes(span.of(text).as_bytes()));
    let result = parser.value().and_then(|()| {
        parser.skip_white_space();
        match parser.peek() {
            None => Ok(()),
            Some(_) => Err(NOTHING_AFTER),
        }
    });
    parser.finish(result)
}

/// Parses an edited text. The spans of its values refer to the output.
pub(crate) fn parse_edited<'t>(text: &'t str, origin: Origin, caps: &Caps) -> Result<Parsed<'t>, Broken> {
    let mut parsed = parse(text, Span::new(0, text.len()), caps)?;
    parsed.document.origin = Some(origin);
    Ok(parsed)
}

/// Returns whether a text is only a number or a literal.
pub(crate) fn is_plain_scalar(text: &str) -> bool {
    let mut at = 0;
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => number::scan(text.as_bytes(), &mut at).is_ok() && at == text.len(),
        _ => matches!(text, "true" | "false" | "null"),
    }
}

/// Returns whether a text is only an object or array.
pub(crate) fn holds_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && strict_end(text, (0, text.len())) == Ok(text.len())
}

/// The expectations after a complete value, after a backslash, and at an unescaped control character in a string.
const NOTHING_AFTER: &str = "nothing after the value";
const ESCAPE: &str = "an escape (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX)";
const ESCAPED_CONTROL: &str = "an escape for this control character";

impl Broken {
    /// Returns whether a value is complete, and only the text after it is wrong.
    pub(crate) fn is_after_value(&self) -> bool {
        self.expected == NOTHING_AFTER
    }

    /// Returns whether a backslash in a string begins no valid escape.
    pub(crate) fn is_escape(&self) -> bool {
        self.expected == ESCAPE
    }

    /// Returns whether a string contains an unescaped control character.
    pub(crate) fn is_in_string(&self) -> bool {
        self.expected == ESCAPED_CONTROL
    }
}

/// An open container.
struct Frame {
    /// Its node. `None` below the depth cap, where values are read but not kept.
    node: Option<NodeId>,
    count: u32,
    object: bool,
    /// The hash classes of the names so far: one of 64 bits for each half of a hash.
    kinds: [u64; 2],
    /// `true` if a name may be a duplicate.
    repeats: bool,
}

impl Frame {
    #[inline(always)]
    fn new(node: Option<NodeId>, object: bool) -> Self {
        Frame { node, count: 0, object, kinds: [0; 2], repeats: false }
    }

    /// Records a name. A duplicate has the same hash, so both of its classes are already set.
    #[inline(always)]
    fn named(&mut self, hash: u32) {
        let [a, b] = [1_u64 << (hash % 64), 1 << ((hash >> 16) % 64)];
        self.repeats |= self.kinds[0] & a != 0 && self.kinds[1] & b != 0;
        self.kinds = [self.kinds[0] | a, self.kinds[1] | b];
    }
}

struct Parser<'t, 'c> {
    bytes: &'t [u8],
    at: usize,
    document: Document<'t>,
    stack: Vec<Frame>,
    caps: &'c Caps,
    findings: Vec<Finding>,
    /// The number of containers around the text.
    depth: usize,
    /// Names and their hashes, kept for `duplicates`, to allocate only once.
    names: Vec<(NodeId, u32)>,
}

impl<'t, 'c> Parser<'t, 'c> {
    fn new(text: &'t str, span: Span, caps: &'c Caps, nodes: usize) -> Self {
        let bytes = &text.as_bytes()[..span.end as usize];
        let at = span.start as usize;
        // Allocates the buffer of nodes last, so that it can grow in place.
        let stack = Vec::with_capacity(16);
        let nodes = Vec::with_capacity(nodes);
        Parser {
            bytes,
            at,
            document: Document { text, nodes, decoded: String::new(), origin: None, is_suspicious: false },
            stack,
            caps,
            findings: Vec::new(),
            depth: 0,
            names: Vec::new(),
        }
    }

    fn finish(self, result: Result<(), &'static str>) -> Result<Parsed<'t>, Broken> {
        match result {
            Ok(()) => Ok(Parsed { document: self.document, findings: self.findings }),
            Err(expected) => {
                let last = self.document.nodes.len().checked_sub(1);
                Err(Broken {
                    at: self.at,
                    cut_off: self.at >= self.bytes.len(),
                    expected,
                    place: match last {
                        // The last value is complete, so the location is that of its container.
                        Some(_) if self.stack.is_empty() => Location::root(),
                        Some(last) => self.document.location(self.innermost(last as NodeId)),
                        None => Location::root(),
                    },
                })
            }
        }
    }

    /// Returns the node that an error is reported in: the last name, or the innermost open container.
    fn innermost(&self, last: NodeId) -> NodeId {
        match self.stack.iter().rev().find_map(|frame| frame.node) {
            Some(open) if last > open && self.is_name(open, last) => last,
            Some(open) => open,
            None => Document::ROOT,
        }
    }

    /// Returns whether the last node is a name whose value has not been read.
    fn is_name(&self, open: NodeId, last: NodeId) -> bool {
        if self.document.kind(open) != Kind::Object || self.document.kind(last) != Kind::String {
            return false;
        }
        let mut at = open + 1;
        while at < last {
            at = self.document.next(at + 1);
        }
        at == last
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    fn skip_white_space(&mut self) {
        self.at += scan::white_space(&self.bytes[self.at..]);
    }

    #[cold]
    fn found(&mut self, kind: FindingKind, node: NodeId) {
        self.findings.push(Finding { kind, node });
    }

    /// Parses one value with its contents. An error is the text that was expected at `self.at`.
    // State that changes with each byte is in locals, so that it can be in registers: the position, and the innermost
    // container. `stack` has the enclosing ones. The first is a placeholder that contains the value.
    fn value(&mut self) -> Result<(), &'static str> {
        let bytes = self.bytes;
        let mut at = self.at;
        let mut frame = Frame::new(Some(Document::ROOT), false);
        let result = 'value: loop {
            at += scan::white_space(&bytes[at..]);
            let keeps = frame.node.is_some();
            let read = match bytes.get(at) {
                Some(b'{' | b'[') if self.depth + self.stack.len() >= MAX_LEVELS => break Err("no deeper nesting"),
                Some(bracket @ (b'{' | b'[')) => {
                    let object = *bracket == b'{';
                    let node =
                        if keeps { self.open(if object { Kind::Object } else { Kind::Array }, at) } else { None };
                    self.stack.push(std::mem::replace(&mut frame, Frame::new(node, object)));
                    at += 1;
                    at += scan::white_space(&bytes[at..]);
                    if bytes.get(at) == Some(if object { &b'}' } else { &b']' }) {
                        Ok(())
                    } else if !object {
                        continue 'value;
                    } else {
                        match self.name(&mut at, &mut frame, "a member name or '}'") {
                            Ok(()) => continue 'value,
                            Err(expected) => Err(expected),
                        }
                    }
                }
                Some(b'"') => self.string(&mut at, keeps),
                Some(b'-' | b'0'..=b'9') => self.number(&mut at, keeps),
                Some(b't') => self.literal(&mut at, "true", Kind::True, keeps),
                Some(b'f') => self.literal(&mut at, "false", Kind::False, keeps),
                Some(b'n') => self.literal(&mut at, "null", Kind::Null, keeps),
                _ => Err("a value"),
            };
            if read.is_err() {
                break read;
            }
            // A value or an empty container has ended. Continues with the enclosing container.
            loop {
                if self.stack.is_empty() {
                    break 'value Ok(());
                }
                at += scan::white_space(&bytes[at..]);
                match (frame.object, bytes.get(at)) {
                    (true, Some(b'}')) | (false, Some(b']')) => {
                        at += 1;
                        self.close(&frame, at);
                        if let Some(around) = self.stack.pop() {
                            frame = around;
                        }
                    }
                    (true, Some(b',')) => {
                        at += 1;
                        at += scan::white_space(&bytes[at..]);
                        match self.name(&mut at, &mut frame, "a member name") {
                            Ok(()) => continue 'value,
                            Err(expected) => break 'value Err(expected),
                        }
                    }
                    (false, Some(b',')) => {
                        frame.count += 1;
                        at += 1;
                        continue 'value;
                    }
                    (true, _) => break 'value Err("',' or '}'"),
                    (false, _) => break 'value Err("',' or ']'"),
                }
            }
        };
        self.at = at;
        if result.is_err() {
            // Only the open containers.
            self.stack.push(frame);
            self.stack.remove(0);
        }
        result
    }

    #[inline(always)]
    fn push(&mut self, node: Node) -> NodeId {
        self.document.nodes.push(node);
        (self.document.nodes.len() - 1) as NodeId
    }

    /// Returns the node of a container, or `None` below the depth cap, where values are read but not kept.
    #[inline(always)]
    fn open(&mut self, kind: Kind, at: usize) -> Option<NodeId> {
        if self.depth + self.stack.len() < self.caps.depth {
            Some(self.push(Node::open(kind, at)))
        } else {
            self.too_deep(kind, at)
        }
    }

    #[cold]
    fn too_deep(&mut self, kind: Kind, at: usize) -> Option<NodeId> {
        // One node represents everything deeper. It is empty, and is reported as too deep.
        let mut node = Node::scalar(kind, Span::new(at, at + 1));
        node.b = self.document.nodes.len() as u32 + 1;
        let node = self.push(node);
        self.found(FindingKind::Depth, node);
        None
    }

    #[inline(always)]
    fn close(&mut self, frame: &Frame, at: usize) {
        let Some(id) = frame.node else {
            return;
        };
        let nodes = &mut self.document.nodes;
        let next = nodes.len() as u32;
        let empty = next == id + 1;
        let node = &mut nodes[id as usize];
        node.span.end = at as u32;
        node.b = next;
        // The commas between items determine their number, and the names of members determine theirs.
        node.a = frame.count + u32::from(!frame.object && !empty);
        let count = node.a as usize;
        if frame.object {
            if count > self.caps.object_members {
                self.found(FindingKind::ObjectMembers, id);
            }
            if frame.repeats {
                self.duplicates(id);
            }
        } else if count > self.caps.array_items {
            self.found(FindingKind::ArrayItems, id);
        }
    }

    /// Finds members of an object that repeat an earlier name.
    #[inline(never)]
    fn duplicates(&mut self, object: NodeId) {
        let document = &self.document;
        let mut names = std::mem::take(&mut self.names);
        names.clear();
        let mut repeated = Vec::new();
        let few = self.document.count(object) <= FEW_NAMES;
        for (name, _) in document.members(object) {
            let hash = document.name_hash(name);
            let is_repeated = few && {
                let text = document.string(name);
                names.iter().any(|&(earlier, other)| other == hash && document.is_string(earlier, text))
            };
            if is_repeated {
                repeated.push(name);
            }
            names.push((name, hash));
        }
        if !few {
            // Sorts by name, then by position, so that the first of equal names comes first.
            names.sort_unstable_by(|&(a, a_hash), &(b, b_hash)| {
                a_hash.cmp(&b_hash).then_with(|| document.order_of_strings(a, b)).then(a.cmp(&b))
            });
            let is_same = |pair: &&[(NodeId, u32)]| {
                pair[0].1 == pair[1].1 && document.string(pair[0].0) == document.string(pair[1].0)
            };
            repeated.extend(names.windows(2).filter(is_same).map(|pair| pair[1].0));
            repeated.sort_unstable();
        }
        for name in repeated {
            self.found(FindingKind::DuplicateMember, name);
        }
        self.names = names;
    }

    #[inline(always)]
    fn name(&mut self, at: &mut usize, frame: &mut Frame, expected: &'static str) -> Result<(), &'static str> {
        let bytes = self.bytes;
        if bytes.get(*at) != Some(&b'"') {
            return Err(expected);
        }
        let (start, keeps) = (*at, frame.node.is_some());
        let end = start + 1 + scan::plain(&bytes[start + 1..]);
        if bytes.get(end) == Some(&b'"') {
            *at = end + 1;
            if keeps {
                let hash = scan::hash(&bytes[start + 1..end]);
                frame.named(hash);
                let node = self.push(Node::name(Span::new(start, *at), hash));
                self.string_cap(node, end - start - 1);
            }
        } else {
            self.at = end;
            let read = self.other_string(start, keeps);
            *at = self.at;
            read?;
            if keeps {
                frame.named(self.document.name_hash(self.document.nodes.len() as NodeId - 1));
            }
        }
        frame.count += 1;
        *at += scan::white_space(&bytes[*at..]);
        if bytes.get(*at) != Some(&b':') {
            return Err("':'");
        }
        *at += 1;
        Ok(())
    }

    #[inline(always)]
    fn literal(&mut self, at: &mut usize, word: &'static str, kind: Kind, keeps: bool) -> Result<(), &'static str> {
        let start = *at;
        for expected in word.bytes() {
            if self.bytes.get(*at) != Some(&expected) {
                return Err(match kind {
                    Kind::True => "the literal 'true'",
                    Kind::False => "the literal 'false'",
                    _ => "the literal 'null'",
                });
            }
            *at += 1;
        }
        if keeps {
            self.push(Node::scalar(kind, Span::new(start, *at)));
        }
        Ok(())
    }

    #[inline(always)]
    fn number(&mut self, at: &mut usize, keeps: bool) -> Result<(), &'static str> {
        let start = *at;
        let shape = number::scan(self.bytes, at)?;
        if keeps {
            let node = self.push(Node::scalar(Kind::Number, Span::new(start, *at)));
            if !shape.fits(self.document.source(node)) {
                self.found(FindingKind::NumberRange, node);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn string(&mut self, at: &mut usize, keeps: bool) -> Result<(), &'static str> {
        let start = *at;
        *at += 1;
        *at += scan::plain(&self.bytes[*at..]);
        if self.bytes.get(*at) != Some(&b'"') {
            self.at = *at;
            let read = self.other_string(start, keeps);
            *at = self.at;
            return read;
        }
        *at += 1;
        if keeps {
            let node = self.push(Node::borrowed_string(Span::new(start, *at)));
            self.string_cap(node, *at - start - 2);
        }
        Ok(())
    }

    /// Reads the rest of a string. An escape or an error is at `self.at`.
    #[cold]
    #[inline(never)]
    fn other_string(&mut self, start: usize, keeps: bool) -> Result<(), &'static str> {
        match self.peek() {
            Some(b'\\') => self.escaped_string(start, keeps),
            Some(_) => Err(ESCAPED_CONTROL),
            None => Err("'\"' to end the string"),
        }
    }

    /// Skips plain bytes of a string.
    #[inline(always)]
    fn skip_plain(&mut self) {
        self.at += scan::plain(&self.bytes[self.at..]);
    }

    /// Reads the rest of a string from its first escape.
    fn escaped_string(&mut self, start: usize, keeps: bool) -> Result<(), &'static str> {
        let decoded = self.document.decoded.len();
        let mut plain = start + 1;
        let mut lone = false;
        loop {
            // ASCII bytes are next to `plain` and `at`, so both are character boundaries.
            let text = self.document.text;
            let piece = &text[plain..self.at];
            let decoded = &mut self.document.decoded;
            if decoded.len() >= LARGE && decoded.capacity() - decoded.len() < piece.len() {
                // The decoded rest is at most as long as its source. Doubling the capacity would touch more memory.
                decoded.reserve_exact((text.len() - plain).min(16 * decoded.len()));
            }
            decoded.push_str(piece);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut lone)?,
                Some(_) => return Err(ESCAPED_CONTROL),
                None => return Err("'\"' to end the string"),
            }
            plain = self.at;
            self.skip_plain();
        }
        self.at += 1;
        let length = self.document.decoded.len() - decoded;
        if !keeps {
            self.document.decoded.truncate(decoded);
            return Ok(());
        }
        let node = self.push(Node::decoded_string(Span::new(start, self.at), decoded, length));
        if lone {
            self.found(FindingKind::LoneSurrogate, node);
        }
        self.string_cap(node, length);
        Ok(())
    }

    #[inline(always)]
    fn string_cap(&mut self, node: NodeId, length: usize) {
        if length > self.caps.string_bytes {
            self.found(FindingKind::StringBytes, node);
        }
    }

    /// Decodes one escape. Sets `lone` if it is a lone surrogate, which is replaced by U+FFFD.
    fn escape(&mut self, lone: &mut bool) -> Result<(), &'static str> {
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let unit = self.hex()?;
                let character = self.surrogates(unit)?;
                *lone |= character.is_none();
                self.document.decoded.push(character.unwrap_or('\u{fffd}'));
                return Ok(());
            }
            _ => return Err(ESCAPE),
        };
        self.document.is_suspicious |= suspicious::may_be_suspicious(self.bytes, self.at);
        self.at += 1;
        self.document.decoded.push(character);
        Ok(())
    }

    /// Returns the character of a `\u` escape, including a second surrogate that follows.
    fn surrogates(&mut self, unit: u32) -> Result<Option<char>, &'static str> {
        if !(0xd800..0xdc00).contains(&unit) || !self.bytes[self.at..].starts_with(b"\\u") {
            return Ok(char::from_u32(unit));
        }
        let before = self.at;
        self.at += 2;
        let low = self.hex()?;
        if (0xdc00..0xe000).contains(&low) {
            return Ok(char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
        }
        // The escape is not the matching surrogate, so it is read again separately.
        self.at = before;
        Ok(None)
    }

    fn hex(&mut self) -> Result<u32, &'static str> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| (byte as char).to_digit(16));
            unit = unit * 16 + digit.ok_or("four hexadecimal digits")?;
            self.at += 1;
        }
        Ok(unit)
    }
}

#[cfg(test)]
mod tests;
