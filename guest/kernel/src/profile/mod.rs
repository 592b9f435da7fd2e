//! Profiles: the rules for one agent, parsed, checked and compiled once.

mod describe;
mod handed;
mod lint;
mod origins;
mod read;

use seamgate_core::{
    Contract, Warning,
    kernel_api::{CONTRACT_CAPS, Document, Json, NodeId, Path, Schema, sort},
};

pub(crate) use read::{DELEGATE, passed_as, read, read_part};

use crate::{
    cases::Approval,
    document::{Format, text_in},
    tool::{Otherwise, Tool},
};

pub(crate) static FORMAT: Format = Format::new("profile", include_str!("../formats/profile.json"));

/// The methods that are required to use tools at all.
const BASIC_METHODS: [&str; 12] = [
    "initialize",
    "server/discover",
    "ping",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/tools/list_changed",
    "notifications/subscriptions/acknowledged",
    "subscriptions/listen",
    "tools/list",
    "tools/call",
    "seamgate/read_artifact",
];

/// Methods of the Model Context Protocol with which a server sends a request to the client.
const ASKS: [&str; 3] = ["elicitation/create", "roots/list", "sampling/createMessage"];

/// A compiled profile.
pub struct Profile {
    pub(crate) agent: String,
    pub(crate) version: String,
    pub(crate) digest: String,
    /// The profile as JSON text without optional white space.
    pub(crate) source: String,
    pub(crate) tools: Vec<Tool>,
    /// The modes, in the order of the profile.
    pub(crate) modes: Vec<Mode>,
    pub(crate) approvers: Vec<Group>,
    pub(crate) deny: Vec<Deny>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) budget: Budget,
    pub(crate) context: Vec<Context>,
    /// The contract that a task must satisfy.
    pub(crate) task: Option<Contract>,
    /// `true` if the model first turns free text into a task.
    pub(crate) frame: bool,
    pub(crate) prompt: Option<Prompt>,
    /// The contract of the final answer.
    pub(crate) final_contract: Option<Contract>,
    /// The kinds of evidence that a final answer needs.
    pub(crate) evidence: Vec<Need>,
    /// `true` if a run that reaches a limit ends without an answer. `false` if it ends with a partial answer.
    pub(crate) fails_at_limit: bool,
    /// `true` if a run ends when a person rejects a call.
    pub(crate) stops_at_rejection: bool,
    pub(crate) projections: Projections,
    pub(crate) delegates: Vec<Delegate>,
    pub(crate) servers: Vec<Server>,
}

/// The permissions of a server in addition to offering tools.
pub(crate) struct Server {
    pub(crate) name: String,
    /// Names of methods, `PREFIX/*`, or `*`.
    pub(crate) methods: Vec<String>,
}

/// The tools that the agent may use in one mode.
pub(crate) struct Mode {
    pub(crate) name: String,
    pub(crate) tools: Vec<String>,
    /// The tasks that the mode applies to. Each path must lead to one of the values, in the form that equal values
    /// share.
    pub(crate) when: Vec<(Path, Vec<String>)>,
    /// The groups whose members may switch to the mode.
    pub(crate) by: Vec<String>,
}

/// Principals who may approve.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) approvers: Vec<Approver>,
}

/// A principal who may approve.
pub(crate) struct Approver {
    pub(crate) principal: String,
    /// The public key with which the principal signs decisions. `None` if no key is required.
    pub(crate) key: Option<String>,
}

/// A rule for calls that must never run.
pub(crate) struct Deny {
    pub(crate) tool: String,
    /// A schema for the arguments that are denied. `None` denies all calls.
    pub(crate) when: Option<Schema>,
    pub(crate) reason: String,
}

/// A rule for calls after the model has read data with a label.
pub(crate) struct Flow {
    pub(crate) after: String,
    pub(crate) to: String,
    /// `true` if the flow exempts calls whose origins are all proven.
    pub(crate) unless_origins: bool,
    pub(crate) then: Then,
}

impl Flow {
    /// Returns whether this flow applies to calls of a tool.
    pub(crate) fn is_about(&self, tool: &Tool) -> bool {
        self.to == tool.effect.as_str() || (self.to == "egress" && tool.egress)
    }

