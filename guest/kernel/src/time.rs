//! Converts times in results to milliseconds since 1970.

use seamgate_core::kernel_api::{Document, Kind, NodeId, Number};

/// The smallest number that counts as milliseconds. As seconds, it would be in the year 5138.
const FIRST_MS: u64 = 100_000_000_000;

/// Reads a time: RFC 3339, or seconds or milliseconds since 1970.
pub(crate) fn read(document: &Document, at: NodeId) -> Option<u64> {
    match document.kind(at) {
        Kind::String => rfc3339(document.string(at)),
        Kind::Number => {
            let number = Number(document.source(at)).as_f64()?;
            let ms = if number < FIRST_MS as f64 { number * 1000.0 } else { number };
            (0.0..9e15).contains(&ms).then_some(ms as u64)
        }
        _ => None,
    }
}

/// Parses a time of RFC 3339, section 5.6: `2026-07-03T10:10:00Z`, with a fraction or an offset.
fn rfc3339(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| {
        let digits = bytes.get(from..to)?;
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| digits.iter().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    };
    let is = |at: usize, any: &[u8]| bytes.get(at).is_some_and(|byte| any.contains(byte));
    let marks = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let mut at = 19;
    let mut ms = 0;
    if is(at, b".") {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let fraction =
            bytes[at + 1..].iter().take(digits.min(3)).fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        ms = fraction * [1, 100, 10, 1][digits.min(3)];
        if digits == 0 {
            return None;
        }
        at += 1 + digits;
    }
    let offset = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => 0,
        sign @ (b'+' | b'-') if bytes.len() == at + 6 && is(at + 3, b":") => {
            let minutes = number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?;
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    if !marks || !in_range {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
    u64::try_from(seconds * 1000 + ms).ok()
}

/// Returns the number of days since 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is
/// the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-07-03T10:08:00Z", Some(1_783_073_280_000)),
            ("2026-07-03t12:08:00.5+02:00", Some(1_783_073_280_500)),
            ("2000-02-29 23:59:59.123456Z", Some(951_868_799_123)),
            ("2026-07-03T10:08:00", None),
            ("2026-13-03T10:08:00Z", None),
            ("2026-07-03", None),
            ("2026-07-03T10:08:00.Z", None),
            ("", None),
        ] {
            assert_eq!(rfc3339(text), ms, "{text}");
        }
    }
}
