//! Compiles schemas into a plan.

use std::collections::BTreeMap;

use super::{
    super::{
        names::Names,
        schema::{ANY, Applied, ArrayRules, ObjectRules, SchemaId, Schemas},
    },
    plan::{ACCEPT, Act, Array, BITS, FREE, First, JUDGE, Member, Node, Object, Plan, Presence, REJECT, Told},
    resolve::{Demand, KINDS, Resolver, Rules, Union},
};
use crate::parse::Kind;

/// The number of members and patterns that the plan's compiler may read for each schema of the contract.
const STEPS_PER_SCHEMA: usize = 64;
/// The number of members and patterns that it may read in addition.
const STEPS: usize = 4096;

/// The maximum number of nodes for each schema of the contract.
const NODES_PER_SCHEMA: usize = 3;

/// The maximum number of unions whose alternatives contain further unions for the same object.
const MAX_UNIONS: usize = 8;

impl Plan {
    /// Returns the plan of a contract's schemas. `None` if one pass decides nothing, or if a match can be undecided:
    /// then the verdict depends on the order in which the judge tries matches.
    pub(crate) fn of(schemas: &Schemas) -> Option<Self> {
        if schemas.all.iter().any(|schema| schema.can_be_undecided()) {
            return None;
        }
        let plan = Compiler::new(schemas).plan();
        let root = plan.nodes[plan.document.rest as usize];
        (root[Kind::Object as usize] != JUDGE || root[Kind::Array as usize] != JUDGE).then_some(plan)
    }
}

/// The indices of compiled rules, by the schemas that each was compiled from.
type Numbers = BTreeMap<Vec<SchemaId>, u32>;

struct Compiler<'s> {
    schemas: &'s Schemas,
    resolver: Resolver<'s>,
    plan: Plan,
    numbers: Numbers,
    /// The rules of objects, and of scalars.
    objects: Numbers,
    scalars: Numbers,
    steps: usize,
    /// The current number of nested unions.
    unions: usize,
}

impl<'s> Compiler<'s> {
    fn new(schemas: &'s Schemas) -> Self {
        let plan = Plan {
            nodes: vec![[ACCEPT; KINDS.len()]],
            schemas: vec![Box::default()],
            document: Array::free(),
            scalars: vec![Box::default()],
            arrays: vec![Array::free()],
            objects: vec![Object::free()],
            longest: 0,
        };
        Compiler {
            schemas,
            resolver: Resolver::new(schemas),
            plan,
            numbers: [(Vec::new(), FREE)].into(),
            objects: Numbers::new(),
            scalars: Numbers::new(),
            steps: STEPS + STEPS_PER_SCHEMA * schemas.all.len(),
            unions: 0,
        }
    }

    fn plan(mut self) -> Plan {
        self.plan.document.rest = self.node(vec![self.schemas.root]).unwrap_or(FREE);
        let mut next = 1;
        while next < self.plan.nodes.len() {
            for kind in KINDS {
                let act = self.act(next, kind);
                self.plan.nodes[next][kind as usize] = act;
            }
            next += 1;
        }
        self.plan
    }

    /// Returns the node for the schemas that apply to a value. Its acts are filled in later. `None` if there are too
    /// many nodes.
    fn node(&mut self, mut all: Vec<SchemaId>) -> Option<Node> {
        all.retain(|id| *id != ANY);
        all.sort_unstable();
        all.dedup();
        if let Some(node) = self.numbers.get(&all) {
            return Some(*node);
        }
        let node = self.plan.nodes.len();
        if node > NODES_PER_SCHEMA * self.schemas.all.len() {
            return None;
        }
        self.plan.nodes.push([JUDGE; KINDS.len()]);
        self.plan.schemas.push(all.clone().into());
        self.numbers.insert(all, node as Node);
        Some(node as Node)
    }

    fn act(&mut self, node: usize, kind: Kind) -> Act {
        let all = self.plan.schemas[node].clone();
        let demands = all.iter().map(|id| self.resolver.demand(*id, kind));
        let demand = demands.reduce(Demand::and).unwrap_or_else(Demand::none);
        self.act_of(demand, kind)
    }

