//! Calls of tools, from the client's request to the answer for everybody who waits for it.

use std::collections::{BTreeMap, HashMap, VecDeque};

use seamgate::{
    Ask, CallCancelledEvent, CallEvent, DecisionRecord, Effect as ToolEffect, Json, Limitation, ObservationRecord,
    ObservationStatus, PossibleEffect, Record, ResultStatus, SaidEvent, Secret, SettledCode, SettledRecord,
    ToolFailedEvent, ToolResultEvent, ToolStartedEvent, digest,
};
use seamgate_runner::agent::result_ends;
use serde::Deserialize;

use super::{
    artifacts::{Artifacts, texts},
    call_request::CallRequest,
    effects::{Effect, UpstreamId},
    links::{Links, Place, Then, cut},
    message::{self, INTERNAL_ERROR, Id, Members, Message, Raw, json, raw},
    meta::{self, MAX_SAID, Sender, complete},
    policy::Policy,
    server::Asked,
};

/// The longest result that an event contains, in bytes. Images of 5 MiB fit in Base64. An event and the state have at
/// most 8 MiB together. For a longer result, or one that the kernel does not accept as a whole, the event has both
/// ends, and the journal keeps the complete result.
const MAX_INLINE: usize = 7 * 1024 * 1024;
/// The maximum number of calls that an equal call may join.
const MAX_JOINABLE: usize = 256;
/// How long a server has to answer a call that its client cancelled, in milliseconds.
const CANCELLED_MS: u64 = 30_000;
/// How long the gate keeps the result of a call that its client cancelled, in milliseconds; the maximum number of such
/// results; and the longest one.
const PARKED_MS: u64 = 300_000;
const MAX_PARKED: usize = 64;
const MAX_PARKED_BYTES: usize = 256 * 1024;
/// The interval at which a client that requests progress notifications is notified that the call waits for a person, in
/// milliseconds.
const ASKING_MS: u64 = 10_000;

/// The calls of a session, by the run's keys.
#[derive(Default)]
pub(super) struct Calls {
    all: HashMap<String, Call>,
    asks: BTreeMap<String, Asking>,
    /// The results of calls that their clients cancelled, oldest first.
    parked: VecDeque<Parked>,
    /// The digests of the last texts that the client reported as the user's, oldest first.
    said: VecDeque<String>,
    /// `true` once the gate has warned that the profile does not trust the client's report of the user's messages.
    is_unheard: bool,
    pub(super) artifacts: Artifacts,
}

/// A call.
struct Call {
    /// The request that is sent to the server: the first one, or the one with which the client returned.
    request: CallRequest,
    /// The digest that equal calls share.
    same: Option<String>,
    effect: Option<ToolEffect>,
    waiters: Vec<Waiter>,
    phase: Phase,
    /// The arguments that the kernel judged.
    arguments: String,
    /// The secrets that the arguments name.
    secrets: Vec<Secret>,
    /// The server's result, while the kernel judges it.
    answered: Option<Raw>,
    /// The reason why there is no result.
    failure: Option<String>,
    /// The time until which the server must answer, because the client cancelled the call.
    settle_at: Option<u64>,
}

/// The state of a call.
enum Phase {
    /// The kernel or a person is deciding.
    Deciding,
    /// The call may run as soon as somebody waits for it.
    Held,
    /// The journal contains the call, and the server may have received it under this id.
    Running(Option<u64>),
    /// Its requests were answered with this. The client returns, or asks about the outcome.
    Answered(String),
}

/// A request that waits for a call.
struct Waiter {
    id: Id,
    /// The token for its progress notifications.
    token: Option<String>,
    /// `true` if the request joined an earlier equal call.
    is_joined: bool,
}

/// A call that waits for approval.
struct Asking {
    ask: Ask,
    /// The time of the next notification for clients, and the number of notifications so far.
    next: u64,
    told: u32,
}

/// The result of a call that its client cancelled.
struct Parked {
    key: String,
    same: String,
    result: String,
    until: u64,
}

