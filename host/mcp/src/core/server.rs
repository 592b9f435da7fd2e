//! A server of the gate, which is an untrusted program, and the requests that it has yet to answer.

use std::collections::BTreeMap;

use super::message::Id;

/// The most unsolicited messages that a server may send at once, and the number of further messages for each second.
const MAX_UNASKED: u64 = 10_000;
const UNASKED_PER_SECOND: u64 = 1_000;

/// The pause before a server is restarted, in milliseconds: the second pause, and the longest. The first restart is
/// immediate, and each further pause is twice the previous one.
const SECOND_PAUSE: u64 = 1_000;
const LAST_PAUSE: u64 = 60_000;
/// The running time after which a server counts as started successfully, in milliseconds.
const STEADY: u64 = 60_000;

/// A request that a server has yet to answer.
pub(super) enum Asked {
    /// A call, by the run's key, and the time when it was sent.
    Call { key: String, since: u64 },
    /// A request of the client.
    Relayed { id: Id, method: String },
    /// The first request of a session, and the time when it was sent.
    Initialize { since: u64 },
    /// A request for a page of the server's tools, and the time when it was sent.
    List { since: u64 },
    /// A subscription of the gate to changes of the server's tools.
    Listen,
    /// A request of the client about a task.
    Task { id: Id, task: String },
}

/// The state of a server's process.
enum State {
    /// The server has been running since this time.
    Up(u64),
    /// The server is down: the reason, and the time of its restart. `None` if there is no restart, or if the server is
    /// being started.
    Down(String, Option<u64>),
}

/// A server.
pub(super) struct Server {
    pub(super) name: String,
    /// Requests that have no answer yet, by their ids.
    pub(super) asked: BTreeMap<u64, Asked>,
    last_id: u64,
    state: State,
    /// `true` if the server's input is closed because the session ends.
    is_closed: bool,
    /// The number of starts since the server last ran steadily.
    starts: u32,
    /// The number of unsolicited messages, less those that the elapsed time permits; and the time of that count.
    unasked: u64,
    unasked_at: u64,
    /// The number of lines that are not valid messages.
    pub(super) invalid_lines: usize,
    /// `true` if the server has ever answered.
    pub(super) has_answered: bool,
}

impl Server {
    pub(super) fn new(name: String) -> Self {
        Server {
            name,
            asked: BTreeMap::new(),
            last_id: 0,
            state: State::Up(0),
            is_closed: false,
            starts: 0,
            unasked: 0,
            unasked_at: 0,
            invalid_lines: 0,
            has_answered: false,
        }
    }

    /// Adds a request, and returns its id.
    pub(super) fn insert(&mut self, asked: Asked) -> u64 {
        self.last_id += 1;
        self.asked.insert(self.last_id, asked);
        self.last_id
    }

    /// Returns whether the server runs, so that its messages count.
    pub(super) fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    /// Returns whether the server accepts messages.
    pub(super) fn is_open(&self) -> bool {
        self.is_up() && !self.is_closed
    }

    /// Records that the server's input is closed. Nothing more is sent to it.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// If the server accepts no messages, returns the reason and the time of its restart.
    pub(super) fn is_down(&self, now: u64) -> Option<String> {
        match &self.state {
            State::Up(_) => self.is_closed.then(|| "the session ends".to_owned()),
            State::Down(why, Some(at)) => Some(match at.saturating_sub(now).div_ceil(1000) {
                0 => format!("{why}; the gate starts it again now"),
                seconds => format!("{why}; the gate starts it again in {seconds} s"),
            }),
            State::Down(why, None) => Some(format!("{why}; it is being started again")),
        }
    }

    /// Returns the reason why the server is down, if it is.
    pub(super) fn why(&self) -> Option<String> {
        match &self.state {
            State::Up(_) => None,
            State::Down(why, _) => Some(why.clone()),
        }
    }

    /// Records that the server runs.
    pub(super) fn started(&mut self, now: u64) {
        self.state = State::Up(now);
    }

    /// Records that the server has ended. It is restarted after a pause, if `is_restarted` is `true`.
    pub(super) fn ended(&mut self, now: u64, why: &str, is_restarted: bool) {
        if let State::Up(since) = self.state
            && now.saturating_sub(since) > STEADY
        {
            self.starts = 0;
        }
        let pause = match self.starts {
            0 => 0,
            starts => SECOND_PAUSE.saturating_mul(1 << (starts - 1).min(16)).min(LAST_PAUSE),
        };
        self.starts += 1;
        self.state = State::Down(why.to_owned(), is_restarted.then(|| now + pause));
    }

    /// Returns the time of the restart, if the server is down and will be restarted.
    pub(super) fn restart_at(&self) -> Option<u64> {
        match self.state {
            State::Down(_, at) => at,
            State::Up(_) => None,
        }
    }

    /// Records that the server is being started, if its restart is due. Returns whether it is.
    pub(super) fn is_due(&mut self, now: u64) -> bool {
        match &mut self.state {
            State::Down(_, at) if at.is_some_and(|at| at <= now) => {
                *at = None;
                true
            }
            _ => false,
        }
    }

    /// Counts an unsolicited message. Returns whether there are too many.
    pub(super) fn is_flooding(&mut self, now: u64) -> bool {
        let allowed = now.saturating_sub(self.unasked_at).saturating_mul(UNASKED_PER_SECOND) / 1000;
        if allowed > 0 {
            self.unasked = self.unasked.saturating_sub(allowed);
            self.unasked_at = now;
        }
        self.unasked += 1;
        self.unasked > MAX_UNASKED
    }
}
