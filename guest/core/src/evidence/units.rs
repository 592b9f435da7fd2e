//! Words that name a unit, a scale, a month or a number.

/// The unit of a number, with the factor that makes numbers comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    Nanoseconds(u64),
    /// `kB` can be 1,000 or 1,024 bytes.
    Bytes {
        decimal: u64,
        binary: u64,
    },
    Currency(u8),
    Ordinal,
}

/// Returns the unit that a word beside a number, after a space, stands for.
pub(super) fn unit(word: &str) -> Option<Unit> {
    const SECOND: u64 = 1_000_000_000;
    let bytes = |decimal: u64, power: u32| Some(Unit::Bytes { decimal, binary: 1 << (10 * power) });
    let binary = |power: u32| Some(Unit::Bytes { decimal: 1 << (10 * power), binary: 1 << (10 * power) });
    let time = |factor: u64| Some(Unit::Nanoseconds(factor));
    match word {
        "s" => return time(SECOND),
        "h" => return time(3_600 * SECOND),
        "d" => return time(86_400 * SECOND),
        "B" => return binary(0),
        _ if !(2..=12).contains(&word.len()) => return None,
        _ => {}
    }
    match word.to_ascii_lowercase().as_str() {
        "percent" | "pct" => Some(Unit::Percent),
        "ns" | "nanosecond" | "nanoseconds" => time(1),
        "us" | "microsecond" | "microseconds" => time(1_000),
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => time(1_000_000),
        "sec" | "secs" | "second" | "seconds" => time(SECOND),
        "min" | "mins" | "minute" | "minutes" => time(60 * SECOND),
        "hr" | "hrs" | "hour" | "hours" => time(3_600 * SECOND),
        "day" | "days" => time(86_400 * SECOND),
        "week" | "weeks" => time(7 * 86_400 * SECOND),
        "byte" | "bytes" => binary(0),
        "kb" | "kilobyte" | "kilobytes" => bytes(1_000, 1),
        "mb" | "megabyte" | "megabytes" => bytes(1_000_000, 2),
        "gb" | "gigabyte" | "gigabytes" => bytes(1_000_000_000, 3),
        "tb" | "terabyte" | "terabytes" => bytes(1_000_000_000_000, 4),
        "kib" | "ki" => binary(1),
        "mib" | "mi" => binary(2),
        "gib" | "gi" => binary(3),
        "tib" | "ti" => binary(4),
        "usd" | "dollar" | "dollars" => Some(Unit::Currency(0)),
        "eur" | "euro" | "euros" => Some(Unit::Currency(1)),
        "gbp" | "pound" | "pounds" => Some(Unit::Currency(2)),
        "jpy" | "yen" => Some(Unit::Currency(3)),
        _ => None,
    }
}

/// Returns the unit that a word attached to a number stands for.
pub(super) fn glued_unit(word: &str) -> Option<Unit> {
    match word {
        "m" => Some(Unit::Nanoseconds(60_000_000_000)),
        "w" => unit("week"),
        "st" | "nd" | "rd" | "th" => Some(Unit::Ordinal),
        word => unit(word),
    }
}

/// Returns the power of ten that a word multiplies by.
pub(super) fn scale(word: &str) -> Option<i32> {
    match word {
        "k" | "K" => return Some(3),
        "M" => return Some(6),
        _ => {}
    }
    match word.to_ascii_lowercase().as_str() {
        "thousand" => Some(3),
        "mn" | "mio" | "million" => Some(6),
        "bn" | "billion" => Some(9),
        "tn" | "trillion" => Some(12),
        _ => None,
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the number of a month from its English name, in full or as its first three letters. Ignores `may` in lower
/// case, which is usually a verb.
pub(super) fn month(word: &str) -> Option<u8> {
    let is_name = word.starts_with(|first: char| first.is_ascii_uppercase()) && word.len() <= 9;
    let word = if is_name { word.to_ascii_lowercase() } else { return None };
    let at = MONTHS
        .iter()
        .position(|month| *month == word || month[..3] == word || (word == "sept" && *month == "september"));
    at.map(|at| at as u8 + 1)
}

/// Returns the value of an English number word, and whether it multiplies the words before it.
pub(super) fn number_word(word: &str) -> Option<(u64, bool)> {
    if !(3..=9).contains(&word.len()) {
        return None;
    }
    let value = match word.to_ascii_lowercase().as_str() {
        "zero" => 0,
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "thirteen" => 13,
        "fourteen" => 14,
        "fifteen" => 15,
        "sixteen" => 16,
        "seventeen" => 17,
        "eighteen" => 18,
        "nineteen" => 19,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        "dozen" => return Some((12, true)),
        "hundred" => return Some((100, true)),
        "thousand" => return Some((1_000, true)),
        "million" => return Some((1_000_000, true)),
        "billion" => return Some((1_000_000_000, true)),
        _ => return None,
    };
    Some((value, false))
}
