//! A kernel that makes random decisions, with records and actions that are possible in the real kernel.

use std::collections::{BTreeMap, HashMap};

use seamgate::{
    Action, ApprovalAnswer, ApprovalEvent, Ask, AskApprovalAction, CallCancelledEvent, CallEvent, CancelAction,
    Confidence, DecisionRecord, Effect, EventKind, ExecuteAction, Fault, Found, IgnoredCode, IgnoredRecord, JobEvent,
    JoinedRecord, Json, Limitation, MessageEvent, MessageRecord, ObservationRecord, ObservationStatus, Party, Permit,
    PossibleEffect, Reason, ReasonCode, Record, ResultStatus, SettledCode, SettledRecord, SurfaceRecord,
    ToolFailedEvent, ToolResultEvent, ToolStartedEvent, ToolsListedEvent,
};
use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::Outcome;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Kernel, Step, nonces::without_first, setting::has_method};

/// The time limits of a call and of an ask, in milliseconds.
const CALL_MS: u64 = 600_000;
const ASK_MS: u64 = 60_000;

/// A kernel whose decisions are choices.
#[derive(Default)]
pub struct Fake {
    /// The open calls.
    calls: Vec<Call>,
    count: u64,
    artifacts: HashMap<String, String>,
}

struct Call {
    key: String,
    server: Option<String>,
    tool: String,
    arguments: String,
    same: String,
    effect: Effect,
    phase: Phase,
    expires: u64,
    /// The principal who may approve the call.
    by: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asked,
    Dispatched,
    Started,
}

impl Kernel for Fake {
    fn step(&mut self, now: u64, event: &EventKind, choices: &mut impl Choices) -> Outcome {
        // The kernel may reject any event.
        if choices.below(64) == 63 {
            return Outcome::Refused(Fault::BadRequest {
                message: "the event is invalid".to_owned(),
                violations: Vec::new(),
            });
        }
        let (mut records, mut actions, mut surface) = (Vec::new(), Vec::new(), None);
        match event {
            EventKind::Call(event) => self.call(now, event, &mut records, &mut actions, choices),
            EventKind::ToolStarted(event) => self.tool_started(event, &mut records, choices),
            EventKind::ToolResult(event) => self.tool_result(event, &mut records, choices),
            EventKind::ToolFailed(event) => self.tool_failed(event, &mut records),
            EventKind::CallCancelled(event) => self.call_cancelled(event, &mut records),
            EventKind::Job(event) => self.job(now, event, &mut records),
            EventKind::Approval(event) => self.approval(now, event, &mut records, &mut actions),
            EventKind::Message(event) => message(event, &mut records, choices),
            EventKind::ToolsListed(event) => surface = Some(tools_listed(event, &mut records, choices)),
            other => panic!("the core sends no {}", other.word()),
        }
        Outcome::Done { records, actions, surface }
    }

    fn wake_at(&self) -> Option<u64> {
        self.calls.iter().map(|call| call.expires).min()
    }

    fn tick(&mut self, now: u64) -> Step {
        let (mut records, mut actions) = (Vec::new(), Vec::new());
        while let Some(place) = self.calls.iter().position(|call| call.expires <= now) {
            let call = self.calls.remove(place);
            if call.phase != Phase::Asked {
                actions.push(cancel(&call.key));
            }
            records.push(match (call.phase, call.effect) {
                (Phase::Asked, _) => settled(&call, SettledCode::Expired),
                (Phase::Dispatched, _) => settled(&call, SettledCode::NotSent),
                (Phase::Started, Effect::Effectful) => settled(&call, SettledCode::Uncertain),
                (Phase::Started, _) => {
                    observation(&call, ObservationStatus::Error, "No result came in time.".to_owned(), None, false)
                }
            });
        }
        (records, actions)
    }

    fn decide(&mut self, now: u64, is_approved: bool) -> Option<Step> {
        let call = self.calls.iter().find(|call| call.phase == Phase::Asked)?;
        let answer = if is_approved { ApprovalAnswer::Approved } else { ApprovalAnswer::Rejected };
        let event = ApprovalEvent::new(&call.key, digest(&call.key), answer, call.by);
        let (mut records, mut actions) = (Vec::new(), Vec::new());
        self.approval(now, &event, &mut records, &mut actions);
        Some((records, actions))
    }

