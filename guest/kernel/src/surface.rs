//! The tools that the model may see and call: only those of the mode that are present and unchanged.

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{Path, canonical, quote, sort},
};

use crate::{
    call::Call,
    decision::Reason,
    facts::Facts,
    profile::{Deny, Mode, Profile},
    reached::Reached,
    tool::Tool,
};

/// Returns the mode that the facts name.
///
/// # Errors
///
/// Returns `bad_request` if the profile has modes and the facts name none of them.
pub(crate) fn mode<'p>(profile: &'p Profile, facts: &Facts) -> Result<Option<&'p Mode>, Fault> {
    if profile.modes.is_empty() {
        return Ok(None);
    }
    let named = facts.mode.as_deref();
    profile.modes.iter().find(|mode| Some(mode.name.as_str()) == named).map(Some).ok_or_else(|| {
        let known = profile.modes.iter().map(|mode| quote(&mode.name, 64)).collect::<Vec<_>>().join(", ");
        let is = named.map_or("is missing".to_owned(), |mode| format!("is {}", quote(mode, 64)));
        Fault::new(FaultCode::BadRequest, format!("facts: $.mode {is}; the profile's modes are {known}"))
    })
}

/// Returns the reason why a mode does not apply to this task.
fn not_for_task(mode: &Mode, facts: &Facts) -> Option<Reason> {
    let document = &facts.document;
    let holds = |(path, values): &(Path, Vec<String>)| {
        let Some(task) = facts.task() else { return false };
        // A task of another shape matches none of the condition's values.
        let Reached { ends, stopped, is_absent, .. } = Reached::of(&path.selectors, document, task);
        let is_whole = !ends.is_empty() && stopped.is_empty() && !is_absent;
        is_whole && ends.iter().all(|&at| values.contains(&canonical(document, at)))
    };
    let failed = mode.when.iter().find(|condition| !holds(condition))?;
    let (mode, path) = (quote(&mode.name, 64), quote(&failed.0.text, 128));
    let message = format!("the mode {mode} is not for this task: {path} has none of the values that it needs");
    Some(Reason::new("mode", message))
}

/// Returns whether a tool belongs to a mode that applies to this task.
pub(crate) fn is_in(tool: &Tool, mode: Option<&Mode>, facts: &Facts) -> bool {
    let is_named = |mode: &Mode| mode.tools.iter().any(|word| tool.is_named(word));
    mode.is_none_or(|mode| is_named(mode) && not_for_task(mode, facts).is_none())
}

/// Returns whether a tool is present, according to the facts.
pub(crate) fn is_there(tool: &Tool, facts: &Facts) -> bool {
    facts.surface.as_ref().is_none_or(|surface| surface.iter().any(|word| *word == tool.full_name()))
}

/// Returns the reason why the bounds of the run's parent, or an edit of the profile, withhold a tool.
pub(crate) fn withheld(tool: &Tool, facts: &Facts) -> Option<String> {
    facts.above.as_ref().and_then(|above| above.withholds(tool))
}

/// Returns the reason why a tool is not on the surface.
fn hidden(tool: &Tool, mode: Option<&Mode>, facts: &Facts) -> Option<Reason> {
    let name = quote(&tool.full_name(), 128);
    if let Some(why) = tool.disabled() {
        let message = format!("{name} is disabled, because its definition is invalid: {why}");
        return Some(Reason::new("invalid_definition", message));
    }
    if let Some(mode) = mode {
        if !mode.tools.iter().any(|word| tool.is_named(word)) {
            return Some(Reason::new("mode", format!("{name} is not available in the mode {}", quote(&mode.name, 64))));
        }
        if let Some(reason) = not_for_task(mode, facts) {
            return Some(reason);
        }
    }
    if let Some(message) = withheld(tool, facts) {
        let code = if facts.above.as_ref().is_some_and(|above| above.has_parent()) { "parent" } else { "deny" };
        return Some(Reason::new(code, message));
    }
    if !is_there(tool, facts) {
        return Some(Reason::new(
            "surface",
            format!("{name} is not available: its server lacks it, changed it, or lists an invalid definition"),
        ));
    }
    None
}

/// Returns the tool that a call names, if the model may call it.
pub(crate) fn find<'p>(
    profile: &'p Profile,
    mode: Option<&Mode>,
    facts: &Facts,
    call: &Call,
) -> Result<&'p Tool, Reason> {
    let tool = known(profile, call)?;
    match hidden(tool, mode, facts) {
        Some(reason) => Err(reason),
        None => Ok(tool),
    }
}

/// Returns the tool that a call names.
pub(crate) fn known<'p>(profile: &'p Profile, call: &Call) -> Result<&'p Tool, Reason> {
    let on_server = |tool: &&Tool| call.server.as_deref().is_none_or(|server| server == tool.server);
    let mut meant = profile.tools.iter().filter(|tool| tool.name == call.tool).filter(on_server);
    let name = quote(&call.name(), 128);
    match (meant.next(), meant.next()) {
        (None, _) => Err(Reason::new("unknown_tool", format!("{name} is not a tool of this agent"))),
        (Some(tool), None) => Ok(tool),
        (Some(_), Some(_)) => {
            Err(Reason::new("ambiguous_tool", format!("{name} is a tool of several servers: name the server")))
        }
    }
}

/// Returns whether a rule denies a tool regardless of its arguments.
pub(crate) fn is_denied(profile: &Profile, facts: &Facts, tool: &Tool) -> bool {
    let denies = |rule: &Deny| rule.when.is_none() && tool.is_named(&rule.tool);
    let above = facts.rules().iter().flat_map(|rules| &rules.profile.deny);
    profile.deny.iter().chain(above).any(denies)
}

/// Returns the tools that the model may call, with or without approval.
pub(crate) fn allowed<'p>(profile: &'p Profile, mode: Option<&Mode>, facts: &Facts) -> Vec<&'p Tool> {
    let is_allowed = |tool: &&Tool| {
        !tool.permit.is_never() && !is_denied(profile, facts, tool) && hidden(tool, mode, facts).is_none()
    };
    profile.tools.iter().filter(is_allowed).collect()
}

/// Returns the labels of all data that the model has read, in observations and in values of the context.
pub(crate) fn read(profile: &Profile, facts: &Facts) -> Vec<String> {
    let context = profile.context.iter().filter(|source| facts.context(&source.name).is_some());
    let context = context.flat_map(|source| source.labels.iter().cloned());
    let mut labels: Vec<String> = facts.labels.iter().cloned().chain(context).collect();
    sort(&mut labels);
    labels.dedup();
    labels
}
