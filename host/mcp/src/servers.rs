//! The servers of a gate: what they answer, ask and tell, and how they end.

use std::time::Duration;

use seamgate::{Party, PossibleEffect};
use seamgate_runner::{Result, jsonrpc::one_line, process::Wrote, random};
use seamgate_text::{escape_terminal, say, truncate};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    downstream::{ForClient, MAX_QUEUED},
    filter::{Judged, MALFORMED},
    gate::{Gate, cut_to},
    message::{self, Answer, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, Members, Message, json, with_member},
    methods::{self, Kind, Side},
    stateless,
    upstream::Asked,
};

impl Gate<'_> {
    pub(super) fn of_server(&mut self, number: usize, wrote: Wrote) -> Result<()> {
        if self.upstreams[number].ended.is_some() {
            return Ok(());
        }
        match wrote {
            Wrote::Line(line) if line.trim().is_empty() => Ok(()),
            Wrote::Line(line) => {
                let line = one_line(line);
                match Message::read(&line) {
                    Ok(message) => {
                        let line = message.to_line();
                        self.server_says(number, message, &line)
                    }
                    Err(wrong) => self.malformed(number, &line, &wrong.why),
                }
            }
            Wrote::NotText(shown) => self.malformed(number, &shown, "the line is not UTF-8"),
            Wrote::Unended(line) => {
                // A server that ends in the middle of a line has said nothing.
                self.malformed(number, &line, "the server ended in the middle of a line")
            }
            Wrote::TooLong => {
                let message =
                    format!("{} wrote a line that is too long: at most 64 MiB", self.upstreams[number].told());
                self.server_ended(number, message)
            }
            Wrote::End => {
                let message = format!("{} ended", self.upstreams[number].told());
                self.server_ended(number, message)
            }
        }
    }

    /// A line that is no message: whoever may wait for it is told, and the journal has it.
    pub(super) fn malformed(&mut self, number: usize, line: &str, wrong: &str) -> Result<()> {
        let upstream = &mut self.upstreams[number];
        let (told, too_many) = (upstream.told(), upstream.count_malformed());
        say(&format!("seamgate: {told} wrote a line that is no message: {}", escape_terminal(&truncate(line, 200))));
        self.record_refusal(number, MALFORMED, Side::Server, cut_to(line, 2048))?;
        if let Err(message) = too_many {
            return self.server_ended(number, message);
        }
        // Logs go to the wrong place often. What begins like a message was to be one.
        if !line.trim_start().starts_with('{') {
            return Ok(());
        }
        let asked = &self.upstreams[number].asked;
        let ids: Vec<String> = match message::seeming_id(line).filter(|id| asked.contains_key(*id)) {
            Some(id) => vec![id.to_owned()],
            None => asked.keys().cloned().collect(),
        };
        let message = format!("{told} broke its answer: {wrong}");
        for id in ids {
            self.fail_asked(number, &id, &message)?;
        }
        Ok(())
    }

    /// Fails a request to a server, which has no answer.
    pub(super) fn fail_asked(&mut self, number: usize, id: &str, message: &str) -> Result<()> {
        match self.upstreams[number].asked.remove(id) {
            Some(Asked::Call { key, .. }) => {
                if let Some(call) = self.calls.get_mut(&key) {
                    call.sent = None;
                }
                self.fail_call(&key, message, PossibleEffect::Unknown)
            }
            Some(Asked::Forwarded { method }) => {
                self.pending.remove(id);
                self.to_client(message::error(id, INTERNAL_ERROR, message));
                if method == "initialize" { self.initialized_one() } else { Ok(()) }
            }
            Some(Asked::Task { .. }) => {
                self.pending.remove(id);
                self.to_client(message::error(id, INTERNAL_ERROR, message));
                Ok(())
            }
            Some(Asked::List) => {
                self.upstreams[number].listed.fail();
                self.one_listed()
            }
            Some(Asked::Listen) => {
                self.upstreams[number].subscription = None;
                Ok(())
            }
            Some(Asked::Initialize) => {
                if let Some((id, _)) = self.initialize.take() {
                    self.pending.remove(&id);
                    self.to_client(message::error(&id, INTERNAL_ERROR, message));
                }
                self.initialized_one()
            }
            None => Ok(()),
        }
    }

    /// A server gives no more answers.
    pub(super) fn server_ended(&mut self, number: usize, message: String) -> Result<()> {
        let upstream = &mut self.upstreams[number];
        if upstream.ended.replace(message.clone()).is_some() {
            return Ok(());
        }
        upstream.end(Duration::ZERO);
        let ids: Vec<String> = upstream.asked.keys().cloned().collect();
        for id in ids {
            self.fail_asked(number, &id, &message)?;
        }
        self.asked_client
            .retain(|_, asked| !matches!(asked, ForClient::Server { upstream, .. } if *upstream == number));
        // A server ends when the client does.
        if self.closing.is_some() {
            return Ok(());
        }
        let document = to_raw_value(&message)?;
        self.judge(number, "seamgate/ended", Party::Server, Some(&document))?;
        if self.upstreams.len() > 1 {
            say(&format!("seamgate: {}", escape_terminal(&message)));
            self.upstreams[number].listed.fail();
            if self.listing == 0 && self.is_listed {
                self.tell_listed()?;
            }
        }
        Ok(())
    }

    pub(super) fn server_says(&mut self, number: usize, message: Message, line: &str) -> Result<()> {
        match message {
            Message::Answer { id, answer } => match self.upstreams[number].asked.remove(id) {
                Some(asked) => self.server_answers(number, id, asked, answer, line),
                // What nobody asked, or nobody waits for any more.
                None => self.unasked(number),
            },
            Message::Request { id, method, params } => {
                self.unasked(number)?;
                if !methods::may_send(Side::Server, Kind::Request, &method) {
                    self.misdirected(number, Side::Server, Kind::Request, &method)?;
                    let _ = self.upstreams[number].write(message::error(id, METHOD_NOT_FOUND, "Method not found"));
                    return Ok(());
                }
                self.server_asks(number, id, &method, params)
            }
            Message::Notification { method, params } => {
                self.unasked(number)?;
                if !methods::may_send(Side::Server, Kind::Notification, &method) {
                    return self.misdirected(number, Side::Server, Kind::Notification, &method);
                }
                self.server_tells(number, &method, params)
            }
        }
    }

    pub(super) fn unasked(&mut self, number: usize) -> Result<()> {
        match self.upstreams[number].count_unasked() {
            Ok(()) => Ok(()),
            Err(message) => self.server_ended(number, message),
        }
    }

    pub(super) fn server_answers(
        &mut self,
        number: usize,
        id: &str,
        asked: Asked,
        answer: Answer,
        line: &str,
    ) -> Result<()> {
        match asked {
            Asked::Call { key, since } => self.called(&key, since, answer),
            Asked::List => self.list_page(number, answer),
            Asked::Initialize => self.one_initialized(number, answer),
            Asked::Listen => {
                self.upstreams[number].subscription = None;
                Ok(())
            }
            Asked::Task { task } => self.told_of_task(number, id, &task, answer, line),
            Asked::Forwarded { method } => {
                self.pending.remove(id);
                let mut line = self.forwarded(number, id, &method, answer, line)?;
                match method.as_str() {
                    "initialize" => {
                        self.deadline = None;
                        line = self.initialized(number, &line);
                    }
                    "server/discover" => line = self.initialized(number, &line),
                    _ => {}
                }
                self.to_client(line);
                if method == "initialize" { self.initialized_one() } else { Ok(()) }
            }
        }
    }

    /// Returns the line that a client gets for a server's answer to its request.
    pub(super) fn forwarded(
        &mut self,
        number: usize,
        id: &str,
        method: &str,
        answer: Answer,
        line: &str,
    ) -> Result<String> {
        let (member, document) = match answer {
            // It says no more than that the server is there.
            Answer::Result(_) if method == "ping" => {
                let is_stateless = self.own_meta.is_some();
                return Ok(message::result(id, if is_stateless { r#"{"resultType":"complete"}"# } else { "{}" }));
            }
            Answer::Result(result) => ("result", result),
            Answer::Error(error) => ("error", error),
        };
        if member == "result" && message::result_type(document.get()).as_deref() == Some("input_required") {
            return Ok(match self.question(number, method, document)? {
                Ok((question, state)) => {
                    let question = match (state, Members::of(&question)) {
                        (Some(state), Some(members)) => members.set("requestState", &state),
                        _ => question,
                    };
                    with_member(line, "result", &question)
                }
                Err(why) => message::error(id, INTERNAL_ERROR, &format!("{} {why}", self.upstreams[number].told())),
            });
        }
        Ok(match self.try_judge(number, method, Party::Server, Some(document))? {
            Ok(Judged::Unchanged) => line.to_owned(),
            Ok(Judged::Cleaned(cleaned)) => with_member(line, member, cleaned.as_str()),
            Ok(Judged::Denied) => message::error(id, METHOD_NOT_FOUND, "Method not found"),
            Err(fault) => message::error(id, INTERNAL_ERROR, &format!("the answer cannot be judged: {fault}")),
        })
    }

    /// Removes the capabilities that the profile does not name from a server's first answer.
    pub(super) fn initialized(&mut self, number: usize, line: &str) -> String {
        let Some(result) = Members::of(line).and_then(|members| members.get("result")) else { return line.to_owned() };
        let capabilities = Members::of(result.get()).and_then(|members| members.get("capabilities"));
        let Some(capabilities) = capabilities else { return line.to_owned() };
        let tools = Members::of(capabilities.get()).and_then(|members| members.get("tools"));
        let changes = tools.and_then(|tools| Members::of(tools.get())?.get("listChanged")).map(RawValue::get);
        self.upstreams[number].has_tools = Some(tools.is_some());
        self.upstreams[number].tells_changes = changes == Some("true");
        match self.cut(&self.upstreams[number].name, capabilities, kind_of) {
            Some(cut) => with_member(line, "result", &with_member(result.get(), "capabilities", &cut)),
            None => line.to_owned(),
        }
    }

    /// One more server has answered the first request, or never will.
    pub(super) fn initialized_one(&mut self) -> Result<()> {
        self.initializing = self.initializing.saturating_sub(1);
        if self.initializing == 0 && std::mem::take(&mut self.is_list_wanted) { self.list() } else { Ok(()) }
    }

    /// One of several servers has answered the first request.
    pub(super) fn one_initialized(&mut self, number: usize, answer: Answer) -> Result<()> {
        self.merge_initialized(number, answer)?;
        self.initialized_one()
    }

    pub(super) fn merge_initialized(&mut self, number: usize, answer: Answer) -> Result<()> {
        let result = match answer {
            Answer::Result(result) => result,
            Answer::Error(error) => {
                let message =
                    format!("{} cannot be initialized: {}", self.upstreams[number].told(), cut_to(error.get(), 512));
                return self.server_ended(number, message);
            }
        };
        let result = match self.judge(number, "initialize", Party::Server, Some(result))? {
            Judged::Cleaned(cleaned) => cleaned.into(),
            Judged::Unchanged | Judged::Denied => result.to_owned(),
        };
        let whole = message::result("0", result.get());
        self.initialized(number, &whole);
        let Some((_, answers)) = &mut self.initialize else { return Ok(()) };
        answers[number] = Some(result);
        if !answers.iter().zip(&self.upstreams).all(|(answer, upstream)| answer.is_some() || upstream.ended.is_some()) {
            return Ok(());
        }
        let Some((id, answers)) = self.initialize.take() else { return Ok(()) };
        self.deadline = None;
        self.pending.remove(&id);
        let text = |answer: &RawValue, name: &str| Some(Members::of(answer.get())?.text(name)?.into_owned());
        let answers: Vec<(&str, &RawValue)> = self
            .upstreams
            .iter()
            .zip(&answers)
            .filter_map(|(upstream, answer)| Some((upstream.name.as_str(), answer.as_deref()?)))
            .collect();
        let mut versions: Vec<String> =
            answers.iter().filter_map(|(_, answer)| text(answer, "protocolVersion")).collect();
        versions.sort_unstable();
        versions.dedup();
        let [version] = &versions[..] else {
            let message = format!("the servers speak different versions of the protocol: {}", versions.join(", "));
            self.to_client(message::error(&id, INTERNAL_ERROR, &message));
            return Ok(());
        };
        let instructions: Vec<String> = answers
            .iter()
            .filter_map(|(name, answer)| Some(format!("{name}:\n{}", text(answer, "instructions")?)))
            .collect();
        let instructions = match instructions.is_empty() {
            true => String::new(),
            false => format!(",\"instructions\":{}", json(&instructions.join("\n\n"))),
        };
        let result = format!(
            r#"{{"protocolVersion":{},"capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"seamgate","version":{}}}{instructions}}}"#,
            json(version),
            json(env!("CARGO_PKG_VERSION")),
        );
        self.to_client(message::result(&id, &result));
        Ok(())
    }

    pub(super) fn server_tells(&mut self, number: usize, method: &str, params: Option<&RawValue>) -> Result<()> {
        let subscription = stateless::subscription(params);
        let is_own = subscription.is_some() && subscription == self.upstreams[number].subscription.as_deref();
        match method {
            "notifications/tools/list_changed" => self.server_tells_changes(number, subscription, is_own),
            _ if is_own => Ok(()),
            // What a task came to is judged when the client asks for it.
            "notifications/tasks" => Ok(()),
            "notifications/cancelled" => self.server_cancels(number, params),
            "notifications/progress" => self.server_tells_progress(number, params),
            _ => {
                let params = match self.judge_once(number, method, Party::Server, params)? {
                    Judged::Denied => return Ok(()),
                    Judged::Unchanged => params.map(RawValue::to_owned),
                    Judged::Cleaned(cleaned) => Some(cleaned.into()),
                };
                self.to_client(message::notification(method, params.as_deref().map(RawValue::get)));
                Ok(())
            }
        }
    }

    /// A server's tools have changed: the client hears no more than that.
    fn server_tells_changes(&mut self, number: usize, subscription: Option<&str>, is_own: bool) -> Result<()> {
        if !is_own && self.list_changed.len() < MAX_QUEUED {
            // Only a subscription of the client's own is named to it.
            let named = subscription.filter(|id| self.upstreams[number].asked.contains_key(*id));
            let params = named.map(|id| format!("{{\"_meta\":{{{}:{id}}}}}", json(stateless::SUBSCRIPTION)));
            self.list_changed.push(message::notification("notifications/tools/list_changed", params.as_deref()));
        }
        if self.listing > 0 {
            // What was listed may be old.
            self.is_list_stale = true;
            return Ok(());
        }
        self.list()
    }

    /// A server takes back what it asked the client, or ends a subscription.
    fn server_cancels(&mut self, number: usize, params: Option<&RawValue>) -> Result<()> {
        let params = params.and_then(|params| Members::of(params.get()));
        let Some(id) = params.and_then(|params| params.get("requestId")).map(RawValue::get) else { return Ok(()) };
        let asked = self.upstreams[number].asked.get(id);
        if matches!(asked, Some(Asked::Forwarded { method }) if method == "subscriptions/listen") {
            self.upstreams[number].asked.remove(id);
            self.pending.remove(id);
            self.to_client(message::cancelled(id, None));
            return Ok(());
        }
        let found = self.asked_client.iter().find(|(_, asked)| asked.is_of(number, id)).map(|(id, _)| id.clone());
        if let Some(found) = found {
            self.asked_client.remove(&found);
            self.to_client(message::cancelled(&found, None));
        }
        Ok(())
    }

    /// A server says how far a request is. The client hears the numbers, and a message that was judged, for a token that it chose itself.
    fn server_tells_progress(&mut self, number: usize, params: Option<&RawValue>) -> Result<()> {
        let Some(members) = params.and_then(|params| Members::of(params.get())) else { return Ok(()) };
        let is_number =
            |value: &&RawValue| value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let token = members.get("progressToken").filter(|token| self.has_token(token.get()));
        let (Some(token), Some(progress)) = (token, members.get("progress").filter(is_number)) else { return Ok(()) };
        let mut told = format!("{{\"progressToken\":{},\"progress\":{}", token.get(), progress.get());
        if let Some(total) = members.get("total").filter(is_number) {
            told.push_str(&format!(",\"total\":{}", total.get()));
        }
        if let Some(text) = members.text("message") {
            let document = RawValue::from_string(json(&text))?;
            match self.judge_once(number, "notifications/progress", Party::Server, Some(&document))? {
                Judged::Denied => {}
                Judged::Unchanged => told.push_str(&format!(",\"message\":{}", document.get())),
                Judged::Cleaned(cleaned) => told.push_str(&format!(",\"message\":{cleaned}")),
            }
        }
        told.push('}');
        self.to_client(message::notification("notifications/progress", Some(&told)));
        Ok(())
    }

    pub(super) fn server_asks(
        &mut self,
        number: usize,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<()> {
        if self.upstreams[number].ended.is_some() {
            return Ok(());
        }
        let params = match method {
            "ping" if self.upstreams.len() > 1 => {
                let _ = self.upstreams[number].write(message::result(id, "{}"));
                return Ok(());
            }
            // It says no more than that the server asks.
            "ping" => None,
            _ => match self.judge(number, method, Party::Server, params)? {
                Judged::Denied => {
                    let _ = self.upstreams[number].write(message::error(id, METHOD_NOT_FOUND, "Method not found"));
                    return Ok(());
                }
                Judged::Unchanged => params.map(RawValue::to_owned),
                Judged::Cleaned(cleaned) => Some(cleaned.into()),
            },
        };
        if self.asked_client.values().any(|asked| asked.is_of(number, id)) {
            let _ = self.upstreams[number].write(message::error(
                id,
                INVALID_REQUEST,
                "another request has this id, and waits",
            ));
            return Ok(());
        }
        let own = random_id()?;
        self.to_client(message::request(&own, method, params.as_deref().map(RawValue::get)));
        self.asked_client.insert(own, ForClient::Server { upstream: number, id: id.to_owned() });
        Ok(())
    }
}

/// An id for a request to the client, as JSON text. A server that could foresee it could have its own question answered in place of the gate's.
pub(super) fn random_id() -> Result<String> {
    Ok(json(&format!("seamgate-{}", random(16)?)))
}

/// The kind of methods that a capability of a server is about.
fn kind_of(capability: &str) -> &str {
    if capability == "completions" { "completion" } else { capability }
}
