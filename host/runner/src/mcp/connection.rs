//! A connection to a server, which is a program or at an address.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::remote::{Endpoint, Received, Remote, RemoteInput};
use crate::{
    process::{LineWriter, Program, Refused, Service, Wrote},
    secrets::Secrets,
};

/// Where to find a server.
#[derive(Clone, Copy)]
pub enum Target<'t> {
    /// A program to start.
    Program(&'t Program<'t>),
    /// An address.
    Address(&'t Endpoint),
}

/// A connection to a server. Dropping it terminates the program or the session.
pub enum Connection {
    /// A program, connected over its standard input and output.
    Process(Service),
    /// An address, connected over HTTP.
    Address(Remote),
}

/// Accepts lines for a server.
#[derive(Clone)]
pub enum Input {
    /// The standard input of a program.
    Process(Arc<LineWriter>),
    /// An address.
    Address(RemoteInput),
}

impl Connection {
    /// Starts a program, or a connection to an address. `take` receives what the server sends, with the values of
    /// secrets hidden, and returns whether it accepts more.
    pub fn start(target: Target, mut take: impl FnMut(Received) -> bool + Send + 'static) -> Result<Self, String> {
        let secrets = match target {
            Target::Program(program) => Arc::clone(program.secrets),
            Target::Address(endpoint) => Arc::clone(&endpoint.secrets),
        };
        let mut take = move |received| take(hidden(received, &secrets));
        match target {
            Target::Program(program) => Service::start(program, move |wrote| take(Received::Wrote(wrote)))
                .map(Connection::Process)
                .map_err(|error| format!("cannot run {}: {error}", program.name())),
            Target::Address(endpoint) => Remote::start(endpoint, take).map(Connection::Address),
        }
    }

    /// Returns the input that accepts lines for the server.
    pub fn input(&self) -> Input {
        match self {
            Connection::Process(service) => Input::Process(Arc::clone(service.input())),
            Connection::Address(remote) => Input::Address(remote.input()),
        }
    }

    /// Sends a line, if there is space in the queue.
    pub fn push(&self, line: String) -> Result<(), Refused> {
        self.input().push(line)
    }

    /// Sends nothing more, so that the server ends.
    pub fn close(&self) {
        self.input().close();
    }

    /// Terminates several servers at once. They share one `grace` to end by themselves.
    pub fn end_all(connections: &[&Connection], grace: Duration) {
        let start = Instant::now();
        let services: Vec<&Service> = connections
            .iter()
            .filter_map(|connection| match connection {
                Connection::Process(service) => Some(service),
                Connection::Address(remote) => {
                    remote.input().close();
                    None
                }
            })
            .collect();
        Service::end_all(&services, grace);
        for connection in connections {
            if let Connection::Address(remote) = connection {
                remote.end_after(grace.saturating_sub(start.elapsed()));
            }
        }
    }

    /// Describes how the program ended, such as "exited with status 1". `None` while it runs, and for an address.
    pub fn exit(&self) -> Option<String> {
        match self {
            Connection::Process(service) => service.exit(),
            Connection::Address(_) => None,
        }
    }

    /// Terminates the server. It has `grace` to end by itself.
    pub fn end_after(&self, grace: Duration) {
        match self {
            Connection::Process(service) => service.end_after(grace),
            Connection::Address(remote) => remote.end_after(grace),
        }
    }
}

/// Hides the values of secrets in a server's output.
fn hidden(received: Received, secrets: &Secrets) -> Received {
    match received {
        Received::Wrote(Wrote::Line(line)) => Received::Wrote(Wrote::Line(secrets.hide(line))),
        Received::Wrote(Wrote::Unended(line)) => Received::Wrote(Wrote::Unended(secrets.hide(line))),
        Received::Wrote(Wrote::NotText(shown)) => Received::Wrote(Wrote::NotText(secrets.hide_cut(shown))),
        Received::Wrote(wrote @ (Wrote::TooLong | Wrote::End)) => Received::Wrote(wrote),
        Received::Unanswered { id, message, may_have_run } => {
            Received::Unanswered { id, message: secrets.hide(message), may_have_run }
        }
    }
}

impl Input {
    /// Sends a line, if there is space in the queue.
    pub fn push(&self, line: String) -> Result<(), Refused> {
        match self {
            Input::Process(input) => input.push(line),
            Input::Address(input) => input.push(line),
        }
    }

    /// Sends nothing more, so that the server ends.
    pub fn close(&self) {
        match self {
            Input::Process(input) => input.close(),
            Input::Address(input) => input.close(),
        }
    }
}
