//! The world: what its parties have observed of each other, and the invariants after every effect.

use std::fmt::Write;

use seamgate::{Action, EventKind, ObservationRecord, Party, Permit, Record, SettledRecord};
use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::{Core, Effect, Input, Message, Outcome, Times, UpstreamId};

use crate::{
    Kernel, Step,
    client::Client,
    line,
    nonces::{self, CLIENT, Nonces},
    servers::{Process, Server},
    setting::{POLICIES, SERVERS, Setting},
};

/// The time at which a world begins.
const BEGINNING: u64 = 1_790_000_000_000;

/// The collections of the core, each with its maximum number of entries in this world.
const BOUNDS: [(&str, usize); 21] = [
    ("recorded", 1024),
    ("requests", 64),
    ("for_client", 1024),
    ("tokens", 4096),
    ("effects", 0),
    ("thens", 0),
    ("asked", 256),
    ("calls", 1024),
    ("waiters", 64),
    ("asks", 1024),
    ("parked", 64),
    ("artifacts", 1088),
    ("round_trips", 256),
    ("states", 256),
    ("parked_returns", 64),
    ("tasks", 256),
    ("tasks_by_call", 256),
    ("seen", 1024),
    ("waiting", 1024),
    ("ready", 1024),
    ("changes", 1100),
];

/// The calls in the journal that have not been sent to a server yet.
#[derive(Default)]
struct Journal {
    /// Calls that may run: the key, the server, the tool, and the arguments.
    executable: Vec<(String, usize, String, String)>,
    /// Calls that were started but have neither ended nor been sent, in the same form.
    started: Vec<(String, usize, String, String)>,
    /// The permitted further round trips of calls, by server.
    round_trips: [usize; 2],
}

/// A core, its client, its servers, and the kernel that decides.
pub struct World<K> {
    pub(crate) core: Core,
    pub(crate) kernel: K,
    pub(crate) now: u64,
    pub(crate) servers: usize,
    pub(crate) nonces: Nonces,
    pub(crate) client: Client,
    pub(crate) sides: Vec<Server>,
    journal: Journal,
    pub(crate) is_over: bool,
    /// If set, the client does not end the session before [`finish`](World::finish).
    pub(crate) is_long: bool,
    /// If set, events are logged to standard error.
    is_traced: bool,
    pub(crate) line: String,
}

impl<K: Kernel> World<K> {
    /// Creates a world in which no event has happened.
    pub fn new(setting: Setting, kernel: K, is_traced: bool) -> Self {
        let servers = setting.servers.clamp(1, 2);
        let policy = &POLICIES[usize::from(!setting.has_own_tool)];
        let names = SERVERS[..servers].iter().map(|name| (*name).to_owned()).collect();
        let times = Times { start: 60_000, grace: 10_000 };
        let mut nonces = Nonces::default();
        World {
            core: Core::new(names, policy.clone(), times, "secret"),
            kernel,
            now: BEGINNING,
            servers,
            client: Client::new(&mut nonces),
            nonces,
            sides: (0..servers).map(|_| Server::default()).collect(),
            journal: Journal::default(),
            is_over: false,
            is_long: false,
            is_traced,
            line: String::new(),
        }
    }

    /// Returns the time at which worlds begin.
    pub fn beginning() -> u64 {
        BEGINNING
    }

    /// Returns whether the session has ended.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Checks that no collection of the core exceeds its bound.
    ///
    /// # Panics
    ///
    /// Panics if a collection exceeds its bound.
    pub fn check_sizes(&self) {
        for (name, size) in self.core.sizes() {
            let bound = BOUNDS.iter().find(|(own, _)| *own == name).map(|(_, bound)| *bound);
            let bound = bound.unwrap_or_else(|| panic!("{name} has no bound"));
            assert!(size <= bound, "{name} has {size} entries; its bound is {bound}");
        }
    }

    pub(crate) fn tell(&self, what: impl FnOnce() -> String) {
        if self.is_traced {
            eprintln!("{:>9} {}", self.now - BEGINNING, what());
        }
    }

    /// Passes an input to the core, performs the core's effects, and then tells the run the time, as the driver does.
    pub(crate) fn handle(&mut self, input: Input, choices: &mut impl Choices) {
        self.input(input);
        self.drain(choices);
        while !self.is_over && self.kernel.wake_at().is_some_and(|at| at <= self.now) {
            let step = self.kernel.tick(self.now);
            self.catch_up(step, choices);
        }
        let late = self.core.wake_at().filter(|at| *at <= self.now && !self.is_over);
        assert!(late.is_none(), "the core wants to be woken at a time that has passed, at {}", self.now);
    }

