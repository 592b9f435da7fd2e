//! Labels of what the model has read -> what it may no longer do.

use seamgate_core::kernel_api::quote;

use crate::{
    cases::Approval,
    decision::Reason,
    facts::Facts,
    profile::{Flow, Profile, Then},
    surface,
    tool::Tool,
};

/// What the flows of a profile say about a call.
pub(crate) enum Flowing {
    Denied(Reason),
    /// All of these must approve.
    Approvals(Vec<(Approval, Reason)>),
}

impl Flow {
    fn is_about(&self, tool: &Tool) -> bool {
        self.to == tool.effect.as_str() || (self.to == "egress" && tool.egress)
    }

    /// Returns whether a person may be asked about calls of a tool because of this flow.
    pub(crate) fn may_ask(&self, tool: &Tool) -> bool {
        matches!(self.then, Then::Approval(_)) && self.is_about(tool)
    }
}

/// Look at all flows: one that denies wins. `own` is the approval that the call needs anyway.
pub(crate) fn check(profile: &Profile, facts: &Facts, tool: &Tool, own: Option<&Approval>) -> Flowing {
    let read = surface::read(profile, facts);
    let concerns = |flow: &&Flow| flow.is_about(tool) && read.contains(&flow.after);
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
