//! The profile of a world, and the names that its parties use.

use std::sync::LazyLock;

use seamgate_mcp::core::Policy;

/// The profile. Its two servers have tools with each kind of permit, and share some methods. It also has the gate's own
/// tool.
pub const PROFILE: &str = include_str!("profile.json");

/// The gate's own tool in the profile.
const READ_ARTIFACT: &str = "\"name\": \"read_artifact\"";

/// The part of the profile that the core reads, with and without the gate's own tool.
pub(crate) static POLICIES: LazyLock<[Policy; 2]> = LazyLock::new(|| {
    let without = PROFILE.replace(READ_ARTIFACT, "\"name\": \"read\"");
    [Policy::read(PROFILE), Policy::read(&without)]
});

/// For each server, the prefixes of the methods that the profile allows between the client and the server.
const METHODS: [&[&str]; 2] = [
    &[
        "completion/",
        "elicitation/",
        "logging/",
        "message",
        "prompts/",
        "resources/",
        "roots/list",
        "tasks/",
        "vendor/yes",
    ],
    &["resources/", "elicitation/create"],
];

/// The methods that exist independently of the profile.
const BASIC: [&str; 12] = [
    "initialize",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
    "ping",
    "seamgate/read_artifact",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The names of the servers in the profile.
pub(crate) const SERVERS: [&str; 2] = ["one", "two"];

/// The tools that a server lists. The profile does not name the last one.
pub(crate) const TOOLS: [&str; 6] = ["look", "act", "join", "ask", "wait", "extra"];

/// The names with which the client calls tools, for one server and for two. With two servers, the name of a tool begins
/// with the name of its server.
pub(crate) const NAMES: [[&str; 10]; 2] = [
    ["look", "act", "join", "ask", "wait", "no", "extra", "read_artifact", "nobody", "look "],
    [
        "one__look",
        "one__act",
        "two__act",
        "one__ask",
        "two__wait",
        "one__no",
        "two__look",
        "read_artifact",
        "nobody",
        "two__join",
    ],
];

/// The size of a world.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The number of servers: one or two.
    pub servers: usize,
    /// `true` if the profile has the gate's own tool.
    pub has_own_tool: bool,
    /// The events before the first move.
    pub prelude: Prelude,
}

/// The events before the first move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prelude {
    /// No events.
    Nothing,
    /// A session was initialized, and the client has the list of tools.
    Session,
    /// A client without a session has the list of tools.
    Stateless,
}

/// Returns whether the profile allows a method between the client and a server.
pub(crate) fn has_method(server: &str, method: &str) -> bool {
    let of_kind = match method.strip_prefix("notifications/") {
        Some("message") => "logging/message",
        Some(rest) => rest,
        None => method,
    };
    let methods = SERVERS.iter().position(|name| *name == server).map_or(&[][..], |place| METHODS[place]);
    BASIC.contains(&method)
        || !method.starts_with("seamgate/") && methods.iter().any(|beginning| of_kind.starts_with(beginning))
}