    fn keep(&mut self, text: &str) {
        // Stores only the first artifacts, so that a long world needs little memory.
        if self.artifacts.len() < 64 {
            self.artifacts.insert(seamgate::digest(text.as_bytes()), text.to_owned());
        }
    }

    fn artifact(&self, digest: &str) -> Result<String, String> {
        self.artifacts.get(digest).cloned().ok_or_else(|| "there is no such artifact".to_owned())
    }
}

impl Fake {
    fn call(
        &mut self,
        now: u64,
        event: &CallEvent,
        records: &mut Vec<Record>,
        actions: &mut Vec<Action>,
        choices: &mut impl Choices,
    ) {
        let same = format!("{} {} {}", event.server.as_deref().unwrap_or_default(), event.tool, arguments_of(event));
        if event.joinable.as_ref().is_some_and(|all| all.contains(&same)) {
            return records.push(Record::Joined(JoinedRecord { same }));
        }
        self.count += 1;
        let effect = if matches!(&*event.tool, "look" | "read_artifact") { Effect::Read } else { Effect::Effectful };
        let call = Call {
            key: format!("c{}", self.count),
            server: event.server.clone(),
            tool: event.tool.clone(),
            arguments: arguments_of(event),
            same,
            effect,
            phase: Phase::Dispatched,
            expires: now + CALL_MS,
            by: if event.tool == "ask" { "client" } else { "anna" },
        };
        let is_known = matches!(&*call.tool, "look" | "act" | "join" | "read_artifact");
        match &*call.tool {
            "ask" | "wait" => self.ask(now, call, records, actions),
            _ if is_known && call.arguments.starts_with('{') && choices.below(16) != 15 => {
                records.push(decision(&call, Permit::Allow, None));
                actions.push(execute(&call));
                self.calls.push(call);
            }
            _ => records.push(decision(&call, Permit::Deny, Some(ReasonCode::Deny))),
        }
    }

    fn ask(&mut self, now: u64, mut call: Call, records: &mut Vec<Record>, actions: &mut Vec<Action>) {
        call.phase = Phase::Asked;
        call.expires = now + ASK_MS;
        records.push(decision(&call, Permit::Approval, Some(ReasonCode::Permit)));
        let ask = Ask {
            key: call.key.clone(),
            digest: digest(&call.key),
            by: vec![call.by.to_owned()],
            keys: None,
            expires: call.expires,
            view: format!("call {}", call.tool),
        };
        actions.push(Action::AskApproval(AskApprovalAction { key: step(&call.key), call: call.key.clone(), ask }));
        self.calls.push(call);
    }

    fn place(&self, key: &str) -> Option<usize> {
        self.calls.iter().position(|call| call.key == key)
    }

    fn under_way(&self, key: &str) -> Option<usize> {
        self.place(key).filter(|place| self.calls[*place].phase != Phase::Asked)
    }

    fn tool_started(&mut self, event: &ToolStartedEvent, records: &mut Vec<Record>, choices: &mut impl Choices) {
        let place = self.place(&event.call).filter(|place| self.calls[*place].phase == Phase::Dispatched);
        match place {
            // The call expired in this step.
            Some(place) if choices.below(32) == 31 => {
                let call = self.calls.remove(place);
                records.extend([settled(&call, SettledCode::NotSent), ignored(IgnoredCode::NotDispatched)]);
            }
            Some(place) => self.calls[place].phase = Phase::Started,
            None => records.push(ignored(IgnoredCode::NotDispatched)),
        }
    }

