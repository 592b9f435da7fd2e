//! Decides whether any document that a compiled schema describes can have a value at a path.
//!
//! Reports only certain errors. If a schema does not describe a value, or uses rules that this module does not
//! evaluate, the value may exist.

use std::collections::BTreeSet;

use super::schema::{ANY, Applied, Schema, SchemaId, Schemas};
use crate::{parse::Kind, path::Selector, scan::hash};

/// The maximum nesting of schemas that is followed to find the kinds of values that they accept.
const MAX_LEVELS: usize = 16;

/// The maximum length of a path in a condition, and the maximum number of such paths.
const MAX_STEPS: usize = 32;
const MAX_PATHS: usize = 1_000;

/// The kinds of values. `True` stands for both booleans.
const KINDS: [Kind; 6] = [Kind::Null, Kind::True, Kind::Number, Kind::String, Kind::Array, Kind::Object];

/// A set of kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// All kinds.
    pub const ALL: Kinds = Kinds(u8::MAX);
    /// No kinds.
    pub const NONE: Kinds = Kinds(0);

    /// Returns the set of one kind.
    pub fn of(kind: Kind) -> Self {
        Kinds(1 << KINDS.iter().position(|known| known.name() == kind.name()).unwrap_or_default())
    }

    /// Returns whether a kind belongs to the set.
    pub fn has(self, kind: Kind) -> bool {
        self.0 & Kinds::of(kind).0 != 0
    }

    /// Returns whether two sets share a kind.
    pub fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of both sets.
    pub fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Returns the names of the kinds in JSON Schema.
    pub fn names(self) -> Vec<&'static str> {
        KINDS.into_iter().filter(|kind| self.has(*kind)).map(Kind::name).collect()
    }
}

/// The point where a path leaves the values that a schema describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// The number of selectors that lead to a described value.
    pub steps: usize,
    /// The kinds of values there. If the next selector is for a different kind, none of them fits it.
    pub kinds: Kinds,
    /// The members that are declared there, sorted.
    pub names: Vec<String>,
}

/// The role of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Describes {
    /// The schema describes the whole document: if it declares members, there are no others.
    All,
    /// The schema complements another schema: every member may exist that it does not forbid.
    Part,
}

impl Schemas {
    /// Returns the kinds of values that a path leads to.
    ///
    /// # Errors
    ///
    /// Returns an error if no document that these schemas describe has a value at the path.
    pub(super) fn reach(&self, path: &[Selector], describes: Describes) -> Result<Kinds, Lacking> {
        let mut at = vec![self.root];
        for (steps, selector) in path.iter().enumerate() {
            let kinds = self.kinds_of(&at);
            let (all, is_open) = self.expand(at);
            let inside = match selector {
                Selector::Name(name) => self.of_name(&all, name, describes),
                Selector::Index(index) => self.of_index(&all, Some(*index)),
                Selector::Each => self.of_index(&all, None),
            };
            let kind = if matches!(selector, Selector::Name(_)) { Kind::Object } else { Kind::Array };
            match inside {
                _ if !kinds.has(kind) => return Err(Lacking { steps, kinds, names: self.names(&all) }),
                Inside::At(ids) => at = ids,
                Inside::Anything => return Ok(Kinds::ALL),
                Inside::Nothing if is_open => return Ok(Kinds::ALL),
                Inside::Nothing => return Err(Lacking { steps, kinds, names: self.names(&all) }),
            }
        }
        Ok(self.kinds_of(&at))
    }

    /// Returns the kinds of values that any of the schemas accepts.
    fn kinds_of(&self, ids: &[SchemaId]) -> Kinds {
        ids.iter().fold(Kinds::NONE, |all, id| all.or(self.kinds(*id, MAX_LEVELS)))
    }

