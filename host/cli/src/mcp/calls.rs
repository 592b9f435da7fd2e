//! Calls of tools, from the client to a server and back.

use std::time::Instant;

use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    asks,
    client::{ForClient, Pending},
    gate::{Gate, Record, cut_to},
    judged::Judged,
    listing,
    message::{self, Answer, Change, INVALID_PARAMS, Members, json, with_member},
    peer::Asked,
};
use crate::{
    agent::{Ask, Ends, Event, shell},
    console::say,
    error::{FaultError, NoVerdict},
    safe::safe,
};

/// The longest result that an event has. Of a longer one it has both ends, and the journal keeps the whole.
const MAX_INLINE: usize = 1024 * 1024 + 64 * 1024;
/// A denial names so many tools.
const MAX_NAMED: usize = 20;

/// A call that the client waits for.
pub(super) struct Call {
    /// None: a tool of the gate's own.
    pub(super) peer: Option<usize>,
    /// The tool, as its server calls it.
    pub(super) tool: String,
    /// As the client called it.
    pub(super) name: String,
    /// Whether the client sees the tool.
    pub(super) is_visible: bool,
    /// What equal calls have in common.
    pub(super) same: String,
    /// The request, until it is sent.
    pub(super) line: String,
    /// Requests that wait for it.
    pub(super) waiters: Vec<String>,
    /// The id under which the server has it.
    pub(super) sent: Option<String>,
    /// What the server answered: a whole line, and the result in it.
    pub(super) answered: Option<String>,
    /// Why there is no answer.
    pub(super) failure: Option<String>,
}

