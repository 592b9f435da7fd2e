//! The examples of a profile, tried when it is loaded.

use seamgate_core::{
    Violation,
    kernel_api::{Document, Json, NodeId},
};

use crate::{
    call::Call, cases::Decided, decision::Reason, document::source, permit, profile::Profile, scope, tool::Tool,
};

/// Try each example by what the profile itself decides: schemas, deny rules, values of scopes, and `permit`.
///
/// # Errors
///
/// Those that the profile contradicts.
pub(crate) fn check(profile: &Profile, document: &Json) -> Result<(), Vec<Violation>> {
    let mut found = Vec::new();
    let tools = document.member(Document::ROOT, "tools").into_iter().flat_map(|at| document.items(at));
    for (tool, at) in profile.tools.iter().zip(tools).filter(|(tool, _)| tool.disabled().is_none()) {
        let examples = |kind: &str| -> Vec<NodeId> {
            let kinds = document.member(at, "examples");
            kinds.and_then(|kinds| document.member(kinds, kind)).into_iter().flat_map(|at| document.items(at)).collect()
        };
        for at in examples("allow") {
            if let Err(reason) = denied(profile, tool, &source(document, at)) {
                let message = format!("must be allowed, as the example says, and is denied: {}", reason.message);
                found.push(Violation::of(document, at, "examples", "arguments that are allowed", &message));
            }
        }
        for at in examples("deny") {
            if denied(profile, tool, &source(document, at)).is_ok() {
                let message =
                    "must be denied, as the example says; no schema, deny rule, scope by values, or permit does";
                found.push(Violation::of(document, at, "examples", "arguments that are denied", message));
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn denied(profile: &Profile, tool: &Tool, arguments: &str) -> Result<(), Reason> {
    if tool.permit.is_never() {
        return Err(Reason::new("permit", "the tool is never permitted"));
    }
    let call = Call {
        key: String::new(),
        server: Some(tool.server.clone()),
        tool: tool.name.clone(),
        arguments: arguments.to_owned(),
    };
    let arguments = permit::arguments(profile, tool, &call)?;
    // Without facts, no list can be missing.
    scope::check(tool, &arguments, None).unwrap_or(Ok(()))?;
    match tool.permit.decide(&tool.full_name(), &arguments) {
        Decided::Denied(reason) => Err(reason),
        Decided::Approvals(_) => Ok(()),
    }
}
