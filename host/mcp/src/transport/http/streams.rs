//! The streams of messages from the gate to a client. Each request has a stream, which ends with its answer. The
//! general stream carries messages that answer no request.
//!
//! With a session, a stream outlives its connection, and the client resumes it. Without a session, the end of the
//! connection cancels the request. In this case, the gate renames request ids, because two clients may use the same
//! ones, and each client sees its own.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io::{self, ErrorKind, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc::SyncSender},
    time::{Duration, Instant},
};

use seamgate_runner::process::Wrote;
use serde_json::value::RawValue;

use super::renames::{Asked, own_answer, own_notification, token_of};
use crate::{
    core::{
        Id, Message,
        message::{METHOD_NOT_FOUND, Members},
        meta::subscription,
    },
    driver::Happened,
};

/// The most bytes that wait for a slow client. Beyond that, the gate waits.
const MAX_WAITING: usize = 16 * 1024 * 1024;
/// The most written bytes that are kept for a client that reconnects, and the maximum number of ended streams.
const MAX_KEPT: usize = 1024 * 1024;
const MAX_ENDED: usize = 16;
/// The maximum number of messages that wait for a client that does not listen. Older messages are dropped.
const MAX_UNHEARD: usize = 256;
/// The interval at which a writer that waits for space checks again.
const TICK: Duration = Duration::from_millis(100);

/// The general stream, for messages that answer no request.
pub(super) const GENERAL: u64 = 0;

/// The streams of a session, or of all clients without a session.
pub(super) struct Streams {
    is_stateless: bool,
    /// The gate's queue for the client's input.
    pub(super) gate: OnceLock<SyncSender<Happened>>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    streams: BTreeMap<u64, Stream>,
    last: u64,
    last_reader: u64,
    /// The streams of requests that have no answer yet, by the gate's ids for them.
    open: HashMap<Id, u64>,
    /// The number of bytes that are not written yet, and of written bytes that are kept.
    waiting: usize,
    kept: usize,
    has_ended: bool,
}

#[derive(Default)]
struct Stream {
    /// The gate's id for the stream's request. `None` for the general stream.
    id: Option<Id>,
    /// The request as the client sent it.
    asked: Option<Asked>,
    events: VecDeque<String>,
    /// The number of the oldest event, and of the next to be written. The first event has the number 1.
    oldest: u64,
    next: u64,
    /// `true` if no more messages will come.
    is_done: bool,
    /// The number of the reader that writes the stream to a connection.
    reader: Option<u64>,
}

/// The next step of a stream.
pub(super) enum Next {
    /// A message and its number.
    Message(u64, String),
    /// No message within the time limit.
    Nothing,
    /// The end of the stream.
    End,
}

/// A reader, which writes a stream to a connection.
pub(super) struct Reader {
    streams: Arc<Streams>,
    pub(super) stream: u64,
    number: u64,
}

