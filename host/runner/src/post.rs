//! Sends documents to a server that the user named, such as a collector of metrics or a receiver of webhooks.

use std::time::Duration;

use ureq::{
    Agent,
    http::{HeaderName, HeaderValue},
};

use crate::{
    error::{Error, Result},
    mcp::{Reach, Url, client_of, shown},
};

/// The longest time for a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of an answer that are read, so that the connection can be reused.
const MAX_ANSWER: u64 = 64 * 1024;

/// The wait after the first failure, and the longest wait. Each further wait is twice as long as the previous one.
const BACK_OFF: Duration = Duration::from_secs(1);
const MAX_BACK_OFF: Duration = Duration::from_secs(60);

/// A server that receives documents.
pub struct Receiver {
    url: Url,
    agent: Agent,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The error for a document that the server did not accept.
#[derive(Debug)]
pub enum NotTaken {
    /// A retry may help: the server is unreachable or overloaded.
    Again(String),
    /// The server rejects the document.
    Refused(String),
}

impl Receiver {
    /// Creates a receiver for a server's address: HTTPS, or HTTP for this machine. `option` names the address in
    /// messages.
    ///
    /// # Errors
    ///
    /// The address or a header is invalid.
    pub fn new(option: &str, url: &str, headers: &[(String, String)]) -> Result<Self> {
        let wrong = |why: String| Error::invalid(format!("{option}: {why}"));
        if Url::parse(url, Reach::Insecure).is_ok_and(|url| !url.is_https() && !url.is_loopback()) {
            return Err(wrong(format!("invalid address {url:?}: http is for this machine only, use https")));
        }
        let url = Url::parse(url, Reach::Named).map_err(wrong)?;
        let agent = client_of(&url, Reach::Named, Some(TIMEOUT));
        let header = |(name, value): &(String, String)| -> Result<(HeaderName, HeaderValue), String> {
            let mut made = HeaderValue::from_str(value).map_err(|_| format!("the value of the header {name:?}"))?;
            made.set_sensitive(true);
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("the header {name:?}"))?;
            Ok((name, made))
        };
        let headers = headers.iter().map(header).collect::<Result<_, String>>();
        let headers = headers.map_err(|why| wrong(format!("{why} is invalid")))?;
        Ok(Receiver { url, agent, headers })
    }

    /// Sends a JSON document once, with further headers.
    ///
    /// # Errors
    ///
    /// The server did not accept the document.
    pub fn post(&self, json: &str, headers: &[(&str, &str)]) -> Result<(), NotTaken> {
        let mut request = self.agent.post(self.url.uri()).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(json).map_err(|error| NotTaken::Again(shown(&error.to_string())))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_ANSWER).lossy_utf8(true).read_to_string();
        let why = || format!("status {status}: {}", shown(&body.unwrap_or_default()));
        match status {
            200..=299 => Ok(()),
            408 | 409 | 425 | 429 | 500..=599 => Err(NotTaken::Again(why())),
            _ => Err(NotTaken::Refused(why())),
        }
    }
}

/// The waits between attempts.
#[derive(Default)]
pub struct BackOff(Duration);

impl BackOff {
    /// Returns the wait after a failure.
    pub fn fail(&mut self) -> Duration {
        self.0 = (self.0 * 2).clamp(BACK_OFF, MAX_BACK_OFF);
        self.0
    }

    /// Resets the wait after a success. Returns whether an attempt had failed before.
    pub fn succeed(&mut self) -> bool {
        !std::mem::take(&mut self.0).is_zero()
    }
}
