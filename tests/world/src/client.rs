//! The client of a world, with the client's knowledge.

use std::collections::HashMap;

use seamgate_mcp::core::{Answer, Id};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::nonces::{self, CLIENT, Nonces};

/// The methods that the gate may send to a client.
const TO_CLIENT: [(&str, bool); 15] = [
    ("elicitation/create", true),
    ("ping", true),
    ("roots/list", true),
    ("sampling/createMessage", true),
    ("vendor/yes", true),
    ("notifications/cancelled", false),
    ("notifications/elicitation/complete", false),
    ("notifications/message", false),
    ("notifications/progress", false),
    ("notifications/prompts/list_changed", false),
    ("notifications/resources/list_changed", false),
    ("notifications/resources/updated", false),
    ("notifications/subscriptions/acknowledged", false),
    ("notifications/tools/list_changed", false),
    ("notifications/vendor/yes", false),
];

/// The progress tokens that the client uses. All other tokens are unknown to it.
pub(crate) const TOKENS: [&str; 3] = ["\"t\"", "5", "\"u\""];

/// The client.
pub(crate) struct Client {
    /// The client's unanswered requests, by their ids.
    pub(crate) open: HashMap<String, Open>,
    /// The number of expected error answers to lines that open no request, by id, or without one.
    pub(crate) extra: HashMap<Option<String>, usize>,
    /// The gate's requests, each with the server that sent it, if any.
    pub(crate) asked: Vec<(Id, Option<usize>)>,
    /// Results that request input.
    pub(crate) questions: Vec<Question>,
    /// The arguments of calls. There are only a few, so that some calls are equal.
    pub(crate) arguments: [String; 4],
    /// Nonces that servers may read after the run has allowed a message with this method.
    pub(crate) waiting: Vec<(&'static str, u32)>,
    /// Nonces in `_meta` of calls, each with the tool and the arguments.
    pub(crate) of_calls: Vec<(&'static str, usize, u32)>,
    pub(crate) has_ended: bool,
}

/// An unanswered request.
pub(crate) struct Open {
    pub(crate) method: &'static str,
    /// The tool and the arguments of a call.
    pub(crate) call: Option<(&'static str, usize)>,
}

/// A result that requests input.
pub(crate) struct Question {
    /// The state that the client sends back.
    pub(crate) state: String,
    pub(crate) is_by_gate: bool,
    pub(crate) call: (&'static str, usize),
}

impl Client {
    pub(crate) fn new(nonces: &mut Nonces) -> Self {
        let argument = |nonces: &mut Nonces, before: &str, after: &str| {
            let mut text = before.to_owned();
            nonces.write(&mut text, CLIENT, CLIENT);
            text.push_str(after);
            text
        };
        let arguments = [
            String::new(),
            argument(nonces, "{\"a\":\"", "\"}"),
            argument(nonces, "{\"a\":1,\"A\":\"", "\"}"),
            argument(nonces, "[\"", "\"]"),
        ];
        Client {
            open: HashMap::new(),
            extra: HashMap::new(),
            asked: Vec::new(),
            questions: Vec::new(),
            arguments,
            waiting: Vec::new(),
            of_calls: Vec::new(),
            has_ended: false,
        }
    }

    /// Records that the run allows messages with this method to reach a server.
    pub(crate) fn permit(&mut self, method: &str, server: usize, nonces: &mut Nonces) {
        self.waiting.retain(|(own, nonce)| {
            let is_it = *own == method;
            if is_it {
                nonces.let_read(*nonce, nonces::server(server));
            }
            !is_it
        });
    }

    /// Records that the run allows a call to reach a server.
    pub(crate) fn permit_call(&mut self, server: usize, tool: &str, arguments: &str, nonces: &mut Nonces) {
        for (name, own, nonce) in &self.of_calls {
            let own = Some(&*self.arguments[*own]).filter(|own| !own.is_empty()).unwrap_or("{}");
            if name.ends_with(tool) && own == arguments {
                nonces.let_read(*nonce, nonces::server(server));
            }
        }
    }

    /// Handles a request of the gate.
    pub(crate) fn on_request(&mut self, id: &Id, method: &str, params: Option<&str>) {
        assert!(TO_CLIENT.contains(&(method, true)), "the client is asked for {method}");
        assert!(is_own(id) && self.asked.iter().all(|(own, _)| own != id), "the client is asked under the id {id}");
        let is_by_gate = params.is_some_and(|params| params.contains("Approve this call?"));
        // A server includes its index in its request.
        let is_of_second = params.is_some_and(|params| params.contains("\"from\":1"));
        let server = (!is_by_gate).then_some(usize::from(is_of_second));
        if self.asked.len() == 64 {
            self.asked.remove(0);
        }
        self.asked.push((id.clone(), server));
    }

    /// Handles a notification of the gate.
    pub(crate) fn on_notification(&mut self, method: &str, params: &str) {
        #[derive(Deserialize)]
        struct Params<'p> {
            #[serde(rename = "requestId", borrow)]
            request: Option<&'p RawValue>,
            #[serde(rename = "progressToken", borrow)]
            token: Option<&'p RawValue>,
        }
        let known = method.split("Zq").next().unwrap_or_default();
        assert!(TO_CLIENT.contains(&(known, false)), "the client gets {method}");
        if !matches!(method, "notifications/cancelled" | "notifications/progress") {
            return;
        }
        let Params { request, token } =
            serde_json::from_str(params).unwrap_or_else(|error| panic!("{error}: {params}"));
        if let Some(token) = token {
            assert!(TOKENS.contains(&token.get()), "the client hears of progress by the token {token}");
        }
        if let Some(request) = request {
            self.asked.retain(|(id, _)| id.as_str() != request.get());
            // The gate ends a subscription in this way.
            if let Some(open) = self.open.remove(request.get()) {
                assert_eq!(open.method, "subscriptions/listen", "the gate takes back {request}");
            }
        }
    }

    /// Handles an answer of the gate.
    pub(crate) fn on_answer(&mut self, id: Option<&Id>, answer: &Answer) {
        let key = id.map(|id| id.as_str().to_owned());
        let is_extra = id.is_none() || has_code(answer, "-32600") || has_code(answer, "-32602");
        if let Some(count) = self.extra.get_mut(&key).filter(|count| is_extra && **count > 0) {
            *count -= 1;
            return;
        }
        let Some(id) = id else { panic!("an answer to no line: {answer:?}") };
        let Some(open) = self.open.remove(id.as_str()) else { panic!("an answer to no request, {id}: {answer:?}") };
        let Answer::Result(result) = answer else { return };
        if let (Some(at), Some(call)) = (result.get().find("\"requestState\":\"seamgate-state-"), open.call) {
            let state = result.get()[at + 15..].split(['}', ',']).next().unwrap_or_default().to_owned();
            if self.questions.len() == 16 {
                self.questions.remove(0);
            }
            let is_by_gate = result.get().contains("seamgate_approval");
            self.questions.push(Question { state, is_by_gate, call });
        }
    }

    /// Checks that each request has an answer.
    pub(crate) fn check_answered(&self) {
        assert!(self.open.is_empty(), "no answer to {:?}", self.open.keys());
        assert!(self.extra.values().all(|count| *count == 0), "no answer to a line: {:?}", self.extra);
    }

    /// Records a request that the client sends, and that the gate accepts as a request.
    pub(crate) fn open(&mut self, id: &str, method: &'static str, call: Option<(&'static str, usize)>) {
        if self.open.contains_key(id) {
            *self.extra.entry(Some(id.to_owned())).or_default() += 1;
        } else {
            self.open.insert(id.to_owned(), Open { method, call });
        }
    }
}

/// Returns whether an answer is an error with this code.
fn has_code(answer: &Answer, code: &str) -> bool {
    matches!(answer, Answer::Error(error) if error.get().starts_with(&format!("{{\"code\":{code},")))
}

/// Returns whether the gate created an id for the client.
fn is_own(id: &Id) -> bool {
    id.as_str().starts_with("\"seamgate-")
}
