//! The loop of a gate: lines of the client and of servers in, what the kernel lets pass out.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, SyncSender},
    },
    time::{Duration, Instant},
};

use seamgate::{
    Action, Ask, CancelledEvent, Event, EventKind, Fault, FileJournal, HiddenToolCode, JournalError, Json, Permit,
    Record, Run, StartedEvent, StepError, TickEvent,
};
use seamgate_runner::{
    Error, Result,
    agent::now,
    mcp::START,
    new_nonce,
    process::{LineWriter, Signals, Wrote},
    random,
    run_dir::Profiles,
};
use seamgate_text::{escape_terminal, say};
use serde_json::value::RawValue;

use super::{
    calls::Call,
    catalog::Surface,
    document::Document,
    downstream::{ForClient, Pending},
    launch::Launch,
    message::{self, INTERNAL_ERROR, json},
    round_trips::ParkedResult,
    tasks::Task,
    upstream::{Asked, Upstream},
};

/// The most inputs that wait for the loop. Beyond that, writers wait.
const MAX_INPUTS: usize = 64;
/// The interval at which the gate checks the journal while a call waits for approval.
const LOOK: Duration = Duration::from_millis(50);
/// The time that servers have after the client has ended the session. Clients wait two seconds for the gate.
const CLOSING: Duration = Duration::from_millis(1000);
const GRACE: Duration = Duration::from_millis(500);
/// The time that the last answers may take.
const LAST: Duration = Duration::from_secs(1);

/// An input of the loop.
pub(super) enum Input {
    Client(Wrote),
    Server(usize, Wrote),
    Signal(i32),
}

/// The client of a gate, whatever carries its messages.
pub(super) struct Downstream {
    /// Writes lines to the client.
    pub(super) writer: Arc<LineWriter>,
    /// Is told once where the lines go that it writes.
    pub(super) listen: Box<dyn FnOnce(SyncSender<Input>) -> Result<()> + Send>,
}

/// The beginning of a run.
pub(super) struct Started {
    pub(super) run: String,
    pub(super) principal: String,
    pub(super) mode: Option<String>,
    pub(super) lists: BTreeMap<String, Vec<String>>,
}

/// Why a gate ended.
pub enum End {
    /// The client ended the session.
    Client,
    /// The server ended, or broke the protocol.
    Server(String),
    /// A signal told this process to end.
    Signal(i32),
}

/// A gate.
pub(super) struct Gate<'w> {
    pub(super) profiles: &'w Profiles,
    pub(super) document: &'w Document,
    pub(super) run: Run<'w, FileJournal>,
    pub(super) folder: PathBuf,
    /// Begins the ids of our own requests to servers: a client cannot foresee it.
    pub(super) id_prefix: String,
    pub(super) next_id: u64,
    pub(super) client: Arc<LineWriter>,
    pub(super) is_over: Arc<AtomicBool>,
    pub(super) upstreams: Vec<Upstream>,
    pub(super) calls: HashMap<String, Call>,
    /// Keys of calls by what equal ones have in common.
    pub(super) by_fingerprint: HashMap<String, String>,
    /// Requests of the client, by their ids as they are written.
    pub(super) pending: BTreeMap<String, Pending>,
    /// Requests that wait for a list of tools.
    pub(super) queue: VecDeque<(String, String)>,
    /// Requests that the client has to answer.
    pub(super) asked_client: HashMap<String, ForClient>,
    /// Tokens of the client by which servers say how far requests are, oldest first.
    pub(super) tokens: VecDeque<String>,
    pub(super) asks: BTreeMap<String, Ask>,
    pub(super) surface: Surface,
    /// The list of tools that the kernel has.
    pub(super) listed: String,
    pub(super) is_listed: bool,
    /// The number of servers that still list their tools.
    pub(super) listing: usize,
    /// A list may have changed while it was read.
    pub(super) is_list_stale: bool,
    /// The number of servers that have not answered the first request, so that their capabilities are not known.
    pub(super) initializing: usize,
    /// Lists are wanted then.
    pub(super) is_list_wanted: bool,
    /// The notifications that the client gets with the list.
    pub(super) list_changed: Vec<String>,
    /// Until when servers must have answered what we asked.
    pub(super) deadline: Option<Instant>,
    /// Of several servers: who asked, and what each has answered.
    pub(super) initialize: Option<(String, Vec<Option<Box<RawValue>>>)>,
    /// True if the client of the session can show a form.
    pub(super) has_forms: bool,
    /// `_meta` of the gate's own requests, if there is no session.
    pub(super) own_meta: Option<String>,
    /// The error that a server gave in place of its list, for who waits for that.
    pub(super) list_error: Option<String>,
    /// Keys of calls by the `requestState` with which the client comes back.
    pub(super) awaiting_client: HashMap<String, String>,
    /// The results of calls that ended while the client was away, oldest first.
    pub(super) parked_results: VecDeque<ParkedResult>,
    /// Tasks of servers, by their ids.
    pub(super) tasks: HashMap<String, Task>,
    /// Notifications that do not exist, by server: they are recorded once.
    pub(super) denied: HashSet<(usize, String)>,
    /// The artifacts of truncated results, oldest first.
    pub(super) artifacts: VecDeque<String>,
    /// The artifact that was read last, cleaned.
    pub(super) last_artifact: Option<(String, String)>,
    pub(super) has_client_ended: bool,
    pub(super) closing: Option<Instant>,
}