    fn tool_result(&mut self, event: &ToolResultEvent, records: &mut Vec<Record>, choices: &mut impl Choices) {
        let Some(place) = self.under_way(&event.call) else { return records.push(ignored(IgnoredCode::Late)) };
        let call = self.calls.remove(place);
        let text = event.text.as_ref().and_then(|text| text.whole());
        let parts = [text, event.head.as_ref(), event.tail.as_ref()];
        let message: String =
            parts.into_iter().flatten().map(|part| cleaned(part, choices).unwrap_or(part.clone())).collect();
        let status = match event.status {
            Some(ResultStatus::Error) => ObservationStatus::Error,
            _ => ObservationStatus::Ok,
        };
        let returned = event.returned.as_ref().and_then(|returned| cleaned(returned.as_str(), choices));
        let returned = returned.and_then(|returned| Json::parse(returned).ok());
        let mut record = observation(&call, status, message, returned, event.head.is_some());
        if let (Record::Observation(record), Some(digest)) = (&mut record, &event.digest) {
            record.artifact.clone_from(digest);
        }
        records.push(record);
    }

    fn tool_failed(&mut self, event: &ToolFailedEvent, records: &mut Vec<Record>) {
        let Some(place) = self.under_way(&event.call) else { return records.push(ignored(IgnoredCode::Late)) };
        let call = self.calls.remove(place);
        let has_effect = call.effect == Effect::Effectful
            && call.phase == Phase::Started
            && event.effect != Some(PossibleEffect::None);
        records.push(match has_effect {
            true => settled(&call, SettledCode::Uncertain),
            false => observation(&call, ObservationStatus::Error, "It failed.".to_owned(), None, false),
        });
    }

    fn call_cancelled(&mut self, event: &CallCancelledEvent, records: &mut Vec<Record>) {
        let Some(place) = self.place(&event.call) else { return records.push(ignored(IgnoredCode::Late)) };
        let call = self.calls.remove(place);
        let has_effect = call.effect == Effect::Effectful && call.phase == Phase::Started;
        records.push(settled(&call, if has_effect { SettledCode::Uncertain } else { SettledCode::Cancelled }));
    }

    fn job(&mut self, now: u64, event: &JobEvent, records: &mut Vec<Record>) {
        let Some(place) = self.under_way(&event.call) else { return records.push(ignored(IgnoredCode::NotUnderWay)) };
        let call = &mut self.calls[place];
        (call.phase, call.expires) = (Phase::Started, now + event.ttl_s.unwrap_or(600) * 1000);
    }

    fn approval(&mut self, now: u64, event: &ApprovalEvent, records: &mut Vec<Record>, actions: &mut Vec<Action>) {
        let place = self.place(&event.key).filter(|place| self.calls[*place].phase == Phase::Asked);
        let Some(place) = place else { return records.push(ignored(IgnoredCode::NoAsk)) };
        let call = &mut self.calls[place];
        if event.digest != digest(&call.key) || event.principal != call.by {
            return records.push(ignored(IgnoredCode::Digest));
        }
        if event.decision == ApprovalAnswer::Approved {
            (call.phase, call.expires) = (Phase::Dispatched, now + CALL_MS);
            records.push(decision(call, Permit::Allow, None));
            return actions.push(execute(call));
        }
        let call = self.calls.remove(place);
        records.push(decision(&call, Permit::Deny, Some(ReasonCode::Rejected)));
    }
}

fn message(event: &MessageEvent, records: &mut Vec<Record>, choices: &mut impl Choices) {
    let server = event.server.clone().unwrap_or_default();
    let is_allowed = has_method(&server, &event.method);
    let document = event.document.as_ref().filter(|_| is_allowed).and_then(|document| {
        let cleaned = cleaned(document.as_str(), choices)?;
        Json::parse(cleaned).ok()
    });
    let permit = if is_allowed { Permit::Allow } else { Permit::Deny };
    records.push(Record::Message(MessageRecord {
        server,
        method: event.method.clone(),
        from_: if event.from_ == Party::Client { Party::Client } else { Party::Server },
        permit,
        document,
        found: nothing(),
    }));
}

