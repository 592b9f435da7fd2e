//! Calls that are runs of other agents. A child receives a task, never the transcript, and may never do more than its
//! parent.

use std::collections::BTreeMap;

use seamgate_core::{
    Confidence, Fault,
    kernel_api::{Document, Json, Kind, Path, Selector, digest, json, short, sort},
};
use serde_json::value::RawValue;

use super::{
    Run,
    event::Event,
    raw,
    state::{CallState, Carved, Phase, Uncertain},
    step::{Action, Record},
    written,
};
use crate::{
    above::{Bounds, Granted, Handed, effect, rates},
    counts::{self, Calls},
    digest::same_call,
    document::{CAPS, number_in, source, text_in, texts_in},
    facts::{MAX_NUMBER, recent_in},
    flow::{self, Flowing},
    observe::united,
    profile::{Budget, DELEGATE, Delegate, passed_as},
    rate,
    result::{Body, ToolResult},
    surface,
    tool::{Effect, Source, Tool},
};

/// The maximum number of children's uncertain calls that are kept, and the maximum size of their arguments, in bytes.
const MAX_LEFT: usize = 64;
const MAX_ARGUMENTS_LEFT: usize = 1024;

impl Run<'_> {
    /// Takes over the parent's labels, because the child counts as having read everything that the parent has read.
    pub(super) fn take_labels(&mut self) {
        let Some(above) = &self.above else { return };
        self.state.facts.labels.clone_from(&above.bounds.labels);
        sort(&mut self.state.facts.labels);
        self.state.facts.labels.dedup();
    }

    pub(super) fn is_delegate(&self, index: usize) -> bool {
        self.delegate_of(index).is_some()
    }

    fn delegate_of(&self, index: usize) -> Option<&Delegate> {
        let agent = self.state.calls[index].tool.strip_prefix(DELEGATE)?;
        self.profile.delegates.iter().find(|delegate| delegate.agent == agent)
    }

    /// Returns whether a child may make calls that are counted across all concurrent children. If equal calls are
    /// limited, these are calls that are not only reads.
    fn shares_calls(&self, index: usize) -> bool {
        let Some(delegate) = self.delegate_of(index).filter(|_| self.counts_calls()) else { return false };
        let handed = self.tools_for(delegate);
        let mut tools = self.profile.tools.iter().filter(|tool| handed.contains(&tool.full_name()));
        tools.any(|tool| effect(tool, self.above.as_deref()) != Effect::Read)
    }

    /// Returns whether a child may change something, by the tools that it is handed.
    pub(super) fn child_changes(&self, index: usize) -> bool {
        let Some(delegate) = self.delegate_of(index) else { return false };
        let mut tools = self.profile.tools.iter().filter(|tool| delegate.tools.iter().any(|word| tool.is_named(word)));
        tools.any(|tool| effect(tool, self.above.as_deref()) != Effect::Read)
    }

    /// Returns the number of times that children may make each call, under the strictest limit of this agent and of
    /// those above it. The calls that children beside this run may make are reserved for them.
    fn same_call_limit(&self) -> u64 {
        let above = self.above.iter().flat_map(|above| &above.rules);
        let above = above.filter_map(|rules| Some(rules.profile.least_equal_calls()?.saturating_sub(rules.reserved)));
        let own = self.budget.same_call.into_iter().chain(self.profile.least_equal_calls());
        own.chain(above).min().unwrap_or(u64::MAX)
    }

    /// Returns the number of times that the children in flight, except one, may make each call.
    fn shared(&self, except: Option<usize>) -> u64 {
        let others = self.state.calls.iter().enumerate().filter(|(index, _)| Some(*index) != except);
        let others = others.filter(|(_, call)| call.phase.is_under_way());
        others.filter_map(|(_, call)| call.carved.as_ref()?.same_call).fold(0, u64::saturating_add)
    }

    /// Returns the tools with a rate that a child may use.
    fn limited_tools(&self, index: usize) -> Vec<String> {
        let Some(delegate) = self.delegate_of(index) else { return Vec::new() };
        let is_named = |tool: &&Tool| !tool.is_delegate && delegate.tools.iter().any(|word| tool.is_named(word));
        let tools = self.profile.tools.iter().filter(is_named);
        tools.filter(|tool| !rates(tool, self.above.as_deref()).is_empty()).map(Tool::full_name).collect()
    }

    /// Returns the tools with a rate that others may use while a child that starts now runs: children in flight, and
    /// this run's own waiting calls.
    fn limited_in_use(&self) -> Vec<String> {
        let calls = self.state.calls.iter().enumerate();
        let in_use = calls.flat_map(|(index, call)| match call.phase {
            Phase::Dispatched | Phase::Started if !call.is_child_to_start() => self.limited_tools(index),
            Phase::Asked | Phase::Held => {
                surface::known(self.profile, &call.as_call()).map(Tool::full_name).into_iter().collect()
            }
            _ => Vec::new(),
        });
        in_use.collect()
    }

    /// Counts a rate as used up for each tool that a child may have used, because the child's calls are unknown.
    pub(super) fn fill_rates(&mut self, index: usize) {
        let limited = self.limited_tools(index);
        for tool in self.profile.tools.iter().filter(|tool| limited.contains(&tool.full_name())) {
            let (name, rates) = (tool.full_name(), rates(tool, self.above.as_deref()));
            rate::fill(&mut self.state.facts.used.recent, &name, &rates, self.state.facts.at);
        }
    }

    /// Starts the children that may start now. Runs after the rest of a step, so that they receive the counts of all
    /// earlier calls.
    ///
    /// Concurrent children do not know each other's calls, so each has a share of the limit of equal calls. A child
    /// with no share left waits until another child ends. Children that may use the same tool with a rate run one at a
    /// time.
    pub(super) fn start_children(&mut self) {
        let mut to_start: Vec<usize> =
            (0..self.state.calls.len()).filter(|&index| self.state.calls[index].is_child_to_start()).collect();
        if to_start.is_empty() {
            return;
        }
        let mut in_use = self.limited_in_use();
        to_start.retain(|&index| {
            let limited = self.limited_tools(index);
            let is_free = !limited.iter().any(|name| in_use.contains(name));
            if is_free {
                in_use.extend(limited);
            }
            is_free
        });
        let sharing: Vec<usize> = to_start.iter().copied().filter(|&index| self.shares_calls(index)).collect();
        let mut left = self.same_call_limit().saturating_sub(self.shared(None));
        for (place, &index) in sharing.iter().enumerate() {
            let share = left.div_ceil((sharing.len() - place) as u64);
            left -= share;
            match &mut self.state.calls[index].carved {
                Some(carved) if share > 0 => carved.same_call = Some(share),
                _ => to_start.retain(|other| *other != index),
            }
        }
        for index in to_start {
            let limit = self.delegate_of(index).and_then(|delegate| delegate.budget.ms);
            let ends = limit.into_iter().chain(self.ms_left()).min().map(|ms| self.now().saturating_add(ms));
            let expires = ends.unwrap_or(self.call_expires());
            self.state.calls[index].expires = Some(expires);
            self.delegate_again(index);
        }
    }

    /// Reserves the child's share of this run's budget. The child starts after the rest of this step, or when the
    /// children that it must wait for have ended. Until then, it has no end time.
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
            same_call: None,
        };
        self.spend_carved(&carved);
        let call = &mut self.state.calls[index];
        (call.carved, call.expires) = (Some(carved), None);
    }

    fn spend_carved(&mut self, carved: &Carved) {
        let used = &mut self.state.facts.used;
        self.state.steps = self.state.steps.saturating_add(carved.steps.unwrap_or_default());
        used.tool_calls = used.tool_calls.saturating_add(carved.tool_calls.unwrap_or_default()).min(MAX_NUMBER);
        used.tokens = used.tokens.saturating_add(carved.tokens.unwrap_or_default()).min(MAX_NUMBER);
    }

    /// Releases the part of the budget that a child did not use. A child that does not report its use counts as having
    /// used all of it.
    pub(super) fn return_carved(&mut self, index: usize, actual: Option<Carved>) {
        let carved = self.state.calls[index].carved.take().unwrap_or_default();
        let used = &mut self.state.facts.used;
        self.state.steps = self.state.steps.saturating_sub(carved.steps.unwrap_or_default());
        used.tool_calls = used.tool_calls.saturating_sub(carved.tool_calls.unwrap_or_default());
        used.tokens = used.tokens.saturating_sub(carved.tokens.unwrap_or_default());
        self.spend_carved(&actual.unwrap_or(carved));
    }

    /// Releases the budget of a child that never began. The call still counts as one of several equal calls, so that a
    /// loop of them ends.
    pub(super) fn never_began(&mut self, index: usize) {
        self.return_carved(index, Some(Carved::default()));
        let used = &mut self.state.facts.used;
        used.tool_calls = used.tool_calls.saturating_sub(1);
    }

    /// Tells the host to start or continue a child. The child's run always has the same name.
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
        let Carved { steps, tool_calls, tokens, same_call: _ } = call.carved.clone().unwrap_or_default();
        let Budget { same_call, state_bytes, .. } = delegate.budget;
        let tools = self.tools_for(delegate);
        let bounds = Bounds {
            run: self.state.facts.run.clone(),
            call: call.key.clone(),
            rules: self.rules_for(&tools, self.shared(Some(index))),
            tools,
            labels: surface::read(self.profile, &facts),
            budget: Granted {
                steps,
                tool_calls,
                tokens,
                // The deadline limits it.
                ms: None,
                same_call,
                state_bytes: delegate.limits_state.then_some(state_bytes as u64),
            },
            deadline: call.expires,
            is_edited: false,
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

    /// Keeps the calls of a child that may have had their effect, so that the end of this run also names them.
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

    /// Returns the tools that a child may use: those that both profiles permit.
    fn tools_for(&self, delegate: &Delegate) -> Vec<String> {
        let Ok(facts) = self.facts() else { return Vec::new() };
        let Ok(mode) = surface::mode(self.profile, &facts) else { return Vec::new() };
        let allowed = surface::allowed(self.profile, mode, &facts);
        let is_passed = |tool: &&Tool| {
            allowed.iter().any(|allowed| allowed.full_name() == tool.full_name())
                && !tool.is_delegate
                && delegate.tools.iter().any(|word| tool.is_named(word))
                // Each call of the child is judged separately, and its origins may be proven.
                && !matches!(flow::check(self.profile, &facts, tool, None, !tool.origins.is_empty()), Flowing::Denied(_))
        };
        self.profile.tools.iter().filter(is_passed).map(Tool::full_name).collect()
    }

    /// Returns the rules that judge a child in addition to its own: those of this agent and of the agents above it.
    fn rules_for(&self, tools: &[String], reserved: u64) -> Vec<Handed> {
        let facts = &self.state.facts;
        let handed = self.profile.tools.iter().filter(|tool| tools.contains(&tool.full_name()));
        let handed: Vec<&Tool> = handed.collect();
        let sources = || handed.iter().flat_map(|tool| tool.sources());
        let (mut context, mut lists) = (facts.context.clone(), facts.lists.clone());
        context.retain(|name, _| sources().any(|source| matches!(source, Source::Context(other) if other == name)));
        lists.retain(|name, _| handed.iter().any(|tool| tool.lists().any(|other| other == name)));
        let calls = self.calls_made();
        let is_counted = self.budget.same_call.is_some() || handed.iter().any(|tool| tool.same_call.is_some());
        let mut recent = facts.used.recent.clone();
        recent.retain(|name, _| handed.iter().any(|tool| tool.full_name() == *name));
        let own = Handed {
            profile: self.profile.handed(tools),
            task: facts.task.clone().filter(|_| sources().any(|source| *source == Source::Task)),
            context,
            lists,
            said: self.said_for(&handed),
            observed: self.observed_for(&handed),
            calls: if is_counted { calls.clone() } else { Calls::new() },
            recent: recent.clone(),
            reserved,
        };
        let heard = (&facts.said[..], &facts.observed[..]);
        let above = self.above.iter().flat_map(|above| above.handed(&calls, &recent, reserved, heard));
        [own].into_iter().chain(above).collect()
    }

    /// Returns the number of times that each call was permitted in this run and below it. Includes calls that wait for
    /// approval, because they may be permitted before a child ends.
    fn calls_made(&self) -> Calls {
        let mut calls = self.state.facts.used.calls.clone();
        for call in self.state.calls.iter().filter(|call| call.phase == Phase::Asked) {
            if let Ok(arguments) = Json::read(&call.arguments, &CAPS) {
                let server = call.server.as_deref().unwrap_or_default();
                counts::add_waiting(&mut calls, &same_call(server, &call.tool, &arguments));
            }
        }
        calls
    }

    /// Adds the calls of a child to those of this run, even if the child's result is too late.
    fn count_calls(&mut self, event: &Event) {
        let document = event.document();
        let is_delegate =
            event.text("call").and_then(|key| self.state.call(key)).is_some_and(|at| self.is_delegate(at));
        let Some(used) = event.member("used").filter(|_| is_delegate) else { return };
        for (name, times) in recent_in(document, used) {
            if let Some(tool) = self.profile.tools.iter().find(|tool| tool.full_name() == name) {
                let recent = &mut self.state.facts.used.recent;
                rate::add(recent, &name, &rates(tool, self.above.as_deref()), &times, self.state.facts.at);
            }
        }
        let Some(calls) = document.member(used, "calls") else { return };
        let made = document.members(calls).map(|(name, _)| {
            let name = document.string(name);
            (name.to_owned(), number_in(document, calls, name).unwrap_or_default())
        });
        let mut all = counts::then(&self.state.facts.used.calls, &made.collect());
        all.values_mut().for_each(|times| *times = (*times).min(MAX_NUMBER));
        self.state.facts.used.calls = all;
    }

    /// Handles the end of a child.
    pub(super) fn child_result(&mut self, event: &Event) -> Result<(), Fault> {
        self.count_calls(event);
        let Some(index) = self.call_of(event, Phase::is_under_way).filter(|&index| self.is_delegate(index)) else {
            self.ignore("late", "no such child is under way");
            return Ok(());
        };
        let document = event.document();
        let list = |name| texts_in(document, Document::ROOT, name);
        let used = event.member("used").map(|at| {
            let number = |name| Some(number_in(document, at, name).unwrap_or_default());
            Carved {
                steps: number("steps"),
                tool_calls: number("tool_calls"),
                tokens: number("tokens"),
                same_call: None,
            }
        });
        if used.is_none() {
            self.fill_rates(index);
        }
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
            sort(&mut made.labels);
            made.labels.dedup();
            made.facts.labels = united(&labels, &made.labels);
        })
    }
}

impl CallState {
    /// Returns whether this is a permitted child that has not been started. A started child has an end time.
    fn is_child_to_start(&self) -> bool {
        self.phase == Phase::Dispatched && self.carved.is_some() && self.expires.is_none()
    }
}
