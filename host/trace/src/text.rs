//! Describes a step in words, which are the same on the terminal and on the page.

use std::collections::{HashMap, HashSet};

use seamgate::{
    Action, Approval, ApprovalAnswer, ApprovalRemember, DecisionRecord, EventKind, Finish, Found, Json, Large,
    ObservationRecord, ObservationStatus, OutputKind, Party, Permit, PossibleEffect, Proof, ReasonCode, Record,
    RunStatus,
};
use seamgate_text::tool_name;
use serde::Serialize;

use crate::{
    client,
    format::{cut, many, span},
    steps::{Step, Steps, Unread, call_of, prompt_of},
};

/// The appearance of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Something may run, or succeeded.
    Good,
    /// Something was denied, failed or is wrong.
    Bad,
    /// Somebody must act, or is being waited for.
    Wait,
}

/// One thing that happened in a step. Its texts are untrusted: the caller escapes and truncates them.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tone: Tone,
    pub(crate) title: String,
    /// Names, each with its text.
    pub(crate) parts: Vec<(&'static str, String)>,
    /// The id that claims cite, if the entry is an observation.
    pub(crate) observation: Option<String>,
    /// The digest of a prompt.
    pub(crate) prompt: Option<String>,
    /// The child that begins at this entry.
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
    /// The time when the trace begins.
    pub(crate) start: u64,
    pub(crate) turns: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tokens: u64,
    /// The status of the run, if it has ended.
    pub(crate) status: Option<RunStatus>,
    /// Calls by their keys: their tools, and the beginning of their arguments.
    calls: HashMap<String, (String, String)>,
    /// The keys of calls that a client made, outside of a run's loop.
    client_calls: HashSet<String>,
    /// The tools that the client sees, with their servers.
    visible: Option<HashSet<String>>,
    /// The runs of children that have begun. A delegation that is sent again refers to the same child.
    children: HashSet<String>,
    /// The calls that the run waits for, by the key of the request, with the time since when they wait.
    waits: HashMap<String, (String, u64)>,
}

impl Known {
    /// Returns whether the client sees the tool of a denied call. Without a list of tools, the client sees those of the
    /// profile.
    fn is_visible(&self, record: &DecisionRecord, tool: &str) -> bool {
        match &self.visible {
            Some(visible) => visible.contains(tool),
            None => !record.reasons.iter().any(|reason| reason.code == ReasonCode::UnknownTool),
        }
    }

    pub(crate) fn new(start: u64) -> Self {
        Known { start, ..Known::default() }
    }

    /// Returns what the run is waiting for, in the order of time.
    fn waits(&self) -> Vec<String> {
        let mut waits: Vec<_> = self.waits.values().collect();
        waits.sort_by_key(|(what, since)| (*since, what.clone()));
        waits.into_iter().map(|(what, since)| format!("{what}, since {}", self.time(*since))).collect()
    }

