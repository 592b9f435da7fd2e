//! Checks documents against compiled schemas, and returns violations.

mod budget;
mod coerce;
mod compile;
mod explain;
mod format;
mod fused;
mod hint;
mod jtd;
mod judge;
pub(crate) mod keywords;
mod lacking;
mod metaschema;
mod names;
pub(crate) mod older;
mod pattern;
mod reach;
mod schema;
mod source;
mod table;
mod tabulate;
mod union;
mod unusable;
mod value;

use referencing::{Draft, Registry, RegistryBuilder, SPECIFICATIONS};
use serde_json::Value;

use crate::{
    caps::{CONTRACT_CAPS, Caps},
    caps_check::{WithinCaps, malformed},
    location::{Location, unescaped},
    misspelling,
    order::{sort, sort_by_key},
    parse::{Document, NodeId, Span, parse},
    path::{ItemsPath, Selector},
    text::quote,
    types::Violation,
    violation::{Details, MAX_ITEM_VIOLATIONS, MAX_VIOLATIONS, Violations},
};
use budget::Budget;
pub(crate) use coerce::{Misfits, Reading};
use compile::{Unusable, compile};
use explain::Explainer;
pub(crate) use format::{is_format, meant_format};
pub(crate) use fused::Fused;
use fused::Plan;
pub use lacking::{ends_wrongly, leads_nowhere, written};
pub(crate) use pattern::{Patterns, remarks};
pub use reach::{Describes, Kinds, Lacking};
use schema::{ItemSchemas, SchemaId, Schemas};
pub(crate) use source::{Resource, SchemaSource};
use unusable::Given;
pub use value::canonical;
pub(crate) use value::equals;

/// The interpretation of a JSON Schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    pub(crate) draft: Draft,
    pub(crate) assert_formats: bool,
    pub(crate) patterns: Patterns,
}

/// The dialect of a schema that declares none. Formats are asserted.
impl Default for Dialect {
    fn default() -> Self {
        Dialect { draft: Draft::Draft202012, assert_formats: true, patterns: Patterns::Linear }
    }
}

/// The dialects by URI, without a trailing `#`.
const DIALECTS: [(&str, Draft); 5] = [
    ("http://json-schema.org/draft-04/schema", Draft::Draft4),
    ("http://json-schema.org/draft-06/schema", Draft::Draft6),
    ("http://json-schema.org/draft-07/schema", Draft::Draft7),
    ("https://json-schema.org/draft/2019-09/schema", Draft::Draft201909),
    ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
];

/// Returns the draft that a dialect's URI names.
pub(crate) fn draft(uri: &str) -> Option<Draft> {
    match Draft::from_schema_uri(uri) {
        Draft::Unknown => None,
        draft => Some(draft),
    }
}

/// Returns the URIs of the known dialects, for messages.
fn dialects() -> String {
    DIALECTS.map(|(uri, _)| uri).join(", ")
}

/// Returns the draft nearest to an unknown dialect, if the dialect is misspelled or belongs to JSON Schema or OpenAPI.
fn nearest_dialect(uri: &str) -> Option<String> {
    let of = |draft: Draft| DIALECTS.iter().find(|(_, known)| *known == draft).map(|(uri, _)| *uri);
    let is_of = |host: &str| uri.split(['/', '#']).any(|part| part.trim_start_matches("www.") == host);
    // Matches `draft-03` and `draft/2019-09`, but not `v1`.
    let (before, number) = uri.find(|one: char| one.is_ascii_digit()).map_or((uri, ""), |at| uri.split_at(at));
    let number = number.split(|one: char| !one.is_ascii_digit()).next().and_then(|number| number.parse().ok());
    let nearest = match number.filter(|_| !before.ends_with('v')) {
        _ if is_of("spec.openapis.org") => of(Draft::Draft202012),
        _ if !is_of("json-schema.org") => {
            misspelling::nearest(uri.trim_end_matches('#'), DIALECTS.iter().map(|(known, _)| *known))
        }
        Some(0_u32..=5) => of(Draft::Draft4),
        Some(6) => of(Draft::Draft6),
        Some(7) => of(Draft::Draft7),
        Some(8 | 2019) => of(Draft::Draft201909),
        _ => of(Draft::Draft202012),
    };
    nearest.map(|nearest| format!("use {}, which comes nearest to this one", quote(nearest, 64)))
}

