//! Sets of types.

use serde_json::{Number, Value};

use crate::schema::Decimal;

/// A set of types. Numbers with and without a fraction are two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

impl TypeSet {
    pub(super) const NONE: TypeSet = TypeSet(0);
    pub(super) const NULL: TypeSet = TypeSet(1);
    pub(super) const BOOLEAN: TypeSet = TypeSet(2);
    pub(super) const INTEGER: TypeSet = TypeSet(4);
    const FRACTION: TypeSet = TypeSet(8);
    pub(super) const NUMBER: TypeSet = TypeSet(12);
    pub(super) const STRING: TypeSet = TypeSet(16);
    pub(super) const ARRAY: TypeSet = TypeSet(32);
    pub(super) const OBJECT: TypeSet = TypeSet(64);
    pub(super) const ALL: TypeSet = TypeSet(127);

    /// Returns the set for the value of `type`.
    pub(super) fn of_keyword(value: &Value) -> Self {
        let one = |name: &Value| match name.as_str() {
            Some("null") => TypeSet::NULL,
            Some("boolean") => TypeSet::BOOLEAN,
            Some("integer") => TypeSet::INTEGER,
            Some("number") => TypeSet::NUMBER,
            Some("string") => TypeSet::STRING,
            Some("array") => TypeSet::ARRAY,
            Some("object") => TypeSet::OBJECT,
            _ => TypeSet::ALL,
        };
        match value {
            Value::Array(names) => names.iter().map(one).fold(TypeSet::NONE, TypeSet::or),
            name => one(name),
        }
    }

    /// Returns the type of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => TypeSet::NULL,
            Value::Bool(_) => TypeSet::BOOLEAN,
            Value::Number(number) if Decimal::of(number).is_some_and(|decimal| !decimal.is_integer()) => {
                TypeSet::FRACTION
            }
            Value::Number(_) => TypeSet::INTEGER,
            Value::String(_) => TypeSet::STRING,
            Value::Array(_) => TypeSet::ARRAY,
            Value::Object(_) => TypeSet::OBJECT,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        TypeSet(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        TypeSet(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        TypeSet(self.0 & !other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self == TypeSet::NONE
    }

    /// Returns the value of `type`.
    pub(super) fn keyword(self) -> Value {
        let names = [
            (TypeSet::STRING, "string"),
            (TypeSet::FRACTION, "number"),
            (TypeSet::INTEGER, "integer"),
            (TypeSet::BOOLEAN, "boolean"),
            (TypeSet::ARRAY, "array"),
            (TypeSet::OBJECT, "object"),
            (TypeSet::NULL, "null"),
        ];
        let is_in = |types: TypeSet| self.has(types) && !(types == TypeSet::INTEGER && self.has(TypeSet::FRACTION));
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
