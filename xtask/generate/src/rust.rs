//! Rust: the types of the core and of the host, and what turns one into the bindings' and back.

use std::{io::Write, process::Command};

use anyhow::{Context, Result, ensure};

use super::{
    model::{Definition, Kind, Model, Type},
    table::{CLOSED, CORE_BY_HAND, CORE_NAMES, CORE_STATIC, DOCUMENTS},
    text::{commented, pascal, snake},
};

const SPAN_SERIALIZE: &str = "
impl Serialize for Span {
/// `[start,end]`.
fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
(self.start, self.end).serialize(serializer)
}
}
";

const SPAN_DESERIALIZE: &str = "
impl<'de> Deserialize<'de> for Span {
fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
let (start, end) = Deserialize::deserialize(deserializer)?;
Ok(Span { start, end })
}
}
";

/// The types of the component's answers.
const ANSWERS: [&str; 5] = ["report", "fault", "contract-info", "warning", "progress"];

/// The types that it takes besides requests, which borrow.
const TAKEN: [&str; 4] = ["report", "finish", "named-list", "observation"];

/// The types that the host has.
const HOST: [&str; 8] =
    ["report", "contract-info", "warning", "progress", "finish", "named-list", "observation", "fault"];

/// The types that callers never see, because the library has faults of its own.
const INTERNAL: [&str; 2] = ["fault", "fault-code"];

/// Returns the types of the core.
pub(super) fn core(model: &Model) -> Result<String> {
    let mut out = String::from(
        "//! The types of `wit/` as the core has them, documented there.\n//!\n//! {HEAD}\n\n\
         use serde::{Serialize, Serializer};\n\nuse crate::json::{json, json_text, json_texts, list, object};\n",
    );
    for definition in model.reachable(&ANSWERS)?.into_iter().filter(|it| !is_by_hand(&it.name)) {
        let name = core_name(&definition.name);
        match &definition.kind {
            Kind::Enum(_) => {
                out.push_str(&format!(
                    "\n/// See `{}` in `wit/{}.wit`.\n#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]\n\
                     #[serde(rename_all = \"snake_case\")]\npub enum {name} {{\n",
                    definition.name, definition.interface
                ));
                cases(definition).for_each(|(variant, _)| out.push_str(&format!("{variant},\n")));
                out.push_str("}\n");
                out.push_str(&words(definition, &name));
            }
            Kind::Record(members) => {
                let derived = match (definition.name.as_str(), is_copied(model, &definition.name)) {
                    ("span", _) => ", Copy, PartialEq, Eq, PartialOrd, Ord",
                    _ if holds_document(model, &definition.name) => ", PartialEq, Eq",
                    (_, true) => ", Copy, PartialEq, Eq, Serialize",
                    _ => ", PartialEq, Eq, Serialize",
                };
                out.push_str(&format!(
                    "\n/// See `{}` in `wit/{}.wit`.\n#[derive(Debug, Clone{derived})]\npub struct {name} {{\n",
                    definition.name, definition.interface
                ));
                for member in members {
                    let of = match CORE_STATIC.contains(&path(definition, &member.name).as_str()) {
                        true => "&'static str".to_owned(),
                        false => ty(&member.ty, &core_name),
                    };
                    out.push_str(&format!("pub {}: {of},\n", snake(&member.name)));
                }
                out.push_str("}\n");
                if definition.name == "span" {
                    out.push_str(SPAN_SERIALIZE);
                }
                out.push_str(&writer(model, definition, &name));
            }
        }
    }
    formatted(&out)
}

/// Returns the name of a type in the library, which has a `Fault` of its own.
fn host_name(definition: &Definition) -> String {
    match definition.name.as_str() {
        "fault" => "WitFault".to_owned(),
        name => pascal(name),
    }
}