/// Returns the violation for an unknown dialect.
pub(crate) fn unknown_dialect(place: Location, uri: &str) -> Violation {
    let known = dialects();
    let message = format!("must be a known dialect: {}", nearest_dialect(uri).unwrap_or(known.clone()));
    Violation::new(&place, "dialect", Details { expected: &known, received: uri, message: &message })
}

/// A compiled schema.
pub(crate) struct Checker {
    rules: Rules,
    /// The plan for one pass over a text. `None` if one pass decides nothing.
    plan: Option<Plan>,
}

enum Rules {
    JsonSchema(Schemas),
    /// Includes the text of the definition, which determines the order of violations.
    Jtd(jtd::Schema, String),
}

impl Checker {
    /// Compiles a JSON Schema. If the schema is unusable, the violations have locations in a document that has the
    /// schema at `here` and a member `resources`, like a contract.
    pub(crate) fn json_schema(
        schema: &SchemaSource,
        here: &Location,
        resources: &[Resource],
        dialect: Dialect,
    ) -> Result<Self, Vec<Violation>> {
        let mut wrong: Vec<Violation> =
            metaschema::violations(schema, resources, dialect).into_iter().map(|wrong| wrong.under(here)).collect();
        for (uri, resource) in resources {
            let place = Location::root().name("resources").name(uri);
            let violations = metaschema::violations(resource, resources, dialect);
            wrong.extend(violations.into_iter().map(|wrong| wrong.under(&place)));
        }
        wrong.truncate(MAX_VIOLATIONS);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        Self::trusted(schema, here, resources, dialect).map_err(|violation| vec![violation])
    }

    /// Compiles a schema that is known to be valid.
    fn trusted(
        schema: &SchemaSource,
        here: &Location,
        resources: &[Resource],
        dialect: Dialect,
    ) -> Result<Self, Violation> {
        build(schema, here, resources, dialect).map(|schemas| Checker { rules: Rules::JsonSchema(schemas), plan: None })
    }

    /// Compiles a built-in schema.
    pub(crate) fn own(source: &str, dialect: Dialect) -> Self {
        let compiled = parse(source, Span::new(0, source.len()), &CONTRACT_CAPS)
            .map_err(|broken| malformed(source, &broken))
            .and_then(|parsed| {
                let schema = SchemaSource::new(&parsed.document, Document::ROOT);
                Self::trusted(&schema, &Location::root(), &[], dialect)
            });
        match compiled {
            Ok(checker) => checker,
            Err(violation) => unreachable!("a schema of our own: {} {}", violation.path, violation.message),
        }
    }

    /// Compiles a JSON Type Definition (RFC 8927).
    pub(crate) fn jtd(definition: &SchemaSource) -> Result<Self, Violation> {
        let schema = jtd::Schema::compile(&definition.value)?;
        Ok(Checker { rules: Rules::Jtd(schema, definition.text()), plan: None })
    }

    /// Copies the data that validation reads into contiguous memory.
    pub(crate) fn settle(&mut self) {
        if let Rules::JsonSchema(schemas) = &mut self.rules {
            *schemas = schemas.clone();
        }
        self.plan = self.plan.clone();
    }

    /// Adds the plan of [`fused`](Checker::fused).
    pub(crate) fn planned(mut self) -> Self {
        if let Rules::JsonSchema(schemas) = &self.rules {
            self.plan = Plan::of(schemas);
        }
        self
    }

    /// Returns whether a text is a valid document that needs no notes, as far as one pass can decide.
    pub(crate) fn fused(&self, text: &str, span: Span, caps: &Caps) -> Fused {
        match (&self.rules, &self.plan) {
            (Rules::JsonSchema(schemas), Some(plan)) => fused::verdict(schemas, plan, text, span, caps),
            _ => Fused::Unknown,
        }
    }

    pub(crate) fn is_valid(&self, within_caps: WithinCaps) -> bool {
        let document = within_caps.document();
        match &self.rules {
            Rules::JsonSchema(schemas) => judge::is_valid(schemas, document),
            Rules::Jtd(schema, _) => schema.violations(document, 1).is_empty(),
        }
    }

    /// Returns whether a document could be valid if each rule were undecided for values of kinds that it is not for.
    pub(crate) fn may_be_valid(&self, within_caps: WithinCaps) -> bool {
        match &self.rules {
            Rules::JsonSchema(schemas) => judge::may_be_valid(schemas, within_caps.document()),
            Rules::Jtd(..) => self.is_valid(within_caps),
        }
    }

