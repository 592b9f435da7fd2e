//! Checks the examples of a profile when the profile is loaded.

use seamgate_core::{
    Violation,
    kernel_api::{Json, NodeId},
};

use crate::{
    call::Call,
    cases::Decided,
    decision::Reason,
    document::source,
    permit,
    profile::{Profile, tools_of},
    scope,
    secret::References,
    tool::Tool,
};

/// Checks each example against the parts of the profile that need no facts: schemas, deny rules, scope values, and
/// `permit`. If an example's pattern stands for several tools, one of them must allow an allowed example, and all must
/// deny a denied one.
///
/// # Errors
///
/// Returns the examples that the profile contradicts.
pub(crate) fn check(profile: &Profile, document: &Json) -> Result<(), Vec<Violation>> {
    let mut found = Vec::new();
    let all: Vec<(&Tool, NodeId)> = tools_of(profile, document).collect();
    for of_entry in all.chunk_by(|(_, one), (_, other)| one == other) {
        let at = of_entry[0].1;
        let tools: Vec<&Tool> =
            of_entry.iter().map(|(tool, _)| *tool).filter(|tool| tool.disabled().is_none()).collect();
        let examples = |kind: &str| -> Vec<NodeId> {
            let kinds = document.member(at, "examples").filter(|_| !tools.is_empty());
            kinds.and_then(|kinds| document.member(kinds, kind)).into_iter().flat_map(|at| document.items(at)).collect()
        };
        for at in examples("allow") {
            let arguments = source(document, at);
            let reasons = tools.iter().map(|tool| denied(profile, tool, &arguments).err());
            if let Some(Some(reason)) = reasons.collect::<Option<Vec<Reason>>>().map(|all| all.into_iter().next()) {
                let message = format!("must be allowed, as the example says, and is denied: {}", reason.message);
                found.push(Violation::of(document, at, "examples", "arguments that are allowed", &message));
            }
        }
        for at in examples("deny") {
            if tools.iter().any(|tool| denied(profile, tool, &source(document, at)).is_ok()) {
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
    let references = References::find(tool, &arguments)?;
    scope::check(tool, &arguments, &references, None).unwrap_or(Ok(()))?;
    match tool.permit.decide(&tool.full_name(), &arguments) {
        Decided::Denied(reason) => Err(Reason::new("permit", reason)),
        Decided::Approvals(_) => Ok(()),
    }
}
