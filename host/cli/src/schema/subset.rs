//! Whether each value that one schema takes is taken by another. What is proven is so; what is not proven is not known.

use serde_json::{Map, Value};

use super::{
    ANNOTATIONS, Node,
    decimal::Decimal,
    facts::{Bound, Facts, Types, additional, equal},
};

/// Steps for one question. More are not worth the time: the answer is then that it is not known.
const MAX_STEPS: u32 = 20_000;

/// How deep schemas are looked into.
const MAX_DEPTH: usize = 48;

/// How many alternatives may be taken apart, one in the other.
const MAX_SPLITS: usize = 3;

/// Whether a keyword leaves every value as it is: it explains, or holds schemas for references.
fn is_silent(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || matches!(keyword, "$defs" | "definitions")
}

/// A question that is being answered: it may be met again, deeper in the value.
struct Open {
    schemas: Vec<usize>,
    other: usize,
    inside: usize,
}

/// Proves that one schema is within another.
#[derive(Default)]
pub(crate) struct Prover {
    steps: u32,
    open: Vec<Open>,
    /// How many levels of the value stand around the one in question.
    inside: usize,
    splits: usize,
    same: Vec<(usize, usize)>,
}

impl Prover {
    /// Whether each value that is valid by `one` is surely valid by `other`.
    pub(crate) fn within(one: Node<'_>, other: Node<'_>) -> bool {
        let mut prover = Prover::default();
        // Where not all can be read, only schemas that say the same are known to be the same.
        if !(one.root.is_readable() && other.root.is_readable()) {
            return prover.is_identical(one, other);
        }
        prover.schemas_within(&[one], other)
    }

    /// The same of a value that must be valid by several.
    pub(crate) fn all_within(ones: &[Node<'_>], others: &[Node<'_>]) -> bool {
        let is_readable = |nodes: &[Node<'_>]| nodes.iter().all(|node| node.root.is_readable());
        is_readable(ones)
            && is_readable(others)
            && others.iter().all(|other| Prover::default().schemas_within(ones, *other))
    }

    /// Whether the two schemas have the same text, and whatever they may refer to.
    fn is_identical(&self, one: Node<'_>, other: Node<'_>) -> bool {
        let (one, other) = (one.root, other.root);
        one.value == other.value
            && one.resources == other.resources
            && one.draft == other.draft
            && one.formats == other.formats
    }

    /// Whether what all of these schemas take is taken by another.
    fn schemas_within(&mut self, schemas: &[Node<'_>], other: Node<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.open.len() > MAX_DEPTH {
            return false;
        }
        if other.value == &Value::Bool(true) {
            return true;
        }
        let mut keys: Vec<usize> = schemas.iter().map(|schema| schema.key()).collect();
        keys.sort_unstable();
        let is_again = |open: &&Open| open.schemas == keys && open.other == other.key();
        if let Some(open) = self.open.iter().find(is_again) {
            // Of a value inside of the one that it is asked of: by induction over the value, it is so if all else is.
            return self.inside > open.inside;
        }
        self.open.push(Open { schemas: keys, other: other.key(), inside: self.inside });
        let facts = Facts::of(schemas);
        let is_within = self.facts_within(&facts, other) || self.each_alternative_within(schemas, &facts, other);
        self.open.pop();
        is_within
    }

    /// The same for a value inside of the one in question.
    fn inside_within(&mut self, schemas: &[Node<'_>], other: Node<'_>) -> bool {
        self.inside += 1;
        let is_within = self.schemas_within(schemas, other);
        self.inside -= 1;
        is_within
    }

    fn facts_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        if facts.is_empty() || self.lacks_a_member(facts) {
            return true;
        }
        let Value::Object(keywords) = other.value else {
            return other.value == &Value::Bool(true);
        };
        if facts.parts.iter().any(|part| self.is_same(*part, other)) {
            return true;
        }
        if other.is_only_reference() {
            return self.reference_within(facts, other);
        }
        keywords.keys().all(|keyword| self.keyword_within(facts, other, keyword))
    }

    /// Whether objects are the only values, and must have a member that nothing can be.
    fn lacks_a_member(&mut self, facts: &Facts<'_>) -> bool {
        facts.types == Types::OBJECT && facts.required().iter().any(|name| Facts::of(&facts.member(name)).is_empty())
    }

    fn reference_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        other.target().is_some_and(|target| self.schemas_within(&facts.parts, target))
    }

