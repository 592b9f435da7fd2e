//! The links of a gate to its client and its servers: which requests are in flight, and what leaves next.

use std::collections::{BTreeMap, HashMap, VecDeque};

use seamgate::{EventKind, Fault, Json, MessageEvent, Party, Secret, digest};

use super::{
    call_request::CallRequest,
    effects::{Effect, UpstreamId},
    message::{Answer, Id, Message, Raw, raw},
    server::{Asked, Server},
    table::{MAX_METHOD, Side},
};

/// The longest token of progress, in bytes, and the most tokens that are remembered.
const MAX_TOKEN: usize = 256;
const MAX_TOKENS: usize = 4096;

/// The most requests that wait for the client's answer.
pub(super) const MAX_FOR_CLIENT: usize = 1024;

/// The place where a request of the client waits.
#[derive(Clone)]
pub(super) enum Place {
    /// In the catalog, until there is a list of tools.
    Catalog,
    /// At a server, under this id.
    Server(UpstreamId, u64),
    /// With a call, by the run's key.
    Call(String),
    /// In the handshake, until all servers have answered.
    Handshake,
    /// The kernel judges it.
    Kernel,
}

/// A request that the client has to answer.
pub(super) enum ForClient {
    /// It belongs to a server, under that server's own id.
    Server(UpstreamId, Id),
    /// The gate asks whether a call may run, by a form that showed the action with this digest.
    Approval { key: String, digest: String },
}

/// The use of a step's outcome.
pub(super) enum Then {
    /// It needs no more than what every outcome leads to.
    Nothing,
    /// The client's request may have become a call.
    Call(Box<CallRequest>),
    /// A call may go to its server.
    Started(String),
    /// A result was judged, or is too much for an event.
    Returned { key: String, duration_ms: u64 },
    /// The kernel knows what servers list.
    Listed(String),
    /// A document was judged.
    Judged(Box<Batch>),
}

/// A document that the kernel judges.
pub(super) struct Judgment {
    pub(super) method: String,
    pub(super) from: Party,
    pub(super) document: Option<Raw>,
}

/// Documents that the kernel judges one after the other, until it denies one.
pub(super) struct Batch {
    pub(super) server: UpstreamId,
    /// The method of the document that is being judged.
    pub(super) method: String,
    pub(super) rest: VecDeque<Judgment>,
    pub(super) purpose: Purpose,
}

/// A verdict on a document.
pub(super) enum Judged {
    /// It does not exist.
    Denied,
    /// It passes as it is.
    Unchanged,
    /// This document takes its place.
    Cleaned(Json),
    /// It cannot be judged.
    Refused(Fault),
}

impl Judged {
    /// Returns the document that passes, if one does.
    pub(super) fn passed(self, document: &str) -> Option<String> {
        match self {
            Judged::Unchanged => Some(document.to_owned()),
            Judged::Cleaned(cleaned) => Some(cleaned.as_str().to_owned()),
            Judged::Denied | Judged::Refused(_) => None,
        }
    }
}

/// The use of a verdict on a document.
pub(super) enum Purpose {
    /// The journal has it. Nothing follows.
    Record,
    /// A request of the client goes to a server.
    Request { id: Id, method: String, params: Option<Raw>, task: Option<String> },
    /// The client asks about a task that no call has.
    UnknownTask { id: Id, method: String },
    /// A call goes to its server once more.
    NextRoundTrip { key: String },
    /// A notification of the client goes to a server.
    ToServer { method: String, params: Option<Raw> },
    /// The answer to a request goes to the client.
    Answer { id: Id, method: String, answer: Answer },
    /// A notification of a server goes to the client.
    ToClient { method: String, params: Option<Raw> },
    /// A server's progress goes to the client: what was told without its message, and the message.
    Progress { told: String, message: String },
    /// A server's request goes to the client.
    AskClient { id: Id, method: String, params: Option<Raw> },
    /// A server has described itself, or cannot.
    Initialized { answer: Answer },
    /// A server refuses to list its tools.
    ListError { error: Raw },
    /// A call ended with an error of the protocol.
    CallError { key: String, duration_ms: u64, error: Raw },
    /// A server asks for input: by the result of a call, of another request, or of a task.
    Question { asker: Asker, question: Raw, state: Option<String> },
    /// A call becomes a task.
    TaskBegun { key: String, task: String, told: Raw, ttl_s: u64 },
    /// A server says how far a task is.
    TaskTold { id: Id, task: String, told: Raw, result: Raw },
    /// A task ended with an error of the protocol.
    TaskFailed { id: Id, task: String, told: String, error: Raw },
    /// The client reads a piece of a whole result.
    Artifact { key: String, artifact: String, offset: usize, text: String },
}