    /// Returns the kinds of values that a schema may accept.
    fn kinds(&self, id: SchemaId, levels: usize) -> Kinds {
        let schema = self.get(id);
        if levels == 0 {
            return Kinds::ALL;
        }
        if schema.never {
            return Kinds::NONE;
        }
        let mut kinds = KINDS.into_iter().filter(|kind| schema.types.may_have(*kind)).map(Kinds::of);
        let mut kinds = kinds.by_ref().fold(Kinds::NONE, Kinds::or);
        for allowed in &schema.allowed {
            kinds = kinds.and(allowed_kinds(allowed));
        }
        let any = |ids: &[SchemaId]| ids.iter().fold(Kinds::NONE, |all, id| all.or(self.kinds(*id, levels - 1)));
        for applied in &schema.applied {
            kinds = match applied {
                Applied::Reference(id) => kinds.and(self.kinds(*id, levels - 1)),
                Applied::All(ids) => ids.iter().fold(kinds, |kinds, id| kinds.and(self.kinds(*id, levels - 1))),
                Applied::Any(ids) | Applied::One(ids) => kinds.and(any(ids)),
                Applied::Not(..) | Applied::If { .. } => kinds,
            };
        }
        kinds
    }

    /// Adds the schemas that may apply to the same values. Returns whether any of their alternatives accepts
    /// everything.
    fn expand(&self, mut ids: Vec<SchemaId>) -> (Vec<SchemaId>, bool) {
        let mut is_open = ids.contains(&ANY);
        let mut known: BTreeSet<SchemaId> = ids.iter().copied().collect();
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            next += 1;
            let schema = self.get(id);
            let dependent = schema.object.iter().flat_map(|rules| &rules.dependent).filter_map(|one| one.schema);
            let mut more: Vec<SchemaId> = dependent.collect();
            for applied in &schema.applied {
                match applied {
                    Applied::Reference(id) => more.push(*id),
                    Applied::All(all) => more.extend(all),
                    Applied::Any(all) | Applied::One(all) => {
                        is_open |= all.contains(&ANY);
                        more.extend(all);
                    }
                    Applied::Not(..) => {}
                    Applied::If { condition, then, otherwise } => {
                        more.extend([Some(*condition), *then, *otherwise].into_iter().flatten());
                    }
                }
            }
            ids.extend(more.into_iter().filter(|id| known.insert(*id)));
        }
        (ids, is_open)
    }

    /// Returns the schemas that the given schemas apply to the member with this name.
    fn of_name(&self, ids: &[SchemaId], name: &str, describes: Describes) -> Inside {
        let mut inside = Vec::new();
        let (mut is_named, mut lists, mut is_closed) = (false, false, false);
        let is_there = |id: &SchemaId| !self.get(*id).never;
        for schema in ids.iter().map(|id| self.get(*id)) {
            lists |= schema.has_keyword("properties") || schema.unevaluated_members.is_some();
            is_closed |= schema.unevaluated_members.is_some_and(|id| self.get(id).never);
            inside.extend(schema.unevaluated_members.filter(is_there));
            // `enum` lists complete values, whose contents are not examined.
            is_named |= schema.allowed.iter().any(|allowed| allowed.has_kind(Kind::Object));
            let Some(rules) = &schema.object else { continue };
            lists |= !rules.patterns.is_empty() || rules.additional.is_some();
            is_closed |= rules.additional.is_some_and(|id| self.get(id).never);
            match rules.names.find(name.as_bytes(), hash(name.as_bytes())).map(|number| rules.members[number].schema) {
                Some(Some(id)) => {
                    inside.extend(Some(id).filter(is_there));
                    continue;
                }
                Some(None) => is_named = true,
                None => {}
            }
            let matching = rules.patterns.iter().filter(|(pattern, _)| !matches!(pattern.matches(name), Ok(false)));
            let matching: Vec<SchemaId> = matching.map(|(_, id)| *id).collect();
            match matching.is_empty() {
                true => inside.extend(rules.additional.filter(is_there)),
                false => inside.extend(matching.into_iter().filter(|id| is_there(id))),
            }
        }
        let may_be = match describes {
            Describes::All => !lists,
            Describes::Part => !is_closed,
        };
        match inside.is_empty() {
            false => Inside::At(inside),
            true if is_named || may_be => Inside::Anything,
            true => Inside::Nothing,
        }
    }

    /// Returns the schemas that the given schemas apply to one item, or to all items.
    fn of_index(&self, ids: &[SchemaId], index: Option<usize>) -> Inside {
        let mut inside = Vec::new();
        let (mut lists, mut is_named) = (false, false);
        for schema in ids.iter().map(|id| self.get(*id)) {
            is_named |= schema.allowed.iter().any(|allowed| allowed.has_kind(Kind::Array));
            inside.extend(schema.unevaluated_items.filter(|id| !self.get(*id).never));
            let Some(rules) = &schema.array else { continue };
            if rules.length.max <= index.unwrap_or(0) {
                return Inside::Nothing;
            }
            lists |= rules.rest.is_some() || rules.closed;
            let found: Vec<SchemaId> = match index {
                Some(index) => rules.prefix.get(index).copied().or(rules.rest).into_iter().collect(),
                None => rules.prefix.iter().copied().chain(rules.rest).collect(),
            };
            inside.extend(found.into_iter().filter(|id| !self.get(*id).never));
        }
        match inside.is_empty() {
            false => Inside::At(inside),
            true if is_named || !lists => Inside::Anything,
            true => Inside::Nothing,
        }
    }

    /// Returns the members that the schemas declare, sorted.
    fn names(&self, ids: &[SchemaId]) -> Vec<String> {
        let rules = ids.iter().filter_map(|id| self.get(*id).object.as_deref());
        let names = rules.flat_map(|rules| {
            let is_there = |id: Option<SchemaId>| id.is_none_or(|id| !self.get(id).never);
            let named = rules.members.iter().enumerate().filter(move |(_, member)| is_there(member.schema));
            named.map(|(number, _)| rules.names.get(number).to_owned())
        });
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the paths that these schemas describe, without duplicates, up to a limit.
    pub(super) fn paths(&self) -> Vec<Vec<Selector>> {
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        let mut todo = vec![(Vec::new(), self.root)];
        let mut seen = BTreeSet::new();
        while let Some((path, id)) = todo.pop() {
            if path.len() > MAX_STEPS || found.len() >= MAX_PATHS || !seen.insert((key(&path), id)) {
                continue;
            }
            let schema = self.get(id);
            for applied in &schema.applied {
                let same = match applied {
                    Applied::Reference(id) | Applied::Not(id, _) => vec![*id],
                    Applied::All(ids) | Applied::Any(ids) | Applied::One(ids) => ids.clone(),
                    Applied::If { condition, then, otherwise } => {
                        [Some(*condition), *then, *otherwise].into_iter().flatten().collect()
                    }
                };
                todo.extend(same.into_iter().map(|id| (path.clone(), id)));
            }
            let with = |selector: Selector| path.iter().cloned().chain([selector]).collect::<Vec<_>>();
            for (number, member) in schema.object.iter().flat_map(|rules| rules.members.iter().enumerate()) {
                let Some(rules) = &schema.object else { continue };
                let inside = with(Selector::Name(rules.names.get(number).to_owned()));
                if known.insert(key(&inside)) {
                    found.push(inside.clone());
                }
                todo.extend(member.schema.map(|id| (inside, id)));
            }
            for dependent in schema.object.iter().flat_map(|rules| &rules.dependent) {
                for name in [&dependent.name].into_iter().chain(&dependent.required) {
                    let inside = with(Selector::Name(name.clone()));
                    if known.insert(key(&inside)) {
                        found.push(inside);
                    }
                }
                todo.extend(dependent.schema.map(|id| (path.clone(), id)));
            }
            if let Some(rules) = &schema.array {
                todo.extend(rules.prefix.iter().enumerate().map(|(index, id)| (with(Selector::Index(index)), *id)));
                let items = rules.rest.into_iter().chain(rules.contains.iter().map(|contains| contains.schema));
                todo.extend(items.map(|id| (with(Selector::Each), id)));
            }
        }
        found
    }

    /// Returns the kinds of values that a schema's rules are for, regardless of `type`. `None` if it has no rule for
    /// values, or may have rules for every kind.
    pub(super) fn expects(&self, id: SchemaId, levels: usize) -> Option<Kinds> {
        let schema = self.get(id);
        let mut kinds = schema.expected();
        if levels == 0 {
            return kinds;
        }
        let mut meet = |other: Option<Kinds>| {
            kinds = match (kinds, other) {
                (Some(kinds), Some(other)) => Some(kinds.and(other)),
                (kinds, other) => kinds.or(other),
            }
        };
        for applied in &schema.applied {
            match applied {
                Applied::Reference(id) | Applied::Not(id, _) => meet(self.expects(*id, levels - 1)),
                Applied::All(ids) => ids.iter().for_each(|id| meet(self.expects(*id, levels - 1))),
                Applied::Any(ids) | Applied::One(ids) => {
                    let all = ids.iter().map(|id| self.expects(*id, levels - 1));
                    meet(all.reduce(|all, one| Some(all?.or(one?))).flatten());
                }
                Applied::If { .. } => {}
            }
        }
        kinds
    }
}

