//! The outcomes of calls, and the parts of them that the model may read. Only `observe` creates observations.

use seamgate_core::{
    Fault,
    kernel_api::{digest, short},
};

use super::{
    Run,
    event::Event,
    state::{CallState, Form, Outcome, Phase, Seen},
    step::Record,
};
use crate::{
    digest::mark,
    observation::{INVALID, OK, Observation, marked},
    observe::observe_as,
    project,
    result::{Body, Given, ToolResult},
    sanitize::sanitize,
    tool::Effect,
};

impl Run<'_> {
    pub(super) fn tool_result(&mut self, event: &Event) -> Result<(), Fault> {
        let counts = |phase: Phase| phase.is_under_way() || phase == Phase::Uncertain;
        // A child returns more than a result, so it has a separate event.
        let Some(index) = self.call_of(event, counts).filter(|&index| !self.is_delegate(index)) else {
            self.ignore("late", "no such call is under way");
            return Ok(());
        };
        let duration_ms = event.number("duration_ms");
        if let Some(at) = event.returned() {
            let observe = |given: Given| self.observed(index, &given.into(), duration_ms);
            return Given::each(event.document(), at, event.text("digest"), observe);
        }
        let part = event.part(&["status", "result", "returned", "text", "head", "tail", "length", "digest"]);
        ToolResult::read(&part, |result| self.observed(index, &result, duration_ms))
    }

    pub(super) fn tool_failed(&mut self, event: &Event) -> Result<(), Fault> {
        let Some(index) = self.under_way(event) else { return Ok(()) };
        let message = event.text("message").unwrap_or_default();
        if self.may_have_happened(index, event) {
            self.uncertain(index, &short(&sanitize(message).text, 512));
            return Ok(());
        }
        if self.is_delegate(index) && event.text("effect") == Some("none") {
            self.never_began(index);
        } else {
            self.fill_rates(index);
        }
        self.failed(index, message, None)
    }

    pub(super) fn call_cancelled(&mut self, event: &Event) -> Result<(), Fault> {
        if let Some(index) = self.call_of(event, |phase| matches!(phase, Phase::Asked | Phase::Held)) {
            let message = match self.state.calls[index].phase {
                Phase::Asked => "The call was cancelled before anybody approved it.",
                _ => "The call was cancelled before it was its turn.",
            };
            self.settle(index, Phase::Cancelled, "cancelled", message);
            self.drop_behind(index, "cancelled");
            return Ok(());
        }
        let Some(index) = self.under_way(event) else { return Ok(()) };
        if self.may_have_happened(index, event) {
            self.uncertain(index, "the host cancelled it after it was started");
        } else {
            let was_started = self.state.calls[index].phase == Phase::Started;
            if was_started || self.is_delegate(index) {
                self.fill_rates(index);
            } else {
                self.undo(index);
            }
            self.ended(index, Outcome::Cancelled);
            self.settle(index, Phase::Cancelled, "cancelled", "The call was cancelled.");
            if !was_started {
                self.drop_behind(index, "cancelled");
            }
        }
        Ok(())
    }

    /// Returns the call that an event refers to, if the call is in flight.
    fn under_way(&mut self, event: &Event) -> Option<usize> {
        let index = self.call_of(event, Phase::is_under_way);
        if index.is_none() {
            self.ignore("late", "no such call is under way");
        }
        index
    }

    /// Returns whether a call without a result may have had an effect.
    fn may_have_happened(&self, index: usize, event: &Event) -> bool {
        let call = &self.state.calls[index];
        call.effect == Effect::Effectful && call.phase == Phase::Started && event.text("effect") != Some("none")
    }

    /// Settles an uncertain call, whose outcome a person states.
    pub(super) fn resolution(&mut self, event: &Event) -> Result<(), Fault> {
        let Some(index) = self.call_of(event, |phase| phase == Phase::Uncertain) else {
            self.ignore("not_uncertain", "no such call is uncertain");
            return Ok(());
        };
        let by = short(event.text("principal").unwrap_or_default(), 64);
        let more = event.text("text").map(|text| format!(" {text}")).unwrap_or_default();
        if event.text("outcome") == Some("done") {
            let text = format!("The connection was lost. {by} says that the call had its effect.{more}");
            return self.told(index, false, text, None);
        }
        // The model may request the call again, which needs a new approval.
        self.undo_count(index);
        self.failed(index, &format!("The call had no effect, says {by}.{more}"), None)
    }

    /// Removes a call that had no effect from the count of equal calls. Its approval stays used, and the call counts
    /// for the rate of its tool, because it was sent.
    fn undo_count(&mut self, index: usize) {
        let (approvals, recent) = (self.state.facts.approvals.clone(), self.state.facts.used.recent.clone());
        self.undo(index);
        self.state.facts.approvals = approvals;
        self.state.facts.used.recent = recent;
    }

    /// Records a failure as a sanitized error that the model reads. It is not evidence.
    pub(super) fn failed(&mut self, index: usize, message: &str, duration_ms: Option<u64>) -> Result<(), Fault> {
        self.told(index, true, message.to_owned(), duration_ms)
    }

    /// Records a text in place of a result.
    fn told(&mut self, index: usize, is_error: bool, text: String, duration_ms: Option<u64>) -> Result<(), Fault> {
        self.observed(index, &ToolResult { is_error, body: Body::Told(text) }, duration_ms)
    }

    /// Makes an observation of the outcome of a call.
    pub(super) fn observed(
        &mut self,
        index: usize,
        result: &ToolResult,
        duration_ms: Option<u64>,
    ) -> Result<(), Fault> {
        self.observed_as(index, result, duration_ms, |_| {})
    }

    /// Creates an observation of a call's outcome, with what the host knows about the result.
    pub(super) fn observed_as(
        &mut self,
        index: usize,
        result: &ToolResult,
        duration_ms: Option<u64>,
        adjust: impl FnOnce(&mut Observation),
    ) -> Result<(), Fault> {
        let call = self.as_call(index);
        // Without a loop, nothing is kept of a result that is passed on.
        let is_shown = self.profile.has_loop() || !matches!(result.body, Body::Returned(_));
        let made = observe_as(self.profile, &self.facts()?, &call, result, is_shown, adjust)?;
        let [ui, user] =
            project::texts_of(&self.profile.projections, &made.tool, &made.server, &call.arguments, result);
        self.ended(
            index,
            match (made.status, &result.body) {
                (OK, Body::Told(_)) => Outcome::Confirmed,
                (OK, _) => Outcome::Result,
                (INVALID, _) => Outcome::Invalid,
                _ => Outcome::Error,
            },
        );
        let state = &mut self.state.calls[index];
        state.phase = Phase::Done;
        state.expires = None;
        state.told = Some(made.about.clone());
        state.seen = Some(Seen {
            id: made.id.clone(),
            kinds: made.kinds.clone(),
            labels: made.labels.clone(),
            confidence: made.confidence,
            complete: made.complete,
            limitations: made.limitations.iter().map(|code| (*code).to_owned()).collect(),
            artifact: made.artifact.clone(),
            form: match &result.body {
                Body::Json(_) => Form::Json,
                Body::Text(_) => Form::Text,
                Body::Returned(_) => Form::Returned,
                Body::Told(_) => Form::Told,
                Body::Pieces { .. } => Form::Pieces,
            },
            is_error: result.is_error,
            text: (made.status != INVALID).then(|| made.text.clone()),
        });
        self.state.facts.take(made.facts);
        self.remember_origin(&call.key, &made.tool, &made.labels);
        self.records.push(Record::Observation {
            call: call.key,
            server: Some(made.server).filter(|server| !server.is_empty()),
            tool: made.tool,
            status: made.status,
            id: made.id,
            // A result that is passed on needs no second copy.
            message: if matches!(result.body, Body::Returned(_)) { made.about } else { made.message },
            returned: made.returned,
            kinds: made.kinds,
            labels: made.labels,
            confidence: made.confidence,
            complete: made.complete,
            limitations: made.limitations,
            artifact: made.artifact,
            bytes: made.bytes,
            found: made.found,
            duration_ms,
            arguments_digest: digest(&call.arguments),
            ui,
            user,
        });
        Ok(())
    }
}

impl CallState {
    /// Returns the text about this call for the model.
    pub(super) fn message(&self, nonce: &str, with_data: bool) -> String {
        let message = self.unedited_message(nonce, with_data);
        match &self.edited {
            Some(edited) => format!("{edited}\n{message}"),
            None => message,
        }
    }

    fn unedited_message(&self, nonce: &str, with_data: bool) -> String {
        let told = self.told.as_deref();
        match (&self.seen, told) {
            (Some(seen), Some(about)) => match &seen.text {
                Some(text) if with_data => marked(about, &mark(nonce, &seen.id), text),
                None if seen.is_invalid() => about.to_owned(),
                _ => format!("{about}\nThe data was left out to save room; whole result: artifact {}", seen.artifact),
            },
            (_, Some(told)) => told.to_owned(),
            (_, None) => match self.phase {
                Phase::Uncertain => "Nobody knows yet whether this call had its effect.".to_owned(),
                _ => "The result of this call is not there yet.".to_owned(),
            },
        }
    }
}
