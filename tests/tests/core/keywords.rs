//! Each keyword of each dialect has a case that demonstrates it. Each violation of each case can be corrected by a
//! person who reads only its message.
//!
//! `cargo test --release -p seamgate-tests --test core -- keywords --nocapture` prints a message for each keyword.

use std::fs;

use anyhow::{Context, Result, ensure};
use seamgate_core::is_hidden;
use seamgate_tests::{Case, cases};
use serde_json::{Value, json};

/// The keywords of a dialect. For an older dialect, only the keywords that the next dialect does not share.
struct Dialect {
    name: &'static str,
    /// Keywords that violations name. `false` stands for the schema `false`.
    broken: &'static str,
    /// The values of keywords that mean something else with each value.
    values: &'static [(&'static str, &'static str)],
    /// Keywords that determine where or whether other keywords apply. Without them, the verdict is different.
    leading: &'static str,
    /// Keywords that never change the verdict.
    silent: &'static str,
}

/// Formats that each dialect asserts.
const FORMATS: (&str, &str) = (
    "format",
    "date date-time duration email hostname idn-email idn-hostname ipv4 ipv6 iri iri-reference json-pointer regex \
     relative-json-pointer time uri uri-reference uri-template uuid",
);

const DIALECTS: [Dialect; 6] = [
    Dialect {
        name: "https://json-schema.org/draft/2020-12/schema",
        broken: "false additionalProperties anyOf const contains dependentRequired enum exclusiveMaximum exclusiveMinimum \
                 format maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties \
                 minimum multipleOf not oneOf pattern patternProperties propertyNames required type unevaluatedItems \
                 unevaluatedProperties uniqueItems",
        values: &[("type", "null boolean integer number string array object"), FORMATS],
        leading: "$anchor $defs $dynamicAnchor $dynamicRef $id $ref $schema $vocabulary additionalProperties allOf contains \
                  dependentSchemas else if items patternProperties prefixItems properties propertyNames then \
                  unevaluatedItems unevaluatedProperties",
        silent: "$comment contentEncoding contentMediaType contentSchema default deprecated description examples readOnly \
                 title writeOnly",
    },
    Dialect {
        name: "https://json-schema.org/draft/2019-09/schema",
        broken: "additionalItems dependentRequired maxContains minContains unevaluatedItems unevaluatedProperties",
        values: &[FORMATS],
        leading: "$recursiveAnchor $recursiveRef additionalItems dependentSchemas items",
        silent: "",
    },
    Dialect {
        name: "http://json-schema.org/draft-07/schema",
        broken: "additionalItems contentEncoding contentMediaType",
        values: &[FORMATS],
        leading: "dependencies else if items then",
        silent: "dependentRequired dependentSchemas minContains unevaluatedItems unevaluatedProperties",
    },
    Dialect {
        name: "http://json-schema.org/draft-06/schema",
        broken: "const contains dependencies exclusiveMaximum exclusiveMinimum propertyNames",
        values: &[FORMATS],
        leading: "additionalItems items",
        silent: "contentEncoding contentMediaType",
    },
    Dialect {
        name: "http://json-schema.org/draft-04/schema",
        broken: "additionalItems dependencies exclusiveMaximum exclusiveMinimum minimum",
        values: &[FORMATS],
        leading: "definitions dependencies exclusiveMaximum exclusiveMinimum id items",
        silent: "const contains contentEncoding contentMediaType if propertyNames then",
    },
    Dialect {
        name: "jtd",
        broken: "additionalProperties discriminator elements enum mapping optionalProperties properties type values",
        values: &[("type", "boolean float32 float64 int8 uint8 int16 uint16 int32 uint32 string timestamp")],
        leading: "additionalProperties definitions nullable ref",
        silent: "metadata",
    },
];

/// A case with its contract, and the expected report or fault.
struct Judged {
    case: Case,
    contract: Value,
    dialect: String,
    verdict: Value,
}