/// The request by whose result a server asks for input.
pub(super) enum Asker {
    Call(String),
    Request { id: Id, method: String },
    Task { id: Id, told: String },
}

/// The links of a gate.
pub(super) struct Links {
    pub(super) servers: Vec<Server>,
    /// Requests of the client without an answer.
    requests: BTreeMap<Id, Place>,
    pub(super) for_client: HashMap<Id, ForClient>,
    /// The client's progress tokens, which servers use to report how far requests are, oldest first.
    tokens: VecDeque<String>,
    effects: VecDeque<Effect>,
    thens: VecDeque<Then>,
    /// The secret from which unguessable ids are made.
    secret: String,
    ids: u64,
    /// The time of the input, in milliseconds since 1970.
    pub(super) now: u64,
}

impl Links {
    pub(super) fn new(names: Vec<String>, secret: &str) -> Self {
        Links {
            servers: names.into_iter().map(Server::new).collect(),
            requests: BTreeMap::new(),
            for_client: HashMap::new(),
            tokens: VecDeque::new(),
            effects: VecDeque::new(),
            thens: VecDeque::new(),
            secret: secret.to_owned(),
            ids: 0,
            now: 0,
        }
    }

    /// Returns how many entries each collection has.
    pub(super) fn sizes(&self) -> [(&'static str, usize); 6] {
        [
            ("requests", self.requests.len()),
            ("for_client", self.for_client.len()),
            ("tokens", self.tokens.len()),
            ("effects", self.effects.len()),
            ("thens", self.thens.len()),
            ("asked", self.servers.iter().map(|server| server.asked.len()).sum()),
        ]
    }

    /// Adds an effect.
    pub(super) fn add(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }

    /// Takes the next effect.
    pub(super) fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Sends an event to the run.
    pub(super) fn send(&mut self, event: impl Into<EventKind>, then: Then) {
        self.thens.push_back(then);
        self.add(Effect::Send(Box::new(event.into())));
    }

    /// Returns the use of the outcome of the oldest event without one.
    pub(super) fn next_then(&mut self) -> Option<Then> {
        self.thens.pop_front()
    }

    /// Returns whether outcomes of events are still to come.
    pub(super) fn awaits_outcome(&self) -> bool {
        !self.thens.is_empty()
    }

    /// Lets the kernel judge documents of one server's conversation.
    pub(super) fn judge(
        &mut self,
        server: UpstreamId,
        judgments: impl IntoIterator<Item = Judgment>,
        purpose: Purpose,
    ) {
        self.judge_next(Batch { server, method: String::new(), rest: judgments.into_iter().collect(), purpose });
    }

    /// Sends the next document of a batch, which has one.
    pub(super) fn judge_next(&mut self, mut batch: Batch) {
        let Some(Judgment { method, from, document }) = batch.rest.pop_front() else { return };
        let mut event = MessageEvent::new(cut(&method, MAX_METHOD), from);
        event.id = Some(self.event_id());
        event.server = Some(self.name(batch.server).to_owned());
        // No model reads what a client says.
        event.document = document.filter(|_| from == Party::Server).map(Into::into);
        batch.method = method;
        self.send(event, Then::Judged(Box::new(batch)));
    }

    /// Records that a message went nowhere, and why.
    pub(super) fn record(&mut self, server: UpstreamId, method: &str, from: Side, why: &str) {
        let mut event = MessageEvent::new(method, from.party());
        event.id = Some(self.event_id());
        event.server = Some(self.name(server).to_owned());
        event.document = Json::of(why).ok();
        self.send(event, Then::Nothing);
    }

    /// Returns the name of a server in the profile.
    pub(super) fn name(&self, server: UpstreamId) -> &str {
        self.servers.get(server.0).map(|server| server.name.as_str()).unwrap_or_default()
    }

    /// Returns the name of a server for messages.
    pub(super) fn told(&self, server: UpstreamId) -> String {
        match self.name(server) {
            "" => "the server".to_owned(),
            name => format!("the server {name:?}"),
        }
    }

    /// Returns an id for an event of the gate.
    pub(super) fn event_id(&mut self) -> String {
        self.ids += 1;
        format!("r{}", self.ids)
    }

    /// Returns an unguessable text.
    pub(super) fn secret_name(&mut self, prefix: &str) -> String {
        self.ids += 1;
        let digest = digest(format!("{}:{}", self.secret, self.ids).as_bytes());
        format!("{prefix}{}", &digest["sha256:".len()..][..32])
    }

    // The client.

    /// Sends the client a message that answers none of its requests.
    pub(super) fn tell_client(&mut self, message: Message) {
        self.add(Effect::ToDownstream(message));
    }

    /// Asks the client something.
    pub(super) fn ask_client(&mut self, method: &str, params: Option<String>, asked: ForClient) {
        // A server that could foresee the id could have its own question answered in place of the gate's.
        let id = Id::text(&self.secret_name("seamgate-"));
        self.tell_client(Message::request(id.clone(), method, params));
        self.for_client.insert(id, asked);
    }

    /// Takes a request of the client. Returns whether no other one has its id.
    pub(super) fn open(&mut self, id: &Id, token: Option<String>) -> bool {
        if self.requests.contains_key(id) {
            return false;
        }
        self.requests.insert(id.clone(), Place::Kernel);
        if let Some(token) = token.filter(|token| token.len() <= MAX_TOKEN && !self.has_token(token)) {
            if self.tokens.len() == MAX_TOKENS {
                self.tokens.pop_front();
            }
            self.tokens.push_back(token);
        }
        true
    }

    /// Says where a request of the client waits. Returns whether anybody still waits for its answer.
    pub(super) fn put(&mut self, id: &Id, place: Place) -> bool {
        match self.requests.get_mut(id) {
            Some(own) => {
                *own = place;
                true
            }
            None => false,
        }
    }

    /// Returns where a request of the client waits.
    pub(super) fn place(&self, id: &Id) -> Option<&Place> {
        self.requests.get(id)
    }

    /// Forgets a request of the client that it took back.
    pub(super) fn forget(&mut self, id: &Id) {
        self.requests.remove(id);
    }

    /// Returns whether the client chose this token, as it is written.
    pub(super) fn has_token(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known == token)
    }

