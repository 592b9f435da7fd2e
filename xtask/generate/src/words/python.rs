//! The words of a run in Python.

use std::collections::BTreeSet;

use super::model::{Field, Struct, Type, Union, Words};
use crate::{
    python::documented,
    text::{WIDTH, wrap},
};

/// Returns the name of a union: Python programs have events and records of other kinds.
fn name(of: &str) -> String {
    match of {
        "Event" | "Record" => format!("Run{of}"),
        other => other.to_owned(),
    }
}

pub(super) fn words(words: &Words) -> String {
    let head = wrap(super::HEAD, WIDTH).join("\n");
    let mut out = format!(
        "\"\"\"The words of a run: events, actions and records as dicts, decisions and observations as classes.\n\n{head}\n\
         \"\"\"\n\nfrom __future__ import annotations\n\nfrom collections.abc import Mapping\n\
         from typing import Any, Literal, TypedDict\n\nfrom ._records import dataclass, field\n\
         from ._types import Span, Violation\n"
    );
    for one in words.choices.iter().chain(&words.external) {
        let listed: Vec<String> = one.words.iter().map(|word| format!("\"{word}\"")).collect();
        out.push_str(&listing(&format!("{} = Literal", choice(&one.name)), &listed));
    }
    let made = classes(words);
    for one in words.structs.iter().filter(|one| one.name != "Observation") {
        out.push_str(&dict(one, &dict_name(&one.name, &made), None, &made));
    }
    for union in words.unions.iter().filter(|union| union.name != "Decision") {
        for one in &union.of {
            out.push_str(&dict(one, &one.name, Some(union), &made));
        }
        let of: Vec<String> = union.of.iter().map(|one| one.name.clone()).collect();
        out.push_str(&one_of(&name(&union.name), &of));
        out.push_str(&docstring(&union.docs, &[], ""));
    }
    for one in words.structs.iter().filter(|one| made.contains(&one.name)) {
        out.push_str(&class(one, None));
    }
    for union in words.unions.iter().filter(|union| union.name == "Decision") {
        for one in &union.of {
            out.push_str(&class(one, Some(union)));
        }
        let of: Vec<String> = union.of.iter().map(|one| one.name.clone()).collect();
        out.push_str(&one_of("Decision", &of));
        out.push_str(&docstring(&format!("{} It is true if the call may run now.", union.docs), &[], ""));
    }
    out
}

/// Types with brackets, on lines that fit.
fn listing(head: &str, of: &[String]) -> String {
    let line = format!("\n{head}[{}]\n", of.join(", "));
    if line.len() <= WIDTH + 2 {
        return line;
    }
    format!("\n{head}[\n    {},\n]\n", of.join(",\n    "))
}

/// Returns one of several types, after a class.
fn one_of(name: &str, of: &[String]) -> String {
    let line = format!("\n\n{name} = {}\n", of.join(" | "));
    if line.len() <= WIDTH + 3 {
        return line;
    }
    let inner = format!("    {}", of.join(" | "));
    let inner = if inner.len() <= WIDTH { inner } else { format!("    {}", of.join("\n    | ")) };
    format!("\n\n{name} = (\n{inner}\n)\n")
}

/// Words of JSON whose package has a class with the same name.
fn choice(name: &str) -> String {
    match name {
        "Confidence" | "Finish" => format!("{name}Word"),
        other => other.to_owned(),
    }
}

/// Returns the objects that are classes: an observation, what decisions hold, and what these hold.
fn classes(words: &Words) -> BTreeSet<String> {
    let mut found = BTreeSet::from(["Observation".to_owned()]);
    let decisions = words.unions.iter().filter(|union| union.name == "Decision").flat_map(|union| &union.of);
    let mut open: Vec<&Struct> = decisions.collect();
    open.extend(words.structs.iter().filter(|one| one.name == "Observation"));
    while let Some(one) = open.pop() {
        for name in one.fields.iter().filter_map(|field| named(&field.ty)) {
            if let Some(part) = words.structs.iter().find(|part| part.name == name)
                && found.insert(name.to_owned())
            {
                open.push(part);
            }
        }
    }
    found
}

fn named(ty: &Type) -> Option<&str> {
    match ty {
        Type::Named(name) => Some(name),
        Type::List(of) | Type::Map(of) | Type::Large(of) => named(of),
        _ => None,
    }
}

/// Returns the name of the dict: another one than that of the class.
fn dict_name(name: &str, made: &BTreeSet<String>) -> String {
    if made.contains(name) { format!("{name}Dict") } else { name.to_owned() }
}

