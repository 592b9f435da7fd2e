//! The types of the package for Python.

use anyhow::Result;

use super::{
    model::{Definition, Kind, Member, Model, Type},
    rust::is_document,
    table::HOST_FAULTS,
    text::{WIDTH, pascal, snake, wrap},
};

/// The types that the package exports.
const TYPES: [&str; 5] = ["report", "contract-info", "warning", "finish", "confidence"];

pub(super) fn types(model: &Model) -> Result<String> {
    let mut out = head("The types of `wit/` as Python has them.");
    out.push_str(
        "import enum\n\nfrom ._located import Located\nfrom ._records import dataclass\n\n# As in the package's `__init__`.\n\
         TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any\n",
    );
    for definition in model.reachable(&TYPES)? {
        let name = name(&definition.name);
        match &definition.kind {
            Kind::Enum(cases) => {
                out.push_str(&format!("\n\nclass {name}(str, enum.Enum):\n{}\n", docstring(&definition.docs, &[])));
                for case in cases {
                    let word = snake(&case.name);
                    out.push_str(&format!("    {} = \"{word}\"\n", word.to_uppercase()));
                    if !case.docs.is_empty() {
                        out.push_str(&docstring(&case.docs, &[]));
                    }
                }
            }
            Kind::Record(_) if definition.name == "span" => {
                out.push_str(&format!(
                    "\nSpan = tuple[int, int]\n{}",
                    docstring(&definition.docs, &[]).replace("    \"\"\"", "\"\"\"")
                ));
            }
            Kind::Record(members) => {
                let docs = docstring(&definition.docs, members);
                let base = if members.iter().any(|member| member.name == "span") { "(Located)" } else { "" };
                out.push_str(&format!("\n\n@dataclass(frozen=True)\nclass {name}{base}:\n{docs}\n"));
                for member in members {
                    let of = member_type(definition, &member.name, &member.ty);
                    out.push_str(&format!("    {}: {of}\n", snake(&member.name)));
                }
                if definition.name == "violation" {
                    out.push_str("\n    def __str__(self) -> str:\n        return f\"{self.path} {self.message}\"\n");
                }
            }
        }
    }
    Ok(out)
}

/// Returns the words for faults: a module of its own, since `typing` takes long to import.
pub(super) fn fault_code(model: &Model) -> Result<String> {
    let mut out = head("The words for faults.");
    out.push_str("from typing import Literal\n");
    if let Kind::Enum(cases) = &model.get("fault-code")?.kind {
        out.push_str("\nFaultCode = Literal[\n");
        for word in cases.iter().map(|case| snake(&case.name)).chain(HOST_FAULTS.map(str::to_owned)) {
            out.push_str(&format!("    \"{word}\",\n"));
        }
        out.push_str("]\n\"\"\"The word for a fault, the same in every language.\"\"\"\n");
    }
    Ok(out)
}

/// Returns the beginning of a generated module.
fn head(about: &str) -> String {
    let lines = wrap(super::HEAD, WIDTH).join("\n");
    format!("\"\"\"{about}\n\n{lines}\n\"\"\"\n\nfrom __future__ import annotations\n\n")
}

fn member_type(definition: &Definition, member: &str, of: &Type) -> String {
    if is_document(definition, member) { "Any".to_owned() } else { ty(of) }
}

fn ty(of: &Type) -> String {
    match of {
        Type::Bool => "bool".to_owned(),
        Type::U32 => "int".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Named(of) => name(of),
        Type::Option(of) => format!("{} | None", ty(of)),
        Type::List(of) => format!("tuple[{}, ...]", ty(of)),
    }
}

/// Returns the name of a type. A report that has been read has more members; `Warning` is Python's own.
fn name(of: &str) -> String {
    match of {
        "report" => "ReportDocument".to_owned(),
        "warning" => "LintWarning".to_owned(),
        _ => pascal(of),
    }
}

/// Returns the docstring of a class, with the members that have documentation.
fn docstring(paragraphs: &[String], members: &[Member<Type>]) -> String {
    let attributes: Vec<(String, String)> =
        members.iter().map(|member| (snake(&member.name), member.docs.join(" "))).collect();
    documented(paragraphs, &attributes, "    ")
}

/// Returns a docstring, with the attributes that have documentation: names, and what is said of them.
pub(super) fn documented(paragraphs: &[String], attributes: &[(String, String)], indent: &str) -> String {
    let attributes: Vec<_> = attributes.iter().filter(|(_, docs)| !docs.is_empty()).collect();
    let mut texts = paragraphs.iter().chain(attributes.iter().map(|(_, docs)| docs));
    let raw = if texts.any(|text| text.contains('\\')) { "r" } else { "" };
    let mut lines: Vec<String> = Vec::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        let head = if index == 0 { indent.len() + raw.len() + 3 } else { indent.len() };
        lines.extend(wrap(paragraph, WIDTH - head).into_iter().map(|line| format!("{indent}{line}")));
    }
    if !attributes.is_empty() {
        lines.extend([String::new(), format!("{indent}Attributes:")]);
        for (name, docs) in attributes {
            let mut wrapped = wrap(&format!("{name}: {docs}"), WIDTH - 8 - indent.len()).into_iter();
            lines.extend(wrapped.next().map(|line| format!("{indent}    {line}")));
            lines.extend(wrapped.map(|line| format!("{indent}        {line}")));
        }
    }
    let text = lines.join("\n");
    let text = text.trim_start();
    match lines.as_slice() {
        [line] if line.len() + 6 + raw.len() <= WIDTH => format!("{indent}{raw}\"\"\"{text}\"\"\"\n"),
        _ => format!("{indent}{raw}\"\"\"{text}\n{indent}\"\"\"\n"),
    }
}
