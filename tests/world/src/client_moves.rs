//! The moves of the client.

use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::{Input, Message};

use crate::{
    Kernel,
    client::{Question, TOKENS},
    nonces::{self, CLIENT, NOBODY, Parties, SERVERS as ALL},
    setting::NAMES,
    world::{World, push_json},
};

/// The ids of requests. There are only a few, so that they collide.
const IDS: [&str; 7] = ["1", "2", "3", "\"1\"", "\"a\"", "-7", "0"];

/// The methods of requests: at least one for each rule in both versions, and some that clients must not send.
const REQUESTS: [&str; 27] = [
    "initialize",
    "tools/list",
    "tools/list",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "tasks/list",
    "tasks/result",
    "vendor/yes",
    "vendor/no",
    "seamgate/read_artifact",
    "notifications/cancelled",
    "sampling/createMessage",
    "elicitation/create",
];

/// The methods of notifications.
const NOTIFICATIONS: [&str; 9] = [
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/vendor/yes",
    "notifications/vendor/no",
    "notifications/message",
    "tools/call",
    "tools/list",
    "seamgate/ended",
];

/// Members of `_meta` that a client without a session sends.
const STATELESS: &str = "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{},\"sampling\":{\"x\":\"";

impl<K: Kernel> World<K> {
    pub(crate) fn client_moves(&mut self, choices: &mut impl Choices) {
        if self.client.has_ended {
            return self.pass(choices);
        }
        match choices.below(32) {
            0..=11 => self.client_calls(None, choices),
            12..=16 => self.client_asks(choices),
            17 | 18 => self.client_notifies(choices),
            19..=21 => self.client_cancels(choices),
            22..=24 => self.client_answers(choices),
            25..=28 => self.client_comes_back(choices),
            29 => self.client_lists(choices.below(2) == 1, choices),
            30 => self.client_initializes(choices),
            _ => self.client_writes_garbage(choices),
        }
    }

    fn pass(&mut self, choices: &mut impl Choices) {
        self.handle(Input::Tick, choices);
    }

    fn client_writes(&mut self, choices: &mut impl Choices) {
        let line = std::mem::take(&mut self.line);
        self.handle(Input::Downstream(&line, None), choices);
        self.line = line;
    }

    /// Writes the beginning of a request or a notification.
    fn client_begins(&mut self, id: Option<&str>, method: &str, choices: &mut impl Choices) {
        self.line.clear();
        self.line.push_str("{\"jsonrpc\":\"2.0\"");
        if let Some(id) = id {
            self.line.push_str(",\"id\":");
            self.line.push_str(id);
        }
        if choices.below(8) == 7 {
            self.line.push_str(",\"note\":\"");
            self.client_nonce(NOBODY);
            self.line.push('"');
        }
        self.line.push_str(",\"method\":\"");
        self.line.push_str(method);
        self.line.push_str("\",\"params\":{\"x\":\"");
    }

    fn client_nonce(&mut self, readers: Parties) -> u32 {
        self.nonces.write(&mut self.line, CLIENT, readers)
    }

    /// Writes `_meta`, and returns its nonce.
    fn client_meta(&mut self, is_stateless: bool, choices: &mut impl Choices) -> u32 {
        self.line.push_str(",\"_meta\":{");
        if choices.below(2) == 1 {
            self.line.push_str("\"progressToken\":");
            self.line.push_str(choices.one(&TOKENS));
            self.line.push(',');
        }
        if is_stateless {
            self.line.push_str(STATELESS);
            // The profile does not allow sampling.
            self.client_nonce(NOBODY);
            self.line.push_str("\"}},");
        }
        self.line.push_str("\"x\":\"");
        let nonce = self.client_nonce(NOBODY);
        self.line.push_str("\"}");
        nonce
    }

    pub(crate) fn client_initializes(&mut self, choices: &mut impl Choices) {
        let id = choices.one(&IDS);
        self.client_begins(Some(id), "initialize", choices);
        self.client_nonce(ALL);
        self.line.push_str("\",\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"sampling\":{\"x\":\"");
        self.client_nonce(NOBODY);
        self.line.push_str("\"},\"experimental\":{\"x\":\"");
        self.client_nonce(NOBODY);
        self.line.push_str("\"}");
        if choices.below(2) == 0 {
            self.line.push_str(",\"elicitation\":{}");
        }
        self.line.push_str("}}}");
        self.client.open(id, "initialize", None);
        self.client_writes(choices);
    }

    pub(crate) fn client_lists(&mut self, is_stateless: bool, choices: &mut impl Choices) {
        let id = choices.one(&IDS);
        self.client_begins(Some(id), "tools/list", choices);
        self.client_nonce(NOBODY);
        self.line.push('"');
        self.client_meta(is_stateless, choices);
        self.line.push_str("}}");
        self.client.open(id, "tools/list", None);
        self.client_writes(choices);
    }

