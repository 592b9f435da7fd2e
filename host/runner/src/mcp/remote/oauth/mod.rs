//! OAuth 2.1 for servers at addresses: logging in, storing tokens and refreshing them.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization>
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>

mod callback;
mod challenge;
mod discovery;
mod login;
mod probe;
mod scopes;
mod store;
mod token;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::login::{LoggedIn, Login};
use self::{
    challenge::Challenge,
    store::{Store, Stored},
    token::{Refusal, now, request},
};
use super::{
    endpoint::{Endpoint, OAuth},
    net::shown,
    url::Url,
};

/// A token is refreshed when no more than this many seconds remain.
const MARGIN: u64 = 30;

/// The tokens for one server.
pub(super) struct Authorizer {
    url: Url,
    oauth: OAuth,
    login: String,
    /// `None` if the user set the header `Authorization`. An error if there is no folder for tokens.
    store: Option<Result<Store, String>>,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    is_read: bool,
    stored: Option<Stored>,
}

impl Authorizer {
    pub(super) fn new(endpoint: &Endpoint, url: &Url) -> Self {
        let has_own = endpoint.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        let store = (!has_own).then(|| Store::of(url));
        let (oauth, login) = (endpoint.oauth.clone(), endpoint.login.clone());
        Authorizer { url: url.clone(), oauth, login, store, current: Mutex::default() }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the token to send with a request. `None` if nobody has logged in, which many servers do not require.
    pub(super) fn token(&self) -> Result<Option<String>, String> {
        // Most servers need neither tokens nor a folder for them.
        let Some(Ok(store)) = &self.store else { return Ok(None) };
        let mut current = self.current();
        if !current.is_read {
            current.stored = store.read()?;
            current.is_read = true;
        }
        let Some(stored) = &current.stored else { return Ok(None) };
        if stored.tokens.expires_at.is_none_or(|at| at > now() + MARGIN) {
            return Ok(Some(stored.tokens.access_token.clone()));
        }
        let expired = stored.tokens.access_token.clone();
        self.refresh(store, &mut current, Some(&expired)).map(Some)
    }

    /// Returns a new token in place of one that the server rejected.
    pub(super) fn renew(&self, rejected: Option<&str>) -> Result<String, String> {
        let store = match &self.store {
            Some(Ok(store)) => store,
            Some(Err(why)) => return Err(format!("{}: it wants a login, but {why}", self.url)),
            None => return Err(self.rejected()),
        };
        let mut current = self.current();
        // Another request may have refreshed it meanwhile.
        if let Some(stored) = &current.stored
            && rejected.is_some_and(|rejected| rejected != stored.tokens.access_token)
        {
            return Ok(stored.tokens.access_token.clone());
        }
        self.refresh(store, &mut current, rejected)
    }

    fn refresh(&self, store: &Store, current: &mut Current, rejected: Option<&str>) -> Result<String, String> {
        // Nothing is written for a server that nobody has logged in to.
        let found = store.read()?;
        if found.is_none() {
            current.stored = None;
            return Err(self.needs_login("it wants a login"));
        }
        let _lock = store.lock()?;
        // Somebody may have logged in, or another process may have refreshed the token.
        let Some(stored) = store.read()? else { return Err(self.needs_login("it wants a login")) };
        let is_other = Some(stored.tokens.access_token.as_str()) != rejected;
        if is_other && stored.tokens.expires_at.is_none_or(|at| at > now() + MARGIN) {
            let token = stored.tokens.access_token.clone();
            current.stored = Some(stored);
            return Ok(token);
        }
        if self.oauth.client_id.as_ref().is_some_and(|id| *id != stored.client.id) {
            return Err(self.needs_login("the login belongs to another \"client_id\""));
        }
        let Some(refresh_token) = stored.tokens.refresh_token.clone() else {
            return Err(self.needs_login("the login has expired"));
        };
        let reach = self.url.reach_of_found();
        let endpoint = Url::parse(&stored.token_endpoint, reach)?;
        let own = self.oauth.secret()?;
        let secret = stored.client.secret.as_deref().or(own.as_deref());
        let form = [("grant_type", "refresh_token"), ("refresh_token", &refresh_token), ("resource", &stored.resource)];
        let mut tokens = match request(&endpoint, reach, &stored.client, secret, &form) {
            Ok(tokens) => tokens,
            Err(Refusal::Invalid(why)) => {
                return Err(self.needs_login(&format!("the login is not valid any more: {why}")));
            }
            Err(Refusal::Failed(why)) => return Err(format!("the token cannot be refreshed: {why}")),
        };
        tokens.refresh_token = tokens.refresh_token.or(Some(refresh_token));
        tokens.scope = tokens.scope.or_else(|| stored.tokens.scope.clone());
        let stored = Stored { tokens, ..stored };
        store.write(&stored)?;
        let token = stored.tokens.access_token.clone();
        current.stored = Some(stored);
        Ok(token)
    }

    /// Describes a rejection that another token would not resolve.
    pub(super) fn rejected(&self) -> String {
        match self.store {
            Some(_) => self.needs_login("it rejects the token"),
            None => format!(
                "{} answered with status 401: it rejects the header Authorization of the servers file",
                self.url
            ),
        }
    }

    /// Returns a new token in place of one with insufficient scopes, if somebody has logged in meanwhile. Otherwise
    /// records the scopes that the challenge names, so that the next login requests them.
    pub(super) fn widen<'v>(
        &self,
        narrow: Option<&str>,
        challenges: impl Iterator<Item = &'v str>,
    ) -> Result<String, String> {
        let store = match &self.store {
            Some(Ok(store)) => store,
            Some(Err(why)) => return Err(format!("{}: it wants a login, but {why}", self.url)),
            None => {
                let why = "the header Authorization of the servers file does not cover this request";
                return Err(format!("{} answered with status 403: {why}", self.url));
            }
        };
        let Challenge { scope, .. } = challenge::read(challenges);
        let mut current = self.current();
        // Nothing is written for a server that nobody has logged in to.
        let is_logged_in = store.read()?.is_some();
        let _lock = is_logged_in.then(|| store.lock()).transpose()?;
        let Some(stored) = store.read()? else { return Err(self.needs_login("it wants a login")) };
        if Some(stored.tokens.access_token.as_str()) != narrow {
            let token = stored.tokens.access_token.clone();
            current.stored = Some(stored);
            return Ok(token);
        }
        let lacked = scope.and_then(|scope| scopes::joined([stored.lacked.as_deref(), Some(scope.as_str())]));
        let Some(lacked) = lacked else { return Err(self.needs_login("the login does not cover this request")) };
        let why = format!("the login does not cover this request, which needs the scopes {}", shown(&lacked));
        if self.oauth.scopes.is_some() {
            return Err(self.needs_login(&format!("{why}: add them to \"scopes\" in the servers file")));
        }
        if stored.lacked.as_ref() != Some(&lacked) {
            store.write(&Stored { lacked: Some(lacked), ..stored })?;
        }
        Err(self.needs_login(&why))
    }

    fn needs_login(&self, why: &str) -> String {
        let hint = if self.login.is_empty() { "seamgate mcp login" } else { &self.login };
        format!("{}: {why}. Run `{hint}`", self.url)
    }
}
