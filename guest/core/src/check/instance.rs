//! The arena document as `jsonschema` sees it, so that no second tree is built to validate it.

use std::{
    borrow::Cow,
    cmp::Ordering,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use jsonschema::{
    JsonType,
    json::{Array, Json, JsonNumber, Node, NodeIdentity, Object},
};
use serde_json::Value;

use crate::parse::{Document, Kind, NodeId, Number};

/// A document under validation, with a bound on how much of it is visited.
///
/// `is_valid` remembers what it has decided; the search for errors does not, and takes exponential time and memory
/// on schemas whose alternatives recurse. So the search is bounded from here: once the allowance is spent,
/// containers show no more items or members, which ends the search wherever it is, and errors made from then on
/// are marked as not to be believed.
pub(super) struct Tree<'t> {
    document: &'t Document<'t>,
    /// How often containers may still be opened; `UNBOUNDED` is never counted down.
    visits: AtomicU32,
    /// How many errors may still be made.
    errors: AtomicU32,
}

const UNBOUNDED: u32 = u32::MAX;

/// What an error carries in place of the value it concerns, which is found by its place instead.
static BELIEVED: Value = Value::Null;
static NOT_BELIEVED: Value = Value::Bool(false);

impl<'t> Tree<'t> {
    /// For asking whether a document is valid.
    pub(super) fn unbounded(document: &'t Document<'t>) -> Self {
        Tree { document, visits: AtomicU32::new(UNBOUNDED), errors: AtomicU32::new(UNBOUNDED) }
    }

    /// For asking what is wrong.
    pub(super) fn bounded(document: &'t Document<'t>, visits: u32, errors: u32) -> Self {
        Tree { document, visits: AtomicU32::new(visits), errors: AtomicU32::new(errors) }
    }

    pub(super) fn root(&'t self) -> Instance<'t> {
        Instance::Node(self, Document::ROOT)
    }

    /// Whether the allowance was spent: the search has ended early.
    pub(super) fn is_spent(&self) -> bool {
        self.visits.load(Relaxed) == 0 || self.errors.load(Relaxed) == 0
    }

    /// Take one from an allowance; on an empty one, empty the other too, so that everything ends.
    fn take(&self, allowance: &AtomicU32) {
        match allowance.load(Relaxed) {
            UNBOUNDED | 0 => {}
            1 => {
                self.visits.store(0, Relaxed);
                self.errors.store(0, Relaxed);
            }
            left => allowance.store(left - 1, Relaxed),
        }
    }
}

/// Whether an error was made before the allowance was spent.
pub(super) fn is_believed(instance: &Value) -> bool {
    *instance != NOT_BELIEVED
}

/// A value of the document, or a member's name where `propertyNames` looks at it; or what is neither.
#[derive(Clone, Copy)]
pub(super) enum Instance<'a> {
    Node(&'a Tree<'a>, NodeId),
    Name(&'a str),
    Probe(&'a Probe, u8),
}

/// A value that is everything at once: a string, an object that has every member, an array with an item, each of them
/// such a value again. No schema is made for it; but evaluating it leads through all of a schema.
pub(super) struct Probe {
    /// How many containers may still be opened.
    visits: AtomicU32,
}

/// The string that it is.
const PROBE: &str = "a";

impl Probe {
    pub(super) fn new(visits: u32) -> Self {
        Probe { visits: AtomicU32::new(visits) }
    }

    pub(super) fn root(&self) -> Instance<'_> {
        Instance::Probe(self, 0)
    }

    /// Take one visit, if there is any left.
    fn take(&self) -> bool {
        let left = self.visits.load(Relaxed);
        self.visits.store(left.saturating_sub(1), Relaxed);
        left > 0
    }
}

/// A probe's members and items end here: schemas refer to themselves.
const PROBE_DEPTH: u8 = 12;

/// How many members it says it has: more than a schema names, so that it is asked for each of those.
const PROBE_MEMBERS: usize = 10_000;

/// The representation, for `jsonschema::options_for`.
pub(super) struct Arena;

impl Json for Arena {
    type Node<'a> = Instance<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // A look-up reads names one by one, as a pass over the members does.
    const KEYS_PER_LOOKUP: usize = 4;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Instance<'_>) -> T) -> T {
        f(Instance::Name(string))
    }
}

impl<'a> Instance<'a> {
    fn kind(&self) -> Kind {
        match self {
            Instance::Node(tree, id) => tree.document.kind(*id),
            Instance::Name(_) => Kind::String,
            Instance::Probe(..) => Kind::String,
        }
    }

    fn container(&self, kind: Kind) -> Option<Container<'a>> {
        match *self {
            Instance::Node(tree, id) if tree.document.kind(id) == kind => {
                tree.take(&tree.visits);
                Some(Container::Node(tree, id))
            }
            Instance::Probe(probe, depth) if depth < PROBE_DEPTH && probe.take() => {
                Some(Container::Probe(probe, depth + 1))
            }
            _ => None,
        }
    }
}

