//! The client of a gate: what it asks, tells and answers.

use std::{sync::atomic::Ordering, time::Instant};

use seamgate::{CallCancelledEvent, Party};
use seamgate_runner::{Error, Result, jsonrpc::one_line, mcp::START, process::Wrote};
use serde_json::value::RawValue;

use super::{
    elicitation,
    filter::Judged,
    gate::{Gate, cut_to},
    message::{
        self, Answer, Change, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Members, Message,
        PARSE_ERROR, with_member,
    },
    methods::{self, Kind, Side},
    stateless,
    upstream::Asked,
};

/// The most requests of the client that wait for a list of tools.
pub(super) const MAX_QUEUED: usize = 1024;

/// The longest token of progress, in bytes, and the most tokens that are remembered.
const MAX_TOKEN: usize = 256;
const MAX_TOKENS: usize = 4096;

/// Where a request of the client is.
pub(super) enum Pending {
    /// It waits for a list of tools.
    Queued,
    /// A server has it.
    Forwarded(usize),
    /// It is a call, by the run's key.
    Call(String),
    /// It waits for all servers.
    Initialize,
}

/// A request that the client has to answer.
pub(super) enum ForClient {
    /// Of a server, under its own id.
    Server { upstream: usize, id: String },
    /// The gate's question whether a call may run, by a form that showed the action with this digest.
    Approval { key: String, digest: String },
}

impl ForClient {
    /// Returns whether a server asked it under this id.
    pub(super) fn is_of(&self, number: usize, own: &str) -> bool {
        matches!(self, ForClient::Server { upstream, id } if *upstream == number && id == own)
    }
}

