//! Compares the values of a document with those of a schema: equality, order, multiples.

use std::{cell::OnceCell, cmp::Ordering};

use serde_json::Value;

use crate::{
    order::sort_by,
    parse::{Document, Kind, NodeId},
};

/// A number of a document or a schema, as written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numeric<'t> {
    text: &'t str,
    about: About,
}

/// Properties that usually suffice to compare numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    /// The value, if the number is written as an integer that is short enough.
    integer: Option<i64>,
    /// The nearest double. A greater number never has a smaller double.
    double: f64,
}

impl About {
    pub(super) fn of(text: &str) -> Self {
        if let Some(short) = About::of_short(text) {
            return short;
        }
        let integer: Option<i64> = text.parse().ok();
        let double = integer.map_or_else(|| text.parse().unwrap_or(f64::NAN), |integer| integer as f64);
        About { integer, double }
    }

    /// Computes the same for a number without an exponent whose digits fit a double. A single division then gives the
    /// nearest double.
    fn of_short(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if digits.len() > MAX_SHORT {
            return None;
        }
        let mut value = 0;
        let mut behind_point = None;
        for (at, byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => value = value * 10 + i64::from(byte - b'0'),
                b'.' => behind_point = Some(digits.len() - 1 - at),
                _ => return None,
            }
        }
        let value = if negative { -value } else { value };
        Some(match behind_point {
            None => About { integer: Some(value), double: value as f64 },
            Some(places) => About { integer: None, double: value as f64 / POWERS[places] },
        })
    }
}

/// The maximum number of digits for which every number is below 2^53.
const MAX_SHORT: usize = 15;

/// The powers of ten that doubles represent exactly.
const POWERS: [f64; MAX_SHORT] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];

impl<'t> Numeric<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Numeric { text, about: About::of(text) }
    }

    /// Creates a number whose properties are already known.
    pub(super) fn known(text: &'t str, about: About) -> Self {
        Numeric { text, about }
    }

    /// Compares the values, independently of their notation.
    #[inline]
    pub(super) fn order(self, other: Self) -> Ordering {
        let (a, b) = (self.about, other.about);
        match (a.integer, b.integer) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ if a.double < b.double => Ordering::Less,
            _ if a.double > b.double => Ordering::Greater,
            _ if self.text == other.text => Ordering::Equal,
            _ => Decimal::of(self.text).order(Decimal::of(other.text)),
        }
    }

    pub(super) fn is_multiple_of(self, divisor: &Divisor) -> bool {
        Decimal::of(self.text).is_multiple_of(divisor)
    }
}

/// A number as digits and a power of ten. Digits are never expanded, so `1e1000000000` takes as long as `1`.
#[derive(Debug, Clone, Copy)]
struct Decimal<'t> {
    negative: bool,
    /// The digits from the first to the last nonzero one, possibly with a decimal point between them. Empty for zero.
    digits: &'t str,
    /// The exponents of the first and the last digit. An exponent with too many digits saturates. A document that
    /// passed the caps check has no such exponent.
    first: i128,
    last: i128,
}

/// The maximum exponent. It leaves room for the offset that the digits can add.
const MAX_EXPONENT: i128 = i128::MAX / 4;

impl<'t> Decimal<'t> {
    fn of(text: &'t str) -> Self {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], exponent(&text[at + 1..])),
            None => (text, 0),
        };
        let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
        let point = mantissa.find('.').unwrap_or(mantissa.len());
        // Returns the exponent of the digit at an offset.
        let of = |at: usize| match at < point {
            true => exponent + (point - at) as i128 - 1,
            false => exponent - (at - point) as i128,
        };
        let is_digit = |character: char| matches!(character, '1'..='9');
        match (mantissa.find(is_digit), mantissa.rfind(is_digit)) {
            (Some(first), Some(last)) => {
                Decimal { negative, digits: &mantissa[first..=last], first: of(first), last: of(last) }
            }
            _ => Decimal { negative: false, digits: "", first: 0, last: 0 },
        }
    }

    fn is_zero(self) -> bool {
        self.digits.is_empty()
    }

    fn each_digit(self) -> impl Iterator<Item = u8> + use<'t> {
        self.digits.bytes().filter(u8::is_ascii_digit)
    }

    fn order(self, other: Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return if other.negative { Ordering::Greater } else { Ordering::Less },
            (false, true) => return if self.negative { Ordering::Less } else { Ordering::Greater },
            (false, false) => {}
        }
        let sizes = || self.first.cmp(&other.first).then_with(|| self.each_digit().cmp(other.each_digit()));
        match (self.negative, other.negative) {
            (false, false) => sizes(),
            (true, true) => sizes().reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    fn is_multiple_of(self, divisor: &Divisor) -> bool {
        if self.is_zero() {
            return true;
        }
        // Neither number ends in a zero, so a number that ends further to the right cannot be a multiple.
        let zeros = self.last - divisor.last;
        if self.first < divisor.first || zeros < 0 {
            return false;
        }
        let zeros = usize::try_from(zeros).unwrap_or(usize::MAX).min(divisor.zeros);
        let digits = self.each_digit().map(|digit| digit - b'0').chain(std::iter::repeat_n(0, zeros));
        match &divisor.digits[..] {
            [] => false,
            [divisor] => {
                let divisor = u128::from(*divisor);
                digits.fold(0, |rest, digit| (rest * 10 + u128::from(digit)) % divisor) == 0
            }
            divisor => remainder(digits, divisor).iter().all(|part| *part == 0),
        }
    }
}

