//! Document + compiled schema -> violations. The only user of `jsonschema`.

mod explain;
mod instance;
mod jtd;
mod metaschema;

use jsonschema::{Draft, PatternOptions, Registry, ValidationError, Validator};
use serde_json::Value;

use crate::{
    parse::{Document, Span},
    place::{Place, Step},
    screen::Screened,
    violation::{MAX_VIOLATIONS, Violation, Violations},
};
use explain::Explained;
use instance::{Arena, Probe, Tree, is_believed};

/// The search for errors may open containers this often, and further for each byte of the document …
const VISITS: u32 = 20_000;
const VISITS_PER_BYTE: u32 = 4;

/// … and make this many errors, those inside errors counted. A report lists 100. Errors are what costs: the worst
/// search that makes 5,000 takes all the fuel that a small document has.
const ERRORS: u32 = 1_000;

/// The engine for `pattern`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Patterns {
    #[default]
    Linear,
    Backtracking,
}

/// What one pattern may take when it is compiled: beyond, it is refused. Ten times this takes all the fuel of a call.
const PATTERN_BYTES: usize = 1024 * 1024;

/// Steps that one match of a backtracking pattern may take.
const BACKTRACKING_STEPS: usize = 1_000_000;

/// How a JSON Schema is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    pub(crate) draft: Draft,
    pub(crate) assert_formats: bool,
    pub(crate) patterns: Patterns,
}

/// The dialects by their URIs, a trailing `#` left out.
const DIALECTS: [(&str, Draft); 5] = [
    ("http://json-schema.org/draft-04/schema", Draft::Draft4),
    ("http://json-schema.org/draft-06/schema", Draft::Draft6),
    ("http://json-schema.org/draft-07/schema", Draft::Draft7),
    ("https://json-schema.org/draft/2019-09/schema", Draft::Draft201909),
    ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
];

/// The draft that a dialect's URI names.
pub(crate) fn draft(uri: &str) -> Option<Draft> {
    match Draft::from_schema_uri(uri) {
        Draft::Unknown => None,
        draft => Some(draft),
    }
}

/// The URIs of the dialects there are, for messages.
pub(crate) fn dialects() -> String {
    DIALECTS.map(|(uri, _)| uri).join(", ")
}

/// A compiled schema.
pub(crate) struct Checker {
    rules: Rules,
    /// The schema as JSON text: where keywords stand in it is the order of violations at one place.
    source: String,
    /// The schema's own URI, without a fragment.
    base: String,
}

enum Rules {
    JsonSchema(Box<Validator<Arena>>),
    Jtd(jtd::Schema),
}

impl Checker {
    /// Compile a JSON Schema. The violations of one that cannot be used have their places in a document with the
    /// members `schema` and `resources`, as a contract is.
    pub(crate) fn json_schema(
        source: String,
        resources: &[(String, Value)],
        dialect: Dialect,
    ) -> Result<Self, Vec<Violation>> {
        let here = || Place::root().name("schema");
        let schema = read(&source).map_err(|violation| vec![violation.under(&here())])?;
        let own = metaschema::violations(&source, &schema, dialect.draft);
        let mut wrong: Vec<Violation> = own.iter().flatten().cloned().map(|wrong| wrong.under(&here())).collect();
        for (uri, resource) in resources {
            let place = Place::root().name("resources").name(uri);
            let violations = metaschema::violations(&resource.to_string(), resource, dialect.draft);
            wrong.extend(violations.into_iter().flatten().map(|wrong| wrong.under(&place)));
        }
        wrong.truncate(MAX_VIOLATIONS);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let built = match own {
            Some(_) => build_by_reference(&schema, resources, dialect),
            None => build(&schema, resources, dialect),
        };
        match built {
            Ok(validator) => Ok(Checker {
                rules: Rules::JsonSchema(Box::new(validator)),
                base: id(&schema, dialect.draft).trim_end_matches('#').to_owned(),
                source,
            }),
            Err(error) => Err(vec![explain::unusable(&source, &error, dialect.patterns).under(&here())]),
        }
    }

    /// Compile a schema of our own, which is known to be one.
    pub(crate) fn trusted(source: &str, dialect: Dialect) -> Self {
        let built = read(source).map(|schema| (build_by_reference(&schema, &[], dialect), schema));
        match built {
            Ok((Ok(validator), schema)) => Checker {
                rules: Rules::JsonSchema(Box::new(validator)),
                base: id(&schema, dialect.draft).to_owned(),
                source: source.to_owned(),
            },
            Ok((Err(error), _)) => unreachable!("a schema of our own: {error}"),
            Err(violation) => unreachable!("a schema of our own: {}", violation.message),
        }
    }

