//! Calls that take several requests: a result asks the client for input, and the client returns with the answer.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
//!
//! For the run, this is one call, and one approval covers it. The client returns with an unguessable `requestState`,
//! which is valid only once and only for this call. The gate keeps the server's own state, and returns it to the server
//! byte for byte.

use std::collections::{HashMap, VecDeque};

use super::{
    call_request::CallRequest,
    links::Links,
    message::{Change, Members, json},
};

/// The methods with which a server may ask the client for input.
const ASKS: [&str; 3] = ["elicitation/create", "roots/list", "sampling/createMessage"];

/// The longest result that asks for input, in bytes, including the server's state.
pub(super) const MAX_QUESTION: usize = 256 * 1024;
/// The maximum number of inputs that one result requests, and of round trips of one call.
const MAX_ASKED: usize = 32;
const MAX_ROUND_TRIPS: usize = 32;
/// The maximum number of calls that wait for the client to return, and of results that wait for it.
const MAX_AWAITING: usize = 256;
const MAX_PARKED: usize = 64;
/// How long the client has to return, and how long the server then has to answer, in seconds.
pub(super) const AWAITING_S: u64 = 1200;

/// The round trips of calls, by the run's keys.
#[derive(Default)]
pub(super) struct RoundTrips {
    all: HashMap<String, RoundTrip>,
    /// The keys of calls by the `requestState` with which the client returns.
    by_state: HashMap<String, String>,
    /// The results of calls that ended while the client was away, oldest first.
    parked: VecDeque<Parked>,
}

/// The last round trip to the client during a call.
struct RoundTrip {
    /// The `requestState` with which the client returns.
    state: String,
    by: By,
    /// The names of the inputs that the client was asked for.
    names: Vec<String>,
    /// The request with which the client returned, if it did.
    answer: Option<CallRequest>,
    /// The number of round trips that the server has requested.
    count: usize,
}

/// The party that asks for the input.
#[derive(Clone)]
pub(super) enum By {
    /// The server, with its state as it is written.
    Server(Option<String>),
    /// The gate, which asks whether the action with this digest is approved.
    Gate(String),
}

/// The result of a call that ended while the client was away.
struct Parked {
    state: String,
    request: CallRequest,
    result: String,
}