/// Returns whether a number's value is an integer, regardless of its notation.
pub(super) fn is_integer(text: &str) -> bool {
    Decimal::of(text).last >= 0
}

/// Returns the canonical form of a value, which all equal values share. Members are sorted by the bytes of their names,
/// and numbers are written as digits and an exponent.
pub fn canonical(document: &Document, id: NodeId) -> String {
    let mut out = String::new();
    push_canonical(document, id, &mut out);
    out
}

fn push_canonical(document: &Document, id: NodeId, out: &mut String) {
    match document.kind(id) {
        Kind::Array => {
            out.push('[');
            for item in document.items(id) {
                push_canonical(document, item, out);
                out.push(',');
            }
            out.push(']');
        }
        Kind::Object => {
            let mut members: Vec<(NodeId, NodeId)> = document.members(id).collect();
            sort_by(&mut members, |a, b| document.order_of_strings(a.0, b.0));
            out.push('{');
            for (name, value) in members {
                document.write(name, out);
                out.push(':');
                push_canonical(document, value, out);
                out.push(',');
            }
            out.push('}');
        }
        Kind::Number => {
            let number = Decimal::of(document.source(id));
            if number.negative {
                out.push('-');
            }
            out.extend(number.each_digit().map(char::from));
            out.push('e');
            out.push_str(&number.last.to_string());
        }
        _ => document.write(id, out),
    }
}

/// Parses the exponent of a number, without the letter before it.
fn exponent(text: &str) -> i128 {
    match text.parse::<i128>() {
        Ok(exponent) => exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT),
        Err(_) if text.starts_with('-') => -MAX_EXPONENT,
        Err(_) => MAX_EXPONENT,
    }
}

/// The divisor of `multipleOf`.
#[derive(Debug, Clone)]
pub(super) struct Divisor {
    /// Its digits as one integer, in 64-bit limbs, least significant first. Empty if the divisor is zero.
    digits: Vec<u64>,
    first: i128,
    last: i128,
    /// The number of trailing zeros beyond which further zeros make no difference: a power of ten then has all the
    /// factors two and five that the digits can have.
    zeros: usize,
}

impl Divisor {
    pub(super) fn of(text: &str) -> Self {
        let decimal = Decimal::of(text);
        let mut digits = Vec::new();
        for digit in decimal.each_digit() {
            append(&mut digits, digit - b'0');
        }
        Divisor { zeros: digits.len() * 64, digits, first: decimal.first, last: decimal.last }
    }
}

/// Appends a digit to a number in 64-bit limbs.
fn append(parts: &mut Vec<u64>, digit: u8) {
    let mut carry = u128::from(digit);
    for part in parts.iter_mut() {
        let product = u128::from(*part) * 10 + carry;
        // Keeps the lower half and carries the upper half.
        *part = product as u64;
        carry = product >> 64;
    }
    if carry > 0 {
        parts.push(carry as u64);
    }
}

/// Returns the remainder of dividing digits by a number in limbs.
fn remainder(digits: impl Iterator<Item = u8>, divisor: &[u64]) -> Vec<u64> {
    let mut rest = Vec::with_capacity(divisor.len() + 1);
    for digit in digits {
        append(&mut rest, digit);
        // Repeats at most nine times.
        while is_at_least(&rest, divisor) {
            let mut borrowed = false;
            for (at, part) in rest.iter_mut().enumerate() {
                let (less, first) = part.overflowing_sub(divisor.get(at).copied().unwrap_or(0));
                let (less, second) = less.overflowing_sub(u64::from(borrowed));
                (*part, borrowed) = (less, first || second);
            }
            while rest.last() == Some(&0) {
                rest.pop();
            }
        }
    }
    rest
}

fn is_at_least(a: &[u64], b: &[u64]) -> bool {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev())).is_ge()
}

