//! What the schema's errors say, in the words of a report: one violation for each thing to change.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{Patterns, resolve};
use crate::{
    parse::{Document, NodeId},
    place::{Place, Step},
    text::{self, count, quote},
    violation::Violation,
};

/// Values of the schema are shown in messages up to this length.
const MAX_VALUE: usize = 160;

/// A violation before it is put in order.
pub(super) struct Explained {
    /// The node concerned.
    pub(super) at: NodeId,
    pub(super) schema_path: String,
    place: Place,
    keyword: String,
    expected: String,
    received: String,
    message: String,
}

impl Explained {
    /// A violation of the value at `at`; `received` is that value.
    pub(super) fn new(
        document: &Document,
        (at, place): (NodeId, Place),
        keyword: &str,
        schema_path: String,
        expected: String,
        message: String,
    ) -> Self {
        Explained {
            at,
            schema_path,
            place,
            keyword: keyword.to_owned(),
            // Cut here, not later: values can be large and violations many.
            received: text::cut(&document.shown(at), 256),
            expected: text::cut(&expected, 256),
            message,
        }
    }

    pub(super) fn received_mut(&mut self) -> &mut String {
        &mut self.received
    }

    pub(super) fn receiving(mut self, received: impl Into<String>) -> Self {
        self.received = received.into();
        self
    }

    /// For a document that is not valid and in which no error was found within the bound of the search.
    pub(super) fn unexplained(document: &Document) -> Self {
        Explained::new(
            document,
            (Document::ROOT, Place::root()),
            "schema",
            String::new(),
            "a document that matches the schema".to_owned(),
            "must match the schema; its alternatives branch too often to say where it does not".to_owned(),
        )
    }

    pub(super) fn into_violation(self, document: &Document) -> Violation {
        Violation::new(&self.place, &self.keyword, &self.expected, &self.received, &self.message)
            .spanning(document.span(self.at))
            .by(&self.schema_path)
    }
}

