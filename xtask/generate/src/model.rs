//! `wit/` -> the records and enumerations that the outputs are made from.

use std::path::Path;

use anyhow::{Context, Result, bail};
use wit_bindgen_core::wit_parser::{self, Docs, Resolve, Type as WitType, TypeDefKind, TypeId};

/// The interfaces whose types are described, in this order.
const INTERFACES: [&str; 2] = ["types", "stream"];

/// The type of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    U32,
    Text,
    /// A record or enumeration, by its name in WIT.
    Named(String),
    Option(Box<Type>),
    List(Box<Type>),
}

impl Type {
    /// Returns the record or enumeration in it.
    pub(super) fn named(&self) -> Option<&str> {
        match self {
            Type::Named(name) => Some(name),
            Type::Option(of) | Type::List(of) => of.named(),
            Type::Bool | Type::U32 | Type::Text => None,
        }
    }
}

/// A member of a record, or a case of an enumeration.
#[derive(Debug)]
pub(super) struct Member<T> {
    pub(super) name: String,
    pub(super) docs: Vec<String>,
    pub(super) ty: T,
}

#[derive(Debug)]
pub(super) enum Kind {
    Record(Vec<Member<Type>>),
    Enum(Vec<Member<()>>),
}

/// A record or an enumeration.
#[derive(Debug)]
pub(super) struct Definition {
    /// As WIT has it: `quarantine-reason`.
    pub(super) name: String,
    pub(super) interface: &'static str,
    /// A paragraph each.
    pub(super) docs: Vec<String>,
    pub(super) kind: Kind,
}

impl Definition {
    pub(super) fn members(&self) -> &[Member<Type>] {
        match &self.kind {
            Kind::Record(members) => members,
            Kind::Enum(_) => &[],
        }
    }
}

/// All of them, in the order of WIT.
pub(super) struct Model(Vec<Definition>);

impl Model {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(folder).with_context(|| format!("{}", folder.display()))?;
        let mut definitions = Vec::new();
        for interface in INTERFACES {
            let id = *resolve.packages[package].interfaces.get(interface).context(interface)?;
            for (name, id) in &resolve.interfaces[id].types {
                let definition = &resolve.types[*id];
                let kind = match &definition.kind {
                    TypeDefKind::Record(record) => {
                        let member = |field: &wit_parser::Field| {
                            let ty = ty(&resolve, field.ty).with_context(|| format!("{name}.{}", field.name))?;
                            Ok(Member { name: field.name.clone(), docs: paragraphs(&field.docs), ty })
                        };
                        Kind::Record(record.fields.iter().map(member).collect::<Result<_>>()?)
                    }
                    TypeDefKind::Enum(words) => {
                        let case = |case: &wit_parser::EnumCase| Member {
                            name: case.name.clone(),
                            docs: paragraphs(&case.docs),
                            ty: (),
                        };
                        Kind::Enum(words.cases.iter().map(case).collect())
                    }
                    // What `use` brings is described where it is defined; a resource has no members.
                    _ => continue,
                };
                definitions.push(Definition {
                    name: name.clone(),
                    interface,
                    docs: paragraphs(&definition.docs),
                    kind,
                });
            }
        }
        Ok(Model(definitions))
    }

    pub(super) fn get(&self, name: &str) -> Result<&Definition> {
        self.0.iter().find(|definition| definition.name == name).with_context(|| format!("wit/ has no type {name}"))
    }

    pub(super) fn is_enum(&self, name: &str) -> bool {
        self.get(name).is_ok_and(|definition| matches!(definition.kind, Kind::Enum(_)))
    }

    /// Everything that these types are made of, themselves included, in the order of WIT.
    pub(super) fn reachable(&self, roots: &[&str]) -> Result<Vec<&Definition>> {
        let mut found: Vec<&str> = Vec::new();
        let mut open: Vec<&str> = roots.to_vec();
        while let Some(name) = open.pop() {
            if !found.contains(&name) {
                found.push(name);
                open.extend(self.get(name)?.members().iter().filter_map(|member| member.ty.named()));
            }
        }
        Ok(self.0.iter().filter(|definition| found.contains(&definition.name.as_str())).collect())
    }
}

fn ty(resolve: &Resolve, ty: WitType) -> Result<Type> {
    Ok(match ty {
        WitType::Bool => Type::Bool,
        WitType::U32 => Type::U32,
        WitType::String => Type::Text,
        WitType::Id(id) => named(resolve, id)?,
        other => bail!("the generator has no rule for {other:?}"),
    })
}

fn named(resolve: &Resolve, id: TypeId) -> Result<Type> {
    let definition = &resolve.types[id];
    Ok(match &definition.kind {
        TypeDefKind::Option(of) => Type::Option(Box::new(ty(resolve, *of)?)),
        TypeDefKind::List(of) => Type::List(Box::new(ty(resolve, *of)?)),
        TypeDefKind::Type(of) => ty(resolve, *of)?,
        TypeDefKind::Record(_) | TypeDefKind::Enum(_) => {
            Type::Named(definition.name.clone().context("a type without a name")?)
        }
        other => bail!("the generator has no rule for {}", other.as_str()),
    })
}

fn paragraphs(docs: &Docs) -> Vec<String> {
    let text = docs.contents.as_deref().unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty()).map(|lines| lines.join(" ")).collect()
}