    fn client_calls(&mut self, question: Option<usize>, choices: &mut impl Choices) {
        let id = choices.one(&IDS);
        let own = question.map(|place| &self.client.questions[place]);
        let (name, arguments) = match own {
            Some(question) if choices.below(8) < 7 => question.call,
            _ => (choices.one(&NAMES[self.servers - 1]), choices.below(4)),
        };
        let is_question = own.is_some_and(|own| own.call == (name, arguments));
        let (state, is_by_gate) = own.map_or((None, false), |own| (Some(own.state.clone()), own.is_by_gate));
        self.client_begins(Some(id), "tools/call", choices);
        self.client_nonce(NOBODY);
        self.line.push_str("\",\"name\":");
        match choices.below(32) {
            31 => self.line.push_str("[\"look\"]"),
            _ => push_json(&mut self.line, name),
        }
        if arguments > 0 {
            self.line.push_str(",\"arguments\":");
            self.line.push_str(&self.client.arguments[arguments]);
        }
        let is_stateless = choices.below(2) == 1;
        let nonce = self.client_meta(is_stateless, choices);
        if self.client.of_calls.len() == 1024 {
            self.client.of_calls.remove(0);
        }
        self.client.of_calls.push((name, arguments, nonce));
        if let Some(state) = state {
            if is_question {
                self.nonces.let_read(nonce, ALL);
            }
            self.line.push_str(",\"requestState\":");
            self.line.push_str(&state);
            let accepts = choices.below(4) > 0;
            match choices.below(4) {
                0 => {}
                _ if is_by_gate => {
                    self.line.push_str(",\"inputResponses\":{\"seamgate_approval\":{\"action\":\"accept\",\"x\":\"");
                    self.client_nonce(NOBODY);
                    self.line.push_str(if accepts { "\",\"content\":{\"approve\":true}}}" } else { "\"}}" });
                }
                _ => {
                    let readers = if is_question { ALL } else { NOBODY };
                    self.line.push_str(",\"inputResponses\":{\"a\":{\"action\":\"accept\",\"x\":\"");
                    self.client_nonce(readers);
                    self.line.push_str("\"},\"z\":{\"x\":\"");
                    // No server requested this answer.
                    self.client_nonce(NOBODY);
                    self.line.push_str("\"}}");
                }
            }
        }
        self.line.push_str("}}");
        self.client.open(id, "tools/call", Some((name, arguments)));
        self.client_writes(choices);
    }

    fn client_comes_back(&mut self, choices: &mut impl Choices) {
        match self.client.questions.len() {
            0 => self.client_calls(None, choices),
            count => {
                let place = choices.below(count);
                if choices.below(8) == 7 {
                    let state = format!("\"seamgate-state-{}\"", "0".repeat(32));
                    let call = self.client.questions[place].call;
                    self.client.questions.insert(0, Question { state, is_by_gate: true, call });
                    self.client_calls(Some(0), choices);
                    self.client.questions.remove(0);
                } else {
                    self.client_calls(Some(place), choices);
                }
            }
        }
    }

    fn client_asks(&mut self, choices: &mut impl Choices) {
        let (id, method) = (choices.one(&IDS), choices.one(&REQUESTS));
        if method == "initialize" {
            return self.client_initializes(choices);
        }
        let is_method_unknown = choices.below(16) == 15;
        self.client_begins(Some(id), method, choices);
        if is_method_unknown {
            // The client may read its own text in the rejection.
            let end = self.line.find("\"method\":\"").map_or(0, |at| at + 10);
            self.line.truncate(end);
            self.line.push_str("other/");
            self.client_nonce(CLIENT);
            self.line.push_str("\",\"params\":{\"x\":\"");
        }
        let is_relayed = !matches!(method, "tools/list" | "ping") && !is_method_unknown;
        let nonce = self.client_nonce(NOBODY);
        if is_relayed {
            self.client_lets(method, nonce);
        }
        self.line.push('"');
        match choices.below(4) {
            0 => {}
            own => {
                let nonce = self.client_meta(own > 1, choices);
                match method {
                    "ping" if !is_method_unknown => self.nonces.let_read(nonce, ALL),
                    _ if is_relayed => self.client_lets(method, nonce),
                    _ => {}
                }
            }
        }
        if method.starts_with("tasks/") {
            self.line.push_str(",\"taskId\":");
            self.line.push_str(choices.one(&["\"t\"", "\"s\"", "1"]));
        }
        if method == "subscriptions/listen" {
            self.line
                .push_str(",\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,\"other\":\"");
            self.client_nonce(NOBODY);
            self.line.push_str("\"}");
        }
        if choices.below(16) == 15 {
            self.line.push_str(",\"cursor\":\"c\"");
        }
        self.line.push_str("}}");
        self.client.open(id, method, None);
        self.client_writes(choices);
    }

