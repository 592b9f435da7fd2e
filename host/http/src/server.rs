//! Accepts connections, and answers the requests on each in a separate thread.

use std::{
    io,
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use seamgate_text::{escape_terminal, warn};

use crate::wire::{Broken, Connection, Refused, Request};

/// The maximum number of open connections.
const MAX_CONNECTIONS: usize = 256;
/// The maximum number of refusals that are reported, because a client may retry forever.
const MAX_TOLD: usize = 20;
/// How long the server waits after the system refused a connection, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// The answer, which the handler creates and writes.
    type Answer: From<Refused>;

    /// Handles a request.
    ///
    /// # Errors
    ///
    /// The request is refused, or its client has ended the connection.
    fn answer(&self, connection: &mut Connection, request: &Request) -> Result<Self::Answer, Broken>;

    /// Writes an answer.
    ///
    /// # Errors
    ///
    /// The client has ended the connection, or reads too slowly.
    fn write(&self, connection: &mut Connection, answer: Self::Answer) -> io::Result<()>;
}

/// Serves at most 256 connections at once, forever. Reports the first 20 refusals of clients that lack the token or
/// come from elsewhere on standard error.
pub fn serve<H: Handler>(listener: &TcpListener, handler: H) {
    let server = Arc::new(Server { handler, connections: AtomicUsize::new(0), told: AtomicUsize::new(0) });
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            thread::sleep(PAUSE);
            continue;
        };
        if server.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            server.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let shared = Arc::clone(&server);
        let served = thread::Builder::new().spawn(move || {
            shared.serve(stream);
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        });
        if served.is_err() {
            server.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The state that all connections share.
struct Server<H> {
    handler: H,
    connections: AtomicUsize,
    told: AtomicUsize,
}

impl<H: Handler> Server<H> {
    /// Serves one connection.
    fn serve(&self, stream: TcpStream) {
        let Ok(mut connection) = Connection::new(stream) else { return };
        loop {
            let answer = match connection.head() {
                Ok(request) => self.handler.answer(&mut connection, &request),
                Err(broken) => Err(broken),
            };
            let answer = match answer {
                Ok(answer) => answer,
                Err(Broken::Ended) => return,
                Err(Broken::Refused(refused)) => {
                    self.tell(&refused);
                    refused.into()
                }
            };
            if self.handler.write(&mut connection, answer).is_err() || connection.is_last() {
                return connection.end();
            }
        }
    }

    /// Reports refused clients to the user, if they were refused because of who they are, not because of their request.
    fn tell(&self, Refused(status, why): &Refused) {
        if !matches!(status, 401 | 403) {
            return;
        }
        let told = self.told.fetch_add(1, Ordering::Relaxed);
        if told < MAX_TOLD {
            warn(&format!("seamgate: refused a request: {}", escape_terminal(why)));
        } else if told == MAX_TOLD {
            warn("seamgate: further refusals are not told");
        }
    }
}
