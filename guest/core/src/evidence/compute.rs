//! Checks figures that a claim computes from values in observations: a sum, a share, a rate.
//!
//! A citation states the computation, the locations of its operands, and the result as the claim writes it. The gate
//! recomputes the result from those locations, in exact decimals.

use std::{cmp::Ordering, collections::BTreeMap};

use super::{
    Wrong,
    decimal::{Decimal, Quotient, Written},
    figures::{Measure, measure},
    units::{Unit, unit},
    values::{Differs, Values, seek, spend},
};
use crate::{
    location::unescaped,
    parse::{Document, Kind, NodeId},
};

/// The maximum nesting of computations.
const MAX_DEPTH: usize = 4;

/// The cost of reading one list item, in units of the budget for pointer lookups.
const ITEM_COSTS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Sum,
    Count,
    Min,
    Max,
    Difference,
    Share,
    Rate,
}

impl Operation {
    const ALL: [(&'static str, Operation); 7] = [
        ("sum", Operation::Sum),
        ("count", Operation::Count),
        ("min", Operation::Min),
        ("max", Operation::Max),
        ("difference", Operation::Difference),
        ("share", Operation::Share),
        ("rate", Operation::Rate),
    ];

    fn word(self) -> &'static str {
        Operation::ALL.into_iter().find(|(_, other)| *other == self).map_or("", |(word, _)| word)
    }

    /// Returns whether the operation takes two numbers in order. The other operations take numbers and lists of
    /// numbers.
    fn is_of_two(self) -> bool {
        matches!(self, Operation::Difference | Operation::Share | Operation::Rate)
    }

    fn divides(self) -> bool {
        matches!(self, Operation::Share | Operation::Rate)
    }
}

/// A value, or a list of values, that a computation reads.
pub(super) struct Source<'d> {
    /// The position of the operand in the citation.
    pub(super) at: NodeId,
    pub(super) observation: usize,
    operation: Operation,
    pointer: &'d str,
    /// The pointer from each item of the list to the value that the computation reads.
    each: Option<&'d str>,
}

enum Operand {
    /// The index of a source.
    Source(usize),
    Computed(Computation),
}

struct Computation {
    operation: Operation,
    operands: Vec<Operand>,
    /// The unit of the divisor in which a rate is stated.
    per: Option<Unit>,
}

/// A computation, and the result that a claim states.
pub(super) struct Stated {
    /// The position of the result.
    pub(super) at: NodeId,
    computation: Computation,
    result: Measure,
}

/// The reason why a computation does not produce the stated result.
pub(super) enum Refused {
    /// A pointer into this observation leads to no value.
    At(usize, Differs),
    /// A pointer into this observation leads to a value that is not a number.
    NoNumber(usize),
    /// A pointer into this observation leads to a value that is not a list.
    NoList(usize),
    /// A pointer into this observation leads to a list, but one number is needed.
    List(usize),
    /// This observation may not show the whole list.
    Incomplete(usize),
    /// The list has no least or greatest item, because it is empty.
    Empty(usize),
    /// The values have units that cannot be compared.
    Units,
    /// The result has a unit, but the values have none.
    Unit,
    /// The result needs a unit, because the values have several.
    NoUnit,
    /// The divisor has a unit that `per` does not name.
    Per,
    Zero,
    Digits,
    /// The actual result, in the unit of the stated result.
    Is(String),
}

/// The dimensions of units that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Percent,
    Time,
    Size,
    Currency(u8),
}

/// An amount in the base unit of its dimension. The two amounts differ if `kB` could mean 1,000 or 1,024 bytes.
#[derive(Debug, Clone, Copy)]
struct Quantity {
    amounts: [Decimal; 2],
    dimension: Option<Dimension>,
    /// The unit of all operands, if they share one.
    unit: Option<Unit>,
}

/// The value of a source, and its text if the source is a single number.
pub(super) struct Found {
    quantity: Quantity,
    pub(super) shown: Option<String>,
}

