//! The words of a run in Java.

use std::collections::BTreeSet;

use super::model::{Field, Type, Union, Words};
use crate::java::{Component, Of, Record, docs, file, record, words_of};

/// Returns the name of a union: the journal of a run has these records, and Java has others.
fn name(of: &str) -> String {
    match of {
        "Event" | "Record" => format!("Run{of}"),
        other => other.to_owned(),
    }
}

/// Structs that the facts of a call have, which callers write.
const MADE: [&str; 1] = ["Bounds"];

pub(super) fn words(words: &Words) -> Vec<(String, String)> {
    let made = made(words);
    let mut files = Vec::new();
    for union in &words.unions {
        match union.name.as_str() {
            "Decision" => files.push(decision(words, union)),
            _ => files.extend(tagged(words, union)),
        }
    }
    for one in &words.structs {
        let has_text = one.name == "Observation";
        let mut components: Vec<Component> = one.fields.iter().map(|field| component(words, field)).collect();
        if has_text {
            components.push(text("observation"));
        }
        files.push(record(
            super::HEAD,
            &Record {
                name: one.name.clone(),
                docs: vec![one.docs.clone()],
                components,
                implements: None,
                word: None,
                is_made: made.contains(&one.name),
                has_text,
                methods: if has_text { SEEN.to_owned() } else { String::new() },
            },
        ));
    }
    for one in &words.choices {
        let about = [format!("{} is one of these words.", one.name)];
        let constants: Vec<(String, String)> = one.words.iter().map(|word| (word.clone(), String::new())).collect();
        files.push(words_of(super::HEAD, &one.name, &about, &constants));
    }
    files
}

/// The method of an observation that says what claims may cite.
const SEEN: &str =
    "\n  /** Returns what claims may cite of it. */\n  public Seen seen() {\n    return Seen.of(this);\n  }\n";

/// Returns the structs in events, which callers write.
fn made(words: &Words) -> BTreeSet<String> {
    let mut open: Vec<String> = MADE.map(str::to_owned).to_vec();
    for union in words.unions.iter().filter(|union| union.name == "Event") {
        open.extend(union.of.iter().flat_map(|one| one.fields.iter().filter_map(|field| named(&field.ty))));
    }
    let mut made = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some(one) = words.structs.iter().find(|one| one.name == name)
            && made.insert(name)
        {
            open.extend(one.fields.iter().filter_map(|field| named(&field.ty)));
        }
    }
    made
}

fn named(ty: &Type) -> Option<String> {
    match ty {
        Type::Named(name) => Some(name.clone()),
        Type::List(of) | Type::Map(of) | Type::Large(of) => named(of),
        _ => None,
    }
}

/// Returns an interface, and a record for each object that it stands for.
fn tagged(words: &Words, union: &Union) -> Vec<(String, String)> {
    let name = name(&union.name);
    let is_event = union.name == "Event";
    let mut files = Vec::new();
    for one in &union.of {
        let at = Component {
            name: "at".to_owned(),
            docs: "when, in milliseconds since 1970.".to_owned(),
            of: Of::Long,
            is_nullable: false,
        };
        let at = is_event.then_some(at);
        files.push(record(
            super::HEAD,
            &Record {
                name: one.name.clone(),
                docs: vec![one.docs.clone()],
                components: at.into_iter().chain(one.fields.iter().map(|field| component(words, field))).collect(),
                implements: Some(name.clone()),
                word: one.word.clone(),
                is_made: is_event,
                has_text: false,
                methods: String::new(),
            },
        ));
    }
    let permits: Vec<String> = union.of.iter().map(|one| format!("\n        {}", one.name)).collect();
    let cases: String = union
        .of
        .iter()
        .map(|one| {
            let word = one.word.as_deref().unwrap_or_default();
            format!("      case \"{word}\" -> {}.read(json);\n", one.name)
        })
        .collect();
    let write = match is_event {
        true => "  /** Returns the event as JSON text. */\n  String toJson();\n\n",
        false => "",
    };
    let text = format!(
        "{}public sealed interface {name}\n    permits {} {{\n{write}  /** Reads one of JSON text. */\n  \
         static {name} of(String json) {{\n    return read(Json.parse(json));\n  }}\n\n  private static {name} \
         read(Json json) {{\n    String type = json.need(\"type\", Json::asText);\n    return switch (type) {{\n{cases}      \
         default -> throw new IllegalArgumentException(\n          \
         \"the type \" + type + \" is unknown: the kernel is of another version\");\n    }};\n  }}\n}}\n",
        docs(std::slice::from_ref(&union.docs), &[], ""),
        permits.join(",").trim_start(),
    );
    files.push(file(&name, super::HEAD, &text));
    files
}

/// Returns a decision: one record, whose `permit` says which components are present.
fn decision(words: &Words, union: &Union) -> (String, String) {
    let mut fields: Vec<Field> = Vec::new();
    for one in &union.of {
        for field in &one.fields {
            match fields.iter_mut().find(|known| known.name == field.name) {
                Some(known) => known.is_required &= field.is_required,
                None => fields.push(field.clone()),
            }
        }
    }
    for field in &mut fields {
        field.is_required &= union.of.iter().all(|one| one.fields.iter().any(|other| other.name == field.name));
    }
    let permit = Component {
        name: "permit".to_owned(),
        docs: "whether the call may run now.".to_owned(),
        of: Of::Word("Permit".to_owned()),
        is_nullable: false,
    };
    let components =
        [permit].into_iter().chain(fields.iter().map(|field| component(words, field))).chain([text("decision")]);
    let methods = "\n  /** Returns whether the call may run now. */\n  public boolean allows() {\n    \
                   return permit == Permit.ALLOW;\n  }\n";
    record(
        super::HEAD,
        &Record {
            name: "Decision".to_owned(),
            docs: vec![union.docs.clone()],
            components: components.collect(),
            implements: None,
            word: None,
            is_made: false,
            has_text: true,
            methods: methods.to_owned(),
        },
    )
}

/// Returns the component with the text of a document.
fn text(of: &str) -> Component {
    Component {
        name: "json".to_owned(),
        docs: format!("the {of} as JSON text, the same bytes as in every other runtime."),
        of: Of::Json,
        is_nullable: false,
    }
}

fn component(words: &Words, one: &Field) -> Component {
    Component { name: one.name.clone(), docs: one.docs.clone(), of: ty(words, &one.ty), is_nullable: !one.is_required }
}

fn ty(words: &Words, ty: &Type) -> Of {
    match ty {
        Type::Bool => Of::Bool,
        Type::Count => Of::Long,
        Type::Text => Of::Text,
        Type::Any | Type::Object => Of::Json,
        Type::List(of) => Of::List(Box::new(self::ty(words, of))),
        Type::Map(of) => Of::Map(Box::new(self::ty(words, of))),
        Type::Named(name) if words.choices.iter().chain(&words.external).any(|known| known.name == *name) => {
            Of::Word(name.clone())
        }
        Type::Named(name) => Of::Record(name.clone()),
        // A run takes and returns whole values.
        Type::Large(of) => self::ty(words, of),
    }
}
