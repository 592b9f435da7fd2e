//! Flows: derives the calls that are no longer allowed from the labels of the data that the model has read.

use seamgate_core::kernel_api::quote;

use crate::{
    cases::Approval,
    decision::Reason,
    facts::Facts,
    profile::{Flow, Profile, Then},
    surface,
    tool::Tool,
};

/// The result of checking a profile's flows for a call.
pub(crate) enum Flowing {
    Denied(Reason),
    /// All of these must approve.
    Approvals(Vec<(Approval, Reason)>),
}

/// Checks all flows. A denial by any flow wins. `own` is the approval that the call needs anyway. `is_proven` says
/// whether all origins of the call are proven.
pub(crate) fn check(profile: &Profile, facts: &Facts, tool: &Tool, own: Option<&Approval>, is_proven: bool) -> Flowing {
    let read = surface::read(profile, facts);
    let is_exempt = |flow: &Flow| flow.unless_origins && is_proven;
    let concerns = |flow: &&Flow| flow.is_about(tool) && read.contains(&flow.after) && !is_exempt(flow);
    let mut approvals: Vec<(Approval, Reason)> = Vec::new();
    for flow in profile.flows.iter().filter(concerns) {
        let (after, name) = (quote(&flow.after, 64), quote(&tool.full_name(), 128));
        let what = if flow.to == "egress" { "sends data out" } else { &format!("is {}", flow.to) };
        match &flow.then {
            Then::Deny => {
                let message = format!("{name} {what}, which is denied once data labelled {after} was read");
                return Flowing::Denied(Reason::new("flow", message));
            }
            Then::Approval(named) => {
                let message = format!("{name} {what}, which needs approval once data labelled {after} was read");
                let approval = profile.flow_approval(own.or_else(|| tool.permit.approval()), named.as_ref());
                if approvals.iter().all(|(other, _)| *other != approval) {
                    approvals.push((approval, Reason::new("flow", message)));
                }
            }
        }
    }
    Flowing::Approvals(approvals)
}