    /// Allows a server to read a nonce after the run has allowed a message with this method.
    fn client_lets(&mut self, method: &'static str, nonce: u32) {
        if self.client.waiting.len() == 256 {
            self.client.waiting.remove(0);
        }
        self.client.waiting.push((method, nonce));
    }

    fn client_notifies(&mut self, choices: &mut impl Choices) {
        let method = choices.one(&NOTIFICATIONS);
        self.client_begins(None, method, choices);
        let nonce = self.client_nonce(NOBODY);
        match method {
            // These notifications are forwarded without an event.
            "notifications/initialized" | "notifications/progress" => self.nonces.let_read(nonce, ALL),
            _ => self.client_lets(method, nonce),
        }
        self.line.push_str("\",\"name\":\"act\",\"progressToken\":1,\"progress\":1}}");
        self.client_writes(choices);
    }

    fn client_cancels(&mut self, choices: &mut impl Choices) {
        let id = choices.one(&IDS);
        self.client_begins(None, "notifications/cancelled", choices);
        self.client_nonce(NOBODY);
        self.line.push_str("\",\"requestId\":");
        self.line.push_str(id);
        self.line.push_str(",\"reason\":\"");
        self.client_nonce(NOBODY);
        self.line.push_str("\"}}");
        // According to the protocol, a client cannot cancel its first request.
        if self.client.open.get(id).is_some_and(|open| open.method != "initialize") {
            self.client.open.remove(id);
        }
        self.client_writes(choices);
    }

    fn client_answers(&mut self, choices: &mut impl Choices) {
        let count = self.client.asked.len();
        let (id, server) = match count > 0 && choices.below(8) > 0 {
            true => {
                let (id, server) = self.client.asked.remove(choices.below(count));
                (id.as_str().to_owned(), server)
            }
            false => (
                choices.one(&["1", "\"seamgate-1\"", "\"seamgate-00000000000000000000000000000000\""]).to_owned(),
                None,
            ),
        };
        let readers = server.map_or(NOBODY, nonces::server);
        self.line.clear();
        self.line.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
        self.line.push_str(&id);
        self.line.push_str(",\"note\":\"");
        self.client_nonce(NOBODY);
        self.line.push_str(match choices.below(8) {
            0 => "\",\"error\":{\"code\":1,\"message\":\"",
            1 => "\",\"result\":{\"action\":\"decline\",\"content\":{\"approve\":true},\"x\":\"",
            _ => "\",\"result\":{\"action\":\"accept\",\"content\":{\"approve\":true},\"x\":\"",
        });
        self.client_nonce(readers);
        self.line.push_str("\"}}");
        self.client_writes(choices);
    }

    fn client_writes_garbage(&mut self, choices: &mut impl Choices) {
        let id = choices.one(&IDS);
        self.line.clear();
        let (before, after) = match choices.below(12) {
            0 => (
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/call\",\"params\":{\"name\":\"act\",\"x\":\"",
                "\"}}",
            ),
            1 => (
                "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\",\"Method\":\"tools/call\",\"params\":{\"x\":\"",
                "\"}}",
            ),
            2 => ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"", "\"}}]"),
            3 => ("\"", "\""),
            4 => ("{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\",\"params\":{\"x\":\"", ""),
            5 => ("{\"jsonrpc\":\"1.0\",\"id\":\"b\",\"method\":\"ping\",\"params\":{\"x\":\"", "\"}}"),
            6 => ("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\",\"params\":{\"x\":\"", "\"}}"),
            7 => ("{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":1,\"params\":{\"x\":\"", "\"}}"),
            8 => ("{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\",\"result\":{\"x\":\"", "\"}}"),
            9 => {
                self.line.push_str("not text");
                let why = "the line is not UTF-8";
                *self.client.extra.entry(None).or_default() += 1;
                return self.handle(Input::DownstreamInvalid(why), choices);
            }
            // The envelope is readable, so the rejection has its id.
            10 => {
                self.line.push_str("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"id\":");
                self.line.push_str(id);
                (",\"params\":{\"name\":\"look\",\"Name\":\"", "\"}}")
            }
            _ => {
                self.line.push_str("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"id\":");
                self.line.push_str(id);
                (",\"params\":[\"", "\"]}")
            }
        };
        let key = self.line.ends_with(id).then(|| id.to_owned());
        self.line.push_str(before);
        // The rejection may quote the client's line.
        self.client_nonce(CLIENT);
        self.line.push_str(after);
        // An invalid notification is also rejected if it has no id.
        debug_assert!(Message::read(&self.line).is_err());
        *self.client.extra.entry(key).or_default() += 1;
        self.client_writes(choices);
    }
}
