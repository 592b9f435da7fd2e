//! Renders the interfaces of a WIT world as lines of text, which can be compared.

use std::collections::BTreeSet;

use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, TypeId, TypeOwner, WorldId, WorldItem};

/// The deepest nesting of types without a name.
const MAX_DEPTH: usize = 64;

/// Returns a line for each item that a world exports: interfaces, their types and their functions.
pub(crate) fn exports(resolve: &Resolve, world: WorldId) -> Result<BTreeSet<String>, String> {
    let mut lines = BTreeSet::new();
    for (key, item) in &resolve.worlds[world].exports {
        let name = resolve.name_world_key(key);
        match item {
            WorldItem::Interface { id, .. } => {
                let interface = &resolve.interfaces[*id];
                for (of_type, id) in &interface.types {
                    lines.insert(format!("{name}: type {of_type} = {}", definition(resolve, *id, 0)?));
                }
                for function in interface.functions.values() {
                    lines.insert(format!("{name}: {}", signature(resolve, function)?));
                }
                lines.insert(name);
            }
            WorldItem::Function(function) => {
                lines.insert(signature(resolve, function)?);
            }
            WorldItem::Type { id, .. } => {
                lines.insert(format!("type {name} = {}", definition(resolve, *id, 0)?));
            }
        }
    }
    Ok(lines)
}

/// Returns the kind, the name, the parameters and the result of a function. The name contains its resource, if it
/// belongs to one.
fn signature(resolve: &Resolve, function: &Function) -> Result<String, String> {
    let params = function.params.iter().map(|param| Ok((param.name.as_str(), Some(&param.ty))));
    let params = members(resolve, params, 0)?;
    let word = if function.kind.is_async() { "async func" } else { "func" };
    let result = optional(resolve, function.result.as_ref(), 0)?;
    Ok(format!("{word} {}({params}) -> {result}", function.name))
}

/// Returns the definition of a type.
fn definition(resolve: &Resolve, id: TypeId, depth: usize) -> Result<String, String> {
    if depth > MAX_DEPTH {
        return Err(format!("nests types deeper than {MAX_DEPTH}"));
    }
    let next = depth + 1;
    let of = |ty: &Type| reference(resolve, ty, next);
    Ok(match &resolve.types[id].kind {
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter().map(|field| Ok((field.name.as_str(), Some(&field.ty))));
            format!("record {{{}}}", members(resolve, fields, next)?)
        }
        TypeDefKind::Variant(variant) => {
            let cases = variant.cases.iter().map(|case| Ok((case.name.as_str(), case.ty.as_ref())));
            format!("variant {{{}}}", members(resolve, cases, next)?)
        }
        TypeDefKind::Enum(of) => {
            format!("enum {{{}}}", of.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Flags(of) => {
            format!("flags {{{}}}", of.flags.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Tuple(tuple) => {
            let types = tuple.types.iter().map(of).collect::<Result<Vec<_>, _>>()?;
            format!("tuple<{}>", types.join(", "))
        }
        TypeDefKind::Result(result) => {
            let [ok, err] = [&result.ok, &result.err].map(|ty| optional(resolve, ty.as_ref(), next));
            format!("result<{}, {}>", ok?, err?)
        }
        TypeDefKind::Resource => "resource".to_owned(),
        TypeDefKind::Handle(Handle::Own(id)) => format!("own<{}>", of(&Type::Id(*id))?),
        TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", of(&Type::Id(*id))?),
        TypeDefKind::Option(ty) => format!("option<{}>", of(ty)?),
        TypeDefKind::List(ty) => format!("list<{}>", of(ty)?),
        TypeDefKind::Map(key, value) => format!("map<{}, {}>", of(key)?, of(value)?),
        TypeDefKind::FixedLengthList(ty, length) => format!("list<{}, {length}>", of(ty)?),
        TypeDefKind::Future(ty) => format!("future<{}>", optional(resolve, ty.as_ref(), next)?),
        TypeDefKind::Stream(ty) => format!("stream<{}>", optional(resolve, ty.as_ref(), next)?),
        TypeDefKind::Type(ty) => of(ty)?,
        TypeDefKind::Unknown => return Err("has a type of an unknown form".to_owned()),
    })
}

/// Renders members as `name: type`. A member can lack its type.
fn members<'t>(
    resolve: &Resolve,
    members: impl Iterator<Item = Result<(&'t str, Option<&'t Type>), String>>,
    depth: usize,
) -> Result<String, String> {
    let members = members.map(|member| {
        let (name, ty) = member?;
        Ok(format!("{name}: {}", optional(resolve, ty, depth)?))
    });
    Ok(members.collect::<Result<Vec<String>, String>>()?.join(", "))
}

fn optional(resolve: &Resolve, ty: Option<&Type>, depth: usize) -> Result<String, String> {
    ty.map_or_else(|| Ok("_".to_owned()), |ty| reference(resolve, ty, depth))
}

/// Returns the name of a type, as the interface that defines it gives it. For a type without a name, returns the
/// definition.
fn reference(resolve: &Resolve, ty: &Type, depth: usize) -> Result<String, String> {
    let Type::Id(id) = ty else {
        return Ok(format!("{ty:?}").to_lowercase());
    };
    // Other interfaces give other names to the same type.
    let mut id = *id;
    for _ in 0..MAX_DEPTH {
        match &resolve.types[id].kind {
            TypeDefKind::Type(Type::Id(next)) => id = *next,
            _ => break,
        }
    }
    let found = &resolve.types[id];
    let owner = match found.owner {
        TypeOwner::Interface(interface) => resolve.id_of(interface),
        TypeOwner::World(_) | TypeOwner::None => None,
    };
    match &found.name {
        Some(name) => Ok(format!("{}#{name}", owner.as_deref().unwrap_or("world"))),
        None => definition(resolve, id, depth + 1),
    }
}
