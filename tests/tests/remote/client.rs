//! The caller of a connection, in the role of the gate or the agent.

use std::{
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use seamgate_runner::{
    mcp::{Connection, Endpoint, Received, Target},
    process::Wrote,
};
use serde_json::{Value, json};

/// The longest time to wait for a message.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Client {
    pub(crate) connection: Connection,
    came: Receiver<Received>,
}

pub(crate) fn endpoint(members: Value) -> Endpoint {
    serde_json::from_value(members).expect("an endpoint")
}

impl Client {
    pub(crate) fn start(members: Value) -> Self {
        let (sender, came) = mpsc::channel();
        let endpoint = endpoint(members);
        let take = move |received| sender.send(received).is_ok();
        let connection = Connection::start(Target::Address(&endpoint), take).expect("a connection");
        Client { connection, came }
    }

    /// Starts a connection, and opens a session.
    pub(crate) fn with_session(members: Value) -> Self {
        let client = Self::start(members);
        client.say(
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } }),
        );
        assert_eq!(client.line()["id"], 0);
        client.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn say(&self, message: Value) {
        self.connection.push(message.to_string()).expect("room");
    }

    pub(crate) fn ask(&self, id: u64, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Sends a request without a session.
    pub(crate) fn ask_stateless(&self, id: u64, method: &str, mut params: Value) {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} });
        self.ask(id, method, params);
    }

    /// Returns the next input as text.
    pub(crate) fn next(&self) -> String {
        match self.came.recv_timeout(PATIENCE) {
            Ok(Received::Wrote(Wrote::Line(line))) => line,
            Ok(Received::Wrote(Wrote::NotText(text))) => format!("not text: {text}"),
            Ok(Received::Wrote(Wrote::End)) => "end".to_owned(),
            Ok(Received::Wrote(_)) => "other".to_owned(),
            Ok(Received::Unanswered { id, message, may_have_run }) => {
                format!("{id} {}: {message}", if may_have_run { "unknown" } else { "refused" })
            }
            Err(error) => panic!("nothing came: {error}"),
        }
    }

    /// Returns the next message.
    pub(crate) fn line(&self) -> Value {
        let next = self.next();
        serde_json::from_str(&next).unwrap_or_else(|error| panic!("{next}: {error}"))
    }

    /// Returns whether no input arrives for a short time.
    pub(crate) fn is_quiet(&self) -> bool {
        self.came.recv_timeout(Duration::from_millis(300)).is_err()
    }
}