fn judged() -> Result<Vec<Judged>> {
    let mut judged = Vec::new();
    for case in cases()? {
        let file =
            ["report.json", "fault.json"].map(|file| case.folder.join(file)).into_iter().find(|file| file.exists());
        let verdict = serde_json::from_str(&fs::read_to_string(file.context("a verdict")?)?)?;
        // An invalid JSON text as a contract also results in a fault.
        let contract = serde_json::from_str(&case.contract).unwrap_or_default();
        judged.push(Judged { dialect: dialect(&contract), case, contract, verdict });
    }
    Ok(judged)
}

fn dialect(contract: &Value) -> String {
    if !contract["jtd"].is_null() {
        return "jtd".to_owned();
    }
    let mut uri = contract["schema"]["$schema"].as_str().or(contract["dialect"].as_str());
    // A custom dialect is resolved to the dialect of its metaschema.
    while let Some(resource) = uri.and_then(|uri| contract["resources"].get(uri)) {
        uri = resource["$schema"].as_str();
    }
    uri.unwrap_or(DIALECTS[0].name).trim_end_matches('#').to_owned()
}

/// Returns all violations, in the order of the report.
fn violations(verdict: &Value) -> Vec<&Value> {
    let listed = [&verdict["error"], &verdict["detail"]]
        .into_iter()
        .chain(verdict["quarantined"].as_array().into_iter().flatten());
    listed.filter_map(|of| of["violations"].as_array()).flatten().collect()
}

fn names(violation: &Value, keyword: &str) -> bool {
    violation["keyword"] == keyword
}

/// Removes a keyword from a schema, wherever it is used as a keyword. Returns whether it was used.
fn take_out(schema: &mut Value, keyword: &str) -> bool {
    let Value::Object(members) = schema else {
        return false;
    };
    let mut taken = members.remove(keyword).is_some();
    for (name, value) in members {
        match name.as_str() {
            "const" | "default" | "enum" | "examples" | "metadata" => {}
            "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "mapping" | "optionalProperties"
            | "patternProperties" | "properties" => {
                value.as_object_mut().into_iter().flatten().for_each(|(_, inner)| taken |= take_out(inner, keyword));
            }
            _ if value.is_array() => {
                value.as_array_mut().into_iter().flatten().for_each(|inner| taken |= take_out(inner, keyword));
            }
            _ => taken |= take_out(value, keyword),
        }
    }
    taken
}

/// Judges the case by its contract without a keyword. Returns `None` if the contract does not use the keyword.
fn judge_without(judged: &Judged, keyword: &str) -> Option<Value> {
    let mut contract = judged.contract.clone();
    let mut taken = false;
    for schema in ["schema", "jtd"] {
        taken |= contract.get_mut(schema).is_some_and(|schema| take_out(schema, keyword));
    }
    for resource in contract.get_mut("resources").and_then(Value::as_object_mut).into_iter().flatten() {
        taken |= take_out(resource.1, keyword);
    }
    taken.then(|| verdict(&contract.to_string(), &judged.case))
}

/// Returns the verdict without the members that identify its contract.
fn verdict(contract: &str, case: &Case) -> Value {
    let (output, invalid_utf8) = case.text();
    let lists = case.lists().into_iter().map(|(name, values)| seamgate_core::NamedList { name, values }).collect();
    let request = seamgate_core::Request {
        agent: case.agent().to_owned(),
        output: &output,
        finish: case.finish().parse().expect("a finish of the format"),
        lists,
        evidence: case.evidence().map(|evidence| evidence.into_iter().map(seamgate_tests::natively).collect()),
        invalid_utf8,
    };
    let report =
        seamgate_core::Contract::compile(contract).and_then(|contract| seamgate_core::validate(&contract, &request));
    let mut verdict = match report {
        Ok(report) => serde_json::from_str(&report.to_json()).expect("JSON"),
        Err(fault) => json!({ "fault": fault.to_json() }),
    };
    for member in ["contract", "schema_id"] {
        verdict[member].take();
        verdict["error"].as_object_mut().map(|error| error.remove("schema_id"));
    }
    verdict
}