impl<'w> Gate<'w> {
    /// Start a run for a client and servers.
    pub(super) fn start(
        profiles: &'w Profiles,
        document: &'w Document,
        journal: FileJournal,
        folder: &Path,
        started: Started,
        client: Arc<LineWriter>,
    ) -> Result<Self> {
        let Some(profile) = profiles.all.first() else { return Err(Error::invalid("name a profile with -p")) };
        // Until servers have said what they have, there is nothing.
        let listed = Json::parse(r#"{"servers":{}}"#)?;
        let mut event = StartedEvent::new(started.run, started.principal, new_nonce()?);
        event.mode = started.mode;
        event.context = Some(Json::parse("{}")?);
        event.lists = Some(started.lists);
        event.listed = Some(listed);
        let (run, _) = Run::start(&profiles.gate, journal, &profile.info.agent, &event.at(now()))?;
        Ok(Gate {
            profiles,
            document,
            run,
            folder: folder.to_owned(),
            id_prefix: format!("seamgate-{}", random(8)?),
            next_id: 0,
            client,
            is_over: Arc::default(),
            upstreams: Vec::new(),
            calls: HashMap::new(),
            by_fingerprint: HashMap::new(),
            pending: BTreeMap::new(),
            queue: VecDeque::new(),
            asked_client: HashMap::new(),
            tokens: VecDeque::new(),
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
            has_forms: false,
            own_meta: None,
            list_error: None,
            awaiting_client: HashMap::new(),
            parked_results: VecDeque::new(),
            tasks: HashMap::new(),
            denied: HashSet::new(),
            artifacts: VecDeque::new(),
            last_artifact: None,
            has_client_ended: false,
            closing: None,
        })
    }

    /// Serve the client until it ends the session, or nobody can serve it.
    pub(super) fn serve(
        &mut self,
        launches: &[Launch],
        listen: impl FnOnce(SyncSender<Input>) -> Result<()>,
        signals: &Signals,
    ) -> Result<End> {
        let (sender, inputs) = mpsc::sync_channel(MAX_INPUTS);
        let (signalled, is_over) = (sender.clone(), Arc::clone(&self.is_over));
        let _listening = signals.listen(move |signal| {
            is_over.store(true, Ordering::Relaxed);
            signalled.send(Input::Signal(signal)).is_ok()
        });
        for (number, launch) in launches.iter().enumerate() {
            self.upstreams.push(Upstream::start(launch, number, sender.clone()).map_err(Error::NoVerdict)?);
        }
        listen(sender)?;
        let end = self.until_end(&inputs);
        match &end {
            Ok(End::Client) => {}
            Ok(End::Signal(_)) => self.fail_all("the gate was told to end"),
            Ok(End::Server(message)) => self.fail_all(message),
            Err(error) => self.fail_all(&format!("the gate failed: {error}")),
        }
        self.client.close();
        self.client.wait(LAST);
        // Nobody reads what they write any more.
        drop(inputs);
        for upstream in &self.upstreams {
            upstream.end(GRACE);
        }
        let reason = match &end {
            Ok(End::Client) => "the client ended the session".to_owned(),
            Ok(End::Signal(signal)) => format!("signal {signal}"),
            Ok(End::Server(message)) => message.clone(),
            Err(error) => error.to_string(),
        };
        let mut cancelled = CancelledEvent::new();
        cancelled.reason = Some(cut_to(&reason, 512).to_owned());
        let ended = self.run.send(&cancelled.at(now())).map(drop);
        let end = end?;
        ended?;
        Ok(end)
    }

    fn until_end(&mut self, inputs: &mpsc::Receiver<Input>) -> Result<End> {
        loop {
            if let Some(end) = self.ended() {
                return Ok(end);
            }
            match inputs.recv_timeout(self.timeout()) {
                Ok(Input::Client(wrote)) => self.of_client(wrote)?,
                Ok(Input::Server(number, wrote)) => self.of_server(number, wrote)?,
                Ok(Input::Signal(signal)) => return Ok(End::Signal(signal)),
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
        if self.upstreams.iter().all(|upstream| upstream.ended.is_some()) {
            return match self.has_client_ended {
                true => Some(End::Client),
                false => {
                    let told: Vec<String> =
                        self.upstreams.iter().filter_map(|upstream| upstream.ended.clone()).collect();
                    Some(End::Server(told.join("; ")))
                }
            };
        }
        let is_idle = self.queue.is_empty() && self.listing == 0 && self.initializing == 0;
        if self.has_client_ended && self.closing.is_none() && is_idle {
            // What was asked may still be answered: the server sees the end of its input, as it would see it of the client.
            self.upstreams.iter().for_each(Upstream::close);
            self.closing = Some(Instant::now() + CLOSING);
        }
        self.closing.filter(|closing| *closing <= Instant::now()).map(|_| End::Client)
    }

    /// Returns the time until something is due.
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
            self.send(TickEvent::new(), None)?.map_err(Error::Fault)?;
        }
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.deadline = None;
            for number in 0..self.upstreams.len() {
                let upstream = &self.upstreams[number];
                let is_own = |asked: &Asked| match asked {
                    Asked::Forwarded { method } => method == "initialize",
                    Asked::Initialize | Asked::List => true,
                    Asked::Call { .. } | Asked::Listen | Asked::Task { .. } => false,
                };
                if upstream.asked.values().any(is_own) {
                    let message = format!("{} does not answer within {} s", upstream.told(), START.as_secs());
                    self.server_ended(number, message)?;
                }
            }
        }
        Ok(())
    }

