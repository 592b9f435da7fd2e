//! Calls of tools, from the client to a server and back.

use std::time::Instant;

use seamgate::{
    Ask, CallEvent, DecisionRecord, Json, Limitation, ObservationRecord, ObservationStatus, PossibleEffect, Record,
    ResultStatus, SettledCode, SettledRecord, ToolFailedEvent, ToolResultEvent, ToolStartedEvent,
};
use seamgate_runner::{Error, Result, agent::result_ends};
use seamgate_text::{escape_terminal, say, shell_word};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    catalog,
    downstream::{ForClient, Pending},
    elicitation,
    gate::{Gate, cut_to},
    message::{self, Answer, Change, INVALID_PARAMS, Members, json},
    round_trips::RoundTrip,
    servers::random_id,
    stateless::{Sender, complete},
    upstream::Asked,
};

/// The longest result that an event has. Of a longer one it has both ends, and the journal keeps the whole.
const MAX_INLINE: usize = 1024 * 1024 + 64 * 1024;
/// The most allowed tools that a denial names.
const MAX_NAMED: usize = 20;
/// The longest reason of a denial, in bytes.
const MAX_REASON: usize = 1024;

/// A call that the client waits for.
pub(super) struct Call {
    /// The server. `None` if the tool belongs to the gate itself.
    pub(super) upstream: Option<usize>,
    /// The tool, as its server calls it.
    pub(super) tool: String,
    /// As the client called it.
    pub(super) name: String,
    /// Whether the client sees the tool.
    pub(super) is_visible: bool,
    /// The fingerprint that equal calls share.
    pub(super) fingerprint: String,
    /// The request, until it is sent.
    pub(super) line: String,
    /// Requests that wait for it.
    pub(super) waiters: Vec<String>,
    /// The id under which the server has it.
    pub(super) sent: Option<String>,
    /// The server's result.
    pub(super) answered: Option<String>,
    /// Why there is no answer.
    pub(super) failure: Option<String>,
    /// The sender of the first request.
    pub(super) sender: Sender,
    /// The text that was judged, once it was sent.
    pub(super) arguments: String,
    /// The last round trip to the client, and how many the server has asked for.
    pub(super) round_trip: Option<RoundTrip>,
    pub(super) round_trips: usize,
    /// The answer before the end, which equal calls get as well.
    pub(super) again: Option<String>,
    /// The task that it became.
    pub(super) task: Option<String>,
    /// It may run, with these arguments, when the client is back.
    pub(super) held: Option<String>,
}

