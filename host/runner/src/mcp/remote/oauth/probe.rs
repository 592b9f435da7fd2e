//! Determines whether a server requires a login, and which scopes.

use serde_json::{Value, json};
use ureq::{
    Agent, Body,
    http::{HeaderName, HeaderValue, Response, StatusCode},
};

use super::{
    super::{
        endpoint::Endpoint,
        net::{Failure, agent, describe, header},
        url::Url,
    },
    challenge::{self, Challenge},
    discovery::LIMIT,
};
use crate::secrets::Secrets;

/// The version of requests in a session.
const VERSION: &str = "2025-11-25";
/// The version of requests without a session.
const STATELESS: &str = "2026-07-28";

/// How a server treats a client without a token.
#[derive(Default)]
pub(super) struct Probe {
    /// `true` if the server accepts requests.
    pub(super) is_open: bool,
    pub(super) challenge: Challenge,
}

/// Requests the server's tools without a token, with and without a session. Many servers describe themselves to anyone,
/// so only this request shows what they require.
pub(super) fn probe(endpoint: &Endpoint, url: &Url) -> Result<Probe, String> {
    let asker = Asker { agent: agent(url, endpoint.reach(), Some(LIMIT)), url, headers: endpoint.headers()? };
    let client = json!({ "name": "seamgate", "version": env!("CARGO_PKG_VERSION") });
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": client, "io.modelcontextprotocol/clientCapabilities": {} });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let listed = asker.ask(&list, &[("mcp-protocol-version", STATELESS), ("mcp-method", "tools/list")]);
    let mut probe = Probe::default();
    // A server that does not answer this request may answer the first request of a session.
    if listed.is_ok_and(|listed| probe.sees(&listed)) {
        return Ok(probe);
    }
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client } });
    let greeted = asker.ask(&hello, &[])?;
    if probe.sees(&greeted) {
        return Ok(probe);
    }
    match greeted.status() {
        status if status.is_success() => {
            let session = header(&greeted, "mcp-session-id").map(str::to_owned);
            let mut headers = vec![("mcp-protocol-version", VERSION)];
            headers.extend(session.as_deref().map(|session| ("mcp-session-id", session)));
            let _ = asker.ask(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &headers);
            if let Ok(listed) = asker.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }), &headers) {
                probe.sees(&listed);
            }
            asker.end(session.as_deref());
            Ok(probe)
        }
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::FORBIDDEN => Ok(probe),
        _ if probe.is_open => Ok(probe),
        _ => Err(describe(url, greeted, &Secrets::default())),
    }
}

impl Probe {
    /// Records what an answer shows. Returns whether it requires a login.
    fn sees(&mut self, response: &Response<Body>) -> bool {
        let values = response.headers().get_all("www-authenticate");
        let challenge = challenge::read(values.iter().filter_map(|value| value.to_str().ok()));
        let wants_login = response.status() == StatusCode::UNAUTHORIZED;
        if wants_login || self.challenge == Challenge::default() {
            self.challenge = challenge;
        }
        self.is_open |= response.status().is_success() || response.status() == StatusCode::BAD_REQUEST;
        self.is_open &= !wants_login;
        wants_login
    }
}

struct Asker<'u> {
    agent: Agent,
    url: &'u Url,
    /// The headers that the user set.
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Asker<'_> {
    fn ask(&self, message: &Value, headers: &[(&str, &str)]) -> Result<Response<Body>, String> {
        let mut request = self.agent.post(self.url.uri());
        for (name, value) in self.headers.iter().filter(|(name, _)| name.as_str() != "authorization") {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("accept", "application/json, text/event-stream");
        let answer = request.header("content-type", "application/json").send(message.to_string());
        answer.map_err(|error| Failure::of(&error, self.url).message)
    }

    /// Ends a session. A server may reject that.
    fn end(&self, session: Option<&str>) {
        if let Some(session) = session {
            let _ = self.agent.delete(self.url.uri()).header("mcp-session-id", session).call();
        }
    }
}
