//! The real kernel in its sandbox, with a run whose journal is in memory.

use seamgate::{
    Action, ApprovalAnswer, ApprovalEvent, Ask, Event, EventKind, Gate, Json, Run, StartedEvent, StepError, TickEvent,
};
use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::Outcome;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Kernel, Step, journal::Memory};

/// A run of the first agent of a gate.
pub struct Real<'g> {
    gate: &'g Gate,
    run: Run<'g, Memory>,
    /// The asks of the run so far.
    asks: Vec<Ask>,
}

impl<'g> Real<'g> {
    /// Starts a run.
    ///
    /// # Panics
    ///
    /// Panics if the gate has no profile, or cannot start a run of it.
    pub fn start(gate: &'g Gate, now: u64) -> Self {
        let agent = gate.profiles().next().map(|profile| profile.agent.clone()).unwrap_or_default();
        let mut event = StartedEvent::new("r", "anna", "c0ffee00c0ffee00");
        event.context = Some(json("{}"));
        event.lists = Some(Default::default());
        event.listed = Some(json(r#"{"servers":{}}"#));
        let run = Run::start(gate, Memory::default(), &agent, &event.at(now));
        let (run, _) = run.unwrap_or_else(|error| panic!("{error}"));
        Real { gate, run, asks: Vec::new() }
    }

    fn send(&mut self, now: u64, kind: EventKind) -> Result<Step, StepError> {
        let actions = self.run.send(&Event { at: now, kind })?;
        let asks = actions.iter().filter_map(|action| match action {
            Action::AskApproval(action) => Some(action.ask.clone()),
            _ => None,
        });
        self.asks.extend(asks);
        Ok((self.run.records()?, actions))
    }

    fn surface(&self, listed: &str) -> String {
        #[derive(Deserialize)]
        struct State<'s> {
            #[serde(borrow)]
            facts: &'s RawValue,
        }
        let state: State = serde_json::from_str(self.run.state()).unwrap_or_else(|error| panic!("{error}"));
        let answer = self.gate.surface(self.run.agent(), state.facts.get(), Some(listed));
        answer.unwrap_or_else(|fault| panic!("{fault}")).json
    }
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

impl Kernel for Real<'_> {
    fn step(&mut self, now: u64, event: &EventKind, _: &mut impl Choices) -> Outcome {
        match self.send(now, event.clone()) {
            Ok((records, actions)) => {
                let surface = match event {
                    EventKind::ToolsListed(event) => Some(self.surface(event.listed.as_str())),
                    _ => None,
                };
                Outcome::Done { records, actions, surface }
            }
            Err(StepError::Fault(fault)) => Outcome::Refused(fault),
            Err(error) => panic!("{error}"),
        }
    }

    fn wake_at(&self) -> Option<u64> {
        self.run.wake_at()
    }

    fn tick(&mut self, now: u64) -> Step {
        self.send(now, EventKind::Tick(TickEvent::new())).unwrap_or_else(|error| panic!("{error}"))
    }

    fn decide(&mut self, now: u64, is_approved: bool) -> Option<Step> {
        let ask = self.asks.pop()?;
        let answer = if is_approved { ApprovalAnswer::Approved } else { ApprovalAnswer::Rejected };
        let by = ask.by.first().cloned().unwrap_or_default();
        let event = ApprovalEvent::new(ask.key, ask.digest, answer, by);
        Some(self.send(now, event.into()).unwrap_or_else(|error| panic!("{error}")))
    }

    fn keep(&mut self, text: &str) {
        self.run.keep(text).unwrap_or_else(|error| panic!("{error}"));
    }

    fn artifact(&self, digest: &str) -> Result<String, String> {
        self.run.artifact(digest).map_err(|error| error.to_string())
    }
}
