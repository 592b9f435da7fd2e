//! Calls that take several requests: a result asks the client for something, and the client comes back with the answer.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
//!
//! To the run that is one call, and one approval covers it. The client comes back with a `requestState` that nobody can guess, and that
//! holds for this call and once. The server's own state stays here: the server gets it again byte for byte.

use seamgate::{Ask, CallCancelledEvent, JobEvent, Party, PossibleEffect};
use seamgate_runner::{Error, Result, random};
use serde_json::value::RawValue;

use super::{
    downstream::Pending,
    elicitation,
    filter::Judged,
    gate::{Gate, cut_to},
    message::{self, Change, INVALID_PARAMS, Members, json},
    methods::Side,
    stateless::complete,
};

/// The methods by which a server may ask the client for input.
const ASKS: [&str; 3] = ["elicitation/create", "roots/list", "sampling/createMessage"];

/// The name under which we ask for an approval.
const APPROVAL: &str = "seamgate_approval";

/// The longest result that asks for something, in bytes, the server's state included.
const MAX_QUESTION: usize = 256 * 1024;
/// The most inputs of one result, and the most round trips of one call.
const MAX_ASKED: usize = 32;
const MAX_ROUND_TRIPS: usize = 32;
/// The most calls that wait for the client to come back, and the most results that do.
const MAX_AWAITING: usize = 256;
const MAX_PARKED: usize = 64;
/// The time that the client has to come back, and the server to answer then, in seconds.
const AWAITING_S: u64 = 1200;

/// Why a client cannot come back.
const NONE: &str = "no call waits for it";
const OTHER: &str = "it is of another call";
const ANSWERED: &str = "its call was answered already, in other words";
const WITHOUT: &str = "inputResponses came without it";

/// One round trip to the client during a call.
pub(super) struct RoundTrip {
    /// The `requestState` with which it comes back.
    state: String,
    by: By,
    /// With what it came back, once it did.
    answer: Option<String>,
}

/// The asker.
enum By {
    /// The server, with its state as it is written.
    Server(Option<String>),
    /// The gate: whether the action with this digest is approved.
    Gate(String),
}

/// The result of a call that ended while the client was away.
pub(super) struct ParkedResult {
    state: String,
    fingerprint: String,
    result: String,
}