    /// Returns whether a document is valid whatever a rule says about values of kinds that it is not for.
    pub(crate) fn must_be_valid(&self, within_caps: WithinCaps) -> bool {
        match &self.rules {
            Rules::JsonSchema(schemas) => {
                let document = within_caps.document();
                judge::is_valid(schemas, document) && judge::must_be_valid(schemas, document)
            }
            Rules::Jtd(..) => self.is_valid(within_caps),
        }
    }

    /// Returns the kinds of values that a path leads to in documents that the schema describes.
    ///
    /// # Errors
    ///
    /// Returns an error if no such document has a value at the path.
    pub(crate) fn reach(&self, path: &[Selector], describes: Describes) -> Result<Kinds, Lacking> {
        match &self.rules {
            Rules::JsonSchema(schemas) => schemas.reach(path, describes),
            Rules::Jtd(..) => Ok(Kinds::ALL),
        }
    }

    /// Returns the paths that the schema describes.
    pub(crate) fn paths(&self) -> Vec<Vec<Selector>> {
        match &self.rules {
            Rules::JsonSchema(schemas) => schemas.paths(),
            Rules::Jtd(..) => Vec::new(),
        }
    }

    /// Returns the violations of an invalid document, in document order and then in schema order.
    pub(crate) fn violations(&self, within_caps: WithinCaps) -> Violations {
        let document = within_caps.document();
        match &self.rules {
            Rules::JsonSchema(schemas) => {
                let (value, budget) = ((Document::ROOT, Location::root()), &Budget::default());
                let explainer = Explainer { schemas, document, value, budget };
                explainer.violations(judge::failures(schemas, document), MAX_VIOLATIONS)
            }
            Rules::Jtd(schema, source) => {
                let found = schema.violations(document, judge::FAILURES);
                in_order(found, definition(source).as_ref(), MAX_VIOLATIONS)
            }
        }
    }

    /// Returns the values of undeclared members that the schema forbids, in document order.
    pub(crate) fn undeclared(&self, document: &Document) -> Vec<NodeId> {
        let mut members = match &self.rules {
            Rules::JsonSchema(schemas) => judge::undeclared(schemas, document),
            Rules::Jtd(schema, _) => schema.undeclared(document),
        };
        sort(&mut members);
        members.dedup();
        members
    }

    /// Returns the members that the schema declares for the document: the name of each, whether it is required, and
    /// whether it may be an array.
    fn declared(&self) -> Vec<(&str, bool, bool)> {
        match &self.rules {
            Rules::JsonSchema(schemas) => schemas.declared(),
            Rules::Jtd(schema, _) => schema.declared(),
        }
    }

    /// Returns whether the schema declares a member of this name for the document.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.declared().iter().any(|(declared, ..)| *declared == name)
    }

    /// Returns the required member that may be an array, if there is exactly one.
    pub(crate) fn required_list(&self) -> Option<&str> {
        let mut lists = self.declared();
        lists.retain(|(_, required, is_list)| *required && *is_list);
        lists.dedup();
        if let [(name, ..)] = lists[..] { Some(name) } else { None }
    }

    /// Returns the failures of these values, and replacements that the schema accepts. `None` if the search reached its
    /// limit.
    pub(crate) fn misfits(&self, document: &Document, values: &[NodeId], caps: &Caps) -> Option<Misfits> {
        match &self.rules {
            Rules::JsonSchema(schemas) => coerce::misfits(schemas, document, values, caps),
            Rules::Jtd(schema, _) => schema.misfits(document, values, caps),
        }
    }

    /// Returns whether the schema applies to each item of the array at a path in every document.
    pub(crate) fn governs(&self, path: &ItemsPath) -> bool {
        match &self.rules {
            Rules::JsonSchema(schemas) => !schemas.of_items(path).is_empty(),
            Rules::Jtd(schema, _) => schema.of_items(path).is_some(),
        }
    }

    /// Returns an inspector for the items of a document. `path` is the location of the items. `None` if each item is a
    /// separate document.
    pub(crate) fn inspector<'d>(&'d self, path: Option<&ItemsPath>, document: &'d Document) -> Inspector<'d> {
        Inspector {
            document,
            budget: Budget::default(),
            by: match &self.rules {
                Rules::JsonSchema(schemas) => By::JsonSchema {
                    schemas,
                    of_items: path.map(|path| schemas.of_items(path)),
                    inspection: judge::Inspection::new(schemas, document),
                },
                Rules::Jtd(schema, source) => {
                    let form = path.map_or(Some(schema.root()), |path| schema.of_items(path));
                    By::Jtd { schema, form, definition: definition(source) }
                }
            },
        }
    }
}

