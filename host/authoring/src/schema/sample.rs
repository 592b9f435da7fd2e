//! Generates documents that a schema may accept. Only the gate decides whether it does.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Number, Value, json};

use super::{
    Node, Root,
    decimal::Decimal,
    facts::{Facts, Types},
};

/// The deepest nesting of a document.
const MAX_DEPTH: usize = 12;

/// The maximum number of values in a document, so that a person can read it.
const MAX_VALUES: usize = 400;

/// The maximum length of a string in characters, and of a list in items.
const MAX_STRING: usize = 4096;
const MAX_ITEMS: usize = 64;

/// Values and names of schemas, from which others are generated.
#[derive(Default)]
pub(crate) struct Pool {
    values: Vec<Value>,
    numbers: Vec<Value>,
    strings: Vec<String>,
    names: Vec<String>,
    lengths: Vec<usize>,
}

/// The maximum number of values of each kind in a pool.
const MAX_POOL: usize = 200;

impl Pool {
    pub(crate) fn of<'r>(roots: impl IntoIterator<Item = &'r Root>) -> Self {
        let mut pool = Pool::default();
        for number in [json!(0), json!(1), json!(-1), json!(0.5)] {
            pool.numbers.push(number);
        }
        pool.strings.extend(["", "a", "text"].map(str::to_owned));
        pool.names.extend(["a", "extra"].map(str::to_owned));
        pool.lengths.extend([0, 1, 2]);
        for document in roots.into_iter().flat_map(Root::documents) {
            pool.add(document, 0);
        }
        pool
    }

    fn add(&mut self, value: &Value, depth: usize) {
        if depth > 64 {
            return;
        }
        match value {
            Value::Number(number) => self.number(number),
            Value::String(text) if self.strings.len() < MAX_POOL => self.strings.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| self.add(value, depth + 1)),
            Value::Object(members) => {
                for (name, value) in members {
                    let is_listed = matches!(name.as_str(), "enum" | "examples");
                    if let (true, Value::Array(values)) = (is_listed, value) {
                        self.values.extend(values.iter().take(MAX_POOL).cloned());
                    }
                    if matches!(name.as_str(), "const" | "default") && self.values.len() < MAX_POOL {
                        self.values.push(value.clone());
                    }
                    if let (true, Value::Object(named)) = (name == "properties", value) {
                        self.names.extend(named.keys().take(MAX_POOL).cloned());
                    }
                    self.add(value, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Adds a number and its neighbours, so that a limit accepts some and rejects others.
    fn number(&mut self, number: &Number) {
        if self.numbers.len() >= MAX_POOL {
            return;
        }
        self.numbers.push(Value::Number(number.clone()));
        if let Some(integer) = number.as_i64() {
            self.numbers.extend([integer.saturating_sub(1), integer.saturating_add(1)].map(Value::from));
            if let Ok(length) = usize::try_from(integer).map(|length| length.min(MAX_STRING)) {
                self.lengths.extend([length.saturating_sub(1), length, length + 1]);
            }
        } else if let Some(number) = number.as_f64() {
            self.numbers.extend([number.floor(), number.ceil(), number + 0.25].map(Value::from));
        }
    }
}

/// A random number generator that returns the same numbers for the same seed: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    fn chance(&mut self, in_a_hundred: usize) -> bool {
        self.below(100) < in_a_hundred
    }

    fn one<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        of.get(self.below(of.len()))
    }
}

/// Generates documents for a schema.
pub(crate) struct Sampler<'p> {
    random: Random,
    pool: &'p Pool,
    /// The percentage of values that are wild, which means at the edge of a schema or beyond. The others are ordinary.
    wildness: usize,
    /// `true` if the value that is generated now is wild.
    wild: bool,
    left: usize,
}

impl<'p> Sampler<'p> {
    pub(crate) fn new(pool: &'p Pool, seed: u64, wildness: usize) -> Self {
        Sampler { random: Random(seed), pool, wildness, wild: false, left: MAX_VALUES }
    }

