//! Builds the tables that select the schemas that can hold for an object.
//!
//! Alternatives and conditions often list strings for a shared member: `"kind": { "const": "circle" }`. The value of
//! that member excludes the schemas that cannot hold, so the judge does not try them.

use super::{
    names::Names,
    schema::{Applied, SchemaId, Schemas},
    table::Table,
};
use crate::{order::sort_by, scan::hash};

/// The maximum number of applied schemas that are read for an alternative. Each of them alone can exclude the
/// alternative.
const MAX_APPLIED: usize = 16;

/// Building the tables of a contract may read this many schemas and members per schema of the contract. Beyond this
/// limit, unions get no table.
const STEPS_PER_SCHEMA: usize = 64;

/// A table may have this many entries per schema and string in it.
const ENTRIES: usize = 4;

/// Adds tables to each schema for the schemas that it applies.
pub(super) fn tabulate(schemas: &mut Schemas) {
    let mut reader = Reader::new(schemas);
    let mut tables: Vec<Vec<Option<Box<Table>>>> = Vec::new();
    for schema in &schemas.all {
        tables.push(schema.applied.iter().map(|applied| reader.table(applied).map(Box::new)).collect());
    }
    schemas.all.iter_mut().zip(tables).for_each(|(schema, tables)| schema.tables = tables);
}

/// The rules of one schema for one member.
struct Entry<'s> {
    name: &'s str,
    /// The index of the schema.
    number: usize,
    /// The schema that lists the member's strings.
    list: Option<SchemaId>,
    required: bool,
}

/// Reads a contract's schemas, within limits.
struct Reader<'s> {
    schemas: &'s Schemas,
    steps: usize,
}

impl<'s> Reader<'s> {
    fn new(schemas: &'s Schemas) -> Self {
        Reader { schemas, steps: STEPS_PER_SCHEMA * schemas.all.len() }
    }

    /// Returns the table of some alternatives or conditions. `None` if no member distinguishes them.
    fn table(&mut self, applied: &Applied) -> Option<Table> {
        let (all, is_conditions) = match applied {
            Applied::All(all) => (all, true),
            Applied::Any(all) | Applied::One(all) => (all, false),
            _ => return None,
        };
        let mut entries = Vec::new();
        for (number, id) in all.iter().enumerate() {
            let deciding = if is_conditions { self.condition(*id) } else { Some(*id) };
            if let Some(id) = deciding {
                self.read(id, number, &mut entries)?;
            }
        }
        sort_by(&mut entries, |a, b| (a.name, a.number).cmp(&(b.name, b.number)));
        let telling = entries.chunk_by(|a, b| a.name == b.name).max_by_key(|entries| listed(entries));
        telling.filter(|entries| listed(entries) > 1).and_then(|entries| self.rows(entries, all.len()))
    }

    /// Returns the condition of a schema that accepts everything if the condition is false.
    fn condition(&self, id: SchemaId) -> Option<SchemaId> {
        let schema = self.schemas.get(id);
        match schema.applied[..] {
            [Applied::If { condition, otherwise: None, .. }] if schema.is_only_applied() => Some(condition),
            _ => None,
        }
    }

    /// Collects a schema's rules for members. `None` if no steps are left.
    fn read(&mut self, id: SchemaId, number: usize, entries: &mut Vec<Entry<'s>>) -> Option<()> {
        let schemas = self.schemas;
        for id in self.applied(id) {
            let Some(rules) = &schemas.get(id).object else { continue };
            self.steps = self.steps.checked_sub(rules.members.len())?;
            for (place, member) in rules.members.iter().enumerate() {
                let list = member
                    .schema
                    .and_then(|id| self.applied(id).into_iter().find(|id| !schemas.get(*id).allowed.is_empty()));
                if list.is_some() || member.required {
                    let required = member.required;
                    entries.push(Entry { name: rules.names.get(place), number, list, required });
                }
            }
        }
        Some(())
    }

