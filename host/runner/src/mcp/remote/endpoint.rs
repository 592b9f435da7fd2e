//! A server at an address, as a servers file describes it.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Deserialize;
use ureq::http::{HeaderName, HeaderValue};

use super::url::{Reach, Url};
use crate::{
    header::header,
    secrets::Secrets,
    variables::{Part, expand, parts, variables},
};

/// Headers that only the transport sets.
const OWN: [&str; 11] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
    "upgrade",
];
/// The maximum number of headers.
const MAX_HEADERS: usize = 64;

/// A server at an address.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The address.
    pub url: String,
    /// Headers that each request has. `${NAME}` represents an environment variable.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How `seamgate mcp login` registers with the authorization server.
    #[serde(default)]
    pub oauth: OAuth,
    /// The longest time, in seconds, that the server may be silent while a request waits.
    #[serde(default = "default_timeout")]
    pub timeout_s: u64,
    /// `true` to allow plain HTTP to other machines.
    #[serde(default)]
    pub insecure: bool,
    /// The server's name, for messages.
    #[serde(skip)]
    pub name: String,
    /// The command that logs in to the server, for messages.
    #[serde(skip)]
    pub login: String,
    /// The secrets that are hidden in the server's output.
    #[serde(skip)]
    pub secrets: Arc<Secrets>,
}

/// A client that is registered with an authorization server.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    /// The client's id. Without it, the client registers itself.
    pub client_id: Option<String>,
    /// The client's secret: `${NAME}`.
    pub client_secret: Option<String>,
    /// The scopes to request. The default is the scopes that the server names.
    pub scopes: Option<Vec<String>>,
    /// The port on this machine that the browser is redirected to. The default is any free port.
    pub redirect_port: Option<u16>,
}

fn default_timeout() -> u64 {
    60
}

impl Endpoint {
    /// Checks everything in a file that does not depend on the environment.
    pub fn check(&self) -> Result<(), String> {
        self.address()?;
        if self.headers.len() > MAX_HEADERS {
            return Err(format!("\"headers\" has more than {MAX_HEADERS} members"));
        }
        for (name, value) in &self.headers {
            let wrong = |why: &str| Err(format!("\"headers\": {name:?}: {why}"));
            let lower = name.to_ascii_lowercase();
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return wrong("it cannot be the name of a header");
            }
            if OWN.contains(&lower.as_str()) || lower.starts_with("mcp-") {
                return wrong("this header belongs to the protocol");
            }
            if let Err(why) = parts(value) {
                return wrong(&why);
            }
        }
        if let Some(secret) = &self.oauth.client_secret {
            match parts(secret).map(|parts| parts.len() == 1 && matches!(parts[..], [Part::Variable(_)])) {
                Ok(true) if self.oauth.client_id.is_some() => {}
                Ok(true) => return Err("\"oauth\": \"client_secret\" needs \"client_id\"".to_owned()),
                _ => {
                    let why =
                        "must be \"${NAME}\": the secret stands in a variable of the environment, not in the file";
                    return Err(format!("\"oauth\": \"client_secret\" {why}"));
                }
            }
        }
        let scopes = self.oauth.scopes.iter().flatten();
        match scopes.into_iter().find(|scope| scope.is_empty() || !scope.bytes().all(is_of_scope)) {
            Some(scope) => {
                Err(format!("\"oauth\": \"scopes\": invalid scope {scope:?}: write one name for each, without spaces"))
            }
            None => Ok(()),
        }
    }

    /// Returns the names of this process's environment variables that are sent to the server.
    pub fn variables(&self) -> impl Iterator<Item = String> {
        self.headers.values().chain(&self.oauth.client_secret).flat_map(|value| variables(value))
    }

    pub(super) fn reach(&self) -> Reach {
        if self.insecure { Reach::Insecure } else { Reach::Named }
    }

    pub(super) fn address(&self) -> Result<Url, String> {
        Url::parse(&self.url, self.reach()).map_err(|why| format!("\"url\": {why}"))
    }

    /// Returns the headers with variables replaced by their values.
    pub(super) fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let named = |(name, value): (&String, &String)| {
            header(name, value).map_err(|why| format!("\"headers\": {name:?}: {why}"))
        };
        self.headers.iter().map(named).collect()
    }
}

impl OAuth {
    /// Returns the client's secret.
    pub(super) fn secret(&self) -> Result<Option<String>, String> {
        self.client_secret.as_deref().map(expand).transpose().map_err(|why| format!("\"client_secret\": {why}"))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns whether a byte is valid in a scope (RFC 6749, section 3.3).
pub(super) fn is_of_scope(byte: u8) -> bool {
    matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_descriptions_are_refused_with_their_place() {
        for (members, place) in [
            (json!({ "url": "http://example.com/mcp" }), "\"url\""),
            (json!({ "url": "https://a/", "headers": { "Host": "b" } }), "\"Host\""),
            (json!({ "url": "https://a/", "headers": { "MCP-Session-Id": "b" } }), "\"MCP-Session-Id\""),
            (json!({ "url": "https://a/", "headers": { "a b": "c" } }), "\"a b\""),
            (json!({ "url": "https://a/", "headers": { "a": "${" } }), "\"a\""),
            (json!({ "url": "https://a/", "oauth": { "client_id": "a", "client_secret": "s" } }), "\"client_secret\""),
            (json!({ "url": "https://a/", "oauth": { "client_secret": "${S}" } }), "\"client_id\""),
            (json!({ "url": "https://a/", "oauth": { "scopes": ["a b"] } }), "\"scopes\""),
        ] {
            let endpoint: Endpoint = serde_json::from_value(members.clone()).expect("members");
            let why = endpoint.check().expect_err("invalid");
            assert!(why.contains(place), "{members}: {why}");
        }
    }
}
