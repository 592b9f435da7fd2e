//! Document + compiled schema -> violations. The only user of `jsonschema`.

mod explain;
mod instance;
mod jtd;

use jsonschema::{Draft, Registry, ValidationError, Validator};
use serde_json::Value;

use crate::{
    parse::{Document, Span},
    place::{Place, Step},
    screen::Screened,
    violation::{MAX_VIOLATIONS, Violation, Violations},
};
use explain::Explained;
use instance::{Arena, Tree, is_believed};

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
    /// Compile a JSON Schema. The violation of a schema that cannot be used has its place in the schema.
    pub(crate) fn json_schema(
        source: String,
        resources: &[(String, Value)],
        dialect: Dialect,
    ) -> Result<Self, Violation> {
        let unread = |error: serde_json::Error| {
            Violation::new(&Place::root(), "json", "a JSON value", &error.to_string(), "must be JSON")
        };
        let schema: Value = serde_json::from_str(&source).map_err(unread)?;
        let base = id(&schema, dialect.draft).trim_end_matches('#').to_owned();
        let build = || -> Result<Validator<Arena>, ValidationError<'static>> {
            let mut registry = Registry::new().draft(dialect.draft);
            for (uri, resource) in resources {
                registry = registry.add(uri, resource)?;
                let id = id(resource, dialect.draft).trim_end_matches('#');
                // Their own absolute URI names them too; a relative one is read against the URI they come under.
                if id.contains(':') && id != uri.trim_end_matches('#') {
                    registry = registry.add(id, resource)?;
                }
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
                Patterns::Linear => options
                    .with_pattern_options(jsonschema::PatternOptions::regex())
                    .build(&schema),
                Patterns::Backtracking => options
                    .with_pattern_options(
                        jsonschema::PatternOptions::fancy_regex().backtrack_limit(BACKTRACKING_STEPS),
                    )
                    .build(&schema),
            }
        };
        match build() {
            Ok(validator) => Ok(Checker {
                rules: Rules::JsonSchema(Box::new(validator)),
                source,
                base,
            }),
            Err(error) => Err(explain::unusable(&source, &error, dialect.patterns)),
        }
    }

    /// Compile a JSON Type Definition (RFC 8927).
    pub(crate) fn jtd(source: String) -> Result<Self, Violation> {
        let schema = jtd::Schema::compile(&source)?;
        Ok(Checker {
            rules: Rules::Jtd(schema),
            source,
            base: String::new(),
        })
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
        let order = SchemaOrder::of(&self.source);
        explained.sort_by_cached_key(|explained| (explained.at, order.of_path(&explained.schema_path)));
        let mut listed: Vec<Violation> = explained
            .into_iter()
            .map(|explained| explained.into_violation(document))
            .collect();
        listed.dedup();
        let total = listed.len();
        listed.truncate(MAX_VIOLATIONS);
        Violations {
            listed,
            total,
            incomplete,
        }
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

/// A schema's URI: `$id`, or `id` as draft 4 has it; empty where it has none. `default` is the draft of a schema that
/// names none.
pub(crate) fn id(schema: &Value, default: Draft) -> &str {
    schema.get(default.detect(schema).id_keyword()).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a schema plainly takes no value at all.
pub(crate) fn is_never(schema: &Value) -> bool {
    let schemas = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let takes_all = |schema: &Value| *schema == Value::Bool(true) || schema.as_object().is_some_and(serde_json::Map::is_empty);
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
fn resolve<'p>(
    document: &Document,
    steps: impl Iterator<Item = std::borrow::Cow<'p, str>>,
) -> (u32, Place) {
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
