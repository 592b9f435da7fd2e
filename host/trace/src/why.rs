//! Follows a claim of a run's answer back to the observations that it cites, their results, the calls, the people who
//! permitted them, and the prompts in which the model read them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use seamgate::{
    Action, AskApprovalAction, DecisionRecord, DelegateAction, EventKind, ExecuteAction, Json, Limitation, LineKind,
    ModelPrompt, ObservationRecord, Record, digest,
};
use seamgate_text::tool_name;

use crate::{
    claims::{Cite, Claim, Claims},
    error::TraceError,
    format::cut,
    profile,
    steps::{Steps, asked_of, call_of, child_folder, prompt_of},
    text::Known,
};

/// The longest text that is shown, in bytes. Longer texts are truncated.
const MAX_SHOWN: usize = 2000;

/// The maximum number of claims that an error lists.
const MAX_NAMED: usize = 10;

/// The chain of evidence for a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chain {
    /// The chain as text: the claim, followed by each observation that it cites, with the links behind it. The run's
    /// texts in it are not escaped.
    pub text: String,
    /// The number of missing links, which are marked in the text. 0 if the chain is complete.
    pub breaks: usize,
}

/// The end of a run.
#[derive(Default)]
struct End {
    document: Option<Json>,
    step: u64,
    /// The key of the `ask_model` that the answer belongs to.
    asked: String,
    start: u64,
}

/// A call whose observation is cited, as far as the journal contains it.
#[derive(Default)]
struct Call {
    /// The decisions, each with its step, its time, and the `ask_model` in which the model requested the call.
    decisions: Vec<(u64, u64, String, DecisionRecord)>,
    ask: Option<AskApprovalAction>,
    sent: Option<(u64, Sent)>,
    /// The event with the result, and its line in the journal.
    result: Option<(u64, EventKind)>,
    observation: Option<(u64, u64, ObservationRecord)>,
    /// The folder of the child, if the call was delegated to one.
    child: Option<PathBuf>,
}

/// The action that sent a call.
enum Sent {
    Execute(Box<ExecuteAction>),
    Delegate(Box<DelegateAction>),
}

/// A prompt: the number of its step, its key, and its digest.
type Prompt = (u64, String, String);

/// Follows a claim of a run's final document back through its evidence.
///
/// `claim` is the number of the claim from 0, a JSON Pointer into the final document, or words from the claim.
/// `profile` is the profile that the run began with, which defines where claims are. If it is `None`, the plan in the
/// folder ([`PLAN`](crate::PLAN)) names one.
///
/// # Errors
///
/// - The folder holds no run that can be read, or its journal is damaged ([`TraceError::Damaged`]).
/// - The profile is not found, it is not the one that the run began with, or it does not define claims.
/// - The run has no final document, or `claim` does not identify exactly one of its claims.
pub fn why(folder: &Path, claim: &str, profile: Option<&Path>) -> Result<Chain, TraceError> {
    let mut steps = Steps::open(folder)?;
    let profile = profile::open(folder, profile, &steps.about)?;
    let claims = Claims::of(&profile.json).ok_or_else(|| TraceError::NoClaims { folder: folder.to_owned() })?;
    let end = end(&mut steps);
    if let Some(fault) = steps.fault() {
        return Err(TraceError::Damaged { folder: folder.to_owned(), fault: fault.to_owned() });
    }
    let document = end.document.as_ref().ok_or_else(|| TraceError::NoDocument { folder: folder.to_owned() })?;
    let claims = claims.read(document.as_str());
    let claim = chosen(&claims, claim).map_err(TraceError::Claim)?;

    let ids: BTreeSet<&str> = claim.cites.iter().map(|cite| cite.id.as_str()).collect();
    let mut steps = Steps::open(folder)?;
    let (calls, prompts) = collect(&mut steps, &ids);
    let mut links = Links { known: Known::new(end.start), lines: Vec::new(), breaks: 0 };
    links.line(0, &format!("claim {}: {}", claim.pointer, claim.text));
    links.line(2, &format!("in the final document of {}, step {}", steps.about.run, end.step));
    if !claim.confidence.is_empty() {
        links.line(2, &format!("stated confidence: {}", claim.confidence));
    }
    if claim.cites.is_empty() {
        links.breaks(2, "the claim cites nothing");
    }
    for cite in &claim.cites {
        links.cite(&steps, cite, calls.get(key_of(&cite.id)), &prompts, &end);
    }
    Ok(Chain { text: links.lines.join("\n"), breaks: links.breaks })
}

