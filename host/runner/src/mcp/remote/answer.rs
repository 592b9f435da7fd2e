//! Reads the answers to requests, each of which is one JSON text or a stream of events.

use std::{
    io::{self, Read},
    time::Duration,
};

use seamgate_text::escape_terminal;
use serde_json::value::RawValue;
use ureq::{
    Body,
    http::{Method, Response, StatusCode},
};

use super::{
    flight::Flight,
    headers,
    link::{Link, Received},
    message::{Kind, Message, member, text},
    net::{Failure, describe, header, read_all},
    request::{Head, NoAnswer, send},
    sse::Events,
};
use crate::{
    jsonrpc::one_line,
    process::{MAX_LINE, Wrote},
};

/// The wait before a stream is resumed, unless the server specifies another.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// The most consecutive attempts to resume a stream without an event in between.
const MAX_RESUMES: u32 = 5;
/// The longest id of a session, in bytes.
const MAX_SESSION: usize = 1024;
/// The most tools whose headers are remembered.
const MAX_TOOLS: usize = 4096;
/// The longest name of a version, in bytes.
const MAX_VERSION: usize = 32;

/// The outcome of reading a stream.
pub(super) struct Streamed {
    /// The reason why it ended, if it ended abnormally.
    pub(super) broken: Option<Failure>,
    /// The id of its last event.
    pub(super) last_event: Option<String>,
    pub(super) retry: Option<Duration>,
    pub(super) has_events: bool,
}

/// Reads the answer to a request, and passes on the messages that precede it.
pub(super) fn read(link: &Link, flight: &Flight, head: &Head, response: Response<Body>) -> Result<(), NoAnswer> {
    let url = link.state().url.clone();
    let status = response.status();
    let kind = header(&response, "content-type").unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let session = header(&response, "mcp-session-id").map(str::to_owned);
    if status.is_success() && kind.eq_ignore_ascii_case("text/event-stream") {
        return stream_with_answer(link, flight, head, response, session.as_deref());
    }
    if !kind.eq_ignore_ascii_case("application/json") {
        let is_accepted = status.is_success();
        let message = describe(&url, response, &link.endpoint.secrets);
        let failure = match status {
            _ if is_accepted => Failure::unknown(format!("{message}: expected application/json or text/event-stream")),
            _ if status.is_client_error() => Failure::refused(message),
            _ => Failure::unknown(message),
        };
        return Err(failure.into());
    }
    let body = Heard { flight, inner: response.into_body().into_reader() };
    let bytes = match read_all(body, MAX_LINE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(Failure::unknown(format!("{url}: {}", too_long())).into()),
        Err(error) => return Err(Failure::unknown(format!("{url}: the answer broke off: {error}")).into()),
    };
    let text = String::from_utf8(bytes).map_err(|_| Failure::unknown(format!("{url}: the answer is not UTF-8")))?;
    if !status.is_success() {
        return read_error(link, flight, &text, status);
    }
    if Message::read(&text).is_none() {
        return Err(Failure::unknown(format!("{url}: the answer is not one message of JSON-RPC")).into());
    }
    received(link, flight, text, session.as_deref());
    match flight.is_answered() {
        true => Ok(()),
        false => Err(Failure::unknown(format!("{url}: the answer belongs to another request")).into()),
    }
}

/// Passes on a JSON-RPC error that came with an HTTP error status. The error may lack the id of the request.
fn read_error(link: &Link, flight: &Flight, text: &str, status: StatusCode) -> Result<(), NoAnswer> {
    let error = Message::read(text).and_then(|message| Some((message.id(), message.error?.get())));
    match error {
        Some((id, error)) if id.is_none_or(|id| id == flight.id) => {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, flight.id);
            received(link, flight, line, None);
            Ok(())
        }
        _ => {
            let message = format!("{} answered with status {}", link.state().url, status.as_u16());
            let failure = if status.is_client_error() { Failure::refused(message) } else { Failure::unknown(message) };
            Err(failure.into())
        }
    }
}

/// The position at which a stream is resumed, and the wait before that.
struct Cursor {
    last_event: Option<String>,
    wait: Duration,
    /// The number of times that the stream was resumed since the last event.
    resumes: u32,
}

/// Reads a stream until the answer. If the stream belongs to a session and breaks off, resumes it.
fn stream_with_answer(
    link: &Link,
    flight: &Flight,
    head: &Head,
    mut response: Response<Body>,
    session: Option<&str>,
) -> Result<(), NoAnswer> {
    let mut cursor = Cursor { last_event: None, wait: RETRY, resumes: 0 };
    loop {
        let streamed = stream(link, flight, response, session);
        if flight.is_answered() || flight.stopped().is_some() {
            return Ok(());
        }
        let failure = streamed
            .broken
            .unwrap_or_else(|| Failure::unknown(format!("{}: the stream ended before the answer", link.state().url)));
        if streamed.has_events {
            cursor.resumes = 0;
        }
        cursor.last_event = streamed.last_event.or(cursor.last_event);
        cursor.wait = streamed.retry.unwrap_or(cursor.wait);
        if head.is_stateless || cursor.last_event.is_none() {
            return Err(failure.into());
        }
        response = resume(link, flight, &mut cursor, failure)?;
    }
}

