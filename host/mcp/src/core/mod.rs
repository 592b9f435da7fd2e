//! The core of the gate, which turns messages and outcomes into effects. It has no threads, clocks, processes, files or
//! sockets.
//!
//! [`Core::handle`] takes an input, and [`Core::poll`] returns the resulting effects. The state is in five parts that
//! are independent of each other: `calls`, `round_trips`, `tasks`, `catalog` and `handshake`. `links` tracks the
//! requests in flight.
//!
//! A message is parsed completely, decided by `table`, and rewritten from the parts that pass. The run's decision about
//! an event comes back as an input, so that no code calls itself through the run.

mod artifacts;
mod call_request;
mod calls;
mod catalog;
mod compact;
mod effects;
mod elicitation;
mod handshake;
mod links;
mod listed;
pub(crate) mod message;
pub(crate) mod meta;
pub(crate) mod mirrors;
mod names;
mod noise;
mod policy;
mod relay;
mod round_trips;
mod server;
mod steps;
mod surface;
mod table;
mod tasks;

use std::collections::HashSet;

use seamgate::{Party, PossibleEffect};
use seamgate_text::{escape_terminal, truncate};
use serde_json::value::RawValue;

use self::{
    call_request::CallRequest,
    calls::Calls,
    catalog::Catalog,
    handshake::Handshake,
    links::{Asker, ForClient, Judgment, Links, Place, Purpose, cut},
    message::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR},
    message::{Members, Raw, result_type},
    noise::Noise,
    round_trips::{By, Return, RoundTrips},
    server::Asked,
    table::{Era, Kind, Rule, Side, rule},
    tasks::Tasks,
};

pub use self::{
    effects::{Effect, End, Input, Outcome, UpstreamId},
    message::{Answer, Id, Malformed, Message},
    policy::Policy,
};
pub(crate) use self::{listed::name_of, policy::READ_ARTIFACT};

/// The maximum number of a server's invalid lines that are reported and recorded in the journal.
const MAX_REPORTED: usize = 100;
/// The maximum number of methods that are remembered as recorded.
const MAX_RECORDED: usize = 1024;

/// The methods that the journal records for an invalid line, for a message that its sender may not send, and for the
/// end of a server.
const MALFORMED: &str = "seamgate/malformed";
const MISDIRECTED: &str = "seamgate/misdirected";
const ENDED: &str = "seamgate/ended";

/// Rewrites a message as the gate would pass it on, before the kernel decides.
///
/// # Errors
///
/// The line is not a message, or its sender may not send it. The error is the reason.
pub fn rewrite(line: &str, from: Party) -> Result<String, String> {
    let side = if from == Party::Client { Side::Client } else { Side::Server };
    let message = Message::read(line).map_err(|malformed| malformed.why)?;
    let (kind, method, params) = match &message {
        Message::Request { method, params, .. } => (Kind::Request, method, params),
        Message::Notification { method, params } => (Kind::Notification, method, params),
        Message::Answer { .. } => return Ok(message.to_line()),
    };
    // The era of a server's message is that of the client.
    let eras = match side {
        Side::Client => vec![meta::era(params.as_deref())],
        Side::Server => vec![Era::Session, Era::Stateless],
    };
    match eras.into_iter().any(|era| rule(side, kind, method, era).is_some()) {
        true => Ok(message.to_line()),
        false => Err(format!("the {} may not send {method:?} as a {}", side.name(), kind.name())),
    }
}

/// Time limits of a gate, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How long a server has to answer the first request, and to list its tools. Default: 60 s.
    pub start: u64,
    /// How long the servers have to end after the client has ended. Default: 10 s.
    pub grace: u64,
}

impl Default for Times {
    fn default() -> Self {
        Times { start: 60_000, grace: 10_000 }
    }
}

/// The progress of a session's end.
#[derive(Default)]
struct Ending {
    /// `true` if the client has ended the session.
    is_client_gone: bool,
    /// The time until which the servers may end by themselves.
    closes_at: Option<u64>,
    is_over: bool,
}

/// The state of a gate between one client and its servers.
pub struct Core {
    links: Links,
    policy: Policy,
    times: Times,
    era: Era,
    calls: Calls,
    round_trips: RoundTrips,
    tasks: Tasks,
    catalog: Catalog,
    handshake: Handshake,
    ending: Ending,
    /// Messages that must not pass, by server. The journal records each once.
    recorded: HashSet<(UpstreamId, String)>,
    /// `true` if lists are to be read once the handshake is complete.
    is_list_wanted: bool,
}