/// Returns whether a case demonstrates a keyword.
fn is_broken(judged: &Judged, keyword: &str) -> bool {
    let has = |verdict: &Value| violations(verdict).into_iter().any(|violation| names(violation, keyword));
    has(&judged.verdict) && judge_without(judged, keyword).is_none_or(|verdict| !has(&verdict))
}

fn is_changed(judged: &Judged, keyword: &str) -> Option<bool> {
    judge_without(judged, keyword).map(|without| without != verdict(&judged.case.contract, &judged.case))
}

/// Returns whether the verdict is different without a keyword. Messages are ignored because they name an alternative by
/// its title.
fn is_judged_otherwise(judged: &Judged, keyword: &str) -> Option<bool> {
    let without = judge_without(judged, keyword)?;
    Some(without_words(without) != without_words(verdict(&judged.case.contract, &judged.case)))
}

/// Returns a verdict without its messages.
fn without_words(mut verdict: Value) -> Value {
    let mut left = vec![&mut verdict];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| name != "message" && name != "feedback");
                left.extend(members.values_mut());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    verdict
}

/// Returns the value of a violated keyword.
fn value_of<'j>(judged: &'j Judged, violation: &Value) -> Option<&'j str> {
    let schema = judged.contract.get("jtd").or(judged.contract.get("schema"))?;
    schema.pointer(violation["schema_path"].as_str()?)?.as_str()
}

#[test]
fn each_keyword_has_a_case_that_shows_what_it_does() {
    let judged = judged().expect("cases");
    let mut lacking = Vec::new();
    for dialect in &DIALECTS {
        let is_of = |judged: &&Judged| judged.dialect == dialect.name && judged.verdict["fault"].is_null();
        let of: Vec<&Judged> = judged.iter().filter(is_of).collect();
        println!("\n{}", dialect.name);
        for keyword in dialect.broken.split_whitespace() {
            match of.iter().find(|judged| is_broken(judged, keyword)) {
                Some(judged) => {
                    let violation = violations(&judged.verdict).into_iter().find(|violation| names(violation, keyword));
                    let message = violation.expect("one that was found")["message"].as_str().unwrap_or_default();
                    println!("  {keyword:24} {message}");
                }
                None => lacking.push(format!("{}: nothing is rejected by '{keyword}'", dialect.name)),
            }
        }
        for (keyword, values) in dialect.values {
            for value in values.split_whitespace() {
                let found = of.iter().find_map(|judged| {
                    let mut named =
                        violations(&judged.verdict).into_iter().filter(|violation| names(violation, keyword));
                    named.find(|violation| value_of(judged, violation) == Some(value))
                });
                match found {
                    Some(violation) => {
                        println!(
                            "  {:24} {}",
                            format!("{keyword} {value}"),
                            violation["message"].as_str().unwrap_or_default()
                        );
                    }
                    None => lacking.push(format!("{}: nothing is rejected by '{keyword}': {value}", dialect.name)),
                }
            }
        }
        for keyword in dialect.leading.split_whitespace() {
            if !of.iter().any(|judged| is_changed(judged, keyword) == Some(true)) {
                lacking.push(format!("{}: no verdict is another one without '{keyword}'", dialect.name));
            }
        }
        for keyword in dialect.silent.split_whitespace() {
            let changed: Vec<(&str, bool)> = of
                .iter()
                .filter_map(|judged| Some((judged.case.name.as_str(), is_judged_otherwise(judged, keyword)?)))
                .collect();
            if changed.is_empty() {
                lacking.push(format!("{}: no case has '{keyword}'", dialect.name));
            }
            for (name, _) in changed.iter().filter(|(_, changed)| *changed) {
                lacking.push(format!("{}: '{keyword}' changes the verdict of {name}", dialect.name));
            }
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

fn text<'v>(violation: &'v Value, member: &str) -> Result<&'v str> {
    violation[member].as_str().with_context(|| format!("{member} is no text"))
}

/// Checks the properties of every violation.
fn can_be_acted_on(violation: &Value) -> Result<()> {
    let member = |member| text(violation, member);
    let (message, expected) = (member("message")?, member("expected")?);
    ensure!(message.starts_with("must "), "the message does not begin with what must be");
    ensure!(message.len() <= 512 && expected.len() <= 256, "the texts are long");
    ensure!(member("received")?.len() <= 256, "what was received is long");
    ensure!(!message.ends_with(['.', ' ', ':', ',']), "the message does not end as one that is put into a sentence");
    ensure!(!expected.is_empty(), "nothing is expected");
    ensure!(!message.contains(is_hidden) && !expected.contains(is_hidden), "something in the texts cannot be seen");
    let (path, pointer) = (member("path")?, member("pointer")?);
    ensure!(!path.contains(char::is_control), "the path has control characters");
    ensure!(path.len() <= 512 && pointer.len() <= 512, "the place is long");
    // A path that summarizes the omitted items or covers all items cannot be compared.
    if !path.ends_with("left out]") && !path.ends_with("[*]") {
        ensure!(steps_of_path(path)? == steps_of_pointer(pointer), "the path and the pointer are of two places");
    }
    Ok(())
}

/// Checks that a message says what is expected: in the words of `expected`, with all quoted texts of `expected`, or as
/// "must not …".
fn says_what_is_expected(violation: &Value) -> Result<()> {
    let (message, expected) = (text(violation, "message")?, text(violation, "expected")?);
    let quoted: Vec<&str> = expected.split('"').skip(1).step_by(2).collect();
    let says = message.starts_with("must not ")
        || expected.split(": ").all(|piece| message.contains(piece))
        || (!quoted.is_empty() && quoted.iter().all(|quoted| message.contains(quoted)));
    ensure!(says, "the message does not say what is expected");
    Ok(())
}

/// Returns the steps of a path that is normalised by RFC 9535, or that has names after a dot.
fn steps_of_path(path: &str) -> Result<Vec<String>> {
    let mut rest = path.strip_prefix('$').context("the path does not begin at the root")?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            (name[..end].to_owned(), &name[end..])
        } else if let Some(quoted) = rest.strip_prefix("['") {
            let mut escaped = false;
            let end = quoted.find(|character| {
                let ends = character == '\'' && !escaped;
                escaped = character == '\\' && !escaped;
                ends
            });
            let (name, after) = quoted.split_at(end.context("a name without end")?);
            // The name is read as a JSON string, in which double quotes are escaped instead of single quotes.
            let name = name.replace("\\'", "'").replace('"', "\\\"");
            let name = serde_json::from_str(&format!("\"{name}\"")).with_context(|| format!("the name {name}"))?;
            (name, after.strip_prefix("']").context("a bracket without end")?)
        } else {
            let (index, after) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).context("no step")?;
            (index.parse::<u32>()?.to_string(), after)
        };
        steps.push(step);
        rest = after;
    }
    Ok(steps)
}

