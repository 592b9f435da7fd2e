//! Which methods of the protocol a client and a server may send, as a request or as a notification. A method that the protocol does not know
//! is decided by the profile alone.

use seamgate::Party;

/// One side of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Client,
    Server,
}

/// A message that has a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Request,
    Notification,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }

    pub(super) fn party(self) -> Party {
        match self {
            Side::Client => Party::Client,
            Side::Server => Party::Server,
        }
    }
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Notification => "notification",
        }
    }
}

/// Methods of the protocol, by who sends them, and as what. <https://modelcontextprotocol.io/specification>
const KNOWN: &[(&str, Side, Kind)] = &[
    ("completion/complete", Side::Client, Kind::Request),
    ("initialize", Side::Client, Kind::Request),
    ("logging/setLevel", Side::Client, Kind::Request),
    ("ping", Side::Client, Kind::Request),
    ("prompts/get", Side::Client, Kind::Request),
    ("prompts/list", Side::Client, Kind::Request),
    ("resources/list", Side::Client, Kind::Request),
    ("resources/read", Side::Client, Kind::Request),
    ("resources/subscribe", Side::Client, Kind::Request),
    ("resources/templates/list", Side::Client, Kind::Request),
    ("resources/unsubscribe", Side::Client, Kind::Request),
    ("server/discover", Side::Client, Kind::Request),
    ("subscriptions/listen", Side::Client, Kind::Request),
    ("tasks/cancel", Side::Client, Kind::Request),
    ("tasks/get", Side::Client, Kind::Request),
    ("tasks/list", Side::Client, Kind::Request),
    ("tasks/result", Side::Client, Kind::Request),
    ("tasks/update", Side::Client, Kind::Request),
    ("tools/call", Side::Client, Kind::Request),
    ("tools/list", Side::Client, Kind::Request),
    ("notifications/cancelled", Side::Client, Kind::Notification),
    ("notifications/initialized", Side::Client, Kind::Notification),
    ("notifications/progress", Side::Client, Kind::Notification),
    ("notifications/roots/list_changed", Side::Client, Kind::Notification),
    ("elicitation/create", Side::Server, Kind::Request),
    ("ping", Side::Server, Kind::Request),
    ("roots/list", Side::Server, Kind::Request),
    ("sampling/createMessage", Side::Server, Kind::Request),
    ("notifications/cancelled", Side::Server, Kind::Notification),
    ("notifications/elicitation/complete", Side::Server, Kind::Notification),
    ("notifications/message", Side::Server, Kind::Notification),
    ("notifications/progress", Side::Server, Kind::Notification),
    ("notifications/prompts/list_changed", Side::Server, Kind::Notification),
    ("notifications/resources/list_changed", Side::Server, Kind::Notification),
    ("notifications/resources/updated", Side::Server, Kind::Notification),
    ("notifications/subscriptions/acknowledged", Side::Server, Kind::Notification),
    ("notifications/tools/list_changed", Side::Server, Kind::Notification),
];

/// Returns whether a side may send a method as a message of this kind, as far as the protocol says it.
pub(super) fn may_send(side: Side, kind: Kind, method: &str) -> bool {
    let mut known = KNOWN.iter().filter(|(name, ..)| *name == method).peekable();
    if known.peek().is_some() {
        return known.any(|(_, sender, sent)| *sender == side && *sent == kind);
    }
    // Names of other methods say no more than this. The gate records its own findings by methods of that kind.
    !method.starts_with("seamgate/") && method.starts_with("notifications/") == (kind == Kind::Notification)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_has_the_senders_and_the_kind_that_the_protocol_gives_it() {
        let all = [Side::Client, Side::Server]
            .into_iter()
            .flat_map(|side| [Kind::Request, Kind::Notification].into_iter().map(move |kind| (side, kind)));
        for (side, kind) in all {
            for (method, ..) in KNOWN {
                let is_listed = KNOWN.contains(&(method, side, kind));
                assert_eq!(may_send(side, kind, method), is_listed, "{method} by {side:?} as {kind:?}");
            }
            assert_eq!(may_send(side, kind, "vendor/method"), kind == Kind::Request);
            assert!(!may_send(side, kind, "seamgate/read_artifact"));
            assert_eq!(may_send(side, kind, "notifications/vendor"), kind == Kind::Notification);
        }
    }
}