impl Gate<'_> {
    /// A server answered a call by asking for something.
    pub(super) fn asks_for_more(&mut self, key: &str, result: &RawValue) -> Result<()> {
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        let number = call.upstream.unwrap_or_default();
        call.round_trips += 1;
        let asked = match call.round_trips > MAX_ROUND_TRIPS {
            true => Err(format!("asks for more input more than {MAX_ROUND_TRIPS} times")),
            false => self.question(number, "tools/call", result)?,
        };
        let (question, state) = match asked {
            Ok(asked) => asked,
            Err(why) => {
                let message = format!("{} {why}", self.upstreams[number].told());
                return self.fail_call(key, &message, PossibleEffect::Unknown);
            }
        };
        let mut event = JobEvent::new(key);
        event.ttl_s = Some(AWAITING_S);
        self.send(event, None)?.map_err(Error::Fault)?;
        match self.ask_by_result(key, By::Server(state), &question)? {
            true => Ok(()),
            false => self.fail_call(key, "too many calls wait for the client to come back", PossibleEffect::Unknown),
        }
    }

    /// Sanitizes a result that asks the client for input. Returns it with the server's state as it is written, or the reason for which it
    /// does not pass.
    pub(super) fn question(
        &mut self,
        number: usize,
        method: &str,
        result: &RawValue,
    ) -> Result<Result<(String, Option<String>), String>> {
        let (members, methods) = match asked_for(result.get()) {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        for asked in methods {
            if matches!(self.judge(number, &asked, Party::Server, None)?, Judged::Denied) {
                return Ok(Err(format!("asks the client for {asked}, which the profile does not name")));
            }
        }
        let state = members.get("requestState").map(|state| state.get().to_owned());
        // What only the server reads keeps its bytes.
        let text = members.with(|name, _| if name == "requestState" { Change::Drop } else { Change::Keep });
        let raw = RawValue::from_string(text)?;
        Ok(match self.try_judge(number, method, Party::Server, Some(&raw))? {
            Ok(Judged::Unchanged) => Ok((raw.get().to_owned(), state)),
            Ok(Judged::Cleaned(cleaned)) => Ok((cleaned.as_str().to_owned(), state)),
            Ok(Judged::Denied) => Err("asks for input in a way that the profile does not name".to_owned()),
            Err(fault) => Err(format!("asks for input in a way that cannot be judged: {fault}")),
        })
    }

    /// Asks the client by the result of a call whether it may run. Returns whether it is asked.
    pub(super) fn ask_by_form(&mut self, ask: &Ask) -> Result<bool> {
        let Some(call) = self.calls.get(&ask.key) else { return Ok(false) };
        // Who is away hears of it when they are back.
        if call.waiters.is_empty() {
            return Ok(call.round_trip.is_some());
        }
        let question = format!(
            r#"{{"resultType":"input_required","inputRequests":{{"{APPROVAL}":{{"method":"elicitation/create","params":{}}}}}}}"#,
            elicitation::question(&ask.view)
        );
        self.ask_by_result(&ask.key, By::Gate(ask.digest.clone()), &question)
    }

    fn ask_by_result(&mut self, key: &str, by: By, question: &str) -> Result<bool> {
        if self.awaiting_client.len() >= MAX_AWAITING {
            return Ok(false);
        }
        let Some(members) = Members::of(question) else { return Ok(false) };
        let state = format!("seamgate-state-{}", random(16)?);
        let question = members.set("requestState", &json(&state));
        let Some(call) = self.calls.get_mut(key) else { return Ok(false) };
        let waiters = std::mem::take(&mut call.waiters);
        call.again = Some(question.clone());
        let round_trip = RoundTrip { state: state.clone(), by, answer: None };
        if let Some(before) = call.round_trip.replace(round_trip) {
            self.awaiting_client.remove(&before.state);
        }
        self.awaiting_client.insert(state, key.to_owned());
        for id in waiters {
            self.pending.remove(&id);
            self.to_client(message::result(&id, &question));
        }
        Ok(true)
    }

    /// A client comes back with what a result asked it for. `fingerprint`: what equal calls have in common.
    pub(super) fn come_back(
        &mut self,
        id: &str,
        state: Option<&RawValue>,
        answer: Option<&RawValue>,
        fingerprint: &str,
        line: &str,
    ) -> Result<()> {
        let state: Option<String> = state.and_then(|state| serde_json::from_str(state.get()).ok());
        let Some(state) = state else { return self.refuse_state(id, WITHOUT) };
        if let Some(place) =
            self.parked_results.iter().position(|parked| parked.state == state && parked.fingerprint == fingerprint)
            && let Some(parked) = self.parked_results.remove(place)
        {
            self.to_client(message::result(id, &parked.result));
            return Ok(());
        }
        let Some(key) = self.awaiting_client.get(&state).cloned() else { return self.refuse_state(id, NONE) };
        let Some(call) = self.calls.get_mut(&key) else { return self.refuse_state(id, NONE) };
        if call.fingerprint != fingerprint {
            return self.refuse_state(id, OTHER);
        }
        let answer = answer.map_or("{}", RawValue::get);
        let Some(round_trip) = &mut call.round_trip else { return self.refuse_state(id, NONE) };
        match &round_trip.answer {
            // The same request again: clients try again.
            Some(other) if other == answer => {
                call.waiters.push(id.to_owned());
                self.pending.insert(id.to_owned(), Pending::Call(key));
                return Ok(());
            }
            Some(_) => return self.refuse_state(id, ANSWERED),
            None => round_trip.answer = Some(answer.to_owned()),
        }
        let digest = match &round_trip.by {
            By::Gate(digest) => Some(digest.clone()),
            By::Server(_) => None,
        };
        line.clone_into(&mut call.line);
        call.again = None;
        call.waiters.push(id.to_owned());
        self.pending.insert(id.to_owned(), Pending::Call(key.clone()));
        match digest {
            Some(digest) => self.come_back_approving(&key, &digest, answer),
            None => self.next_round_trip(&key, id),
        }
    }

    /// The client says whether a call may run.
    fn come_back_approving(&mut self, key: &str, digest: &str, answer: &str) -> Result<()> {
        let is_approved = Members::of(answer).and_then(|all| all.get(APPROVAL)).is_some_and(elicitation::is_approved);
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        // Somebody else approved it while the client was away.
        if let Some(arguments) = call.held.take() {
            if is_approved {
                return self.execute(key, &arguments);
            }
            call.failure = Some("Call denied: \"client\" rejected it.".to_owned());
            self.send(CallCancelledEvent::new(key), None)?.map_err(Error::Fault)?;
            return Ok(());
        }
        match self.asks.get(key).cloned() {
            // What was shown is what is approved.
            Some(ask) if ask.digest == digest => {
                self.send(elicitation::decision(key, digest, is_approved), None)?.map_err(Error::Fault)?;
                Ok(())
            }
            Some(ask) => self.ask_by_form(&ask).map(drop),
            None => Ok(()),
        }
    }

    /// Send a call to its server once more, with what the client was asked for.
    fn next_round_trip(&mut self, key: &str, id: &str) -> Result<()> {
        let Some(call) = self.calls.get(key) else { return Ok(()) };
        let number = call.upstream.unwrap_or_default();
        if self.surface.find(&call.name).is_none() {
            return self.fail_call(key, "the tool changed, or is not offered any more", PossibleEffect::Unknown);
        }
        // The journal has it before.
        self.judge(number, "tools/call", Party::Client, None)?;
        self.send_call(key, id)
    }

    /// Returns the state for a call's next request to its server, and whether that has the client's answers.
    pub(super) fn state_for_server(round_trip: Option<&RoundTrip>) -> (Option<&str>, bool) {
        match round_trip.map(|round_trip| &round_trip.by) {
            Some(By::Server(state)) => (state.as_deref(), true),
            Some(By::Gate(_)) | None => (None, false),
        }
    }

    /// Parks the result of a call that nobody waits for, for a client that comes back. Returns whether one can.
    pub(super) fn keep_result(&mut self, key: &str, result: &str) -> bool {
        let Some(call) = self.calls.get(key).filter(|call| call.waiters.is_empty()) else { return false };
        let Some(round_trip) = &call.round_trip else { return false };
        if result.len() > MAX_QUESTION {
            return false;
        }
        if self.parked_results.len() == MAX_PARKED {
            self.parked_results.pop_front();
        }
        let result = complete(result.to_owned());
        self.parked_results.push_back(ParkedResult {
            state: round_trip.state.clone(),
            fingerprint: call.fingerprint.clone(),
            result,
        });
        true
    }

    /// Nobody comes back to a call any more.
    pub(super) fn forget_round_trip(&mut self, round_trip: &RoundTrip) {
        self.awaiting_client.remove(&round_trip.state);
    }

    /// A client comes back with what it was not given for this.
    fn refuse_state(&mut self, id: &str, why: &str) -> Result<()> {
        self.record_refusal(0, "seamgate/requestState", Side::Client, why)?;
        let message = format!("Invalid or expired requestState: {why}. Call again without it");
        self.to_client(message::error(id, INVALID_PARAMS, &message));
        Ok(())
    }
}