fn steps_of_pointer(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

/// Checks the place of a violation of a document in a text: the pointer leads to a value, and the span covers the text
/// of that value, or of its name if the name is invalid. In a contract, the span covers the character at which a
/// pattern becomes invalid, or a name if the violation concerns the whole contract. Returns `false` if the place cannot
/// be checked.
fn is_where_it_says(violation: &Value, document: &Value, source: &str, is_fault: bool) -> Result<bool> {
    let pointer = text(violation, "pointer")?;
    if pointer.ends_with("left out]") {
        return Ok(false);
    }
    // A missing member is located at the object in which it is missing.
    let parent =
        pointer.rsplit_once('/').filter(|_| text(violation, "message").is_ok_and(|it| it.starts_with("must be there")));
    let value = document.pointer(pointer).or_else(|| document.pointer(parent?.0));
    let value = value.with_context(|| format!("there is nothing at {pointer}"))?;
    let Some([start, end]) = violation["span"].as_array().map(Vec::as_slice) else {
        return Ok(false);
    };
    let offset = |value: &Value| value.as_u64().unwrap_or(u64::MAX) as usize;
    let spanned = source.get(offset(start)..offset(end)).context("a span outside")?;
    if names(violation, "caps.depth") {
        // A value that is nested too deeply is not read. Only its opening bracket is known.
        ensure!(spanned == if value.is_array() { "[" } else { "{" }, "the span is of no bracket of its kind");
        return Ok(true);
    }
    let steps = steps_of_pointer(pointer);
    let name = steps.last().map(String::as_str);
    let keyword = text(violation, "keyword")?;
    if is_fault && text(violation, "message")?.contains("at column ") {
        let pattern = if keyword == "pattern" { value.as_str() } else { name }.context("no pattern")?;
        // An unclosed class or group may be located at the closing quote.
        let is_of_it = spanned == "\""
            || serde_json::from_str::<String>(&format!("\"{spanned}\"")).is_ok_and(|one| pattern.contains(&one));
        ensure!(is_of_it && spanned.len() < 16, "the span is of no character of the pattern: {spanned}");
        return Ok(true);
    }
    let spanned: Value =
        serde_json::from_str(spanned).with_context(|| format!("the span is of no value: {spanned}"))?;
    let is_of_a_name = matches!(keyword, "propertyNames" | "duplicate_member");
    if is_of_a_name || (is_fault && keyword == "additionalProperties") {
        ensure!(spanned.as_str() == name, "the span is of another name");
    } else if is_fault && value.is_object() && matches!((pointer, keyword), ("", "required" | "oneOf" | "bare_schema"))
    {
        let is_member = spanned.as_str().is_some_and(|name| document.get(name).is_some());
        ensure!(is_member, "the span is of no member of the contract: {spanned}");
    } else {
        ensure!(spanned == *value, "the span is of another value: {spanned}");
    }
    Ok(true)
}

/// Checks that the schema path of a violation leads to a rule in the contract.
fn is_by_a_rule(violation: &Value, contract: &Value) -> Result<bool> {
    let (path, keyword) = (text(violation, "schema_path")?, text(violation, "keyword")?);
    if path.is_empty() || path.ends_with("left out]") {
        return Ok(false);
    }
    let is_listed = |dialect: &Dialect| dialect.broken.split_whitespace().any(|known| known == keyword);
    ensure!(DIALECTS.iter().any(is_listed), "no dialect here has the keyword '{keyword}'");
    let (uri, pointer) = path.split_once('#').unwrap_or(("", path));
    let mut roots = Vec::new();
    if uri.is_empty() {
        roots.extend([&contract["schema"], &contract["jtd"], &contract["items"]["schema"]]);
    } else {
        roots.extend(contract["resources"].get(uri));
        embedded(contract, uri.rsplit('/').next().unwrap_or_default(), &mut roots);
    }
    ensure!(roots.iter().any(|root| root.pointer(pointer).is_some()), "there is no rule at {path}");
    // The schema `false`, and a JTD form that omits `additionalProperties`, do not contain the keyword.
    let is_named = steps_of_pointer(pointer).iter().any(|step| step == keyword);
    let is_unnamed = keyword == "false" || !contract["jtd"].is_null() && keyword == "additionalProperties";
    ensure!(is_named || is_unnamed, "the rule at {path} is of another keyword");
    Ok(true)
}

/// Finds schemas whose own URI ends with `end`.
fn embedded<'c>(at: &'c Value, end: &str, found: &mut Vec<&'c Value>) {
    let id = at["$id"].as_str().or(at["id"].as_str());
    found.extend(id.filter(|id| id.trim_end_matches('#').ends_with(end)).map(|_| at));
    match at {
        Value::Object(members) => members.values().for_each(|inner| embedded(inner, end, found)),
        Value::Array(items) => items.iter().for_each(|inner| embedded(inner, end, found)),
        _ => {}
    }
}