    /// Returns whether a person may be asked about calls of a tool because of this flow.
    pub(crate) fn may_ask(&self, tool: &Tool) -> bool {
        matches!(self.then, Then::Approval(_)) && self.is_about(tool)
    }
}

/// Returns whether a person may be asked about calls of a tool.
pub(crate) fn asks(tool: &Tool, flows: &[Flow]) -> bool {
    tool.permit.may_ask()
        || tool.origins.iter().any(|rule| matches!(rule.otherwise, Some(Otherwise::Approval(_))))
        || flows.iter().any(|flow| flow.may_ask(tool))
}

/// The decision about a call that a flow applies to.
pub(crate) enum Then {
    Deny,
    /// Approval by the groups that the flow names, or else by the tool's own approvers, or else by any approver.
    Approval(Option<Approval>),
}

/// Limits of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget {
    pub(crate) steps: Option<u64>,
    pub(crate) tool_calls: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) ms: Option<u64>,
    pub(crate) same_call: Option<u64>,
    /// The maximum size of a run's state, in bytes.
    pub(crate) state_bytes: usize,
}

/// A declared source of context.
pub(crate) struct Context {
    pub(crate) name: String,
    pub(crate) schema: Option<Schema>,
    /// The maximum size of the value that the model reads, in bytes.
    pub(crate) max_bytes: usize,
    pub(crate) is_required: bool,
    pub(crate) labels: Vec<String>,
}

/// The text for the model before the task.
pub(crate) struct Prompt {
    pub(crate) role: String,
    pub(crate) rules: Vec<String>,
    /// The maximum size of the prompt, in bytes.
    pub(crate) max_bytes: usize,
}

/// A kind of evidence that a final answer needs.
pub(crate) struct Need {
    pub(crate) kind: String,
    /// The number of observations that must support the answer.
    pub(crate) min: usize,
    /// The path of a text that explains why the evidence is missing.
    pub(crate) or_explained: Option<Path>,
}

/// The content for each audience. `None` if the audience has no view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Projections {
    /// A text for each tool.
    pub(crate) ui: Option<Vec<(String, String)>>,
    pub(crate) user: Option<Vec<(String, String)>>,
    pub(crate) audit: Option<Arguments>,
    pub(crate) eval: Option<Arguments>,
}

/// The form in which arguments are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arguments {
    Digest,
    Text,
}

/// An agent that this one may delegate to.
pub(crate) struct Delegate {
    pub(crate) agent: String,
    /// The digest of its profile.
    pub(crate) profile: String,
    pub(crate) tools: Vec<String>,
    /// Paths into `task` and `context` whose values are passed on.
    pub(crate) pass: Vec<Path>,
    pub(crate) budget: Budget,
    /// `true` if the budget limits the size of the child's state.
    pub(crate) limits_state: bool,
}

/// Returns the tools of a profile whose document is parsed again, each with its entry.
pub(crate) fn tools_of<'p>(profile: &'p Profile, document: &Document) -> impl Iterator<Item = (&'p Tool, NodeId)> {
    let entries: Vec<NodeId> =
        document.member(Document::ROOT, "tools").into_iter().flat_map(|at| document.items(at)).collect();
    profile.tools.iter().filter_map(move |tool| Some((tool, *entries.get(tool.entry?)?)))
}

/// Returns the pinned definition of a tool in its entry.
pub(crate) fn pinned_in(document: &Document, entry: NodeId, tool: &Tool) -> Option<NodeId> {
    document.member(entry, "definition").or_else(|| {
        let mut all = document.member(entry, "definitions").into_iter().flat_map(|at| document.items(at));
        all.find(|&at| text_in(document, at, "name") == Some(&tool.name))
    })
}

impl Profile {
    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns `sha256:` and the digest of the profile without optional white space.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the full names of the profile's tools, in order.
    pub fn tools(&self) -> Vec<String> {
        self.tools.iter().map(Tool::full_name).collect()
    }

    /// Returns the full names of the tools that are disabled because their pinned definition is invalid, each with the
    /// reason.
    pub fn disabled(&self) -> Vec<(String, String)> {
        let disabled = self.tools.iter().filter_map(|tool| Some((tool.full_name(), tool.disabled()?.to_owned())));
        disabled.collect()
    }

