//! Asks a server that speaks the chat-completions form, and retries if it is temporarily unavailable.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant, SystemTime},
};

use seamgate::{AskModelAction, Json};
use seamgate_text::{escape_terminal, warn};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};

use super::{
    chat::Chat,
    event::Answer,
    no_answer::{MAX_ANSWER, NoAnswer},
    response::{NoCompletion, shown},
};
use crate::{header::header, process::Stop, run_dir::ModelSettings};

/// The most requests to a server that is temporarily unavailable, and the wait after the first one. Each further wait
/// is twice as long.
const ATTEMPTS: u32 = 4;
const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest wait that a server may ask for.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The interval at which a wait checks whether it was stopped.
const TICK: Duration = Duration::from_millis(50);

/// Headers that the user cannot set.
const OWN_HEADERS: [&str; 5] = ["connection", "content-length", "content-type", "host", "transfer-encoding"];

/// A server that speaks the chat-completions form.
pub(super) struct ModelServer {
    /// The address that requests are sent to.
    url: String,
    /// The model's name on the server.
    name: String,
    /// The key that the server requires, unless `headers` has `Authorization`.
    key: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Members that each request has in addition to those of the run.
    body: BTreeMap<String, Json>,
}

/// The outcome of one request.
enum Asked {
    Answered(Result<Answer, NoAnswer>),
    /// A retry may help, after this time if the server names one.
    Again(String, Option<Duration>),
}

impl ModelServer {
    /// Returns the server at an address. `key` is sent as a bearer token.
    ///
    /// # Errors
    ///
    /// A header is invalid, or names a variable that is not set.
    pub(super) fn new(
        url: &str,
        name: &str,
        key: Option<String>,
        ModelSettings { headers, body }: &ModelSettings,
    ) -> Result<Self, String> {
        let own = |(name, value): (&String, &String)| {
            let made = match OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                true => Err("this header belongs to the protocol".to_owned()),
                false => header(name, value),
            };
            made.map_err(|why| format!("--model-header {name}: {why}"))
        };
        let headers = headers.iter().map(own).collect::<Result<_, String>>()?;
        Ok(ModelServer { url: url.to_owned(), name: name.to_owned(), key, headers, body: body.clone() })
    }

    /// Sends the request of an action, at most [`ATTEMPTS`] times within a time limit.
    pub(super) fn ask(&self, action: &AskModelAction, timeout: Duration, stop: &Stop) -> Result<Answer, NoAnswer> {
        let end = Instant::now() + timeout;
        let chat = Chat::new(action, &self.name, &self.body);
        let chat = chat.map_err(|error| NoAnswer::Invalid(format!("the prompt: {error}")))?;
        let mut wait = BACK_OFF;
        for attempt in 1.. {
            let left = end.saturating_duration_since(Instant::now());
            let (message, asked) = match self.request(&chat, left) {
                Asked::Answered(answer) => return answer,
                Asked::Again(message, asked) => (message, asked),
            };
            let pause = asked.unwrap_or(wait).min(MAX_WAIT);
            let until = Instant::now() + pause;
            if attempt == ATTEMPTS || until >= end {
                return Err(self.unreachable(&message));
            }
            let seconds = pause.as_secs_f64();
            warn(&format!("seamgate: the model: {}; asking again in {seconds:.1} s", escape_terminal(&message)));
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

    fn unreachable(&self, message: &str) -> NoAnswer {
        NoAnswer::Unreachable(format!("{}: {message}", self.url))
    }

    fn request(&self, chat: &Chat, timeout: Duration) -> Asked {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // The key is for this server only.
            .max_redirects(0)
            .build();
        let mut request = ureq::Agent::from(config).post(&self.url).header("content-type", "application/json");
        let has_own = self.headers.iter().any(|(name, _)| *name == AUTHORIZATION);
        if let Some(key) = self.key.as_ref().filter(|_| !has_own) {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = match request.send(&chat.body) {
            Ok(response) => response,
            Err(error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_))) => {
                return Asked::Answered(Err(self.unreachable(&error.to_string())));
            }
            Err(error) => return Asked::Again(error.to_string(), None),
        };
        let status = response.status().as_u16();
        let wait = wait_of(response.headers(), SystemTime::now());
        let body = match response.body_mut().with_config().limit(MAX_ANSWER as u64).lossy_utf8(true).read_to_string() {
            Ok(body) => body,
            Err(ureq::Error::BodyExceedsLimit(_)) => {
                let message = format!("the response has more than {MAX_ANSWER} bytes");
                return Asked::Answered(Err(NoAnswer::Invalid(message)));
            }
            Err(error) => return Asked::Again(error.to_string(), None),
        };
        let (status, message) = match status {
            200..=299 => match chat.answer(&body) {
                Ok(answer) => return Asked::Answered(Ok(answer)),
                Err(NoCompletion::Invalid(message)) => return Asked::Answered(Err(NoAnswer::Invalid(message))),
                // Proxies pass on errors of the servers behind them with status 200.
                Err(NoCompletion::Failed { status, message }) => (status.unwrap_or(503), message),
            },
            _ => (status, format!("status {status}: {}", shown(&body))),
        };
        match status {
            408 | 409 | 425 | 429 | 500..=599 => Asked::Again(message, wait),
            _ => Asked::Answered(Err(self.unreachable(&message))),
        }
    }
}

/// Returns how long a server asks the client to wait: `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3),
/// or `retry-after-ms`, which some servers send in addition.
fn wait_of(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str, unit: f64| {
        let number: f64 = text(name)?.parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    let date = || {
        let date = httpdate::parse_http_date(text("retry-after")?).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    };
    number("retry-after-ms", 0.001).or_else(|| number("retry-after", 1.0)).or_else(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_how_long_to_wait() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").expect("a date");
        for (name, value, expected) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", " 0.25 ", Some(250)),
            ("retry-after-ms", "30", Some(30)),
            ("retry-after", "Wed, 21 Oct 2026 07:28:05 GMT", Some(5_000)),
            ("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "1e300", None),
            ("retry-after", "soon", None),
            ("retry-after", "", None),
        ] {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                HeaderValue::from_str(value).expect("a value"),
            )]);
            assert_eq!(wait_of(&headers, now), expected.map(Duration::from_millis), "{name}: {value}");
        }
        assert_eq!(wait_of(&HeaderMap::new(), now), None);
    }
}
