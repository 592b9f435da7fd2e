//! The keywords about a value by itself, merged from all schemas that apply to it.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::{
    Effect,
    json::Json,
    lower::{Lowering, Out, is_asserted, scalars, union},
    pattern::is_portable,
    source::Located,
    target::{OF_ARRAYS, OF_OBJECTS, Support, Target},
    types::{is_exact, keyword},
};
use crate::schema::{Decimal, Draft, Types, equal};

/// The formats that contracts assert.
const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

pub(super) type Keywords = Vec<(String, Json)>;

impl<'s> Lowering<'s> {
    /// Writes the keywords of schemas that all apply to one value.
    pub(super) fn typed(&mut self, parts: &[Located<'s>]) -> Out {
        let stated = parts.iter().filter_map(|part| part.get("type"));
        let mut types = stated.map(Types::read).fold(Types::ALL, Types::and);
        let is_stated = types != Types::ALL;
        let values = values(parts, types);
        if let Some(values) = &values {
            types = types.and(values.iter().map(Types::of).fold(Types::NONE, Types::or));
        }
        let mut keywords = Keywords::new();
        let mut others = Vec::new();
        match &values {
            Some(values) => {
                self.not_beside_values(parts, values);
                others = self.listed(parts, values, &mut types, &mut keywords);
            }
            None => {
                if types.has(Types::ARRAY) {
                    self.array(parts, is_stated, &mut types, &mut keywords);
                }
                if types.has(Types::OBJECT) {
                    self.object(parts, is_stated, &mut types, &mut keywords);
                }
            }
        }
        if types.has(Types::NUMBER) {
            self.numbers(parts, &mut keywords);
        }
        if types.has(Types::STRING) {
            self.strings(parts, &mut keywords);
        }
        if types != Types::NONE {
            if types != Types::ALL || self.target.closes_objects() {
                keywords.insert(0, ("type".to_owned(), keyword(types).into()));
            }
            others.insert(0, if keywords.is_empty() { Out::Any } else { Out::Schema(Json::Object(keywords)) });
        }
        union(others)
    }

    /// Records the keywords about arrays and objects that the listed values are not checked against.
    fn not_beside_values(&mut self, parts: &[Located<'s>], values: &[Value]) {
        let why = "the listed values are written as they are, also those that this rule refuses";
        for (kind, keywords) in [(Types::ARRAY, &OF_ARRAYS[..]), (Types::OBJECT, &OF_OBJECTS[..])] {
            if !values.iter().any(|value| Types::of(value) == kind) {
                continue;
            }
            for part in parts {
                let is_told = |keyword: &str| self.target.support(keyword) == Some(Support::LeftOut);
                let keywords = keywords.iter().filter(|keyword| is_asserted(part, keyword) && !is_told(keyword));
                for keyword in keywords.collect::<Vec<_>>() {
                    self.state(part, keyword, Effect::LeftOut, why);
                }
            }
        }
    }

    /// Writes `enum` or `const`. Returns a substitute for values that the target cannot list.
    fn listed(
        &mut self,
        parts: &[Located<'s>],
        values: &[Value],
        types: &mut Types,
        keywords: &mut Keywords,
    ) -> Vec<Out> {
        let can_list = |value: &Value| match (self.target, value) {
            (Target::Llguidance, _) => all_exact(value),
            (_, Value::Array(_) | Value::Object(_)) => false,
            (Target::Gemini, Value::Null | Value::Bool(_)) => false,
            (_, value) => all_exact(value),
        };
        let (listed, others): (Vec<&Value>, Vec<&Value>) = values.iter().partition(|value| can_list(value));
        *types = listed.iter().map(|value| Types::of(value)).fold(Types::NONE, Types::or);
        match &listed[..] {
            [] => {}
            [only] if self.target.keeps("const") => keywords.push(("const".to_owned(), (*only).clone().into())),
            several => {
                let values = several.iter().map(|value| (*value).clone()).collect();
                keywords.push(("enum".to_owned(), Value::Array(values).into()));
            }
        }
        others.into_iter().map(|value| self.constant(parts, value)).collect()
    }

    /// Writes a value as a schema without listing it.
    fn constant(&mut self, parts: &[Located<'s>], value: &Value) -> Out {
        let relax = |lowering: &mut Self, why: &str| {
            for part in parts {
                for keyword in ["enum", "const"] {
                    if part.get(keyword).is_some() {
                        lowering.state(part, keyword, Effect::Relaxed, why);
                    }
                }
            }
        };
        let kind = keyword(Types::of(value));
        match value {
            Value::Null => Out::Schema(Json::object("type", kind)),
            Value::Array(values) => {
                relax(self, "an array is written by its length and the values in it");
                let inner: Vec<Out> = values.iter().map(|value| self.constant_in(parts, value)).collect();
                let items = match union(inner) {
                    Out::Schema(items) => items,
                    _ => scalars(),
                };
                let mut keywords = vec![("type".to_owned(), kind.into()), ("items".to_owned(), items)];
                let length = |name: &str| (name.to_owned(), Json::from(Value::from(values.len())));
                if self.target.keeps("minItems") {
                    keywords.push(length("minItems"));
                }
                if self.target.keeps("maxItems") {
                    keywords.push(length("maxItems"));
                }
                Out::Schema(Json::Object(keywords))
            }
            Value::Object(members) => {
                let mut properties = Vec::new();
                for (name, value) in members {
                    let Out::Schema(schema) = self.constant_in(parts, value) else { continue };
                    properties.push((name.clone(), schema));
                }
                let names: Vec<Value> = members.keys().map(|name| name.as_str().into()).collect();
                let keywords = vec![
                    ("type".to_owned(), kind.into()),
                    ("properties".to_owned(), properties.into()),
                    ("required".to_owned(), Value::Array(names).into()),
                    ("additionalProperties".to_owned(), Value::Bool(false).into()),
                ];
                Out::Schema(Json::Object(keywords))
            }
            _ => {
                relax(self, "the target cannot list such a value: its type is written");
                Out::Schema(Json::object("type", kind))
            }
        }
    }

    /// Writes a value inside another one.
    fn constant_in(&mut self, parts: &[Located<'s>], value: &Value) -> Out {
        let mut types = Types::ALL;
        let mut keywords = Keywords::new();
        let mut others = self.listed(parts, std::slice::from_ref(value), &mut types, &mut keywords);
        if !keywords.is_empty() {
            keywords.insert(0, ("type".to_owned(), keyword(types).into()));
            others.push(Out::Schema(Json::Object(keywords)));
        }
        union(others)
    }

    fn numbers(&mut self, parts: &[Located<'s>], keywords: &mut Keywords) {
        for (keyword, exclusive, tightest) in
            [("minimum", "exclusiveMinimum", Ordering::Greater), ("maximum", "exclusiveMaximum", Ordering::Less)]
        {
            // Indexed by whether the bound itself is valid.
            let mut bounds: [Option<Number>; 2] = [None, None];
            for part in parts {
                for name in [keyword, exclusive] {
                    let Some(Value::Number(number)) = part.get(name) else { continue };
                    let is_exclusive = match part.draft {
                        Draft::Draft4 => part.get(exclusive) == Some(&Value::Bool(true)),
                        _ => name == exclusive,
                    };
                    let name_of_rule = if is_exclusive { exclusive } else { keyword };
                    let support = self.target.support(name_of_rule);
                    if support == Some(Support::LeftOut) {
                        continue;
                    }
                    if !is_exact(number) {
                        self.state(part, name, Effect::LeftOut, "the target would round this number");
                        continue;
                    }
                    if support == Some(Support::Relaxed) {
                        self.state(
                            part,
                            name,
                            Effect::Relaxed,
                            format!("written as {keyword}, so that the bound is valid"),
                        );
                    }
                    let bound = &mut bounds[usize::from(is_exclusive && support == Some(Support::Kept))];
                    let is_tighter = bound.as_ref().is_none_or(|known| {
                        Decimal::of(number).and_then(|number| Some(number.cmp(&Decimal::of(known)?))) == Some(tightest)
                    });
                    if is_tighter {
                        *bound = Some(number.clone());
                    }
                }
            }
            for (name, bound) in [keyword, exclusive].into_iter().zip(bounds) {
                if let Some(bound) = bound {
                    keywords.push((name.to_owned(), Value::Number(bound).into()));
                }
            }
        }
        self.first(parts, "multipleOf", keywords, |value| match value {
            Value::Number(number) if is_exact(number) => Ok(()),
            _ => Err("the target would round this number".to_owned()),
        });
    }

    fn strings(&mut self, parts: &[Located<'s>], keywords: &mut Keywords) {
        self.lengths(parts, ["minLength", "maxLength"], keywords);
        self.first(parts, "pattern", keywords, |value| match value.as_str().is_some_and(is_portable) {
            true => Ok(()),
            false => Err("engines of regular expressions read it differently".to_owned()),
        });
        if self.formats {
            let formats = self.target.formats();
            let asserted: Vec<Located> = parts
                .iter()
                .filter(|part| part.text("format").is_some_and(|format| FORMATS.contains(&format)))
                .cloned()
                .collect();
            let name = self.target.as_str();
            self.first(&asserted, "format", keywords, |value| match value.as_str() {
                Some(format) if formats.contains(&format) => Ok(()),
                _ => Err(format!("{name} does not enforce this format as contracts do")),
            });
        }
    }

    /// Writes a keyword that a schema can have only once: the first value that the target supports. Lists the other
    /// values as rules.
    fn first(
        &mut self,
        parts: &[Located<'s>],
        keyword: &str,
        keywords: &mut Keywords,
        is_taken: impl Fn(&Value) -> Result<(), String>,
    ) {
        if !self.target.keeps(keyword) {
            return;
        }
        let mut taken: Option<&Value> = None;
        for part in parts {
            let Some(value) = part.get(keyword) else { continue };
            match (is_taken(value), taken) {
                (Err(why), _) => self.state(part, keyword, Effect::LeftOut, why),
                (Ok(()), None) => taken = Some(value),
                (Ok(()), Some(known)) if equal(known, value) => {}
                (Ok(()), Some(_)) => {
                    self.state(part, keyword, Effect::LeftOut, "another schema has the same keyword for this value");
                }
            }
        }
        if let Some(value) = taken {
            keywords.push((keyword.to_owned(), value.clone().into()));
        }
    }

    /// Writes the tighter one of the bounds on a length.
    pub(super) fn lengths(&mut self, parts: &[Located<'s>], [least, most]: [&str; 2], keywords: &mut Keywords) {
        for (keyword, tightest) in [(least, Ordering::Greater), (most, Ordering::Less)] {
            if self.target.keeps(keyword)
                && let Some(length) = bound(parts, keyword, tightest)
            {
                keywords.push((keyword.to_owned(), Value::from(length).into()));
            }
        }
    }
}

/// Returns the tightest bound that the schemas state.
pub(super) fn bound(parts: &[Located], keyword: &str, tightest: Ordering) -> Option<u64> {
    let lengths = parts.iter().filter_map(|part| match part.get(keyword) {
        Some(Value::Number(number)) => u64::try_from(Decimal::of(number)?.integer()?).ok(),
        _ => None,
    });
    lengths.reduce(|one, other| if one.cmp(&other) == tightest { one } else { other })
}

/// Returns the values, restricted to these types, that every `enum` and `const` lists. `None` if there is no such
/// keyword.
fn values(parts: &[Located], types: Types) -> Option<Vec<Value>> {
    let mut known: Option<Vec<Value>> = None;
    for part in parts {
        let constant = part.get("const").map(|value| vec![value.clone()]);
        let list = part.get("enum").and_then(Value::as_array).cloned();
        for list in [constant, list].into_iter().flatten() {
            known = Some(match known {
                None => list,
                Some(known) => known.into_iter().filter(|one| list.iter().any(|other| equal(one, other))).collect(),
            });
        }
    }
    let mut distinct: Vec<Value> = Vec::new();
    for value in known?.into_iter().filter(|value| types.has(Types::of(value))) {
        if !distinct.iter().any(|other| equal(other, &value)) {
            distinct.push(value);
        }
    }
    Some(distinct)
}

/// Returns whether a target represents all numbers in a value exactly.
fn all_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_exact(number),
        Value::Array(values) => values.iter().all(all_exact),
        Value::Object(members) => members.values().all(all_exact),
        _ => true,
    }
}
