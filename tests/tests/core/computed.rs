//! Claims whose figures are computed from others: no wrong claim passes, and very few correct claims are rejected.
//!
//! The oracle has its own fractions. `cargo test --release --test core -- computed --nocapture` prints the counts.

use std::collections::BTreeMap;

use seamgate_core::{Confidence, Contract, Observation, Request, validate};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// The number of claims to generate, and the most true claims of a thousand that may be rejected.
const CLAIMS: usize = 10_000;
const REFUSED_OF_A_THOUSAND: usize = 5;

const CONTRACT: &str = r#"{"agent":"a","schema":{"type":"object"},"evidence":{"claims":"$.claims[*]"}}"#;

/// A number of thousandths, divided by another number.
#[derive(Clone, Copy)]
struct Fraction {
    of: i128,
    by: i128,
}

/// A figure: its digits as an integer, the number of decimal places, and the size of its unit in the unit of the
/// fraction.
#[derive(Clone, Copy)]
struct Figure {
    digits: i128,
    places: u32,
    size: Fraction,
}

impl Fraction {
    fn new(of: i128, by: i128) -> Self {
        Fraction { of: of * by.signum(), by: by.abs() }
    }

    fn over(self, other: Fraction) -> Fraction {
        Fraction::new(self.of * other.by, self.by * other.of)
    }

    /// Returns the fraction with a number of decimal places, rounded half away from zero.
    fn rounded(self, places: u32) -> i128 {
        let scaled = self.of * 10_i128.pow(places);
        let rounded = (2 * scaled.abs() + self.by) / (2 * self.by);
        rounded * scaled.signum()
    }
}

impl Figure {
    /// Returns whether the figure is the rounded value of a fraction.
    fn is(self, exact: Fraction, is_share: bool) -> bool {
        let inside = exact.over(self.size);
        let scaled = Fraction::new(inside.of * 10_i128.pow(self.places), inside.by);
        let twice_off = 2 * (scaled.of - self.digits * scaled.by).abs();
        let is_exact = twice_off == 0;
        let is_whole = is_share && self.digits * self.size.of == 10_i128.pow(self.places) * self.size.by;
        is_exact || (twice_off <= scaled.by && self.digits != 0 && !is_whole)
    }

    fn text(self, unit: &str, has_separators: bool) -> String {
        let power = 10_i128.pow(self.places);
        let (whole, rest) = (self.digits.abs() / power, self.digits.abs() % power);
        let sign = if self.digits < 0 { "-" } else { "" };
        let mut grouped = whole.to_string();
        if has_separators && !unit.is_empty() {
            let mut at = grouped.len();
            while at > 3 {
                at -= 3;
                grouped.insert(at, ',');
            }
        }
        let fraction =
            if self.places == 0 { String::new() } else { format!(".{rest:0width$}", width = self.places as usize) };
        let space = if matches!(unit, "" | "%") { "" } else { " " };
        format!("{sign}{grouped}{fraction}{space}{unit}")
    }
}

/// A true computation: the citation without its result, the exact result, and the possible units.
struct Computed {
    cite: Value,
    exact: Fraction,
    /// The units, each with its size in the unit of `exact`.
    units: Vec<(&'static str, Fraction)>,
    /// The same citation with another divisor, without one item, or in another order.
    other: Option<Value>,
    is_share: bool,
}

const ONE: Fraction = Fraction { of: 1, by: 1 };

/// An observation of a service, with its numbers in thousandths.
struct Seen {
    text: String,
    numbers: BTreeMap<&'static str, i128>,
    waits: Vec<i128>,
    costs: Vec<i128>,
    errors: usize,
}

fn decimal(thousandths: i128) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let (whole, rest) = (thousandths.abs() / 1000, thousandths.abs() % 1000);
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:03}") }
}

