//! Types of values, as the keywords of an export name them.

use serde_json::{Number, Value};

use crate::schema::{Decimal, Types};

/// Returns the value of `type` for a set of types.
pub(super) fn keyword(types: Types) -> Value {
    let names = [
        (Types::STRING, "string"),
        (Types::FRACTION, "number"),
        (Types::INTEGER, "integer"),
        (Types::BOOLEAN, "boolean"),
        (Types::ARRAY, "array"),
        (Types::OBJECT, "object"),
        (Types::NULL, "null"),
    ];
    let is_in = |one: Types| types.has(one) && !(one == Types::INTEGER && types.has(Types::FRACTION));
    let mut names: Vec<Value> = names.iter().filter(|(one, _)| is_in(*one)).map(|(_, name)| (*name).into()).collect();
    if names.len() == 1 { names.remove(0) } else { Value::Array(names) }
}

/// Returns whether a 64-bit float represents a number exactly, so that no engine rounds it.
pub(super) fn is_exact(number: &Number) -> bool {
    let float: Option<f64> = number.to_string().parse().ok();
    let shortest = float.filter(|float| float.is_finite()).and_then(Number::from_f64);
    match (Decimal::of(number), shortest.as_ref().and_then(Decimal::of)) {
        (Some(number), Some(float)) => number == float,
        _ => false,
    }
}
