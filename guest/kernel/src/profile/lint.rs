//! What is likely a mistake in a profile.

use seamgate_core::{
    Warning,
    kernel_api::{CONTRACT_CAPS, Document, Json, Location, NodeId, Step},
};

use super::{Profile, Then, tools_of};
use crate::{
    definition::ARGUMENTS,
    tool::{COMPUTED_LABELS, Effect, Permit, Tool},
};

/// The tool of `seamgate mcp` by which a client reads whole results. It has no definition of a server, and no schema.
const READ_ARTIFACT: &str = "read_artifact";

/// Words in the arguments of a tool by which it takes a command as free text.
const FREE_TEXT: [&str; 6] = ["command", "cmd", "script", "shell", "sql", "code"];

pub(super) fn lint(profile: &Profile, text: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(document) = profile.document() {
        for (tool, at) in profile.tools.iter().zip(tools_of(&document)) {
            of_tool(profile, tool, (&document, at), &mut warnings);
        }
    }
    let budget = &profile.budget;
    // A gate between a client and its servers lives as long as the client, which asks what it likes again.
    let is_gate = !profile.servers.is_empty();
    let limits = [
        ("tool_calls", budget.tool_calls.is_some()),
        ("same_call", budget.same_call.is_some() || is_gate),
        ("ms", budget.ms.is_some() || is_gate),
    ];
    for (limit, _) in limits.into_iter().filter(|(_, is_set)| !is_set) {
        let message = format!("say how much the agent may use: 'budget' has no '{limit}'");
        warnings.push(Warning::new(&Location::root().name("budget").name(limit), "no_budget", &message));
    }
    flows(profile, &mut warnings);
    // It was parsed before.
    if let Ok(document) = Json::read(text, &CONTRACT_CAPS) {
        warnings.iter_mut().for_each(|warning| warning.locate(&document));
    }
    warnings
}

fn of_tool(profile: &Profile, tool: &Tool, (document, at): (&Document, NodeId), warnings: &mut Vec<Warning>) {
    // The gate's own.
    if tool.name == READ_ARTIFACT && tool.server.is_empty() {
        return;
    }
    let place = &document.location(at);
    let mut say = |place: &Location, code: &str, message: &str| warnings.push(Warning::new(place, code, message));
    if tool.definition.is_none() {
        say(place, "no_definition", "pin the tool's definition in the lock file: a server may change it unseen");
    }
    if let Some(why) = tool.disabled() {
        say(
            &place.clone().name("definition"),
            "invalid_definition",
            &format!("correct the server, and pin its definition again: the tool is disabled, because {why}"),
        );
    }
    if tool.effect == Effect::Effectful && tool.permit == Permit::Allow {
        say(
            &place.clone().name("permit"),
            "no_approval",
            "let a person approve: an effectful tool runs without approval",
        );
    }
    if tool.result.contract.is_none() {
        say(&place.clone().name("result"), "no_result_schema", "say what a result must be: no schema is checked");
    }
    let is_guarded = profile.deny.iter().any(|rule| tool.is_named(&rule.tool));
    let takes_text = tool.permit != Permit::Deny && tool.effect != Effect::Read && tool.scope.is_empty();
    if is_guarded && takes_text && takes_a_command(document, at) {
        let message =
            "take the command as a list of words, or hold it to values: a deny rule on free text can be spelled around";
        say(&place.clone().name("arguments"), "free_text_command", message);
    }
}

/// Whether the arguments of a tool have a member by which it takes a command as free text.
fn takes_a_command(document: &Document, tool: NodeId) -> bool {
    let definition = document.member(tool, "definition");
    let schemas = ARGUMENTS.into_iter().filter_map(|name| document.member(definition?, name));
    schemas
        .chain(document.member(tool, "arguments"))
        .filter_map(|schema| document.member(schema, "properties"))
        .any(|properties| FREE_TEXT.iter().any(|word| document.member(properties, word).is_some()))
}

/// Labels that reach effects or the outside with no flow in between.
fn flows(profile: &Profile, warnings: &mut Vec<Warning>) {
    let guarded = |label: &str, to: &str| profile.flows.iter().any(|flow| flow.after == label && flow.to == to);
    let read = |label: &str| profile.tools.iter().any(|tool| tool.result.labels.iter().any(|other| other == label));
    let permitted = |tool: &&Tool| tool.permit == Permit::Allow;
    let acts = profile.tools.iter().filter(permitted).any(|tool| tool.effect == Effect::Effectful);
    let sends = profile.tools.iter().filter(permitted).any(|tool| tool.egress);
    let cases = [
        ("untrusted", "effectful", acts, "data from outside can cause effects without approval"),
        ("untrusted", "egress", sends, "data from outside can make the agent send data out"),
        ("private", "egress", sends, "private data can leave"),
    ];
    for (label, to, can, why) in cases {
        if can && read(label) && !guarded(label, to) {
            let message = format!("add a flow {{\"after\":\"{label}\",\"to\":\"{to}\",\"then\":…}}: {why}");
            warnings.push(Warning::new(&Location::root().name("flows"), "open_flow", &message));
        }
    }
    for (index, flow) in profile.flows.iter().enumerate() {
        let is_known = read(&flow.after) || profile.context.iter().any(|source| source.labels.contains(&flow.after));
        if !is_known && !COMPUTED_LABELS.contains(&flow.after.as_str()) {
            let mut place = Location::root().name("flows");
            place.push(Step::Index(index));
            let what = if matches!(flow.then, Then::Deny) { "denies" } else { "asks for" };
            let message = format!("check the label: nothing in the profile has it, so this flow never {what} anything");
            warnings.push(Warning::new(&place.name("after"), "unknown_label", &message));
        }
    }
}