/// Reads the run to its end.
fn end(steps: &mut Steps) -> End {
    let mut end = End::default();
    for step in steps {
        if step.number == 1 {
            end.start = step.at;
        }
        let asked = step.event().and_then(asked_of).unwrap_or_default().to_owned();
        for action in step.actions.into_iter().flatten() {
            if let Action::Finish(action) = action {
                end.document = action.document;
                end.step = step.number;
                end.asked.clone_from(&asked);
            }
        }
    }
    end
}

/// Finds the claim that the text identifies. The error lists the existing claims.
fn chosen<'c>(claims: &'c [Claim], meant: &str) -> Result<&'c Claim, String> {
    let named = |some: &[&Claim]| {
        let names = some.iter().take(MAX_NAMED).map(|claim| format!("\n  {} {}", claim.pointer, cut(&claim.text, 100)));
        let more =
            if some.len() > MAX_NAMED { format!("\n  … and {} more", some.len() - MAX_NAMED) } else { String::new() };
        format!("{}{more}", names.collect::<String>())
    };
    let all: Vec<&Claim> = claims.iter().collect();
    if let Ok(index) = meant.parse::<usize>() {
        let number = claims.len();
        return claims
            .get(index)
            .ok_or_else(|| format!("there is no claim {index}; there are {number}:{}", named(&all)));
    }
    let is_meant = |claim: &&Claim| match meant.starts_with('/') {
        true => meant == claim.pointer || meant.starts_with(&format!("{}/", claim.pointer)),
        false => claim.text.contains(meant),
    };
    match all.iter().copied().filter(is_meant).collect::<Vec<_>>().as_slice() {
        [only] => Ok(only),
        [] => Err(format!("no claim is {meant:?}; there are {}:{}", claims.len(), named(&all))),
        several => Err(format!(
            "{} claims have {meant:?}: name one by its number or its place:{}",
            several.len(),
            named(several)
        )),
    }
}

/// Returns the key of a call from the id of its observation: `TOOL#KEY`.
fn key_of(id: &str) -> &str {
    id.rsplit_once('#').map_or("", |(_, key)| key)
}

/// Collects the calls whose observations are cited, and all prompts.
fn collect(steps: &mut Steps, ids: &BTreeSet<&str>) -> (BTreeMap<String, Call>, Vec<Prompt>) {
    let keys = ids.iter().map(|id| key_of(id)).filter(|key| !key.is_empty());
    let mut calls: BTreeMap<String, Call> = keys.map(|key| (key.to_owned(), Call::default())).collect();
    let mut prompts = Vec::new();
    for step in steps.by_ref() {
        let asked = step.event().and_then(asked_of).unwrap_or_default().to_owned();
        let line = step.lines.iter().find(|line| line.kind == LineKind::Event).map_or(0, |line| line.n);
        if let Some(call) = step.event().and_then(result_of).and_then(|key| calls.get_mut(key)) {
            call.result = step.event.ok().map(|event| (line, event.kind));
        }
        for record in step.records.into_iter().flatten() {
            match record {
                Record::Decision(record) => {
                    if let Some(call) = calls.get_mut(&record.call) {
                        call.decisions.push((step.number, step.at, asked.clone(), record));
                    }
                }
                Record::Observation(record) if ids.contains(record.id.as_str()) => {
                    if let Some(call) = calls.get_mut(&record.call) {
                        call.observation = Some((step.number, step.at, record));
                    }
                }
                _ => {}
            }
        }
        for action in step.actions.into_iter().flatten() {
            match action {
                Action::AskModel(action) => {
                    let digest = prompt_of(&action).unwrap_or_default().to_owned();
                    prompts.push((step.number, action.key, digest));
                }
                Action::AskApproval(action) => {
                    if let Some(call) = calls.get_mut(&action.call) {
                        call.ask = Some(action);
                    }
                }
                Action::Execute(action) => {
                    if let Some(call) = calls.get_mut(&action.call) {
                        call.sent = Some((step.at, Sent::Execute(Box::new(action))));
                    }
                }
                Action::Delegate(action) => {
                    if let Some(call) = calls.get_mut(&action.call) {
                        call.child = child_folder(Path::new(""), &action.call);
                        call.sent = Some((step.at, Sent::Delegate(Box::new(action))));
                    }
                }
                _ => {}
            }
        }
    }
    (calls, prompts)
}

