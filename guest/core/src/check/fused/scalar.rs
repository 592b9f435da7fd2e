//! The rules of one schema for a string or a number.

use super::{
    super::{schema::Schema, value::Numeric},
    Stop,
};
use crate::parse::Number;

fn must(holds: bool) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::Wrong) }
}

/// Checks a string.
pub(super) fn string(schema: &Schema, text: &str) -> Result<(), Stop> {
    must(schema.allowed.iter().all(|allowed| allowed.has_string(text.as_bytes())))?;
    let Some(rules) = &schema.string else { return Ok(()) };
    // Counts code points only if the length in bytes does not decide. Each code point takes one to four bytes.
    let (min, max) = (rules.length.min, rules.length.max);
    if text.len() > max || text.len() < min.saturating_mul(4) {
        let length = text.chars().count();
        must(length >= min && length <= max)?;
    }
    if let Some(pattern) = &rules.pattern {
        must(pattern.matches(text).map_err(|_| Stop::Unknown)?)?;
    }
    must(rules.format.as_ref().is_none_or(|format| (format.is_valid)(text)))?;
    must(rules.content.check(text).is_ok())
}

/// Checks a number. `integer` is `true` if the number is known to be written as an integer.
pub(super) fn number(schema: &Schema, text: &str, integer: bool) -> Result<(), Stop> {
    must(schema.types.has_number(Number(text), integer))?;
    if schema.allowed.is_empty() && schema.number.is_none() {
        return Ok(());
    }
    let number = Numeric::of(text);
    must(schema.allowed.iter().all(|allowed| allowed.has_number(number)))?;
    let Some(rules) = &schema.number else { return Ok(()) };
    must(rules.bounds.iter().all(|bound| bound.has(number)))?;
    must(rules.multiple_of.as_ref().is_none_or(|(divisor, _)| number.is_multiple_of(divisor)))
}