/// Reopens a stream after its last event. Returns `failure` if that does not help.
fn resume(link: &Link, flight: &Flight, cursor: &mut Cursor, failure: Failure) -> Result<Response<Body>, NoAnswer> {
    while cursor.resumes < MAX_RESUMES {
        cursor.resumes += 1;
        link.pause(cursor.wait, flight);
        if flight.stopped().is_some() {
            break;
        }
        flight.hear();
        let mut head = Head::of_session(&link.state().session, "text/event-stream");
        head.last_event.clone_from(&cursor.last_event);
        match send(link, &flight.agent, &Method::GET, &head, None) {
            Ok(response) if is_stream(&response) => return Ok(response),
            Ok(response) if response.status().is_server_error() => {}
            Ok(_) => break,
            Err(NoAnswer::SessionLost) => return Err(NoAnswer::SessionLost),
            Err(NoAnswer::Failed(_)) => {}
        }
    }
    Err(failure.into())
}

/// Returns whether an answer is a stream of events.
pub(super) fn is_stream(response: &Response<Body>) -> bool {
    let kind = header(response, "content-type").unwrap_or_default().split(';').next().unwrap_or_default();
    response.status() == StatusCode::OK && kind.trim().eq_ignore_ascii_case("text/event-stream")
}

/// Reads a stream to its end, and passes on its messages.
pub(super) fn stream(link: &Link, flight: &Flight, response: Response<Body>, session: Option<&str>) -> Streamed {
    let url = link.state().url.clone();
    let mut events = Events::new(usize::try_from(MAX_LINE).unwrap_or(usize::MAX));
    let mut body = Heard { flight, inner: response.into_body().into_reader() };
    let mut buffer = vec![0; 16 * 1024];
    let (mut broken, mut has_events) = (None, false);
    loop {
        let length = match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                broken = Some(Failure::unknown(format!("{url}: the stream broke off: {error}")));
                break;
            }
        };
        let pushed = events.push(buffer.get(..length).unwrap_or_default(), |event| {
            has_events = true;
            // An event without data only specifies where to resume.
            if event.is_message && !event.data.is_empty() {
                match String::from_utf8(event.data) {
                    Ok(text) => received(link, flight, text, session),
                    Err(error) => {
                        let bytes = error.as_bytes();
                        let text = String::from_utf8_lossy(bytes.get(..4096).unwrap_or(bytes)).into_owned();
                        link.deliver(Received::Wrote(Wrote::NotText(text)));
                    }
                }
            }
            !link.is_stopped()
        });
        match pushed {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                broken = Some(Failure::unknown(format!("{url}: {}", too_long())));
                break;
            }
        }
    }
    Streamed { broken, last_event: events.last_id().map(str::to_owned), retry: events.retry(), has_events }
}

fn too_long() -> String {
    format!("a message has more than {} MiB", MAX_LINE / (1024 * 1024))
}

/// A body. Each read from it records that the server has sent something.
struct Heard<'f, R> {
    flight: &'f Flight,
    inner: R,
}

impl<R: Read> Read for Heard<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.flight.hear();
        Ok(length)
    }
}

/// Records what a message means for the transport, and passes it on.
fn received(link: &Link, flight: &Flight, text: String, session: Option<&str>) {
    let mut line = one_line(text);
    let mut is_answer = false;
    if let Some(message) = Message::read(&line) {
        match (message.kind(), message.id()) {
            (Kind::Request, Some(id)) => link.ask(id),
            (Kind::Notification, _) if message.is("notifications/cancelled") => {
                message.param("requestId").into_iter().for_each(|id| link.answered(id.get()));
            }
            (Kind::Response, Some(id)) if id == flight.id => {
                is_answer = true;
                if let Some(rewritten) = noted(link, flight, &message, session) {
                    line = rewritten;
                }
            }
            _ => {}
        }
    }
    if is_answer {
        flight.answer();
    }
    link.deliver(Received::Wrote(Wrote::Line(line)));
}

/// Records what an answer means for the transport. Returns the answer to pass on instead, if there is one.
fn noted(link: &Link, flight: &Flight, message: &Message, session: Option<&str>) -> Option<String> {
    let result = message.result?;
    match flight.method.as_str() {
        "initialize" => {
            let is_visible = |text: &str| text.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !text.is_empty();
            let version = member(result, "protocolVersion").and_then(text);
            let mut state = link.state();
            state.session.version = version.filter(|version| is_visible(version) && version.len() <= MAX_VERSION);
            state.session.id = session.filter(|id| is_visible(id) && id.len() <= MAX_SESSION).map(str::to_owned);
            None
        }
        "tools/list" => noted_tools(link, flight, result),
        _ => None,
    }
}

/// Records which arguments tools require as headers. Only versions without sessions have such headers.
fn noted_tools(link: &Link, flight: &Flight, result: &RawValue) -> Option<String> {
    if link.state().session.version.is_some() {
        return None;
    }
    let listed = headers::of_list(result);
    let mut state = link.state();
    if state.mirrors.len() > MAX_TOOLS {
        state.mirrors.clear();
    }
    state.mirrors.extend(listed.mirrors);
    drop(state);
    for (name, why) in &listed.invalid {
        link.say(&format!(
            "the tool {:?} is left out, because its definition is invalid: {}",
            escape_terminal(name),
            escape_terminal(why)
        ));
    }
    Some(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, flight.id, listed.rewritten?))
}