impl Core {
    /// Creates a gate for running servers with these names in the profile. `secret` is the source of unguessable ids:
    /// 128 random bits.
    pub fn new(servers: Vec<String>, policy: Policy, times: Times, secret: &str) -> Self {
        Core {
            catalog: Catalog::new(servers.len()),
            links: Links::new(servers, secret),
            policy,
            times,
            era: Era::default(),
            calls: Calls::default(),
            round_trips: RoundTrips::default(),
            tasks: Tasks::default(),
            handshake: Handshake::default(),
            ending: Ending::default(),
            recorded: HashSet::new(),
            is_list_wanted: false,
        }
    }

    /// Handles an input. `now` is in milliseconds since 1970.
    pub fn handle(&mut self, now: u64, input: Input<'_>) {
        self.links.now = now;
        match input {
            Input::Downstream(line, headers) => self.on_client_line(line, headers),
            Input::DownstreamInvalid(why) => self.links.tell_client(Message::error(None, PARSE_ERROR, why)),
            Input::DownstreamEnded => self.ending.is_client_gone = true,
            Input::Upstream(server, line) => self.on_server_line(server, line),
            Input::UpstreamInvalid(server, text, why) => self.on_invalid(server, text, why, None),
            Input::Unanswered(server, id, why, may_have_run) => {
                if let Some(id) = Id::read(id).and_then(|id| id.as_number()) {
                    let effect = if may_have_run { PossibleEffect::Unknown } else { PossibleEffect::None };
                    self.fail_asked(server, id, why, effect);
                }
            }
            Input::UpstreamStarted(server) => self.on_server_started(server),
            Input::UpstreamEnded(server, why) => self.on_server_ended(server, why),
            Input::Step(outcome) => self.on_step(outcome),
            Input::CaughtUp(records, actions) => self.on_outcome(&records, actions),
            Input::Artifact(text) => self.on_artifact(text),
            Input::ProfileEdited => self.catalog.judge_again(&self.policy, &mut self.links),
            Input::RunBegan(policy) => self.on_new_run(policy),
            Input::Tick => {}
        }
        self.on_time();
        loop {
            // Calls are decided one after the other, because a call may join the previous one once that is decided.
            while !self.links.awaits_outcome()
                && let Some(early) = self.catalog.next_ready()
            {
                self.on_call(&early.id, early.params.as_deref(), early.headers.as_deref());
            }
            if !self.catalog.take_stale() {
                break;
            }
            // If no server can be asked, calls are ready at once.
            self.list();
        }
        self.check_end();
    }

    /// Returns the next effect. `None` if there is none.
    pub fn poll(&mut self) -> Option<Effect> {
        self.links.poll()
    }

    /// Returns the time when [`Input::Tick`] is due, in milliseconds since 1970. `None` if nothing is due.
    pub fn wake_at(&self) -> Option<u64> {
        let overdue = |asked: &Asked| match asked {
            Asked::Initialize { since } | Asked::List { since } => Some(since + self.times.start),
            Asked::Call { .. } | Asked::Relayed { .. } | Asked::Listen | Asked::Task { .. } => None,
        };
        let starts = self.links.servers.iter().flat_map(|server| server.asked.values().filter_map(overdue));
        // No server is restarted for a client that has ended the session.
        let restarts = self.links.servers.iter().filter_map(server::Server::restart_at);
        let restarts = restarts.filter(|_| !self.ending.is_client_gone);
        starts.chain(restarts).chain(self.calls.wake_at()).chain(self.ending.closes_at).min()
    }

