//! Requests in flight, and the session that they belong to.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use ureq::Agent;

/// The longest time that a stream may continue after its answer.
const AFTER_ANSWER: Duration = Duration::from_secs(1);
/// The time that the stream of a session may be silent before it is opened again.
const SILENT_STREAM: Duration = Duration::from_secs(300);

/// The session, if the server's version has sessions.
#[derive(Clone, Default)]
pub(super) struct Session {
    /// The session's id.
    pub(super) id: Option<String>,
    /// The version that both sides agreed on. `None` before that, and without a session.
    pub(super) version: Option<String>,
    /// `true` once a stream for the server's own messages was opened.
    pub(super) is_listening: bool,
}

/// A request to send.
pub(super) struct Job {
    pub(super) line: String,
    /// The id as it is written in the message.
    pub(super) id: String,
    pub(super) method: String,
    /// The version, if the request has no session.
    pub(super) version: Option<String>,
}

/// A request in flight, or the stream of a session.
pub(super) struct Flight {
    key: u64,
    /// The id as it is written in the message. Empty for the stream of a session.
    pub(super) id: String,
    pub(super) method: String,
    pub(super) agent: Agent,
    mark: Mutex<Mark>,
}

struct Mark {
    heard: Instant,
    answered: Option<Instant>,
    stop: Option<Stop>,
}

/// The reason for abandoning a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Cancelled,
    /// The server was silent for too long.
    Late,
    /// The stream continued after its answer.
    Answered,
    /// The whole connection is ending.
    Ended,
}

impl Flight {
    pub(super) fn new(key: u64, id: String, method: String, agent: Agent, stop: Option<Stop>) -> Self {
        Flight { key, id, method, agent, mark: Mutex::new(Mark { heard: Instant::now(), answered: None, stop }) }
    }

    /// Returns the number of the request within its connection.
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// Records that bytes were received.
    pub(super) fn hear(&self) {
        self.mark().heard = Instant::now();
    }

    /// Records that the answer was received.
    pub(super) fn answer(&self) {
        self.mark().answered = Some(Instant::now());
    }

    pub(super) fn is_answered(&self) -> bool {
        self.mark().answered.is_some()
    }

    /// Returns why the request was abandoned.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.mark().stop
    }

    /// Abandons the request, and closes its connection.
    pub(super) fn stop(&self, why: Stop) {
        self.mark().stop.get_or_insert(why);
        self.agent.clone().shutdown();
    }

    fn mark(&self) -> MutexGuard<'_, Mark> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason to abandon the request now, if there is one.
    pub(super) fn overdue(&self, patience: Duration, waits_for_us: bool) -> Option<Stop> {
        let mark = self.mark();
        let silent = mark.heard.elapsed();
        match (mark.answered, self.method.as_str()) {
            _ if mark.stop.is_some() => None,
            (Some(answered), _) => (answered.elapsed() > AFTER_ANSWER).then_some(Stop::Answered),
            // A silent stream may have lost its connection.
            (None, "") => (silent > SILENT_STREAM).then_some(Stop::Late),
            (None, "subscriptions/listen") => None,
            (None, _) => (silent > patience && !waits_for_us).then_some(Stop::Late),
        }
    }
}