/// Returns the text to which the spans of a verdict refer, and the document in it. Returns `None` if this document is
/// not JSON.
fn document(judged: &Judged) -> Option<(String, Value)> {
    let source = match judged.verdict["fault"].as_str() {
        None if judged.case.more.is_empty() => String::from_utf8(judged.case.output.clone()).ok()?,
        Some("bad_contract") => judged.case.contract.clone(),
        // Merged attempts, or a request.
        _ => return None,
    };
    let chosen = judged.verdict["candidates"].as_array().and_then(|all| all.iter().find(|one| one["chosen"] == true));
    let offset = |index: usize| Some(chosen?["span"][index].as_u64()? as usize);
    let text = &source[offset(0).unwrap_or(0)..offset(1).unwrap_or(source.len())];
    let document = serde_json::from_str(text).ok()?;
    // If a name occurs twice, this parser keeps only one value, which may be the wrong one.
    let is_ambiguous = violations(&judged.verdict).into_iter().any(|violation| names(violation, "duplicate_member"));
    (!is_ambiguous).then_some((source, document))
}

#[test]
fn each_violation_can_be_acted_on() {
    let (mut all, mut placed, mut ruled) = (0, 0, 0);
    let mut wrong = Vec::new();
    for judged in judged().expect("cases") {
        let document = document(&judged);
        let is_fault = !judged.verdict["fault"].is_null();
        for violation in violations(&judged.verdict) {
            let holds = can_be_acted_on(violation).and_then(|()| {
                all += 1;
                if let Some((source, document)) = &document {
                    placed += usize::from(is_where_it_says(violation, document, source, is_fault)?);
                }
                // A contract is judged by the schema of contracts, and a person who writes contracts can look at this
                // schema. The checks do not apply to such violations.
                if !is_fault {
                    says_what_is_expected(violation)?;
                    ruled += usize::from(is_by_a_rule(violation, &judged.contract)?);
                }
                Ok(())
            });
            if let Err(error) = holds {
                wrong.push(format!("{}: {error:#}: {violation}", judged.case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
    println!(
        "{all} violations, of {placed} the place was looked up in the document, of {ruled} the rule in the schema"
    );
    assert!(all > 500 && placed > 300 && ruled > 300, "{all} violations, {placed} places, {ruled} rules");
}

#[test]
fn a_violation_that_cannot_be_acted_on_is_found() {
    let source = r#"{"a":"x","b":["y"]}"#;
    let document: Value = serde_json::from_str(source).expect("JSON");
    let contract = json!({ "schema": { "properties": { "a": { "type": "integer" } } } });
    let good = json!({
        "path": "$.a", "keyword": "type", "expected": "integer", "received": "string",
        "message": "must be integer, not string", "pointer": "/a", "schema_path": "/properties/a/type", "span": [5, 8]
    });
    let holds = |violation: &Value| -> Result<()> {
        can_be_acted_on(violation)?;
        says_what_is_expected(violation)?;
        ensure!(
            is_where_it_says(violation, &document, source, false)? && is_by_a_rule(violation, &contract)?,
            "not asked"
        );
        Ok(())
    };
    holds(&good).expect("a good one");
    for (member, value) in [
        ("message", json!("")),
        ("message", json!("is no integer")),
        ("message", json!("must be right")),
        ("message", json!("must be integer.")),
        ("message", json!("must be integer,\nnot string")),
        ("message", json!("must be integer, not \u{202e}gnirts")),
        ("message", json!(format!("must be integer, not {}", "x".repeat(512)))),
        ("expected", json!("")),
        ("expected", json!("number")),
        ("expected", json!("integer\u{7}")),
        ("expected", json!("integer ".repeat(40))),
        ("received", json!("x".repeat(257))),
        ("path", json!("$.b")),
        ("path", json!("a")),
        ("path", json!("$.a[0]")),
        ("path", json!("$['a\u{1}']")),
        ("pointer", json!("/b")),
        ("pointer", json!("")),
        ("span", json!([5, 9])),
        ("span", json!([14, 17])),
        ("span", json!([5, 80])),
        ("schema_path", json!("/properties/b/type")),
        ("schema_path", json!("/properties/a")),
        ("keyword", json!("anything")),
    ] {
        let mut bad = good.clone();
        bad[member] = value;
        assert!(holds(&bad).is_err(), "{bad}");
    }
    let mut elsewhere = good;
    for (member, value) in [("path", "$['c']"), ("pointer", "/c")] {
        elsewhere[member] = json!(value);
    }
    assert!(holds(&elsewhere).is_err(), "{elsewhere}");
}
