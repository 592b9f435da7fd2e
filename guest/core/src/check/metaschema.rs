//! Validates a schema against the metaschema of its draft, or against the metaschema that its contract provides.

use std::sync::OnceLock;

use referencing::Draft;
use serde_json::Value;

use super::{Checker, Dialect, Patterns, Resource, SchemaSource, draft, older};
use crate::{
    caps::CONTRACT_CAPS,
    caps_check::check_caps,
    location::Location,
    parse::{Span, parse},
    types::Violation,
};

/// The metaschemas of 2019-09 and 2020-12. The vocabularies of each are combined into one schema.
const DRAFT_2019_09: &str = include_str!("metaschema/draft-2019-09.json");
const DRAFT_2020_12: &str = include_str!("metaschema/draft-2020-12.json");

/// Returns the violations of a schema under its metaschema, with locations in the schema.
///
/// Returns no violations if nested schemas have another dialect than the enclosing schema, because no single metaschema
/// fits all of it. The compiler then finds the invalid keywords.
pub(super) fn violations(source: &SchemaSource, resources: &[Resource], dialect: Dialect) -> Vec<Violation> {
    let mut drafts = Vec::new();
    collect(&source.value, &mut drafts);
    let own;
    let metaschema = match source.value.get("$schema").and_then(Value::as_str) {
        Some(uri) if draft(uri).is_none() => match described(uri, resources, dialect) {
            Some(Ok(checker)) => {
                own = checker;
                Some(&own)
            }
            // Errors in the metaschema are reported for the metaschema itself.
            Some(Err(_)) | None => None,
        },
        named => {
            let root = named.and_then(draft).unwrap_or(dialect.draft);
            metaschema(root).filter(|_| drafts.iter().all(|draft| *draft == Some(root)))
        }
    };
    match metaschema {
        Some(metaschema) if !metaschema.inspector(None, source.document).is_valid(0, source.at) => {
            explained(metaschema, &source.text())
        }
        _ => Vec::new(),
    }
}

/// Returns the violations of a schema under its metaschema, with locations in the schema's text.
fn explained(metaschema: &Checker, text: &str) -> Vec<Violation> {
    // Parsing cannot fail, because the text was already parsed as part of its contract.
    let caps_check = parse(text, Span::new(0, text.len()), &CONTRACT_CAPS).ok().map(check_caps);
    let within_caps = caps_check.as_ref().and_then(|caps_check| caps_check.passed());
    let mut violations = within_caps.map_or(Vec::new(), |within_caps| metaschema.violations(within_caps).listed);
    for violation in &mut violations {
        violation.span = None;
        let keyword = violation.pointer.rsplit('/').next().unwrap_or_default();
        if let Some(instead) = older::value(keyword, &violation.received) {
            let message = violation.message.split("; ").next().unwrap_or_default();
            violation.message = [message, "; ", instead].concat();
        }
    }
    violations
}

/// Returns the metaschema that a contract provides for a custom dialect.
fn described(uri: &str, resources: &[Resource], dialect: Dialect) -> Option<Result<Checker, Violation>> {
    let uri = uri.trim_end_matches('#');
    let is = |name: &str| name.trim_end_matches('#') == uri;
    let (_, resource) = resources.iter().find(|(name, resource)| is(name) || is(resource.id(dialect.draft)))?;
    Some(Checker::trusted(resource, &Location::root(), resources, dialect))
}

/// Collects the dialects that any nested schema declares.
fn collect(schema: &Value, drafts: &mut Vec<Option<Draft>>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(uri)) = members.get("$schema") {
                drafts.push(draft(uri));
            }
            members.values().for_each(|value| collect(value, drafts));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, drafts)),
        _ => {}
    }
}

/// Returns whether all declared dialects are known, so that none needs a metaschema from the contract.
pub(super) fn all_dialects_known<'v>(schemas: impl Iterator<Item = &'v Value>) -> bool {
    let mut drafts = Vec::new();
    schemas.for_each(|schema| collect(schema, &mut drafts));
    drafts.iter().all(Option::is_some)
}

