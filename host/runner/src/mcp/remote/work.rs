//! The threads of a connection.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use ureq::{Agent, http::Method};

use super::{
    answer::{RETRY, is_stream, read, stream},
    flight::{Flight, Job, Session, Stop},
    headers,
    link::{Link, Received},
    message::{Kind, Message},
    net::{self, Failure, describe},
    request::{Head, NoAnswer, send},
};
use crate::process::Wrote;

/// The longest time for the server to accept a message that has no answer.
const ACCEPT: Duration = Duration::from_secs(30);
/// The longest time for ending a session.
const END: Duration = Duration::from_secs(5);
/// The interval at which requests are checked for silence.
const TICK: Duration = Duration::from_millis(100);
/// The longest wait before the stream of a session is opened again.
const MAX_RETRY: Duration = Duration::from_secs(60);
/// The most consecutive failures to open the stream of a session.
const MAX_FAILURES: u32 = 8;
/// The kinds of answers to a request.
const ANSWERS: &str = "application/json, text/event-stream";

/// Sends all messages in order, until the caller has no more. Then ends the session.
pub(super) fn send_all(link: &Arc<Link>) {
    let agent = net::agent(&link.state().url, link.endpoint.reach(), Some(ACCEPT));
    while let Some(line) = link.next_outgoing() {
        let length = line.len();
        if send_one(link, &agent, line) {
            link.sent(length);
        }
    }
    link.wait_for_flights();
    end_session(link);
    link.finish();
    link.deliver(Received::Wrote(Wrote::End));
}

/// Sends a message, or passes a request to a worker. Returns whether the queue space of the message can be freed.
fn send_one(link: &Arc<Link>, agent: &Agent, line: String) -> bool {
    let Some(message) = Message::read(&line) else {
        tracing::warn!("a line for a server is not a message of JSON-RPC");
        return true;
    };
    let (id, version) = (message.id().unwrap_or_default().to_owned(), message.version());
    match message.kind() {
        Kind::Request => {
            let method = message.method.unwrap_or_default();
            if method == "initialize" {
                link.state().session = Session::default();
            }
            start_worker(link, Job { line, id, method, version });
            return false;
        }
        Kind::Notification if message.is("notifications/cancelled") => {
            let id = message.param("requestId").map(|id| id.get().to_owned()).unwrap_or_default();
            // Without a session, closing the stream cancels the request.
            if link.state().session.version.is_some() {
                tell(link, agent, &line);
            }
            link.cancel(&id);
        }
        Kind::Notification => {
            let is_first = message.is("notifications/initialized");
            tell(link, agent, &line);
            if is_first {
                start_listening(link);
            }
        }
        Kind::Response => {
            tell(link, agent, &line);
            link.answered(&id);
        }
    }
    true
}

/// Sends a message that has no answer.
fn tell(link: &Link, agent: &Agent, line: &str) {
    let session = link.state().session.clone();
    let head = Head::of_session(&session, ANSWERS);
    match send(link, agent, &Method::POST, &head, Some(line)) {
        Ok(response) if response.status().is_success() => {}
        Ok(response) => {
            let url = link.state().url.clone();
            link.say(&format!("a message was not accepted: {}", describe(&url, response, &link.endpoint.secrets)));
        }
        Err(NoAnswer::SessionLost) => session_lost(link),
        Err(NoAnswer::Failed(failure)) if !link.is_stopped() => {
            link.say(&format!("a message was not accepted: {}", failure.message));
        }
        Err(NoAnswer::Failed(_)) => {}
    }
}

fn session_lost(link: &Link) {
    let message = format!("{} has ended the session", link.state().url);
    link.session_lost(&message);
}

fn start_worker(link: &Arc<Link>, job: Job) {
    if !link.queue(job) {
        return;
    }
    let own = Arc::clone(link);
    let work = move || {
        while let Some((job, flight)) = own.next_job() {
            work(&own, &job, &flight);
        }
    };
    if let Err(error) = thread::Builder::new().spawn(work) {
        for job in link.without_worker() {
            link.sent(job.line.len());
            let message = format!("no thread can be started: {error}");
            link.deliver(Received::Unanswered { id: job.id, message, may_have_run: false });
        }
    }
}

