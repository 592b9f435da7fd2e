//! The driver of a gate. It receives events, passes them to the core, and performs the core's effects. It is the only
//! file with threads.

use std::{
    path::Path,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, SyncSender},
    },
    thread,
    time::Duration,
};

use seamgate::{
    Action, CancelledEvent, Event, EventKind, JournalError, ProfileEvent, Record, Secret, StepError, TickEvent,
};
use seamgate_runner::{
    Error, Result,
    agent::now,
    mcp::{Connection, Received, Target},
    notice::{Notice, tool_of},
    process::{LineWriter, Refused, Signals, Wrote},
    random,
    run_dir::Plan,
};
use seamgate_text::{Level, escape_terminal, say, say_with, shell_word, warn};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    acceptance::is_accepted,
    core::{Core, Effect, End, Input, Message, Outcome, UpstreamId},
    launch::Launch,
    setting::{Begun, Folders, Setting},
    watch::{Edit, Watch},
};

/// The maximum number of events that wait for the loop. Beyond that, writers wait.
const MAX_EVENTS: usize = 64;
/// The interval at which the gate checks the journal while a call waits for approval.
const LOOK: Duration = Duration::from_millis(50);
/// The interval at which the gate checks whether the profile was edited. It also checks before each message of the
/// client.
const WATCH: Duration = Duration::from_secs(1);
/// The longest pause of the loop.
const IDLE: Duration = Duration::from_secs(3600);
/// How long servers have to end by themselves, if the client has already waited for them.
const GRACE: Duration = Duration::from_millis(500);
/// How long writing the last answers may take.
const LAST: Duration = Duration::from_secs(1);
/// The longest reason for the end of a session in the journal, in bytes.
const MAX_REASON: usize = 512;

/// An event from outside of the loop.
pub(crate) enum Happened {
    /// The client wrote something. The headers that repeat arguments come with it. `None` if clients send no such
    /// headers.
    Client(Wrote, Option<Vec<(String, String)>>),
    /// A server wrote something: the index of the server, the number of its start, and the text.
    Server(usize, u64, Received),
    /// This process received a signal.
    Signal(i32),
}

/// The client of a gate, independent of its transport.
pub(crate) struct Downstream {
    /// Writes lines to the client.
    pub(crate) writer: Arc<LineWriter>,
    /// Sets, once, where the client's input is sent.
    pub(crate) listen: Box<dyn FnOnce(SyncSender<Happened>) -> Result<()> + Send>,
}

/// A server.
struct Upstream<'l> {
    launch: &'l Launch,
    /// `None` while the server is down.
    connection: Option<Connection>,
    /// The number of starts. Output of an earlier process is ignored.
    starts: u64,
}

/// A running gate.
pub(crate) struct Driver<'d> {
    core: Core,
    setting: &'d Setting,
    folders: &'d Folders<'d>,
    begun: Begun<'d>,
    /// `None` if the profile is a pipe.
    watch: Option<Watch>,
    /// The text of the edited profile, if it may allow more and has not been accepted yet.
    edited: Option<String>,
    client: Arc<LineWriter>,
    /// `true` once nobody waits for space to write any more.
    is_over: Arc<AtomicBool>,
    upstreams: Vec<Upstream<'d>>,
    sender: Option<SyncSender<Happened>>,
    /// Signals that terminate a notifier.
    signals: Option<Signals>,
    grace: Duration,
}

impl<'d> Driver<'d> {
    /// Starts a run.
    pub(crate) fn start(setting: &'d Setting, folders: &'d Folders<'d>, client: Arc<LineWriter>) -> Result<Self> {
        let begun = setting.begin(setting.version(), folders)?;
        let names = setting.launches.iter().map(|launch| launch.name().to_owned()).collect();
        let upstreams = setting.launches.iter().map(|launch| Upstream { launch, connection: None, starts: 0 });
        Ok(Driver {
            core: Core::new(names, begun.version.policy(), setting.times, &random(16)?),
            watch: setting.watch(begun.version),
            edited: None,
            setting,
            folders,
            begun,
            client,
            is_over: Arc::default(),
            upstreams: upstreams.collect(),
            sender: None,
            signals: None,
            grace: Duration::from_millis(setting.times.grace),
        })
    }

