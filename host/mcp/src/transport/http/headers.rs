//! Headers of the protocol: the version that a request belongs to, and whether they match the body.

use seamgate_http::{Refused, Request};
use serde_json::value::RawValue;

use crate::core::{
    Id, Message,
    message::{self, Members},
    meta,
    mirrors::{MISMATCH, decoded},
};

/// The last version with sessions, and the earlier ones that have this transport.
pub(super) const LAST_WITH_SESSIONS: &str = "2025-11-25";
const WITH_SESSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", LAST_WITH_SESSIONS];

/// Error codes for which the request itself is at fault.
const BAD_REQUEST: [i64; 3] = [MISMATCH, -32021, -32022];

/// The kind of version that a request belongs to: with sessions, or without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Session,
    Stateless,
}

/// Returns the era of a request, judging only by its headers.
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

/// Returns the era of a message. Without a session, the headers must match the body. The error is the answer.
pub(super) fn check(request: &Request, message: &Message, params: Option<&RawValue>) -> Result<Era, Message> {
    let (id, is_request) = match message {
        Message::Request { id, .. } => (Some(id), true),
        Message::Notification { .. } | Message::Answer { .. } => (None, false),
    };
    let era = match meta::version(params) {
        // The server reports whether it supports this version.
        Some(own) if request.header("mcp-protocol-version") == Some(&own) => Era::Stateless,
        Some(_) => return Err(mismatch(id, "Mcp-Protocol-Version", "version")),
        None => match era_of(request) {
            Ok(Era::Stateless) if is_request => return Err(incomplete(id)),
            Ok(era) => era,
            Err(Refused(_, why)) => return Err(Message::error(id.cloned(), message::INVALID_REQUEST, &why)),
        },
    };
    if era == Era::Stateless {
        if is_request && !meta::has_capabilities(params) {
            return Err(incomplete(id));
        }
        check_names(request, message, params)?;
    }
    Ok(era)
}

fn mismatch(id: Option<&Id>, header: &str, member: &str) -> Message {
    let why = format!("Header mismatch: the header {header} and the body's {member} must be there, and the same");
    Message::error(id.cloned(), MISMATCH, &why)
}

fn incomplete(id: Option<&Id>) -> Message {
    let why = "Invalid params: _meta must have io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities";
    Message::error(id.cloned(), message::INVALID_PARAMS, why)
}

fn check_names(request: &Request, message: &Message, params: Option<&RawValue>) -> Result<(), Message> {
    let Message::Request { id, method, .. } = message else { return Ok(()) };
    let id = Some(id);
    if request.header("mcp-method") != Some(method.as_str()) {
        return Err(mismatch(id, "Mcp-Method", "method"));
    }
    let member = match method.as_str() {
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

/// Returns the HTTP status of an answer that is not a stream.
pub(super) fn status_of(answer: &message::Answer) -> u16 {
    let message::Answer::Error(error) = answer else { return 200 };
    let code = Members::of(error.get()).and_then(|members| members.get("code")?.get().parse::<i64>().ok());
    match code {
        Some(message::METHOD_NOT_FOUND) => 404,
        Some(code) if BAD_REQUEST.contains(&code) => 400,
        _ => 200,
    }
}

/// Returns the headers of a call that repeat its arguments, by their names in lower case.
pub(super) fn repeated(request: &Request) -> Vec<(String, String)> {
    request.with_prefix("mcp-param-").map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
