//! The methods of the protocol: who may send each one, as a request or as a notification, in which versions, and how
//! the gate handles it.
//!
//! Covers the specifications of 2024-11-05 to 2025-11-25, and of 2026-07-28:
//! <https://modelcontextprotocol.io/specification>

use seamgate::Party;

/// The side that sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    /// Returns the run's term for the side.
    pub(super) fn party(self) -> Party {
        match self {
            Side::Client => Party::Client,
            Side::Server => Party::Server,
        }
    }

    /// Returns the side's name for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

/// The kind of a message with a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
}

impl Kind {
    /// Returns the kind's name for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Notification => "notification",
        }
    }
}

/// The kind of version that a message belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Era {
    /// A version with sessions, up to 2025-11-25.
    #[default]
    Session,
    /// 2026-07-28 or later.
    Stateless,
}

/// The versions that have a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum In {
    Session,
    Stateless,
    Both,
}

/// The gate's rule for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The handshake handles it.
    Initialize,
    /// It ends the client's part of the handshake.
    Initialized,
    /// The catalog answers it.
    ListTools,
    /// It is a call.
    CallTool,
    /// It is about a task.
    Task,
    /// It only confirms that its sender is running.
    Ping,
    /// It cancels a request of its sender.
    Cancel,
    /// It reports the progress of a request.
    Progress,
    /// It reports that the tools of a server have changed.
    ToolsChanged,
    /// The kernel judges it, and the gate passes it on if the profile names its method.
    Relay,
    /// The gate drops it.
    Drop,
}

use In::{Both, Session, Stateless};
use Kind::{Notification, Request};
use Side::{Client, Server};

/// The longest method outside of the protocol, in bytes. The run receives no more of it.
pub(super) const MAX_METHOD: usize = 256;

