//! The state that the threads of a connection share.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use seamgate_text::{escape_terminal, warn};
use ureq::{
    Agent,
    http::{HeaderName, HeaderValue},
};

use super::{
    endpoint::Endpoint,
    flight::{Flight, Job, Session, Stop},
    headers::Mirrors,
    net,
    oauth::Authorizer,
    url::Url,
};
use crate::process::{Refused, Wrote};

/// The most bytes of messages that may wait to be sent.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The maximum number of requests in flight. Further requests wait.
const MAX_FLIGHTS: usize = 64;
/// The maximum number of idle connections.
const MAX_IDLE: usize = 8;
/// The maximum number of the server's open requests that are remembered.
const MAX_QUESTIONS: usize = 1024;

/// An event of a connection to a server.
pub enum Received {
    /// A line, or the end.
    Wrote(Wrote),
    /// A request will receive no answer.
    Unanswered {
        /// The request's id, as it is written in the message.
        id: String,
        /// A description.
        message: String,
        /// `true` if the server may have acted on the request.
        may_have_run: bool,
    },
}

/// A function that receives events, and returns whether it accepts more.
pub(super) type Take = Box<dyn FnMut(Received) -> bool + Send>;

/// The shared state of a connection.
pub(super) struct Link {
    pub(super) endpoint: Endpoint,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) authorizer: Authorizer,
    state: Mutex<State>,
    changed: Condvar,
    take: Mutex<Option<Take>>,
}

pub(super) struct State {
    /// The current address. Redirects may change it.
    pub(super) url: Url,
    outgoing: VecDeque<String>,
    /// The total size of the messages that wait or are being sent, in bytes.
    bytes: usize,
    /// `true` once the caller sends nothing more.
    is_closed: bool,
    /// `true` once the caller wants nothing more.
    is_stopped: bool,
    /// `true` once everything is sent and the session is ended.
    is_done: bool,
    waiting: VecDeque<Job>,
    workers: usize,
    last_flight: u64,
    flights: BTreeMap<u64, Arc<Flight>>,
    /// The ids of the server's open requests.
    questions: BTreeSet<String>,
    pub(super) session: Session,
    pub(super) mirrors: Mirrors,
    idle: Vec<Agent>,
}

