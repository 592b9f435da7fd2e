//! Sends the activity of runs to other servers: metrics and traces to a collector, and notices of waiting calls to a
//! webhook.
//!
//! Each receiver has a thread and a bounded queue, so that an unavailable receiver does not delay anything else. A
//! receiver is reported when it begins to fail, and when it works again.

use std::{
    env,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver as Queue, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use percent_encoding::percent_decode_str;
use seamgate::digest;
use seamgate_runner::{
    Error, Result,
    agent::now,
    post::{BackOff, NotTaken, Receiver},
    waiting::Waiting,
    webhook::Webhook,
};
use seamgate_text::{escape_terminal, say, warn, with_sources};
use serde_json::json;

use crate::{otlp, runs::Runs};

/// The interval at which journals are checked.
const LOOK: Duration = Duration::from_secs(2);
/// The default interval for metrics, and the environment variables of OpenTelemetry that set another interval, in
/// milliseconds, and the collector's headers.
const INTERVAL: Duration = Duration::from_secs(60);
const INTERVAL_VARIABLE: &str = "OTEL_METRIC_EXPORT_INTERVAL";
const SHORTEST: Duration = Duration::from_millis(100);
const HEADERS_VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// The maximum number of runs and notices that wait to be sent.
const MAX_QUEUE: usize = 256;
/// The largest trace that is sent, in bytes.
const MAX_TRACE: usize = 16 * 1024 * 1024;

/// The servers that receive the activity of runs.
#[derive(Debug, Clone, Default)]
pub struct Outbound {
    /// The address of a collector. Metrics are sent to its path `/v1/metrics`, and traces to `/v1/traces`.
    pub otlp: Option<String>,
    /// The address that receives notices of waiting calls.
    pub webhook: Option<String>,
    /// The environment variable with the secret that is shared with the receiver of notices.
    pub webhook_secret_env: String,
    /// The address of the page for people, which notices contain. `None` for the server's own.
    pub page_url: Option<String>,
}

/// The receivers, before anything is sent.
pub(crate) struct Push {
    otlp: Option<[Receiver; 2]>,
    webhook: Option<Webhook>,
    page: String,
    interval: Duration,
}

impl Push {
    /// Checks the addresses and variables.
    pub(crate) fn new(outbound: &Outbound, own: String) -> Result<Self> {
        let otlp = match &outbound.otlp {
            Some(url) => {
                let headers = headers()?;
                let receiver =
                    |path: &str| Receiver::new("--otlp", &format!("{}{path}", url.trim_end_matches('/')), &headers);
                Some([receiver("/v1/metrics")?, receiver("/v1/traces")?])
            }
            None => None,
        };
        let webhook =
            outbound.webhook.as_ref().map(|url| Webhook::new(url, &outbound.webhook_secret_env)).transpose()?;
        Ok(Push { otlp, webhook, page: outbound.page_url.clone().unwrap_or(own), interval: interval()? })
    }

    /// Starts the threads that send. Without receivers, starts none.
    pub(crate) fn start(self, runs: &Arc<Mutex<Runs>>, folder: &Path) -> Result<()> {
        let Push { otlp, webhook, page, interval } = self;
        if otlp.is_none() && webhook.is_none() {
            return Ok(());
        }
        let traces = match otlp {
            Some([metrics, traces]) => {
                let (runs, instance) = (Arc::clone(runs), instance(folder));
                spawn(move || send_metrics(&runs, metrics, interval, &instance))?;
                let (sender, queue) = sync_channel(MAX_QUEUE);
                spawn(move || send_traces(&queue, traces))?;
                Some(sender)
            }
            None => None,
        };
        let notices = match webhook {
            Some(webhook) => {
                let (sender, queue) = sync_channel(MAX_QUEUE);
                spawn(move || send_notices(&queue, &webhook))?;
                Some(sender)
            }
            None => None,
        };
        let runs = Arc::clone(runs);
        spawn(move || look(&runs, traces.as_ref(), notices.as_ref(), &page))
    }
}

fn spawn(run: impl FnOnce() + Send + 'static) -> Result<()> {
    let spawned = thread::Builder::new().spawn(run);
    spawned.map(drop).map_err(|error| Error::NoVerdict(format!("cannot start a thread: {error}")))
}

/// Returns the headers for the collector: `NAME=VALUE`, separated by commas. Values can be percent-encoded.
fn headers() -> Result<Vec<(String, String)>> {
    let text = env::var(HEADERS_VARIABLE).unwrap_or_default();
    let header = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((name.trim().to_owned(), value.into_owned()))
    };
    let headers: Option<Vec<_>> = text.split(',').filter(|pair| !pair.trim().is_empty()).map(header).collect();
    headers.ok_or_else(|| Error::invalid(format!("the variable {HEADERS_VARIABLE} must be NAME=VALUE,NAME=VALUE")))
}

fn interval() -> Result<Duration> {
    match env::var(INTERVAL_VARIABLE) {
        Ok(text) => match text.parse().map(Duration::from_millis) {
            Ok(interval) if interval >= SHORTEST => Ok(interval),
            _ => Err(Error::invalid(format!("the variable {INTERVAL_VARIABLE} must be milliseconds, 100 or more"))),
        },
        Err(_) => Ok(INTERVAL),
    }
}

/// Returns a name that distinguishes this server from others. It stays the same after a restart, because the server
/// then counts the same journals.
fn instance(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let digest = digest(folder.as_os_str().as_encoded_bytes());
    digest.trim_start_matches("sha256:").chars().take(16).collect()
}

