//! Each call, from its decision to its end. Only `permit` decides which calls may run.

use seamgate_core::{
    Fault,
    kernel_api::{Document, Json, NodeId, digest, quote, short, sort},
};

use super::{
    Run,
    event::Event,
    state::{CallState, Carved, ContextRequest, Phase},
    step::{Action, Record},
    written,
};
use crate::{
    above::{effect, keys},
    approval::action,
    call::{Call, DEFAULT_ARGUMENTS_BYTES},
    counts, covers,
    decision::{ALLOW, APPROVAL, DENY, Decision, Reason, Secret, Used},
    digest::{same_call, same_text},
    document::{CAPS, number_in, texts_in},
    facts::{Decided, Remembered, Verdict},
    permit::{needed, permit},
    rate, remembered,
    sanitize::sanitize,
    secret::References,
    surface,
    tool::{Effect, Tool, full_name},
};

/// The maximum size of arguments in a record, in bytes.
const MAX_SHOWN: usize = 4096;

/// The default number of further calls that a remembered approval covers, and its default duration in seconds.
const REMEMBERED_TIMES: u64 = 10;
const REMEMBERED_TTL_S: u64 = 3600;

/// The default number of equal denials that ends the run.
const MAX_DENIALS: u64 = 2;

/// The tool with which a child requests its parent's context. It is in no profile, and is always denied.
const REQUEST_CONTEXT: &str = "request_context";