/// Returns the types of the host's library.
pub(super) fn host(model: &Model) -> Result<String> {
    let mut out = String::from(
        "//! The types of `wit/` as the library has them.\n//!\n//! {HEAD}\n\nuse std::{fmt, str::FromStr};\n\n\
         use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};\n\n\
         use super::{abi, document::Document};\n\
         use crate::{bindings::exports::seamgate::validator::{stream, types}, \
         json::{self, Members, UnknownWord, json, json_text, json_texts, list, object}};\n",
    );
    for definition in model.reachable(&HOST)? {
        let name = host_name(definition);
        out.push('\n');
        out.push_str(&docs(&definition.docs, 0));
        match &definition.kind {
            _ if INTERNAL.contains(&definition.name.as_str()) => out.push_str(&internal(definition, &name)),
            Kind::Enum(_) => {
                out.push_str(&format!(
                    "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {name} {{\n"
                ));
                for (variant, docs_of) in cases(definition) {
                    out.push_str(&docs(docs_of, 4));
                    out.push_str(&format!("{variant},\n"));
                }
                out.push_str("}\n");
                // Other words are read for it, too.
                if definition.name != "finish" {
                    out.push_str(&words(definition, &name));
                    out.push_str(&from_str(definition, &name));
                }
                out.push_str(&word_traits(&name));
            }
            Kind::Record(_) => out.push_str(&host_record(model, definition, &name)),
        }
        out.push_str(&from_bindings(definition, &name));
        out.push_str(&layout(definition, &name));
    }
    for definition in model.reachable(&TAKEN)? {
        out.push_str(&to_bindings(definition));
    }
    formatted(&out)
}

/// Returns a type that only the library uses.
fn internal(definition: &Definition, name: &str) -> String {
    let member = |member: &super::model::Member<Type>| {
        format!("pub(crate) {}: {},\n", snake(&member.name), ty(&member.ty, &pascal))
    };
    match &definition.kind {
        Kind::Record(members) => {
            format!("pub(crate) struct {name} {{\n{}}}\n", members.iter().map(member).collect::<String>())
        }
        Kind::Enum(_) => {
            let variants: String = cases(definition).map(|(variant, _)| format!("{variant},\n")).collect();
            format!("#[derive(Clone, Copy)]\npub(crate) enum {name} {{\n{variants}}}\n")
        }
    }
}

