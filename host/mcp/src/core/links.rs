//! The links of a gate to its client and its servers. They track the requests in flight, and queue the effects.

use std::collections::{BTreeMap, HashMap, VecDeque};

use seamgate::{EventKind, Fault, Json, MessageEvent, Party, Secret, digest};

use super::{
    call_request::CallRequest,
    effects::{Effect, UpstreamId},
    message::{Answer, Id, Message, Raw, raw},
    server::{Asked, Server},
    table::{MAX_METHOD, Side},
};

/// The longest progress token, in bytes, and the maximum number of tokens that are remembered.
const MAX_TOKEN: usize = 256;
const MAX_TOKENS: usize = 4096;

/// The most requests that wait for the client's answer.
pub(super) const MAX_FOR_CLIENT: usize = 1024;

/// The place where a request of the client waits.
#[derive(Clone)]
pub(super) enum Place {
    /// It waits in the catalog until there is a list of tools.
    Catalog,
    /// It waits for a server, under this id.
    Server(UpstreamId, u64),
    /// It waits for a call, by the run's key.
    Call(String),
    /// It waits in the handshake until all servers have answered.
    Handshake,
    /// It waits for the kernel's verdict.
    Kernel,
}

/// A request that the client has to answer.
pub(super) enum ForClient {
    /// It belongs to a server, under that server's own id.
    Server(UpstreamId, Id),
    /// The gate asks whether a call may run. The form showed the action with this digest.
    Approval { key: String, digest: String },
}

/// The action that follows a step's outcome.
pub(super) enum Then {
    /// Nothing beyond the handling that every outcome gets.
    Nothing,
    /// The client's request may have become a call.
    Call(Box<CallRequest>),
    /// A call may be sent to its server.
    Started(String),
    /// A result was judged, or is too large for an event.
    Returned { key: String, duration_ms: u64 },
    /// The kernel has received the servers' list.
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
    /// The kernel denied the document.
    Denied,
    /// The document passes unchanged.
    Unchanged,
    /// The document is replaced by this one.
    Cleaned(Json),
    /// The document cannot be judged.
    Refused(Fault),
}

impl Judged {
    /// Returns the document that passes, if any.
    pub(super) fn passed(self, document: &str) -> Option<String> {
        match self {
            Judged::Unchanged => Some(document.to_owned()),
            Judged::Cleaned(cleaned) => Some(cleaned.as_str().to_owned()),
            Judged::Denied | Judged::Refused(_) => None,
        }
    }
}

/// The action that follows a verdict on a document.
pub(super) enum Purpose {
    /// Nothing. The document was judged only for the journal.
    Record,
    /// Send a request of the client to a server.
    Request { id: Id, method: String, params: Option<Raw>, task: Option<String> },
    /// Answer the client's request about a task that belongs to no call.
    UnknownTask { id: Id, method: String },
    /// Send a call to its server once more.
    NextRoundTrip { key: String },
    /// Send a notification of the client to a server.
    ToServer { method: String, params: Option<Raw> },
    /// Send the answer to a request to the client.
    Answer { id: Id, method: String, answer: Answer },
    /// Send a notification of a server to the client.
    ToClient { method: String, params: Option<Raw> },
    /// Send a server's progress to the client: the notification without its message, and the message.
    Progress { told: String, message: String },
    /// Send a server's request to the client.
    AskClient { id: Id, method: String, params: Option<Raw> },
    /// Handle a server's description of itself, or its failure.
    Initialized { answer: Answer },
    /// Handle a server's refusal to list its tools.
    ListError { error: Raw },
    /// Handle a call that ended with an error of the protocol.
    CallError { key: String, duration_ms: u64, error: Raw },
    /// Handle a server's request for input, made by the result of a call, of another request, or of a task.
    Question { asker: Asker, question: Raw, state: Option<String> },
    /// Handle a call that becomes a task.
    TaskBegun { key: String, task: String, told: Raw, ttl_s: u64 },
    /// Handle a server's report on the state of a task.
    TaskTold { id: Id, task: String, told: Raw, result: Raw },
    /// Handle a task that ended with an error of the protocol.
    TaskFailed { id: Id, task: String, told: String, error: Raw },
    /// Send the client a piece of a complete result.
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
    /// Requests of the client that have no answer yet.
    requests: BTreeMap<Id, Place>,
    pub(super) for_client: HashMap<Id, ForClient>,
    /// The client's progress tokens, oldest first. Servers use them to report the progress of requests.
    tokens: VecDeque<String>,
    effects: VecDeque<Effect>,
    thens: VecDeque<Then>,
    /// The secret from which unguessable ids are derived.
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