impl<'a> Node<'a, Arena> for Instance<'a> {
    type Object = Container<'a>;
    type Array = Container<'a>;
    type Number = Number<'a>;

    fn as_object(&self) -> Option<Container<'a>> {
        self.container(Kind::Object)
    }

    fn as_array(&self) -> Option<Container<'a>> {
        self.container(Kind::Array)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match *self {
            Instance::Node(tree, id) if tree.document.kind(id) == Kind::String => {
                Some(Cow::Borrowed(tree.document.string(id)))
            }
            Instance::Node(..) => None,
            Instance::Name(name) => Some(Cow::Borrowed(name)),
            Instance::Probe(..) => Some(Cow::Borrowed(PROBE)),
        }
    }

    fn as_number(&self) -> Option<Number<'a>> {
        match *self {
            Instance::Node(tree, id) if tree.document.kind(id) == Kind::Number => {
                Some(Number(tree.document.source(id)))
            }
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn is_number(&self) -> bool {
        self.kind() == Kind::Number
    }

    fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::False | Kind::True => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match *self {
            Instance::Node(tree, id) => equals(tree.document, id, expected),
            Instance::Name(name) => expected.as_str() == Some(name),
            Instance::Probe(..) => false,
        }
    }

    /// Asked for only where an error is made, to be quoted in its text. That text is not used, and a value can be
    /// large: the error gets a mark that says whether to believe it.
    fn to_value(&self) -> Cow<'a, Value> {
        match *self {
            Instance::Node(tree, _) => {
                let mark = if tree.is_spent() { &NOT_BELIEVED } else { &BELIEVED };
                tree.take(&tree.errors);
                Cow::Borrowed(mark)
            }
            // The only trace of which name it was.
            Instance::Name(name) => Cow::Owned(Value::from(name)),
            Instance::Probe(..) => Cow::Borrowed(&BELIEVED),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(match *self {
            Instance::Node(tree, id) => NodeIdentity::tagged(std::ptr::from_ref(tree) as usize, id),
            Instance::Name(name) => NodeIdentity::tagged(name.as_ptr() as usize, u32::MAX),
            // What was decided about one tells nothing of the others.
            Instance::Probe(..) => return None,
        })
    }
}

/// An array or an object.
#[derive(Clone, Copy)]
pub(super) enum Container<'a> {
    Node(&'a Tree<'a>, NodeId),
    Probe(&'a Probe, u8),
}

impl<'a> Object<'a, Arena> for Container<'a> {
    type Node = Instance<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        match *self {
            Container::Node(tree, id) => tree.document.count(id),
            Container::Probe(..) => PROBE_MEMBERS,
        }
    }

    fn get(&self, key: &String) -> Option<Instance<'a>> {
        match *self {
            Container::Node(tree, id) => {
                let value = tree.document.member(id, key)?;
                (!tree.is_spent()).then_some(Instance::Node(tree, value))
            }
            Container::Probe(probe, depth) => Some(Instance::Probe(probe, depth)),
        }
    }

    fn members(&self) -> MembersIter<'a> {
        match *self {
            Container::Node(tree, id) => MembersIter::Node(tree, tree.document.members(id)),
            Container::Probe(probe, depth) => MembersIter::Probe(Some(Instance::Probe(probe, depth))),
        }
    }
}

impl<'a> Array<'a, Arena> for Container<'a> {
    type Node = Instance<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        match *self {
            Container::Node(tree, id) => tree.document.count(id),
            Container::Probe(..) => 1,
        }
    }

    fn elements(&self) -> ElementsIter<'a> {
        match *self {
            Container::Node(tree, id) => ElementsIter::Node(tree, tree.document.items(id)),
            Container::Probe(probe, depth) => ElementsIter::Probe(Some(Instance::Probe(probe, depth))),
        }
    }

    /// Sorted, then compared with the neighbour: no hash that a producer could aim at.
    fn is_unique(&self) -> bool {
        let Container::Node(tree, id) = *self else {
            return true;
        };
        let mut items: Vec<NodeId> = tree.document.items(id).collect();
        items.sort_unstable_by(|&a, &b| order(tree.document, a, b));
        items.windows(2).all(|pair| order(tree.document, pair[0], pair[1]).is_ne())
    }
}

pub(super) enum MembersIter<'a> {
    Node(&'a Tree<'a>, crate::parse::Members<'a, 'a>),
    Probe(Option<Instance<'a>>),
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Instance<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            MembersIter::Node(tree, _) if tree.is_spent() => None,
            MembersIter::Node(tree, members) => {
                let (name, value) = members.next()?;
                Some((tree.document.string(name), Instance::Node(tree, value)))
            }
            MembersIter::Probe(member) => Some((PROBE, member.take()?)),
        }
    }
}

