//! JSON Type Definitions (RFC 8927) as JSON Schema.

use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) that accepts the same documents as a definition.
pub(super) fn to_json_schema(definition: &Value) -> Value {
    let mut schema = form(definition, None);
    if let (Some(schema), Some(named)) =
        (schema.as_object_mut(), definition.get("definitions").and_then(Value::as_object))
    {
        let named: Map<String, Value> = named.iter().map(|(name, each)| (name.clone(), form(each, None))).collect();
        schema.insert("$defs".to_owned(), Value::Object(named));
    }
    schema
}

/// Returns the schema of one form. `tag` is the member that tells it from the others of a discriminator, and its value.
fn form(definition: &Value, tag: Option<(&str, &str)>) -> Value {
    let mut schema = accepted(definition, tag);
    if definition.get("nullable").and_then(Value::as_bool) == Some(true) {
        schema = json!({ "anyOf": [schema, { "type": "null" }] });
    }
    let description = definition.pointer("/metadata/description").filter(|description| description.is_string());
    if let (Some(description), Some(schema)) = (description, schema.as_object_mut()) {
        schema.insert("description".to_owned(), description.clone());
    }
    schema
}

/// Returns the schema of one form, whether or not it also accepts null.
fn accepted(definition: &Value, tag: Option<(&str, &str)>) -> Value {
    let of = |keyword: &str| definition.get(keyword);
    if let Some(name) = of("ref").and_then(Value::as_str) {
        return json!({ "$ref": format!("#/$defs/{}", escaped(name)) });
    }
    if let Some(name) = of("type").and_then(Value::as_str) {
        return scalar(name);
    }
    if let Some(values) = of("enum") {
        return json!({ "enum": values });
    }
    if let Some(elements) = of("elements") {
        return json!({ "type": "array", "items": form(elements, None) });
    }
    if let Some(values) = of("values") {
        return json!({ "type": "object", "additionalProperties": form(values, None) });
    }
    if let (Some(name), Some(mapping)) =
        (of("discriminator").and_then(Value::as_str), of("mapping").and_then(Value::as_object))
    {
        let each: Vec<Value> = mapping.iter().map(|(value, each)| form(each, Some((name, value)))).collect();
        return json!({ "oneOf": each });
    }
    if of("properties").is_some() || of("optionalProperties").is_some() {
        return object(definition, tag);
    }
    json!({})
}

fn object(definition: &Value, tag: Option<(&str, &str)>) -> Value {
    let members = |keyword: &str| definition.get(keyword).and_then(Value::as_object).into_iter().flatten();
    let mut properties: Map<String, Value> = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for (name, each) in members("properties") {
        properties.insert(name.clone(), form(each, None));
        required.push(name);
    }
    for (name, each) in members("optionalProperties") {
        properties.insert(name.clone(), form(each, None));
    }
    if let Some((name, value)) = tag {
        properties.insert(name.to_owned(), json!({ "const": value }));
        required.push(name);
    }
    let is_open = definition.get("additionalProperties").and_then(Value::as_bool) == Some(true);
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": is_open })
}

fn scalar(name: &str) -> Value {
    let integer = |least: i64, most: i64| json!({ "type": "integer", "minimum": least, "maximum": most });
    match name {
        "boolean" => json!({ "type": "boolean" }),
        "timestamp" => json!({ "type": "string", "format": "date-time" }),
        "float32" | "float64" => json!({ "type": "number" }),
        "int8" => integer(i8::MIN.into(), i8::MAX.into()),
        "uint8" => integer(0, u8::MAX.into()),
        "int16" => integer(i16::MIN.into(), i16::MAX.into()),
        "uint16" => integer(0, u16::MAX.into()),
        "int32" => integer(i32::MIN.into(), i32::MAX.into()),
        "uint32" => integer(0, u32::MAX.into()),
        _ => json!({ "type": "string" }),
    }
}

/// Escapes a name as a step of a JSON Pointer in the fragment of a URI.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        match byte {
            b'~' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => escaped.push(char::from(byte)),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
