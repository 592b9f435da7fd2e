//! Numbers: stored as written, and converted to 64-bit types only if a keyword needs it.

/// Properties of a number that are known after scanning it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// `true` if the number has neither a fraction nor an exponent.
    pub(crate) integer: bool,
    /// `true` if the number is so short that it fits whatever its digits are.
    pub(crate) short: bool,
}

/// Scans a number (RFC 8259, section 6) from its first byte, a minus or a digit.
#[inline(always)]
pub(crate) fn scan(bytes: &[u8], at: &mut usize) -> Result<Shape, &'static str> {
    let start = *at;
    let digits = |at: &mut usize| {
        let first = *at;
        while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        if *at > first { Ok(()) } else { Err("a digit") }
    };
    if bytes.get(*at) == Some(&b'-') {
        *at += 1;
    }
    if bytes.get(*at) == Some(&b'0') {
        *at += 1;
        if bytes.get(*at).is_some_and(u8::is_ascii_digit) {
            return Err("a number without leading zeros");
        }
    } else {
        digits(at)?;
    }
    let mut integer = true;
    let mut exponent = false;
    if bytes.get(*at) == Some(&b'.') {
        integer = false;
        *at += 1;
        digits(at)?;
    }
    if let Some(b'e' | b'E') = bytes.get(*at) {
        integer = false;
        exponent = true;
        *at += 1;
        if let Some(b'+' | b'-') = bytes.get(*at) {
            *at += 1;
        }
        digits(at)?;
    }
    Ok(Shape { integer, short: !exponent && *at - start <= 18 })
}

/// Returns the length of the number that begins with the first byte, if there is one.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    scan(bytes, &mut at).is_ok().then_some(at)
}

impl Shape {
    /// Returns whether a 64-bit type can hold the number. Integers must fit `i64` or `u64`. Others must fit `f64` after
    /// rounding, without becoming infinity or zero.
    pub(crate) fn fits(self, text: &str) -> bool {
        if self.short {
            return true;
        }
        let number = Number(text);
        if self.integer {
            number.as_u64().is_some() || number.as_i64().is_some()
        } else {
            let zero =
                !text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E')).any(|byte| matches!(byte, b'1'..=b'9'));
            number.as_f64().is_some_and(|float| float.is_finite() && (float != 0.0 || zero))
        }
    }
}

/// A number as it was written.
#[derive(Debug, Clone, Copy)]
pub struct Number<'t>(pub &'t str);

impl Number<'_> {
    pub fn as_u64(self) -> Option<u64> {
        match self.0 {
            "-0" => Some(0),
            text => text.parse().ok(),
        }
    }

    pub fn as_i64(self) -> Option<i64> {
        self.0.parse().ok()
    }

    pub fn as_f64(self) -> Option<f64> {
        self.0.parse().ok()
    }

    /// Returns whether there is neither a fraction nor an exponent.
    pub(crate) fn is_written_as_integer(self) -> bool {
        !self.0.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str) -> bool {
        let mut at = 0;
        let shape = scan(text.as_bytes(), &mut at).expect("a number");
        assert_eq!(at, text.len());
        shape.fits(text)
    }

    #[test]
    fn numbers_that_no_64_bit_type_holds_are_found() {
        for text in [
            "0",
            "-0",
            "18446744073709551615",
            "-9223372036854775808",
            "1e308",
            "5e-324",
            "0e999999999",
            "0.0000000000000000000000",
            "-0.0e-400",
            "3.14159265358979323846264338327950288",
        ] {
            assert!(fits(text), "{text}");
        }
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "1e309",
            "-1e400",
            "1e-400",
            "123.456e-789",
            "1e99999999999999999999",
            "1000000000000000000000000000000000000000",
        ] {
            assert!(!fits(text), "{text}");
        }
        assert!(!fits(&"9".repeat(100_000)));
        assert!(fits(&format!("0.{}", "3".repeat(100_000))));
    }

    #[test]
    fn a_number_that_breaks_says_what_was_expected() {
        for (text, expected, at) in [
            ("-", "a digit", 1),
            ("-a", "a digit", 1),
            ("01", "a number without leading zeros", 1),
            ("1.", "a digit", 2),
            ("1.e1", "a digit", 2),
            ("1e+", "a digit", 3),
        ] {
            let mut broke = 0;
            assert_eq!(scan(text.as_bytes(), &mut broke).err(), Some(expected), "{text}");
            assert_eq!(broke, at, "{text}");
        }
    }
}
