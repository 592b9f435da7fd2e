//! Rules about single values.

use serde_json::Value;

use crate::schema::{
    Node,
    decimal::Decimal,
    facts::{Facts, Types, equal},
};

/// Returns whether all values are among those of a list.
pub(super) fn is_listed(facts: &Facts<'_>, list: &[&Value]) -> bool {
    let is_in = |value: &Value| list.iter().any(|other| equal(value, other));
    if let Some(values) = &facts.values {
        return values.iter().all(|value| is_in(value));
    }
    facts.types.within(Types::NULL.or(Types::BOOLEAN))
        && (!facts.types.has(Types::NULL) || is_in(&Value::Null))
        && (!facts.types.has(Types::BOOLEAN) || (is_in(&Value::Bool(true)) && is_in(&Value::Bool(false))))
}

/// Returns whether all numbers are within a bound.
pub(super) fn is_bounded(facts: &Facts<'_>, value: &Value, keyword: &str, is_lower: bool) -> bool {
    let wanted = value.as_number().and_then(Decimal::of);
    let exclusive = keyword.starts_with("exclusive");
    facts.bound(is_lower).zip(wanted).is_some_and(|(own, wanted)| {
        let order = if is_lower { own.value.cmp(&wanted) } else { wanted.cmp(&own.value) };
        order.is_gt() || (order.is_eq() && (!exclusive || own.exclusive))
    })
}

/// Returns whether a limit on lengths or counts holds, because of the same keyword or because of a limit that is
/// `known` otherwise.
pub(super) fn is_limited(facts: &Facts<'_>, keyword: &str, value: &Value, is_lower: bool, known: Option<i128>) -> bool {
    let Some(wanted) = value.as_number().and_then(Decimal::of) else {
        return false;
    };
    let holds = |own: Decimal| if is_lower { own >= wanted } else { own <= wanted };
    (is_lower && wanted <= Decimal::from(0))
        || facts.limit(keyword, is_lower).is_some_and(holds)
        || known.map(Decimal::from).is_some_and(holds)
}

/// Returns whether all numbers are multiples of a number.
pub(super) fn is_multiple(facts: &Facts<'_>, value: &Value) -> bool {
    let Some(wanted) = value.as_number().and_then(Decimal::of) else {
        return false;
    };
    let whole = wanted.integer().filter(|wanted| *wanted > 0);
    let is_multiple = |own: Decimal| own == wanted || own.integer().zip(whole).is_some_and(|(own, of)| own % of == 0);
    (whole == Some(1) && !facts.types.has(Types::FRACTION))
        || facts.all("multipleOf").filter_map(Value::as_number).filter_map(Decimal::of).any(is_multiple)
        || facts.values.as_ref().zip(whole).is_some_and(|(values, whole)| {
            let numbers = values.iter().filter_map(|value| value.as_number());
            numbers.map(|number| Decimal::of(number)?.integer()).all(|it| it.is_some_and(|it| it % whole == 0))
        })
}

/// Returns whether all strings have a format, or the format is not asserted.
pub(super) fn is_of_format(facts: &Facts<'_>, other: Node<'_>, value: &Value) -> bool {
    !other.root.formats
        || facts
            .parts
            .iter()
            .any(|part| part.root.formats && part.root.draft == other.root.draft && part.get("format") == Some(value))
}
