//! Warns about likely mistakes in a valid contract.

use referencing::Draft;
use serde_json::{Map, Value};

use crate::{
    check::{
        is_format,
        keywords::{self, Inside},
        meant_format, older, remarks,
    },
    location::{Location, Step},
    misspelling::nearest,
    path::ItemsPath,
    text::quote,
    types::Warning,
};

/// The most warnings about a contract.
const MAX_WARNINGS: usize = 200;

/// Checks `source`, a contract that compiles. `draft` applies to schemas that declare none.
pub(super) fn lint(source: &str, draft: Draft) -> Vec<Warning> {
    let contract: Value = serde_json::from_str(source).unwrap_or_default();
    let mut linter = Linter {
        warnings: Vec::new(),
        linear: contract.get("patterns").and_then(Value::as_str) != Some("backtracking"),
        formats: contract.get("formats").and_then(Value::as_str) != Some("annotate"),
    };
    let root = Location::root();
    if let Some(schema) = contract.get("schema") {
        let place = root.clone().name("schema");
        let missing = |keyword: &str| schema.get(keyword).is_none();
        if missing("$id") && missing("id") {
            linter.warn(
                &place,
                "no_id",
                "has no '$id': reports cannot name the schema, and no version can be read from it",
            );
        }
        linter.described(schema, &place);
        linter.schema(schema, &place, draft);
    }
    linter.without_effect(&contract);
    if let Some(definition) = contract.get("jtd") {
        linter.definition(definition, &root.clone().name("jtd"));
    }
    for (uri, resource) in contract.get("resources").and_then(Value::as_object).into_iter().flatten() {
        linter.schema(resource, &root.clone().name("resources").name(uri), draft);
    }
    if let Some(item) = contract.get("items").and_then(|items| items.get("schema")) {
        let place = root.clone().name("items").name("schema");
        match contract.get("jtd") {
            Some(_) => linter.definition(item, &place),
            None => linter.schema(item, &place, draft),
        }
    }
    if let Some(evidence) = contract.get("evidence") {
        linter.claims(evidence, contract.get("schema"));
    }
    if contract.get("description").is_none() {
        linter.warn(&root, "no_description", "has no 'description': say what the agent is for");
    }
    linter.warnings
}

/// Names of members whose value is usually one of a few words.
const VOCABULARIES: [&str; 11] =
    ["status", "severity", "priority", "category", "type", "kind", "level", "state", "action", "verdict", "outcome"];

/// Keywords of other formats that resemble a JSON Schema keyword but are not misspellings of it.
const OTHERS: [&str; 3] = ["example", "comment", "$comments"];