    pub(crate) fn catch_up(&mut self, (records, actions): Step, choices: &mut impl Choices) {
        self.permit(None, &records, &actions, None);
        self.input(Input::CaughtUp(records, actions));
        self.drain(choices);
    }

    fn input(&mut self, input: Input) {
        self.tell(|| match &input {
            Input::Downstream(line, _) => format!("> {line}"),
            Input::DownstreamInvalid(why) => format!("> invalid: {why}"),
            Input::DownstreamEnded => "> end".to_owned(),
            Input::Upstream(server, line) => format!("{}> {line}", server.0),
            Input::UpstreamInvalid(server, text, why) => format!("{}> invalid: {text}: {why}", server.0),
            Input::Unanswered(server, id, why, _) => format!("{}> no answer to {id}: {why}", server.0),
            Input::UpstreamStarted(server) => format!("{}> started", server.0),
            Input::UpstreamEnded(server, why) => format!("{}> ended: {why}", server.0),
            Input::Step(Outcome::Done { records, actions, .. }) => format!("  step {records:?} {actions:?}"),
            Input::Step(Outcome::Refused(fault)) => format!("  refused: {fault}"),
            Input::CaughtUp(records, actions) => format!("  caught up {records:?} {actions:?}"),
            Input::Artifact(text) => format!("  artifact {text:?}"),
            Input::ProfileEdited => "  the profile was edited".to_owned(),
            Input::RunBegan(_) => "  another run".to_owned(),
            Input::Tick => "  tick".to_owned(),
        });
        self.core.handle(self.now, input);
    }

    fn drain(&mut self, choices: &mut impl Choices) {
        // Messages after the end concern only the client.
        while !self.is_over
            && let Some(effect) = self.core.poll()
        {
            self.apply(effect, choices);
        }
    }

    fn apply(&mut self, effect: Effect, choices: &mut impl Choices) {
        match effect {
            Effect::ToDownstream(message) => self.write_to_client(&message),
            Effect::ToUpstream(server, message, _) => self.write_to_server(server.0, &message),
            Effect::Start(UpstreamId(place)) => {
                self.tell(|| format!("{place}: start"));
                assert!(self.sides[place].process == Process::Down, "a server is started that runs");
                if choices.below(8) == 7 {
                    self.input(Input::UpstreamEnded(UpstreamId(place), "the server cannot be started"));
                } else {
                    self.sides[place] = Server::default();
                    self.input(Input::UpstreamStarted(UpstreamId(place)));
                }
            }
            Effect::Close(UpstreamId(place)) => {
                self.tell(|| format!("{place}: close"));
                if self.sides[place].process == Process::Up {
                    self.sides[place].process = Process::Closed;
                }
            }
            Effect::Stop(UpstreamId(place)) => {
                self.tell(|| format!("{place}: stop"));
                self.sides[place].process = Process::Down;
            }
            Effect::Send(event) => {
                self.tell(|| format!("  send {event:?}"));
                let outcome = self.kernel.step(self.now, &event, choices);
                if let Outcome::Done { records, actions, surface } = &outcome {
                    self.permit(Some(&event), records, actions, surface.as_deref());
                }
                self.input(Input::Step(outcome));
            }
            Effect::KeepArtifact(text) => self.kernel.keep(&text),
            Effect::ReadArtifact(digest) => {
                let text = self.kernel.artifact(&digest);
                self.input(Input::Artifact(text));
            }
            Effect::Warn(text) => self.check_shown(&text),
            Effect::AskPerson(tool, key) => self.check_shown(&format!("{tool} {key}")),
            Effect::End(end) => {
                self.tell(|| format!("end: {end:?}"));
                self.is_over = true;
            }
        }
    }

    fn check_shown(&self, text: &str) {
        self.tell(|| format!("! {text}"));
        assert!(!text.chars().any(char::is_control), "a terminal gets {text:?}");
        assert!(text.len() < 4096, "a person reads {} bytes", text.len());
    }