fn dict(one: &Struct, name: &str, union: Option<&Union>, made: &BTreeSet<String>) -> String {
    let member = |field: &Field| format!("    {}: {}\n", field.name, in_json(&field.ty, made));
    // Words that Python has itself cannot be written in a class.
    let (odd, plain): (Vec<&Field>, Vec<&Field>) = one.fields.iter().partition(|field| field.name == "from");
    let mut out = String::new();
    let mut base = "TypedDict".to_owned();
    if !odd.is_empty() {
        let members: Vec<String> =
            odd.iter().map(|field| format!("\"{}\": \"{}\"", field.name, in_json(&field.ty, made))).collect();
        base = format!("_{name}From");
        out.push_str(&format!("\n\n{base} = TypedDict(\"{base}\", {{{}}})\n", members.join(", ")));
    }
    let mut required: String = match (union, &one.word) {
        (Some(union), Some(word)) => {
            let at = if union.name == "Event" { "    at: int\n" } else { "" };
            format!("    type: Literal[\"{word}\"]\n{at}")
        }
        _ => String::new(),
    };
    plain.iter().filter(|field| field.is_required).for_each(|field| required.push_str(&member(field)));
    let optional: String = plain.iter().filter(|field| !field.is_required).map(|field| member(field)).collect();
    let fields: Vec<&Field> = one.fields.iter().collect();
    let docs = docstring(&one.docs, &fields, "    ");
    match (required.is_empty(), optional.is_empty()) {
        (_, true) => out.push_str(&format!("\n\nclass {name}({base}):\n{docs}\n{required}")),
        (true, false) => out.push_str(&format!("\n\nclass {name}({base}, total=False):\n{docs}\n{optional}")),
        (false, false) => out.push_str(&format!(
            "\n\nclass _{name}({base}):\n{required}\n\nclass {name}(_{name}, total=False):\n{docs}\n{optional}"
        )),
    }
    out.trim_end().to_owned() + "\n"
}

fn class(one: &Struct, union: Option<&Union>) -> String {
    let mut fields: Vec<&Field> = one.fields.iter().collect();
    fields.sort_by_key(|field| !field.is_required);
    let mut out =
        format!("\n\n@dataclass(frozen=True)\nclass {}:\n{}\n", one.name, docstring(&one.docs, &fields, "    "));
    if let (Some(union), Some(word)) = (union, &one.word) {
        out.push_str(&format!("    {}: Literal[\"{word}\"]\n", union.tag));
    }
    for field in fields {
        let of = in_class(&field.ty);
        match field.is_required {
            true => out.push_str(&format!("    {}: {of}\n", field.name)),
            false => out.push_str(&format!("    {}: {of} | None = None\n", field.name)),
        }
    }
    if union.is_some() || one.name == "Observation" {
        out.push_str("    json: str = field(default=\"\", repr=False, compare=False)\n");
        out.push_str("    \"\"\"The document as JSON text, the same bytes as in every other runtime.\"\"\"\n");
    }
    if union.is_some() {
        let may = if one.word.as_deref() == Some("allow") { "True" } else { "False" };
        out.push_str(&format!("\n    def __bool__(self) -> Literal[{may}]:\n        return {may}\n"));
    }
    out
}

/// Returns a type as `json` reads it.
fn in_json(ty: &Type, made: &BTreeSet<String>) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Count => "int".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Any => "Any".to_owned(),
        Type::Object => "Mapping[str, Any]".to_owned(),
        Type::List(of) => format!("list[{}]", in_json(of, made)),
        Type::Map(of) => format!("Mapping[str, {}]", in_json(of, made)),
        Type::Named(name) if name == "Violation" => "Mapping[str, Any]".to_owned(),
        Type::Named(name) if name == "Span" => "list[int]".to_owned(),
        Type::Named(name) => dict_name(&choice(name), made),
        Type::Large(of) => in_json(of, made),
    }
}

/// Returns a type as a class has it.
fn in_class(ty: &Type) -> String {
    match ty {
        Type::Object => "dict[str, Any]".to_owned(),
        Type::List(of) => format!("tuple[{}, ...]", in_class(of)),
        Type::Map(of) => format!("dict[str, {}]", in_class(of)),
        Type::Named(name) => choice(name),
        Type::Large(of) => in_class(of),
        plain => in_json(plain, &BTreeSet::new()),
    }
}

fn docstring(text: &str, fields: &[&Field], indent: &str) -> String {
    let text = if text.is_empty() { "A part of a word." } else { text };
    let attributes: Vec<(String, String)> =
        fields.iter().map(|field| (field.name.clone(), field.docs.clone())).collect();
    documented(&[text.to_owned()], &attributes, indent)
}