    /// Returns the first schemas that apply wherever a schema applies, including that schema.
    fn applied(&mut self, id: SchemaId) -> Vec<SchemaId> {
        let mut ids = vec![id];
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            next += 1;
            for applied in &self.schemas.get(id).applied {
                let all = match applied {
                    Applied::Reference(id) => std::slice::from_ref(id),
                    Applied::All(all) => all,
                    _ => continue,
                };
                for id in all {
                    if ids.len() < MAX_APPLIED && !ids.contains(id) {
                        ids.push(*id);
                    }
                }
            }
        }
        self.steps = self.steps.saturating_sub(ids.len());
        ids
    }

    /// Builds the table of a member from the rules of `schemas` schemas.
    fn rows(&mut self, entries: &[Entry<'s>], schemas: usize) -> Option<Table> {
        let schemas_of = |id: SchemaId| self.schemas.get(id).allowed.first();
        let mut strings = Vec::new();
        let mut lists: Vec<(bool, Option<Vec<&str>>)> = vec![(false, None); schemas];
        for entry in entries {
            let (required, list) = &mut lists[entry.number];
            *required |= entry.required;
            if let (None, Some(allowed)) = (&list, entry.list.and_then(schemas_of)) {
                let listed: Vec<&str> = allowed.strings().collect();
                strings.extend(&listed);
                *list = Some(listed);
            }
        }
        self.steps = self.steps.checked_sub(strings.len())?;
        let names = Names::new(strings.iter().copied());
        let known = names.len();
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); known + 2];
        let mut left = ENTRIES * (schemas + rows.len());
        for (number, (required, list)) in lists.iter().enumerate() {
            let mut holds: Vec<usize> = match list {
                Some(list) => {
                    list.iter().filter_map(|name| names.find(name.as_bytes(), hash(name.as_bytes()))).collect()
                }
                None => (0..=known).collect(),
            };
            if !required {
                holds.push(known + 1);
            }
            left = left.checked_sub(holds.len())?;
            holds.into_iter().for_each(|row| rows[row].push(number as u32));
        }
        Some(Table::new(entries.first()?.name, names, rows))
    }
}

