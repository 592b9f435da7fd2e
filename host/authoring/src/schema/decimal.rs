//! Numbers as JSON represents them, compared exactly.

use std::cmp::Ordering;

use serde_json::Number;

/// A number: `0.digits × 10^point`. The digits neither begin nor end with 0, and zero has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    point: i64,
}

impl Decimal {
    /// Converts a number. Returns `None` if its exponent is larger than any that a schema needs.
    pub(crate) fn of(number: &Number) -> Option<Self> {
        Decimal::read(&number.to_string())
    }

    fn read(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let point =
            i64::from(exponent) + i64::try_from(whole.len()).ok()? - i64::try_from(all.len() - digits.len()).ok()?;
        let digits = digits.trim_end_matches('0').to_owned();
        Some(match digits.is_empty() {
            true => Decimal { negative: false, digits, point: 0 },
            false => Decimal { negative, digits, point },
        })
    }

    /// Returns whether the number has no fraction.
    pub(crate) fn is_integer(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|length| length <= self.point || length == 0)
    }

    /// Returns the number as an integer, if it is one and fits.
    pub(crate) fn integer(&self) -> Option<i128> {
        let zeros = usize::try_from(self.point).ok()?.checked_sub(self.digits.len())?;
        if self.digits.is_empty() {
            return Some(0);
        }
        if zeros > 30 {
            return None;
        }
        let magnitude: i128 = format!("{}{}", self.digits, "0".repeat(zeros)).parse().ok()?;
        Some(if self.negative { -magnitude } else { magnitude })
    }
}

impl From<i128> for Decimal {
    fn from(integer: i128) -> Self {
        // Rust writes every integer as a valid number.
        Decimal::read(&integer.to_string()).unwrap_or(Decimal { negative: false, digits: String::new(), point: 0 })
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |it: &Decimal| match (it.digits.is_empty(), it.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let magnitude = || self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            1 => magnitude(),
            -1 => magnitude().reverse(),
            _ => Ordering::Equal,
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    fn read(text: &str) -> Decimal {
        Decimal::read(text).expect(text)
    }

    #[test]
    fn numbers_compare_by_their_value_and_exactly() {
        let in_order =
            ["-1e3", "-10.5", "-10", "-0.1", "0", "0.01", "0.1", "0.10000000000000000001", "1", "9", "10", "1e20"];
        for (at, one) in in_order.iter().enumerate() {
            for (other_at, other) in in_order.iter().enumerate() {
                assert_eq!(read(one).cmp(&read(other)), at.cmp(&other_at), "{one} and {other}");
            }
        }
        for (one, other) in [("1", "1.0"), ("-0", "0.0"), ("100", "1e2"), ("0.5", "5E-1"), ("10.0", "10")] {
            assert_eq!(read(one), read(other));
        }
    }

    #[test]
    fn integers_are_told_apart() {
        for (text, integer) in [("0", 0), ("0.0", 0), ("-3", -3), ("1.2e1", 12), ("1200", 1200), ("10.0", 10)] {
            assert!(read(text).is_integer(), "{text}");
            assert_eq!(read(text).integer(), Some(integer), "{text}");
        }
        for text in ["0.5", "1.25e1", "-1e-3"] {
            assert!(!read(text).is_integer(), "{text}");
            assert_eq!(read(text).integer(), None, "{text}");
        }
    }
}