/// Reads a citation that has the member `compute`, and collects its sources. The error says what is wrong, and where.
pub(super) fn read<'d>(
    document: &'d Document,
    at: NodeId,
    ids: &BTreeMap<&str, usize>,
    sources: &mut Vec<Source<'d>>,
) -> Result<Stated, (NodeId, Wrong)> {
    let computation = Computation::read(document, at, ids, sources, 1)?;
    let form =
        "an object with \"compute\", \"of\" and the \"value\" that comes out: a number, or a text such as \"12.5%\"";
    let value = document.member(at, "value").ok_or((at, Wrong::Form(form)))?;
    let result = match document.kind(value) {
        Kind::Number => measure(document.source(value)),
        Kind::String => measure(without_divisor(document.string(value), computation.per)),
        _ => None,
    };
    match result {
        Some(result) => Ok(Stated { at: value, computation, result }),
        None => Err((value, Wrong::Form("one number in digits, with or without its unit, such as 12.5 or \"12.5%\""))),
    }
}

/// Returns a rate without its divisor, if the divisor is the given unit: `5 MB` for `5 MB/s`.
fn without_divisor(rate: &str, per: Option<Unit>) -> &str {
    let parts = rate.split_once('/').or_else(|| rate.split_once(" per "));
    parts.filter(|(_, divisor)| per.is_some() && unit(divisor.trim()) == per).map_or(rate, |(rate, _)| rate)
}

impl Computation {
    fn read<'d>(
        document: &'d Document,
        at: NodeId,
        ids: &BTreeMap<&str, usize>,
        sources: &mut Vec<Source<'d>>,
        depth: usize,
    ) -> Result<Self, (NodeId, Wrong)> {
        let wrong = |at: NodeId, form: &'static str| Err((at, Wrong::Form(form)));
        let word = document.member(at, "compute").unwrap_or(at);
        let known = Operation::ALL.into_iter().find(|(name, _)| document.is_string(word, name));
        let Some((_, operation)) = known else {
            return wrong(word, "\"sum\", \"count\", \"min\", \"max\", \"difference\", \"share\" or \"rate\"");
        };
        if depth > MAX_DEPTH {
            return wrong(at, "a computation within at most three others");
        }
        if depth > 1 && operation.divides() {
            return wrong(word, "\"sum\", \"count\", \"min\", \"max\" or \"difference\" within another computation");
        }
        let of = document.member(at, "of").filter(|of| document.kind(*of) == Kind::Array && document.count(*of) > 0);
        let Some(of) = of else {
            return wrong(at, "an object with \"of\", a list of {\"id\": …, \"pointer\": …}");
        };
        if operation.is_of_two() && document.count(of) != 2 {
            return wrong(
                of,
                "two operands: the first less the second, the part and the whole, the amount and the time",
            );
        }
        let per = match document.member(at, "per") {
            None => None,
            Some(per) => match unit(document.string(per)) {
                Some(unit) if operation == Operation::Rate => Some(unit),
                Some(_) => return wrong(per, "absent: only a rate is \"per\" something"),
                None => return wrong(per, "a unit such as \"s\", \"min\", \"day\" or \"GB\""),
            },
        };
        let mut operands = Vec::with_capacity(document.count(of));
        for operand in document.items(of) {
            if document.member(operand, "compute").is_some() {
                let inner = Computation::read(document, operand, ids, sources, depth + 1)?;
                operands.push(Operand::Computed(inner));
                continue;
            }
            let text = |name: &str| {
                let at = document.member(operand, name);
                at.filter(|at| document.kind(*at) == Kind::String).map(|at| (at, document.string(at)))
            };
            let (Some((id_at, id)), Some((_, pointer))) = (text("id"), text("pointer")) else {
                return wrong(operand, "an object with the id of an observation and a pointer, or with \"compute\"");
            };
            let observation = *ids.get(id).ok_or((id_at, Wrong::UnknownId))?;
            let each = text("each").map(|(_, each)| each);
            operands.push(Operand::Source(sources.len()));
            sources.push(Source { at: operand, observation, operation, pointer, each });
        }
        Ok(Computation { operation, operands, per })
    }

    /// Returns the result of an operation that does not divide.
    fn evaluate(&self, found: &[Option<Found>]) -> Result<Quantity, Refused> {
        let mut operands = self.operands.iter().map(|operand| operand.quantity(found));
        let first = operands.next().unwrap_or(Ok(Quantity::NOTHING))?;
        operands.try_fold(first, |all, one| all.combined(one?, self.operation))
    }

    /// Adds the indices of the computation's sources, in the order of the citation.
    fn sources(&self, all: &mut Vec<usize>) {
        for operand in &self.operands {
            match operand {
                Operand::Source(index) => all.push(*index),
                Operand::Computed(inner) => inner.sources(all),
            }
        }
    }
}