    /// Send an event. What it leads to is done before this returns. `new` is the call that it may bring.
    pub(super) fn send(
        &mut self,
        event: impl Into<EventKind>,
        new: Option<Call>,
    ) -> Result<Result<Vec<Record>, Fault>> {
        // A call that may run is started at once: both steps are synced together.
        let is_call = new.is_some();
        let event = Event { at: now(), kind: event.into() };
        loop {
            let sent = if is_call { self.run.send_unsynced(&event) } else { self.run.send(&event) };
            match sent {
                Ok(actions) => {
                    let is_alone = self.run.records_json().len() == 1 && matches!(actions[..], [Action::Execute(_)]);
                    if is_call && !is_alone {
                        self.run.sync().map_err(StepError::from)?;
                    }
                    return self.apply_step(actions, new).map(Ok);
                }
                Err(StepError::Journal(JournalError::Conflict { .. })) => self.catch_up()?,
                Err(StepError::Fault(fault)) => return Ok(Err(fault)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Take what others appended: approvals.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        let actions = self.run.catch_up()?;
        self.apply_step(actions, None).map(drop)
    }

    /// Do what a step decided.
    pub(super) fn apply_step(&mut self, actions: Vec<Action>, mut new: Option<Call>) -> Result<Vec<Record>> {
        let records = self.run.records()?;
        for record in &records {
            match record {
                Record::Decision(record) => {
                    if !self.calls.contains_key(&record.call)
                        && let Some(call) = new.take()
                    {
                        for id in &call.waiters {
                            self.pending.insert(id.clone(), Pending::Call(record.call.clone()));
                        }
                        self.by_fingerprint.insert(call.fingerprint.clone(), record.call.clone());
                        self.calls.insert(record.call.clone(), call);
                    }
                    if record.permit != Permit::Approval {
                        self.asks.remove(&record.call);
                    }
                    if record.permit == Permit::Deny {
                        self.denied_call(record);
                    }
                }
                Record::Observation(record) => self.observed(record),
                Record::Settled(record) => self.settled(record),
                Record::Surface(record) => {
                    for hidden in record.hidden.iter().filter(|hidden| hidden.code == HiddenToolCode::Changed) {
                        let tool = escape_terminal(&hidden.tool);
                        say(&format!(
                            "seamgate: {tool} is not what the profile pins: it is hidden; see 'seamgate mcp check'"
                        ));
                    }
                }
                _ => {}
            }
        }
        for action in actions {
            self.act(action)?;
        }
        Ok(records)
    }

    pub(super) fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Execute(action) => self.execute(&action.call, &action.arguments),
            Action::Cancel(action) => {
                if let Some(call) = self.calls.get_mut(&action.call) {
                    call.held = None;
                }
                self.cancel_sent(&action.call, "the gate ended the call");
                Ok(())
            }
            Action::AskApproval(action) => self.ask_approval(action.ask),
            // Who waits for an uncertain call is told with its answer. Nobody else is asked: nothing depends on it.
            Action::AskModel(_) | Action::AskInput(_) | Action::Delegate(_) | Action::Finish(_) => Ok(()),
        }
    }

    /// An id for a request of our own to a server, as JSON text. Requests to the client have [`super::servers::random_id`].
    pub(super) fn own_id(&mut self) -> String {
        self.next_id += 1;
        json(&format!("{}-{}", self.id_prefix, self.next_id))
    }

    /// An id for an event of our own.
    pub(super) fn event_id(&mut self) -> String {
        self.next_id += 1;
        format!("r{}", self.next_id)
    }

    /// Tell all who wait that there will be no answer.
    pub(super) fn fail_all(&mut self, message: &str) {
        let ids: Vec<String> = std::mem::take(&mut self.pending).into_keys().collect();
        for id in ids {
            self.to_client(message::error(&id, INTERNAL_ERROR, message));
        }
    }
}

/// Returns at most `limit` bytes of a text.
pub(super) fn cut_to(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
