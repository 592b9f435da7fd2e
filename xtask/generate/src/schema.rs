//! `schemas/report.schema.json`.

use anyhow::Result;

use super::{
    json::Json,
    model::{Definition, Kind, Member, Model, Type},
    rust::is_document,
    table::{BOUNDS, REPORT_RULES},
    text::snake,
};

pub(super) fn report(model: &Model) -> Result<String> {
    let report = model.get("report")?;
    let definitions: Vec<(String, Json)> = model
        .reachable(&["report"])?
        .into_iter()
        .filter(|definition| definition.name != "report")
        .map(|definition| (definition.name.clone(), defined(definition)))
        .collect();
    let indented = REPORT_RULES.trim_end().replace('\n', "\n  ");
    let mut members = vec![
        ("$schema".to_owned(), Json::string("https://json-schema.org/draft/2020-12/schema")),
        ("$comment".to_owned(), Json::string(super::HEAD)),
        ("$id".to_owned(), Json::string("https://seamgate.dev/schemas/report/0.1.0")),
        ("title".to_owned(), Json::string("Report")),
    ];
    members.extend(record(report));
    members.push(("allOf".to_owned(), Json::Text(indented)));
    members.push(("$defs".to_owned(), Json::Object(definitions)));
    Ok(Json::Object(members).print(0, 0) + "\n")
}

fn defined(definition: &Definition) -> Json {
    let description = ("description".to_owned(), Json::string(&definition.docs.join(" ")));
    match &definition.kind {
        // As short as it can be said.
        Kind::Record(_) if definition.name == "span" => {
            let of = Json::object([("type", Json::string("integer")), ("minimum", Json::Text("0".to_owned()))]);
            let mut members = vec![description, ("type".to_owned(), Json::string("array"))];
            let two = || Json::Text("2".to_owned());
            members.extend([("minItems".to_owned(), two()), ("maxItems".to_owned(), two()), ("items".to_owned(), of)]);
            Json::Object(members)
        }
        Kind::Record(_) => Json::Object(record(definition)),
        Kind::Enum(cases) => {
            let words: Vec<String> = cases.iter().map(|case| snake(&case.name)).collect();
            Json::Object(vec![description, ("enum".to_owned(), Json::strings(words.iter().map(String::as_str)))])
        }
    }
}

fn record(definition: &Definition) -> Vec<(String, Json)> {
    let members = definition.members();
    let names: Vec<String> = members.iter().map(|member| snake(&member.name)).collect();
    let properties = members.iter().map(|it| (snake(&it.name), property(definition, it))).collect();
    vec![
        ("description".to_owned(), Json::string(&definition.docs.join(" "))),
        ("type".to_owned(), Json::string("object")),
        ("required".to_owned(), Json::strings(names.iter().map(String::as_str))),
        ("additionalProperties".to_owned(), Json::Text("false".to_owned())),
        ("properties".to_owned(), Json::Object(properties)),
    ]
}

fn property(definition: &Definition, member: &Member<Type>) -> Json {
    let mut keywords = Vec::new();
    if !member.docs.is_empty() {
        keywords.push(("description".to_owned(), Json::string(&member.docs.join(" "))));
    }
    if !is_document(definition, &member.name) {
        keywords.extend(of_type(&member.ty));
    }
    let path = format!("{}.{}", definition.name, member.name);
    for (_, bounds) in BOUNDS.iter().filter(|(of, _)| *of == path) {
        keywords.extend(bounds.iter().map(|(name, value)| ((*name).to_owned(), Json::Text((*value).to_owned()))));
    }
    Json::Object(keywords)
}

/// Returns the schema of a type. A member that is `option` in WIT is always present, and `null` if it has no value.
fn of_type(ty: &Type) -> Vec<(String, Json)> {
    let one = |name: &str, value: Json| vec![(name.to_owned(), value)];
    match ty {
        Type::Bool => one("type", Json::string("boolean")),
        Type::U32 => {
            let mut keywords = one("type", Json::string("integer"));
            keywords.push(("minimum".to_owned(), Json::Text("0".to_owned())));
            keywords
        }
        Type::Text => one("type", Json::string("string")),
        Type::Named(name) => one("$ref", Json::string(&format!("#/$defs/{name}"))),
        Type::Option(of) if **of == Type::Text => one("type", Json::strings(["string", "null"])),
        Type::Option(of) => {
            let null = Json::object([("type", Json::string("null"))]);
            one("oneOf", Json::List(vec![null, Json::Object(of_type(of))]))
        }
        Type::List(of) => {
            let mut keywords = one("type", Json::string("array"));
            keywords.push(("items".to_owned(), Json::Object(of_type(of))));
            keywords
        }
    }
}
