//! Hints: if the likely cause of a failure is known, the message ends with a suggestion.

use super::{
    explain::Explainer,
    judge::{BrokenRule, Failure, Inspection, Nearest},
    schema::{Allowed, ObjectRules, Schema, SchemaId, Types},
    union::Takes,
};
use crate::{
    location::{SeenStep, unescaped},
    misspelling,
    parse::{Document, Kind, NodeId, holds_json, is_plain_scalar},
    text::{quote, short},
};

/// The maximum number of members or list values that the search for a hint considers.
const MAX_LOOKED_AT: usize = 32;

/// The cost of comparing a name with others, and of reading an alternative, in nodes.
const NAME_COST: u32 = 500;
const ALTERNATIVE_COST: u32 = 50;

/// The length to which a name or value in a hint is truncated, in bytes.
const MAX_NAME: usize = 64;

impl Explainer<'_> {
    /// Returns a suggestion for a failure whose likely cause is known.
    #[inline(never)]
    pub(super) fn hint(&self, failure: &Failure) -> Option<String> {
        let schema = self.schemas.get(failure.schema);
        match &failure.why {
            BrokenRule::Type => self.of_type(failure, schema.types),
            BrokenRule::Allowed(number) => self.nearest_value(failure.at, schema.allowed[*number].strings()),
            BrokenRule::AnyOf(_, Some(nearest)) | BrokenRule::OneOfNone(_, Some(nearest)) => match &**nearest {
                Nearest::Takes(takes) => self.of_takes(failure.at, takes),
                Nearest::Alternative { .. } => None,
            },
            BrokenRule::Required(number) => self.of_missing(failure, schema.object.as_deref()?, *number),
            BrokenRule::AdditionalProperties => {
                let mut rules = self.schemas.all.iter().filter_map(|schema| schema.object.as_deref());
                self.of_undeclared(failure.at, rules.find(|rules| rules.additional == Some(failure.schema))?)
            }
            _ => None,
        }
    }

    /// Returns whether a value is valid under a schema, if the budget allows.
    fn is_valid(&self, id: SchemaId, at: NodeId) -> bool {
        self.budget.pays(self.document.next(at) - at) && Inspection::new(self.schemas, self.document).is_valid(id, at)
    }

    /// Returns the known word most similar to `word`, if the budget allows.
    fn nearest<'k>(&self, word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
        if self.budget.pays(NAME_COST) { misspelling::nearest(word, known.take(MAX_LOOKED_AT)) } else { None }
    }

    fn of_takes(&self, at: NodeId, takes: &[Takes]) -> Option<String> {
        let may_have = |kind: Kind| {
            let of = |takes: &Takes| matches!(takes, Takes::Types(id) if self.schemas.get(*id).types.may_have(kind));
            takes.iter().any(of)
        };
        let listed = takes.iter().filter_map(|takes| takes.allowed(self.schemas)).flat_map(Allowed::strings);
        self.nearest_value(at, listed).or_else(|| self.of_string(at, may_have))
    }

    /// Returns a hint for a value of the wrong type.
    fn of_type(&self, failure: &Failure, types: Types) -> Option<String> {
        let (document, at) = (self.document, failure.at);
        let schema = self.schemas.get(failure.schema);
        match document.kind(at) {
            Kind::String => {
                if let Some(hint) = self.of_string(at, |kind| types.may_have(kind)) {
                    return Some(hint);
                }
            }
            Kind::Null if self.is_optional(failure) => return Some("leave the member out".to_owned()),
            Kind::Array if types.may_have(Kind::Object) => return self.of_array(failure.schema, schema, at),
            _ => {}
        }
        let items = schema.array.as_ref().filter(|_| types.may_have(Kind::Array))?.rest?;
        self.is_valid(items, at).then(|| "put it into an array".to_owned())
    }

    /// Returns a hint for a string where another type is expected.
    fn of_string(&self, at: NodeId, may_have: impl Fn(Kind) -> bool) -> Option<String> {
        let document = self.document;
        if document.kind(at) != Kind::String {
            return None;
        }
        let text = document.string(at).trim();
        let kind = match text.bytes().next()? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b't' | b'f' | b'T' | b'F' => Kind::True,
            b'n' | b'N' => Kind::Null,
            _ => Kind::Number,
        };
        if !may_have(kind) {
            return None;
        }
        let hint = match kind {
            Kind::Object | Kind::Array if holds_json(text) => {
                "the string holds JSON: send that, without the quotes around it"
            }
            Kind::Object | Kind::Array => return None,
            _ if is_plain_scalar(text) => "send it without the quotes",
            _ if text.eq_ignore_ascii_case("none") => "send null, without quotes",
            _ if text.eq_ignore_ascii_case("true") => "send true, without quotes",
            _ if text.eq_ignore_ascii_case("false") => "send false, without quotes",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Returns a hint for an array where an object is expected.
    fn of_array(&self, id: SchemaId, schema: &Schema, at: NodeId) -> Option<String> {
        let mut items = self.document.items(at);
        if let (Some(only), None) = (items.next(), items.next())
            && self.is_valid(id, only)
        {
            return Some("send its only item alone".to_owned());
        }
        let rules = schema.object.as_deref()?;
        let takes = |(number, schema): (usize, SchemaId)| self.is_valid(schema, at).then_some(number);
        let with_schema = |number: usize| Some((number, rules.members[number].schema?));
        let number = only_one(required(rules).filter_map(with_schema).filter_map(takes))?;
        Some(format!("put it into member {}", quote(rules.names.get(number), MAX_NAME)))
    }

    /// Returns a hint for a missing member.
    fn of_missing(&self, failure: &Failure, rules: &ObjectRules, missing: usize) -> Option<String> {
        let (document, at) = (self.document, failure.at);
        if document.count(at) > MAX_LOOKED_AT {
            return None;
        }
        let members = || document.members(at);
        let is_declared = |name: NodeId| rules.member(document.string(name)).is_some();
        let others = members().filter(|(name, _)| !is_declared(*name)).map(|(name, _)| document.string(name));
        if let Some(other) = self.nearest(rules.names.get(missing), others) {
            return Some(format!("rename member {}", quote(other, MAX_NAME)));
        }
        // Only the first of several missing members gets this hint.
        let is_missing = |number: usize| document.member(at, rules.names.get(number)).is_none();
        if required(rules).find(|number| is_missing(*number)) != Some(missing) {
            return None;
        }
        let id = if at == self.value.0 && at == Document::ROOT { self.schemas.root } else { failure.schema };
        if let Some((name, value)) = only_one(members())
            && self.holds_all(value, rules)
        {
            let name = quote(document.string(name), MAX_NAME);
            return Some(format!(
                "member {name} holds JSON in a string: send that in its place, without the quotes around it"
            ));
        }
        let is_valid = |value: NodeId| document.kind(value) == Kind::Object && self.is_valid(id, value);
        let (name, _) = only_one(members().filter(|(_, value)| is_valid(*value)))?;
        Some(format!("the value of member {} is valid: send that in its place", quote(document.string(name), MAX_NAME)))
    }

    /// Returns whether a value is a string that begins like an object and contains the names of all required members.
    fn holds_all(&self, at: NodeId, rules: &ObjectRules) -> bool {
        if self.document.kind(at) != Kind::String {
            return false;
        }
        let text = self.document.string(at).trim_start();
        let has = |number: usize| text.contains(&format!("\"{}\"", rules.names.get(number)));
        text.starts_with('{') && self.budget.pays(text.len() as u32 / 8) && required(rules).all(has)
    }

    /// Returns a hint for a disallowed member, identified by its value.
    fn of_undeclared(&self, value: NodeId, rules: &ObjectRules) -> Option<String> {
        let name = self.document.string(value.saturating_sub(1));
        let declared =
            (0..rules.members.len().min(MAX_LOOKED_AT)).filter(|number| rules.members[*number].schema.is_some());
        let meant = self.nearest(name, declared.map(|number| rules.names.get(number)))?;
        Some(format!("did you mean {}?", quote(meant, MAX_NAME)))
    }

    /// Returns a hint for a string that is not in a list.
    fn nearest_value<'v>(&self, at: NodeId, values: impl Iterator<Item = &'v str>) -> Option<String> {
        let document = self.document;
        if document.kind(at) != Kind::String {
            return None;
        }
        let meant = self.nearest(document.string(at).trim(), values)?;
        Some(format!("did you mean {}?", quote(meant, MAX_NAME)))
    }

    /// Returns whether a value belongs to a member that an object declares but does not require.
    fn is_optional(&self, failure: &Failure) -> bool {
        let mut last = None;
        self.document.walk(self.value.0, failure.at, |step| last = Some(step));
        let Some(SeenStep::Name(name)) = last else { return false };
        let of_name = |schema: &Schema| Some(schema.object.as_ref()?.member(name)?.required);
        let mut all = self.schemas.all.iter().filter_map(of_name).peekable();
        all.peek().is_some() && all.all(|required| !required)
    }
}