    /// Whether each alternative is within: of `anyOf` or `oneOf`, or each type.
    fn each_alternative_within(&mut self, schemas: &[Node<'_>], facts: &Facts<'_>, other: Node<'_>) -> bool {
        if self.splits >= MAX_SPLITS {
            return false;
        }
        self.splits += 1;
        let mut is_within = false;
        for part in &facts.parts {
            for keyword in ["anyOf", "oneOf"] {
                let alternatives = part.list(keyword);
                if is_within || alternatives.is_empty() || alternatives.len() > 64 {
                    continue;
                }
                is_within = alternatives.iter().all(|alternative| {
                    let with: Vec<Node<'_>> = schemas.iter().copied().chain([part.at(alternative)]).collect();
                    self.schemas_within(&with, other)
                });
            }
        }
        self.splits -= 1;
        is_within
    }

    fn keyword_within(&mut self, facts: &Facts<'_>, other: Node<'_>, keyword: &str) -> bool {
        let Some(value) = other.get(keyword) else {
            return true;
        };
        if is_silent(keyword) || keyword.starts_with("x-") {
            return true;
        }
        let no = |types: Types| !facts.types.has(types);
        match keyword {
            "type" => facts.types.within(Types::read(value)),
            "enum" => value.as_array().is_some_and(|values| is_listed(facts, &values.iter().collect::<Vec<_>>())),
            "const" => is_listed(facts, &[value]),
            "minimum" | "exclusiveMinimum" => no(Types::NUMBER) || is_bounded(facts, value, keyword, true),
            "maximum" | "exclusiveMaximum" => no(Types::NUMBER) || is_bounded(facts, value, keyword, false),
            "multipleOf" => no(Types::NUMBER) || is_multiple(facts, value),
            "minLength" => no(Types::STRING) || is_limited(facts, keyword, value, true, facts.lengths().map(|it| it.0)),
            "maxLength" => {
                no(Types::STRING) || is_limited(facts, keyword, value, false, facts.lengths().map(|it| it.1))
            }
            "pattern" => no(Types::STRING) || facts.all(keyword).any(|pattern| pattern == value),
            "format" => no(Types::STRING) || is_of_format(facts, other, value),
            "minItems" => no(Types::ARRAY) || is_limited(facts, keyword, value, true, None),
            "maxItems" => no(Types::ARRAY) || is_limited(facts, keyword, value, false, None),
            "uniqueItems" => {
                let at_most_one = facts.limit("maxItems", false).is_some_and(|most| most <= Decimal::from(1));
                no(Types::ARRAY)
                    || value == &Value::Bool(false)
                    || at_most_one
                    || facts.all(keyword).any(|unique| unique == value)
            }
            "items" | "prefixItems" | "additionalItems" => no(Types::ARRAY) || self.items_within(facts, other),
            "contains" | "minContains" | "maxContains" => {
                let group = ["contains", "minContains", "maxContains"];
                no(Types::ARRAY) || self.group_within(facts, other, &group)
            }
            "required" => {
                let required = facts.required();
                let is_required = |name: &Value| name.as_str().is_some_and(|name| required.contains(name));
                no(Types::OBJECT) || value.as_array().is_some_and(|names| names.iter().all(is_required))
            }
            "minProperties" => {
                let required = Some(facts.required().len() as i128);
                no(Types::OBJECT) || is_limited(facts, keyword, value, true, required)
            }
            "maxProperties" => no(Types::OBJECT) || is_limited(facts, keyword, value, false, None),
            "properties" => no(Types::OBJECT) || self.properties_within(facts, other),
            "patternProperties" => no(Types::OBJECT) || self.patterns_within(facts, other),
            "additionalProperties" => no(Types::OBJECT) || self.others_within(facts, other, other.at(value)),
            "unevaluatedProperties" => {
                no(Types::OBJECT)
                    || other.get("additionalProperties").is_some()
                    || additional(other).is_some_and(|schema| self.others_within(facts, other, schema))
            }
            "propertyNames" => {
                let names: Vec<Node<'_>> =
                    facts.parts.iter().filter_map(|part| Some(part.at(part.get(keyword)?))).collect();
                no(Types::OBJECT) || (!names.is_empty() && self.inside_within(&names, other.at(value)))
            }
            "dependentRequired" => {
                no(Types::OBJECT) || value.as_object().is_some_and(|map| self.dependencies_within(facts, map))
            }
            "allOf" => value
                .as_array()
                .is_some_and(|all| all.iter().all(|each| self.schemas_within(&facts.parts, other.at(each)))),
            "$ref" => self.reference_within(facts, other),
            "anyOf" => self.some_within(facts, other, value),
            "oneOf" => self.group_within(facts, other, &["oneOf"]) || self.exactly_one_within(facts, other, value),
            "not" => {
                self.group_within(facts, other, &["not"]) || {
                    let negated = Facts::of(&[other.at(value)]);
                    self.is_disjoint(facts, &negated)
                }
            }
            "if" | "then" | "else" => {
                let is_inert = other.get("if").is_none();
                is_inert || self.group_within(facts, other, &["if", "then", "else"]) || {
                    let branches = ["then", "else"].map(|branch| other.get(branch));
                    branches.into_iter().flatten().all(|schema| self.schemas_within(&facts.parts, other.at(schema)))
                }
            }
            // What depends on it, or what is not known here: the schema around it was not met as a whole.
            _ if is_known(keyword) => self.group_within(facts, other, &[keyword]) && is_alone(keyword),
            // A word that validators pass over.
            _ => true,
        }
    }

    /// Whether some part has keywords that stand together, with values that say the same.
    fn group_within(&mut self, facts: &Facts<'_>, other: Node<'_>, group: &[&str]) -> bool {
        facts.parts.iter().any(|part| group.iter().all(|keyword| self.is_same_keyword(*part, other, keyword)))
    }

    fn items_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        let most = facts.limit("maxItems", false).and_then(|most| most.integer());
        let may_have = |index: usize| most.is_none_or(|most| most > index as i128);
        let (prefix, rest) = other.items();
        let own = facts.prefix();
        let through = prefix.len().max(own);
        // One more than those with schemas of their own stands for all others.
        (0..=through).filter(|index| may_have(*index)).all(|index| match prefix.get(index).or(rest) {
            Some(schema) => self.inside_within(&facts.item(index), other.at(schema)),
            None => true,
        })
    }