/// Sends a request, and passes on its answer.
fn work(link: &Link, job: &Job, flight: &Flight) {
    let outcome = ask(link, job, flight);
    link.sent(job.line.len());
    let stopped = flight.stopped();
    link.land(flight);
    let failure = match (outcome, stopped) {
        _ if flight.is_answered() => return,
        (_, Some(Stop::Cancelled | Stop::Ended | Stop::Answered)) => return,
        (_, Some(Stop::Late)) => {
            if job.version.is_none() {
                let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
                let _ = link.push(format!("{cancelled}{}}}}}", job.id));
            }
            Failure::unknown(format!("{} was silent for {} s", link.state().url, link.endpoint.timeout_s))
        }
        (Err(NoAnswer::SessionLost), None) => return session_lost(link),
        (Err(NoAnswer::Failed(failure)), None) => failure,
        (Ok(()), None) => Failure::unknown(format!("{} gave no answer", link.state().url)),
    };
    let Failure { message, may_have_run } = failure;
    link.deliver(Received::Unanswered { id: job.id.clone(), message, may_have_run });
}

fn ask(link: &Link, job: &Job, flight: &Flight) -> Result<(), NoAnswer> {
    let head = match (&job.version, Message::read(&job.line)) {
        (Some(version), Some(message)) => Head {
            accept: ANSWERS,
            version: Some(version.clone()),
            more: headers::of_request(&message, &link.state().mirrors),
            is_stateless: true,
            ..Head::default()
        },
        _ => Head::of_session(&link.state().session, ANSWERS),
    };
    let response = send(link, &flight.agent, &Method::POST, &head, Some(&job.line))?;
    flight.hear();
    read(link, flight, &head, response)
}

/// Starts to listen for messages that the server sends on its own initiative. Only servers with sessions send any.
fn start_listening(link: &Arc<Link>) {
    let mut state = link.state();
    if state.session.version.is_none() || std::mem::replace(&mut state.session.is_listening, true) {
        return;
    }
    drop(state);
    let own = Arc::clone(link);
    if let Err(error) = thread::Builder::new().spawn(move || listen(&own)) {
        link.say(&format!("its own messages are not heard: no thread can be started: {error}"));
    }
}

fn listen(link: &Link) {
    let (mut last_event, mut wait, mut failures) = (None::<String>, RETRY, 0);
    while let Some(flight) = link.launch_stream() {
        let mut head = Head::of_session(&link.state().session, "text/event-stream");
        head.last_event.clone_from(&last_event);
        let opened = send(link, &flight.agent, &Method::GET, &head, None);
        let start = Instant::now();
        let goes_on = match opened {
            Ok(response) if is_stream(&response) => {
                flight.hear();
                failures = 0;
                let streamed = stream(link, &flight, response, None);
                last_event = streamed.last_event.or(last_event);
                // A server that closes the stream at once is asked less and less often.
                wait = match streamed.retry {
                    Some(retry) => retry.max(TICK),
                    None if streamed.has_events || start.elapsed() > MAX_RETRY => RETRY,
                    None => (wait * 2).min(MAX_RETRY),
                };
                true
            }
            // The server has no such stream.
            Ok(response) if !response.status().is_server_error() => false,
            // A server without such a stream may report that the address does not exist. The next message shows whether
            // the session still exists.
            Err(NoAnswer::SessionLost) => false,
            Ok(_) | Err(NoAnswer::Failed(_)) => {
                wait = (wait * 2).min(MAX_RETRY);
                failures += 1;
                failures < MAX_FAILURES
            }
        };
        link.land(&flight);
        if !goes_on || matches!(flight.stopped(), Some(Stop::Ended)) {
            return;
        }
        link.rest(wait);
    }
}

/// Abandons requests whose server is silent for too long, until the connection ends.
pub(super) fn watch(link: &Link) {
    while link.watch() {
        thread::sleep(TICK);
    }
}

/// Ends the session, if there is one.
fn end_session(link: &Link) {
    let session = link.state().session.clone();
    if session.id.is_none() {
        return;
    }
    let agent = net::agent(&link.state().url, link.endpoint.reach(), Some(END));
    // The server may reject this, or be unreachable.
    let _ = send(link, &agent, &Method::DELETE, &Head::of_session(&session, ANSWERS), None);
}
