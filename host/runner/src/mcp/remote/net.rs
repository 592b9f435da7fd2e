//! HTTP clients that follow no redirects, and connect only to permitted addresses.

use std::{
    fmt,
    io::{self, Read},
    time::Duration,
};

use seamgate_text::{escape_terminal, shorten};
use ureq::{
    Agent, Body, Error, Timeout,
    config::Config,
    http::{Response, Uri},
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use super::url::{Reach, Url, refusal};
use crate::secrets::Secrets;

/// The longest time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest text of a server in a message, in characters.
const MAX_SHOWN: usize = 300;
/// The most bytes of an answer that are read for a message.
const MAX_READ_TO_SHOW: u64 = 64 * 1024;

/// The failure of a request that has no answer.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    /// `true` if the server may have acted on the request.
    pub(super) may_have_run: bool,
}

impl Failure {
    /// Returns the failure of a request that the server did not act on.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Failure { message: message.into(), may_have_run: false }
    }

    /// Returns the failure of a request that the server may have acted on.
    pub(super) fn unknown(message: impl Into<String>) -> Self {
        Failure { message: message.into(), may_have_run: true }
    }

    /// Describes why a request to an address failed.
    pub(super) fn of(error: &Error, url: &Url) -> Self {
        let may_have_run = match error {
            Error::Http(_) | Error::BadUri(_) | Error::HostNotFound | Error::InvalidProxyUrl => false,
            Error::ConnectionFailed | Error::Tls(_) | Error::Rustls(_) | Error::ConnectProxyFailed(_) => false,
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => false,
            Error::Io(error) => !matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable
                    | io::ErrorKind::NetworkDown
                    | io::ErrorKind::AddrNotAvailable
                    | io::ErrorKind::PermissionDenied
            ),
            _ => true,
        };
        let error = shown(&error.to_string());
        let message = if may_have_run { format!("{url}: {error}") } else { format!("cannot reach {url}: {error}") };
        Failure { message, may_have_run }
    }
}

/// Creates a client for one address. `limit` bounds a whole request.
pub(crate) fn agent(url: &Url, reach: Reach, limit: Option<Duration>) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_global(limit)
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections(1)
        .max_idle_connections_per_host(1)
        .user_agent(concat!("seamgate/", env!("CARGO_PKG_VERSION")));
    if url.is_loopback() {
        // Requests that may go to this machine in plain text must not go to a proxy.
        config = config.proxy(None);
    }
    let needs_loopback = !url.is_https() && reach != Reach::Insecure;
    let guard = Guard { host: url.host().to_owned(), needs_loopback, reach, inner: DefaultResolver::default() };
    Agent::with_parts(config.build(), DefaultConnector::default(), guard)
}

/// Resolves names, and rejects network addresses that are not permitted.
struct Guard {
    host: String,
    needs_loopback: bool,
    reach: Reach,
    inner: DefaultResolver,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Resolver for Guard {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        // Another host is a proxy, which the user named.
        if uri.host().is_some_and(|host| host.trim_matches(['[', ']']).eq_ignore_ascii_case(&self.host)) {
            for address in &found {
                if let Some(why) = refusal(address.ip(), self.needs_loopback, self.reach) {
                    let message = format!("{} has the address {}: {why}", self.host, address.ip());
                    return Err(Error::Io(io::Error::new(io::ErrorKind::PermissionDenied, message)));
                }
            }
        }
        Ok(found)
    }
}

/// Reads a body of at most `limit` bytes. `None` if it has more.
pub(super) fn read_all(mut body: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    body.by_ref().take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Describes an answer with an error status, including the beginning of its body, escaped.
pub(super) fn describe(url: &Url, response: Response<Body>, secrets: &Secrets) -> String {
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    let _ = response.into_body().into_reader().take(MAX_READ_TO_SHOW).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let is_whole = (bytes.len() as u64) < MAX_READ_TO_SHOW;
    let text = shown(&if is_whole { secrets.hide(text) } else { secrets.hide_cut(text) });
    let colon = if text.is_empty() { "" } else { ": " };
    format!("{url} answered with status {status}{colon}{text}")
}

/// Returns untrusted text as one short line without control characters.
pub(crate) fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    escape_terminal(&shorten(&line.join(" "), MAX_SHOWN))
}

/// Returns the value of a header, if it is valid text.
pub(super) fn header<'r>(response: &'r Response<Body>, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}
