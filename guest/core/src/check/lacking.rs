//! Describes paths to values that the schema does not declare. A rule about such a path would never apply.

use super::{Kinds, Lacking};
use crate::{
    misspelling::nearest,
    parse::Kind,
    path::Selector,
    text::{quote, visible},
};

/// The maximum number of members that an error names, and the maximum length of each, in bytes.
const MAX_NAMED: usize = 8;
const MAX_NAME: usize = 64;

/// Describes a path that leads nowhere, and suggests another path. `of` names the schema.
pub fn leads_nowhere(path: &[Selector], lacking: &Lacking, of: &str) -> String {
    let (before, rest) = path.split_at(lacking.steps);
    let at = written(before);
    let Some(selector) = rest.first() else {
        return format!("must lead to a value of {of}");
    };
    let needed = if matches!(selector, Selector::Name(_)) { Kind::Object } else { Kind::Array };
    if !lacking.kinds.has(needed) {
        let is = lacking.kinds.names().join(" or ");
        let is = if is.is_empty() { "nothing".to_owned() } else { format!("of the type {is}") };
        let meant = match needed {
            Kind::Object if lacking.kinds.has(Kind::Array) => {
                let meant = [before, &[Selector::Each], rest].concat();
                format!("; did you mean {}?", quote(&written(&meant), 256))
            }
            Kind::Array if rest.len() == 1 => format!("; did you mean {}?", quote(&at, 256)),
            _ => String::new(),
        };
        return format!("must lead to a value of {of}: {} is {is} there{meant}", quote(&at, 256));
    }
    let Selector::Name(name) = selector else {
        return format!("must lead to a value of {of}: {} has no such item", quote(&at, 256));
    };
    let known = || lacking.names.iter().map(String::as_str);
    let has = match (nearest(name, known()), lacking.names.len()) {
        (Some(near), _) => {
            let meant = [before, &[Selector::Name(near.to_owned())], &rest[1..]].concat();
            format!("did you mean {}?", quote(&written(&meant), 256))
        }
        (None, 0) => "it has no members".to_owned(),
        (None, count) => {
            let some: Vec<String> = known().take(MAX_NAMED).map(|name| quote(name, MAX_NAME)).collect();
            let more = if count > MAX_NAMED { format!(" and {} more", count - MAX_NAMED) } else { String::new() };
            format!("it has {}{more}", some.join(", "))
        }
    };
    format!("must lead to a value of {of}: {} has no member {}; {has}", quote(&at, 256), quote(name, MAX_NAME))
}

/// Describes a path that never leads to a value of a wanted kind. `None` if it can lead to one.
pub fn ends_wrongly(path: &[Selector], kinds: Kinds, wanted: &[Kind], of: &str) -> Option<String> {
    if wanted.iter().any(|kind| kinds.has(*kind)) {
        return None;
    }
    let is = kinds.names().join(" or ");
    let meant = match kinds.has(Kind::Array) {
        true => format!("; did you mean {}?", quote(&written(&[path, &[Selector::Each]].concat()), 256)),
        false => String::new(),
    };
    let wanted = wanted.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ");
    Some(format!("must lead to a value of the type {wanted}, and leads to one of the type {is} in {of}{meant}"))
}

/// Formats a path as contracts and profiles write it: `$.list[*].name`.
pub fn written(path: &[Selector]) -> String {
    let mut out = "$".to_owned();
    for selector in path {
        match selector {
            Selector::Each => out.push_str("[*]"),
            Selector::Index(index) => out.push_str(&format!("[{index}]")),
            Selector::Name(name) => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                match starts && name.chars().all(is_plain) {
                    true => out.push_str(&format!(".{name}")),
                    false => out.push_str(&format!("['{}']", visible(name).replace('\'', "\\'"))),
                }
            }
        }
    }
    out
}
