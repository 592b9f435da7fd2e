//! What works in a contract and is likely a mistake.

use serde_json::{Map, Value};

use crate::{
    check::remarks,
    place::{Place, Step},
    text::quote,
    types::Warning,
};

/// A contract gets this many warnings at the most.
const MAX_WARNINGS: usize = 200;

/// `source` is a contract that compiles.
pub(super) fn lint(source: &str) -> Vec<Warning> {
    let contract: Value = serde_json::from_str(source).unwrap_or_default();
    let mut linter = Linter {
        warnings: Vec::new(),
        linear: contract.get("patterns").and_then(Value::as_str) != Some("backtracking"),
    };
    if let Some(schema) = contract.get("schema") {
        let place = Place::root().name("schema");
        let missing = |keyword: &str| schema.get(keyword).is_none();
        if missing("$id") && missing("id") {
            linter.warn(
                &place,
                "no_id",
                "has no '$id': reports cannot name the schema, and no version can be read from it",
            );
        }
        linter.described(schema, &place);
        linter.schema(schema, &place);
    }
    if contract.get("description").is_none() {
        linter.warn(&Place::root(), "no_description", "has no 'description': say what the agent is for");
    }
    linter.warnings
}

/// Keywords of the drafts that are checked; others are passed over by validators, a slip of the pen included.
const KNOWN: &str = " $anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref \
    $schema $vocabulary additionalItems additionalProperties allOf anyOf const contains contentEncoding \
    contentMediaType contentSchema default definitions dependencies dependentRequired dependentSchemas deprecated \
    description else enum examples exclusiveMaximum exclusiveMinimum format id if items maxContains maxItems \
    maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not oneOf \
    pattern patternProperties prefixItems properties propertyNames readOnly required then title type \
    unevaluatedItems unevaluatedProperties uniqueItems writeOnly ";

/// Keywords whose value is a schema, a list of schemas, or schemas by name.
const SCHEMA: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const SCHEMAS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties", "dependencies"];

struct Linter {
    warnings: Vec<Warning>,
    /// Patterns run on the linear-time engine, so all of them are known to fit it.
    linear: bool,
}