impl Link {
    pub(super) fn new(
        endpoint: Endpoint,
        headers: Vec<(HeaderName, HeaderValue)>,
        authorizer: Authorizer,
        url: Url,
        take: Take,
    ) -> Self {
        let state = State {
            url,
            outgoing: VecDeque::new(),
            bytes: 0,
            is_closed: false,
            is_stopped: false,
            is_done: false,
            waiting: VecDeque::new(),
            workers: 0,
            last_flight: 0,
            flights: BTreeMap::new(),
            questions: BTreeSet::new(),
            session: Session::default(),
            mirrors: Mirrors::new(),
            idle: Vec::new(),
        };
        Link {
            endpoint,
            headers,
            authorizer,
            state: Mutex::new(state),
            changed: Condvar::new(),
            take: Mutex::new(Some(take)),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, if there is space in the queue.
    pub(super) fn push(&self, line: String) -> Result<(), Refused> {
        let mut state = self.state();
        if state.is_closed || state.is_stopped {
            return Err(Refused::Broken);
        }
        if state.bytes > MAX_BYTES {
            return Err(Refused::Full);
        }
        state.bytes += line.len();
        state.outgoing.push_back(line);
        self.changed.notify_all();
        Ok(())
    }

    /// Accepts no more messages. Waiting messages are sent, and then the session ends.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Abandons all requests, and ends the session.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        (state.is_closed, state.is_stopped) = (true, true);
        state.outgoing.clear();
        state.waiting.clear();
        let flights: Vec<_> = state.flights.values().cloned().collect();
        drop(state);
        self.changed.notify_all();
        flights.iter().for_each(|flight| flight.stop(Stop::Ended));
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Waits for a message to send. Returns `None` if no more will come.
    pub(super) fn next_outgoing(&self) -> Option<String> {
        let mut state = self.state();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(line) = state.outgoing.pop_front() {
                return Some(line);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Frees queue space for this many bytes, which were sent.
    pub(super) fn sent(&self, bytes: usize) {
        let mut state = self.state();
        state.bytes = state.bytes.saturating_sub(bytes);
    }

    /// Queues a request. Returns whether another worker is needed. That worker is already counted.
    pub(super) fn queue(&self, job: Job) -> bool {
        let mut state = self.state();
        state.waiting.push_back(job);
        let needs_worker = state.workers < MAX_FLIGHTS;
        state.workers += usize::from(needs_worker);
        needs_worker
    }

    /// Returns the next request, and marks it as in flight. Returns `None` if the worker is no longer needed.
    pub(super) fn next_job(&self) -> Option<(Job, Arc<Flight>)> {
        let mut state = self.state();
        match state.waiting.pop_front() {
            Some(job) => {
                let flight = self.launch(&mut state, job.id.clone(), job.method.clone());
                Some((job, flight))
            }
            None => {
                state.workers = state.workers.saturating_sub(1);
                self.changed.notify_all();
                None
            }
        }
    }

    /// Removes and returns all waiting requests, because no worker can be started.
    pub(super) fn without_worker(&self) -> Vec<Job> {
        let mut state = self.state();
        state.workers = state.workers.saturating_sub(1);
        if state.workers > 0 { Vec::new() } else { state.waiting.drain(..).collect() }
    }

    fn launch(&self, state: &mut State, id: String, method: String) -> Arc<Flight> {
        let agent = state.idle.pop().unwrap_or_else(|| net::agent(&state.url, self.endpoint.reach(), None));
        state.last_flight += 1;
        let stop = state.is_stopped.then_some(Stop::Ended);
        let flight = Arc::new(Flight::new(state.last_flight, id, method, agent, stop));
        state.flights.insert(flight.key(), Arc::clone(&flight));
        flight
    }

    /// Starts the stream for messages that the server sends on its own initiative.
    pub(super) fn launch_stream(&self) -> Option<Arc<Flight>> {
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        Some(self.launch(&mut state, String::new(), String::new()))
    }

    /// Removes a request that is no longer in flight. Its connection is kept if it is still open.
    pub(super) fn land(&self, flight: &Flight) {
        let mut state = self.state();
        state.flights.remove(&flight.key());
        if flight.stopped().is_none() && state.idle.len() < MAX_IDLE {
            state.idle.push(flight.agent.clone());
        }
        self.changed.notify_all();
    }

    /// Cancels the request with this id, and closes its connection.
    pub(super) fn cancel(&self, id: &str) {
        let mut state = self.state();
        state.waiting.retain(|job| job.id != id);
        let flights: Vec<_> = state.flights.values().filter(|flight| flight.id == id).cloned().collect();
        drop(state);
        flights.iter().for_each(|flight| flight.stop(Stop::Cancelled));
    }

    /// Abandons the requests whose server has been silent for too long. Returns `false` once the connection has ended.
    pub(super) fn watch(&self) -> bool {
        let state = self.state();
        let waits_for_us = !state.questions.is_empty();
        let patience = Duration::from_secs(self.endpoint.timeout_s);
        let overdue = |flight: &Arc<Flight>| Some((Arc::clone(flight), flight.overdue(patience, waits_for_us)?));
        let mut overdue: Vec<_> = state.flights.values().filter_map(overdue).collect();
        if state.is_closed {
            let endless =
                state.flights.values().filter(|flight| matches!(&*flight.method, "" | "subscriptions/listen"));
            overdue.extend(endless.map(|flight| (Arc::clone(flight), Stop::Ended)));
        }
        let goes_on = !state.is_done;
        drop(state);
        overdue.iter().for_each(|(flight, why)| flight.stop(*why));
        goes_on
    }

    /// Waits for this time, or until the connection ends or the request is abandoned.
    pub(super) fn pause(&self, time: Duration, flight: &Flight) {
        let end = Instant::now() + time;
        let mut state = self.state();
        while !state.is_stopped && flight.stopped().is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            // An abandoned request is noticed a moment later.
            let tick = left.min(Duration::from_millis(100));
            state = self.changed.wait_timeout(state, tick).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for this time, or until the connection ends.
    pub(super) fn rest(&self, time: Duration) {
        let state = self.state();
        drop(self.changed.wait_timeout_while(state, time, |state| !state.is_closed));
    }

    /// Waits until no request is in flight, or everything is abandoned.
    pub(super) fn wait_for_flights(&self) {
        let mut state = self.state();
        while !state.is_stopped && (state.workers > 0 || !state.flights.is_empty()) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records that everything is sent and the session is ended.
    pub(super) fn finish(&self) {
        self.state().is_done = true;
        self.changed.notify_all();
    }

    /// Waits until everything is sent and the session is ended, but no longer than `time`.
    pub(super) fn wait_until_done(&self, time: Duration) {
        let state = self.state();
        drop(self.changed.wait_timeout_while(state, time, |state| !state.is_done));
    }

    /// Records that the server has sent a request.
    pub(super) fn ask(&self, id: &str) {
        let mut state = self.state();
        if state.questions.len() < MAX_QUESTIONS {
            state.questions.insert(id.to_owned());
        }
    }

    /// Records that a request of the server was answered or cancelled.
    pub(super) fn answered(&self, id: &str) {
        let mut state = self.state();
        state.questions.remove(id);
        // The server was waiting for this answer, and now continues its work.
        state.flights.values().for_each(|flight| flight.hear());
    }

    /// Passes an event to the caller.
    pub(super) fn deliver(&self, received: Received) {
        let is_end = matches!(received, Received::Wrote(Wrote::End));
        if is_end {
            // The reader of the end may send something at once. By then, nothing more is accepted.
            self.stop();
        }
        let mut take = self.take.lock().unwrap_or_else(PoisonError::into_inner);
        let wants_more = take.as_mut().is_some_and(|take| take(received));
        if (!wants_more || is_end) && take.take().is_some() {
            drop(take);
            self.stop();
        }
    }

    /// Ends the connection, because the server no longer has the session.
    pub(super) fn session_lost(&self, message: &str) {
        self.state().session = Session::default();
        self.say(message);
        self.deliver(Received::Wrote(Wrote::End));
    }

    /// Reports something about the server to the user.
    pub(super) fn say(&self, message: &str) {
        let name = if self.endpoint.name.is_empty() { "server" } else { &self.endpoint.name };
        let message = self.endpoint.secrets.hide(message.to_owned());
        warn(&format!("seamgate: {}: {message}", escape_terminal(name)));
    }
}