    fn properties_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        other
            .map("properties")
            .into_iter()
            .flatten()
            .all(|(name, schema)| self.inside_within(&facts.member(name), other.at(schema)))
    }

    /// Whether each member that `other` does not name, and of which no pattern says more, is within a schema.
    fn others_within(&mut self, facts: &Facts<'_>, other: Node<'_>, schema: Node<'_>) -> bool {
        if schema.value == &Value::Bool(true) {
            return true;
        }
        let named = other.map("properties");
        let own: Vec<&str> =
            facts.names().into_iter().filter(|name| !named.is_some_and(|named| named.contains_key(*name))).collect();
        let patterns = other.map("patternProperties");
        own.iter().all(|name| self.inside_within(&facts.member(name), schema))
            && self.rest_within(facts, schema, patterns)
    }

    /// Whether each member that no part names is within a schema. Names that match one of `patterns` do not count.
    fn rest_within(&mut self, facts: &Facts<'_>, schema: Node<'_>, patterns: Option<&Map<String, Value>>) -> bool {
        facts.parts.iter().any(|part| {
            let Some(rest) = additional(*part) else {
                return false;
            };
            self.inside_within(&[rest], schema)
                && part.map("patternProperties").into_iter().flatten().all(|(pattern, value)| {
                    patterns.is_some_and(|patterns| patterns.contains_key(pattern))
                        || self.inside_within(&[part.at(value)], schema)
                })
        })
    }

    fn patterns_within(&mut self, facts: &Facts<'_>, other: Node<'_>) -> bool {
        other.map("patternProperties").into_iter().flatten().all(|(pattern, schema)| {
            let schema = other.at(schema);
            let is_met = facts.parts.iter().any(|part| {
                let own = part.map("patternProperties").and_then(|map| map.get(pattern));
                own.is_some_and(|own| self.inside_within(&[part.at(own)], schema))
            });
            // Or whatever a member is named.
            is_met
                || (facts.names().iter().all(|name| self.inside_within(&facts.member(name), schema))
                    && self.rest_within(facts, schema, None))
        })
    }

    fn dependencies_within(&mut self, facts: &Facts<'_>, dependencies: &Map<String, Value>) -> bool {
        let required = facts.required();
        dependencies.iter().all(|(name, needed)| {
            let needed: Vec<&str> = needed.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let is_in = |list: &Value| {
                let list: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                needed.iter().all(|name| list.contains(name) || required.contains(name))
            };
            needed.iter().all(|name| required.contains(name))
                || Facts::of(&facts.member(name)).is_empty()
                || facts.all("dependentRequired").filter_map(|map| map.get(name)).any(is_in)
        })
    }

    /// `anyOf`: all is within one alternative, or each type is.
    fn some_within(&mut self, facts: &Facts<'_>, other: Node<'_>, alternatives: &Value) -> bool {
        if self.group_within(facts, other, &["anyOf"]) {
            return true;
        }
        let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
        if alternatives.iter().any(|alternative| self.schemas_within(&facts.parts, other.at(alternative))) {
            return true;
        }
        self.each_type(facts, |prover, facts| {
            alternatives.iter().any(|alternative| prover.facts_within(facts, other.at(alternative)))
        })
    }

    /// `oneOf`: all is within one alternative, and nothing of it in the others.
    fn exactly_one_within(&mut self, facts: &Facts<'_>, other: Node<'_>, alternatives: &Value) -> bool {
        let alternatives = alternatives.as_array().map_or(&[][..], Vec::as_slice);
        let is_one = |prover: &mut Self, facts: &Facts<'_>| {
            (0..alternatives.len()).any(|index| {
                prover.facts_within(facts, other.at(&alternatives[index]))
                    && (0..alternatives.len()).filter(|at| *at != index).all(|at| {
                        let alternative = Facts::of(&[other.at(&alternatives[at])]);
                        prover.is_disjoint(facts, &alternative)
                    })
            })
        };
        is_one(self, facts) || self.each_type(facts, is_one)
    }

    /// Whether it holds of the values of each type alone, where there are several.
    fn each_type(&mut self, facts: &Facts<'_>, mut holds: impl FnMut(&mut Self, &Facts<'_>) -> bool) -> bool {
        let types: Vec<Types> = Types::EACH.into_iter().filter(|types| facts.types.has(*types)).collect();
        types.len() > 1
            && types.into_iter().all(|types| {
                let values = facts.values.as_ref();
                let values = values.map(|all| all.iter().copied().filter(|it| Types::of(it).has(types)).collect());
                let alone = Facts { parts: facts.parts.clone(), never: facts.never, types, values };
                holds(self, &alone)
            })
    }

    /// Whether no value meets both, for sure.
    fn is_disjoint(&mut self, one: &Facts<'_>, other: &Facts<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.inside > MAX_DEPTH {
            return false;
        }
        let types = one.types.and(other.types);
        if one.is_empty() || other.is_empty() || types == Types::NONE {
            return true;
        }
        if let (Some(values), Some(others)) = (&one.values, &other.values)
            && !values.iter().any(|value| others.iter().any(|other| equal(value, other)))
        {
            return true;
        }
        if types.within(Types::NUMBER) {
            let apart = |upper: Option<Bound>, lower: Option<Bound>| {
                upper.zip(lower).is_some_and(|(upper, lower)| {
                    upper.value < lower.value || (upper.value == lower.value && (upper.exclusive || lower.exclusive))
                })
            };
            return apart(one.bound(false), other.bound(true)) || apart(other.bound(false), one.bound(true));
        }
        if types != Types::OBJECT {
            return false;
        }
        let required: Vec<&str> = one.required().into_iter().chain(other.required()).collect();
        required.into_iter().any(|name| {
            let members = [one, other].map(|facts| Facts::of(&facts.member(name)));
            self.inside += 1;
            let is_disjoint = self.is_disjoint(&members[0], &members[1]);
            self.inside -= 1;
            is_disjoint
        })
    }

    /// Whether two schemas say the same, word for word but for what only explains.
    fn is_same(&mut self, one: Node<'_>, other: Node<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || one.root.draft != other.root.draft {
            return false;
        }
        let pair = (one.key(), other.key());
        // Met again by a reference: it is the same, if all else is.
        if self.same.contains(&pair) {
            return true;
        }
        if self.same.len() > MAX_DEPTH {
            return false;
        }
        let (Value::Object(keywords), Value::Object(others)) = (one.value, other.value) else {
            return one.value == other.value;
        };
        self.same.push(pair);
        let is_same = keywords.keys().chain(others.keys()).all(|keyword| self.is_same_keyword(one, other, keyword));
        self.same.pop();
        is_same
    }

    fn is_same_keyword(&mut self, one: Node<'_>, other: Node<'_>, keyword: &str) -> bool {
        if is_silent(keyword) {
            return true;
        }
        if one.root.draft != other.root.draft {
            return false;
        }
        let (value, same_as) = match (one.value.get(keyword), other.value.get(keyword)) {
            (None, None) => return true,
            (Some(one), Some(other)) => (one, other),
            _ => return false,
        };
        match keyword {
            "$ref" => match (one.target(), other.target()) {
                (Some(target), Some(other)) => self.is_same(target, other),
                _ => false,
            },
            "format" | "contentEncoding" | "contentMediaType" => {
                value == same_as && one.root.formats == other.root.formats
            }
            "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                let (Some(map), Some(others)) = (value.as_object(), same_as.as_object()) else {
                    return false;
                };
                map.len() == others.len()
                    && map.iter().all(|(name, value)| {
                        others.get(name).is_some_and(|same_as| self.is_same(one.at(value), other.at(same_as)))
                    })
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" | "items" if value.is_array() => {
                let (Some(list), Some(others)) = (value.as_array(), same_as.as_array()) else {
                    return false;
                };
                list.len() == others.len()
                    && list.iter().zip(others).all(|(value, same_as)| self.is_same(one.at(value), other.at(same_as)))
            }
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contentSchema" => self.is_same(one.at(value), other.at(same_as)),
            _ => value == same_as,
        }
    }
}

