//! Arguments that a request over HTTP repeats as headers. A tool's definition names them.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use data_encoding::BASE64;
use serde_json::Value;

/// The error code of the protocol for headers that contradict the body.
pub(crate) const MISMATCH: i64 = -32020;

/// The member of an argument's schema that names its header.
const MIRRORED: &str = "x-mcp-header";
/// The prefix of these headers' names, in lower case.
const PREFIX: &str = "mcp-param-";

/// Checks that the headers of a call match its arguments. `headers` are those with the prefix, by their names in lower
/// case, and `definition` is that of the tool, if there is one.
///
/// # Errors
///
/// A header is missing, differs from its argument, or repeats no argument.
pub(super) fn check(definition: Option<&str>, arguments: &str, headers: &[(String, String)]) -> Result<(), String> {
    // Most tools repeat no arguments, and their definitions are long.
    let definition = definition.filter(|definition| definition.contains(MIRRORED) || !headers.is_empty());
    let Some(definition) = definition else {
        return match headers.first() {
            Some((name, _)) => Err(format!("Header mismatch: the header {name} repeats no argument of this tool")),
            None => Ok(()),
        };
    };
    let definition: Value = serde_json::from_str(definition).unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let mut all = Vec::new();
    find(&definition["inputSchema"], &mut Vec::new(), &mut all);
    for (header, path) in &all {
        let value = path.iter().fold(&arguments, |value, name| &value[name]);
        let told = headers.iter().find(|(name, _)| name == header).map(|(_, value)| decoded(value));
        if !is_same(told.as_ref(), value) {
            let path = path.join(".");
            return Err(format!(
                "Header mismatch: the header {header} and the body's argument {path} must be there, and the same"
            ));
        }
    }
    match headers.iter().find(|(name, _)| name.starts_with(PREFIX) && !all.iter().any(|(header, _)| header == name)) {
        Some((name, _)) => Err(format!("Header mismatch: the header {name} repeats no argument of this tool")),
        None => Ok(()),
    }
}

/// Finds the headers that a schema names, and the path of members to each argument. Only arguments that are reachable
/// through `properties` alone count.
fn find(schema: &Value, path: &mut Vec<String>, all: &mut Vec<(String, Vec<String>)>) {
    for (name, own) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = own[MIRRORED].as_str() {
            all.push((format!("{PREFIX}{}", header.to_ascii_lowercase()), path.clone()));
        }
        find(own, path, all);
        path.pop();
    }
}

/// Returns whether a header has the value of an argument. `told` is `None` if there is no such header, and `Some(None)`
/// if its value is malformed.
fn is_same(told: Option<&Option<String>>, value: &Value) -> bool {
    match (told, value) {
        (None, Value::Null) => true,
        (Some(Some(told)), Value::String(text)) => told == text,
        (Some(Some(told)), Value::Bool(is)) => *told == is.to_string(),
        (Some(Some(told)), Value::Number(number)) => {
            let as_number = |text: &str| text.parse::<f64>().ok();
            *told == number.to_string()
                || as_number(told).is_some_and(|told| as_number(&number.to_string()) == Some(told))
        }
        _ => false,
    }
}

/// Decodes the value of a header. Returns `None` if it is malformed.
pub(crate) fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64.decode(encoded.as_bytes()).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_what_arguments_say() {
        let definition = r#"{"inputSchema":{"properties":{"region":{"x-mcp-header":"Region"},"in":{"properties":{"n":{"x-mcp-header":"N"}}}}}}"#;
        let headers = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let check = |arguments: &str, all: &[(&str, &str)]| check(Some(definition), arguments, &headers(all)).is_ok();
        assert!(check("{}", &[]));
        assert!(check(r#"{"region":"eu","in":{"n":7}}"#, &[("mcp-param-region", "eu"), ("mcp-param-n", "7.0")]));
        assert!(check(r#"{"region":"é"}"#, &[("mcp-param-region", "=?base64?w6k=?=")]));
        assert!(!check(r#"{"region":"eu"}"#, &[]));
        assert!(!check(r#"{"region":"eu"}"#, &[("mcp-param-region", "us")]));
        assert!(!check("{}", &[("mcp-param-region", "us")]));
        assert!(!check("{}", &[("mcp-param-other", "us")]));
        assert!(!check(r#"{"region":"é"}"#, &[("mcp-param-region", "=?base64?w?=")]));
    }

    #[test]
    fn tool_without_such_arguments_takes_no_such_headers() {
        let header = [("mcp-param-region".to_owned(), "us".to_owned())];
        assert!(super::check(Some("{}"), "{}", &[]).is_ok() && super::check(None, "{}", &[]).is_ok());
        assert!(super::check(Some("{}"), "{}", &header).is_err() && super::check(None, "{}", &header).is_err());
    }
}