impl Linter {
    fn warn(&mut self, place: &Place, code: &str, message: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Warning {
                path: place.path(),
                code: code.to_owned(),
                message: message.to_owned(),
                pointer: place.pointer(),
            });
        }
    }

    fn described(&mut self, schema: &Value, place: &Place) {
        for (keyword, code) in [("title", "no_title"), ("description", "no_description")] {
            if schema.is_object() && schema.get(keyword).is_none() {
                let message = format!("has no '{keyword}': it is what `describe` tells the agent");
                self.warn(place, code, &message);
            }
        }
    }

    fn schema(&mut self, schema: &Value, place: &Place) {
        let Value::Object(keywords) = schema else {
            return;
        };
        for keyword in keywords.keys() {
            if !KNOWN.contains(&format!(" {keyword} ")) && !keyword.starts_with("x-") {
                let message = format!(
                    "is a keyword that the validator ignores; if that is meant, name it {}",
                    quote(&format!("x-{keyword}"), 64)
                );
                self.warn(&place.clone().name(keyword), "ignored_keyword", &message);
            }
        }
        self.object(keywords, place);
        self.bounds(keywords, place);
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
            self.pattern(pattern, &place.clone().name("pattern"));
        }
        for name in keywords.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            self.pattern(name, &place.clone().name("patternProperties").name(name));
        }
        for (keyword, value) in keywords {
            let place = place.clone().name(keyword);
            if SCHEMA.contains(&keyword.as_str()) && !value.is_array() {
                self.schema(value, &place);
            } else if SCHEMAS.contains(&keyword.as_str()) {
                for (index, schema) in value.as_array().into_iter().flatten().enumerate() {
                    let mut place = place.clone();
                    place.push(Step::Index(index));
                    self.schema(schema, &place);
                }
            } else if NAMED.contains(&keyword.as_str()) {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    let place = place.clone().name(name);
                    if keyword == "properties"
                        && schema.is_object()
                        && schema.get("description").is_none()
                        && schema.get("$ref").is_none()
                    {
                        self.warn(
                            &place,
                            "no_description",
                            "has no 'description': it is what `describe` tells the agent",
                        );
                    }
                    self.schema(schema, &place);
                }
            }
        }
    }

    fn pattern(&mut self, pattern: &str, place: &Place) {
        let Some(remarks) = remarks(pattern) else {
            return;
        };
        if let Some(loose) = remarks.loose {
            self.warn(place, "loose_pattern", &loose);
        }
        if !self.linear && remarks.goes_back {
            self.warn(
                place,
                "backtracking_pattern",
                "is a pattern that no linear-time engine takes: a crafted text can use up its step limit",
            );
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, place: &Place) {
        let Some(properties) = keywords.get("properties").and_then(Value::as_object) else {
            return;
        };
        let closed =
            ["additionalProperties", "unevaluatedProperties"].iter().any(|keyword| keywords.contains_key(*keyword));
        if !closed {
            self.warn(place, "open_object", "takes members that are not declared; set \"additionalProperties\": false");
        }
        if !keywords.contains_key("required") && !properties.is_empty() {
            self.warn(place, "no_required", "has no 'required': every member may be left out");
        }
        for (name, schema) in properties {
            let bare = schema.as_object().is_some_and(|schema| {
                schema.get("type").and_then(Value::as_str) == Some("string")
                    && !["enum", "const", "pattern", "format"].iter().any(|keyword| schema.contains_key(*keyword))
            });
            let vocabulary = [
                "status", "severity", "priority", "category", "type", "kind", "level", "state", "action", "verdict",
                "outcome",
            ];
            if bare && vocabulary.contains(&name.to_ascii_lowercase().as_str()) {
                let place = place.clone().name("properties").name(name);
                self.warn(
                    &place,
                    "bare_vocabulary",
                    "looks like a vocabulary and takes any string; list its words in 'enum'",
                );
            }
        }
    }

    fn bounds(&mut self, keywords: &Map<String, Value>, place: &Place) {
        let is = |kind: &str| match keywords.get("type") {
            Some(Value::String(name)) => name == kind,
            Some(Value::Array(names)) => names.iter().any(|name| name == kind),
            _ => false,
        };
        let has = |names: &[&str]| names.iter().any(|name| keywords.contains_key(*name));
        if is("array") && !has(&["maxItems", "const", "enum"]) {
            self.warn(place, "unbounded_array", "is an array of any length; set 'maxItems'");
        }
        if is("string") && !has(&["maxLength", "const", "enum", "format", "pattern"]) {
            self.warn(place, "unbounded_string", "is a string of any length; set 'maxLength'");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(contract: &str) -> Vec<(String, String)> {
        lint(contract).into_iter().map(|warning| (warning.path, warning.code)).collect()
    }

    #[test]
    fn a_careful_contract_has_no_warnings() {
        let contract = r#"{"agent":"a","description":"d","schema":{"$id":"https://example.com/1.0.0","title":"t",
            "description":"d","type":"object","properties":{"n":{"type":"integer","description":"d"}},
            "required":["n"],"additionalProperties":false}}"#;
        assert_eq!(codes(contract), []);
    }

    #[test]
    fn each_likely_mistake_is_named_with_its_place() {
        let contract = r#"{"agent":"a","patterns":"backtracking","schema":{"type":"object","properties":{
            "status":{"type":"string"},"list":{"type":"array","items":{"pattern":"(?=a)"},"maximun":3}}}}"#;
        let expected = [
            ("$.schema", "no_id"),
            ("$.schema", "no_title"),
            ("$.schema", "no_description"),
            ("$.schema", "open_object"),
            ("$.schema", "no_required"),
            ("$.schema.properties.status", "bare_vocabulary"),
            ("$.schema.properties.list", "no_description"),
            ("$.schema.properties.list.maximun", "ignored_keyword"),
            ("$.schema.properties.list", "unbounded_array"),
            ("$.schema.properties.list.items.pattern", "backtracking_pattern"),
            ("$.schema.properties.status", "no_description"),
            ("$.schema.properties.status", "unbounded_string"),
            ("$", "no_description"),
        ];
        let expected = expected.map(|(path, code)| (path.to_owned(), code.to_owned()));
        assert_eq!(codes(contract), expected);
    }

    #[test]
    fn a_pattern_that_is_read_in_another_way_is_told_with_its_column() {
        let of = |pattern: &str| {
            let schema = serde_json::json!({"patternProperties": {pattern: true}});
            let contract = serde_json::json!({"agent": "a", "schema": schema}).to_string();
            lint(&contract).into_iter().find(|warning| warning.code == "loose_pattern").map(|warning| warning.message)
        };
        for (pattern, column, how) in [
            (r"a{ 2}", "column 2", "Annex B"),
            (r"é\<", "column 2", "Annex B"),
            (r"^\Aa\z$", "column 2", "Annex B"),
            (r"x(?i)a", "column 2", "other languages"),
        ] {
            let message = of(pattern).unwrap_or_default();
            assert!(message.contains(column) && message.contains(how), "{pattern}: {message:?}");
        }
        for pattern in [r"^\d+$", "(?:a|b){2}", r"\p{L}", "(?=a)"] {
            assert_eq!(of(pattern), None, "{pattern}");
        }
    }
}
