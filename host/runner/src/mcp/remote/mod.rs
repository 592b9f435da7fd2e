//! A client of one server at an address. Messages go in and come out as lines, as with a program.
//!
//! The transport is "streamable HTTP", with sessions (2025-03-26 to 2025-11-25) and without (2026-07-28). A message
//! that names its version in `_meta` belongs to no session.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod answer;
mod endpoint;
mod flight;
mod headers;
mod link;
mod message;
mod net;
mod oauth;
mod request;
mod sse;
mod url;
mod work;

use std::{sync::Arc, thread, time::Duration};

pub use self::{
    endpoint::{Endpoint, OAuth},
    link::Received,
    oauth::{LoggedIn, Login},
};
use self::{link::Link, oauth::Authorizer};
pub(crate) use self::{
    net::{agent as client_of, shown},
    url::{Reach, Url},
};
use crate::process::Refused;

/// The longest time for ending a session.
const GRACE: Duration = Duration::from_secs(2);

/// A connection to a server. Dropping it ends the session.
pub struct Remote {
    link: Arc<Link>,
}

/// Accepts lines for a server.
#[derive(Clone)]
pub struct RemoteInput(Arc<Link>);

impl Remote {
    /// Starts a connection. `take` receives what the server sends, and returns whether it accepts more. It receives the
    /// end exactly once, when the server has ended the session or the caller has closed the input.
    ///
    /// Nothing is sent before the first line.
    pub fn start(endpoint: &Endpoint, take: impl FnMut(Received) -> bool + Send + 'static) -> Result<Self, String> {
        endpoint.check()?;
        let url = endpoint.address()?;
        let headers = endpoint.headers()?;
        let authorizer = Authorizer::new(endpoint, &url);
        let link = Arc::new(Link::new(endpoint.clone(), headers, authorizer, url, Box::new(take)));
        let remote = Remote { link: Arc::clone(&link) };
        let no_thread = |error| format!("no thread can be started: {error}");
        let watched = Arc::clone(&link);
        thread::Builder::new().spawn(move || work::watch(&watched)).map_err(no_thread)?;
        thread::Builder::new().spawn(move || work::send_all(&link)).map_err(no_thread)?;
        Ok(remote)
    }

    /// Returns the input that accepts lines for the server.
    pub fn input(&self) -> RemoteInput {
        RemoteInput(Arc::clone(&self.link))
    }

    /// Ends the session, which may take `grace`.
    pub fn end_after(&self, grace: Duration) {
        self.link.stop();
        self.link.wait_until_done(grace);
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.end_after(GRACE);
    }
}

impl RemoteInput {
    /// Sends a message, if there is space in the queue.
    pub fn push(&self, line: String) -> Result<(), Refused> {
        self.0.push(line)
    }

    /// Accepts no more messages. Waiting messages are sent, requests in flight get their answers, and then the session
    /// ends.
    pub fn close(&self) {
        self.0.close();
    }
}
