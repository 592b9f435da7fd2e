//! Headers of the protocol: which version a request is of, and whether they say what its body says.

use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    super::{
        message::{self, Members, Message},
        stateless,
    },
    wire::{Refused, Request},
};

/// The last version with sessions, and those before it that have this transport.
pub(super) const LAST_WITH_SESSIONS: &str = "2025-11-25";
const WITH_SESSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", LAST_WITH_SESSIONS];

/// An error of the protocol: headers and body say different things.
const MISMATCH: i64 = -32020;
/// Errors that are the request's own fault.
const BAD_REQUEST: [i64; 3] = [MISMATCH, -32021, -32022];

/// By this member of a schema, an argument is mirrored.
const MIRRORED: &str = "x-mcp-header";

/// The kind of version that a request has: with sessions, or without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Session,
    Stateless,
}

/// Which of both a request is of, by its headers alone.
pub(super) fn era_of(request: &Request) -> Result<Era, Refused> {
    match request.header("mcp-protocol-version") {
        None => Ok(Era::Session),
        Some(version) if WITH_SESSIONS.contains(&version) => Ok(Era::Session),
        Some(version) if is_date(version) && version > LAST_WITH_SESSIONS => Ok(Era::Stateless),
        Some(_) => {
            Err(Refused(400, format!("Mcp-Protocol-Version must be {}, or a later one", WITH_SESSIONS.join(", "))))
        }
    }
}

/// Returns whether a version has the form of the protocol's versions: a date.
pub(super) fn is_date(version: &str) -> bool {
    version.len() == 10
        && version.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Returns whether a request accepts an answer of this kind.
pub(super) fn accepts(request: &Request, kind: &str) -> bool {
    let all = kind.split('/').next().unwrap_or_default();
    request.words("accept").any(|word| {
        word.eq_ignore_ascii_case(kind)
            || word == "*/*"
            || word.strip_suffix("/*").is_some_and(|own| own.eq_ignore_ascii_case(all))
    })
}

/// Which of both a message is of. Without a session, the headers must say what the body says. An error has the body of the answer.
pub(super) fn check(request: &Request, message: &Message, params: Option<&RawValue>) -> Result<Era, String> {
    let (id, is_request) = match message {
        Message::Request { id, .. } => (*id, true),
        Message::Notification { .. } | Message::Answer { .. } => ("null", false),
    };
    let era = match stateless::version(params) {
        // The server says whether it speaks this version.
        Some(own) if request.header("mcp-protocol-version") == Some(&own) => Era::Stateless,
        Some(_) => return Err(mismatch(id, "Mcp-Protocol-Version", "version")),
        None => match era_of(request) {
            Ok(Era::Stateless) if is_request => return Err(incomplete(id)),
            Ok(era) => era,
            Err(Refused(_, why)) => return Err(message::error(id, message::INVALID_REQUEST, &why)),
        },
    };
    if era == Era::Stateless {
        if is_request && !stateless::has_capabilities(params) {
            return Err(incomplete(id));
        }
        check_names(request, message, params)?;
    }
    Ok(era)
}

fn mismatch(id: &str, header: &str, member: &str) -> String {
    let why = format!("Header mismatch: the header {header} and the body's {member} must be there, and the same");
    message::error(id, MISMATCH, &why)
}

fn incomplete(id: &str) -> String {
    let why = "Invalid params: _meta must have io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities";
    message::error(id, message::INVALID_PARAMS, why)
}

fn check_names(request: &Request, message: &Message, params: Option<&RawValue>) -> Result<(), String> {
    let Message::Request { id, method, .. } = message else { return Ok(()) };
    if request.header("mcp-method") != Some(method) {
        return Err(mismatch(id, "Mcp-Method", "method"));
    }
    let member = match &**method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let members = params.and_then(|params| Members::of(params.get())).filter(|members| !members.has_doubles());
    let own = members.as_ref().and_then(|members| members.text(member));
    let name = request.header("mcp-name").and_then(decoded);
    if own.is_none() || own.as_deref() != name.as_deref() {
        return Err(mismatch(id, "Mcp-Name", member));
    }
    Ok(())
}

/// Arguments of a tool that its requests have as headers, too.
pub(super) type Mirrored = Vec<Mirror>;

/// One of them.
pub(super) struct Mirror {
    /// In lower case.
    header: String,
    /// Its members, from the outermost.
    path: Vec<String>,
}

/// Which arguments the tools of a list mirror, by names of tools.
pub(super) fn mirrored(list: &RawValue) -> Vec<(String, Mirrored)> {
    #[derive(Deserialize)]
    struct List {
        tools: Vec<Tool>,
    }
    #[derive(Deserialize)]
    struct Tool {
        name: String,
        #[serde(rename = "inputSchema", default)]
        schema: Value,
    }
    // Most lists have none, and are long.
    if !list.get().contains(MIRRORED) {
        return Vec::new();
    }
    let List { tools } = serde_json::from_str(list.get()).unwrap_or(List { tools: Vec::new() });
    let of = |Tool { name, schema }| {
        let mut all = Vec::new();
        find_mirrored(&schema, &mut Vec::new(), &mut all);
        (name, all)
    };
    tools.into_iter().map(of).collect()
}

/// Only what is reached by `properties` alone counts.
fn find_mirrored(schema: &Value, path: &mut Vec<String>, all: &mut Mirrored) {
    for (name, own) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = own[MIRRORED].as_str() {
            all.push(Mirror { header: format!("mcp-param-{}", header.to_ascii_lowercase()), path: path.clone() });
        }
        find_mirrored(own, path, all);
        path.pop();
    }
}

/// Checks that the headers of a call repeat its arguments. An error is the body of the answer.
pub(super) fn check_mirrored(
    request: &Request,
    id: &str,
    params: Option<&RawValue>,
    mirrored: &Mirrored,
) -> Result<(), String> {
    let params = params.map_or(Value::Null, |params| serde_json::from_str(params.get()).unwrap_or_default());
    for Mirror { header, path } in mirrored {
        let value = path.iter().fold(&params["arguments"], |value, name| &value[name]);
        let told = request.header(header).map(decoded);
        let is_same = match (&told, value) {
            (None, Value::Null) => true,
            (Some(Some(told)), Value::String(text)) => told == text,
            (Some(Some(told)), Value::Bool(is)) => *told == is.to_string(),
            (Some(Some(told)), Value::Number(number)) => {
                let as_number = |text: &str| text.parse::<f64>().ok();
                *told == number.to_string()
                    || as_number(told).is_some_and(|told| as_number(&number.to_string()) == Some(told))
            }
            _ => false,
        };
        if !is_same {
            return Err(mismatch(id, header, &format!("argument {}", path.join("."))));
        }
    }
    Ok(())
}

/// Decodes the value of a header. `None` if it is malformed.
fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64.decode(encoded.as_bytes()).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// The status with which an answer is sent that is no stream.
pub(super) fn status_of(answer: message::Answer) -> u16 {
    let message::Answer::Error(error) = answer else { return 200 };
    let code = Members::of(error.get()).and_then(|members| members.get("code")?.get().parse::<i64>().ok());
    match code {
        Some(message::METHOD_NOT_FOUND) => 404,
        Some(code) if BAD_REQUEST.contains(&code) => 400,
        _ => 200,
    }
}
