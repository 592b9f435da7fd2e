//! A plan: the act for each value of a document.
//!
//! A node of the plan represents positions of the document, by the set of schemas that all apply there. The members of
//! an object lead to further nodes. All nodes are known before the first document.

use super::{
    super::{names::Names, schema::SchemaId},
    resolve::{KINDS, Union},
};

/// A node's index in [`Plan::nodes`].
pub(super) type Node = u32;

/// The treatment of a value of one kind at a node: the index of its rules, or one of the three constants below.
pub(super) type Act = u32;

/// The value is accepted without further checks.
pub(super) const ACCEPT: Act = 0;
/// The value is invalid.
pub(super) const REJECT: Act = u32::MAX;
/// The value is parsed and judged as a separate document.
pub(super) const JUDGE: Act = u32::MAX - 1;

/// The node that accepts everything.
pub(super) const FREE: Node = 0;

/// The number of members that have their own bit in an object's frame.
pub(super) const BITS: usize = 64;

/// The rules of a contract, in the form that one pass checks.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(super) nodes: Vec<[Act; KINDS.len()]>,
    /// The schemas that apply at each node.
    pub(super) schemas: Vec<Box<[SchemaId]>>,
    /// The rules of a one-item array that contains the document.
    pub(super) document: Array,
    /// The schemas whose own rules apply to a number or a string.
    pub(super) scalars: Vec<Box<[SchemaId]>>,
    pub(super) arrays: Vec<Array>,
    pub(super) objects: Vec<Object>,
    /// The length of the longest name in an object's rules.
    pub(super) longest: usize,
}

/// The rules of an array.
#[derive(Clone)]
pub(super) struct Array {
    pub(super) min: usize,
    pub(super) max: usize,
    /// The nodes of the first items, one for each.
    pub(super) prefix: Box<[Node]>,
    pub(super) rest: Node,
    /// `true` if the items are strings that must be unique.
    pub(super) unique: bool,
}

/// The rules of an object.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) required: u32,
    pub(super) names: Names,
    /// The member for each of the names, in the same order.
    pub(super) members: Box<[Member]>,
    /// Patterns for other names: the schema, the index of the pattern in its rules, and the node of matching members.
    pub(super) patterns: Box<[(SchemaId, usize, Node)]>,
    /// The node of members with other names.
    pub(super) rest: Node,
    /// The node for checking other names as strings.
    pub(super) name: Node,
    /// Pairs of sets: an object that has a member of the first set must have all members of the second.
    pub(super) dependent: Box<[(u64, u64)]>,
    /// The members that alternatives require.
    pub(super) presence: Box<[Presence]>,
    pub(super) union: Option<Told>,
}

/// Sets of members, and the number of sets that must be completely present.
#[derive(Clone)]
pub(super) struct Presence {
    pub(super) sets: Box<[u64]>,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// Alternatives with a discriminator.
#[derive(Clone)]
pub(super) struct Told {
    pub(super) union: Union,
    /// The act for an object, for each row of the table.
    pub(super) rows: Box<[Act]>,
}

/// A member that the rules list.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) name: First,
    pub(super) node: Node,
    pub(super) required: bool,
}

/// The beginning of a name in the text: up to 16 bytes, including its closing quote.
#[derive(Clone)]
pub(super) struct First {
    bytes: [u64; 2],
    mask: [u64; 2],
    /// The length of the whole name, in bytes.
    pub(super) length: usize,
}

impl First {
    pub(super) fn of(name: &str) -> Self {
        let length = name.len();
        let mut quoted = [0; 16];
        let mut mask = [0; 16];
        for (at, byte) in name.bytes().chain([b'"']).take(quoted.len()).enumerate() {
            quoted[at] = byte;
            mask[at] = 0xff;
        }
        // Other names have escapes in the text.
        let is_plain = name.bytes().all(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20));
        if is_plain { First { bytes: words(&quoted), mask: words(&mask), length } } else { First::never() }
    }

    /// Returns a beginning that matches no text.
    pub(super) fn never() -> Self {
        First { bytes: [1; 2], mask: [0; 2], length: 0 }
    }

    /// Returns whether a text begins with this name.
    #[inline(always)]
    pub(super) fn begins(&self, text: &[u8; 16]) -> bool {
        let [a, b] = words(text);
        // Bytes outside all masks are never equal.
        ((a & self.mask[0]) ^ self.bytes[0]) | ((b & self.mask[1]) ^ self.bytes[1]) == 0
    }
}

#[inline(always)]
fn words(bytes: &[u8; 16]) -> [u64; 2] {
    let (halves, _) = bytes.as_chunks::<8>();
    [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])]
}

impl Array {
    pub(super) fn free() -> Self {
        Array { min: 0, max: usize::MAX, prefix: Box::default(), rest: FREE, unique: false }
    }
}

impl Object {
    pub(super) fn free() -> Self {
        Object {
            min: 0,
            max: usize::MAX,
            required: 0,
            names: Names::default(),
            members: Box::default(),
            patterns: Box::default(),
            rest: FREE,
            name: FREE,
            dependent: Box::default(),
            presence: Box::default(),
            union: None,
        }
    }
}
