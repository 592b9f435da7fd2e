//! Sends one HTTP request, with the headers of the session and of the user.

use ureq::{
    Agent, Body,
    http::{HeaderValue, Method, Request, Response, StatusCode},
};

use super::{
    flight::Session,
    link::Link,
    net::{Failure, describe, header, shown},
};

/// The maximum number of redirects per request.
const MAX_REDIRECTS: usize = 3;

/// The headers that differ between requests.
#[derive(Default)]
pub(super) struct Head {
    pub(super) accept: &'static str,
    /// The version of the protocol.
    pub(super) version: Option<String>,
    pub(super) session: Option<String>,
    pub(super) last_event: Option<String>,
    pub(super) more: Vec<(String, String)>,
    /// `true` if the message belongs to no session.
    pub(super) is_stateless: bool,
}

impl Head {
    /// Returns the headers of a message in a session.
    pub(super) fn of_session(session: &Session, accept: &'static str) -> Self {
        Head { accept, version: session.version.clone(), session: session.id.clone(), ..Head::default() }
    }
}

/// The reason why a request has no readable answer.
pub(super) enum NoAnswer {
    /// The server no longer knows the session.
    SessionLost,
    Failed(Failure),
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        NoAnswer::Failed(failure)
    }
}

/// Sends a request. Follows redirects within the same origin, and refreshes a token that the server rejects.
pub(super) fn send(
    link: &Link,
    agent: &Agent,
    method: &Method,
    head: &Head,
    body: Option<&str>,
) -> Result<Response<Body>, NoAnswer> {
    let mut token = link.authorizer.token().map_err(Failure::refused)?;
    let (mut redirects, mut is_renewed, mut is_widened) = (0, false, false);
    loop {
        let url = link.state().url.clone();
        let mut request = Request::builder().method(method).uri(url.uri());
        for (name, value) in &link.headers {
            request = request.header(name, value);
        }
        if let Some(token) = &token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| Failure::refused("the token cannot be sent as a header"))?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        request = request.header("accept", head.accept);
        let named = [
            ("mcp-protocol-version", &head.version),
            ("mcp-session-id", &head.session),
            ("last-event-id", &head.last_event),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        for (name, value) in &head.more {
            request = request.header(name, value);
        }
        let answer = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json").body(body);
                agent.run(request.map_err(|error| Failure::refused(format!("{url}: {error}")))?)
            }
            None => agent.run(request.body(()).map_err(|error| Failure::refused(format!("{url}: {error}")))?),
        };
        let response = answer.map_err(|error| Failure::of(&error, &url))?;
        match response.status() {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT if redirects < MAX_REDIRECTS => {
                redirects += 1;
                let location = header(&response, "location").unwrap_or_default();
                let to = url.redirected(location).map_err(|why| Failure::refused(format!("{url}: {}", shown(&why))))?;
                link.state().url = to;
            }
            StatusCode::UNAUTHORIZED if !is_renewed => {
                is_renewed = true;
                token = Some(link.authorizer.renew(token.as_deref()).map_err(Failure::refused)?);
            }
            StatusCode::UNAUTHORIZED => return Err(Failure::refused(link.authorizer.rejected()).into()),
            StatusCode::FORBIDDEN
                if !is_widened && challenges(&response).any(|value| value.contains("insufficient_scope")) =>
            {
                is_widened = true;
                let wider = link.authorizer.widen(token.as_deref(), challenges(&response));
                token = Some(wider.map_err(Failure::refused)?);
            }
            StatusCode::NOT_FOUND if head.session.is_some() => return Err(NoAnswer::SessionLost),
            status if status.is_redirection() => {
                return Err(Failure::refused(describe(&url, response, &link.endpoint.secrets)).into());
            }
            _ => return Ok(response),
        }
    }
}

/// Returns the challenges in which a server names the credentials that it requires.
fn challenges(response: &Response<Body>) -> impl Iterator<Item = &str> {
    response.headers().get_all("www-authenticate").iter().filter_map(|value| value.to_str().ok())
}