fn seen(random: &mut Random) -> Seen {
    let below = |random: &mut Random, most: usize| random.below(most) as i128;
    let requests = 1000 * (2 + below(random, 1_000_000));
    let failed = 1000 * below(random, (requests / 1000) as usize + 1);
    let numbers = BTreeMap::from([
        ("requests", requests),
        ("failed", failed),
        ("retried", 1000 * below(random, 5000)),
        ("window_s", 1000 * (1 + below(random, 3600))),
        ("sent_mb", 1 + below(random, 90_000_000)),
        ("before", below(random, 9_000_000) - 4_000_000),
        ("after", below(random, 9_000_000) - 4_000_000),
        ("idle_ms", 1 + below(random, 90_000_000)),
        ("busy_s", 1 + below(random, 900_000)),
    ]);
    let rows = 1 + random.below(30);
    let waits: Vec<i128> = (0..rows).map(|_| 1 + below(random, 5_000_000)).collect();
    let costs: Vec<i128> = (0..rows).map(|_| below(random, 5_000_000) - 1_000_000).collect();
    let has_error: Vec<bool> = (0..rows).map(|_| random.chance(30)).collect();
    let rows: Vec<String> = waits
        .iter()
        .zip(&costs)
        .zip(&has_error)
        .map(|((wait, cost), has_error)| {
            let error = if *has_error { "\"timeout\"" } else { "null" };
            format!(r#"{{"wait_ms": {}, "cost": {}, "error": {error}}}"#, decimal(*wait), decimal(*cost))
        })
        .collect();
    let members: Vec<String> =
        numbers.iter().map(|(name, value)| format!(r#""{name}": {}"#, decimal(*value))).collect();
    Seen {
        text: format!(r#"{{{}, "rows": [{}]}}"#, members.join(", "), rows.join(", ")),
        numbers,
        waits,
        costs,
        errors: has_error.into_iter().filter(|has| *has).count(),
    }
}

fn place(name: &str) -> Value {
    json!({"id": "seen#1", "pointer": format!("/{name}")})
}

fn each(name: &str) -> Value {
    json!({"id": "seen#1", "pointer": "/rows", "each": format!("/{name}")})
}

fn computed(random: &mut Random, seen: &Seen) -> Computed {
    let is = |name: &str| Fraction::new(seen.numbers[name], 1000);
    let sum = |all: &[i128]| Fraction::new(all.iter().sum(), 1000);
    let time = || vec![("ms", ONE), ("s", Fraction::new(1000, 1)), ("min", Fraction::new(60_000, 1)), ("", ONE)];
    let plain = || vec![("", ONE)];
    let share = || vec![("%", Fraction::new(1, 100)), ("", ONE), ("percent", Fraction::new(1, 100))];
    let of = |compute: &str, of: Value| json!({"compute": compute, "of": of});
    let made = |cite: Value, exact: Fraction, units: Vec<(&'static str, Fraction)>, other: Option<Value>| Computed {
        is_share: cite["compute"] == "share",
        cite,
        exact,
        units,
        other,
    };
    match random.below(11) {
        0 => made(
            of("sum", json!([each("wait_ms")])),
            sum(&seen.waits),
            time(),
            Some(of("max", json!([each("wait_ms")]))),
        ),
        1 => {
            made(of("sum", json!([each("cost")])), sum(&seen.costs), plain(), Some(of("sum", json!([each("wait_ms")]))))
        }
        2 => {
            // Units of one dimension can be combined. The result has a unit of its own.
            let all = Fraction::new(seen.numbers["idle_ms"] + 1000 * seen.numbers["busy_s"], 1000);
            let units = time().into_iter().filter(|(unit, _)| !unit.is_empty()).collect();
            made(
                of("sum", json!([place("idle_ms"), place("busy_s")])),
                all,
                units,
                Some(of("sum", json!([place("idle_ms")]))),
            )
        }
        3 => {
            let rows = Fraction::new(seen.waits.len() as i128, 1);
            made(of("count", json!([place("rows")])), rows, plain(), Some(of("count", json!([each("error")]))))
        }
        4 => {
            let errors = Fraction::new(seen.errors as i128, 1);
            made(of("count", json!([each("error")])), errors, plain(), Some(of("count", json!([each("cost")]))))
        }
        5 => {
            let (word, other, value) = match random.below(2) {
                0 => ("min", "max", seen.costs.iter().min()),
                _ => ("max", "min", seen.costs.iter().max()),
            };
            let value = Fraction::new(*value.expect("a row"), 1000);
            made(of(word, json!([each("cost")])), value, plain(), Some(of(other, json!([each("cost")]))))
        }
        6 => {
            let difference = Fraction::new(seen.numbers["after"] - seen.numbers["before"], 1000);
            let [one, other] = [json!([place("after"), place("before")]), json!([place("before"), place("after")])];
            made(of("difference", one), difference, plain(), Some(of("difference", other)))
        }
        7 => {
            let part = random.one(&["failed", "retried"]);
            let exact = is(part).over(is("requests"));
            let other = of("share", json!([place(part), place("retried")]));
            let other = Some(other).filter(|_| seen.numbers["retried"] != 0);
            made(of("share", json!([place(part), place("requests")])), exact, share(), other)
        }
        8 => {
            let exact = Fraction::new(seen.errors as i128, seen.waits.len() as i128);
            let counted = |what: Value| json!({"compute": "count", "of": [what]});
            let other = of("share", json!([counted(each("error")), place("requests")]));
            made(of("share", json!([counted(each("error")), counted(place("rows"))])), exact, share(), Some(other))
        }
        9 => {
            let exact = is("requests").over(is("window_s"));
            let per = |per: &str| json!({"compute": "rate", "per": per, "of": [place("requests"), place("window_s")]});
            match random.below(2) {
                0 => made(per("s"), exact, plain(), Some(per("min"))),
                _ => made(per("min"), Fraction::new(60 * exact.of, exact.by), plain(), Some(per("s"))),
            }
        }
        _ => {
            let exact = is("sent_mb").over(is("window_s"));
            let rate = |of: &str| json!({"compute": "rate", "per": "s", "of": [place(of), place("window_s")]});
            let units =
                vec![("MB", ONE), ("MB/s", ONE), ("GB", Fraction::new(1000, 1)), ("GB/s", Fraction::new(1000, 1))];
            made(rate("sent_mb"), exact, units, None)
        }
    }
}

/// Returns the keywords of the violations of a claim.
fn judged(contract: &Contract, seen: &str, is_complete: bool, sentence: &str, cite: &Value) -> Vec<String> {
    let evidence = [Observation {
        id: "seen#1".to_owned(),
        kinds: Vec::new(),
        text: seen.to_owned(),
        labels: Vec::new(),
        confidence: Confidence::High,
        complete: is_complete,
        limitations: Vec::new(),
    }];
    let output = json!({"claims": [{"text": sentence, "evidence": [cite]}]}).to_string();
    let request = Request { output: &output, evidence: Some((&evidence[..]).into()), ..Request::default() };
    let report = validate(contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    report.error.into_iter().flat_map(|error| error.violations).map(|violation| violation.keyword).collect()
}

/// Returns a citation with its result, as text. If the result consists only of a number, it may also be a JSON number.
fn with(cite: &Value, value: &str, random: &mut Random) -> Value {
    let mut cite = cite.clone();
    let number = serde_json::from_str::<serde_json::Number>(value).ok().filter(|_| random.chance(50));
    cite["value"] = number.map_or_else(|| json!(value), |_| serde_json::from_str(value).expect("a number"));
    cite
}

#[test]
fn computed_claims_are_true_or_refused() {
    let contract = Contract::compile(CONTRACT).expect("a contract");
    let random = &mut Random(51);
    let (mut counts, mut refused) = (BTreeMap::<&str, usize>::new(), Vec::new());
    let mut made = 0;
    while made < CLAIMS {
        let seen = seen(random);
        let Computed { cite, exact, units, other, is_share } = computed(random, &seen);
        let (unit, size) = random.one(&units);
        let places = random.below(5) as u32;
        let figure = Figure { digits: exact.over(size).rounded(places), places, size };
        if !figure.is(exact, is_share) {
            continue; // The figure is rounded to 0, or to the whole.
        }
        let text = figure.text(unit, random.chance(30));
        // A result without a unit has the unit of its values. The sentence contains the unit.
        let said = match units.iter().find(|(name, size)| unit.is_empty() && !name.is_empty() && size.of == size.by) {
            Some((name, _)) if !is_share => format!("{text} {name}"),
            _ => text.clone(),
        };
        let sentence = format!("Over all, it was {said} so far.");
        let kind = random.one(&["true", "true", "true", "true", "digit", "unit", "other", "rounded", "said"]);
        let wrong = match kind {
            "true" => {
                made += 1;
                *counts.entry("true").or_default() += 1;
                let keywords = judged(&contract, &seen.text, true, &sentence, &with(&cite, &text, random));
                if !keywords.is_empty() {
                    refused.push(format!("{text} {cite} {keywords:?} {}", seen.text));
                }
                continue;
            }
            "digit" => {
                let digits = figure.digits.abs().to_string();
                let at = random.below(digits.len());
                let digit = (digits.as_bytes()[at] - b'0' + 1 + random.below(9) as u8) % 10;
                let changed = format!("{}{digit}{}", &digits[..at], &digits[at + 1..]);
                let digits = changed.parse::<i128>().expect("digits") * if figure.digits < 0 { -1 } else { 1 };
                Figure { digits, ..figure }
            }
            "rounded" => Figure { digits: figure.digits + if random.chance(50) { 1 } else { -1 }, ..figure },
            _ => figure,
        };
        let (wrong_cite, wrong_unit) = match kind {
            "unit" => {
                let another = random.one(&["ms", "s", "min", "%", "USD", "MB", "kB", ""]);
                let known = units.iter().find(|(unit, _)| *unit == another);
                let is_right = known.is_some_and(|(_, size)| Figure { size: *size, ..figure }.is(exact, is_share));
                if is_right || another == unit {
                    continue;
                }
                (cite.clone(), another)
            }
            "other" => match &other {
                Some(other) => (other.clone(), unit),
                None => continue,
            },
            _ => (cite.clone(), unit),
        };
        // A GB may have 1,024 MB.
        let is_binary = unit.starts_with("GB") && Figure { size: Fraction::new(1024, 1), ..wrong }.is(exact, is_share);
        if matches!(kind, "digit" | "rounded") && (is_binary || wrong.is(exact, is_share)) {
            continue;
        }
        let text = wrong.text(wrong_unit, false);
        if kind == "other" {
            // The other computation may have the same result.
            let right = judged(&contract, &seen.text, true, "So it is.", &with(&wrong_cite, &text, random));
            let told = other_result(&seen, &wrong_cite);
            if told.is_none_or(|told| wrong.is(told, is_share)) {
                continue;
            }
            assert!(!right.is_empty(), "{text} {wrong_cite} {}", seen.text);
        }
        made += 1;
        *counts.entry(kind).or_default() += 1;
        if kind == "said" {
            // The result is correct, but the sentence contains another figure.
            let said = Figure { digits: figure.digits + 1 + random.below(9) as i128, ..figure }.text(unit, false);
            let sentence = format!("Over all, it was {said} so far.");
            let keywords = judged(&contract, &seen.text, true, &sentence, &with(&cite, &text, random));
            let is_there = seen.text.contains(said.trim_start_matches('-'));
            assert!(
                is_there || keywords == ["evidence.number"],
                "{said} for {text}: {cite} {keywords:?} {}",
                seen.text
            );
            continue;
        }
        let sentence = format!("Over all, it was {text} so far.");
        let keywords = judged(&contract, &seen.text, true, &sentence, &with(&wrong_cite, &text, random));
        let names = ["evidence.compute", "evidence.claim"].map(str::to_owned);
        // A number without the unit of its values is rejected in the sentence.
        let is_refused = keywords.iter().any(|keyword| names.contains(keyword) || kind == "unit");
        assert!(is_refused, "{kind}: {text} {wrong_cite} {keywords:?} {}", seen.text);
    }
    println!("{counts:?}, {} true ones refused", refused.len());
    refused.iter().take(5).for_each(|claim| println!("refused: {claim}"));
    assert!(refused.len() * 1000 <= counts["true"] * REFUSED_OF_A_THOUSAND, "too many true claims are refused");
}

/// Returns the result of a citation of this test, computed by the oracle. Returns `None` if the unit differs from that
/// of the replaced citation.
fn other_result(seen: &Seen, cite: &Value) -> Option<Fraction> {
    let operand = |at: usize| &cite["of"][at];
    let scalar = |at: usize| {
        let name = operand(at)["pointer"].as_str()?.trim_start_matches('/').to_owned();
        seen.numbers.get(name.as_str()).map(|value| Fraction::new(*value, 1000))
    };
    let column = |at: usize| match operand(at)["each"].as_str()? {
        "/wait_ms" => Some(&seen.waits),
        "/cost" => Some(&seen.costs),
        _ => None,
    };
    let thousandths = |value: i128| Fraction::new(value, 1000);
    match cite["compute"].as_str()? {
        "max" => column(0)?.iter().max().copied().map(thousandths),
        "min" => column(0)?.iter().min().copied().map(thousandths),
        "sum" => column(0).map(|all| thousandths(all.iter().sum())).or_else(|| scalar(0)),
        "count" if operand(0)["each"] == "/error" => Some(Fraction::new(seen.errors as i128, 1)),
        "count" => Some(Fraction::new(seen.waits.len() as i128, 1)),
        "difference" => Some(thousandths(scalar(0)?.of * 1000 / scalar(0)?.by - scalar(1)?.of * 1000 / scalar(1)?.by)),
        "share" if operand(0).get("compute").is_some() => Some(Fraction::new(seen.errors as i128, 1).over(scalar(1)?)),
        "share" => Some(scalar(0)?.over(scalar(1)?)),
        "rate" => {
            let rate = scalar(0)?.over(scalar(1)?);
            Some(if cite["per"] == "min" { Fraction::new(60 * rate.of, rate.by) } else { rate })
        }
        _ => None,
    }
}

#[test]
fn a_list_that_may_lack_items_is_not_computed_with() {
    let contract = Contract::compile(CONTRACT).expect("a contract");
    let random = &mut Random(52);
    for _ in 0..200 {
        let seen = seen(random);
        let text = decimal(seen.costs.iter().sum());
        let sum = json!({"compute": "sum", "of": [each("cost")], "value": text});
        let single = json!({"compute": "sum", "of": [place("failed")], "value": decimal(seen.numbers["failed"])});
        assert_eq!(judged(&contract, &seen.text, true, "So it is.", &sum), [""; 0], "{}", seen.text);
        assert_eq!(judged(&contract, &seen.text, false, "So it is.", &sum), ["evidence.compute"], "{}", seen.text);
        assert_eq!(judged(&contract, &seen.text, false, "So it is.", &single), [""; 0], "{}", seen.text);
    }
}
