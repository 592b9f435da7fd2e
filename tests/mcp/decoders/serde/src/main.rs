//! Reads lines as programs in Rust do, with `serde_json` and its default features: for each line of standard input, writes what a value
//! and what derived types read.

use std::io::{BufRead, BufWriter, Write};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A message, as an SDK derives it: the first kind that fits.
#[derive(Deserialize)]
#[serde(untagged)]
enum Message {
    Request { id: Id, method: String, params: Option<Value>, jsonrpc: Version },
    Notification { method: String, params: Option<Value>, jsonrpc: Version },
    Result { id: Id, result: Value, jsonrpc: Version },
    Error { id: Id, error: Failure, jsonrpc: Version },
}

#[derive(Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    Two,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
    message: String,
    data: Option<Value>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().split(b'\n') {
        let line = line?;
        let refused = |error: serde_json::Error| json!({ "refused": format!("{:?}", error.classify()) });
        let plain = plain(&line).unwrap_or_else(refused);
        let typed = typed(&line).unwrap_or_else(refused);
        writeln!(out, "{}", json!({ "plain": plain, "typed": typed }))?;
    }
    out.flush()
}

fn plain(line: &[u8]) -> serde_json::Result<Value> {
    let members: Map<String, Value> = serde_json::from_slice(line)?;
    let mut read = Map::new();
    for name in ["id", "method", "params", "result", "error"] {
        if let Some(value) = members.get(name) {
            read.insert(name.to_owned(), noted(value));
        }
    }
    let kind = match (read.contains_key("method"), read.contains_key("id")) {
        (true, true) => "request",
        (true, false) => "notification",
        (false, _) if read.contains_key("error") => "error",
        (false, _) => "result",
    };
    read.insert("kind".to_owned(), json!(kind));
    if kind == "request" && members["method"] == "tools/call" {
        let params = members.get("params").unwrap_or(&Value::Null);
        read.insert("name".to_owned(), noted(&params["name"]));
        read.insert("arguments".to_owned(), noted(&params["arguments"]));
    }
    Ok(Value::Object(read))
}

fn typed(line: &[u8]) -> serde_json::Result<Value> {
    let mut read = Map::new();
    let mut put = |name: &str, value: Value| drop(read.insert(name.to_owned(), value));
    match serde_json::from_slice(line)? {
        Message::Request { id, method, params, jsonrpc: Version::Two } => {
            put("kind", json!("request"));
            put("id", id.noted());
            match method.as_str() {
                "tools/call" => {
                    let call: Call = serde_json::from_value(params.unwrap_or_default())?;
                    put("name", json!(call.name));
                    put("arguments", noted(&Value::Object(call.arguments)));
                }
                _ => params.iter().for_each(|params| put("params", noted(params))),
            }
            put("method", json!(method));
        }
        Message::Notification { method, params, jsonrpc: Version::Two } => {
            put("kind", json!("notification"));
            params.iter().for_each(|params| put("params", noted(params)));
            put("method", json!(method));
        }
        Message::Result { id, result, jsonrpc: Version::Two } => {
            put("kind", json!("result"));
            put("id", id.noted());
            put("result", noted(&result));
        }
        Message::Error { id, error, jsonrpc: Version::Two } => {
            put("kind", json!("error"));
            put("id", id.noted());
            let mut members = Map::new();
            members.insert("code".to_owned(), json!(error.code));
            members.insert("message".to_owned(), json!(error.message));
            members.extend(error.data.map(|data| ("data".to_owned(), data)));
            put("error", noted(&Value::Object(members)));
        }
    }
    Ok(Value::Object(read))
}

impl Id {
    fn noted(&self) -> Value {
        match self {
            Id::Number(number) => noted(&json!(number)),
            Id::Text(text) => json!(text),
        }
    }
}

/// Writes a value in the notation of `canonical.py`.
fn noted(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) if number < 0 => json!(["i", format!("-{:#x}", number.unsigned_abs())]),
            (_, Some(number)) => json!(["i", format!("{number:#x}")]),
            _ => json!(["f", format!("{:?}", number.as_f64().unwrap_or(f64::NAN))]),
        },
        Value::Array(items) => std::iter::once(json!("a")).chain(items.iter().map(noted)).collect(),
        Value::Object(members) => {
            let members = members.iter().flat_map(|(name, value)| [json!(name), noted(value)]);
            std::iter::once(json!("o")).chain(members).collect()
        }
    }
}