impl Calls {
    /// Returns the number of entries in each collection.
    pub(super) fn sizes(&self) -> [(&'static str, usize); 5] {
        [
            ("calls", self.all.len()),
            ("waiters", self.all.values().map(|call| call.waiters.len()).sum()),
            ("asks", self.asks.len()),
            ("parked", self.parked.len()),
            ("artifacts", self.artifacts.len()),
        ]
    }

    /// Returns whether no call is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Handles the beginning of another run. Artifacts are dropped because those of the previous run are in another
    /// folder. Results that wait for their clients stay.
    pub(super) fn begin_run(&mut self) {
        *self = Calls { parked: std::mem::take(&mut self.parked), ..Calls::default() };
    }

    /// Handles a client's request. The kernel decides about it, unless it may join an equal call.
    pub(super) fn on_request(&mut self, mut request: CallRequest, policy: &Policy, links: &mut Links) {
        self.hear(std::mem::take(&mut request.said), policy, links);
        let arguments = match Json::of(request.arguments()) {
            Ok(arguments) => arguments,
            Err(wrong) => {
                return links.error(&request.id, message::INVALID_PARAMS, &format!("Invalid params: {wrong}"));
            }
        };
        let mut event = CallEvent::new(cut(&request.target.tool, 1024), arguments);
        event.id = Some(links.event_id());
        let server = request.target.upstream.map(|upstream| links.name(upstream).to_owned());
        event.server = server.filter(|server| !server.is_empty());
        let joinable = self.joinable(policy, links);
        event.joinable = (!joinable.is_empty()).then_some(joinable);
        links.send(event, Then::Call(Box::new(request)));
    }

    /// Handles the texts that the client reports as the user's. A client may send all of them with each call, but the
    /// run receives each text once.
    fn hear(&mut self, texts: Vec<String>, policy: &Policy, links: &mut Links) {
        if !policy.hears_client() {
            if !texts.is_empty() && !std::mem::replace(&mut self.is_unheard, true) {
                let why = "the client sends what the user wrote, which proves nothing: add \"user_messages\": \"client\" to the profile";
                links.add(Effect::Warn(why.to_owned()));
            }
            return;
        }
        for text in texts {
            let digest = digest(text.as_bytes());
            if self.said.contains(&digest) {
                continue;
            }
            if self.said.len() == MAX_SAID {
                self.said.pop_front();
            }
            self.said.push_back(digest);
            let mut event = SaidEvent::new(text);
            event.principal = Some("client".to_owned());
            links.send(event, Then::Nothing);
        }
    }

    /// Returns the digests of the calls that an equal one may join.
    fn joinable(&mut self, policy: &Policy, links: &Links) -> Vec<String> {
        self.parked.retain(|parked| parked.until > links.now);
        let open = self.all.values().filter(|call| call.is_joinable(policy, links));
        let mut all: Vec<String> = open.filter_map(|call| call.same.clone()).collect();
        all.extend(self.parked.iter().map(|parked| parked.same.clone()));
        all.sort_unstable();
        all.dedup();
        all.truncate(MAX_JOINABLE);
        all
    }

    /// Handles the kernel's decision about a client's request.
    pub(super) fn on_decided(&mut self, request: CallRequest, records: &[Record], policy: &Policy, links: &mut Links) {
        for record in records {
            match record {
                Record::Joined(record) => return self.join(request, &record.same, policy, links),
                Record::Decision(record) if !self.all.contains_key(&record.call) => {
                    links.put(&request.id, Place::Call(record.call.clone()));
                    let waiter = Waiter::new(&request, false);
                    let call = Call {
                        request,
                        same: Some(record.same.clone()),
                        effect: record.effect,
                        waiters: vec![waiter],
                        phase: Phase::Deciding,
                        arguments: String::new(),
                        secrets: Vec::new(),
                        answered: None,
                        failure: None,
                        settle_at: None,
                    };
                    self.all.insert(record.call.clone(), call);
                    return;
                }
                _ => {}
            }
        }
        links.error(&request.id, INTERNAL_ERROR, "the run takes no call any more");
    }

    /// Lets a request join an equal call.
    fn join(&mut self, request: CallRequest, same: &str, policy: &Policy, links: &mut Links) {
        let is_it = |call: &Call| call.same.as_deref() == Some(same) && call.is_joinable(policy, links);
        let equal = self.all.iter_mut().filter(|(_, call)| is_it(call));
        // Join the oldest equal call.
        if let Some((key, call)) = equal.min_by_key(|(key, _)| (key.len(), (*key).clone())) {
            if let Phase::Answered(answer) = &call.phase {
                return links.result(&request.id, answer.clone());
            }
            let key = key.clone();
            call.waiters.push(Waiter::new(&request, true));
            links.put(&request.id, Place::Call(key.clone()));
            if matches!(call.phase, Phase::Held) {
                self.start(&key, links);
            } else if let Some(asking) = self.asks.get_mut(&key) {
                asking.next = links.now;
            }
            return;
        }
        let Some(parked) = self.parked.iter().position(|parked| parked.same == same) else {
            return links.error(&request.id, INTERNAL_ERROR, "the equal call that this one joins has ended");
        };
        if let Some(Parked { key, result, .. }) = self.parked.remove(parked) {
            let note = format!(
                "This is the result of an equal call, {key}, which ran before and which its client took back. Call again to run it anew."
            );
            links.result(&request.id, with_note(&result, &note));
        }
    }

    /// Handles the permission to run a call with these arguments. The call is started if somebody waits for it.
    pub(super) fn on_execute(&mut self, key: &str, (arguments, secrets): (String, Vec<Secret>), links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        (call.arguments, call.secrets) = (arguments, secrets);
        match call.waiters.is_empty() {
            true => call.phase = Phase::Held,
            false => self.start(key, links),
        }
    }

    /// Starts a call. The journal records the start before the server receives the call.
    fn start(&mut self, key: &str, links: &mut Links) {
        if let Some(call) = self.all.get_mut(key) {
            call.phase = Phase::Running(None);
            links.send(ToolStartedEvent::new(key), Then::Started(key.to_owned()));
        }
    }

    /// Applies the client's decision to a held call. Returns whether the call was held.
    pub(super) fn release(&mut self, key: &str, is_approved: bool, links: &mut Links) -> bool {
        let Some(call) = self.all.get_mut(key).filter(|call| matches!(call.phase, Phase::Held)) else { return false };
        if is_approved {
            self.start(key, links);
            return true;
        }
        call.failure = Some("Call denied: \"client\" rejected it.".to_owned());
        links.send(CallCancelledEvent::new(key), Then::Nothing);
        true
    }

    /// Sends a call to its server with only the members that were judged. `state` is the server's own, and
    /// `has_answers` is `true` if the client's answers are sent with it.
    pub(super) fn send(
        &mut self,
        key: &str,
        state: Option<&str>,
        has_answers: bool,
        policy: &Policy,
        links: &mut Links,
    ) {
        let Some(call) = self.all.get_mut(key) else { return };
        let CallRequest { target, arguments, meta, answers, .. } = &call.request;
        let Some(server) = target.upstream else { return };
        let meta = meta.as_ref().map(|meta| meta::cut_meta(policy, links.name(server), meta.get()));
        let members = [
            Some(format!("\"name\":{}", json(&target.tool))),
            arguments.as_ref().map(|_| format!("\"arguments\":{}", call.arguments)),
            meta.map(|meta| format!("\"_meta\":{meta}")),
            state.map(|state| format!("\"requestState\":{state}")),
            answers.as_ref().filter(|_| has_answers).map(|answers| format!("\"inputResponses\":{}", answers.get())),
        ];
        let params = format!("{{{}}}", members.into_iter().flatten().collect::<Vec<_>>().join(","));
        let asked = Asked::Call { key: key.to_owned(), since: links.now };
        match links.ask_with(server, "tools/call", Some(params), call.secrets.clone(), asked) {
            Ok(id) => call.phase = Phase::Running(Some(id)),
            Err(why) => {
                let effect = if has_answers { PossibleEffect::Unknown } else { PossibleEffect::None };
                self.fail(key, &why, effect, links);
            }
        }
    }

    /// Handles a call that has no result.
    pub(super) fn fail(&mut self, key: &str, message: &str, effect: PossibleEffect, links: &mut Links) {
        if let Some(call) = self.all.get_mut(key) {
            call.failure = Some(message.to_owned());
            call.phase = Phase::Running(None);
        }
        let mut event = ToolFailedEvent::new(key, message);
        event.effect = Some(effect);
        links.send(event, Then::Nothing);
    }

    /// Handles the result of a call. The kernel judges it.
    pub(super) fn on_result(&mut self, key: &str, duration_ms: u64, result: Raw, links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        if !result.get().starts_with('{') {
            let why = "the server's answer is no result: it must be an object";
            return self.fail(key, why, PossibleEffect::Unknown, links);
        }
        call.answered = Some(result);
        self.judge(key, duration_ms, links);
    }

    fn judge(&mut self, key: &str, duration_ms: u64, links: &mut Links) {
        let Some(result) = self.all.get(key).and_then(|call| call.answered.clone()) else { return };
        if result.get().len() > MAX_INLINE {
            return self.judge_ends(key, duration_ms, links);
        }
        let mut event = ToolResultEvent::new(key);
        event.duration_ms = Some(duration_ms);
        event.returned = Some(result.into());
        links.send(event, Then::Returned { key: key.to_owned(), duration_ms });
    }

    /// Has the kernel judge both ends of a result that is too long for an event. Nobody has checked the complete
    /// result.
    pub(super) fn judge_ends(&mut self, key: &str, duration_ms: u64, links: &mut Links) {
        let Some(result) = self.all.get_mut(key).and_then(|call| call.answered.take()) else { return };
        let text = texts(result.get());
        let mut event = result_ends(key, &text, digest(text.as_bytes()));
        event.duration_ms = Some(duration_ms);
        event.status = Some(if is_error(result.get()) { ResultStatus::Error } else { ResultStatus::Ok });
        links.add(Effect::KeepArtifact(text));
        links.send(event, Then::Returned { key: key.to_owned(), duration_ms });
    }

    /// Handles a result that the kernel does not accept.
    pub(super) fn on_result_refused(&mut self, key: &str, duration_ms: u64, why: &str, links: &mut Links) {
        match self.all.get(key).is_some_and(|call| call.answered.is_some()) {
            true => self.judge_ends(key, duration_ms, links),
            false => {
                self.fail(key, &format!("the result cannot be judged: {why}"), PossibleEffect::Unknown, links);
            }
        }
    }

    /// Handles a call that ended with an error of the protocol. The requests that wait for it get that error,
    /// sanitized.
    pub(super) fn on_error(&mut self, key: &str, duration_ms: u64, error: &Raw, sanitized: &str, links: &mut Links) {
        for waiter in self.all.get_mut(key).map(|call| std::mem::take(&mut call.waiters)).unwrap_or_default() {
            links.failure(&waiter.id, sanitized.to_owned());
        }
        let text = format!("the server answered with an error: {}", cut(error.get(), 4096));
        links.send(error_result(key, duration_ms, &text), Then::Nothing);
    }

    /// Handles the kernel's observation of a result, and returns the result for the client.
    pub(super) fn on_observed(&mut self, record: &ObservationRecord) -> Option<Raw> {
        if record.limitations.iter().any(|code| matches!(code, Limitation::Truncated | Limitation::Unchecked)) {
            self.artifacts.add(record.artifact.clone());
        }
        let call = self.all.get_mut(&record.call)?;
        let is_own = call.request.target.upstream.is_none();
        let is_stateless = call.request.sender.is_stateless;
        let own = |result: String| raw(if is_stateless { complete(result) } else { result });
        Some(match (&record.returned, call.answered.take(), call.failure.take()) {
            (Some(returned), ..) => own(returned.as_str().to_owned()),
            (None, Some(result), _) if is_own => own(result.get().to_owned()),
            (None, Some(result), _) => result,
            (None, None, Some(failure)) => own(message::failed(&failure)),
            (None, None, None) if record.status == ObservationStatus::Ok => own(message::succeeded(&record.message)),
            (None, None, None) => own(message::failed(&record.message)),
        })
    }

    /// Handles the end of a call without a result, and returns the result for the client.
    pub(super) fn on_settled(&mut self, record: &SettledRecord) -> Option<Raw> {
        let call = self.all.get(&record.call)?;
        let why = call.failure.clone().unwrap_or_else(|| record.message.clone());
        let text = match record.code {
            SettledCode::Uncertain => format!("No result: {why}. Nobody knows whether the call had its effect."),
            _ => why,
        };
        Some(self.own_result(&record.call, &message::failed(&text)))
    }

    /// Returns a result of the gate's own in the form that the client of a call expects.
    pub(super) fn own_result(&self, key: &str, result: &str) -> Raw {
        raw(match self.sender(key).is_stateless {
            true => complete(result.to_owned()),
            false => result.to_owned(),
        })
    }

    /// Handles a decision about a known call. Returns its request if the call is denied.
    pub(super) fn on_decision(&mut self, record: &DecisionRecord) -> Option<&CallRequest> {
        use seamgate::Permit;
        if record.permit != Permit::Approval {
            self.asks.remove(&record.call);
        }
        (record.permit == Permit::Deny).then(|| self.all.get(&record.call).map(|call| &call.request)).flatten()
    }

    /// Handles a call that waits for approval.
    pub(super) fn on_ask(&mut self, ask: Ask, links: &Links) {
        self.asks.insert(ask.key.clone(), Asking { ask, next: links.now, told: 0 });
    }

    /// Returns the request for approval of a call.
    pub(super) fn ask(&self, key: &str) -> Option<&Ask> {
        self.asks.get(key).map(|asking| &asking.ask)
    }

    /// Returns whether any call waits for approval.
    pub(super) fn has_asks(&self) -> bool {
        !self.asks.is_empty()
    }

    /// Handles the cancellation of a request for a call.
    pub(super) fn on_cancelled(&mut self, key: &str, id: &Id, links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        call.waiters.retain(|waiter| waiter.id != *id);
        if !call.waiters.is_empty() {
            return;
        }
        let is_read = call.effect == Some(ToolEffect::Read);
        match call.phase {
            // If a client gave up waiting, it calls again and joins this call. Nothing runs until then.
            Phase::Deciding if self.asks.contains_key(key) => {}
            Phase::Held | Phase::Answered(_) => {}
            Phase::Running(Some(server_id)) if !is_read => {
                // The server may stop, continue, or have finished already. A client that calls again joins the call and
                // learns the outcome.
                let reason = "the client cancelled the request";
                if let Some(server) = call.request.target.upstream {
                    links.tell(server, Message::cancelled(&Id::number(server_id), Some(reason)));
                }
                call.settle_at.get_or_insert(links.now + CANCELLED_MS);
            }
            Phase::Running(_) | Phase::Deciding => {
                self.take_back(key, "the client cancelled the request", links);
                links.send(CallCancelledEvent::new(key), Then::Nothing);
                self.remove(key, links);
            }
        }
    }

    /// Notifies the server of a call that nobody waits for the call any more.
    pub(super) fn take_back(&mut self, key: &str, reason: &str, links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        if let (Phase::Running(Some(id)), Some(server)) = (&call.phase, call.request.target.upstream) {
            links.take_back(server, *id, Some(reason));
            call.phase = Phase::Running(None);
        }
    }

    /// Answers the requests of a call before it ends. The client returns, or asks about the outcome.
    pub(super) fn answer_early(&mut self, key: &str, answer: &str, links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        for waiter in std::mem::take(&mut call.waiters) {
            links.result(&waiter.id, answer.to_owned());
        }
        if let Phase::Running(_) | Phase::Deciding = call.phase {
            call.phase = Phase::Answered(answer.to_owned());
        }
    }

    /// Handles a request with which the client of a call returns.
    pub(super) fn on_return(&mut self, key: &str, request: CallRequest, links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        call.waiters.push(Waiter::new(&request, false));
        links.put(&request.id, Place::Call(key.to_owned()));
        if let Phase::Answered(_) = call.phase {
            call.phase = Phase::Deciding;
        }
        call.request = request;
    }

    /// Adds a request that waits for a call.
    pub(super) fn on_repeated(&mut self, key: &str, request: &CallRequest, links: &mut Links) {
        let Some(call) = self.all.get_mut(key) else { return };
        call.waiters.push(Waiter::new(request, false));
        links.put(&request.id, Place::Call(key.to_owned()));
    }

    /// Answers everybody who waits for a call. Returns the result if nobody does.
    pub(super) fn answer(&mut self, key: &str, result: Raw, links: &mut Links) -> Option<Raw> {
        let Some(call) = self.all.get_mut(key) else { return Some(result) };
        let mut waiters = std::mem::take(&mut call.waiters);
        let told = |waiter: &Waiter, result: Raw| match waiter.is_joined {
            true => raw(with_note(result.get(), &format!("This call joined an equal one, {key}, which ran once."))),
            false => result,
        };
        // Results can be long, and most calls have one waiter.
        let Some(last) = waiters.pop() else { return Some(result) };
        for waiter in &waiters {
            links.forward(&waiter.id, told(waiter, result.clone()));
        }
        links.forward(&last.id, told(&last, result));
        None
    }

    /// Keeps the result of a call that its client cancelled, for an equal call.
    pub(super) fn park(&mut self, key: &str, result: &Raw, links: &Links) {
        let Some(call) = self.all.get(key).filter(|call| call.effect != Some(ToolEffect::Read)) else { return };
        let Some(same) = call.same.clone().filter(|_| result.get().len() <= MAX_PARKED_BYTES) else { return };
        if self.parked.len() == MAX_PARKED {
            self.parked.pop_front();
        }
        let result = result.get().to_owned();
        self.parked.push_back(Parked { key: key.to_owned(), same, result, until: links.now + PARKED_MS });
    }

    /// Removes a call without answering anybody.
    pub(super) fn remove(&mut self, key: &str, links: &mut Links) -> Vec<Id> {
        self.asks.remove(key);
        let Some(call) = self.all.remove(key) else { return Vec::new() };
        if let (Phase::Running(Some(id)), Some(server)) = (call.phase, call.request.target.upstream)
            && let Some(own) = links.servers.get_mut(server.0)
        {
            own.asked.remove(&id);
        }
        call.waiters.into_iter().map(|waiter| waiter.id).collect()
    }

    /// Performs everything that is due.
    pub(super) fn on_time(&mut self, links: &mut Links) {
        let now = links.now;
        for (key, call) in &mut self.all {
            if call.settle_at.is_some_and(|at| at <= now) {
                call.settle_at = None;
                call.failure = Some(
                    "its client cancelled it while it ran, and the server did not say within 30 s how it ended"
                        .to_owned(),
                );
                links.send(CallCancelledEvent::new(key), Then::Nothing);
            }
        }
        for (key, asking) in &mut self.asks {
            let Some(call) = self.all.get(key).filter(|_| asking.next <= now) else { continue };
            let tokens: Vec<&str> = call.waiters.iter().filter_map(|waiter| waiter.token.as_deref()).collect();
            asking.next = now + ASKING_MS;
            asking.told = asking.told.saturating_add(u32::from(!tokens.is_empty()));
            for token in tokens {
                // The numbers increase, and stay below the server's first one.
                let message = json(&format!("waiting for approval: a person is asked about {key}"));
                let params = format!(
                    "{{\"progressToken\":{token},\"progress\":{:.6},\"message\":{message}}}",
                    f64::from(asking.told) / 1e6
                );
                links.tell_client(Message::notification("notifications/progress", Some(params)));
            }
        }
    }

    /// Returns the time when something is due next.
    pub(super) fn wake_at(&self) -> Option<u64> {
        let settle = self.all.values().filter_map(|call| call.settle_at);
        let has_token = |key: &String| {
            self.all.get(key).is_some_and(|call| call.waiters.iter().any(|waiter| waiter.token.is_some()))
        };
        let asks = self.asks.iter().filter(|(key, _)| has_token(key)).map(|(_, asking)| asking.next);
        settle.chain(asks).min()
    }

    /// Returns the request of a call.
    pub(super) fn request(&self, key: &str) -> Option<&CallRequest> {
        self.all.get(key).map(|call| &call.request)
    }

    /// Returns the server of a call, and the arguments that the kernel judged.
    pub(super) fn running(&self, key: &str) -> Option<(Option<UpstreamId>, &str)> {
        self.all.get(key).map(|call| (call.request.target.upstream, call.arguments.as_str()))
    }

    /// Returns the sender of the first request of a call.
    pub(super) fn sender(&self, key: &str) -> Sender {
        self.all.get(key).map(|call| call.request.sender).unwrap_or_default()
    }

    /// Returns whether anybody waits for a call.
    pub(super) fn has_waiters(&self, key: &str) -> bool {
        self.all.get(key).is_some_and(|call| !call.waiters.is_empty())
    }
}

impl Call {
    /// Returns whether an equal call gets the result of this one.
    fn is_joinable(&self, policy: &Policy, links: &Links) -> bool {
        let Some(server) = self.request.target.upstream else { return false };
        match self.phase {
            Phase::Deciding | Phase::Held | Phase::Answered(_) => true,
            Phase::Running(_) => {
                self.waiters.is_empty()
                    || self.settle_at.is_some()
                    || policy.joins_equal_calls(links.name(server), &self.request.target.tool)
            }
        }
    }
}

impl Waiter {
    fn new(request: &CallRequest, is_joined: bool) -> Self {
        Waiter { id: request.id.clone(), token: request.token().map(str::to_owned), is_joined }
    }
}

/// Returns a result with an additional text block from the gate.
fn with_note(result: &str, note: &str) -> String {
    let block = format!("{{\"type\":\"text\",\"text\":{}}}", json(&format!("[seamgate: {note}]")));
    let Some(members) = Members::of(result) else { return result.to_owned() };
    let content = members.get("content").and_then(|content| content.get().strip_suffix(']')).map(str::trim_end);
    match content {
        Some(content) => {
            let comma = if content.ends_with('[') { "" } else { "," };
            members.set("content", &format!("{content}{comma}{block}]"))
        }
        None => result.to_owned(),
    }
}

/// Returns the result of a call that ended with an error of the protocol.
pub(super) fn error_result(key: &str, duration_ms: u64, text: &str) -> ToolResultEvent {
    let mut event = ToolResultEvent::new(key);
    event.duration_ms = Some(duration_ms);
    event.status = Some(ResultStatus::Error);
    event.text = Some(text.into());
    event
}

fn is_error(result: &str) -> bool {
    #[derive(Deserialize)]
    struct Returned {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    serde_json::from_str(result).is_ok_and(|Returned { is_error }| is_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_one_more_block() {
        let block = r#"{"type":"text","text":"[seamgate: n]"}"#;
        assert_eq!(with_note(r#"{"content":[],"x":1}"#, "n"), format!(r#"{{"content":[{block}],"x":1}}"#));
        assert_eq!(with_note(r#"{"content":[{"a":1}]}"#, "n"), format!(r#"{{"content":[{{"a":1}},{block}]}}"#));
        assert_eq!(with_note(r#"{"content":1}"#, "n"), r#"{"content":1}"#);
        assert_eq!(with_note("[]", "n"), "[]");
    }
}
