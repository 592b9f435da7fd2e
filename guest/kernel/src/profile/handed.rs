//! The part of a profile that judges the calls of a child: all members except those known to judge no calls. A member
//! that is added later is therefore handed on, unless a developer decides otherwise.

use seamgate_core::kernel_api::{Document, NodeId, json};
use serde_json::value::RawValue;

use super::{Budget, Profile, pinned_in, tools_of};
use crate::{
    document::source,
    tool::{Source, Tool},
};

/// Members of a profile that judge no calls of a child. A mode has already decided which tools are handed on, the
/// child's budget is part of the parent's, and the deadline ends the child.
const ROOT: [&str; 11] = [
    "$schema",
    "$comment",
    "description",
    "task",
    "prompt",
    "modes",
    "final",
    "on_limit",
    "on_reject",
    "projections",
    "delegate",
];

/// Members of a tool that judge no calls of a child. Its examples were checked when the profile was loaded, and no
/// approval covers follow-up calls of a child.
const TOOL: [&str; 3] = ["$comment", "examples", "covers"];

/// Members of a budget that judge no calls of a child.
const BUDGET: [&str; 5] = ["steps", "tool_calls", "tokens", "ms", "state_bytes"];

impl Profile {
    /// Returns the part of the profile that judges calls of some tools, as JSON text.
    pub(crate) fn handed(&self, handed: &[String]) -> Box<RawValue> {
        // Each member is listed above or is handed on, so adding a member requires a decision.
        let Profile {
            agent: _,
            version: _,
            digest: _,
            source: _,
            tools,
            modes: _,
            approvers: _,
            deny,
            flows: _,
            budget: Budget { steps: _, tool_calls: _, tokens: _, ms: _, same_call: _, state_bytes: _ },
            context,
            task: _,
            frame: _,
            prompt: _,
            final_contract: _,
            evidence: _,
            fails_at_limit: _,
            stops_at_rejection: _,
            projections: _,
            delegates: _,
            servers: _,
        } = self;
        let Some(document) = self.document() else { return RawValue::NULL.to_owned() };
        let is_handed = |tool: &&Tool| handed.contains(&tool.full_name());
        let names_one = |word: &str| tools.iter().filter(is_handed).any(|tool| tool.is_named(word));
        let members = document.members(Document::ROOT).filter_map(|(name, at)| {
            let value = match document.string(name) {
                name if ROOT.contains(&name) => return None,
                "tools" => list(
                    tools_of(self, &document)
                        .filter(|(tool, _)| is_handed(tool))
                        .map(|(tool, at)| entry(&document, at, tool)),
                ),
                // A rule that concerns none of the tools never applies.
                "deny" => {
                    let all = deny.iter().zip(document.items(at));
                    list(all.filter(|(rule, _)| names_one(&rule.tool)).map(|(_, at)| source(&document, at)))
                }
                // A child sees no other source. The labels of everything that was read are handed on separately.
                "context" => {
                    let named: Vec<&Source> = tools.iter().filter(is_handed).flat_map(Tool::sources).collect();
                    let is_named = |name: &str| {
                        named.iter().any(|source| matches!(source, Source::Context(other) if other == name))
                    };
                    let all = context.iter().zip(document.items(at));
                    list(all.filter(|(declared, _)| is_named(&declared.name)).map(|(_, at)| source(&document, at)))
                }
                "budget" => without(&document, at, &BUDGET),
                _ => source(&document, at),
            };
            Some(format!("{}:{value}", json(&document.string(name))))
        });
        let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// Returns the entry of a tool. If the entry's name is a pattern, the tool gets a separate entry.
fn entry(document: &Document, at: NodeId, tool: &Tool) -> String {
    if document.member(at, "name").is_some_and(|name| document.string(name) == tool.name) {
        return without(document, at, &TOOL);
    }
    let rest = without(document, at, &[&TOOL[..], &["name", "definitions"]].concat());
    let pinned = pinned_in(document, at, tool).map(|at| format!("\"definition\":{},", source(document, at)));
    format!("{{\"name\":{},{}{}", json(&tool.name), pinned.unwrap_or_default(), &rest[1..])
}

/// Returns an object without some of its members.
fn without(document: &Document, at: NodeId, names: &[&str]) -> String {
    let members = document.members(at).filter(|(name, _)| !names.contains(&document.string(*name)));
    let members = members.map(|(name, at)| format!("{}:{}", json(&document.string(name)), source(document, at)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