impl Run<'_> {
    /// Handles one call from outside a loop.
    pub(super) fn outside_call(&mut self, event: &Event) -> Result<(), Fault> {
        if self.profile.has_loop() {
            self.ignore("loop", "in a loop, calls come from the model");
            return Ok(());
        }
        let call = Run::asked_call(event.document(), Document::ROOT);
        let same = self.same(&call);
        if event.items("joinable").any(|at| event.document().string(at) == same) {
            self.records.push(Record::Joined { same });
            return Ok(());
        }
        let index = self.add_call(call);
        if let Some(reason) = self.too_large() {
            self.deny(index, reason);
            return Ok(());
        }
        self.judge(index)
    }

    pub(super) fn as_call(&self, index: usize) -> Call {
        self.state.calls[index].as_call()
    }

    /// Returns the digest that all equal calls share.
    pub(super) fn same(&self, call: &CallState) -> String {
        let tool = surface::known(self.profile, &call.as_call());
        let server = tool.map_or(call.server.as_deref().unwrap_or_default(), |tool| &tool.server);
        match Json::read(&call.arguments, &CAPS) {
            Ok(arguments) => same_call(server, &call.tool, &arguments),
            Err(_) => same_text(server, &call.tool, &call.arguments),
        }
    }

    /// Decides about a call under the current facts.
    pub(super) fn judge(&mut self, index: usize) -> Result<(), Fault> {
        let call = self.as_call(index);
        let decision = permit(self.profile, &self.facts()?, &call, || self.background(index))?;
        self.decided(index, decision);
        Ok(())
    }

    /// Decides again about a call that the host was told to cancel before sending, because its approval expired. The
    /// call is not sent even if it needs no approval anymore: the host might send it twice, because the key would be
    /// the same.
    pub(super) fn judge_taken_back(&mut self, index: usize) -> Result<(), Fault> {
        let call = self.as_call(index);
        let decision = permit(self.profile, &self.facts()?, &call, || self.background(index))?;
        if decision.permit == ALLOW {
            let message = "The call was not sent before its approval lapsed.";
            self.settle(index, Phase::Cancelled, "not_sent", message);
            self.drop_behind(index, "not_sent");
            return Ok(());
        }
        self.decided(index, decision);
        Ok(())
    }

    /// Denies a call for which no tool is available.
    pub(super) fn deny_all(&mut self, index: usize) {
        self.deny(index, Reason::new("surface", "no tool is available for this answer"));
    }

    fn deny(&mut self, index: usize, reason: Reason) {
        let call = &self.state.calls[index];
        self.decided(index, Decision::denied(&call.key, &call.tool, reason));
    }

    /// Judges calls that wait for approval again, after a change that may affect them.
    pub(super) fn judge_asked_again(&mut self) -> Result<(), Fault> {
        for index in 0..self.state.calls.len() {
            if self.state.calls[index].phase == Phase::Asked {
                self.judge(index)?;
            }
        }
        Ok(())
    }

    /// Judges calls that wait for approval again, because an approval for the run may cover them. Calls about which
    /// this step asks a person wait for the next step.
    fn judge_covered(&mut self) -> Result<(), Fault> {
        for index in 0..self.state.calls.len() {
            if self.state.calls[index].phase == Phase::Asked && !self.is_asked_now(&self.state.calls[index].key) {
                self.judge(index)?;
            }
        }
        Ok(())
    }

    /// Returns whether this step asks for the approval of a call.
    fn is_asked_now(&self, key: &str) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::AskApproval { call, .. } if call == key))
    }

    fn decided(&mut self, index: usize, decision: Decision) {
        let call = &self.state.calls[index];
        let is_same_ask = call.phase == Phase::Asked
            && call.digest == decision.digest
            && decision.ask.as_ref().is_some_and(|ask| ask.by == call.by && Some(ask.expires) == call.expires);
        // Texts and results after the ask cannot answer it. Only a person's decision or the expiry can.
        let is_proven_since = call.phase == Phase::Asked
            && call.digest == decision.digest
            && decision.permit == ALLOW
            && decision.approval.is_none()
            && !decision.origins.is_empty();
        if is_same_ask || is_proven_since {
            return;
        }
        let tool = surface::known(self.profile, &self.as_call(index)).ok();
        let waits = |tool| match decision.permit {
            ALLOW => self.waits_for_its_turn(index, tool),
            APPROVAL => self.may_be_covered(index, tool),
            _ => false,
        };
        if tool.is_some_and(waits) {
            // An approved call stays approved until its turn, when it is judged again.
            if call.phase != Phase::Asked || call.digest != decision.digest {
                let call = &mut self.state.calls[index];
                call.phase = Phase::Held;
                // The arguments have changed, so the ask about them is obsolete.
                call.digest = None;
                call.expires = None;
                call.by.clear();
            }
            return;
        }
        self.record_decision(index, &decision);
        let call = &mut self.state.calls[index];
        call.server = decision.server.or(call.server.take());
        call.effect = tool.map_or(Effect::Effectful, |tool| effect(tool, self.above.as_deref()));
        call.digest = decision.digest;
        self.state.facts.take(decision.facts);
        match (decision.permit, decision.ask, tool) {
            (ALLOW, _, Some(tool)) => self.dispatch(index, tool, decision.approval),
            (APPROVAL, Some(ask), _) => {
                call.phase = Phase::Asked;
                call.expires = Some(ask.expires);
                call.by.clone_from(&ask.by);
                let (key, call) = (self.key(), self.state.calls[index].key.clone());
                self.actions.push(Action::AskApproval { key, call, ask });
            }
            _ => self.denied(index, decision.message, decision.reasons),
        }
    }

    /// Returns whether an effect that the model requested before this one is still open. Effects of one output run in
    /// order. All open calls belong to one output, because the model is called again only when no call is open. A
    /// delegation whose child may change something also waits, but holds no other call back.
    fn waits_for_its_turn(&self, index: usize, tool: &Tool) -> bool {
        let changes = effect(tool, self.above.as_deref()) != Effect::Read;
        let changes = if tool.is_delegate { self.child_changes(index) } else { changes };
        let mut before = self.state.calls[..index].iter().enumerate();
        let is_effect = |(at, call): (usize, &CallState)| {
            call.phase.is_open() && call.effect != Effect::Read && !self.is_delegate(at)
        };
        self.profile.has_loop() && changes && before.any(is_effect)
    }

    /// Returns whether a pending approval could cover this call: that of an effect that the model requested earlier and
    /// that is still open. No separate ask is made then, because one question is enough.
    fn may_be_covered(&self, index: usize, tool: &Tool) -> bool {
        let Ok(facts) = self.facts() else { return false };
        let call = self.as_call(index);
        let mut before = 0..index;
        self.profile.has_loop()
            && before.any(|at| {
                let (phase, earlier) = (self.state.calls[at].phase, self.as_call(at));
                let covers =
                    |covering: &Tool| covers::would_cover(self.profile, &facts, (covering, &earlier), (tool, &call));
                matches!(phase, Phase::Asked | Phase::Held) && surface::known(self.profile, &earlier).is_ok_and(covers)
            })
    }

    /// Decides about the calls whose turn it is. If the run must end, none of them runs.
    pub(super) fn release(&mut self) -> Result<(), Fault> {
        for index in 0..self.state.calls.len() {
            let call = &self.state.calls[index];
            let is_approved = || self.state.facts.approvals.iter().any(|approval| approval.key == call.key);
            match call.phase {
                Phase::Held if self.state.stop.is_some() => {
                    self.settle(index, Phase::Cancelled, "cancelled", "The run has to end: the call was not sent.");
                }
                Phase::Held => self.judge(index)?,
                Phase::Asked if is_approved() && !self.is_asked_now(&call.key) => self.judge(index)?,
                _ => {}
            }
        }
        if self.state.facts.remembered.is_empty() { Ok(()) } else { self.judge_covered() }
    }

    /// Denies the calls after an effect that was not approved or not sent, because they may depend on it.
    pub(super) fn drop_behind(&mut self, index: usize, code: &'static str) {
        let before = &self.state.calls[index];
        if before.effect == Effect::Read || self.is_delegate(index) {
            return;
        }
        let message = format!(
            "Call denied: {} ({}), which stands before it in the same answer, did not run. Ask for it again if it does not depend on that.",
            before.key,
            short(&before.tool, 128)
        );
        for later in index + 1..self.state.calls.len() {
            if self.state.calls[later].phase == Phase::Held {
                self.settle(later, Phase::Denied, code, &message);
            }
        }
    }

    fn record_decision(&mut self, index: usize, decision: &Decision) {
        let call = &self.state.calls[index];
        self.records.push(Record::Decision {
            call: call.key.clone(),
            permit: decision.permit,
            server: decision.server.clone(),
            tool: decision.tool.clone(),
            effect: decision.effect,
            digest: decision.digest.clone(),
            arguments: short(&call.arguments, MAX_SHOWN),
            arguments_digest: digest(&call.arguments),
            same: self.same(call),
            message: decision.message.clone(),
            reasons: decision.reasons.clone(),
            approval: decision.approval.clone(),
            origins: decision.origins.clone(),
            secrets: decision.secrets.clone(),
        });
    }

    fn dispatch(&mut self, index: usize, tool: &Tool, approval: Option<Used>) {
        let expires = self.call_expires();
        let call = &mut self.state.calls[index];
        call.phase = Phase::Dispatched;
        call.expires = Some(expires);
        call.by.clear();
        if tool.is_delegate { self.delegate(index) } else { self.execute(index, approval) }
    }

    /// Tells the host to send a call. The idempotency key of a call stays the same, however often it is sent.
    pub(super) fn execute(&mut self, index: usize, approval: Option<Used>) {
        let secrets = self.secrets(index);
        let (key, call) = (self.key(), &self.state.calls[index]);
        self.actions.push(Action::Execute {
            key,
            call: call.key.clone(),
            server: call.server.clone(),
            tool: call.tool.clone(),
            effect: call.effect.as_str(),
            arguments: call.arguments.clone(),
            digest: call.digest.clone(),
            idempotency_key: format!("{}/{}", self.state.facts.run, call.key),
            expires: call.expires.unwrap_or_default(),
            approval,
            secrets,
        });
    }

    /// Returns the secrets that a permitted call takes.
    fn secrets(&self, index: usize) -> Vec<Secret> {
        let call = self.as_call(index);
        let Ok(tool) = surface::known(self.profile, &call) else { return Vec::new() };
        let Ok(arguments) = call.document(tool.max_arguments_bytes) else { return Vec::new() };
        References::find(tool, &arguments).map(|references| references.listed(&arguments)).unwrap_or_default()
    }

    fn denied(&mut self, index: usize, message: String, reasons: Vec<Reason>) {
        let call = &mut self.state.calls[index];
        call.phase = Phase::Denied;
        call.expires = None;
        call.by.clear();
        call.told = Some(message);
        if call.arguments.len() > DEFAULT_ARGUMENTS_BYTES {
            call.arguments = String::new();
        }
        let Some(reason) = reasons.first() else { return };
        if call.tool == REQUEST_CONTEXT
            && reason.code == "unknown_tool"
            && self.above.as_ref().is_some_and(|above| above.has_parent())
        {
            self.request_denied(index);
        }
        if !self.profile.has_loop() {
            return;
        }
        // The budget that was given to a child returns, at least in part.
        let is_carved = self.state.calls.iter().any(|call| call.phase.is_under_way() && call.carved.is_some());
        if reason.code == "rejected" {
            self.drop_behind(index, "rejected");
        }
        let ends = match reason.code {
            "rejected" => self.profile.stops_at_rejection,
            "same_call" => true,
            "budget" => !is_carved,
            _ => false,
        };
        if ends {
            let message = if reason.code == "rejected" { "an approval was rejected" } else { &reason.message };
            self.state.end(reason.code, message);
        }
        self.count_denial(index, reason.code);
    }

    /// Counts a denial. Repeated equal denials end the run.
    pub(super) fn count_denial(&mut self, index: usize, code: &str) {
        if !self.profile.has_loop() {
            return;
        }
        let denial = self.denial(index, code);
        let times = self.state.denials.entry(denial).or_default();
        *times += 1;
        let times = *times;
        if times >= self.budget.same_call.unwrap_or(MAX_DENIALS).max(2) {
            self.state.end("same_denial", format!("the same call was denied {times} times"));
        }
    }

    /// Returns the key of a denial. Equal calls that are denied for the same reason share the key.
    fn denial(&self, index: usize, code: &str) -> String {
        format!("{code}:{}", self.same(&self.state.calls[index]))
    }

    /// Records that a child requested its parent's context.
    fn request_denied(&mut self, index: usize) {
        let call = &mut self.state.calls[index];
        call.told = Some(
            "Context access denied: a child cannot read its parent's context. Answer with what you have, and say what is missing: \
             the parent may hand it over."
                .to_owned(),
        );
        let reason = call.reason();
        let task = self.state.facts.task.as_ref().map_or("null", |task| task.get());
        let request = ContextRequest {
            reason: short(&sanitize(&reason).text, 512),
            packet: digest(task),
            tools: self.profile.tools.iter().map(Tool::full_name).collect(),
        };
        let call = self.state.calls[index].key.clone();
        self.records.push(Record::ContextRequest { call, request: written(&request) });
        if self.state.requests.len() < 16 {
            self.state.requests.push(request);
        }
    }

    /// Releases the budget that was reserved for a call that was not sent.
    pub(super) fn undo(&mut self, index: usize) {
        let call = &self.state.calls[index];
        let server = call.server.as_deref().unwrap_or_default();
        let used = &mut self.state.facts.used;
        used.tool_calls = used.tool_calls.saturating_sub(1);
        rate::undo(&mut used.recent, &full_name(server, &call.tool));
        if let Ok(arguments) = Json::read(&call.arguments, &CAPS) {
            counts::undo(&mut used.calls, &same_call(server, &call.tool, &arguments));
        }
        for approval in &mut self.state.facts.approvals {
            if approval.key == call.key && Some(&approval.digest) == call.digest.as_ref() {
                approval.spent = false;
            }
        }
        self.return_carved(index, Some(Carved::default()));
    }

    /// Applies a person's decision. It is valid only for the open ask with this key and digest, and from a principal
    /// who may decide.
    pub(super) fn approval(&mut self, event: &Event) -> Result<(), Fault> {
        let word = |name: &str| event.text(name).unwrap_or_default().to_owned();
        let (key, digest, principal) = (word("key"), word("digest"), word("principal"));
        let asked = self.state.call(&key).filter(|&index| self.state.calls[index].phase == Phase::Asked);
        let Some(index) = asked else {
            self.ignore("no_ask", "no call with this key waits for approval");
            return Ok(());
        };
        if self.is_asked_now(&key) {
            self.ignore("before_ask", "the ask that this answers has lapsed; it was asked anew in this step");
            return Ok(());
        }
        let call = &self.state.calls[index];
        if call.digest.as_deref() != Some(digest.as_str()) {
            self.ignore("digest", "the decision is about another action: its digest differs");
            return Ok(());
        }
        if !call.by.contains(&principal) {
            self.ignore("approver", "this principal may not decide about this");
            return Ok(());
        }
        if event.text("decision") == Some("edited") {
            return self.edited(index, &principal, event);
        }
        if event.text("token").is_none() && keys(self.profile, self.above.as_deref(), &principal).is_some() {
            self.ignore("token", "this principal has a key, and decides by a token that is signed with it");
            return Ok(());
        }
        let decision = Verdict::of(&word("decision"));
        let reason = event.text("reason").map(str::to_owned);
        let at = self.now();
        if let Some(remember) = event.member("remember").filter(|_| decision == Verdict::Approved) {
            if event.text("token").is_some() {
                self.ignore("token", "a signed decision is about one call: it cannot be remembered for others");
                return Ok(());
            }
            self.remember_approval(index, &principal, event.document(), remember)?;
        }
        self.state.facts.approvals.push(Decided { key, digest, decision, principal, at, reason, spent: false });
        self.judge(index)
    }

    /// Replaces the arguments of a waiting call with those that a person edited. The call is judged again as if the
    /// model had requested it in this form.
    fn edited(&mut self, index: usize, principal: &str, event: &Event) -> Result<(), Fault> {
        let Some(arguments) = event.text("arguments") else {
            self.ignore("arguments", "the decision \"edited\" needs \"arguments\"");
            return Ok(());
        };
        if !self.profile.has_loop() {
            self.ignore("loop", "a client gets the result of the call that it made: reject it, with a reason");
            return Ok(());
        }
        let why = event.text("reason").map(|reason| format!(" ({})", sanitize(reason).text)).unwrap_or_default();
        let shown = short(&sanitize(arguments).text, MAX_SHOWN);
        let call = &mut self.state.calls[index];
        call.edited = Some(format!(
            "{} changed the arguments of this call{}. What follows is about these: {shown}",
            quote(principal, 64),
            short(&why, 512)
        ));
        call.arguments = arguments.to_owned();
        if let Some(reason) = self.too_large() {
            self.deny(index, reason);
            return Ok(());
        }
        self.judge(index)
    }

    /// Remembers an approval for further calls of the run.
    fn remember_approval(
        &mut self,
        index: usize,
        principal: &str,
        document: &Document,
        remember: NodeId,
    ) -> Result<(), Fault> {
        let mut any = texts_in(document, remember, "any");
        sort(&mut any);
        any.dedup();
        let number = |name: &str, default: u64| number_in(document, remember, name).unwrap_or(default);
        let (left, ttl_s) = (number("times", REMEMBERED_TIMES), number("ttl_s", REMEMBERED_TTL_S));
        let call = self.as_call(index);
        let facts = self.facts()?;
        let Ok(tool) = surface::known(self.profile, &call) else { return Ok(()) };
        let Some(digest) = remembered::digest(&action(self.profile, &facts, tool, &call), &call, &any) else {
            return Ok(());
        };
        let needed = needed(self.profile, &facts, tool, &call)?;
        let why = needed.iter().flat_map(|needed| &needed.reasons).map(Reason::identity).collect();
        let at = self.now();
        let expires = at.saturating_add(ttl_s.saturating_mul(1000));
        let principal = principal.to_owned();
        let one = Remembered { digest, any, same: Vec::new(), principal, at, expires, left, why };
        remembered::add(&mut self.state.facts.remembered, one, at);
        Ok(())
    }

    pub(super) fn tool_started(&mut self, event: &Event) {
        let started = self.call_of(event, Phase::is_under_way);
        // After an interruption, a call that is sent again is started again. An effect is never sent again.
        let fits = |index: &usize| {
            let call = &self.state.calls[*index];
            call.phase == Phase::Dispatched || call.effect != Effect::Effectful
        };
        match started.filter(fits) {
            Some(index) => self.state.calls[index].phase = Phase::Started,
            None => self.ignore("not_dispatched", "the run did not ask for this call, or it was started or settled"),
        }
    }

    pub(super) fn job(&mut self, event: &Event) {
        let Some(index) = self.call_of(event, Phase::is_under_way) else {
            return self.ignore("not_under_way", "no such call is under way");
        };
        let ms = event.number("ttl_s").unwrap_or(600).saturating_mul(1000);
        let expires = self.now().saturating_add(self.ms_left().unwrap_or(ms).min(ms));
        let call = &mut self.state.calls[index];
        call.phase = Phase::Started;
        call.expires = Some(expires);
    }

    /// Returns the call that an event refers to, if the call is in a phase that fits the event.
    pub(super) fn call_of(&self, event: &Event, fits: impl Fn(Phase) -> bool) -> Option<usize> {
        let index = self.state.call(event.text("call")?)?;
        fits(self.state.calls[index].phase).then_some(index)
    }

    /// Ends a call that has no result.
    pub(super) fn settle(&mut self, index: usize, phase: Phase, code: &'static str, message: &str) {
        let call = &mut self.state.calls[index];
        call.phase = phase;
        call.expires = None;
        call.by.clear();
        call.told = Some(message.to_owned());
        let (call, tool) = (call.key.clone(), call.tool.clone());
        self.records.push(Record::Settled { call, tool: short(&tool, 256), code, message: message.to_owned() });
    }

    /// Ends all open calls and questions, because the run ends.
    pub(super) fn end_calls(&mut self) {
        self.state.model = None;
        self.state.question = None;
        self.state.facts.asks.clear();
        self.state.facts.approvals.clear();
        for index in 0..self.state.calls.len() {
            let call = &self.state.calls[index];
            match (call.phase, call.effect) {
                (Phase::Started, Effect::Effectful) => {
                    self.cancel(index);
                    self.lost(index, None, "the run ended while it ran");
                }
                (Phase::Dispatched | Phase::Started, _) => {
                    self.cancel(index);
                    self.fill_rates(index);
                    self.settle(index, Phase::Cancelled, "cancelled", "The run ended before a result came.");
                }
                (Phase::Asked, _) => {
                    self.settle(index, Phase::Cancelled, "cancelled", "The run ended before anybody approved it.");
                }
                (Phase::Held, _) => {
                    self.settle(index, Phase::Cancelled, "cancelled", "The run ended before it was sent.");
                }
                (Phase::Uncertain, _) => self.state.calls[index].expires = None,
                (Phase::Done | Phase::Denied | Phase::Cancelled, _) => {}
            }
        }
    }
}

impl CallState {
    pub(super) fn as_call(&self) -> Call {
        Call {
            key: self.key.clone(),
            server: self.server.clone(),
            tool: self.tool.clone(),
            arguments: self.arguments.clone(),
        }
    }
}

impl Decision {
    /// Creates a denial that does not come from `permit`.
    fn denied(key: &str, tool: &str, reason: Reason) -> Self {
        Decision {
            permit: DENY,
            key: key.to_owned(),
            server: None,
            tool: short(tool, 256),
            effect: None,
            arguments: None,
            digest: None,
            message: format!("Call denied: {}.", reason.message),
            reasons: vec![reason],
            allowed: None,
            ask: None,
            approval: None,
            origins: Vec::new(),
            secrets: Vec::new(),
            facts: crate::facts::Changed::default(),
        }
    }
}