    fn act_of(&mut self, demand: Demand, kind: Kind) -> Act {
        let rules = match demand {
            Demand::Never => return REJECT,
            Demand::Whole => return JUDGE,
            Demand::Rules(rules) => rules,
        };
        if rules.is_none() {
            return ACCEPT;
        }
        match kind {
            Kind::Array => self.array(&rules.own).unwrap_or(JUDGE),
            Kind::Object => self.object(rules).unwrap_or(JUDGE),
            _ => match self.scalars.get(&rules.own) {
                Some(act) => *act,
                None => {
                    let act = self.plan.scalars.len() as Act;
                    self.plan.scalars.push(rules.own.clone().into());
                    self.scalars.insert(rules.own, act);
                    act
                }
            },
        }
    }

    fn pay(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        Some(())
    }

    fn array(&mut self, own: &[SchemaId]) -> Option<Act> {
        let schemas = self.schemas;
        let all: Vec<&ArrayRules> = own.iter().filter_map(|id| schemas.get(*id).array.as_deref()).collect();
        let closed = |rules: &&ArrayRules| if rules.closed { rules.prefix.len() } else { usize::MAX };
        let mut array = Array {
            min: all.iter().map(|rules| rules.length.min).max()?,
            max: all.iter().map(|rules| rules.length.max.min(closed(rules))).min()?,
            ..Array::free()
        };
        let length = all.iter().map(|rules| rules.prefix.len()).max()?;
        self.pay((length + 1) * all.len())?;
        let of = |index: usize| all.iter().filter_map(move |rules| rules.prefix.get(index).copied().or(rules.rest));
        let mut prefix = Vec::new();
        for index in 0..length {
            prefix.push(self.node(of(index).collect())?);
        }
        array.prefix = prefix.into();
        array.rest = self.node(of(length).collect())?;
        if all.iter().any(|rules| rules.unique) {
            // The judge compares items of other kinds.
            let is_list_of_strings = array.prefix.is_empty() && self.is_string(array.rest);
            is_list_of_strings.then_some(())?;
            array.unique = true;
        }
        self.plan.arrays.push(array);
        Some(self.plan.arrays.len() as Act - 1)
    }

    /// Returns whether only strings are valid at a node.
    fn is_string(&mut self, node: Node) -> bool {
        let others = KINDS.into_iter().filter(|kind| *kind != Kind::String);
        let all = self.plan.schemas[node as usize].clone();
        let mut is_never = |kind: Kind| all.iter().any(|id| self.resolver.demand(*id, kind) == Demand::Never);
        others.into_iter().all(&mut is_never)
    }

    fn object(&mut self, rules: Rules) -> Option<Act> {
        let mut key = rules.own.clone();
        let number = |union: &Union| [union.schema, union.number as SchemaId];
        key.push(SchemaId::MAX);
        key.extend(rules.presence.iter().flat_map(number));
        key.push(SchemaId::MAX);
        key.extend(rules.union.iter().flat_map(number));
        if let Some(act) = self.objects.get(&key) {
            return (*act != JUDGE).then_some(*act);
        }
        // The judge handles rules that refer to themselves for the same object.
        self.objects.insert(key.clone(), JUDGE);
        let object = self.object_of(&rules)?;
        let union = match rules.union {
            Some(_) if self.unions == MAX_UNIONS => return None,
            Some(union) => {
                self.unions += 1;
                let told = self.told(&rules, union);
                self.unions -= 1;
                Some(told?)
            }
            None => None,
        };
        self.plan.objects.push(Object { union, ..object });
        let act = self.plan.objects.len() as Act - 1;
        self.objects.insert(key, act);
        Some(act)
    }

    /// Returns one act for an object per row of a discriminator table.
    fn told(&mut self, rules: &Rules, union: Union) -> Option<Told> {
        let schemas = self.schemas;
        let table = schemas.get(union.schema).tables[union.number].as_deref()?;
        let all = schemas.get(union.schema).applied[union.number].all();
        let mut rows = Vec::new();
        for row in 0..table.rows() {
            let numbers = table.row(row);
            self.pay(numbers.len() + 1)?;
            let mut possible = Vec::new();
            for number in numbers {
                match self.resolver.demand(all[*number as usize], Kind::Object) {
                    Demand::Never => {}
                    demand => possible.push(demand),
                }
            }
            rows.push(match possible.len() {
                0 => REJECT,
                1 => {
                    let outer = Demand::Rules(Rules { union: None, ..rules.clone() });
                    self.act_of(outer.and(possible.swap_remove(0)), Kind::Object)
                }
                _ => JUDGE,
            });
        }
        rows.iter().any(|act| *act != JUDGE && *act != REJECT).then_some(())?;
        Some(Told { union, rows: rows.into() })
    }

