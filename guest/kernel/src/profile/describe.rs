//! Describes a profile as text for the agent's prompt.

use seamgate_core::kernel_api::{quote, short};

use super::Profile;
use crate::{secret_text, tool::Tool};

pub(super) fn describe(profile: &Profile) -> String {
    let mut out = String::from("Tools:\n");
    for tool in profile.tools.iter().filter(|tool| !tool.permit.is_never() && tool.disabled().is_none()) {
        out.push_str(&line(tool));
    }
    for mode in &profile.modes {
        out.push_str(&format!("In the mode {}: {}.\n", quote(&mode.name, 64), mode.tools.join(", ")));
    }
    let budget = &profile.budget;
    let limits = [
        budget.tool_calls.map(|limit| format!("{limit} tool calls")),
        budget.same_call.map(|limit| format!("{limit} equal calls")),
        budget.tokens.map(|limit| format!("{limit} tokens")),
        budget.ms.map(|limit| format!("{limit} ms")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        out.push_str(&format!("At most {}.\n", limits.join(", ")));
    }
    for rule in &profile.deny {
        out.push_str(&format!("Never: {} ({}).\n", rule.tool, short(&rule.reason, 256)));
    }
    if let Some(contract) = &profile.final_contract {
        out.push_str("\nThe final answer:\n");
        out.push_str(&contract.describe());
    }
    out
}

fn line(tool: &Tool) -> String {
    let approval = match (tool.permit.may_ask(), tool.permit.depends()) {
        (true, false) => ", needs approval",
        (true, true) => ", needs approval for some arguments",
        (false, true) => ", for some arguments only",
        (false, false) => "",
    };
    let egress = if tool.egress { ", sends data out" } else { "" };
    let secrets = secret_text::described(tool).map(|text| format!(" {text}")).unwrap_or_default();
    format!("- {} ({}{egress}{approval}){secrets}\n", tool.full_name(), tool.effect.as_str())
}
