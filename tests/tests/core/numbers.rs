//! Tests that numbers are compared and divided exactly, by their digits. The model writes all digits out.

use std::cmp::Ordering;

use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;

const ROUNDS: u64 = 60_000;

/// The number of decimal places in the model: more than any number in the tests has.
const PLACES: usize = 120;

/// The sign and the digits of a decimal number. The last `PLACES` digits are decimal places.
#[derive(Clone, PartialEq)]
struct Written {
    negative: bool,
    digits: Vec<u8>,
}

impl Written {
    fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().expect("an exponent");
        let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        let zeros = PLACES as i64 + exponent - fraction.len() as i64;
        digits.extend(std::iter::repeat_n(0, usize::try_from(zeros).expect("a place for each digit")));
        let first = digits.iter().position(|digit| *digit > 0).unwrap_or(digits.len());
        digits.drain(..first);
        Written { negative: negative && !digits.is_empty(), digits }
    }

    fn order(&self, other: &Self) -> Ordering {
        let size = |a: &Self, b: &Self| a.digits.len().cmp(&b.digits.len()).then_with(|| a.digits.cmp(&b.digits));
        match (self.negative, other.negative) {
            (false, false) => size(self, other),
            (true, true) => size(other, self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    fn is_integer(&self) -> bool {
        self.digits.iter().rev().take(PLACES).all(|digit| *digit == 0)
    }

    /// Returns whether the number is a multiple of a divisor, by long division.
    fn is_multiple_of(&self, divisor: &Self) -> bool {
        let mut rest: Vec<u8> = Vec::new();
        for digit in &self.digits {
            if !rest.is_empty() || *digit > 0 {
                rest.push(*digit);
            }
            while rest.len() > divisor.digits.len() || rest.len() == divisor.digits.len() && rest >= divisor.digits {
                let mut borrowed = 0;
                for at in 0..rest.len() {
                    let at = rest.len() - 1 - at;
                    let place = rest.len() - 1 - at;
                    let take =
                        divisor.digits.len().checked_sub(place + 1).map_or(0, |at| divisor.digits[at]) + borrowed;
                    borrowed = u8::from(rest[at] < take);
                    rest[at] = rest[at] + 10 * borrowed - take;
                }
                let first = rest.iter().position(|digit| *digit > 0).unwrap_or(rest.len());
                rest.drain(..first);
            }
        }
        rest.is_empty()
    }
}

/// Returns a number near the limits of doubles and 64-bit integers, or a variant of another number.
fn number(random: &mut Random, others: &[String]) -> String {
    const NEAR: [&str; 10] = [
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.5",
        "18446744073709551615",
        "-9223372036854775808",
        "5",
        "0.1",
        "1e15",
        "123456789012345678",
        "0",
    ];
    let digits = |random: &mut Random, count: usize| -> String {
        (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect()
    };
    let near = if !others.is_empty() && random.chance(50) { random.one(others) } else { random.one(&NEAR).to_owned() };
    match random.below(8) {
        0 => near,
        // The same value in another notation.
        1 if !near.contains(['.', 'e']) && near.len() < 18 => format!("{near}.{}", "0".repeat(1 + random.below(25))),
        2 if !near.contains(['.', 'e']) && near != "0" => {
            let (first, rest) = near.split_at(if near.starts_with('-') { 2 } else { 1 });
            format!("{first}.{rest}0e{}", rest.len())
        }
        // Almost the same value.
        3 if !near.contains('e') => {
            let point = if near.contains('.') { "" } else { "." };
            format!("{near}{point}{}1", "0".repeat(random.below(30)))
        }
        4 => {
            let (whole, fraction) = (1 + random.below(9), 1 + random.below(22));
            let sign = random.one(&["", "-"]);
            format!("{sign}{whole}{}.{}", digits(random, whole), digits(random, fraction))
        }
        5 => {
            let exponent = random.below(60) as i64 - 30;
            format!("{}e{exponent}", 1 + random.below(99))
        }
        6 => {
            let count = random.below(17);
            format!("{}{}", 1 + random.below(9), digits(random, count))
        }
        _ => format!("{}.{}", random.below(20), random.below(100)),
    }
}

fn accepts(schema: &str, text: &str) -> bool {
    let contract = Contract::compile(&format!(r#"{{"agent":"a","schema":{schema}}}"#));
    let contract = contract.unwrap_or_else(|fault| panic!("{schema}: {}", fault.to_json()));
    let request = Request { agent: "a".to_owned(), output: text, ..Request::default() };
    validate(&contract, &request).expect("a report").disposition == Disposition::Accepted
}

#[test]
fn numbers_are_what_their_digits_say() {
    let (mut wrong, mut first) = (std::collections::BTreeMap::new(), Vec::new());
    let mut asked = 0;
    for seed in 0..ROUNDS {
        let mut random = Random(seed);
        let limit = number(&mut random, &[]);
        let value = number(&mut random, std::slice::from_ref(&limit));
        let (a, b) = (Written::of(&value), Written::of(&limit));
        let order = a.order(&b);
        let positive = limit.trim_start_matches('-');
        let (schema, document, expected) = match random.below(9) {
            0 => (format!(r#"{{"minimum":{limit}}}"#), value, order.is_ge()),
            1 => (format!(r#"{{"maximum":{limit}}}"#), value, order.is_le()),
            2 => (format!(r#"{{"exclusiveMinimum":{limit}}}"#), value, order.is_gt()),
            3 => (format!(r#"{{"exclusiveMaximum":{limit}}}"#), value, order.is_lt()),
            4 => (format!(r#"{{"const":{limit}}}"#), value, order.is_eq()),
            5 => (format!(r#"{{"enum":["a",[{limit}],{{"n":7}}]}}"#), format!("[{value}]"), order.is_eq()),
            6 => (r#"{"uniqueItems":true}"#.to_owned(), format!("[{value},{limit}]"), order.is_ne()),
            7 => (r#"{"type":"integer"}"#.to_owned(), value, a.is_integer()),
            _ if !b.digits.is_empty() => (format!(r#"{{"multipleOf":{positive}}}"#), value, a.is_multiple_of(&b)),
            _ => continue,
        };
        asked += 1;
        if accepts(&schema, &document) != expected {
            let keyword = schema.split('"').nth(1).unwrap_or_default().to_owned();
            *wrong.entry(keyword).or_insert(0) += 1;
            first.push(format!("seed {seed}: {document} by {schema}: {expected}"));
        }
    }
    println!("{asked} verdicts, wrong by keyword: {wrong:?}");
    assert!(first.is_empty(), "{} wrong: {}", first.len(), first[..first.len().min(5)].join("\n"));
}
