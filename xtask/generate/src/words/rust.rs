//! The words of a run in Rust.

use anyhow::Result;

use super::model::{Choice, Struct, Type, Union, Words, pascal};
use crate::rust::{docs as paragraphs, formatted};

/// Words that Rust reads as its own.
const KEYWORDS: [&str; 3] = ["from", "type", "final"];

const USES: &str = "
use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::value::{Json, Large, present, tag, unknown, write};
use crate::types::{Confidence, Finish, Span, Violation};
";

pub(super) fn words(words: &Words) -> Result<String> {
    let mut out =
        format!("//! The words of a run, which `schemas/` states and documents.\n//!\n//! {}\n{USES}", super::HEAD);
    for union in &words.unions {
        match union.name.as_str() {
            "Decision" => out.push_str(&decision(union)),
            "Event" => out.push_str(&event(union)),
            _ => out.push_str(&tagged(union, &union.name, "JSON text")),
        }
        for one in &union.of {
            out.push_str(&structure(one, &one.name));
            if union.name == "Event" {
                out.push_str(&constructors(one));
            }
        }
    }
    for one in &words.structs {
        // The library has observations that claims cite: this is what they are made of.
        out.push_str(&structure(one, if one.name == "Observation" { "ToolObservation" } else { &one.name }));
    }
    words.choices.iter().for_each(|one| out.push_str(&choice(one)));
    formatted(&out)
}

fn docs(text: &str) -> String {
    paragraphs(&[text.to_owned()], 0)
}

/// Returns the types of events. An event has the time beside its kind.
fn event(union: &Union) -> String {
    let kinds = tagged(union, "EventKind", "the members of an event, without its time");
    let head = format!(
        "\n{}#[derive(Debug, Clone, PartialEq)]\npub struct Event {{\n/// When, in milliseconds since 1970. The run's time is \
         the greatest one seen.\npub at: u64,\n/// What happened.\npub kind: EventKind,\n}}\n",
        docs(&union.docs)
    );
    let arms: String = union
        .of
        .iter()
        .map(|one| {
            let (word, variant) = (word(one), variant(one));
            format!("EventKind::{variant}(body) => write(serializer, Some(self.at), \"{word}\", body),\n")
        })
        .collect();
    format!(
        "{head}\nimpl Serialize for Event {{\nfn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{\n\
         match &self.kind {{\n{arms}}}\n}}\n}}\n\
         \nimpl<'de> Deserialize<'de> for Event {{\nfn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
         #[derive(Deserialize)]\nstruct At {{\nat: u64,\n}}\n\
         let text = Json::deserialize(deserializer)?;\nlet At {{ at }} = text.read().map_err(D::Error::custom)?;\n\
         let kind = EventKind::from_json(text.as_str()).map_err(D::Error::custom)?;\nOk(Event {{ at, kind }})\n}}\n}}\n{kinds}"
    )
}

fn word(one: &Struct) -> &str {
    one.word.as_deref().unwrap_or_default()
}

fn variant(one: &Struct) -> String {
    pascal(word(one))
}