/// A row: the method, its sender, its kind, its versions, and the rule.
type Row = (&'static str, Side, Kind, In, Rule);

const TABLE: [Row; 38] = [
    ("completion/complete", Client, Request, Both, Rule::Relay),
    ("initialize", Client, Request, Session, Rule::Initialize),
    ("logging/setLevel", Client, Request, Both, Rule::Relay),
    ("ping", Client, Request, Both, Rule::Ping),
    ("prompts/get", Client, Request, Both, Rule::Relay),
    ("prompts/list", Client, Request, Both, Rule::Relay),
    ("resources/list", Client, Request, Both, Rule::Relay),
    ("resources/read", Client, Request, Both, Rule::Relay),
    ("resources/subscribe", Client, Request, Both, Rule::Relay),
    ("resources/templates/list", Client, Request, Both, Rule::Relay),
    ("resources/unsubscribe", Client, Request, Both, Rule::Relay),
    ("server/discover", Client, Request, Both, Rule::Relay),
    ("subscriptions/listen", Client, Request, Stateless, Rule::Relay),
    ("tasks/cancel", Client, Request, Stateless, Rule::Task),
    ("tasks/get", Client, Request, Stateless, Rule::Task),
    ("tasks/update", Client, Request, Stateless, Rule::Task),
    ("tools/call", Client, Request, Both, Rule::CallTool),
    ("tools/list", Client, Request, Both, Rule::ListTools),
    ("notifications/cancelled", Client, Notification, Both, Rule::Cancel),
    ("notifications/initialized", Client, Notification, Session, Rule::Initialized),
    ("notifications/progress", Client, Notification, Session, Rule::Progress),
    ("notifications/roots/list_changed", Client, Notification, Session, Rule::Relay),
    ("elicitation/create", Server, Request, Session, Rule::Relay),
    ("ping", Server, Request, Session, Rule::Ping),
    ("roots/list", Server, Request, Session, Rule::Relay),
    ("sampling/createMessage", Server, Request, Session, Rule::Relay),
    ("notifications/cancelled", Server, Notification, Both, Rule::Cancel),
    ("notifications/elicitation/complete", Server, Notification, Both, Rule::Relay),
    ("notifications/message", Server, Notification, Both, Rule::Relay),
    ("notifications/progress", Server, Notification, Both, Rule::Progress),
    ("notifications/prompts/list_changed", Server, Notification, Both, Rule::Relay),
    ("notifications/resources/list_changed", Server, Notification, Both, Rule::Relay),
    ("notifications/resources/updated", Server, Notification, Both, Rule::Relay),
    ("notifications/subscriptions/acknowledged", Server, Notification, Stateless, Rule::Relay),
    // The gate judges the outcome of a task when the client requests it.
    ("notifications/tasks", Server, Notification, Stateless, Rule::Drop),
    ("notifications/tools/list_changed", Server, Notification, Both, Rule::ToolsChanged),
    // Tasks of 2025-11-25, whose results would be delivered outside of calls.
    ("tasks/list", Client, Request, Stateless, Rule::Relay),
    ("tasks/result", Client, Request, Stateless, Rule::Relay),
];

/// Returns the rule for a message. Returns `None` if its sender may not send it in this way.
pub(super) fn rule(side: Side, kind: Kind, method: &str, era: Era) -> Option<Rule> {
    let mut rows = TABLE.iter().filter(|(name, ..)| *name == method).peekable();
    if rows.peek().is_some() {
        let holds = |versions: In| match versions {
            Both => true,
            Session => era == Era::Session,
            Stateless => era == Era::Stateless,
        };
        let row = rows.find(|(_, sender, sent, versions, _)| *sender == side && *sent == kind && holds(*versions));
        return row.map(|(.., rule)| *rule);
    }
    // Names of other methods must meet these conditions. The gate records its own findings under names that begin with
    // `seamgate/`.
    let is_possible = !method.is_empty()
        && !method.starts_with("seamgate/")
        && method.starts_with("notifications/") == (kind == Notification)
        // A profile can name all methods of a kind, so the rest of the name must hide nothing, and is judged as a
        // whole.
        && method.len() <= MAX_METHOD
        && method.bytes().all(|byte| byte.is_ascii_graphic());
    is_possible.then_some(Rule::Relay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_has_the_senders_and_the_kind_that_the_protocol_gives_it() {
        for side in [Client, Server] {
            for kind in [Request, Notification] {
                for era in [Era::Session, Era::Stateless] {
                    for (method, ..) in TABLE {
                        let is_listed = TABLE.iter().any(|(name, sender, sent, versions, _)| {
                            let is_of_era = *versions == Both || (*versions == Session) == (era == Era::Session);
                            (*name, *sender, *sent) == (method, side, kind) && is_of_era
                        });
                        let told = format!("{method} by {side:?} as {kind:?} in {era:?}");
                        assert_eq!(rule(side, kind, method, era).is_some(), is_listed, "{told}");
                    }
                    assert_eq!(rule(side, kind, "vendor/method", era).is_some(), kind == Request);
                    assert_eq!(rule(side, kind, "seamgate/read_artifact", era), None);
                    assert_eq!(rule(side, kind, "notifications/vendor", era).is_some(), kind == Notification);
                    for hidden in ["prompts/\u{e0041}", "prompts/a b", "prompts/\n", "prompts/é", ""] {
                        assert_eq!(rule(side, kind, hidden, era), None, "{hidden:?}");
                    }
                    assert_eq!(rule(side, kind, &format!("prompts/{}", "a".repeat(MAX_METHOD)), era), None);
                }
            }
        }
    }

    #[test]
    fn no_row_stands_twice() {
        for (place, (method, side, kind, versions, _)) in TABLE.iter().enumerate() {
            let other = TABLE[..place].iter().find(|(name, sender, sent, other, _)| {
                (name, sender, sent) == (method, side, kind)
                    && (versions == other || *versions == Both || *other == Both)
            });
            assert_eq!(other, None);
        }
    }
}
