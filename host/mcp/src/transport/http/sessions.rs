//! Sessions. Each is a gate on a thread of its own, and all clients without a session share one.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

use seamgate_http::Refused;
use seamgate_runner::{
    Result,
    process::{LineWriter, Signals, Wrote},
    random,
};
use seamgate_text::{escape_terminal, say, shell_word};

use super::streams::{Reader, Sink, Streams};
use crate::{
    core::{End, Message},
    driver::{Downstream, Happened},
    session,
    setting::Setting,
};

/// The maximum number of sessions. Each has its own servers.
const MAX_SESSIONS: usize = 32;
/// The idle time after which a session ends, and the idle time after which it may end in favour of a new session.
const IDLE: Duration = Duration::from_secs(3600);
const SHORT_IDLE: Duration = Duration::from_secs(60);
/// The interval at which the wait for the end of all sessions checks them.
const TICK: Duration = Duration::from_millis(20);

/// A session, or the gate that all clients without a session share.
pub(super) struct Session {
    /// The id of the session. Empty for clients without a session.
    pub(super) id: String,
    pub(super) streams: Arc<Streams>,
    used: Mutex<Instant>,
}

pub(super) struct Sessions {
    setting: Setting,
    signals: Signals,
    all: Mutex<All>,
    /// Held while the shared gate starts, so that it starts only once.
    starting: Mutex<()>,
}

#[derive(Default)]
struct All {
    by_id: HashMap<String, Arc<Session>>,
    shared: Option<Arc<Session>>,
    /// The number of running gates.
    running: usize,
}

impl Session {
    /// Marks the session as used now.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(super) fn is_shared(&self) -> bool {
        self.id.is_empty()
    }

    /// Handles the disconnection of a stream's client. Without a session, that cancels its request.
    pub(super) fn cancel(&self, reader: Reader) {
        if let Some(id) = reader.cancel() {
            let cancelled = Message::cancelled(&id, Some("the client closed the stream"));
            self.streams.say(Wrote::Line(cancelled.to_line()), None);
        }
    }

    /// Returns how long the session has been idle.
    fn idle(&self) -> Duration {
        if self.streams.is_read() {
            return Duration::ZERO;
        }
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Sessions {
    pub(super) fn new(setting: Setting, signals: Signals) -> Arc<Self> {
        Arc::new(Sessions { setting, signals, all: Mutex::default(), starting: Mutex::default() })
    }

    /// Returns the session with an id.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let session = self.lock().by_id.get(id).cloned()?;
        session.touch();
        Some(session)
    }

    /// Starts a session.
    pub(super) fn start(self: &Arc<Self>) -> Result<Arc<Session>, Refused> {
        let id = random(16).map_err(|error| Refused(500, error.to_string()))?;
        self.run(id)
    }

    /// Returns the session that all clients without a session share.
    pub(super) fn shared(self: &Arc<Self>) -> Result<Arc<Session>, Refused> {
        let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.lock().shared.clone();
        match known.filter(|session| !session.streams.has_ended()) {
            Some(session) => {
                session.touch();
                Ok(session)
            }
            None => self.run(String::new()),
        }
    }

    /// Runs a gate on a thread of its own.
    fn run(self: &Arc<Self>, id: String) -> Result<Arc<Session>, Refused> {
        self.make_room()?;
        let streams = Streams::new(id.is_empty());
        let session = Arc::new(Session { id, streams: Arc::clone(&streams), used: Mutex::new(Instant::now()) });
        let writer = LineWriter::start(Sink::new(&streams)).map_err(no_thread)?;
        // If the gate does not start, the writer stays open, and so does its thread.
        let closing = Arc::clone(&writer);
        let (tell, told) = mpsc::channel();
        let listen = move |gate: SyncSender<Happened>| {
            // The client that waits for it is still connected.
            let _ = tell.send(gate);
            Ok(())
        };
        let client = Downstream { writer, listen: Box::new(listen) };
        self.lock().running += 1;
        let (own, sessions) = (Arc::clone(&session), Arc::clone(self));
        let spawned = thread::Builder::new().spawn(move || {
            sessions.serve(client);
            closing.close();
            own.streams.end();
            sessions.lock().running -= 1;
            sessions.forget(&own);
        });
        if let Err(error) = spawned {
            self.lock().running -= 1;
            return Err(no_thread(error));
        }
        let Ok(gate) = told.recv() else {
            return Err(Refused(500, "the session cannot begin: the gate says why on its standard error".to_owned()));
        };
        let _ = streams.gate.set(gate);
        {
            let mut all = self.lock();
            match session.is_shared() {
                true => all.shared = Some(Arc::clone(&session)),
                false => drop(all.by_id.insert(session.id.clone(), Arc::clone(&session))),
            }
        }
        if streams.has_ended() {
            self.forget(&session);
        }
        Ok(session)
    }

    fn serve(&self, client: Downstream) {
        let mut folder = None;
        let ended = match session::serve(&self.setting, client, &self.signals, &mut folder) {
            Ok(End::Client | End::Signal(_)) => return,
            Ok(End::Server(message)) => message,
            Err(error) => error.report(),
        };
        say(&format!("seamgate: a session ended: {}", escape_terminal(&ended)));
        if let Some(folder) = folder {
            say(&format!("seamgate: what happened: seamgate trace {}", shell_word(&folder)));
        }
    }

    /// Ends a session.
    pub(super) fn end(&self, session: &Arc<Session>) {
        self.forget(session);
        session.streams.say(Wrote::End, None);
    }

    fn forget(&self, session: &Arc<Session>) {
        let mut all = self.lock();
        if session.is_shared() {
            all.shared = all.shared.take().filter(|shared| !Arc::ptr_eq(shared, session));
        } else {
            all.by_id.remove(&session.id);
        }
    }

    /// Ends all sessions that are no longer used.
    pub(super) fn tidy(&self) {
        let idle: Vec<_> = self.lock().every().filter(|session| session.idle() > IDLE).cloned().collect();
        idle.iter().for_each(|session| self.end(session));
    }

    /// Checks that another session may be started. If there are too many, closes the session that has been idle
    /// longest.
    fn make_room(&self) -> Result<(), Refused> {
        let longest = {
            let all = self.lock();
            if all.running < MAX_SESSIONS {
                return Ok(());
            }
            let longest = all.every().map(|session| (session.idle(), session)).max_by_key(|(idle, _)| *idle);
            longest.filter(|(idle, _)| *idle > SHORT_IDLE).map(|(_, session)| Arc::clone(session))
        };
        match longest {
            Some(session) => {
                self.end(&session);
                Ok(())
            }
            None => Err(Refused(503, format!("there are {MAX_SESSIONS} sessions already: end one"))),
        }
    }

    /// Waits until all sessions have ended, but no longer than `time`.
    pub(super) fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while self.lock().running > 0 && Instant::now() < until {
            thread::sleep(TICK);
        }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn every(&self) -> impl Iterator<Item = &Arc<Session>> {
        self.by_id.values().chain(&self.shared)
    }
}

fn no_thread(error: std::io::Error) -> Refused {
    Refused(500, format!("the session cannot begin: {error}"))
}