impl Explainer<'_> {
    /// Returns a name for an alternative: its title, the name of its definition, its discriminator value, its type, or
    /// its number, in this order of preference.
    #[inline(never)]
    pub(super) fn name_of(&self, alternatives: &[SchemaId], number: usize) -> String {
        let of = |id: SchemaId| self.schemas.with_applied(vec![id]);
        let Some(ids) = alternatives.get(number).map(|id| of(*id)) else { return String::new() };
        let schemas = || ids.iter().map(|id| self.schemas.get(*id));
        if let Some(title) = schemas().find_map(|schema| schema.title.as_deref()) {
            return quote(title, MAX_NAME);
        }
        if let Some(name) = schemas().find_map(|schema| defined(&schema.location.pointer)) {
            return quote(&name, MAX_NAME);
        }
        for rules in schemas().filter_map(|schema| schema.object.as_deref()) {
            let value = |number: usize| match &self.values(rules, number)?[..] {
                [value] => Some(format!("{}: {value}", quote(rules.names.get(number), MAX_NAME))),
                _ => None,
            };
            if let Some(value) = required(rules).chain(0..rules.members.len()).find_map(value) {
                return format!("that with {value}");
            }
        }
        let others = alternatives.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, id)| of(*id));
        let others: Vec<SchemaId> = others.take(MAX_LOOKED_AT).flatten().collect();
        let declares = |id: &SchemaId, name: &str| {
            self.schemas.get(*id).object.as_ref().is_some_and(|rules| rules.member(name).is_some())
        };
        for rules in schemas().filter_map(|schema| schema.object.as_deref()) {
            let mut names = required(rules).map(|number| rules.names.get(number));
            if let Some(name) = names.find(|name| !others.iter().any(|id| declares(id, name))) {
                return format!("that with member {}", quote(name, MAX_NAME));
            }
        }
        let is_typed = |schema: &&Schema| !schema.type_names.is_empty();
        match schemas().find(is_typed).map(|schema| &*schema.type_names) {
            Some(types) if !others.iter().any(|id| self.schemas.get(*id).type_names == types) => types.to_owned(),
            _ => format!("number {}", number + 1),
        }
    }

    /// Finds a member that every alternative requires and that the object lacks. Returns its name, and the values that
    /// each alternative lists for it.
    pub(super) fn missing_discriminator(&self, at: NodeId, alternatives: &[SchemaId]) -> Option<(&str, Vec<String>)> {
        if self.document.kind(at) != Kind::Object
            || self.document.count(at) > MAX_LOOKED_AT
            || !self.budget.pays(ALTERNATIVE_COST * alternatives.len() as u32)
        {
            return None;
        }
        let all: Vec<Vec<SchemaId>> = alternatives.iter().map(|id| self.schemas.with_applied(vec![*id])).collect();
        let rules = |id: &SchemaId| self.schemas.get(*id).object.as_deref();
        let of_name = |ids: &[SchemaId], name: &str| {
            ids.iter().filter_map(rules).find_map(|rules| {
                let number = rules.number(name).filter(|number| rules.members[*number].required)?;
                self.values(rules, number)
            })
        };
        let names = all
            .first()?
            .iter()
            .filter_map(rules)
            .flat_map(|rules| required(rules).map(|number| rules.names.get(number)));
        names.filter(|name| self.document.member(at, name).is_none()).find_map(|name| {
            let values: Option<Vec<Vec<String>>> = all.iter().map(|ids| of_name(ids, name)).collect();
            Some((name, values?.concat()))
        })
    }

    /// Returns the values that a list allows for a member, as JSON text.
    fn values(&self, rules: &ObjectRules, number: usize) -> Option<Vec<String>> {
        let ids = self.schemas.with_applied(vec![rules.members[number].schema?]);
        let allowed = ids.iter().find_map(|id| self.schemas.get(*id).allowed.first())?;
        let values = allowed.values.iter().take(MAX_LOOKED_AT);
        Some(values.map(|value| short(value.to_string(), MAX_NAME)).collect())
    }
}

/// Returns the indices of the required members.
fn required(rules: &ObjectRules) -> impl Iterator<Item = usize> {
    (0..rules.members.len().min(MAX_LOOKED_AT)).filter(|number| rules.members[*number].required)
}

/// Returns the name of the definition that a JSON Pointer leads to, if it leads to one.
fn defined(pointer: &str) -> Option<String> {
    let (before, name) = pointer.rsplit_once('/')?;
    let is_definition = before.ends_with("/$defs") || before.ends_with("/definitions");
    is_definition.then(|| unescaped(name))
}

fn only_one<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}