/// Compares a value of a document with a schema value by JSON Schema's equality (2020-12 core, section 4.2.2).
pub(crate) fn equals(document: &Document, id: NodeId, expected: &Value) -> bool {
    match (document.kind(id), expected) {
        (Kind::Null, Value::Null) => true,
        (Kind::True, Value::Bool(expected)) => *expected,
        (Kind::False, Value::Bool(expected)) => !*expected,
        (Kind::String, Value::String(expected)) => document.is_string(id, expected),
        (Kind::Number, Value::Number(expected)) => {
            Numeric::of(document.source(id)).order(Numeric::of(expected.as_str())).is_eq()
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

/// The maximum number of items that are compared pairwise, if the items are small. Most comparisons end early.
const FEW_ITEMS: usize = 12;
const FEW_VALUES: u32 = 500;

/// Returns whether no two items of an array are equal.
pub(super) fn is_unique(document: &Document, array: NodeId) -> bool {
    if document.count(array) <= FEW_ITEMS && document.next(array) - array <= FEW_VALUES {
        let items: Vec<NodeId> = document.items(array).collect();
        let is_new =
            |(index, item): (usize, &NodeId)| items[..index].iter().all(|&other| !is_same(document, other, *item));
        return items.iter().enumerate().all(is_new);
    }
    Fingerprints::of(document, array).pairs().next().is_none()
}

/// Returns the indices of two equal items: the earlier one, and the first item that equals an earlier one.
pub(super) fn same_items(document: &Document, array: NodeId) -> Option<(usize, usize)> {
    let (one, same) = Fingerprints::of(document, array).pairs().min_by_key(|(_, same)| *same)?;
    let index = |node: NodeId| document.items(array).position(|item| item == node);
    Some((index(one)?, index(same)?))
}

/// The items of an array, sorted by fingerprint. Values that are equal in JSON Schema have equal fingerprints.
struct Fingerprints<'d> {
    document: &'d Document<'d>,
    array: NodeId,
    items: Vec<(u64, NodeId)>,
    /// Built at the first collision of fingerprints.
    ordered: OnceCell<Ordered<'d>>,
}

impl<'d> Fingerprints<'d> {
    fn of(document: &'d Document<'d>, array: NodeId) -> Self {
        let mut items: Vec<_> = document.items(array).map(|item| (fingerprint(document, item), item)).collect();
        items.sort_unstable();
        Fingerprints { document, array, items, ordered: OnceCell::new() }
    }

    /// Returns pairs of equal items, one for each fingerprint. Each pair is in document order.
    fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.items.chunk_by(|one, other| one.0 == other.0).filter_map(|run| self.first_pair(run))
    }

    /// Returns the first two equal values of a run with the same fingerprint. Sorts the run if its first two values
    /// differ.
    fn first_pair(&self, run: &[(u64, NodeId)]) -> Option<(NodeId, NodeId)> {
        let (one, other) = (run.first()?.1, run.get(1)?.1);
        if is_same(self.document, one, other) {
            return Some((one, other));
        }
        let mut values: Vec<NodeId> = run.iter().map(|(_, value)| *value).collect();
        let ordered = self.ordered.get_or_init(|| Ordered::new(self.document, self.array));
        ordered.sort(&mut values);
        let pairs = values.windows(2).filter(|pair| ordered.order(pair[0], pair[1]).is_eq());
        pairs.map(|pair| (pair[0], pair[1])).min_by_key(|(_, same)| *same)
    }
}

/// Returns a hash that equal values share. If a producer provokes collisions, they only cost a sort.
fn fingerprint(document: &Document, id: NodeId) -> u64 {
    let mixed = |seed: u64, value: u64| (seed ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let kind = document.kind(id);
    let seed = kind as u64 + 1;
    match kind {
        Kind::Null | Kind::False | Kind::True => seed,
        Kind::Number => {
            let number = Decimal::of(document.source(id));
            let size = number.each_digit().fold(number.first as u64, |all, digit| mixed(all, u64::from(digit)));
            mixed(seed + u64::from(number.negative), size)
        }
        Kind::String => {
            let (words, rest) = document.string_bytes(id).as_chunks();
            let all = words.iter().fold(seed, |all, word| mixed(all, u64::from_le_bytes(*word)));
            rest.iter().fold(all, |all, byte| mixed(all, u64::from(*byte)))
        }
        Kind::Array => document.items(id).fold(seed, |all, item| mixed(all, fingerprint(document, item))),
        // The order of members does not matter.
        Kind::Object => document.members(id).fold(seed, |all, (name, value)| {
            all.wrapping_add(mixed(u64::from(document.name_hash(name)), fingerprint(document, value)))
        }),
    }
}

/// Compares two values of a document by JSON Schema's equality.
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
                        // Members are usually in the same order.
                        let other =
                            if document.is_string(other_name, name) { Some(other) } else { document.member(b, name) };
                        other.is_some_and(|other| is_same(document, value, other))
                    })
            }
        }
}

