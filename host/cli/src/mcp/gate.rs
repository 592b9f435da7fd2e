//! The loop of a gate: lines of the client and of servers in, what the kernel lets pass out.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, bail};
use seamgate::{Action, Blob, Fault, FileJournal, Journal, JournalError, Run, StepError};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Document, asks,
    listing::{self, Listed, Next, READ_ARTIFACT_DEFINITION, Surface},
    message::{
        self, Answer, Change, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Members, Message,
        PARSE_ERROR, json, with_member,
    },
    peer::{Asked, Launch, Peer},
};
use crate::{
    agent::{Ask, Event, Profiles, StartedRun, new_nonce, now, random, shell, step_error},
    console::{cut, say},
    error::{FaultError, NoVerdict},
    outbox::Outbox,
    process::{Signals, Wrote, read_lines},
    safe::safe,
};

/// So many messages wait for the loop. Who writes more waits.
const MAX_CAME: usize = 64;
/// So many requests of the client wait for a list of tools.
const MAX_QUEUED: usize = 1024;
/// How long a server may take to start, and to list its tools.
const START: Duration = Duration::from_secs(30);
/// How often the journal is looked at while a call waits for approval.
const LOOK: Duration = Duration::from_millis(50);
/// How long a server may go on when the client has ended the session. Clients wait two seconds for us.
const CLOSING: Duration = Duration::from_millis(1000);
const GRACE: Duration = Duration::from_millis(500);
/// How long the last answers may take.
const LAST: Duration = Duration::from_secs(1);

/// The longest result that an event has. Of a longer one it has both ends, and the journal keeps the whole.
const MAX_INLINE: usize = 1024 * 1024 + 64 * 1024;
/// How much of each end.
const MAX_END: usize = 64 * 1024;

/// The longest artifact that a client can read, and how many of them are remembered.
const MAX_ARTIFACT: usize = 8 * 1024 * 1024;
const MAX_ARTIFACTS: usize = 1024;
/// A piece of one, in bytes.
const PIECE: usize = 16 * 1024;

/// What comes to the loop.
pub(super) enum Came {
    Client(Wrote),
    Server(usize, Wrote),
    Signal(i32),
}

/// How a run starts.
pub(super) struct Started {
    pub(super) run: String,
    pub(super) principal: String,
    pub(super) mode: Option<String>,
    pub(super) lists: BTreeMap<String, Vec<String>>,
}

/// Why the gate ended.
pub(super) enum End {
    /// The client ended the session.
    Client,
    /// The server ended, or broke the protocol.
    Server(String),
    Signal(i32),
}

/// A call that the client waits for.
struct Call {
    /// None: a tool of the gate's own.
    peer: Option<usize>,
    /// The tool, as its server calls it.
    tool: String,
    /// As the client called it.
    name: String,
    /// Whether the client sees the tool.
    is_visible: bool,
    /// What equal calls have in common.
    same: String,
    /// The request, until it is sent.
    line: String,
    /// Requests that wait for it.
    waiters: Vec<String>,
    /// The id under which the server has it.
    sent: Option<String>,
    /// What the server answered: a whole line, and the result in it.
    answered: Option<String>,
    /// Why there is no answer.
    failure: Option<String>,
}

/// Where a request of the client is.
enum Pending {
    /// It waits for a list of tools.
    Queued,
    /// A server has it.
    Forwarded(usize),
    /// It is a call, by the run's key.
    Call(String),
    /// It waits for all servers.
    Initialize,
}

/// A request that the client has to answer.
enum ForClient {
    /// Of a server, under its own id.
    Server { peer: usize, id: String },
    /// Whether a call is approved.
    Approval { key: String },
}

/// What a step decided, as far as the gate needs it.
#[derive(Deserialize)]
struct Record {
    r#type: String,
    #[serde(default)]
    call: String,
    #[serde(default)]
    permit: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    artifact: String,
    returned: Option<Box<RawValue>>,
    document: Option<Box<RawValue>>,
    #[serde(default)]
    limitations: Vec<String>,
    #[serde(default)]
    hidden: Vec<Hidden>,
}

#[derive(Deserialize)]
struct Hidden {
    tool: String,
    code: String,
}

/// A message after the kernel has looked at it.
enum Judged {
    /// It does not exist.
    Denied,
    /// It passes as it is.
    AsItIs,
    /// This document takes the place of its own.
    Cleaned(Box<RawValue>),
}

/// A gate.
pub(super) struct Gate<'w> {
    profiles: &'w Profiles,
    document: &'w Document,
    run: Run<'w, FileJournal>,
    folder: PathBuf,
    /// Begins the ids of our own requests: nobody else can know it before.
    own: String,
    last: u64,
    client: Arc<Outbox>,
    is_over: Arc<AtomicBool>,
    peers: Vec<Peer>,
    calls: HashMap<String, Call>,
    /// Keys of calls by what equal ones have in common.
    same: HashMap<String, String>,
    /// Requests of the client, by their ids as they are written.
    pending: BTreeMap<String, Pending>,
    /// Requests that wait for a list of tools.
    queue: VecDeque<(String, String)>,
    /// Requests that the client has to answer.
    asked_client: HashMap<String, ForClient>,
    asks: BTreeMap<String, Ask>,
    surface: Surface,
    /// What servers listed last, as the kernel was told.
    listed: String,
    is_listed: bool,
    /// How many servers have still to say what they list.
    listing: usize,
    /// A list may have changed while it came.
    is_list_stale: bool,
    /// So many servers have not answered the first request yet: what they have is not known.
    initializing: usize,
    /// Lists are wanted then.
    is_list_wanted: bool,
    /// What the client is told when the list is there.
    list_changed: Vec<String>,
    /// Until when servers must have answered what we asked.
    deadline: Option<Instant>,
    /// Of several servers: who asked, and what each has answered.
    initialize: Option<(String, Vec<Option<Box<RawValue>>>)>,
    has_elicitation: bool,
    /// Notifications that do not exist, by server: they are recorded once.
    denied: HashSet<(usize, String)>,
    /// What was cut, oldest first.
    artifacts: VecDeque<String>,
    /// The artifact that was read last, cleaned.
    read: Option<(String, String)>,
    has_client_ended: bool,
    closing: Option<Instant>,
}

