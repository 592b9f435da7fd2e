//! Logs in to a server: finds its authorization server, registers, and exchanges the code that the browser delivers.

use std::{path::PathBuf, time::Duration};

use data_encoding::BASE64URL_NOPAD;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{
        endpoint::Endpoint,
        net::{Failure, agent, describe, read_all, shown},
        url::Url,
    },
    callback::{Callback, Parameters},
    discovery::{self, LIMIT, Server},
    probe::{Probe, probe},
    scopes::{MAX_SCOPE, joined},
    store::{Store, Stored},
    token::{Client, encode, request},
};
use crate::secrets::Secrets;

/// The largest answer to a registration, in bytes.
const MAX_ANSWER: u64 = 256 * 1024;

/// A login that waits for the browser.
pub struct Login {
    url: Url,
    store: Store,
    server: Server,
    client: Client,
    /// The client's secret, if the environment has it.
    secret: Option<String>,
    resource: String,
    callback: Callback,
    state: String,
    verifier: String,
    address: String,
    scope: Option<String>,
}

/// The outcome of a login.
pub struct LoggedIn {
    /// The file with the tokens.
    pub path: PathBuf,
    /// The authorization server.
    pub issuer: String,
    /// The scopes that were granted.
    pub scope: Option<String>,
    /// `true` if the tokens can be refreshed without another login.
    pub is_lasting: bool,
}

impl Login {
    /// Prepares a login. Returns `None` if the server accepts requests without one.
    pub fn begin(endpoint: &Endpoint) -> Result<Option<Self>, String> {
        endpoint.check()?;
        let url = endpoint.address()?;
        let store = Store::of(&url)?;
        let Probe { is_open, challenge } = probe(endpoint, &url)?;
        let found = discovery::resource(&url, challenge.resource_metadata.as_deref())?;
        if found.is_none() && is_open {
            return Ok(None);
        }
        let reach = url.reach_of_found();
        let (resource, issuers, scopes) = match found {
            Some(found) => (found.resource, found.authorization_servers, found.scopes_supported),
            // Before 2025-06-18, the server's origin was the authorization server.
            None => (url.canonical(), vec![url.origin()], Vec::new()),
        };
        let server = discovery::server(&url, &issuers)?;
        let callback = Callback::listen(endpoint.oauth.redirect_port.unwrap_or_default())?;
        let mut scope = match &endpoint.oauth.scopes {
            Some(scopes) => Some(scopes.join(" ")),
            None => {
                let own = challenge.scope.or_else(|| (!scopes.is_empty()).then(|| scopes.join(" ")));
                with_lacked(&store, &server.issuer, own)
            }
        };
        if let Some(scope) = &mut scope
            && endpoint.oauth.scopes.is_none()
            && server.scopes_supported.iter().any(|own| own == "offline_access")
            && !scope.split(' ').any(|own| own == "offline_access")
        {
            scope.push_str(" offline_access");
        }
        if scope.as_ref().is_some_and(|scope| scope.len() > MAX_SCOPE) {
            return Err(format!("{url}: it names scopes of more than {MAX_SCOPE} bytes: choose some with \"scopes\""));
        }
        let scope = scope.filter(|scope| !scope.is_empty());
        let has_secret_in_form = {
            let methods = &server.token_endpoint_auth_methods_supported;
            let has = |name: &str| methods.iter().any(|method| method == name);
            has("client_secret_post") && !has("client_secret_basic")
        };
        let client = match &endpoint.oauth.client_id {
            Some(id) => Client { id: id.clone(), secret: None, has_secret_in_form },
            None => register(&server, &callback.uri(), scope.as_deref(), &url, has_secret_in_form)?,
        };
        let (state, verifier) = (secret_text()?, secret_text()?);
        let challenge = BASE64URL_NOPAD.encode(digest(&SHA256, verifier.as_bytes()).as_ref());
        let redirect = callback.uri();
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &redirect),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
        ];
        pairs.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let authorize = Url::parse(&server.authorization_endpoint, reach)?;
        let mark = if server.authorization_endpoint.contains('?') { '&' } else { '?' };
        let address = format!("{authorize}{mark}{}", query.join("&"));
        let secret = endpoint.oauth.secret()?;
        Ok(Some(Login { url, store, server, client, secret, resource, callback, state, verifier, address, scope }))
    }

    /// Returns the address that the browser opens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the browser, and stores the tokens. Returns `None` if nobody logged in, or if `is_over` returned
    /// `true`.
    pub fn wait(self, time: Duration, is_over: impl Fn() -> bool) -> Result<Option<LoggedIn>, String> {
        let Some(parameters) = self.callback.wait(&self.state, time, is_over) else { return Ok(None) };
        let code = self.code(&parameters)?;
        let reach = self.url.reach_of_found();
        let endpoint = Url::parse(&self.server.token_endpoint, reach)?;
        let redirect = self.callback.uri();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &redirect),
            ("code_verifier", &self.verifier),
            ("resource", &self.resource),
        ];
        let secret = self.client.secret.as_deref().or(self.secret.as_deref());
        let mut tokens = request(&endpoint, reach, &self.client, secret, &form).map_err(|refusal| refusal.message())?;
        // If the answer names no scopes, the granted scopes are the requested ones (RFC 6749, section 5.1).
        tokens.scope = tokens.scope.or(self.scope);
        let stored = Stored {
            server: self.url.canonical(),
            resource: self.resource,
            issuer: self.server.issuer,
            token_endpoint: self.server.token_endpoint,
            client: self.client,
            tokens,
            lacked: None,
        };
        let _lock = self.store.lock()?;
        self.store.write(&stored)?;
        Ok(Some(LoggedIn {
            path: self.store.path().to_owned(),
            issuer: stored.issuer,
            is_lasting: stored.tokens.refresh_token.is_some(),
            scope: stored.tokens.scope,
        }))
    }

    /// Returns the code, after verifying that the right server issued it (RFC 9207).
    fn code<'p>(&self, parameters: &'p Parameters) -> Result<&'p str, String> {
        let issuer = &self.server.issuer;
        match parameters.get("iss") {
            Some(iss) if iss != issuer => {
                return Err(format!("the answer came from {}, not from {}", shown(iss), shown(issuer)));
            }
            None if self.server.authorization_response_iss_parameter_supported => {
                return Err(format!("the answer does not name {}, which says that it names itself", shown(issuer)));
            }
            _ => {}
        }
        if let Some(error) = parameters.get("error") {
            let more = parameters.get("error_description").map(|text| format!(": {}", shown(text))).unwrap_or_default();
            return Err(format!("{} refused the login: {}{more}", shown(issuer), shown(error)));
        }
        match parameters.get("code") {
            Some(code) if !code.is_empty() => Ok(code),
            _ => Err(format!("{} answered without a code", shown(issuer))),
        }
    }
}