impl Streams {
    pub(super) fn new(is_stateless: bool) -> Arc<Self> {
        let mut streams = BTreeMap::new();
        streams.insert(GENERAL, Stream { oldest: 1, next: 1, ..Stream::default() });
        let state = State {
            streams,
            last: GENERAL,
            last_reader: 0,
            open: HashMap::new(),
            waiting: 0,
            kept: 0,
            has_ended: false,
        };
        Arc::new(Streams { is_stateless, gate: OnceLock::new(), state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Opens the stream of a request. Returns it with the gate's id for the request. Returns `None` if another request
    /// with this id is in flight.
    pub(super) fn open(self: &Arc<Self>, asked: Asked) -> Option<(Reader, Id)> {
        let mut state = self.lock();
        state.last += 1;
        let stream = state.last;
        let id = if self.is_stateless { Id::text(&format!("http-{stream}")) } else { asked.id.clone() };
        if state.open.contains_key(&id) {
            return None;
        }
        state.open.insert(id.clone(), stream);
        let own = Stream { id: Some(id.clone()), asked: Some(asked), oldest: 1, next: 1, ..Stream::default() };
        state.streams.insert(stream, own);
        drop(state);
        Some((self.attach(stream, None)?, id))
    }

    /// Connects a reader to a stream, in place of its previous one. With `after`, begins with the message after that
    /// one. Returns `None` if there is no such stream, or if that message is no longer kept.
    pub(super) fn attach(self: &Arc<Self>, stream: u64, after: Option<u64>) -> Option<Reader> {
        let mut state = self.lock();
        let State { streams, last_reader, waiting, kept, .. } = &mut *state;
        let own = streams.get_mut(&stream)?;
        if let Some(after) = after {
            let next = after.checked_add(1)?;
            if next < own.oldest || next > own.next {
                return None;
            }
            let again = usize::try_from(own.next - next).ok()?;
            let start = usize::try_from(next - own.oldest).ok()?;
            let bytes: usize = own.events.range(start..start + again).map(String::len).sum();
            own.next = next;
            *waiting += bytes;
            *kept = kept.saturating_sub(bytes);
        }
        *last_reader += 1;
        own.reader = Some(*last_reader);
        let number = *last_reader;
        self.changed.notify_all();
        Some(Reader { streams: Arc::clone(self), stream, number })
    }

    /// Handles a line of the gate.
    fn take(&self, line: &str) {
        let Ok(message) = Message::read(line) else { return };
        match &message {
            Message::Answer { id, .. } => {
                let stream = id.as_ref().and_then(|id| self.lock().open.remove(id));
                let Some(stream) = stream else { return };
                let own = |asked: Option<&Asked>| match asked.filter(|_| self.is_stateless) {
                    Some(asked) => own_answer(&message, asked).to_line(),
                    None => line.to_owned(),
                };
                self.push(stream, own, true);
            }
            Message::Request { id, .. } if self.is_stateless => {
                let Some(gate) = self.gate.get() else { return };
                let why = "without a session, a server asks by its results";
                let refused = Message::error(Some(id.clone()), METHOD_NOT_FOUND, why).to_line();
                // If the gate's queue is full, this notification is less important than its other work.
                let _ = gate.try_send(Happened::Client(Wrote::Line(refused), None));
            }
            Message::Notification { method, params } if self.is_stateless => {
                self.take_told(method, params.as_deref(), &message);
            }
            Message::Request { .. } => {
                let stream = self.lock().newest();
                self.push(stream, |_| line.to_owned(), false);
            }
            Message::Notification { params, .. } => {
                let stream = {
                    let state = self.lock();
                    let token = token_of(params.as_deref());
                    let is_its = |stream: &u64| {
                        token.is_some() && state.asked(*stream).is_some_and(|asked| asked.token.as_deref() == token)
                    };
                    state.open.values().copied().find(is_its).unwrap_or_else(|| state.newest())
                };
                self.push(stream, |_| line.to_owned(), false);
            }
        }
    }

    /// Handles a notification without a session. It belongs to a request, or to nobody.
    fn take_told(&self, method: &str, params: Option<&RawValue>, message: &Message) {
        let (stream, named) = {
            let state = self.lock();
            let params_of = params.and_then(|params| Members::of(params.get()));
            let cancelled = params_of.as_ref().and_then(|params| params.get("requestId")).map(RawValue::get);
            let named = subscription(params).or_else(|| token_of(params)).or(cancelled).and_then(Id::read);
            match named.and_then(|named| Some((*state.open.get(&named)?, named))) {
                Some((stream, named)) => (stream, Some(named)),
                None => {
                    // A log message names no request. If only one is in flight, it belongs to that request. Clients
                    // receive nothing else that they did not request.
                    if method != "notifications/message" {
                        return;
                    }
                    let is_call = |stream: &&u64| {
                        state.asked(**stream).is_some_and(|asked| asked.method != "subscriptions/listen")
                    };
                    let mut calls = state.open.values().filter(is_call);
                    match (calls.next(), calls.next()) {
                        (Some(stream), None) => (*stream, None),
                        _ => return,
                    }
                }
            }
        };
        match (named, method) {
            // This is how a server ends a subscription.
            (Some(named), "notifications/cancelled") => {
                let mut state = self.lock();
                state.open.remove(&named);
                if let Some(own) = state.streams.get_mut(&stream) {
                    own.is_done = true;
                }
                self.changed.notify_all();
            }
            (Some(named), _) => {
                let own = |asked: Option<&Asked>| match asked {
                    Some(asked) => own_notification(message, &named, asked).to_line(),
                    None => message.to_line(),
                };
                self.push(stream, own, false);
            }
            (None, _) => self.push(stream, |_| message.to_line(), false),
        }
    }

    /// Adds a message to a stream as soon as there is space.
    fn push(&self, stream: u64, text: impl FnOnce(Option<&Asked>) -> String, is_last: bool) {
        let mut state = self.lock();
        while state.waiting > MAX_WAITING && !state.has_ended {
            // Unread messages are dropped first, including this one.
            state.forget_unread();
            if state.waiting > MAX_WAITING {
                state = self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        let Some(own) = state.streams.get_mut(&stream) else { return };
        let text = text(own.asked.as_ref());
        let added = text.len();
        own.events.push_back(text);
        own.is_done |= is_last;
        let mut lost = 0;
        if stream == GENERAL && own.reader.is_none() && own.events.len() > MAX_UNHEARD {
            lost = own.events.pop_front().map_or(0, |event| event.len());
            let was_written = own.oldest < own.next;
            own.oldest += 1;
            own.next = own.next.max(own.oldest);
            if was_written {
                state.kept = state.kept.saturating_sub(lost);
                lost = 0;
            }
        }
        state.waiting = (state.waiting + added).saturating_sub(lost);
        state.tidy(!self.is_stateless);
        self.changed.notify_all();
    }

    /// Ends the streams after the session has ended. Waiting messages are still written.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        state.open.clear();
        state.streams.values_mut().for_each(|own| own.is_done = true);
        self.changed.notify_all();
    }

    /// Returns whether the session has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.lock().has_ended
    }

    /// Sends the gate a line of the client, with the headers that repeat arguments if the version has them. Returns
    /// whether the gate accepts it.
    pub(super) fn say(&self, wrote: Wrote, headers: Option<Vec<(String, String)>>) -> bool {
        self.gate.get().is_some_and(|gate| gate.send(Happened::Client(wrote, headers)).is_ok())
    }

    /// Returns whether a connection is reading one of the streams.
    pub(super) fn is_read(&self) -> bool {
        self.lock().streams.values().any(|own| own.reader.is_some())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the request of a stream.
    fn asked(&self, stream: u64) -> Option<&Asked> {
        self.streams.get(&stream)?.asked.as_ref()
    }

    /// Routes a message that names no request. It goes to the newest waiting request, because the message may belong to
    /// it. If no request waits, it goes to the client that listens.
    fn newest(&self) -> u64 {
        let is_read = |stream: &&u64| self.streams.get(*stream).is_some_and(|own| own.reader.is_some());
        self.open.values().filter(is_read).max().copied().unwrap_or(GENERAL)
    }

    fn forget(&mut self, stream: u64) {
        let Some(own) = self.streams.get_mut(&stream) else { return };
        let written = usize::try_from(own.next - own.oldest).unwrap_or_default();
        let length = |events: &mut dyn Iterator<Item = &String>| events.map(String::len).sum::<usize>();
        self.kept = self.kept.saturating_sub(length(&mut own.events.iter().take(written)));
        self.waiting = self.waiting.saturating_sub(length(&mut own.events.iter().skip(written)));
        own.oldest += own.events.len() as u64;
        own.next = own.oldest;
        own.events.clear();
        if stream != GENERAL {
            if let Some(id) = own.id.take() {
                self.open.remove(&id);
            }
            self.streams.remove(&stream);
        }
    }

    /// Drops the messages that wait in unread streams.
    fn forget_unread(&mut self) {
        let is_unread = |own: &Stream| own.reader.is_none() && own.oldest + (own.events.len() as u64) > own.next;
        let unread: Vec<u64> =
            self.streams.iter().filter(|(_, own)| is_unread(own)).map(|(stream, _)| *stream).collect();
        unread.into_iter().for_each(|stream| self.forget(stream));
    }

    /// Removes what has been kept for too long, the oldest first.
    fn tidy(&mut self, is_kept: bool) {
        let has_ended = |own: &Stream| own.is_done && own.reader.is_none();
        let ended: Vec<u64> =
            self.streams.iter().filter(|(_, own)| has_ended(own)).map(|(stream, _)| *stream).collect();
        let keep = if is_kept { MAX_ENDED } else { 0 };
        for stream in &ended[..ended.len().saturating_sub(keep)] {
            self.forget(*stream);
        }
        let limit = if is_kept { MAX_KEPT } else { 0 };
        for own in self.streams.values_mut() {
            while self.kept > limit && own.oldest < own.next {
                self.kept = self.kept.saturating_sub(own.events.pop_front().map_or(0, |event| event.len()));
                own.oldest += 1;
            }
        }
    }
}

impl Reader {
    /// Waits for the next step, but no longer than `time`.
    pub(super) fn next(&self, time: Duration) -> Next {
        let until = Instant::now() + time;
        let mut state = self.streams.lock();
        loop {
            let Some(own) = state.streams.get_mut(&self.stream) else { return Next::End };
            if own.reader != Some(self.number) {
                return Next::End;
            }
            let place = usize::try_from(own.next - own.oldest).unwrap_or(usize::MAX);
            if let Some(text) = own.events.get(place).cloned() {
                let number = own.next;
                own.next += 1;
                state.waiting = state.waiting.saturating_sub(text.len());
                state.kept += text.len();
                state.tidy(!self.streams.is_stateless);
                self.streams.changed.notify_all();
                return Next::Message(number, text);
            }
            if own.is_done {
                return Next::End;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Next::Nothing;
            }
            state = self.streams.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Closes the reader because its client disconnected. Returns the id of the request that this cancels, if the
    /// request has no session and no answer.
    pub(super) fn cancel(self) -> Option<Id> {
        if !self.streams.is_stateless {
            return None;
        }
        let mut state = self.streams.lock();
        let id = state.streams.get(&self.stream)?.id.clone()?;
        let is_open = state.open.contains_key(&id);
        state.forget(self.stream);
        drop(state);
        is_open.then_some(id)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.streams.lock();
        if let Some(own) = state.streams.get_mut(&self.stream)
            && own.reader == Some(self.number)
        {
            own.reader = None;
            // Without a session, no client reconnects.
            own.is_done |= self.streams.is_stateless;
        }
        state.tidy(!self.streams.is_stateless);
        self.streams.changed.notify_all();
    }
}

/// The sink of the gate's messages.
pub(super) struct Sink {
    streams: Arc<Streams>,
    /// The beginning of an incomplete line.
    begun: Vec<u8>,
}

impl Sink {
    pub(super) fn new(streams: &Arc<Streams>) -> Self {
        Sink { streams: Arc::clone(streams), begun: Vec::new() }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.streams.lock().has_ended {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let rest = lines.next_back().unwrap_or_default();
        for line in lines {
            let line = match self.begun.is_empty() {
                true => line.to_owned(),
                false => [&std::mem::take(&mut self.begun), line].concat(),
            };
            self.streams.take(&String::from_utf8_lossy(&line));
        }
        self.begun.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::message::{json, raw};

    fn ask(streams: &Arc<Streams>, id: u64) -> Reader {
        let asked = Asked { id: Id::number(id), method: "tools/call".to_owned(), token: None };
        streams.open(asked).expect("no other request has this id").0
    }

    fn answer(id: u64, bytes: usize) -> String {
        Message::result(Id::number(id), raw(json(&"x".repeat(bytes)))).to_line()
    }

    fn next(reader: &Reader) -> Option<String> {
        match reader.next(Duration::ZERO) {
            Next::Message(_, text) => Some(text),
            Next::Nothing | Next::End => None,
        }
    }

    #[test]
    fn a_client_that_goes_again_and_again_fills_no_memory() {
        let streams = Streams::new(false);
        for id in 1..=40 {
            drop(ask(&streams, id));
            streams.take(&answer(id, 10));
        }
        let kept: Vec<u64> = (1..=40).filter(|stream| streams.attach(*stream, Some(0)).is_some()).collect();
        assert_eq!(kept, (25..=40).collect::<Vec<_>>());
        let reader = streams.attach(40, Some(0)).expect("it is kept");
        assert_eq!(next(&reader), Some(answer(40, 10)));
    }

    #[test]
    fn what_nobody_reads_gives_way_to_who_reads() {
        let streams = Streams::new(false);
        for id in 1..=4 {
            drop(ask(&streams, id));
            streams.take(&answer(id, MAX_WAITING / 3));
        }
        let reader = ask(&streams, 5);
        // Nobody reads meanwhile, so this would otherwise wait forever.
        streams.take(&answer(5, 10));
        assert_eq!(next(&reader), Some(answer(5, 10)));
        assert!(streams.lock().waiting <= MAX_WAITING);
    }

    #[test]
    fn who_does_not_listen_gets_the_newest() {
        let streams = Streams::new(false);
        let told = |number: usize| format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"number":{number}}}}}"#);
        for number in 0..MAX_UNHEARD + 10 {
            streams.take(&told(number));
        }
        let reader = streams.attach(GENERAL, None).expect("it is always there");
        let heard: Vec<String> = std::iter::from_fn(|| next(&reader)).collect();
        assert_eq!(heard, (10..MAX_UNHEARD + 10).map(told).collect::<Vec<_>>());
        assert_eq!(streams.lock().waiting, 0);
    }

    #[test]
    fn without_a_session_nothing_is_kept() {
        let streams = Streams::new(true);
        let asked = |id: u64| Asked { id: Id::number(id), method: String::new(), token: None };
        let (reader, id) = streams.open(asked(7)).expect("a stream");
        streams.take(&Message::result(id, raw("{}".to_owned())).to_line());
        assert_eq!(next(&reader), Some(Message::result(Id::number(7), raw("{}".to_owned())).to_line()));
        drop(reader);
        drop(ask(&streams, 8));
        let (reader, own) = streams.open(asked(9)).expect("a stream");
        assert_eq!(reader.cancel(), Some(own));
        let state = streams.lock();
        assert_eq!((state.streams.len(), state.waiting, state.kept), (1, 0, 0));
    }
}
