//! Time. It never goes backwards, waiting for a person does not use the time budget, and every wait ends.

use seamgate_core::{Fault, kernel_api::short};

use super::{
    Run,
    state::{CallState, EntryKind, Outcome, Phase},
    step::{Action, Record},
};
use crate::{facts::MAX_NUMBER, tool::Effect};

/// The maximum wait for a call or the model, in milliseconds.
const CALL_MS: u64 = 600_000;

/// The maximum waits for a person's answer and for the resolution of an uncertain call, in milliseconds.
pub(super) const INPUT_MS: u64 = 86_400_000;
const RESOLUTION_MS: u64 = 7 * 86_400_000;

/// The maximum number of uncertain calls that are kept without a loop.
const MAX_UNCERTAIN: usize = 16;

impl Run<'_> {
    pub(super) fn now(&self) -> u64 {
        self.state.facts.at
    }

    /// Advances the time to the greatest time so far. A run uses no time while nobody runs it.
    pub(super) fn pass_time(&mut self, at: u64, is_resumed: bool) {
        let passed = at.saturating_sub(self.now());
        let waits_for_a_person = !self.state.is_under_way() && self.state.is_with_a_person();
        if !waits_for_a_person && !is_resumed {
            self.state.facts.used.ms = self.state.facts.used.ms.saturating_add(passed).min(MAX_NUMBER);
        }
        self.state.facts.at = self.now().max(at);
    }

    /// Returns the end of the wait for a call or model request that starts now.
    pub(super) fn call_expires(&self) -> u64 {
        self.now().saturating_add(self.ms_left().unwrap_or(CALL_MS).min(CALL_MS))
    }

    /// Returns the milliseconds that are left in the budget, and until a parent ends the run.
    pub(super) fn ms_left(&self) -> Option<u64> {
        let own = self.budget.ms.map(|limit| limit.saturating_sub(self.state.facts.used.ms));
        let of_parent = self.deadline.map(|deadline| deadline.saturating_sub(self.now()));
        own.into_iter().chain(of_parent).min()
    }

    /// Returns the time at which the approval of a call that is not sent yet expires.
    fn approval_ends(&self, call: &CallState) -> Option<u64> {
        let facts = &self.state.facts;
        let is_of = |key: &str, digest: &String| key == call.key && Some(digest) == call.digest.as_ref();
        let is_approved =
            facts.approvals.iter().any(|approval| approval.spent && is_of(&approval.key, &approval.digest));
        let ask = facts.asks.iter().rfind(|ask| is_of(&ask.key, &ask.digest));
        ask.filter(|_| call.phase == Phase::Dispatched && is_approved).map(|ask| ask.expires)
    }

    /// Ends all waits that have expired, except for the call that an event reports on. Calls that were in flight when
    /// the run was interrupted are left to [`Run::resumed`].
    pub(super) fn lapse(&mut self, is_resumed: bool, told: Option<&str>) -> Result<(), Fault> {
        let now = self.now();
        if !is_resumed && self.state.model.as_ref().is_some_and(|asked| asked.expires <= now) {
            self.state.model = None;
            self.model_gave_none("the model did not answer in time", true);
        }
        if self.state.question.as_ref().is_some_and(|asked| asked.expires <= now) {
            self.state.question = None;
            self.state.say(EntryKind::Feedback, "Nobody answered the question in time.".to_owned());
        }
        for index in 0..self.state.calls.len() {
            let call = &self.state.calls[index];
            if Some(call.key.as_str()) == told || (is_resumed && call.phase.is_under_way()) {
                continue;
            }
            if call.expires.is_none_or(|expires| expires > now) {
                // Nothing is sent under an expired approval, not even a call that is about to be sent.
                if self.approval_ends(call).is_some_and(|ends| ends <= now) {
                    self.cancel(index);
                    self.undo(index);
                    self.judge_taken_back(index)?;
                }
                continue;
            }
            match (call.phase, call.effect) {
                (Phase::Asked, _) => {
                    let key = call.key.clone();
                    self.state.facts.asks.retain(|ask| ask.key != key);
                    let is_approved = self.state.facts.approvals.iter().any(|approval| approval.key == key);
                    let message = match is_approved {
                        true => "Call denied: its approval lapsed before it was its turn.",
                        false => "Call denied: nobody approved it in time.",
                    };
                    self.settle(index, Phase::Denied, "expired", message);
                    self.drop_behind(index, "expired");
                    self.count_denial(index, "expired");
                }
                (Phase::Dispatched, _) => {
                    self.cancel(index);
                    self.undo(index);
                    self.settle(index, Phase::Cancelled, "not_sent", "The call was not sent in time.");
                    self.drop_behind(index, "not_sent");
                }
                (Phase::Started, Effect::Effectful) => {
                    self.cancel(index);
                    self.uncertain(index, "no result came in time");
                }
                (Phase::Started, _) => {
                    self.cancel(index);
                    self.fill_rates(index);
                    self.failed(index, "No result came in time.", None)?;
                }
                (Phase::Uncertain, _) => {
                    self.state.calls[index].expires = None;
                    self.state.end("unresolved", "nobody said what became of an uncertain call");
                }
                (Phase::Held | Phase::Done | Phase::Denied | Phase::Cancelled, _) => {}
            }
        }
        Ok(())
    }

    /// Returns the earliest time at which something expires.
    pub(super) fn wake_at(&self) -> Option<u64> {
        if self.state.status.is_finished() {
            return None;
        }
        let ends = if self.state.is_under_way() {
            self.ms_left()
        } else {
            self.deadline.map(|deadline| deadline.saturating_sub(self.now())).filter(|&left| left > 0)
        };
        let calls = self.state.calls.iter();
        calls
            .flat_map(|call| [call.expires, self.approval_ends(call)])
            .flatten()
            .chain(self.state.model.iter().map(|asked| asked.expires))
            .chain(self.state.question.iter().map(|asked| asked.expires))
            .chain(ends.map(|left| self.now().saturating_add(left)))
            .min()
    }

    pub(super) fn cancel(&mut self, index: usize) {
        let (key, call) = (self.key(), self.state.calls[index].key.clone());
        self.actions.push(Action::Cancel { key, call });
    }

    /// Marks a call as possibly executed. A person must state whether it had its effect.
    pub(super) fn uncertain(&mut self, index: usize, why: &str) {
        let expires = self.now().saturating_add(RESOLUTION_MS);
        self.ended(index, Outcome::Uncertain);
        self.lost(index, Some(expires), why);
        self.ask_what_became(index, expires);
        self.give_up();
    }

    /// Drops old uncertain calls. Without a loop, nothing depends on their outcome, and runs are long, so only the last
    /// calls are kept.
    fn give_up(&mut self) {
        let is_uncertain = |call: &CallState| call.phase == Phase::Uncertain;
        let count = self.state.calls.iter().filter(|call| is_uncertain(call)).count();
        if !self.profile.has_loop()
            && count > MAX_UNCERTAIN
            && let Some(oldest) = self.state.calls.iter().position(is_uncertain)
        {
            let message = "Nobody said what became of the call, and later ones are uncertain, too.";
            self.settle(oldest, Phase::Cancelled, "expired", message);
        }
    }

    /// Records that the effect of a call is unknown.
    pub(super) fn lost(&mut self, index: usize, expires: Option<u64>, why: &str) {
        let call = &mut self.state.calls[index];
        (call.phase, call.expires) = (Phase::Uncertain, expires);
        let (call, tool) = (call.key.clone(), short(&call.tool, 256));
        self.records.push(Record::Settled { call, tool, code: "uncertain", message: why.to_owned() });
    }

    /// Asks a person for the outcome of an uncertain call.
    pub(super) fn ask_what_became(&mut self, index: usize, expires: u64) {
        let (key, call) = (self.key(), &self.state.calls[index]);
        let question = format!(
            "Did the call {} of {} have its effect? Look there, and say: done or not_done.",
            call.key, call.tool
        );
        self.actions.push(Action::AskInput { key, question, call: Some(call.key.clone()), expires });
    }
}