impl Gate<'_> {
    pub(super) fn call(&mut self, id: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Params<'p> {
            name: String,
            #[serde(borrow)]
            arguments: Option<&'p RawValue>,
        }
        let read = params.map(|params| serde_json::from_str::<Params>(params.get()));
        let Params { name, arguments } = match read {
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
        let (peer, tool) = match visible {
            Some(visible) => (visible.peer, visible.tool.clone()),
            None => {
                let (peer, tool) = listing::meant(&name, &self.lists());
                (peer, tool.to_owned())
            }
        };
        let text = arguments.map_or("{}", RawValue::get);
        let canonical =
            serde_json::from_str::<serde_json::Value>(text).map_or(text.to_owned(), |value| value.to_string());
        let same = format!("{peer:?}/{tool}/{canonical}");
        if let Some(key) = self.same.get(&same)
            && let Some(call) = self.calls.get_mut(key)
        {
            call.waiters.push(id.to_owned());
            self.pending.insert(id.to_owned(), Pending::Call(key.clone()));
            return Ok(());
        }
        let call = Call {
            peer,
            tool: tool.clone(),
            name,
            is_visible,
            same,
            line: line.to_owned(),
            waiters: vec![id.to_owned()],
            sent: None,
            answered: None,
            failure: None,
        };
        let server = peer.map(|peer| self.peers[peer].name.clone()).unwrap_or_default();
        let own = self.event_id();
        let tool = cut_to(&tool, 1024);
        let event = Event::Call { id: &own, server: &server, tool, arguments: text };
        match self.send(&event, Some(call)) {
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

    pub(super) fn denied_call(&mut self, record: &Record) {
        let Some(call) = self.calls.get(&record.call) else { return };
        match call.is_visible {
            true => self.answer_call(&record.call, &message::failed(&self.in_names_of_client(&record.message))),
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

    /// A denial with the names that the client sees: the kernel has those of servers.
    fn in_names_of_client(&self, message: &str) -> String {
        let Some((reason, _)) = message.rsplit_once(" Allowed tools: ") else { return message.to_owned() };
        let names: Vec<&str> = self.surface.names().collect();
        let more = match names.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{reason} Allowed tools: {}{more}.",
            names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ")
        )
    }

    /// Send a call to its server. The journal has it before.
    pub(super) fn execute(&mut self, key: &str, arguments: &str) -> Result<()> {
        let records = self.send(&Event::ToolStarted { call: key }, None)?.map_err(FaultError)?;
        if records.iter().any(|record| record.r#type == "ignored") {
            return Ok(());
        }
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        let Some(number) = call.peer else {
            return self.read_artifact(key, arguments);
        };
        let line = std::mem::take(&mut call.line);
        let id = call.waiters.first().cloned().unwrap_or_default();
        let line = sent(&line, &call.tool, arguments);
        let asked = Asked::Call { key: key.to_owned(), since: Instant::now() };
        match self.peers[number].ask(&id, line, asked) {
            Ok(()) => {
                if let Some(call) = self.calls.get_mut(key) {
                    call.sent = Some(id);
                }
                Ok(())
            }
            Err(message) => self.fail_call(key, &message, "none"),
        }
    }

    /// A call has no result.
    pub(super) fn fail_call(&mut self, key: &str, message: &str, effect: &str) -> Result<()> {
        if let Some(call) = self.calls.get_mut(key) {
            call.failure = Some(message.to_owned());
        }
        self.send(&Event::ToolFailed { call: key, message, effect }, None)?.map_err(FaultError)?;
        Ok(())
    }

    /// A server answered a call.
    pub(super) fn called(&mut self, key: &str, since: Instant, answer: Answer, line: &str) -> Result<()> {
        let duration_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        call.sent = None;
        match answer {
            Answer::Result(result) => {
                call.answered = Some(result.get().to_owned());
                self.returned(key, duration_ms, result)
            }
            Answer::Error(error) => self.call_error(key, duration_ms, error, line),
        }
    }

    pub(super) fn returned(&mut self, key: &str, duration_ms: u64, result: &RawValue) -> Result<()> {
        let whole = result.get();
        if whole.len() <= MAX_INLINE {
            let event = Event::Returned { call: key, duration_ms, returned: result };
            match self.send(&event, None)? {
                Ok(_) => return Ok(()),
                Err(fault) if whole.starts_with('{') => {
                    tracing::warn!(key, "both ends of the result are sent, for the whole is too much: {fault}");
                }
                Err(fault) => {
                    return self.fail_call(key, &format!("the server's answer is no result: {fault}"), "unknown");
                }
            }
        }
        // Nobody has checked the whole.
        let text = texts(whole);
        let digest = self.run.keep(&text).map_err(|error| NoVerdict(error.to_string()))?;
        if let Some(call) = self.calls.get_mut(key) {
            call.answered = None;
        }
        let status = if is_error(whole) { "error" } else { "ok" };
        let event = Event::ResultEnds { call: key, duration_ms, status, ends: Ends::of(&text), digest: &digest };
        match self.send(&event, None)? {
            Ok(_) => Ok(()),
            Err(fault) => self.fail_call(key, &format!("the result cannot be judged: {fault}"), "unknown"),
        }
    }

    /// A server answered a call with an error of the protocol: the client gets that, cleaned.
    pub(super) fn call_error(&mut self, key: &str, duration_ms: u64, error: &RawValue, line: &str) -> Result<()> {
        let number = self.calls.get(key).and_then(|call| call.peer).unwrap_or_default();
        let line = match self.judge(number, "tools/call", "server", Some(error))? {
            Judged::Cleaned(cleaned) => with_member(line, "error", cleaned.get()),
            Judged::AsItIs | Judged::Denied => line.to_owned(),
        };
        let waiters = self.calls.get_mut(key).map(|call| std::mem::take(&mut call.waiters)).unwrap_or_default();
        let text = format!("the server answered with an error: {}", cut_to(error.get(), 4096));
        let event = Event::ToolResult { call: key, duration_ms, status: "error", result: None, text: Some(&text) };
        self.send(&event, None)?.map_err(FaultError)?;
        for id in waiters {
            self.pending.remove(&id);
            self.to_client(with_member(&line, "id", &id));
        }
        self.forget(key);
        Ok(())
    }

    /// A result was judged.
    pub(super) fn observed(&mut self, record: &Record) {
        if record.limitations.iter().any(|code| matches!(code.as_str(), "truncated" | "unchecked")) {
            self.remember(record.artifact.clone());
        }
        let Some(call) = self.calls.get_mut(&record.call) else { return };
        let result = match (&record.returned, call.answered.take(), call.failure.take()) {
            (Some(returned), ..) => returned.get().to_owned(),
            (None, Some(own), _) => own,
            (None, None, Some(failure)) => message::failed(&failure),
            (None, None, None) if record.status == "ok" => message::succeeded(&record.message),
            (None, None, None) => message::failed(&record.message),
        };
        self.answer_call(&record.call, &result);
    }

    /// A call came to no result.
    pub(super) fn settled(&mut self, record: &Record) {
        self.asks.remove(&record.call);
        let Some(call) = self.calls.get(&record.call) else { return };
        let why = call.failure.clone().unwrap_or_else(|| record.message.clone());
        let message = match record.code.as_str() {
            "uncertain" => format!("No result: {why}. Nobody knows whether the call had its effect."),
            _ => why,
        };
        self.answer_call(&record.call, &message::failed(&message));
    }

    /// Answer all who wait for a call.
    pub(super) fn answer_call(&mut self, key: &str, result: &str) {
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
        if self.same.get(&call.same).is_some_and(|other| other == key) {
            self.same.remove(&call.same);
        }
        if let (Some(id), Some(number)) = (call.sent, call.peer) {
            self.peers[number].asked.remove(&id);
        }
    }

    pub(super) fn ask_approval(&mut self, ask: Ask) -> Result<()> {
        let tool = self.calls.get(&ask.key).map(|call| call.name.clone()).unwrap_or_default();
        let folder = shell(&self.folder);
        say(&format!("seamgate: a call of {} waits for approval: seamgate approve {folder} {}", safe(&tool), ask.key));
        if self.has_elicitation && ask.by.iter().any(|principal| principal == asks::CLIENT) {
            let id = self.own_id();
            self.to_client(message::request(&id, "elicitation/create", Some(&asks::question(&ask.view))));
            self.asked_client.retain(|_, asked| !matches!(asked, ForClient::Approval { key } if *key == ask.key));
            self.asked_client.insert(id, ForClient::Approval { key: ask.key.clone() });
        }
        self.asks.insert(ask.key.clone(), ask);
        Ok(())
    }
}

/// The request of a call as the server gets it. What was judged is what is sent.
fn sent(line: &str, tool: &str, arguments: &str) -> String {
    let Some(params) = Members::of(line).and_then(|members| members.get("params")) else { return line.to_owned() };
    let Some(members) = Members::of(params.get()) else { return line.to_owned() };
    let is_named = members.text("name").is_some_and(|name| name == tool);
    let is_same = members.get("arguments").is_none_or(|own| own.get() == arguments);
    if is_named && is_same && members.get("task").is_none() {
        return line.to_owned();
    }
    let params = members.with(|name, _| match name {
        "name" => Change::To(json(tool)),
        "arguments" => Change::To(arguments.to_owned()),
        // The result would come outside of the call, and not be judged.
        "task" => Change::Drop,
        _ => Change::Keep,
    });
    with_member(line, "params", &params)
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
