//! Finds the authorization server of a resource: RFC 9728, RFC 8414 and OpenID Connect Discovery 1.0.

use std::time::Duration;

use serde::{Deserialize, de::DeserializeOwned};
use ureq::http::StatusCode;

use super::super::{
    net::{Failure, agent, read_all, shown},
    url::{Reach, Url},
};

/// The largest metadata document, in bytes.
const MAX_METADATA: u64 = 256 * 1024;
/// The longest time for one request.
pub(super) const LIMIT: Duration = Duration::from_secs(20);
/// The maximum number of authorization servers that are tried.
const MAX_SERVERS: usize = 4;

/// The metadata of a protected resource.
#[derive(Deserialize)]
pub(super) struct Resource {
    pub(super) resource: String,
    #[serde(default)]
    pub(super) authorization_servers: Vec<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
}

/// The metadata of an authorization server.
#[derive(Deserialize)]
pub(super) struct Server {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

/// Finds the metadata of the resource. Returns `None` for a server that follows 2025-03-26, which has no metadata.
pub(super) fn resource(server: &Url, named: Option<&str>) -> Result<Option<Resource>, String> {
    let reach = server.reach_of_found();
    let origin = server.origin();
    let path = server.path().trim_end_matches('/');
    let mut candidates = match named {
        Some(named) => vec![named.to_owned()],
        None => vec![format!("{origin}/.well-known/oauth-protected-resource{path}")],
    };
    if named.is_none() && !path.is_empty() {
        candidates.push(format!("{origin}/.well-known/oauth-protected-resource"));
    }
    for candidate in candidates {
        let url = Url::parse(&candidate, reach).map_err(|why| format!("the resource's metadata: {}", shown(&why)))?;
        if let Some(found) = fetch::<Resource>(&url, reach)? {
            if !covers(&found.resource, server) {
                let resource = shown(&found.resource);
                return Err(format!("{url}: it describes the resource {resource}, not {}", server.canonical()));
            }
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns whether a resource's identifier denotes the server itself, or a part of its origin that contains the server.
fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource, Reach::Insecure) else { return false };
    let inner = server.path().strip_prefix(resource.path().trim_end_matches('/'));
    resource.origin() == server.origin() && inner.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Finds the metadata of an authorization server that the resource names.
pub(super) fn server(resource: &Url, issuers: &[String]) -> Result<Server, String> {
    let reach = resource.reach_of_found();
    let mut last = format!("{} names no authorization server", resource.canonical());
    for issuer in issuers.iter().take(MAX_SERVERS) {
        match one_server(issuer, reach) {
            Ok(server) => return Ok(server),
            Err(why) => last = why,
        }
    }
    Err(last)
}

fn one_server(issuer: &str, reach: Reach) -> Result<Server, String> {
    let shown_issuer = shown(issuer);
    let url = Url::parse(issuer, reach).map_err(|why| format!("the authorization server: {}", shown(&why)))?;
    let (origin, path) = (url.origin(), url.path().trim_end_matches('/'));
    let mut candidates = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        candidates.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    for candidate in candidates {
        let candidate = Url::parse(&candidate, reach)?;
        let Some(found) = fetch::<Server>(&candidate, reach)? else { continue };
        if found.issuer != issuer {
            return Err(format!("{candidate}: its issuer is {}, not {shown_issuer}", shown(&found.issuer)));
        }
        if !found.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(format!("{shown_issuer} does not say that it supports PKCE with S256, which seamgate needs"));
        }
        for endpoint in
            [&found.authorization_endpoint, &found.token_endpoint].into_iter().chain(&found.registration_endpoint)
        {
            Url::parse(endpoint, reach).map_err(|why| format!("{candidate}: {}", shown(&why)))?;
        }
        return Ok(found);
    }
    Err(format!("{shown_issuer} has no metadata of an authorization server"))
}

/// Fetches a document. Returns `None` if the server has no such document.
fn fetch<T: DeserializeOwned>(url: &Url, reach: Reach) -> Result<Option<T>, String> {
    let request = agent(url, reach, Some(LIMIT)).get(url.uri()).header("accept", "application/json");
    let response = request.call().map_err(|error| Failure::of(&error, url).message)?;
    match response.status() {
        StatusCode::OK => {}
        status if status.is_client_error() => return Ok(None),
        status => return Err(format!("{url} answered with status {}", status.as_u16())),
    }
    let bytes = read_all(response.into_body().into_reader(), MAX_METADATA)
        .map_err(|error| format!("{url}: the answer broke off: {error}"))?
        .ok_or_else(|| format!("{url}: the document has more than {} KiB", MAX_METADATA / 1024))?;
    match serde_json::from_slice(&bytes) {
        Ok(document) => Ok(Some(document)),
        Err(error) => Err(format!("{url}: invalid metadata: {}", shown(&error.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_must_be_the_server_or_around_it() {
        let server = Url::parse("https://a.example/mcp/v1", Reach::Named).expect("an address");
        for (resource, is_fine) in [
            ("https://a.example/mcp/v1", true),
            ("https://A.example", true),
            ("https://a.example/mcp/", true),
            ("https://a.example/mc", false),
            ("https://a.example/mcp/v1/x", false),
            ("https://b.example/mcp/v1", false),
            ("http://a.example/mcp/v1", false),
            ("a.example", false),
        ] {
            assert_eq!(covers(resource, &server), is_fine, "{resource}");
        }
    }
}