/// Returns an enum with a variant for each object.
fn tagged(union: &Union, name: &str, what: &str) -> String {
    let each = |line: &dyn Fn(&str, &str, &Struct) -> String| -> String {
        union.of.iter().map(|one| line(word(one), &variant(one), one)).collect()
    };
    let about = if name == union.name { docs(&union.docs) } else { docs("What happened.") };
    let variants = each(&|_, variant, one| format!("{}{variant}({}),\n", docs(&one.docs), one.name));
    let words = each(&|word, variant, _| format!("{name}::{variant}(_) => \"{word}\",\n"));
    let reads = each(&|word, variant, _| format!("\"{word}\" => serde_json::from_str(text).map({name}::{variant}),\n"));
    let from = each(&|_, variant, one| {
        let of = &one.name;
        format!("\nimpl From<{of}> for {name} {{\nfn from(body: {of}) -> Self {{\n{name}::{variant}(body)\n}}\n}}\n")
    });
    let key = match name {
        "Action" => {
            let keys = each(&|_, variant, _| format!("Action::{variant}(body) => &body.key,\n"));
            format!(
                "\n/// Returns its key. No other action of the run has the same.\npub fn key(&self) -> &str {{\nmatch self {{\n{keys}}}\n}}\n"
            )
        }
        _ => String::new(),
    };
    let serialize = match name {
        "EventKind" => String::new(),
        _ => {
            let arms = each(&|word, variant, _| {
                format!("{name}::{variant}(body) => write(serializer, None, \"{word}\", body),\n")
            });
            format!(
                "\nimpl Serialize for {name} {{\nfn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{\n\
                 match self {{\n{arms}}}\n}}\n}}\n"
            )
        }
    };
    let large = match name {
        "EventKind" => {
            "#[expect(clippy::large_enum_variant, reason = \"an event is made, sent and dropped: nothing keeps many\")]\n"
        }
        _ => "",
    };
    format!(
        "\n{about}{large}#[derive(Debug, Clone, PartialEq)]\npub enum {name} {{\n{variants}}}\n\
         \nimpl {name} {{\n/// Returns its `type`.\npub fn word(&self) -> &'static str {{\nmatch self {{\n{words}}}\n}}\n\
         \n/// Reads {what}, without a copy of the whole.\n///\n/// # Errors\n///\n/// The text is not JSON, is of another version, or lacks \
         a member.\npub fn from_json(text: &str) -> Result<Self, serde_json::Error> {{\nmatch &*tag(text)? {{\n{reads}\
         other => Err(unknown(other)),\n}}\n}}\n{key}}}\n\
         {serialize}\
         \nimpl<'de> Deserialize<'de> for {name} {{\nfn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
         {name}::from_json(Json::deserialize(deserializer)?.as_str()).map_err(D::Error::custom)\n}}\n}}\n{from}"
    )
}

/// Returns the types of decisions. A decision is distinguished by `permit`, and shares most of its members.
fn decision(union: &Union) -> String {
    let shared: Vec<_> = match union.of.split_first() {
        Some((first, rest)) => first
            .fields
            .iter()
            .filter(|field| {
                rest.iter().all(|one| {
                    one.fields.iter().any(|other| (&other.name, other.is_required) == (&field.name, field.is_required))
                })
            })
            .collect(),
        None => Vec::new(),
    };
    let variants: String =
        union.of.iter().map(|one| format!("{}{}({}),\n", docs(&one.docs), variant(one), one.name)).collect();
    let reads: String =
        union.of.iter().map(|one| format!("Permit::{0} => text.read().map(Decision::{0}),\n", variant(one))).collect();
    let getters: String = shared
        .iter()
        .map(|field| {
            let arms: String = union
                .of
                .iter()
                .map(|one| {
                    let borrow = if field.is_required { "&" } else { "" };
                    let get = if field.is_required { "" } else { ".as_ref()" };
                    format!("Decision::{}(body) => {borrow}body.{}{get},\n", variant(one), member(&field.name))
                })
                .collect();
            let ty = match (field.is_required, ty(&field.ty)) {
                (true, of) => format!("&{of}"),
                (false, of) => format!("Option<&{of}>"),
            };
            let ty = ty.replace("&String", "&str").replace("&Vec<Reason>", "&[Reason]");
            let arms = if ty == "Option<&str>" { arms.replace(".as_ref()", ".as_deref()") } else { arms };
            format!(
                "\n{}pub fn {}(&self) -> {ty} {{\nmatch self {{\n{arms}}}\n}}\n",
                docs(if field.docs.is_empty() { "Returns the member of this name." } else { &field.docs }),
                member(&field.name)
            )
        })
        .collect();
    format!(
        "\n{}#[derive(Debug, Clone, PartialEq)]\npub enum Decision {{\n{variants}}}\n\
         \nimpl Decision {{\n/// Returns whether the call may run now.\npub fn is_allowed(&self) -> bool {{\n\
         matches!(self, Decision::Allow(_))\n}}\n{getters}}}\n\
         \nimpl<'de> Deserialize<'de> for Decision {{\nfn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
         #[derive(Deserialize)]\nstruct Told {{\npermit: Permit,\n}}\n\
         let text = Json::deserialize(deserializer)?;\nlet Told {{ permit }} = text.read().map_err(D::Error::custom)?;\n\
         match permit {{\n{reads}}}\n.map_err(D::Error::custom)\n}}\n}}\n",
        docs(&union.docs)
    )
}