/// Append what an error says. `base` is the URI of the schema; keywords of other resources bear theirs.
pub(super) fn explain(document: &Document, error: &ValidationError, base: &str, out: &mut Vec<Explained>) {
    let schema_path = schema_path(error, base);
    let (at, place) = locate(document, error);
    let one = |keyword: &str, expected: String, message: String| {
        Explained::new(document, (at, place.clone()), keyword, schema_path.clone(), expected, message)
    };
    let size = |keyword: &str, bound: &str, limit: u64, noun: &str, is: usize| {
        let limit = count(limit as usize, noun);
        one(keyword, format!("{bound} {limit}"), format!("must have {bound} {limit}, has {is}"))
            .receiving(count(is, noun))
    };
    let bound = |keyword: &str, sign: &str, limit: &Value| {
        one(keyword, format!("{sign} {limit}"), format!("must be {sign} {limit}"))
    };
    let value = |value: &Value| text::cut(&value.to_string(), MAX_VALUE);
    let characters = || document.string(at).chars().count();
    let keyword = error.kind().keyword();

    let explained = match error.kind() {
        Kind::Type { kind } => {
            let types = match kind {
                TypeKind::Single(kind) => kind.as_str().to_owned(),
                TypeKind::Multiple(kinds) => {
                    let kinds: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
                    kinds.join(" or ")
                }
            };
            let is = document.kind(at).name();
            one(keyword, types.clone(), format!("must be {types}, not {is}")).receiving(is)
        }
        Kind::Required { property } => {
            // `dependentRequired` and draft 4's `dependencies` say the same.
            let name = property.as_str().unwrap_or_default();
            let keyword = schema_path.rsplit('/').next().unwrap_or(keyword);
            one(
                keyword,
                format!("member {}", quote(name, MAX_VALUE)),
                format!("must have member {}", quote(name, MAX_VALUE)),
            )
            .receiving("no such member")
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().map(String::as_str);
            out.extend(undeclared(document, (at, &place), keyword, &schema_path, names));
            return;
        }
        // Beside no other keyword for members, it is told as a schema that takes nothing.
        Kind::FalseSchema if schema_path.ends_with("/additionalProperties") && document.count(at) > 0 => {
            let names = document.members(at).map(|(name, _)| document.string(name));
            out.extend(undeclared(document, (at, &place), "additionalProperties", &schema_path, names));
            return;
        }
        Kind::AdditionalItems { limit } => size(keyword, "at most", *limit as u64, "item", document.count(at)),
        Kind::UnevaluatedItems { .. } => one(
            keyword,
            "no further items".to_owned(),
            "must not have items beyond those that the schema describes".to_owned(),
        ),
        Kind::Enum { options } => {
            let options = match &**options {
                Value::Array(options) => options.iter().map(value).collect::<Vec<_>>().join(", "),
                other => value(other),
            };
            let options = text::cut(&options, 2 * MAX_VALUE);
            one(keyword, format!("one of {options}"), format!("must be one of {options}"))
        }
        Kind::Constant { expected_value } => {
            let expected = value(expected_value);
            one(keyword, expected.clone(), format!("must be {expected}"))
        }
        Kind::Minimum { limit } => bound(keyword, ">=", limit),
        Kind::Maximum { limit } => bound(keyword, "<=", limit),
        Kind::ExclusiveMinimum { limit } => bound(keyword, ">", limit),
        Kind::ExclusiveMaximum { limit } => bound(keyword, "<", limit),
        Kind::MultipleOf { multiple_of } => {
            one(keyword, format!("a multiple of {multiple_of}"), format!("must be a multiple of {multiple_of}"))
        }
        Kind::MinLength { limit } => size(keyword, "at least", *limit, "character", characters()),
        Kind::MaxLength { limit } => size(keyword, "at most", *limit, "character", characters()),
        Kind::MinItems { limit } => size(keyword, "at least", *limit, "item", document.count(at)),
        Kind::MaxItems { limit } => size(keyword, "at most", *limit, "item", document.count(at)),
        Kind::MinProperties { limit } => size(keyword, "at least", *limit, "member", document.count(at)),
        Kind::MaxProperties { limit } => size(keyword, "at most", *limit, "member", document.count(at)),
        Kind::UniqueItems => {
            one(keyword, "items that all differ".to_owned(), "must not have the same item twice".to_owned())
        }
        Kind::Pattern { pattern } => {
            let pattern = quote(pattern, MAX_VALUE);
            one(keyword, format!("a match of {pattern}"), format!("must match the pattern {pattern}"))
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => one(
            keyword,
            "a match that can be decided".to_owned(),
            format!(
                "must match a pattern, and whether it does was not decided within {} steps",
                super::BACKTRACKING_STEPS
            ),
        ),
        Kind::Format { format } => one(keyword, format.clone(), format!("must match format '{format}'")),
        Kind::ContentEncoding { content_encoding } => {
            one(keyword, content_encoding.clone(), format!("must be text in the encoding '{content_encoding}'"))
        }
        Kind::ContentMediaType { content_media_type } => {
            one(keyword, content_media_type.clone(), format!("must be text of the media type '{content_media_type}'"))
        }
        Kind::FromUtf8 { .. } => one(keyword, "UTF-8".to_owned(), "must decode to UTF-8".to_owned()),
        Kind::Contains => {
            let keyword = match schema_path.rsplit('/').next() {
                Some(last @ ("minContains" | "maxContains")) => last,
                _ => keyword,
            };
            let (expected, message) = match keyword {
                "maxContains" => {
                    ("fewer items that match", "must have fewer items that match the schema of 'contains'")
                }
                "minContains" => ("more items that match", "must have more items that match the schema of 'contains'"),
                _ => ("an item that matches", "must have an item that matches the schema of 'contains'"),
            };
            one(keyword, expected.to_owned(), message.to_owned())
        }
        Kind::Not { schema } => {
            let schema = value(schema);
            one(keyword, format!("anything but {schema}"), format!("must not match the schema {schema}"))
        }
        Kind::FalseSchema => {
            one("false", "nothing".to_owned(), "must not be there: the schema allows no value here".to_owned())
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let quantity = match error.kind() {
                Kind::AnyOf { .. } => "at least one",
                _ => "exactly one",
            };
            let schemas = count(context.len(), "alternative");
            let mut message = format!("must match {quantity} of {schemas}, matches none");
            if let Some(nearest) = nearest(document, context, base) {
                message.push_str(&nearest);
            }
            one(keyword, format!("{quantity} of {schemas}"), message)
        }
        Kind::OneOfMultipleValid { context } => {
            let matching: Vec<String> = context
                .iter()
                .enumerate()
                .filter(|(_, errors)| errors.is_empty())
                .map(|(index, _)| index.to_string())
                .collect();
            let schemas = count(context.len(), "alternative");
            let mut message = format!("must match exactly one of {schemas}, matches several");
            if matching.len() > 1 {
                message.push_str(&format!(" (numbers {})", text::cut(&matching.join(", "), 64)));
            }
            one(keyword, format!("exactly one of {schemas}"), message)
        }
        Kind::PropertyNames { error: inner } => {
            let name = inner.instance().as_str().unwrap_or_default().to_owned();
            let member = document
                .members(at)
                .find(|&(member, _)| document.string(member) == name)
                .map_or(at, |(member, _)| member);
            let message = format!("must have another name: {}", inner.masked_with("the name"));
            out.push(
                Explained::new(
                    document,
                    (member, place.clone().name(&name)),
                    keyword,
                    schema_path.clone(),
                    "a member name that matches".to_owned(),
                    message,
                )
                .receiving(text::cut(&name, 256)),
            );
            return;
        }
        Kind::Custom { keyword, message } => one(keyword, String::new(), message.clone()),
        Kind::Referencing(error) => one(keyword, "a reference that leads somewhere".to_owned(), error.to_string()),
    };
    out.push(explained);
}

/// Members of an object that the schema does not declare.
fn undeclared<'n>(
    document: &Document,
    (at, place): (NodeId, &Place),
    keyword: &str,
    schema_path: &str,
    names: impl Iterator<Item = &'n str>,
) -> Vec<Explained> {
    names
        .map(|name| {
            let value = document.member(at, name).unwrap_or(at);
            let message = format!("must not be there: member {} is not declared", quote(name, 128));
            Explained::new(
                document,
                (value, place.clone().name(name)),
                keyword,
                schema_path.to_owned(),
                "no such member".to_owned(),
                message,
            )
        })
        .collect()
}