/// Returns the number of schemas that list strings for a member.
fn listed(entries: &[Entry]) -> usize {
    let by_schema = entries.chunk_by(|a, b| a.number == b.number);
    by_schema.filter(|entries| entries.iter().any(|entry| entry.list.is_some())).count()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Checker, Dialect, Patterns, Rules, judge},
        *,
    };
    use crate::{
        caps::Caps,
        parse::{Document, Span, parse},
        random::Random,
    };

    fn compiled(source: &str) -> Schemas {
        let dialect = Dialect { patterns: Patterns::Backtracking, ..Dialect::default() };
        match Checker::own(source, dialect).rules {
            Rules::JsonSchema(schemas) => schemas,
            Rules::Jtd(..) => unreachable!("a JSON Schema"),
        }
    }

    fn with_document<T>(text: &str, read: impl FnOnce(&Document) -> T) -> T {
        let parsed = parse(text, Span::new(0, text.len()), &Caps::default()).unwrap_or_else(|_| panic!("{text}"));
        read(&parsed.document)
    }

    /// Returns the schemas that can hold for a document, according to the first table of the root.
    fn possible(source: &str, text: &str) -> Option<Vec<u32>> {
        let schemas = compiled(source);
        let table = schemas.get(schemas.root).tables.iter().flatten().next()?.clone();
        with_document(text, |document| table.possible(document, Document::ROOT).map(<[u32]>::to_vec))
    }

    #[test]
    fn one_member_tells_which_schemas_can_hold() {
        let kinds = r##"{"oneOf": [{"$ref": "#/$defs/a"}, {"allOf": [{"$ref": "#/$defs/b"}]}, {"required": ["other"]}],
            "$defs": {
                "a": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                "b": {"properties": {"kind": {"$ref": "#/$defs/names"}, "size": {"type": "integer"}}},
                "names": {"enum": ["b", "a", 7]}}}"##;
        for (text, numbers) in [
            (r#"{"kind": "a"}"#, Some(vec![0, 1, 2])),
            (r#"{"kind": "b"}"#, Some(vec![1, 2])),
            (r#"{"kind": "c"}"#, Some(vec![2])),
            (r#"{"size": 1}"#, Some(vec![1, 2])),
            // A list of strings does not exclude values of other kinds.
            (r#"{"kind": 7}"#, None),
        ] {
            assert_eq!(possible(kinds, text), numbers, "{text}");
        }
        let conditions = r#"{"allOf": [
            {"if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}, "then": {"required": ["x"]}},
            {"if": {"properties": {"kind": {"const": "b"}}}, "then": {"required": ["y"]}},
            {"if": {"properties": {"kind": {"const": "c"}}}, "else": {"required": ["z"]}},
            {"type": "object"}]}"#;
        for (text, numbers) in [
            (r#"{"kind": "a"}"#, vec![0, 2, 3]),
            (r#"{"kind": "b"}"#, vec![1, 2, 3]),
            (r#"{"kind": "d"}"#, vec![2, 3]),
            ("{}", vec![1, 2, 3]),
        ] {
            assert_eq!(possible(conditions, text), Some(numbers), "{text}");
        }
        // A table with a single list is no faster than the judge.
        assert_eq!(possible(r#"{"anyOf": [{"properties": {"a": {"const": "x"}}}, {"required": ["b"]}]}"#, "{}"), None);
    }

    /// A string for which the pattern below is undecided.
    const LONG: &str = r#""xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx!""#;

    /// Returns alternatives or conditions for objects. Some of them have a member that distinguishes them.
    fn source(random: &mut impl FnMut(usize) -> usize) -> String {
        const NAMES: [&str; 3] = ["a", "b", "c"];
        let object = |random: &mut dyn FnMut(usize) -> usize| {
            let member = |random: &mut dyn FnMut(usize) -> usize| match random(5) {
                0 => r#"{"const": "x"}"#,
                1 => r#"{"const": "y"}"#,
                2 => r#"{"enum": ["x", "z", 1]}"#,
                3 => r#"{"type": "string", "pattern": "^(x|xx)+\\1y$"}"#,
                _ => r#"{"type": ["string", "integer"]}"#,
            };
            let members: Vec<String> =
                NAMES[..=random(3)].iter().map(|name| format!("{name:?}: {}", member(random))).collect();
            let required = ["", r#", "required": ["a"]"#, r#", "required": ["b"]"#][random(3)];
            let closed = ["", "", r#", "additionalProperties": false"#][random(3)];
            format!(r#"{{"properties": {{{}}}{required}{closed}}}"#, members.join(", "))
        };
        let keyword = ["anyOf", "oneOf", "allOf"][random(3)];
        let mut all = Vec::new();
        for _ in 0..2 + random(4) {
            let one = object(random);
            all.push(match (keyword, random(3)) {
                ("allOf", 0 | 1) => format!(r#"{{"if": {one}, "then": {}}}"#, object(random)),
                ("allOf", _) => format!(r#"{{"if": {one}, "else": {}}}"#, object(random)),
                _ => one,
            });
        }
        let rest = ["", r#", "unevaluatedProperties": false"#, r#", "not": {"required": ["c"]}"#][random(3)];
        format!(r#"{{"{keyword}": [{}]{rest}}}"#, all.join(", "))
    }

    #[test]
    fn tables_change_neither_verdicts_nor_failures() {
        let mut state = Random(1);
        let mut random = |below: usize| state.below(below);
        let (mut tables, mut verdicts) = (0, [0; 2]);
        for _ in 0..3_000 {
            let source = source(&mut random);
            let with = compiled(&source);
            let mut without = with.clone();
            without.all.iter_mut().for_each(|schema| schema.tables.iter_mut().for_each(|table| *table = None));
            tables += usize::from(with.all.iter().any(|schema| schema.tables.iter().any(Option::is_some)));
            for _ in 0..20 {
                let value = |random: &mut dyn FnMut(usize) -> usize| {
                    ["\"x\"", "\"y\"", "\"z\"", "1", "\"xxy\"", LONG][random(6)]
                };
                let names = ["a", "b", "c", "d"].into_iter().filter(|_| random(2) == 0).collect::<Vec<_>>();
                let members: Vec<String> =
                    names.iter().map(|name| format!("{name:?}: {}", value(&mut random))).collect();
                let text = format!("{{{}}}", members.join(", "));
                with_document(&text, |document| {
                    let is_valid = judge::is_valid(&with, document);
                    verdicts[usize::from(is_valid)] += 1;
                    assert_eq!(is_valid, judge::is_valid(&without, document), "{text} by {source}");
                    // A report names one undecided match. With tables, that match belongs to an alternative that can
                    // hold.
                    if !text.contains(LONG) {
                        let failures = [&with, &without].map(|schemas| judge::failures(schemas, document));
                        assert_eq!(failures[0], failures[1], "{text} by {source}");
                    }
                    let may_be = [&with, &without].map(|schemas| judge::may_be_valid(schemas, document));
                    assert_eq!(may_be[0], may_be[1], "{text} by {source}");
                });
            }
        }
        assert!(tables > 1_000 && verdicts[0] > 10_000 && verdicts[1] > 10_000, "{tables} {verdicts:?}");
    }
}