    /// Compile a JSON Type Definition (RFC 8927).
    pub(crate) fn jtd(source: String) -> Result<Self, Violation> {
        let schema = jtd::Schema::compile(&source)?;
        Ok(Checker { rules: Rules::Jtd(schema), source, base: String::new() })
    }

    /// Make what is otherwise made when it is first needed, the caches of pattern engines above all.
    pub(crate) fn warm_up(&self) {
        if let Rules::JsonSchema(validator) = &self.rules {
            // Evaluating looks into every alternative, where asking for validity ends with the first that will do.
            drop(validator.evaluate(Probe::new(WARM_UP_VISITS).root()));
        }
    }

    pub(crate) fn is_valid(&self, screened: &Screened) -> bool {
        let document = screened.document();
        match &self.rules {
            Rules::JsonSchema(validator) => validator.is_valid(Tree::unbounded(document).root()),
            Rules::Jtd(schema) => schema.violations(document, 1).is_empty(),
        }
    }

    /// What is wrong with a document that is not valid, in document order, then in the order of the schema.
    pub(crate) fn violations(&self, screened: &Screened) -> Violations {
        let document = screened.document();
        let (mut explained, incomplete) = match &self.rules {
            Rules::JsonSchema(validator) => self.search(validator, document),
            Rules::Jtd(schema) => {
                let found = schema.violations(document, ERRORS as usize);
                let incomplete = found.len() >= ERRORS as usize;
                (found, incomplete)
            }
        };
        if explained.is_empty() {
            explained.push(Explained::unexplained(document));
        }
        explained.sort_by_key(|explained| explained.at);
        // Reading the schema is a long way to go for what is mostly not asked.
        if explained.windows(2).any(|pair| pair[0].at == pair[1].at) {
            let order = SchemaOrder::of(&self.source);
            explained.sort_by_cached_key(|explained| (explained.at, order.of_path(&explained.schema_path)));
        }
        let mut listed: Vec<Violation> =
            explained.into_iter().map(|explained| explained.into_violation(document)).collect();
        listed.dedup();
        let total = listed.len();
        listed.truncate(MAX_VIOLATIONS);
        Violations { listed, total, incomplete }
    }

    fn search(&self, validator: &Validator<Arena>, document: &Document) -> (Vec<Explained>, bool) {
        let bytes = document.source(Document::ROOT).len() as u32;
        let visits = VISITS.saturating_add(bytes.saturating_mul(VISITS_PER_BYTE));
        let tree = Tree::bounded(document, visits, ERRORS);
        let mut explained = Vec::new();
        for error in validator.iter_errors(tree.root()) {
            if is_believed(error.instance()) {
                explain::explain(document, &error, &self.base, &mut explained);
            }
        }
        (explained, tree.is_spent())
    }
}

/// How many containers a warm-up opens. It need not reach everything, and must not cost more than compiling did.
const WARM_UP_VISITS: u32 = 500;

fn read(source: &str) -> Result<Value, Violation> {
    serde_json::from_str(source)
        .map_err(|error| Violation::new(&Place::root(), "json", "a JSON value", &error.to_string(), "must be JSON"))
}

/// The URI of a schema that has none, and the base of relative ones.
const NO_ID: &str = "seamgate:///";

/// What `jsonschema` is given in place of a schema: a reference to it, in the dialect whose metaschema is the smallest.
const BY_REFERENCE: &str = "seamgate:reference";

/// Build a validator of a schema that is known to be one.
fn build_by_reference(
    schema: &Value,
    resources: &[(String, Value)],
    dialect: Dialect,
) -> Result<Validator<Arena>, ValidationError<'static>> {
    let id = id(schema, dialect.draft);
    let uri = if id.contains(':') { id.trim_end_matches('#') } else { NO_ID };
    let mut all: Vec<(&str, &Value)> = named(resources, dialect.draft);
    all.push((uri, schema));
    let reference = serde_json::json!({"$schema": DIALECTS[0].0, "id": BY_REFERENCE, "$ref": uri});
    // Metaschemas that it refers to are those of its own draft.
    let draft = dialect.draft.detect(schema);
    build_with(&reference, &all, Dialect { draft, ..dialect })
}

/// Build a validator of a schema that `jsonschema` is to look at first.
fn build(
    schema: &Value,
    resources: &[(String, Value)],
    dialect: Dialect,
) -> Result<Validator<Arena>, ValidationError<'static>> {
    build_with(schema, &named(resources, dialect.draft), dialect)
}

