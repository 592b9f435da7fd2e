//! The words of a run, as `schemas/` states them.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, bail, ensure};

use super::names::{EXTERNAL, LARGE, NAMES};
use crate::ordered::Node;

/// The type of a member.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Bool,
    /// An integer, not negative.
    Count,
    Text,
    /// Any JSON.
    Any,
    /// An object without further description.
    Object,
    List(Box<Type>),
    /// Values by names that are data.
    Map(Box<Type>),
    /// A [`Struct`], a [`Choice`], or a type that the packages have anyway.
    Named(String),
    /// A value that the line of a journal may replace by the digest of an artifact.
    Large(Box<Type>),
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) docs: String,
    pub(super) is_required: bool,
    pub(super) ty: Type,
}

#[derive(Debug, Clone)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) docs: String,
    /// The value of its member `type`, or of its discriminator.
    pub(super) word: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// Words from which a member has one.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) words: Vec<String>,
}

/// One of several objects, told apart by a member.
#[derive(Debug, Clone)]
pub(super) struct Union {
    pub(super) name: String,
    pub(super) docs: String,
    /// The member that distinguishes them.
    pub(super) tag: &'static str,
    pub(super) of: Vec<Struct>,
}

#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) unions: Vec<Union>,
    pub(super) structs: Vec<Struct>,
    pub(super) choices: Vec<Choice>,
    /// The types that each package already has.
    pub(super) external: Vec<Choice>,
}

/// Reads the schemas.
struct Reader {
    schemas: BTreeMap<&'static str, Node>,
    words: Words,
}

/// The schemas that words are made of.
const SCHEMAS: [&str; 6] = ["event", "action", "record", "decision", "observation", "result"];

impl Words {
    pub(super) fn read() -> Result<Self> {
        let mut schemas = BTreeMap::new();
        for name in SCHEMAS {
            let path = format!("schemas/{name}.schema.json");
            let text = fs::read_to_string(&path).with_context(|| path.clone())?;
            schemas.insert(name, serde_json::from_str(&text).with_context(|| path.clone())?);
        }
        let mut reader = Reader { schemas, words: Words::default() };
        for (schema, name) in [("event", "Event"), ("action", "Action"), ("record", "Record")] {
            let union = reader.tagged(schema, name)?;
            reader.words.unions.push(union);
        }
        let decision = reader.decision()?;
        reader.words.unions.push(decision);
        let observation = reader.structure("observation", "Observation", "observation", &reader.root("observation"))?;
        reader.words.structs.push(observation);
        Ok(reader.words)
    }
}

impl Reader {
    fn root(&self, schema: &str) -> Node {
        self.schemas[schema].clone()
    }

    /// Reads a schema with one definition for each value of `type`.
    fn tagged(&mut self, schema: &'static str, name: &str) -> Result<Union> {
        let root = self.root(schema);
        let words: Vec<String> = match root.get("oneOf") {
            Some(of) => of.items().iter().filter_map(|item| definition(item).map(str::to_owned)).collect(),
            None => root.get("properties").and_then(|it| it.get("type")?.get("enum")).context("types")?.texts(),
        };
        let mut of = Vec::new();
        for word in words {
            let node = root.get("$defs").and_then(|it| it.get(&word)).with_context(|| format!("{schema}: {word}"))?;
            let place = format!("{schema}:{word}");
            let mut one = self.structure(schema, &format!("{}{name}", pascal(&word)), &place, node)?;
            one.word = Some(word);
            of.push(one);
        }
        Ok(Union { name: name.to_owned(), docs: docs(&root), tag: "type", of })
    }

    /// Reads the schema of a decision, which has one definition for each value of `permit`.
    fn decision(&mut self) -> Result<Union> {
        let root = self.root("decision");
        let whole = self.structure("decision", "Decision", "decision", &root)?;
        let mut of = Vec::new();
        for word in root.get("properties").and_then(|it| it.get("permit")?.get("enum")).context("permit")?.texts() {
            let node = root.get("$defs").and_then(|it| it.get(&word)).with_context(|| word.clone())?;
            let required = node.get("required").map(Node::texts).unwrap_or_default();
            let names = node.get("properties").map(Node::members).unwrap_or_default();
            let fields = whole.fields.iter().filter(|field| names.iter().any(|(name, _)| *name == field.name));
            let fields = fields
                .cloned()
                .map(|field| Field { is_required: field.is_required || required.contains(&field.name), ..field });
            let name = NAMES.iter().find(|(place, _)| *place == format!("decision:{word}")).context("a name")?.1;
            of.push(Struct {
                name: name.to_owned(),
                docs: docs(node),
                word: Some(word),
                fields: fields.filter(|field| field.name != "permit").collect(),
            });
        }
        Ok(Union { name: "Decision".to_owned(), docs: docs(&root), tag: "permit", of })
    }

    /// Reads an object. `place` names it in [`NAMES`].
    fn structure(&mut self, schema: &'static str, name: &str, place: &str, node: &Node) -> Result<Struct> {
        let required = node.get("required").map(Node::texts).unwrap_or_default();
        let mut fields = Vec::new();
        for (member, value) in node.get("properties").context("properties")?.members() {
            if value.get("const").is_some() || (value == &Node::Bool(true) && ["type", "at"].contains(&&**member)) {
                continue;
            }
            // The members of a result are stated in a schema of their own.
            let (schema, value) = match value {
                Node::Bool(true) => match self.schemas["result"].get("properties").and_then(|it| it.get(member)) {
                    Some(value) if place == "event:tool_result" => ("result", value.clone()),
                    _ => (schema, value.clone()),
                },
                value => (schema, value.clone()),
            };
            let ty = self.ty(schema, &format!("{place}.{member}"), &value)?;
            let is_large = LARGE.iter().any(|(of, large)| place.starts_with(of) && large == member);
            fields.push(Field {
                name: member.clone(),
                docs: self.docs_of(schema, &value),
                is_required: required.contains(member),
                ty: if is_large { Type::Large(Box::new(ty)) } else { ty },
            });
        }
        Ok(Struct { name: name.to_owned(), docs: docs(node), word: None, fields })
    }

