//! A step in words: the terminal and the page show the same ones.

use std::collections::{HashMap, HashSet};

use seamgate_text::tool_name;

use crate::{
    format::{cut, many, span},
    steps::{Action, Approval, Event, Json, Record, Step, Steps},
};

/// The look of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Something may run, or went well.
    Good,
    /// Something was denied, failed or is wrong.
    Bad,
    /// Somebody is waited for, or must look.
    Wait,
}

/// One thing that happened in a step. Its texts come from outside: the caller escapes and truncates them.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tone: Tone,
    pub(crate) title: String,
    /// Names, and what they say.
    pub(crate) parts: Vec<(&'static str, String)>,
    /// The id that claims cite, if this is an observation.
    pub(crate) observation: Option<String>,
    /// The digest of a prompt.
    pub(crate) prompt: Option<String>,
    /// The child that begins here.
    pub(crate) child: Option<Started>,
}

/// A child, as the action that starts it names it.
#[derive(Debug)]
pub(crate) struct Started {
    /// The call that starts it.
    pub(crate) call: String,
    pub(crate) run: String,
}

/// The facts that earlier steps stated.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// When the trace begins.
    pub(crate) start: u64,
    pub(crate) turns: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tokens: u64,
    /// How the run ended.
    pub(crate) status: Option<String>,
    /// Calls by their keys: their tools, and the beginning of their arguments.
    calls: HashMap<String, (String, String)>,
    /// The runs of children that have begun: a delegation that is sent again is the same child.
    children: HashSet<String>,
    /// Those that the run waits for, by the key of the ask, and since when.
    waits: HashMap<String, (String, u64)>,
}

impl Known {
    pub(crate) fn new(start: u64) -> Self {
        Known { start, ..Known::default() }
    }

    /// Returns those that the run waits for now, in the order of time.
    fn waits(&self) -> Vec<String> {
        let mut waits: Vec<_> = self.waits.values().collect();
        waits.sort_by_key(|(what, since)| (*since, what.clone()));
        waits.into_iter().map(|(what, since)| format!("{what}, since {}", self.time(*since))).collect()
    }

    /// Describes how far the run came.
    pub(crate) fn ending(&self, steps: u64, last: u64) -> String {
        let status = match &self.status {
            Some(status) => status.clone(),
            None => match self.waits().as_slice() {
                [] => "under way".to_owned(),
                waits => format!("waits for {}", waits.join("; ")),
            },
        };
        let [steps, turns, calls, tokens] =
            [(steps, "step"), (self.turns, "turn"), (self.tool_calls, "call"), (self.tokens, "token")]
                .map(|(number, noun)| many(number, noun));
        let tokens = if self.tokens == 0 { String::new() } else { format!(", {tokens} as the model says") };
        format!("{status}: {steps}, {turns}, {calls} allowed{tokens}, {}", span(last.saturating_sub(self.start)))
    }

    /// Formats a time as the distance from the beginning.
    pub(crate) fn time(&self, at: u64) -> String {
        match at.checked_sub(self.start) {
            Some(ms) => format!("+{}", span(ms)),
            None => format!("-{}", span(self.start - at)),
        }
    }

    /// Returns the key of a call, with its tool.
    fn call(&self, key: &str) -> String {
        match self.calls.get(key) {
            Some((tool, _)) => format!("{key} {tool}"),
            None => key.to_owned(),
        }
    }

    fn begin_wait(&mut self, key: &str, what: String, at: u64) {
        self.waits.insert(key.to_owned(), (what, at));
    }

    /// Ends a wait. Returns how long it took, if there was one.
    fn end_wait(&mut self, key: &str, at: u64) -> String {
        match self.waits.remove(key) {
            Some((_, since)) => format!(", after {}", span(at.saturating_sub(since))),
            None => String::new(),
        }
    }

    /// Returns the entries of the next step.
    pub(crate) fn entries(&mut self, steps: &Steps, step: &Step) -> Vec<Entry> {
        let mut first = self.event(steps, &step.event, step.at);
        // The document, or the question, has its own entry.
        if step.records.iter().any(|record| matches!(record.output.as_str(), "answer" | "question")) {
            first.parts.retain(|(name, _)| *name != "text");
        }
        let mut entries = vec![first];
        for record in &step.records {
            entries.push(self.record(record, step.at));
        }
        // That a call is sent when it is allowed goes without saying.
        let is_allowed = |call: &str| step.records.iter().any(|record| record.call == call && record.permit == "allow");
        for action in step.actions.iter().filter(|action| action.kind != "execute" || !is_allowed(&action.call)) {
            entries.push(self.action(action, step));
        }
        entries
    }