/// The result of a client's return.
pub(super) enum Return {
    /// The client gets this result.
    Result(String),
    /// The client repeats the same request, because clients retry.
    Repeated(String),
    /// The client brings the input that the server or the gate requested, for the call with this key.
    Answered(String, By, Box<CallRequest>),
    /// The client cannot return with this request, for this reason.
    Refused(&'static str),
}

impl RoundTrips {
    /// Returns the number of entries in each collection.
    pub(super) fn sizes(&self) -> [(&'static str, usize); 3] {
        [("round_trips", self.all.len()), ("states", self.by_state.len()), ("parked_returns", self.parked.len())]
    }

    /// Counts a round trip that a server requests. Returns whether there are too many.
    pub(super) fn is_too_many(&mut self, key: &str) -> bool {
        self.all.get(key).is_some_and(|trip| trip.count >= MAX_ROUND_TRIPS)
    }

    /// Begins a round trip of a call. Returns the question, including the state with which the client returns, unless
    /// too many calls wait.
    pub(super) fn begin(&mut self, key: &str, by: By, question: &str, links: &mut Links) -> Option<String> {
        if self.by_state.len() >= MAX_AWAITING {
            return None;
        }
        let members = Members::of(question)?;
        let state = links.secret_name("seamgate-state-");
        let before = self.all.remove(key);
        if let Some(before) = &before {
            self.by_state.remove(&before.state);
        }
        let is_own = matches!(by, By::Gate(_));
        let count = before.map_or(0, |before| before.count) + usize::from(!is_own);
        let requests = members.get("inputRequests").and_then(|requests| Members::of(requests.get()));
        let names = requests.map(|all| all.0.into_iter().map(|(name, _)| name.into_owned()).collect());
        let question = members.set("requestState", &json(&state));
        self.by_state.insert(state.clone(), key.to_owned());
        let trip = RoundTrip { state, by, names: names.unwrap_or_default(), answer: None, count };
        self.all.insert(key.to_owned(), trip);
        Some(question)
    }

    /// Handles a request with which a client returns.
    pub(super) fn on_return(&mut self, mut request: CallRequest) -> Return {
        const NONE: &str = "no call waits for it";
        let state: Option<String> = request.state.as_ref().and_then(|state| serde_json::from_str(state.get()).ok());
        let Some(state) = state else { return Return::Refused("inputResponses came without it") };
        let parked = self.parked.iter().position(|parked| parked.state == state && parked.request.repeats(&request));
        if let Some(parked) = parked.and_then(|place| self.parked.remove(place)) {
            return Return::Result(parked.result);
        }
        let Some(key) = self.by_state.get(&state).cloned() else { return Return::Refused(NONE) };
        let Some(trip) = self.all.get_mut(&key) else { return Return::Refused(NONE) };
        let answers = |request: &CallRequest| request.answers.as_ref().map(|answers| answers.get().to_owned());
        request.keep_answers(&trip.names);
        match &trip.answer {
            Some(other) if answers(other) == answers(&request) && other.repeats(&request) => Return::Repeated(key),
            Some(_) => Return::Refused("its call was answered already, in other words"),
            None => {
                trip.answer = Some(request.clone());
                Return::Answered(key, trip.by.clone(), Box::new(request))
            }
        }
    }

    /// Undoes the return of a client with a request that belongs to another call.
    pub(super) fn undo_return(&mut self, key: &str) {
        if let Some(trip) = self.all.get_mut(key) {
            trip.answer = None;
        }
    }

    /// Returns the server's state for the next request of a call, and whether that request contains the client's
    /// answers.
    pub(super) fn for_server(&self, key: &str) -> (Option<&str>, bool) {
        match self.all.get(key).map(|trip| &trip.by) {
            Some(By::Server(state)) => (state.as_deref(), true),
            Some(By::Gate(_)) | None => (None, false),
        }
    }

    /// Returns whether a call has a round trip.
    pub(super) fn has(&self, key: &str) -> bool {
        self.all.contains_key(key)
    }

    /// Keeps the result of an abandoned call for a returning client. Returns whether that is possible.
    pub(super) fn park(&mut self, key: &str, request: &CallRequest, result: &str) -> bool {
        let Some(trip) = self.all.get(key) else { return false };
        if result.len() > MAX_QUESTION {
            return false;
        }
        if self.parked.len() == MAX_PARKED {
            self.parked.pop_front();
        }
        let (state, result) = (trip.state.clone(), super::meta::complete(result.to_owned()));
        self.parked.push_back(Parked { state, request: request.clone(), result });
        true
    }

    /// Removes the round trips of a call that has ended.
    pub(super) fn forget(&mut self, key: &str) {
        if let Some(trip) = self.all.remove(key) {
            self.by_state.remove(&trip.state);
        }
    }
}

/// The parts of a result that asks the client for input.
pub(super) struct Question {
    /// The result without the server's state.
    pub(super) text: String,
    /// The server's state, as it is written.
    pub(super) state: Option<String>,
    /// The methods with which the result asks, without duplicates.
    pub(super) methods: Vec<String>,
}

/// Parses a result that asks the client for input. The error describes what is wrong with it.
pub(super) fn read_question(result: &str) -> Result<Question, String> {
    if result.len() > MAX_QUESTION {
        return Err(format!("asks for input with {} bytes; the limit is {MAX_QUESTION}", result.len()));
    }
    let malformed = |why: &str| format!("asks for input in a way that is malformed: {why}");
    let members = Members::of(result).ok_or_else(|| malformed("the result is no object"))?;
    if members.has_doubles() {
        return Err(malformed("a member comes twice"));
    }
    let state = members.get("requestState");
    if state.is_some() && members.text("requestState").is_none() {
        return Err(malformed("requestState is no string"));
    }
    let text = members.with(|name, _| if name == "requestState" { Change::Drop } else { Change::Keep });
    let question = |methods| Question { text, state: state.map(|state| state.get().to_owned()), methods };
    let Some(requests) = members.get("inputRequests") else {
        return match state {
            Some(_) => Ok(question(Vec::new())),
            None => Err(malformed("it has neither inputRequests nor requestState")),
        };
    };
    let requests = Members::of(requests.get()).ok_or_else(|| malformed("inputRequests is no object"))?;
    if requests.0.len() > MAX_ASKED {
        return Err(format!("asks for {} inputs at once; the limit is {MAX_ASKED}", requests.0.len()));
    }
    let mut methods = Vec::new();
    if requests.0.iter().any(|(name, _)| name.starts_with("seamgate_")) {
        // The client could not distinguish this question from one of the gate.
        return Err("asks for input under a name of the gate's own".to_owned());
    }
    for (_, request) in &requests.0 {
        let request = Members::of(request.get()).filter(|request| !request.has_doubles());
        let method = request.and_then(|request| request.text("method").map(|method| method.into_owned()));
        let method = method.ok_or_else(|| malformed("an input request has no method"))?;
        if !ASKS.contains(&method.as_str()) {
            // The method is text of the server that was not judged.
            return Err("asks the client for something that no server may ask for".to_owned());
        }
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    Ok(question(methods))
}

#[cfg(test)]
mod tests {
    use super::{super::links::cut, *};

    #[test]
    fn what_a_server_may_ask_for_is_read_strictly() {
        let form = r#"{"method":"elicitation/create","params":{}}"#;
        let roots = r#"{"method":"roots/list"}"#;
        let methods = |text: &str| read_question(text).map(|question| question.methods.join(" "));
        assert_eq!(methods(r#"{"resultType":"input_required","requestState":""}"#), Ok(String::new()));
        assert_eq!(
            methods(&format!(r#"{{"inputRequests":{{"a":{form},"b":{roots},"c":{form}}}}}"#)),
            Ok("elicitation/create roots/list".to_owned())
        );
        for wrong in [
            "[]".to_owned(),
            "{}".to_owned(),
            r#"{"requestState":1}"#.to_owned(),
            r#"{"requestState":null}"#.to_owned(),
            r#"{"requestState":"a","requestState":"b"}"#.to_owned(),
            r#"{"inputRequests":[]}"#.to_owned(),
            r#"{"inputRequests":{"a":{}}}"#.to_owned(),
            r#"{"inputRequests":{"a":{"method":"tools/call"}}}"#.to_owned(),
            format!(r#"{{"inputRequests":{{"a":{form}}},"\u0069nputRequests":{{"a":{roots}}}}}"#),
            r#"{"inputRequests":{"a":{"method":"roots/list","method":"sampling/createMessage"}}}"#.to_owned(),
            format!(
                r#"{{"inputRequests":{{{}}}}}"#,
                (0..33).map(|n| format!("\"{n}\":{roots}")).collect::<Vec<_>>().join(",")
            ),
            format!(r#"{{"requestState":"{}"}}"#, "a".repeat(MAX_QUESTION)),
        ] {
            assert!(methods(&wrong).is_err(), "{}", cut(&wrong, 100));
        }
    }
}