/// Resources by the URIs under which they come, and by their own absolute ones. Relative ones are read against the
/// URI they come under.
fn named(resources: &[(String, Value)], default: Draft) -> Vec<(&str, &Value)> {
    let mut named = Vec::new();
    for (uri, resource) in resources {
        named.push((uri.as_str(), resource));
        let id = id(resource, default).trim_end_matches('#');
        if id.contains(':') && id != uri.trim_end_matches('#') {
            named.push((id, resource));
        }
    }
    named
}

fn build_with(
    schema: &Value,
    resources: &[(&str, &Value)],
    dialect: Dialect,
) -> Result<Validator<Arena>, ValidationError<'static>> {
    let mut registry = Registry::new().draft(dialect.draft);
    for (uri, resource) in resources {
        // Told, or else the dialect of the schema around would be taken for its own.
        registry = match dialect.draft.detect(resource) {
            Draft::Unknown => registry.add(uri, *resource)?,
            draft => registry.add(uri, draft.create_resource_ref(resource))?,
        };
    }
    let registry = registry.prepare()?;
    let mut options = jsonschema::options_for::<Arena>()
        .offline()
        .with_registry(&registry)
        .should_validate_formats(dialect.assert_formats);
    if schema.get("$schema").is_none() {
        options = options.with_draft(dialect.draft);
    }
    match dialect.patterns {
        Patterns::Linear => {
            // No automaton that is made as it is needed: a fresh instance would make it anew for every output.
            let engine = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(0);
            options.with_pattern_options(engine).build(schema)
        }
        Patterns::Backtracking => {
            let engine = PatternOptions::fancy_regex().size_limit(PATTERN_BYTES).backtrack_limit(BACKTRACKING_STEPS);
            options.with_pattern_options(engine).build(schema)
        }
    }
}

/// A schema's URI: `$id`, or `id` as draft 4 has it; empty where it has none. `default` is the draft of a schema that
/// names none.
pub(crate) fn id(schema: &Value, default: Draft) -> &str {
    schema.get(default.detect(schema).id_keyword()).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a schema plainly takes no value at all.
pub(crate) fn is_never(schema: &Value) -> bool {
    let schemas = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let takes_all =
        |schema: &Value| *schema == Value::Bool(true) || schema.as_object().is_some_and(serde_json::Map::is_empty);
    *schema == Value::Bool(false)
        || schema.get("not").is_some_and(takes_all)
        || schemas("enum").is_some_and(Vec::is_empty)
        || schemas("allOf").is_some_and(|schemas| schemas.iter().any(is_never))
        || ["anyOf", "oneOf"].into_iter().filter_map(schemas).any(|schemas| schemas.iter().all(is_never))
}

/// Where the keywords of a schema stand in its text.
struct SchemaOrder<'s>(Option<Document<'s>>);

impl<'s> SchemaOrder<'s> {
    fn of(source: &'s str) -> Self {
        let span = Span::new(0, source.len());
        let parsed = crate::parse::parse(source, span, &crate::contract::CONTRACT_CAPS);
        SchemaOrder(parsed.ok().map(|parsed| parsed.document))
    }

    /// Keywords of other resources come after those of the schema.
    fn of_path(&self, schema_path: &str) -> (u32, String) {
        let found = self.0.as_ref().and_then(|schema| {
            let mut steps = schema_path.strip_prefix('/')?.split('/');
            steps.try_fold(Document::ROOT, |at, step| {
                let name = step.replace("~1", "/").replace("~0", "~");
                match name.parse() {
                    Ok(index) if schema.count(at) > 0 && schema.member(at, &name).is_none() => {
                        schema.items(at).nth(index)
                    }
                    _ => schema.member(at, &name),
                }
            })
        });
        match found {
            Some(at) => (at, String::new()),
            None if schema_path.is_empty() => (0, String::new()),
            None => (u32::MAX, schema_path.to_owned()),
        }
    }
}

/// A pointer's place in a document, its steps told apart by what they step into.
fn resolve<'p>(document: &Document, steps: impl Iterator<Item = std::borrow::Cow<'p, str>>) -> (u32, Place) {
    let mut at = Document::ROOT;
    let mut place = Place::root();
    for step in steps {
        let index = step.parse().ok();
        let item = index.and_then(|index| document.items(at).nth(index));
        let (next, step) = match (item, index) {
            (Some(item), Some(index)) => (Some(item), Step::Index(index)),
            _ => (document.member(at, &step), Step::Name(step.into_owned())),
        };
        let Some(next) = next else {
            break;
        };
        at = next;
        place.push(step);
    }
    (at, place)
}