    /// Records the data that a step allows to pass.
    fn permit(&mut self, event: Option<&EventKind>, records: &[Record], actions: &[Action], surface: Option<&str>) {
        if let Some(surface) = surface {
            self.nonces.let_read_all(surface, CLIENT);
        }
        for record in records {
            if let Record::Observation(ObservationRecord { call, .. }) | Record::Settled(SettledRecord { call, .. }) =
                record
            {
                self.journal.executable.retain(|(key, ..)| key != call);
                self.journal.started.retain(|(key, ..)| key != call);
            }
            match record {
                Record::Observation(record) => {
                    self.nonces.let_read_all(&record.message, CLIENT);
                    match (&record.returned, event) {
                        (Some(returned), _) => self.nonces.let_read_all(returned.as_str(), CLIENT),
                        (None, Some(EventKind::ToolResult(event))) => {
                            if let Some(returned) = &event.returned {
                                self.nonces.let_read_all(returned.as_str(), CLIENT);
                            }
                        }
                        _ => {}
                    }
                }
                Record::Message(record) if record.permit == Permit::Allow => {
                    let Some(EventKind::Message(event)) = event else { continue };
                    // A profile can allow all methods with a prefix.
                    self.nonces.let_read_all(
                        &event.method,
                        if event.from_ == Party::Server { CLIENT } else { nonces::SERVERS },
                    );
                    if let Some(document) = record.document.as_ref().or(event.document.as_ref()) {
                        self.nonces.let_read_all(document.as_str(), CLIENT);
                    }
                    // If the profile allows all methods with a prefix, the journal contains the name of this method.
                    self.nonces.let_read_all(&event.method, CLIENT);
                    let place = SERVERS.iter().position(|name| *name == record.server).unwrap_or_default();
                    if event.from_ == Party::Client {
                        self.client.permit(&event.method, place, &mut self.nonces);
                        if event.method == "tools/call" {
                            self.journal.round_trips[place] += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        let is_ignored = records.iter().any(|record| matches!(record, Record::Ignored(_)));
        if let Some(EventKind::ToolStarted(event)) = event.filter(|_| !is_ignored) {
            let own = self.journal.executable.iter().position(|(key, ..)| *key == event.call);
            // The gate's own tool has no server.
            if let Some(own) = own {
                self.journal.started.push(self.journal.executable.swap_remove(own));
            }
        }
        for action in actions {
            if let Action::Execute(action) = action
                && let Some(server) = action.server.as_ref().and_then(|own| SERVERS.iter().position(|name| name == own))
            {
                self.nonces.let_read_all(&action.arguments, nonces::server(server));
                self.client.permit_call(server, &action.tool, &action.arguments, &mut self.nonces);
                let own = (action.call.clone(), server, action.tool.clone(), action.arguments.clone());
                self.journal.executable.push(own);
            }
        }
    }

    pub(crate) fn write_to_client(&mut self, message: &Message) {
        let text = message.to_line();
        self.tell(|| format!("< {text}"));
        line::check(&text);
        self.nonces.check(&text, CLIENT);
        match message {
            Message::Request { id, method, params } => {
                let params = params.as_ref().map(|params| params.get());
                self.client.on_request(id, method, params);
            }
            Message::Notification { method, params } => {
                self.client.on_notification(method, params.as_ref().map_or("", |params| params.get()));
            }
            Message::Answer { id, answer } => self.client.on_answer(id.as_ref(), answer),
        }
    }

    fn write_to_server(&mut self, place: usize, message: &Message) {
        let text = message.to_line();
        self.tell(|| format!("{place}< {text}"));
        line::check(&text);
        self.nonces.check(&text, nonces::server(place));
        let side = &mut self.sides[place];
        assert!(side.process == Process::Up, "a server that does not read gets {text}");
        if let Message::Request { method, params, .. } = message
            && method == "tools/call"
        {
            self.check_call(place, params.as_ref().map_or("", |params| params.get()));
        }
        self.sides[place].on_message(message);
    }

    /// Checks that the journal contains a call that is sent to a server.
    fn check_call(&mut self, place: usize, params: &str) {
        #[derive(serde::Deserialize)]
        struct Call<'c> {
            name: String,
            #[serde(borrow)]
            arguments: Option<&'c serde_json::value::RawValue>,
        }
        let Call { name, arguments } = serde_json::from_str(params).unwrap_or_else(|error| panic!("{error}: {params}"));
        let arguments = arguments.map_or("{}", |arguments| arguments.get());
        let is_it = |(_, server, tool, own): &(String, usize, String, String)| {
            *server == place && *tool == name && (own == arguments || (own.is_empty() && arguments == "{}"))
        };
        match self.journal.started.iter().position(is_it) {
            Some(started) => drop(self.journal.started.swap_remove(started)),
            None => {
                let trips = &mut self.journal.round_trips[place];
                assert!(*trips > 0, "the journal does not have that a server gets {params}");
                *trips -= 1;
            }
        }
    }
}

/// Appends a JSON string.
pub(crate) fn push_json(out: &mut String, text: &str) {
    let _ = write!(out, "{}", serde_json::Value::from(text));
}