impl Gate<'_> {
    pub(super) fn call(&mut self, id: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Params<'p> {
            name: String,
            #[serde(borrow)]
            arguments: Option<&'p RawValue>,
            #[serde(borrow, rename = "requestState")]
            state: Option<&'p RawValue>,
            #[serde(borrow, rename = "inputResponses")]
            answer: Option<&'p RawValue>,
        }
        let read = params.map(|params| serde_json::from_str::<Params>(params.get()));
        let Params { name, arguments, state, answer } = match read {
            Some(Ok(params)) => params,
            Some(Err(wrong)) => {
                self.to_client(message::error(id, INVALID_PARAMS, &format!("Invalid params: {wrong}")));
                return Ok(());
            }
            None => {
                self.to_client(message::error(id, INVALID_PARAMS, "Invalid params: \"name\" is missing"));
                return Ok(());
            }
        };
        let visible = self.surface.find(&name);
        let is_visible = visible.is_some();
        let (upstream, tool) = match visible {
            Some(visible) => (visible.upstream, visible.tool.clone()),
            None => {
                let (upstream, tool) = catalog::meant(&name, &self.lists());
                (upstream, tool.to_owned())
            }
        };
        let text = arguments.map_or("{}", RawValue::get);
        let canonical =
            serde_json::from_str::<serde_json::Value>(text).map_or(text.to_owned(), |value| value.to_string());
        let fingerprint = format!("{upstream:?}/{tool}/{canonical}");
        if state.is_some() || answer.is_some() {
            return self.come_back(id, state, answer, &fingerprint, line);
        }
        if let Some(key) = self.by_fingerprint.get(&fingerprint)
            && let Some(call) = self.calls.get_mut(key)
        {
            if let Some(told) = &call.again {
                let line = message::result(id, told);
                self.to_client(line);
                return Ok(());
            }
            call.waiters.push(id.to_owned());
            self.pending.insert(id.to_owned(), Pending::Call(key.clone()));
            return Ok(());
        }
        let call = Call {
            upstream,
            tool: tool.clone(),
            name,
            is_visible,
            fingerprint,
            line: line.to_owned(),
            waiters: vec![id.to_owned()],
            sent: None,
            answered: None,
            failure: None,
            sender: self.sender(params),
            arguments: String::new(),
            round_trip: None,
            round_trips: 0,
            again: None,
            task: None,
            held: None,
        };
        let server = upstream.map(|upstream| self.upstreams[upstream].name.clone()).unwrap_or_default();
        let own = self.event_id();
        let tool = cut_to(&tool, 1024);
        let mut event = CallEvent::new(tool, Json::of(text)?);
        event.id = Some(own);
        event.server = Some(server).filter(|server| !server.is_empty());
        match self.send(event, Some(call)) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(fault)) => {
                self.to_client(message::error(id, INVALID_PARAMS, &format!("the call cannot be judged: {fault}")));
                Ok(())
            }
            Err(error) => {
                // The gate ends, and tells all who wait: this one, too.
                self.pending.entry(id.to_owned()).or_insert(Pending::Queued);
                Err(error)
            }
        }
    }

    pub(super) fn denied_call(&mut self, record: &DecisionRecord) {
        let Some(call) = self.calls.get(&record.call) else { return };
        match call.is_visible {
            true => self.answer_call(&record.call, &message::failed(&self.denial(record))),
            false => {
                let wrong = format!("Unknown tool: {}", cut_to(&call.name, 128));
                let waiters = call.waiters.clone();
                self.forget(&record.call);
                for id in waiters {
                    self.to_client(message::error(&id, INVALID_PARAMS, &wrong));
                }
            }
        }
    }

    /// Describes a denial for the client, by the names of tools that the client sees.
    fn denial(&self, record: &DecisionRecord) -> String {
        let reason = record.reasons.first().map_or("the profile does not permit it", |reason| &reason.message);
        let mut names: Vec<&str> = self.surface.names().collect();
        let more = match names.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        names.truncate(MAX_NAMED);
        let allowed = match names.is_empty() {
            true => "No tool is allowed.".to_owned(),
            false => format!("Allowed tools: {}{more}.", names.join(", ")),
        };
        format!("Call denied: {}. {allowed}", cut_to(reason, MAX_REASON))
    }

    /// Send a call to its server. The journal has it before.
    pub(super) fn execute(&mut self, key: &str, arguments: &str) -> Result<()> {
        if let Some(call) = self.calls.get_mut(key)
            && call.waiters.is_empty()
        {
            // Nothing runs for which nobody waits.
            call.held = Some(arguments.to_owned());
            return Ok(());
        }
        let records = self.send(ToolStartedEvent::new(key), None)?.map_err(Error::Fault)?;
        if records.iter().any(|record| matches!(record, Record::Ignored(_))) {
            return Ok(());
        }
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        if call.upstream.is_none() {
            return self.read_artifact(key, arguments);
        }
        arguments.clone_into(&mut call.arguments);
        let id = call.waiters.first().cloned().unwrap_or_default();
        self.send_call(key, &id)
    }

    /// Send a call to its server, under the id of the request that brought it.
    pub(super) fn send_call(&mut self, key: &str, id: &str) -> Result<()> {
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        let number = call.upstream.unwrap_or_default();
        let line = std::mem::take(&mut call.line);
        let call = &self.calls[key];
        let line = self.sent(number, id, &line, call);
        let asked = Asked::Call { key: key.to_owned(), since: Instant::now() };
        let effect = if call.round_trips == 0 { PossibleEffect::None } else { PossibleEffect::Unknown };
        match self.upstreams[number].ask(id, line, asked) {
            Ok(()) => {
                if let Some(call) = self.calls.get_mut(key) {
                    call.sent = Some(id.to_owned());
                }
                Ok(())
            }
            Err(message) => self.fail_call(key, &message, effect),
        }
    }

    /// Writes the request of a call as the server gets it: what was judged, and no other member.
    fn sent(&self, number: usize, id: &str, line: &str, call: &Call) -> String {
        let params = Members::of(line).and_then(|members| members.get("params"));
        let members = params.and_then(|params| Members::of(params.get())).unwrap_or(Members(Vec::new()));
        let (state, has_answer) = Self::state_for_server(call.round_trip.as_ref());
        let meta = members.get("_meta").and_then(|meta| self.cut_meta(number, meta.get()));
        let to = |value: Option<&str>| value.map_or(Change::Drop, |value| Change::To(value.to_owned()));
        let params = members.with(|name, _| match name {
            "name" => Change::To(json(&call.tool)),
            "arguments" => to(Some(&call.arguments)),
            "_meta" if meta.is_some() => to(meta.as_deref()),
            "_meta" => Change::Keep,
            "requestState" => to(state),
            "inputResponses" if has_answer => Change::Keep,
            // Among them `task`, of a version in which the result would come outside of the call.
            _ => Change::Drop,
        });
        message::request(id, "tools/call", Some(&params))
    }

    /// A call has no result.
    pub(super) fn fail_call(&mut self, key: &str, message: &str, effect: PossibleEffect) -> Result<()> {
        if let Some(call) = self.calls.get_mut(key) {
            call.failure = Some(message.to_owned());
        }
        let mut event = ToolFailedEvent::new(key, message);
        event.effect = Some(effect);
        self.send(event, None)?.map_err(Error::Fault)?;
        Ok(())
    }

    /// A server answered a call.
    pub(super) fn called(&mut self, key: &str, since: Instant, answer: Answer) -> Result<()> {
        let duration_ms = milliseconds(since);
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        call.sent = None;
        match answer {
            Answer::Result(result) => match message::result_type(result.get()).as_deref() {
                Some("input_required") => self.asks_for_more(key, result),
                Some("task") => self.becomes_task(key, result),
                Some(other) if other != "complete" && call.sender.is_stateless => {
                    let message = format!("the server answered with a result of the type {:?}", cut_to(other, 64));
                    self.fail_call(key, &message, PossibleEffect::Unknown)
                }
                _ => {
                    call.answered = Some(result.get().to_owned());
                    self.returned(key, duration_ms, result)
                }
            },
            Answer::Error(error) => self.call_error(key, duration_ms, error),
        }
    }

    pub(super) fn returned(&mut self, key: &str, duration_ms: u64, result: &RawValue) -> Result<()> {
        let whole = result.get();
        if !whole.starts_with('{') {
            return self.fail_call(
                key,
                "the server's answer is no result: it must be an object",
                PossibleEffect::Unknown,
            );
        }
        if whole.len() <= MAX_INLINE {
            let mut event = ToolResultEvent::new(key);
            event.duration_ms = Some(duration_ms);
            event.returned = Some(result.to_owned().into());
            match self.send(event, None)? {
                Ok(_) => return Ok(()),
                Err(fault) => {
                    tracing::warn!(key, "both ends of the result are sent, because the whole is too much: {fault}");
                }
            }
        }
        // Nobody has checked the whole.
        let text = texts(whole);
        let digest = self.run.keep(&text).map_err(|error| Error::NoVerdict(error.to_string()))?;
        if let Some(call) = self.calls.get_mut(key) {
            call.answered = None;
        }
        let mut event = result_ends(key, &text, digest);
        event.duration_ms = Some(duration_ms);
        event.status = Some(if is_error(whole) { ResultStatus::Error } else { ResultStatus::Ok });
        match self.send(event, None)? {
            Ok(_) => Ok(()),
            Err(fault) => {
                self.fail_call(key, &format!("the result cannot be judged: {fault}"), PossibleEffect::Unknown)
            }
        }
    }

    /// A server answered a call with an error of the protocol: the client gets that, cleaned.
    pub(super) fn call_error(&mut self, key: &str, duration_ms: u64, error: &RawValue) -> Result<()> {
        let number = self.calls.get(key).and_then(|call| call.upstream).unwrap_or_default();
        let cleaned = self.cleaned(number, "tools/call", error)?;
        let waiters = self.calls.get_mut(key).map(|call| std::mem::take(&mut call.waiters)).unwrap_or_default();
        let text = format!("the server answered with an error: {}", cut_to(error.get(), 4096));
        self.send(error_result(key, duration_ms, &text), None)?.map_err(Error::Fault)?;
        for id in waiters {
            self.pending.remove(&id);
            self.to_client(message::failure(&id, &cleaned));
        }
        self.forget(key);
        Ok(())
    }

    /// A result was judged.
    pub(super) fn observed(&mut self, record: &ObservationRecord) {
        if record.limitations.iter().any(|code| matches!(code, Limitation::Truncated | Limitation::Unchecked)) {
            self.remember(record.artifact.clone());
        }
        let Some(call) = self.calls.get_mut(&record.call) else { return };
        let is_own = call.upstream.is_none();
        let result = match (&record.returned, call.answered.take(), call.failure.take()) {
            (Some(returned), ..) => returned.as_str().to_owned(),
            (None, Some(result), _) if is_own => result,
            (None, Some(result), _) => return self.give(&record.call, &result),
            (None, None, Some(failure)) => message::failed(&failure),
            (None, None, None) if record.status == ObservationStatus::Ok => message::succeeded(&record.message),
            (None, None, None) => message::failed(&record.message),
        };
        self.answer_call(&record.call, &result);
    }

    /// A call came to no result.
    pub(super) fn settled(&mut self, record: &SettledRecord) {
        self.asks.remove(&record.call);
        let Some(call) = self.calls.get(&record.call) else { return };
        let why = call.failure.clone().unwrap_or_else(|| record.message.clone());
        let message = match record.code {
            SettledCode::Uncertain => format!("No result: {why}. Nobody knows whether the call had its effect."),
            _ => why,
        };
        self.answer_call(&record.call, &message::failed(&message));
    }

    /// Answer all who wait for a call with a result of our own.
    pub(super) fn answer_call(&mut self, key: &str, result: &str) {
        match self.calls.get(key).is_some_and(|call| call.sender.is_stateless) {
            true => self.give(key, &complete(result.to_owned())),
            false => self.give(key, result),
        }
    }

    /// Answer all who wait for a call.
    fn give(&mut self, key: &str, result: &str) {
        if self.end_of_task(key, result) {
            return self.forget(key);
        }
        self.keep_result(key, result);
        let Some(call) = self.calls.get(key) else { return };
        for id in &call.waiters {
            self.to_client(message::result(id, result));
        }
        self.forget(key);
    }

    /// Nobody waits for a call any more.
    pub(super) fn forget(&mut self, key: &str) {
        self.asks.remove(key);
        let Some(call) = self.calls.remove(key) else { return };
        for id in &call.waiters {
            self.pending.remove(id);
        }
        if self.by_fingerprint.get(&call.fingerprint).is_some_and(|other| other == key) {
            self.by_fingerprint.remove(&call.fingerprint);
        }
        if let Some(round_trip) = &call.round_trip {
            self.forget_round_trip(round_trip);
        }
        if let Some(task) = &call.task {
            self.forget_task(task);
        }
        if let (Some(id), Some(number)) = (call.sent, call.upstream) {
            self.upstreams[number].asked.remove(&id);
        }
    }

    pub(super) fn ask_approval(&mut self, ask: Ask) -> Result<()> {
        let call = self.calls.get(&ask.key);
        let tool = call.map(|call| call.name.clone()).unwrap_or_default();
        let sender = call.map(|call| call.sender).unwrap_or_default();
        let folder = shell_word(&self.folder);
        say(&format!(
            "seamgate: a call of {} waits for approval: seamgate approve {folder} {}",
            escape_terminal(&tool),
            ask.key
        ));
        let is_named = ask.by.iter().any(|principal| principal == elicitation::CLIENT);
        // A principal with a key decides by tokens, which no form gives.
        let is_for_client = sender.has_forms && is_named && ask.keys_of(elicitation::CLIENT).is_none();
        if is_for_client && sender.is_stateless {
            self.ask_by_form(&ask)?;
        } else if is_for_client {
            let id = random_id()?;
            self.to_client(message::request(&id, "elicitation/create", Some(&elicitation::question(&ask.view))));
            self.asked_client.retain(|_, asked| !matches!(asked, ForClient::Approval { key, .. } if *key == ask.key));
            let (key, digest) = (ask.key.clone(), ask.digest.clone());
            self.asked_client.insert(id, ForClient::Approval { key, digest });
        }
        self.asks.insert(ask.key.clone(), ask);
        Ok(())
    }
}

/// Returns the result of a call that ended with an error of the protocol.
pub(super) fn error_result(key: &str, duration_ms: u64, text: &str) -> ToolResultEvent {
    let mut event = ToolResultEvent::new(key);
    event.duration_ms = Some(duration_ms);
    event.status = Some(ResultStatus::Error);
    event.text = Some(text.into());
    event
}

/// Returns the milliseconds since a moment.
pub(super) fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The texts of a result of the protocol, else the whole.
pub(super) fn texts(result: &str) -> String {
    #[derive(Deserialize)]
    struct Returned {
        content: Vec<Block>,
    }
    #[derive(Deserialize)]
    struct Block {
        text: Option<String>,
    }
    let read = serde_json::from_str::<Returned>(result);
    let texts: Vec<String> =
        read.map(|read| read.content.into_iter().filter_map(|block| block.text).collect()).unwrap_or_default();
    if texts.is_empty() { result.to_owned() } else { texts.join("\n") }
}

fn is_error(result: &str) -> bool {
    #[derive(Deserialize)]
    struct Returned {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }
    serde_json::from_str(result).is_ok_and(|Returned { is_error }| is_error)
}
