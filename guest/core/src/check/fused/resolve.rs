//! Resolves the demands of compiled schemas on values of one kind, including references and alternatives.

use super::super::schema::{Applied, Schema, SchemaId, Schemas};
use crate::parse::Kind;

/// The kinds of values, in ascending order.
pub(super) const KINDS: [Kind; 7] =
    [Kind::Null, Kind::False, Kind::True, Kind::Number, Kind::String, Kind::Array, Kind::Object];

/// The maximum nesting of references and alternatives that is resolved.
const MAX_LEVELS: usize = 64;

/// The maximum number of schemas whose own rules apply to one value.
const MAX_RULES: usize = 16;

/// The demands on the values of one kind.
#[derive(Clone, PartialEq)]
pub(super) enum Demand {
    /// No value is valid.
    Never,
    /// The judge needs the whole value.
    Whole,
    Rules(Rules),
}

/// A conjunction of rules that the pass checks while it reads the value.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rules {
    /// Schemas whose own rules apply. Excludes the schemas that they refer to.
    pub(super) own: Vec<SchemaId>,
    /// Alternatives with a discriminator.
    pub(super) union: Option<Union>,
    /// Alternatives or negations that only require members.
    pub(super) presence: Vec<Union>,
}

impl Rules {
    /// Returns whether there are no rules.
    pub(super) fn is_none(&self) -> bool {
        self.own.is_empty() && self.union.is_none() && self.presence.is_empty()
    }
}

/// Alternatives of a schema: the schema, and their index in `Schema::applied`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Union {
    pub(super) schema: SchemaId,
    pub(super) number: usize,
}

impl Demand {
    pub(super) fn none() -> Self {
        Demand::Rules(Rules::default())
    }

    fn is_none(&self) -> bool {
        matches!(self, Demand::Rules(rules) if rules.is_none())
    }

    /// Returns the conjunction of two demands.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Demand::Never, _) | (_, Demand::Never) => Demand::Never,
            (Demand::Rules(mut rules), Demand::Rules(more)) => {
                let new = |id: &SchemaId| !rules.own.contains(id);
                let own: Vec<SchemaId> = more.own.into_iter().filter(new).collect();
                rules.own.extend(own);
                let new = |one: &Union| !rules.presence.contains(one);
                let presence: Vec<Union> = more.presence.into_iter().filter(new).collect();
                rules.presence.extend(presence);
                let is_one = rules.union.is_none() || more.union.is_none() || rules.union == more.union;
                rules.union = rules.union.or(more.union);
                if is_one && rules.own.len().max(rules.presence.len()) <= MAX_RULES {
                    Demand::Rules(rules)
                } else {
                    Demand::Whole
                }
            }
            _ => Demand::Whole,
        }
    }
}

#[derive(Clone)]
enum Known {
    Unknown,
    /// The schema is being resolved. The judge handles a reference back to it.
    Open,
    Resolved(Demand),
}

/// Resolves schemas, once for each schema and kind.
pub(super) struct Resolver<'s> {
    schemas: &'s Schemas,
    known: Vec<[Known; KINDS.len()]>,
}

impl<'s> Resolver<'s> {
    pub(super) fn new(schemas: &'s Schemas) -> Self {
        let unknown = [const { Known::Unknown }; KINDS.len()];
        Resolver { schemas, known: vec![unknown; schemas.all.len()] }
    }

    /// Returns a schema's demand on values of a kind.
    pub(super) fn demand(&mut self, id: SchemaId, kind: Kind) -> Demand {
        self.resolve(id, kind, MAX_LEVELS)
    }

    fn resolve(&mut self, id: SchemaId, kind: Kind, left: usize) -> Demand {
        match &self.known[id as usize][kind as usize] {
            Known::Resolved(demand) => return demand.clone(),
            Known::Open => return Demand::Whole,
            Known::Unknown if left == 0 => return Demand::Whole,
            Known::Unknown => {}
        }
        self.known[id as usize][kind as usize] = Known::Open;
        let demand = self.resolve_parts(id, kind, left - 1);
        self.known[id as usize][kind as usize] = Known::Resolved(demand.clone());
        demand
    }

