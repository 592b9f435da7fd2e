//! One line of a journal for one audience. Contains only the fields that the audience may see, sanitized and truncated.

use std::cell::LazyCell;

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{Caps, Document, Json, Kind, NodeId, json, short, unescaped},
};

use crate::{
    definition,
    document::{CAPS, text_in},
    profile::{Arguments, Profile, Projections},
    render::sanitized,
    result::{Body, ToolResult},
    sanitize::sanitize,
    tool::full_name,
};

/// The length to which a value in a text is truncated, in bytes.
const MAX_VALUE: usize = 256;

/// The length to which each member of a view is truncated, in bytes.
const MAX_MEMBER: usize = 65_536;

/// The caps of a line: those of an event, with room for the enclosing object.
const LINE_CAPS: Caps = Caps { bytes: CAPS.bytes + 64, depth: CAPS.depth + 1, ..CAPS };

/// The members that an audience sees of each line: kind of line, type, members.
type Table = &'static [(&'static str, &'static str, &'static [&'static str])];

const MODEL: Table = &[
    ("record", "decision", &["message"]),
    ("record", "observation", &["message"]),
    ("record", "settled", &["message"]),
    ("event", "user_message", &["text"]),
    ("event", "input", &["text"]),
];

const UI: Table = &[
    ("record", "observation", &["call", "tool", "status", "ui"]),
    ("record", "decision", &["call", "tool", "permit"]),
    ("record", "settled", &["call", "tool", "code", "message"]),
    ("record", "stop", &["code", "message"]),
    ("action", "ask_approval", &["call", "ask"]),
    ("action", "ask_input", &["key", "question", "call", "expires"]),
    ("action", "finish", &["status", "document", "reasons", "missing", "uncertain"]),
    ("event", "user_message", &["text"]),
];

const USER: Table = &[
    ("record", "observation", &["user"]),
    ("action", "ask_input", &["key", "question"]),
    ("action", "finish", &["status", "document"]),
];

const AUDIT: Table = &[
    ("record", "ignored", &["code"]),
    ("record", "left_out", &["what", "name", "code"]),
    ("record", "surface", &["tools", "hidden"]),
    ("record", "output", &["kind"]),
    (
        "record",
        "decision",
        &[
            "call",
            "permit",
            "server",
            "tool",
            "effect",
            "digest",
            "arguments_digest",
            "same",
            "codes",
            "approval",
            "origins",
            "secrets",
        ],
    ),
    (
        "record",
        "observation",
        &[
            "call",
            "server",
            "tool",
            "status",
            "id",
            "labels",
            "limitations",
            "artifact",
            "bytes",
            "duration_ms",
            "arguments_digest",
            "found",
        ],
    ),
    ("record", "joined", &["same"]),
    ("record", "settled", &["call", "tool", "code"]),
    ("record", "cut", &["from", "calls", "entries"]),
    ("record", "stop", &["code"]),
    ("record", "context_request", &["call", "request"]),
    ("record", "used", &["steps", "budgets"]),
    ("event", "started", &["at", "run", "principal", "session", "turn", "mode"]),
    ("event", "model_output", &["at", "key", "finish", "usage"]),
    ("event", "model_failed", &["at", "key", "retry"]),
    ("event", "tool_started", &["at", "call"]),
    ("event", "tool_result", &["at", "call", "status", "duration_ms"]),
    ("event", "tool_failed", &["at", "call", "effect"]),
    ("event", "job", &["at", "call", "ttl_s"]),
    ("event", "approval", &["at", "key", "digest", "decision", "principal"]),
    ("event", "input", &["at", "key", "principal"]),
    ("event", "user_message", &["at", "principal"]),
    ("event", "said", &["at", "principal"]),
    ("event", "stores", &["at"]),
    ("event", "context", &["at", "name"]),
    ("event", "resolution", &["at", "call", "outcome", "principal"]),
    ("event", "mode", &["at", "mode", "principal"]),
    ("event", "child_result", &["at", "call", "status", "used"]),
    ("event", "call_cancelled", &["at", "call", "effect"]),
    ("event", "cancelled", &["at", "principal"]),
    ("event", "call", &["at", "server", "tool"]),
    ("event", "tools_listed", &["at"]),
    ("event", "tick", &["at"]),
    ("event", "resumed", &["at"]),
    ("action", "ask_model", &["key", "purpose"]),
    (
        "action",
        "execute",
        &["key", "call", "server", "tool", "effect", "digest", "idempotency_key", "expires", "approval"],
    ),
    ("action", "ask_approval", &["key", "call"]),
    ("action", "ask_input", &["key", "call", "expires"]),
    ("action", "delegate", &["key", "call", "run", "agent", "profile", "digest"]),
    ("action", "cancel", &["key", "call"]),
    ("action", "finish", &["key", "status", "reasons", "missing", "kinds", "labels", "confidence", "used"]),
];

/// The members that `eval` sees in addition to those of `audit`.
const EVAL: Table = &[
    ("record", "output", &["message"]),
    ("record", "decision", &["message"]),
    ("record", "observation", &["kinds", "confidence", "complete"]),
    ("record", "stop", &["message"]),
    ("event", "model_output", &["text"]),
    ("action", "finish", &["document", "uncertain", "requests"]),
];

/// Returns one line of a journal as one audience sees it.
///
/// # Errors
///
/// Returns `bad_request` if the line is invalid, or if there is no such audience.
pub(crate) fn project(profile: &Profile, line: &str, audience: &str) -> Result<String, Fault> {
    let bad = |message: &str| Fault::new(FaultCode::BadRequest, message.to_owned());
    let wrong = |violations| Fault::wrong(FaultCode::BadRequest, "line", violations);
    let mut replaced = None;
    // A run accepts lists of tools with some unreadable definitions.
    let place = (&definition::LISTED_BY_LINE[..], &LINE_CAPS);
    let document =
        definition::read_each(line, &mut replaced, place, |text| Json::read(text, &LINE_CAPS)).map_err(wrong)?;
    let projections = &profile.projections;
    let (tables, arguments): (&[Table], _) = match audience {
        "model" => (&[MODEL], None),
        "ui" if projections.ui.is_some() => (&[UI], None),
        "user" if projections.user.is_some() => (&[USER], None),
        "audit" if projections.audit.is_some() => (&[AUDIT], projections.audit),
        "eval" if projections.eval.is_some() => (&[AUDIT, EVAL], projections.eval),
        "ui" | "user" | "audit" | "eval" => (&[], None),
        _ => return Err(bad("audience: must be one of model, ui, user, audit, eval")),
    };
    let kinds = ["event", "record", "action"];
    let found = kinds.into_iter().find_map(|kind| Some((kind, document.member(Document::ROOT, kind)?)));
    let mut view: Vec<String> = Vec::new();
    if let Some((kind, at)) = found {
        let is = text_in(&document, at, "type").unwrap_or_default();
        let rows = tables.iter().flat_map(|table| table.iter()).filter(|(line, name, _)| *line == kind && *name == is);
        for member in rows.flat_map(|(.., members)| members.iter()) {
            view.extend(shown(&document, at, member));
        }
        if arguments == Some(Arguments::Text) && is == "decision" {
            view.extend(shown(&document, at, "arguments"));
        }
        if !view.is_empty() {
            view.insert(0, format!("\"type\":{}", json(&is)));
        }
    }
    let view = if view.is_empty() { "null".to_owned() } else { format!("{{{}}}", view.join(",")) };
    Ok(format!("{{\"audience\":{},\"view\":{view}}}", json(&audience)))
}

fn shown(document: &Document, at: NodeId, member: &str) -> Option<String> {
    let (name, value) = match member {
        // The messages of reasons may contain values of the arguments.
        "codes" => {
            let reasons = document.items(document.member(at, "reasons")?);
            let codes: Vec<&str> = reasons.filter_map(|reason| text_in(document, reason, "code")).collect();
            ("reasons", json(&codes))
        }
        "ui" | "user" => ("text", sanitized(document, document.member(at, member)?)),
        _ => (member, sanitized(document, document.member(at, member)?)),
    };
    let value = if value.len() > MAX_MEMBER { json(&short(&value, MAX_MEMBER)) } else { value };
    Some(format!("\"{name}\":{value}"))
}

/// Returns the texts that a profile has for a tool for `ui` and `user`, filled with values of the call and its result.
pub(crate) fn texts_of(
    projections: &Projections,
    tool: &str,
    server: &str,
    arguments: &str,
    result: &ToolResult,
) -> [Option<String>; 2] {
    let full = full_name(server, tool);
    let body = match &result.body {
        Body::Json(text) => text.as_str(),
        Body::Text(_) | Body::Returned(_) | Body::Told(_) | Body::Pieces { .. } => "null",
    };
    let args = LazyCell::new(|| Json::read(arguments, &CAPS).ok());
    let result = LazyCell::new(|| Json::read(body, &CAPS).ok());
    let value = |pointer: &str| {
        let (name, pointer) = pointer.split_once('/').unwrap_or((pointer, ""));
        let document = match name {
            "args" => args.as_ref(),
            "result" => result.as_ref(),
            _ => None,
        }?;
        resolve(document, pointer).map(|at| document.shown(at).into_owned())
    };
    [&projections.ui, &projections.user].map(|texts| {
        let is_of = |(name, _): &&(String, String)| *name == full || name == tool || name == "*";
        let (_, template) = texts.as_ref()?.iter().find(is_of)?;
        Some(filled(template, value))
    })
}

/// Fills a template by replacing each `{/…}` with a value.
fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest.find("{/") {
        let Some(end) = rest[start..].find('}').map(|end| start + end) else { break };
        out.push_str(&rest[..start]);
        let value = value(&rest[start + 2..end]).unwrap_or_else(|| "?".to_owned());
        out.push_str(&short(&sanitize(&value).text, MAX_VALUE));
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

/// Resolves a JSON Pointer (RFC 6901) without its first slash.
fn resolve(document: &Document, pointer: &str) -> Option<NodeId> {
    let mut at = Document::ROOT;
    for token in pointer.split('/').filter(|token| !token.is_empty()) {
        let token = unescaped(token);
        at = match document.kind(at) {
            Kind::Object => document.member(at, &token)?,
            Kind::Array => document.items(at).nth(token.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}
