//! The headers that repeat parts of a request without a session.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata>

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE64;
use serde_json::{Value, value::RawValue};

use super::message::{Message, members, text};

/// The member of an argument's schema that names the header for the argument.
const MIRRORED: &str = "x-mcp-header";
/// The largest integer that JavaScript represents exactly. Larger ones are not mirrored.
const MAX_SAFE: i64 = 9_007_199_254_740_991;
/// The deepest nesting of an argument that is mirrored.
const MAX_DEPTH: usize = 32;

/// An argument of a tool that is repeated in a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mirror {
    header: String,
    /// The names of the members that lead to the argument.
    path: Vec<String>,
}

/// The arguments that tools repeat in headers, by the names of the tools.
pub(super) type Mirrors = BTreeMap<String, Vec<Mirror>>;

/// Returns the headers of a request without a session, except that of its version.
pub(super) fn of_request(message: &Message, mirrors: &Mirrors) -> Vec<(String, String)> {
    let Some(method) = &message.method else { return Vec::new() };
    let mut headers = vec![("Mcp-Method".to_owned(), encoded(method))];
    let name = match method.as_str() {
        "tools/call" | "prompts/get" => message.text_param("name"),
        "resources/read" => message.text_param("uri"),
        _ => None,
    };
    if method == "tools/call"
        && let (Some(mirrors), Some(arguments)) =
            (name.as_ref().and_then(|name| mirrors.get(name)), message.param("arguments"))
    {
        let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
        headers.extend(mirrors.iter().filter_map(|mirror| Some((mirror.header.clone(), mirror.value(&arguments)?))));
    }
    headers.extend(name.map(|name| ("Mcp-Name".to_owned(), encoded(&name))));
    headers
}

impl Mirror {
    fn value(&self, arguments: &Value) -> Option<String> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        match value {
            Value::String(text) => Some(encoded(text)),
            Value::Bool(is) => Some(is.to_string()),
            Value::Number(number) => {
                let whole = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() <= MAX_SAFE as f64);
                Some(number.as_i64().or(whole.map(|value| value as i64)).map_or(number.to_string(), |n| n.to_string()))
            }
            _ => None,
        }
    }
}

/// Encodes the value of a header: unchanged, or in Base64 if it is not a valid header value.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && value.trim_matches([' ', '\t']).len() == value.len()
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64.encode(value.as_bytes())) }
}

/// The tools of one page of a list.
pub(super) struct Listed {
    /// The arguments that each tool mirrors. A tool without any has an empty list.
    pub(super) mirrors: Mirrors,
    /// The tools whose definitions are invalid, each with the reason.
    pub(super) invalid: Vec<(String, String)>,
    /// The result without the invalid tools, if there are any.
    pub(super) rewritten: Option<String>,
}

/// Reads the result of `tools/list`. A tool with invalid headers must not be offered.
pub(super) fn of_list(result: &RawValue) -> Listed {
    let mut listed = Listed { mirrors: Mirrors::new(), invalid: Vec::new(), rewritten: None };
    let Some(mut all) = members(result) else { return listed };
    let tools: Option<Vec<&RawValue>> = all.get("tools").and_then(|tools| serde_json::from_str(tools.get()).ok());
    let mut kept = Vec::new();
    for tool in tools.unwrap_or_default() {
        let of_tool = members(tool).unwrap_or_default();
        let name = of_tool.get("name").and_then(|name| text(name)).unwrap_or_default();
        let schema = of_tool.get("inputSchema").map_or("", |schema| schema.get());
        // Most schemas are long and mirror no argument.
        let mirrors = if schema.contains(MIRRORED) {
            mirrors_of(&serde_json::from_str(schema).unwrap_or_default())
        } else {
            Ok(Vec::new())
        };
        match mirrors {
            Ok(mirrors) => {
                listed.mirrors.insert(name, mirrors);
                kept.push(tool);
            }
            Err(why) => listed.invalid.push((name, why)),
        }
    }
    if !listed.invalid.is_empty() {
        let kept = serde_json::value::to_raw_value(&kept).ok();
        if let Some(kept) = &kept {
            all.insert("tools".to_owned(), kept);
            listed.rewritten = serde_json::to_string(&all).ok();
        }
    }
    listed
}