    /// Returns the number of entries in each collection.
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

    /// Returns the action that follows the outcome of the oldest event that has none yet.
    pub(super) fn next_then(&mut self) -> Option<Then> {
        self.thens.pop_front()
    }

    /// Returns whether any event has no outcome yet.
    pub(super) fn awaits_outcome(&self) -> bool {
        !self.thens.is_empty()
    }

    /// Has the kernel judge documents from the conversation with one server.
    pub(super) fn judge(
        &mut self,
        server: UpstreamId,
        judgments: impl IntoIterator<Item = Judgment>,
        purpose: Purpose,
    ) {
        self.judge_next(Batch { server, method: String::new(), rest: judgments.into_iter().collect(), purpose });
    }

    /// Sends the next document of a batch, which must not be empty.
    pub(super) fn judge_next(&mut self, mut batch: Batch) {
        let Some(Judgment { method, from, document }) = batch.rest.pop_front() else { return };
        let mut event = MessageEvent::new(cut(&method, MAX_METHOD), from);
        event.id = Some(self.event_id());
        event.server = Some(self.name(batch.server).to_owned());
        // No model reads messages of a client.
        event.document = document.filter(|_| from == Party::Server).map(Into::into);
        batch.method = method;
        self.send(event, Then::Judged(Box::new(batch)));
    }

    /// Records that a message was not passed on, and the reason.
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

    /// Sends the client a message that does not answer a request.
    pub(super) fn tell_client(&mut self, message: Message) {
        self.add(Effect::ToDownstream(message));
    }

    /// Sends a request to the client.
    pub(super) fn ask_client(&mut self, method: &str, params: Option<String>, asked: ForClient) {
        // A server that could predict the id could have its own request answered in place of the gate's.
        let id = Id::text(&self.secret_name("seamgate-"));
        self.tell_client(Message::request(id.clone(), method, params));
        self.for_client.insert(id, asked);
    }

    /// Adds a request of the client. Returns whether its id is unique.
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

    /// Sets where a request of the client waits. Returns whether anybody still waits for its answer.
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

    /// Removes a request that the client cancelled.
    pub(super) fn forget(&mut self, id: &Id) {
        self.requests.remove(id);
    }

    /// Returns whether the client chose this token, as it is written.
    pub(super) fn has_token(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known == token)
    }

    /// Answers a request of the client with a result, unless it was already answered or cancelled.
    pub(super) fn result(&mut self, id: &Id, result: String) {
        self.forward(id, raw(result));
    }

    /// Answers a request of the client as [`Links::result`] does, with a result that was already parsed.
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

    /// Returns all requests of the client that have no answer yet.
    pub(super) fn unanswered(&self) -> Vec<Id> {
        self.requests.keys().cloned().collect()
    }

    // Servers.

    /// Returns all servers.
    pub(super) fn all(&self) -> impl Iterator<Item = UpstreamId> + use<> {
        (0..self.servers.len()).map(UpstreamId)
    }

    /// Sends a request to a server, and returns the id of the request.
    ///
    /// # Errors
    ///
    /// The server is down. The error is the reason.
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

    /// Sends a server a message that needs no answer, if the server is running.
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

/// Truncates a text to at most `limit` bytes.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
