//! Sets of types.

use serde_json::{Number, Value};

use crate::schema::Decimal;

/// A set of types. Numbers with and without a fraction are two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Types = Types(0);
    pub(super) const NULL: Types = Types(1);
    pub(super) const BOOLEAN: Types = Types(2);
    pub(super) const INTEGER: Types = Types(4);
    const FRACTION: Types = Types(8);
    pub(super) const NUMBER: Types = Types(12);
    pub(super) const STRING: Types = Types(16);
    pub(super) const ARRAY: Types = Types(32);
    pub(super) const OBJECT: Types = Types(64);
    pub(super) const ALL: Types = Types(127);

    /// Returns the set for the value of `type`.
    pub(super) fn of_keyword(value: &Value) -> Self {
        let one = |name: &Value| match name.as_str() {
            Some("null") => Types::NULL,
            Some("boolean") => Types::BOOLEAN,
            Some("integer") => Types::INTEGER,
            Some("number") => Types::NUMBER,
            Some("string") => Types::STRING,
            Some("array") => Types::ARRAY,
            Some("object") => Types::OBJECT,
            _ => Types::ALL,
        };
        match value {
            Value::Array(names) => names.iter().map(one).fold(Types::NONE, Types::or),
            name => one(name),
        }
    }

    /// Returns the type of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Number(number) if Decimal::of(number).is_some_and(|decimal| !decimal.is_integer()) => {
                Types::FRACTION
            }
            Value::Number(_) => Types::INTEGER,
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Types(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Types(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Types(self.0 & !other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self == Types::NONE
    }

    /// Returns the value of `type`.
    pub(super) fn keyword(self) -> Value {
        let names = [
            (Types::STRING, "string"),
            (Types::FRACTION, "number"),
            (Types::INTEGER, "integer"),
            (Types::BOOLEAN, "boolean"),
            (Types::ARRAY, "array"),
            (Types::OBJECT, "object"),
            (Types::NULL, "null"),
        ];
        let is_in = |types: Types| self.has(types) && !(types == Types::INTEGER && self.has(Types::FRACTION));
        let mut names: Vec<Value> =
            names.iter().filter(|(types, _)| is_in(*types)).map(|(_, name)| (*name).into()).collect();
        if names.len() == 1 { names.remove(0) } else { Value::Array(names) }
    }
}

/// Returns whether two values are equal as JSON Schema compares them: numbers by their value.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (Decimal::of(one), Decimal::of(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| equal(value, other)))
        }
        (one, other) => one == other,
    }
}

/// Returns whether a 64-bit float holds a number as it is, so that no engine rounds it.
pub(super) fn is_exact(number: &Number) -> bool {
    let float: Option<f64> = number.to_string().parse().ok();
    let shortest = float.filter(|float| float.is_finite()).and_then(Number::from_f64);
    match (Decimal::of(number), shortest.as_ref().and_then(Decimal::of)) {
        (Some(number), Some(float)) => number == float,
        _ => false,
    }
}
