//! Exact decimals and quotients of decimals, compared at the precision of a written figure.

use std::cmp::Ordering;

/// A decimal number: `digits` × 10^`exponent`, without trailing zeros in `digits`.
///
/// Operations return `None` if the result has too many digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    pub(super) const ZERO: Decimal = Decimal { digits: 0, exponent: 0 };
    pub(super) const ONE: Decimal = Decimal { digits: 1, exponent: 0 };

    pub(super) fn new(digits: i128, exponent: i32) -> Self {
        let (mut digits, mut exponent) = (digits, exponent);
        if digits == 0 {
            return Decimal::ZERO;
        }
        while digits % 10 == 0 {
            (digits, exponent) = (digits / 10, exponent.saturating_add(1));
        }
        Decimal { digits, exponent }
    }

    /// Parses a JSON number (RFC 8259, section 6).
    pub(super) fn read(number: &str) -> Option<Self> {
        let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (unsigned, sign) = mantissa.strip_prefix('-').map_or((mantissa, 1), |rest| (rest, -1));
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = whole.bytes().chain(fraction.bytes()).try_fold(0_i128, |digits, byte| {
            digits.checked_mul(10)?.checked_add(i128::from(byte.checked_sub(b'0')?))
        })?;
        let exponent = power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some(Decimal::new(sign * digits, exponent))
    }

    /// Returns the digits at an exponent that is not greater than the number's own.
    fn at(self, exponent: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let by = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(by)?)
    }

    /// Returns the digits of two numbers at a common exponent, and that exponent.
    fn aligned(self, other: Self) -> Option<(i128, i128, i32)> {
        let exponent = match (self.digits, other.digits) {
            (0, _) => other.exponent,
            (_, 0) => self.exponent,
            _ => self.exponent.min(other.exponent),
        };
        Some((self.at(exponent)?, other.at(exponent)?, exponent))
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let (one, other, exponent) = self.aligned(other)?;
        Some(Decimal::new(one.checked_add(other)?, exponent))
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.plus(Decimal { digits: other.digits.checked_neg()?, exponent: other.exponent })
    }

    pub(super) fn times(self, factor: u64) -> Option<Self> {
        Some(Decimal::new(self.digits.checked_mul(factor.into())?, self.exponent))
    }

    /// Returns the number, multiplied by a power of ten.
    pub(super) fn shifted(self, by: i32) -> Self {
        if self.digits == 0 { self } else { Decimal { exponent: self.exponent.saturating_add(by), ..self } }
    }

    /// Returns a power of ten.
    pub(super) fn power(exponent: i32) -> Self {
        Decimal { digits: 1, exponent }
    }

    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        let (one, other, _) = self.aligned(other)?;
        Some(one.cmp(&other))
    }

    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }
}

/// A figure as written, in the base unit of its dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) value: Decimal,
    /// One unit of the last written place.
    pub(super) step: Decimal,
}

/// A quotient of two decimals. The divisor is not zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quotient {
    pub(super) of: Decimal,
    pub(super) by: Decimal,
}

impl Quotient {
    /// Returns whether a figure equals the quotient, rounded to the last place of the figure. Exactly half a step may
    /// be rounded in either direction. A nonzero quotient never rounds to zero.
    pub(super) fn rounds_to(self, written: Written) -> Option<bool> {
        let product = |one: Decimal, other: Decimal| {
            let exponent = one.exponent.checked_add(other.exponent)?;
            Some(Decimal::new(one.digits.checked_mul(other.digits)?, exponent))
        };
        let difference = self.of.minus(product(written.value, self.by)?)?;
        if difference.is_zero() || written.value.is_zero() {
            return Some(difference.is_zero());
        }
        let absolute = |number: Decimal| Decimal { digits: number.digits.abs(), ..number };
        let most = absolute(product(written.step, self.by)?);
        Some(absolute(difference.times(2)?).compare(most)? != Ordering::Greater)
    }

    /// Returns whether the quotient is exactly one.
    pub(super) fn is_one(self) -> bool {
        self.of == self.by
    }

    /// Returns the quotient as a decimal, truncated to a fixed number of places.
    pub(super) fn shown(self) -> Option<String> {
        const PLACES: u32 = 6;
        let (of, by, _) = self.of.aligned(self.by)?;
        let sign = if (of < 0) != (by < 0) && of != 0 { "-" } else { "" };
        let (of, by) = (of.unsigned_abs(), by.unsigned_abs());
        let (whole, mut rest) = (of / by, of % by);
        let mut places = String::new();
        // A small quotient is shown with as many digits as a large one.
        let mut left = PLACES;
        while rest > 0 && left > 0 && places.len() < 30 {
            rest = rest.checked_mul(10)?;
            let digit = rest / by;
            places.push(char::from(b'0' + digit as u8));
            rest %= by;
            left -= u32::from(whole > 0 || places.bytes().any(|place| place != b'0'));
        }
        let point = if places.is_empty() { "" } else { "." };
        let more = if rest > 0 { "…" } else { "" };
        Some(format!("{sign}{whole}{point}{places}{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::read(text).expect(text)
    }

    #[test]
    fn numbers_are_exact_or_refused() {
        for (text, expected) in [
            ("0", Some((0, 0))),
            ("-0.00", Some((0, 0))),
            ("1200", Some((12, 2))),
            ("-3.20", Some((-32, -1))),
            ("1.5e3", Some((15, 2))),
            ("25E-2", Some((25, -2))),
            ("1e+5", Some((1, 5))),
            ("0.1000000000000000055511151231257827021181583404541015625", None),
            ("1e99999999999", None),
        ] {
            assert_eq!(Decimal::read(text), expected.map(|(digits, exponent)| Decimal { digits, exponent }), "{text}");
        }
        assert_eq!(decimal("0.1").plus(decimal("0.2")), Some(decimal("0.3")));
        assert_eq!(decimal("1e300").plus(decimal("1")), None);
        assert_eq!(decimal("1e300").plus(decimal("0")), Some(decimal("1e300")));
    }

    #[test]
    fn a_figure_is_the_quotient_rounded_to_its_last_place() {
        for (of, by, value, step, expected) in [
            ("1", "3", "0.33", "0.01", true),
            ("1", "3", "0.34", "0.01", false),
            ("2", "3", "0.67", "0.01", true),
            ("2", "3", "0.66", "0.01", false),
            ("1", "8", "0.12", "0.01", true),
            ("1", "8", "0.13", "0.01", true),
            ("1", "300", "0", "1", false),
            ("0", "300", "0", "1", true),
            ("-2", "3", "-0.67", "0.01", true),
            ("-2", "3", "0.67", "0.01", false),
            ("2", "-3", "-0.7", "0.1", true),
            ("1234", "1", "1200", "100", true),
            ("1250", "1", "1200", "100", true),
            ("1251", "1", "1200", "100", false),
        ] {
            let (of, by) = (decimal(of), decimal(by));
            let written = Written { value: decimal(value), step: decimal(step) };
            assert_eq!(Quotient { of, by }.rounds_to(written), Some(expected), "{of:?}/{by:?} {value}");
        }
    }

    #[test]
    fn quotients_are_shown_in_places() {
        for (of, by, expected) in [
            ("1", "8", "0.125"),
            ("1", "3", "0.333333…"),
            ("-20", "3", "-6.666666…"),
            ("1", "3000", "0.000333333…"),
            ("12e3", "1", "12000"),
            ("0", "7", "0"),
        ] {
            let quotient = Quotient { of: decimal(of), by: decimal(by) };
            assert_eq!(quotient.shown().as_deref(), Some(expected));
        }
    }
}