/// The target of a selector.
enum Inside {
    At(Vec<SchemaId>),
    /// The schemas do not describe the target.
    Anything,
    Nothing,
}

fn allowed_kinds(allowed: &super::schema::Allowed) -> Kinds {
    let kinds = KINDS.into_iter().filter(|kind| allowed.has_kind(*kind));
    kinds.fold(Kinds::NONE, |all, kind| all.or(Kinds::of(kind)))
}

/// Returns a text that identifies a path: equal paths have equal texts.
fn key(path: &[Selector]) -> String {
    path.iter().map(|selector| format!("{selector:?}")).collect()
}

impl Schema {
    fn has_keyword(&self, name: &str) -> bool {
        self.keywords.iter().any(|(known, _)| *known == name)
    }

    /// Returns the kinds of values that this schema's own rules are for: `pattern` is for strings, and `const` is for
    /// values of its own kind. Ignores `type`, which is for values of every kind.
    fn expected(&self) -> Option<Kinds> {
        let rules = [
            (Kind::Number, self.number.is_some()),
            (Kind::String, self.string.is_some()),
            (Kind::Array, self.array.is_some() || self.unevaluated_items.is_some()),
            (Kind::Object, self.object.is_some() || self.unevaluated_members.is_some()),
        ];
        let ruled = rules.into_iter().filter(|(_, has)| *has).map(|(kind, _)| Kinds::of(kind)).reduce(Kinds::or);
        self.allowed.iter().map(allowed_kinds).chain(ruled).reduce(Kinds::and)
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel_api::{CONTRACT_CAPS, Describes, Document, Json, Kind, Path, Schema};

    fn compiled(schema: &str) -> Schema {
        let document = Json::read(schema, &CONTRACT_CAPS).expect("JSON");
        Schema::compile(&document, Document::ROOT).unwrap_or_else(|wrong| panic!("{schema}: {wrong:?}"))
    }

    #[test]
    fn a_path_is_lacking_only_where_no_document_has_a_value() {
        let file = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
        let list = r#"{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}}}"#;
        let table = [
            (file, "$.path", true),
            (file, "$.paht", false),
            (file, "$.path[*]", false),
            (file, "$.path.x", false),
            (file, "$.path[0]", false),
            (list, "$.paths[*]", true),
            (list, "$.paths[3]", true),
            (list, "$.paths", true),
            (list, "$.paths.x", false),
            (list, "$.paths[*][*]", false),
            // The schema does not describe members.
            (r#"{"type":"object"}"#, "$.any[*].thing", true),
            ("{}", "$.any", true),
            (r#"{"properties":{"a":true}}"#, "$.a.b[*]", true),
            (r#"{"properties":{"a":{}}}"#, "$.a.b[*]", true),
            (r#"{"properties":{"a":false}}"#, "$.a", false),
            (r#"{"properties":{}}"#, "$.a", false),
            (r#"{"required":["a"],"properties":{"b":{}}}"#, "$.a.b", true),
            (r#"{"minProperties":1}"#, "$.a", true),
            // Members in addition to the declared ones.
            (r#"{"properties":{"a":{}},"additionalProperties":true}"#, "$.b.c", true),
            (r#"{"properties":{"a":{}},"additionalProperties":{}}"#, "$.b.c", true),
            (r#"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#, "$.b", true),
            (r#"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#, "$.b.c", false),
            (r#"{"properties":{"a":{}},"additionalProperties":false}"#, "$.b", false),
            (r#"{"additionalProperties":false}"#, "$.b", false),
            (r#"{"properties":{"a":{}},"unevaluatedProperties":{"type":"object"}}"#, "$.b.c", true),
            (r#"{"properties":{"a":{}},"unevaluatedProperties":false}"#, "$.b", false),
            (r#"{"patternProperties":{"^x-":{"type":"string"}}}"#, "$['x-a']", true),
            (r#"{"patternProperties":{"^x-":{"type":"string"}}}"#, "$['y-a']", false),
            (r#"{"properties":{"a":{}},"patternProperties":{"^x":false}}"#, "$.x", false),
            // Alternatives, conditions and references.
            (r#"{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}"#, "$.b", true),
            (r#"{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}"#, "$.c", false),
            (r#"{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}"#, "$.a", true),
            (r#"{"properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["c"]}]}"#, "$.c", true),
            (r#"{"properties":{"a":{}},"anyOf":[{"required":["a"]},true]}"#, "$.d", true),
            (
                r#"{"properties":{"a":{}},"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"b":{}}}}"#,
                "$.b",
                true,
            ),
            (r#"{"properties":{"a":{}},"else":{"properties":{"b":{}}},"if":false}"#, "$.b", true),
            (r#"{"properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"b":{}}}}}"#, "$.b", true),
            (r##"{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{}}}}}"##, "$.a", true),
            (r##"{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{}}}}}"##, "$.b", false),
            (r##"{"properties":{"a":{"$ref":"#"}}}"##, "$.a.a.a.a", true),
            (r##"{"properties":{"a":{"$ref":"#"}}}"##, "$.a.a.b", false),
            (r#"{"properties":{"p":{"type":["string","array"]}}}"#, "$.p[*]", true),
            (r#"{"properties":{"p":{"type":["string","array"]}}}"#, "$.p.x", false),
            (r#"{"properties":{"p":{"anyOf":[{"type":"string"},{"type":"array"}]}}}"#, "$.p[*]", true),
            (
                r#"{"properties":{"p":{"type":["array","null"],"items":{"type":"object","properties":{"x":{}}}}}}"#,
                "$.p[*].x",
                true,
            ),
            (r#"{"properties":{"p":{"enum":["a","b"]}}}"#, "$.p.x", false),
            (r#"{"properties":{"p":{"enum":[{"x":1}]}}}"#, "$.p.x", true),
            // Tuples.
            (r#"{"properties":{"p":{"prefixItems":[{"type":"string"}],"items":false}}}"#, "$.p[0]", true),
            (r#"{"properties":{"p":{"prefixItems":[{"type":"string"}],"items":false}}}"#, "$.p[1]", false),
            (r#"{"properties":{"p":{"prefixItems":[{"type":"string"}]}}}"#, "$.p[1].x", true),
            (r#"{"properties":{"p":{"maxItems":1}}}"#, "$.p[1]", false),
            (
                r#"{"properties":{"p":{"prefixItems":[{"type":"string"},{"properties":{"x":{}}}],"items":false}}}"#,
                "$.p[*].x",
                true,
            ),
            (
                r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"items":[{}],"additionalItems":false}}}"#,
                "$.p[1]",
                false,
            ),
        ];
        for (schema, path, is) in table {
            let reached = compiled(schema).reach(&Path::read(path).expect("a path").selectors, Describes::All);
            assert_eq!(reached.is_ok(), is, "{path} in {schema}: {reached:?}");
        }
    }

    #[test]
    fn what_only_adds_lacks_only_what_it_forbids() {
        for (schema, path, is) in [
            (r#"{"properties":{"a":{}}}"#, "$.b", true),
            (r#"{"properties":{"a":{}},"additionalProperties":false}"#, "$.b", false),
            (r#"{"properties":{"a":{"type":"string"}}}"#, "$.a[*]", false),
        ] {
            let reached = compiled(schema).reach(&Path::read(path).expect("a path").selectors, Describes::Part);
            assert_eq!(reached.is_ok(), is, "{path} in {schema}: {reached:?}");
        }
    }

    #[test]
    fn the_end_of_a_path_has_the_kinds_that_its_schemas_take() {
        for (schema, kinds) in [
            (r#"{"type":["string","array"]}"#, vec!["string", "array"]),
            (r#"{"anyOf":[{"type":"integer"},{"const":"a"}]}"#, vec!["number", "string"]),
            (r#"{"allOf":[{"type":["integer","string"]},{"type":["string","null"]}]}"#, vec!["string"]),
            (r#"{"enum":[null,true,[1]]}"#, vec!["null", "boolean", "array"]),
            ("true", vec!["null", "boolean", "number", "string", "array", "object"]),
        ] {
            let whole = format!(r#"{{"properties":{{"a":{schema}}}}}"#);
            let reached = compiled(&whole).reach(&Path::read("$.a").expect("a path").selectors, Describes::All);
            assert_eq!(reached.expect("a value").names(), kinds, "{schema}");
        }
        assert!(super::Kinds::of(Kind::False).has(Kind::True));
    }

    #[test]
    fn a_rule_that_meets_another_kind_of_value_decides_nothing() {
        // A condition about `p`, a value of `p`, and whether the condition may hold.
        let table = [
            (r#"{"pattern":"^/etc"}"#, r#""/etc/x""#, true),
            (r#"{"pattern":"^/etc"}"#, r#""/srv""#, false),
            (r#"{"pattern":"^/etc"}"#, r#"["/srv"]"#, true),
            (r#"{"type":"string","pattern":"^/etc"}"#, r#"["/etc/x"]"#, true),
            (r#"{"type":"string","pattern":"^/etc"}"#, r#""/srv""#, false),
            (r#"{"type":"string","pattern":"^/etc"}"#, "null", true),
            (r#"{"not":{"pattern":"^/srv/"}}"#, r#"["/etc"]"#, true),
            (r#"{"not":{"pattern":"^/srv/"}}"#, r#""/srv/x""#, false),
            (r#"{"not":{"type":"string","pattern":"^/srv/"}}"#, r#"["/etc"]"#, true),
            (r#"{"const":true}"#, r#""true""#, true),
            (r#"{"const":true}"#, "1", true),
            (r#"{"const":true}"#, "false", false),
            (r#"{"enum":["prod"]}"#, r#"["prod"]"#, true),
            (r#"{"enum":["prod"]}"#, r#""test""#, false),
            (r#"{"enum":["prod",7]}"#, "8", false),
            (r#"{"minimum":100}"#, r#""1000""#, true),
            (r#"{"minimum":100}"#, "7", false),
            (r#"{"type":"integer","minimum":100}"#, r#""1000""#, true),
            (r#"{"type":"array","contains":{"const":"-rf"}}"#, r#""-rf""#, true),
            (r#"{"type":"array","contains":{"const":"-rf"}}"#, r#"["a"]"#, false),
            (r#"{"type":"array","contains":{"const":"-rf"}}"#, r#"[["-rf"]]"#, true),
            (r#"{"type":"object","required":["force"]}"#, r#""{\"force\":true}""#, true),
            (r#"{"type":"object","required":["force"]}"#, "{}", false),
            // A condition about the type applies to every value.
            (r#"{"type":"array"}"#, r#""a""#, false),
            (r#"{"type":"array"}"#, "[]", true),
            // A condition that names both kinds decides for both.
            (
                r#"{"anyOf":[{"type":"string","pattern":"^/etc"},{"type":"array","contains":{"pattern":"^/etc"}}]}"#,
                r#"["/srv"]"#,
                false,
            ),
            (
                r#"{"anyOf":[{"type":"string","pattern":"^/etc"},{"type":"array","contains":{"pattern":"^/etc"}}]}"#,
                r#"["/etc"]"#,
                true,
            ),
            (
                r#"{"anyOf":[{"type":"string","pattern":"^/etc"},{"type":"array","contains":{"pattern":"^/etc"}}]}"#,
                r#"{"a":"/etc"}"#,
                true,
            ),
            (
                r#"{"if":{"type":"string"},"then":{"pattern":"^/etc"},"else":{"contains":{"pattern":"^/etc"}}}"#,
                r#"["/srv"]"#,
                false,
            ),
            (r#"{"oneOf":[{"type":"string","pattern":"^/etc"},{"type":"array","maxItems":0}]}"#, r#"["/srv"]"#, false),
        ];
        for (condition, value, may) in table {
            let schema = compiled(&format!(r#"{{"required":["p"],"properties":{{"p":{condition}}}}}"#));
            let text = format!(r#"{{"p":{value}}}"#);
            let document = Json::read(&text, &CONTRACT_CAPS).expect("JSON");
            assert_eq!(schema.may_be_valid(&document) || schema.is_valid(&document), may, "{condition} of {value}");
            // If the schema must accept the document, the negated schema cannot.
            let must = schema.must_be_valid(&document);
            let not = compiled(&format!(r#"{{"not":{{"required":["p"],"properties":{{"p":{condition}}}}}}}"#));
            assert!(!must || schema.is_valid(&document), "{condition} of {value}");
            assert_eq!(must, !not.may_be_valid(&document), "not {condition} of {value}");
        }
        for (condition, value, must) in [
            (r#"{"pattern":"^/srv/"}"#, r#""/srv/x""#, true),
            (r#"{"pattern":"^/srv/"}"#, r#"["/etc"]"#, false),
            (r#"{"pattern":"^/srv/"}"#, "null", false),
            (r#"{"not":{"pattern":"^/etc"}}"#, r#"["/etc"]"#, false),
            (r#"{"not":{"pattern":"^/etc"}}"#, r#""/srv""#, true),
            (r#"{"not":{"const":"prod"}}"#, r#"["prod"]"#, false),
            (r#"{"maximum":100}"#, r#""1000""#, false),
            (r#"{"maximum":100}"#, "7", true),
            (r#"{"maxLength":3}"#, "[1,2,3,4]", false),
            (r#"{"type":"array"}"#, "[]", true),
            (r#"{"anyOf":[{"pattern":"^/srv/"},{"type":"array","maxItems":0}]}"#, "[]", true),
        ] {
            let schema = compiled(&format!(r#"{{"required":["p"],"properties":{{"p":{condition}}}}}"#));
            let text = format!(r#"{{"p":{value}}}"#);
            let document = Json::read(&text, &CONTRACT_CAPS).expect("JSON");
            assert_eq!(schema.must_be_valid(&document), must, "{condition} of {value}");
        }
        // If another rule rejects a value, the verdict on it is certain.
        let schema = compiled(r#"{"required":["q"],"properties":{"p":{"pattern":"^/etc"}}}"#);
        let document = Json::read(r#"{"p":["/etc"]}"#, &CONTRACT_CAPS).expect("JSON");
        assert!(!schema.may_be_valid(&document));
    }

    #[test]
    fn the_paths_of_a_condition_are_those_that_it_names() {
        let schema = r##"{"required":["a"],"properties":{"b":{"contains":{"required":["c"]}},"r":{"$ref":"#"}},"not":{"properties":{"d":true}},"dependentRequired":{"e":["f"]}}"##;
        let mut paths: Vec<String> =
            compiled(schema).paths().iter().filter(|path| path.len() < 3).map(|path| format!("{path:?}")).collect();
        paths.sort();
        for name in ["a", "b", "d", "e", "f", "r"] {
            assert!(paths.contains(&format!("[Name({name:?})]")), "{name}: {paths:?}");
        }
    }
}
