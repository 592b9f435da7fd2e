//! The moves of the servers.

use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::{Input, UpstreamId};

use crate::{
    Kernel,
    client::TOKENS,
    nonces::{self, NOBODY, Parties},
    servers::Process,
    setting::TOOLS,
    world::World,
};

/// The methods of requests: at least one for each rule, and some that servers must not send.
const REQUESTS: [&str; 8] = [
    "elicitation/create",
    "elicitation/create",
    "ping",
    "roots/list",
    "sampling/createMessage",
    "vendor/yes",
    "vendor/no",
    "tools/call",
];

/// The methods of notifications.
const NOTIFICATIONS: [&str; 14] = [
    "notifications/elicitation/complete",
    "notifications/message",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tools/list_changed",
    "notifications/tools/list_changed",
    "notifications/vendor/yes",
    "notifications/vendor/no",
    "notifications/initialized",
    "seamgate/ended",
    "sampling/createMessage",
];

/// The shape of an answer that requests input.
const QUESTION: usize = 16;

/// The ids of servers' requests.
const IDS: [&str; 5] = ["1", "2", "\"1\"", "\"q\"", "\"seamgate-1\""];

impl<K: Kernel> World<K> {
    pub(crate) fn server_moves(&mut self, choices: &mut impl Choices) {
        let place = choices.below(self.servers);
        match choices.below(32) {
            0..=15 => self.server_answers(place, false, choices),
            16..=19 => self.server_asks(place, choices),
            20..=22 => self.server_notifies(place, choices),
            23..=26 => self.server_tells_progress(place, choices),
            27 => self.server_cancels(place, choices),
            28 => self.server_answers(place, true, choices),
            _ => self.server_writes_garbage(place, choices),
        }
    }

    /// Lets the servers answer all requests correctly.
    pub(crate) fn servers_answer(&mut self, choices: &mut impl Choices) {
        // An answer can cause another request, and a server can be asked for pages indefinitely, so the number is
        // limited.
        for _ in 0..32 {
            let open = |place: &usize| self.sides[*place].process == Process::Up && !self.sides[*place].open.is_empty();
            let Some(place) = (0..self.servers).find(open) else { return };
            let own = self.sides[place].open.remove(0);
            self.answer(place, own, 0, choices);
        }
    }

    pub(crate) fn server_ends(&mut self, choices: &mut impl Choices) {
        let place = choices.below(self.servers);
        // Output of a stopped process may still arrive.
        if self.sides[place].process != Process::Down || choices.below(4) == 0 {
            self.sides[place].process = Process::Down;
            self.handle(Input::UpstreamEnded(UpstreamId(place), "the server ended"), choices);
        }
    }

    fn server_nonce(&mut self, place: usize, readers: Parties) {
        self.nonces.write(&mut self.line, nonces::server(place), readers);
    }

    /// Writes a member with a nonce that no party may read unless the run allows it.
    fn server_member(&mut self, place: usize, before: &str, after: &str) {
        self.line.push_str(before);
        self.server_nonce(place, NOBODY);
        self.line.push_str(after);
    }

    fn server_writes(&mut self, place: usize, choices: &mut impl Choices) {
        let line = std::mem::take(&mut self.line);
        self.handle(Input::Upstream(UpstreamId(place), &line), choices);
        self.line = line;
    }

    fn server_begins(&mut self, place: usize, choices: &mut impl Choices) {
        self.line.clear();
        self.line.push_str("{\"jsonrpc\":\"2.0\"");
        if choices.below(8) == 7 {
            self.server_member(place, ",\"note\":\"", "\"");
        }
    }

    fn server_answers(&mut self, place: usize, is_unasked: bool, choices: &mut impl Choices) {
        let count = self.sides[place].open.len();
        let own = match count > 0 && !is_unasked {
            true => {
                let at = choices.below(count);
                // The server may answer twice.
                match choices.below(8) {
                    7 => self.sides[place].open[at],
                    _ => self.sides[place].open.remove(at),
                }
            }
            false => {
                let id = choices.below(16) as u64;
                let other = (id, choices.one(&["tools/call", "tools/list", "ping"]));
                self.sides[place].open.iter().find(|(own, _)| *own == id).copied().unwrap_or(other)
            }
        };
        let shape = match own.1 {
            // A round trip takes several moves.
            "tools/call" if choices.below(4) == 3 => QUESTION,
            _ => choices.below(24),
        };
        self.answer(place, own, shape, choices);
    }