fn locked(runs: &Mutex<Runs>) -> MutexGuard<'_, Runs> {
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Queues the news in the journals, forever.
fn look(runs: &Mutex<Runs>, traces: Option<&SyncSender<PathBuf>>, notices: Option<&SyncSender<Message>>, page: &str) {
    // A trace is sent when its run ends. Runs that ended earlier are ignored, because their traces are in their
    // folders.
    locked(runs).newly_ended();
    let mut is_full = false;
    loop {
        if let Some(traces) = traces {
            for folder in locked(runs).newly_ended() {
                let was_full = is_full;
                is_full = matches!(traces.try_send(folder), Err(TrySendError::Full(_)));
                if is_full && !was_full {
                    warn(&format!(
                        "seamgate: --otlp: {MAX_QUEUE} traces wait already; further ones are not sent: use `seamgate trace --otlp`"
                    ));
                }
            }
        }
        if let Some(notices) = notices {
            locked(runs).newly_waiting(|name, waiting| notices.try_send(Message::new(name, waiting, page)).is_ok());
        }
        thread::sleep(LOOK);
    }
}

/// A receiver, with its name for messages.
struct Reported {
    name: String,
    back_off: BackOff,
    has_refused: bool,
}

impl Reported {
    fn new(name: &str) -> Self {
        Reported { name: name.to_owned(), back_off: BackOff::default(), has_refused: false }
    }

    /// Reports the first failure, and the first success after a failure. Returns the wait before the next attempt, if
    /// one may help.
    fn report(&mut self, sent: Result<(), NotTaken>) -> Option<Duration> {
        match sent {
            Ok(()) => {
                if self.back_off.succeed() | std::mem::take(&mut self.has_refused) {
                    say(&format!("seamgate: {}: delivers again", self.name));
                }
                None
            }
            Err(NotTaken::Again(why)) => {
                let wait = self.back_off.fail();
                // The first wait is the shortest one.
                if wait == BackOff::default().fail() {
                    warn(&format!("seamgate: {}: {}; it is tried again", self.name, escape_terminal(&why)));
                }
                Some(wait)
            }
            Err(NotTaken::Refused(why)) => {
                self.back_off.succeed();
                if !std::mem::replace(&mut self.has_refused, true) {
                    warn(&format!(
                        "seamgate: {}: refused: {}; further refusals are not reported",
                        self.name,
                        escape_terminal(&why)
                    ));
                }
                None
            }
        }
    }
}

/// Sends all metrics at each interval. What a receiver did not accept is included the next time.
fn send_metrics(runs: &Mutex<Runs>, receiver: Receiver, interval: Duration, instance: &str) {
    let mut reported = Reported::new("--otlp: metrics");
    let start = now();
    loop {
        let text = locked(runs).metrics();
        reported.report(receiver.post(&otlp::request(&text, instance, start, now()), &[]));
        thread::sleep(interval);
    }
}

/// Sends the traces of runs. Each is retried until the receiver accepts or rejects it.
fn send_traces(queue: &Queue<PathBuf>, receiver: Receiver) {
    let mut reported = Reported::new("--otlp: traces");
    for folder in queue {
        let text = match seamgate_trace::otlp(&folder) {
            Ok(rendering) if rendering.text.len() <= MAX_TRACE => rendering.text,
            Ok(_) => {
                let folder = escape_terminal(&folder.display().to_string());
                warn(&format!(
                    "seamgate: --otlp: the trace of {folder} has more than {MAX_TRACE} bytes, and is not sent"
                ));
                continue;
            }
            Err(error) => {
                warn(&format!("seamgate: --otlp: {}", escape_terminal(&with_sources(&error))));
                continue;
            }
        };
        while let Some(wait) = reported.report(receiver.post(&text, &[])) {
            thread::sleep(wait);
        }
    }
}

/// A notice of a waiting call.
struct Message {
    /// The id is the same for each attempt, and after a restart, so that receivers can detect duplicates.
    id: String,
    /// The time after which nobody can decide, in milliseconds since 1970.
    expires: u64,
    body: String,
}

impl Message {
    /// Describes a call without its arguments.
    fn new(name: &str, waiting: &Waiting, page: &str) -> Self {
        let Waiting { run, agent, tool, ask, .. } = waiting;
        let unique = digest(json!([run, ask.key, ask.digest]).to_string().as_bytes());
        let at = std::time::SystemTime::now();
        let body = json!({
            "type": "approval.waiting",
            "timestamp": humantime::format_rfc3339_millis(at).to_string(),
            "data": {
                "run": run,
                "name": name,
                "agent": agent,
                "tool": tool,
                "key": ask.key,
                "expires": ask.expires,
                "page": page,
            },
        });
        let id = format!("msg_{}", unique.trim_start_matches("sha256:").chars().take(32).collect::<String>());
        Message { id, expires: ask.expires, body: body.to_string() }
    }
}

/// Sends notices. Each is retried until the receiver accepts or rejects it, or the call expires.
fn send_notices(queue: &Queue<Message>, webhook: &Webhook) {
    let mut reported = Reported::new("--webhook");
    for message in queue {
        while message.expires > now() {
            let sent = webhook.post(&message.id, now() / 1000, &message.body);
            match reported.report(sent) {
                Some(wait) => thread::sleep(wait),
                None => break,
            }
        }
    }
}