/// Returns the arguments that a schema mirrors, or why its definition is invalid.
fn mirrors_of(schema: &Value) -> Result<Vec<Mirror>, String> {
    let mut mirrors = Vec::new();
    reachable(schema, &mut Vec::new(), &mut mirrors)?;
    let mut names = BTreeSet::new();
    for mirror in &mirrors {
        if !names.insert(mirror.header.to_ascii_lowercase()) {
            return Err(format!("two arguments have the header {}", mirror.header));
        }
    }
    if count(schema, 0) != mirrors.len() {
        return Err(format!("{MIRRORED} may only stand in schemas that \"properties\" alone lead to"));
    }
    Ok(mirrors)
}

fn reachable(schema: &Value, path: &mut Vec<String>, mirrors: &mut Vec<Mirror>) -> Result<(), String> {
    if path.len() > MAX_DEPTH {
        return Ok(());
    }
    for (name, own) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        match own.get(MIRRORED) {
            None => {}
            Some(Value::String(header)) if is_token(header) => {
                if !matches!(own["type"].as_str(), Some("integer" | "string" | "boolean")) {
                    return Err(format!("{name:?} has {MIRRORED}: its type must be integer, string or boolean"));
                }
                mirrors.push(Mirror { header: format!("Mcp-Param-{header}"), path: path.clone() });
            }
            Some(_) => return Err(format!("{name:?}: {MIRRORED} must be the name of a header")),
        }
        reachable(own, path, mirrors)?;
        path.pop();
    }
    Ok(())
}

/// Returns whether a text is valid in the name of a header (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.len() <= 128 && text.bytes().all(is_part)
}

/// Counts the members with this name at any depth. A member of `properties` is the name of an argument, and does not
/// count.
fn count(schema: &Value, depth: usize) -> usize {
    match schema {
        _ if depth > 4 * MAX_DEPTH => 0,
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match (name.as_str(), value) {
                (MIRRORED, _) => 1,
                ("properties", Value::Object(properties)) => properties.values().map(|own| count(own, depth + 1)).sum(),
                ("default" | "const" | "enum" | "examples", _) => 0,
                _ => count(value, depth + 1),
            })
            .sum(),
        Value::Array(all) => all.iter().map(|value| count(value, depth + 1)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_cannot_be_headers_are_encoded() {
        for (value, expected) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value), expected);
        }
    }

    #[test]
    fn calls_have_the_headers_that_the_tool_asks_for() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
            "on": { "type": "boolean", "x-mcp-header": "On" } } });
        let mirrors = Mirrors::from([("sql".to_owned(), mirrors_of(&schema).expect("valid"))]);
        let call = json!({ "id": 1, "method": "tools/call", "params": {
            "name": "sql", "arguments": { "region": "é", "deep": { "n": 42.0 }, "on": null } } })
        .to_string();
        let headers = of_request(&Message::read(&call).expect("a message"), &mirrors);
        let headers: BTreeMap<&str, &str> = headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let expected = [
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "sql"),
            ("Mcp-Param-N", "42"),
            ("Mcp-Param-Region", "=?base64?w6k=?="),
        ];
        assert_eq!(headers, BTreeMap::from(expected));
    }

    #[test]
    fn invalid_definitions_are_left_out_of_the_list() {
        let invalid = [
            json!({ "properties": { "a": { "type": "number", "x-mcp-header": "A" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A B" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" }, "b": { "type": "string", "x-mcp-header": "a" } } }),
            json!({ "properties": { "a": { "items": { "type": "string", "x-mcp-header": "A" } } } }),
            json!({ "anyOf": [{ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } }] }),
        ];
        let mut tools: Vec<Value> =
            invalid.iter().map(|schema| json!({ "name": "bad", "inputSchema": schema })).collect();
        tools
            .push(json!({ "name": "good", "inputSchema": { "properties": { "x-mcp-header": { "type": "string" } } } }));
        let result = json!({ "tools": tools, "nextCursor": "c" }).to_string();
        let result: &RawValue = serde_json::from_str(&result).expect("JSON");
        let listed = of_list(result);
        assert_eq!(listed.invalid.len(), invalid.len(), "{:?}", listed.invalid);
        let rewritten: Value = serde_json::from_str(&listed.rewritten.expect("a result")).expect("JSON");
        assert_eq!((rewritten["tools"].as_array().map(Vec::len), &rewritten["nextCursor"]), (Some(1), &json!("c")));
    }
}
