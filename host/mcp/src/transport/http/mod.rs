//! A gate for clients that speak HTTP, using the protocol's transport "streamable HTTP" on one address of this machine
//! and one path. Each session has a gate, with its own servers and run. All clients without a session share one gate.
//! To the gate, a client is lines in and lines out, as over standard input and output.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>,
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod headers;
mod renames;
mod sessions;
mod streams;

use std::{
    borrow::Cow,
    io,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use seamgate_http::{Broken, Connection, Guard, Handler, Refused, Request};
use seamgate_runner::{
    Error, Result,
    process::{Signals, Wrote},
};
use seamgate_text::{is_log_json, say, warn};
use serde_json::value::RawValue;

use self::{
    headers::{Era, era_of},
    renames::{asked, renamed},
    sessions::{Session, Sessions},
    streams::{GENERAL, Next, Reader},
};
use crate::{
    core::{
        Message,
        message::{INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, Members, PARSE_ERROR},
    },
    setting::Setting,
};

/// The only path.
const PATH: &str = "/mcp";

/// The media type of messages.
const JSON: &str = "application/json";

/// The intervals at which a stream checks that its client is still connected, and shows that the gate is.
const LOOK: Duration = Duration::from_millis(250);
const ALIVE: Duration = Duration::from_secs(15);
/// The time after which a client reconnects, in milliseconds.
const RETRY_MS: u32 = 500;
/// The time within which an answer without a session is sent as a whole instead of as a stream.
const QUICK: Duration = Duration::from_secs(5);

/// The interval at which idle sessions are closed, and how long sessions have to end.
const TIDY: Duration = Duration::from_secs(60);
const ENDING: Duration = Duration::from_secs(4);

/// Serves clients until a signal comes, and returns the signal. `variable` is the environment variable with the token
/// that clients must send. `None` for a new token, which is printed once.
pub fn serve(setting: Setting, address: SocketAddr, variable: Option<&str>, signals: &Signals) -> Result<i32> {
    let named = |name: &&str| setting.launches.iter().any(|launch| launch.gets(name));
    if let Some(name) = variable.filter(named) {
        return Err(Error::invalid(format!(
            "--token-env {name}: a server would get this token: take {name} out of its 'environment'"
        )));
    }
    let failed = |error| Error::NoVerdict(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (guard, new) = Guard::new(address.port(), variable)?;
    say(&format!("seamgate: serves http://{address}{PATH}"));
    match (new, variable) {
        // Logs are kept, and whoever reads them must not learn the token.
        (Some(_), _) if is_log_json() => {
            warn("seamgate: a new token is not written to a log: name a variable with --token-env");
        }
        (Some(token), _) => say(&format!("seamgate: clients must send this header: Authorization: Bearer {token}")),
        (None, name) => {
            let name = name.unwrap_or_default();
            say(&format!("seamgate: clients must send this header: Authorization: Bearer, with the token of {name}"));
        }
    }
    let (sender, signalled) = mpsc::channel();
    let listening = sender.clone();
    let _listening = signals.listen(move |signal| listening.send(signal).is_ok());
    let sessions = Sessions::new(setting, signals.clone());
    let host = Host { guard, sessions: Arc::clone(&sessions) };
    thread::Builder::new()
        .spawn(move || seamgate_http::serve(&listener, host))
        .map_err(|error| Error::NoVerdict(format!("cannot start a thread: {error}")))?;
    loop {
        match signalled.recv_timeout(TIDY) {
            Ok(signal) => {
                sessions.wait(ENDING);
                return Ok(signal);
            }
            Err(RecvTimeoutError::Timeout) => sessions.tidy(),
            Err(RecvTimeoutError::Disconnected) => thread::sleep(TIDY),
        }
    }
}

/// The state that all connections share.
struct Host {
    guard: Guard,
    sessions: Arc<Sessions>,
}

/// The answer to a request.
enum Answer {
    /// A status, further headers, and a body.
    Whole(u16, String, String),
    /// A stream. `headers` are additional ones.
    Stream { session: Arc<Session>, reader: Reader, headers: String, is_primed: bool },
    /// A complete answer or a stream, depending on how long a request without a session takes.
    Either(Arc<Session>, Reader),
}

impl From<Refused> for Answer {
    fn from(Refused(status, why): Refused) -> Self {
        let headers = match status {
            401 => "WWW-Authenticate: Bearer\r\n",
            405 => "Allow: GET, POST, DELETE\r\n",
            503 => "Retry-After: 10\r\n",
            _ => "",
        };
        let code = if matches!(status, 500 | 503) { INTERNAL_ERROR } else { INVALID_REQUEST };
        Answer::Whole(status, headers.to_owned(), Message::error(None, code, &why).to_line())
    }
}

impl Handler for Host {
    type Answer = Answer;

    /// Handles a request. If the client is not permitted, nothing beyond the headers is read.
    fn answer(&self, connection: &mut Connection, request: &Request) -> Result<Answer, Broken> {
        self.guard.check_place(request)?;
        if request.target != PATH {
            return Err(Refused(404, format!("there is nothing here: the path is {PATH}")).into());
        }
        self.guard.check_token(request)?;
        match request.method.as_str() {
            "POST" => self.post(connection, request),
            "GET" | "DELETE" if request.has_body() => {
                Err(Refused(400, format!("a {} request has no body", request.method)).into())
            }
            "GET" | "DELETE" if era_of(request)? == Era::Stateless => {
                Err(Refused(405, "this version of the protocol has no sessions: use POST".to_owned()).into())
            }
            "GET" => Ok(self.listen(request)?),
            "DELETE" => {
                let session = self.session(request)?;
                self.sessions.end(&session);
                Ok(Answer::Whole(200, String::new(), String::new()))
            }
            _ => Err(Refused(405, "use POST, GET or DELETE".to_owned()).into()),
        }
    }

    fn write(&self, connection: &mut Connection, answer: Answer) -> io::Result<()> {
        write(connection, answer)
    }
}

impl Host {
    /// Returns the session that a request names.
    fn session(&self, request: &Request) -> Result<Arc<Session>, Refused> {
        let id = request.header("mcp-session-id");
        let id =
            id.ok_or_else(|| Refused(400, "the header Mcp-Session-Id is missing: begin with initialize".to_owned()))?;
        self.sessions.find(id).ok_or_else(gone)
    }

    /// Answers a client that listens for messages that answer none of its requests, or for the rest of a stream.
    fn listen(&self, request: &Request) -> Result<Answer, Refused> {
        if !headers::accepts(request, "text/event-stream") {
            return Err(Refused(406, "Accept must have text/event-stream".to_owned()));
        }
        let session = self.session(request)?;
        let numbers = |id: &str| {
            id.split_once('-').and_then(|(stream, number)| Some((stream.parse().ok()?, number.parse().ok()?)))
        };
        let reader = match request.header("last-event-id").map(numbers) {
            // The general stream continues with new messages, and does not replay old ones.
            Some(Some((GENERAL, number))) => {
                session.streams.attach(GENERAL, Some(number)).or_else(|| session.streams.attach(GENERAL, None))
            }
            Some(Some((stream, number))) => session.streams.attach(stream, Some(number)),
            Some(None) => None,
            None => session.streams.attach(GENERAL, None),
        };
        let reader =
            reader.ok_or_else(|| Refused(400, "Last-Event-ID names no event that is still known".to_owned()))?;
        Ok(Answer::Stream { session, reader, headers: String::new(), is_primed: false })
    }

    fn post(&self, connection: &mut Connection, request: &Request) -> Result<Answer, Broken> {
        if !["application/json", "text/event-stream"].iter().all(|kind| headers::accepts(request, kind)) {
            return Err(Refused(406, "Accept must have application/json and text/event-stream".to_owned()).into());
        }
        let kind = request.words("content-type").next();
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            return Err(Refused(415, "Content-Type must be application/json".to_owned()).into());
        }
        let body = connection.body(request)?;
        let refused = |status, code, why: &str| {
            Ok(Answer::Whole(status, String::new(), Message::error(None, code, why).to_line()))
        };
        let Ok(body) = String::from_utf8(body) else { return refused(400, PARSE_ERROR, "the body is not UTF-8") };
        let message = match Message::read(&body) {
            Ok(message) => message,
            Err(malformed) => return Ok(Answer::Whole(400, String::new(), malformed.answer().to_line())),
        };
        let era = match headers::check(request, &message, params_of(&message)) {
            Ok(era) => era,
            Err(told) => return Ok(Answer::Whole(400, String::new(), told.to_line())),
        };
        Ok(match era {
            Era::Session => self.in_session(request, &message)?,
            Era::Stateless => self.without_session(request, message)?,
        })
    }

    /// Answers a message in a session, or the first message of one.
    fn in_session(&self, request: &Request, message: &Message) -> Result<Answer, Refused> {
        let is_first = request.header("mcp-session-id").is_none();
        let is_initialize = matches!(message, Message::Request { method, .. } if method == "initialize");
        let session = match (is_first, is_initialize) {
            (true, true) => self.sessions.start()?,
            (false, true) => {
                self.session(request)?;
                return Err(Refused(400, "the session has begun already".to_owned()));
            }
            (_, false) => self.session(request)?,
        };
        let said = match (message, request.header("mcp-protocol-version")) {
            (_, Some(version)) => Some(Cow::Borrowed(version)),
            (Message::Request { .. }, None) if is_initialize => {
                params_of(message).and_then(|params| Members::of(params.get())?.text("protocolVersion"))
            }
            _ => None,
        };
        let is_primed =
            said.is_some_and(|version| headers::is_date(&version) && *version >= *headers::LAST_WITH_SESSIONS);
        let line = Wrote::Line(message.to_line());
        let Message::Request { id, method, params } = message else {
            return match session.streams.say(line, None) {
                true => Ok(Answer::Whole(202, String::new(), String::new())),
                false => Err(gone()),
            };
        };
        let opened = session.streams.open(asked(id, method, params.as_deref()));
        let Some((reader, _)) = opened else {
            return Err(Refused(400, "another request has this id, and waits".to_owned()));
        };
        if !session.streams.say(line, None) {
            return Err(gone());
        }
        let headers = if is_first { format!("Mcp-Session-Id: {}\r\n", session.id) } else { String::new() };
        Ok(Answer::Stream { session, reader, headers, is_primed })
    }

    /// Answers a message that identifies its sender itself.
    fn without_session(&self, request: &Request, message: Message) -> Result<Answer, Refused> {
        let (id, method, params) = match &message {
            Message::Request { id, method, params } => (id, method, params.as_deref()),
            // Closing its stream cancels a request, and a client sends no other notifications.
            Message::Notification { .. } => return Ok(Answer::Whole(202, String::new(), String::new())),
            Message::Answer { .. } => {
                return Err(Refused(
                    400,
                    "this version of the protocol has no requests of a server to answer".to_owned(),
                ));
            }
        };
        if method == "initialize" {
            let why = "Method not found: this version has no sessions";
            let error = Message::error(Some(id.clone()), METHOD_NOT_FOUND, why);
            return Ok(Answer::Whole(404, String::new(), error.to_line()));
        }
        let session = self.sessions.shared()?;
        let headers = (method == "tools/call").then(|| headers::repeated(request));
        let opened = session.streams.open(asked(id, method, params));
        let Some((reader, own)) = opened else { return Err(gone()) };
        match session.streams.say(Wrote::Line(renamed(message, &own).to_line()), headers) {
            true => Ok(Answer::Either(session, reader)),
            false => Err(gone()),
        }
    }
}

/// Returns the parameters of a message.
fn params_of(message: &Message) -> Option<&RawValue> {
    match message {
        Message::Request { params, .. } | Message::Notification { params, .. } => params.as_deref(),
        Message::Answer { .. } => None,
    }
}

fn gone() -> Refused {
    Refused(404, "there is no such session, or it has ended: begin with initialize".to_owned())
}

/// Answers a request.
fn write(connection: &mut Connection, answer: Answer) -> io::Result<()> {
    match answer {
        Answer::Whole(status, headers, body) => connection.answer(status, JSON, &headers, &body),
        Answer::Stream { session, reader, headers, is_primed } => {
            connection.stream(&headers)?;
            if is_primed {
                connection.piece(&format!("id: {}-0\nretry: {RETRY_MS}\ndata: \n\n", reader.stream))?;
            }
            write_stream(connection, &session, reader, None)
        }
        Answer::Either(session, reader) => {
            let until = Instant::now() + QUICK;
            let first = loop {
                match reader.next(LOOK) {
                    Next::Message(number, text) => {
                        if let Ok(Message::Answer { answer, .. }) = Message::read(&text) {
                            return connection.answer(headers::status_of(&answer), JSON, "", &text);
                        }
                        break Some((number, text));
                    }
                    Next::Nothing if connection.has_ended() => {
                        session.cancel(reader);
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                    Next::Nothing if Instant::now() < until => {}
                    Next::Nothing => break None,
                    Next::End => {
                        let gone = Message::error(None, INVALID_REQUEST, &gone().1).to_line();
                        return connection.answer(404, JSON, "", &gone);
                    }
                }
            };
            if let Err(error) = connection.stream("") {
                session.cancel(reader);
                return Err(error);
            }
            write_stream(connection, &session, reader, first)
        }
    }
}

/// Writes a stream until its end, or until its client disconnects.
fn write_stream(
    connection: &mut Connection,
    session: &Session,
    reader: Reader,
    first: Option<(u64, String)>,
) -> io::Result<()> {
    let mut first = first;
    let mut alive = Instant::now();
    loop {
        session.touch();
        let next = first.take().map_or_else(|| reader.next(LOOK), |(number, text)| Next::Message(number, text));
        let written = match next {
            Next::Message(number, text) => {
                alive = Instant::now();
                let id = match session.is_shared() {
                    true => String::new(),
                    false => format!("id: {}-{number}\n", reader.stream),
                };
                connection.piece(&format!("{id}event: message\ndata: {text}\n\n"))
            }
            Next::Nothing if connection.has_ended() => Err(io::ErrorKind::BrokenPipe.into()),
            Next::Nothing if alive.elapsed() < ALIVE => Ok(()),
            Next::Nothing => {
                alive = Instant::now();
                connection.piece(":\n\n")
            }
            Next::End => return connection.end_stream(),
        };
        if let Err(error) = written {
            session.cancel(reader);
            return Err(error);
        }
    }
}