/// Checks the items of one document. Items may exceed caps, which are not checked here.
pub(crate) struct Inspector<'d> {
    document: &'d Document<'d>,
    by: By<'d>,
    budget: Budget,
}

enum By<'d> {
    JsonSchema { schemas: &'d Schemas, of_items: Option<Vec<ItemSchemas>>, inspection: judge::Inspection<'d> },
    Jtd { schema: &'d jtd::Schema, form: Option<&'d jtd::Form>, definition: Option<Document<'d>> },
}

impl Inspector<'_> {
    /// Returns whether the item with this index is valid.
    pub(crate) fn is_valid(&mut self, index: usize, at: NodeId) -> bool {
        match &mut self.by {
            By::JsonSchema { schemas, of_items, inspection } => {
                of_item(schemas, of_items.as_deref(), index).all(|id| inspection.is_valid(id, at))
            }
            By::Jtd { schema, form, .. } => {
                let place = (at, Location::root());
                form.is_none_or(|form| schema.violations_by(form, self.document, place, 1).is_empty())
            }
        }
    }

    /// Returns the violations of the item with this index, at `place`. `None` if it is valid.
    pub(crate) fn violations(&mut self, index: usize, at: NodeId, place: &Location) -> Option<Violations> {
        let document = self.document;
        match &mut self.by {
            By::JsonSchema { schemas, of_items, inspection } => {
                let ids = || of_item(schemas, of_items.as_deref(), index);
                let failures = inspection.failures(ids, at)?;
                let explainer = Explainer { schemas, document, value: (at, place.clone()), budget: &self.budget };
                Some(explainer.violations(failures, MAX_ITEM_VIOLATIONS))
            }
            By::Jtd { schema, form, definition } => {
                let found = schema.violations_by((*form)?, document, (at, place.clone()), judge::FAILURES);
                (!found.is_empty()).then(|| in_order(found, definition.as_ref(), MAX_ITEM_VIOLATIONS))
            }
        }
    }
}

/// Returns the schemas of the item with this index.
fn of_item(schemas: &Schemas, of_items: Option<&[ItemSchemas]>, index: usize) -> impl Iterator<Item = SchemaId> {
    let own = if of_items.is_none() { Some(schemas.root) } else { None };
    own.into_iter().chain(of_items.unwrap_or_default().iter().filter_map(move |items| items.get(index)))
}

/// Parses a definition, for locations in it.
fn definition(source: &str) -> Option<Document<'_>> {
    parse(source, Span::new(0, source.len()), &CONTRACT_CAPS).ok().map(|parsed| parsed.document)
}

/// Returns violations of a definition, in document order and then in the order of the definition: the first `most` of
/// them, and the total number.
fn in_order(mut found: Vec<(NodeId, Violation)>, definition: Option<&Document>, most: usize) -> Violations {
    let (total, incomplete) = (found.len(), found.len() >= judge::FAILURES);
    if let Some(definition) = definition {
        let key = |(at, violation): (NodeId, Violation)| (at, position(definition, &violation.schema_path), violation);
        let mut keyed: Vec<(NodeId, NodeId, Violation)> = found.into_iter().map(key).collect();
        sort_by_key(&mut keyed, |(at, position, _)| (*at, *position));
        found = keyed.into_iter().map(|(at, _, violation)| (at, violation)).collect();
    }
    Violations { listed: found.into_iter().take(most).map(|(_, violation)| violation).collect(), total, incomplete }
}

/// The URI of a schema without one, and the base of relative URIs.
const NO_ID: &str = "seamgate:///";

