//! Translates JSON Type Definitions (RFC 8927) to JSON Schemas.

use std::collections::HashMap;

use seamgate_text::escaped;
use serde_json::{Map, Value, json};

use super::order::Order;

/// A definition that was translated to a JSON Schema.
pub(crate) struct Translated {
    /// The contract with the JSON Schema.
    pub(crate) contract: Value,
    /// The order of the schema's members.
    pub(crate) order: Order,
    /// The places of the definition's forms, by the corresponding places in the JSON Schema.
    places: HashMap<String, String>,
}

impl Translated {
    /// Returns the form that a place in the JSON Schema comes from.
    pub(crate) fn place(&self, pointer: &str) -> String {
        let mut pointer = pointer;
        loop {
            match (self.places.get(pointer), pointer.rfind('/')) {
                (Some(place), _) => return place.clone(),
                (None, Some(slash)) => pointer = &pointer[..slash],
                (None, None) => return "/jtd".to_owned(),
            }
        }
    }
}

struct Translation<'d> {
    order: &'d Order,
    places: HashMap<String, String>,
}

/// Translates the definition of a contract. `order` may lack objects, whose members then have no specific order.
pub(crate) fn translated(contract: &Value, order: &Order) -> Option<Translated> {
    let definition = contract.get("jtd")?;
    let mut translation = Translation { order, places: HashMap::new() };
    let mut schema = translation.form(definition, "/jtd", "/schema", None);
    if let Some(definitions) = definition.get("definitions").and_then(Value::as_object) {
        let mut written = Map::new();
        for (name, form) in definitions {
            let name_in_place = escaped(name);
            let [from, to] = ["/jtd/definitions", "/schema/$defs"].map(|place| format!("{place}/{name_in_place}"));
            written.insert(name.clone(), translation.form(form, &from, &to, None));
        }
        schema["$defs"] = Value::Object(written);
    }
    let mut ordered = Order::default();
    for (place, from) in &translation.places {
        let keywords = ["properties", "optionalProperties"].iter();
        let names = keywords.flat_map(|keyword| order.names(&format!("{from}/{keyword}"))).cloned().collect();
        ordered.set(format!("{place}/properties"), names);
    }
    Some(Translated { contract: json!({ "schema": schema }), order: ordered, places: translation.places })
}

impl Translation<'_> {
    /// Translates a form. `tag` is the member of a discriminator, with its value.
    fn form(&mut self, form: &Value, from: &str, to: &str, tag: Option<(&str, &str)>) -> Value {
        let is_nullable = form.get("nullable") == Some(&Value::Bool(true));
        let inner = if is_nullable { format!("{to}/anyOf/0") } else { to.to_owned() };
        self.places.insert(to.to_owned(), from.to_owned());
        self.places.insert(inner.clone(), from.to_owned());
        let mut schema = self.shape(form, from, &inner, tag);
        if is_nullable {
            schema = json!({ "anyOf": [schema, { "type": "null" }] });
        }
        if let Some(description) = form.pointer("/metadata/description").filter(|text| text.is_string()) {
            schema["description"] = description.clone();
        }
        schema
    }

    /// Translates a form without `nullable`.
    fn shape(&mut self, form: &Value, from: &str, to: &str, tag: Option<(&str, &str)>) -> Value {
        if let Some(name) = form.get("ref").and_then(Value::as_str) {
            return json!({ "$ref": format!("#/$defs/{}", percent(&escaped(name))) });
        }
        if let Some(name) = form.get("type").and_then(Value::as_str) {
            return scalar(name);
        }
        if let Some(values) = form.get("enum") {
            return json!({ "type": "string", "enum": values });
        }
        if let Some(elements) = form.get("elements") {
            let items = self.form(elements, &format!("{from}/elements"), &format!("{to}/items"), None);
            return json!({ "type": "array", "items": items });
        }
        if let Some(values) = form.get("values") {
            let values = self.form(values, &format!("{from}/values"), &format!("{to}/additionalProperties"), None);
            return json!({ "type": "object", "additionalProperties": values });
        }
        if let (Some(tag), Some(mapping)) =
            (form.get("discriminator").and_then(Value::as_str), form.get("mapping").and_then(Value::as_object))
        {
            let known = self.order.names(&format!("{from}/mapping"));
            let mut names: Vec<&String> = known.iter().filter(|name| mapping.contains_key(*name)).collect();
            names.extend(mapping.keys().filter(|name| !known.contains(name)));
            let mut branches = Vec::new();
            for (at, name) in names.into_iter().enumerate() {
                let [from, to] = [format!("{from}/mapping/{}", escaped(name)), format!("{to}/anyOf/{at}")];
                branches.push(self.form(&mapping[name], &from, &to, Some((tag, name))));
            }
            return json!({ "anyOf": branches });
        }
        self.members(form, from, to, tag)
    }

    fn members(&mut self, form: &Value, from: &str, to: &str, tag: Option<(&str, &str)>) -> Value {
        let has_members = ["properties", "optionalProperties"].iter().any(|keyword| form.get(keyword).is_some());
        if !has_members && tag.is_none() {
            return json!({});
        }
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        if let Some((tag, value)) = tag {
            properties.insert(tag.to_owned(), json!({ "const": value }));
            required.push(tag);
        }
        for keyword in ["properties", "optionalProperties"] {
            for (name, member) in form.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                let name_in_place = escaped(name);
                let [from, to] =
                    [format!("{from}/{keyword}/{name_in_place}"), format!("{to}/properties/{name_in_place}")];
                properties.insert(name.clone(), self.form(member, &from, &to, None));
                if keyword == "properties" {
                    required.push(name);
                }
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties, "required": required });
        if form.get("additionalProperties") != Some(&Value::Bool(true)) {
            schema["additionalProperties"] = Value::Bool(false);
        }
        schema
    }
}

/// Translates the name of a type.
fn scalar(name: &str) -> Value {
    let integer = |least: i64, most: i64| json!({ "type": "integer", "minimum": least, "maximum": most });
    match name {
        "boolean" => json!({ "type": "boolean" }),
        "string" => json!({ "type": "string" }),
        "timestamp" => json!({ "type": "string", "format": "date-time" }),
        "float32" | "float64" => json!({ "type": "number" }),
        "int8" => integer(i8::MIN.into(), i8::MAX.into()),
        "uint8" => integer(u8::MIN.into(), u8::MAX.into()),
        "int16" => integer(i16::MIN.into(), i16::MAX.into()),
        "uint16" => integer(u16::MIN.into(), u16::MAX.into()),
        "int32" => integer(i32::MIN.into(), i32::MAX.into()),
        "uint32" => integer(u32::MIN.into(), u32::MAX.into()),
        _ => json!({}),
    }
}

/// Escapes percent signs, so that they keep their meaning in a fragment.
fn percent(name: &str) -> String {
    name.replace('%', "%25")
}
