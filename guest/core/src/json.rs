//! Serializes the gate's own values as JSON text.

use serde::Serialize;

use crate::text::push_json_string;

/// Serializes a value as JSON. Never fails, because the gate's values are strings, numbers, lists and records.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Serializes a string faster than [`json`], which examines each byte. The result is the same.
pub(crate) fn json_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_json_string(&mut out, text);
    out
}

/// Serializes a list of strings.
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

/// Serializes a list, using a function to serialize its items.
pub(crate) fn list<T>(items: &[T], write: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(","))
}

/// Serializes an object whose members are already JSON text.
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