/// Extends the scopes of a login by those that a request lacked, and by those granted before. A repeated login because
/// of one request must not lose the scopes that other requests need.
fn with_lacked(store: &Store, issuer: &str, own: Option<String>) -> Option<String> {
    // A login replaces a file that cannot be read.
    let Some(before) = store.read().ok().flatten() else { return own };
    let Some(lacked) = &before.lacked else { return own };
    let granted = before.tokens.scope.as_deref().filter(|_| before.issuer == issuer);
    joined([granted, own.as_deref(), Some(lacked)]).or(own)
}

/// Registers a client (RFC 7591).
fn register(
    server: &Server,
    redirect: &str,
    scope: Option<&str>,
    resource: &Url,
    has_secret_in_form: bool,
) -> Result<Client, String> {
    let Some(endpoint) = &server.registration_endpoint else {
        return Err(format!(
            "{} lets no client register itself: register one by hand with the address http://127.0.0.1/callback, and name its id as \"oauth\": {{\"client_id\": \"…\"}}",
            shown(&server.issuer)
        ));
    };
    let reach = resource.reach_of_found();
    let endpoint = Url::parse(endpoint, reach)?;
    let mut document = json!({
        "client_name": "seamgate",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    if let Some(scope) = scope {
        document["scope"] = scope.into();
    }
    let request = agent(&endpoint, reach, Some(LIMIT)).post(endpoint.uri()).header("accept", "application/json");
    let answer = request.header("content-type", "application/json").send(document.to_string());
    let response = answer.map_err(|error| Failure::of(&error, &endpoint).message)?;
    if !response.status().is_success() {
        return Err(format!("the client cannot be registered: {}", describe(&endpoint, response, &Secrets::default())));
    }
    #[derive(Deserialize)]
    struct Registered {
        client_id: String,
        client_secret: Option<String>,
        token_endpoint_auth_method: Option<String>,
    }
    let bytes = read_all(response.into_body().into_reader(), MAX_ANSWER).ok().flatten().unwrap_or_default();
    let Ok(registered) = serde_json::from_slice::<Registered>(&bytes) else {
        return Err(format!("{endpoint}: invalid answer to the registration: expected \"client_id\""));
    };
    let has_secret_in_form = match registered.token_endpoint_auth_method.as_deref() {
        Some(method) => method == "client_secret_post",
        None => has_secret_in_form,
    };
    Ok(Client { id: registered.client_id, secret: registered.client_secret, has_secret_in_form })
}

/// Returns an unguessable random text, as PKCE requires (RFC 7636, section 4.1).
fn secret_text() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random bytes: {error}"))?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}