impl Gate<'_> {
    pub(super) fn to_client(&self, line: String) {
        // A client that has gone is seen by the loop.
        let _ = self.client.push_waiting(line, || self.is_over.load(Ordering::Relaxed));
    }

    pub(super) fn of_client(&mut self, wrote: Wrote) -> Result<()> {
        match wrote {
            Wrote::Line(line) | Wrote::Unended(line) if !line.trim().is_empty() => self.client_line(line),
            Wrote::Line(_) | Wrote::Unended(_) => Ok(()),
            Wrote::NotText(_) => {
                self.to_client(message::error("null", PARSE_ERROR, "the line is not UTF-8"));
                Ok(())
            }
            Wrote::TooLong => {
                self.to_client(message::error("null", PARSE_ERROR, "the line is too long: at most 64 MiB"));
                Ok(())
            }
            Wrote::End => {
                self.has_client_ended = true;
                Ok(())
            }
        }
    }

    pub(super) fn client_line(&mut self, line: String) -> Result<()> {
        let line = one_line(line);
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err(wrong) => {
                self.to_client(wrong.answer(&line));
                return Ok(());
            }
        };
        let line = message.to_line();
        match message {
            Message::Request { id, method, params } => {
                if self.pending.contains_key(id) {
                    self.to_client(message::error(id, INVALID_REQUEST, "another request has this id, and waits"));
                    return Ok(());
                }
                if !methods::may_send(Side::Client, Kind::Request, &method) {
                    self.misdirected(0, Side::Client, Kind::Request, &method)?;
                    self.not_found(id, &method);
                    return Ok(());
                }
                self.remember_token(params);
                self.client_asks(id, &method, params, &line)
            }
            Message::Notification { method, .. } if !methods::may_send(Side::Client, Kind::Notification, &method) => {
                self.misdirected(0, Side::Client, Kind::Notification, &method)
            }
            Message::Notification { method, params } => self.client_tells(&method, params, &line),
            Message::Answer { id, answer } => self.client_answers(id, answer),
        }
    }

    /// Remembers the token under which a request wants to hear how far it is.
    fn remember_token(&mut self, params: Option<&RawValue>) {
        let meta = params.and_then(|params| Members::of(params.get())?.get("_meta"));
        let token = meta.and_then(|meta| Members::of(meta.get())?.get("progressToken")).map(RawValue::get);
        let Some(token) = token.filter(|token| token.len() <= MAX_TOKEN && !self.has_token(token)) else { return };
        if self.tokens.len() == MAX_TOKENS {
            self.tokens.pop_front();
        }
        self.tokens.push_back(token.to_owned());
    }

    /// Returns whether a client chose this token, as it is written.
    pub(super) fn has_token(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known == token)
    }

    pub(super) fn client_asks(&mut self, id: &str, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        match method {
            "initialize" => self.initialize(id, params, line),
            "tools/list" => {
                self.own_meta = Self::own_meta(params);
                if params.and_then(|params| Members::of(params.get())?.get("cursor")).is_some() {
                    // The list has one page.
                    self.to_client(message::error(id, INVALID_PARAMS, "Invalid cursor"));
                    return Ok(());
                }
                // The list may have changed without a word.
                self.enqueue(id, line);
                self.list()
            }
            "tools/call" if self.is_listed && self.listing == 0 => self.call(id, params, line),
            "tools/call" => {
                self.own_meta = Self::own_meta(params);
                self.enqueue(id, line);
                self.list()
            }
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.about_task(id, method, params, line),
            _ if self.upstreams.len() == 1 => self.forward(id, method, params, line),
            "ping" => {
                self.to_client(message::result(id, "{}"));
                Ok(())
            }
            _ => {
                self.not_found(id, method);
                Ok(())
            }
        }
    }

    pub(super) fn not_found(&self, id: &str, method: &str) {
        let method = cut_to(method, 128);
        self.to_client(message::error(id, METHOD_NOT_FOUND, &format!("Method not found: {method}")));
    }

    pub(super) fn enqueue(&mut self, id: &str, line: &str) {
        if self.queue.len() >= MAX_QUEUED {
            self.to_client(message::error(id, INTERNAL_ERROR, "too many requests wait for the list of tools"));
            return;
        }
        self.pending.insert(id.to_owned(), Pending::Queued);
        self.queue.push_back((id.to_owned(), line.to_owned()));
    }

    /// Ask the only server what the client asks it, if there is such a method.
    pub(super) fn forward(&mut self, id: &str, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        self.forward_to(0, id, method, params, line, Asked::Forwarded { method: method.to_owned() })
    }

    pub(super) fn forward_to(
        &mut self,
        number: usize,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        line: &str,
        asked: Asked,
    ) -> Result<()> {
        if method == "ping" {
            // It says no more than who asks.
            let members = params.and_then(|params| Members::of(params.get()));
            let meta = members.and_then(|members| members.get("_meta"));
            let meta = meta.map(|meta| self.cut_meta(number, meta.get()).unwrap_or_else(|| meta.get().to_owned()));
            let params = meta.map(|meta| format!("{{\"_meta\":{meta}}}"));
            self.ask_upstream(number, id, message::request(id, method, params.as_deref()), asked);
            return Ok(());
        }
        if matches!(self.judge(number, method, Party::Client, params)?, Judged::Denied) {
            self.not_found(id, method);
            return Ok(());
        }
        let cut = self.cut_params(number, params);
        let cut = match (method, cut.as_deref().or(params.map(RawValue::get))) {
            ("subscriptions/listen", Some(params)) => self.cut_subscription(number, params).or(cut),
            _ => cut,
        };
        let line = cut.map_or_else(|| line.to_owned(), |params| with_member(line, "params", &params));
        self.ask_upstream(number, id, line, asked);
        Ok(())
    }

    pub(super) fn ask_upstream(&mut self, number: usize, id: &str, line: String, asked: Asked) {
        match self.upstreams[number].ask(id, line, asked) {
            Ok(()) => {
                self.pending.insert(id.to_owned(), Pending::Forwarded(number));
            }
            Err(message) => self.to_client(message::error(id, INTERNAL_ERROR, &message)),
        }
    }

    pub(super) fn initialize(&mut self, id: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        let capabilities = params.and_then(|params| Members::of(params.get())?.get("capabilities"));
        self.has_forms = stateless::has_forms(capabilities);
        if self.initializing > 0 {
            self.to_client(message::error(id, INVALID_REQUEST, "the session is being initialized"));
            return Ok(());
        }
        self.deadline = Some(Instant::now() + START);
        self.initializing = self.upstreams.len();
        let cut = |server: &str| -> Option<String> {
            let (params, capabilities) = (params?, capabilities?);
            let cut = self.cut(server, capabilities, |name| name)?;
            Some(with_member(params.get(), "capabilities", &cut))
        };
        if self.upstreams.len() == 1 {
            let line = match cut(&self.upstreams[0].name) {
                Some(params) => with_member(line, "params", &params),
                None => line.to_owned(),
            };
            self.ask_upstream(0, id, line, Asked::Forwarded { method: "initialize".to_owned() });
            return Ok(());
        }
        let asked: Vec<Option<String>> = self
            .upstreams
            .iter()
            .map(|upstream| cut(&upstream.name).or_else(|| params.map(|params| params.get().to_owned())))
            .collect();
        self.pending.insert(id.to_owned(), Pending::Initialize);
        self.initialize = Some((id.to_owned(), self.upstreams.iter().map(|_| None).collect()));
        for (number, params) in asked.into_iter().enumerate() {
            let own = self.own_id();
            let line = message::request(&own, "initialize", params.as_deref());
            if let Err(message) = self.upstreams[number].ask(&own, line, Asked::Initialize) {
                self.server_ended(number, message)?;
            }
        }
        Ok(())
    }

    /// Capabilities without those that the profile does not name. None: all are named. `kind` gives the kind of methods that a
    /// capability is about.
    pub(super) fn cut(&self, server: &str, capabilities: &RawValue, kind: impl Fn(&str) -> &str) -> Option<String> {
        let members = Members::of(capabilities.get())?;
        let keep = |is_kept: bool| if is_kept { Change::Keep } else { Change::Drop };
        let is_extension_kept = |name: &str| match name {
            stateless::TASKS => self.document.has_kind(server, "tasks"),
            _ => self.document.has_all(server),
        };
        let change = |name: &str, value: &RawValue| match kind(name) {
            "tools" => Change::Keep,
            // Of a version in which what results bring outside of calls cannot be judged.
            "tasks" => Change::Drop,
            kind @ ("resources" | "prompts" | "completion" | "logging" | "roots" | "sampling" | "elicitation") => {
                keep(self.document.has_kind(server, kind))
            }
            "extensions" => match Members::of(value.get()) {
                Some(all) if all.0.iter().all(|(name, _)| is_extension_kept(name)) => Change::Keep,
                Some(all) => Change::To(all.with(|name, _| keep(is_extension_kept(name)))),
                None => Change::Drop,
            },
            _ => keep(self.document.has_all(server)),
        };
        if members.0.iter().all(|(name, value)| matches!(change(name, value), Change::Keep)) {
            return None;
        }
        Some(members.with(change))
    }

    pub(super) fn client_tells(&mut self, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        match method {
            "notifications/cancelled" => self.client_cancels(params),
            "notifications/initialized" => {
                for upstream in &self.upstreams {
                    // Who has ended is seen by the loop.
                    let _ = upstream.write(line.to_owned());
                }
                self.list()
            }
            // A client may tell how far it is with what a server asked it.
            _ if self.upstreams.len() == 1 => {
                let exists = method == "notifications/progress"
                    || !matches!(self.judge_once(0, method, Party::Client, params)?, Judged::Denied);
                if exists {
                    let _ = self.upstreams[0].write(line.to_owned());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn client_cancels(&mut self, params: Option<&RawValue>) -> Result<()> {
        let Some(id) = params.and_then(|params| Members::of(params.get())?.get("requestId")).map(RawValue::get) else {
            return Ok(());
        };
        match self.pending.remove(id) {
            Some(Pending::Queued) => self.queue.retain(|(queued, _)| queued != id),
            Some(Pending::Forwarded(number)) => {
                self.upstreams[number].asked.remove(id);
                let _ = self.upstreams[number].write(message::cancelled(id, None));
            }
            Some(Pending::Call(key)) => {
                let Some(call) = self.calls.get_mut(&key) else { return Ok(()) };
                call.waiters.retain(|waiter| waiter != id);
                // Others still wait for it.
                if !call.waiters.is_empty() {
                    return Ok(());
                }
                self.cancel_sent(&key, "the client cancelled the request");
                self.asks.remove(&key);
                self.send(CallCancelledEvent::new(&key), None)?.map_err(Error::Fault)?;
                self.forget(&key);
            }
            Some(pending @ Pending::Initialize) => {
                // The protocol does not let a client do this.
                self.pending.insert(id.to_owned(), pending);
            }
            None => {}
        }
        Ok(())
    }

    /// Tell a server that nobody waits for a call any more.
    pub(super) fn cancel_sent(&mut self, key: &str, reason: &str) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if let (Some(id), Some(number)) = (call.sent.take(), call.upstream) {
            let upstream = &mut self.upstreams[number];
            upstream.asked.remove(&id);
            let _ = upstream.write(message::cancelled(&id, Some(reason)));
        }
    }

    pub(super) fn client_answers(&mut self, id: &str, answer: Answer) -> Result<()> {
        match self.asked_client.remove(id) {
            Some(ForClient::Server { upstream, id: own }) => {
                let _ = self.upstreams[upstream].write(Message::Answer { id: &own, answer }.to_line());
                Ok(())
            }
            Some(ForClient::Approval { key, digest }) => {
                // What the form showed is what is approved.
                let ask = self.asks.get(&key).filter(|ask| ask.digest == digest);
                let Some(ask) = ask.cloned() else { return Ok(()) };
                let is_approved = matches!(answer, Answer::Result(result) if elicitation::is_approved(result));
                self.send(elicitation::decision(&ask.key, &ask.digest, is_approved), None)?.map_err(Error::Fault)?;
                Ok(())
            }
            // Nobody asked it.
            None => Ok(()),
        }
    }
}
