//! Values of a document and of a schema side by side: equality, order, multiples.

use std::cmp::Ordering;

use serde_json::Value;

use crate::parse::{Document, Kind, NodeId, Number};

/// A number's value: integers exactly, however they are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Numeric {
    Integer(i128),
    Float(f64),
}

impl Numeric {
    pub(super) fn of(number: Number) -> Self {
        match number.as_i64().map(i128::from).or(number.as_u64().map(i128::from)) {
            Some(integer) => Numeric::Integer(integer),
            None => Numeric::of_f64(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    pub(super) fn of_schema(number: &serde_json::Number) -> Self {
        match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Numeric::Integer(integer.into()),
            (_, Some(integer)) => Numeric::Integer(integer.into()),
            _ => Numeric::of_f64(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn of_f64(float: f64) -> Self {
        // Below this, every whole double is an `i128`, exactly.
        if float.fract() == 0.0 && float.abs() < 1e38 { Numeric::Integer(float as i128) } else { Numeric::Float(float) }
    }

    pub(super) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Numeric::Integer(a), Numeric::Integer(b)) => a.cmp(&b),
            (Numeric::Float(a), Numeric::Float(b)) => a.total_cmp(&b),
            // A whole number and one that is not, or that is past all whole ones: never the same.
            (Numeric::Integer(a), Numeric::Float(b)) => (a as f64).total_cmp(&b).then(Ordering::Less),
            (Numeric::Float(a), Numeric::Integer(b)) => a.total_cmp(&(b as f64)).then(Ordering::Greater),
        }
    }
}

/// A number as decimal digits and an exponent of ten: what `multipleOf` is decided on, exactly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    digits: u128,
    exponent: i32,
}

/// Digits that `Decimal` holds: as many as any shortest form of a double, and twice those of a 64-bit integer.
const MAX_DIGITS: u32 = 38;

impl Decimal {
    /// Read a JSON number, without its sign. One with more digits than fit is read as the double it stands for.
    pub(super) fn of(text: &str) -> Self {
        Self::exactly(text).unwrap_or_else(|| {
            let double: f64 = text.parse().unwrap_or(0.0);
            Self::exactly(&format!("{double:e}")).unwrap_or(Decimal { digits: 0, exponent: 0 })
        })
    }

    fn exactly(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let mut exponent: i32 = exponent.parse().ok()?;
        let mut digits: u128 = 0;
        // Zeros at the end wait: they are counted, and written only before another digit.
        let mut zeros = 0;
        let mut fraction = false;
        for byte in mantissa.bytes() {
            match byte {
                b'.' => fraction = true,
                b'0'..=b'9' => {
                    exponent = exponent.checked_sub(i32::from(fraction))?;
                    if byte == b'0' {
                        zeros += 1;
                        continue;
                    }
                    digits = digits.checked_mul(10_u128.checked_pow(zeros + 1)?)?.checked_add((byte - b'0').into())?;
                    zeros = 0;
                }
                _ => {}
            }
        }
        let exponent = exponent.checked_add(i32::try_from(zeros).ok()?)?;
        (digits < 10_u128.pow(MAX_DIGITS)).then_some(Decimal { digits, exponent })
    }