    fn event(&mut self, steps: &Steps, event: &Event, at: u64) -> Entry {
        let text = |value: &Option<Json>| value.as_ref().map(|value| steps.text(value)).unwrap_or_default();
        let call = self.call(&event.call);
        match event.kind.as_str() {
            "started" => {
                let mode = if event.mode.is_empty() { String::new() } else { format!(", in mode {}", event.mode) };
                let entry = plain(format!("started for {}{mode}", event.principal)).part("task", raw(&event.task));
                match &event.parent {
                    Some(parent) => entry.part("child of", format!("{}, call {}", parent.run, parent.call)),
                    None => entry,
                }
            }
            "tools_listed" => plain("servers listed their tools"),
            "model_output" => {
                let after = self.end_wait(&event.key, at);
                let what = match event.calls.len() {
                    0 => "the model wrote".to_owned(),
                    calls => format!("the model asked for {}", many(calls as u64, "call")),
                };
                let entry =
                    plain(format!("{what}{after}")).part("text", text(&event.text)).part("finish", &event.finish);
                match &event.usage {
                    Some(usage) => {
                        self.tokens = self.tokens.saturating_add(usage.input).saturating_add(usage.output);
                        entry.part("tokens", format!("{} in, {} out", usage.input, usage.output))
                    }
                    None => entry,
                }
            }
            "model_failed" => {
                let after = self.end_wait(&event.key, at);
                let again = if event.retry { "" } else { ", for good" };
                bad(format!("the model failed{again}{after}")).part("message", text(&event.message))
            }
            "message" => {
                let of = if event.server.is_empty() { String::new() } else { format!(" {}", event.server) };
                let title = match event.from.as_str() {
                    "client" => format!("the client says {} to the server{of}", event.method),
                    _ => format!("the server{of} says {}", event.method),
                };
                plain(title).part("text", text(&event.document))
            }
            "call" => plain(format!("call of {}", tool_name(&event.server, &event.tool))),
            "tool_started" => plain(format!("{call} was sent")),
            "tool_result" => {
                let took = event.duration_ms.map(|ms| format!(", after {}", span(ms))).unwrap_or_default();
                plain(format!("{call} returned{took}"))
            }
            "tool_failed" => {
                bad(format!("{call} failed")).part("effect", &event.effect).part("message", text(&event.message))
            }
            "job" => {
                let ttl = event.ttl_s.map(|ttl| format!(", for at most {ttl} s")).unwrap_or_default();
                waiting(format!("{call} goes on elsewhere{ttl}"))
            }
            "approval" => {
                let after = self.end_wait(&event.key, at);
                let title = format!("{} {} {}{after}", event.principal, event.decision, self.call(&event.key));
                let entry = if event.decision == "approved" { good(title) } else { bad(title) };
                let arguments = self.calls.get(&event.key).map(|(_, arguments)| arguments.clone()).unwrap_or_default();
                entry.part("arguments", arguments).part("digest", &event.digest)
            }
            "input" => {
                let after = self.end_wait(&event.key, at);
                plain(format!("{} answered{after}", somebody(&event.principal))).part("text", text(&event.text))
            }
            "user_message" => plain(format!("{} said", somebody(&event.principal))).part("text", text(&event.text)),
            "context" => plain(format!("the context {} changed", event.name)).part("value", raw(&event.value)),
            "resolution" => plain(format!("{} says that {call} is {}", event.principal, event.outcome))
                .part("text", text(&event.text)),
            "mode" => plain(format!("{} changes the mode to {}", event.principal, event.mode)),
            "child_result" => {
                let after = self.end_wait(&event.call, at);
                plain(format!("the child of {call} ended: {}{after}", event.status))
                    .part("document", text(&event.document))
                    .part("used", raw(&event.used))
            }
            "call_cancelled" => plain(format!("{call} was cancelled")).part("effect", &event.effect),
            "cancelled" => {
                bad(format!("{} cancelled the run", somebody(&event.principal))).part("reason", &event.reason)
            }
            "tick" => plain("time passed"),
            "resumed" => waiting("the run was interrupted, and goes on"),
            other => plain(format!("event {other}")),
        }
    }