/// Returns the validator for a draft's schemas, compiled once.
fn metaschema(draft: Draft) -> Option<&'static Checker> {
    static METASCHEMAS: [OnceLock<Checker>; 5] = [const { OnceLock::new() }; 5];
    // The metaschemas of earlier drafts are already single schemas.
    let (index, source) = match draft {
        Draft::Draft4 => (0, r#"{"$ref":"http://json-schema.org/draft-04/schema"}"#),
        Draft::Draft6 => (1, r#"{"$ref":"http://json-schema.org/draft-06/schema"}"#),
        Draft::Draft7 => (2, r#"{"$ref":"http://json-schema.org/draft-07/schema"}"#),
        Draft::Draft201909 => (3, DRAFT_2019_09),
        Draft::Draft202012 => (4, DRAFT_2020_12),
        _ => return None,
    };
    let checker = METASCHEMAS[index]
        .get_or_init(|| Checker::own(source, Dialect { draft, assert_formats: false, patterns: Patterns::Linear }));
    Some(checker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Document;

    #[test]
    fn the_metaschemas_compile_and_take_themselves() {
        for (draft, source) in [(Draft::Draft201909, DRAFT_2019_09), (Draft::Draft202012, DRAFT_2020_12)] {
            let source = source.replace("https://json-schema.org/draft/2020-12/schema", draft_uri(draft));
            assert_eq!(wrong(&source, draft), Vec::new(), "{draft:?}");
        }
    }

    fn wrong(source: &str, draft: Draft) -> Vec<Violation> {
        let parsed = parse(source, Span::new(0, source.len()), &CONTRACT_CAPS).expect("JSON");
        let dialect = Dialect { draft, assert_formats: false, patterns: Patterns::Linear };
        violations(&SchemaSource::new(&parsed.document, Document::ROOT), &[], dialect)
    }

    fn draft_uri(draft: Draft) -> &'static str {
        super::super::DIALECTS.iter().find(|(_, known)| *known == draft).expect("known").0
    }

    /// Compares the verdicts with those of `jsonschema` under the original metaschemas, on schemas with one error each.
    #[test]
    fn schemas_are_refused_as_their_metaschemas_refuse_them() {
        let values = [
            "1",
            "-1",
            "1.5",
            "\"x\"",
            "true",
            "{}",
            "[]",
            "[\"x\"]",
            "[1]",
            "[\"x\",\"x\"]",
            "[{}]",
            "null",
            "{\"a\":1}",
            "{\"a\":{}}",
            "{\"a\":[\"b\"]}",
            "\"string\"",
            "[\"string\"]",
        ];
        let keywords: Value = serde_json::from_str(DRAFT_2019_09).expect("JSON");
        let more: Value = serde_json::from_str(DRAFT_2020_12).expect("JSON");
        let names = keywords["properties"]
            .as_object()
            .into_iter()
            .chain(more["properties"].as_object())
            .flat_map(|names| names.keys());
        for name in names {
            for value in values {
                // A different check resolves references and identifiers.
                if name.starts_with('$') && name != "$defs" && name != "$comment" {
                    continue;
                }
                let source = format!("{{\"{name}\":{value}}}");
                let schema: Value = serde_json::from_str(&source).expect("JSON");
                for (_, draft) in super::super::DIALECTS {
                    let uri = draft_uri(draft);
                    let mut named = schema.clone();
                    named["$schema"] = uri.into();
                    let expected = jsonschema::meta::is_valid(&named);
                    let is = wrong(&source, draft).is_empty();
                    // The compiler checks formats when it compiles patterns and references.
                    let format = matches!(name.as_str(), "pattern" | "patternProperties");
                    assert!(is == expected || format, "{draft:?} {source}: {is}, not {expected}");
                }
            }
        }
    }
}
