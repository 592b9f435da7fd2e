//! The words of a run in TypeScript.

use super::model::{Field, Struct, Type, Union, Words};
use crate::typescript::{docs as paragraphs, one_of, union};

/// Returns the name of a union: browsers have a global `Event`, and TypeScript a type `Record`.
fn name(of: &str) -> String {
    match of {
        "Event" | "Record" => format!("Run{of}"),
        other => other.to_owned(),
    }
}

pub(super) fn words(words: &Words) -> String {
    let mut out =
        format!("// {}\n\nimport type {{ Confidence, Finish, Span, Violation }} from \"./types.js\";\n", super::HEAD);
    for several in &words.unions {
        out.push('\n');
        out.push_str(&docs(&several.docs, ""));
        out.push_str(&one_of(&name(&several.name), several.of.iter().map(|one| one.name.clone())));
        for one in &several.of {
            out.push_str(&interface(one, &tag(several, one)));
        }
    }
    for one in &words.structs {
        out.push_str(&interface(one, if one.name == "Observation" { JSON } else { "" }));
    }
    for one in &words.choices {
        out.push('\n');
        out.push_str(&union(&one.name, one.words.iter().cloned()));
    }
    out
}

/// The member with the text of a document.
const JSON: &str = "  /** The document as JSON text, the same bytes as in every other runtime. Not enumerable. */\n  readonly json: string;\n";

/// Returns the members that an object has by the union it belongs to.
fn tag(union: &Union, one: &Struct) -> String {
    let word = one.word.as_deref().unwrap_or_default();
    let tag = format!("  readonly {}: \"{word}\";\n", union.tag);
    match union.name.as_str() {
        "Event" => format!("{tag}  /** When, in milliseconds since 1970. */\n  readonly at: number;\n"),
        "Decision" => {
            let allows = word == "allow";
            format!("{tag}  /** Whether the call may run now. Not enumerable. */\n  readonly allows: {allows};\n{JSON}")
        }
        _ => tag,
    }
}

fn interface(one: &Struct, first: &str) -> String {
    let mut out = format!("\n{}export interface {} {{\n{first}", docs(&one.docs, ""), one.name);
    one.fields.iter().for_each(|field| out.push_str(&member(field)));
    out.push_str("}\n");
    out.replace(" {\n}\n", " {}\n")
}

fn member(field: &Field) -> String {
    let optional = if field.is_required { "" } else { "?" };
    format!("{}  readonly {}{optional}: {};\n", docs(&field.docs, "  "), field.name, ty(&field.ty))
}

fn ty(ty: &Type) -> String {
    match ty {
        Type::Bool => "boolean".to_owned(),
        Type::Count => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Any => "unknown".to_owned(),
        Type::Object => "Readonly<Record<string, unknown>>".to_owned(),
        Type::List(of) => format!("readonly {}[]", self::ty(of)),
        Type::Map(of) => format!("Readonly<Record<string, {}>>", self::ty(of)),
        Type::Named(name) => name.clone(),
        // A run takes and returns whole values.
        Type::Large(of) => self::ty(of),
    }
}

fn docs(text: &str, indent: &str) -> String {
    if text.is_empty() { String::new() } else { paragraphs(&[text.to_owned()], indent) }
}