/// Returns the layout of a type in the memory of an instance.
fn layout(definition: &Definition, name: &str) -> String {
    match &definition.kind {
        Kind::Enum(_) => {
            let variants: Vec<String> = cases(definition).map(|(variant, _)| variant).collect();
            format!("\nabi::cases!({name} {{ {} }});\n", variants.join(", "))
        }
        Kind::Record(members) => {
            let member = |member: &super::model::Member<Type>| {
                format!("{}: {}", snake(&member.name), host_ty(definition, member))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("\nabi::record!({name} {{ {} }});\n", members.join(", "))
        }
    }
}

fn host_record(model: &Model, definition: &Definition, name: &str) -> String {
    let members = definition.members();
    let mut out = String::new();
    let is_span = definition.name == "span";
    let by_hand = members.iter().any(|member| is_optional_document(definition, &member.name, &member.ty));
    let derived = match (is_span, by_hand) {
        (true, _) => "Copy, PartialEq, Eq, Hash",
        (_, true) => "PartialEq, Eq",
        _ if is_copied(model, &definition.name) => "Copy, PartialEq, Eq, Serialize, Deserialize",
        _ => "PartialEq, Eq, Serialize, Deserialize",
    };
    out.push_str(&format!("#[derive(Debug, Clone, {derived})]\n"));
    if !CLOSED.contains(&definition.name.as_str()) {
        out.push_str("#[non_exhaustive]\n");
    }
    out.push_str(&format!("pub struct {name} {{\n"));
    for member in members {
        out.push_str(&docs(&member.docs, 4));
        if is_document(definition, &member.name) && !by_hand {
            out.push_str("#[serde(with = \"json::document\")]\n");
        } else if matches!(member.ty, Type::Option(_)) && !by_hand && !is_span {
            // One that is left out is not one that is null.
            out.push_str("#[serde(deserialize_with = \"Option::deserialize\")]\n");
        }
        out.push_str(&format!("pub {}: {},\n", snake(&member.name), host_ty(definition, member)));
    }
    out.push_str("}\n");
    if is_span {
        out.push_str(SPAN_SERIALIZE);
        out.push_str(SPAN_DESERIALIZE);
    }
    out.push_str(&writer(model, definition, name));
    if by_hand {
        let take = |member: &super::model::Member<Type>| {
            let field = snake(&member.name);
            match is_document(definition, &member.name) {
                true => format!("{field}: members.document(\"{field}\", disposition.emits())?.map(Into::into),\n"),
                false if field == "disposition" => format!("{field},\n"),
                false => format!("{field}: members.take(\"{field}\")?,\n"),
            }
        };
        out.push_str(&format!(
            "\nimpl Serialize for {name} {{\nfn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{\n\
             json::text(&self.to_json(), serializer)\n}}\n}}\n\
             \nimpl<'de> Deserialize<'de> for {name} {{\n\
             fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
             let mut members = Members::deserialize(deserializer)?;\nlet disposition: Disposition = members.take(\"disposition\")?;\n\
             Ok({name} {{\n{}}})\n}}\n}}\n",
            members.iter().map(take).collect::<String>()
        ));
    }
    out
}

/// Returns how a record is written that has JSON in it: its members in their order.
fn writer(model: &Model, definition: &Definition, name: &str) -> String {
    if !holds_document(model, &definition.name) {
        return String::new();
    }
    let member = |member: &super::model::Member<Type>| {
        let field = snake(&member.name);
        let text = match &member.ty {
            Type::Option(_) if is_document(definition, &member.name) => {
                format!("self.{field}.as_deref().unwrap_or(\"null\")")
            }
            _ if is_document(definition, &member.name) => format!("&self.{field}"),
            Type::List(of) if of.named().is_some_and(|name| holds_document(model, name)) => {
                format!("&list(&self.{field}, {}::to_json)", pascal(of.named().unwrap_or_default()))
            }
            Type::Text => format!("&json_text(&self.{field})"),
            Type::List(of) if matches!(**of, Type::Text) => format!("&json_texts(&self.{field})"),
            _ => format!("&json(&self.{field})"),
        };
        format!("(\"{field}\", {text}),\n")
    };
    let members: String = definition.members().iter().map(member).collect();
    format!(
        "\nimpl {name} {{\n/// As JSON text: members in the order of the format, no optional white space. The same bytes in every\n\
         /// runtime.\npub fn to_json(&self) -> String {{\nobject(&[{members}])\n}}\n}}\n"
    )
}

/// `as_str` and what reads it.
fn words(definition: &Definition, name: &str) -> String {
    let word = |variant: &str, word: &str| format!("{name}::{variant} => \"{word}\",\n");
    let words: String = named_cases(definition).map(|(variant, text)| word(&variant, &text)).collect();
    let all: Vec<String> = named_cases(definition).map(|(variant, _)| format!("{name}::{variant}")).collect();
    format!(
        "\nimpl {name} {{\n/// All of them, in their order.\npub const ALL: [{name}; {}] = [{}];\n\n\
         /// The word for it on the wire.\npub fn as_str(self) -> &'static str {{\nmatch self {{\n{words}}}\n}}\n}}\n",
        all.len(),
        all.join(", ")
    )
}

fn from_str(definition: &Definition, name: &str) -> String {
    format!(
        "\nimpl FromStr for {name} {{\ntype Err = UnknownWord;\n\n\
         fn from_str(word: &str) -> Result<Self, UnknownWord> {{\n\
         let known = {name}::ALL.into_iter().find(|known| known.as_str() == word);\n\
         known.ok_or_else(|| UnknownWord::new(\"{}\", {name}::ALL.map({name}::as_str)))\n}}\n}}\n",
        definition.name.replace('-', " ")
    )
}

fn word_traits(name: &str) -> String {
    format!(
        "\nimpl fmt::Display for {name} {{\nfn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {{\n\
         formatter.pad(self.as_str())\n}}\n}}\n\
         \nimpl Serialize for {name} {{\nfn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{\n\
         serializer.serialize_str(self.as_str())\n}}\n}}\n\
         \nimpl<'de> Deserialize<'de> for {name} {{\n\
         fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
         String::deserialize(deserializer)?.parse().map_err(D::Error::custom)\n}}\n}}\n"
    )
}

/// Returns the bindings' type -> the host's.
fn from_bindings(definition: &Definition, name: &str) -> String {
    let from = format!("{}::{}", definition.interface, pascal(&definition.name));
    let body = match &definition.kind {
        Kind::Enum(_) => matched(definition, &from, name, "given"),
        Kind::Record(_) => {
            literal(definition, name, "given", &|member, text, ty| converted(definition, member, text, ty))
        }
    };
    format!("\nimpl From<{from}> for {name} {{\nfn from(given: {from}) -> Self {{\n{body}\n}}\n}}\n")
}

/// Returns the host's type -> the bindings'.
fn to_bindings(definition: &Definition) -> String {
    let name = pascal(&definition.name);
    let to = format!("{}::{name}", definition.interface);
    let body = match &definition.kind {
        Kind::Enum(_) => matched(definition, &name, &to, "given"),
        Kind::Record(_) => {
            literal(definition, &to, "given", &|member, text, ty| converted(definition, member, text, ty))
        }
    };
    format!("\nimpl From<{name}> for {to} {{\nfn from(given: {name}) -> Self {{\n{body}\n}}\n}}\n")
}

