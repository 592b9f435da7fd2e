//! The words of a run in Go.

use std::slice;

use super::model::{Field, Struct, Type, Union, Words};
use crate::golang::{docs, exported, field, head, structure, words_of};

/// Returns the name of a union: the journal of a run has these records, and a program has others.
fn name(of: &str) -> String {
    match of {
        "Event" | "Record" => format!("Run{of}"),
        other => other.to_owned(),
    }
}

pub(super) fn words(words: &Words) -> String {
    let mut out = head(super::HEAD);
    out.push_str("\nimport (\n\t\"encoding/json\"\n\t\"fmt\"\n)\n");
    for union in &words.unions {
        match union.name.as_str() {
            "Decision" => out.push_str(&decision(words, union)),
            _ => out.push_str(&tagged(words, union)),
        }
    }
    for one in &words.structs {
        match one.name.as_str() {
            "Observation" => {
                let text = json("observation");
                out.push_str(&structure(
                    "Observation",
                    slice::from_ref(&one.docs),
                    one.fields.iter().map(|field| member(words, field)).chain([text]),
                ));
            }
            name => out.push_str(&structure(
                name,
                slice::from_ref(&one.docs),
                one.fields.iter().map(|field| member(words, field)),
            )),
        }
    }
    for one in &words.choices {
        let about = [format!("{} is one of these words.", one.name)];
        let constants = one.words.iter().map(|word| (word.clone(), String::new()));
        out.push_str(&words_of(&one.name, &about, &one.name, constants));
    }
    out
}

/// Returns an interface, a struct for each object that it stands for, and a function that reads one.
fn tagged(words: &Words, union: &Union) -> String {
    let name = name(&union.name);
    let mut out = format!("\n{}type {name} interface{{ is{name}() }}\n", docs(slice::from_ref(&union.docs), ""));
    for one in &union.of {
        let at = match union.name.as_str() {
            "Event" => Some("\t// At is when, in milliseconds since 1970.\n\tAt int64 `json:\"at\"`\n".to_owned()),
            _ => None,
        };
        let fields = at.into_iter().chain(one.fields.iter().map(|field| member(words, field)));
        out.push_str(&structure(&one.name, slice::from_ref(&one.docs), fields));
        out.push_str(&format!("\nfunc ({}) is{name}() {{}}\n", one.name));
        if union.name == "Event" {
            out.push_str(&marshal(one));
        }
    }
    let cases: String = union
        .of
        .iter()
        .map(|one| {
            let word = one.word.as_deref().unwrap_or_default();
            format!("\tcase \"{word}\":\n\t\treturn read[{}](text)\n", one.name)
        })
        .collect();
    let of = &union.name;
    out.push_str(&format!(
        "\n// Read{of} reads one of JSON text.\nfunc Read{of}(text []byte) ({name}, error) {{\n\
             \tvar tag struct {{\n\
             \t\tType string `json:\"type\"`\n\t}}\n\
             \tif err := json.Unmarshal(text, &tag); err != nil {{\n\t\treturn nil, err\n\t}}\n\
             \tswitch tag.Type {{\n{cases}\t}}\n\
             \treturn nil, fmt.Errorf(\"the type %q is unknown: the kernel is of another version\", tag.Type)\n}}\n"
    ));
    out
}

/// Returns how an event is written: with its word, and with lists that are there although they are empty.
fn marshal(one: &Struct) -> String {
    let name = &one.name;
    let word = one.word.as_deref().unwrap_or_default();
    let lists: String = one
        .fields
        .iter()
        .filter(|field| field.is_required && matches!(field.ty, Type::List(_)))
        .map(|field| {
            let member = exported(&field.name);
            format!("\tif e.{member} == nil {{\n\t\te.{member} = {}{{}}\n\t}}\n", ty(&field.ty))
        })
        .collect();
    format!(
        "\n// MarshalJSON implements [json.Marshaler].\nfunc (e {name}) MarshalJSON() ([]byte, error) {{\n\
         \ttype plain {name}\n{lists}\
         \treturn marshal(struct {{\n\t\tType string `json:\"type\"`\n\t\tplain\n\t}}{{\"{word}\", plain(e)}})\n}}\n"
    )
}

/// Returns a decision: one struct, whose `permit` says which members are present.
fn decision(words: &Words, union: &Union) -> String {
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
    let permit = "\t// Permit says whether the call may run now.\n\tPermit Permit `json:\"permit\"`\n".to_owned();
    let text = json("decision");
    let fields = [permit].into_iter().chain(fields.iter().map(|field| member(words, field))).chain([text]);
    let allows = "\n// Allows returns whether the call may run now.\n\
                  func (d *Decision) Allows() bool { return d.Permit == PermitAllow }\n";
    structure("Decision", slice::from_ref(&union.docs), fields) + allows
}

/// Returns the member with the text of a document.
fn json(of: &str) -> String {
    format!(
        "\t// JSON is the {of} as JSON text, the same bytes as in every other runtime.\n\tJSON []byte `json:\"-\"`\n"
    )
}

/// Returns whether a type has one of some words.
fn is_word(words: &Words, name: &str) -> bool {
    words.choices.iter().chain(&words.external).any(|known| known.name == name)
}

fn member(words: &Words, one: &Field) -> String {
    let about = slice::from_ref(&one.docs);
    if one.is_required {
        return field(about, &one.name, &ty(&one.ty), "");
    }
    // A word is never empty. A missing text, number or struct would be indistinguishable from an empty one.
    let of = match &one.ty {
        Type::Bool | Type::Count | Type::Text => format!("*{}", ty(&one.ty)),
        Type::Large(of) if matches!(**of, Type::Text) => format!("*{}", ty(of)),
        Type::Named(name) if !is_word(words, name) => format!("*{name}"),
        other => ty(other),
    };
    field(about, &one.name, &of, ",omitzero")
}

fn ty(ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Count => "int64".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Any | Type::Object => "json.RawMessage".to_owned(),
        Type::List(of) => format!("[]{}", self::ty(of)),
        Type::Map(of) => format!("map[string]{}", self::ty(of)),
        Type::Named(name) => name.clone(),
        // A run takes and returns whole values.
        Type::Large(of) => self::ty(of),
    }
}