    /// Describes how far the run came.
    pub(crate) fn ending(&self, steps: u64, last: u64) -> String {
        let status = match self.status {
            Some(status) => status.to_string(),
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

    /// Formats a time relative to the beginning.
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
        let mut first = match &step.event {
            Ok(event) => self.event(steps, &event.kind, step),
            Err(unread) => unreadable("event", unread),
        };
        // The document or the question has its own entry.
        let is_shown = |record: &Record| match record {
            Record::Output(output) => matches!(output.kind, OutputKind::Answer | OutputKind::Question),
            _ => false,
        };
        if step.records().any(is_shown) {
            first.parts.retain(|(name, _)| *name != "text");
        }
        let change = step.change.as_ref().map(|change| {
            waiting("another component decides from here on; it decided all earlier steps alike".to_owned())
                .part("from", &change.from)
                .part("to", &change.to)
        });
        let mut entries: Vec<Entry> = change.into_iter().chain([first]).collect();
        for record in &step.records {
            entries.push(match record {
                Ok(record) => self.record(steps, record, step),
                Err(unread) => unreadable("record", unread),
            });
        }
        // It is obvious that an allowed call is sent, so this gets no entry.
        let is_allowed = |call: &str| {
            step.records().any(|record| match record {
                Record::Decision(decision) => decision.call == call && decision.permit == Permit::Allow,
                _ => false,
            })
        };
        for action in &step.actions {
            entries.push(match action {
                Ok(Action::Execute(execute)) if is_allowed(&execute.call) => continue,
                Ok(action) => self.action(action, step),
                Err(unread) => unreadable("action", unread),
            });
        }
        entries
    }

    fn event(&mut self, steps: &Steps, event: &EventKind, step: &Step) -> Entry {
        let at = step.at;
        let value = |value: &Option<Json>| value.as_ref().map(|value| steps.value(value)).unwrap_or_default();
        let text = |text: &Option<Large<String>>| text.as_ref().map(|text| steps.text(text)).unwrap_or_default();
        let call = self.call(call_of(event).unwrap_or_default());
        match event {
            EventKind::Started(event) => {
                let mode = event.mode.as_ref().map(|mode| format!(", in mode {mode}")).unwrap_or_default();
                let entry = plain(format!("started for {}{mode}", event.principal)).part("task", raw(&event.task));
                match &event.parent {
                    Some(parent) => entry.part("child of", format!("{}, call {}", parent.run, parent.call)),
                    None => entry,
                }
            }
            EventKind::ToolsListed(_) => plain("servers listed their tools"),
            EventKind::ModelOutput(event) => {
                let after = self.end_wait(&event.key, at);
                let what = match event.calls.as_ref().map_or(0, Vec::len) {
                    0 => "the model wrote".to_owned(),
                    calls => format!("the model asked for {}", many(calls as u64, "call")),
                };
                let entry = plain(format!("{what}{after}"))
                    .part("text", text(&event.text))
                    .part("finish", event.finish.map(Finish::as_str).unwrap_or_default());
                match &event.usage {
                    Some(usage) => {
                        let [input, output] = [usage.input, usage.output].map(Option::unwrap_or_default);
                        self.tokens = self.tokens.saturating_add(input).saturating_add(output);
                        entry.part("tokens", format!("{input} in, {output} out"))
                    }
                    None => entry,
                }
            }
            EventKind::ModelFailed(event) => {
                let after = self.end_wait(&event.key, at);
                let again = if event.retry.unwrap_or_default() { "" } else { ", for good" };
                bad(format!("the model failed{again}{after}")).part("message", &event.message)
            }
            EventKind::Message(event) => {
                let server = event.server.as_deref().unwrap_or_default();
                let of = if server.is_empty() { String::new() } else { format!(" {server}") };
                let title = match event.from_ {
                    Party::Client => format!("the client says {} to the server{of}", event.method),
                    Party::Server => format!("the server{of} says {}", event.method),
                };
                plain(title).part("text", value(&event.document))
            }
            EventKind::Call(event) => {
                plain(format!("call of {}", tool_name(event.server.as_deref().unwrap_or_default(), &event.tool)))
            }
            EventKind::ToolStarted(_) => plain(format!("{call} was sent")),
            EventKind::ToolResult(event) => {
                let took = event.duration_ms.map(|ms| format!(", after {}", span(ms))).unwrap_or_default();
                plain(format!("{call} returned{took}"))
            }
            EventKind::ToolFailed(event) => {
                bad(format!("{call} failed")).part("effect", possible(event.effect)).part("message", &event.message)
            }
            EventKind::Job(event) => {
                let ttl = event.ttl_s.map(|ttl| format!(", for at most {ttl} s")).unwrap_or_default();
                waiting(format!("{call} goes on elsewhere{ttl}"))
            }
            EventKind::Approval(event) => {
                let after = self.end_wait(&event.key, at);
                let title = format!("{} {} {}{after}", event.principal, event.decision, self.call(&event.key));
                let entry = match event.decision {
                    ApprovalAnswer::Approved => good(title),
                    ApprovalAnswer::Rejected => bad(title),
                    ApprovalAnswer::Edited => waiting(title),
                };
                let arguments = self.calls.get(&event.key).map(|(_, arguments)| arguments.clone()).unwrap_or_default();
                entry
                    .part("arguments", arguments)
                    .part("new arguments", event.arguments.as_deref().unwrap_or_default())
                    .part("digest", &event.digest)
                    .part("remember", event.remember.as_ref().map(covered).unwrap_or_default())
                    .part("reason", event.reason.as_deref().unwrap_or_default())
            }
            EventKind::Input(event) => {
                let after = self.end_wait(&event.key, at);
                plain(format!("{} answered{after}", somebody(&event.principal))).part("text", steps.text(&event.text))
            }
            EventKind::UserMessage(event) => {
                plain(format!("{} said", somebody(&event.principal))).part("text", steps.text(&event.text))
            }
            EventKind::Said(event) => plain(format!("{} said, not to the model", somebody(&event.principal)))
                .part("text", steps.text(&event.text)),
            EventKind::Stores(event) => {
                let stored = event.stores.iter().map(|entry| {
                    let key = entry.key.as_ref().map(|key| format!("/{key}")).unwrap_or_default();
                    format!("{}{key}: {}", entry.store, entry.labels.join(", "))
                });
                plain("other runs stored data with labels").part("stores", stored.collect::<Vec<_>>().join("; "))
            }
            EventKind::Context(event) => {
                plain(format!("the context {} changed", event.name)).part("value", event.value.as_str())
            }
            EventKind::Resolution(event) => plain(format!("{} says that {call} is {}", event.principal, event.outcome))
                .part("text", text(&event.text)),
            EventKind::Mode(event) => plain(format!("{} changes the mode to {}", event.principal, event.mode)),
            EventKind::Profile(_) => plain("the profile was edited: calls must pass the edited one, too"),
            EventKind::ChildResult(event) => {
                let after = self.end_wait(&event.call, at);
                plain(format!("the child of {call} ended: {}{after}", event.status))
                    .part("document", value(&event.document))
                    .part("used", raw(&step.member("used")))
            }
            EventKind::CallCancelled(event) => {
                plain(format!("{call} was cancelled")).part("effect", possible(event.effect))
            }
            EventKind::Cancelled(event) => bad(format!("{} cancelled the run", somebody(&event.principal)))
                .part("reason", event.reason.as_deref().unwrap_or_default()),
            EventKind::Tick(_) => plain("time passed"),
            EventKind::Resumed(_) => waiting("the run was interrupted, and goes on"),
        }
    }

    fn record(&mut self, steps: &Steps, record: &Record, step: &Step) -> Entry {
        match record {
            Record::Ignored(record) => waiting(format!("ignored ({})", record.code)).part("message", &record.message),
            Record::LeftOut(record) => {
                waiting(format!("{} {} is left out ({})", record.what, record.name, record.code))
                    .part("message", &record.message)
            }
            Record::Surface(record) => {
                self.visible = Some(record.tools.iter().cloned().collect());
                let hidden = record.hidden.iter().map(|one| match &one.message {
                    Some(why) => format!("{} ({}: {why})", one.tool, one.code),
                    None => format!("{} ({})", one.tool, one.code),
                });
                let hidden: Vec<_> = hidden.collect();
                let tone = if hidden.is_empty() { Tone::Plain } else { Tone::Wait };
                entry(tone, "tools that the model may see".to_owned())
                    .part("tools", record.tools.join(", "))
                    .part("hidden", hidden.join(", "))
            }
            Record::Output(record) => {
                let tone = match record.kind {
                    OutputKind::Answer => Tone::Good,
                    OutputKind::NoAnswer | OutputKind::Refusal | OutputKind::NoTask | OutputKind::Failure => Tone::Bad,
                    OutputKind::Question | OutputKind::Plan | OutputKind::Task | OutputKind::Calls => Tone::Plain,
                };
                entry(tone, format!("output: {}", record.kind)).part("message", &record.message)
            }
            Record::Message(record) => {
                let entry = match record.permit {
                    Permit::Allow => plain(format!("{} passes", record.method)),
                    Permit::Deny | Permit::Approval => bad(format!("{} does not pass", record.method)),
                };
                entry.part("found", found(&record.found)).part("in its place", raw(&record.document))
            }
            Record::Decision(record) => self.decision(record, step),
            Record::Joined(record) => plain("the call joins an equal one").part("same", &record.same),
            Record::Observation(record) if self.client_calls.contains(&record.call) => {
                let client::Sent { text, change } = client::observed(record, step.event(), steps);
                observation(record, [("the client got", text), ("changes", change)])
            }
            Record::Observation(record) => observation(record, [("the model reads", record.message.clone())]),
            Record::Settled(record) => {
                self.waits.remove(&record.call);
                let sent = match self.client_calls.contains(&record.call) {
                    true => client::settled(record, step.event()),
                    false => None,
                };
                bad(format!("{} came to no result ({})", self.call(&record.call), record.code))
                    .part("message", &record.message)
                    .part("the client got", sent.unwrap_or_default())
            }
            Record::Cut(record) => waiting(format!("cut from the {}", record.from_))
                .part("observations", record.calls.join(", "))
                .part("messages", if record.entries == 0 { String::new() } else { record.entries.to_string() }),
            Record::Stop(record) => bad(format!("stop ({})", record.code)).part("message", &record.message),
            Record::ContextRequest(record) => {
                bad(format!("{} asked for the parent's context: denied", self.call(&record.call)))
                    .part("request", record.request.as_str())
            }
            Record::Used(record) => {
                let budgets = &record.budgets;
                let [steps, calls, tokens] =
                    [(record.steps, "model call"), (budgets.tool_calls, "tool call"), (budgets.tokens, "token")]
                        .map(|(number, noun)| many(number, noun));
                plain(format!("used {steps}, {calls}, {tokens}, {}", span(budgets.ms)))
            }
        }
    }

    fn decision(&mut self, record: &DecisionRecord, step: &Step) -> Entry {
        let tool = tool_name(record.server.as_deref().unwrap_or_default(), &record.tool);
        if let Some(EventKind::Call(_)) = step.event() {
            self.client_calls.insert(record.call.clone());
        }
        self.calls.insert(record.call.clone(), (cut(&tool, 200), cut(&record.arguments, 200)));
        let (tone, word) = match record.permit {
            Permit::Allow => (Tone::Good, "allowed"),
            Permit::Approval => (Tone::Wait, "needs approval"),
            Permit::Deny => (Tone::Bad, "denied"),
        };
        if record.permit == Permit::Allow {
            self.tool_calls += 1;
        }
        let effect = record.effect.map(|effect| format!(" ({effect})")).unwrap_or_default();
        let mut entry = entry(tone, format!("{} {tool}{effect}: {word}", record.call))
            .part("arguments", &record.arguments)
            .part("approval", approval(self, record.approval.as_ref()))
            .part("origins", origins(record.origins.as_deref().unwrap_or_default()));
        for reason in &record.reasons {
            // The reason's message ends with the first violation.
            let violations = reason.violations.iter().map(|one| format!("{} {}", one.path, one.message));
            let violations = violations.filter(|one| !reason.message.ends_with(one.as_str()));
            let violations: String = violations.map(|one| format!("\n{one}")).collect();
            entry = entry.part("reason", format!("{}: {}{violations}", reason.code, reason.message));
        }
        if record.permit == Permit::Deny && self.client_calls.contains(&record.call) {
            entry = entry.part("the client got", client::denied(record, self.is_visible(record, &tool)));
        }
        entry
    }

    fn action(&mut self, action: &Action, step: &Step) -> Entry {
        let at = step.at;
        match action {
            Action::AskModel(action) => {
                self.turns += 1;
                self.begin_wait(&action.key, "the model".to_owned(), at);
                let title = format!("turn {}: ask the model ({})", self.turns, action.purpose);
                let prompt = prompt_of(action);
                Entry { prompt: prompt.map(str::to_owned), ..plain(title) }.part("prompt", prompt.unwrap_or_default())
            }
            Action::Execute(action) => plain(format!("send {}", self.call(&action.call)))
                .part("approval", approval(self, action.approval.as_ref())),
            Action::AskApproval(action) => {
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
            Action::AskInput(action) => {
                self.begin_wait(&action.key, "a person's answer".to_owned(), at);
                waiting(format!("wait for an answer, until {}", self.time(action.expires)))
                    .part("question", &action.question)
                    .part("about", action.call.as_ref().map(|call| self.call(call)).unwrap_or_default())
            }
            Action::Delegate(action) => {
                self.begin_wait(&action.call, format!("the child {}", action.run), at);
                let started = Started { call: action.call.clone(), run: action.run.clone() };
                let child = self.children.insert(action.run.clone()).then_some(started);
                Entry { child, ..plain(format!("delegate {} to {}", action.call, action.agent)) }
                    .part("run", &action.run)
                    .part("reason", &action.reason)
                    .part("task", action.task.as_str())
            }
            Action::Cancel(action) => plain(format!("cancel {}", self.call(&action.call))),
            Action::Finish(action) => {
                self.status = Some(action.status);
                self.waits.clear();
                let tone = if action.status == RunStatus::Final { Tone::Good } else { Tone::Bad };
                // A message that the same step already contains is not repeated.
                let is_told = |message: &str| step.records().any(|record| message_of(record) == message);
                let reasons = action.reasons.iter().filter(|one| !is_told(&one.message));
                let reasons = reasons.map(|one| format!("{}: {}", one.code, one.message));
                let uncertain = action.uncertain.iter().map(written);
                entry(tone, format!("the run has ended: {}", action.status))
                    .part("reasons", reasons.collect::<Vec<_>>().join("\n"))
                    .part("missing", action.missing.join(", "))
                    .part("uncertain", uncertain.collect::<Vec<_>>().join("\n"))
                    .part("document", raw(&action.document))
            }
        }
    }
}

/// Returns the message of a record for people or for the model.
fn message_of(record: &Record) -> &str {
    match record {
        Record::Ignored(record) => &record.message,
        Record::LeftOut(record) => &record.message,
        Record::Output(record) => &record.message,
        Record::Decision(record) => &record.message,
        Record::Observation(record) => &record.message,
        Record::Settled(record) => &record.message,
        Record::Stop(record) => &record.message,
        Record::Surface(_)
        | Record::Joined(_)
        | Record::Cut(_)
        | Record::ContextRequest(_)
        | Record::Used(_)
        | Record::Message(_) => "",
    }
}

/// Returns the entry of a line that this version cannot read.
fn unreadable(what: &str, unread: &Unread) -> Entry {
    waiting(format!("{what} {}: this version cannot read it", unread.word))
        .part("error", &unread.error)
        .part("JSON", &unread.json)
}

fn observation<const N: usize>(record: &ObservationRecord, texts: [(&'static str, String); N]) -> Entry {
    let part = if record.complete { "complete" } else { "not complete" };
    let tone = if record.status == ObservationStatus::Ok { Tone::Plain } else { Tone::Bad };
    let title = format!("observed {}: {}, {} confidence, {part}", record.id, record.status, record.confidence);
    let limitations: Vec<_> = record.limitations.iter().map(|limitation| limitation.as_str()).collect();
    let entry = Entry { observation: Some(record.id.clone()), ..entry(tone, title) };
    let entry = texts.into_iter().fold(entry, |entry, (name, text)| entry.part(name, text));
    entry
        .part("kinds", record.kinds.join(", "))
        .part("labels", record.labels.join(", "))
        .part("limitations", limitations.join(", "))
        .part("found", found(&record.found))
        .part("result", format!("{} bytes, {}", record.bytes, record.artifact))
}

/// Describes the findings in an untrusted text, if there are any.
fn found(found: &Found) -> String {
    if is_clean(found) { String::new() } else { written(found) }
}

/// Returns whether there are no findings.
fn is_clean(found: &Found) -> bool {
    let Found { defanged, escaped, instructions, instructions_left_out, redacted } = found;
    let mut counts = [defanged, instructions_left_out].into_iter().chain(escaped.values()).chain(redacted.values());
    instructions.is_empty() && counts.all(|count| *count == 0)
}

/// Serializes a value as JSON.
fn written(value: &impl Serialize) -> String {
    Json::of(value).map_or_else(|error| format!("({error})"), |json| json.to_string())
}

/// Describes whether a call may have had an effect, according to the host.
fn possible(effect: Option<PossibleEffect>) -> &'static str {
    effect.map(PossibleEffect::as_str).unwrap_or_default()
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
    value.as_ref().map(Json::to_string).unwrap_or_default()
}

/// Describes where the values of a call come from, one per line.
fn origins(proofs: &[Proof]) -> String {
    let line = |proof: &Proof| match &proof.origin {
        Some(origin) => format!("{} is from {origin}", proof.pointer),
        None => format!("{} has no origin", proof.pointer),
    };
    proofs.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Describes the further calls that an approval covers.
fn covered(ApprovalRemember { any, times, ttl_s }: &ApprovalRemember) -> String {
    let any = any.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    let number = |value: &Option<u64>| value.map_or_else(|| "the default".to_owned(), |value| value.to_string());
    let differ = if any.is_empty() { "the same arguments".to_owned() } else { format!("any {any}") };
    format!("further calls with {differ}: {}, for {} s", number(times), number(ttl_s))
}

fn somebody(principal: &Option<String>) -> &str {
    principal.as_deref().filter(|principal| !principal.is_empty()).unwrap_or("somebody")
}