impl<'w> Gate<'w> {
    /// Start a run for a client and servers.
    pub(super) fn start(
        profiles: &'w Profiles,
        document: &'w Document,
        journal: FileJournal,
        folder: &Path,
        started: Started,
    ) -> Result<Self> {
        let Some(profile) = profiles.all.first() else { bail!("name a profile with -p") };
        // Until servers have said what they have, there is nothing.
        let listed = RawValue::from_string(r#"{"servers":{}}"#.to_owned())?;
        let event = Event::Started(StartedRun {
            run: &started.run,
            principal: &started.principal,
            nonce: &new_nonce()?,
            mode: started.mode.as_deref(),
            task: None,
            context: &BTreeMap::new(),
            lists: &started.lists,
            listed: &listed,
            parent: None,
        });
        let (run, _) = Run::start(&profiles.gate, journal, &profile.info.agent, &event.now()?).map_err(step_error)?;
        Ok(Gate {
            profiles,
            document,
            run,
            folder: folder.to_owned(),
            own: format!("seamgate-{}", random(8)?),
            last: 0,
            client: Outbox::start(io::stdout()).map_err(|error| anyhow!("cannot start a thread: {error}"))?,
            is_over: Arc::default(),
            peers: Vec::new(),
            calls: HashMap::new(),
            same: HashMap::new(),
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
            asked_client: HashMap::new(),
            asks: BTreeMap::new(),
            surface: Surface::default(),
            listed: String::new(),
            is_listed: false,
            listing: 0,
            is_list_stale: false,
            initializing: 0,
            is_list_wanted: false,
            list_changed: Vec::new(),
            deadline: None,
            initialize: None,
            has_elicitation: false,
            denied: HashSet::new(),
            artifacts: VecDeque::new(),
            read: None,
            has_client_ended: false,
            closing: None,
        })
    }

    /// Serve the client until it ends the session, or nobody can serve it.
    pub(super) fn serve(&mut self, launches: Vec<Launch>, signals: &Signals) -> Result<End> {
        let (sender, came) = mpsc::sync_channel(MAX_CAME);
        let (signalled, is_over) = (sender.clone(), Arc::clone(&self.is_over));
        let _listening = signals.listen(move |signal| {
            is_over.store(true, Ordering::Relaxed);
            signalled.send(Came::Signal(signal)).is_ok()
        });
        for (number, launch) in launches.iter().enumerate() {
            self.peers.push(Peer::start(launch, number, sender.clone()).map_err(NoVerdict)?);
        }
        let of_client = sender.clone();
        thread::Builder::new()
            .spawn(move || read_lines(io::stdin(), |wrote| of_client.send(Came::Client(wrote)).is_ok()))
            .map_err(|error| anyhow!("cannot start a thread: {error}"))?;
        drop(sender);
        let end = self.until_end(&came);
        match &end {
            Ok(End::Client) => {}
            Ok(End::Signal(_)) => self.fail_all("the gate was told to end"),
            Ok(End::Server(message)) => self.fail_all(message),
            Err(error) => self.fail_all(&format!("the gate failed: {error}")),
        }
        self.client.close();
        self.client.wait(LAST);
        // Nobody reads what they write any more.
        drop(came);
        for peer in &self.peers {
            peer.end(GRACE);
        }
        let reason = match &end {
            Ok(End::Client) => "the client ended the session".to_owned(),
            Ok(End::Signal(signal)) => format!("signal {signal}"),
            Ok(End::Server(message)) => message.clone(),
            Err(error) => error.to_string(),
        };
        let cancelled = Event::Cancelled { reason: cut_to(&reason, 512) }.now()?;
        let ended = self.run.send(&cancelled).map(drop);
        let end = end?;
        ended.map_err(step_error)?;
        Ok(end)
    }

    fn until_end(&mut self, came: &mpsc::Receiver<Came>) -> Result<End> {
        loop {
            if let Some(end) = self.ended() {
                return Ok(end);
            }
            match came.recv_timeout(self.timeout()) {
                Ok(Came::Client(wrote)) => self.of_client(wrote)?,
                Ok(Came::Server(number, wrote)) => self.of_server(number, wrote)?,
                Ok(Came::Signal(signal)) => return Ok(End::Signal(signal)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Client),
            }
            self.look_at_time()?;
        }
    }

    /// Why the loop ends now, if it does.
    fn ended(&mut self) -> Option<End> {
        if self.client.is_broken() {
            return Some(End::Client);
        }
        if self.peers.iter().all(|peer| peer.ended.is_some()) {
            return match self.has_client_ended {
                true => Some(End::Client),
                false => {
                    let told: Vec<String> = self.peers.iter().filter_map(|peer| peer.ended.clone()).collect();
                    Some(End::Server(told.join("; ")))
                }
            };
        }
        let is_idle = self.queue.is_empty() && self.listing == 0 && self.initializing == 0;
        if self.has_client_ended && self.closing.is_none() && is_idle {
            // What was asked may still be answered: the server sees the end of its input, as it would see it of the client.
            self.peers.iter().for_each(Peer::close);
            self.closing = Some(Instant::now() + CLOSING);
        }
        self.closing.filter(|closing| *closing <= Instant::now()).map(|_| End::Client)
    }

    /// How long nothing happens by itself.
    fn timeout(&self) -> Duration {
        let until = |at: Instant| at.saturating_duration_since(Instant::now());
        let wake = self.run.wake_at().map(|at| Duration::from_millis(at.saturating_sub(now())));
        let looks = (!self.asks.is_empty()).then_some(LOOK);
        let waits = [wake, looks, self.deadline.map(until), self.closing.map(until)];
        waits.into_iter().flatten().min().unwrap_or(Duration::from_secs(3600))
    }

    fn look_at_time(&mut self) -> Result<()> {
        if !self.asks.is_empty() && self.run.journal().is_behind() {
            self.catch_up()?;
        }
        if self.run.wake_at().is_some_and(|at| at <= now()) {
            self.send(&Event::Tick, None)?.map_err(FaultError)?;
        }
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.deadline = None;
            for number in 0..self.peers.len() {
                let peer = &self.peers[number];
                let is_own = |asked: &Asked| match asked {
                    Asked::Forwarded { method } => method == "initialize",
                    Asked::Initialize | Asked::List => true,
                    Asked::Call { .. } => false,
                };
                if peer.asked.values().any(is_own) {
                    let message = format!("{} does not answer within {} s", peer.told(), START.as_secs());
                    self.server_ended(number, message)?;
                }
            }
        }
        Ok(())
    }

    // --- The run.

    /// Send an event. What it leads to is done before this returns. `new` is the call that it may bring.
    fn send(&mut self, event: &Event, new: Option<Call>) -> Result<Result<Vec<Record>, Fault>> {
        let event = event.now()?;
        loop {
            match self.run.send(&event) {
                Ok(actions) => return self.absorb(actions, new).map(Ok),
                Err(StepError::Journal(JournalError::Conflict { .. })) => self.catch_up()?,
                Err(StepError::Fault(fault)) => return Ok(Err(fault)),
                Err(error) => return Err(step_error(error)),
            }
        }
    }

    /// Take what others appended: approvals.
    fn catch_up(&mut self) -> Result<()> {
        let actions = self.run.catch_up().map_err(step_error)?;
        self.absorb(actions, None).map(drop)
    }

