//! The types of the package for JavaScript.

use anyhow::Result;

use super::{
    model::{Definition, Kind, Model, Type},
    rust::is_document,
    table::HOST_FAULTS,
    text::{WIDTH, camel, commented, pascal, snake},
};

/// The types that the package exports.
const TYPES: [&str; 6] = ["report", "contract-info", "warning", "finish", "confidence", "progress"];

/// Types whose members are in `camelCase`: the package makes these objects itself. All others are the documents of every host.
const OWN: [&str; 2] = ["contract-info", "progress"];

pub(super) fn types(model: &Model) -> Result<String> {
    let mut out = format!("// {}\n", super::HEAD);
    for definition in model.reachable(&TYPES)? {
        out.push('\n');
        out.push_str(&docs(&definition.docs, ""));
        let name = name(&definition.name);
        match &definition.kind {
            Kind::Enum(cases) => {
                out.push_str(&union(&name, cases.iter().map(|case| snake(&case.name))));
            }
            Kind::Record(_) if definition.name == "span" => {
                out.push_str("export type Span = readonly [start: number, end: number];\n");
            }
            Kind::Record(members) => {
                let is_report = definition.name == "report";
                out.push_str(&format!("export interface {name}{} {{\n", if is_report { "<T = unknown>" } else { "" }));
                for member in members {
                    out.push_str(&docs(&member.docs, "  "));
                    let of = member_type(definition, &member.name, &member.ty);
                    let is_own = OWN.contains(&definition.name.as_str());
                    let member = if is_own { camel(&member.name) } else { snake(&member.name) };
                    out.push_str(&format!("  readonly {member}: {of};\n"));
                }
                out.push_str("}\n");
            }
        }
    }
    out.push_str("\n/** The word for a fault, the same in every language. */\n");
    let Kind::Enum(cases) = &model.get("fault-code")?.kind else {
        return Ok(out);
    };
    let words = cases.iter().map(|case| snake(&case.name)).chain(HOST_FAULTS.map(str::to_owned));
    out.push_str(&union("FaultCode", words));
    Ok(out)
}

/// Returns a type that has one of some words.
pub(super) fn union(name: &str, words: impl Iterator<Item = String>) -> String {
    one_of(name, words.map(|word| format!("\"{word}\"")))
}

/// Returns a type that is one of others.
pub(super) fn one_of(name: &str, types: impl Iterator<Item = String>) -> String {
    let types: Vec<String> = types.collect();
    let line = format!("export type {name} = {};\n", types.join(" | "));
    if line.len() <= WIDTH + 1 {
        return line;
    }
    format!("export type {name} =\n  | {};\n", types.join("\n  | "))
}

fn member_type(definition: &Definition, member: &str, of: &Type) -> String {
    match (is_document(definition, member), of) {
        (true, Type::Option(_)) => "T | null".to_owned(),
        (true, _) => "unknown".to_owned(),
        (false, _) => ty(of),
    }
}

fn ty(of: &Type) -> String {
    match of {
        Type::Bool => "boolean".to_owned(),
        Type::U32 => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Named(of) => name(of),
        Type::Option(of) => format!("{} | null", ty(of)),
        Type::List(of) => format!("readonly {}[]", ty(of)),
    }
}

/// Returns the name of a type. A report that has been read is the class `Report`.
fn name(of: &str) -> String {
    if of == "report" { "ReportDocument".to_owned() } else { pascal(of) }
}

pub(super) fn docs(paragraphs: &[String], indent: &str) -> String {
    if paragraphs.is_empty() {
        return String::new();
    }
    let one = format!("{indent}/** {} */", paragraphs.join(" "));
    if paragraphs.len() == 1 && one.chars().count() <= WIDTH {
        return one + "\n";
    }
    let lines = commented(paragraphs, &format!("{indent} * "));
    format!("{indent}/**\n{}\n{indent} */\n", lines.join("\n"))
}