/// Returns a member's type in the library. One that is a document may be written later.
fn host_ty(definition: &Definition, member: &super::model::Member<Type>) -> String {
    match is_optional_document(definition, &member.name, &member.ty) {
        true => "Option<Document>".to_owned(),
        false => ty(&member.ty, &pascal),
    }
}

/// Returns a member of the library's <-> one of the bindings.
fn converted(definition: &Definition, member: &str, text: String, ty: &Type) -> String {
    if is_optional_document(definition, member, ty) { format!("{text}.map(Into::into)") } else { into(text, ty) }
}

fn into(text: String, ty: &Type) -> String {
    match ty {
        Type::Named(_) => format!("{text}.into()"),
        Type::Option(of) if of.named().is_some() => format!("{text}.map(Into::into)"),
        Type::List(of) if of.named().is_some() => format!("{text}.into_iter().map(Into::into).collect()"),
        _ => text,
    }
}

/// Returns the component's side: the bindings' types <-> the core's.
pub(super) fn guest(model: &Model) -> Result<String> {
    let mut out = String::from(
        "//! Types of the bindings <-> types of the core: one function for each type and direction.\n//!\n//! {HEAD}\n\n\
         use seamgate_core as core;\n\n\
         use super::bindings::exports::seamgate::validator::{stream, types};\n\n\
         #[inline]\npub fn request(request: &types::Request) -> core::Request<'_> {\ncore::Request {\n",
    );
    for member in model.get("request")?.members() {
        let field = snake(&member.name);
        let value = match (&member.ty, field.as_str()) {
            // The longest text is not copied.
            (_, "output") => "&request.output".to_owned(),
            (Type::Text, _) => format!("request.{field}.clone()"),
            (Type::Named(of), _) if model.is_enum(of) => {
                format!("{}(request.{field})", function(of, Direction::Back))
            }
            (Type::Option(list), _) if matches!(&**list, Type::List(of) if of.named().is_some()) => format!(
                "request.{field}.as_ref().map(|all| all.iter().cloned().map({}).collect())",
                function(list.named().unwrap_or_default(), Direction::Back)
            ),
            (Type::List(of), _) if of.named().is_some() => {
                format!("each(request.{field}.clone(), {})", function(of.named().unwrap_or_default(), Direction::Back))
            }
            _ => format!("request.{field}"),
        };
        out.push_str(&match value == field {
            true => format!("{field},\n"),
            false => format!("{field}: {value},\n"),
        });
    }
    out.push_str("}\n}\n");
    out.push_str(
        "\n/// Most lists are empty: for those, nothing is called.\n#[inline(always)]\n\
         fn each<A, B>(given: Vec<A>, convert: fn(A) -> B) -> Vec<B> {\n\
         if given.is_empty() { Vec::new() } else { given.into_iter().map(convert).collect() }\n}\n",
    );
    let roots: Vec<&str> = ANSWERS.into_iter().chain(["completeness", "source"]).collect();
    for definition in model.reachable(&ANSWERS)? {
        out.push_str(&guest_function(definition, Direction::Out, &roots));
    }
    for definition in model.reachable(&TAKEN)? {
        out.push_str(&guest_function(definition, Direction::Back, &TAKEN));
    }
    formatted(&out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From the core.
    Out,
    /// To the core.
    Back,
}

/// Returns the function that converts a type.
fn function(name: &str, direction: Direction) -> String {
    match direction {
        Direction::Out => snake(name),
        Direction::Back => format!("{}_back", snake(name)),
    }
}

fn guest_function(definition: &Definition, direction: Direction, roots: &[&str]) -> String {
    let core = format!("core::{}", core_name(&definition.name));
    let wit = format!("{}::{}", definition.interface, pascal(&definition.name));
    let (from, to) = if direction == Direction::Out { (core, wit) } else { (wit, core) };
    let convert = |member: &str, text: String, ty: &Type| match ty {
        Type::Named(name) => format!("{}({text})", function(name, direction)),
        Type::Option(of) if of.named().is_some() => {
            format!("{text}.map({})", function(of.named().unwrap_or_default(), direction))
        }
        Type::List(of) if of.named().is_some() => {
            format!("each({text}, {})", function(of.named().unwrap_or_default(), direction))
        }
        _ if CORE_STATIC.contains(&path(definition, member).as_str()) => format!("{text}.to_owned()"),
        _ => text,
    };
    let body = match &definition.kind {
        Kind::Enum(_) => matched(definition, &from, &to, "given"),
        Kind::Record(_) => literal(definition, &to, "given", &convert),
    };
    let public = if roots.contains(&definition.name.as_str()) { "pub " } else { "" };
    format!("\n#[inline]\n{public}fn {}(given: {from}) -> {to} {{\n{body}\n}}\n", function(&definition.name, direction))
}

fn matched(definition: &Definition, from: &str, to: &str, value: &str) -> String {
    let arms: String =
        named_cases(definition).map(|(variant, _)| format!("{from}::{variant} => {to}::{variant},\n")).collect();
    format!("match {value} {{\n{arms}}}")
}

fn literal(definition: &Definition, to: &str, value: &str, convert: &dyn Fn(&str, String, &Type) -> String) -> String {
    let members = definition.members().iter().map(|member| {
        let field = snake(&member.name);
        format!("{field}: {},\n", convert(&member.name, format!("{value}.{field}"), &member.ty))
    });
    format!("{to} {{\n{}}}", members.collect::<String>())
}

fn cases(definition: &Definition) -> impl Iterator<Item = (String, &[String])> {
    let cases = match &definition.kind {
        Kind::Enum(cases) => cases.as_slice(),
        Kind::Record(_) => &[],
    };
    cases.iter().map(|case| (pascal(&case.name), case.docs.as_slice()))
}

/// Returns the variants with their words.
fn named_cases(definition: &Definition) -> impl Iterator<Item = (String, String)> {
    let cases = match &definition.kind {
        Kind::Enum(cases) => cases.as_slice(),
        Kind::Record(_) => &[],
    };
    cases.iter().map(|case| (pascal(&case.name), snake(&case.name)))
}

fn ty(ty: &Type, name: &dyn Fn(&str) -> String) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::U32 => "u32".to_owned(),
        Type::Text => "String".to_owned(),
        Type::Named(of) => name(of),
        Type::Option(of) => format!("Option<{}>", self::ty(of, name)),
        Type::List(of) => format!("Vec<{}>", self::ty(of, name)),
    }
}