impl Operand {
    fn quantity(&self, found: &[Option<Found>]) -> Result<Quantity, Refused> {
        match self {
            Operand::Source(index) => match found.get(*index) {
                Some(Some(found)) => Ok(found.quantity),
                _ => Err(Refused::Digits),
            },
            Operand::Computed(inner) => inner.evaluate(found),
        }
    }
}

impl Stated {
    /// Returns the indices of the computation's sources, in the order of the citation.
    pub(super) fn sources(&self) -> Vec<usize> {
        let mut all = Vec::new();
        self.computation.sources(&mut all);
        all
    }

    pub(super) fn operation(&self) -> &'static str {
        self.computation.operation.word()
    }

    /// Compares the stated result with the actual one. All sources must have been found. Returns the implied unit, if
    /// the result is stated without its unit.
    pub(super) fn check(&self, found: &[Option<Found>]) -> Result<Option<Unit>, Refused> {
        let Computation { operation, operands, per } = &self.computation;
        if !operation.divides() {
            let quantity = self.computation.evaluate(found)?;
            return self.compare(quantity, |base| Some((quantity.amounts[base], Decimal::ONE)));
        }
        let [of, by] = operands.as_slice() else { return Err(Refused::Digits) };
        let (of, by) = (of.quantity(found)?, by.quantity(found)?);
        if by.amounts[0].is_zero() {
            return Err(Refused::Zero);
        }
        let per = match (operation, per.map(factors)) {
            (Operation::Share, _) if of.dimension != by.dimension => return Err(Refused::Units),
            (Operation::Share, _) => [1, 1],
            (_, None) if by.dimension.is_none() => [1, 1],
            (_, Some((dimension, factors))) if by.dimension == dimension && dimension.is_some() => factors,
            _ => return Err(Refused::Per),
        };
        let of_share = Quantity { dimension: None, unit: None, ..of };
        let of = if *operation == Operation::Share { of_share } else { of };
        self.compare(of, |base| Some((of.amounts[base].times(per[base])?, by.amounts[base])))
    }

    /// Compares the result with a quotient, for both meanings of `kB`. `of` provides the dimension and the unit.
    fn compare(
        &self,
        of: Quantity,
        quotient: impl Fn(usize) -> Option<(Decimal, Decimal)>,
    ) -> Result<Option<Unit>, Refused> {
        let Measure { value, place, unit } = self.result;
        let is_share = self.computation.operation == Operation::Share;
        let (factors, power, unsaid) = match unit {
            Some(Unit::Percent) if is_share => ([1, 1], -2, None),
            Some(unit) => match factors(unit) {
                (Some(dimension), factors) if of.dimension == Some(dimension) => (factors, 0, None),
                _ if of.dimension.is_none() => return Err(Refused::Unit),
                _ => return Err(Refused::Units),
            },
            None => match (of.dimension, of.unit) {
                (None, _) => ([1, 1], 0, None),
                (Some(_), Some(unit)) => (self::factors(unit).1, 0, Some(unit)),
                (Some(_), None) => return Err(Refused::NoUnit),
            },
        };
        let mut is = None;
        for base in [0, 1] {
            let (of, by) = quotient(base).ok_or(Refused::Digits)?;
            let quotient = Quotient { of, by: by.times(factors[base]).ok_or(Refused::Digits)? };
            let value = Written { value: value.shifted(power), step: Decimal::power(place.saturating_add(power)) };
            let is_whole = is_share && value.value == Decimal::ONE;
            let fits = quotient.rounds_to(value).ok_or(Refused::Digits)?;
            if fits && (!is_whole || quotient.is_one()) {
                return Ok(unsaid);
            }
            let shown = Quotient { of: quotient.of.shifted(-power), ..quotient }.shown();
            is = is.or(shown);
        }
        let sign = if power == 0 { "" } else { "%" };
        Err(is.map_or(Refused::Digits, |is| Refused::Is(format!("{is}{sign}"))))
    }

    /// Returns the result as text, which supports the same figure in the claim's sentence.
    pub(super) fn offered(&self, document: &Document, unsaid: Option<Unit>) -> String {
        let value = match document.kind(self.at) {
            Kind::String => document.string(self.at),
            _ => document.source(self.at),
        };
        unsaid.and_then(word_of).map_or_else(|| value.to_owned(), |unit| format!("{value} {unit}"))
    }
}