/// Compiles a schema. The locations of errors refer to a document that has the schema at `here` and a member
/// `resources`.
fn build(
    source: &SchemaSource,
    here: &Location,
    resources: &[Resource],
    dialect: Dialect,
) -> Result<Schemas, Violation> {
    let schema = &source.value;
    let id = source.id(dialect.draft);
    let uri = if id.contains(':') { id.trim_end_matches('#') } else { NO_ID };
    let mut named: Vec<(&str, &Value)> = vec![(uri, schema)];
    for (uri, resource) in resources {
        // Registers the resource by its given URI and by its own absolute URI. Its own relative URI is resolved against
        // the given URI.
        named.push((uri, &resource.value));
        let id = resource.id(dialect.draft).trim_end_matches('#');
        if id.contains(':') && id != uri.trim_end_matches('#') {
            named.push((id, &resource.value));
        }
    }
    let given = Given { source, here, resources };
    let sources = [schema].into_iter().chain(resources.iter().map(|(_, resource)| &resource.value));
    if metaschema::all_dialects_known(sources) {
        match build_with(Registry::new(), &named, &given, dialect) {
            // The reference may lead to a metaschema.
            Err((_, Lacks::Reference)) => {}
            built => return built.map_err(|(violation, _)| violation),
        }
    }
    // Adds the metaschemas only now, because they take long to read and few schemas refer to one.
    let metaschemas = SPECIFICATIONS.extend(std::iter::empty::<(&str, &Value)>());
    let metaschemas = metaschemas.map_err(|error| given.unresolved(&error, None))?;
    build_with(metaschemas, &named, &given, dialect).map_err(|(violation, _)| violation)
}

/// The missing part of an unusable schema.
enum Lacks {
    /// The target of a reference.
    Reference,
    Else,
}

/// Compiles the first of several schemas. They may refer to each other and to schemas already in the registry.
fn build_with<'s>(
    begun: RegistryBuilder<'s>,
    named: &[(&str, &'s Value)],
    given: &Given,
    dialect: Dialect,
) -> Result<Schemas, (Violation, Lacks)> {
    let registry = named.iter().try_fold(begun.draft(dialect.draft), |registry, (uri, resource)| {
        // Set explicitly: otherwise, the dialect of the enclosing schema would apply.
        match dialect.draft.detect(resource) {
            Draft::Unknown => registry.add(uri, *resource),
            draft => registry.add(uri, draft.create_resource_ref(resource)),
        }
    });
    let registry = registry.and_then(RegistryBuilder::prepare);
    let registry = registry.map_err(|error| (given.unresolved(&error, None), Lacks::Reference))?;
    let uris: Vec<&str> = named.iter().map(|(uri, _)| *uri).collect();
    compile(&registry, &uris, given.source, dialect).map_err(|unusable| {
        let lacks = if let Unusable::Reference { .. } = unusable { Lacks::Reference } else { Lacks::Else };
        (given.told(unusable, dialect.patterns), lacks)
    })
}

/// Returns the node that a JSON Pointer leads to in a definition.
fn position(definition: &Document, pointer: &str) -> NodeId {
    let mut steps = pointer.split('/').skip(1).map(unescaped);
    let found = steps.try_fold(Document::ROOT, |at, step| definition.member(at, &step));
    found.unwrap_or(NodeId::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_that_is_not_known_leads_to_the_nearest_draft() {
        let of = |uri: &str| {
            let told = nearest_dialect(uri)?;
            DIALECTS.into_iter().find(|(known, _)| told.contains(known)).map(|(_, draft)| draft)
        };
        for (uri, nearest) in [
            ("https://json-schema.org/v1", Some(Draft::Draft202012)),
            ("https://json-schema.org/v1/2026", Some(Draft::Draft202012)),
            ("https://json-schema.org/draft/next/schema", Some(Draft::Draft202012)),
            ("https://json-schema.org/draft/2020-12", Some(Draft::Draft202012)),
            ("https://spec.openapis.org/oas/3.1/dialect/base", Some(Draft::Draft202012)),
            ("https://json-schema.org/draft/2019-9/schema", Some(Draft::Draft201909)),
            ("http://json-schema.org/draft-07/hyper-schema#", Some(Draft::Draft7)),
            ("http://json-schema.org/draft-7/schema#", Some(Draft::Draft7)),
            ("http://json-schema.org/draft/06/schema", Some(Draft::Draft6)),
            ("http://json-schema.org/draft-05/schema#", Some(Draft::Draft4)),
            ("http://json-schema.org/draft-03/schema#", Some(Draft::Draft4)),
            ("http://json-schema.org/draft-03/schema", Some(Draft::Draft4)),
            ("http://jsonschema.org/draft-07/schema#", Some(Draft::Draft7)),
            ("https://example.com/own", None),
            ("", None),
            ("#", None),
        ] {
            assert_eq!(of(uri), nearest, "{uri}");
        }
    }
}