    fn record(&mut self, record: &Record, at: u64) -> Entry {
        let call = self.call(&record.call);
        match record.kind.as_str() {
            "ignored" => waiting(format!("ignored ({})", record.code)).part("message", &record.message),
            "left_out" => waiting(format!("{} {} is left out ({})", record.what, record.name, record.code))
                .part("message", &record.message),
            "surface" => {
                let hidden: Vec<_> = record.hidden.iter().map(|one| format!("{} ({})", one.tool, one.code)).collect();
                let tone = if hidden.is_empty() { Tone::Plain } else { Tone::Wait };
                entry(tone, "tools that the model may see".to_owned())
                    .part("tools", record.tools.join(", "))
                    .part("hidden", hidden.join(", "))
            }
            "output" => {
                let tone = match record.output.as_str() {
                    "answer" => Tone::Good,
                    "no_answer" | "refusal" | "no_task" | "failure" => Tone::Bad,
                    _ => Tone::Plain,
                };
                entry(tone, format!("output: {}", record.output)).part("message", &record.message)
            }
            "message" => {
                let entry = match record.permit.as_str() {
                    "allow" => plain(format!("{} passes", record.method)),
                    _ => bad(format!("{} does not pass", record.method)),
                };
                entry.part("found", found(record)).part("in its place", raw(&record.document))
            }
            "decision" => self.decision(record),
            "observation" => observation(record),
            "settled" => {
                self.waits.remove(&record.call);
                bad(format!("{call} came to no result ({})", record.code)).part("message", &record.message)
            }
            "cut" => waiting(format!("cut from the {}", record.from))
                .part("observations", record.calls.join(", "))
                .part("messages", if record.entries == 0 { String::new() } else { record.entries.to_string() }),
            "stop" => bad(format!("stop ({})", record.code)).part("message", &record.message),
            "context_request" => {
                bad(format!("{call} asked for the parent's context: denied")).part("request", raw(&record.request))
            }
            "used" => {
                let budgets = &record.budgets;
                let [steps, calls, tokens] =
                    [(record.steps, "model call"), (budgets.tool_calls, "tool call"), (budgets.tokens, "token")]
                        .map(|(number, noun)| many(number, noun));
                plain(format!("used {steps}, {calls}, {tokens}, {}", span(budgets.ms)))
            }
            other => plain(format!("record {other}, at {}", self.time(at))),
        }
    }

    fn decision(&mut self, record: &Record) -> Entry {
        let tool = tool_name(&record.server, &record.tool);
        self.calls.insert(record.call.clone(), (cut(&tool, 200), cut(&record.arguments, 200)));
        if record.permit == "allow" {
            self.tool_calls += 1;
        }
        let (tone, word) = match record.permit.as_str() {
            "allow" => (Tone::Good, "allowed"),
            "approval" => (Tone::Wait, "needs approval"),
            _ => (Tone::Bad, "denied"),
        };
        let effect = if record.effect.is_empty() { String::new() } else { format!(" ({})", record.effect) };
        let mut entry = entry(tone, format!("{} {tool}{effect}: {word}", record.call))
            .part("arguments", &record.arguments)
            .part("approval", approval(self, record.approval.as_ref()));
        for reason in &record.reasons {
            // The message of a reason ends with the first.
            let violations = reason.violations.iter().map(|one| format!("{} {}", one.path, one.message));
            let violations = violations.filter(|one| !reason.message.ends_with(one.as_str()));
            let violations: String = violations.map(|one| format!("\n{one}")).collect();
            entry = entry.part("reason", format!("{}: {}{violations}", reason.code, reason.message));
        }
        entry
    }