    fn ty(&mut self, schema: &'static str, place: &str, node: &Node) -> Result<Type> {
        if let Some(name) = NAMES.iter().find_map(|(at, name)| (*at == place).then_some(*name))
            && EXTERNAL.contains(&name)
        {
            let words = node.get("enum").map(Node::texts).unwrap_or_default();
            if !words.is_empty() && self.words.external.iter().all(|known| known.name != name) {
                self.words.external.push(Choice { name: name.to_owned(), words });
            }
            return Ok(Type::Named(name.to_owned()));
        }
        if let Some((schema, definition)) = self.reference(schema, node) {
            let target =
                self.schemas[schema].get("$defs").and_then(|it| it.get(&definition)).context("a definition")?;
            let target = target.clone();
            return self.ty(schema, &format!("{schema}:{definition}"), &target);
        }
        if let Some(words) = node.get("enum") {
            return self.choice(place, words.texts());
        }
        Ok(match node.get("type").and_then(Node::text) {
            Some("boolean") => Type::Bool,
            Some("integer") => Type::Count,
            Some("string") => Type::Text,
            Some("array") => {
                let items = node.get("items").context("items")?.clone();
                Type::List(Box::new(self.ty(schema, &format!("{place}[]"), &items)?))
            }
            Some("object") if node.get("properties").is_some() => {
                let name = named(place)?;
                let one = self.structure(schema, &name, place, node)?;
                self.add(one)?;
                Type::Named(name)
            }
            Some("object") => match node.get("additionalProperties") {
                Some(of @ Node::Object(_)) => {
                    let of = of.clone();
                    Type::Map(Box::new(self.ty(schema, &format!("{place}{{}}"), &of)?))
                }
                _ => Type::Object,
            },
            None => Type::Any,
            Some(other) => bail!("{place}: no words have the type {other}"),
        })
    }

    /// Adds an object. The same object of another schema adds only what that one lacks: texts.
    fn add(&mut self, one: Struct) -> Result<()> {
        let Some(known) = self.words.structs.iter_mut().find(|known| known.name == one.name) else {
            self.words.structs.push(one);
            return Ok(());
        };
        let shape = |one: &Struct| -> Vec<(String, bool, Type)> {
            one.fields.iter().map(|field| (field.name.clone(), field.is_required, field.ty.clone())).collect()
        };
        ensure!(shape(known) == shape(&one), "{}: schemas state it in different ways", one.name);
        for (field, other) in known.fields.iter_mut().zip(one.fields) {
            if field.docs.is_empty() {
                field.docs = other.docs;
            }
        }
        Ok(())
    }

    /// Adds words. Those of a schema that has only some of them are the same type.
    fn choice(&mut self, place: &str, words: Vec<String>) -> Result<Type> {
        let name = named(place)?;
        match self.words.choices.iter_mut().find(|known| known.name == name) {
            None => self.words.choices.push(Choice { name: name.clone(), words }),
            Some(known) => {
                let is_part = |some: &[String], all: &[String]| some.iter().all(|word| all.contains(word));
                let fits = is_part(&words, &known.words) || is_part(&known.words, &words);
                ensure!(fits, "{place}: {name} has other words elsewhere");
                if words.len() > known.words.len() {
                    known.words = words;
                }
            }
        }
        Ok(Type::Named(name))
    }

    /// Returns the schema and the definition that a node refers to.
    fn reference(&self, schema: &'static str, node: &Node) -> Option<(&'static str, String)> {
        let name = definition(node)?;
        let of = node.get("$ref").and_then(Node::text)?.strip_prefix("https://seamgate.dev/schemas/");
        let other = of.and_then(|of| SCHEMAS.into_iter().find(|schema| of.starts_with(&format!("{schema}/"))));
        Some((other.unwrap_or(schema), name.to_owned()))
    }

    /// Returns the description of a member: its own, or that of what it refers to.
    fn docs_of(&self, schema: &'static str, node: &Node) -> String {
        let own = docs(node);
        match self.reference(schema, node) {
            Some((schema, name)) if own.is_empty() => {
                self.schemas[schema].get("$defs").and_then(|it| it.get(&name)).map(docs).unwrap_or_default()
            }
            _ => own,
        }
    }
}

/// Returns the name of the definition that a node refers to.
fn definition(node: &Node) -> Option<&str> {
    node.get("$ref").and_then(Node::text)?.rsplit_once("#/$defs/").map(|(_, name)| name)
}

fn docs(node: &Node) -> String {
    node.get("description").and_then(Node::text).unwrap_or_default().to_owned()
}

/// Returns the name of the type at a place: from the table, or made of the names of the definition and the member.
fn named(place: &str) -> Result<String> {
    if let Some((_, name)) = NAMES.iter().find(|(at, _)| *at == place) {
        return Ok((*name).to_owned());
    }
    let (_, path) = place.split_once(':').unwrap_or(("", place));
    ensure!(!path.contains(['[', '{']) && path.matches('.').count() < 2, "{place}: names.rs must have its name");
    Ok(path.split('.').map(pascal).collect())
}

/// `ask_model` -> `AskModel`.
pub(super) fn pascal(word: &str) -> String {
    crate::text::pascal(&word.replace('_', "-"))
}