    /// Returns whether no call is in flight, so that another run may begin.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty() && !self.links.awaits_outcome()
    }

    /// Returns whether any call waits for approval, so that other processes may append to the journal.
    pub fn has_asks(&self) -> bool {
        self.calls.has_asks()
    }

    /// Returns the number of entries in each collection that messages can grow.
    pub fn sizes(&self) -> Vec<(&'static str, usize)> {
        let mut sizes = vec![("recorded", self.recorded.len())];
        sizes.extend(self.links.sizes());
        sizes.extend(self.calls.sizes());
        sizes.extend(self.round_trips.sizes());
        sizes.extend(self.tasks.sizes());
        sizes.extend(self.catalog.sizes());
        sizes
    }

    /// Answers all requests of the client with an error, because the session ends for this reason.
    pub fn fail_all(&mut self, why: &str) {
        for id in self.links.unanswered() {
            self.links.error(&id, INTERNAL_ERROR, why);
        }
    }

    /// Switches to another run, with this policy. Removes everything that belongs to the keys and artifacts of the
    /// previous run.
    fn on_new_run(&mut self, policy: Policy) {
        self.policy = policy;
        self.calls.begin_run();
        self.round_trips = RoundTrips::default();
        self.tasks = Tasks::default();
        self.recorded.clear();
        self.catalog.judge_again(&self.policy, &mut self.links);
    }

    // Messages of the client.

    fn on_client_line(&mut self, line: &str, headers: Option<&[(String, String)]>) {
        let message = match Message::read(line) {
            Ok(message) => message,
            Err(malformed) => return self.links.tell_client(malformed.answer()),
        };
        match message {
            Message::Request { id, method, params } => self.on_client_request(id, method, params, headers),
            Message::Notification { method, params } => self.on_client_notification(&method, params),
            Message::Answer { id, answer } => self.on_client_answer(id, answer),
        }
    }

    fn on_client_request(&mut self, id: Id, method: String, params: Option<Raw>, headers: Option<&[(String, String)]>) {
        if !self.links.open(&id, meta::progress_token(params.as_deref())) {
            let why = "another request has this id, and waits";
            return self.links.tell_client(Message::error(Some(id), INVALID_REQUEST, why));
        }
        self.era = meta::era(params.as_deref());
        let only = match self.links.servers.len() {
            1 => Some(UpstreamId(0)),
            _ => None,
        };
        match rule(Side::Client, Kind::Request, &method, self.era) {
            None => {
                self.on_misdirected(UpstreamId(0), Side::Client, Kind::Request, &method);
                relay::not_found(&id, &method, &mut self.links);
            }
            Some(Rule::Initialize) => {
                self.handshake.on_request(&id, params.as_deref(), &self.policy, &mut self.links);
            }
            Some(Rule::ListTools) => self.on_list_request(&id, params.as_deref()),
            Some(Rule::CallTool) if self.catalog.is_known() => self.on_call(&id, params.as_deref(), headers),
            Some(Rule::CallTool) => {
                self.catalog.set_meta(params.as_deref());
                let early = catalog::EarlyCall { id, params, headers: headers.map(<[_]>::to_vec) };
                self.catalog.on_early_call(early, &mut self.links);
                self.list();
            }
            Some(Rule::Task) => self.on_task_request(&id, method, params),
            Some(Rule::Ping) => match only {
                Some(server) => relay::ping(server, &id, params.as_deref(), &self.policy, &mut self.links),
                None => self.links.result(&id, "{}".to_owned()),
            },
            Some(Rule::Relay) if let Some(server) = only => {
                relay::on_request(server, &id, method, params, None, &mut self.links);
            }
            Some(_) => relay::not_found(&id, &method, &mut self.links),
        }
    }

    fn on_list_request(&mut self, id: &Id, params: Option<&RawValue>) {
        self.catalog.set_meta(params);
        if params.and_then(|params| Members::of(params.get())?.get("cursor")).is_some() {
            // The list has only one page.
            return self.links.error(id, INVALID_PARAMS, "Invalid cursor");
        }
        self.catalog.on_list_request(id, &mut self.links);
        // The list may have changed without a notification.
        self.list();
    }

    /// Asks the servers for their tools, when the handshake is complete.
    fn list(&mut self) {
        self.is_list_wanted = self.handshake.is_open();
        if self.is_list_wanted {
            return;
        }
        let ready: Vec<UpstreamId> = self.links.all().filter(|server| self.is_ready(*server)).collect();
        self.catalog.list(&self.policy, |server| ready.contains(&server), &mut self.links);
    }

    /// Returns whether a server is running, and has answered the first request if it received one.
    fn is_ready(&self, server: UpstreamId) -> bool {
        let is_first = |asked: &Asked| matches!(asked, Asked::Initialize { .. });
        self.links.servers.get(server.0).is_some_and(|own| own.is_up() && !own.asked.values().any(is_first))
    }

    fn on_call(&mut self, id: &Id, params: Option<&RawValue>, headers: Option<&[(String, String)]>) {
        let has_forms = self.handshake.has_forms;
        let read = CallRequest::read(id, params, has_forms, |name| self.catalog.target(name, &self.links));
        let request = match read {
            Ok(request) => request,
            Err(why) => return self.links.error(id, INVALID_PARAMS, &format!("Invalid params: {why}")),
        };
        let definition = || self.catalog.definition(&request.name);
        let checked = headers.map(|headers| mirrors::check(definition(), request.arguments(), headers));
        if let Some(Err(why)) = checked {
            return self.links.error(id, mirrors::MISMATCH, &why);
        }
        if request.state.is_none() && request.answers.is_none() {
            return self.calls.on_request(request, &self.policy, &mut self.links);
        }
        match self.round_trips.on_return(request.clone()) {
            Return::Result(result) => self.links.result(id, result),
            Return::Repeated(key) => self.calls.on_repeated(&key, &request, &mut self.links),
            Return::Refused(why) => self.refuse_state(id, why),
            Return::Answered(key, by, request) => self.on_return(&key, by, *request),
        }
    }

    /// Handles a client that returns with what a result requested.
    fn on_return(&mut self, key: &str, by: By, request: CallRequest) {
        if !self.calls.request(key).is_some_and(|first| first.repeats(&request)) {
            self.round_trips.undo_return(key);
            return self.refuse_state(&request.id, "it is of another call");
        }
        let answers = request.answers.clone();
        self.calls.on_return(key, request, &mut self.links);
        match by {
            By::Gate(digest) => self.on_form(key, &digest, answers.as_deref()),
            By::Server(_) => self.next_round_trip(key),
        }
    }

    /// Handles the client's decision about a call, made in a form.
    fn on_form(&mut self, key: &str, digest: &str, answers: Option<&RawValue>) {
        let answer = answers.and_then(|answers| Members::of(answers.get())?.get(elicitation::APPROVAL));
        let is_approved = answer.is_some_and(elicitation::is_approved);
        // Somebody else may have approved the call while the client was away.
        if self.calls.release(key, is_approved, &mut self.links) {
            return;
        }
        match self.calls.ask(key).cloned() {
            // The approval covers exactly what was shown.
            Some(ask) if ask.digest == digest => {
                let decision = elicitation::decision(key, digest, is_approved);
                self.links.send(decision, links::Then::Nothing);
            }
            Some(ask) => self.ask_by_form(&ask),
            None => {}
        }
    }

    /// Sends a call to its server once more, with the input that the client was asked for.
    fn next_round_trip(&mut self, key: &str) {
        let Some(request) = self.calls.request(key) else { return };
        let Some(server) = request.target.upstream else { return };
        if !self.catalog.is_visible(&request.name) {
            let why = "the tool changed, or is not offered any more";
            return self.calls.fail(key, why, PossibleEffect::Unknown, &mut self.links);
        }
        // The journal records it first.
        let judgment = Judgment { method: "tools/call".to_owned(), from: Party::Client, document: None };
        self.links.judge(server, [judgment], Purpose::NextRoundTrip { key: key.to_owned() });
    }

    /// Sends a call to its server.
    fn send_call(&mut self, key: &str) {
        let (state, has_answers) = self.round_trips.for_server(key);
        self.calls.send(key, state, has_answers, &self.policy, &mut self.links);
    }

    /// Rejects a request state that the client did not receive for this request.
    fn refuse_state(&mut self, id: &Id, why: &str) {
        self.links.record(UpstreamId(0), "seamgate/requestState", Side::Client, why);
        let why = format!("Invalid or expired requestState: {why}. Call again without it");
        self.links.error(id, INVALID_PARAMS, &why);
    }

    /// Handles a client's request to get, update or cancel a task.
    fn on_task_request(&mut self, id: &Id, method: String, params: Option<Raw>) {
        let task = params.as_ref().and_then(|params| Some(Members::of(params.get())?.text("taskId")?.into_owned()));
        let known = task.as_ref().and_then(|task| self.tasks.get(task)).map(|own| (own.server, own.ended.clone()));
        match (task, known) {
            (Some(_), Some((_, Some(ended)))) if method == "tasks/get" => self.links.result(id, ended),
            (Some(task), Some((server, _))) => {
                let task = Some(task).filter(|_| method == "tasks/get");
                relay::on_request(server, id, method, params, task, &mut self.links);
            }
            // First report what does not exist.
            _ => {
                let judgment = Judgment { method: method.clone(), from: Party::Client, document: None };
                self.links.judge(UpstreamId(0), [judgment], Purpose::UnknownTask { id: id.clone(), method });
            }
        }
    }

    fn on_client_notification(&mut self, method: &str, params: Option<Raw>) {
        match rule(Side::Client, Kind::Notification, method, self.era) {
            None => self.on_misdirected(UpstreamId(0), Side::Client, Kind::Notification, method),
            Some(Rule::Cancel) => self.on_client_cancels(params.as_deref()),
            Some(Rule::Initialized) => {
                self.handshake.on_finished(params.as_ref(), &mut self.links);
                self.list();
            }
            Some(Rule::Progress) => relay::on_client_progress(params.as_ref(), &mut self.links),
            Some(Rule::Relay)
                if self.links.servers.len() == 1 && !self.is_recorded(UpstreamId(0), "client", method) =>
            {
                let judgment = Judgment { method: method.to_owned(), from: Party::Client, document: None };
                let purpose = Purpose::ToServer { method: method.to_owned(), params };
                self.links.judge(UpstreamId(0), [judgment], purpose);
            }
            Some(_) => {}
        }
    }

    fn on_client_cancels(&mut self, params: Option<&RawValue>) {
        let id = params.and_then(|params| Id::read(Members::of(params.get())?.get("requestId")?.get()));
        let Some((id, place)) = id.and_then(|id| Some((id.clone(), self.links.place(&id)?.clone()))) else { return };
        match place {
            Place::Catalog => self.catalog.on_cancelled(&id),
            Place::Server(server, own) => self.links.take_back(server, own, None),
            Place::Call(key) => self.calls.on_cancelled(&key, &id, &mut self.links),
            // The kernel's decision about it has no effect.
            Place::Kernel => {}
            // The protocol does not permit a client to do this.
            Place::Handshake => return,
        }
        self.links.forget(&id);
    }

    fn on_client_answer(&mut self, id: Option<Id>, answer: Answer) {
        match id.and_then(|id| self.links.for_client.remove(&id)) {
            Some(ForClient::Server(server, own)) => {
                self.links.tell(server, Message::Answer { id: Some(own), answer });
            }
            Some(ForClient::Approval { key, digest }) => {
                // The approval covers exactly what the form showed.
                let is_asked = self.calls.ask(&key).is_some_and(|ask| ask.digest == digest);
                if is_asked {
                    let is_approved = matches!(&answer, Answer::Result(result) if elicitation::is_approved(result));
                    let decision = elicitation::decision(&key, &digest, is_approved);
                    self.links.send(decision, links::Then::Nothing);
                }
            }
            // There is no such request to the client.
            None => {}
        }
    }

    // Messages of servers.

    fn on_server_line(&mut self, server: UpstreamId, line: &str) {
        let Some(own) = self.links.servers.get(server.0).filter(|own| own.is_up()) else { return };
        match Message::read(line) {
            Ok(Message::Answer { id, answer }) => self.on_server_answer(server, id, answer),
            Ok(Message::Request { id, method, params }) => self.on_server_request(server, id, method, params),
            Ok(Message::Notification { method, params }) => self.on_server_notification(server, method, params),
            Err(malformed) => {
                let broken = noise::read(line, |id| own.asked.contains_key(&id));
                self.on_invalid(server, line, &malformed.why, Some(broken));
            }
        }
    }

    /// Handles a line of a server that is not a message. Servers often log to the wrong stream. If the line was the
    /// answer to a request, whoever waits for it is notified.
    fn on_invalid(&mut self, server: UpstreamId, text: &str, why: &str, noise: Option<Noise>) {
        let Some(own) = self.links.servers.get_mut(server.0) else { return };
        own.invalid_lines += 1;
        let count = own.invalid_lines;
        let told = self.links.told(server);
        if count <= MAX_REPORTED {
            let shown = escape_terminal(&truncate(text, 200));
            self.links.add(Effect::Warn(format!("{told} wrote a line that is no message: {shown}")));
            self.links.record(server, MALFORMED, Side::Server, cut(text, 2048));
        }
        if count == MAX_REPORTED {
            self.links
                .add(Effect::Warn(format!("{told} writes lines that are no messages: further ones are not reported")));
        }
        if let Some(Noise::Answer(id)) = noise {
            // The reason can quote names of members, which were not judged, so only the user sees it.
            let shown = escape_terminal(&truncate(why, 200));
            self.links.add(Effect::Warn(format!("{told} broke its answer: {shown}")));
            self.fail_asked(server, id, &format!("{told} broke its answer"), PossibleEffect::Unknown);
        }
    }

    fn on_server_answer(&mut self, server: UpstreamId, id: Option<Id>, answer: Answer) {
        let asked = id.and_then(|id| {
            let own = self.links.servers.get_mut(server.0)?;
            let asked = own.asked.remove(&id.as_number()?);
            own.has_answered |= asked.is_some();
            asked
        });
        let now = self.links.now;
        let is_stateless = self.era == Era::Stateless;
        match asked {
            // No request was sent, or nobody waits for it any more.
            None => self.count_unasked(server),
            Some(Asked::Call { key, since }) => self.on_called(server, &key, now.saturating_sub(since), answer),
            Some(Asked::List { .. }) => {
                let error = self.catalog.on_page(server, &answer, &self.policy, &mut self.links);
                if let Some(error) = error {
                    let method = "tools/list".to_owned();
                    let judgment = Judgment { method, from: Party::Server, document: Some(error.clone()) };
                    self.links.judge(server, [judgment], Purpose::ListError { error });
                }
            }
            Some(Asked::Initialize { .. }) => {
                let (Answer::Result(document) | Answer::Error(document)) = &answer;
                let method = "initialize".to_owned();
                let judgment = Judgment { method, from: Party::Server, document: Some(document.clone()) };
                self.links.judge(server, [judgment], Purpose::Initialized { answer });
            }
            Some(Asked::Listen) => {}
            Some(Asked::Relayed { id, method }) => {
                relay::on_answer(server, id, method, answer, is_stateless, &mut self.links);
            }
            Some(Asked::Task { id, task }) => match answer {
                Answer::Result(result) => self.on_task_told(server, id, task, result),
                error => relay::on_answer(server, id, "tasks/get".to_owned(), error, is_stateless, &mut self.links),
            },
        }
    }

    /// Handles a server's answer to a call.
    fn on_called(&mut self, server: UpstreamId, key: &str, duration_ms: u64, answer: Answer) {
        let result = match answer {
            Answer::Result(result) => result,
            Answer::Error(error) => {
                let method = "tools/call".to_owned();
                let judgment = Judgment { method, from: Party::Server, document: Some(error.clone()) };
                let purpose = Purpose::CallError { key: key.to_owned(), duration_ms, error };
                return self.links.judge(server, [judgment], purpose);
            }
        };
        match result_type(result.get()).as_deref() {
            Some("input_required") => self.on_call_asks(server, key, &result),
            Some("task") => self.on_call_becomes_task(server, key, &result),
            // The type is text of the server that was not judged.
            Some(other) if other != "complete" && self.calls.sender(key).is_stateless => {
                let why = "the server answered with a result of another type than a call has";
                self.calls.fail(key, why, PossibleEffect::Unknown, &mut self.links);
            }
            _ => self.calls.on_result(key, duration_ms, result, &mut self.links),
        }
    }

    /// Handles a server's answer to a call that requests input.
    fn on_call_asks(&mut self, server: UpstreamId, key: &str, result: &RawValue) {
        let asked = match self.round_trips.is_too_many(key) {
            true => Err("asks for more input more than 32 times".to_owned()),
            false => relay::on_question(server, result.get(), Asker::Call(key.to_owned()), &mut self.links)
                .map_err(|(_, why)| why),
        };
        if let Err(why) = asked {
            let why = format!("{} {why}", self.links.told(server));
            self.calls.fail(key, &why, PossibleEffect::Unknown, &mut self.links);
        }
    }

    /// Handles a server's answer to a call with a task.
    fn on_call_becomes_task(&mut self, server: UpstreamId, key: &str, result: &RawValue) {
        let told = match (self.calls.sender(key).is_stateless, tasks::read_told(result.get())) {
            (true, Some(told)) => told,
            (is_stateless, _) => {
                let why = match is_stateless {
                    true => "tells of a task in a way that is malformed",
                    false => "answers with a task, which the profile does not name",
                };
                let why = format!("{} {why}", self.links.told(server));
                return self.calls.fail(key, &why, PossibleEffect::Unknown, &mut self.links);
            }
        };
        let document = message::raw(told.text);
        let exists = Judgment { method: "tasks/get".to_owned(), from: Party::Server, document: None };
        let whole = Judgment { method: "tools/call".to_owned(), from: Party::Server, document: Some(document.clone()) };
        let purpose = Purpose::TaskBegun { key: key.to_owned(), task: told.task, told: document, ttl_s: told.ttl_s };
        self.links.judge(server, [exists, whole], purpose);
    }

    /// Handles a server's report on a task.
    fn on_task_told(&mut self, server: UpstreamId, id: Id, task: String, result: Raw) {
        let Some(told) = tasks::read_told(result.get()).filter(|told| told.task == task) else {
            let why = format!("{} tells of another task, or in a way that is malformed", self.links.told(server));
            return self.links.error(&id, INTERNAL_ERROR, &why);
        };
        let told = message::raw(told.text);
        let method = "tasks/get".to_owned();
        let judgment = Judgment { method, from: Party::Server, document: Some(told.clone()) };
        self.links.judge(server, [judgment], Purpose::TaskTold { id, task, told, result });
    }

    fn on_server_request(&mut self, server: UpstreamId, id: Id, method: String, params: Option<Raw>) {
        self.count_unasked(server);
        match rule(Side::Server, Kind::Request, &method, self.era) {
            None => {
                self.on_misdirected(server, Side::Server, Kind::Request, &method);
                self.links.tell(server, Message::error(Some(id), METHOD_NOT_FOUND, "Method not found"));
            }
            Some(Rule::Ping) if self.links.servers.len() > 1 => {
                self.links
                    .tell(server, Message::Answer { id: Some(id), answer: Answer::Result(message::raw("{}".into())) });
            }
            // A ping is passed on without its parameters, so there is nothing to judge.
            Some(Rule::Ping) => {
                relay::ask_client(server, id, &method, None, links::Judged::Unchanged, &mut self.links);
            }
            Some(_) => relay::on_server_request(server, id, method, params, &mut self.links),
        }
    }

    fn on_server_notification(&mut self, server: UpstreamId, method: String, params: Option<Raw>) {
        self.count_unasked(server);
        let Some(rule) = rule(Side::Server, Kind::Notification, &method, self.era) else {
            return self.on_misdirected(server, Side::Server, Kind::Notification, &method);
        };
        let subscription = meta::subscription(params.as_deref()).map(str::to_owned);
        let own = subscription.as_deref().and_then(|id| Id::read(id)?.as_number());
        let is_own = own.is_some_and(|id| self.catalog.is_own_subscription(server, id));
        match rule {
            Rule::ToolsChanged => {
                if !is_own {
                    let named = subscription.and_then(|id| relay::subscriber(server, &id, &self.links));
                    self.catalog.on_changed(named.as_ref());
                }
                self.list_again();
            }
            _ if is_own => {}
            Rule::Cancel => self.on_server_cancels(server, params.as_deref()),
            Rule::Progress => relay::on_progress(server, params.as_deref(), &mut self.links),
            Rule::Relay if !self.is_recorded(server, "server", &method) => {
                relay::on_notification(server, method, params, &mut self.links);
            }
            _ => {}
        }
    }

    fn list_again(&mut self) {
        let ready: Vec<UpstreamId> = self.links.all().filter(|server| self.is_ready(*server)).collect();
        self.catalog.list_again(&self.policy, |server| ready.contains(&server), &mut self.links);
    }

    /// Handles a server that cancels its request to the client, or ends a subscription.
    fn on_server_cancels(&mut self, server: UpstreamId, params: Option<&RawValue>) {
        let id = params.and_then(|params| Id::read(Members::of(params.get())?.get("requestId")?.get()));
        let Some(id) = id else { return };
        // Check the server's own requests first, because a request of the gate can have the same number.
        let is_it =
            |asked: &ForClient| matches!(asked, ForClient::Server(other, own) if *other == server && *own == id);
        let found = self.links.for_client.iter().find(|(_, asked)| is_it(asked)).map(|(id, _)| id.clone());
        if let Some(found) = found {
            self.links.for_client.remove(&found);
            return self.links.tell_client(Message::cancelled(&found, None));
        }
        if let Some(subscriber) = relay::subscriber(server, id.as_str(), &self.links) {
            if let (Some(own), Some(number)) = (self.links.servers.get_mut(server.0), id.as_number()) {
                own.asked.remove(&number);
            }
            self.links.forget(&subscriber);
            self.links.tell_client(Message::cancelled(&subscriber, None));
        }
    }

    /// Counts an unsolicited message. A server that sends too many is terminated.
    fn count_unasked(&mut self, server: UpstreamId) {
        let now = self.links.now;
        if self.links.servers.get_mut(server.0).is_some_and(|own| own.is_flooding(now)) {
            let why = format!("{} floods the client with messages that nobody asked for", self.links.told(server));
            self.on_server_ended(server, &why);
        }
    }

    /// Records once that a method's sender may not send it in this way.
    fn on_misdirected(&mut self, server: UpstreamId, from: Side, kind: Kind, method: &str) {
        let method = cut(method, 256);
        let (sender, kind) = (from.name(), kind.name());
        if self.recorded.len() >= MAX_RECORDED || !self.recorded.insert((server, format!("{sender} {kind} {method}"))) {
            return;
        }
        let shown = escape_terminal(method);
        self.links.add(Effect::Warn(format!("not passed on: the {sender} sent {shown:?} as a {kind}")));
        self.links.record(server, MISDIRECTED, from, &format!("{method} as a {kind}"));
    }

    /// Returns whether the journal already records that a notification was denied.
    fn is_recorded(&self, server: UpstreamId, sender: &str, method: &str) -> bool {
        self.recorded.contains(&(server, format!("{sender} {}", cut(method, 256))))
    }

    // Servers that start and end.

    fn on_server_started(&mut self, server: UpstreamId) {
        let now = self.links.now;
        let Some(own) = self.links.servers.get_mut(server.0) else { return };
        own.started(now);
        self.catalog.on_server_back();
        if self.era == Era::Session && self.handshake.on_server_started(server, &self.policy, &mut self.links) {
            return;
        }
        self.list_again();
    }

    /// Handles a server that no longer answers.
    fn on_server_ended(&mut self, server: UpstreamId, why: &str) {
        let now = self.links.now;
        // A server is expected to end when the client does.
        let is_closing = self.ending.closes_at.is_some();
        let Some(own) = self.links.servers.get_mut(server.0).filter(|own| own.is_up() || own.restart_at().is_none())
        else {
            return;
        };
        let was_up = own.is_up();
        own.ended(now, why, !is_closing);
        let ids: Vec<u64> = own.asked.keys().copied().collect();
        if was_up {
            self.links.add(Effect::Stop(server));
        }
        for id in ids {
            self.fail_asked(server, id, why, PossibleEffect::Unknown);
        }
        self.links.for_client.retain(|_, asked| !matches!(asked, ForClient::Server(other, _) if *other == server));
        if is_closing {
            return;
        }
        if !self.is_useless() {
            self.links.add(Effect::Warn(escape_terminal(why)));
        }
        let method = ENDED.to_owned();
        let document = Some(message::raw(message::json(why)));
        self.links.judge(server, [Judgment { method, from: Party::Server, document }], Purpose::Record);
        self.catalog.on_server_ended(server, &self.policy, &mut self.links);
    }

    /// Fails a request to a server that will not answer it.
    fn fail_asked(&mut self, server: UpstreamId, id: u64, why: &str, effect: PossibleEffect) {
        let asked = self.links.servers.get_mut(server.0).and_then(|own| own.asked.remove(&id));
        match asked {
            Some(Asked::Call { key, .. }) => {
                self.calls.fail(&key, why, effect, &mut self.links);
            }
            Some(Asked::Relayed { id, .. } | Asked::Task { id, .. }) => self.links.error(&id, INTERNAL_ERROR, why),
            Some(Asked::List { .. }) => self.catalog.on_no_list(server, &self.policy, &mut self.links),
            Some(Asked::Initialize { .. }) => {
                self.handshake.on_server_ended(why, &mut self.links);
                self.on_handshake();
            }
            Some(Asked::Listen) | None => {}
        }
    }

    /// Continues after the handshake is complete.
    fn on_handshake(&mut self) {
        if self.is_list_wanted && !self.handshake.is_open() {
            self.list();
        }
    }

    // Time and end.

    /// Performs everything that is due.
    fn on_time(&mut self) {
        let now = self.links.now;
        self.calls.on_time(&mut self.links);
        let is_late = |asked: &Asked| match asked {
            Asked::Initialize { since } | Asked::List { since } => since + self.times.start <= now,
            Asked::Call { .. } | Asked::Relayed { .. } | Asked::Listen | Asked::Task { .. } => false,
        };
        let late: Vec<UpstreamId> =
            self.links.all().filter(|server| self.links.servers[server.0].asked.values().any(is_late)).collect();
        for server in late {
            let told = self.links.told(server);
            let why = format!("{told} does not answer within {} s", self.times.start / 1000);
            self.on_server_ended(server, &why);
        }
        for server in self.links.all() {
            if !self.ending.is_client_gone && self.links.servers[server.0].is_due(now) {
                self.links.add(Effect::Start(server));
            }
        }
    }

    /// Ends the session, if it is time.
    fn check_end(&mut self) {
        // The run's pending decisions may still result in messages for the client.
        if self.ending.is_over || self.links.awaits_outcome() {
            return;
        }
        let now = self.links.now;
        let all_down = self.links.servers.iter().all(|server| !server.is_up());
        if self.ending.is_client_gone {
            // Calls that wait for the list of tools are still sent to their servers.
            if self.ending.closes_at.is_none() && !self.catalog.is_busy() && !self.handshake.is_open() {
                self.ending.closes_at = Some(now + self.times.grace);
                for server in self.links.all() {
                    self.links.servers[server.0].close();
                    self.links.add(Effect::Close(server));
                }
            }
            if all_down || self.ending.closes_at.is_some_and(|at| at <= now) {
                self.end(End::Client);
            }
        } else if self.is_useless() {
            let told: Vec<String> = self.links.servers.iter().filter_map(server::Server::why).collect();
            self.end(End::Server(told.join("; ")));
        }
    }

    /// Returns whether all servers are down and none has ever answered. Restarting them would hardly help.
    fn is_useless(&self) -> bool {
        self.links.servers.iter().all(|server| !server.is_up() && !server.has_answered)
    }

    fn end(&mut self, end: End) {
        self.ending.is_over = true;
        self.links.add(Effect::End(end));
    }
}