impl Quantity {
    const NOTHING: Quantity = Quantity { amounts: [Decimal::ZERO; 2], dimension: None, unit: None };

    /// Combines two operands of an operation that does not divide.
    fn combined(self, other: Self, operation: Operation) -> Result<Self, Refused> {
        if self.dimension != other.dimension {
            return Err(Refused::Units);
        }
        let mut amounts = self.amounts;
        for (one, other) in amounts.iter_mut().zip(other.amounts) {
            let least = || one.compare(other).map(|order| if order == Ordering::Greater { other } else { *one });
            let most = || one.compare(other).map(|order| if order == Ordering::Less { other } else { *one });
            let combined = match operation {
                Operation::Min => least(),
                Operation::Max => most(),
                Operation::Difference => one.minus(other),
                _ => one.plus(other),
            };
            *one = combined.ok_or(Refused::Digits)?;
        }
        Ok(Quantity { amounts, unit: self.unit.filter(|unit| other.unit == Some(*unit)), ..self })
    }

    fn of(amount: Decimal, unit: Option<Unit>) -> Option<Self> {
        let (dimension, factors) = unit.map_or((None, [1, 1]), factors);
        Some(Quantity { amounts: [amount.times(factors[0])?, amount.times(factors[1])?], dimension, unit })
    }
}

impl Source<'_> {
    pub(super) fn operation(&self) -> &'static str {
        self.operation.word()
    }

    /// Looks up the value or the list.
    pub(super) fn resolve(&self, values: &mut Values, is_complete: bool) -> Result<Found, Refused> {
        let of = self.observation;
        let nowhere = |differs: Differs| Refused::At(of, differs);
        let (document, left) = values.parts().map_err(nowhere)?;
        let at = seek(document, Document::ROOT, self.pointer, left).map_err(nowhere)?;
        let named = named(self.pointer);
        let is_list = matches!(document.kind(at), Kind::Array | Kind::Object);
        if !is_list && self.each.is_none() && self.operation != Operation::Count {
            let quantity = number(document, at, named, left).map_err(nowhere)?.ok_or(Refused::NoNumber(of))?;
            let name = self.pointer.rsplit('/').next().unwrap_or_default();
            return Ok(Found { quantity, shown: Some(format!("{name}: {}", document.source(at))) });
        }
        if !is_list {
            return Err(Refused::NoList(of));
        }
        if self.operation.is_of_two() {
            return Err(Refused::List(of));
        }
        if !is_complete {
            return Err(Refused::Incomplete(of));
        }
        let named = self.each.and_then(self::named).or(named);
        let mut count = 0_i128;
        let mut all: Option<Quantity> = None;
        let mut take = |name: Option<Unit>, item: NodeId| {
            spend(left, ITEM_COSTS).map_err(nowhere)?;
            let value = match self.each {
                None => Ok(item),
                Some(each) => seek(document, item, each, left),
            };
            if self.operation == Operation::Count {
                let value = match value {
                    Err(Differs::Nowhere) => None,
                    other => Some(other.map_err(nowhere)?),
                };
                count += i128::from(value.is_some_and(|value| document.kind(value) != Kind::Null));
                return Ok(());
            }
            let value = value.map_err(nowhere)?;
            let one = number(document, value, name, left).map_err(nowhere)?.ok_or(Refused::NoNumber(of))?;
            all = Some(all.map_or(Ok(one), |all| all.combined(one, self.operation))?);
            Ok(())
        };
        match document.kind(at) {
            Kind::Array => document.items(at).try_for_each(|item| take(named, item))?,
            _ => document.members(at).try_for_each(|(name, value)| {
                take(self.each.map_or_else(|| suffix(document.string(name)).or(named), |_| named), value)
            })?,
        }
        let quantity = match (self.operation, all) {
            (Operation::Count, _) => Quantity { amounts: [Decimal::new(count, 0); 2], ..Quantity::NOTHING },
            (_, Some(all)) => all,
            (Operation::Sum, None) => Quantity::of(Decimal::ZERO, named).ok_or(Refused::Digits)?,
            (_, None) => return Err(Refused::Empty(of)),
        };
        Ok(Found { quantity, shown: None })
    }
}