pub(super) enum ElementsIter<'a> {
    Node(&'a Tree<'a>, crate::parse::Items<'a, 'a>),
    Probe(Option<Instance<'a>>),
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = Instance<'a>;

    fn next(&mut self) -> Option<Instance<'a>> {
        match self {
            ElementsIter::Node(tree, _) if tree.is_spent() => None,
            ElementsIter::Node(tree, items) => items.next().map(|item| Instance::Node(tree, item)),
            ElementsIter::Probe(item) => item.take(),
        }
    }
}

impl JsonNumber for Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        Number::as_u64(*self)
    }

    fn as_i64(&self) -> Option<i64> {
        Number::as_i64(*self)
    }

    fn as_f64(&self) -> Option<f64> {
        Number::as_f64(*self)
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.text())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        // What passed the screen fits.
        Cow::Owned(self.text().parse().unwrap_or_else(|_| 0.into()))
    }

    fn is_integer(&self) -> bool {
        Number::is_integer(*self)
    }

    fn is_written_as_integer(&self) -> bool {
        Number::is_written_as_integer(*self)
    }
}

/// A number's value: integers exactly, however they are written.
#[derive(Clone, Copy)]
enum Numeric {
    Integer(i128),
    Float(f64),
}

impl Numeric {
    fn of(number: Number) -> Self {
        match number.as_i64().map(i128::from).or(number.as_u64().map(i128::from)) {
            Some(integer) => Numeric::Integer(integer),
            None => Numeric::of_f64(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn of_f64(float: f64) -> Self {
        // Below this, every whole double is an `i128`, exactly.
        if float.fract() == 0.0 && float.abs() < 1e38 { Numeric::Integer(float as i128) } else { Numeric::Float(float) }
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Numeric::Integer(a), Numeric::Integer(b)) => a.cmp(&b),
            (Numeric::Float(a), Numeric::Float(b)) => a.total_cmp(&b),
            // A whole number and one that is not, or that is past all whole ones: never the same.
            (Numeric::Integer(a), Numeric::Float(b)) => (a as f64).total_cmp(&b).then(Ordering::Less),
            (Numeric::Float(a), Numeric::Integer(b)) => a.total_cmp(&(b as f64)).then(Ordering::Greater),
        }
    }
}

/// JSON Schema's equality (2020-12 core, section 4.2.2) of a value and one of the schema's.
fn equals(document: &Document, id: NodeId, expected: &Value) -> bool {
    match (document.kind(id), expected) {
        (Kind::Null, Value::Null) => true,
        (Kind::True, Value::Bool(expected)) => *expected,
        (Kind::False, Value::Bool(expected)) => !*expected,
        (Kind::String, Value::String(expected)) => document.string(id) == expected,
        (Kind::Number, Value::Number(expected)) => {
            let expected = match (expected.as_i64(), expected.as_u64()) {
                (Some(integer), _) => Numeric::Integer(integer.into()),
                (_, Some(integer)) => Numeric::Integer(integer.into()),
                _ => Numeric::of_f64(expected.as_f64().unwrap_or(f64::NAN)),
            };
            Numeric::of(Number(document.source(id))).order(expected).is_eq()
        }
        (Kind::Array, Value::Array(expected)) => {
            document.count(id) == expected.len()
                && document.items(id).zip(expected).all(|(item, expected)| equals(document, item, expected))
        }
        (Kind::Object, Value::Object(expected)) => {
            document.count(id) == expected.len()
                && document.members(id).all(|(name, value)| {
                    expected.get(document.string(name)).is_some_and(|expected| equals(document, value, expected))
                })
        }
        _ => false,
    }
}

/// A total order of values in which those that JSON Schema calls equal, and only those, are equal.
fn order(document: &Document, a: NodeId, b: NodeId) -> Ordering {
    let rank = |id| document.kind(id) as u8;
    rank(a).cmp(&rank(b)).then_with(|| match document.kind(a) {
        Kind::Null | Kind::False | Kind::True => Ordering::Equal,
        Kind::Number => {
            let number = |id| Numeric::of(Number(document.source(id)));
            number(a).order(number(b))
        }
        Kind::String => document.string(a).cmp(document.string(b)),
        Kind::Array => document.count(a).cmp(&document.count(b)).then_with(|| {
            let mut pairs = document.items(a).zip(document.items(b));
            pairs
                .find_map(|(a, b)| Some(order(document, a, b)).filter(|order| order.is_ne()))
                .unwrap_or(Ordering::Equal)
        }),
        Kind::Object => document.count(a).cmp(&document.count(b)).then_with(|| {
            let sorted = |id| {
                let mut members: Vec<_> = document.members(id).collect();
                members.sort_unstable_by_key(|&(name, _)| document.string(name));
                members
            };
            sorted(a)
                .into_iter()
                .zip(sorted(b))
                .find_map(|(a, b)| {
                    let names = document.string(a.0).cmp(document.string(b.0));
                    Some(names.then_with(|| order(document, a.1, b.1))).filter(|order| order.is_ne())
                })
                .unwrap_or(Ordering::Equal)
        }),
    })
}