/// Pairs of a lower limit and the matching upper limit.
const LIMITS: [(&str, &str); 8] = [
    ("minimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
];

const NOT_DESCRIBED: &str = "has no 'description': it is what `describe` tells the agent";
const OPEN: &str = "takes members that are not declared; set \"additionalProperties\": false";
const BARE: &str = "looks like a vocabulary and takes any string; list its words in 'enum'";

struct Linter {
    warnings: Vec<Warning>,
    /// `true` if patterns run on the linear-time engine. All patterns of the contract are then known to compile for it.
    linear: bool,
    /// `true` if the contract asserts formats.
    formats: bool,
}

impl Linter {
    #[inline(never)]
    fn warn(&mut self, place: &Location, code: &str, message: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Warning::new(place, code, message));
        }
    }

    /// Warns about members that have no effect because every document is valid.
    fn without_effect(&mut self, contract: &Value) {
        let takes_all = |schema: Option<&Value>| match schema {
            Some(Value::Object(members)) => members.is_empty(),
            schema => schema == Some(&Value::Bool(true)),
        };
        let own = contract.get("items").and_then(|items| items.get("schema"));
        let is_valid = takes_all(contract.get("schema")) && (own.is_none() || takes_all(own));
        let asks = [("coerce", Value::from("lossless")), ("unwrap", Value::Bool(true))];
        for (name, _) in asks.iter().filter(|(name, asks)| is_valid && contract.get(*name) == Some(asks)) {
            let message = "changes nothing: the schema takes every value as it is";
            self.warn(&Location::root().name(name), "no_effect", message);
        }
    }

    /// Checks that the schema allows the members that claims are checked by, as far as the schema describes claims.
    fn claims(&mut self, evidence: &Value, schema: Option<&Value>) {
        let place = Location::root().name("evidence");
        let text = |name: &str| evidence.get(name).and_then(Value::as_str);
        if (text("quotes"), text("numbers")) == (Some("optional"), Some("ignore")) {
            let message = "takes any id for support; say \"quotes\": \"required\" or \"numbers\": \"cited\"";
            self.warn(&place, "loose_evidence", message);
        }
        let claims = text("claims").and_then(ItemsPath::read);
        let Some((root, claims)) = schema.zip(claims) else {
            return;
        };
        let resolved = |schema| resolved(root, schema);
        let array = claims.steps.iter().try_fold(root, |schema, step| match step {
            Step::Name(name) => resolved(schema)?.get("properties")?.get(name),
            Step::Index(_) => None,
        });
        let claim = array.and_then(resolved).and_then(|array| array.get("items")).and_then(resolved);
        let Some(claim) = claim else {
            return;
        };
        let declared = |name: &str| claim.get("properties").is_some_and(|members| members.get(name).is_some());
        let required = claim.get("required").and_then(Value::as_array);
        for (name, default) in [("text", "text"), ("cites", "evidence")] {
            let member = text(name).unwrap_or(default);
            if !required.is_some_and(|required| required.iter().any(|name| name == member)) {
                let message = format!("every claim must have {}; make it required in the schema", quote(member, 64));
                self.warn(&place, "claim_not_required", &message);
            }
        }
        let limitations = text("limitations").unwrap_or("limitations");
        if claim.get("additionalProperties") == Some(&Value::Bool(false)) && !declared(limitations) {
            let message = format!(
                "the schema lets no claim have {}: none can cite an observation that has limitations",
                quote(limitations, 64)
            );
            self.warn(&place, "no_limitations", &message);
        }
    }

    fn described(&mut self, schema: &Value, place: &Location) {
        for (keyword, code) in [("title", "no_title"), ("description", "no_description")] {
            if schema.is_object() && schema.get(keyword).is_none() {
                let message = format!("has no '{keyword}': it is what `describe` tells the agent");
                self.warn(place, code, &message);
            }
        }
    }

    fn schema(&mut self, schema: &Value, place: &Location, draft: Draft) {
        let Value::Object(members) = schema else {
            return;
        };
        let draft = draft.detect(schema);
        for keyword in members.keys() {
            // A custom dialect of the contract may have keywords of any draft.
            let is_known =
                keywords::named(keyword).is_some_and(|keyword| draft == Draft::Unknown || keyword.is_in(draft));
            if !is_known && !keyword.starts_with("x-") {
                self.unknown(keyword, members, place, draft);
            }
        }
        self.sense(members, place);
        self.object(members, place);
        self.bounds(members, place);
        if let Some(pattern) = members.get("pattern").and_then(Value::as_str) {
            self.pattern(pattern, &place.clone().name("pattern"));
        }
        if self.formats
            && let Some(name) = members.get("format").and_then(Value::as_str)
        {
            self.format(name, members, place, draft);
        }
        for name in members.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            self.pattern(name, &place.clone().name("patternProperties").name(name));
        }
        for (name, value) in members {
            let place = place.clone().name(name);
            match (keywords::named(name).map_or(Inside::Nothing, |keyword| keyword.inside), value) {
                (Inside::List | Inside::SchemaOrList, Value::Array(schemas)) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        let mut place = place.clone();
                        place.push(Step::Index(index));
                        self.schema(schema, &place, draft);
                    }
                }
                (Inside::Named, Value::Object(schemas)) => {
                    for (member, schema) in schemas {
                        let place = place.clone().name(member);
                        if name == "properties"
                            && schema.is_object()
                            && schema.get("description").is_none()
                            && schema.get("$ref").is_none()
                        {
                            self.warn(&place, "no_description", NOT_DESCRIBED);
                        }
                        self.schema(schema, &place, draft);
                    }
                }
                (Inside::Schema | Inside::SchemaOrList, schema) => self.schema(schema, &place, draft),
                _ => {}
            }
        }
    }

    /// Checks a JSON Type Definition (RFC 8927).
    fn definition(&mut self, definition: &Value, place: &Location) {
        let Value::Object(members) = definition else {
            return;
        };
        if members.get("additionalProperties") == Some(&Value::Bool(true)) {
            self.warn(place, "open_object", OPEN);
        }
        if members.contains_key("optionalProperties") && !members.contains_key("properties") {
            self.warn(place, "no_required", "has no 'properties': every member may be left out");
        }
        for (keyword, value) in members {
            let place = place.clone().name(keyword);
            let is_member = matches!(keyword.as_str(), "properties" | "optionalProperties");
            match (keyword.as_str(), value) {
                ("elements" | "values", form) => self.definition(form, &place),
                ("definitions" | "mapping" | "properties" | "optionalProperties", Value::Object(forms)) => {
                    for (name, form) in forms {
                        let place = place.clone().name(name);
                        if is_member {
                            self.member(name, form, &place);
                        }
                        self.definition(form, &place);
                    }
                }
                _ => {}
            }
        }
    }

    /// Checks a member of a JSON Type Definition.
    fn member(&mut self, name: &str, form: &Value, place: &Location) {
        if form.get("ref").is_none() && form.get("metadata").and_then(|about| about.get("description")).is_none() {
            let message = "has no 'description' in its 'metadata': it is what `describe` tells the agent";
            self.warn(place, "no_description", message);
        }
        if form.get("type").and_then(Value::as_str) == Some("string") && is_vocabulary(name) {
            self.warn(place, "bare_vocabulary", BARE);
        }
    }

    fn pattern(&mut self, pattern: &str, place: &Location) {
        let Some(remarks) = remarks(pattern) else {
            return;
        };
        if let Some(loose) = remarks.loose {
            self.warn(place, "loose_pattern", &loose);
        }
        if !self.linear && remarks.goes_back {
            self.warn(place, "backtracking_pattern", "needs backtracking: a crafted text can use up the step limit");
        }
    }

    /// Warns about a format that is not checked.
    fn format(&mut self, name: &str, members: &Map<String, Value>, place: &Location, draft: Draft) {
        let place = place.clone().name("format");
        let takes_text = |types| takes_kind(types, &Value::String(String::new()));
        let is_hidden = draft != Draft::Unknown && draft <= Draft::Draft7 && members.contains_key("$ref");
        if !is_format(name) {
            let message = format!("is {}, which is not a known format: nothing is held to it", quote(name, 64));
            match meant_format(name) {
                Some(meant) => {
                    let message = format!("{message}; did you mean {}?", quote(meant, 64));
                    self.warn(&place, "misspelled_format", &message);
                }
                None => self.warn(&place, "ignored_format", &message),
            }
        } else if is_hidden {
            let message = "has no effect: up to draft 7, keywords beside '$ref' are ignored";
            self.warn(&place, "ignored_format", message);
        } else if !members.get("type").is_none_or(takes_text) {
            self.warn(&place, "ignored_format", "has no effect: it is a format of texts, and 'type' takes none");
        }
    }

    /// Warns about a keyword that the draft does not have.
    fn unknown(&mut self, keyword: &str, members: &Map<String, Value>, place: &Location, draft: Draft) {
        let place = place.clone().name(keyword);
        let known = keywords::names(draft).filter(|name| !members.contains_key(*name));
        let is_own = keywords::named(keyword).is_some() || OTHERS.contains(&keyword);
        match nearest(keyword, known).filter(|_| !is_own) {
            Some(meant) => {
                let message =
                    format!("is not a keyword, and nothing is held to it; did you mean {}?", quote(meant, 64));
                self.warn(&place, "misspelled_keyword", &message);
            }
            None => {
                let own = || format!("if that is meant, name it {}", quote(&format!("x-{keyword}"), 64));
                let instead = older::keyword(keyword).map_or_else(own, str::to_owned);
                let message = format!("is a keyword that the validator ignores; {instead}");
                self.warn(&place, "ignored_keyword", &message);
            }
        }
    }

    /// Warns about rules that no value can satisfy, or no value of the expected kind.
    fn sense(&mut self, keywords: &Map<String, Value>, place: &Location) {
        for (least, most) in LIMITS {
            let number = |name: &str| keywords.get(name).and_then(Value::as_f64);
            let (Some(low), Some(high)) = (number(least), number(most)) else { continue };
            let is_strict = least.starts_with("excl") || most.starts_with("excl");
            if low > high || is_strict && low >= high {
                let message = format!("is {high}, and '{least}' is {low}: no value is between them");
                self.warn(&place.clone().name(most), "contradicting_limits", &message);
            }
        }
        let required: Vec<&str> = keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if let Some(most) =
            keywords.get("maxProperties").and_then(Value::as_f64).filter(|most| *most < required.len() as f64)
        {
            let message = format!("is {most}, and {} members are required: no object has both", required.len());
            self.warn(&place.clone().name("maxProperties"), "contradicting_limits", &message);
        }
        let declared = keywords.get("properties").and_then(Value::as_object);
        let never = |value: Option<&Value>| value == Some(&Value::Bool(false));
        let closed = never(keywords.get("additionalProperties")) && !keywords.contains_key("patternProperties");
        for (index, name) in required.iter().enumerate() {
            let rule = declared.and_then(|declared| declared.get(*name));
            if never(rule) || closed && rule.is_none() {
                let near = declared.and_then(|declared| nearest(name, declared.keys().map(String::as_str)));
                let meant = near.map_or(String::new(), |near| format!("; did you mean {}?", quote(near, 64)));
                let message =
                    format!("requires member {}, which the schema forbids: no object is valid{meant}", quote(name, 64));
                let mut place = place.clone().name("required");
                place.push(Step::Index(index));
                self.warn(&place, "required_and_forbidden", &message);
            }
        }
        let types = keywords.get("type");
        for name in ["enum", "anyOf", "oneOf"] {
            let alternatives = keywords.get(name).and_then(Value::as_array);
            for (index, alternative) in alternatives.into_iter().flatten().enumerate() {
                let twice = || alternatives.into_iter().flatten().filter(|other| *other == alternative).count() > 1;
                let why = match name {
                    "enum" if types.is_some_and(|types| !takes_kind(types, alternative)) => "'type' does not take it",
                    "oneOf" if twice() => "it stands here twice, and 'oneOf' takes what matches once",
                    "anyOf" | "oneOf" if alternative == &Value::Bool(false) => "it takes nothing",
                    "anyOf" | "oneOf" if is_other_kind(types, alternative.get("type")) => {
                        "'type' beside it takes no value of its kind"
                    }
                    _ => continue,
                };
                let mut place = place.clone().name(name);
                place.push(Step::Index(index));
                self.warn(&place, "never_matches", &format!("can never match: {why}"));
            }
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, place: &Location) {
        let Some(properties) = keywords.get("properties").and_then(Value::as_object) else {
            return;
        };
        let closed =
            ["additionalProperties", "unevaluatedProperties"].iter().any(|keyword| keywords.contains_key(*keyword));
        if !closed {
            self.warn(place, "open_object", OPEN);
        }
        if !keywords.contains_key("required") && !properties.is_empty() {
            self.warn(place, "no_required", "has no 'required': every member may be left out");
        }
        for (name, schema) in properties {
            let bare = schema.as_object().is_some_and(|schema| {
                schema.get("type").and_then(Value::as_str) == Some("string")
                    && !["enum", "const", "pattern", "format"].iter().any(|keyword| schema.contains_key(*keyword))
            });
            if bare && is_vocabulary(name) {
                let place = place.clone().name("properties").name(name);
                self.warn(&place, "bare_vocabulary", BARE);
            }
        }
    }

    fn bounds(&mut self, keywords: &Map<String, Value>, place: &Location) {
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

/// Resolves a reference into the same schema.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    target.map_or(Some(schema), |pointer| root.pointer(pointer))
}

/// Returns whether `type` accepts the kind of a value.
fn takes_kind(types: &Value, value: &Value) -> bool {
    let takes = |name: &Value| match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => value.is_number(),
    };
    types.as_array().map_or_else(|| takes(types), |types| types.iter().any(takes))
}

