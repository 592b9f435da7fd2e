//! Values of ours -> JSON text.

use serde::Serialize;

use crate::text::push_json_string;

/// A value of ours as JSON. Strings, numbers, lists and records: nothing in them can fail to be written.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A string as JSON: the same as [`json`], which looks at each byte.
pub(crate) fn json_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_json_string(&mut out, text);
    out
}

/// A list of strings.
pub(crate) fn json_texts(texts: &[String]) -> String {
    let length: usize = texts.iter().map(|text| text.len() + 3).sum();
    let mut out = String::with_capacity(length + 2);
    out.push('[');
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_json_string(&mut out, text);
    }
    out.push(']');
    out
}

/// A list of what is written by itself.
pub(crate) fn list<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(","))
}

/// An object of members that are JSON text already.
pub(crate) fn object(members: &[(&str, &str)]) -> String {
    let length: usize = members.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut out = String::with_capacity(length + 2);
    for (name, value) in members {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
    out
}
