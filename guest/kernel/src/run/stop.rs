//! Decides whether the run continues, waits or ends. The model has no influence on this.

use std::collections::BTreeMap;

use seamgate_core::{
    Confidence, Fault,
    kernel_api::{json, sort},
};
use serde::Serialize;

use super::{
    Run,
    prompt::TooLarge,
    raw,
    state::{CallState, ModelCall, Phase, Purpose, Status, Stop, Uncertain},
    step::{Action, Record, Spent},
};

use crate::surface;

/// A partial answer, created from the state without the model.
#[derive(Serialize)]
struct Partial<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'s serde_json::value::RawValue>,
    found: Vec<Found<'s>>,
    missing: &'s [String],
    why: Option<&'s Stop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'s str>,
}

#[derive(Serialize)]
struct Found<'s> {
    id: &'s str,
    tool: &'s str,
    kinds: &'s [String],
    confidence: Confidence,
    limitations: &'s [String],
    artifact: &'s str,
}

impl Run<'_> {
    /// Decides the next action, after an event has been processed.
    pub(super) fn decide(&mut self) -> Result<(), Fault> {
        let state = &self.state;
        if state.status.is_finished() {
            return Ok(());
        }
        if !self.profile.has_loop() {
            return self.decide_without_loop();
        }
        if self.ends_at_once() || self.ms_left() == Some(0) {
            self.end_calls();
            self.state.end("budget", "the budget of milliseconds is used up");
        }
        let state = &self.state;
        if state.is_under_way() {
            self.state.status = Status::Running;
            return Ok(());
        }
        let waits_for = |phase: Phase, expires: Option<u64>| phase.is_with_a_person() && expires.is_some();
        if state.question.is_some() || state.calls.iter().any(|call| waits_for(call.phase, call.expires)) {
            self.state.status = Status::Waiting;
            return Ok(());
        }
        self.state.status = Status::Running;
        if let Some(answer) = self.answer.take() {
            self.finish(Status::Final, Some(answer));
            return Ok(());
        }
        self.look_at_limits()?;
        match &self.state.stop {
            None => self.ask_model(self.purpose()),
            Some(stop) if self.may_answer(&stop.code) => self.ask_model(Purpose::Final),
            Some(_) => {
                self.finish(self.ends_as(), None);
                Ok(())
            }
        }
    }

    /// Decides for a run without a loop: a limit denies a call, and only a person ends the run.
    fn decide_without_loop(&mut self) -> Result<(), Fault> {
        if self.ends_at_once() {
            self.finish(self.ends_as(), None);
        } else {
            self.state.stop = None;
            let waits = !self.state.is_under_way() && self.state.is_with_a_person();
            self.state.status = if waits { Status::Waiting } else { Status::Running };
        }
        Ok(())
    }

    /// Ends the run if it reaches a limit and nothing else has ended it.
    fn look_at_limits(&mut self) -> Result<(), Fault> {
        let used = &self.state.facts.used;
        let limits = [
            // One step is kept for the final answer.
            ("steps", self.budget.steps.map(|limit| limit.saturating_sub(1)), self.state.steps, self.budget.steps),
            ("tool calls", self.budget.tool_calls, used.tool_calls, self.budget.tool_calls),
            ("tokens", self.budget.tokens, used.tokens, self.budget.tokens),
        ];
        for (unit, limit, used, shown) in limits {
            let is_idle = unit == "tool calls" && limit == Some(0);
            if limit.is_some_and(|limit| used >= limit) && !is_idle {
                let shown = shown.unwrap_or_default();
                self.state.end("budget", format!("the budget of {shown} {unit} is used up"));
                return Ok(());
            }
        }
        if self.state.stop.is_none()
            && !self.profile.tools.is_empty()
            && self.state.frame.is_none()
            && !self.has_tools()?
        {
            self.state.end("surface", "no tool is available");
        }
        Ok(())
    }

    /// Returns whether a run that must end may ask the model for an answer without tools.
    fn may_answer(&self, code: &str) -> bool {
        let used = &self.state.facts.used;
        let has_left = |limit: Option<u64>, used: u64| limit.is_none_or(|limit| used < limit);
        !self.state.is_final_asked
            && matches!(code, "budget" | "same_call" | "same_denial" | "rejected" | "surface" | "unresolved")
            && self.state.frame.is_none()
            && has_left(self.budget.steps, self.state.steps)
            && has_left(self.budget.tokens, used.tokens)
            && self.ms_left() != Some(0)
            && self.could_answer()
    }

    /// Returns whether the reason for ending the run also ends calls in flight.
    fn ends_at_once(&self) -> bool {
        let stop = self.state.stop.as_ref();
        stop.is_some_and(|stop| matches!(stop.code.as_str(), "cancelled" | "task" | "context" | "model"))
    }

    /// Returns the final status of the run, depending on the reason for its end.
    fn ends_as(&self) -> Status {
        match self.state.stop.as_ref().map(|stop| stop.code.as_str()) {
            Some("cancelled") => Status::Cancelled,
            Some("task" | "context" | "model") => Status::Failed,
            _ if self.profile.fails_at_limit => Status::Failed,
            _ => Status::FinalPartial,
        }
    }

    fn ask_model(&mut self, purpose: Purpose) -> Result<(), Fault> {
        let prompt = match self.prompt(purpose)? {
            Ok(prompt) => prompt,
            Err(TooLarge { bytes, limit }) => {
                self.state
                    .end("prompt", format!("the prompt has {bytes} bytes; the limit is {limit}, 'prompt.max_bytes'"));
                self.finish(self.ends_as(), None);
                return Ok(());
            }
        };
        self.state.steps += 1;
        self.state.is_final_asked |= purpose == Purpose::Final;
        let key = self.key();
        let expires = self.call_expires();
        self.state.model = Some(ModelCall { key: key.clone(), purpose, bytes: prompt.get().len() as u64, expires });
        self.actions.push(Action::AskModel { key, purpose, prompt, expires });
        Ok(())
    }

    fn finish(&mut self, status: Status, answer: Option<String>) {
        self.end_calls();
        // Drops questions whose answer would be too late.
        self.actions.retain(|action| !matches!(action, Action::AskInput { .. } | Action::AskApproval { .. }));
        self.number();
        self.state.status = status;
        let reasons: Vec<Stop> = match status {
            Status::Final => Vec::new(),
            _ => self.state.stop.clone().into_iter().collect(),
        };
        self.records
            .extend(reasons.iter().map(|stop| Record::Stop { code: stop.code.clone(), message: stop.message.clone() }));
        self.records.push(Record::Used { steps: self.state.steps, budgets: self.state.facts.used.clone() });
        // A final answer itself explains missing evidence.
        let missing = if status == Status::Final { Vec::new() } else { self.missing() };
        let missing: Vec<String> = missing.into_iter().map(|need| need.kind.clone()).collect();
        let document = match (answer, status) {
            (Some(answer), _) => Some(answer),
            (None, Status::FinalPartial) => Some(self.partial(&missing)),
            (None, _) => None,
        };
        let seen = || self.state.calls.iter().filter_map(|call| call.seen.as_ref()).filter(|seen| !seen.is_error);
        let mut kinds: Vec<String> = seen().flat_map(|seen| seen.kinds.iter().cloned()).collect();
        sort(&mut kinds);
        kinds.dedup();
        let is_uncertain = |call: &&CallState| call.phase == Phase::Uncertain;
        let uncertain = self.state.calls.iter().filter(is_uncertain).map(|call| Uncertain {
            run: None,
            call: call.key.clone(),
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        });
        let (uncertain, confidence) =
            (uncertain.chain(self.state.uncertain.clone()).collect(), seen().map(|seen| seen.confidence).min());
        let labels = self
            .facts()
            .map(|facts| surface::read(self.profile, &facts))
            .unwrap_or_else(|_| self.state.facts.labels.clone());
        let used = &self.state.facts.used;
        self.actions.push(Action::Finish {
            key: self.key(),
            status,
            document: document.map(raw),
            reasons,
            missing,
            uncertain,
            kinds,
            labels,
            confidence,
            used: Spent {
                steps: self.state.steps,
                tool_calls: used.tool_calls,
                tokens: used.tokens,
                calls: match self.above {
                    Some(_) => used.calls.clone(),
                    None => BTreeMap::new(),
                },
                recent: match self.above {
                    Some(_) => used.recent.clone(),
                    None => BTreeMap::new(),
                },
            },
            requests: self.state.requests.clone(),
        });
    }

    fn partial(&self, missing: &[String]) -> String {
        let found = self.state.calls.iter().filter_map(|call| {
            let seen = call.seen.as_ref().filter(|seen| !seen.is_error)?;
            Some(Found {
                id: &seen.id,
                tool: &call.tool,
                kinds: &seen.kinds,
                confidence: seen.confidence,
                limitations: &seen.limitations,
                artifact: &seen.artifact,
            })
        });
        json(&Partial {
            asked: self.state.facts.task.as_deref(),
            found: found.collect(),
            missing,
            why: self.state.stop.as_ref(),
            plan: self.state.plan.as_deref(),
        })
    }
}