    /// Answers a request of the client with a result, unless it was answered or taken back.
    pub(super) fn result(&mut self, id: &Id, result: String) {
        self.forward(id, raw(result));
    }

    /// Answers a request of the client as [`Links::result`] does, with a result that was read already.
    pub(super) fn forward(&mut self, id: &Id, result: Raw) {
        self.answer(id, |id| Message::result(id, result));
    }

    /// Answers a request of the client with an error of the gate.
    pub(super) fn error(&mut self, id: &Id, code: i64, message: &str) {
        self.answer(id, |id| Message::error(Some(id), code, message));
    }

    /// Answers a request of the client with an error object.
    pub(super) fn failure(&mut self, id: &Id, error: String) {
        self.answer(id, |id| Message::failure(id, error));
    }

    fn answer(&mut self, id: &Id, message: impl FnOnce(Id) -> Message) {
        if self.requests.remove(id).is_some() {
            let message = message(id.clone());
            self.tell_client(message);
        }
    }

    /// Returns all requests of the client without an answer.
    pub(super) fn unanswered(&self) -> Vec<Id> {
        self.requests.keys().cloned().collect()
    }

    // Servers.

    /// Returns all servers.
    pub(super) fn all(&self) -> impl Iterator<Item = UpstreamId> + use<> {
        (0..self.servers.len()).map(UpstreamId)
    }

    /// Asks a server something, and returns the id of the request.
    ///
    /// # Errors
    ///
    /// The server is down. The error says why.
    pub(super) fn ask(
        &mut self,
        server: UpstreamId,
        method: &str,
        params: Option<String>,
        asked: Asked,
    ) -> Result<u64, String> {
        self.ask_with(server, method, params, Vec::new(), asked)
    }

    /// Sends a request to a server, with secrets in the arguments of its call.
    pub(super) fn ask_with(
        &mut self,
        server: UpstreamId,
        method: &str,
        params: Option<String>,
        secrets: Vec<Secret>,
        asked: Asked,
    ) -> Result<u64, String> {
        let now = self.now;
        let Some(own) = self.servers.get_mut(server.0) else { return Err("there is no such server".to_owned()) };
        if let Some(why) = own.is_down(now) {
            return Err(why);
        }
        let id = own.insert(asked);
        self.add(Effect::ToUpstream(server, Message::request(Id::number(id), method, params), secrets));
        Ok(id)
    }

    /// Sends a server a message that it does not have to answer, if it is up.
    pub(super) fn tell(&mut self, server: UpstreamId, message: Message) {
        if self.servers.get(server.0).is_some_and(Server::is_open) {
            self.add(Effect::ToUpstream(server, message, Vec::new()));
        }
    }

    /// Cancels a request to a server that nobody waits for any more. A late answer is then ignored.
    pub(super) fn take_back(&mut self, server: UpstreamId, id: u64, reason: Option<&str>) {
        if let Some(own) = self.servers.get_mut(server.0) {
            own.asked.remove(&id);
        }
        self.tell(server, Message::cancelled(&Id::number(id), reason));
    }
}

/// Returns at most `limit` bytes of a text.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