    /// Returns sets of members, and the minimum and maximum number of sets that an object must contain.
    fn presence(&mut self, union: Union) -> Option<(Vec<Vec<&'s str>>, [usize; 2])> {
        let schemas = self.schemas;
        let applied = &schemas.get(union.schema).applied[union.number];
        let (all, sizes) = match applied {
            Applied::Not(id, _) => (std::slice::from_ref(id), [0, 0]),
            Applied::One(all) => (&all[..], [1, 1]),
            other => (other.all(), [1, usize::MAX]),
        };
        let mut sets = Vec::new();
        for id in all {
            match self.resolver.demand(*id, Kind::Object) {
                Demand::Never => {}
                demand => sets.push(self.resolver.required(&demand)?),
            }
        }
        Some((sets, sizes))
    }

    fn object_of(&mut self, demanded: &Rules) -> Option<Object> {
        let schemas = self.schemas;
        let own = &demanded.own;
        let mut sets = Vec::new();
        for union in &demanded.presence {
            sets.push(self.presence(*union)?);
        }
        let present = sets.iter().flat_map(|(sets, _)| sets.iter().flatten().copied());
        let all: Vec<(SchemaId, &ObjectRules)> =
            own.iter().filter_map(|id| Some((*id, schemas.get(*id).object.as_deref()?))).collect();
        let names = Names::new(
            all.iter()
                .flat_map(|(_, rules)| {
                    let dependent = rules.dependent.iter();
                    let dependent =
                        dependent.flat_map(|one| [&one.name].into_iter().chain(&one.required)).map(String::as_str);
                    (0..rules.names.len()).map(|number| rules.names.get(number)).chain(dependent)
                })
                .chain(present),
        );
        let patterned: Vec<_> = all.iter().filter(|(_, rules)| !rules.patterns.is_empty()).collect();
        let named: usize = all.iter().map(|(_, rules)| 1 + rules.patterns.len()).sum();
        self.pay((names.len() + 1) * named)?;
        // If names have a schema, the pass checks each name as a string.
        let has_names = all.iter().any(|(_, rules)| rules.property_names.is_some());
        let mut members = Vec::new();
        let mut required = 0;
        for number in 0..names.len() {
            let name = names.get(number);
            let mut holding = Vec::new();
            let mut is_required = false;
            for (_, rules) in &all {
                let member = rules.member(name);
                is_required |= member.is_some_and(|member| member.required);
                holding.extend(rules.covering(name));
            }
            required += u32::from(is_required);
            self.plan.longest = self.plan.longest.max(name.len());
            let first = if has_names { First::never() } else { First::of(name) };
            members.push(Member { name: first, node: self.node(holding)?, required: is_required });
        }
        let additional = |without: Option<SchemaId>| {
            all.iter().filter(move |(id, _)| Some(*id) != without).filter_map(|(_, rules)| rules.additional)
        };
        let mut patterns = Vec::new();
        if let [(id, rules), more @ ..] = &patterned[..] {
            more.is_empty().then_some(())?;
            for (number, (_, schema)) in rules.patterns.iter().enumerate() {
                let holding = additional(Some(*id)).chain([*schema]).collect();
                patterns.push((*id, number, self.node(holding)?));
            }
        }
        let bit = |name: &str| names.number(name).filter(|number| *number < BITS).map(|number| 1_u64 << number);
        let mut presence = Vec::new();
        for (sets, [least, most]) in sets {
            let set = |set: &Vec<&str>| set.iter().try_fold(0, |all, name| Some(all | bit(name)?));
            let sets = sets.iter().map(set).collect::<Option<_>>()?;
            presence.push(Presence { sets, least, most });
        }
        let mut dependent = Vec::new();
        for one in all.iter().flat_map(|(_, rules)| &rules.dependent) {
            let needed = one.required.iter().try_fold(0, |needed, name| Some(needed | bit(name)?))?;
            dependent.push((bit(&one.name)?, needed));
        }
        Some(Object {
            min: all.iter().map(|(_, rules)| rules.count.min).max().unwrap_or(0),
            max: all.iter().map(|(_, rules)| rules.count.max).min().unwrap_or(usize::MAX),
            required,
            members: members.into(),
            patterns: patterns.into(),
            rest: self.node(additional(None).collect())?,
            name: self.node(all.iter().filter_map(|(_, rules)| rules.property_names).collect())?,
            dependent: dependent.into(),
            presence: presence.into(),
            names,
            union: None,
        })
    }
}