/// Returns the number in a value: the value is a number, or a string that contains only a number.
fn number(document: &Document, at: NodeId, named: Option<Unit>, left: &mut usize) -> Result<Option<Quantity>, Differs> {
    Ok(match document.kind(at) {
        Kind::Number => Decimal::read(document.source(at)).and_then(|number| Quantity::of(number, named)),
        Kind::String => {
            spend(left, document.string(at).len())?;
            let measured = measure(document.string(at)).filter(|measured| measured.unit != Some(Unit::Ordinal));
            measured.and_then(|measured| Quantity::of(measured.value, measured.unit.or(named)))
        }
        _ => None,
    })
}

/// Returns the dimension of a unit, and its factors to the base unit.
fn factors(unit: Unit) -> (Option<Dimension>, [u64; 2]) {
    match unit {
        Unit::Percent => (Some(Dimension::Percent), [1, 1]),
        Unit::Nanoseconds(factor) => (Some(Dimension::Time), [factor, factor]),
        Unit::Bytes { decimal, binary } => (Some(Dimension::Size), [decimal, binary]),
        Unit::Currency(code) => (Some(Dimension::Currency(code)), [1, 1]),
        Unit::Ordinal => (None, [1, 1]),
    }
}

/// Returns the unit that the last name of a pointer ends with.
fn named(pointer: &str) -> Option<Unit> {
    let is_name = |step: &&str| !step.bytes().all(|byte| byte.is_ascii_digit());
    pointer.rsplit('/').find(is_name).and_then(|name| suffix(&unescaped(name)))
}

/// Returns the unit at the end of a name: `wait_ms`, `size_bytes`.
fn suffix(name: &str) -> Option<Unit> {
    name.rsplit_once('_').and_then(|(_, word)| unit(word))
}

/// Returns a word for a unit.
fn word_of(unit: Unit) -> Option<&'static str> {
    const WORDS: [&str; 22] = [
        "%", "ns", "us", "ms", "s", "min", "h", "days", "weeks", "bytes", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB",
        "TiB", "USD", "EUR", "GBP", "JPY",
    ];
    WORDS.into_iter().find(|word| self::unit(word).or((*word == "%").then_some(Unit::Percent)) == Some(unit))
}

/// Returns what would be right, and a sentence that says so.
pub(super) fn told(refused: &Refused, operation: &str, id: impl Fn(usize) -> String) -> (String, String) {
    let (expected, message) = match refused {
        Refused::At(of, Differs::NotJson) => ("JSON", format!("must lead into JSON, and the observation {} is not JSON", id(*of))),
        Refused::At(of, Differs::NotSought) => (
            "fewer pointers, or shorter lists",
            format!("must ask for less: the search in the observation {} was ended at its limit", id(*of)),
        ),
        Refused::At(of, _) => (
            "pointers (RFC 6901) to values",
            format!("must have pointers (RFC 6901) to values that are in the observation {}", id(*of)),
        ),
        Refused::NoNumber(of) => {
            ("numbers", format!("must lead to numbers: in the observation {}, something else stands there", id(*of)))
        }
        Refused::NoList(of) => {
            ("a list", format!("must lead to a list: in the observation {}, something else stands there", id(*of)))
        }
        Refused::List(of) => (
            "one number",
            format!(
                "must lead to one number: in the observation {}, a list stands there. Compute one, such as {{\"compute\": \"sum\", …}}",
                id(*of)
            ),
        ),
        Refused::Incomplete(of) => (
            "an observation that is complete",
            format!("must not take a list from the observation {}: it is not complete, so items may be missing", id(*of)),
        ),
        Refused::Empty(of) => {
            ("a list with an item", format!("must lead to a list with an item: in the observation {} it is empty", id(*of)))
        }
        Refused::Units => ("units that can be compared", "must be of values in units that can be compared, with a result in such a unit".to_owned()),
        Refused::Unit => ("no unit", "must have no unit, because the values that it is computed from have none".to_owned()),
        Refused::NoUnit => ("a unit", "must have a unit, because the values that it is computed from have several".to_owned()),
        Refused::Per => (
            "\"per\" with a unit of what is divided by",
            "must have \"per\" with a unit of what is divided by, such as \"s\", if that has one, and must not if it has none"
                .to_owned(),
        ),
        Refused::Zero => ("a divisor that is not 0", "must not be divided by 0".to_owned()),
        Refused::Digits => ("fewer digits", "must have fewer digits: it cannot be computed exactly".to_owned()),
        Refused::Is(is) => {
            return (is.clone(), format!("must be the {operation}, rounded to as many places as you write: {is}"));
        }
    };
    (expected.to_owned(), message)
}