/// The values of an array in a total order. Values compare as equal only if JSON Schema treats them as equal.
struct Ordered<'d> {
    document: &'d Document<'d>,
    /// The nested objects in document order, each with the start of its members in `members`.
    objects: Vec<(NodeId, usize)>,
    /// The members of each object, sorted once, regardless of the number of comparisons.
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

    /// Equal values stay in document order.
    fn sort(&self, values: &mut [NodeId]) {
        values.sort_unstable_by(|&a, &b| self.order(a, b).then(a.cmp(&b)));
    }

    // Not inlined, so that the code exists only once, although a sort compares in a dozen places.
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

/// Compares by hash first, because the hash is available. A producer that provokes collisions only adds the time to
/// compare the names.
#[inline(never)]
fn order_of_names(document: &Document, a: NodeId, b: NodeId) -> Ordering {
    document.name_hash(a).cmp(&document.name_hash(b)).then_with(|| document.order_of_strings(a, b))
}

fn order_of_numbers(document: &Document, a: NodeId, b: NodeId) -> Ordering {
    if document.source(a) == document.source(b) {
        return Ordering::Equal;
    }
    Numeric::of(document.source(a)).order(Numeric::of(document.source(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        caps::Caps,
        parse::{Span, parse},
    };

    #[test]
    fn short_numbers_are_read_as_long_ones_are() {
        let mut random = crate::random::Random(7);
        let mut short = 0;
        for _ in 0..20_000 {
            let sign = if random.below(3) == 0 { "-" } else { "" };
            let digits = |random: &mut crate::random::Random, most: usize| -> String {
                (0..1 + random.below(most)).map(|_| random.one(&['0', '0', '1', '5', '9'])).collect()
            };
            let mut text = format!("{sign}{}", digits(&mut random, 16).trim_start_matches('0'));
            if !text.ends_with(|last: char| last.is_ascii_digit()) {
                text.push('0');
            }
            if random.below(2) == 0 {
                text = format!("{text}.{}", digits(&mut random, 14));
            }
            let Some(about) = About::of_short(&text) else { continue };
            assert_eq!(about.integer, text.parse().ok(), "{text}");
            assert_eq!(Some(about.double), text.parse().ok(), "{text}");
            short += 1;
        }
        assert!(short > 10_000, "{short}");
    }

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
            (
                "0.3333333333333333333333333333333333333333333333",
                "0.1111111111111111111111111111111111111111111111",
                true,
            ),
            ("5", "18446744073709551615", false),
            ("18446744073709551616", "18446744073709551616", true),
            ("340282366920938463463374607431768211456", "18446744073709551616", true),
            ("340282366920938463463374607431768211457", "18446744073709551616", false),
            ("1e1000000000", "18446744073709551616", true),
            ("1e1000000000", "18446744073709551617", false),
            ("3e1000000000", "3", true),
            ("1e1000000000", "1e-1000000000", true),
            ("1e-1000000000", "2", false),
            ("7", "0", false),
        ] {
            assert_eq!(Numeric::of(number).is_multiple_of(&Divisor::of(divisor)), is, "{number} / {divisor}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_their_digits() {
        let ascending: [&[&str]; 15] = [
            &["-1e1000000000"],
            &["-18446744073709551616"],
            &["-1.5", "-15e-1"],
            &["-1e-1000000000"],
            &["0", "-0", "0.0", "-0.0e5", "0e99999999999999999999999999999999999999999999"],
            &["1e-1000000000", "0.1e-999999999"],
            &["0.1", "1e-1", "0.10"],
            &["5", "5.0", "50e-1", "0.05e2"],
            &["5.0000000000000000000001"],
            &["9007199254740993", "9007199254740993.0"],
            &["9007199254740993.5"],
            &["18446744073709551615", "18446744073709551615.00"],
            &["18446744073709551616", "1.8446744073709551616e19"],
            &["1e1000000000", "10e999999999"],
            &["2e1000000000"],
        ];
        for (rank, texts) in ascending.iter().enumerate() {
            for (other_rank, others) in ascending.iter().enumerate() {
                for (text, other) in texts.iter().flat_map(|text| others.iter().map(move |other| (text, other))) {
                    assert_eq!(Numeric::of(text).order(Numeric::of(other)), rank.cmp(&other_rank), "{text} {other}");
                }
            }
        }
        for (text, is) in
            [("9007199254740993.5", false), ("1.0", true), ("1e400", true), ("1.5e1", true), ("1.5e0", false)]
        {
            assert_eq!(is_integer(text), is, "{text}");
        }
    }
}