fn tools_listed(event: &ToolsListedEvent, records: &mut Vec<Record>, choices: &mut impl Choices) -> String {
    #[derive(Deserialize)]
    struct All<'l> {
        #[serde(borrow)]
        servers: BTreeMap<String, Listed<'l>>,
    }
    #[derive(Deserialize)]
    struct Listed<'l> {
        #[serde(borrow)]
        tools: Vec<&'l RawValue>,
    }
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let mut surface = String::from("{\"tools\":[");
    let all: All = serde_json::from_str(event.listed.as_str()).unwrap_or_else(|error| panic!("{error}"));
    for (server, listed) in &all.servers {
        for tool in &listed.tools {
            let Ok(Named { name }) = serde_json::from_str(tool.get()) else { continue };
            if matches!(&*name, "extra" | "no") || choices.below(16) == 15 {
                continue;
            }
            let definition = cleaned(tool.get(), choices);
            if !surface.ends_with('[') {
                surface.push(',');
            }
            let name = Json::of(&name).unwrap_or_else(|error| panic!("{error}"));
            surface.push_str(&format!("{{\"server\":\"{server}\",\"tool\":{name},\"definition\":"));
            surface.push_str(definition.as_deref().unwrap_or(tool.get()));
            surface.push('}');
        }
    }
    surface.push_str("]}");
    records.push(Record::Surface(SurfaceRecord { tools: Vec::new(), hidden: Vec::new() }));
    surface
}

/// Returns the sanitized text, if sanitizing found anything in it.
fn cleaned(text: &str, choices: &mut impl Choices) -> Option<String> {
    (choices.below(4) == 3).then(|| without_first(text)).flatten()
}

fn digest(key: &str) -> String {
    format!("sha256:{key}")
}

fn step(key: &str) -> String {
    format!("r/{key}")
}

fn cancel(key: &str) -> Action {
    Action::Cancel(CancelAction { key: step(key), call: key.to_owned() })
}

fn execute(call: &Call) -> Action {
    Action::Execute(ExecuteAction {
        key: step(&call.key),
        call: call.key.clone(),
        server: call.server.clone(),
        tool: call.tool.clone(),
        effect: call.effect,
        arguments: call.arguments.clone(),
        digest: None,
        idempotency_key: String::new(),
        expires: call.expires,
        approval: None,
        secrets: None,
    })
}

fn decision(call: &Call, permit: Permit, code: Option<ReasonCode>) -> Record {
    let reason = |code| Reason { code, message: "a reason".to_owned(), violations: Vec::new() };
    Record::Decision(DecisionRecord {
        call: call.key.clone(),
        permit,
        server: call.server.clone(),
        tool: call.tool.clone(),
        effect: Some(call.effect),
        digest: None,
        arguments: String::new(),
        arguments_digest: String::new(),
        same: call.same.clone(),
        message: String::new(),
        reasons: code.into_iter().map(reason).collect(),
        approval: None,
        origins: None,
        secrets: None,
    })
}

fn ignored(code: IgnoredCode) -> Record {
    Record::Ignored(IgnoredRecord { code, message: String::new() })
}

fn settled(call: &Call, code: SettledCode) -> Record {
    let message = "It came to no result.".to_owned();
    Record::Settled(SettledRecord { call: call.key.clone(), tool: call.tool.clone(), code, message })
}

fn observation(
    call: &Call,
    status: ObservationStatus,
    message: String,
    returned: Option<Json>,
    is_truncated: bool,
) -> Record {
    Record::Observation(ObservationRecord {
        call: call.key.clone(),
        server: call.server.clone(),
        tool: call.tool.clone(),
        status,
        id: String::new(),
        message,
        kinds: Vec::new(),
        labels: Vec::new(),
        confidence: Confidence::High,
        complete: !is_truncated,
        limitations: is_truncated.then_some(Limitation::Truncated).into_iter().collect(),
        returned,
        artifact: String::new(),
        bytes: 0,
        found: nothing(),
        duration_ms: None,
        arguments_digest: String::new(),
        ui: None,
        user: None,
    })
}

fn nothing() -> Found {
    Found {
        defanged: 0,
        escaped: BTreeMap::new(),
        instructions: Vec::new(),
        instructions_left_out: 0,
        redacted: BTreeMap::new(),
    }
}

/// Returns the arguments of a call as text, because an event contains them as a string.
fn arguments_of(event: &CallEvent) -> String {
    event.arguments.read::<String>().unwrap_or_else(|_| event.arguments.as_str().to_owned())
}
