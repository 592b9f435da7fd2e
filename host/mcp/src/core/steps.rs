//! Handles the outcomes of events: the run's decisions and their consequences.

use seamgate::{Action, Ask, DecisionRecord, HiddenToolCode, JobEvent, MessageRecord, Permit, PossibleEffect, Record};
use seamgate_text::escape_terminal;

use super::{
    Core, artifacts,
    effects::{Effect, Outcome, UpstreamId},
    elicitation,
    handshake::shown,
    links::{Asker, Batch, ForClient, Judged, Judgment, Links, Purpose, Then, cut},
    message::{self, Answer, INTERNAL_ERROR, INVALID_PARAMS, Id, Members, Raw, raw, result_type},
    relay,
    round_trips::{AWAITING_S, By},
    server::Asked,
    tasks,
};

/// The most allowed tools that a denial names.
const MAX_NAMED: usize = 20;
/// The longest reason of a denial, in bytes.
const MAX_REASON: usize = 1024;

impl Core {
    /// Handles the outcome of the oldest event that has none yet.
    pub(super) fn on_step(&mut self, outcome: Outcome) {
        let Some(then) = self.links.next_then() else { return };
        match outcome {
            Outcome::Done { records, actions, surface } => match then {
                Then::Call(request) => {
                    self.calls.on_decided(*request, &records, &self.policy, &mut self.links);
                    self.on_outcome(&records, actions);
                }
                Then::Started(key) => {
                    let is_ignored = records.iter().any(|record| matches!(record, Record::Ignored(_)));
                    self.on_outcome(&records, actions);
                    if !is_ignored {
                        self.on_started(&key);
                    }
                }
                Then::Listed(listed) => {
                    self.on_outcome(&records, actions);
                    let surface = surface.unwrap_or_else(|| r#"{"tools":[]}"#.to_owned());
                    self.catalog.on_surface(listed, &surface, &self.policy, &mut self.links);
                }
                Then::Judged(batch) => {
                    let judged = verdict(&records);
                    self.on_outcome(&records, actions);
                    self.on_judged(*batch, judged);
                }
                Then::Nothing | Then::Returned { .. } => self.on_outcome(&records, actions),
            },
            Outcome::Refused(fault) => match then {
                Then::Call(request) => {
                    let why = format!("the call cannot be judged: {fault}");
                    self.links.error(&request.id, INVALID_PARAMS, &why);
                }
                Then::Returned { key, duration_ms } => {
                    self.calls.on_result_refused(&key, duration_ms, &fault.to_string(), &mut self.links);
                }
                Then::Listed(_) => self.catalog.on_refused(&fault.to_string(), &mut self.links),
                Then::Judged(batch) => self.on_judged(*batch, Judged::Refused(fault)),
                Then::Started(key) => {
                    let why = format!("the call cannot be started: {fault}");
                    self.calls.fail(&key, &why, PossibleEffect::None, &mut self.links);
                }
                Then::Nothing => {
                    let why = escape_terminal(&fault.to_string());
                    self.links.add(Effect::Warn(format!("the run refuses an event: {why}")));
                }
            },
        }
    }

    /// Handles records and actions of the run.
    pub(super) fn on_outcome(&mut self, records: &[Record], actions: Vec<Action>) {
        for record in records {
            match record {
                Record::Decision(record) if self.calls.on_decision(record).is_some() => self.on_denied(record),
                Record::Observation(record) => {
                    if let Some(result) = self.calls.on_observed(record) {
                        self.finish(&record.call, result);
                    }
                }
                Record::Settled(record) => {
                    if let Some(result) = self.calls.on_settled(record) {
                        self.finish(&record.call, result);
                    }
                }
                Record::Surface(record) => {
                    for hidden in &record.hidden {
                        let tool = escape_terminal(&hidden.tool);
                        let why = match (hidden.code, &hidden.message) {
                            (HiddenToolCode::Changed, _) => {
                                "it is not what the profile pins; see 'seamgate mcp check'".to_owned()
                            }
                            (HiddenToolCode::InvalidDefinition, Some(message)) => {
                                format!("its definition is invalid: {}", escape_terminal(cut(message, MAX_REASON)))
                            }
                            _ => continue,
                        };
                        self.links.add(Effect::Warn(format!("{tool} is hidden: {why}")));
                    }
                }
                _ => {}
            }
        }
        for action in actions {
            match action {
                Action::Execute(action) => {
                    let secrets = action.secrets.unwrap_or_default();
                    self.calls.on_execute(&action.call, (action.arguments, secrets), &mut self.links);
                }
                Action::Cancel(action) => {
                    self.calls.take_back(&action.call, "the gate ended the call", &mut self.links);
                }
                Action::AskApproval(action) => self.on_ask(action.ask),
                // Whoever waits for an uncertain call learns of the uncertainty from its answer. Nobody else depends on
                // it.
                Action::AskModel(_) | Action::AskInput(_) | Action::Delegate(_) | Action::Finish(_) => {}
            }
        }
    }

    /// Handles the journal entry that a call is about to run.
    fn on_started(&mut self, key: &str) {
        let Some((upstream, arguments)) = self.calls.running(key) else { return };
        if upstream.is_some() {
            return self.send_call(key);
        }
        let arguments = arguments.to_owned();
        let next = self.calls.artifacts.want(key, &arguments);
        self.on_artifact_step(key, next);
    }

    /// Handles the text of an artifact.
    pub(super) fn on_artifact(&mut self, text: Result<String, String>) {
        if let Some((key, next)) = self.calls.artifacts.read(text) {
            self.on_artifact_step(&key, next);
        }
    }

    fn on_artifact_step(&mut self, key: &str, next: artifacts::Next) {
        match next {
            artifacts::Next::Answer(piece) => self.on_piece(key, piece),
            artifacts::Next::Read(digest) => self.links.add(Effect::ReadArtifact(digest)),
            artifacts::Next::Judge(wanted, text) => {
                let method = "seamgate/read_artifact".to_owned();
                let document = Some(raw(message::json(&text)));
                let judgment = Judgment { method, from: seamgate::Party::Server, document };
                let artifacts::Wanted { key, artifact, offset } = wanted;
                let purpose = Purpose::Artifact { key, artifact, offset, text };
                self.links.judge(UpstreamId(0), [judgment], purpose);
            }
        }
    }

    /// Handles a piece of an artifact for the gate's own tool.
    fn on_piece(&mut self, key: &str, piece: Result<String, String>) {
        let result = match piece {
            Ok(piece) => message::succeeded(&piece),
            Err(why) => message::failed(&why),
        };
        self.calls.on_result(key, 0, raw(result), &mut self.links);
    }

    /// Handles the verdict on a document of a batch.
    fn on_judged(&mut self, batch: Batch, judged: Judged) {
        let is_passed = matches!(judged, Judged::Unchanged | Judged::Cleaned(_));
        if is_passed && !batch.rest.is_empty() {
            return self.links.judge_next(batch);
        }
        let Batch { server, method: judged_method, rest, purpose } = batch;
        let is_first = !rest.is_empty();
        match purpose {
            Purpose::Record => {}
            Purpose::Request { id, method, params, task } => match judged {
                Judged::Denied | Judged::Refused(_) => relay::not_found(&id, &method, &mut self.links),
                Judged::Unchanged | Judged::Cleaned(_) => {
                    let asked = match task {
                        Some(task) => Asked::Task { id: id.clone(), task },
                        None => Asked::Relayed { id: id.clone(), method: method.clone() },
                    };
                    relay::request(server, &id, &method, params.as_deref(), asked, &self.policy, &mut self.links);
                }
            },
            Purpose::UnknownTask { id, method } => match is_passed {
                true => {
                    let why = "Failed to retrieve task: no call of this session has this task";
                    self.links.error(&id, INVALID_PARAMS, why);
                }
                false => relay::not_found(&id, &method, &mut self.links),
            },
            Purpose::NextRoundTrip { key } => match judged {
                // The journal does not contain the document.
                Judged::Refused(fault) => {
                    let why = format!("the call cannot be sent again: {fault}");
                    self.calls.fail(&key, &why, PossibleEffect::Unknown, &mut self.links);
                }
                Judged::Denied | Judged::Unchanged | Judged::Cleaned(_) => self.send_call(&key),
            },
            Purpose::ToServer { method, params } => match is_passed {
                true => {
                    let params = params.map(|params| params.get().to_owned());
                    self.links.tell(server, message::Message::notification(&method, params));
                }
                false => self.remember_denied(server, "client", &method),
            },
            Purpose::Answer { id, method, answer } => {
                relay::answer(server, &id, &method, &answer, judged, &self.policy, &mut self.links);
            }
            Purpose::ToClient { method, params } => match is_passed {
                true => relay::notify(server, &method, params.as_deref(), judged, &mut self.links),
                false => self.remember_denied(server, "server", &method),
            },
            Purpose::Progress { told, message } => {
                relay::tell_progress(told, judged.passed(&message).as_deref(), &mut self.links);
            }
            Purpose::AskClient { id, method, params } => {
                relay::ask_client(server, id, &method, params.as_deref(), judged, &mut self.links);
            }
            Purpose::Initialized { answer } => self.on_initialized(server, answer, judged),
            Purpose::ListError { error } => {
                let error = cleaned(judged, &error);
                self.catalog.on_list_error(error, &self.policy, &mut self.links);
            }
            Purpose::CallError { key, duration_ms, error } => {
                let sanitized = cleaned(judged, &error);
                self.calls.on_error(&key, duration_ms, &error, &sanitized, &mut self.links);
            }
            Purpose::Question { asker, question, state } => {
                let question = match judged {
                    Judged::Refused(fault) => Err(format!("asks for input in a way that cannot be judged: {fault}")),
                    Judged::Denied if is_first => {
                        Err(format!("asks the client for {judged_method}, which the profile does not name"))
                    }
                    judged => judged
                        .passed(question.get())
                        .ok_or_else(|| "asks for input in a way that the profile does not name".to_owned()),
                };
                self.on_question(server, asker, question, state);
            }
            Purpose::TaskBegun { key, task, told, ttl_s } => {
                let told = match judged {
                    Judged::Refused(fault) => Err(format!("tells of a task in a way that cannot be judged: {fault}")),
                    Judged::Denied => Err("answers with a task, which the profile does not name".to_owned()),
                    judged => Ok(judged.passed(told.get()).unwrap_or_default()),
                };
                self.on_task_begun(server, &key, &task, told, ttl_s);
            }
            Purpose::TaskTold { id, task, told, result } => {
                let told = match judged {
                    Judged::Refused(fault) => Err(format!("tells of a task in a way that cannot be judged: {fault}")),
                    Judged::Denied => Err("tells of a task, which the profile does not name".to_owned()),
                    judged => Ok(judged.passed(told.get()).unwrap_or_default()),
                };
                match told {
                    Ok(told) => self.on_told(server, id, &task, tasks::with_id(&told, &task), &result),
                    Err(why) => {
                        let why = format!("{} {why}", self.links.told(server));
                        self.links.error(&id, INTERNAL_ERROR, &why);
                    }
                }
            }
            Purpose::TaskFailed { id, task, told, error } => {
                let told = with_member(&told, "error", &cleaned(judged, &error));
                self.on_task_failed(&id, &task, &told, &error);
            }
            Purpose::Artifact { key, artifact, offset, text } => {
                let piece = match judged {
                    Judged::Unchanged => Ok(text),
                    Judged::Cleaned(cleaned) => {
                        cleaned.read::<String>().map_err(|_| "the result cannot be judged".to_owned())
                    }
                    Judged::Denied | Judged::Refused(_) => Err("the result cannot be judged".to_owned()),
                };
                let piece = piece.map(|text| self.calls.artifacts.judged(artifact, offset, text));
                self.on_piece(&key, piece);
            }
        }
    }

    /// Remembers a notification that the kernel denies, so that the journal records it only once.
    fn remember_denied(&mut self, server: UpstreamId, sender: &str, method: &str) {
        if self.recorded.len() < super::MAX_RECORDED {
            self.recorded.insert((server, format!("{sender} {}", cut(method, 256))));
        }
    }

    /// Handles a server's description of itself, or its failure.
    fn on_initialized(&mut self, server: UpstreamId, answer: Answer, judged: Judged) {
        let answer = match answer {
            Answer::Result(result) => match judged.passed(result.get()) {
                Some(passed) => Answer::Result(raw(passed)),
                None => {
                    let why = message::json("the server describes itself in a way that cannot be judged");
                    Answer::Error(raw(format!("{{\"code\":{INTERNAL_ERROR},\"message\":{why}}}")))
                }
            },
            Answer::Error(error) => Answer::Error(raw(cleaned(judged, &error))),
        };
        let why = match &answer {
            Answer::Error(error) => Some(shown(error)),
            Answer::Result(_) => None,
        };
        let capability = self.handshake.on_answer(server, answer, &self.policy, &mut self.links);
        if let Some(capability) = capability {
            self.catalog.set_capabilities(server, capability.has_tools, capability.tells_changes);
            if !self.handshake.is_open() {
                // A restarted server lists its tools again.
                self.is_list_wanted |= self.catalog.has_told();
            }
        } else if let Some(why) = why.filter(|_| self.links.servers.len() > 1) {
            let why = format!("{} cannot be initialized: {why}", self.links.told(server));
            self.on_server_ended(server, &why);
        }
        self.on_handshake();
    }

    /// Handles a server's question that passed, or the reason why it does not pass.
    fn on_question(
        &mut self,
        server: UpstreamId,
        asker: Asker,
        question: Result<String, String>,
        state: Option<String>,
    ) {
        let told = self.links.told(server);
        match (asker, question) {
            (Asker::Call(key), Ok(question)) => {
                let mut event = JobEvent::new(&key);
                event.ttl_s = Some(AWAITING_S);
                self.links.send(event, Then::Nothing);
                match self.round_trips.begin(&key, By::Server(state), &question, &mut self.links) {
                    Some(question) => self.calls.answer_early(&key, &question, &mut self.links),
                    None => {
                        let why = "too many calls wait for the client to come back";
                        self.calls.fail(&key, why, PossibleEffect::Unknown, &mut self.links);
                    }
                }
            }
            (Asker::Call(key), Err(why)) => {
                self.calls.fail(&key, &format!("{told} {why}"), PossibleEffect::Unknown, &mut self.links);
            }
            (Asker::Request { id, .. }, Ok(question)) => {
                let question = match state {
                    Some(state) => with_member(&question, "requestState", &state),
                    None => question,
                };
                self.links.result(&id, question);
            }
            (Asker::Task { id, told }, Ok(question)) => {
                let requests = Members::of(&question).and_then(|all| all.get("inputRequests"));
                let told =
                    requests.map_or(told.clone(), |requests| with_member(&told, "inputRequests", requests.get()));
                self.links.result(&id, told);
            }
            (Asker::Request { id, .. } | Asker::Task { id, .. }, Err(why)) => {
                self.links.error(&id, INTERNAL_ERROR, &format!("{told} {why}"));
            }
        }
    }

    /// Handles a call that becomes a task.
    fn on_task_begun(&mut self, server: UpstreamId, key: &str, task: &str, told: Result<String, String>, ttl_s: u64) {
        let now = self.links.now;
        let begun = told.and_then(|told| {
            self.tasks.begin(task, server, key, now).map_err(str::to_owned)?;
            Ok(tasks::with_id(&told, task))
        });
        match begun {
            Ok(told) => {
                let mut event = JobEvent::new(key);
                event.ttl_s = Some(ttl_s);
                self.links.send(event, Then::Nothing);
                self.calls.answer_early(key, &told, &mut self.links);
            }
            Err(why) => {
                let why = format!("{} {why}", self.links.told(server));
                self.calls.fail(key, &why, PossibleEffect::Unknown, &mut self.links);
            }
        }
    }

    /// Handles a server's report on a task. `told` is the report without the outcome.
    fn on_told(&mut self, server: UpstreamId, id: Id, task: &str, told: String, result: &Raw) {
        let refuse = |links: &mut Links, why: &str| {
            let why = format!("{} {why}", links.told(server));
            links.error(&id, INTERNAL_ERROR, &why);
        };
        let Some(own) = self.tasks.get(task) else {
            return refuse(&mut self.links, "tells of a task that is over");
        };
        if let Some(ended) = &own.ended {
            return self.links.result(&id, ended.clone());
        }
        let (key, duration_ms) = (own.key.clone(), self.links.now.saturating_sub(own.since));
        let Some(members) = Members::of(result.get()) else { return self.links.result(&id, told) };
        let status = members.text("status").unwrap_or_default();
        match (&*status, members.get("result"), members.get("error"), members.get("inputRequests")) {
            ("completed", Some(result), ..) => {
                if result_type(result.get()).is_some_and(|kind| kind != "complete") {
                    return refuse(&mut self.links, "ends a task with a result that is none");
                }
                self.tasks.await_result(task, &id, told);
                self.calls.on_result(&key, duration_ms, result.to_owned(), &mut self.links);
            }
            ("failed", _, Some(error), _) => {
                let error = error.to_owned();
                let method = "tasks/get".to_owned();
                let judgment = Judgment { method, from: seamgate::Party::Server, document: Some(error.clone()) };
                let purpose = Purpose::TaskFailed { id, task: task.to_owned(), told, error };
                self.links.judge(server, [judgment], purpose);
            }
            ("cancelled", ..) => {
                self.tasks.end(task, &told);
                let why = "the server cancelled the task";
                self.calls.fail(&key, why, PossibleEffect::Unknown, &mut self.links);
                self.links.result(&id, told);
            }
            ("input_required", _, _, Some(requests)) => {
                let asked = format!("{{\"inputRequests\":{}}}", requests.get());
                let asker = Asker::Task { id: id.clone(), told };
                if let Err((_, why)) = relay::on_question(server, &asked, asker, &mut self.links) {
                    refuse(&mut self.links, &why);
                }
            }
            _ => self.links.result(&id, told),
        }
    }

    fn on_task_failed(&mut self, id: &Id, task: &str, told: &str, error: &Raw) {
        self.tasks.end(task, told);
        if let Some(own) = self.tasks.get(task) {
            let duration_ms = self.links.now.saturating_sub(own.since);
            let text = format!("the server answered with an error: {}", cut(error.get(), 4096));
            let event = super::calls::error_result(&own.key, duration_ms, &text);
            self.links.send(event, Then::Nothing);
        }
        self.links.result(id, told.to_owned());
    }

    /// Handles a call that waits for approval.
    fn on_ask(&mut self, ask: Ask) {
        let name = self.calls.request(&ask.key).map(|request| request.name.clone()).unwrap_or_default();
        let sender = self.calls.sender(&ask.key);
        self.links.add(Effect::AskPerson(escape_terminal(&name), ask.key.clone()));
        let is_named = ask.by.iter().any(|principal| principal == elicitation::CLIENT);
        // A principal with a key decides with tokens, which a form cannot contain.
        let is_for_client = sender.has_forms && is_named && ask.keys_of(elicitation::CLIENT).is_none();
        self.calls.on_ask(ask.clone(), &self.links);
        if is_for_client && sender.is_stateless {
            self.ask_by_form(&ask);
        } else if is_for_client {
            let is_old = |asked: &ForClient| matches!(asked, ForClient::Approval { key, .. } if *key == ask.key);
            self.links.for_client.retain(|_, asked| !is_old(asked));
            let question = elicitation::question(&ask.view);
            let asked = ForClient::Approval { key: ask.key, digest: ask.digest };
            self.links.ask_client("elicitation/create", Some(question), asked);
        }
    }

    /// Asks the client, in the result of a call, whether the call may run.
    pub(super) fn ask_by_form(&mut self, ask: &Ask) {
        // A client that is away is notified when it returns.
        if !self.calls.has_waiters(&ask.key) {
            return;
        }
        let question = elicitation::question_by_result(&ask.view);
        let by = By::Gate(ask.digest.clone());
        if let Some(question) = self.round_trips.begin(&ask.key, by, &question, &mut self.links) {
            self.calls.answer_early(&ask.key, &question, &mut self.links);
        }
    }

    /// Handles a denied call.
    fn on_denied(&mut self, record: &DecisionRecord) {
        let key = &record.call;
        let Some(request) = self.calls.request(key) else { return };
        let down = request.target.upstream.filter(|_| !request.target.is_visible).and_then(|server| {
            let own = self.links.servers.get(server.0)?;
            own.is_down(self.links.now)
        });
        match (request.target.is_visible, down) {
            (true, _) => {
                let denial = self.calls.own_result(key, &message::failed(&self.denial(record)));
                self.end_denied(key, denial);
            }
            (false, Some(why)) => {
                let result =
                    self.calls.own_result(key, &message::failed(&format!("This tool cannot be called now: {why}.")));
                self.end_denied(key, result);
            }
            (false, None) => {
                let why = format!("Unknown tool: {}", cut(&request.name, 128));
                for id in self.forget(&key.clone()) {
                    self.links.error(&id, INVALID_PARAMS, &why);
                }
            }
        }
    }

    fn end_denied(&mut self, key: &str, result: Raw) {
        match self.calls.has_waiters(key) || self.round_trips.has(key) || self.tasks.has_call(key) {
            true => self.finish(key, result),
            false => drop(self.forget(key)),
        }
    }

    /// Describes a denial for the client. Names only tools that the client sees.
    fn denial(&self, record: &DecisionRecord) -> String {
        let reason = record.reasons.first().map_or("the profile does not permit it", |reason| &reason.message);
        let mut names: Vec<&str> = self.catalog.names().collect();
        let more = match names.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        names.truncate(MAX_NAMED);
        let allowed = match names.is_empty() {
            true => "No tool is allowed.".to_owned(),
            false => format!("Allowed tools: {}{more}.", names.join(", ")),
        };
        format!("Call denied: {}. {allowed}", cut(reason, MAX_REASON))
    }

    /// Delivers the result of a call that has ended. Whoever waits for the call gets it, now or when they return.
    fn finish(&mut self, key: &str, result: Raw) {
        if self.tasks.has_call(key) {
            self.tasks.on_result(key, result.get(), &mut self.links);
        } else if let Some(result) = self.calls.answer(key, result, &mut self.links) {
            let is_parked = match self.calls.request(key) {
                Some(request) => self.round_trips.park(key, request, result.get()),
                None => false,
            };
            if !is_parked {
                self.calls.park(key, &result, &self.links);
            }
        }
        self.forget(key);
    }

    /// Removes a call. Returns the requests that still wait for it.
    fn forget(&mut self, key: &str) -> Vec<Id> {
        self.round_trips.forget(key);
        self.tasks.forget_call(key);
        self.calls.remove(key, &mut self.links)
    }
}

/// Reads the verdict on a document from the records of a step.
fn verdict(records: &[Record]) -> Judged {
    let message = records.iter().find_map(|record| match record {
        Record::Message(message) => Some(message),
        _ => None,
    });
    match message.filter(|message| message.permit == Permit::Allow) {
        Some(MessageRecord { document: Some(document), .. }) => Judged::Cleaned(document.clone()),
        Some(_) => Judged::Unchanged,
        None => Judged::Denied,
    }
}

/// Returns a server's error as the verdict on it permits.
fn cleaned(judged: Judged, error: &Raw) -> String {
    judged.passed(error.get()).unwrap_or_else(|| {
        format!("{{\"code\":{INTERNAL_ERROR},\"message\":\"the server answered with an error that cannot be judged\"}}")
    })
}

/// Returns an object with a member set to this value.
fn with_member(object: &str, name: &str, value: &str) -> String {
    Members::of(object).map_or_else(|| object.to_owned(), |members| members.set(name, value))
}