    fn answer(&mut self, place: usize, (id, method): (u64, &str), shape: usize, choices: &mut impl Choices) {
        self.server_begins(place, choices);
        let digits = id.to_string();
        self.line.push_str(",\"id\":");
        let (before, after) = match choices.below(8) {
            6 => ("\"", "\""),
            7 => ("", ".0"),
            _ => ("", ""),
        };
        self.line.push_str(before);
        self.line.push_str(&digits);
        self.line.push_str(after);
        match shape {
            0..=10 => {
                self.line.push_str(",\"result\":");
                self.result(place, method, choices);
            }
            11 => self.server_member(place, ",\"error\":{\"code\":-3,\"message\":\"", "\"}"),
            12 => {
                self.server_member(place, ",\"error\":{\"code\":-3,\"message\":\"", "\",\"data\":{\"x\":\"");
                self.server_nonce(place, NOBODY);
                self.line.push_str("\"}}");
            }
            13 => self.line.push_str(",\"error\":{\"code\":-32601,\"message\":\"no\"}"),
            14 => self.server_member(place, ",\"result\":\"", "\""),
            15 => self.server_member(place, ",\"result\":[\"", "\"]"),
            QUESTION => {
                let (before, after) = choices.one(&[
                    ("{\"a\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"", "\"}}}"),
                    ("{\"a\":{\"method\":\"roots/list\"},\"", "\":{\"method\":\"elicitation/create\"}}"),
                    ("{\"a\":{\"method\":\"", "\"}}"),
                    ("{\"a\":{\"method\":\"sampling/createMessage\",\"x\":\"", "\"}}"),
                    ("[\"", "\"]"),
                ]);
                self.line.push_str(",\"result\":{\"resultType\":\"input_required\",\"inputRequests\":");
                self.server_member(place, before, after);
                self.line.push_str(",\"requestState\":\"");
                // A server receives its own state back. For requests other than calls, the client stores the state.
                let readers = if method == "tools/call" { NOBODY } else { nonces::CLIENT };
                self.server_nonce(place, readers | nonces::server(place));
                self.line.push_str("\"}");
            }
            17 => {
                self.line.push_str(",\"result\":{\"resultType\":\"task\",\"taskId\":");
                self.line.push_str(choices.one(&["\"t\"", "\"s\""]));
                self.server_member(place, ",\"status\":\"working\",\"ttlMs\":60000,\"x\":\"", "\"}");
            }
            18 => self.server_member(place, ",\"result\":{\"resultType\":\"", "\",\"content\":[]}"),
            19 => {
                // A name that occurs twice.
                self.line.push_str(",\"result\":{\"");
                let from = self.line.len();
                self.server_nonce(place, NOBODY);
                let name = self.line[from..].to_owned();
                self.line.push_str("\":1,\"");
                self.line.push_str(&name);
                self.line.push_str("\":2}");
            }
            20 => self.server_member(place, ",\"error\":\"", "\""),
            21 => {
                self.server_member(place, ",\"result\":{\"x\":\"", "");
                return self.server_writes(place, choices);
            }
            22 => self.server_member(place, ",\"result\":{},\"", "\":1,\"Result\":{}"),
            _ => self.line.push_str(",\"result\":null"),
        }
        self.line.push('}');
        self.server_writes(place, choices);
    }

    /// Writes a result that matches the method of a request.
    fn result(&mut self, place: usize, method: &str, choices: &mut impl Choices) {
        match method {
            "initialize" => {
                self.server_member(place, "{\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"", "\"}");
                self.server_member(place, ",\"instructions\":\"", "\"");
                self.line.push_str(",\"capabilities\":{\"tools\":{\"listChanged\":true},\"prompts\":{}}}");
            }
            "tools/list" => {
                self.line.push_str("{\"tools\":[");
                for (number, name) in TOOLS.iter().enumerate() {
                    self.line.push_str(if number > 0 { ",{\"name\":\"" } else { "{\"name\":\"" });
                    self.line.push_str(name);
                    self.server_member(place, "\",\"title\":\"", "\"}");
                }
                self.server_member(place, "],\"_meta\":{\"x\":\"", "\"},\"x\":\"");
                self.server_nonce(place, NOBODY);
                self.line.push('"');
                if choices.below(16) == 15 {
                    self.line.push_str(",\"nextCursor\":\"");
                    self.server_nonce(place, nonces::server(place));
                    self.line.push('"');
                }
                self.line.push('}');
            }
            "tasks/get" => {
                self.line.push_str("{\"taskId\":");
                self.line.push_str(choices.one(&["\"t\"", "\"t\"", "\"s\""]));
                self.server_member(place, ",\"x\":\"", "\"");
                let (before, after) = choices.one(&[
                    (",\"status\":\"working\",\"statusMessage\":\"", "\"}"),
                    (",\"status\":\"completed\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"", "\"}]}}"),
                    (",\"status\":\"completed\",\"result\":{\"resultType\":\"", "\"}}"),
                    (",\"status\":\"completed\",\"result\":[\"", "\"]}"),
                    (",\"status\":\"failed\",\"error\":{\"code\":1,\"message\":\"", "\"}}"),
                    (",\"status\":\"cancelled\",\"x2\":\"", "\"}"),
                    (
                        ",\"status\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"roots/list\",\"x\":\"",
                        "\"}}}",
                    ),
                    (",\"status\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"", "\"}}}"),
                ]);
                self.server_member(place, before, after);
            }
            "tools/call" => {
                self.server_member(place, "{\"content\":[{\"type\":\"text\",\"text\":\"", "\"}]");
                self.server_member(place, ",\"structuredContent\":{\"a\":\"", "\",\"A\":\"");
                self.server_nonce(place, NOBODY);
                self.line.push_str("\"}");
                if choices.below(4) == 3 {
                    self.line.push_str(",\"isError\":true");
                }
                self.line.push('}');
            }
            "ping" => self.server_member(place, "{\"x\":\"", "\"}"),
            _ => self.server_member(place, "{\"x\":\"", "\",\"contents\":[]}"),
        }
    }