    /// Do what a step decided.
    fn absorb(&mut self, actions: Vec<Action>, mut new: Option<Call>) -> Result<Vec<Record>> {
        let read = |record: &String| serde_json::from_str::<Record>(record);
        let records: Vec<Record> = self.run.records().iter().map(read).collect::<Result<_, _>>()?;
        for record in &records {
            match record.r#type.as_str() {
                "decision" => {
                    if !self.calls.contains_key(&record.call)
                        && let Some(call) = new.take()
                    {
                        for id in &call.waiters {
                            self.pending.insert(id.clone(), Pending::Call(record.call.clone()));
                        }
                        self.same.insert(call.same.clone(), record.call.clone());
                        self.calls.insert(record.call.clone(), call);
                    }
                    if record.permit != "approval" {
                        self.asks.remove(&record.call);
                    }
                    if record.permit == "deny" {
                        self.denied_call(record);
                    }
                }
                "observation" => self.observed(record),
                "settled" => self.settled(record),
                "surface" => {
                    for hidden in record.hidden.iter().filter(|hidden| hidden.code == "changed") {
                        let tool = safe(&hidden.tool);
                        say(&format!(
                            "seamgate: {tool} is not what the profile pins: it is hidden; see 'seamgate mcp check'"
                        ));
                    }
                }
                _ => {}
            }
        }
        for action in actions {
            self.act(&action)?;
        }
        Ok(records)
    }

    fn act(&mut self, action: &Action) -> Result<()> {
        #[derive(Deserialize)]
        struct Named {
            call: String,
            #[serde(default)]
            arguments: String,
        }
        match action.kind.as_str() {
            "execute" => {
                let Named { call, arguments } = serde_json::from_str(&action.json)?;
                self.execute(&call, &arguments)
            }
            "cancel" => {
                let Named { call, .. } = serde_json::from_str(&action.json)?;
                self.cancel_sent(&call, "the gate ended the call");
                Ok(())
            }
            "ask_approval" => self.ask_approval(Ask::of(action)?),
            "ask_input" => {
                #[derive(Deserialize)]
                struct Question {
                    question: String,
                }
                let Question { question } = serde_json::from_str(&action.json)?;
                say(&format!("seamgate: {}", safe(&question)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    // --- The client.

    fn to_client(&self, line: String) {
        // A client that has gone is seen by the loop.
        let _ = self.client.push_waiting(line, || self.is_over.load(Ordering::Relaxed));
    }

    fn of_client(&mut self, wrote: Wrote) -> Result<()> {
        match wrote {
            Wrote::Line(line) | Wrote::Unended(line) if !line.trim().is_empty() => self.client_line(line),
            Wrote::Line(_) | Wrote::Unended(_) => Ok(()),
            Wrote::NotText(_) => {
                self.to_client(message::error("null", PARSE_ERROR, "the line is not UTF-8"));
                Ok(())
            }
            Wrote::TooLong => {
                self.to_client(message::error("null", PARSE_ERROR, "the line is too long: at most 64 MiB"));
                Ok(())
            }
            Wrote::End => {
                self.has_client_ended = true;
                Ok(())
            }
        }
    }

    fn client_line(&mut self, line: String) -> Result<()> {
        match Message::read(&line) {
            Err(wrong) => {
                let code = match serde_json::from_str::<serde::de::IgnoredAny>(&line) {
                    Ok(_) => INVALID_REQUEST,
                    Err(_) => PARSE_ERROR,
                };
                self.to_client(message::error("null", code, &wrong));
                Ok(())
            }
            Ok(Message::Request { id, method, params }) => {
                if self.pending.contains_key(id) {
                    self.to_client(message::error(id, INVALID_REQUEST, "another request has this id, and waits"));
                    return Ok(());
                }
                self.client_asks(id, &method, params, &line)
            }
            Ok(Message::Notification { method, params }) => self.client_tells(&method, params, &line),
            Ok(Message::Answer { id, answer }) => self.client_answers(id, answer, &line),
        }
    }

    fn client_asks(&mut self, id: &str, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        match method {
            "initialize" => self.initialize(id, params, line),
            // Later versions of the protocol begin with it. A client that hears no goes on with `initialize`.
            "server/discover" => {
                self.not_found(id, method);
                Ok(())
            }
            "tools/list" => {
                let cursor = params.and_then(|params| Members::of(params.get())?.get("cursor")).map(RawValue::get);
                if cursor.is_some() && self.is_listed && self.listing == 0 {
                    self.answer_list(id, cursor);
                    return Ok(());
                }
                // The list may have changed without a word.
                self.enqueue(id, line);
                self.list()
            }
            "tools/call" if self.is_listed && self.listing == 0 => self.call(id, params, line),
            "tools/call" => {
                self.enqueue(id, line);
                self.list()
            }
            _ if self.peers.len() == 1 => self.forward(id, method, params, line),
            "ping" => {
                self.to_client(message::result(id, "{}"));
                Ok(())
            }
            _ => {
                self.not_found(id, method);
                Ok(())
            }
        }
    }

    fn not_found(&self, id: &str, method: &str) {
        let method = cut_to(method, 128);
        self.to_client(message::error(id, METHOD_NOT_FOUND, &format!("Method not found: {method}")));
    }

    fn enqueue(&mut self, id: &str, line: &str) {
        if self.queue.len() >= MAX_QUEUED {
            self.to_client(message::error(id, INTERNAL_ERROR, "too many requests wait for the list of tools"));
            return;
        }
        self.pending.insert(id.to_owned(), Pending::Queued);
        self.queue.push_back((id.to_owned(), line.to_owned()));
    }

    /// Ask the only server what the client asks it, if there is such a method.
    fn forward(&mut self, id: &str, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        if method != "ping" && matches!(self.judge(0, method, "client", params)?, Judged::Denied) {
            self.not_found(id, method);
            return Ok(());
        }
        self.ask_peer(0, id, line.to_owned(), Asked::Forwarded { method: method.to_owned() });
        Ok(())
    }

    fn ask_peer(&mut self, number: usize, id: &str, line: String, asked: Asked) {
        match self.peers[number].ask(id, line, asked) {
            Ok(()) => {
                self.pending.insert(id.to_owned(), Pending::Forwarded(number));
            }
            Err(message) => self.to_client(message::error(id, INTERNAL_ERROR, &message)),
        }
    }

    fn initialize(&mut self, id: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        let capabilities = params.and_then(|params| Members::of(params.get())?.get("capabilities"));
        let has = |kind: &str| capabilities.and_then(|all| Members::of(all.get())?.get(kind)).is_some();
        self.has_elicitation = has("elicitation");
        if self.initializing > 0 {
            self.to_client(message::error(id, INVALID_REQUEST, "the session is being initialized"));
            return Ok(());
        }
        self.deadline = Some(Instant::now() + START);
        self.initializing = self.peers.len();
        let cut = |server: &str| -> Option<String> {
            let (params, capabilities) = (params?, capabilities?);
            let cut = self.cut(server, capabilities, |name| name)?;
            Some(with_member(params.get(), "capabilities", &cut))
        };
        if self.peers.len() == 1 {
            let line = match cut(&self.peers[0].name) {
                Some(params) => with_member(line, "params", &params),
                None => line.to_owned(),
            };
            self.ask_peer(0, id, line, Asked::Forwarded { method: "initialize".to_owned() });
            return Ok(());
        }
        let asked: Vec<Option<String>> = self
            .peers
            .iter()
            .map(|peer| cut(&peer.name).or_else(|| params.map(|params| params.get().to_owned())))
            .collect();
        self.pending.insert(id.to_owned(), Pending::Initialize);
        self.initialize = Some((id.to_owned(), self.peers.iter().map(|_| None).collect()));
        for (number, params) in asked.into_iter().enumerate() {
            let own = self.own_id();
            let line = message::request(&own, "initialize", params.as_deref());
            if let Err(message) = self.peers[number].ask(&own, line, Asked::Initialize) {
                self.server_ended(number, message)?;
            }
        }
        Ok(())
    }

    /// Capabilities without those that the profile does not name. None: all are named. `kind` gives the kind of methods that a
    /// capability is about.
    fn cut<'n>(&self, server: &str, capabilities: &'n RawValue, kind: impl Fn(&str) -> &str) -> Option<String> {
        let members = Members::of(capabilities.get())?;
        let is_kept = |name: &str| match kind(name) {
            "tools" => true,
            // What results of calls bring outside of calls is not judged.
            "tasks" => false,
            kind @ ("resources" | "prompts" | "completion" | "logging" | "roots" | "sampling" | "elicitation") => {
                self.document.has_kind(server, kind)
            }
            _ => self.document.has_all(server),
        };
        if members.0.iter().all(|(name, _)| is_kept(name)) {
            return None;
        }
        Some(members.with(|name, _| if is_kept(name) { Change::Keep } else { Change::Drop }))
    }

    fn client_tells(&mut self, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        match method {
            "notifications/cancelled" => self.client_cancels(params, line),
            "notifications/initialized" => {
                for peer in &self.peers {
                    // Who has ended is seen by the loop.
                    let _ = peer.write(line.to_owned());
                }
                self.list()
            }
            // A client may tell how far it is with what a server asked it.
            _ if self.peers.len() == 1 => {
                let exists = method == "notifications/progress"
                    || !matches!(self.judge_once(0, method, "client", params)?, Judged::Denied);
                if exists {
                    let _ = self.peers[0].write(line.to_owned());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn client_cancels(&mut self, params: Option<&RawValue>, line: &str) -> Result<()> {
        let Some(id) = params.and_then(|params| Members::of(params.get())?.get("requestId")).map(RawValue::get) else {
            return Ok(());
        };
        match self.pending.remove(id) {
            Some(Pending::Queued) => self.queue.retain(|(queued, _)| queued != id),
            Some(Pending::Forwarded(number)) => {
                self.peers[number].asked.remove(id);
                let _ = self.peers[number].write(line.to_owned());
            }
            Some(Pending::Call(key)) => {
                let Some(call) = self.calls.get_mut(&key) else { return Ok(()) };
                call.waiters.retain(|waiter| waiter != id);
                // Others still wait for it.
                if !call.waiters.is_empty() {
                    return Ok(());
                }
                self.cancel_sent(&key, "the client cancelled the request");
                self.asks.remove(&key);
                self.send(&Event::CallCancelled { call: &key }, None)?.map_err(FaultError)?;
                self.forget(&key);
            }
            Some(pending @ Pending::Initialize) => {
                // The protocol does not let a client do this.
                self.pending.insert(id.to_owned(), pending);
            }
            None => {}
        }
        Ok(())
    }

    /// Tell a server that nobody waits for a call any more.
    fn cancel_sent(&mut self, key: &str, reason: &str) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if let (Some(id), Some(number)) = (call.sent.take(), call.peer) {
            let peer = &mut self.peers[number];
            peer.asked.remove(&id);
            let reason = json(reason);
            let _ = peer.write(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":{reason}}}}}"#
            ));
        }
    }

    fn client_answers(&mut self, id: &str, answer: Answer, line: &str) -> Result<()> {
        match self.asked_client.remove(id) {
            Some(ForClient::Server { peer, id: own }) => {
                let line = if own == id { line.to_owned() } else { with_member(line, "id", &own) };
                let _ = self.peers[peer].write(line);
                Ok(())
            }
            Some(ForClient::Approval { key }) => {
                let Some(ask) = self.asks.get(&key).cloned() else { return Ok(()) };
                let is_approved = matches!(answer, Answer::Result(result) if asks::is_approved(result));
                let decision = if is_approved { "approved" } else { "rejected" };
                let (digest, principal) = (&ask.digest, asks::CLIENT);
                let event = Event::Approval { key: &ask.key, digest, decision, principal, token: None };
                self.send(&event, None)?.map_err(FaultError)?;
                Ok(())
            }
            // Nobody asked it.
            None => Ok(()),
        }
    }

    // --- Calls.

    fn call(&mut self, id: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Params<'p> {
            name: String,
            #[serde(borrow)]
            arguments: Option<&'p RawValue>,
        }
        let read = params.map(|params| serde_json::from_str::<Params>(params.get()));
        let Params { name, arguments } = match read {
            Some(Ok(params)) => params,
            Some(Err(wrong)) => {
                self.to_client(message::error(id, INVALID_PARAMS, &format!("Invalid params: {wrong}")));
                return Ok(());
            }
            None => {
                self.to_client(message::error(id, INVALID_PARAMS, "Invalid params: \"name\" is missing"));
                return Ok(());
            }
        };
        let visible = self.surface.find(&name);
        let is_visible = visible.is_some();
        let (peer, tool) = match visible {
            Some(visible) => (visible.peer, visible.tool.clone()),
            None => {
                let (peer, tool) = listing::meant(&name, &self.lists());
                (peer, tool.to_owned())
            }
        };
        let text = arguments.map_or("{}", RawValue::get);
        let canonical =
            serde_json::from_str::<serde_json::Value>(text).map_or(text.to_owned(), |value| value.to_string());
        let same = format!("{peer:?}/{tool}/{canonical}");
        if let Some(key) = self.same.get(&same)
            && let Some(call) = self.calls.get_mut(key)
        {
            call.waiters.push(id.to_owned());
            self.pending.insert(id.to_owned(), Pending::Call(key.clone()));
            return Ok(());
        }
        let call = Call {
            peer,
            tool: tool.clone(),
            name,
            is_visible,
            same,
            line: line.to_owned(),
            waiters: vec![id.to_owned()],
            sent: None,
            answered: None,
            failure: None,
        };
        let server = peer.map(|peer| self.peers[peer].name.clone()).unwrap_or_default();
        self.last += 1;
        let own = format!("r{}", self.last);
        let tool = cut_to(&tool, 1024);
        let event = Event::Call { id: &own, server: &server, tool, arguments: text };
        if let Err(fault) = self.send(&event, Some(call))? {
            self.to_client(message::error(id, INVALID_PARAMS, &format!("the call cannot be judged: {fault}")));
        }
        Ok(())
    }

    fn denied_call(&mut self, record: &Record) {
        let Some(call) = self.calls.get(&record.call) else { return };
        match call.is_visible {
            true => self.answer_call(&record.call, &message::failed(&record.message)),
            false => {
                let wrong = format!("Unknown tool: {}", cut_to(&call.name, 128));
                let waiters = call.waiters.clone();
                self.forget(&record.call);
                for id in waiters {
                    self.to_client(message::error(&id, INVALID_PARAMS, &wrong));
                }
            }
        }
    }

    /// Send a call to its server. The journal has it before.
    fn execute(&mut self, key: &str, arguments: &str) -> Result<()> {
        let records = self.send(&Event::ToolStarted { call: key }, None)?.map_err(FaultError)?;
        if records.iter().any(|record| record.r#type == "ignored") {
            return Ok(());
        }
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        let Some(number) = call.peer else {
            return self.read_artifact(key, arguments);
        };
        let line = std::mem::take(&mut call.line);
        let id = call.waiters.first().cloned().unwrap_or_default();
        let line = sent(&line, &call.tool, arguments);
        let asked = Asked::Call { key: key.to_owned(), since: Instant::now() };
        match self.peers[number].ask(&id, line, asked) {
            Ok(()) => {
                if let Some(call) = self.calls.get_mut(key) {
                    call.sent = Some(id);
                }
                Ok(())
            }
            Err(message) => self.fail_call(key, &message, "none"),
        }
    }

    /// A call has no result.
    fn fail_call(&mut self, key: &str, message: &str, effect: &str) -> Result<()> {
        if let Some(call) = self.calls.get_mut(key) {
            call.failure = Some(message.to_owned());
        }
        self.send(&Event::ToolFailed { call: key, message, effect }, None)?.map_err(FaultError)?;
        Ok(())
    }

    /// A server answered a call.
    fn called(&mut self, key: &str, since: Instant, answer: Answer, line: &str) -> Result<()> {
        let duration_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        call.sent = None;
        match answer {
            Answer::Result(result) => {
                call.answered = Some(result.get().to_owned());
                self.returned(key, duration_ms, result)
            }
            Answer::Error(error) => self.call_error(key, duration_ms, error, line),
        }
    }

    fn returned(&mut self, key: &str, duration_ms: u64, result: &RawValue) -> Result<()> {
        let whole = result.get();
        if whole.len() <= MAX_INLINE {
            let event = Event::Returned { call: key, duration_ms, returned: result };
            match self.send(&event, None)? {
                Ok(_) => return Ok(()),
                Err(fault) if whole.starts_with('{') => {
                    tracing::warn!(key, "both ends of the result are sent, for the whole is too much: {fault}");
                }
                Err(fault) => {
                    return self.fail_call(key, &format!("the server's answer is no result: {fault}"), "unknown");
                }
            }
        }
        // Nobody has checked the whole.
        let text = texts(whole);
        let digest = self.run.keep(&text).map_err(|error| NoVerdict(error.to_string()))?;
        if let Some(call) = self.calls.get_mut(key) {
            call.answered = None;
        }
        let end = MAX_END.min(text.len() / 2);
        let head = &text[..text.floor_char_boundary(end)];
        let tail = &text[text.ceil_char_boundary(text.len() - end)..];
        let status = if is_error(whole) { "error" } else { "ok" };
        let event = Event::ToolResult {
            call: key,
            duration_ms,
            status,
            result: None,
            text: None,
            head: Some(head),
            tail: Some(tail),
            length: Some(text.len()),
            digest: Some(&digest),
        };
        match self.send(&event, None)? {
            Ok(_) => Ok(()),
            Err(fault) => self.fail_call(key, &format!("the result cannot be judged: {fault}"), "unknown"),
        }
    }

    /// A server answered a call with an error of the protocol: the client gets that, cleaned.
    fn call_error(&mut self, key: &str, duration_ms: u64, error: &RawValue, line: &str) -> Result<()> {
        let number = self.calls.get(key).and_then(|call| call.peer).unwrap_or_default();
        let line = match self.judge(number, "tools/call", "server", Some(error))? {
            Judged::Cleaned(cleaned) => with_member(line, "error", cleaned.get()),
            Judged::AsItIs | Judged::Denied => line.to_owned(),
        };
        let waiters = self.calls.get_mut(key).map(|call| std::mem::take(&mut call.waiters)).unwrap_or_default();
        let text = format!("the server answered with an error: {}", cut_to(error.get(), 4096));
        let event = Event::ToolResult {
            call: key,
            duration_ms,
            status: "error",
            result: None,
            text: Some(&text),
            head: None,
            tail: None,
            length: None,
            digest: None,
        };
        self.send(&event, None)?.map_err(FaultError)?;
        for id in waiters {
            self.pending.remove(&id);
            self.to_client(with_member(&line, "id", &id));
        }
        self.forget(key);
        Ok(())
    }

    /// A result was judged.
    fn observed(&mut self, record: &Record) {
        if record.limitations.iter().any(|code| matches!(code.as_str(), "truncated" | "unchecked")) {
            self.remember(record.artifact.clone());
        }
        let Some(call) = self.calls.get_mut(&record.call) else { return };
        let result = match (&record.returned, call.answered.take(), call.failure.take()) {
            (Some(returned), ..) => returned.get().to_owned(),
            (None, Some(own), _) => own,
            (None, None, Some(failure)) => message::failed(&failure),
            (None, None, None) if record.status == "ok" => {
                format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(&record.message))
            }
            (None, None, None) => message::failed(&record.message),
        };
        self.answer_call(&record.call, &result);
    }

    /// A call came to no result.
    fn settled(&mut self, record: &Record) {
        self.asks.remove(&record.call);
        let Some(call) = self.calls.get(&record.call) else { return };
        let why = call.failure.clone().unwrap_or_else(|| record.message.clone());
        let message = match record.code.as_str() {
            "uncertain" => format!("No result: {why}. Nobody knows whether the call had its effect."),
            _ => why,
        };
        self.answer_call(&record.call, &message::failed(&message));
    }

    /// Answer all who wait for a call.
    fn answer_call(&mut self, key: &str, result: &str) {
        let Some(call) = self.calls.get(key) else { return };
        for id in &call.waiters {
            self.to_client(message::result(id, result));
        }
        self.forget(key);
    }

    /// Nobody waits for a call any more.
    fn forget(&mut self, key: &str) {
        self.asks.remove(key);
        let Some(call) = self.calls.remove(key) else { return };
        for id in &call.waiters {
            self.pending.remove(id);
        }
        if self.same.get(&call.same).is_some_and(|other| other == key) {
            self.same.remove(&call.same);
        }
        if let (Some(id), Some(number)) = (call.sent, call.peer) {
            self.peers[number].asked.remove(&id);
        }
    }

    fn ask_approval(&mut self, ask: Ask) -> Result<()> {
        let tool = self.calls.get(&ask.key).map(|call| call.name.clone()).unwrap_or_default();
        let folder = shell(&self.folder);
        say(&format!("seamgate: a call of {} waits for approval: seamgate approve {folder} {}", safe(&tool), ask.key));
        if self.has_elicitation && ask.by.iter().any(|principal| principal == asks::CLIENT) {
            let id = self.own_id();
            self.to_client(message::request(&id, "elicitation/create", Some(&asks::question(&ask.view))));
            self.asked_client.retain(|_, asked| !matches!(asked, ForClient::Approval { key } if *key == ask.key));
            self.asked_client.insert(id, ForClient::Approval { key: ask.key.clone() });
        }
        self.asks.insert(ask.key.clone(), ask);
        Ok(())
    }

    fn remember(&mut self, artifact: String) {
        if !self.artifacts.contains(&artifact) {
            self.artifacts.push_back(artifact);
        }
        if self.artifacts.len() > MAX_ARTIFACTS {
            self.artifacts.pop_front();
        }
    }

    /// The gate's own tool: a piece of a whole result. It is cleaned as a whole before, so that no secret is cut in two.
    fn read_artifact(&mut self, key: &str, arguments: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Arguments {
            artifact: String,
            #[serde(default)]
            offset: usize,
        }
        let begin = Instant::now();
        let piece = match serde_json::from_str(arguments) {
            Ok(Arguments { artifact, offset }) => self.piece(&artifact, offset)?,
            Err(wrong) => Err(format!("the arguments are not valid: {wrong}")),
        };
        let text = match piece {
            Ok(text) => format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(&text)),
            Err(message) => message::failed(&message),
        };
        let result = RawValue::from_string(text)?;
        let answer = Answer::Result(&result);
        self.called(key, begin, answer, "")
    }

    fn piece(&mut self, artifact: &str, offset: usize) -> Result<Result<String, String>> {
        if !self.artifacts.iter().any(|known| known == artifact) {
            return Ok(Err("no result that was cut has this artifact".to_owned()));
        }
        if self.read.as_ref().is_none_or(|(read, _)| read != artifact) {
            let Some(whole) = self.run.journal().get(Blob::Artifact, artifact)? else {
                return Ok(Err("the artifact is missing".to_owned()));
            };
            let text = texts(&whole);
            if text.len() > MAX_ARTIFACT {
                return Ok(Err(format!("the result has {} bytes; at most {MAX_ARTIFACT} can be read", text.len())));
            }
            let document = to_raw_value(&text)?;
            let text = match self.judge(0, "seamgate/read_artifact", "server", Some(&document))? {
                Judged::AsItIs => text,
                Judged::Cleaned(cleaned) => serde_json::from_str(cleaned.get())?,
                Judged::Denied => return Ok(Err("the result cannot be judged".to_owned())),
            };
            self.read = Some((artifact.to_owned(), text));
        }
        let text = self.read.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default();
        let start = text.floor_char_boundary(offset);
        let mut end = text.floor_char_boundary(start + PIECE);
        if end < text.len()
            && let Some(line) = text[start..end].rfind('\n')
        {
            end = start + line + 1;
        }
        let next = match end < text.len() {
            true => format!("the next piece begins at offset {end}"),
            false => "this is the end".to_owned(),
        };
        Ok(Ok(format!("{}\n[bytes {start} to {end} of {}; {next}]", &text[start..end], text.len())))
    }

    // --- Servers.

    fn of_server(&mut self, number: usize, wrote: Wrote) -> Result<()> {
        if self.peers[number].ended.is_some() {
            return Ok(());
        }
        match wrote {
            Wrote::Line(line) if line.trim().is_empty() => Ok(()),
            Wrote::Line(line) => match Message::read(&line) {
                Ok(message) => self.server_says(number, message, &line),
                Err(wrong) => self.malformed(number, &line, &wrong),
            },
            Wrote::NotText(shown) => self.malformed(number, &shown, "the line is not UTF-8"),
            Wrote::Unended(line) => {
                // A server that ends in the middle of a line has said nothing.
                self.malformed(number, &line, "the server ended in the middle of a line")
            }
            Wrote::TooLong => {
                let message = format!("{} wrote a line that is too long: at most 64 MiB", self.peers[number].told());
                self.server_ended(number, message)
            }
            Wrote::End => {
                let message = format!("{} ended", self.peers[number].told());
                self.server_ended(number, message)
            }
        }
    }

    /// A line that is no message: whoever may wait for it is told, and the journal has it.
    fn malformed(&mut self, number: usize, line: &str, wrong: &str) -> Result<()> {
        let peer = &mut self.peers[number];
        let (told, too_many) = (peer.told(), peer.count_malformed());
        say(&format!("seamgate: {told} wrote a line that is no message: {}", safe(&cut(line, 200))));
        let document = to_raw_value(cut_to(line, 2048))?;
        self.judge(number, "seamgate/malformed", "server", Some(&document))?;
        if let Err(message) = too_many {
            return self.server_ended(number, message);
        }
        // Logs go to the wrong place often. What begins like a message was to be one.
        if !line.trim_start().starts_with('{') {
            return Ok(());
        }
        let asked = &self.peers[number].asked;
        let ids: Vec<String> = match message::seeming_id(line).filter(|id| asked.contains_key(*id)) {
            Some(id) => vec![id.to_owned()],
            None => asked.keys().cloned().collect(),
        };
        let message = format!("{told} broke its answer: {wrong}");
        for id in ids {
            self.fail_asked(number, &id, &message)?;
        }
        Ok(())
    }

    /// What a server was asked has no answer.
    fn fail_asked(&mut self, number: usize, id: &str, message: &str) -> Result<()> {
        match self.peers[number].asked.remove(id) {
            Some(Asked::Call { key, .. }) => {
                if let Some(call) = self.calls.get_mut(&key) {
                    call.sent = None;
                }
                self.fail_call(&key, message, "unknown")
            }
            Some(Asked::Forwarded { method }) => {
                self.pending.remove(id);
                self.to_client(message::error(id, INTERNAL_ERROR, message));
                if method == "initialize" { self.initialized_one() } else { Ok(()) }
            }
            Some(Asked::List) => {
                self.peers[number].listed.fail();
                self.one_listed()
            }
            Some(Asked::Initialize) => {
                if let Some((id, _)) = self.initialize.take() {
                    self.pending.remove(&id);
                    self.to_client(message::error(&id, INTERNAL_ERROR, message));
                }
                self.initialized_one()
            }
            None => Ok(()),
        }
    }

    /// A server gives no more answers.
    fn server_ended(&mut self, number: usize, message: String) -> Result<()> {
        let peer = &mut self.peers[number];
        if peer.ended.replace(message.clone()).is_some() {
            return Ok(());
        }
        peer.end(Duration::ZERO);
        let ids: Vec<String> = peer.asked.keys().cloned().collect();
        for id in ids {
            self.fail_asked(number, &id, &message)?;
        }
        self.asked_client.retain(|_, asked| !matches!(asked, ForClient::Server { peer, .. } if *peer == number));
        // A server ends when the client does.
        if self.closing.is_some() {
            return Ok(());
        }
        let document = to_raw_value(&message)?;
        self.judge(number, "seamgate/ended", "server", Some(&document))?;
        if self.peers.len() > 1 {
            say(&format!("seamgate: {}", safe(&message)));
            self.peers[number].listed.fail();
            if self.listing == 0 && self.is_listed {
                self.tell_listed()?;
            }
        }
        Ok(())
    }

    fn server_says(&mut self, number: usize, message: Message, line: &str) -> Result<()> {
        match message {
            Message::Answer { id, answer } => match self.peers[number].asked.remove(id) {
                Some(asked) => self.server_answers(number, id, asked, answer, line),
                // What nobody asked, or nobody waits for any more.
                None => self.unasked(number),
            },
            Message::Request { id, method, params } => {
                self.unasked(number)?;
                self.server_asks(number, id, &method, params, line)
            }
            Message::Notification { method, params } => {
                self.unasked(number)?;
                self.server_tells(number, &method, params, line)
            }
        }
    }

    fn unasked(&mut self, number: usize) -> Result<()> {
        match self.peers[number].count_unasked() {
            Ok(()) => Ok(()),
            Err(message) => self.server_ended(number, message),
        }
    }

    fn server_answers(&mut self, number: usize, id: &str, asked: Asked, answer: Answer, line: &str) -> Result<()> {
        match asked {
            Asked::Call { key, since } => self.called(&key, since, answer, line),
            Asked::List => self.list_page(number, id, answer),
            Asked::Initialize => self.one_initialized(number, answer),
            Asked::Forwarded { method } => {
                self.pending.remove(id);
                let (member, document) = match answer {
                    Answer::Result(result) => ("result", result),
                    Answer::Error(error) => ("error", error),
                };
                let mut line = match self.try_judge(number, &method, "server", Some(document))? {
                    Ok(Judged::AsItIs) => line.to_owned(),
                    Ok(Judged::Cleaned(cleaned)) => with_member(line, member, cleaned.get()),
                    Ok(Judged::Denied) => message::error(id, METHOD_NOT_FOUND, "Method not found"),
                    Err(fault) => message::error(id, INTERNAL_ERROR, &format!("the answer cannot be judged: {fault}")),
                };
                if method == "initialize" {
                    self.deadline = None;
                    line = self.initialized(number, &line);
                }
                self.to_client(line);
                if method == "initialize" { self.initialized_one() } else { Ok(()) }
            }
        }
    }

    /// What a server can do, without what the profile does not name.
    fn initialized(&mut self, number: usize, line: &str) -> String {
        let Some(result) = Members::of(line).and_then(|members| members.get("result")) else { return line.to_owned() };
        let capabilities = Members::of(result.get()).and_then(|members| members.get("capabilities"));
        let Some(capabilities) = capabilities else { return line.to_owned() };
        let has = |kind: &str| Members::of(capabilities.get()).is_some_and(|members| members.get(kind).is_some());
        self.peers[number].has_tools = has("tools");
        match self.cut(&self.peers[number].name, capabilities, kind_of) {
            Some(cut) => with_member(line, "result", &with_member(result.get(), "capabilities", &cut)),
            None => line.to_owned(),
        }
    }

    /// One more server has answered the first request, or never will.
    fn initialized_one(&mut self) -> Result<()> {
        self.initializing = self.initializing.saturating_sub(1);
        if self.initializing == 0 && std::mem::take(&mut self.is_list_wanted) { self.list() } else { Ok(()) }
    }

    /// One of several servers has answered the first request.
    fn one_initialized(&mut self, number: usize, answer: Answer) -> Result<()> {
        self.merge_initialized(number, answer)?;
        self.initialized_one()
    }

    fn merge_initialized(&mut self, number: usize, answer: Answer) -> Result<()> {
        let result = match answer {
            Answer::Result(result) => result,
            Answer::Error(error) => {
                let message =
                    format!("{} cannot be initialized: {}", self.peers[number].told(), cut_to(error.get(), 512));
                return self.server_ended(number, message);
            }
        };
        let result = match self.judge(number, "initialize", "server", Some(result))? {
            Judged::Cleaned(cleaned) => cleaned,
            Judged::AsItIs | Judged::Denied => result.to_owned(),
        };
        let whole = message::result("0", result.get());
        self.initialized(number, &whole);
        let Some((_, answers)) = &mut self.initialize else { return Ok(()) };
        answers[number] = Some(result);
        if !answers.iter().zip(&self.peers).all(|(answer, peer)| answer.is_some() || peer.ended.is_some()) {
            return Ok(());
        }
        let Some((id, answers)) = self.initialize.take() else { return Ok(()) };
        self.deadline = None;
        self.pending.remove(&id);
        let text = |answer: &RawValue, name: &str| Some(Members::of(answer.get())?.text(name)?.into_owned());
        let answers: Vec<(&str, &RawValue)> = self
            .peers
            .iter()
            .zip(&answers)
            .filter_map(|(peer, answer)| Some((peer.name.as_str(), answer.as_deref()?)))
            .collect();
        let mut versions: Vec<String> =
            answers.iter().filter_map(|(_, answer)| text(answer, "protocolVersion")).collect();
        versions.sort_unstable();
        versions.dedup();
        let [version] = &versions[..] else {
            let message = format!("the servers speak different versions of the protocol: {}", versions.join(", "));
            self.to_client(message::error(&id, INTERNAL_ERROR, &message));
            return Ok(());
        };
        let instructions: Vec<String> = answers
            .iter()
            .filter_map(|(name, answer)| Some(format!("{name}:\n{}", text(answer, "instructions")?)))
            .collect();
        let instructions = match instructions.is_empty() {
            true => String::new(),
            false => format!(",\"instructions\":{}", json(&instructions.join("\n\n"))),
        };
        let result = format!(
            r#"{{"protocolVersion":{},"capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"seamgate","version":{}}}{instructions}}}"#,
            json(version),
            json(env!("CARGO_PKG_VERSION")),
        );
        self.to_client(message::result(&id, &result));
        Ok(())
    }

    fn server_tells(&mut self, number: usize, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        match method {
            "notifications/tools/list_changed" => {
                if self.list_changed.len() < MAX_QUEUED {
                    self.list_changed.push(line.to_owned());
                }
                if self.listing > 0 {
                    self.is_list_stale = true;
                    return Ok(());
                }
                self.list()
            }
            "notifications/cancelled" => {
                let params = params.and_then(|params| Members::of(params.get()));
                let id = params.and_then(|params| params.get("requestId")).map(RawValue::get);
                let is_it = |asked: &ForClient| matches!(asked, ForClient::Server { peer, id: own } if *peer == number && Some(own.as_str()) == id);
                let found = self.asked_client.iter().find(|(_, asked)| is_it(asked)).map(|(id, _)| id.clone());
                if let (Some(found), Some(params)) =
                    (found, Members::of(line).and_then(|members| members.get("params")))
                {
                    self.asked_client.remove(&found);
                    self.to_client(with_member(line, "params", &with_member(params.get(), "requestId", &found)));
                }
                Ok(())
            }
            _ => {
                let has_text = method != "notifications/progress"
                    || params.and_then(|params| Members::of(params.get())?.get("message")).is_some();
                if !has_text {
                    self.to_client(line.to_owned());
                    return Ok(());
                }
                match self.judge_once(number, method, "server", params)? {
                    Judged::Denied => {}
                    Judged::AsItIs => self.to_client(line.to_owned()),
                    Judged::Cleaned(cleaned) => self.to_client(with_member(line, "params", cleaned.get())),
                }
                Ok(())
            }
        }
    }

    fn server_asks(
        &mut self,
        number: usize,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        line: &str,
    ) -> Result<()> {
        if self.peers[number].ended.is_some() {
            return Ok(());
        }
        let judged = match method {
            "ping" if self.peers.len() > 1 => {
                let _ = self.peers[number].write(message::result(id, "{}"));
                return Ok(());
            }
            "ping" => Judged::AsItIs,
            _ => self.judge(number, method, "server", params)?,
        };
        let line = match judged {
            Judged::Denied => {
                let _ = self.peers[number].write(message::error(id, METHOD_NOT_FOUND, "Method not found"));
                return Ok(());
            }
            Judged::AsItIs => line.to_owned(),
            Judged::Cleaned(cleaned) => with_member(line, "params", cleaned.get()),
        };
        // Ids of two servers may be the same.
        let (seen, line) = match self.asked_client.contains_key(id) || self.peers.len() > 1 {
            true => {
                let own = self.own_id();
                (own.clone(), with_member(&line, "id", &own))
            }
            false => (id.to_owned(), line),
        };
        self.asked_client.insert(seen, ForClient::Server { peer: number, id: id.to_owned() });
        self.to_client(line);
        Ok(())
    }

    // --- Lists of tools.

    fn lists(&self) -> Vec<(&str, &Listed)> {
        self.peers.iter().map(|peer| (peer.name.as_str(), &peer.listed)).collect()
    }

    /// Ask all servers for their tools, unless that is under way.
    fn list(&mut self) -> Result<()> {
        if self.listing > 0 {
            return Ok(());
        }
        if self.initializing > 0 {
            self.is_list_wanted = true;
            return Ok(());
        }
        let numbers: Vec<usize> = (0..self.peers.len())
            .filter(|&number| self.peers[number].has_tools && self.peers[number].ended.is_none())
            .collect();
        self.listing = numbers.len();
        if numbers.is_empty() {
            return self.tell_listed();
        }
        self.deadline = Some(Instant::now() + START);
        for number in numbers {
            self.peers[number].listed.begin();
            self.ask_page(number, None)?;
        }
        Ok(())
    }

    fn ask_page(&mut self, number: usize, cursor: Option<&str>) -> Result<()> {
        let own = self.own_id();
        let params = cursor.map(|cursor| format!("{{\"cursor\":{}}}", json(cursor)));
        let line = message::request(&own, "tools/list", params.as_deref());
        self.peers[number].next_cursor = cursor.map(json);
        match self.peers[number].ask(&own, line, Asked::List) {
            Ok(()) => Ok(()),
            Err(_) => {
                self.peers[number].listed.fail();
                self.one_listed()
            }
        }
    }

    fn list_page(&mut self, number: usize, _id: &str, answer: Answer) -> Result<()> {
        let cursor = self.peers[number].next_cursor.take();
        let taken = match answer {
            Answer::Result(result) => self.peers[number].listed.take(cursor, result),
            Answer::Error(error) => Err(cut_to(error.get(), 512).to_owned()),
        };
        match taken {
            Ok(Next::Ask(cursor)) => self.ask_page(number, Some(&cursor)),
            Ok(Next::Done) => self.one_listed(),
            Err(message) => {
                say(&format!("seamgate: {} lists no tools: {}", self.peers[number].told(), safe(&message)));
                self.peers[number].listed.fail();
                self.one_listed()
            }
        }
    }

    /// One server has said what it lists.
    fn one_listed(&mut self) -> Result<()> {
        self.listing = self.listing.saturating_sub(1);
        if self.listing > 0 {
            return Ok(());
        }
        self.deadline = None;
        if std::mem::take(&mut self.is_list_stale) {
            return self.list();
        }
        self.tell_listed()
    }

    /// Tell the kernel what servers list, and go on with what waits for it.
    fn tell_listed(&mut self) -> Result<()> {
        let listed = self.all_listed();
        if listed != self.listed || !self.is_listed {
            let listed = match self.tell(&listed)? {
                Ok(()) => listed,
                Err(_) => {
                    // One definition is not what a list may have: the others are looked at.
                    let listed = self.readable_listed()?;
                    self.tell(&listed)?.map_err(FaultError)?;
                    listed
                }
            };
            self.listed = listed;
            self.is_listed = true;
        }
        for line in std::mem::take(&mut self.list_changed) {
            self.to_client(line);
        }
        for (id, line) in std::mem::take(&mut self.queue) {
            if self.pending.remove(&id).is_none() {
                continue;
            }
            match Message::read(&line) {
                Ok(Message::Request { method, params, .. }) if method == "tools/list" => {
                    let cursor = params.and_then(|params| Members::of(params.get())?.get("cursor"));
                    self.answer_list(&id, cursor.map(RawValue::get));
                }
                Ok(Message::Request { params, .. }) => self.call(&id, params, &line)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// What all servers list, in the format of lock files.
    fn all_listed(&self) -> String {
        let servers = self.peers.iter().map(|peer| {
            let tools: Vec<&str> = peer.listed.tools().map(RawValue::get).collect();
            (peer.name.as_str(), tools)
        });
        listed(servers, self.document.reads_artifacts())
    }

    /// The same, without what the kernel cannot read.
    fn readable_listed(&self) -> Result<String> {
        let facts = self.facts()?;
        let servers = self.peers.iter().map(|peer| {
            let is_readable = |tool: &&str| {
                let one = listed([(peer.name.as_str(), vec![*tool])].into_iter(), false);
                self.profiles.gate.surface(self.run.agent(), facts.get(), Some(&one)).is_ok()
            };
            let all = peer.listed.tools().map(RawValue::get);
            let tools: Vec<&str> = all.filter(is_readable).collect();
            (peer.name.as_str(), tools)
        });
        Ok(listed(servers, self.document.reads_artifacts()))
    }

    fn facts(&self) -> Result<Box<RawValue>> {
        #[derive(Deserialize)]
        struct State {
            facts: Box<RawValue>,
        }
        let State { facts } = serde_json::from_str(self.run.state())?;
        Ok(facts)
    }

    fn tell(&mut self, listed: &str) -> Result<Result<(), Fault>> {
        let raw = RawValue::from_string(listed.to_owned())?;
        if let Err(fault) = self.send(&Event::ToolsListed { listed: &raw }, None)? {
            return Ok(Err(fault));
        }
        let answer = match self.profiles.gate.surface(self.run.agent(), self.facts()?.get(), Some(listed)) {
            Ok(answer) => answer,
            Err(fault) => return Ok(Err(fault)),
        };
        self.surface = match Surface::new(&answer.json, &self.lists(), self.document) {
            Ok(surface) => surface,
            Err(message) => return Err(NoVerdict(message).into()),
        };
        Ok(Ok(()))
    }

    fn answer_list(&self, id: &str, cursor: Option<&str>) {
        self.to_client(match self.surface.page(cursor, &self.lists()) {
            Some(page) => message::result(id, &page),
            None => message::error(id, INVALID_PARAMS, "Invalid cursor"),
        });
    }

    // --- What else is told.

    /// Whether a message may pass, and as what. What cannot be judged does not pass.
    fn judge(&mut self, number: usize, method: &str, from: &str, document: Option<&RawValue>) -> Result<Judged> {
        Ok(self.try_judge(number, method, from, document)?.unwrap_or(Judged::Denied))
    }

    fn try_judge(
        &mut self,
        number: usize,
        method: &str,
        from: &str,
        document: Option<&RawValue>,
    ) -> Result<Result<Judged, Fault>> {
        self.last += 1;
        let id = format!("r{}", self.last);
        let server = self.peers.get(number).map(|peer| peer.name.clone()).unwrap_or_default();
        // What a client says goes to servers, and no model reads it.
        let document = document.filter(|_| from == "server");
        let event = Event::Message { id: &id, server: &server, method: cut_to(method, 256), from, document };
        let records = match self.send(&event, None)? {
            Ok(records) => records,
            Err(fault) => return Ok(Err(fault)),
        };
        let record = records.into_iter().find(|record| record.r#type == "message");
        Ok(Ok(match record {
            Some(Record { permit, document: Some(document), .. }) if permit == "allow" => Judged::Cleaned(document),
            Some(Record { permit, .. }) if permit == "allow" => Judged::AsItIs,
            _ => Judged::Denied,
        }))
    }

    /// The same for notifications: what does not exist is recorded once.
    fn judge_once(&mut self, number: usize, method: &str, from: &str, params: Option<&RawValue>) -> Result<Judged> {
        let key = (number, format!("{from} {}", cut_to(method, 256)));
        if self.denied.contains(&key) {
            return Ok(Judged::Denied);
        }
        let judged = self.judge(number, method, from, params)?;
        if matches!(judged, Judged::Denied) && self.denied.len() < 1024 {
            self.denied.insert(key);
        }
        Ok(judged)
    }

    /// An id for a request of our own, as JSON text.
    fn own_id(&mut self) -> String {
        self.last += 1;
        json(&format!("{}-{}", self.own, self.last))
    }

    /// Tell all who wait that there will be no answer.
    fn fail_all(&mut self, message: &str) {
        let ids: Vec<String> = std::mem::take(&mut self.pending).into_keys().collect();
        for id in ids {
            self.to_client(message::error(&id, INTERNAL_ERROR, message));
        }
    }
}

/// The kind of methods that a capability of a server is about.
fn kind_of(capability: &str) -> &str {
    if capability == "completions" { "completion" } else { capability }
}

/// The request of a call as the server gets it. What was judged is what is sent.
fn sent(line: &str, tool: &str, arguments: &str) -> String {
    let Some(params) = Members::of(line).and_then(|members| members.get("params")) else { return line.to_owned() };
    let Some(members) = Members::of(params.get()) else { return line.to_owned() };
    let is_named = members.text("name").is_some_and(|name| name == tool);
    let is_same = members.get("arguments").is_none_or(|own| own.get() == arguments);
    if is_named && is_same && members.get("task").is_none() {
        return line.to_owned();
    }
    let params = members.with(|name, _| match name {
        "name" => Change::To(json(tool)),
        "arguments" => Change::To(arguments.to_owned()),
        // The result would come outside of the call, and not be judged.
        "task" => Change::Drop,
        _ => Change::Keep,
    });
    with_member(line, "params", &params)
}

/// What servers list, in the format of lock files.
fn listed<'l>(servers: impl Iterator<Item = (&'l str, Vec<&'l str>)>, has_own: bool) -> String {
    let mut all: BTreeMap<&str, Vec<&str>> = servers.collect();
    if has_own {
        let own = all.entry("").or_default();
        own.retain(|tool| listing::name_of(tool).as_deref() != Some(super::READ_ARTIFACT));
        own.push(READ_ARTIFACT_DEFINITION);
    }
    let servers: Vec<String> =
        all.iter().map(|(name, tools)| format!("{}:{{\"tools\":[{}]}}", json(name), tools.join(","))).collect();
    format!("{{\"servers\":{{{}}}}}", servers.join(","))
}

/// The texts of a result of the protocol, else the whole.
fn texts(result: &str) -> String {
    #[derive(Deserialize)]
    struct Returned {
        content: Vec<Block>,
    }
    #[derive(Deserialize)]
    struct Block {
        text: Option<String>,
    }
    let read = serde_json::from_str::<Returned>(result);
    let texts: Vec<String> =
        read.map(|read| read.content.into_iter().filter_map(|block| block.text).collect()).unwrap_or_default();
    if texts.is_empty() { result.to_owned() } else { texts.join("\n") }
}

fn is_error(result: &str) -> bool {
    #[derive(Deserialize)]
    struct Returned {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    serde_json::from_str(result).is_ok_and(|Returned { is_error }| is_error)
}

/// At most so many bytes of a text.
fn cut_to(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
