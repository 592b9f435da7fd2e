//! Calls that are runs of other agents. A child gets a packet, never the transcript, and never more than its parent may.

use seamgate_core::{
    Confidence, Fault,
    parts::{Document, Kind, Path, Selector, digest, json, short},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::{
    Run,
    event::Event,
    raw,
    state::{Carved, Phase, Uncertain},
    step::{Action, Record},
    written,
};
use crate::{
    document::{number_in, source, text_in, texts_in},
    facts::MAX_NUMBER,
    flow::{self, Flowing},
    observe::united,
    profile::{DELEGATE, Delegate, passed_as},
    result::{Body, ToolResult},
    surface,
    tool::{Approval, Permit, Tool},
};

/// What a parent allows: a child's first event has it under `parent`.
#[derive(Serialize)]
struct Bounds {
    run: String,
    call: String,
    tools: Vec<String>,
    deny: Vec<Box<RawValue>>,
    approvals: Vec<Asked>,
    labels: Vec<String>,
    budget: Carved,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<u64>,
}

/// A tool of which each call needs an approval.
#[derive(Serialize)]
struct Asked {
    tool: String,
    by: Vec<String>,
    ttl_s: u64,
}

/// So many uncertain calls of children are kept, and so many bytes of their arguments.
const MAX_LEFT: usize = 64;
const MAX_ARGUMENTS_LEFT: usize = 1024;

impl Run<'_> {
    /// Take over the bounds that a parent set.
    pub(super) fn bounds(&mut self, event: &Event) -> Result<(), Fault> {
        let Some(at) = event.member("parent") else { return Ok(()) };
        self.state.facts.labels = texts_in(event.document(), at, "labels");
        self.state.facts.labels.sort_unstable();
        self.state.facts.labels.dedup();
        let facts = self.facts()?;
        facts
            .parent_deny()
            .map_err(|violations| Fault::wrong(seamgate_core::FaultCode::BadRequest, "event", violations))?;
        Ok(())
    }

    pub(super) fn is_delegate(&self, index: usize) -> bool {
        self.delegate_of(index).is_some()
    }

    fn delegate_of(&self, index: usize) -> Option<&Delegate> {
        let agent = self.state.calls[index].tool.strip_prefix(DELEGATE)?;
        self.profile.delegates.iter().find(|delegate| delegate.agent == agent)
    }

    /// Start a child, with what it may use carved from this run's budget.
    pub(super) fn delegate(&mut self, index: usize) {
        let Some(limits) = self.delegate_of(index).map(|delegate| delegate.budget.clone()) else { return };
        let used = &self.state.facts.used;
        let part = |wanted: Option<u64>, limit: Option<u64>, used: u64| {
            let left = limit.map(|limit| limit.saturating_sub(used));
            wanted.into_iter().chain(left).min()
        };
        let carved = Carved {
            steps: part(limits.steps, self.budget.steps.map(|limit| limit.saturating_sub(1)), self.state.steps),
            tool_calls: part(limits.tool_calls, self.budget.tool_calls, used.tool_calls),
            tokens: part(limits.tokens, self.budget.tokens, used.tokens),
        };
        self.spend_carved(&carved);
        let ms = limits.ms.into_iter().chain(self.ms_left()).min();
        let call = &mut self.state.calls[index];
        call.carved = Some(carved);
        if let Some(ms) = ms {
            call.expires = Some(self.state.facts.at.saturating_add(ms));
        }
        self.delegate_again(index);
    }

    fn spend_carved(&mut self, carved: &Carved) {
        let used = &mut self.state.facts.used;
        self.state.steps = self.state.steps.saturating_add(carved.steps.unwrap_or_default());
        used.tool_calls = used.tool_calls.saturating_add(carved.tool_calls.unwrap_or_default()).min(MAX_NUMBER);
        used.tokens = used.tokens.saturating_add(carved.tokens.unwrap_or_default()).min(MAX_NUMBER);
    }

    /// What a child did not use comes back. One that does not say what it used has used all.
    pub(super) fn return_carved(&mut self, index: usize, actual: Option<Carved>) {
        let carved = self.state.calls[index].carved.take().unwrap_or_default();
        let used = &mut self.state.facts.used;
        self.state.steps = self.state.steps.saturating_sub(carved.steps.unwrap_or_default());
        used.tool_calls = used.tool_calls.saturating_sub(carved.tool_calls.unwrap_or_default());
        used.tokens = used.tokens.saturating_sub(carved.tokens.unwrap_or_default());
        self.spend_carved(&actual.unwrap_or(carved));
    }

    /// Tell the host to start a child, or to go on with it: its run has one name.
    pub(super) fn delegate_again(&mut self, index: usize) {
        let (key, call) = (self.key(), &self.state.calls[index]);
        let Some(delegate) = self.delegate_of(index) else { return };
        let Ok(facts) = self.facts() else { return };
        let reason = call.reason();
        let mut packet: BTreeMap<String, Box<RawValue>> = BTreeMap::new();
        for path in &delegate.pass {
            let values = Path::select(&path.selectors, &facts.document, Document::ROOT);
            let is_list = path.selectors.contains(&Selector::Each);
            let values: Vec<String> = values.into_iter().map(|at| source(&facts.document, at)).collect();
            let value = match values.first() {
                None => continue,
                Some(_) if is_list => format!("[{}]", values.join(",")),
                Some(first) => first.clone(),
            };
            packet.insert(passed_as(path), raw(value));
        }
        packet.insert("reason".to_owned(), raw(json(&reason)));
        let task = json(&packet);
        let bounds = Bounds {
            run: self.state.facts.run.clone(),
            call: call.key.clone(),
            tools: self.tools_for(delegate),
            deny: self.deny_for(),
            approvals: self.approvals_for(),
            labels: self.labels(),
            budget: call.carved.clone().unwrap_or_default(),
            deadline: call.expires,
        };
        self.actions.push(Action::Delegate {
            key,
            call: call.key.clone(),
            run: format!("{}/{}", self.state.facts.run, call.key),
            agent: delegate.agent.clone(),
            profile: delegate.profile.clone(),
            reason,
            digest: digest(&task),
            task: raw(task),
            parent: written(&bounds),
        });
    }

    /// Calls of a child of which nobody knows whether they had their effect: the end of this run names them, too.
    fn left_uncertain(&mut self, index: usize, event: &Event) {
        let (call, document) = (&self.state.calls[index], event.document());
        let run = format!("{}/{}", self.state.facts.run, call.key);
        let text = |at, name| text_in(document, at, name).unwrap_or_default();
        let left: Vec<Uncertain> = event
            .items("uncertain")
            .map(|at| Uncertain {
                run: Some(text_in(document, at, "run").unwrap_or(&run).to_owned()),
                call: text(at, "call").to_owned(),
                server: text_in(document, at, "server").map(str::to_owned),
                tool: text(at, "tool").to_owned(),
                arguments: short(text(at, "arguments"), MAX_ARGUMENTS_LEFT),
            })
            .collect();
        if left.is_empty() {
            return;
        }
        let (call, tool) = (call.key.clone(), call.tool.clone());
        let count = left.len();
        let message =
            format!("the child ended with calls of which nobody knows whether they had their effect: {count}");
        self.records.push(Record::Settled { call, tool, code: "uncertain", message });
        let room = MAX_LEFT.saturating_sub(self.state.uncertain.len());
        self.state.uncertain.extend(left.into_iter().take(room));
    }

    /// The tools that a child may use: those that both allow.
    fn tools_for(&self, delegate: &Delegate) -> Vec<String> {
        let Ok(facts) = self.facts() else { return Vec::new() };
        let Ok(mode) = surface::mode(self.profile, &facts) else { return Vec::new() };
        let allowed = surface::allowed(self.profile, mode, &facts);
        let is_passed = |tool: &&Tool| {
            allowed.contains(&tool.full_name())
                && !tool.is_delegate
                && delegate.tools.iter().any(|word| tool.is_named(word))
                && !matches!(flow::check(self.profile, &facts, tool), Flowing::Denied(_))
        };
        self.profile.tools.iter().filter(is_passed).map(Tool::full_name).collect()
    }

    /// What neither this run nor its parents may do.
    fn deny_for(&self) -> Vec<Box<RawValue>> {
        let own = self.profile.document();
        let own = own.iter().flat_map(|own| {
            let rules = own.member(Document::ROOT, "deny").into_iter().flat_map(|at| own.items(at));
            rules.map(|at| raw(source(own, at))).collect::<Vec<_>>()
        });
        let facts = self.facts();
        let above = facts.iter().flat_map(|facts| {
            let rules = facts.parent().and_then(|at| facts.document.member(at, "deny"));
            let rules = rules.into_iter().flat_map(|at| facts.document.items(at));
            rules.map(|at| raw(source(&facts.document, at))).collect::<Vec<_>>()
        });
        own.chain(above).collect()
    }

    fn approvals_for(&self) -> Vec<Asked> {
        let facts = self.facts();
        let asked = |tool: &Tool, approval: &Approval| Asked {
            tool: tool.full_name(),
            by: self.profile.principals(&approval.by),
            ttl_s: approval.ttl_s,
        };
        let own = self.profile.tools.iter().flat_map(|tool| {
            let permit = match &tool.permit {
                Permit::Approval(approval) => Some(asked(tool, approval)),
                _ => None,
            };
            let flows = match facts.as_ref().map(|facts| flow::check(self.profile, facts, tool)) {
                Ok(Flowing::Approvals(approvals)) => approvals,
                _ => Vec::new(),
            };
            permit.into_iter().chain(flows.into_iter().map(|(approval, _)| asked(tool, &approval))).collect::<Vec<_>>()
        });
        let above =
            facts.iter().flat_map(|facts| facts.parent_approvals()).map(|(tool, by, ttl_s)| Asked { tool, by, ttl_s });
        own.chain(above).collect()
    }

    /// How a child ended.
    pub(super) fn child_result(&mut self, event: &Event) -> Result<(), Fault> {
        let Some(index) = self.call_of(event, Phase::is_under_way).filter(|&index| self.is_delegate(index)) else {
            self.ignore("late", "no such child is under way");
            return Ok(());
        };
        let document = event.document();
        let list = |name| texts_in(document, Document::ROOT, name);
        let used = event.member("used").map(|at| {
            let number = |name| Some(number_in(document, at, name).unwrap_or_default());
            Carved { steps: number("steps"), tool_calls: number("tool_calls"), tokens: number("tokens") }
        });
        self.return_carved(index, used);
        for at in event.items("requests") {
            let call = self.state.calls[index].key.clone();
            self.records.push(Record::ContextRequest { call, request: raw(source(document, at)) });
        }
        self.left_uncertain(index, event);
        let status = event.text("status").unwrap_or_default();
        let body = match event.member("document") {
            Some(at) if document.kind(at) == Kind::String => Body::Text(document.string(at).to_owned()),
            Some(at) => Body::Json(source(document, at)),
            None => Body::Told(format!("The child ended without an answer: {status}.")),
        };
        let result = ToolResult { is_error: matches!(status, "failed" | "cancelled"), body };
        let confidence = event.text("confidence").and_then(Confidence::of);
        let labels = self.state.facts.labels.clone();
        self.observed_as(index, &result, None, |made| {
            if !result.is_error {
                made.kinds = list("kinds");
            }
            made.labels.extend(list("labels"));
            made.confidence = confidence.map_or(made.confidence, |own| own.min(made.confidence));
            if status == "final_partial" {
                made.labels.push("partial".to_owned());
                made.limitations.push("partial");
                made.complete = false;
                made.confidence = made.confidence.min(Confidence::Medium);
            }
            made.labels.sort_unstable();
            made.labels.dedup();
            made.facts.labels = united(&labels, &made.labels);
        })
    }
}