    pub(super) fn is_multiple_of(self, divisor: Self) -> bool {
        if self.digits == 0 {
            return true;
        }
        let Some(divisor_digits) = u64::try_from(divisor.digits).ok().filter(|digits| *digits > 0) else {
            return false;
        };
        let modulus = u128::from(divisor_digits);
        match u32::try_from(self.exponent.saturating_sub(divisor.exponent)) {
            Ok(power) => {
                // Each product is below 2^128, for each factor is below 2^64.
                let (mut remainder, mut base, mut power) = (self.digits % modulus, 10 % modulus, power);
                while power > 0 {
                    if power & 1 == 1 {
                        remainder = remainder * base % modulus;
                    }
                    base = base * base % modulus;
                    power >>= 1;
                }
                remainder == 0
            }
            // The divisor ends in more zeros.
            Err(_) => divisor
                .exponent
                .checked_sub(self.exponent)
                .and_then(|power| 10_u128.checked_pow(power.unsigned_abs()))
                .and_then(|scale| modulus.checked_mul(scale))
                .is_some_and(|divisor| self.digits.is_multiple_of(divisor)),
        }
    }
}

/// JSON Schema's equality (2020-12 core, section 4.2.2) of a value and one of the schema's.
pub(super) fn equals(document: &Document, id: NodeId, expected: &Value) -> bool {
    match (document.kind(id), expected) {
        (Kind::Null, Value::Null) => true,
        (Kind::True, Value::Bool(expected)) => *expected,
        (Kind::False, Value::Bool(expected)) => !*expected,
        (Kind::String, Value::String(expected)) => document.is_string(id, expected),
        (Kind::Number, Value::Number(expected)) => {
            Numeric::of(Number(document.source(id))).order(Numeric::of_schema(expected)).is_eq()
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

/// Up to this many items are compared with each other, where there is not much in them: mostly they differ in what comes
/// first.
const FEW_ITEMS: usize = 12;
const FEW_VALUES: u32 = 500;

/// Whether no two items of an array are the same.
pub(super) fn is_unique(document: &Document, array: NodeId) -> bool {
    let mut items: Vec<NodeId> = document.items(array).collect();
    if items.len() <= FEW_ITEMS && document.next(array) - array <= FEW_VALUES {
        let is_new =
            |(index, item): (usize, &NodeId)| items[..index].iter().all(|&other| !is_same(document, other, *item));
        return items.iter().enumerate().all(is_new);
    }
    // Sorted, then compared with the neighbour: no hash that a producer could aim at.
    let ordered = Ordered::new(document, array);
    ordered.sort(&mut items);
    items.windows(2).all(|pair| ordered.order(pair[0], pair[1]).is_ne())
}

/// Of the items of an array that are the same as one before them the first, after the one it is the same as.
pub(super) fn same_items(document: &Document, array: NodeId) -> Option<(usize, usize)> {
    let mut items: Vec<NodeId> = document.items(array).collect();
    let ordered = Ordered::new(document, array);
    ordered.sort(&mut items);
    let pairs = items.windows(2).filter(|pair| ordered.order(pair[0], pair[1]).is_eq());
    let (one, same) = pairs.map(|pair| (pair[0], pair[1])).min_by_key(|(_, same)| *same)?;
    let index = |node: NodeId| document.items(array).position(|item| item == node);
    Some((index(one)?, index(same)?))
}

/// JSON Schema's equality of two values of a document.
fn is_same(document: &Document, a: NodeId, b: NodeId) -> bool {
    document.kind(a) == document.kind(b)
        && match document.kind(a) {
            Kind::Null | Kind::False | Kind::True => true,
            Kind::Number => order_of_numbers(document, a, b).is_eq(),
            Kind::String => document.string_bytes(a) == document.string_bytes(b),
            Kind::Array => {
                document.count(a) == document.count(b)
                    && document.items(a).zip(document.items(b)).all(|(a, b)| is_same(document, a, b))
            }
            Kind::Object => {
                document.count(a) == document.count(b)
                    && document.members(a).zip(document.members(b)).all(|((name, value), (other_name, other))| {
                        let name = document.string(name);
                        // Mostly they come in the same order.
                        let other =
                            if document.is_string(other_name, name) { Some(other) } else { document.member(b, name) };
                        other.is_some_and(|other| is_same(document, value, other))
                    })
            }
        }
}

/// The values of an array in a total order in which those that JSON Schema calls equal, and only those, are equal.
struct Ordered<'d> {
    document: &'d Document<'d>,
    /// The objects inside, in the order of the document, each with where its members begin in `members`.
    objects: Vec<(NodeId, usize)>,
    /// Of each object its members, in one order: sorted once, however often it is compared.
    members: Vec<(NodeId, NodeId)>,
}

impl<'d> Ordered<'d> {
    fn new(document: &'d Document, array: NodeId) -> Self {
        let mut ordered = Ordered { document, objects: Vec::new(), members: Vec::new() };
        for at in (array..document.next(array)).filter(|at| document.kind(*at) == Kind::Object) {
            let start = ordered.members.len();
            ordered.objects.push((at, start));
            ordered.members.extend(document.members(at));
            ordered.members[start..].sort_unstable_by(|a, b| order_of_names(document, a.0, b.0));
        }
        ordered
    }

    fn members(&self, object: NodeId) -> &[(NodeId, NodeId)] {
        let start = match self.objects.binary_search_by_key(&object, |(at, _)| *at) {
            Ok(number) => self.objects[number].1,
            Err(_) => return &[],
        };
        &self.members[start..start + self.document.count(object)]
    }

    /// Those that are the same stay in the order of the document.
    fn sort(&self, values: &mut [NodeId]) {
        values.sort_unstable_by(|&a, &b| self.order(a, b).then(a.cmp(&b)));
    }

    // Sorting compares in a dozen places: once is enough in the component.
    #[inline(never)]
    fn order(&self, a: NodeId, b: NodeId) -> Ordering {
        let document = self.document;
        let rank = |id| document.kind(id) as u8;
        rank(a).cmp(&rank(b)).then_with(|| match document.kind(a) {
            Kind::Null | Kind::False | Kind::True => Ordering::Equal,
            Kind::Number => order_of_numbers(document, a, b),
            Kind::String => document.order_of_strings(a, b),
            Kind::Array => document.count(a).cmp(&document.count(b)).then_with(|| {
                let mut pairs = document.items(a).zip(document.items(b));
                pairs.find_map(|(a, b)| Some(self.order(a, b)).filter(|order| order.is_ne())).unwrap_or(Ordering::Equal)
            }),
            Kind::Object => document.count(a).cmp(&document.count(b)).then_with(|| {
                let mut pairs = self.members(a).iter().zip(self.members(b));
                pairs
                    .find_map(|(a, b)| {
                        let names = order_of_names(document, a.0, b.0);
                        Some(names.then_with(|| self.order(a.1, b.1))).filter(|order| order.is_ne())
                    })
                    .unwrap_or(Ordering::Equal)
            }),
        })
    }
}

/// By the hash first, which is at hand; producers who aim at it gain the time to compare the names.
#[inline(never)]
fn order_of_names(document: &Document, a: NodeId, b: NodeId) -> Ordering {
    document.name_hash(a).cmp(&document.name_hash(b)).then_with(|| document.order_of_strings(a, b))
}

fn order_of_numbers(document: &Document, a: NodeId, b: NodeId) -> Ordering {
    if document.source(a) == document.source(b) {
        return Ordering::Equal;
    }
    let number = |id| Numeric::of(Number(document.source(id)));
    number(a).order(number(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::Caps,
        parse::{Span, parse},
    };

    #[test]
    fn few_items_and_many_are_told_apart_alike() {
        let values = [
            "1",
            "1.0",
            "10e-1",
            "2",
            "true",
            "null",
            "\"a\"",
            "\"\\u0061\"",
            "[1,2]",
            "[2,1]",
            "[1.0,2]",
            "{}",
            "{\"a\":1,\"b\":[]}",
            "{\"b\":[],\"a\":1.0}",
            "{\"a\":1}",
            "{\"a\":[]}",
        ];
        for a in values {
            for b in values {
                let text = format!("[{a},{b}]");
                let parsed = parse(&text, Span::new(0, text.len()), &Caps::default()).expect("JSON");
                let items: Vec<NodeId> = parsed.document.items(Document::ROOT).collect();
                let same = is_same(&parsed.document, items[0], items[1]);
                let ordered = Ordered::new(&parsed.document, Document::ROOT);
                assert_eq!(same, ordered.order(items[0], items[1]).is_eq(), "{text}");
                assert_eq!(same_items(&parsed.document, Document::ROOT), same.then_some((0, 1)), "{text}");
            }
        }
    }

    #[test]
    fn multiples_are_decided_on_the_digits() {
        for (number, divisor, is) in [
            ("19.99", "0.01", true),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("4.02", "0.01", true),
            ("7", "2", false),
            ("9", "3.0", true),
            ("1e308", "0.123456789", false),
            ("1e308", "0.5", true),
            ("1e308", "1e-308", true),
            ("-12391239123", "1e-8", true),
            ("1e3", "1e4", false),
            ("100e2", "1e4", true),
            ("0", "7", true),
            ("-0.0", "7", true),
            ("18446744073709551615", "5", true),
            ("9007199254740993", "2", false),
            ("0.3333333333333333333333333333333333333333333333", "0.5", false),
            ("5", "18446744073709551615", false),
        ] {
            assert_eq!(Decimal::of(number).is_multiple_of(Decimal::of(divisor)), is, "{number} / {divisor}");
        }
    }
}