/// The alternative that comes nearest: the one with the fewest errors, and of those the one that got furthest into
/// the document.
fn nearest(document: &Document, context: &[Vec<ValidationError<'static>>], base: &str) -> Option<String> {
    let (index, errors) =
        context.iter().enumerate().filter(|(_, errors)| !errors.is_empty()).min_by_key(|(_, errors)| {
            let depth = errors.iter().map(|error| error.instance_path().iter().count()).max();
            // A value of another type altogether is further away than any number of wrong members.
            let other_type = errors
                .iter()
                .any(|error| matches!(error.kind(), Kind::Type { .. } | Kind::Constant { .. }) && depth == Some(0));
            (other_type, errors.len(), usize::MAX - depth.unwrap_or(0))
        })?;
    let mut explained = Vec::new();
    explain(document, errors.first()?, base, &mut explained);
    let first = explained.into_iter().next()?;
    let more = match errors.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let place = text::cut(&first.place.path(), 96);
    Some(format!("; the nearest is number {index}: {place} {}{more}", text::cut(&first.message, 200)))
}

/// The value an error concerns.
fn locate(document: &Document, error: &ValidationError) -> (NodeId, Place) {
    let path = error.instance_path();
    resolve(document, path.as_str().split('/').skip(1).map(unescape))
}

fn unescape(step: &str) -> std::borrow::Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// A pointer into the schema; a URI where the keyword stands in another resource.
fn schema_path(error: &ValidationError, base: &str) -> String {
    let pointer = error.schema_path().as_str();
    match error.absolute_keyword_location() {
        Some(uri) => {
            let uri = uri.as_str();
            match uri.split_once('#') {
                Some((resource, _)) if is_base(resource, base) => pointer.to_owned(),
                _ => uri.to_owned(),
            }
        }
        None => pointer.to_owned(),
    }
}

/// Whether an absolute URI is that of the schema itself. One that is relative was read against a base of no meaning.
fn is_base(resource: &str, base: &str) -> bool {
    resource == base
        || resource.strip_prefix(super::NO_ID).is_some_and(|path| path == base.trim_start_matches(['.', '/']))
}

/// Why a schema cannot be used, with its place in the schema.
pub(super) fn unusable(source: &str, error: &ValidationError, patterns: Patterns) -> Violation {
    let span = crate::parse::Span::new(0, source.len());
    let Ok(parsed) = crate::parse::parse(source, span, &crate::contract::CONTRACT_CAPS) else {
        return Violation::new(&Place::root(), "json", "a JSON value", "", "must be JSON");
    };
    let schema = &parsed.document;
    if let Kind::Referencing(error) = error.kind() {
        return unresolved(schema, error);
    }
    // The compiler's own errors say where in the schema they are with the schema's path, the metaschema's with the
    // path of the instance it looks at.
    let own = error.instance_path().is_empty() && !error.schema_path().is_empty();
    let path = if own { error.schema_path() } else { error.instance_path() };
    let (at, place) = resolve(schema, path.as_str().split('/').skip(1).map(unescape));
    if let Kind::Format { format } = error.kind()
        && format == "regex"
    {
        let (expected, message) = match patterns {
            Patterns::Linear => (
                "a regular expression that a linear-time engine takes",
                "must be a regular expression without look-around or back-references, and of bounded size; \
                 rewrite it, or set \"patterns\": \"backtracking\" in the contract",
            ),
            Patterns::Backtracking => {
                ("a regular expression", "must be a regular expression (ECMA-262) of bounded size")
            }
        };
        return match place.steps() {
            [.., Step::Name(keyword), Step::Name(pattern)] if keyword == "patternProperties" => {
                Violation::new(&place, keyword, expected, pattern, message)
            }
            _ => Violation::new(&place, "pattern", expected, &schema.shown(at), message),
        };
    }
    let mut explained = Vec::new();
    explain(schema, error, "", &mut explained);
    match explained.into_iter().next() {
        Some(mut first) => {
            if own {
                (first.at, first.place) = (at, place);
            }
            let mut violation = first.into_violation(schema);
            violation.span = None;
            violation
        }
        None => Violation::new(&place, "schema", "a schema", "", &error.to_string()),
    }
}

/// A reference that leads nowhere. Nothing is ever fetched, so it is one of the contract's own.
fn unresolved(schema: &Document, error: &jsonschema::ReferencingError) -> Violation {
    use jsonschema::ReferencingError as Error;
    let (target, message) = match error {
        Error::Unretrievable { uri, .. } => (
            uri.clone(),
            "must name a schema of this contract: it is not among 'resources', and nothing is ever fetched".to_owned(),
        ),
        Error::PointerToNowhere { pointer }
        | Error::InvalidPercentEncoding { pointer, .. }
        | Error::InvalidArrayIndex { pointer, .. } => (pointer.clone(), "must point to a place that exists".to_owned()),
        Error::NoSuchAnchor { anchor } | Error::InvalidAnchor { anchor } => {
            (anchor.clone(), "must name an anchor that exists".to_owned())
        }
        Error::UnknownSpecification { specification } => (
            specification.clone(),
            format!("must be a dialect that is known ({}) or one of 'resources'", super::dialects()),
        ),
        Error::CircularMetaschema { uri } => (uri.clone(), "must not be a dialect of itself".to_owned()),
        Error::InvalidUri(error) => (String::new(), format!("must be a URI reference: {error}")),
    };
    let reference = find_reference(schema, &target);
    let received = reference.map_or(target.as_str(), |at| schema.string(at));
    let place = reference.map(|at| schema.place(at)).unwrap_or_default();
    let keyword = match place.steps().last() {
        Some(Step::Name(name)) => name.clone(),
        _ => "$ref".to_owned(),
    };
    Violation::new(&place, &keyword, "a reference that leads to a schema of this contract", received, &message)
}

/// The first reference in a schema that ends as `target` does.
fn find_reference(schema: &Document, target: &str) -> Option<NodeId> {
    let ends = |reference: &str| {
        let reference = reference.trim_start_matches(['.', '/', '#']);
        !reference.is_empty() && target.trim_end_matches('#').ends_with(reference.trim_end_matches('#'))
    };
    let mut open = vec![Document::ROOT];
    while let Some(at) = open.pop() {
        for (name, value) in schema.members(at) {
            let is_reference = matches!(schema.string(name), "$ref" | "$dynamicRef" | "$recursiveRef" | "$schema");
            if is_reference && ends(schema.string(value)) {
                return Some(value);
            }
            open.push(value);
        }
        open.extend(schema.items(at));
    }
    None
}