    /// Returns the folder of the run.
    pub(crate) fn folder(&self) -> &Path {
        &self.begun.folder
    }

    /// Serves the client until it ends the session, or until no server can serve it.
    pub(crate) fn serve(
        &mut self,
        listen: impl FnOnce(SyncSender<Happened>) -> Result<()>,
        signals: &Signals,
    ) -> Result<End> {
        let (sender, happened) = mpsc::sync_channel(MAX_EVENTS);
        let (signalled, is_over) = (sender.clone(), Arc::clone(&self.is_over));
        let _listening = signals.listen(move |signal| {
            is_over.store(true, Ordering::Relaxed);
            signalled.send(Happened::Signal(signal)).is_ok()
        });
        self.sender = Some(sender.clone());
        self.signals = Some(signals.clone());
        for number in 0..self.upstreams.len() {
            match self.spawn(number) {
                Ok(()) => {}
                Err(why) if self.upstreams.len() == 1 => return Err(Error::NoVerdict(why)),
                Err(why) => self.core.handle(now(), Input::UpstreamEnded(UpstreamId(number), &why)),
            }
        }
        listen(sender)?;
        let end = self.until_end(&happened);
        let reason = match &end {
            Ok(End::Client) => "the client ended the session".to_owned(),
            Ok(End::Signal(signal)) => format!("signal {signal}"),
            Ok(End::Server(why)) => why.clone(),
            Err(error) => error.to_string(),
        };
        match &end {
            Ok(End::Client) => {}
            Ok(End::Signal(_)) => self.fail_all("the gate was told to end"),
            Ok(End::Server(why)) => self.fail_all(why),
            Err(error) => self.fail_all(&format!("the gate failed: {error}")),
        }
        self.client.close();
        self.client.wait(LAST);
        let grace = match &end {
            Ok(End::Signal(_)) => self.grace,
            _ => GRACE,
        };
        let connections: Vec<&Connection> =
            self.upstreams.iter().filter_map(|upstream| upstream.connection.as_ref()).collect();
        // Servers may log until they have ended. If nobody read their logs, they would block.
        let have_ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let have_ended = &have_ended;
            let reads = move || {
                while !have_ended.load(Ordering::Relaxed) {
                    let _ = happened.recv_timeout(LOOK);
                }
            };
            // If no thread can be started, the logs are not read, and the servers end nevertheless.
            let _ = thread::Builder::new().spawn_scoped(scope, reads);
            Connection::end_all(&connections, grace);
            have_ended.store(true, Ordering::Relaxed);
        });
        let mut cancelled = CancelledEvent::new();
        cancelled.reason = Some(reason[..reason.floor_char_boundary(MAX_REASON)].to_owned());
        let ended = self.begun.run.send(&cancelled.at(now())).map(drop);
        let end = end?;
        ended?;
        Ok(end)
    }

    fn until_end(&mut self, happened: &mpsc::Receiver<Happened>) -> Result<End> {
        loop {
            while let Some(effect) = self.core.poll() {
                if let Some(end) = self.apply(effect)? {
                    return Ok(end);
                }
            }
            if self.client.is_broken() {
                return Ok(End::Client);
            }
            let received = happened.recv_timeout(self.pause());
            self.look_at_profile()?;
            match received {
                Ok(Happened::Client(wrote, headers)) => self.on_client(&wrote, headers.as_deref()),
                Ok(Happened::Server(number, start, received)) => self.on_server(number, start, &received),
                Ok(Happened::Signal(signal)) => return Ok(End::Signal(signal)),
                Err(RecvTimeoutError::Timeout) => self.core.handle(now(), Input::Tick),
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Client),
            }
            self.check_run()?;
        }
    }

    /// Returns the time until something is due.
    fn pause(&self) -> Duration {
        let due = [self.begun.run.wake_at(), self.core.wake_at()].into_iter().flatten().min();
        let due = due.map(|at| Duration::from_millis(at.saturating_sub(now())));
        let looks = self.core.has_asks().then_some(LOOK);
        let watches = self.watch.is_some().then_some(WATCH);
        due.into_iter().chain(looks).chain(watches).min().unwrap_or(IDLE)
    }

    /// Applies an edit of the profile. What it forbids is denied from now on, and what it allows is allowed once a
    /// person accepts it.
    fn look_at_profile(&mut self) -> Result<()> {
        let seen = self.watch.as_mut().and_then(|watch| watch.look(now()));
        match seen {
            None => {}
            Some(Err(why)) => self.say_edited(&format!("{why}; the profile before the edit holds")),
            Some(Ok(Edit { text, rules, may_allow_more })) => {
                match self.step(EventKind::Profile(ProfileEvent::new(rules)))? {
                    Outcome::Refused(fault) => {
                        self.say_edited(&format!("{fault}; the profile before the edit holds"));
                    }
                    Outcome::Done { records, actions, .. } => {
                        self.core.handle(now(), Input::CaughtUp(records, actions));
                        self.core.handle(now(), Input::ProfileEdited);
                        self.tell_edited(may_allow_more);
                        self.edited = may_allow_more.then_some(text);
                    }
                }
            }
        }
        self.look_for_acceptance()
    }

    fn tell_edited(&self, may_allow_more: bool) {
        let path = escape_terminal(&self.setting.path().display().to_string());
        say(&format!("seamgate: {path} was edited: what it forbids is denied from now on"));
        if may_allow_more {
            let folder = shell_word(&self.begun.folder);
            say(&format!("seamgate: to let it allow more, if it does: seamgate mcp accept {folder}"));
        }
    }

    fn say_edited(&self, why: &str) {
        let path = self.setting.path().display().to_string();
        say(&format!("seamgate: {} was edited: {}", escape_terminal(&path), escape_terminal(why)));
    }

    /// Continues with another run, if a person has accepted the edited profile and no call is in flight.
    fn look_for_acceptance(&mut self) -> Result<()> {
        let Some(text) = self.edited.take_if(|_| self.core.is_idle()) else { return Ok(()) };
        if !is_accepted(&self.begun.folder, &text) {
            self.edited = Some(text);
            return Ok(());
        }
        let begun = self.setting.accept(&text).and_then(|version| self.setting.begin(version, self.folders));
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) => {
                self.say_edited(&format!("it cannot be accepted: {}", error.report()));
                return Ok(());
            }
        };
        let before = std::mem::replace(&mut self.begun, begun);
        let mut cancelled = CancelledEvent::new();
        cancelled.reason =
            Some("a person accepted the edited profile: another run goes on with the session".to_owned());
        let Begun { mut run, folder, .. } = before;
        run.send(&cancelled.at(now()))?;
        Plan::put_aside(&folder);
        if let Some(watch) = &mut self.watch {
            watch.accept();
        }
        self.core.handle(now(), Input::RunBegan(self.begun.version.policy()));
        let folder = shell_word(&self.begun.folder);
        say(&format!("seamgate: the edited profile is accepted; the session goes on in {folder}"));
        Ok(())
    }

    /// Processes what others appended to the journal, and informs the run of the time.
    fn check_run(&mut self) -> Result<()> {
        if self.core.has_asks() && self.begun.run.journal().is_behind() {
            self.catch_up()?;
        }
        if self.begun.run.wake_at().is_some_and(|at| at <= now()) {
            let outcome = self.step(EventKind::Tick(TickEvent::new()))?;
            match outcome {
                Outcome::Done { records, actions, .. } => self.core.handle(now(), Input::CaughtUp(records, actions)),
                Outcome::Refused(fault) => return Err(Error::Fault(fault)),
            }
        }
        Ok(())
    }

    fn on_client(&mut self, wrote: &Wrote, headers: Option<&[(String, String)]>) {
        let input = match wrote {
            Wrote::Line(line) | Wrote::Unended(line) if line.trim().is_empty() => return,
            Wrote::Line(line) | Wrote::Unended(line) => Input::Downstream(line, headers),
            Wrote::NotText(_) => Input::DownstreamInvalid("the line is not UTF-8"),
            Wrote::TooLong => Input::DownstreamInvalid("the line is too long: at most 64 MiB"),
            Wrote::End => Input::DownstreamEnded,
        };
        self.core.handle(now(), input);
    }

    fn on_server(&mut self, number: usize, start: u64, received: &Received) {
        let Some(upstream) = self.upstreams.get(number).filter(|upstream| upstream.starts == start) else { return };
        let server = UpstreamId(number);
        let ended = |what: &str| format!("{} {what}", upstream.launch.told());
        let wrote = match received {
            Received::Wrote(wrote) => wrote,
            Received::Unanswered { id, message, may_have_run } => {
                let why = ended(&format!("gives no answer: {message}"));
                let (id, may_have_run) = (id.as_str(), *may_have_run);
                return self.core.handle(now(), Input::Unanswered(server, id, &why, may_have_run));
            }
        };
        let why;
        let input = match wrote {
            Wrote::Line(line) if line.trim().is_empty() => return,
            Wrote::Line(line) => Input::Upstream(server, line),
            Wrote::NotText(shown) => Input::UpstreamInvalid(server, shown, "the line is not UTF-8"),
            // An incomplete last line of a server is not a message.
            Wrote::Unended(line) => Input::UpstreamInvalid(server, line, "the server ended in the middle of a line"),
            Wrote::TooLong => {
                why = ended("wrote a line that is too long: at most 64 MiB");
                Input::UpstreamEnded(server, &why)
            }
            Wrote::End => {
                let exit = upstream.connection.as_ref().and_then(Connection::exit);
                why = ended(exit.as_deref().unwrap_or("ended"));
                Input::UpstreamEnded(server, &why)
            }
        };
        self.core.handle(now(), input);
    }

    /// Performs an effect of the core. Returns the reason if the session ends.
    fn apply(&mut self, effect: Effect) -> Result<Option<End>> {
        match effect {
            Effect::ToDownstream(message) => {
                // The loop detects when the client has disconnected.
                let _ = self.client.push_waiting(message.to_line(), || self.is_over.load(Ordering::Relaxed));
            }
            Effect::ToUpstream(server, message, secrets) => self.send(server, &message, &secrets),
            Effect::Start(server) => match self.spawn(server.0) {
                Ok(()) => self.core.handle(now(), Input::UpstreamStarted(server)),
                Err(why) => self.core.handle(now(), Input::UpstreamEnded(server, &why)),
            },
            Effect::Close(server) => {
                if let Some(connection) = self.connection(server) {
                    connection.close();
                }
            }
            Effect::Stop(server) => {
                let own = self.upstreams.get_mut(server.0);
                if let Some(connection) = own.and_then(|upstream| upstream.connection.take()) {
                    connection.end_after(Duration::ZERO);
                }
            }
            Effect::Send(event) => {
                let outcome = self.step(*event)?;
                self.core.handle(now(), Input::Step(outcome));
            }
            Effect::KeepArtifact(text) => {
                self.begun.run.keep(&text).map_err(|error| Error::NoVerdict(error.to_string()))?;
            }
            Effect::ReadArtifact(digest) => {
                let text = self.begun.run.artifact(&digest).map_err(|error| error.to_string());
                self.core.handle(now(), Input::Artifact(text));
            }
            Effect::Warn(text) => warn(&format!("seamgate: {text}")),
            Effect::AskPerson(tool, key) => {
                let folder = shell_word(&self.begun.folder);
                let text = format!("seamgate: a call of {tool} waits for approval: seamgate approve {folder} {key}");
                let run = &self.begun.run;
                let fields = [("run", run.id()), ("agent", run.agent()), ("tool", &*tool), ("call", &*key)];
                say_with(Level::Info, &text, &fields);
            }
            Effect::End(end) => return Ok(Some(end)),
        }
        Ok(None)
    }

    /// Answers all requests with an error.
    fn fail_all(&mut self, why: &str) {
        self.core.fail_all(why);
        while let Some(effect) = self.core.poll() {
            if let Effect::ToDownstream(message) = effect {
                let _ = self.client.push_waiting(message.to_line(), || self.is_over.load(Ordering::Relaxed));
            }
        }
    }

    fn connection(&self, server: UpstreamId) -> Option<&Connection> {
        self.upstreams.get(server.0).and_then(|upstream| upstream.connection.as_ref())
    }

    /// Writes a message to a server, with the values of secrets in the arguments of its call.
    fn send(&mut self, server: UpstreamId, message: &Message, secrets: &[Secret]) {
        let line = message.to_line();
        if secrets.is_empty() {
            return self.write(server, line);
        }
        match (self.setting.secrets.fill(&line, "/params/arguments", secrets), message) {
            (Ok(line), _) => self.write(server, line),
            (Err(why), Message::Request { id, .. }) => {
                self.core.handle(now(), Input::Unanswered(server, id.as_str(), &why, false));
            }
            // Only calls have secrets.
            (Err(_), _) => {}
        }
    }

    /// Writes a line to a server.
    fn write(&mut self, server: UpstreamId, line: String) {
        let Some(connection) = self.connection(server) else { return };
        let Err(refused) = connection.push(line) else { return };
        let told = self.upstreams[server.0].launch.told();
        let why = match refused {
            Refused::Full => format!("{told} does not read what it is sent"),
            Refused::Broken => format!("{told} has closed its input"),
        };
        self.core.handle(now(), Input::UpstreamEnded(server, &why));
    }

    /// Starts a server. The error is the reason why it cannot run.
    fn spawn(&mut self, number: usize) -> Result<(), String> {
        let Some(sender) = self.sender.clone() else { return Err("the gate ends".to_owned()) };
        let upstream = &mut self.upstreams[number];
        upstream.starts += 1;
        let start = upstream.starts;
        let program = upstream.launch.program();
        let target = match &upstream.launch.endpoint {
            Some(endpoint) => Target::Address(endpoint),
            None => Target::Program(&program),
        };
        // The channel is bounded, so a server that floods the gate has to wait.
        let connection = Connection::start(target, move |received| {
            let is_last = matches!(received, Received::Wrote(Wrote::End));
            sender.send(Happened::Server(number, start, received)).is_ok() && !is_last
        });
        upstream.connection = Some(connection?);
        Ok(())
    }

    /// Informs the notifier, if there is one, of the calls that wait for approval. Does not wait for it.
    fn notify(&self, records: &[Record], actions: &[Action]) -> Result<()> {
        let (Some(notifier), Some(signals)) = (&self.setting.notifier, &self.signals) else { return Ok(()) };
        for action in actions {
            let Action::AskApproval(action) = action else { continue };
            let notice = Notice {
                folder: self.begun.folder.display().to_string(),
                run: self.begun.run.id(),
                agent: self.begun.run.agent(),
                tool: tool_of(records, &action.ask.key),
                ask: &action.ask,
            };
            let text = serde_json::to_string(&notice)?;
            let (notifier, signals) = (notifier.clone(), signals.clone());
            let started = thread::Builder::new().spawn(move || notifier.notify(&text, &signals));
            started.map_err(|error| Error::NoVerdict(format!("cannot start a thread: {error}")))?;
        }
        Ok(())
    }

    /// Sends an event to the run, after processing what others have appended meanwhile.
    fn step(&mut self, kind: EventKind) -> Result<Outcome> {
        // A call that may run is started at once, so both steps are synced together.
        let is_call = matches!(kind, EventKind::Call(_));
        let listed = match &kind {
            EventKind::ToolsListed(event) => Some(event.listed.as_str().to_owned()),
            _ => None,
        };
        self.hear_of_stores()?;
        let event = Event { at: now(), kind };
        loop {
            let sent = if is_call { self.begun.run.send_unsynced(&event) } else { self.begun.run.send(&event) };
            match sent {
                Ok(actions) => {
                    let is_alone =
                        self.begun.run.records_json().len() == 1 && matches!(actions[..], [Action::Execute(_)]);
                    if is_call && !is_alone {
                        self.begun.run.sync().map_err(StepError::from)?;
                    }
                    self.keep_stores(&actions)?;
                    let records = self.begun.run.records()?;
                    self.share_labels(&records)?;
                    self.notify(&records, &actions)?;
                    let surface = match listed {
                        Some(listed) => Some(self.surface(&listed)?),
                        None => None,
                    };
                    return Ok(Outcome::Done { records, actions, surface });
                }
                Err(StepError::Journal(JournalError::Conflict { .. })) => self.catch_up()?,
                Err(StepError::Fault(fault)) => return Ok(Outcome::Refused(fault)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Informs the run of the labels that other runs added to data in stores.
    fn hear_of_stores(&mut self) -> Result<()> {
        for news in self.begun.stores.news(self.begun.run.state())? {
            let event = news.at(now());
            let actions = loop {
                match self.begun.run.send(&event) {
                    Err(StepError::Journal(JournalError::Conflict { .. })) => self.catch_up()?,
                    sent => break sent?,
                }
            };
            let records = self.begun.run.records()?;
            self.keep_stores(&actions)?;
            self.core.handle(now(), Input::CaughtUp(records, actions));
        }
        Ok(())
    }

    /// Stores the labels of data in stores, before a call is sent that may write there.
    fn keep_stores(&mut self, actions: &[Action]) -> Result<()> {
        match actions.iter().any(|action| matches!(action, Action::Execute(_))) {
            true => self.begun.stores.keep(self.begun.run.state()),
            false => Ok(()),
        }
    }

    /// Records which data this session has read, for later sessions of the same client.
    fn share_labels(&self, records: &[Record]) -> Result<()> {
        #[derive(Deserialize)]
        struct State {
            facts: Facts,
        }
        #[derive(Deserialize)]
        struct Facts {
            #[serde(default)]
            labels: Vec<String>,
        }
        if records.iter().any(|record| matches!(record, Record::Observation(_) | Record::Message(_))) {
            let State { facts } = serde_json::from_str(self.begun.run.state())?;
            self.setting.labels.lock().unwrap_or_else(PoisonError::into_inner).extend(facts.labels);
        }
        Ok(())
    }

    /// Processes the approvals that others appended.
    fn catch_up(&mut self) -> Result<()> {
        let actions = self.begun.run.catch_up()?;
        self.keep_stores(&actions)?;
        let records = self.begun.run.records()?;
        self.core.handle(now(), Input::CaughtUp(records, actions));
        Ok(())
    }

    /// Returns which of the listed tools the client may see, according to the kernel.
    fn surface(&self, listed: &str) -> Result<String> {
        #[derive(Deserialize)]
        struct State {
            facts: Box<RawValue>,
        }
        let State { facts } = serde_json::from_str(self.begun.run.state())?;
        let answer = self
            .begun
            .version
            .profiles
            .gate
            .surface(self.begun.run.agent(), facts.get(), Some(listed))
            .map_err(Error::Fault)?;
        Ok(answer.json.to_string())
    }
}