    fn server_asks(&mut self, place: usize, choices: &mut impl Choices) {
        let (id, method) = (choices.one(&IDS), choices.one(&REQUESTS));
        self.server_begins(place, choices);
        self.line.push_str(",\"id\":");
        self.line.push_str(id);
        self.line.push_str(",\"method\":\"");
        self.line.push_str(method);
        self.line.push_str("\",\"params\":{\"from\":");
        self.line.push_str(if place == 0 { "0" } else { "1" });
        self.server_member(place, ",\"message\":\"", "\"}}");
        if self.sides[place].process != Process::Down {
            self.sides[place].asked.push(id);
        }
        self.server_writes(place, choices);
    }

    fn server_notifies(&mut self, place: usize, choices: &mut impl Choices) {
        let method = choices.one(&NOTIFICATIONS);
        self.server_begins(place, choices);
        self.line.push_str(",\"method\":\"");
        self.line.push_str(method);
        if choices.below(16) == 15 {
            // An unknown method.
            self.server_nonce(place, NOBODY);
        }
        self.line.push('"');
        match choices.below(4) {
            0 => {}
            1 => {
                self.line.push_str(",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":");
                let id = self.sides[place].open.iter().find(|(_, method)| *method == "subscriptions/listen");
                let id = id.map_or(1, |(id, _)| *id);
                self.line.push_str(&id.to_string());
                self.server_member(place, "},\"x\":\"", "\"}");
            }
            _ => self.server_member(place, ",\"params\":{\"x\":\"", "\"}"),
        }
        self.line.push('}');
        self.server_writes(place, choices);
    }

    fn server_tells_progress(&mut self, place: usize, choices: &mut impl Choices) {
        self.server_begins(place, choices);
        self.line.push_str(",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":");
        match choices.below(4) {
            3 => self.server_member(place, "\"", "\""),
            token => self.line.push_str(TOKENS[token]),
        }
        self.line.push_str(choices.one(&[",\"progress\":1", ",\"progress\":0.5,\"total\":7e1", ",\"total\":1"]));
        self.server_member(place, ",\"message\":\"", "\",\"x\":\"");
        self.server_nonce(place, NOBODY);
        self.line.push_str("\"}}");
        self.server_writes(place, choices);
    }

    fn server_cancels(&mut self, place: usize, choices: &mut impl Choices) {
        self.server_begins(place, choices);
        self.line.push_str(",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":");
        let listen = self.sides[place].open.iter().find(|(_, method)| *method == "subscriptions/listen");
        match listen {
            Some((id, _)) if choices.below(2) == 1 => self.line.push_str(&id.to_string()),
            _ => {
                let id = choices.one(&IDS);
                self.line.push_str(id);
                // The gate may have answered another request with this id.
                if let Some(own) = self.sides[place].asked.iter().position(|own| *own == id) {
                    self.sides[place].asked.swap_remove(own);
                }
            }
        }
        self.server_member(place, ",\"reason\":\"", "\"}}");
        self.server_writes(place, choices);
    }

    fn server_writes_garbage(&mut self, place: usize, choices: &mut impl Choices) {
        self.line.clear();
        let (before, after) = choices.one(&[
            ("[INFO] ", " \u{1b}[31m"),
            ("{\"level\":30,\"msg\":\"", "\"}"),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"Params\":{\"x\":\"", "\"}}"),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\",\"params\":{\"x\":\"", "\"}}"),
            ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[\"", "\"]}"),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"", "\"}}]"),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{\"x\":\"", "\"}}"),
            ("\"", "\""),
        ]);
        self.server_member(place, before, after);
        match choices.below(8) {
            7 => {
                let text = std::mem::take(&mut self.line);
                let why = "the line is not UTF-8";
                self.handle(Input::UpstreamInvalid(UpstreamId(place), &text, why), choices);
                self.line = text;
            }
            _ => self.server_writes(place, choices),
        }
    }
}
