//! A profile: what one agent may do, read, checked and compiled once.

mod describe;
mod lint;
mod read;

use seamgate_core::{
    Contract, Warning,
    parts::{CONTRACT_CAPS, Document, Json, NodeId, Path, Schema},
};

pub(crate) use read::read;

use crate::{
    document::Format,
    tool::{Approval, Permit, Tool},
};

pub(crate) static FORMAT: Format = Format::new("profile", include_str!("../../../../schemas/profile.schema.json"));

/// A profile that can be used.
pub struct Profile {
    pub(crate) agent: String,
    pub(crate) version: String,
    pub(crate) digest: String,
    /// The profile as JSON text without optional white space.
    pub(crate) source: String,
    pub(crate) tools: Vec<Tool>,
    /// In the order of the profile.
    pub(crate) modes: Vec<Mode>,
    pub(crate) approvers: Vec<Group>,
    pub(crate) deny: Vec<Deny>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) budget: Budget,
    pub(crate) context: Vec<Context>,
    /// The final answer's contract.
    pub(crate) final_contract: Option<Contract>,
}

/// What the agent may use in one mode.
pub(crate) struct Mode {
    pub(crate) name: String,
    pub(crate) tools: Vec<String>,
    /// For which tasks: each path leads to one of the values, as equal ones are written.
    pub(crate) when: Vec<(Path, Vec<String>)>,
}

/// Principals who may approve.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) principals: Vec<String>,
}

/// Calls that never run.
pub(crate) struct Deny {
    pub(crate) tool: String,
    /// Arguments that it accepts are denied; all where there is none.
    pub(crate) when: Option<Schema>,
    pub(crate) reason: String,
}

/// What may no longer happen once the model has read data with a label.
pub(crate) struct Flow {
    pub(crate) after: String,
    pub(crate) to: String,
    pub(crate) then: Then,
}

/// What becomes of a call that a flow concerns.
pub(crate) enum Then {
    Deny,
    /// By those whom it names, else by the tool's own approvers, else by any.
    Approval(Option<Approval>),
}

/// Limits of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget {
    pub(crate) tool_calls: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) ms: Option<u64>,
    pub(crate) same_call: Option<u64>,
}

/// A declared source of context.
pub(crate) struct Context {
    pub(crate) name: String,
    pub(crate) labels: Vec<String>,
}

/// The tools of a profile that is read again, in its order.
pub(crate) fn tools_of<'d>(profile: &'d Document) -> impl Iterator<Item = NodeId> + 'd {
    profile.member(Document::ROOT, "tools").into_iter().flat_map(|at| profile.items(at))
}

impl Profile {
    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// `sha256:` and the digest of the profile without optional white space.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The full names of its tools, in its order.
    pub fn tools(&self) -> Vec<String> {
        self.tools.iter().map(Tool::full_name).collect()
    }

    /// The lists that its scopes name, in ascending order.
    pub fn lists(&self) -> Vec<String> {
        let scopes = self.tools.iter().flat_map(|tool| &tool.scope);
        let mut lists: Vec<String> = scopes.filter_map(|scope| scope.within.list()).map(str::to_owned).collect();
        lists.sort_unstable();
        lists.dedup();
        lists
    }

    /// What is likely a mistake in this profile.
    pub fn lint(&self) -> Vec<Warning> {
        lint::lint(self)
    }

    /// Text for the agent's prompt: its tools, which of them need approval, and its final answer.
    pub fn describe(&self) -> String {
        describe::describe(self)
    }

    /// The profile as a document. It was read before, in as many words.
    pub(crate) fn document(&self) -> Option<Json<'_>> {
        Json::read(&self.source, &CONTRACT_CAPS).ok()
    }

    /// The principals of some groups, in ascending order.
    pub(crate) fn principals(&self, groups: &[String]) -> Vec<String> {
        let groups = self.approvers.iter().filter(|group| groups.contains(&group.name));
        let mut principals: Vec<String> = groups.flat_map(|group| group.principals.iter().cloned()).collect();
        principals.sort_unstable();
        principals.dedup();
        principals
    }

    /// Who approves a call that a flow concerns.
    pub(crate) fn flow_approval(&self, tool: &Tool, named: Option<&Approval>) -> Approval {
        match (named, &tool.permit) {
            (Some(named), _) => named.clone(),
            (None, Permit::Approval(own)) => own.clone(),
            (None, _) => Approval {
                by: self.approvers.iter().map(|group| group.name.clone()).collect(),
                ttl_s: read::DEFAULT_TTL_S,
            },
        }
    }
}