/// The members of a result that asks the client for something, and by which methods. An error says what is wrong with it.
fn asked_for(result: &str) -> Result<(Members<'_>, Vec<String>), String> {
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
    let Some(requests) = members.get("inputRequests") else {
        return match state {
            Some(_) => Ok((members, Vec::new())),
            None => Err(malformed("it has neither inputRequests nor requestState")),
        };
    };
    let requests = Members::of(requests.get()).ok_or_else(|| malformed("inputRequests is no object"))?;
    if requests.0.len() > MAX_ASKED {
        return Err(format!("asks for {} inputs at once; the limit is {MAX_ASKED}", requests.0.len()));
    }
    let mut methods = Vec::new();
    for (_, request) in &requests.0 {
        let request = Members::of(request.get()).filter(|request| !request.has_doubles());
        let method = request.and_then(|request| request.text("method").map(|method| method.into_owned()));
        let method = method.ok_or_else(|| malformed("an input request has no method"))?;
        if !ASKS.contains(&method.as_str()) {
            return Err(format!("asks the client for {}, which is nothing that it may ask for", cut_to(&method, 64)));
        }
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    Ok((members, methods))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_may_ask_for_is_read_strictly() {
        let form = r#"{"method":"elicitation/create","params":{}}"#;
        let roots = r#"{"method":"roots/list"}"#;
        let methods = |text: &str| asked_for(text).map(|(_, methods)| methods.join(" "));
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
            assert!(methods(&wrong).is_err(), "{}", cut_to(&wrong, 100));
        }
    }
}