/// Returns whether two values of `type` have no kind in common.
fn is_other_kind(one: Option<&Value>, other: Option<&Value>) -> bool {
    let names = |types: &Value| -> Vec<String> {
        let list = types.as_array().cloned().unwrap_or_else(|| vec![types.clone()]);
        // An integer is also a number.
        list.iter().filter_map(Value::as_str).map(|name| name.replace("integer", "number")).collect()
    };
    match (one.map(names), other.map(names)) {
        (Some(one), Some(other)) => !one.iter().any(|name| other.contains(name)),
        _ => false,
    }
}

fn is_vocabulary(name: &str) -> bool {
    VOCABULARIES.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(contract: &str) -> Vec<(String, String)> {
        lint(contract, Draft::Draft202012).into_iter().map(|warning| (warning.path, warning.code)).collect()
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
            ("$.schema.properties.list.maximun", "misspelled_keyword"),
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
    fn claims_that_need_not_or_cannot_say_what_they_are_held_to_are_named() {
        let contract = |evidence: &str, claim: &str| {
            let claims = format!(r##"{{"$ref":"#/$defs/list"}},"x":{{}}}},"$defs":{{"list":{{"items":{claim}}}}}"##);
            let schema = format!(r#"{{"properties":{{"claims":{claims}}}"#);
            format!(r#"{{"agent":"a","schema":{schema},"evidence":{{"claims":"$.claims[*]"{evidence}}}}}"#)
        };
        let of = |evidence: &str, claim: &str| -> Vec<String> {
            let all = codes(&contract(evidence, claim));
            all.into_iter().filter(|(path, _)| path == "$.evidence").map(|(_, code)| code).collect()
        };
        let whole = r#"{"required":["text","evidence"]}"#;
        assert_eq!(of("", whole), [""; 0]);
        assert_eq!(of(r#","cites":"by""#, whole), ["claim_not_required"]);
        assert_eq!(of(r#","quotes":"optional","numbers":"ignore""#, whole), ["loose_evidence"]);
        let closed = whole.replace('}', r#","additionalProperties":false}"#);
        assert_eq!(of("", &closed), ["no_limitations"]);
        assert_eq!(of(r#","limitations":"but""#, &closed.replace('}', r#","properties":{"but":{}}}"#)), [""; 0]);
    }

    #[test]
    fn a_pattern_that_is_read_in_another_way_is_told_with_its_column() {
        let of = |pattern: &str| {
            let schema = serde_json::json!({"patternProperties": {pattern: true}});
            let contract = serde_json::json!({"agent": "a", "schema": schema}).to_string();
            lint(&contract, Draft::Draft202012)
                .into_iter()
                .find(|warning| warning.code == "loose_pattern")
                .map(|warning| warning.message)
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

    #[test]
    fn a_format_that_nothing_is_held_to_is_named() {
        let of = |draft: Draft, policy: &str, schema: &str| -> Vec<(String, String)> {
            let contract = format!(r#"{{"agent":"a"{policy},"schema":{{"properties":{{"a":{schema}}}}}}}"#);
            let warnings = lint(&contract, draft).into_iter().filter(|warning| warning.code.ends_with("_format"));
            warnings.map(|warning| (warning.code, warning.message)).collect()
        };
        let draft = Draft::Draft202012;
        for (format, meant) in [("url", "\"uri\""), ("datetime", "\"date-time\""), ("ip-address", "\"ipv4\"")] {
            let told = of(draft, "", &format!(r#"{{"type":"string","format":"{format}"}}"#));
            assert!(matches!(&told[..], [(code, message)] if code == "misspelled_format" && message.contains(meant)));
        }
        for schema in [
            r#"{"type":"integer","format":"int32"}"#,
            r#"{"type":"string","format":"password"}"#,
            r#"{"type":["integer","null"],"format":"date-time"}"#,
        ] {
            assert!(matches!(&of(draft, "", schema)[..], [(code, _)] if code == "ignored_format"), "{schema}");
        }
        for schema in [r#"{"format":"uri"}"#, r#"{"type":["string","null"],"format":"uuid"}"#, r#"{"format":1}"#] {
            assert_eq!(of(Draft::Draft4, "", schema), [], "{schema}");
        }
        let beside = r##"{"$ref":"#","format":"date"}"##;
        assert_eq!(of(Draft::Draft7, "", beside)[0].0, "ignored_format");
        assert_eq!(of(draft, "", beside), []);
        assert_eq!(of(draft, r#","formats":"annotate""#, r#"{"format":"url"}"#), []);
    }

    fn listed(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect()
    }

    #[test]
    fn a_keyword_that_the_draft_does_not_have_is_ignored() {
        let codes = |uri: &str, schema: &str| {
            let schema = format!("{{\"$schema\":\"{uri}\",\"$id\":\"a\",\"id\":\"a\",{schema}}}");
            let codes = codes(&format!("{{\"agent\":\"a\",\"schema\":{schema}}}"));
            codes.into_iter().filter(|(_, code)| code == "ignored_keyword").collect::<Vec<_>>()
        };
        let new = r#""prefixItems":[],"then":{},"dependentRequired":{},"$defs":{},"x-y":1"#;
        let at = |name: &str| (format!("$.schema.{name}"), "ignored_keyword".to_owned());
        let draft_4 = ["$id", "dependentRequired", "prefixItems", "then"].map(at);
        let draft_4 = draft_4.map(|(path, code)| (path.replace("$.schema.$id", "$.schema['$id']"), code));
        assert_eq!(codes("http://json-schema.org/draft-04/schema#", new), draft_4);
        assert_eq!(
            codes("http://json-schema.org/draft-07/schema#", new),
            ["dependentRequired", "id", "prefixItems"].map(at)
        );
        assert_eq!(codes("https://json-schema.org/draft/2020-12/schema", new), [at("id")]);
        assert_eq!(codes("https://example.com/own", new), []);
    }

    #[test]
    fn resources_and_the_schema_of_items_are_read_too() {
        let contract = r#"{"agent":"a","description":"d","schema":true,"resources":{"b":{"type":"string"}},
            "items":{"path":"$[*]","schema":{"properties":{"a":{"$ref":"b"}}}}}"#;
        let expected = [
            ("$.schema", "no_id"),
            ("$.resources.b", "unbounded_string"),
            ("$.items.schema", "open_object"),
            ("$.items.schema", "no_required"),
        ];
        assert_eq!(codes(contract), listed(&expected));
    }

    #[test]
    fn definitions_have_warnings_of_their_own() {
        let contract = r#"{"agent":"a","description":"d","jtd":{"definitions":{"d":{"optionalProperties":{"n":{"ref":"d"}}}},
            "properties":{"status":{"type":"string"},"a":{"metadata":{"description":"d"},"elements":{"ref":"d"}}},
            "additionalProperties":true}}"#;
        let expected = [
            ("$.jtd", "open_object"),
            ("$.jtd.definitions.d", "no_required"),
            ("$.jtd.properties.status", "no_description"),
            ("$.jtd.properties.status", "bare_vocabulary"),
        ];
        assert_eq!(codes(contract), listed(&expected));
    }
}