/// Returns the key of the call that an event ends.
fn result_of(event: &EventKind) -> Option<&str> {
    match event {
        EventKind::ToolResult(_) | EventKind::ToolFailed(_) | EventKind::ChildResult(_) | EventKind::Resolution(_) => {
            call_of(event)
        }
        _ => None,
    }
}

/// Returns the texts of an event that may be the result of its call.
fn results(steps: &Steps, event: &EventKind) -> Vec<String> {
    let value = |value: &Option<Json>| value.as_ref().map(|value| steps.value(value));
    match event {
        EventKind::ToolResult(event) => {
            let text = event.text.as_ref().map(|text| steps.text(text));
            value(&event.result).into_iter().chain(text).collect()
        }
        EventKind::ToolFailed(event) => vec![event.message.clone()],
        EventKind::ChildResult(event) => value(&event.document).into_iter().collect(),
        EventKind::Resolution(event) => event.text.iter().map(|text| steps.text(text)).collect(),
        _ => Vec::new(),
    }
}

/// The text of the chain, which is built line by line.
struct Links {
    known: Known,
    lines: Vec<String>,
    breaks: usize,
}

impl Links {
    fn line(&mut self, indent: usize, text: &str) {
        let space = " ".repeat(indent);
        for line in cut(text, MAX_SHOWN).lines() {
            self.lines.push(format!("{space}{line}"));
        }
    }

    /// Adds a link of the chain.
    fn link(&mut self, name: &str, text: &str) {
        for (index, line) in cut(text, MAX_SHOWN).lines().enumerate() {
            let name = if index == 0 { name } else { "" };
            self.lines.push(format!("    {name:<12} {line}"));
        }
    }

    fn breaks(&mut self, indent: usize, why: &str) {
        self.breaks += 1;
        self.line(indent, &format!("HERE THE CHAIN BREAKS: {why}"));
    }

    fn cite(&mut self, steps: &Steps, cite: &Cite, call: Option<&Call>, prompts: &[Prompt], end: &End) {
        self.line(0, "\u{20}");
        self.line(2, &format!("cites {}", cite.id));
        let Some(call) = call else {
            return self.breaks(4, "this run has no such observation");
        };
        let Some((step, at, observation)) = &call.observation else {
            return self.breaks(4, "this run has no such observation");
        };
        if let Some(quote) = &cite.quote {
            let stands = if observation.message.contains(quote.as_str()) {
                ": word for word in what the model read"
            } else {
                ""
            };
            self.link("quote", &format!("{quote:?}{stands}"));
        }
        if let Some(pointer) = &cite.pointer {
            self.link("value", &format!("{} at {pointer}", cite.value.as_deref().unwrap_or("nothing")));
        }
        let part = if observation.complete { "complete" } else { "not complete" };
        let about = format!(
            "step {step}, {}: {}, {} confidence, {part}",
            self.known.time(*at),
            observation.status,
            observation.confidence
        );
        self.link("observation", &about);
        let limitations = observation.limitations.iter().map(Limitation::to_string).collect();
        for (name, what) in
            [("kinds", &observation.kinds), ("labels", &observation.labels), ("limitations", &limitations)]
        {
            if !what.is_empty() {
                self.link("", &format!("{name}: {}", what.join(", ")));
            }
        }
        self.result(steps, call, observation);
        if let Some(child) = &call.child {
            self.link("child", &format!("its run is in {}", steps.folder.join(child).display()));
        }
        self.permission(call, observation, prompts);
        self.read(steps, observation, *step, prompts, end);
    }