/// Returns the constructors of an event.
fn constructors(one: &Struct) -> String {
    let required = || one.fields.iter().filter(|field| field.is_required);
    let takes_into = |of: &Type| matches!(of, Type::Text | Type::Large(_));
    let parameters: Vec<String> = required()
        .map(|field| match takes_into(&field.ty) {
            true => format!("{}: impl Into<{}>", member(&field.name), ty(&field.ty)),
            false => format!("{}: {}", member(&field.name), ty(&field.ty)),
        })
        .collect();
    let fields: String = one
        .fields
        .iter()
        .map(|field| match (field.is_required, takes_into(&field.ty)) {
            (true, true) => format!("{0}: {0}.into(),", member(&field.name)),
            (true, false) => format!("{},", member(&field.name)),
            (false, _) => format!("{}: None,", member(&field.name)),
        })
        .collect();
    format!(
        "\nimpl {0} {{\n/// Makes one with the members that it must have.\npub fn new({1}) -> Self {{\n{0} {{ {fields} }}\n}}\n\
         \n/// Returns it as an event at a time, in milliseconds since 1970.\npub fn at(self, at: u64) -> Event {{\n\
         Event {{ at, kind: self.into() }}\n}}\n}}\n",
        one.name,
        parameters.join(", ")
    )
}

fn structure(one: &Struct, name: &str) -> String {
    // Those with nothing but what may be missing have an empty value.
    let default = if one.fields.iter().all(|field| !field.is_required) { ", Default" } else { "" };
    let mut out = format!("\n{}#[derive(Debug, Clone, PartialEq{default}, Serialize, Deserialize)]\n", docs(&one.docs));
    if one.fields.is_empty() {
        return format!("{out}pub struct {name} {{}}\n");
    }
    out.push_str(&format!("pub struct {name} {{\n"));
    for field in &one.fields {
        out.push_str(&docs(&field.docs));
        let member = member(&field.name);
        if member.trim_end_matches('_') != field.name && !member.starts_with("r#") || member.ends_with('_') {
            out.push_str(&format!("#[serde(rename = \"{}\")]\n", field.name));
        }
        let of = ty(&field.ty);
        if field.is_required {
            out.push_str(&format!("pub {member}: {of},\n"));
        } else {
            // A `null` that is there is a document.
            let with = match field.ty {
                Type::Any => ", deserialize_with = \"present\"",
                _ => "",
            };
            out.push_str(&format!(
                "#[serde(default, skip_serializing_if = \"Option::is_none\"{with})]\npub {member}: Option<{of}>,\n"
            ));
        }
    }
    out.push_str("}\n");
    out
}

fn member(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

fn ty(ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Count => "u64".to_owned(),
        Type::Text => "String".to_owned(),
        Type::Any | Type::Object => "Json".to_owned(),
        Type::List(of) => format!("Vec<{}>", self::ty(of)),
        Type::Map(of) => format!("BTreeMap<String, {}>", self::ty(of)),
        Type::Named(name) => name.clone(),
        Type::Large(of) => format!("Large<{}>", self::ty(of)),
    }
}

fn choice(one: &Choice) -> String {
    let name = &one.name;
    let variants: String = one.words.iter().map(|word| format!("{},\n", pascal(word))).collect();
    let words: String = one.words.iter().map(|word| format!("{name}::{} => \"{word}\",\n", pascal(word))).collect();
    format!(
        "\n/// One of these words.\n#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]\n\
         #[serde(rename_all = \"snake_case\")]\npub enum {name} {{\n{variants}}}\n\
         \nimpl {name} {{\n/// Returns the word in JSON.\npub fn as_str(self) -> &'static str {{\nmatch self {{\n{words}}}\n}}\n}}\n\
         \nimpl fmt::Display for {name} {{\nfn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {{\n\
         formatter.write_str(self.as_str())\n}}\n}}\n"
    )
}