    fn resolve_parts(&mut self, id: SchemaId, kind: Kind, left: usize) -> Demand {
        let brief = self.schemas.brief(id);
        if brief.takes_all(kind) {
            return Demand::none();
        }
        if brief.takes_none(kind) {
            return Demand::Never;
        }
        let schema = self.schemas.get(id);
        let mut demand = own(schema, id, kind);
        for (number, applied) in schema.applied.iter().enumerate() {
            let one = self.applied(Union { schema: id, number }, applied, kind, left);
            demand = demand.and(one);
        }
        demand
    }

    fn applied(&mut self, union: Union, applied: &Applied, kind: Kind, left: usize) -> Demand {
        match applied {
            Applied::Reference(id) => self.resolve(*id, kind, left),
            Applied::All(all) => {
                all.iter().fold(Demand::none(), |demand, id| demand.and(self.resolve(*id, kind, left)))
            }
            Applied::Any(all) => self.alternatives(union, all, kind, left, true),
            Applied::One(all) => self.alternatives(union, all, kind, left, false),
            Applied::Not(id, _) => match self.resolve(*id, kind, left) {
                Demand::Never => Demand::none(),
                demand if demand.is_none() => Demand::Never,
                demand if kind == Kind::Object && self.required(&demand).is_some() => of_presence(union),
                _ => Demand::Whole,
            },
            Applied::If { condition, then, otherwise } => {
                let branch = match self.resolve(*condition, kind, left) {
                    Demand::Never => otherwise,
                    demand if demand.is_none() => then,
                    _ => return Demand::Whole,
                };
                branch.map_or_else(Demand::none, |id| self.resolve(id, kind, left))
            }
        }
    }

    fn alternatives(&mut self, union: Union, all: &[SchemaId], kind: Kind, left: usize, any: bool) -> Demand {
        let mut possible = Vec::new();
        for id in all {
            match self.resolve(*id, kind, left) {
                Demand::Never => {}
                demand if any && demand.is_none() => return demand,
                demand => possible.push(demand),
            }
        }
        let has_table = self.schemas.get(union.schema).tables[union.number].is_some();
        match possible.len() {
            0 => Demand::Never,
            1 => possible.swap_remove(0),
            _ if kind != Kind::Object => Demand::Whole,
            _ if possible.iter().all(|demand| self.required(demand).is_some()) => of_presence(union),
            _ if has_table => Demand::Rules(Rules { union: Some(union), ..Rules::default() }),
            _ => Demand::Whole,
        }
    }

    /// Returns the members that an object must have. `None` if there are other rules.
    pub(super) fn required(&self, demand: &Demand) -> Option<Vec<&'s str>> {
        let Demand::Rules(Rules { own, union: None, presence }) = demand else { return None };
        presence.is_empty().then_some(())?;
        let schemas = self.schemas;
        let mut names = Vec::new();
        for rules in own.iter().filter_map(|id| schemas.get(*id).object.as_ref()) {
            rules.is_only_required().then_some(())?;
            names.extend((0..rules.names.len()).map(|number| rules.names.get(number)));
        }
        Some(names)
    }
}

fn of_presence(union: Union) -> Demand {
    Demand::Rules(Rules { presence: vec![union], ..Rules::default() })
}

/// Returns the demand of a schema's own rules on values of a kind.
fn own(schema: &Schema, id: SchemaId, kind: Kind) -> Demand {
    let allowed = !schema.allowed.is_empty();
    let is_free = match kind {
        Kind::Null | Kind::False | Kind::True => {
            return if schema.allowed.iter().all(|allowed| allowed.has_literal(kind)) {
                Demand::none()
            } else {
                Demand::Never
            };
        }
        Kind::Number => !allowed && schema.number.is_none() && schema.types.takes_numbers(),
        Kind::String => !allowed && schema.string.is_none(),
        Kind::Array => match &schema.array {
            _ if allowed || schema.unevaluated_items.is_some() => return Demand::Whole,
            Some(rules) if rules.contains.is_some() => return Demand::Whole,
            rules => rules.is_none(),
        },
        Kind::Object => match &schema.object {
            _ if allowed || schema.unevaluated_members.is_some() => return Demand::Whole,
            Some(rules) if rules.dependent.iter().any(|dependent| dependent.schema.is_some()) => return Demand::Whole,
            rules => rules.is_none(),
        },
    };
    if is_free { Demand::none() } else { Demand::Rules(Rules { own: vec![id], ..Rules::default() }) }
}