    /// Returns the lists that its scopes and origins name, in ascending order.
    pub fn lists(&self) -> Vec<String> {
        let mut lists: Vec<String> = self.tools.iter().flat_map(Tool::lists).map(str::to_owned).collect();
        sort(&mut lists);
        lists.dedup();
        lists
    }

    /// Returns the likely mistakes in this profile, with their places in `text`. The profile was compiled from `text`.
    pub fn lint(&self, text: &str) -> Vec<Warning> {
        lint::lint(self, text)
    }

    /// Returns text for the agent's prompt: its tools, the tools that need approval, and its final answer.
    pub fn describe(&self) -> String {
        describe::describe(self)
    }

    /// Returns whether the kernel runs a loop that calls the model. Otherwise, it only decides about single calls.
    pub(crate) fn has_loop(&self) -> bool {
        self.prompt.is_some() && self.final_contract.is_some()
    }

    /// Returns whether any rule concerns the origins of arguments.
    pub(crate) fn has_origins(&self) -> bool {
        self.tools.iter().any(|tool| !tool.origins.is_empty())
    }

    /// Returns whether equal calls are limited, for all tools or for one.
    pub(crate) fn limits_equal_calls(&self) -> bool {
        self.least_equal_calls().is_some()
    }

    /// Returns the strictest limit on equal calls, for all tools or for one.
    pub(crate) fn least_equal_calls(&self) -> Option<u64> {
        self.budget.same_call.into_iter().chain(self.tools.iter().filter_map(|tool| tool.same_call)).min()
    }

    /// Returns whether a method of the protocol is allowed between the client and a server.
    pub(crate) fn has_method(&self, server: &str, method: &str) -> bool {
        // A notification belongs to the kind of method that it refers to.
        let of_kind = match method.strip_prefix("notifications/") {
            Some("message") => "logging/message",
            Some(rest) => rest,
            None => method,
        };
        let is_named = |word: &String| match word.strip_suffix('*') {
            Some(prefix) => of_kind.starts_with(prefix),
            None => word == of_kind || word == method,
        };
        // The gate's own methods do not belong to the protocol. The host uses them to report the state of a server.
        BASIC_METHODS.contains(&method)
            || !method.starts_with("seamgate/")
                && self.servers.iter().any(|known| known.name == server && known.methods.iter().any(is_named))
    }

    /// Returns whether a server may send requests to the client while a call runs.
    pub(crate) fn may_ask(&self, server: &str) -> bool {
        ASKS.iter().any(|method| self.has_method(server, method))
    }

    /// Parses the profile again as a document, from the same text.
    pub(crate) fn document(&self) -> Option<Json<'_>> {
        Json::read(&self.source, &CONTRACT_CAPS).ok()
    }

    /// Returns the principals of some groups, in ascending order.
    pub(crate) fn principals(&self, groups: &[String]) -> Vec<String> {
        let groups = self.approvers.iter().filter(|group| groups.contains(&group.name));
        let mut principals: Vec<String> =
            groups.flat_map(|group| group.approvers.iter().map(|one| one.principal.clone())).collect();
        sort(&mut principals);
        principals.dedup();
        principals
    }

    /// Returns the public keys of a principal, in ascending order. A principal with a key signs decisions.
    pub(crate) fn keys(&self, principal: &str) -> Vec<String> {
        let approvers = self.approvers.iter().flat_map(|group| &group.approvers);
        let mut keys: Vec<String> =
            approvers.filter(|one| one.principal == principal).filter_map(|one| one.key.clone()).collect();
        sort(&mut keys);
        keys.dedup();
        keys
    }

    /// Returns the approval for a call that a flow applies to: by the groups that the flow names, or else by the tool's
    /// own approvers, or else by any approver.
    pub(crate) fn flow_approval(&self, own: Option<&Approval>, named: Option<&Approval>) -> Approval {
        match named.or(own) {
            Some(approval) => approval.clone(),
            None => Approval {
                by: self.approvers.iter().map(|group| group.name.clone()).collect(),
                ttl_s: read::DEFAULT_TTL_S,
            },
        }
    }
}