    fn action(&mut self, action: &Action, step: &Step) -> Entry {
        let at = step.at;
        let call = self.call(&action.call);
        match action.kind.as_str() {
            "ask_model" => {
                self.turns += 1;
                self.begin_wait(&action.key, "the model".to_owned(), at);
                let title = format!("turn {}: ask the model ({})", self.turns, action.purpose);
                Entry { prompt: Some(action.prompt.artifact.clone()), ..plain(title) }
                    .part("prompt", &action.prompt.artifact)
            }
            "execute" => plain(format!("send {call}")).part("approval", approval(self, action.approval.as_ref())),
            "ask_approval" => {
                let by = action.ask.by.join(" or ");
                self.begin_wait(&action.call, format!("approval of {} by {by}", action.call), at);
                waiting(format!(
                    "wait for approval of {} by {by}, until {}",
                    action.call,
                    self.time(action.ask.expires)
                ))
                .part("to be sent", &action.ask.view)
                .part("digest", &action.ask.digest)
            }
            "ask_input" => {
                self.begin_wait(&action.key, "a person's answer".to_owned(), at);
                waiting(format!("wait for an answer, until {}", self.time(action.expires)))
                    .part("question", &action.question)
                    .part("about", call)
            }
            "delegate" => {
                self.begin_wait(&action.call, format!("the child {}", action.run), at);
                let started = Started { call: action.call.clone(), run: action.run.clone() };
                let child = self.children.insert(action.run.clone()).then_some(started);
                Entry { child, ..plain(format!("delegate {} to {}", action.call, action.agent)) }
                    .part("run", &action.run)
                    .part("reason", &action.reason)
                    .part("task", raw(&action.task))
            }
            "cancel" => plain(format!("cancel {call}")),
            "finish" => {
                self.status = Some(action.status.clone());
                self.waits.clear();
                let tone = if action.status == "final" { Tone::Good } else { Tone::Bad };
                // What the same step said is not said again.
                let is_told = |message: &str| step.records.iter().any(|record| record.message == message);
                let reasons = action.reasons.iter().filter(|one| !is_told(&one.message));
                let reasons = reasons.map(|one| format!("{}: {}", one.code, one.message));
                let uncertain = action.uncertain.iter().map(|one| one.get().to_owned());
                entry(tone, format!("the run has ended: {}", action.status))
                    .part("reasons", reasons.collect::<Vec<_>>().join("\n"))
                    .part("missing", action.missing.join(", "))
                    .part("uncertain", uncertain.collect::<Vec<_>>().join("\n"))
                    .part("document", raw(&action.document))
            }
            other => plain(format!("action {other}")),
        }
    }
}

fn observation(record: &Record) -> Entry {
    let part = if record.complete { "complete" } else { "not complete" };
    let tone = if record.status == "ok" { Tone::Plain } else { Tone::Bad };
    let title = format!("observed {}: {}, {} confidence, {part}", record.id, record.status, record.confidence);
    Entry { observation: Some(record.id.clone()), ..entry(tone, title) }
        .part("the model reads", &record.message)
        .part("kinds", record.kinds.join(", "))
        .part("labels", record.labels.join(", "))
        .part("limitations", record.limitations.join(", "))
        .part("found", found(record))
        .part("result", format!("{} bytes, {}", record.bytes, record.artifact))
}

/// Returns the findings in a text from outside, if there are any.
fn found(record: &Record) -> String {
    let found = record.found.as_ref().filter(|found| found.get().contains([':', '"']) && !is_clean(found));
    found.map(|found| found.get().to_owned()).unwrap_or_default()
}

/// Returns whether there are no findings.
fn is_clean(found: &Json) -> bool {
    fn is_empty(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Object(members) => members.values().all(is_empty),
            serde_json::Value::Array(items) => items.is_empty(),
            serde_json::Value::Number(number) => number.as_u64() == Some(0),
            _ => false,
        }
    }
    serde_json::from_str(found.get()).is_ok_and(|value| is_empty(&value))
}

fn approval(known: &Known, approval: Option<&Approval>) -> String {
    approval.map(|one| format!("by {}, {}", one.principal, known.time(one.at))).unwrap_or_default()
}

impl Entry {
    /// Adds a part, unless it is empty.
    fn part(mut self, name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push((name, text));
        }
        self
    }
}

fn entry(tone: Tone, title: String) -> Entry {
    Entry { tone, title, parts: Vec::new(), observation: None, prompt: None, child: None }
}

fn plain(title: impl Into<String>) -> Entry {
    entry(Tone::Plain, title.into())
}

fn good(title: String) -> Entry {
    entry(Tone::Good, title)
}

fn bad(title: String) -> Entry {
    entry(Tone::Bad, title)
}

fn waiting(title: impl Into<String>) -> Entry {
    entry(Tone::Wait, title.into())
}

fn raw(value: &Option<Json>) -> String {
    value.as_ref().map(|value| value.get().to_owned()).unwrap_or_default()
}

fn somebody(principal: &str) -> &str {
    if principal.is_empty() { "somebody" } else { principal }
}