    fn result(&mut self, steps: &Steps, call: &Call, observation: &ObservationRecord) {
        let place = format!("{} bytes, {}", observation.bytes, observation.artifact);
        let kept = match steps.artifact(&observation.artifact) {
            Ok(Some(text)) => Ok((text, "in artifacts".to_owned())),
            Ok(None) => match &call.result {
                Some((line, event)) => {
                    let mut texts = results(steps, event).into_iter();
                    let same = texts.find(|text| digest(text.as_bytes()) == observation.artifact);
                    same.map(|text| (text, format!("in journal.ndjson, line {}", line + 1)))
                        .ok_or_else(|| "the journal does not have the whole result".to_owned())
                }
                None => Err("the journal has no result of the call".to_owned()),
            },
            Err(error) => Err(error.to_string()),
        };
        match kept {
            Ok((text, where_it_is)) => {
                self.link("result", &format!("{place}, {where_it_is}"));
                self.link("", &cut(&text, 600));
            }
            Err(why) => {
                self.link("result", &place);
                // A person's answer about an uncertain call is an observation without a result.
                match matches!(call.result, Some((_, EventKind::Resolution(_)))) {
                    true => self.link("", "a person said what became of the call"),
                    false => self.breaks(4, &why),
                }
            }
        }
    }

    fn permission(&mut self, call: &Call, observation: &ObservationRecord, prompts: &[Prompt]) {
        let tool = tool_name(observation.server.as_deref().unwrap_or_default(), &observation.tool);
        let sent = match &call.sent {
            Some((at, Sent::Delegate(action))) => format!("delegated to {}, {}", action.agent, self.known.time(*at)),
            Some((at, Sent::Execute(action))) => format!("{}, sent {}", action.effect, self.known.time(*at)),
            None => String::new(),
        };
        self.link("call", &format!("{} {tool}: {sent}", observation.call));
        let Some((.., decision)) = call.decisions.last() else {
            return self.breaks(4, "the journal has no decision on the call");
        };
        let arguments = match &call.sent {
            Some((_, Sent::Execute(action))) if !action.arguments.is_empty() => &action.arguments,
            _ => &decision.arguments,
        };
        self.link("arguments", arguments);
        if call.sent.is_none() {
            self.breaks(4, "the call was never sent");
        }
        for (step, at, _, decision) in &call.decisions {
            let codes: Vec<_> = decision.reasons.iter().map(|reason| reason.message.as_str()).collect();
            let why = if codes.is_empty() { String::new() } else { format!(": {}", codes.join("; ")) };
            self.link("permission", &format!("step {step}, {}: {}{why}", self.known.time(*at), decision.permit));
            if let Some(approval) = &decision.approval {
                self.link("", &format!("approved by {}, {}", approval.principal, self.known.time(approval.at)));
            }
        }
        if let Some(AskApprovalAction { ask, .. }) = &call.ask {
            self.link("", &format!("what was approved: {}", ask.digest));
        }
        if let Some((step, _, digest)) = call.decisions.first().and_then(|(_, _, asked, _)| by_key(prompts, asked)) {
            self.link("asked in", &format!("the prompt of step {step}, {digest}"));
        }
    }

    /// Adds the prompts in which the model read an observation.
    fn read(&mut self, steps: &Steps, observation: &ObservationRecord, after: u64, prompts: &[Prompt], end: &End) {
        let reads = |(_, _, digest): &&Prompt| prompt_has(steps, digest, observation);
        let first = prompts.iter().filter(|(step, ..)| *step >= after).find(reads);
        let Some((step, _, digest)) = first else {
            return self.breaks(4, "no prompt has the observation: the model did not read it");
        };
        self.link("read in", &format!("the prompt of step {step}, {digest}"));
        match by_key(prompts, &end.asked) {
            Some(answered) if answered.0 == *step => self.link("", "which is the one that the answer is for"),
            Some(answered) if reads(&answered) => {
                self.link("", &format!("and in that of step {}, {}, which the answer is for", answered.0, answered.2));
            }
            Some(answered) => {
                self.link(
                    "",
                    &format!("the prompt that the answer is for (step {}) no longer has its text", answered.0),
                );
            }
            None => {}
        }
    }
}

fn by_key<'p>(prompts: &'p [Prompt], key: &str) -> Option<&'p Prompt> {
    prompts.iter().find(|(_, of, _)| of == key)
}

/// Returns whether a prompt contains the message of an observation as the answer to its call.
fn prompt_has(steps: &Steps, digest: &str, observation: &ObservationRecord) -> bool {
    let Ok(Some(prompt)) = steps.artifact(digest) else {
        return false;
    };
    let messages = serde_json::from_str::<ModelPrompt>(&prompt).map(|prompt| prompt.messages).unwrap_or_default();
    let is_answer = |call: &Option<String>| call.as_ref() == Some(&observation.call);
    messages.iter().any(|message| is_answer(&message.call) && message.text == observation.message)
}
