//! A contract as text for its agent's prompt: what the output must be, from titles and descriptions.

use serde_json::{Map, Value};

use super::Extract;
use crate::text::cut;

/// The text is at most this long.
const MAX_TEXT: usize = 16 * 1024;

/// Deeper schemas are told as their type alone.
const MAX_DEPTH: usize = 8;

/// `source` is a contract that compiles.
pub(super) fn describe(source: &str, extract: &Extract) -> String {
    let contract: Value = serde_json::from_str(source).unwrap_or_default();
    let mut out = String::new();
    if let Some(description) = contract.get("description").and_then(Value::as_str) {
        line(&mut out, 0, description);
    }
    match extract.markers.iter().find(|marker| !marker.is_empty()) {
        Some(marker) => line(
            &mut out,
            0,
            &format!("Answer with one JSON document in a fenced block: ```{marker} before it, ``` after it."),
        ),
        None => line(&mut out, 0, "Answer with one JSON document and nothing else."),
    }
    match (contract.get("schema"), contract.get("jtd")) {
        (Some(schema), _) => {
            out.push_str("\nThe document:\n");
            let mut describer = Describer { root: schema, out };
            describer.value("", schema, None, 0);
            out = describer.out;
        }
        (None, Some(jtd)) => {
            out.push_str("\nThe document must match this JSON Type Definition (RFC 8927):\n");
            out.push_str(&jtd.to_string());
            out.push('\n');
        }
        (None, None) => {}
    }
    if let Some(path) = contract.get("refusal").and_then(Value::as_str) {
        let names: Vec<&str> = path.trim_start_matches("$.").split('.').collect();
        let opening: String = names.iter().map(|name| format!("{{\"{name}\": ")).collect();
        let closing = "}".repeat(names.len());
        out.push_str(&format!("\nTo decline, answer with {opening}\"the reason\"{closing} instead.\n"));
    }
    cut(&out, MAX_TEXT)
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

struct Describer<'s> {
    root: &'s Value,
    out: String,
}

impl<'s> Describer<'s> {
    /// One value: its name, what it is, what it is for, then what is inside.
    fn value(&mut self, name: &str, schema: &'s Value, required: Option<bool>, depth: usize) {
        let resolved = self.resolve(schema);
        let mut text = String::from("- ");
        if !name.is_empty() {
            text.push_str(&format!("\"{name}\""));
            text.push_str(match required {
                Some(false) => " (optional): ",
                _ => ": ",
            });
        }
        text.push_str(&kind(resolved));
        let about = |keyword: &str| schema.get(keyword).or(resolved.get(keyword)).and_then(Value::as_str);
        if let Some(about) = about("description").or(about("title")) {
            text.push_str(". ");
            text.push_str(about.trim_end_matches('.'));
        }
        text.push('.');
        line(&mut self.out, depth, &text);
        if depth < MAX_DEPTH {
            self.inside(resolved, depth + 1);
        }
    }

    fn inside(&mut self, schema: &'s Value, depth: usize) {
        let Value::Object(keywords) = schema else {
            return;
        };
        let required = |name: &str| match keywords.get("required") {
            Some(Value::Array(names)) => names.iter().any(|required| required == name),
            _ => false,
        };
        for (name, schema) in named(keywords, "properties") {
            self.value(name, schema, Some(required(name)), depth);
        }
        if let Some(items) = keywords.get("items").filter(|items| items.is_object()) {
            self.value("each item", items, None, depth);
        }
        for (keyword, says) in
            [("allOf", "and all of these"), ("anyOf", "at least one of these"), ("oneOf", "exactly one of these")]
        {
            if let Some(Value::Array(schemas)) = keywords.get(keyword) {
                line(&mut self.out, depth, &format!("{says}:"));
                for schema in schemas {
                    self.value("", schema, None, depth);
                }
            }
        }
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| keywords.get(*keyword) == Some(&Value::Bool(false)));
        if closed {
            line(&mut self.out, depth, "- No other members.");
        }
    }

    /// What a reference into the same schema leads to.
    fn resolve(&self, schema: &'s Value) -> &'s Value {
        let target = schema.get("$ref").and_then(Value::as_str);
        match target.and_then(|target| self.root.pointer(target.strip_prefix('#')?)) {
            Some(target) => target,
            None => schema,
        }
    }
}

fn named<'s>(keywords: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    keywords.get(keyword).and_then(Value::as_object).into_iter().flatten()
}

/// The type, with the bounds that an agent can keep to.
fn kind(schema: &Value) -> String {
    if let Some(Value::Array(options)) = schema.get("enum") {
        let options: Vec<String> = options.iter().map(Value::to_string).collect();
        return format!("one of {}", cut(&options.join(", "), 1024));
    }
    if let Some(value) = schema.get("const") {
        return cut(&value.to_string(), 1024);
    }
    let mut kind = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any value".to_owned(),
    };
    for (keyword, says) in [
        ("format", "format"),
        ("pattern", "matching"),
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
    ] {
        if let Some(value) = schema.get(keyword) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            kind.push_str(&format!(", {says} {}", cut(&value, 256)));
        }
    }
    for (least, most, noun) in [
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "members"),
    ] {
        match (schema.get(least), schema.get(most)) {
            (Some(least), Some(most)) => kind.push_str(&format!(", {least} to {most} {noun}")),
            (Some(least), None) => kind.push_str(&format!(", at least {least} {noun}")),
            (None, Some(most)) => kind.push_str(&format!(", at most {most} {noun}")),
            (None, None) => {}
        }
    }
    kind
}