/// Keywords that no rule of its own is for.
fn is_known(keyword: &str) -> bool {
    is_alone(keyword) || keyword == "unevaluatedItems"
}

/// Whether a keyword says by itself what it says, whatever stands beside it.
fn is_alone(keyword: &str) -> bool {
    matches!(keyword, "dependentSchemas" | "dependencies" | "contentEncoding" | "contentMediaType" | "contentSchema")
}

/// Whether all values are among those of a list.
fn is_listed(facts: &Facts<'_>, list: &[&Value]) -> bool {
    let is_in = |value: &Value| list.iter().any(|other| equal(value, other));
    if let Some(values) = &facts.values {
        return values.iter().all(|value| is_in(value));
    }
    facts.types.within(Types::NULL.or(Types::BOOLEAN))
        && (!facts.types.has(Types::NULL) || is_in(&Value::Null))
        && (!facts.types.has(Types::BOOLEAN) || (is_in(&Value::Bool(true)) && is_in(&Value::Bool(false))))
}

fn is_bounded(facts: &Facts<'_>, value: &Value, keyword: &str, is_lower: bool) -> bool {
    let wanted = value.as_number().and_then(Decimal::of);
    let exclusive = keyword.starts_with("exclusive");
    facts.bound(is_lower).zip(wanted).is_some_and(|(own, wanted)| {
        let order = if is_lower { own.value.cmp(&wanted) } else { wanted.cmp(&own.value) };
        order.is_gt() || (order.is_eq() && (!exclusive || own.exclusive))
    })
}

/// Whether a limit of lengths or counts holds: by the same keyword, or by what is known otherwise.
fn is_limited(facts: &Facts<'_>, keyword: &str, value: &Value, is_lower: bool, known: Option<i128>) -> bool {
    let Some(wanted) = value.as_number().and_then(Decimal::of) else {
        return false;
    };
    let holds = |own: Decimal| if is_lower { own >= wanted } else { own <= wanted };
    (is_lower && wanted <= Decimal::from(0))
        || facts.limit(keyword, is_lower).is_some_and(holds)
        || known.map(Decimal::from).is_some_and(holds)
}

fn is_multiple(facts: &Facts<'_>, value: &Value) -> bool {
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

fn is_of_format(facts: &Facts<'_>, other: Node<'_>, value: &Value) -> bool {
    !other.root.formats
        || facts
            .parts
            .iter()
            .any(|part| part.root.formats && part.root.draft == other.root.draft && part.get("format") == Some(value))
}