fn core_name(name: &str) -> String {
    let other = CORE_NAMES.iter().find(|(wit, _)| *wit == name);
    other.map_or_else(|| pascal(name), |(_, core)| (*core).to_owned())
}

fn is_by_hand(name: &str) -> bool {
    CORE_BY_HAND.contains(&name)
}

fn path(definition: &Definition, member: &str) -> String {
    format!("{}.{member}", definition.name)
}

pub(super) fn is_document(definition: &Definition, member: &str) -> bool {
    DOCUMENTS.contains(&path(definition, member).as_str())
}

fn is_optional_document(definition: &Definition, member: &str, ty: &Type) -> bool {
    is_document(definition, member) && matches!(ty, Type::Option(_))
}

/// Returns whether a record contains a document, at any depth.
fn holds_document(model: &Model, name: &str) -> bool {
    model.get(name).is_ok_and(|definition| {
        let holds = |member: &super::model::Member<Type>| {
            is_document(definition, &member.name) || member.ty.named().is_some_and(|name| holds_document(model, name))
        };
        definition.members().iter().any(holds)
    })
}

/// Returns whether a record contains only numbers and words.
fn is_copied(model: &Model, name: &str) -> bool {
    let is_copied = |ty: &Type| match ty {
        Type::Bool | Type::U32 => true,
        Type::Named(of) => is_copied(model, of),
        Type::Text | Type::Option(_) | Type::List(_) => false,
    };
    model.get(name).is_ok_and(|definition| definition.members().iter().all(|member| is_copied(&member.ty)))
}

pub(super) fn docs(paragraphs: &[String], indent: usize) -> String {
    let prefix = format!("{}/// ", " ".repeat(indent));
    commented(paragraphs, &prefix).iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the source as `cargo fmt` formats it.
pub(super) fn formatted(source: &str) -> Result<String> {
    let source = source.replace("{HEAD}", super::HEAD);
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path", "rustfmt.toml", "--emit", "stdout"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .context("cannot run rustfmt; `rustup component add rustfmt` installs it")?;
    // It reads all of it before it writes.
    rustfmt.stdin.take().context("rustfmt takes no input")?.write_all(source.as_bytes())?;
    let formatted = rustfmt.wait_with_output()?;
    ensure!(formatted.status.success(), "rustfmt does not take what was generated:\n{source}");
    Ok(String::from_utf8(formatted.stdout)?)
}
