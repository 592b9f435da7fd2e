//! Asks the model: a program of the user's, or a server that speaks the chat-completions form.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use seamgate::{Action, AskModelAction};
use seamgate_text::shorten;

use super::{chat::Chat, event::Answer};
use crate::process::{self, Ended, Inherited, Signals, Stop};

/// The longest answer, in bytes.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// The model that answers prompts.
pub(super) enum Model {
    /// A program: it reads the action `ask_model`, and writes the answer.
    Command {
        /// The program and its arguments.
        command: Vec<OsString>,
        /// The folder that it runs in.
        folder: PathBuf,
    },
    /// A server.
    Url {
        /// The address that requests are sent to.
        url: String,
        /// The model's name there.
        name: String,
        /// The key that it wants.
        key: Option<String>,
    },
}

/// The most requests to a server that is out of reach for a moment, and the wait after the first one. Each further wait is twice as
/// long.
const ATTEMPTS: u32 = 4;
const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest wait that a server may ask for.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The interval at which a wait checks whether it was stopped.
const TICK: Duration = Duration::from_millis(50);
/// The longest message of a server to show, in characters.
const MAX_SHOWN: usize = 300;

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// The model's answer is invalid. The run learns of it.
    Invalid(String),
    /// The model is out of reach. The run waits until it is there again.
    Unreachable(String),
    /// The run needs no answer any more, or a signal ended this process.
    Interrupted,
}

impl Model {
    /// Returns whether a request may still be in flight when nobody wants its answer any more.
    pub(super) fn is_slow_to_end(&self) -> bool {
        matches!(self, Model::Url { .. })
    }

    /// Asks what an action `ask_model` asks.
    pub(super) fn ask(
        &self,
        action: AskModelAction,
        timeout: Duration,
        signals: &Signals,
        stop: Stop,
    ) -> Result<Answer, NoAnswer> {
        match self {
            Model::Command { command, folder } => {
                ask_command((command, folder), &Action::AskModel(action), timeout, signals, stop)
            }
            Model::Url { url, name, key } => ask_url((url, name, key.as_deref()), &action, timeout, &stop),
        }
    }
}

/// The outcome of one request.
enum Asked {
    Answered(Result<Answer, NoAnswer>),
    /// Another request may help, after this time if the server says so.
    Again(String, Option<Duration>),
}

fn ask_url(
    (url, name, key): (&str, &str, Option<&str>),
    action: &AskModelAction,
    timeout: Duration,
    stop: &Stop,
) -> Result<Answer, NoAnswer> {
    let end = Instant::now() + timeout;
    let chat = Chat::new(action, name).map_err(|error| NoAnswer::Invalid(format!("the prompt: {error}")))?;
    let mut wait = BACK_OFF;
    for attempt in 1.. {
        let left = end.saturating_duration_since(Instant::now());
        let (message, said) = match request((url, key), &chat, left) {
            Asked::Answered(answer) => return answer,
            Asked::Again(message, said) => (message, said),
        };
        let until = Instant::now() + said.unwrap_or(wait).min(MAX_WAIT);
        if attempt == ATTEMPTS || until >= end {
            return Err(NoAnswer::Unreachable(format!("{url}: {message}")));
        }
        tracing::info!(attempt, "the model is asked again: {message}");
        while Instant::now() < until {
            if stop.is_asked() {
                return Err(NoAnswer::Interrupted);
            }
            thread::sleep(TICK);
        }
        wait *= 2;
    }
    Err(NoAnswer::Interrupted)
}

fn request((url, key): (&str, Option<&str>), chat: &Chat, timeout: Duration) -> Asked {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        // The key is for this server, and no other.
        .max_redirects(0)
        .build();
    let mut request = ureq::Agent::from(config).post(url).header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let mut response = match request.send(&chat.body) {
        Ok(response) => response,
        Err(error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_))) => {
            return Asked::Answered(Err(NoAnswer::Unreachable(format!("{url}: {error}"))));
        }
        Err(error) => return Asked::Again(error.to_string(), None),
    };
    let status = response.status().as_u16();
    let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let body = match response.body_mut().with_config().limit(MAX_ANSWER as u64).lossy_utf8(true).read_to_string() {
        Ok(body) => body,
        Err(ureq::Error::BodyExceedsLimit(_)) => {
            return Asked::Answered(Err(NoAnswer::Invalid(format!("the response has more than {MAX_ANSWER} bytes"))));
        }
        Err(error) => return Asked::Again(error.to_string(), None),
    };
    let shown = || {
        let line: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("status {status}: {}", shorten(&line, MAX_SHOWN))
    };
    match status {
        200..=299 => Asked::Answered(chat.answer(&body).map_err(NoAnswer::Invalid)),
        408 | 409 | 425 | 429 | 500..=599 => Asked::Again(shown(), after.map(Duration::from_secs)),
        _ => Asked::Answered(Err(NoAnswer::Unreachable(format!("{url}: {}", shown())))),
    }
}

fn ask_command(
    (command, folder): (&[OsString], &Path),
    action: &Action,
    timeout: Duration,
    signals: &Signals,
    stop: Stop,
) -> Result<Answer, NoAnswer> {
    let invalid = |error: serde_json::Error| NoAnswer::Invalid(format!("the prompt: {error}"));
    let input = serde_json::to_string(action).map_err(invalid)? + "\n";
    let run = process::Run {
        command,
        // The model's own key is among them.
        inherited: Inherited::All,
        environment: &[],
        input: input.as_bytes(),
        timeout,
        limit: MAX_ANSWER,
        folder: Some(folder),
        stop,
        told_as: Some("model"),
        paths: None,
    };
    let unreachable = |message: String| Err(NoAnswer::Unreachable(message));
    let program = || command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    match process::run(&run, signals, &mut |_| {}) {
        Ok(Ended::Exited { output }) => serde_json::from_slice(&output).map_err(|error| {
            NoAnswer::Invalid(format!("Invalid answer of {}: expected one JSON document: {error}", program()))
        }),
        Ok(Ended::Failed { status, .. }) => unreachable(format!("{} failed: {status}", program())),
        Ok(Ended::TimedOut { .. }) => {
            unreachable(format!("{} did not answer within {} s", program(), timeout.as_secs()))
        }
        Ok(Ended::TooLong { .. }) => {
            Err(NoAnswer::Invalid(format!("Invalid answer of {}: it has more than {MAX_ANSWER} bytes", program())))
        }
        Ok(Ended::NotStarted(error)) => unreachable(format!("cannot run {}: {error}", program())),
        Ok(Ended::Stopped | Ended::Interrupted(_)) => Err(NoAnswer::Interrupted),
        Err(error) => unreachable(format!("cannot watch {}: {error}", program())),
    }
}