    /// Generates a document.
    pub(crate) fn document(&mut self, schema: Node<'_>) -> Value {
        self.left = MAX_VALUES;
        self.value(&[schema], 0)
    }

    fn value(&mut self, schemas: &[Node<'_>], depth: usize) -> Value {
        let around = self.wild;
        self.wild = self.random.chance(self.wildness);
        let value = self.one_value(schemas, depth);
        self.wild = around;
        value
    }

    fn one_value(&mut self, schemas: &[Node<'_>], depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        if self.wild && self.random.chance(3) {
            return self.any();
        }
        let schemas = self.with_alternatives(schemas);
        let facts = Facts::of(&schemas);
        if let Some(values) = &facts.values {
            let chosen = if self.wild { self.random.one(values) } else { values.first() };
            return chosen.map_or(Value::Null, |value| (*value).clone());
        }
        if !self.wild
            && let Some(value) = example(&facts)
        {
            return value.clone();
        }
        let types = facts.types;
        let order =
            [Types::OBJECT, Types::ARRAY, Types::STRING, Types::INTEGER, Types::FRACTION, Types::BOOLEAN, Types::NULL];
        let order = if depth > MAX_DEPTH || self.left == 0 { &order[2..] } else { &order[..] };
        let mut possible: Vec<Types> = order.iter().copied().filter(|one| types.has(*one)).collect();
        if types == Types::ALL {
            // The keywords that the schema has suggest the intended type.
            let says = |keywords: &[&str]| keywords.iter().any(|keyword| facts.all(keyword).next().is_some());
            let meant = match () {
                () if says(&["properties", "required", "additionalProperties"]) => Types::OBJECT,
                () if says(&["items", "prefixItems", "minItems", "maxItems", "contains"]) => Types::ARRAY,
                () if says(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => {
                    Types::NUMBER
                }
                () => Types::STRING,
            };
            if !self.wild || self.random.chance(85) {
                possible.retain(|one| meant.has(*one));
            }
        }
        let chosen = if self.wild { self.random.one(&possible).copied() } else { possible.first().copied() };
        match chosen {
            Some(Types::OBJECT) => self.object(&facts, depth),
            Some(Types::ARRAY) => self.array(&facts, depth),
            Some(Types::STRING) => Value::String(self.string(&facts)),
            Some(Types::INTEGER) => self.number(&facts, true),
            Some(Types::FRACTION) => self.number(&facts, false),
            Some(Types::BOOLEAN) => Value::Bool(!self.wild || self.random.chance(50)),
            _ => Value::Null,
        }
    }

    /// Returns any value that the schemas mention.
    fn any(&mut self) -> Value {
        let pool = self.pool;
        match self.random.below(6) {
            0 => Value::Null,
            1 => json!({}),
            2 => self.random.one(&pool.strings).cloned().map_or(Value::Null, Value::String),
            3 => self.random.one(&pool.values).cloned().unwrap_or(Value::Bool(false)),
            4 => json!([]),
            _ => self.random.one(&pool.numbers).cloned().unwrap_or(Value::Null),
        }
    }

    /// Replaces each `anyOf` and `oneOf` in the schemas by one of its alternatives.
    fn with_alternatives<'s>(&mut self, schemas: &[Node<'s>]) -> Vec<Node<'s>> {
        let mut all = schemas.to_vec();
        let mut looked_at = BTreeSet::new();
        for _ in 0..4 {
            let mut chosen = Vec::new();
            for part in Facts::of(&all).parts {
                if !looked_at.insert(part.key()) {
                    continue;
                }
                for keyword in ["anyOf", "oneOf"] {
                    let alternatives = part.list(keyword);
                    let one = if self.wild { self.random.one(alternatives) } else { alternatives.first() };
                    chosen.extend(one.map(|one| part.at(one)));
                }
            }
            if chosen.is_empty() {
                break;
            }
            all.extend(chosen);
        }
        all
    }

    fn object(&mut self, facts: &Facts<'_>, depth: usize) -> Value {
        let required = facts.required();
        let mut names: BTreeSet<String> = required.iter().map(|name| (*name).to_owned()).collect();
        for name in facts.names() {
            let wanted = if self.wild { self.random.chance(50) } else { depth < 4 };
            if wanted {
                names.insert(name.to_owned());
            }
        }
        if self.wild {
            if self.random.chance(25) {
                names.extend(self.random.one(&self.pool.names).cloned());
            }
            if self.random.chance(6)
                && let Some(first) = names.iter().nth(self.random.below(names.len())).cloned()
            {
                names.remove(&first);
            }
        }
        let least = facts.limit("minProperties", true).and_then(|least| least.integer()).unwrap_or(0);
        for number in 1..=least.clamp(0, MAX_ITEMS as i128) {
            if (names.len() as i128) < least {
                names.insert(format!("member{number}"));
            }
        }
        let mut members = Map::new();
        for name in names {
            let schemas = facts.member(&name);
            // A member that has no valid value is omitted, except in some wild documents.
            if Facts::of(&schemas).is_empty() && !(self.wild && self.random.chance(10)) {
                continue;
            }
            let value = self.value(&schemas, depth + 1);
            members.insert(name, value);
        }
        Value::Object(members)
    }

    fn array(&mut self, facts: &Facts<'_>, depth: usize) -> Value {
        let whole =
            |decimal: Option<Decimal>| decimal.and_then(|it| it.integer()).and_then(|it| usize::try_from(it).ok());
        let least = whole(facts.limit("minItems", true)).unwrap_or(0);
        let most = whole(facts.limit("maxItems", false)).unwrap_or(usize::MAX);
        let length = match self.wild {
            true => self.around(least, most).min(if depth > 3 { least.max(1) } else { MAX_ITEMS }),
            false => least.max(facts.prefix()).max(1).min(most),
        };
        let length = length.min(MAX_ITEMS).min(self.left + 1);
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let item = self.value(&facts.item(index), depth + 1);
            items.push(item);
        }
        if facts.all("uniqueItems").any(|unique| unique == &Value::Bool(true)) && !self.wild {
            let mut unique: Vec<Value> = Vec::new();
            items.retain(|item| {
                !unique.contains(item) && {
                    unique.push(item.clone());
                    true
                }
            });
        }
        Value::Array(items)
    }

    /// Returns a length at the edge of what this or another schema allows.
    fn around(&mut self, least: usize, most: usize) -> usize {
        match self.random.below(4) {
            0 => least,
            1 => most.min(least + 8),
            2 => self.random.one(&self.pool.lengths).copied().unwrap_or(least).clamp(least, most.max(least)),
            _ => (least + self.random.below(3)).min(most),
        }
    }

    fn string(&mut self, facts: &Facts<'_>) -> String {
        let texts = |keyword| facts.all(keyword).find_map(Value::as_str);
        let whole =
            |decimal: Option<Decimal>| decimal.and_then(|it| it.integer()).and_then(|it| usize::try_from(it).ok());
        let least = whole(facts.limit("minLength", true)).unwrap_or(0);
        let most = whole(facts.limit("maxLength", false)).unwrap_or(usize::MAX);
        if self.wild && self.random.chance(25) {
            return self.random.one(&self.pool.strings).cloned().unwrap_or_default();
        }
        let by_format = texts("format").and_then(of_format);
        // A text of the format is more likely to match the pattern, too.
        if let Some(text) = by_format.filter(|_| !self.wild || self.random.chance(50)) {
            return text.to_owned();
        }
        if let Some(text) = texts("pattern").and_then(|pattern| self.matching(pattern, least)) {
            return text;
        }
        if let Some(text) = by_format {
            return text.to_owned();
        }
        let length = match self.wild {
            true => self.around(least, most),
            false => least.max(4).min(most),
        };
        "text".chars().cycle().take(length.min(MAX_STRING)).collect()
    }

    fn number(&mut self, facts: &Facts<'_>, is_integer: bool) -> Value {
        let [lower, upper] = [true, false].map(|is_lower| facts.bound(is_lower));
        let shown = |bound: &super::facts::Bound| bound.value.integer().and_then(|it| i64::try_from(it).ok());
        if self.wild && self.random.chance(50) {
            let pool = self.pool;
            let is_fitting = |value: &&Value| !is_integer || Types::of(value) == Types::INTEGER;
            let fitting: Vec<&Value> = pool.numbers.iter().filter(is_fitting).collect();
            return self.random.one(&fitting).map_or(json!(0), |value| (*value).clone());
        }
        let step = facts.limit("multipleOf", true).and_then(|step| step.integer());
        let step = step.and_then(|step| i64::try_from(step).ok()).filter(|step| *step > 0).unwrap_or(1);
        let up = |at: i64| at.checked_add((step - at.rem_euclid(step)) % step).unwrap_or(at);
        let edge = |bound: &Option<super::facts::Bound>, by: i64| {
            bound.as_ref().and_then(|bound| Some(shown(bound)?.saturating_add(if bound.exclusive { by } else { 0 })))
        };
        let from_lower = edge(&lower, 1).map(up);
        let from_upper = edge(&upper, -1).map(|at| at - at.rem_euclid(step));
        let at = match (from_lower, from_upper) {
            (Some(lower), Some(upper)) if self.wild && self.random.chance(50) => upper.max(lower),
            (Some(lower), _) => lower,
            (None, Some(upper)) => upper.min(step),
            (None, None) => step,
        };
        let is_whole = facts.all("multipleOf").next().is_some();
        if is_integer || is_whole || !self.wild { json!(at) } else { json!(at as f64 + 0.5) }
    }

    /// Generates a text that a pattern matches, if the pattern is an ordinary one.
    fn matching(&mut self, pattern: &str, least: usize) -> Option<String> {
        let hir = regex_syntax::ParserBuilder::new().utf8(true).nest_limit(50).build().parse(pattern).ok()?;
        let mut text = String::new();
        self.written(&hir, least, &mut text);
        (text.chars().count() <= MAX_STRING).then_some(text)
    }

    fn written(&mut self, hir: &Hir, least: usize, text: &mut String) {
        if text.len() > MAX_STRING {
            return;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.ranges();
                let readable = ranges.iter().find(|range| range.start().is_ascii_alphanumeric());
                let range = if self.wild { self.random.one(ranges) } else { readable.or(ranges.first()) };
                text.extend(range.map(regex_syntax::hir::ClassUnicodeRange::start));
            }
            HirKind::Class(Class::Bytes(class)) => {
                text.extend(class.ranges().first().map(|range| char::from(range.start())))
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(u32::MAX);
                let wanted = u32::try_from(least.min(MAX_STRING)).unwrap_or(0);
                let times = match self.wild {
                    true => repetition.min.saturating_add(self.random.below(3) as u32).min(most),
                    false => repetition.min.max(1).max(wanted).min(most),
                };
                for _ in 0..times.min(MAX_STRING as u32) {
                    self.written(&repetition.sub, 0, text);
                }
            }
            HirKind::Capture(capture) => self.written(&capture.sub, least, text),
            HirKind::Concat(all) => all.iter().for_each(|each| self.written(each, least, text)),
            HirKind::Alternation(all) => {
                let one = if self.wild { self.random.one(all) } else { all.first() };
                if let Some(one) = one {
                    self.written(one, least, text);
                }
            }
        }
    }
}

/// Returns an example or default value of a schema.
fn example<'s>(facts: &Facts<'s>) -> Option<&'s Value> {
    let examples = facts.all("examples").filter_map(Value::as_array).flatten();
    examples.chain(facts.all("default")).find(|value| Types::of(value).within(facts.types))
}

/// Returns a text of a format.
fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-01-31T12:00:00Z",
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "name@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "uri-reference" | "iri-reference" | "uri-template" => "https://example.com/",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "json-pointer" => "/a",
        "relative-json-pointer" => "0/a",
        "regex" => "^a$",
        _ => return None,
    })
}
