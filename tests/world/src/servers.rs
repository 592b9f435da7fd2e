//! The servers of a world, with the servers' knowledge.

use seamgate_mcp::core::Message;

/// The methods that the gate may send to a server, and whether they are requests.
const TO_SERVER: [(&str, bool); 25] = [
    ("completion/complete", true),
    ("initialize", true),
    ("logging/setLevel", true),
    ("ping", true),
    ("prompts/get", true),
    ("prompts/list", true),
    ("resources/list", true),
    ("resources/read", true),
    ("resources/subscribe", true),
    ("resources/templates/list", true),
    ("resources/unsubscribe", true),
    ("server/discover", true),
    ("subscriptions/listen", true),
    ("tasks/cancel", true),
    ("tasks/get", true),
    ("tasks/list", true),
    ("tasks/result", true),
    ("tasks/update", true),
    ("tools/call", true),
    ("tools/list", true),
    ("vendor/yes", true),
    ("notifications/cancelled", false),
    ("notifications/initialized", false),
    ("notifications/progress", false),
    ("notifications/vendor/yes", false),
];

/// The state of a server's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Process {
    #[default]
    Up,
    /// The input of the process is closed, and the process will end by itself.
    Closed,
    Down,
}

/// A server.
#[derive(Default)]
pub(crate) struct Server {
    pub(crate) process: Process,
    /// The gate's unanswered requests.
    pub(crate) open: Vec<(u64, &'static str)>,
    /// The server's own unanswered requests.
    pub(crate) asked: Vec<&'static str>,
}

impl Server {
    /// Handles a message of the gate.
    pub(crate) fn on_message(&mut self, message: &Message) {
        match message {
            Message::Request { id, method, .. } => {
                let known = TO_SERVER.iter().find(|(name, asks)| *name == method && *asks);
                let (method, _) = known.unwrap_or_else(|| panic!("a server is asked for {method}"));
                let id = id.as_str().parse().unwrap_or_else(|_| panic!("a server is asked under the id {id}"));
                if self.open.len() == 64 {
                    self.open.remove(0);
                }
                self.open.push((id, method));
            }
            Message::Notification { method, .. } => {
                let is_known = TO_SERVER.contains(&(method, false)) || method == "notifications/roots/list_changed";
                assert!(is_known, "a server gets {method}");
            }
            Message::Answer { id, .. } => {
                let own = self.asked.iter().position(|own| id.as_ref().is_some_and(|id| id.as_str() == *own));
                let own = own.unwrap_or_else(|| panic!("a server gets an answer that it did not ask for, {id:?}"));
                self.asked.swap_remove(own);
            }
        }
    }
}
