//! Calls that are runs of other agents. A child gets a packet, never the transcript, and never more than its parent may.

use seamgate_core::{
    Fault,
    parts::{Document, Json, Kind, NodeId, Path, Selector, digest, json},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::{
    Run,
    event::Event,
    raw,
    state::{Carved, Phase},
    step::{Action, Record},
};
use crate::{
    document::{number_in, source, text, texts_in},
    observation::Confidence,
    observe::united,
    profile::{Budget, DELEGATE, Delegate},
    result::{Body, ToolResult},
    surface,
    tool::{Permit, Tool},
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
        let (budget, deadline) = (facts.budget(&self.profile.budget), facts.deadline());
        (self.budget, self.deadline) = (budget, deadline);
        Ok(())
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
        used.tool_calls = used.tool_calls.saturating_add(carved.tool_calls.unwrap_or_default());
        used.tokens = used.tokens.saturating_add(carved.tokens.unwrap_or_default());
    }

    /// What a child did not use comes back.
    pub(super) fn return_carved(&mut self, index: usize, actual: Option<Carved>) {
        let Some(carved) = self.state.calls[index].carved.take() else {
            if let Some(actual) = actual {
                self.spend_carved(&actual);
            }
            return;
        };
        let used = &mut self.state.facts.used;
        self.state.steps = self.state.steps.saturating_sub(carved.steps.unwrap_or_default());
        used.tool_calls = used.tool_calls.saturating_sub(carved.tool_calls.unwrap_or_default());
        used.tokens = used.tokens.saturating_sub(carved.tokens.unwrap_or_default());
        self.spend_carved(&actual.unwrap_or_default());
    }

    /// Tell the host to start a child, or to go on with it: its run has one name.
    pub(super) fn delegate_again(&mut self, index: usize) {
        let (key, call) = (self.key(), &self.state.calls[index]);
        let Some(delegate) = self.delegate_of(index) else { return };
        let Ok(facts) = self.facts() else { return };
        let reason = Json::read(&call.arguments, &crate::document::CAPS)
            .map(|arguments| text(&arguments, "reason").unwrap_or_default().to_owned())
            .unwrap_or_default();
        let mut packet: BTreeMap<String, Box<RawValue>> = BTreeMap::new();
        for path in &delegate.pass {
            let Some(&at) = Path::select(&path.selectors, &facts.document, Document::ROOT).first() else { continue };
            let name = path.selectors.iter().rev().find_map(|selector| match selector {
                Selector::Name(name) => Some(name.clone()),
                _ => None,
            });
            packet.insert(name.unwrap_or_default(), raw(source(&facts.document, at)));
        }
        packet.insert("reason".to_owned(), raw(json(&reason)));
        let task = json(&packet);
        let bounds = Bounds {
            run: self.state.facts.run.clone(),
            call: call.key.clone(),
            tools: self.tools_for(delegate),
            deny: self.deny_for(),
            approvals: self.approvals_for(),
            labels: self.state.facts.labels.clone(),
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
            parent: raw(json(&bounds)),
        });
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
        let own = self.profile.tools.iter().filter_map(|tool| match &tool.permit {
            Permit::Approval(approval) => {
                Some(Asked { tool: tool.full_name(), by: self.profile.principals(&approval.by), ttl_s: approval.ttl_s })
            }
            _ => None,
        });
        let facts = self.facts();
        let above =
            facts.iter().flat_map(|facts| facts.parent_approvals()).map(|(tool, by, ttl_s)| Asked { tool, by, ttl_s });
        own.chain(above).collect()
    }

    /// How a child ended.
    pub(super) fn child_result(&mut self, event: &Event) -> Result<(), Fault> {
        let Some(index) = self.call_of(event, Phase::is_under_way).filter(|&index| self.delegate_of(index).is_some())
        else {
            self.ignore("late", "no such child is under way");
            return Ok(());
        };
        let document = event.document();
        let list = |name| texts_in(document, Document::ROOT, name);
        let used = event.member("used").map(|at| {
            let number = |name| number_in(document, at, name);
            Carved { steps: number("steps"), tool_calls: number("tool_calls"), tokens: number("tokens") }
        });
        self.return_carved(index, used);
        for at in event.items("requests") {
            let call = self.state.calls[index].key.clone();
            self.records.push(Record::ContextRequest { call, request: raw(source(document, at)) });
        }
        let uncertain = event.items("uncertain").count();
        if uncertain > 0 {
            let call = &self.state.calls[index];
            let (call, tool) = (call.key.clone(), call.tool.clone());
            let message =
                format!("the child ended with calls of which nobody knows whether they had their effect: {uncertain}");
            self.records.push(Record::Settled { call, tool, code: "uncertain", message });
        }
        let status = event.text("status").unwrap_or_default();
        let body = match event.member("document") {
            Some(at) if document.kind(at) == Kind::String => Body::Text(document.string(at).to_owned()),
            Some(at) => Body::Json(source(document, at)),
            None => Body::Text(format!("The child ended without an answer: {status}.")),
        };
        let result = ToolResult { is_error: matches!(status, "failed" | "cancelled"), body };
        let confidence = event.text("confidence").and_then(Confidence::of);
        let labels = self.state.facts.labels.clone();
        self.observed_as(index, &result, None, |made| {
            if !result.is_error {
                made.kinds = list("kinds");
            }
            made.labels.extend(list("labels"));
            made.labels.sort_unstable();
            made.labels.dedup();
            made.confidence = confidence.map_or(made.confidence, |own| own.min(made.confidence));
            made.facts.labels = united(&labels, &made.labels);
        })
    }
}

/// The limits of a child: its own, and what its parent carved for it.
pub(crate) fn stricter(own: &Budget, document: &Document, at: Option<NodeId>) -> Budget {
    let limit = |own: Option<u64>, name| own.into_iter().chain(at.and_then(|at| number_in(document, at, name))).min();
    Budget {
        steps: limit(own.steps, "steps"),
        tool_calls: limit(own.tool_calls, "tool_calls"),
        tokens: limit(own.tokens, "tokens"),
        ms: limit(own.ms, "ms"),
        ..own.clone()
    }
}
